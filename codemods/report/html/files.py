"""A file of the page: its remarks and its lines, side by side."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from codemods.diagnostics import title
from codemods.model import Gradient, Status
from codemods.report.html import lines, markup
from codemods.report.html.layout import Part, Remark, Segment, Text, View
from codemods.report.html.lines import Row

KINDS: Final = (*(status.value for status in Status), "note", "failed")

# The characters of folded lines that a page may have in all, and how many lines are kept at each end of a
# stretch: as many as fit.
_FOLDED_CHARACTERS: Final = 3_000_000
_FOLDED_LINES: Final = (1_000, 300, 100, 30, 10, 0)

_DEFINITION: Final = re.compile(r"([ \t]*)((?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*)")


def section(number: int, each: View, limit: int) -> str:
    """The file with all that is said about it; each end of a folded stretch keeps `limit` lines."""
    name = f"f{number}"
    heading = f'<h2 id="{name}h">{markup.path(each.path.as_posix())}</h2>'
    return (
        f'<section class="file" id="{name}" aria-labelledby="{name}h"><details open>\n'
        f"<summary>{heading} {_extent(each)} {tally(each)}</summary>\n"
        f"{_body(name, each, limit)}\n</details></section>"
    )


def _extent(each: View) -> str:
    """How many lines were added and removed."""
    if not each.changed:
        return ""
    lines_word = '<span class="quiet"> lines</span>'
    return (
        f'<span class="extent"><span class="added">+{each.added:,}{lines_word}</span> '
        f'<span class="removed">\N{MINUS SIGN}{each.removed:,}{lines_word}</span></span>'
    )


def tally(each: View) -> str:
    """How many remarks of each kind a file has."""
    counts = Counter(remark.kind for remark in each.remarks)
    counts["failed"] = int(each.error is not None)
    parts = [
        f'<span class="count {kind}" title="{counts[kind]} {kind}">{counts[kind]}'
        f'<span class="quiet"> {kind}</span></span>'
        for kind in KINDS
        if counts[kind]
    ]
    return f'<span class="tally">{" ".join(parts)}</span>'


def _body(name: str, each: View, limit: int) -> str:
    parts = []
    if each.error is not None:
        parts.append(
            f'<div class="item failed" id="{name}e" data-kind="failed" tabindex="-1">'
            f'<span class="status">failed</span> <p>{markup.prose(each.error)}</p></div>'
        )
    for segment in each.segments:
        if segment.cell is None:
            parts.append(_segment(name, segment, limit))
        else:
            parts.append(f'<p class="cell">Cell {segment.cell}</p>')
            parts.append(_segment(f"{name}c{segment.cell}", segment, limit))
    return "\n".join(parts)


def _segment(name: str, segment: Segment, limit: int) -> str:
    parts = []
    numbers = itertools.count(1)
    marked = _marked(segment)
    for index, part in enumerate(segment.parts):
        parts += [_remark(f"{name}s{next(numbers)}", remark) for remark in part.remarks]
        if part.folded:
            following = segment.parts[index + 1].rows if index + 1 < len(segment.parts) else ()
            parts.append(_fold(segment, part, following, limit))
        elif part.rows:
            parts.append(_rows(name, segment, part, marked))
    return "\n".join(parts)


def _marked(segment: Segment) -> dict[int, Remark]:
    """The remark on each line of the original that has one, by the line's index."""
    return {
        line - 1: remark
        for remark in segment.remarks
        for line in range(remark.line, min(remark.end_line, len(segment.old.lines)) + 1)
    }


def _remark(name: str, remark: Remark) -> str:
    found = remark.diagnostic
    head = f'<span class="status">{remark.kind}</span>'
    if remark.callback is not None:
        head += f' <code class="callback">{markup.text(" ".join(remark.callback.split()))}</code>'
    if found is not None:
        about = markup.prose(title(found.code))
        head += f' <span class="code">{markup.text(found.code)}</span> <span class="about">{about}</span>'
    if remark.gradient is not Gradient.UNKNOWN:
        head += f' <span class="gradient">gradient: {remark.gradient.value}</span>'
    place = f'<span class="place">{remark.line}:{remark.column}</span>'
    code = f' data-code="{markup.plain(found.code)}"' if found else ""
    attributes = f'class="item {remark.kind}" id="{name}" data-kind="{remark.kind}"{code}'
    if found is None:
        return f'<div {attributes} tabindex="-1"><h3>{head}</h3>{place}</div>'
    way_out = (
        f'<p class="way"><span class="quiet">Way out: </span>{markup.prose(found.way_out)}</p>'
        if found.way_out
        else ""
    )
    return (
        f"<details {attributes} open><summary><h3>{head}</h3>{place}</summary>"
        f'<p class="reason">{markup.prose(found.reason)}</p>{way_out}{_way_there(remark)}</details>'
    )


def _way_there(remark: Remark) -> str:
    """The way from a transform to the call, a line for each step."""
    steps = [
        f'<li><span class="place">{markup.text(hop.place)}</span> <code>{markup.text(hop.name)}</code></li>'
        for hop in remark.hops
    ]
    return f'<ol class="hops" aria-label="way to the call">{"".join(steps)}</ol>' if steps else ""


# ------------------------------------------------------------------------------- lines


def _rows(name: str, segment: Segment, part: Part, marked: dict[int, Remark]) -> str:
    label = _lines_label(part.rows)
    if segment.changed:
        rows = "\n".join(_row(name, segment, row, marked) for row in part.rows)
        table = f'<table class="both" aria-label="{label}, before and after">\n{rows}\n</table>'
    else:
        rows = "\n".join(_unchanged(segment, row, name, marked) for row in part.rows)
        table = f'<table class="one" aria-label="{label}">\n{rows}\n</table>'
    return f'<div class="chunk">{table}</div>'


