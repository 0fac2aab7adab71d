"""The outcome of a run: what every report is made from."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

from codemods.apis import DEFAULT, Name
from codemods.model import FileResult, SiteResult, Status


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """The outcome for everything that was looked at.

    Attributes:
      files: every file that was analysed or failed, ordered by path.
      scanned: how many Python files were read.
      written: whether changed files were written, not just shown.
      apis: the names of the APIs that were looked for.
    """

    files: tuple[FileResult, ...]
    scanned: int
    written: bool = False
    apis: tuple[Name, ...] = DEFAULT

    @property
    def sites(self) -> Iterator[SiteResult]:
        return (site for file in self.files for site in file.sites)

    @property
    def changed(self) -> int:
        return sum(file.changed for file in self.files)

    @property
    def failed(self) -> int:
        return sum(file.error is not None for file in self.files)


def summary(run: Run) -> dict[str, int]:
    """Counts of files (`scanned`, `changed`, `failed`) and of call sites (`sites`, and each status)."""
    statuses = Counter(site.status for site in run.sites)
    return {
        "scanned": run.scanned,
        "changed": run.changed,
        "failed": run.failed,
        "sites": statuses.total(),
        **{status.value: statuses[status] for status in Status},
    }
