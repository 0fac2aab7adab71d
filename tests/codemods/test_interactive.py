"""`--interactive`: what is shown, what is taken, and that nothing else happens to a file."""

import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli, console, engine, interactive
from codemods.model import FileResult, Options, Status
from codemods.project import Project
from codemods.source import SourceFile

PROGRAM = """\
import jax
import numpy as np


def _shared(x):
    return np.sin(x)


def one(x):
    return jax.pure_callback(_shared, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def two(x):
    y = jax.pure_callback(lambda a: np.sort(a), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return jax.pure_callback(_shared, jax.ShapeDtypeStruct(x.shape, x.dtype), y)


def three(f, x):
    return jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def four(backend, x):
    return backend.pure_callback(max, x, x)


def _inner(x):
    return np.cos(x)


def _outer(x):
    return np.asarray(jax.pure_callback(_inner, jax.ShapeDtypeStruct(x.shape, x.dtype), x))


def five(x):
    return jax.pure_callback(_outer, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
SITES = {"shared": (0, 2), "lambda": (1,), "parameter": (3,), "inner": (5,), "outer": (6,)}
PROMPT = "Take this change [y,n,q,a,d,?]?"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "is_terminal", lambda: True)
    return tmp_path


def write(path: str, text: str | bytes = PROGRAM) -> Path:
    file = Path(path)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def invoke(*arguments: str, answers: str = "") -> Result:
    return CliRunner().invoke(cli.migrate, ["--interactive", *arguments], input=answers)


def migrated(text: str, left: frozenset[int] = frozenset()) -> FileResult:
    source = SourceFile.from_bytes(Path("a.py"), text.encode())
    return engine.migrate(source, Project.of([Path("a.py")]), Options(), left)


def chosen(monkeypatch, text: str, answers: str) -> tuple[FileResult, list[interactive.Proposal]]:
    """The outcome of `answers`, and what was asked."""
    asked = []
    given = iter(answers)

    def ask(proposal: interactive.Proposal) -> str:
        asked.append(proposal)
        return next(given)

    monkeypatch.setattr(interactive, "_ask", ask)
    result = interactive.choose(migrated(text), lambda left: migrated(text, left))
    assert list(given) == []
    return result, asked


def with_comments(text: str, left: frozenset[int]) -> str:
    """The text with `# bufcb: skip` on the call sites that are `left`."""
    lines = text.split("\n")
    for index in left:
        lines[migrated(text).sites[index].line - 1] += "  # bufcb: skip"
    return "\n".join(lines)


# ------------------------------------------------------------------------------- what is decided


def test_call_sites_of_one_callback_are_one_change(monkeypatch):
    _, asked = chosen(monkeypatch, PROGRAM, "nnnnn")
    lines = [[site.line for site in proposal.sites] for proposal in asked]
    assert lines == [[10, 15], [14], [19], [31], [35]]
    assert [(proposal.number, proposal.count) for proposal in asked] == [(n, 5) for n in range(1, 6)]


@pytest.mark.parametrize("answers", ["".join(each) for each in itertools.product("yn", repeat=5)])
def test_what_is_left_is_left_as_a_comment_would_leave_it(monkeypatch, answers):
    result, asked = chosen(monkeypatch, PROGRAM, answers)
    units = zip(SITES.values(), answers, strict=True)
    left = frozenset(itertools.chain.from_iterable(unit for unit, answer in units if answer == "n"))
    compared = migrated(with_comments(PROGRAM, left))
    assert result.after.decode() == compared.after.decode().replace("  # bufcb: skip", "")
    assert [site.status for site in result.sites] == [site.status for site in compared.sites]
    # What was shown and taken is what is done, step by step, and nothing else.
    state = PROGRAM.encode()
    for proposal, answer in zip(asked, answers, strict=True):
        assert proposal.before.after == state != proposal.after.after
        state = proposal.after.after if answer == "y" else state
    assert state == result.after


@pytest.mark.parametrize(
    ("answers", "same_as"),
    [("a", "yyyyy"), ("d", "nnnnn"), ("na", "nyyyy"), ("yd", "ynnnn"), ("ynnna", "ynnny"), ("nyd", "nynnn")],
)
def test_all_and_done_speak_for_the_rest(monkeypatch, answers, same_as):
    short, _ = chosen(monkeypatch, PROGRAM, answers)
    long, _ = chosen(monkeypatch, PROGRAM, same_as)
    assert short == long


def test_a_callback_with_another_user_gets_a_sibling_when_that_is_left():
    """As the decision is made anew: the name is used outside the call sites that are migrated."""
    text = "import jax\nimport numpy as np\ndef _f(x):\n    return np.sin(x)\n"
    text += "a = jax.pure_callback(_f, np.float32(0), 1.0)\nb = jax.pure_callback(_f, np.float32(0), 2.0)\n"
    assert "def _f(ctx, out, x):" in migrated(text).after.decode()
    left = migrated(text, frozenset({1})).after.decode()
    assert "def _f_into(ctx, out, x):" in left and "b = jax.pure_callback(_f, " in left


def test_refused_and_skipped_call_sites_are_not_asked_about(monkeypatch):
    text = PROGRAM.replace("jax.pure_callback(f,", "jax.pure_callback(  # bufcb: skip\n        f,")
    result, asked = chosen(monkeypatch, text, "nnnn")
    shown = {site.line for proposal in asked for site in proposal.sites}
    assert shown == {10, 15, 14, 32, 36}
    statuses = [site.status for site in result.sites]
    assert statuses[3:5] == [Status.SKIPPED, Status.REFUSED]
    assert [site.diagnostic.code if site.diagnostic else None for site in result.sites[3:5]] == [
        "BC004",
        "BC201",
    ]


def test_a_change_that_does_not_parse_is_passed_over(monkeypatch, capsys):
    """Our own defect in one change costs the user none of the others."""
    whole = migrated(PROGRAM)

    def again(left: frozenset[int]) -> FileResult:
        if 1 not in left:
            return FileResult(whole.path, whole.before, whole.before, whole.sites, error="a.py:1: our defect")
        return migrated(PROGRAM, left)

    answers = iter("yyyy")
    monkeypatch.setattr(interactive, "_ask", lambda proposal: next(answers))
    assert interactive.choose(whole, again) == migrated(PROGRAM, frozenset({1}))
    assert capsys.readouterr().err == "error: a.py:1: our defect\n"


def test_the_rest_that_does_not_parse_leaves_what_was_taken(monkeypatch):
    whole = migrated(PROGRAM)

    def again(left: frozenset[int]) -> FileResult:
        if not left:
            return FileResult(whole.path, whole.before, whole.before, whole.sites, error="a.py:1: our defect")
        return migrated(PROGRAM, left)

    answers = iter("nya")
    monkeypatch.setattr(interactive, "_ask", lambda proposal: next(answers))
    assert interactive.choose(whole, again).after != whole.before


# ------------------------------------------------------------------------------- what is written


def test_what_is_taken_is_written_and_the_rest_stays():
    file = write("a.py")
    result = invoke("a.py", answers="y\nn\nn\nn\nn\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert file.read_bytes() == migrated(PROGRAM, frozenset({1, 3, 5, 6})).after
    assert result.stderr.endswith(
        "rewrote a.py\n1 file changed, 7 call sites: 2 rewritten, 1 refused, 4 skipped (1 file scanned).\n"
    )


def test_where_nothing_is_taken_nothing_is_written():
    file = write("a.py")
    before = file.stat()
    result = invoke("a.py", answers="d\n")
    assert result.exit_code == 0 and "rewrote" not in result.stderr
    assert file.stat().st_mtime_ns == before.st_mtime_ns and file.read_text() == PROGRAM


@pytest.mark.parametrize("answers", ["y\nq\n", "y\n"], ids=["quit", "end of input"])
def test_quitting_writes_what_was_taken_and_looks_no_further(answers):
    first, second, third = write("a.py"), write("b.py"), write("c.py")
    result = invoke(".", answers="a\n" + answers)
    assert result.exit_code == 0
    assert first.read_bytes() == migrated(PROGRAM).after
    assert second.read_bytes() == migrated(PROGRAM, frozenset({1, 3, 5, 6})).after
    assert third.read_text() == PROGRAM
    assert "c.py" not in result.stderr
    assert result.stderr.splitlines()[-3:-1] == ["rewrote a.py", "rewrote b.py"]


def test_a_file_is_written_before_the_next_is_asked_about(monkeypatch):
    first, second = write("a.py"), write("b.py")

    def ask(proposal: interactive.Proposal) -> str:
        if proposal.after.path.name == "b.py":
            raise KeyboardInterrupt
        return "a"

    monkeypatch.setattr(interactive, "_ask", ask)
    assert invoke(".").exit_code == 130
    assert first.read_bytes() == migrated(PROGRAM).after
    assert second.read_text() == PROGRAM


def test_one_bad_file_stops_nothing():
    write("a.py", "pure_callback(\n")
    good = write("b.py")
    write("c.py").chmod(0o444)
    result = invoke(".", answers="a\na\n")
    assert result.exit_code == 2
    assert "error: a.py:1: cannot be parsed" in result.stderr
    assert "error: c.py: cannot be written: it is read-only" in result.stderr
    assert good.read_bytes() == migrated(PROGRAM).after


def test_a_file_that_changes_while_it_is_asked_about_is_left_alone(monkeypatch):
    file = write("a.py")

    def ask(proposal: interactive.Proposal) -> str:
        file.write_text("edited\n")
        return "a"

    monkeypatch.setattr(interactive, "_ask", ask)
    result = invoke("a.py")
    assert result.exit_code == 2 and "changed in the meantime" in result.stderr
    assert file.read_text() == "edited\n"


def test_a_patch_has_what_was_taken():
    write("a.py")
    invoke("a.py", "--patch", "a.patch", answers="n\ny\nd\n")
    assert re.findall(r"^-(?!-).*$", Path("a.patch").read_text(), re.MULTILINE) == [
        "-" + PROGRAM.splitlines()[13]
    ]


def test_the_report_for_tools_has_standard_output_to_itself():
    write("a.py")
    result = invoke("a.py", "--format", "json", answers="y\nd\n")
    document = json.loads(result.stdout)
    assert (document["summary"]["rewritten"], document["summary"]["skipped"]) == (2, 4)


# ------------------------------------------------------------------------------- what is shown


def test_a_change_is_shown_with_its_reason_and_way_out():
    write("a.py")
    text = invoke("a.py", answers="n\nn\nn\nq\n").stderr
    assert text.startswith(
        "(1/5) a.py:10:12: `_shared` is rewritten\n"
        "(1/5) a.py:15:12: `_shared` is rewritten\n"
        "@@ -1,18 +1,21 @@\n+import bufcb\n import jax\n"
    )
    reason = "BC101 `f` is a parameter, so any function may arrive."
    assert f"{PROMPT} (3/5) a.py:19:12: `f` is adapted\n    {reason}" in text


@pytest.mark.parametrize("answer", ["?", "", "yes", "x", "Y Y"])
def test_what_is_no_answer_is_explained_and_asked_again(answer):
    file = write("a.py")
    result = invoke("a.py", answers=f"{answer}\n Y \nd\n")
    assert result.stderr.count(PROMPT) == 3
    assert f"{PROMPT} y - take this change\nn - leave this as it is\nq - quit" in result.stderr
    assert file.read_bytes() == migrated(PROGRAM, frozenset({1, 3, 5, 6})).after


@pytest.mark.parametrize(
    "data",
    [
        PROGRAM.replace("\n", "\r\n").encode(),
        f"# coding: latin-1\n# caf\xe9\n{PROGRAM}".encode("latin-1"),
        b"\xef\xbb\xbf# caf\xc3\xa9\n" + PROGRAM.encode().rstrip(),
        PROGRAM.replace("import jax", "# caf\xe9 \x1b[31m\x07\nimport jax").encode(),
    ],
    ids=["CRLF", "latin-1", "byte order mark and last newline", "control characters"],
)
def test_lines_are_shown_as_text_and_written_as_bytes(data):
    file = write("a.py", data)
    result = invoke("a.py", answers="a\n")
    assert result.exit_code == 0
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", result.stderr)
    assert "\ufffd" not in result.stderr
    if b"coding" in data or b"\x1b" in data:
        assert "# caf\xe9" in result.stderr
    write("b.py", data)
    assert CliRunner().invoke(cli.migrate, ["--write", "b.py"]).exit_code == 0
    assert file.read_bytes() == Path("b.py").read_bytes() != data


# ------------------------------------------------------------------------------- what it goes with


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.py", "--check"], "--interactive and --check exclude each other"),
        (["a.py", "--no-write"], "excludes --no-write"),
        (["-"], "--interactive reads answers, not code, from standard input"),
    ],
)
def test_what_excludes_it(arguments, message):
    write("a.py")
    result = invoke(*arguments)
    assert result.exit_code == 2 and message in result.stderr


def test_it_outweighs_the_settings():
    file = write("a.py")
    write("pyproject.toml", "[tool.bufcb]\ncheck = true\n")
    assert invoke("a.py", answers="a\n").exit_code == 0
    assert file.read_bytes() == migrated(PROGRAM).after
    write("pyproject.toml", "[tool.bufcb]\ninteractive = true\n")
    assert "interactive: no such option" in invoke("a.py").stderr


@pytest.mark.parametrize("closed", [False, True])
def test_without_a_terminal_there_is_a_clear_error(folder, closed):
    write("a.py")
    done = subprocess.run(
        [sys.executable, "-m", "codemods", "a.py", "--interactive"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment(),
        preexec_fn=(lambda: os.close(0)) if closed else None,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: --interactive needs a terminal")


# ------------------------------------------------------------------------------- on a terminal


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1]), "TERM": "xterm", "NO_COLOR": ""}


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        import fcntl
        import pty
        import termios

        def lead() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._terminal, other = pty.openpty()
        command = [sys.executable, "-m", "codemods", *arguments]
        self._process = subprocess.Popen(
            command,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(),
            start_new_session=True,
            preexec_fn=lead,  # noqa: PLW1509 - no other thread holds a lock
        )
        os.close(other)
        self._output = b""

    def wait_for(self, text: str) -> None:
        limit = time.monotonic() + 30
        while text.encode() not in self._output and time.monotonic() < limit and self._read():
            pass
        assert text.encode() in self._output, self._output

    def _read(self) -> bool:
        if not select.select([self._terminal], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # Linux's way to say that the other side is gone
            return False
        self._output += data
        return bool(data)

    def type(self, text: str) -> None:
        """Types `text` at the prompt that is there, and forgets what was shown before."""
        self.wait_for(PROMPT)
        self._output = b""
        os.write(self._terminal, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit status, and what was shown since the last answer."""
        limit = time.monotonic() + 30
        while time.monotonic() < limit and self._read():
            pass
        status = self._process.wait(timeout=30)
        os.close(self._terminal)
        return status, self._output.decode()


