"""Returns become writes into the output buffers, and a bare `return`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import libcst as cst

from codemods.plans import FunctionPlan, ReturnForm, ReturnPlan
from codemods.rewrite import parsing
from codemods.rewrite.dialect import Dialect, Names


class Writer:
    """Spells the writes of one callback."""

    def __init__(self, dialect: Dialect, names: Names, out: str) -> None:
        self._dialect, self._names, self._out = dialect, names, out

    def write(self, form: ReturnForm, value: cst.BaseExpression | None) -> list[cst.SimpleStatementLine]:
        """The lines that write `value`; comments between its elements go above their writes."""
        if form == "bare":
            return []
        if value is None:
            return [_line(self._dialect.store(self._names, self._out, "None"))]
        if form == "leaves":
            return self._leaves(value)
        if form == "write":
            return [
                _line(self._dialect.write(self._names, self._out, parsing.code(parsing.standalone(value))))
            ]
        return [_line(self._dialect.store(self._names, self._out, parsing.code(parsing.as_argument(value))))]

    def kept(self, form: ReturnForm, name: str) -> list[cst.SimpleStatementLine]:
        """The lines that write a value kept in a name."""
        text = self._dialect.write if form == "write" else self._dialect.store
        return [_line(text(self._names, self._out, name))]

    def _leaves(self, value: cst.BaseExpression) -> list[cst.SimpleStatementLine]:
        lines = []
        for index, element, comments in _elements(value):
            text = parsing.code(parsing.standalone(element))
            line = _line(self._dialect.write(self._names, f"{self._out}[{index}]", text))
            above = [cst.EmptyLine(comment=cst.Comment(comment)) for comment in comments]
            lines.append(line.with_changes(leading_lines=above))
        return lines


def _line(text: str) -> cst.SimpleStatementLine:
    (line,) = parsing.statements(text)
    assert isinstance(line, cst.SimpleStatementLine)
    return line


def _elements(value: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression, list[str]]]:
    """Index text, expression and comments of each element of a literal."""
    assert isinstance(value, cst.Tuple | cst.List | cst.Dict)
    found: list[tuple[str, cst.BaseExpression, list[str]]] = []
    opening = value.lpar[-1].whitespace_after if value.lpar else None
    brackets = getattr(value, "lbracket", None) or getattr(value, "lbrace", None)
    pending = parsing.comments_in(opening) + parsing.comments_in(getattr(brackets, "whitespace_after", None))
    for number, element in enumerate(value.elements):
        index = parsing.code(element.key) if isinstance(element, cst.DictElement) else str(number)
        comma = element.comma
        own, pending_next = _around_comma(comma)
        found.append((index, element.value, pending + own))
        pending = pending_next
    closing = value.rpar[0].whitespace_before if value.rpar else None
    brackets = getattr(value, "rbracket", None) or getattr(value, "rbrace", None)
    pending += parsing.comments_in(closing) + parsing.comments_in(
        getattr(brackets, "whitespace_before", None)
    )
    if pending and found:
        found[-1][2].extend(pending)
    return found


def _around_comma(comma: cst.Comma | cst.MaybeSentinel) -> tuple[list[str], list[str]]:
    """The comments that belong to the element before a comma, and those of the next one."""
    if not isinstance(comma, cst.Comma):
        return [], []
    after = comma.whitespace_after
    own = parsing.comments_in(comma.whitespace_before)
    if isinstance(after, cst.ParenthesizedWhitespace):
        own += parsing.comments_in(after.first_line)
        return own, [c for line in after.empty_lines for c in parsing.comments_in(line)]
    return own, []


class ReturnRewriter(cst.CSTTransformer):
    """Rewrites the returns of one function, matched with their plans by their order in the text."""

    def __init__(self, plan: FunctionPlan, writer: Writer, depths: Mapping[ast.Return, int]) -> None:
        super().__init__()
        self._plan, self._writer, self._depths = plan, writer, depths
        self._pending = list(plan.returns)
        self._withs: list[cst.With] = []
        self._behind: dict[cst.With, ReturnPlan] = {}
        self._matched: dict[cst.Return, ReturnPlan] = {}

    # Nested functions have returns of their own.

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_With(self, node: cst.With) -> None:
        self._withs.append(node)

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        self._withs.pop()
        plan = self._behind.get(original_node)
        if plan is None:
            return updated_node
        return cst.FlattenSentinel(
            [updated_node, *self._writer.kept(plan.form, self._plan.kept), _line("return")]
        )

    def visit_Return(self, node: cst.Return) -> None:
        plan = self._pending.pop(0)
        self._matched[node] = plan
        if plan.after is not None:
            self._behind[self._withs[-self._depths[plan.node]]] = plan

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        plan = self._plan_of(original_node.body)
        if plan is None:
            return updated_node
        if len(updated_node.body) > 1:
            return updated_node.with_changes(body=self._on_one_line(updated_node.body, plan))
        (statement,) = updated_node.body
        assert isinstance(statement, cst.Return)
        if plan.after is not None:
            return updated_node.with_changes(body=[self._keep(statement)])
        lines = [*self._writer.write(plan.form, statement.value), _bare(statement)]
        first = lines[0]
        lines[0] = first.with_changes(leading_lines=[*updated_node.leading_lines, *first.leading_lines])
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        plan = self._plan_of(original_node.body)
        if plan is None:
            return updated_node
        return updated_node.with_changes(body=self._on_one_line(updated_node.body, plan))

    def _plan_of(self, body: Sequence[cst.BaseSmallStatement]) -> ReturnPlan | None:
        last = body[-1]
        return self._matched.get(last) if isinstance(last, cst.Return) else None

    def _on_one_line(
        self, body: Sequence[cst.BaseSmallStatement], plan: ReturnPlan
    ) -> list[cst.BaseSmallStatement]:
        last = body[-1]
        assert isinstance(last, cst.Return)
        if plan.after is not None:
            return [*body[:-1], self._keep(last)]
        written = [line.body[0] for line in self._writer.write(plan.form, last.value)]
        return [*body[:-1], *written, cst.Return(semicolon=last.semicolon)]

    def _keep(self, statement: cst.Return) -> cst.BaseSmallStatement:
        value = parsing.code(statement.value) if statement.value else "None"
        return parsing.small_statement(f"{self._plan.kept} = {value}")


def _bare(statement: cst.Return) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Return(semicolon=statement.semicolon)])
