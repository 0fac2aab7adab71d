"""A callback's signature takes the buffers, and its parameters are converted at the top of its body."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from codemods.rewrite import parsing
from codemods.rewrite.parsing import comments_in

_TYPE_OF_BUFFERS = "# type: (...) -> None"
_TYPE_COMMENT = re.compile(r"#\s*type:\s*\(.*\)\s*->.*")


def with_buffers(
    parameters: cst.Parameters,
    position: int,
    context: str,
    out: str,
    *,
    positional_only: bool,
    opening: cst.BaseParenthesizableWhitespace | None = None,
    types: tuple[str, str] | None = None,
) -> cst.Parameters:
    """Inserts the buffers, of these types, behind `position` positional parameters.

    `opening` is the space before them all.
    """
    pair = [cst.Param(cst.Name(name)) for name in (context, out)]
    if types is not None:
        pair = [p.with_changes(annotation=_annotation(t)) for p, t in zip(pair, types, strict=True)]
    posonly, plain = list(parameters.posonly_params), list(parameters.params)
    if posonly and position <= len(posonly):
        return parameters.with_changes(posonly_params=_inserted(posonly, position, pair, opening))
    index = position - len(posonly)
    listed = _inserted(plain, index, pair, opening)
    if not positional_only:
        return parameters.with_changes(params=listed)
    leading = [*posonly, *listed[: index + 2]]
    leading = [p if isinstance(p.comma, cst.Comma) else p.with_changes(comma=_comma(" ")) for p in leading]
    return parameters.with_changes(
        posonly_params=leading, posonly_ind=cst.ParamSlash(), params=listed[index + 2 :]
    )


def _comma(space: str) -> cst.Comma:
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(space))


def _inserted(
    existing: Sequence[cst.Param],
    index: int,
    pair: Sequence[cst.Param],
    opening: cst.BaseParenthesizableWhitespace | None,
) -> list[cst.Param]:
    """Parameters with the buffers at `index`, spaced as the ones beside them are."""
    before, after = list(existing[:index]), list(existing[index:])
    space = _space_beside(before, after, opening)
    end: cst.Comma | cst.MaybeSentinel = (
        cst.Comma(whitespace_after=space) if after else cst.MaybeSentinel.DEFAULT
    )
    if before and not after:  # a trailing comma, with the line break in front of the parenthesis, stays last
        former, end = before[-1].comma, cst.MaybeSentinel.DEFAULT
        comma = cst.Comma(whitespace_after=space)
        if isinstance(former, cst.Comma) and comments_in(former):
            comma = former
        elif isinstance(former, cst.Comma):
            end = former
        before[-1] = before[-1].with_changes(comma=comma)
    context, out = pair
    context = context.with_changes(comma=cst.Comma(whitespace_after=space))
    return [*before, context, out.with_changes(comma=end), *after]


def one_a_line(parameters: cst.Parameters, indent: str) -> str:
    """The text of parameters with a line break behind each comma, and a comma at the end."""
    newline = cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indent))

    def broken(node: cst.Param | cst.ParamStar | cst.ParamSlash) -> cst.CSTNode:
        return node.with_changes(comma=cst.Comma(whitespace_after=newline))

    changes: dict[str, object] = {
        name: [broken(p) for p in getattr(parameters, name)]
        for name in ("posonly_params", "params", "kwonly_params")
    }
    for name in ("posonly_ind", "star_arg", "star_kwarg"):
        found = getattr(parameters, name)
        if isinstance(found, cst.Param | cst.ParamStar | cst.ParamSlash):
            changes[name] = broken(found)
    return parsing.code(parameters.with_changes(**changes)).rstrip()


def _annotation(text: str) -> cst.Annotation:
    return cst.Annotation(cst.parse_expression(text))


def _space_beside(
    before: Sequence[cst.Param],
    after: Sequence[cst.Param],
    opening: cst.BaseParenthesizableWhitespace | None,
) -> cst.BaseParenthesizableWhitespace:
    """A line break where the neighbours stand on lines of their own, else a space."""
    plain = cst.SimpleWhitespace(" ")
    comma = (before or after or [cst.Param(cst.Name("_"))])[0].comma
    beside = comma.whitespace_after if isinstance(comma, cst.Comma) else plain
    if not isinstance(beside, cst.ParenthesizedWhitespace):
        return plain
    if isinstance(opening, cst.ParenthesizedWhitespace):
        return _break_of(opening)
    return _break_of(beside) if len(before) + len(after) > 1 else plain


def _break_of(space: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    """A line break to the same column, without comments and blank lines."""
    first = cst.TrailingWhitespace(newline=space.first_line.newline)
    return space.with_changes(first_line=first, empty_lines=[])


def with_annotations(node: cst.FunctionDef, jax_annotated: Sequence[str], array_type: str) -> cst.FunctionDef:
    """`-> T` becomes `-> None`, a type comment's result too, and converted parameters are NumPy arrays."""
    if node.returns is not None:
        node = node.with_changes(returns=node.returns.with_changes(annotation=cst.Name("None")))
    if jax_annotated:
        node = node.with_changes(params=node.params.visit(_Annotations(frozenset(jax_annotated), array_type)))
    if isinstance(node.body, cst.IndentedBlock):
        header = node.body.header
        if header.comment and _TYPE_COMMENT.fullmatch(header.comment.value):
            comment = cst.Comment(_TYPE_OF_BUFFERS)
            node = node.with_changes(body=node.body.with_changes(header=header.with_changes(comment=comment)))
    return node