on_terminals = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")


@on_terminals
def test_a_session_on_a_terminal():
    file = write("a.py")
    terminal = Terminal("a.py", "--interactive")
    terminal.wait_for("\x1b[1m(1/5) a.py:10:12: `_shared` is rewritten\x1b[0m\r\n")
    terminal.wait_for("\x1b[32m+import bufcb\x1b[0m\r\n")
    terminal.type("n\n")
    terminal.wait_for("(2/5) a.py:14:9: `<lambda>` is rewritten")
    terminal.type("y\n")
    terminal.wait_for("BC101")
    terminal.type("q\n")
    status, shown = terminal.end()
    assert status == 0 and "rewrote a.py\r\n" in shown
    assert file.read_bytes() == migrated(PROGRAM, frozenset({0, 2, 3, 5, 6})).after


@on_terminals
def test_an_interrupt_leaves_the_file_whole_and_those_before_written():
    first, second = write("a.py"), write("b.py")
    terminal = Terminal(".", "--interactive")
    terminal.type("a\n")
    terminal.wait_for("b.py:10:12")
    terminal.type("y\n")
    terminal.type("\x03")
    assert terminal.end()[0] == 130
    assert first.read_bytes() == migrated(PROGRAM).after
    assert second.read_text() == PROGRAM
    assert sorted(os.listdir()) == ["a.py", "b.py"]


@on_terminals
def test_the_end_of_input_on_a_terminal_quits():
    file = write("a.py")
    terminal = Terminal("a.py", "--interactive")
    terminal.type("y\n")
    terminal.type("\x04")
    status, shown = terminal.end()
    assert status == 0 and "rewrote a.py" in shown
    assert file.read_bytes() == migrated(PROGRAM, frozenset({1, 3, 5, 6})).after


# ------------------------------------------------------------------------------- notebooks


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"


def test_a_notebook_is_asked_about_cell_by_cell():
    header, first, second, *_ = re.split(r"\n\n\n(?=def one|def two)", PROGRAM)
    file = write("a.ipynb", notebook(header, first, second.split("\n\n\n")[0]))
    result = invoke("a.ipynb", answers="n\ny\n")
    assert "(1/2) a.ipynb:cell 2:2:12: `_shared` is rewritten\n" in result.stderr
    assert "(2/2) a.ipynb:cell 3:2:9: `<lambda>` is rewritten\n" in result.stderr
    assert result.exit_code == 0, result.stderr
    sources = ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]
    assert sources[0] == "import bufcb\n" + header and sources[1] == first
    assert "def _sort(ctx, out, a):" in sources[2] and "jax.pure_callback(_shared," in sources[2]
