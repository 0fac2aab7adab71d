"""Whether a `def` can stand in front of the statement that holds a lambda."""

from __future__ import annotations

import ast

from codemods.names import Module
from codemods.source import SourceFile


def why_not_hoisted(function: ast.Lambda, module: Module, source: SourceFile) -> str | None:
    """Why a lambda must stay where it is; None when a `def` can stand for it."""
    statement = module.statement(function)
    defaults = [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]
    if not all(isinstance(default, ast.Name | ast.Constant) for default in defaults):
        return "A default of the lambda is more than a name or a constant."
    if module.enclosing_class(statement) is not None:
        return "The lambda stands in the body of a class."
    if _needs_inner_names(function, statement, module):
        return "The lambda reads variables of a comprehension or of an outer lambda."
    if not _starts_line(statement, source):
        return "The statement around the lambda does not start its line."
    if any(isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await) for n in ast.walk(function)):
        return "The lambda binds or yields inside an expression."
    named = any(isinstance(default, ast.Name) for default in defaults)
    if named and not _evaluated_once_and_first(function, statement, module):
        return "A default of the lambda would be evaluated at another time."
    return None


def _starts_line(statement: ast.stmt, source: SourceFile) -> bool:
    if getattr(statement, "decorator_list", []):
        return True
    line = source.line_text(statement.lineno)
    before = source.text[source.line_start(statement.lineno) : source.start(statement)]
    is_elif = isinstance(statement, ast.If) and line.lstrip(" \t\f").startswith("elif")
    return not before.strip() and not is_elif


def _needs_inner_names(function: ast.Lambda, statement: ast.stmt, module: Module) -> bool:
    """Whether a lambda reads names of a scope that lies between it and the statement."""
    outer, inner = module.scopes[statement], []
    for scope in module.scopes[function].enclosing():
        if scope is outer or scope is module.opened.get(statement):
            break
        inner.append(scope)
    reads = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    homes = {module.home(n.id, module.scopes[n]) for n in reads}
    return any(scope in homes for scope in inner)


def _evaluated_once_and_first(function: ast.Lambda, statement: ast.stmt, module: Module) -> bool:
    """Whether a statement evaluates the lambda exactly once, before it binds anything."""
    if isinstance(statement, ast.While) or any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
        return False
    child: ast.AST = function
    for parent in module.ancestors(function):
        match parent:
            case ast.IfExp(test=test) if child is not test:
                return False
            case ast.BoolOp(values=[first, *_]) if child is not first:
                return False
            case ast.Compare(left=left, comparators=[second, *_]) if (
                child is not left and child is not second
            ):
                return False
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.comprehension():
                return False
            case ast.Lambda() | ast.Assert():
                return False
            case ast.With(items=[first_item, *_]) | ast.AsyncWith(items=[first_item, *_]):
                if child is not first_item:
                    return False
        if parent is statement:
            return True
        child = parent
    return True
