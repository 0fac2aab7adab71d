"""What a verification shows, as a table for people and as JSON."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from codemods import console
from codemods.report import text
from codemods.report.run import Run
from codemods.verification import Proof
from codemods.verification.comparison import Row, Times, Verdict
from codemods.verification.names import Key
from codemods.verification.printed import Change
from codemods.verification.processes import Ended

_HEADINGS: Final = ("callback", "calls", "difference", "shape or dtype", "time a call", "as fast")
_LINES_OF_OUTPUT: Final = 15
_NAMED: Final = 5
_LONGEST_LINE: Final = 80


def to_text(proof: Proof | None, error: str) -> Iterator[str]:
    """The table, what differs in detail, and what it all means; or why there is none."""
    if error:
        yield from map(console.one_line, f"error: --verify: {error}".splitlines())
    elif proof is None:
        yield "Nothing would change, so that there is nothing to verify."
    else:
        yield from _to_text(proof)


def of_writing(run: Run, *, asked: bool) -> Iterator[str]:
    """What was written."""
    if asked and run.changed:
        yield from text.changes(run) if run.written else ["Nothing was written."]


def _to_text(proof: Proof) -> Iterator[str]:
    if proof.rows:
        yield from _table([_HEADINGS, *(_cells(row, proof.root) for row in proof.rows)])
    for row in proof.rows:
        if row.verdict is not Verdict.SAME or row.messages:
            yield from _details(row, proof.root)
    if proof.not_called:
        yield _not_called(proof)
    if proof.is_full:
        yield "The recordings have reached --verify-limit, so that not all calls were compared."
    if proof.before.status != proof.after.status:
        yield from _output(proof.after)
    if proof.printed is not None:
        place = f"first in line {proof.printed.line}"
        yield console.one_line(f"What the command prints differs, {place}: {_lines(proof.printed)}.")
    if proof.message is not None:
        yield console.one_line(f"Both runs fail, but with other messages: {_lines(proof.message)}.")
    yield _conclusion(proof)


def _lines(change: Change) -> str:
    """A line before and after, from a little before the first character that differs."""
    both = zip(change.before or "", change.after or "", strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], both))
    start = max(same - _LONGEST_LINE // 2, 0)
    cut = (
        "nothing" if line is None else repr("…" * (start > 0) + line[start : start + _LONGEST_LINE])
        for line in (change.before, change.after)
    )
    return " → ".join(cut)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield console.one_line("  ".join(map(str.ljust, row, widths)).rstrip())


def _cells(row: Row, root: str) -> tuple[str, ...]:
    return (
        _called(row.key, row.name, root),
        _change(str(row.before), str(row.after)),
        _difference(row),
        "; ".join(row.changes) or "same",
        _change(*map(_duration, row.times)),
        _speed(row),
    )


def _called(key: Key, name: str, root: str) -> str:
    """A callback as it is found: its file and line, and its name without what is around it."""
    own = name.rpartition("<locals>.")[2]
    path = _path(key, root).rpartition("site-packages" + os.sep)[2]
    return f"{path}:{key.line} {own}" if path else own


def _path(key: Key, root: str) -> str:
    """The file of a callback, relative to the current folder where it is in there."""
    if not key.path or os.path.isabs(key.path):
        return key.path
    relative = os.path.relpath(os.path.join(root, key.path))
    return os.path.join(root, key.path) if relative.startswith(os.pardir) else relative


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _difference(row: Row) -> str:
    if row.verdict is Verdict.SAME:
        return "none"
    if row.verdict is Verdict.OTHER_CALLS:
        return "other calls"
    if row.verdict is Verdict.VARIES and row.difference == 0:
        return "varies"
    if row.difference is None:
        return "yes"
    return "in bits" if row.difference == 0 else f"{row.difference:.3g}"


def _duration(times: Times | None) -> str:
    if times is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if times.median >= scale:
            return f"{times.median / scale:.3g} {unit}"
    return f"{times.median / 1e-6:.3g} µs"


def _speed(row: Row) -> str:
    if not row.has_enough_times:
        return "n too small"
    return f"{row.ratio:.2g} times" if row.ratio is not None and row.is_clear else "not clear"


def _details(row: Row, root: str) -> Iterator[str]:
    renamed = f", {row.new_name} now" if row.new_name else ""
    yield console.one_line(f"{_called(row.key, row.name, root)}{renamed}:")
    for example in (*row.examples, *row.messages):
        yield console.one_line(f"    {example}")
    if row.verdict is Verdict.VARIES:
        yield "    Two runs of the original differ there as well, so that this says nothing of the migration."


def _not_called(proof: Proof) -> str:
    names = _listed([_called(key, key.name, proof.root) for key in proof.not_called])
    why = "Not called by the command, or not recorded" if proof.is_full else "Not called by the command"
    return console.one_line(f"{why}, so not verified: {names}.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _output(ended: Ended) -> Iterator[str]:
    texts = (ended.output, ended.errors)
    lines = [line for text in texts for line in text.splitlines()[-_LINES_OF_OUTPUT:]]
    if lines:
        yield "After the migration, the command printed at its end:"
        yield from (console.one_line(f"    {line}") for line in lines)


def _conclusion(proof: Proof) -> str:
    rows = proof.rows
    calls, count = sum(row.after for row in rows), len(rows)
    status = _statuses(proof)
    if proof.is_same:
        callbacks = "1 callback gives" if count == 1 else f"{count} callbacks give"
        times = "1 call" if calls == 1 else f"{calls} calls"
        return f"Verified: {callbacks} the same, bit for bit, in {times}; {status}."
    bad = [row for row in rows if row.verdict in (Verdict.DIFFERENT, Verdict.OTHER_CALLS)]
    if bad:
        names = _listed([_called(row.key, row.name, proof.root) for row in bad])
        return console.one_line(f"Different: {names}; {status}.")
    if proof.before.status != proof.after.status:
        return f"Different: {status}."
    if all(row.verdict is Verdict.SAME for row in rows):
        return (
            f"Not shown to be the same: some callbacks found no room, which --verify-limit gives; {status}."
        )
    return f"Not shown to be the same: the command gives other results each time that it is run; {status}."


def _statuses(proof: Proof) -> str:
    before, after = proof.before.status, proof.after.status
    if before == after:
        return f"the command's exit status is {before}, before and after"
    text = f"the command's exit status is {before} before and {after} after"
    if proof.again is not None and proof.again.status != before:
        text += f", but {proof.again.status} when the original is run again"
    return text


def to_object(proof: Proof | None, error: str) -> dict[str, Any] | None:
    """The proof for a JSON document, or why there is none; None where there is nothing to prove."""
    if error:
        return {"error": error}
    if proof is None:
        return None
    return {
        "error": None,
        "command": proof.command,
        "same": proof.is_same,
        "complete": not proof.is_full,
        "before": _ended_object(proof.before),
        "after": _ended_object(proof.after),
        "again": _ended_object(proof.again) if proof.again else None,
        "callbacks": [_row_object(row, proof.root) for row in proof.rows],
        "not_called": [_key_object(key, proof.root) for key in proof.not_called],
        "printed": _change_object(proof.printed),
        "message": _change_object(proof.message),
    }


def _ended_object(ended: Ended) -> dict[str, Any]:
    return {"exit_status": ended.status, "seconds": round(ended.seconds, 3)}


def _change_object(change: Change | None) -> dict[str, Any] | None:
    return None if change is None else {"line": change.line, "before": change.before, "after": change.after}


def _key_object(key: Key, root: str) -> dict[str, Any]:
    return {"path": _path(key, root) or None, "line": key.line or None, "name": key.name}


def _row_object(row: Row, root: str) -> dict[str, Any]:
    before, after = row.times
    is_number = row.difference is not None and math.isfinite(row.difference)
    return {
        **_key_object(row.key, root),
        "name": row.name,
        "new_name": row.new_name,
        "status": row.verdict.value,
        "calls": {"before": row.before, "after": row.after, "compared": row.compared},
        "difference": row.difference if is_number else None,  # JSON has no others
        "changes": list(row.changes),
        "seconds": {
            "before": before.median if before else None,
            "after": after.median if after else None,
            "ratio": row.ratio if row.is_clear else None,
        },
        "examples": list(row.examples),
        "messages": list(row.messages),
    }
