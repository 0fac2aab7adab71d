"""Returns become writes into the output buffers, and a bare `return`."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import libcst as cst

from codemods.plans import FunctionPlan, ReturnForm, ReturnPlan
from codemods.rewrite import fusing, parsing
from codemods.rewrite.alignment import realigned
from codemods.rewrite.dialect import Dialect, Names

_PRAGMA: Final = re.compile(
    r"#\s*(type:|noqa\b|pylint:|pyright:|mypy:|ruff:|flake8:|pyre-|nosec\b|pragma:|fmt:)"
)
_LINE_LENGTH: Final = 100
_COVERAGE: Final = re.compile(r"#\s*pragma:")
_ODD: Final = (cst.Yield, cst.NamedExpr, cst.GeneratorExp, cst.Tuple)


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands, and where its write goes.

    Attributes:
      column: the column at which the value starts.
      old_indent: the indentation of the line on which it starts.
      indent: the indentation of the write.
      unit: one step of indentation.
      breaks: whether the write may get line breaks where it is too long.
    """

    column: int
    old_indent: str
    indent: str
    unit: str
    breaks: bool = True

    def behind(self, text: str) -> Spot:
        """The spot behind some text that starts at this one."""
        _, newline, last = text.rpartition("\n")
        if not newline:
            return dataclasses.replace(self, column=self.column + len(text))
        blank = last[: len(last) - len(last.lstrip(" \t"))]
        return dataclasses.replace(self, column=len(last), old_indent=blank)


@dataclasses.dataclass(frozen=True, slots=True)
class Write:
    """The text of one write, with the comments that belong above it and, for tools, behind it."""

    text: str
    above: tuple[str, ...] = ()
    pragma: str = ""


class Writer:
    """Spells the writes of one callback."""

    def __init__(self, dialect: Dialect, names: Names, out: str) -> None:
        self._dialect, self._names, self._out = dialect, names, out

    def write(
        self,
        form: ReturnForm,
        value: cst.BaseExpression | None,
        spot: Spot,
        fused: frozenset[int] = frozenset(),
    ) -> list[Write]:
        """The writes of a value, whose white space holds all of its indentation.

        Comments between the elements of a literal go above their writes, unless they are for tools. Of the
        writes, ufuncs compute those that are `fused`.
        """
        if form == "bare" or value is None:
            comments = tuple(parsing.comments_in(value))
            text = "" if form == "bare" else self._dialect.store(self._names, self._out, "None")
            return [Write(text, comments)] if text or comments else []
        if form == "leaves":
            return list(self._leaves(value, spot, fused))
        if form == "write":
            return [Write(self._leaf(self._out, value, spot, is_fused=bool(fused)))]
        argument = parsing.as_argument(value)
        before, after = self._around(self._dialect.store(self._names, self._out, "\0"))
        column = len(spot.indent + before) + (0 if argument is value else 1)
        text = realigned(parsing.code(value), spot.column, column, (spot.old_indent, spot.indent))
        text = text if argument is value else f"({text})"
        if _is_too_long(before, text, after, spot):
            function, _, first = before.partition("(")
            text = f"\n{spot.indent}{spot.unit}{first}{text}\n{spot.indent}"
            before = f"{function}("
        return [Write(f"{before}{text}{after}")]

    def kept(self, form: ReturnForm, name: str) -> str:
        """The text that writes a value kept in a name."""
        text = self._dialect.write if form == "write" else self._dialect.store
        return text(self._names, self._out, name)

    def _leaf(self, out: str, value: cst.BaseExpression, spot: Spot, *, is_fused: bool) -> str:
        return self._fused(out, value, spot) if is_fused else self._one(out, value, spot)

    def _fused(self, out: str, value: cst.BaseExpression, spot: Spot) -> str:
        """The call of a ufunc as a statement, whose value is its output."""
        assert isinstance(value, cst.Call)
        former = parsing.code(value)
        if "\n" not in former:
            value = value.with_changes(lpar=[], rpar=[])
        call = fusing.with_output(value, self._dialect.view(self._names, out))
        text = parsing.code(call)
        if _is_too_long("", former, text[len(former) :], spot):
            return parsing.code(fusing.broken(call, spot.indent, spot.unit))
        return parsing.placed(text, spot.column, len(spot.indent), spot.old_indent, spot.indent, spot.unit)

    def _one(self, out: str, value: cst.BaseExpression, spot: Spot) -> str:
        before, after = self._around(self._dialect.write(self._names, out, "\0"))
        column = len(spot.indent + before)
        text = parsing.code(value)
        if _is_too_long(before, text, after, spot) and not after:
            return f"{before}(\n{spot.indent}{spot.unit}{text}\n{spot.indent})"
        text = parsing.placed(text, spot.column, column, spot.old_indent, spot.indent, spot.unit)
        return f"{before}{text}{after}"

    def _around(self, text: str) -> tuple[str, str]:
        before, _, after = text.partition("\0")
        return before, after

    def _leaves(self, value: cst.BaseExpression, spot: Spot, fused: frozenset[int]) -> Iterator[Write]:
        pending: list[str] = []
        for number, element in enumerate(_elements(value, spot)):
            out = f"{self._out}[{element.index}]"
            text = self._leaf(out, element.value, element.spot, is_fused=number in fused)
            pragma = "  ".join(filter(_PRAGMA.match, element.comments))
            plain = [comment for comment in element.comments if not _PRAGMA.match(comment)]
            yield Write(text, (*pending, *element.above, *plain), pragma)
            pending = element.behind


