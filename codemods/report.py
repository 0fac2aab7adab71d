"""Results as text and as JSON. Everything here turns data into bytes or strings and prints nothing."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from codemods.model import Diagnostic, FileResult, SiteResult, Status

JSON_VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """The outcome for everything that was looked at.

    Attributes:
      files: every file that was analysed or failed, ordered by path.
      scanned: how many Python files were read.
      written: whether changed files were written, not just shown.
    """

    files: tuple[FileResult, ...]
    scanned: int
    written: bool = False

    @property
    def sites(self) -> Iterator[SiteResult]:
        return (site for file in self.files for site in file.sites)

    @property
    def changed(self) -> int:
        return sum(file.changed for file in self.files)

    @property
    def failed(self) -> int:
        return sum(file.error is not None for file in self.files)


# ---------------------------------------------------------------------------------------- JSON


def to_json(run: Run) -> str:
    """The run as one JSON object, in ASCII: `{"version": 1, "files": […], "summary": {…}}`."""
    import json

    document = {
        "version": JSON_VERSION,
        "files": [_file_object(file) for file in run.files],
        "summary": summary(run),
    }
    return json.dumps(document, indent=2)


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


def _file_object(file: FileResult) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "changed": file.changed,
        "error": file.error,
        "sites": [_site_object(site) for site in file.sites],
        "notes": [
            {"line": note.line, "column": note.column, **_diagnostic_object(note.diagnostic)}
            for note in file.notes
        ],
    }


def _site_object(site: SiteResult) -> dict[str, Any]:
    return {
        "line": site.line,
        "column": site.column,
        "end_line": site.end_line,
        "callback": site.callback,
        "status": site.status.value,
        **_diagnostic_object(site.diagnostic),
        "gradient": site.gradient.value,
    }


def _diagnostic_object(diagnostic: Diagnostic | None) -> dict[str, str | None]:
    if diagnostic is None:
        return {"code": None, "message": ""}
    return {"code": diagnostic.code, "message": diagnostic.message}


# ---------------------------------------------------------------------------------------- diff

_RED, _GREEN, _CYAN, _BOLD, _RESET = b"\x1b[31m", b"\x1b[32m", b"\x1b[36m", b"\x1b[1m", b"\x1b[0m"
_COLOURS: Final = ((b"---", _BOLD), (b"+++", _BOLD), (b"@@", _CYAN), (b"-", _RED), (b"+", _GREEN))
_NO_NEWLINE: Final = b"\n\\ No newline at end of file\n"


def unified_diff(file: FileResult, *, colour: bool = False) -> bytes:
    r"""The change as a unified diff that `git apply` and `patch -p1` accept; empty for no change.

    The lines are the file's own bytes, in its own encoding and with its own line endings. As for Git,
    only `\n` ends a line.
    """
    import difflib

    if not file.changed:
        return b""
    # `difflib` needs strings; Latin-1 maps bytes to characters and back one to one.
    before, after = (_lines(data.decode("latin-1")) for data in (file.before, file.after))
    old, new = (_diff_name(prefix, file.path).decode("latin-1") for prefix in ("a", "b"))
    rows = [row.encode("latin-1") for row in difflib.unified_diff(before, after, old, new)]
    rows = [row if row.endswith(b"\n") else row + _NO_NEWLINE for row in rows]
    return b"".join(_coloured(row, index) for index, row in enumerate(rows)) if colour else b"".join(rows)


def _lines(text: str) -> list[str]:
    """The lines of `text`, their `\n` included."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _diff_name(prefix: str, path: Path) -> bytes:
    """The name of a file in a diff's header, quoted as Git does where it would be misread."""
    name = f"{prefix}/".encode() + path.as_posix().lstrip("/").encode("utf-8", "surrogateescape")
    if re.search(rb'[\x00-\x1f"\\\x7f]', name):
        quoted = re.sub(rb'[\x00-\x1f"\\\x7f-\xff]', lambda match: b"\\%03o" % match.group()[0], name)
        return b'"' + quoted + b'"'
    return name + b"\t" if b" " in name else name  # `patch` takes a name up to the tab


