import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codemods.model import Diagnostic, FileResult, Gradient, Hop, Note, SiteResult, Status
from codemods.report import as_json
from codemods.report import text as as_text
from codemods.report.diff import unified_diff
from codemods.report.run import Run

SITE = SiteResult(2, 5, 3, "host", Status.REWRITTEN)
ADAPTED = SiteResult(4, 1, 4, "solve", Status.ADAPTED, Diagnostic("BC103", "It uses JAX.", "Use NumPy."))
REFUSED = SiteResult(3, 1, 3, "<lambda>", Status.REFUSED, Diagnostic("BC201", "Its origin is unknown."))
SKIPPED = SiteResult(1, 1, 1, "f", Status.SKIPPED, Diagnostic("BC004", "A comment says so."))
NOTE = Note(1, 9, Diagnostic("BC005", "Nothing to suppress."))


def result(
    before: str | bytes = "old\n", after: str | bytes | None = None, path: str = "a.py", **fields
) -> FileResult:
    before = before.encode() if isinstance(before, str) else before
    after = before if after is None else after.encode() if isinstance(after, str) else after
    return FileResult(Path(path), before, after, **fields)


# ------------------------------------------------------------------------------- JSON


def test_json_is_one_versioned_object_with_the_documented_keys():
    run = Run((result(after="new\n", sites=(SITE, ADAPTED), notes=(NOTE,)),), scanned=7)
    assert json.loads(as_json.to_json(run)) == {
        "version": 1,
        "files": [
            {
                "path": "a.py",
                "changed": True,
                "error": None,
                "sites": [
                    {
                        "cell": None,
                        "line": 2,
                        "column": 5,
                        "end_line": 3,
                        "callback": "host",
                        "status": "rewritten",
                        "code": None,
                        "message": "",
                        "gradient": "unknown",
                        "gradient_path": [],
                    },
                    {
                        "cell": None,
                        "line": 4,
                        "column": 1,
                        "end_line": 4,
                        "callback": "solve",
                        "status": "adapted",
                        "code": "BC103",
                        "message": "It uses JAX. Use NumPy.",
                        "gradient": "unknown",
                        "gradient_path": [],
                    },
                ],
                "notes": [
                    {"cell": None, "line": 1, "column": 9, "code": "BC005", "message": "Nothing to suppress."}
                ],
            }
        ],
        "summary": {
            "scanned": 7,
            "changed": 1,
            "failed": 0,
            "sites": 2,
            "rewritten": 1,
            "adapted": 1,
            "refused": 0,
            "skipped": 0,
        },
    }


def test_json_of_a_failure_has_the_error_and_no_site():
    document = json.loads(as_json.to_json(Run((result(error="a.py:3: cannot be parsed"),), scanned=1)))
    (file,) = document["files"]
    assert file == {
        "path": "a.py", "changed": False, "error": "a.py:3: cannot be parsed", "sites": [], "notes": [],
    }  # fmt: skip
    assert document["summary"]["failed"] == 1


@pytest.mark.parametrize("gradient", list(Gradient))
@pytest.mark.parametrize("status", list(Status))
def test_json_names_every_status_and_gradient(status, gradient):
    site = SiteResult(1, 1, 1, "f", status, None, gradient)
    document = json.loads(as_json.to_json(Run((result(sites=(site,)),), scanned=1)))
    (shown,) = document["files"][0]["sites"]
    assert (shown["status"], shown["gradient"]) == (status.value, gradient.value)
    assert document["summary"][status.value] == document["summary"]["sites"] == 1


def test_json_is_ascii_whatever_the_path_and_the_callback():
    site = SiteResult(1, 1, 1, "lösung", Status.REWRITTEN)
    text = as_json.to_json(Run((result(path="caf\udce9.py", sites=(site,)),), scanned=1))
    assert text.isascii()
    assert json.loads(text)["files"][0]["path"] == "caf\udce9.py"
    assert json.loads(text)["files"][0]["sites"][0]["callback"] == "lösung"


# ------------------------------------------------------------------------------- diff


def test_diff_of_an_unchanged_file_is_empty():
    assert unified_diff(result()) == b""


