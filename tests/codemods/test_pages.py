"""The pages that `--explain` prints: one a code, each example with what the commands really make of it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from codemods import cli, pages
from codemods.diagnostics import CODES, LINT_CODES, PLAIN, title

ROOT = Path(__file__).parents[2]
HEADINGS = ["Why", "Example", "What to do"]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


page_examples = load(Path(__file__).with_name("page_examples.py"))
ALL, BLOCK, FOLDER, read = (getattr(page_examples, name) for name in ("ALL", "BLOCK", "FOLDER", "read"))


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(cli.migrate, arguments, prog_name="bufcb-migrate")


def explain(code: str, command: object = cli.migrate) -> Result:
    return CliRunner().invoke(command, ["--explain", code], prog_name="bufcb-migrate")


# ------------------------------------------------------------------------------- the pages


def test_there_is_one_page_a_code():
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(ALL)


@pytest.mark.parametrize("code", ALL)
def test_a_page_has_its_title_and_its_parts(code: str):
    page = read(code)
    assert page.startswith(f"# {code}: {title(code) or 'a plain rewrite'}\n\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == HEADINGS
    assert page.isascii() and page.endswith("\n") and not page.endswith("\n\n")
    prose = BLOCK.sub("", page)
    assert [line for line in prose.splitlines() if len(line) > 90] == []
    assert all(part.strip() for part in re.split(r"^#+ .*$", prose, flags=re.MULTILINE)[1:])
    assert set(re.findall(r"BCL?\d{3}", page)) <= set(ALL)


@pytest.mark.parametrize("code", ALL)
def test_an_example_gives_its_code(code: str):
    outcome = page_examples.run(code, read(code))
    expected = cli.EXIT_WORK_LEFT if code in LINT_CODES else 0
    assert outcome.result.exit_code == (cli.EXIT_FAILED if code == "BC205" else expected)
    said = re.findall(
        r"^example\.(?:py|ipynb:cell \d+):\d+:\d+: (BCL?\d{3}) ", outcome.result.output, re.MULTILINE
    )
    assert set(said) == ({code} if code != PLAIN else set())


@pytest.mark.parametrize("code", ALL)
def test_a_page_shows_what_is_said_and_what_becomes_of_its_example(code: str):
    """`python3 tests/codemods/page_examples.py` brings both up to date."""
    assert read(code) == page_examples.refreshed(code, read(code))


def test_a_page_that_shows_something_else_is_found():
    page = read("BC104")
    for wrong in (page.replace("x // 2` on", "x // 3` on"), page.replace("bufcb.adapt", "bufcb.adopt")):
        assert page_examples.refreshed("BC104", wrong) == page != wrong


@pytest.mark.parametrize("code", ALL)
def test_an_option_that_a_page_names_exists(code: str):
    options = {
        name for command in (cli.migrate, cli.lint) for parameter in command.params for name in parameter.opts
    }
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", read(code))) <= options


def test_the_wheel_has_every_page(tmp_path: Path):
    """What is installed is built from the distribution's settings."""
    pytest.importorskip("hatchling", reason="the `test` extra installs what builds the wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    process = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(tmp_path / process.stdout.split()[-1]) as wheel:
        names = set(wheel.namelist())
    assert {f"codemods/pages/{code}.md" for code in ALL} <= names


# ------------------------------------------------------------------------------- --explain


@pytest.mark.parametrize("command", [cli.migrate, cli.lint])
@pytest.mark.parametrize("code", ["BC104", "bc104", " Bc104 ", "BC000"])
def test_explain_prints_the_page_and_needs_no_path(command: object, code: str):
    result = explain(code, command)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == read(code.strip().upper())


def test_explain_reads_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "pyproject.toml").write_text("[tool.bufcb]\nno = such option\n")
    monkeypatch.chdir(tmp_path)
    assert explain("BC104").exit_code == 0


def test_explain_all_prints_every_page_in_order():
    result = explain("all")
    assert result.exit_code == 0
    assert re.findall(r"^# (BCL?\d{3}): ", result.stdout, re.MULTILINE) == ALL
    assert result.stdout == "\n".join(map(read, ALL))


@pytest.mark.parametrize("beginning", ["BC1", "bc2", "BC00"])
def test_explain_takes_the_beginning_of_codes_as_select_does(beginning: str):
    result = explain(beginning)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "\n".join(read(code) for code in ALL if code.startswith(beginning.upper()))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("BC140", "'BC140' is neither a code nor the beginning of one; did you mean BC"),
        ("104", "'104' is neither a code nor the beginning of one; did you mean BC104"),
        ("F401", "'F401' is neither a code nor the beginning of one."),
        ("", "'' is neither a code nor the beginning of one."),
        ("../../LICENSE", "'../../LICENSE' is neither a code nor the beginning of one."),
    ],
)
def test_an_unknown_code_is_a_usage_error_with_those_that_look_like_it(code: str, message: str):
    result = explain(code)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '--explain': {message}" in result.stderr


def test_explain_cannot_be_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "pyproject.toml").write_text('[tool.bufcb]\nexplain = "BC104"\n')
    (tmp_path / "a.py").touch()
    monkeypatch.chdir(tmp_path)
    result = migrate("a.py")
    assert result.exit_code == 2
    assert "[tool.bufcb] explain: no such option" in result.stderr


def test_headings_are_bold_and_comments_in_code_are_not():
    page = "# BC1: a title\n\nText # with a sign.\n\n## Part\n\n```python\n# a.py\nx = 1\n```\n\n## End\n"
    assert pages.coloured(page) == page.replace("# BC1: a title", "\x1b[1m# BC1: a title\x1b[0m").replace(
        "## Part", "\x1b[1m## Part\x1b[0m"
    ).replace("## End", "\x1b[1m## End\x1b[0m")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_headings_are_bold_on_a_terminal_alone(no_colour: str, coloured: bool):
    import os
    import pty

    master, slave = pty.openpty()
    program = "from codemods.cli import migrate; migrate(prog_name='bufcb-migrate')"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TERM": "xterm",
        "NO_COLOR": no_colour,
    }
    command = [sys.executable, "-c", textwrap.dedent(program), "--explain", "BC102"]
    subprocess.run(command, stdout=slave, env=environment, check=True, timeout=60)
    os.close(slave)
    output = os.read(master, 65536)
    os.close(master)
    assert output.startswith(b"\x1b[1m# BC102: " if coloured else b"# BC102: ")
    assert (b"\x1b[" in output) == coloured


def test_a_page_can_be_summed_up():
    page = read("BC102")
    assert pages.title(page) == CODES["BC102"]
    assert pages.summary(page).startswith("The callback is a function of NumPy")
    assert "\n" not in pages.summary(page)