def _is_too_long(before: str, text: str, after: str, spot: Spot) -> bool:
    """Whether a write on one line is too long, which its value was not."""
    if "\n" in text or not spot.breaks or spot.column + len(text) > _LINE_LENGTH:
        return False
    return len(f"{spot.indent}{before}{text}{after}") > _LINE_LENGTH


@dataclasses.dataclass(frozen=True, slots=True)
class _Element:
    """One element of a literal: `comments` stand beside it, `behind` come before the next one's line."""

    index: str
    value: cst.BaseExpression
    spot: Spot
    above: list[str]
    comments: list[str]
    behind: list[str]


def _elements(value: cst.BaseExpression, spot: Spot) -> Iterator[_Element]:
    assert isinstance(value, cst.Tuple | cst.List | cst.Dict)
    opening = "".join(map(parsing.code, value.lpar))
    above = [comment for paren in value.lpar for comment in parsing.comments_in(paren)]
    closings: list[cst.CSTNode] = list(value.rpar)
    if not isinstance(value, cst.Tuple):
        left, right = (
            (value.lbracket, value.rbracket) if isinstance(value, cst.List) else (value.lbrace, value.rbrace)
        )
        opening += parsing.code(left)
        above, closings = above + parsing.comments_in(left), [right, *closings]
    spot = spot.behind(opening)
    for number, element in enumerate(value.elements):
        index, before, comments = str(number), "", []
        if isinstance(element, cst.DictElement):
            index = parsing.code(element.key)
            colon = (element.whitespace_before_colon, element.whitespace_after_colon)
            before = f"{index}{parsing.code(colon[0])}:{parsing.code(colon[1])}"
            comments = [comment for space in colon for comment in parsing.comments_in(space)]
        own, behind = _around_comma(element.comma)
        if number == len(value.elements) - 1 and closings:
            beside, below = _around(getattr(closings[0], "whitespace_before", None))
            own += beside
            own += behind + below + [c for paren in closings[1:] for c in parsing.comments_in(paren)]
            behind = []
        yield _Element(index, element.value, spot.behind(before), above, comments + own, behind)
        comma = parsing.code(element.comma) if isinstance(element.comma, cst.Comma) else ""
        spot = spot.behind(before + parsing.code(element.value) + comma)
        above = []


def _around_comma(comma: cst.Comma | cst.MaybeSentinel) -> tuple[list[str], list[str]]:
    """The comments that belong to the element before a comma, and those of the next one."""
    if not isinstance(comma, cst.Comma):
        return [], []
    beside, below = _around(comma.whitespace_after)
    return parsing.comments_in(comma.whitespace_before) + beside, below


