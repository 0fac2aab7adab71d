"""Edits of a text by offset; nested ones are applied from the inside out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Edit:
    """Replaces `text[start:end]`.

    Attributes:
      make: maps the span's text, inner edits already applied, to its replacement.
    """

    start: int
    end: int
    make: Callable[[str], str]


class Edits:
    """The edits of one file. No two of them may overlap without one holding the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[Edit] = []

    def __bool__(self) -> bool:
        return bool(self._edits)

    def replace(self, start: int, end: int, text: str) -> None:
        self._edits.append(Edit(start, end, lambda _: text))

    def transform(self, start: int, end: int, make: Callable[[str], str]) -> None:
        self._edits.append(Edit(start, end, make))

    def insert(self, offset: int, make: Callable[[], str]) -> None:
        self._edits.append(Edit(offset, offset, lambda _: make()))

    def inside(self, start: int, end: int) -> str:
        """The text of a span with the edits strictly inside of it applied."""
        inner = [
            e for e in self._edits if start <= e.start and e.end <= end and (e.start, e.end) != (start, end)
        ]
        return self._render(start, end, inner)

    def apply(self) -> str:
        return self._render(0, len(self._text), self._edits)

    def _render(self, start: int, end: int, edits: list[Edit]) -> str:
        # Outer edits first, and insertions before whatever starts at the same place.
        ordered = sorted(edits, key=lambda e: (e.start, e.start != e.end, -e.end))
        parts, position, index = [], start, 0
        while index < len(ordered):
            edit = ordered[index]
            index += 1
            inner = []
            while index < len(ordered) and edit.start < edit.end and ordered[index].start < edit.end:
                inner.append(ordered[index])
                index += 1
            assert edit.start >= position and all(e.end <= edit.end for e in inner), "edits overlap"
            parts.append(self._text[position : edit.start])
            parts.append(edit.make(self._render(edit.start, edit.end, inner)))
            position = edit.end
        parts.append(self._text[position:end])
        return "".join(parts)
