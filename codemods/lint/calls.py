"""The calls that make buffer callbacks, with JAX's `buffer_callback` or with that of `bufcb`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from codemods.names import BindingKind, Module, Scope
from codemods.reaching import value_reaching
from codemods.sites import PARTIAL

Library = Literal["bufcb", "jax"]
Libraries = frozenset[Library]

ORIGINS: Final[Mapping[str, Library]] = {
    "bufcb.buffer_callback": "bufcb",
    "bufcb.callback.buffer_callback": "bufcb",
    "jax.experimental.buffer_callback.buffer_callback": "jax",
}
_SLOTS: Final = ("callback", "result_shape_dtypes")
# Names and partials that `buffer_callback` may come through.
_MOST_LINKS: Final = 8
_BOUND_ONCE: Final = ([BindingKind.ASSIGNMENT], [BindingKind.FUNCTION])


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class BufferCall:
    """One call of `buffer_callback`, which gives a function of the arguments.

    Attributes:
      call: the call itself.
      libraries: those that it may be of: several where an import falls back on another one.
      options: the keywords behind callback and spec, by name.
      is_complete: whether `options` are all of them, with no `**` among them.
      applied: the calls of the function that it gives, where every use of that is in sight; else empty.
      surplus: arguments behind callback and spec, which `buffer_callback` does not take.
      decorated: the function that is the callback, where the call is a partial that decorates it.
    """

    call: ast.Call
    libraries: Libraries
    callback: ast.expr
    spec: ast.expr
    options: Mapping[str, ast.expr]
    is_complete: bool
    applied: tuple[ast.Call, ...]
    surplus: tuple[ast.expr, ...] = ()
    decorated: ast.FunctionDef | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Maker:
    """What `buffer_callback` is called through: itself, or partials with what they bind."""

    libraries: Libraries
    arguments: tuple[ast.expr, ...] = ()
    keywords: tuple[ast.keyword, ...] = ()

    def given(self, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> _Maker:
        return _Maker(self.libraries, (*self.arguments, *arguments), (*self.keywords, *keywords))


def find(module: Module) -> list[BufferCall]:
    """Every such call of a module whose callback and spec can be told apart, in order of position."""
    found = []
    for node in module.parents:
        if isinstance(node, ast.Call):
            if (maker := _maker(node.func, module)) is not None:
                given = maker.given(node.args, node.keywords)
                found += _sorted_out(node, given, _applied(node, module))
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            found += _decorating(node, node.decorator_list[-1], module)
    return sorted(found, key=lambda each: (each.call.lineno, each.call.col_offset))


def _maker(function: ast.expr, module: Module, links: int = _MOST_LINKS) -> _Maker | None:
    """What an expression that is called makes buffer callbacks with; None where it is anything else."""
    if origins := module.origins(function):
        known = frozenset(ORIGINS[origin] for origin in origins if origin in ORIGINS)
        return _Maker(known) if origins <= ORIGINS.keys() else None
    if not links:
        return None
    if isinstance(function, ast.Name):
        value = value_reaching(function, module)
        return None if value is None else _maker(value, module, links - 1)
    if isinstance(function, ast.Call) and function.args:
        origins = module.origins(function.func)
        inner = _maker(function.args[0], module, links - 1) if origins and origins <= PARTIAL else None
        return None if inner is None else inner.given(function.args[1:], function.keywords)
    return None


def _decorating(function: ast.FunctionDef, decorator: ast.expr, module: Module) -> list[BufferCall]:
    """The call that a partial makes as the first decorator that a function is given to."""
    maker = _maker(decorator, module)
    if maker is None or maker.arguments or not isinstance(decorator, ast.Call | ast.Name):
        return []
    if isinstance(decorator, ast.Name):
        found = value_reaching(decorator, module)
        return [] if not isinstance(found, ast.Call) else _decorated(function, found, maker, module)
    return _decorated(function, decorator, maker, module)


def _decorated(
    function: ast.FunctionDef, partial: ast.Call, maker: _Maker, module: Module
) -> list[BufferCall]:
    scope = module.scopes[function]
    is_alone = len(function.decorator_list) == 1
    applied = _calls_of(function.name, module.home(function.name, scope), module) if is_alone else ()
    found = _sorted_out(partial, maker.given([partial], []), applied)
    return [dataclasses.replace(each, decorated=function) for each in found]


def _sorted_out(call: ast.Call, given: _Maker, applied: tuple[ast.Call, ...]) -> list[BufferCall]:
    named = {keyword.arg: keyword.value for keyword in given.keywords if keyword.arg is not None}
    if any(isinstance(argument, ast.Starred) for argument in given.arguments):
        return []
    positional = given.arguments
    slots = [*positional[:2], *(named.pop(name) for name in _SLOTS[len(positional) :] if name in named)]
    if len(slots) != 2:
        return []
    complete = all(keyword.arg is not None for keyword in given.keywords)
    return [
        BufferCall(call, given.libraries, slots[0], slots[1], named, complete, applied, tuple(positional[2:]))
    ]


def _applied(call: ast.Call, module: Module) -> tuple[ast.Call, ...]:
    """The calls of what `call` gives: right away, or through the one name that it is bound to."""
    parent = module.parents[call]
    if isinstance(parent, ast.Call) and parent.func is call:
        return (parent,)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            return _calls_of(name, module.home(name, module.scopes[target]), module)
    return ()


def _calls_of(name: str, home: Scope | None, module: Module) -> tuple[ast.Call, ...]:
    """The calls of a name that is bound once; none unless every use of it is one."""
    if home is None or [b.kind for b in home.bindings[name]] not in _BOUND_ONCE:
        return ()
    uses = [(use, module.parents[use]) for use in module.references(name, home)]
    calls = [around for use, around in uses if isinstance(around, ast.Call) and around.func is use]
    return tuple(calls) if len(calls) == len(uses) else ()
