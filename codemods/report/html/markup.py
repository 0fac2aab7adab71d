"""Text as HTML in which every character shows, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from codemods.report.html.colour import Token
from codemods.report.html.lines import Span

# A longer line is shown in part.
LONGEST_LINE: Final = 1_000
_MARGIN: Final = 200

# Characters that HTML cannot hold, that show as nothing, or that change how others show.
_QUICK: Final = re.compile(r"[ -~\t]*+")
_TICKED: Final = re.compile(r"`([^`]+)`")


def text(value: str) -> str:
    """The text as HTML; a character that does not print is shown by its escape."""
    if _QUICK.fullmatch(value):
        return escape(value, quote=False)
    return "".join(
        escape(char, quote=False) if char.isprintable() or char == "\t" else _escaped(char) for char in value
    )


def prose(value: str) -> str:
    """A message as HTML, with what stands in backticks as code."""
    parts = _TICKED.split(value)
    return "".join(
        f"<code>{text(part)}</code>" if index % 2 else text(part) for index, part in enumerate(parts)
    )


def plain(value: str) -> str:
    """The text as it can stand in an attribute or a title, where no markup is."""
    return escape("".join(char if char.isprintable() else _name(char) for char in value))


def code(line: str, tokens: Iterable[Token], changes: Sequence[Span], change_tag: str, focus: int = 0) -> str:
    """A line of code, with colour for its tokens and `change_tag` around its `changes`.

    Of a very long line, only what is around offset `focus` is shown.
    """
    start, end = 0, len(line)
    if end > LONGEST_LINE:
        start = max(0, min(focus - _MARGIN, end - LONGEST_LINE))
        end = start + LONGEST_LINE
    parts = [_omitted(start)] if start else []
    position = start
    for change in changes:
        first, last = max(change[0], start), min(change[1], end)
        if first < last:
            parts.append(_coloured(line, tokens, position, first))
            parts.append(f"<{change_tag}>{_coloured(line, tokens, first, last)}</{change_tag}>")
            position = last
    parts.append(_coloured(line, tokens, position, end))
    if end < len(line):
        parts.append(_omitted(len(line) - end))
    return "".join(parts)


def path(path: str) -> str:
    """The path with its folder apart, and places to break it."""
    folder, slash, name = path.rpartition("/")
    shown = f'<span class="folder">{breakable(folder + slash)}</span>' if slash else ""
    return shown + text(name)


def breakable(folder: str) -> str:
    return text(folder).replace("/", "/<wbr>")


def plural(count: int, noun: str) -> str:
    """The count with its noun: `no files`, `1 file`, `1,234 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count or 'no':{',' if count else ''}} {noun}s"


def _coloured(line: str, tokens: Iterable[Token], start: int, end: int) -> str:
    """The part of a line from `start` to `end`."""
    parts = []
    position = start
    for token in tokens:
        token_start, token_end = max(token.start, start), min(token.end, end)
        if token_start < token_end:
            parts.append(text(line[position:token_start]))
            parts.append(f"<i class={token.kind}>{text(line[token_start:token_end])}</i>")
            position = token_end
    parts.append(text(line[position:end]))
    return "".join(parts)


def _omitted(count: int) -> str:
    return f'<i class="x">… {count:,} characters …</i>'


def _escaped(char: str) -> str:
    return f'<i class="x" title="{_title(char)}">{_name(char)}</i>'


def _name(char: str) -> str:
    r"""The escape for a character: `\x1b`, `\u202e`; a byte of a path that is no text as that byte."""
    value = ord(char)
    if 0xDC80 <= value <= 0xDCFF:
        return f"\\x{value - 0xDC00:02x}"
    if value <= 0xFF:
        return f"\\x{value:02x}"
    return f"\\u{value:04x}" if value <= 0xFFFF else f"\\U{value:08x}"


def _title(char: str) -> str:
    value = ord(char)
    return f"byte {value - 0xDC00:02X}" if 0xDC80 <= value <= 0xDCFF else f"U+{value:04X}"
