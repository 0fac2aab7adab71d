"""Which function a callback expression means."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from typing import Final, Literal

from codemods import hostlib
from codemods.bodies.effects import owner_of_self
from codemods.definitions import Definition, Found, Library, Unseen
from codemods.names import BindingKind, FunctionNode, Module
from codemods.sites import PARTIAL, CallSite, Site, Unresolved, ValueUse, incomplete

Arrays = Literal["numpy", "jax"]
Overridden = Callable[[ast.ClassDef, str], bool]
"""Takes a class and a method's name, and says whether `self` may have another method of that name."""
Imported = Callable[[frozenset[str]], Found]
"""Takes the dotted names that an imported name may have, and follows them through the project."""

_KINDS: Final[dict[type[ast.expr], str]] = {
    ast.Attribute: "an attribute of an expression",
    ast.Await: "an awaited value",
    ast.BoolOp: "a choice by `and` or `or`",
    ast.Call: "the result of a call",
    ast.Constant: "a constant",
    ast.IfExp: "a conditional expression",
    ast.NamedExpr: "an assignment expression",
    ast.Subscript: "an element of a container",
}


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """What a `functools.partial` binds: so many positional arguments, and these keywords."""

    positional: int = 0
    keywords: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Resolved:
    """A callback whose definition is in sight.

    Attributes:
      function: the definition.
      reference: the name, attribute or lambda that stands for it, inside any `partial`.
      owner: the class, for a method.
      implicit: how many parameters the method binding consumes: 1 for `self` and `cls`.
      via: the variable that holds the lambda or `partial`, whose reads are all callbacks.
      home: where the definition is, if another module of the project has it.
    """

    function: ast.FunctionDef | ast.Lambda
    reference: ast.expr
    bound: Bound = Bound()
    owner: ast.ClassDef | None = None
    implicit: int = 0
    via: str | None = None
    home: Definition | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Opaque:
    """A callback that is adapted, with the code and the reason; `definition` is one that it may mean."""

    code: str
    reason: str
    way_out: str = ""
    arrays: Arrays = "jax"
    definition: ast.FunctionDef | ast.Lambda | None = None


def settle_vectorized(
    sites: Sequence[Site], module: Module, overridden: Overridden, imported: Imported | None = None
) -> list[Site]:
    """The same sites, each `vectorized=` told to be the old option or an argument of the callback.

    JAX before 0.6 took `vectorized=` as an option, up to 0.9 it raised an error, and since 0.10 it hands it
    to the callback like any other keyword. So a program that runs today gives it to a callback that takes
    it, and one whose callback does not take it was written for the old option.
    """
    callbacks = frozenset(site.callback for site in sites if isinstance(site, CallSite))

    def settle(site: Site) -> Site:
        if isinstance(site, Unresolved) or site.call is None:
            return site
        given = {keyword.arg: keyword for keyword in site.call.keywords}
        if "vectorized" not in given or "vectorized" not in site.api.options:
            return site
        callback = site.callback if isinstance(site, CallSite) else _callback_of(site.node, site.call)
        taken = _takes_vectorized(callback, module, callbacks, overridden, imported)
        if taken is None and "vmap_method" not in given:
            return _either(site)
        if taken is None or taken:
            return _with_own_keyword(site)
        if "vmap_method" in given:
            return incomplete(site.api, site.node, "The call gives both `vmap_method` and `vectorized`.")
        return (
            dataclasses.replace(site, vectorized=given["vectorized"]) if isinstance(site, ValueUse) else site
        )

    return [settle(site) for site in sites]


def _callback_of(function: ast.expr, call: ast.Call) -> ast.expr | None:
    """The callback of a call or partial of `function` whose other arguments are mixed; None if among them."""
    named = next((k.value for k in call.keywords if k.arg == "callback"), None)
    positional = call.args if call.func is function else call.args[1:]
    first = named or next(iter(positional), None)
    return None if isinstance(first, ast.Starred) else first


def _takes_vectorized(
    node: ast.expr | None,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overridden,
    imported: Imported | None,
) -> bool | None:
    """Whether a callback has a parameter for the keyword `vectorized`; None when it is out of sight."""
    if node is None:
        return None
    found = resolve(node, module, callbacks, overridden, imported)
    if isinstance(found, Opaque):
        known = found.arrays == "numpy" and bool(module.origins(node))
        return False if known else None  # no function in the tables has such a parameter
    arguments = found.function.args
    by_name = {p.arg for p in (*arguments.args, *arguments.kwonlyargs)}
    return arguments.kwarg is not None or "vectorized" in by_name


