"""Which branch a function takes where a call leaves its options at their defaults."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from codemods.gradients.frames import Arguments, Flags, Frame, Place
from codemods.names import FunctionNode, Module

NO_FLAGS: Final[Flags] = frozenset()


def kept(function: FunctionNode, module: Module, arguments: Arguments, at: Place) -> Flags:
    """The parameters that surely have their default, a literal, in a call of a function by its name."""
    given = None if isinstance(function, ast.Lambda) else _given(function.name, arguments, at)
    if given is None:
        return NO_FLAGS
    count, keywords = given
    bindings = module.opened[function].bindings
    return frozenset(
        (name, value)
        for position, name, value in _defaults(function.args)
        if (position is None or position >= count) and name not in keywords and len(bindings[name]) == 1
    )


def _given(name: str, arguments: Arguments, at: Place) -> tuple[int, Collection[str]] | None:
    """How many positional arguments a call passes, and which keywords; None where that cannot be told.

    A star passes what cannot be seen, and so may what is called by any other name. A transform is evaluated
    for anything where it is applied, and once more where what it gives is called.
    """
    match at.node:
        case ast.Call(func=ast.Call() as transform) as call if _transforms(transform, name):
            pass
        case ast.Call(func=ast.Name() | ast.Attribute()) as call if _is_named(call.func, name):
            pass
        case ast.Call() as transform if _transforms(transform, name):
            module = at.frame.source.module
            outer, origin = module.parents[transform], module.origin(transform.func) or ""
            is_called = isinstance(outer, ast.Call) and outer.func is transform
            if (
                isinstance(outer, ast.Call)
                and is_called
                and origin.startswith("jax.")
                and not _has_star(outer)
            ):
                return len(outer.args), {keyword.arg or "" for keyword in outer.keywords}
            return None
        case _:
            return None
    if _has_star(call) or arguments.rest is not None or arguments.extra is not None:
        return None
    return len(arguments.positional), arguments.keywords


def _transforms(node: ast.Call, name: str) -> bool:
    return bool(node.args) and _is_named(node.args[0], name) and not _has_star(node)


def _has_star(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or not all(k.arg for k in call.keywords)


def _is_named(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (
        isinstance(node, ast.Attribute) and node.attr == name
    )


def _defaults(arguments: ast.arguments) -> Iterator[tuple[int | None, str, bool | str | None]]:
    """The parameters that have a literal for a default, with their positions."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    found: list[tuple[int | None, str, ast.expr | None]] = [
        (index, positional[index].arg, default) for index, default in enumerate(arguments.defaults, first)
    ]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [(None, parameter.arg, default) for parameter, default in pairs]
    for position, name, default in found:
        if isinstance(default, ast.Constant) and isinstance(default.value, bool | str | None):
            yield position, name, default.value


def outcome(test: ast.expr, frame: Frame) -> bool | None:
    """What a condition surely is, for such parameters; None where it may be either."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = outcome(operand, frame)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=parts):
            decisive = isinstance(op, ast.Or)
            outcomes = [outcome(part, frame) for part in parts]
            return decisive if decisive in outcomes else None if None in outcomes else not decisive
        case ast.Name() if values := _flag(test, frame):
            return bool(values[0])
        case ast.Compare(left=ast.Name() as name, ops=[op], comparators=[ast.Constant(value=other)]):
            return _compared(_flag(name, frame), op, other)
    return None


def _compared(flag: list[bool | str | None], op: ast.cmpop, other: object) -> bool | None:
    if not flag or not isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        return None
    return (flag[0] == other) is isinstance(op, ast.Is | ast.Eq)


def _flag(name: ast.Name, frame: Frame) -> list[bool | str | None]:
    """The value that a name surely has, in a list; nothing where it may have others."""
    module = frame.source.module
    home = module.home(name.id, module.scopes[name])
    at: Frame | None = frame
    while at is not None and (home is None or at.node is not home.node):
        at = at.parent
    return [value for key, value in at.flags if key == name.id] if at is not None else []
