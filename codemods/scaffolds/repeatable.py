"""Whether an expression may be evaluated again, or not at all, without anyone noticing."""

from __future__ import annotations

import ast
from typing import Final

from codemods.names import Module

_LIBRARIES: Final = ("jax.", "numpy.", "scipy.", "functools.", "math.", "operator.")
_BUILTINS: Final = frozenset(
    "len tuple list dict int float bool str max min sum abs range zip enumerate sorted getattr".split()
)
_DEPTH: Final = 4


def why_not_repeatable(root: ast.expr, module: Module, *, runs_lambdas: bool = True) -> str | None:
    """What an expression does that is more than to compute a value; None for nothing."""
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.Lambda) or runs_lambdas:
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Call) and not _is_pure_call(node, module, 0):
            return f"`{ast.unparse(node.func)}` may do more than compute"
    return None


def _is_pure_call(node: ast.Call, module: Module, depth: int) -> bool:
    function = node.func
    if isinstance(function, ast.Name) and module.home(function.id, module.scopes[function]) is None:
        return function.id in _BUILTINS
    origins = module.origins(function)
    if origins:
        return all(f"{origin}.".startswith(_LIBRARIES) for origin in origins)
    found = _definition(function, module)
    return found is not None and depth < _DEPTH and _is_pure(found, module, depth + 1)


def _definition(function: ast.expr, module: Module) -> ast.FunctionDef | ast.Lambda | None:
    """The function that a name or a method of `self` surely is."""
    match function:
        case ast.Lambda():
            return function
        case ast.Name():
            binding = module.sole_binding(function)
            found = binding.value or binding.node if binding is not None else None
            return found if isinstance(found, ast.FunctionDef | ast.Lambda) else None
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            owners = (node for node in module.ancestors(function) if isinstance(node, ast.ClassDef))
            methods = [each for owner in owners for each in owner.body if getattr(each, "name", "") == name]
            if len(methods) == 1 and isinstance(methods[0], ast.FunctionDef):
                return methods[0]
    return None


def _is_pure(function: ast.FunctionDef | ast.Lambda, module: Module, depth: int) -> bool:
    """Whether a function only computes: it binds nothing but names of its own, and calls only its like."""
    if isinstance(function, ast.Lambda):
        return all(_is_pure_node(node, module, depth) for node in ast.walk(function.body))
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    return all(_is_pure_node(node, module, depth) for node in nodes)


def _is_pure_node(node: ast.AST, module: Module, depth: int) -> bool:
    match node:
        case ast.Call():
            return _is_pure_call(node, module, depth)
        case ast.Global() | ast.Nonlocal() | ast.Yield() | ast.YieldFrom() | ast.Await() | ast.Delete():
            return False
        case ast.Attribute(ctx=ctx) | ast.Subscript(ctx=ctx):
            return isinstance(ctx, ast.Load)
    return True
