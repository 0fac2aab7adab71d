"""What keeps a callback from becoming a buffer callback, whatever its body returns."""

from __future__ import annotations

import ast

from codemods.arguments import default_of
from codemods.bodies import Use
from codemods.groups import Adapted, Findings, Group
from codemods.model import Diagnostic, Options
from codemods.resolve import plain_decorators
from codemods.returns import is_generator


def check_definition(group: Group) -> None:
    """A definition must take the buffers, and return once."""
    function = group.function
    name = getattr(function, "name", "<lambda>")
    if not plain_decorators(function):
        shown = ", ".join(f"`@{ast.unparse(d)}`" for d in getattr(function, "decorator_list", []))
        raise Adapted(
            Diagnostic("BC107", f"`{name}` is decorated with {shown}.", "It gets JAX arrays, as before.")
        )
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
    """A copy would let a write succeed that fails today."""
    for name, usage in findings.report.usages.items():
        if usage.write is not None and usage.escape is not None and not options.views:
            raise Adapted(
                Diagnostic(
                    "BC105",
                    f"A view of `{name}` is written into and may be kept.",
                    f"Copy it first: `{name} = np.array({name})`.",
                )
            )


def check_keys(findings: Findings) -> None:
    """A typed random key is no array, which an unused parameter does not notice."""
    for name, seen in findings.supplied.items():
        if seen.may_be_key and findings.report.usages[name].uses <= {Use.INQUIRY}:
            raise Adapted(
                Diagnostic(
                    "BC119",
                    f"`{name}` may be a typed random key, which is no buffer.",
                    "Pass `jax.random.key_data(...)` of it, or leave the parameter out.",
                )
            )
