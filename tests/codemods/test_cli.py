"""The commands, around a migration that is replaced by a search and replace."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Collection
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import analysis, cli
from codemods.model import AuditOptions, Diagnostic, FileResult, Options, SiteResult, Status
from codemods.source import SourceError, SourceFile

BEFORE = "import jax\ny = jax.pure_callback(f, s, x)\n"
AFTER = "import jax\ny = bufcb.buffer_callback(f, s)(x)\n"


def fake_migrate(source: SourceFile, left: Collection[int] = ()) -> FileResult:
    """Finds `jax.pure_callback(`; the rest of its line decides what becomes of it."""
    sites = []
    after = source.text
    for number, line in enumerate(source.text.splitlines(), 1):
        column = line.find("jax.pure_callback(") + 1
        if not column:
            continue
        status, diagnostic = Status.REWRITTEN, None
        if "refuse" in line:
            status, diagnostic = Status.REFUSED, Diagnostic("BC201", "Its origin is unknown.", "Say so.")
        elif "skip" in line:
            status, diagnostic = Status.SKIPPED, Diagnostic("BC004", "A comment says so.")
        elif "syntax" in line:
            raise SourceError(source.path, number, "cannot be parsed: invalid syntax")
        elif "bug" in line:
            raise KeyError("no such scope")
        else:
            after = after.replace("jax.pure_callback(f, s, x)", "bufcb.buffer_callback(f, s)(x)")
        sites.append(SiteResult(number, column, number, "f", status, diagnostic))
    return FileResult(source.path, source.data, source.encode(after), tuple(sites))


@pytest.fixture(autouse=True)
def engine(monkeypatch, tmp_path):
    """Puts the fake in place, and returns what it is asked for: one pair of paths and options a run."""
    asked: list[tuple[tuple[Path, ...], Options]] = []

    def load(paths, options):
        asked.append((tuple(paths), options))
        return fake_migrate

    monkeypatch.setattr(analysis, "_engine", load)
    monkeypatch.chdir(tmp_path)
    return asked


def write(path: str, text: str | bytes = BEFORE) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(cli.migrate, arguments, prog_name="bufcb-migrate")


def lint(*arguments: str) -> Result:
    return CliRunner().invoke(cli.lint, arguments, prog_name="bufcb-lint")


# ------------------------------------------------------------------------------- bufcb-migrate


def test_by_default_a_diff_is_printed_and_nothing_is_written():
    file = write("pkg/a.py")
    result = migrate("pkg")
    assert result.exit_code == 0
    assert result.stdout == (
        "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,2 @@\n import jax\n"
        "-y = jax.pure_callback(f, s, x)\n+y = bufcb.buffer_callback(f, s)(x)\n"
    )
    assert result.stderr == (
        "1 file would change, 1 call site: 1 rewritten (1 file scanned). Run again with --write to apply.\n"
    )
    assert file.read_text() == BEFORE


def test_write_applies_and_a_second_run_has_nothing_to_do():
    file = write("a.py")
    result = migrate("--write", "a.py")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "rewrote a.py\n1 file changed, 1 call site: 1 rewritten (1 file scanned).\n"
    assert file.read_text() == AFTER
    again = migrate("--write", "a.py")
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr == "No call site of pure_callback found (1 file scanned).\n"


def test_check_writes_nothing_and_tells_by_its_status():
    file = write("a.py")
    assert migrate("--check", "a.py").exit_code == 1
    assert file.read_text() == BEFORE
    file.write_text(AFTER)
    assert migrate("--check", "a.py").exit_code == 0


def test_check_is_content_when_no_file_would_change():
    write("a.py", "jax.pure_callback(refuse)\njax.pure_callback(skip)\n")
    assert migrate("--check", "a.py").exit_code == 0


def test_write_and_check_exclude_each_other():
    result = migrate("--write", "--check", "a.py")
    assert result.exit_code == 2
    assert "--write and --check exclude each other" in result.stderr


def test_no_path_is_a_usage_error():
    result = migrate()
    assert result.exit_code == 2
    assert "Missing argument 'PATH...'" in result.stderr


def test_diagnostics_go_to_standard_error_with_place_and_source():
    write("a.py", "x = 1\n  # jax.pure_callback(refuse)\n")
    result = migrate("a.py")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(
        "a.py:2:5: BC201 Its origin is unknown. Say so.\n    # jax.pure_callback(refuse)\n"
    )


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("jax.pure_callback(syntax\n", r"error: bad\.py:1: cannot be parsed: invalid syntax\n"),
        (
            "jax.pure_callback(bug)\n",
            (
                r"error: bad\.py: internal error in bufcb-migrate: KeyError: 'no such scope' "
                r"\(test_cli\.py:\d+\); please report it\n"
            ),
        ),
        (b"# \xff pure_callback\n", r"error: bad\.py:1: cannot tell the file's encoding: .*\n"),
    ],
    ids=["syntax error", "our own bug", "encoding"],
)
@pytest.mark.parametrize("mode", ["--write", "--check", "--no-write"])
def test_one_bad_file_fails_the_run_but_stops_nothing(line, error, mode):
    write("bad.py", line)
    file = write("good.py")
    result = migrate(mode, ".")
    assert result.exit_code == 2
    assert re.match(error, result.stderr)
    assert "1 path could not be processed." in result.stderr
    assert Path("bad.py").read_bytes() == (line if isinstance(line, bytes) else line.encode())
    assert file.read_text() == (AFTER if mode == "--write" else BEFORE)
    assert ("+y = bufcb" in result.stdout) == (mode != "--write")


def test_a_missing_path_fails_the_run_but_stops_nothing():
    file = write("good.py")
    result = migrate("--write", "nope.py", "good.py", "also/nope")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: also/nope: does not exist\nerror: nope.py: does not exist\n")
    assert file.read_text() == AFTER


def test_a_file_that_cannot_be_written_fails_the_run_but_stops_nothing():
    write("a.py").chmod(0o444)
    file = write("b.py")
    result = migrate("--write", ".", "--format", "json")
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert [(f["path"], f["changed"], f["error"], len(f["sites"])) for f in document["files"]] == [
        ("a.py", False, "a.py: cannot be written: it is read-only", 0),
        ("b.py", True, None, 1),
    ]
    assert file.read_text() == AFTER


def test_json_is_all_that_is_printed():
    write("a.py")
    write("b.py", "jax.pure_callback(refuse)\n")
    write("c.py", "no call\n")
    result = migrate("--format", "json", "nope.py", ".")
    assert (result.exit_code, result.stderr) == (2, "")
    document = json.loads(result.stdout)
    assert document["version"] == 1
    assert [file["path"] for file in document["files"]] == ["a.py", "b.py", "nope.py"]
    assert document["summary"] == {
        "scanned": 3, "changed": 1, "failed": 1, "sites": 2,
        "rewritten": 1, "adapted": 0, "refused": 1, "skipped": 0,
    }  # fmt: skip


def test_files_come_in_order_whatever_the_order_of_the_arguments():
    for name in ("b.py", "a/b.py", "a/a.py", "c.py"):
        write(name)
    results = [
        migrate(*arguments) for arguments in ([".", "c.py"], ["c.py", "b.py", "a"], ["a", "b.py", "c.py"])
    ]
    assert re.findall(r"^--- a/(.*)$", results[0].stdout, re.MULTILINE) == [
        "a/a.py",
        "a/b.py",
        "b.py",
        "c.py",
    ]
    assert len({result.stdout for result in results}) == 1


def test_a_tree_without_candidates_loads_no_engine(engine):
    write("a.py", "print()\n")
    assert migrate(".").exit_code == 0
    assert engine == []


@pytest.mark.parametrize(
    "data",
    [
        b"a\r\njax.pure_callback(f, s, x)\r\n",
        b"# \xe9\njax.pure_callback(f, s, x)",
        b"\xef\xbb\xbfjax.pure_callback(f, s, x)\n",
    ],
    ids=["line endings", "encoding and last newline", "byte order mark"],
)
def test_bytes_outside_the_change_stay(data):
    data = b"# coding: latin-1\n" + data if b"\xe9" in data else data
    file = write("a.py", data)
    expected = data.replace(b"jax.pure_callback(f, s, x)", b"bufcb.buffer_callback(f, s)(x)")
    diff = migrate("a.py").stdout_bytes
    assert all(b" " + line in diff for line in data.splitlines() if b"jax" not in line)
    assert migrate("--write", "a.py").exit_code == 0
    assert file.read_bytes() == expected


def test_a_file_that_changes_during_the_run_is_left_alone(monkeypatch):
    file = write("a.py")

    def slow(source, left):
        file.write_text("edited\n")
        return fake_migrate(source)

    monkeypatch.setattr(analysis, "_engine", lambda paths, options: slow)
    result = migrate("--write", "a.py")
    assert result.exit_code == 2
    assert "a.py: cannot be written: it was changed in the meantime" in result.stderr
    assert file.read_text() == "edited\n"


# ------------------------------------------------------------------------------- options


def test_options_reach_the_engine(engine):
    write("a.py")
    arguments = "--target jax --arrays numpy --views --public --fuse --default-vmap-method sequential"
    arguments += " --assume-jax self._jax --assume-jax backend.jax"
    assert migrate("a.py", *arguments.split()).exit_code == 0
    assert engine == [
        (
            (Path("a.py"),),
            Options("jax", "numpy", True, True, True, "sequential", ("self._jax", "backend.jax")),
        )
    ]


def test_the_defaults_are_those_of_options(engine):
    write("a.py")
    assert migrate("a.py").exit_code == lint("a.py").exit_code == 0
    write("a.py", BEFORE + "# buffer_callback\n")
    assert lint("a.py").exit_code == 0
    assert engine == [((Path("a.py"),), Options()), ((Path("a.py"),), AuditOptions())]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "torch"], "'torch' is not one of 'bufcb', 'jax'"),
        (["--arrays", "cupy"], "'cupy' is not one of 'auto', 'numpy', 'jax'"),
        (["--format", "xml"], "'xml' is not one of 'text', 'json'"),
        (["--default-vmap-method", "magic"], "'magic' is not one of 'sequential'"),
        (["--assume-jax", "self.jax()"], "'self.jax()' is not a dotted name."),
        (["--assume-jax", ""], "'' is not a dotted name."),
        (["--wrtie"], "No such option"),
    ],
)
def test_a_wrong_option_is_a_usage_error(arguments, message):
    result = migrate("a.py", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(("command", "options"), [(migrate, Options), (lint, AuditOptions)])
def test_help_names_every_option_and_status(command, options):
    text = command("--help").stdout
    for field in dataclasses.fields(options):
        name = "from" if field.name == "apis" else field.name.replace("_", "-")
        assert f"--{name}" in text
    assert "Exit status: 0" in text
    assert command("-h").stdout == text


def test_version_is_the_distributions():
    assert re.fullmatch(r"bufcb-migrate \d+\.\d+\.\d+\S*\n", migrate("--version").stdout)


# ------------------------------------------------------------------------------- settings


def settings(text: str, path: str = "pyproject.toml") -> None:
    write(path, "[tool.bufcb]\n" + text)


def test_settings_are_the_defaults(engine):
    write("pkg/a.py")
    settings(
        'target = "jax"\narrays = "jax"\nviews = true\npublic = true\nfuse = true\n'
        'default-vmap-method = "expand_dims"\nassume-jax = ["self._jax", "jx"]\n'
        'format = "json"\ncheck = true\n'
    )
    result = migrate("pkg")
    assert json.loads(result.stdout)["summary"]["changed"] == result.exit_code == 1
    assert engine == [
        ((Path("pkg"),), Options("jax", "jax", True, True, True, "expand_dims", ("self._jax", "jx")))
    ]


def test_the_command_line_outweighs_the_settings(engine):
    file = write("a.py")
    settings('target = "jax"\nviews = true\nassume-jax = ["a"]\nwrite = true\n')
    assert migrate("a.py", "--target", "bufcb", "--no-views", "--assume-jax", "b", "--check").exit_code == 1
    assert engine == [((Path("a.py"),), Options(assume_jax=("b",)))]
    assert file.read_text() == BEFORE
    assert migrate("a.py", "--no-write").exit_code == 0
    assert file.read_text() == BEFORE
    assert migrate("a.py").exit_code == 0
    assert file.read_text() != BEFORE


def test_the_nearest_settings_count(engine):
    write("outer/inner/a.py")
    settings('target = "jax"', "outer/pyproject.toml")
    settings("views = true", "pyproject.toml")
    write("outer/inner/pyproject.toml", "[project]\nname = 'uses-bufcb'\n")
    migrate("outer/inner/a.py")
    migrate("outer/inner")
    migrate(".")
    assert [options for _, options in engine] == [Options("jax"), Options("jax"), Options(views=True)]


def test_the_settings_of_several_paths_are_those_of_the_folder_they_share(engine):
    write("one/a.py")
    write("two/b.py")
    settings('target = "jax"', "one/pyproject.toml")
    settings("views = true", "pyproject.toml")
    migrate("one", "two/b.py")
    assert [options for _, options in engine] == [Options(views=True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = true", "[tool.bufcb] colour: no such option; there are arrays, assume-jax, check, "),
        ("default_vmap_method = 'x'", "[tool.bufcb] default_vmap_method: no such option"),
        ("views = 'yes'", "[tool.bufcb] views: expected true or false, found 'yes'"),
        ("views = 1", "[tool.bufcb] views: expected true or false, found 1"),
        ("target = 'torch'", "[tool.bufcb] target: expected one of bufcb, jax, found 'torch'"),
        ("target = ['jax']", "[tool.bufcb] target: expected one of bufcb, jax, found ['jax']"),
        (
            "assume-jax = 'self._jax'",
            "[tool.bufcb] assume-jax: expected a list of strings, found 'self._jax'",
        ),
        ("assume-jax = [1]", "[tool.bufcb] assume-jax: expected a list of strings, found [1]"),
        ("[tool.bufcb.target]", "[tool.bufcb] target: expected one of bufcb, jax, found {}"),
        ("views = ", "cannot be parsed: Invalid value"),
    ],
)
@pytest.mark.parametrize("command", [migrate, lint])
def test_wrong_settings_end_the_run(command, text, message):
    write("a.py")
    settings(text)
    result = command("a.py")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.fullmatch(rf"Error: \S*pyproject\.toml: {re.escape(message)}.*\n", result.stderr)


def test_settings_with_a_value_that_the_option_rejects_end_the_run():
    write("a.py")
    settings("assume-jax = ['no name']")
    result = migrate("a.py")
    assert result.exit_code == 2
    assert "'no name' is not a dotted name" in result.stderr


def test_write_and_check_in_the_settings_exclude_each_other():
    write("a.py")
    settings("write = true\ncheck = true")
    assert migrate("a.py").exit_code == 2
    assert migrate("a.py", "--check").exit_code == 1


@pytest.mark.parametrize(
    "text", ["[tool.bufcb\n", "tool = 'bufcb'\n", "[tool]\nbufcb = 1\n", b"# bufcb \xff\n"]
)
def test_a_malformed_settings_file_ends_the_run_if_it_is_about_us(text):
    write("a.py")
    write("pyproject.toml", text)
    status = 0 if text == "tool = 'bufcb'\n" else 2
    assert migrate("a.py").exit_code == status
    write("pyproject.toml", "[broken\n")
    assert migrate("a.py").exit_code == 0


# ------------------------------------------------------------------------------- the process around it


def run(
    *arguments: str, engine: str = "lambda source, left: fake(source)", **keywords
) -> subprocess.Popen[bytes]:
    """Starts `bufcb-migrate` in a process of its own; `engine` is what `analysis._engine` returns."""
    program = f"""
        import importlib.util, sys, time
        from codemods import analysis, cli
        spec = importlib.util.spec_from_file_location("fakes", {__file__!r})
        fakes = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(fakes)
        fake = fakes.fake_migrate
        analysis._engine = lambda paths, options: {engine}
        cli.migrate(prog_name="bufcb-migrate")
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **keywords.pop("env", {}),
    }
    keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
    command = [sys.executable, "-c", textwrap.dedent(program), "--jobs", "1", *arguments]
    return subprocess.Popen(command, env=environment, **keywords)


