"""`pure_callback(f, spec, *args, …)` becomes `buffer_callback(f, spec, …)(*args, …)`, layout and all."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

import libcst as cst

from codemods.names import Module
from codemods.rewrite import parsing
from codemods.rewrite.alignment import realigned
from codemods.source import SourceFile

_FIRST_KEYWORDS: Final = ("callback", "result_shape_dtypes")
_WIDTH, _WIDTH_INSIDE = 100, 120
_FSTRING: Final = re.compile(r"\b(?:[fFtT][rR]?|[rR][fFtT])(['\"])")


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a call stands.

    Attributes:
      column: the column at which it starts.
      indent: the indentation of its line.
      unit: one step of indentation.
      tail: how many characters follow it on its last line, a comment apart.
      width: the longest line that it may be on without new line breaks, which is longer for a line that
        is; 0 where there can be none.
      quote: the quote of new strings.
    """

    column: int = 0
    indent: str = ""
    unit: str = "    "
    tail: int = 0
    width: int = 0
    quote: str = '"'

    @classmethod
    def of(cls, source: SourceFile, module: Module, call: ast.expr, unit: str) -> Place:
        start, end = source.start(call), source.end(call)
        column = start - source.line_start(call.lineno)
        rest = source.text[end : source.line_end(call.end_lineno or call.lineno)]
        tail = len(rest.partition("#")[0].rstrip())
        quote = '"'
        is_whole = _is_whole(module, call, module.statement(call)) and column + end - start + tail <= _WIDTH
        width = _WIDTH if is_whole else _WIDTH_INSIDE
        if source.is_command(call.lineno):
            width = 0
        if any(isinstance(outer, ast.JoinedStr) for outer in module.ancestors(call)):
            width = 0
            line = source.text[source.start(module.statement(call)) : start]
            opened = _FSTRING.findall(line)
            quote = "'" if opened[-1:] == ['"'] else '"'
        return cls(column, source.indentation(call.lineno), unit, tail, width, quote)


