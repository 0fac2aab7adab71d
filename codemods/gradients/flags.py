"""Which branch a function takes where a call leaves its options at their defaults."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from codemods.gradients.frames import Arguments, Flags, Frame, Place
from codemods.names import FunctionNode, Module, defaults

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
    call = at.node
    if not isinstance(call, ast.Call):
        return None
    if _is_named(call.func, name) or (isinstance(call.func, ast.Call) and _transforms(call.func, name)):
        if _has_star(call) or arguments.rest is not None or arguments.extra is not None:
            return None
        return len(arguments.positional), arguments.keywords
    if _transforms(call, name):
        module = at.frame.source.module
        outer, origin = module.parents[call], module.origin(call.func) or ""
        is_called = isinstance(outer, ast.Call) and outer.func is call and not _has_star(outer)
        if isinstance(outer, ast.Call) and is_called and origin.startswith("jax."):
            return len(outer.args), {keyword.arg or "" for keyword in outer.keywords}
    return None


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
    positions = {each: index for index, each in enumerate([*arguments.posonlyargs, *arguments.args])}
    for parameter, default in defaults(arguments):
        if isinstance(default, ast.Constant) and isinstance(default.value, bool | str | None):
            yield positions.get(parameter), parameter.arg, default.value


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