def test_diff_has_three_lines_of_context_and_prefixes():
    before = "".join(f"{n}\n" for n in range(1, 10))
    assert unified_diff(result(before, before.replace("5", "five"), "pkg/a.py")) == (
        b"--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        pytest.param(
            "x", "y", "-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", id="both"
        ),
        pytest.param("x", "y\n", "-x\n\\ No newline at end of file\n+y\n", id="before"),
        pytest.param("x\n", "y", "-x\n+y\n\\ No newline at end of file\n", id="after"),
        pytest.param("a\nx", "b\nx", "-a\n+b\n x\n\\ No newline at end of file\n", id="in the context"),
    ],
)
def test_diff_says_where_the_last_newline_is_missing(before, after, body):
    assert unified_diff(result(before, after)).decode().split("@@\n")[1] == body


def test_diff_keeps_line_endings():
    assert unified_diff(result(b"a\r\nb\r\n", b"a\r\nc\r\n")).endswith(b" a\r\n-b\r\n+c\r\n")
    bare = unified_diff(result(b"a\rb\r", b"a\rc\r")).split(b"@@\n")[1]
    assert bare.replace(b"\n\\ No newline at end of file", b"") == b"-a\rb\r\n+a\rc\r\n"


def test_diff_keeps_bytes_of_any_encoding():
    diff = unified_diff(result("# naïve\nx\n".encode("latin-1"), "# naïve\ny\n".encode("latin-1")))
    assert b" # na\xefve\n" in diff


@pytest.mark.parametrize("character", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028"])
def test_diff_ends_lines_at_newlines_alone(character):
    line = f"a{character}b\n".encode()
    assert unified_diff(result(line + b"x\n", line + b"y\n")).endswith(b" " + line + b"-x\n+y\n")


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("/abs/a.py", b"--- a/abs/a.py\n"),
        ("with space.py", b"--- a/with space.py\t\n"),
        ('qu"ote.py', b'--- "a/qu\\"ote.py"\n'.replace(b'\\"', b"\\042")),
        ("new\nline.py", b'--- "a/new\\012line.py"\n'),
        ("caf\udce9.py", b"--- a/caf\xe9.py\n"),
    ],
)
def test_diff_names_a_file_so_that_tools_read_it(path, header):
    assert unified_diff(result(after="new\n", path=path)).startswith(header)


def test_colour_is_put_around_lines_and_ends_before_their_end():
    diff = unified_diff(result(b"-- a\r\nsame\n", b"++ b\r\nsame\n"), colour=True)
    assert diff == (
        b"\x1b[1m--- a/a.py\x1b[0m\n\x1b[1m+++ b/a.py\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n"
        b"\x1b[31m--- a\x1b[0m\r\n\x1b[32m+++ b\x1b[0m\r\n same\n"
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(
    before=st.lists(st.sampled_from([b"a", b"b\r", b"", b"\xff", b"-- c", b"\x0c", b"x\ry"])),
    after=st.lists(st.sampled_from([b"a", b"b\r", b"", b"\xff", b"++ d", b"y"]), min_size=1),
    name=st.sampled_from(["a.py", "a b.py", 'a"b.py', "ä.py", "a\tb.py", "a\\b.py", "sub/a.py"]),
    newline=st.booleans(),
)
def test_git_applies_the_diff(tmp_path_factory, before, after, name, newline):
    folder = tmp_path_factory.mktemp("tree")
    old, new = b"\n".join(before) + b"\n" * newline, b"\n".join(after) + b"\n"
    assume(old not in {b"", new})  # an empty file has no call site
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(old)
    diff = unified_diff(result(old, new, name))
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=diff, check=True)
    assert path.read_bytes() == new


# ------------------------------------------------------------------------------- text


def test_diagnostics_name_place_code_reason_and_way_out_and_show_the_line():
    before = "import jax\r\n    # naïve\n\tjax.pure_callback(f, s)  \nx = jax.pure_callback(g, s)\n"
    run = Run((result(before.encode(), path="pkg/a.py", sites=(SITE, REFUSED, ADAPTED), notes=(NOTE,)),), 1)
    assert list(as_text.diagnostics(run)) == [
        "pkg/a.py:1:9: BC005 Nothing to suppress.\n    import jax",
        "pkg/a.py:3:1: BC201 Its origin is unknown.\n    jax.pure_callback(f, s)",
        "pkg/a.py:4:1: BC103 It uses JAX. Use NumPy.\n    x = jax.pure_callback(g, s)",
    ]


