"""Pieces of source text to LibCST nodes and back. Lines end with `\\n` here."""

from __future__ import annotations

import ast
import functools
import io
import itertools
import keyword
import tokenize
from collections.abc import Callable, Sequence
from typing import TypeVar

import libcst as cst

from codemods.rewrite.alignment import realigned

_Node = TypeVar("_Node", bound=cst.CSTNode)
_EMPTY = cst.Module([])
_HEADER = "if True:\n"


def code(node: cst.CSTNode) -> str:
    """The text of a node."""
    # Most are one of these, for which LibCST's own way is long.
    if isinstance(node, cst.SimpleWhitespace):
        return node.value
    if isinstance(node, cst.Comma):
        return f"{code(node.whitespace_before)},{code(node.whitespace_after)}"
    if isinstance(node, cst.Name) and not node.lpar:
        return node.value
    return _generated(node)


@functools.lru_cache(maxsize=64)
def _generated(node: cst.CSTNode) -> str:
    # LibCST's nodes never change, and several steps ask for the same one's text.
    return _EMPTY.code_for_node(node)


def expression(text: str) -> cst.BaseExpression:
    """Parses an expression, which may have line breaks outside of brackets of its own."""
    parsed = _read(cst.parse_expression, f"({text})", " ")
    return parsed.with_changes(lpar=parsed.lpar[1:], rpar=parsed.rpar[:-1])


@functools.lru_cache(maxsize=256)
def statements(text: str) -> tuple[cst.SimpleStatementLine | cst.BaseCompoundStatement, ...]:
    """Parses unindented lines of code. Many are the same in one callback after the other."""
    return tuple(cst.parse_module(text).body)


def small_statement(text: str) -> cst.BaseSmallStatement:
    """Parses one small statement; line breaks in it keep the indentation that they have."""
    (line,) = statements(text)
    assert isinstance(line, cst.SimpleStatementLine)
    (statement,) = line.body
    if "\n" not in text:
        return statement
    absolute = statement.visit(Absolute(""))
    assert isinstance(absolute, cst.BaseSmallStatement)
    return absolute


class StatementTransformer(cst.CSTTransformer):
    """Visits statements and blocks alone: what they are made of is most of a tree, and stays as it is."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _is_entered(type(node)):
            return super().on_visit(node)
        if isinstance(node, cst.BaseSmallStatement):
            super().on_visit(node)
        return False

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        pass

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        pass


@functools.cache
def _is_entered(kind: type[cst.CSTNode]) -> bool:
    return issubclass(
        kind,
        cst.BaseStatement
        | cst.BaseSuite
        | cst.Else
        | cst.Finally
        | cst.ExceptHandler
        | cst.ExceptStarHandler
        | cst.MatchCase,
    )


class Absolute(cst.CSTTransformer):
    """Makes white space inside of brackets hold all of its indentation, of which `indent` is its block's.

    LibCST leaves out the indentation of the block around, so that text would change its meaning when it is
    taken out of one block and put into another.
    """

    def __init__(self, indent: str) -> None:
        super().__init__()
        self._indent = indent

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        if not updated_node.indent:
            return updated_node
        last = cst.SimpleWhitespace(self._indent + updated_node.last_line.value)
        return updated_node.with_changes(indent=False, last_line=last)

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        if not updated_node.indent or updated_node.comment is None:
            return updated_node
        white = cst.SimpleWhitespace(self._indent + updated_node.whitespace.value)
        return updated_node.with_changes(indent=False, whitespace=white)


def transform_block(
    text: str, change: Callable[[cst.CSTNode, str], cst.BaseStatement | Sequence[cst.BaseStatement]]
) -> str:
    """Parses whole lines that hold one compound statement, indented or not, and changes it.

    An indented statement is parsed under a header of its own instead of being dedented, so that strings of
    several lines stay as they are. A form feed starts the columns of its line anew, and stays in front.
    `change` is also told the step of indentation that blocks have unless they say otherwise.
    """
    first_line = text[: len(text) - len(text.lstrip(" \t\f"))]
    feed = first_line.rfind("\f") + 1
    prefix, text = text[:feed], text[feed:]
    indented = text[:1] in (" ", "\t")
    header = _HEADER if indented else ""
    mark = " " if "\f" in text else "\f"  # white space that can be told from the text's own
    module = _read(cst.parse_module, header + text, mark)
    if indented:
        outer = module.body[0]
        assert isinstance(outer, cst.If)
        block = outer.body
        assert isinstance(block, cst.IndentedBlock)
        changed: cst.CSTNode = outer.with_changes(
            body=block.with_changes(body=[*_listed(change(block.body[0], module.default_indent))])
        )
        module = module.with_changes(body=[changed])
    else:
        module = module.with_changes(body=[*_listed(change(module.body[0], module.default_indent))])
    code = module.code[len(header) :]
    return prefix + (code.replace("\f", "") if mark == "\f" else code)


def _read(parse: Callable[[str], _Node], text: str, space: str) -> _Node:
    """Parses a text, with `space` between brackets and keywords if LibCST cannot without.

    To Python `return(a if b else c)` is as good as with a space; LibCST takes a conditional expression in
    parentheses for one that needs it, and fails with a `TypeError` for `else(lambda: a)`.
    """
    try:
        return parse(text)
    except (cst.CSTValidationError, TypeError):
        return parse(_spaced(text, space))


def _spaced(text: str, space: str) -> str:
    """The text with `space` wherever a keyword and a bracket touch."""
    lines = text.split("\n")
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, after in reversed([*itertools.pairwise(tokens)]):
        opens = keyword.iskeyword(before.string) and after.string in ("(", "[", "{")
        closes = before.string in (")", "]", "}") and keyword.iskeyword(after.string)
        if before.end == after.start and (opens or closes):
            row, column = before.end
            lines[row - 1] = lines[row - 1][:column] + space + lines[row - 1][column:]
    return "\n".join(lines)


def _listed(found: cst.BaseStatement | Sequence[cst.BaseStatement]) -> Sequence[cst.BaseStatement]:
    return [found] if isinstance(found, cst.BaseStatement) else found


def placed(text: str, column: int, new_column: int, old_indent: str, indent: str, unit: str) -> str:
    """An expression's text at another place, where it must stand alone.

    Where its line breaks need them, it gets parentheses, on lines of their own.

    Args:
      text: the expression, as it stood.
      column: where it started.
      new_column: where it is to start.
      old_indent: the indentation of the line that it started on.
      indent: the indentation of the line that it is to start on.
      unit: one step of indentation.
    """
    if "\n" not in text:
        return text
    try:
        ast.parse(f"x = {text}")
    except SyntaxError:
        inner = indent + unit
        return f"(\n{inner}{realigned(text, column, len(inner), (old_indent, inner))}\n{indent})"
    return realigned(text, column, new_column, (old_indent, indent))


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
    if not isinstance(node, cst.CSTNode) or "#" not in code(node):
        return []
    found = [node.value] if isinstance(node, cst.Comment) else []
    for child in node.children:
        found.extend(comments_in(child))
    return found
