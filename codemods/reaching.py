"""Which bindings of a name may be what it means at one place, as far as the order of statements tells."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Final

from codemods.names import Binding, BindingKind, Module, is_deletion
from codemods.trees import walk

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


def value_reaching(name: ast.Name, module: Module) -> ast.expr | None:
    """What `name` is, where a single assignment may have said so; else None."""
    found = reaching(name, module)
    return found[0].value if len(found) == 1 else None


def reaching(name: ast.Name, module: Module) -> list[Binding]:
    """The bindings of `name` that control may come from, without those that a later one replaces for sure.

    In a function the names around it are those at the end of their scope, when it is called.
    """
    found = [each for each in module.bindings(name) if not is_deletion(each)]
    if len(found) < 2:
        return found
    behind, around = [], {*module.ancestors(name)}
    is_inside = found[0].scope is module.scopes[name]
    for each in found:
        is_before = _position(each.node) < _position(name) and each.node not in around
        if not is_inside or is_before or _in_a_loop_with(each.node, around, module):
            behind.append(each)
    sure = [each for each in behind if not _is_passed_over(each, name, module)]
    return [each for each in behind if not _is_replaced(each, sure, module)]


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _in_a_loop_with(node: ast.AST, around: set[ast.AST], module: Module) -> bool:
    """Whether a binding further down may have come before, in an earlier run of a loop."""
    return any(isinstance(each, _LOOPS) and each in around for each in module.ancestors(node))


def _is_passed_over(binding: Binding, name: ast.Name, module: Module) -> bool:
    """Whether control may leave a block in front of a binding, and come to `name` all the same."""
    around, child = {name, *module.ancestors(name)}, binding.node
    for each in itertools.takewhile(lambda outer: outer is not binding.scope.node, module.ancestors(child)):
        match each:
            case ast.Try(body=body) | ast.TryStar(body=body):
                if child in body and around.isdisjoint(body):
                    return True
            case ast.For() | ast.AsyncFor() | ast.While():
                leaves = any(isinstance(inner, ast.Break | ast.Continue) for inner in walk(each))
                if leaves and (each not in around or _position(name) < _position(binding.node)):
                    return True
        child = each
    return False


def _is_replaced(binding: Binding, found: Sequence[Binding], module: Module) -> bool:
    """Whether one further down always runs after `binding`: one in the same block, or a block around it."""
    start, around = _position(binding.node), {binding.node, *module.ancestors(binding.node)}
    if binding.kind is BindingKind.PARAMETER:  # which is there before the first statement
        around.update(_statements(binding.scope.node)[:1])
    return any(
        _position(other.node) > start and not around.isdisjoint(module.block(module.statement(other.node)))
        for other in found
    )


def _statements(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
