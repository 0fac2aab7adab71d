"""On which paths through a function something is never done."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from codemods.lint.loops import may_run_never
from codemods.names import Module

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_LEAVING: Final = frozenset({"sys.exit", "os._exit", "os.abort", "typing.assert_never", "pytest.fail"})

Does = Callable[[ast.AST], bool]


def unwritten(function: ast.FunctionDef, writes: Does, module: Module, stages: Does) -> list[ast.AST]:
    """Where a function may be left without having written: its `return`s, and itself for its end.

    `writes` tells whether a statement or expression, nested ones included, may be the write. One inside a
    loop counts for the loop, unless that may well run never. `stages` tells whether a condition asks for the
    stage of the execution: there is nothing to write but in one of them.
    """
    walk = _Walk(function, writes, module, stages)
    if walk.block(function.body, reached=True):
        walk.found.append(function)
    return walk.found


class _Walk:
    """Follows control; `reached` says whether a place is reached with nothing written."""

    def __init__(self, function: ast.FunctionDef, writes: Does, module: Module, stages: Does) -> None:
        self._function, self._writes, self._module, self._stages = function, writes, module, stages
        self.found: list[ast.AST] = []

    def block(self, statements: list[ast.stmt], *, reached: bool) -> bool:
        """Whether the end of a block is reached so."""
        tests: set[str] = set()  # under which something was written further up
        for statement in statements:
            if not reached:
                return False
            if isinstance(statement, ast.If) and _negated(statement.test) in tests:
                if not self.block(statement.body, reached=True):
                    return False
                continue
            reached = self._statement(statement)
            if isinstance(statement, ast.If) and any(map(self._writes, statement.body)):
                tests.add(ast.dump(statement.test))
        return reached

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Return():
                if not self._writes(node):
                    self.found.append(node)
                return False
            case ast.Raise() | ast.Continue() | ast.Break():
                return False
            case ast.Assert(test=ast.Constant(value=False)):
                return False
            case ast.Expr(value=ast.Call() as call) if self._never_returns(call):
                return False
            case ast.If(test=test):
                if self._writes(test):
                    return False
                return self._if(node)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                return not any(map(self._writes, items)) and self.block(node.body, reached=True)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Match(subject=subject):
                return not self._writes(subject) and self._match(node)
        if isinstance(node, _LOOPS):
            return self._loop(node)
        return not self._writes(node)

    def _if(self, node: ast.If) -> bool:
        known = len(self.found)
        taken = self.block(node.body, reached=True)
        middle = len(self.found)
        other = self.block(node.orelse, reached=True)
        if not self._stages(node.test):
            return taken or other
        body_leaves, orelse_leaves = middle > known, len(self.found) > middle
        del self.found[known:]  # where there is nothing to write
        if body_leaves or orelse_leaves:
            return other if body_leaves else taken
        return taken and other

    def _never_returns(self, call: ast.Call) -> bool:
        """Whether a call leaves the process, or is one of a function whose last statement is a `raise`."""
        if self._module.origins(call.func) & _LEAVING:
            return True
        if not isinstance(call.func, ast.Name):
            return False
        binding = self._module.sole_binding(call.func)
        return (
            binding is not None
            and isinstance(binding.node, ast.FunctionDef)
            and isinstance(binding.node.body[-1], ast.Raise)
        )

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        if self._writes(node):
            return isinstance(node, ast.For) and may_run_never(
                node, self._function, self._writes, self._module
            )
        self.block(node.body, reached=True)  # for the `return`s inside
        endless = (
            isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        return not endless or any(isinstance(inner, ast.Break) for inner in ast.walk(node))

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        if any(map(self._writes, node.finalbody)):
            return False
        ends = [self.block([*node.body, *node.orelse], reached=True)]
        ends += [self.block(handler.body, reached=True) for handler in node.handlers]
        return any(ends) and self.block(node.finalbody, reached=True)

    def _match(self, node: ast.Match) -> bool:
        ends = [self.block(case.body, reached=True) for case in node.cases]
        exhaustive = any(
            isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            for case in node.cases
        )
        return any(ends) or not exhaustive


def _negated(test: ast.expr) -> str:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ast.dump(operand)
    return ast.dump(ast.UnaryOp(ast.Not(), test))
