"""Which bindings of a name may be what it means at one place, as far as the order of statements tells."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.names import Binding, BindingKind, Module, is_deletion


def reaching(name: ast.Name, module: Module) -> list[Binding]:
    """The bindings of `name` that control may come from, without those that a later one replaces for sure.

    In a function the names around it are those at the end of their scope, when it is called.
    """
    found = [each for each in module.bindings(name) if not is_deletion(each)]
    if len(found) < 2:
        return found
    behind, around = [], set(module.ancestors(name))
    is_inside = found[0].scope is module.scopes[name]
    for each in found:
        is_before = _position(each.node) < _position(name) and each.node not in around
        if not is_inside or is_before or _in_a_loop_with(each.node, around, module):
            behind.append(each)
    return [each for each in behind if not _is_replaced(each, behind, module)]


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _in_a_loop_with(node: ast.AST, around: set[ast.AST], module: Module) -> bool:
    """Whether a binding further down may have come before, in an earlier run of a loop."""
    loops = (ast.For, ast.AsyncFor, ast.While)
    return any(isinstance(each, loops) and each in around for each in module.ancestors(node))


def _is_replaced(binding: Binding, found: Sequence[Binding], module: Module) -> bool:
    """Whether one further down always runs after `binding`: one in the same block, or a block around it."""
    start, around = _position(binding.node), {id(binding.node), *map(id, module.ancestors(binding.node))}
    if binding.kind is BindingKind.PARAMETER:  # which is there before the first statement
        around.update(map(id, _statements(binding.scope.node)[:1]))
    for other in found:
        if _position(other.node) <= start:
            continue
        block = module.block(module.statement(other.node))
        if any(id(statement) in around for statement in block):
            return True
    return False


def _statements(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