def _around(space: object) -> tuple[list[str], list[str]]:
    """The comments of white space: on the line that it starts on, and on lines of their own."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return [], []
    below = [comment for line in space.empty_lines for comment in parsing.comments_in(line)]
    return parsing.comments_in(space.first_line), below


class ReturnRewriter(parsing.StatementTransformer):
    """Rewrites the returns of one function, matched with their plans by their order in the text.

    Args:
      indent: the indentation of the `def`.
      unit: one step of indentation, for blocks that do not say it themselves.
    """

    def __init__(
        self, plan: FunctionPlan, writer: Writer, depths: Mapping[ast.Return, int], indent: str, unit: str
    ) -> None:
        super().__init__()
        self._plan, self._writer, self._depths = plan, writer, depths
        self._indents, self._unit = [indent], unit
        self._pending = list(plan.returns)
        self._blocks: list[cst.BaseCompoundStatement] = []
        self._behind: dict[cst.CSTNode, list[ReturnPlan]] = {}
        self._matched: dict[cst.Return, ReturnPlan] = {}

    # Nested functions have returns of their own.

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        step = self._unit if node.indent is None else node.indent
        self._indents.append(self._indents[-1] + step)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self._indents.pop()
        return updated_node

    def visit_With(self, node: cst.With) -> None:
        self._blocks.append(node)

    def visit_Try(self, node: cst.Try) -> None:
        self._blocks.append(node)

    def visit_TryStar(self, node: cst.TryStar) -> None:
        self._blocks.append(node)

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        return self._leave_block(original_node, updated_node)

    def leave_Try(
        self, original_node: cst.Try, updated_node: cst.Try
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        return self._leave_block(original_node, updated_node)

    def leave_TryStar(
        self, original_node: cst.TryStar, updated_node: cst.TryStar
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        return self._leave_block(original_node, updated_node)

    def _leave_block(
        self, original: cst.BaseCompoundStatement, updated: cst.BaseCompoundStatement
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Writes behind a block what its returns have kept."""
        self._blocks.pop()
        plans = self._behind.get(original, [])
        if not plans:
            return updated
        form: ReturnForm = "write" if all(plan.form == "write" for plan in plans) else "store"
        lines = [_line(self._writer.kept(form, self._plan.kept)), _line("return")]
        if not any(plan.may_miss for plan in plans):
            return cst.FlattenSentinel([updated, *lines])
        # The context may swallow an exception, and then the result is None, as it was before.
        missing = _line(f"{self._plan.kept} = None").with_changes(leading_lines=updated.leading_lines)
        return cst.FlattenSentinel([missing, updated.with_changes(leading_lines=[]), *lines])

    def visit_Return(self, node: cst.Return) -> None:
        plan = self._pending.pop(0)
        if plan.form == "stays":
            return
        self._matched[node] = plan
        if plan.after is not None:
            self._behind.setdefault(self._blocks[-self._depths[plan.node]], []).append(plan)

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
        bare = cst.SimpleStatementLine([cst.Return(semicolon=statement.semicolon)])
        return cst.FlattenSentinel(_lines(self._writes(statement, plan), bare, updated_node))

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
        writes = self._writes(last, plan, breaks=False)
        written = [parsing.small_statement(write.text) for write in writes if write.text]
        return [*body[:-1], *written, cst.Return(semicolon=last.semicolon)]

    def _writes(self, statement: cst.Return, plan: ReturnPlan, *, breaks: bool = True) -> list[Write]:
        value, spot = self._value(statement)
        fused = self._plan.fused.get(plan.node, frozenset())
        return self._writer.write(plan.form, value, dataclasses.replace(spot, breaks=breaks), fused)

    def _value(self, statement: cst.Return) -> tuple[cst.BaseExpression | None, Spot]:
        """A returned value, its white space made absolute, and where it stands."""
        indent = self._indents[-1]
        space = statement.whitespace_after_return
        gap = space.value if isinstance(space, cst.SimpleWhitespace) else " "
        spot = Spot(len(indent), indent, indent, self._unit).behind(f"return{gap}")
        if statement.value is None:
            return None, spot
        value, is_one_line = statement.value, "\n" not in parsing.code(statement.value)
        if not is_one_line:
            absolute = value.visit(parsing.Absolute(indent))
            assert isinstance(absolute, cst.BaseExpression)
            value = absolute
        is_plain = len(value.lpar) == 1 and not isinstance(value, _ODD) and is_one_line
        if not gap and is_plain:
            value = value.with_changes(lpar=[], rpar=[])  # `return(x)`, where they stood for a space
        return value, spot

    def _keep(self, statement: cst.Return) -> cst.BaseSmallStatement:
        value, spot = self._value(statement)
        text = "None" if value is None else parsing.code(value)
        column = len(f"{spot.indent}{self._plan.kept} = ")
        text = parsing.placed(text, spot.column, column, spot.old_indent, spot.indent, spot.unit)
        return parsing.small_statement(f"{self._plan.kept} = {text}")


def _lines(
    writes: Sequence[Write], bare: cst.SimpleStatementLine, former: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine]:
    """Writes and their bare `return` in place of the line that held the former one, comments included."""
    lines, pending = [], list(former.leading_lines)
    end = former.trailing_whitespace
    pragma = end.comment.value if end.comment and _PRAGMA.match(end.comment.value) else ""
    has_text = any(write.text for write in writes)
    for write in writes:
        pending += [cst.EmptyLine(comment=cst.Comment(comment)) for comment in write.above]
        if write.text:
            trailing = _trailing(write.pragma or pragma)
            lines.append(_line(write.text).with_changes(leading_lines=pending, trailing_whitespace=trailing))
            pending = []
    if pragma and has_text and not _COVERAGE.match(pragma):
        end = cst.TrailingWhitespace(newline=end.newline)
    return [*lines, bare.with_changes(leading_lines=pending, trailing_whitespace=end)]


def _trailing(comment: str) -> cst.TrailingWhitespace:
    if not comment:
        return cst.TrailingWhitespace()
    return cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(comment))


def _line(text: str) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([parsing.small_statement(text)])
