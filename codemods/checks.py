"""What keeps a callback from becoming a buffer callback, whatever its body returns."""

from __future__ import annotations

import ast
import os
from typing import Final

from codemods.arguments import default_of
from codemods.class_handlers import ClassHandlers
from codemods.groups import Adapted, Context, Findings, Group, place
from codemods.hoisting import anchor
from codemods.jax_calls import jax_call
from codemods.model import Diagnostic, Options
from codemods.names import FunctionNode, Module, own_name
from codemods.overrides import Overrides
from codemods.returns import is_generator
from codemods.wrappers import Imported, opaque_decorators

_CACHES: Final = frozenset({"functools.cache", "functools.lru_cache"})


def check_definition(group: Group, module: Module, imported: Imported) -> None:
    """A definition must take the buffers, and return once; `module` is the one that has it."""
    function = group.function
    name = own_name(function)
    for decorator in opaque_decorators(function, module, group.position, imported):
        if module.origins(decorator) == {"numpy.vectorize"} and decorator is _outermost(function):
            diagnostic = Diagnostic("BC102", "NumPy's `vectorize` converts its arguments itself.")
            raise Adapted(diagnostic, arrays="numpy")
        raise Adapted(_of_decorator(name, decorator, module))
    if is_generator(function):
        raise Adapted(
            Diagnostic("BC109", f"`{name}` is a generator function.", "JAX callbacks are plain functions.")
        )
    bounds = {(r.bound.positional, r.bound.keywords, r.implicit) for _, r in group.calls}
    if len({(p, i) for p, _, i in bounds}) > 1:
        raise Adapted(
            Diagnostic(
                "BC115",
                f"Call sites bind different numbers of arguments of `{name}`.",
                "Use one `partial`.",
            )
        )
    _check_position(group)


def check_replaced(group: Group, module: Module, overrides: Overrides) -> None:
    """What replaces a callback at run time must go on to get what the callback gets."""
    function = group.function
    if not isinstance(function, ast.FunctionDef) or module.scopes[function] is not module.root:
        return
    if (file := overrides.of_function(function.name)) is not None:
        reason = f"`{function.name}` may be replaced in {os.path.basename(file)}, as `mock.patch` does."
        raise Adapted(Diagnostic("BC114", reason, "Whatever stands for it gets JAX arrays, as before."))


def check_handled(group: Group, handlers: ClassHandlers) -> None:
    """A method must be what its class says; decorators and metaclasses may wrap it, or hide the class."""
    owner = group.resolved.owner
    if owner is None or group.resolved.home is not None:
        return
    if (handler := handlers.of(owner)) is not None:
        reason = f"{handler[0].upper()}{handler[1:]} may change the methods of `{owner.name}`."
        way_out = "Call back a function outside of the class to have it rewritten."
        raise Adapted(Diagnostic("BC107", reason, way_out))


def check_listed(group: Group, context: Context) -> None:
    """A rewrite changes the names of a scope, or what they hold; what lists them would see it."""
    module, function = context.module, group.function
    if group.resolved.home is not None:
        scope = module.root
    elif isinstance(function, ast.Lambda):
        scope = module.scopes[anchor(function, module, context.source)]
    else:
        scope = module.scopes[function]
    if (listing := context.reflection.lists(scope)) is not None:
        reason = f"`{ast.unparse(listing)}` (line {listing.lineno}) may list the callback among other names."
        way_out = "Name what is wanted there instead, to have the callback rewritten."
        raise Adapted(Diagnostic("BC118", reason, way_out))


def _outermost(function: FunctionNode) -> ast.expr | None:
    decorators: list[ast.expr] = getattr(function, "decorator_list", [])
    return decorators[0] if decorators else None


def _of_decorator(name: str, decorator: ast.expr, module: Module) -> Diagnostic:
    """Why a decorated callback stays as it is."""
    shown = f"`{name}` is decorated with `@{ast.unparse(decorator)}`"
    origins = module.origins(decorator.func if isinstance(decorator, ast.Call) else decorator)
    origin = next(iter(origins)) if len(origins) == 1 else ""
    library = origin.partition(".")[0]
    if origin in _CACHES:
        return Diagnostic(
            "BC107", f"{shown}, which looks results up by argument.", "It gets JAX arrays, as before."
        )
    if library in ("jax", "equinox"):
        return Diagnostic("BC107", f"{shown}, which computes in JAX.", "It gets JAX arrays, as before.")
    if library == "numba":
        way_out = "Call it from a plain `def` that converts its arguments with `np.asarray`."
        return Diagnostic("BC107", f"{shown}, and what Numba compiles takes no buffers.", way_out)
    way_out = (
        "Call it from a `def` without that decorator, or let its wrapper hand `*args, **kwargs` on untouched."
    )
    return Diagnostic("BC107", f"{shown}, which may look at its arguments and result.", way_out)


def _check_position(group: Group) -> None:
    arguments, position = group.function.args, group.position
    positional = [*arguments.posonlyargs, *arguments.args]
    before = positional[:position]
    if position > len(positional):
        raise Adapted(
            Diagnostic(
                "BC115", "There is no place for the buffers in front of `*args`.", "Name the parameters."
            )
        )
    if any(default_of(p, arguments) is not None for p in before):
        raise Adapted(
            Diagnostic(
                "BC115", "A parameter with a default would come before the buffers.", "Drop the default."
            )
        )
    if any(p.arg in group.bound_by_name for p in before):
        raise Adapted(Diagnostic("BC115", "A `partial` binds one parameter twice."))


def check_writes(findings: Findings, options: Options) -> None:
    """A copy would let a write succeed that fails today, or be seen to allow it."""
    for name, usage in findings.report.usages.items():
        if usage.write is not None and usage.escape is not None and not options.views:
            done = "is written into"
            if isinstance(usage.write, ast.Attribute) and isinstance(usage.write.ctx, ast.Load):
                done = f"is asked for its `{usage.write.attr}`"
            raise Adapted(
                Diagnostic(
                    "BC105",
                    f"A view of `{name}` {done} and may be kept.",
                    f"Copy it first: `{name} = np.array({name})`.",
                )
            )


def check_jax(group: Group, module: Module) -> None:
    """What computes with JAX in a function that it calls is no callback of NumPy's; `module` has it."""
    if (found := jax_call(group.function, module)) is not None:
        shown = f"`{ast.unparse(found.node.func)}` ({place(found.node, group.resolved.home)})"
        reason = f"The callback uses JAX itself, in {shown}."
        way_out = "It keeps getting JAX arrays; write it in NumPy to have it rewritten."
        raise Adapted(Diagnostic("BC103", reason, way_out))


def check_keys(findings: Findings) -> None:
    """A typed random key has no buffer; `adapt` hands over its data, as JAX does."""
    for name, seen in findings.supplied.items():
        if seen.may_be_key:
            raise Adapted(
                Diagnostic(
                    "BC119",
                    f"`{name}` may be a typed random key, which is no buffer.",
                    "Pass `jax.random.key_data(...)` of it, or leave the parameter out.",
                )
            )
