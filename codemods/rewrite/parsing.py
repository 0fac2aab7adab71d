"""Pieces of source text to LibCST nodes and back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import libcst as cst

_EMPTY = cst.Module([])


def code(node: cst.CSTNode) -> str:
    return _EMPTY.code_for_node(node)


def statements(text: str) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
    """Parses unindented lines of code."""
    return list(cst.parse_module(text).body)


def small_statement(text: str) -> cst.BaseSmallStatement:
    """Parses one small statement."""
    (line,) = statements(text)
    assert isinstance(line, cst.SimpleStatementLine)
    (statement,) = line.body
    return statement


def transform_block(
    text: str, newline: str, change: Callable[[cst.CSTNode], cst.BaseStatement | Sequence[cst.BaseStatement]]
) -> str:
    """Parses whole lines that hold one compound statement, indented or not, and changes it.

    An indented statement is parsed under a header of its own instead of being dedented, so that strings of
    several lines stay as they are.
    """
    indented = text[:1] in " \t\f"
    header = f"if True:{newline}" if indented else ""
    module = cst.parse_module(header + text)
    if indented:
        outer = module.body[0]
        assert isinstance(outer, cst.If)
        block = outer.body
        assert isinstance(block, cst.IndentedBlock)
        changed: cst.CSTNode = outer.with_changes(
            body=block.with_changes(body=[*_listed(change(block.body[0]))])
        )
        module = module.with_changes(body=[changed])
    else:
        module = module.with_changes(body=[*_listed(change(module.body[0]))])
    return module.code[len(header) :]


def _listed(found: cst.BaseStatement | Sequence[cst.BaseStatement]) -> Sequence[cst.BaseStatement]:
    return [found] if isinstance(found, cst.BaseStatement) else found


def standalone(expression: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that may stand alone on a line: in parentheses if its line breaks need them."""
    text = code(expression)
    if "\n" not in text and "\r" not in text:
        return expression
    try:
        ast.parse(f"x = {text}")
    except SyntaxError:
        return parenthesized(expression)
    return expression


def parenthesized(expression: cst.BaseExpression) -> cst.BaseExpression:
    return expression.with_changes(
        lpar=[cst.LeftParen(), *expression.lpar], rpar=[*expression.rpar, cst.RightParen()]
    )


def as_argument(expression: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that may stand as a call's argument: a bare tuple gets parentheses."""
    bare = (
        isinstance(expression, cst.Tuple | cst.Yield | cst.NamedExpr | cst.GeneratorExp)
        and not expression.lpar
    )
    return parenthesized(expression) if bare else expression


def comments_in(node: cst.CSTNode | cst.MaybeSentinel | None) -> list[str]:
    """Every comment of a piece of white space, in order."""
    if not isinstance(node, cst.CSTNode):
        return []
    found = [node.value] if isinstance(node, cst.Comment) else []
    for child in node.children:
        found.extend(comments_in(child))
    return found
