"""The run as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codemods import console
from codemods.model import Diagnostic, Hop, Note, SiteResult, Status
from codemods.report.run import Run, source_of, summary

if TYPE_CHECKING:
    from codemods.source import SourceFile


# Of a longer line, the beginning is shown.
_LONGEST_EXCERPT: Final = 1_000
# Said of so many call sites, and of nothing that has been done, that one line a file must be enough.
_BRIEF: Final = frozenset({"BC302"})
# A rule was added that raises, or gives zeros.
_TO_FILL_IN: Final = "BC303"


def failures(run: Run) -> Iterator[str]:
    """A line for each path that could not be processed."""
    yield from (console.one_line(f"error: {file.error}") for file in run.files if file.error is not None)


def diagnostics(run: Run) -> Iterator[str]:
    """One entry for each failure, and all `remarks`."""
    yield from failures(run)
    yield from remarks(run)


def remarks(run: Run) -> Iterator[str]:
    """One entry for each site that has something to say, and each note.

    An entry is `path:line:col: CODE reason way-out`, with the source line below it and the way to a
    differentiated call; a notebook's has `cell N:` behind the path. What a brief code says has neither, and
    one entry for all places in the file.
    """
    for file in run.files:
        found: list[tuple[SiteResult | Note, Diagnostic]] = [(note, note.diagnostic) for note in file.notes]
        found += [(site, site.diagnostic) for site in file.sites if site.diagnostic]
        found.sort(key=lambda remark: (remark[0].cell or 0, remark[0].line, remark[0].column))
        source = source_of(file) if found else None
        brief: dict[Diagnostic, list[SiteResult | Note]] = {}
        for place, diagnostic in found:
            if diagnostic.code in _BRIEF:
                brief.setdefault(diagnostic, []).append(place)
        for place, diagnostic in found:
            text = f"{diagnostic.code} {diagnostic.message}"
            if diagnostic not in brief:
                hops = place.hops if isinstance(place, Note) else ()
                yield "\n".join((_entry(file.path, source, place, text), *map(_step, hops)))
            elif place is brief[diagnostic][0]:
                yield _entry(file.path, None, place, text + _further(brief[diagnostic][1:]))


def _further(places: Sequence[SiteResult | Note]) -> str:
    """Where else the same is to be said."""
    if not places:
        return ""
    *most, last = (f"{_cell(place)}{place.line}:{place.column}" for place in places)
    return f" The same goes for {', '.join(most)}{' and ' if most else ''}{last}."


def _cell(place: SiteResult | Note) -> str:
    return "" if place.cell is None else f"cell {place.cell}:"


def _entry(path: Path, source: SourceFile | None, place: SiteResult | Note, text: str) -> str:
    entry = console.one_line(f"{path}:{_cell(place)}{place.line}:{place.column}: {text}")
    excerpt = source.excerpt(place.line, place.cell) if source is not None else None
    return entry if excerpt is None else f"{entry}\n    {console.one_line(_cut(excerpt.strip()))}"


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_EXCERPT else f"{line[:_LONGEST_EXCERPT]} …"


def _step(hop: Hop) -> str:
    return console.one_line(f"      {hop.place}: {hop.name}")


def changes(run: Run) -> Iterator[str]:
    """A line for each file that was written."""
    if run.written:
        did = "fixed" if run.is_audit else "rewrote"
        yield from (console.one_line(f"{did} {file.path}") for file in run.files if file.changed)


def conclusion(run: Run) -> str:
    """The run in one or two sentences."""
    if run.is_audit:
        return verdict(run)
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
    rules = sum(note.diagnostic.code == _TO_FILL_IN for file in run.files for note in file.notes)
    if rules:
        text += f" {_plural(rules, 'derivative')} {'is' if rules == 1 else 'are'} yet to be filled in."
    if counts["changed"] and not run.written:
        text += " Run again with --write to apply."
    return text


def verdict(run: Run) -> str:
    """What an audit found, in one or two sentences."""
    counts = summary(run)
    text = _plural(counts["findings"], "finding")
    if counts["changed"]:
        text = f"{_plural(counts['changed'], 'file')} {'fixed' if run.written else 'to fix'}, {text} left"
    text = text[0].upper() + text[1:] + f" ({_plural(counts['scanned'], 'file')} scanned)." + _failed(run)
    if counts["fixable"]:
        text += f" --fix takes care of {counts['fixable']}."
    return text


def _failed(run: Run) -> str:
    return f" {_plural(run.failed, 'path')} could not be processed." if run.failed else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count or 'no'} {noun}s"
