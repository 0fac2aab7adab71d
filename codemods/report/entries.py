"""What a report for other tools says of each place in a file."""

from __future__ import annotations

import dataclasses
import re
from typing import Final, Literal

from codemods.diagnostics import LINT_CODES, PLAIN
from codemods.model import Diagnostic, FileResult, Hop, Note, SiteResult, Status

Level = Literal["warning", "note", "none"]
Suppression = Literal["inSource", "external"]

# What stands against a call site's migration: a comment in its file, or an option.
_SUPPRESSIONS: Final[dict[str, Suppression]] = {"BC004": "inSource", "BC010": "external"}
_OUTCOMES: Final[dict[Status, tuple[str, str]]] = {
    Status.REWRITTEN: ("can be rewritten", "is rewritten"),
    Status.ADAPTED: ("can be adapted", "is adapted"),
    Status.REFUSED: ("is left to migrate by hand", "is left to migrate by hand"),
    Status.SKIPPED: ("is left alone", "is left alone"),
}
# A site that is skipped without a word is one that the user does not want to hear of.
_SAID: Final = frozenset(Status) - {Status.SKIPPED}
# A use of the API itself, where no callback can be told.
_ITSELF: Final = re.compile(r"(?:.*\.)?(?:pure|io)_callback|getattr\(.*", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One place with what is to be said of it.

    Attributes:
      line, column: where it starts, both 1-based, in characters; in a notebook, within its cell.
      end_line, end_column: the position just behind it; None where that is not known.
      code: one of `diagnostics`; `BC000` for a plain rewrite.
      level: `warning` where the user has to act, `none` where there is nothing to migrate.
      suppression: where the user asked for it to be left alone; None otherwise.
      site: the call site; None for a note.
      cell: the 1-based number of a notebook's cell; None in other files.
      fixable: whether the audit has a fix for it.
      hops: the way on which differentiation reaches the place.
    """

    line: int
    column: int
    end_line: int | None
    end_column: int | None
    code: str
    level: Level
    text: str
    suppression: Suppression | None = None
    site: SiteResult | None = None
    cell: int | None = None
    fixable: bool = False
    hops: tuple[Hop, ...] = ()

    @property
    def place(self) -> str:
        """Where it starts in a notebook, in words, since its file has no such line; else empty."""
        return f"cell {self.cell}, line {self.line}" if self.cell else ""


def entries(file: FileResult, *, written: bool) -> list[Entry]:
    """Everything to be said of a file, in order of position. `written` tells whether its changes are made."""
    found = [_of_site(site, written) for site in file.sites if site.diagnostic or site.status in _SAID]
    found += [_of_note(note) for note in file.notes]
    return sorted(found, key=lambda entry: (entry.cell or 0, entry.line, entry.column))


def _of_note(note: Note) -> Entry:
    code, text = note.diagnostic.code, note.diagnostic.message
    level: Level = "warning" if code in LINT_CODES else "note"
    place = note.line, note.column, None, None
    return Entry(*place, code, level, text, cell=note.cell, fixable=note.fixable, hops=note.hops)


def _of_site(site: SiteResult, written: bool) -> Entry:
    outcome = f"{subject(site)} {_OUTCOMES[site.status][written]}"
    return Entry(
        site.line,
        site.column,
        site.end_line,
        site.end_column,
        site.diagnostic.code if site.diagnostic else PLAIN,
        _level(site),
        f"{outcome}: {site.diagnostic.message}" if site.diagnostic else f"{outcome}.",
        _suppression(site),
        site,
        site.cell,
    )


def _level(site: SiteResult) -> Level:
    if site.status is Status.REFUSED:
        return "warning"
    return "none" if site.status is Status.SKIPPED and _suppression(site) is None else "note"


def _suppression(site: SiteResult) -> Suppression | None:
    found: Diagnostic | None = site.diagnostic if site.status is Status.SKIPPED else None
    return _SUPPRESSIONS.get(found.code) if found else None


def subject(site: SiteResult) -> str:
    """What a sentence about a call site begins with."""
    callback = " ".join(site.callback.split())
    return f"`{callback}`" if _ITSELF.fullmatch(callback) else f"{site.api} of `{callback}`"


def failure(file: FileResult) -> tuple[int | None, str]:
    """The line and the reason of a file's error, where its text begins with the place.

    A line of a notebook's cell is no line of its file, and stays with the reason.
    """
    assert file.error is not None
    place = re.match(rf"{re.escape(str(file.path))}:(?:(\d+):)? ?", file.error)
    if place is None:
        return None, file.error
    return int(place[1]) if place[1] else None, file.error[place.end() :]