def _is_whole(module: Module, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a statement is an expression, an assignment or a `return` of a call and what hangs on it."""
    parent = module.parents[node]
    while isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node):
        node, parent = parent, module.parents[parent]
    return parent is statement and isinstance(parent, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return)


def rewritten(
    text: str,
    function: str,
    adapt: Callable[[str], str] | None,
    options: frozenset[str],
    more: Sequence[tuple[str, str]] = (),
    *,
    is_partial: bool,
    place: Place = Place(),
) -> str:
    """Rewrites the text of a call; a partial becomes the buffer callback itself.

    `options` are the keywords that are the API's own; all others go to the callback. `more` are keywords of
    the new call with their values, whose strings have double quotes.
    """
    call = parsing.expression(text)
    assert isinstance(call, cst.Call)
    layout = _Layout(call, text, place, is_partial=is_partial)
    callback, spec, own, rest = _sorted(layout.arguments, options)
    first = [_as_callback(callback, adapt, place.quote), spec.positional()]
    for option in own:
        spelled = _option(option, place.quote)
        if spelled is None:
            rest = layout.without(option, rest)
        else:
            first.append(spelled)
    for keyword, value in more:
        first.append(first[-1].new(f"{keyword}={value.replace(chr(34), place.quote)}"))
    if is_partial:
        return layout.written(function, first, None)
    return layout.written(function, first, rest)


def moved(
    text: str,
    function: str,
    adapt: Callable[[str], str] | None,
    options: frozenset[str],
    more: Sequence[tuple[str, str]],
    arguments: Sequence[str],
    *,
    place: Place,
    new: Place,
) -> str:
    """The text of a call, rewritten as by `rewritten` for another place, where it has other arguments.

    Comments on the old arguments stay behind.
    """
    text = realigned(text, place.column, new.column, (place.indent, new.indent))
    call = parsing.expression(text)
    assert isinstance(call, cst.Call)
    layout = _Layout(call, text, new, is_partial=False)
    callback, spec, own, _ = _sorted(layout.arguments, options)
    first = [_as_callback(callback, adapt, new.quote), spec.positional()]
    first += [spelled for option in own if (spelled := _option(option, new.quote)) is not None]
    for keyword, value in more:
        first.append(first[-1].new(f"{keyword}={value.replace(chr(34), new.quote)}"))
    return layout.moved(function, first, f"({', '.join(arguments)})")


def handed_over(
    text: str, function: str, leading: Sequence[str], options: frozenset[str], *, place: Place
) -> str:
    """The text of a call of `function`, with the callback's own arguments behind the `leading` ones."""
    call = parsing.expression(text)
    assert isinstance(call, cst.Call)
    layout = _Layout(call, text, place, is_partial=False)
    _, spec, own, rest = _sorted(layout.arguments, options)
    for option in own:
        if _option(option, place.quote) is None:
            rest = layout.without(option, rest)
    rest = [argument.positional() for argument in rest]
    template = rest[0] if rest else spec
    return layout.called(function, [*map(template.new, leading), *rest])


@dataclasses.dataclass(frozen=True, slots=True)
class _Argument:
    """One argument of the call as text, with the white space around it told apart.

    Attributes:
      node: LibCST's.
      text: without comma.
      column: where it started.
      above: the comments and blank lines on lines of their own above it.
      indent: its line's indentation if it started the line; None if something stood in front.
      gap: what stood between it and the token in front, on the same line.
      before_comma: white space between it and its comma.
      trailing: the comment behind it on its line, with the white space in front.
      next_indent: the indentation of the argument behind it if that started a line.
    """

    node: cst.Arg
    text: str
    column: int
    above: tuple[str, ...]
    indent: str | None
    gap: str
    before_comma: str
    trailing: str
    next_indent: str | None = None

    @property
    def keyword(self) -> str | None:
        """The keyword as Python reads it, which takes characters that look alike for the same letter."""
        return unicodedata.normalize("NFKC", self.node.keyword.value) if self.node.keyword else None

    def positional(self) -> _Argument:
        """The same without its keyword."""
        if self.node.keyword is None:
            return self
        value = parsing.code(self.node.value)
        column = self.column + (len(self.text) - len(value) if "\n" not in self.text else 0)
        comments = tuple(parsing.comments_in(self.node.equal))
        return dataclasses.replace(self, text=value, column=column, above=(*self.above, *comments))

    def comments(self) -> tuple[str, ...]:
        """The comments around it, but for those behind the call's last argument."""
        found = (*self.above, *parsing.comments_in(self.node.value), self.trailing.strip())
        return tuple(comment for comment in found if comment)

    def new(self, text: str) -> _Argument:
        """Another argument laid out like this one."""
        return dataclasses.replace(self, text=text, above=(), gap=" ", trailing="", before_comma="")


def _sorted(
    arguments: Sequence[_Argument], names: frozenset[str]
) -> tuple[_Argument, _Argument, list[_Argument], list[_Argument]]:
    """Callback, spec, options and the callback's own arguments, as `sites` told them apart."""
    slots = {a.keyword: a for a in arguments if a.keyword in _FIRST_KEYWORDS}
    options = [a for a in arguments if a.keyword in names]
    taken = [*slots.values(), *options]
    rest = [a for a in arguments if a not in taken]
    for name in _FIRST_KEYWORDS:
        if name not in slots:
            slots[name] = next(a for a in rest if a.keyword is None)
            rest.remove(slots[name])
    return slots["callback"], slots["result_shape_dtypes"], options, rest


def _as_callback(argument: _Argument, adapt: Callable[[str], str] | None, quote: str) -> _Argument:
    """The first argument: without keyword, without parentheses that a name needs no more, adapted."""
    argument = argument.positional()
    value = argument.node.value
    if isinstance(value, cst.Name | cst.Attribute) and not parsing.comments_in(value):
        argument = dataclasses.replace(argument, text=parsing.code(value.with_changes(lpar=[], rpar=[])))
    if adapt is None:
        return argument
    before, _, after = adapt("\0").replace('"', quote).partition("\0")
    shifted = realigned(argument.text, argument.column, argument.column + len(before))
    return dataclasses.replace(argument, text=f"{before}{shifted}{after}")


def _option(argument: _Argument, quote: str) -> _Argument | None:
    """An option as `buffer_callback` has it; None where it says nothing."""
    if argument.keyword == "ordered":  # which is False
        return None
    if argument.keyword != "vectorized":
        return argument
    text = vectorized(parsing.code(argument.node.value))
    if text is None:
        return None
    equal = parsing.code(argument.node.equal) if isinstance(argument.node.equal, cst.AssignEqual) else "="
    return dataclasses.replace(argument, text=f"vmap_method{equal}{text.replace(chr(34), quote)}")


def vectorized(value: str) -> str | None:
    """The `vmap_method` that stands for a value of the old `vectorized=`; None for its default."""
    match ast.parse(value.strip(), mode="eval").body:
        case ast.Constant(value=True):
            return '"legacy_vectorized"'
        case ast.Constant(value=False):
            return '"sequential"'
        case ast.Constant(value=None):
            return None
    return f'"legacy_vectorized" if {value} else "sequential"'


@dataclasses.dataclass(frozen=True, slots=True)
class _Space:
    """White space between two tokens: on the first one's line, above the second, and in front of that."""

    trailing: str
    above: tuple[str, ...]
    indent: str | None
    gap: str

    @classmethod
    def of(cls, node: cst.BaseParenthesizableWhitespace) -> _Space:
        if not isinstance(node, cst.ParenthesizedWhitespace):
            return cls("", (), None, parsing.code(node))
        comment = node.first_line.comment
        trailing = f"{node.first_line.whitespace.value}{comment.value}" if comment else ""
        above = tuple(line.comment.value if line.comment else "" for line in node.empty_lines)
        return cls(trailing, above, node.last_line.value, "")


class _Layout:
    """The line breaks and comments of a call, given to the one or two calls that replace it."""

    def __init__(self, call: cst.Call, text: str, place: Place, *, is_partial: bool) -> None:
        self._place = place
        self._is_short = "\n" not in text and place.column + len(text) + place.tail <= place.width
        self._between = parsing.code(call.whitespace_after_func)
        self._opening = _Space.of(call.whitespace_before_args)
        self._closing = self._opening
        self._trailing_comma = False
        comments = parsing.comments_in(call.func)
        column = _advanced(place.column, parsing.code(call.func) + self._between + "(")
        column = _advanced(column, parsing.code(call.whitespace_before_args))
        self._visual = column
        before = self._opening
        self.arguments: list[_Argument] = []
        for index, arg in enumerate(call.args):
            argument, after, column = _argument(arg, before, column)
            if index == 0:
                argument = dataclasses.replace(argument, gap=after.gap or " ")
            if index == 0 and is_partial:
                comments += [c for c in (*before.above, argument.trailing.strip()) if c]
            else:
                self.arguments.append(argument)
            before = self._closing = after
            if len(self.arguments) > 1:
                self.arguments[-2] = dataclasses.replace(self.arguments[-2], next_indent=argument.indent)
            self._trailing_comma = isinstance(arg.comma, cst.Comma)
        if comments and self.arguments:
            first = self.arguments[0]
            self.arguments[0] = dataclasses.replace(first, above=(*comments, *first.above))
        self._breaks_first = self._opening.indent is not None
        self._hanging = place.indent + place.unit if self._opening.indent is None else self._opening.indent
        self._closing_gap = "" if self._trailing_comma else self._closing.gap

    def without(self, dropped: _Argument, rest: list[_Argument]) -> list[_Argument]:
        """The callback's own arguments, with the comments of an argument that goes away above them."""
        comments = dropped.comments()
        if not rest:
            self._closing = dataclasses.replace(self._closing, above=(*comments, *self._closing.above))
            return rest
        return [dataclasses.replace(rest[0], above=(*comments, *rest[0].above)), *rest[1:]]

    def written(self, function: str, first: list[_Argument], second: list[_Argument] | None) -> str:
        """`function` called with the first arguments and, unless that is None, its result with the second."""
        head = function + self._between
        ends_here = not second
        group = self._group(_advanced(self._place.column, head), first, is_first=True, is_last=ends_here)
        text = head + group
        if second is None:
            return text
        column = _advanced(self._place.column, text)
        short = self._on_one_line(second, column)
        behind = short or self._group(column, second, is_first=False, is_last=True)
        whole = text + behind
        if "\n" in whole or not self._is_short:
            return whole
        if self._place.column + len(whole) + self._place.tail <= self._place.width:
            return whole
        return head + self._broken(first) + behind

    def moved(self, function: str, first: list[_Argument], second: str) -> str:
        """`function` called with the first arguments, and its result with a second group of them."""
        head = function + self._between
        group = self._group(_advanced(self._place.column, head), first, is_first=True, is_last=False)
        whole = head + group + second
        if "\n" in whole or self._place.column + len(whole) <= self._place.width:
            return whole
        return head + self._broken(first) + second

    def called(self, function: str, arguments: list[_Argument]) -> str:
        """`function` called with the callback's own arguments, on one line if they fit."""
        head = function + self._between
        column = _advanced(self._place.column, head)
        short = self._on_one_line(arguments, column)
        return head + (short or self._group(column, arguments, is_first=False, is_last=True))

    def _broken(self, arguments: Sequence[_Argument]) -> str:
        """A group on lines of its own, since the call has become too long for one line."""
        place = self._place
        inner = place.indent + place.unit
        joined = ", ".join(a.text for a in arguments)
        if len(inner) + len(joined) > place.width:
            joined = f",\n{inner}".join(a.text for a in arguments) + ","
        return f"(\n{inner}{joined}\n{place.indent})"

    def _on_one_line(self, arguments: Sequence[_Argument], column: int) -> str | None:
        """The second group without a line break, unless it is too long or comments stand in between."""
        if not arguments:
            return "()"
        if any(any(a.above) or a.trailing or "\n" in a.text for a in arguments) or any(self._closing.above):
            return None
        gaps = [" " if a.indent is not None or "\n" in a.gap else a.gap for a in arguments[1:]]
        text = ",".join(gap + a.text for gap, a in zip(["", *gaps], arguments, strict=True))
        whole = f"({self._opening.gap}{text}{self._closing_gap})"
        was_broken = self._breaks_first or any(a.indent is not None for a in arguments)
        if was_broken and column + len(whole) + self._place.tail > _WIDTH:
            return None
        return whole

    def _group(self, column: int, arguments: Sequence[_Argument], *, is_first: bool, is_last: bool) -> str:
        """Arguments in parentheses, each with the line break and the comments that it had."""
        opening = self._opening
        pieces, pending = ["("], opening.trailing if is_first else ""
        beside = " " * (column + 1 + len(opening.gap))
        arguments = self._in_new_order(arguments)
        for index, argument in enumerate(arguments):
            above = argument.above if index else _from_first_comment(argument.above)
            breaks = (argument if index else opening).indent is not None
            if breaks or pending or above:
                indent = self._indent(argument, beside if index else None)
                beside = beside if index else indent
                pieces += [f"{pending}\n", *(f"{indent}{c}".rstrip() + "\n" for c in above), indent]
            else:
                indent = self._place.indent
                pieces.append(_gap(argument) if index else opening.gap)
            start = _advanced(column, "".join(pieces))
            old = argument.indent if argument.indent is not None else self._place.indent
            pieces.append(realigned(argument.text, argument.column, start, (old, indent)))
            if argument is not arguments[-1]:
                pieces.append(f"{argument.before_comma},")
            pending = argument.trailing
        return "".join(pieces) + self._end(pending, is_last=is_last)

    def _in_new_order(self, arguments: Sequence[_Argument]) -> list[_Argument]:
        """Arguments that follow another one than they did start a line if the one that did started one."""
        order = [a.node for a in self.arguments]
        placed = list(arguments[:1])
        for previous, argument in itertools.pairwise(arguments):
            followed = order[order.index(previous.node) + 1 :] if previous.node in order else []
            inherited = None if followed[:1] == [argument.node] else previous.next_indent
            placed.append(dataclasses.replace(argument, indent=argument.indent or inherited))
        return placed

    def _indent(self, argument: _Argument, beside: str | None) -> str:
        """The indentation of an argument that starts a line; `beside` is the first one's, None for itself."""
        if argument.indent is None or (beside is None and self._opening.indent is not None):
            return self._hanging
        is_aligned = self._opening.indent is None and len(argument.indent) == self._visual
        if is_aligned:
            return self._hanging if beside is None else beside
        return argument.indent

    def _end(self, pending: str, *, is_last: bool) -> str:
        """What closes a group: a comma if the call had one there, its last comments, the parenthesis."""
        closing = self._closing
        comments = [c for c in closing.above if c] if is_last else []
        if not (pending or comments or (closing.indent is not None and self._opening.indent is not None)):
            return f"{self._closing_gap})"
        comma = "," if self._trailing_comma else ""
        lines = "".join(f"{self._hanging}{comment}\n" for comment in comments)
        last = closing.indent if closing.indent is not None else self._place.indent
        return f"{comma}{pending}\n{lines}{last})"


def _argument(arg: cst.Arg, before: _Space, column: int) -> tuple[_Argument, _Space, int]:
    """An argument, the white space behind it, and the column at which what follows starts."""
    keyword = (arg.keyword, arg.equal) if arg.keyword else ()
    parts = (arg.whitespace_after_star, *keyword, arg.value)
    text = arg.star + "".join(parsing.code(part) for part in parts if isinstance(part, cst.CSTNode))
    behind = _Space.of(arg.whitespace_after_arg)
    before_comma, comments = "", ""
    if isinstance(arg.comma, cst.Comma):
        comments = "".join(f"  {c}" for c in parsing.comments_in(arg.comma.whitespace_before))
        before_comma = "" if comments else parsing.code(arg.comma.whitespace_before)
        before_comma = "" if "\n" in before_comma else before_comma
        behind = _Space.of(arg.comma.whitespace_after)
    end = _advanced(column, text)
    for part in (arg.comma, arg.whitespace_after_arg):
        end = _advanced(end, parsing.code(part)) if isinstance(part, cst.CSTNode) else end
    argument = _Argument(
        arg, text, column, before.above, before.indent, before.gap, before_comma, comments + behind.trailing
    )
    return argument, behind, end


def _gap(argument: _Argument) -> str:
    """What stands before an argument that starts no line."""
    return argument.gap if argument.indent is None else " "


def _from_first_comment(lines: Sequence[str]) -> list[str]:
    """Without the blank lines at the start."""
    found = list(lines)
    while found and not found[0]:
        del found[0]
    return found


def _advanced(column: int, text: str) -> int:
    """The column behind a text that starts at `column`."""
    _, newline, last = text.rpartition("\n")
    return len(last) if newline else column + len(text)