def _either(site: CallSite | ValueUse) -> Unresolved:
    return Unresolved(
        site.api,
        site.function if isinstance(site, CallSite) else site.node,
        "BC208",
        "`vectorized=` is the old option, or an argument of the callback, whose definition is not in sight.",
        'If it is the option, write `vmap_method=` instead, of the value "legacy_vectorized" for True and'
        ' "sequential" for False; else pass it by position.',
    )


def _with_own_keyword(site: CallSite | ValueUse) -> Site:
    """`vectorized=` goes to the callback; a `ValueUse` hands on all of its keywords anyway."""
    if isinstance(site, ValueUse):
        return site
    if site.is_partial:
        return ValueUse(
            site.api, site.function, site.call, "The partial binds arguments of the callback as well."
        )
    options = tuple(o for o in site.options if o.arg != "vectorized")
    own = [k for k in site.call.keywords if k in site.keywords or k.arg == "vectorized"]
    return dataclasses.replace(site, options=options, keywords=tuple(own))


def resolve(
    node: ast.expr,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overridden,
    imported: Imported | None = None,
) -> Resolved | Opaque:
    """Follows a callback expression to its definition; `callbacks` are the callbacks of all call sites."""
    if isinstance(node, ast.Lambda):
        return Resolved(node, node)
    if _is_partial(node, module):
        assert isinstance(node, ast.Call)
        return _partial(node, module, callbacks, overridden, imported)
    if origins := module.origins(node):
        return _imported(node, origins, imported)
    if isinstance(node, ast.Name):
        return _name(node, module, callbacks, overridden, imported)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _attribute(node, node.value, module, overridden)
    if isinstance(node, ast.Call) and module.origins(node.func) == {"numpy.vectorize"}:
        return Opaque("BC102", "NumPy's `vectorize` converts its arguments itself.", arrays="numpy")
    kind = _KINDS.get(type(node), "an expression")
    return _out_of_sight(f"The callback is {kind}: `{_short(node)}`.")


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:47] + "..."


def _out_of_sight(reason: str) -> Opaque:
    return Opaque("BC101", reason, "It gets JAX arrays, as before.")


def _imported(node: ast.expr, origins: frozenset[str], imported: Imported | None) -> Resolved | Opaque:
    found = imported(origins) if imported is not None else None
    if isinstance(found, Definition):
        if isinstance(found.function, ast.AsyncFunctionDef):
            return Opaque(
                "BC109", f"`{_short(node)}` is a coroutine function.", "JAX callbacks are plain functions."
            )
        return Resolved(found.function, node, home=found)
    if isinstance(found, Unseen):
        where = (
            "has no single definition there" if found.is_defined else "its definition cannot be seen there"
        )
        return _out_of_sight(f"`{_short(node)}` is imported from this project, and {where}.")
    return _library(node, found.origins if isinstance(found, Library) else origins)


def _library(node: ast.expr, origins: frozenset[str]) -> Opaque:
    if len(origins) == 1:
        (origin,) = origins
        converts = origin in hostlib.FRESH | hostlib.VIEWING | hostlib.CONVERTING or hostlib.is_safe(origin)
        if converts and origin not in hostlib.TAKES_FUNCTION:
            return Opaque("BC102", f"`{origin}` takes NumPy arrays and keeps none.", arrays="numpy")
    name = min(origins)
    if name.startswith(".") or name.partition(".")[0] not in ("numpy", "scipy", "jax"):
        library = name.partition(".")[0]
        where = f"from `{library}`, which is not part of this project" if library else "from out of sight"
        return _out_of_sight(f"`{_short(node)}` is imported {where}.")
    return Opaque(
        "BC102", f"`{name}` may compute with its argument's own methods.", "It gets JAX arrays, as before."
    )


def _is_partial(node: ast.expr, module: Module) -> bool:
    return (
        isinstance(node, ast.Call)
        and bool(o := module.origins(node.func))
        and o <= PARTIAL
        and bool(node.args)
    )


