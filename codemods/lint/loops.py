"""Loops that may well run never: over what a condition on data has picked."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from codemods.names import Module

_PICKING: Final = frozenset({"numpy.flatnonzero", "numpy.argwhere", "numpy.extract", "numpy.compress"})
_PICKING_IN_TUPLES: Final = frozenset({"numpy.nonzero", "numpy.where"})
_HANDING_ON: Final = frozenset({"enumerate", "zip", "sorted", "reversed", "list", "tuple", "set", "iter"})
_LEAVING: Final = (ast.Return, ast.Raise, ast.Assert)


def may_run_never(
    loop: ast.For, function: ast.FunctionDef, writes: Callable[[ast.AST], bool], module: Module
) -> bool:
    """Whether only a loop writes, over what may be empty, and nothing in the function is ready for that."""
    inside, last = set(ast.walk(loop)), function.body[-1]
    is_bare = isinstance(last, ast.Return) and last.value is None
    statements = function.body[:-1] if is_bare else function.body
    others = [node for statement in statements for node in ast.walk(statement) if node not in inside]
    return (
        loop in function.body
        and not loop.orelse
        and _is_picked(loop.iter, function, module)
        and not any(isinstance(node, _LEAVING) for node in others)
        and not any(isinstance(node, ast.Expr) and _may_raise(node.value, module) for node in others)
        and not any(isinstance(node, ast.Name) and writes(node) for node in others)
    )


def _may_raise(node: ast.expr, module: Module) -> bool:
    """Whether a statement may be a call of something that checks what it is given."""
    if not isinstance(node, ast.Call):
        return not isinstance(node, ast.Constant)
    return not any(origin.startswith(("numpy.", "logging.")) for origin in module.origins(node.func))


def _is_picked(node: ast.expr, function: ast.FunctionDef, module: Module) -> bool:
    """Whether an expression gives those elements alone for which a condition on local values is true."""
    scope = module.opened[function]
    match node:
        case ast.Name(id=name):
            binding = module.sole_binding(node)
            if binding is None or binding.scope is not scope or binding.value is None:
                return False
            is_alone = module.references(name, scope) == [node]
            return is_alone and _is_picked(binding.value, function, module)
        case ast.Subscript(value=ast.Call(func=called, args=[condition]), slice=ast.Constant()):
            origins = module.origins(called)
            return bool(origins) and origins <= _PICKING_IN_TUPLES and _is_local(condition, function, module)
        case ast.Subscript(slice=mask):
            return _compares(mask) and _is_local(mask, function, module)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            return any(each.ifs for each in node.generators) and _is_local(node, function, module)
        case ast.Call(func=ast.Name(id=called) as name, args=arguments) if not module.bindings(name):
            if called == "filter":
                return _is_local(node, function, module)
            return called in _HANDING_ON and any(_is_picked(each, function, module) for each in arguments)
        case ast.Call(func=called):
            origins = module.origins(called)
            return bool(origins) and origins <= _PICKING and _is_local(node, function, module)
    return False


def _compares(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _compares(left) or _compares(right)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _compares(operand)
    return isinstance(node, ast.Compare)


def _is_local(node: ast.expr, function: ast.FunctionDef, module: Module) -> bool:
    """Whether a name of the function is read, which may hold anything, and not those of the module alone."""
    scope = module.opened[function]
    names = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return any(module.home(name.id, module.scopes[name]) is scope for name in names)
