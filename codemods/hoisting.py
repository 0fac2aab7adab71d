"""Where a `def` can stand for a lambda: in front of the statement that holds it, or of one around that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods import hostlib
from codemods.names import Module, Scope
from codemods.source import SourceFile
from codemods.trees import walk

# What a statement on the line of its header stands in, where that is no statement itself.
_CLAUSES = (ast.ExceptHandler, ast.match_case)


def why_not_hoisted(function: ast.Lambda, module: Module, source: SourceFile) -> str | None:
    """Why a lambda must stay where it is; None when a `def` can stand for it."""
    statement, above = module.statement(function), anchor(function, module, source)
    defaults = [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]
    if not all(_is_plain(default, module) for default in defaults):
        return "A default of the lambda is more than a name or a constant."
    if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in walk(function)):
        return "The lambda yields."
    crossed = list(scopes_between(function, above, module))
    if _reads_any(function, crossed, module):
        return _of_inner_names(crossed)
    if any(isinstance(scope.node, ast.ClassDef) for scope in crossed) and _is_mangled_inside(function):
        return "The lambda reads a private name of the class in whose body it stands."
    if any(binding.origin for scope in crossed for found in scope.bindings.values() for binding in found):
        return "The function around the lambda imports on its own line."
    named = any(map(_reads_names, defaults))
    if named and (above is not statement or not _evaluated_once_and_first(function, statement, module)):
        return "A default of the lambda would be evaluated at another time."
    return None


def _is_plain(default: ast.expr, module: Module) -> bool:
    """Whether a default is a name, a constant, or NumPy's number of one."""
    if isinstance(default, ast.Call) and not default.keywords:
        is_number = (module.origin(default.func) or "") in hostlib.SCALAR_TYPES
        return is_number and all(_is_plain(argument, module) for argument in default.args)
    if isinstance(default, ast.UnaryOp):
        return isinstance(default.operand, ast.Constant)
    return isinstance(default, ast.Name | ast.Constant)


def _reads_names(default: ast.expr) -> bool:
    """Whether a plain default depends on when it is evaluated."""
    if isinstance(default, ast.Call):
        return any(map(_reads_names, default.args))
    return isinstance(default, ast.Name)


def anchor(node: ast.expr, module: Module, source: SourceFile) -> ast.stmt:
    """The statement in front of which a `def` goes: the one that holds an expression, or one around it.

    A block on the line of its header has no place for a `def`, nor is there one in front of an `elif`; what
    the body of a class defines is not seen from its methods.
    """
    statement = module.statement(node)
    while True:
        around = _before_on_its_line(statement, module) or _around(statement, module, source)
        if around is None:
            return statement
        statement = around


def _around(statement: ast.stmt, module: Module, source: SourceFile) -> ast.stmt | None:
    """The statement around one that has no place in front of it."""
    parent = module.parents[statement]
    if isinstance(parent, ast.ClassDef) or (
        isinstance(parent, ast.stmt) and not _starts_line(statement, source)
    ):
        return parent
    if isinstance(parent, _CLAUSES) and not _starts_line(statement, source):
        return module.statement(parent)
    return None


def _before_on_its_line(statement: ast.stmt, module: Module) -> ast.stmt | None:
    """The statement in front of a semicolon."""
    block = module.block(statement)
    index = block.index(statement)
    is_behind = index and block[index - 1].end_lineno == statement.lineno
    return block[index - 1] if is_behind else None


def scopes_between(node: ast.expr, above: ast.stmt, module: Module) -> Iterator[Scope]:
    """The scopes between an expression and the statement in front of which a `def` goes."""
    outer = module.scopes[above]
    for scope in module.scopes[node].enclosing():
        if scope is outer:
            return
        yield scope


def _of_inner_names(crossed: list[Scope]) -> str:
    if any(isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef) for scope in crossed):
        return "The lambda reads variables of a function that stands on one line."
    return "The lambda reads variables of a comprehension or of an outer lambda."


def _starts_line(statement: ast.stmt, source: SourceFile) -> bool:
    if getattr(statement, "decorator_list", []):
        return True
    line = source.line_text(statement.lineno)
    before = source.text[source.line_start(statement.lineno) : source.start(statement)]
    is_elif = isinstance(statement, ast.If) and line.lstrip(" \t\f").startswith("elif")
    return not before.strip() and not is_elif


def _is_mangled_inside(function: ast.Lambda) -> bool:
    """Whether a lambda reads a name that Python spells otherwise in a class."""
    names = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    names |= {node.attr for node in walk(function) if isinstance(node, ast.Attribute)}
    return any(name.startswith("__") and not name.endswith("__") for name in names)


def _reads_any(function: ast.Lambda, scopes: list[Scope], module: Module) -> bool:
    """Whether a lambda reads names that one of `scopes` binds."""
    reads = [n for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    homes = {module.home(n.id, module.scopes[n]) for n in reads}
    return any(scope in homes for scope in scopes)


def _evaluated_once_and_first(function: ast.Lambda, statement: ast.stmt, module: Module) -> bool:
    """Whether a statement evaluates the lambda exactly once, before it binds anything."""
    if isinstance(statement, ast.While) or any(isinstance(n, ast.NamedExpr) for n in walk(statement)):
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