def _partial(
    node: ast.Call,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overridden,
    imported: Imported | None,
) -> Resolved | Opaque:
    blurred = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    )
    if blurred or isinstance(node.args[0], ast.Lambda):
        return _out_of_sight(f"What `{_short(node)}` binds cannot be seen.")
    inner = resolve(node.args[0], module, callbacks, overridden, imported)
    if isinstance(inner, Opaque):
        return (
            dataclasses.replace(inner, arrays="jax") if inner.arrays == "numpy" and node.keywords else inner
        )
    if inner.via is not None or inner.bound.positional or inner.bound.keywords:
        return _out_of_sight("A partial of a partial is left as it is.")
    bound = Bound(len(node.args) - 1, frozenset(k.arg for k in node.keywords if k.arg))
    return dataclasses.replace(inner, bound=bound)


def _name(
    node: ast.Name,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overridden,
    imported: Imported | None,
) -> Resolved | Opaque:
    found = module.bindings(node)
    if not found:
        return _out_of_sight(f"`{node.id}` is not defined in this file.")
    if len(found) > 1:
        return Opaque(
            "BC114",
            f"`{node.id}` is bound in {len(found)} places, so which one is called cannot be seen.",
            "Give each definition a name of its own.",
        )
    binding = found[0]
    match binding.node:
        case ast.AsyncFunctionDef():
            return Opaque(
                "BC109", f"`{node.id}` is a coroutine function.", "JAX callbacks are plain functions."
            )
        case ast.FunctionDef():
            if module.enclosing_class(binding.node) is not None:
                return _out_of_sight(f"`{node.id}` is used in the body of its class.")
            return Resolved(binding.node, node)
    if binding.kind is BindingKind.PARAMETER:
        return _out_of_sight(f"`{node.id}` is a parameter, so any function may arrive.")
    if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None:
        return _variable(node, binding.value, module, callbacks, overridden, imported)
    return _out_of_sight(f"`{node.id}` is a variable whose value cannot be seen.")


def _variable(
    node: ast.Name,
    value: ast.expr,
    module: Module,
    callbacks: frozenset[ast.expr],
    overridden: Overridden,
    imported: Imported | None,
) -> Resolved | Opaque:
    home = module.home(node.id, module.scopes[node])
    assert home is not None
    if isinstance(value, ast.Lambda) or _is_partial(value, module):
        if all(use in callbacks for use in module.references(node.id, home)):
            inner = resolve(value, module, callbacks, overridden, imported)
            return dataclasses.replace(inner, via=node.id) if isinstance(inner, Resolved) else inner
        return _out_of_sight(f"`{node.id}` is used in other ways as well.")
    return _out_of_sight(f"`{node.id}` holds `{_short(value)}`.")


def _attribute(
    node: ast.Attribute, base: ast.Name, module: Module, overridden: Overridden
) -> Resolved | Opaque:
    owner = owner_of_self(base, module)
    through_class = False
    if owner is None:
        binding = module.sole_binding(base)
        if binding is None or not isinstance(binding.node, ast.ClassDef):
            return _out_of_sight(f"`{_short(node)}` is an attribute of an object that cannot be seen.")
        owner, through_class = binding.node, True
    methods = [
        i for i in owner.body if isinstance(i, ast.FunctionDef | ast.AsyncFunctionDef) and i.name == node.attr
    ]
    stored = any(not isinstance(use.ctx, ast.Load) for use in module.attributes[node.attr])
    bound_otherwise = stored or len(module.opened[owner].bindings.get(node.attr, [])) != 1
    if len(methods) != 1 or bound_otherwise or not isinstance(methods[0], ast.FunctionDef):
        return _out_of_sight(f"`{_short(node)}` is no plain method of class `{owner.name}`.")
    if overridden(owner, node.attr):
        return Opaque(
            "BC114",
            f"`{node.attr}` is overridden or replaced, in this file or another of the project.",
            "Each override gets JAX arrays.",
            definition=methods[0],
        )
    return _method(node, owner, methods[0], through_class)


def _method(
    node: ast.Attribute, owner: ast.ClassDef, method: ast.FunctionDef, through_class: bool
) -> Resolved | Opaque:
    kinds = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
    static, of_class = "staticmethod" in kinds, "classmethod" in kinds
    if through_class and not (static or of_class):
        return _out_of_sight(f"`{_short(node)}` is an unbound method.")
    return Resolved(method, node, owner=owner, implicit=0 if static else 1)


def plain_decorators(function: FunctionNode) -> bool:
    """Whether a function's decorators leave its signature and result alone."""
    if isinstance(function, ast.Lambda):
        return True
    return all(
        isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod") for d in function.decorator_list
    )
