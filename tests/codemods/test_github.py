"""Workflow commands for GitHub Actions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from codemods import cli
from codemods.model import Diagnostic, FileResult, Hop, Note, SiteResult, Status
from codemods.report.github import to_commands
from codemods.report.run import Run

SITE = SiteResult(2, 5, 2, "f", Status.REWRITTEN, end_column=31)


def lines_of(*files: FileResult, written: bool = False) -> list[str]:
    text = to_commands(Run(files, len(files), written))
    assert text == "" or text.endswith("\n")
    return text.split("\n")[:-1]


def file(path: str = "a.py", **fields: Any) -> FileResult:
    return FileResult(Path(path), b"old\n", b"old\n", **fields)


def understood(line: str) -> tuple[str, dict[str, str], str]:
    """The command, its properties and its data, as GitHub's runner reads a line."""
    match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
    assert match is not None
    properties = dict(item.split("=", 1) for item in match[2].split(","))
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        properties = {key: value.replace(code, character) for key, value in properties.items()}
    data = match[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return match[1], properties, data


def test_nothing_in_a_line_commands_a_terminal():
    names = ["\x1b]0;title\x07.py", "\x9b31m.py", "right\u202eto left.py"]
    lines = lines_of(*(file(name, error=f"{name}:3: \x1b[2J cannot be parsed") for name in names))
    assert all(line.isprintable() for line in lines)
    assert [understood(line)[1]["file"] for line in lines] == [
        "\\x1b]0;title\\x07.py",
        "\\x9b31m.py",
        "right\\u202eto left.py",
    ]


@pytest.mark.parametrize(
    ("site", "line"),
    [
        (
            SITE,
            (
                "::notice file=a.py,line=2,col=5,endLine=2,endColumn=31,title=bufcb BC000"
                "::pure_callback of `f` can be rewritten."
            ),
        ),
        (
            SiteResult(2, 5, 4, "f", Status.ADAPTED, Diagnostic("BC103", "JAX.", "No."), end_column=3),
            (
                "::notice file=a.py,line=2,endLine=4,title=bufcb BC103"
                "::pure_callback of `f` can be adapted: JAX. No."
            ),
        ),
        (
            SiteResult(2, 5, 2, "o.pure_callback", Status.REFUSED, Diagnostic("BC201", "?"), end_column=9),
            (
                "::warning file=a.py,line=2,col=5,endLine=2,endColumn=9,title=bufcb BC201"
                "::`o.pure_callback` is left to migrate by hand: ?"
            ),
        ),
    ],
    ids=["rewritten", "adapted, on several lines", "refused"],
)
def test_each_call_site_is_a_command(site: SiteResult, line: str):
    assert lines_of(file(sites=(site,))) == [line]


def test_a_note_is_a_notice():
    note = Note(1, 9, Diagnostic("BC005", "It suppresses nothing.", "Remove it."))
    assert lines_of(file(notes=(note,))) == [
        "::notice file=a.py,line=1,col=9,title=bufcb BC005::It suppresses nothing. Remove it."
    ]


def test_the_way_to_a_differentiated_call_is_told_line_by_line():
    hops = (Hop(Path("train.py"), 4, "jax.grad(loss)"), Hop(Path("a.py"), 1, "loss"))
    note = Note(1, 9, Diagnostic("BC301", "It is differentiated."), hops=hops)
    (line,) = lines_of(file(notes=(note,)))
    assert understood(line)[2] == "It is differentiated.\ntrain.py:4: jax.grad(loss)\na.py:1: loss"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("a.py:3: cannot be parsed: no", "::error file=a.py,line=3,title=bufcb::cannot be parsed: no"),
        ("a.py: does not exist", "::error file=a.py,title=bufcb::does not exist"),
    ],
)
def test_a_failure_is_an_error(error: str, line: str):
    assert lines_of(file(error=error)) == [line]


@pytest.mark.parametrize(
    "diagnostic", [None, Diagnostic("BC003", "x"), Diagnostic("BC004", "x"), Diagnostic("BC010", "x")]
)
def test_what_is_left_alone_is_not_annotated(diagnostic: Diagnostic | None):
    assert lines_of(file(sites=(SiteResult(2, 5, 2, "f", Status.SKIPPED, diagnostic),))) == []


def test_a_place_in_a_notebook_is_told_in_words():
    site = SiteResult(2, 5, 2, "f", Status.REWRITTEN, cell=3)
    assert lines_of(file("a.ipynb", sites=(site,))) == [
        "::notice file=a.ipynb,title=bufcb BC000::cell 3, line 2: pure_callback of `f` can be rewritten."
    ]


def test_what_is_written_is_told_as_done():
    (line,) = lines_of(file(sites=(SITE,)), written=True)
    assert line.endswith("::pure_callback of `f` is rewritten.")


HARD = st.text(st.sampled_from("ab:,=%\r\n \u2028é0D2C3A"), max_size=12)


@given(name=HARD.filter(lambda name: name.strip("/. ")), reason=HARD)
def test_nothing_in_a_name_or_a_text_is_taken_for_syntax(name: str, reason: str):
    path = f"x/{name}.py"
    refused = SiteResult(2, 5, 2, "f", Status.REFUSED, Diagnostic("BC201", f"({reason})"))
    (line,) = lines_of(file(path, sites=(refused,)))
    command, properties, data = understood(line)
    assert command == "warning"
    # The line separator alone is none of GitHub's, and a terminal would obey it.
    assert properties["file"] == path.replace("\u2028", "\\u2028")
    assert data.endswith(f"({reason})".replace("\u2028", "\\u2028"))


@pytest.mark.parametrize(("arguments", "status"), [((), 0), (("--check",), 1), (("--write",), 0)])
def test_the_command_prints_annotations_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], status: int
):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import jax\nimport numpy as np\n\ny = jax.pure_callback(np.sin, s, x)\n")
    result = CliRunner().invoke(cli.migrate, ["a.py", "--format", "github", *arguments])
    assert result.exit_code == status
    (line,) = result.stdout.splitlines()
    assert understood(line)[:2] == (
        "notice",
        {"file": "a.py", "line": "4", "col": "5", "endLine": "4", "endColumn": "36", "title": "bufcb BC102"},
    )
    assert result.stderr.startswith("1 file changed" if "--write" in arguments else "1 file would change")


def test_lint_warns_of_its_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import bufcb\n\ny = bufcb.buffer_callback(lambda ctx, out, x: x, s)(x)\n")
    Path("bad.py").write_text("buffer_callback(\n")
    result = CliRunner().invoke(cli.lint, [".", "--format", "github"])
    assert result.exit_code == 2
    first, second = map(understood, result.stdout.splitlines())
    assert (first[0], first[1]["title"], first[1]["line"]) == ("warning", "bufcb BCL001", "3")
    assert second[0] == "error"
    assert result.stderr.startswith("1 finding (2 files scanned). 1 path could not be processed.")
