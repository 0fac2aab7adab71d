"""The line that shows how far a run is: after a second, on a terminal, and gone before the report."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codemods import cli
from codemods.progress import Progress

HOOKS = """\
import time

from codemods import contents, engine

migrate, contains = engine.migrate, contents.contains


def slow(source, *others):
    time.sleep(0.4)
    return migrate(source, *others)


engine.migrate = slow
"""
GOOD = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""


class Terminal(io.StringIO):
    """A terminal of 80 columns that remembers what it shows."""

    columns = 80

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def flush(self) -> None:
        last = self.getvalue().rpartition("\r")[2]
        self.shown.append(last.rstrip())


@pytest.fixture
def terminal(monkeypatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((found.columns, 24)))
    for name in ("CI", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return found


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


# ---------------------------------------------------------------------------------------- the line


def test_a_run_of_less_than_a_second_shows_nothing(terminal, clock):
    with Progress(terminal, clock) as progress:
        progress.scanned(64)
        clock.now += 0.9
        progress.scanned(128)
        progress.analysing(2, 20)
        progress.analysed(10)
        progress.tick()
    assert terminal.getvalue() == ""


def test_a_run_from_scan_to_end(terminal, clock):
    with Progress(terminal, clock) as progress:
        clock.now += 1
        progress.scanned(640)
        clock.now += 1
        progress.analysing(4, 1000)
        clock.now += 2
        progress.analysed(250)
        progress.tick()
        clock.now += 2
        progress.analysed(600)
        progress.tick()
    assert terminal.shown == [
        "640 files scanned",
        "[........................] 0 of 4 files analysed",
        "[######..................] 1 of 4 files analysed, 0:06 left",
        "[####################....] 2 of 4 files analysed, 0:01 left",
        "",
    ]


def test_every_line_covers_the_one_before(terminal, clock):
    with Progress(terminal, clock) as progress:
        clock.now += 2
        progress.analysing(40, 1000)
        clock.now += 2
        progress._show("short")
    assert re.fullmatch(r"\r\[\.+\] 0 of 40 files analysed\rshort( +)\r     \r", terminal.getvalue())


def test_it_is_not_drawn_all_the_time(terminal, clock):
    with Progress(terminal, clock) as progress:
        clock.now += 2
        for _ in range(1000):
            clock.now += 0.001
            progress.tick()
    assert len(terminal.shown) <= 12


def test_a_narrow_terminal(terminal, clock):
    terminal.columns = 20
    with Progress(terminal, clock) as progress:
        clock.now += 2
        progress.analysing(4, 10)
    assert terminal.shown == ["[.................."[:19], ""]


@pytest.mark.parametrize(("seconds", "shown"), [(30, "0:30"), (90, "1:30"), (3725, "1:02:05")])
def test_how_long_it_takes(terminal, clock, seconds, shown):
    with Progress(terminal, clock) as progress:
        progress.analysing(2, 2)
        clock.now += seconds
        progress.analysed(1)
        progress.tick()
    assert terminal.shown[0].endswith(f", {shown} left")


def test_empty_files_take_no_time(terminal, clock):
    with Progress(terminal, clock) as progress:
        progress.analysing(1, 0)
        clock.now += 2
        progress.analysed(0)
        progress.tick()
    assert terminal.shown[0].endswith("1 of 1 files analysed")


def test_a_terminal_that_is_gone_is_left_alone(terminal, clock, monkeypatch):
    def fail(*_):
        raise OSError

    monkeypatch.setattr(terminal, "write", fail)
    with Progress(terminal, clock) as progress:
        clock.now += 2
        progress.tick()
        clock.now += 2
        progress.tick()
    assert terminal.getvalue() == ""


# ---------------------------------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False), ({"CI": "true"}, False)],
)
def test_which_terminals(terminal, clock, monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with Progress.on(terminal) as progress:
        progress._next = 0
        progress.tick()
    assert bool(terminal.shown) == expected


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["closed", "file"])
def test_nothing_without_a_terminal(stream):
    with Progress.on(stream) as progress:
        progress._next = 0
        progress.tick()
    assert stream is None or stream.getvalue() == ""


# ---------------------------------------------------------------------------------------- whole runs


def run(folder: Path, *arguments: str) -> tuple[bytes, bytes]:
    """Standard output, and all that a terminal got as standard error, of a run that takes its time."""
    import pty

    (folder / "sitecustomize.py").write_text(HOOKS)
    project = folder / "project"
    project.mkdir()
    for number in range(4):
        (project / f"m{number}.py").write_text(GOOD)
    path = os.pathsep.join([str(folder), str(Path(cli.__file__).parents[1])])
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "TERM")}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "codemods", ".", *arguments],
        cwd=project,
        env={**kept, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 10_000):
            said += data
    except OSError:  # how Linux says that nobody is left at the other end
        pass
    os.close(ours)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output, said


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize(
    "arguments", [("--jobs", "1"), ("--jobs", "2"), ("--format", "json")], ids=["one", "two", "json"]
)
def test_a_terminal_sees_the_progress_and_then_the_report(tmp_path, arguments):
    output, said = run(tmp_path, *arguments)
    drawn, _, report = said.rpartition(b"\r ")
    assert re.search(rb"\r\[#+\.+\] [123] of 4 files analysed, 0:0\d left", drawn)
    assert re.fullmatch(rb" *\r(4 files would change.*\r\n)?", report)
    assert b"\r" not in output and output.startswith((b"diff ", b"--- ", b"{"))
