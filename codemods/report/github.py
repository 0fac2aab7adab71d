"""The run as workflow commands, which GitHub Actions turns into annotations of the changed lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from codemods.console import plain
from codemods.model import FileResult
from codemods.report.entries import Entry, Level, entries, failure
from codemods.report.run import Run

_COMMANDS: Final[dict[Level, str]] = {"warning": "warning", "note": "notice"}


def to_commands(run: Run) -> str:
    """A line for each failure, each call site and each note, but for what the user left out."""
    return "".join(f"{line}\n" for file in run.files for line in _of_file(file, written=run.written))


def _of_file(file: FileResult, *, written: bool) -> Iterator[str]:
    name = file.path.as_posix()
    if file.error is not None:
        line, reason = failure(file)
        yield _command("error", {"file": name, "line": line, "title": "bufcb"}, reason)
    for entry in entries(file, written=written):
        if entry.level in _COMMANDS and entry.suppression is None:
            place: dict[str, int | str | None] = {} if entry.cell else _place(entry)
            title = {"title": f"bufcb {entry.code}"}
            text = f"{entry.place}: {entry.text}" if entry.cell else entry.text
            text += "".join(f"\n{hop.place}: {hop.name}" for hop in entry.hops)
            yield _command(_COMMANDS[entry.level], {"file": name, **place, **title}, text)


def _place(entry: Entry) -> dict[str, int | str | None]:
    # GitHub takes columns within one line only.
    one_line = entry.end_line in (None, entry.line)
    return {
        "line": entry.line,
        "col": entry.column if one_line else None,
        "endLine": entry.end_line,
        "endColumn": entry.end_column if one_line else None,
    }


def _command(name: str, properties: dict[str, int | str | None], text: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    return f"::{name} {given}::{_data(text)}"


def _data(text: str) -> str:
    """Text as data of a command, which shows in the log of the run as well."""
    return plain(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(value: int | str) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
