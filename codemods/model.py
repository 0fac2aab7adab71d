"""The plain data that flows between the steps: options in, results out."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from codemods.apis import DEFAULT, Name

Target = Literal["bufcb", "jax"]
Arrays = Literal["auto", "numpy", "jax"]
Gradients = Literal["auto", "always", "never"]
Vjp = Literal["raise", "zeros", "finite-difference", "known"]

# The size of the largest file to be analysed, in bytes, of which each takes some hundred in memory.
LARGEST: Final = 4_000_000
# That of the largest notebook, most of which are outputs that are passed over.
LARGEST_NOTEBOOK: Final = 50_000_000


class Status(enum.StrEnum):
    """What became of a call site."""

    REWRITTEN = "rewritten"
    ADAPTED = "adapted"
    REFUSED = "refused"
    SKIPPED = "skipped"


class Gradient(enum.StrEnum):
    """What is known of a call site's place under differentiation."""

    NONE = "none"
    PROTECTED = "protected"
    SCAFFOLDED = "scaffolded"
    UNPROTECTED = "unprotected"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """What the user chose; every field is an option of `bufcb-migrate`.

    Attributes:
      target: the library that the migrated code imports.
      arrays: `auto` proves that NumPy's arithmetic gives JAX's results or adapts, `numpy` accepts
        NumPy's arithmetic unproven, `jax` adapts every callback with `arrays="jax"`.
      views: hand out views where `auto` would copy an argument that may outlive the call.
      public: rewrite public functions in place instead of adding a sibling.
      fuse: have ufuncs compute straight into the outputs where shape and dtype are known to be equal.
      default_vmap_method: `vmap_method=` for call sites that give none.
      assume_jax: dotted expressions that stand for the `jax` module, such as `self._jax`.
      apis: the names of the APIs to migrate.
      select: codes, or their beginnings, of the outcomes to accept; empty for all of them.
      ignore: codes, or their beginnings, of the outcomes not to accept.
      gradients: `auto` tells which call sites are differentiated, `always` takes those for differentiated
        of which that cannot be told, `never` looks at none.
      gradient_transform: more functions that differentiate, as `NAME` or `NAME=KNOWN`.
      vjp: the derivative that a differentiated call gets if that of its callback is not known: one that
        raises (as with `known`), zeros, or finite differences.
    """

    target: Target = "bufcb"
    arrays: Arrays = "auto"
    views: bool = False
    public: bool = False
    fuse: bool = False
    default_vmap_method: str | None = None
    assume_jax: tuple[str, ...] = ()
    apis: tuple[Name, ...] = DEFAULT
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    gradients: Gradients = "auto"
    gradient_transform: tuple[str, ...] = ()
    vjp: Vjp = "raise"

    @property
    def words(self) -> tuple[str, ...]:
        """What a file must spell, one of them, to be of interest."""
        return self.apis


@dataclasses.dataclass(frozen=True, slots=True)
class AuditOptions:
    """What the user of `bufcb-lint` chose.

    Attributes:
      fix: whether the result is the file as the fixes leave it, with what is found there.
      diff: whether it is that file with what is found before.
      select: codes, or their beginnings, of the findings to report; empty for all of them.
      ignore: codes, or their beginnings, of the findings not to report.
      gradient_transform: more functions that differentiate, as in `Options`.
    """

    fix: bool = False
    diff: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    gradient_transform: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What a file must spell, one of them, to be of interest."""
        return ("buffer_callback",)


@dataclasses.dataclass(frozen=True, slots=True)
class Diagnostic:
    """A stable code with the reason and the way out for one place.

    Attributes:
      code: `BC001` and so on, a key of `diagnostics.CODES`.
      reason: one sentence about this very place.
      way_out: what the user can do about it; empty where nothing is needed.
    """

    code: str
    reason: str
    way_out: str = ""

    @property
    def message(self) -> str:
        return f"{self.reason} {self.way_out}".strip()


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))


@dataclasses.dataclass(frozen=True, slots=True)
class Hop:
    """One step of the way from a transform to a call site: a line, and the function that it stands in.

    Attributes:
      cell: as in `SiteResult`.
    """

    path: Path
    line: int
    name: str
    cell: int | None = None

    @property
    def place(self) -> str:
        """File and line, as the places in a report are written."""
        return (
            f"{self.path}:{self.line}" if self.cell is None else f"{self.path}:cell {self.cell}:{self.line}"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a function is defined: the line that Python knows it by, that of its first decorator if any.

    Attributes:
      column: 0-based, in bytes of UTF-8, of a lambda in the file at hand; None for others.
    """

    path: Path
    line: int
    column: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Successor:
    """A function of the migrated file that is called back in the place of an original one.

    It has another name than that: a lambda's `def`, or a sibling, which calls the original.

    Attributes:
      name: its own name.
      original: where the other one is defined.
      original_name: the other one's own name.
    """

    name: str
    original: Place
    original_name: str


@dataclasses.dataclass(frozen=True, slots=True)
class SiteResult:
    """The outcome for one call site of the original file.

    Attributes:
      line: 1-based line of the call in the original file, or in its cell of a notebook.
      column: 1-based column, in characters.
      end_line: 1-based line on which the call ends.
      end_column: 1-based column just behind the call, in characters; None where it is not known.
      callback: the callback's name, or `<lambda>`, or its source text.
      api: the name of what is called there.
      diagnostic: why the site ended so; None for a plain rewrite.
      cell: the 1-based number of a notebook's cell among all its cells; None in other files.
      unit: the index of the file's first call site with the same callback; None where that is out of
        sight. Such sites are decided on together.
      gradient_path: the way on which differentiation reaches the site, or may reach it.
      definition: the callback's, where it is in sight.
    """

    line: int
    column: int
    end_line: int
    callback: str
    status: Status
    diagnostic: Diagnostic | None = None
    gradient: Gradient = Gradient.UNKNOWN
    api: Name = "pure_callback"
    cell: int | None = None
    unit: int | None = None
    end_column: int | None = None
    gradient_path: tuple[Hop, ...] = ()
    definition: Place | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    """A remark beside what became of the call sites, such as an unused suppression; as in `SiteResult`.

    Attributes:
      hops: the way to the place that the remark is about.
      fixable: whether `bufcb-lint --fix` takes care of it.
    """

    line: int
    column: int
    diagnostic: Diagnostic
    cell: int | None = None
    hops: tuple[Hop, ...] = ()
    fixable: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class FileResult:
    """The outcome for one file.

    Attributes:
      path: as shown to the user.
      before: the file's bytes as read; empty when it could not be read.
      after: the migrated bytes; equal to `before` when nothing changes or `error` is set.
      sites: every call site, in order of position.
      notes: remarks, in order of position.
      error: why the file could not be processed, with `path:line:` in front; None otherwise.
      successors: the functions of `after` that are called back in the place of others.
    """

    path: Path
    before: bytes
    after: bytes
    sites: tuple[SiteResult, ...] = ()
    notes: tuple[Note, ...] = ()
    error: str | None = None
    successors: tuple[Successor, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after


def failed(path: Path, data: bytes, why: str) -> FileResult:
    """The result for a file that cannot be processed."""
    return FileResult(path, data, data, error=f"{path}: {why}")