def _coloured(row: bytes, index: int) -> bytes:
    """A row of a diff in its colour, which ends before the line ending."""
    # The first two rows are the header; further down `---` is a removed line that starts with `--`.
    for start, colour in _COLOURS if index < 2 else _COLOURS[2:]:
        if row.startswith(start):
            text, newline, rest = row.partition(b"\n")
            shown = text.removesuffix(b"\r")
            return colour + shown + _RESET + text[len(shown) :] + newline + rest
    return row


# ---------------------------------------------------------------------------------------- text


def failures(run: Run) -> Iterator[str]:
    """A line for each path that could not be processed."""
    yield from (f"error: {file.error}" for file in run.files if file.error is not None)


def diagnostics(run: Run) -> Iterator[str]:
    """One entry for each failure, each site that has something to say, and each note.

    An entry is `path:line:col: CODE reason way-out`, with the source line below it.
    """
    yield from failures(run)
    for file in run.files:
        remarks = [(note.line, note.column, note.diagnostic) for note in file.notes]
        remarks += [(site.line, site.column, site.diagnostic) for site in file.sites if site.diagnostic]
        remarks.sort(key=lambda remark: remark[:2])
        lines = _source_lines(file) if remarks else ()
        for line, column, diagnostic in remarks:
            yield _entry(file.path, lines, line, column, f"{diagnostic.code} {diagnostic.message}")


def findings(run: Run) -> Iterator[str]:
    """One entry for each call site left to migrate, as `diagnostics` gives them."""
    for file in run.files:
        sites = [site for site in file.sites if site.status is not Status.SKIPPED]
        lines = _source_lines(file) if sites else ()
        for site in sites:
            yield _entry(file.path, lines, site.line, site.column, _finding(site))


def _finding(site: SiteResult) -> str:
    text = f"pure_callback of `{' '.join(site.callback.split())}` is left to migrate"
    if site.status is Status.REFUSED:
        text += " by hand"
    return f"{text}: {site.diagnostic.code} {site.diagnostic.message}" if site.diagnostic else text


def _entry(path: Path, lines: Sequence[str], line: int, column: int, text: str) -> str:
    entry = f"{path}:{line}:{column}: {text}"
    return f"{entry}\n    {lines[line - 1].strip()}" if 0 < line <= len(lines) else entry


def _source_lines(file: FileResult) -> Sequence[str]:
    """The lines of the original file as Python counts them; empty where it cannot be decoded."""
    from codemods.source import SourceError, SourceFile

    try:
        source = SourceFile.from_bytes(file.path, file.before)
    except SourceError:
        return ()
    return [source.line_text(line) for line in range(1, len(source.line_starts) + 1)]


def changes(run: Run) -> Iterator[str]:
    """A line for each file that was written."""
    if run.written:
        yield from (f"rewrote {file.path}" for file in run.files if file.changed)


def conclusion(run: Run) -> str:
    """The run in one or two sentences."""
    counts = summary(run)
    sites = [f"{counts[status]} {status}" for status in Status if counts[status]]
    if not counts["sites"]:
        text = "No call site of pure_callback found"
    else:
        verb = "changed" if run.written else "would change"
        text = f"{_plural(counts['changed'], 'file')} {verb}, {_plural(counts['sites'], 'call site')}"
        text += f": {', '.join(sites)}"
    text = text[0].upper() + text[1:] + f" ({_plural(counts['scanned'], 'file')} scanned)."
    text += _failed(run)
    if counts["changed"] and not run.written:
        text += " Run again with --write to apply."
    return text


def verdict(run: Run) -> str:
    """What an audit of the call sites found, in one or two sentences."""
    left = sum(site.status is not Status.SKIPPED for site in run.sites)
    text = f"{_plural(left, 'call site')} left to migrate ({_plural(run.scanned, 'file')} scanned)."
    return text[0].upper() + text[1:] + _failed(run)


def _failed(run: Run) -> str:
    return f" {_plural(run.failed, 'path')} could not be processed." if run.failed else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count or 'no'} {noun}s"