def _row(name: str, segment: Segment, row: Row, marked: dict[int, Remark]) -> str:
    """A row with the original on the left and the migrated text on the right."""
    focus = _focus(row.old, marked)
    if not row.changed:
        assert row.old is not None
        shown = _shown(segment.old, row.old, focus)
        return f"<tr>{_number(row.old, name, marked)}<td>{shown}</td>{_number(row.new)}<td>{shown}</td></tr>"
    spans: tuple[list[lines.Span], list[lines.Span]] = ([], [])
    if row.old is not None and row.new is not None:
        spans = lines.differences(segment.old.lines[row.old], segment.new.lines[row.new])
        focus = min((start for side in spans for start, _ in side), default=focus)
    sides = []
    for text, index, changes, tag, kind in (
        (segment.old, row.old, spans[0], "del", "d"),
        (segment.new, row.new, spans[1], "ins", "a"),
    ):
        number = _number(index, name, marked if tag == "del" else {})
        if index is None:
            sides.append(f"{number}<td class=e></td>")
        else:
            shown = _shown(text, index, focus, changes, tag) + _ending(segment, row, text, index)
            sides.append(f"{number}<td class={kind}>{shown}</td>")
    return f"<tr>{''.join(sides)}</tr>"


def _number(index: int | None, name: str = "", marked: dict[int, Remark] | None = None) -> str:
    """The cell of a line's number. One that a remark is about has its colour, and an id to link to."""
    if index is None:
        return "<td class=n></td>"
    if marked and index in marked:
        return f'<td class="n {marked[index].kind}" id="{name}L{index + 1}">{index + 1}</td>'
    return f"<td class=n>{index + 1}</td>"


def _focus(index: int | None, marked: dict[int, Remark] | None) -> int:
    """The offset in a line of the original that its remark is about, if that is where the remark starts."""
    remark = marked.get(index) if marked and index is not None else None
    return remark.column - 1 if remark and remark.line - 1 == index else 0


def _shown(text: Text, index: int, focus: int, changes: Sequence[lines.Span] = (), tag: str = "") -> str:
    return markup.code(text.lines[index], text.tokens[index], changes, tag, focus)


def _ending(segment: Segment, row: Row, text: Text, index: int) -> str:
    """What to say of a changed line's ending: where it is missing, or differs from that on the other side."""
    ending = text.endings[index]
    other = None
    if row.old is not None and row.new is not None:
        other = (segment.new if text is segment.old else segment.old).endings[
            row.new if text is segment.old else row.old
        ]
    # The last line of a notebook's cell has none, ever.
    if not ending and other != "" and text.lines[index] and segment.cell is None:
        return ' <i class="x">no newline at the end</i>'
    return markup.text(ending) if other and ending != other else ""


def _fold(segment: Segment, part: Part, following: Sequence[Row], limit: int) -> str:
    """A folded stretch of unchanged lines, each of which stands there once."""
    count = len(part.rows)
    kept = [*part.rows[:limit], *part.rows[max(limit, count - limit) :]] if limit else []
    rows = [_unchanged(segment, row) for row in kept]
    if len(kept) < count:
        numbers = "<td class=n></td>" * (2 if segment.changed else 1)
        left_out = markup.plural(count - len(kept), "line")
        rows.insert(min(limit, len(rows)), f"<tr>{numbers}<td class=x>{left_out} not shown</td></tr>")
    inside = _definition(segment.old, part.rows, following)
    about = f' <span class="inside">{markup.text(inside)}</span>' if inside else ""
    table = f'<table class="one" aria-label="{_lines_label(part.rows)}">\n' + "\n".join(rows) + "\n</table>"
    summary = f"<summary><span>{markup.plural(count, 'unchanged line')}</span>{about}</summary>"
    return f'<details class="fold">{summary}{table}</details>'


def _unchanged(segment: Segment, row: Row, name: str = "", marked: dict[int, Remark] | None = None) -> str:
    """A row with a line that is the same in both texts."""
    assert row.old is not None
    numbers = _number(row.old, name, marked) + (_number(row.new) if segment.changed else "")
    return f"<tr>{numbers}<td>{_shown(segment.old, row.old, _focus(row.old, marked))}</td></tr>"


def _definition(text: Text, rows: Sequence[Row], following: Sequence[Row]) -> str:
    """The last `def` or `class` among `rows` that the lines that follow are inside of, perhaps."""
    after = [text.lines[row.old] for row in following if row.old is not None]
    depth = next((len(line) - len(line.lstrip()) for line in after if line.strip()), 0)
    for row in reversed(rows):
        match = _DEFINITION.match(text.lines[row.old]) if row.old is not None else None
        if match and len(match.group(1)) < depth:
            return match.group(2)
    return ""


def _lines_label(rows: Sequence[Row]) -> str:
    old = [row.old for row in rows if row.old is not None]
    return f"lines {old[0] + 1} to {old[-1] + 1}" if old else "added lines"


def folded_lines(views: Sequence[View]) -> int:
    """How many lines each end of a folded stretch keeps, so that the page stays within bounds."""
    lengths = [
        [
            min(len(segment.old.lines[row.old]), markup.LONGEST_LINE)
            for row in part.rows
            if row.old is not None
        ]
        for each in views
        for segment in each.segments
        for part in segment.parts
        if part.folded
    ]
    for limit in _FOLDED_LINES:
        kept = (sum(each[:limit]) + sum(each[max(limit, len(each) - limit) :]) for each in lengths)
        if limit == 0 or sum(kept) <= _FOLDED_CHARACTERS:
            return limit
    raise AssertionError("the last limit always fits")
