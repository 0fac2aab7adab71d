"""The run as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codemods.model import FileResult, SiteResult, Status
from codemods.report.entries import subject
from codemods.report.run import Run, summary


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
    text = f"{subject(site)} is left to migrate"
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
        text = f"No call site of {' or '.join(run.apis)} found"
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
