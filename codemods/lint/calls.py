"""The calls that make buffer callbacks, with JAX's `buffer_callback` or with that of `bufcb`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Final, Literal

from codemods.names import BindingKind, Module
from codemods.reaching import reaching

Library = Literal["bufcb", "jax"]

ORIGINS: Final[Mapping[str, Library]] = {
    "bufcb.buffer_callback": "bufcb",
    "bufcb.callback.buffer_callback": "bufcb",
    "jax.experimental.buffer_callback.buffer_callback": "jax",
}
_SLOTS: Final = ("callback", "result_shape_dtypes")


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class BufferCall:
    """One call of `buffer_callback`, which gives a function of the arguments.

    Attributes:
      call: the call itself.
      options: the keywords behind callback and spec, by name.
      is_complete: whether `options` are all of them, with no `**` among them.
      applied: the calls of the function that it gives, where every use of that is in sight; else empty.
      surplus: arguments behind callback and spec, which `buffer_callback` does not take.
    """

    call: ast.Call
    library: Library
    callback: ast.expr
    spec: ast.expr
    options: Mapping[str, ast.expr]
    is_complete: bool
    applied: tuple[ast.Call, ...]
    surplus: tuple[ast.expr, ...] = ()


def find(module: Module) -> list[BufferCall]:
    """Every such call of a module whose callback and spec can be told apart, in order of position."""
    found = []
    for node in module.parents:
        if isinstance(node, ast.Call):
            libraries = {ORIGINS.get(origin) for origin in _origins(node.func, module)}
            if len(libraries) == 1 and (library := libraries.pop()) is not None:
                found += _sorted_out(node, library, module)
    return sorted(found, key=lambda each: (each.call.lineno, each.call.col_offset))


def _origins(function: ast.expr, module: Module) -> frozenset[str]:
    """The dotted names that a function may have, also through a variable that is assigned it."""
    if isinstance(function, ast.Name):
        found = reaching(function, module)
        value = found[0].value if len(found) == 1 else None
        if value is not None and found[0].kind is BindingKind.ASSIGNMENT:
            return module.origins(value)
    return module.origins(function)


def _sorted_out(call: ast.Call, library: Library, module: Module) -> list[BufferCall]:
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return []
    slots = [*call.args[:2], *(named.pop(name) for name in _SLOTS[len(call.args) :] if name in named)]
    if len(slots) != 2:
        return []
    complete = all(keyword.arg is not None for keyword in call.keywords)
    surplus = tuple(call.args[2:])
    return [BufferCall(call, library, slots[0], slots[1], named, complete, _applied(call, module), surplus)]


def _applied(call: ast.Call, module: Module) -> tuple[ast.Call, ...]:
    """The calls of what `call` gives: right away, or through the one name that it is bound to."""
    parent = module.parents[call]
    if isinstance(parent, ast.Call) and parent.func is call:
        return (parent,)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            home = module.home(name, module.scopes[target])
            if home is None or [b.kind for b in home.bindings[name]] != [BindingKind.ASSIGNMENT]:
                return ()
            uses = [(use, module.parents[use]) for use in module.references(name, home)]
            calls = [around for use, around in uses if isinstance(around, ast.Call) and around.func is use]
            return tuple(calls) if len(calls) == len(uses) else ()
    return ()
