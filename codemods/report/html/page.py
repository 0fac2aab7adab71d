"""The page: its summary, its contents, and each file with its remarks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Final

from codemods.diagnostics import title
from codemods.model import Status
from codemods.report import text as as_text
from codemods.report.html import files, markup
from codemods.report.html.layout import View, view
from codemods.report.run import Run, summary

# What every page begins with.
START: Final = b"<!doctype html>"


def to_html(run: Run) -> bytes:
    """The run as one HTML page in UTF-8. It depends on nothing but the run, and needs no other file."""
    import base64
    import hashlib
    import string

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    views = [each for each in map(view, run.files) if each.changed or each.segments or each.error is not None]
    limit = files.folded_lines(views)
    sections = "\n".join(files.section(number, each, limit) for number, each in enumerate(views, 1))
    style, script = _asset("page.css"), _asset("page.js")
    counts = _counts(views)
    page = string.Template(_asset("page.html")).substitute(
        digest=digest(sections),
        style=style,
        style_hash=f"sha256-{digest(style)}",
        script=script,
        script_hash=f"sha256-{digest(script)}",
        title=f"{'bufcb-lint' if run.is_audit else 'bufcb-migrate'}: {_headline(run)}",
        headline=_headline(run),
        lead=markup.text(as_text.conclusion(run)),
        summary=_summary(run, views, counts),
        chips="\n".join(_chip(kind, counts[kind]) for kind in files.KINDS if counts[kind]),
        codes="\n".join(_code_option(code, count) for code, count in _codes(views)),
        navigation=_navigation(views),
        files=sections,
        end=_end(run, len(views)),
    )
    return page.encode()


def _asset(name: str) -> str:
    from importlib import resources

    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _counts(views: Sequence[View]) -> Counter[str]:
    """How many remarks there are of each kind."""
    counts = Counter(remark.kind for each in views for remark in each.remarks)
    counts["failed"] = sum(each.error is not None for each in views)
    return counts


def _codes(views: Sequence[View]) -> list[tuple[str, int]]:
    """The codes that occur, in order, and how often."""
    found = (remark.diagnostic for each in views for remark in each.remarks)
    return sorted(Counter(diagnostic.code for diagnostic in found if diagnostic).items())


# ------------------------------------------------------------------------------- summary


def _headline(run: Run) -> str:
    counts = summary(run)
    if run.is_audit:
        text = markup.plural(counts["findings"], "finding")
        return text[0].upper() + text[1:]
    sites, changed = markup.plural(counts["sites"], "call site"), markup.plural(counts["changed"], "file")
    text = f"{sites}, {changed} {'changed' if run.written else 'to change'}"
    return text[0].upper() + text[1:]


def _summary(run: Run, views: Sequence[View], counts: Counter[str]) -> str:
    numbers = summary(run)
    parts = []
    if numbers.get("sites"):
        parts.append(_bar(counts))
    parts.append('<dl class="tiles">')
    if run.is_audit:
        parts += [_tile(name, numbers[name], "note", "places") for name in ("findings", "fixable")]
    else:
        parts += [_tile(status, numbers[status], status, "call sites") for status in Status]
    parts.append(_tile("changed" if run.written else "to change", numbers["changed"], "files", "files"))
    parts.append(_tile("failed", numbers["failed"], "failed", "files"))
    parts.append("</dl>")
    failed = [(number, each) for number, each in enumerate(views, 1) if each.error is not None]
    if failed:
        parts.append('<ul class="failures" aria-label="Not processed">')
        parts += [
            f'<li><a href="#f{number}">{markup.text(each.error or "")}</a></li>' for number, each in failed
        ]
        parts.append("</ul>")
    if codes := _codes(views):
        parts.append('<details class="codes"><summary>Codes</summary><table><tbody>')
        parts += [_code_row(code, count) for code, count in codes]
        parts.append("</tbody></table></details>")
    return "\n".join(parts)


def _bar(counts: Counter[str]) -> str:
    """The shares of the statuses as a bar. The numbers stand below, so it is for the eye alone."""
    total = sum(counts[status] for status in Status)
    parts, start = [], 0.0
    for status in Status:
        width = 100 * counts[status] / total
        if width:
            parts.append(f'<rect class="{status}" x="{start:.2f}" width="{width:.2f}" height="1"/>')
        start += width
    return (
        '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _tile(name: str, count: int, kind: str, unit: str) -> str:
    empty = "" if count else " none"
    return f'<div class="tile {kind}{empty}"><dt>{name} <span>{unit}</span></dt><dd>{count:,}</dd></div>'


def _code_row(code: str, count: int) -> str:
    shown = markup.prose(title(code))
    return (
        f'<tr><th scope="row"><button type="button" class="code" data-code="{code}">{code}</button></th>'
        f'<td class="count">{count:,}</td><td>{shown}</td></tr>'
    )


def _code_option(code: str, count: int) -> str:
    shown = markup.plain(title(code).replace("`", ""))
    return f'<option value="{code}">{code} {shown} ({count:,})</option>'


def _chip(kind: str, count: int) -> str:
    name = kind if count == 1 or kind != "note" else "notes"
    return (
        f'<button type="button" class="chip {kind}" data-kind="{kind}" aria-pressed="false">'
        f"{name} <b>{count:,}</b></button>"
    )


def _end(run: Run, shown: int) -> str:
    rest = len(run.files) - shown
    text = f"{markup.plural(run.scanned, 'file')} read."
    if rest:
        text += f" {markup.plural(rest, 'file')} looked into without anything to say."
    return text[0].upper() + text[1:]


# ------------------------------------------------------------------------------- contents


def _navigation(views: Sequence[View]) -> str:
    """A link to each file, by its path from the folder that all share."""
    paths = [each.path.as_posix() for each in views]
    shared = _shared_folder(paths) if len(paths) > 1 else ""
    entries = (
        f'<li data-file="f{number}"><a href="#f{number}">{markup.path(path.removeprefix(shared))}</a> '
        f"{files.tally(each)}</li>"
        for number, (path, each) in enumerate(zip(paths, views, strict=True), 1)
    )
    heading = f'<p class="folder">{markup.breakable(shared)}</p>\n' if shared else ""
    return heading + "<ol>\n" + "\n".join(entries) + "\n</ol>"


def _shared_folder(paths: Sequence[str]) -> str:
    """The folder that all paths start with, its last slash included; empty for none."""
    folders = zip(*(path.split("/")[:-1] for path in paths), strict=False)
    shared = itertools.takewhile(lambda names: len(set(names)) == 1, folders)
    return "".join(f"{names[0]}/" for names in shared)