@pytest.mark.parametrize("mode", ["--no-write", "--check"])
def test_a_reader_that_goes_away_is_no_failure(mode):
    for index in range(40):
        write(f"{index:02}.py", BEFORE + "# filler\n" * 4000 + BEFORE)
    with run(".", mode) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == (1 if mode == "--check" else 0)
    assert error.startswith(b"40 files would change")


def test_both_outputs_may_go_away():
    write("a.py")
    with run("a.py", "--check") as process:
        process.stdout.close()
        process.stderr.close()
    assert process.returncode == 1


def test_closed_outputs_are_no_failure():
    write("a.py")
    with run(
        "a.py", "--check", preexec_fn=lambda: (os.close(1), os.close(2)), stdout=None, stderr=None
    ) as process:
        pass
    assert process.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_disk_under_standard_output_is_a_failure():
    write("a.py")
    with open("/dev/full", "wb") as full, run("a.py", stdout=full) as process:
        error = process.stderr.read()
    assert process.returncode == 2
    assert error == b"Error: cannot write to standard output: No space left on device\n"


def test_an_interrupt_ends_quietly_and_writes_nothing():
    first, second = write("a.py"), write("b.py")
    sleeping = "(print(flush=True), time.sleep(60))"
    engine = f"lambda source, left: fake(source) if source.path.name == 'a.py' else {sleeping}"

    def heed() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it

    with run("--write", ".", engine=engine, preexec_fn=heed) as process:
        assert process.stdout.readline() == b"\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=30)
    assert (process.returncode, output, error) == (130, b"", b"")
    assert first.read_text() == second.read_text() == BEFORE


def test_a_path_that_is_no_utf8_comes_back_as_it_is():
    name = os.fsdecode(b"caf\xe9.py")
    try:
        write(name)
    except OSError:
        pytest.skip("the file system takes valid names only")
    with run(name, env={"PYTHONUTF8": "1"}) as process:
        output, _ = process.communicate()
    assert process.returncode == 0
    assert output.startswith(b"--- a/caf\xe9.py\n+++ b/caf\xe9.py\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb", "NO_COLOR": ""}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(environment, coloured):
    import pty

    write("a.py")
    master, slave = pty.openpty()
    with run("a.py", stdout=slave, env=environment) as process:
        process.wait(timeout=30)
    os.close(slave)
    output = os.read(master, 65536)
    os.close(master)
    assert b"a/a.py" in output
    assert (b"\x1b[32m+y = bufcb" in output) == coloured
