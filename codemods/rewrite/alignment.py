"""Moves the continuation lines of code whose first line moves; lines inside strings stay as they are."""

from __future__ import annotations

import dataclasses
import io
import tokenize
from collections.abc import Iterable, Iterator
from typing import Final

_SKIPPED: Final = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_STARTS: Final = frozenset({"FSTRING_START", "TSTRING_START"})
_ENDS: Final = frozenset({"FSTRING_END", "TSTRING_END"})


@dataclasses.dataclass(frozen=True, slots=True)
class _Move:
    """What happens to a line: its indentation is exchanged, then widened or narrowed."""

    old: str = ""
    new: str = ""
    shift: int = 0

    def __call__(self, line: str) -> str:
        if self.old != self.new and line.startswith(self.old):
            line = self.new + line[len(self.old) :]
        if self.shift >= 0:
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            return f"{indent}{' ' * self.shift}{line[len(indent) :]}"
        room = len(line) - len(line.lstrip(" "))
        return line[min(room, -self.shift) :]


@dataclasses.dataclass(frozen=True, slots=True)
class _Bracket:
    """An open bracket: its row, its column, and the column of what follows it on its row."""

    row: int
    column: int
    inner: int | None


def realigned(text: str, column: int, new_column: int, indents: tuple[str, str] = ("", "")) -> str:
    """An expression's text, moved from `column` to `new_column`.

    Lines aligned with what stands behind an opening bracket keep to it. All others follow the line that
    opened their bracket; the indentation of the first line's own line goes from `indents[0]` to `indents[1]`.
    """
    if "\n" not in text or (column == new_column and indents[0] == indents[1]):
        return text
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline))[1:]
    except (tokenize.TokenError, SyntaxError):
        return text
    moves = _moves([t for t in tokens if t.type not in _SKIPPED], column, new_column, indents)
    lines = text.split("\n")
    return "\n".join(moves[row](line) if row in moves else line for row, line in enumerate(lines, 1))


def _moves(
    tokens: list[tokenize.TokenInfo], column: int, new_column: int, indents: tuple[str, str]
) -> dict[int, _Move]:
    """For each continuation line outside of strings, how it moves."""
    hanging = {1: _Move(*indents)}
    aligned = {1: _Move(shift=new_column - column)}
    brackets = [_Bracket(1, column - 1, column)]
    inside_strings = set(_rows_inside_strings(tokens))
    seen = 1
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        row, start = token.start[0], _column(token, column)
        if row > seen and row not in inside_strings:
            bracket = brackets[-1]
            is_end = token.string in (")", "]", "}") and start == bracket.column
            known = aligned if bracket.inner is not None and (start == bracket.inner or is_end) else hanging
            hanging[row] = aligned[row] = known.get(bracket.row, _Move())
        elif row > seen:
            hanging[row] = aligned[row] = _Move()
        seen = max(seen, row, token.end[0])
        if token.type == tokenize.OP and token.string in ("(", "[", "{"):
            brackets.append(_Bracket(row, start, _inner(token, following, column)))
        elif token.type == tokenize.OP and token.string in (")", "]", "}") and len(brackets) > 1:
            brackets.pop()
    return {row: move for row, move in hanging.items() if row > 1 and row not in inside_strings}


def _column(token: tokenize.TokenInfo, column: int) -> int:
    """A token's column in its file; the text's first row has a parenthesis of ours in front."""
    row, found = token.start
    return found - 1 + column if row == 1 else found


def _inner(token: tokenize.TokenInfo, following: tokenize.TokenInfo | None, column: int) -> int | None:
    if following is None or following.start[0] != token.end[0]:
        return None
    return None if following.type in (tokenize.NL, tokenize.COMMENT) else _column(following, column)


def _rows_inside_strings(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[int]:
    """The rows that start inside of a string."""
    opened = []
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if token.type == tokenize.STRING:
            yield from range(token.start[0] + 1, token.end[0] + 1)
        elif name in _STARTS:
            opened.append(token.start[0])
        elif name in _ENDS and opened:
            yield from range(opened.pop() + 1, token.end[0] + 1)