def test_only_what_may_be_differentiated_is_said_in_one_line():
    hops = (Hop(Path("a.py"), 1, "jax.grad(f)"),)
    found = {}
    for code in ("BC301", "BC302"):
        note = Note(1, 1, Diagnostic(code, "Reason.", "Way out."), hops=hops)
        (found[code],) = as_text.remarks(Run((result("call(x)\n", notes=(note,)),), 1))
    assert found["BC301"] == "a.py:1:1: BC301 Reason. Way out.\n    call(x)\n      a.py:1: jax.grad(f)"
    assert found["BC302"] == "a.py:1:1: BC302 Reason. Way out."


def test_what_may_be_differentiated_is_said_once_a_file():
    unseen = Diagnostic("BC302", "Reason.", "Way out.")
    places = ((None, 1, 1), (None, 2, 5), (None, 9, 3), (4, 2, 2))
    notes = [Note(line, column, unseen, cell) for cell, line, column in places]
    other = Note(2, 1, Diagnostic("BC005", "Another."))
    for count, further in enumerate(
        [
            "",
            " The same goes for 2:5.",
            " The same goes for 2:5 and 9:3.",
            " The same goes for 2:5, 9:3 and cell 4:2:2.",
        ]
    ):
        run = Run(
            (result("call(x)\n" * 9, notes=(*notes[: count + 1], other)), result("x\n", path="b.py")), 2
        )
        first, second = as_text.remarks(run)
        assert first == f"a.py:1:1: BC302 Reason. Way out.{further}"
        assert second.startswith("a.py:2:1: BC005 Another.")


def test_the_conclusion_counts_derivatives_to_fill_in():
    notes = tuple(Note(line, 1, Diagnostic("BC303", "Reason.")) for line in (1, 2))
    assert "filled in" not in as_text.conclusion(Run((result("x\n"),), 1))
    for count, text in (
        (1, " 1 derivative is yet to be filled in."),
        (2, " 2 derivatives are yet to be filled in."),
    ):
        assert text in as_text.conclusion(Run((result("x\n", notes=notes[:count]),), 1))


def test_diagnostics_put_failures_first():
    run = Run((result(sites=(SKIPPED,)), result(path="b.py", error="b.py:1: cannot be parsed: no")), 2)
    assert [entry.split("\n")[0] for entry in as_text.diagnostics(run)] == [
        "error: b.py:1: cannot be parsed: no",
        "a.py:1:1: BC004 A comment says so.",
    ]


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (Run((), 0), "No call site of pure_callback found (no files scanned)."),
        (Run((result(),), 1), "No call site of pure_callback found (1 file scanned)."),
        (
            Run((result(after="new\n", sites=(SITE, SITE, ADAPTED)),), 3),
            (
                "1 file would change, 3 call sites: 2 rewritten, 1 adapted (3 files scanned). "
                "Run again with --write to apply."
            ),
        ),
        (
            Run((result(after="new\n", sites=(SITE,)),), 3, written=True),
            "1 file changed, 1 call site: 1 rewritten (3 files scanned).",
        ),
        (
            Run((result(sites=(REFUSED, SKIPPED)), result(error="b.py: no")), 3),
            (
                "No files would change, 2 call sites: 1 refused, 1 skipped (3 files scanned). "
                "1 path could not be processed."
            ),
        ),
    ],
)
def test_conclusion_counts_files_and_sites(run, text):
    assert as_text.conclusion(run) == text


def test_verdict_counts_findings():
    fixable = dataclasses.replace(NOTE, fixable=True)

    def verdict(*files: FileResult, written: bool = False) -> str:
        return as_text.verdict(Run(files, 2, written, is_audit=True))

    assert verdict(result(notes=(NOTE, fixable))) == "2 findings (2 files scanned). --fix takes care of 1."
    assert verdict(result(after="new\n", notes=(NOTE,)), written=True) == (
        "1 file fixed, 1 finding left (2 files scanned)."
    )
    assert verdict(result(error="a.py: no")) == (
        "No findings (2 files scanned). 1 path could not be processed."
    )


def test_changes_list_what_was_written():
    files = (result(after="new\n"), result(path="b.py"))
    assert list(as_text.changes(Run(files, 2, written=True))) == ["rewrote a.py"]
    assert list(as_text.changes(Run(files, 2))) == []