class _Annotations(cst.CSTTransformer):
    def __init__(self, names: frozenset[str], array_type: str) -> None:
        super().__init__()
        self._names, self._type = names, array_type

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        if updated_node.name.value in self._names and updated_node.annotation is not None:
            old, new = updated_node.annotation.annotation, self._type
            if isinstance(old, cst.SimpleString):
                new = f"{old.quote}{new}{old.quote}"
            annotation = updated_node.annotation.with_changes(annotation=cst.parse_expression(new))
            return updated_node.with_changes(annotation=annotation)
        return updated_node


def with_first_lines(node: cst.FunctionDef, lines: Sequence[str]) -> cst.FunctionDef:
    """Puts statements at the top of a function's body, behind its docstring."""
    if not lines:
        return node
    body = node.body
    if isinstance(body, cst.SimpleStatementSuite):
        return node.with_changes(body=body.with_changes(body=_behind_docstring(body.body, lines)))
    assert isinstance(body, cst.IndentedBlock)
    first = body.body[0]
    if isinstance(first, cst.SimpleStatementLine) and len(first.body) > 1 and _is_docstring(first.body[0]):
        first = first.with_changes(body=_behind_docstring(first.body, lines))
        return node.with_changes(body=body.with_changes(body=[first, *body.body[1:]]))
    index = 1 if isinstance(first, cst.SimpleStatementLine) and _is_docstring(first.body[0]) else 0
    added = [statement for line in lines for statement in parsing.statements(line)]
    rest = list(body.body[index:])
    if not index and rest:
        added[0], rest[0] = _with_type_comment_moved(added[0], rest[0])
    elif rest:
        added[0], rest[0] = _with_blank_lines_moved(added[0], rest[0])
    if rest and isinstance(rest[0], cst.FunctionDef | cst.ClassDef) and not _starts_blank(rest[0]):
        rest[0] = rest[0].with_changes(leading_lines=[cst.EmptyLine(indent=False), *rest[0].leading_lines])
    return node.with_changes(body=body.with_changes(body=[*body.body[:index], *added, *rest]))


def _starts_blank(statement: cst.FunctionDef | cst.ClassDef) -> bool:
    return bool(statement.leading_lines) and statement.leading_lines[0].comment is None


def _behind_docstring(
    body: Sequence[cst.BaseSmallStatement], lines: Sequence[str]
) -> list[cst.BaseSmallStatement]:
    """Statements of one line, with new ones at the start."""
    index = 1 if _is_docstring(body[0]) else 0
    return [*body[:index], *(parsing.small_statement(line) for line in lines), *body[index:]]


_Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


def _with_blank_lines_moved(first: _Line, second: cst.BaseStatement) -> tuple[_Line, cst.BaseStatement]:
    """The blank lines between a docstring and the code stay between them."""
    leading = list(getattr(second, "leading_lines", ()))
    blank = next((i for i, line in enumerate(leading) if line.comment is not None), len(leading))
    if not blank:
        return first, second
    return (
        first.with_changes(leading_lines=leading[:blank]),
        second.with_changes(leading_lines=leading[blank:]),
    )


def _with_type_comment_moved(first: _Line, second: cst.BaseStatement) -> tuple[_Line, cst.BaseStatement]:
    """A type comment on a line of its own stays the first of the body."""
    leading = list(getattr(second, "leading_lines", ()))
    if not leading or not leading[0].comment or not _TYPE_COMMENT.fullmatch(leading[0].comment.value):
        return first, second
    comment = leading[0].with_changes(comment=cst.Comment(_TYPE_OF_BUFFERS))
    return first.with_changes(leading_lines=[comment]), second.with_changes(leading_lines=leading[1:])


def _is_docstring(statement: cst.BaseSmallStatement) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(
        statement.value, cst.SimpleString | cst.ConcatenatedString
    )


def with_last_lines(node: cst.FunctionDef, lines: Sequence[str]) -> cst.FunctionDef:
    """Puts statements at the end of a function's body."""
    if not lines:
        return node
    body = node.body
    if isinstance(body, cst.SimpleStatementSuite):
        added = [parsing.small_statement(line) for line in lines]
        return node.with_changes(body=body.with_changes(body=[*body.body, *added]))
    assert isinstance(body, cst.IndentedBlock)
    added_lines = [statement for line in lines for statement in parsing.statements(line)]
    return node.with_changes(body=body.with_changes(body=[*body.body, *added_lines]))
