"""Edits of a text by offset; nested ones are applied from the inside out."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Iterator

from codemods.source import Change, changed

_NEWLINE = re.compile(r"\r\n|\r|\n")
_IN_WORD = re.compile(r"\w")


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Edit:
    """Replaces `text[start:end]`.

    Attributes:
      make: maps the span's text, inner edits already applied, to its replacement; both have plain `\\n`.
    """

    start: int
    end: int
    make: Callable[[str], str]


class Edits:
    """The edits of one file. No two of them may overlap without one holding the other.

    Whoever makes an edit sees and gives lines that end with `\\n`; the file's endings are put back here.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[Edit] = []
        self._moves: list[tuple[int, int, int]] = []
        found = _NEWLINE.search(text)
        self._newline = found.group() if found else "\n"

    def __bool__(self) -> bool:
        return bool(self._edits)

    def replace(self, start: int, end: int, text: str) -> None:
        self._edits.append(Edit(start, end, lambda _: text))

    def transform(self, start: int, end: int, make: Callable[[str], str]) -> None:
        self._edits.append(Edit(start, end, make))

    def insert(self, offset: int, make: Callable[[], str]) -> None:
        self._edits.append(Edit(offset, offset, lambda _: make()))

    def inside(self, start: int, end: int) -> str:
        """The text of a span with the edits strictly inside of it applied; its lines end with `\\n`."""
        inner = [
            e for e in self._edits if start <= e.start and e.end <= end and (e.start, e.end) != (start, end)
        ]
        return _plain(self._render(start, end, inner))

    def changes(self) -> tuple[Change, ...]:
        """The edits that no other one holds, carried out, in order."""
        return tuple(self._carry_out(0, self._edits))

    def _render(self, start: int, end: int, edits: list[Edit]) -> str:
        shifted = (
            Change(change.start - start, change.end - start, change.text)
            for change in self._carry_out(start, edits)
        )
        return changed(self._text[start:end], shifted)

    def _carry_out(self, position: int, edits: list[Edit]) -> Iterator[Change]:
        # Outer edits first, and insertions before whatever starts at the same place.
        ordered = sorted(edits, key=lambda e: (e.start, e.start != e.end, -e.end))
        index = 0
        while index < len(ordered):
            edit = ordered[index]
            index += 1
            inner = []
            while index < len(ordered) and edit.start < edit.end and ordered[index].start < edit.end:
                inner.append(ordered[index])
                index += 1
            assert edit.start >= position and all(e.end <= edit.end for e in inner), "edits overlap"
            before = self._render(edit.start, edit.end, inner)
            text = self._apart(edit, _with_endings(edit.make(_plain(before)), before, self._newline))
            yield Change(edit.start, edit.end, text)
            position = edit.end

    def _apart(self, edit: Edit, text: str) -> str:
        """New text with a space where a bracket of the old one could touch a word, and it could not."""
        old = self._text[edit.start : edit.end]
        before, after = self._text[max(edit.start - 1, 0) : edit.start], self._text[edit.end : edit.end + 1]
        if old and text and _run_together(before, text[0]) and not _run_together(before, old[0]):
            text = f" {text}"
        if old and text and _run_together(text[-1], after) and not _run_together(old[-1], after):
            text = f"{text} "
        return text


def line_after(text: str, offset: int, changes: Iterable[Change]) -> int:
    """The 1-based line on which a place of a text is found once that has changed."""
    line = _lines(text[:offset]) + 1
    for change in changes:
        if change.end <= offset:
            line += _lines(change.text) - _lines(text[change.start : change.end])
    return line


def _run_together(before: str, after: str) -> bool:
    return bool(_IN_WORD.match(before) and _IN_WORD.match(after))


def _lines(text: str) -> int:
    return len(_NEWLINE.findall(text))


def _plain(text: str) -> str:
    return _NEWLINE.sub("\n", text) if "\r" in text else text


def _with_endings(text: str, before: str, newline: str) -> str:
    """Gives new text the line endings of the text that it replaces, line by line where those are mixed."""
    text = _plain(text)
    found = _NEWLINE.findall(before)
    endings = set(found) or {newline}
    if len(endings) == 1:
        (ending,) = endings
        return text if ending == "\n" else text.replace("\n", ending)
    old, new = _plain(before).split("\n"), text.split("\n")
    chosen = [newline] * (len(new) - 1)
    for match in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for offset in range(match.size):
            if match.a + offset < len(found) and match.b + offset < len(chosen):
                chosen[match.b + offset] = found[match.a + offset]
    return "".join(line + ending for line, ending in zip(new, [*chosen, ""], strict=True))
