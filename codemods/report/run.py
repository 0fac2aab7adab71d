"""The outcome of a run: what every report is made from."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.apis import DEFAULT, Name
from codemods.model import FileResult, Note, SiteResult, Status

if TYPE_CHECKING:
    from codemods.source import SourceFile


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """The outcome for everything that was looked at.

    Attributes:
      files: every file that was analysed or failed, ordered by path.
      scanned: how many Python files were read.
      written: whether changed files were written, not just shown.
      apis: the names of the APIs that were looked for.
      is_audit: whether it is one of `bufcb-lint`, whose findings are notes.
    """

    files: tuple[FileResult, ...]
    scanned: int
    written: bool = False
    apis: tuple[Name, ...] = DEFAULT
    is_audit: bool = False

    @property
    def sites(self) -> Iterator[SiteResult]:
        return (site for file in self.files for site in file.sites)

    @property
    def settled(self) -> Run:
        """The same outcome with the files as the fixes leave them."""
        files = tuple(dataclasses.replace(file, before=file.after) for file in self.files)
        return dataclasses.replace(self, files=files)

    @property
    def notes(self) -> Iterator[Note]:
        return (note for file in self.files for note in file.notes)

    @property
    def changed(self) -> int:
        return sum(file.changed for file in self.files)

    @property
    def failed(self) -> int:
        return sum(file.error is not None for file in self.files)


def source_of(file: FileResult) -> SourceFile | None:
    """The original file; None where it cannot be read."""
    from codemods.source import SourceError, SourceFile

    try:
        return SourceFile.from_bytes(file.path, file.before)
    except SourceError:
        return None


def summary(run: Run) -> dict[str, int]:
    """Counts of files (`scanned`, `changed`, `failed`), and of call sites (`sites`, and each status).

    Of an audit `findings`, and how many of them are `fixable`, instead of call sites.
    """
    if run.is_audit:
        notes = list(run.notes)
        return {
            "scanned": run.scanned,
            "changed": run.changed,
            "failed": run.failed,
            "findings": len(notes),
            "fixable": sum(note.fixable for note in notes),
        }
    statuses = Counter(site.status for site in run.sites)
    return {
        "scanned": run.scanned,
        "changed": run.changed,
        "failed": run.failed,
        "sites": statuses.total(),
        **{status.value: statuses[status] for status in Status},
    }
