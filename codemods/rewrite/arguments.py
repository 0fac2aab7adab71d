"""A callback's signature takes the buffers, and its parameters are converted at the top of its body."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from codemods.rewrite import parsing

_TYPE_COMMENT = re.compile(r"#\s*type:\s*\(.*\)\s*->.*")


def with_buffers(
    parameters: cst.Parameters, position: int, context: str, out: str, *, positional_only: bool
) -> cst.Parameters:
    """Inserts the buffers behind `position` positional parameters."""
    posonly, plain = list(parameters.posonly_params), list(parameters.params)
    if posonly and position <= len(posonly):
        added = _added(context, out, posonly, position)
        return parameters.with_changes(posonly_params=[*posonly[:position], *added, *posonly[position:]])
    index = position - len(posonly)
    added = _added(context, out, plain, index)
    if not positional_only:
        return parameters.with_changes(params=[*plain[:index], *added, *plain[index:]])
    leading = [*posonly, *(p.with_changes(comma=_spaced(p.comma)) for p in plain[:index]), *added]
    return parameters.with_changes(posonly_params=leading, posonly_ind=cst.ParamSlash(), params=plain[index:])


def _spaced(comma: cst.Comma | cst.MaybeSentinel) -> cst.Comma:
    return comma if isinstance(comma, cst.Comma) else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _added(context: str, out: str, existing: Sequence[cst.Param], index: int) -> list[cst.Param]:
    """The new parameters, spaced as the ones beside them are."""
    space: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    for neighbour in existing:
        comma = neighbour.comma
        if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            space = comma.whitespace_after.with_changes(
                first_line=cst.TrailingWhitespace(newline=comma.whitespace_after.first_line.newline),
                empty_lines=[],
            )
            if neighbour is not existing[-1]:
                break
    follows = index < len(existing)
    first = cst.Param(cst.Name(context), comma=cst.Comma(whitespace_after=space))
    second = cst.Param(
        cst.Name(out), comma=cst.Comma(whitespace_after=space) if follows else cst.MaybeSentinel.DEFAULT
    )
    return [first, second]


def with_annotations(node: cst.FunctionDef, jax_annotated: Sequence[str], array_type: str) -> cst.FunctionDef:
    """`-> T` becomes `-> None`, a type comment's result too, and converted parameters are NumPy arrays."""
    if node.returns is not None:
        node = node.with_changes(returns=node.returns.with_changes(annotation=cst.Name("None")))
    if jax_annotated:
        node = node.with_changes(params=node.params.visit(_Annotations(frozenset(jax_annotated), array_type)))
    if isinstance(node.body, cst.IndentedBlock):
        header = node.body.header
        if header.comment and _TYPE_COMMENT.fullmatch(header.comment.value):
            comment = cst.Comment("# type: (...) -> None")
            node = node.with_changes(body=node.body.with_changes(header=header.with_changes(comment=comment)))
    return node


class _Annotations(cst.CSTTransformer):
    def __init__(self, names: frozenset[str], array_type: str) -> None:
        super().__init__()
        self._names, self._type = names, array_type

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        if updated_node.name.value in self._names and updated_node.annotation is not None:
            annotation = updated_node.annotation.with_changes(annotation=cst.parse_expression(self._type))
            return updated_node.with_changes(annotation=annotation)
        return updated_node


def with_first_lines(node: cst.FunctionDef, lines: Sequence[str]) -> cst.FunctionDef:
    """Puts statements at the top of a function's body, behind its docstring."""
    if not lines:
        return node
    body = node.body
    if isinstance(body, cst.SimpleStatementSuite):
        added = [parsing.small_statement(line) for line in lines]
        return node.with_changes(body=body.with_changes(body=[*added, *body.body]))
    assert isinstance(body, cst.IndentedBlock)
    index = 1 if node.get_docstring(clean=False) is not None and _is_docstring(body.body[0]) else 0
    added_lines = [statement for line in lines for statement in parsing.statements(line)]
    statements = [*body.body[:index], *added_lines, *body.body[index:]]
    return node.with_changes(body=body.with_changes(body=statements))


def _is_docstring(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Expr)


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


class AsarrayToArray(cst.CSTTransformer):
    """`x = np.asarray(x)` becomes `x = np.array(x)`, for the named parameters, in this function alone."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._names = names

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        match updated_node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.Call(
                    func=cst.Attribute(attr=cst.Name(value="asarray")),
                    args=[cst.Arg(value=cst.Name(value=argument)), *_],
                ),
            ) if name == argument and name in self._names:
                return updated_node.with_deep_changes(updated_node.value.func.attr, value="array")  # type: ignore[attr-defined]
        return updated_node
