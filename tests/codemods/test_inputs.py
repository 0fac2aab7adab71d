"""What a run looks at: lists of paths, standard input, and shares of the files."""

import itertools
import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli
from codemods.inputs import Shard, read_list

BEFORE = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str | bytes = BEFORE) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def invoke(*arguments: str, code: str | bytes = "", command=cli.migrate) -> Result:
    return CliRunner().invoke(command, arguments, input=code)


def files(result: Result) -> list[str]:
    assert result.exit_code in (0, 1), result.output
    return [file["path"] for file in json.loads(result.stdout)["files"]]


def migrated(path: str = "migrated.py", *options: str) -> str:
    """What `--write` makes of `BEFORE` as a file."""
    file = write(path)
    assert invoke("--write", path, *options).exit_code == 0
    text = file.read_text()
    file.unlink()
    return text


# ------------------------------------------------------------------------------- --files-from


@pytest.mark.parametrize("end", ["\n", "\0", "\r\n"], ids=["newline", "null", "CRLF"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open end"])
@pytest.mark.parametrize("source", ["-", "list.txt"])
def test_paths_come_from_a_list(end, last, source):
    for name in ("a.py", "b/c d.py", "b/e.py"):
        write(name)
    text = f"b/c d.py{end}a.py" + end * last
    write("list.txt", text)
    result = invoke("--files-from", source, "--format", "json", code=text)
    assert files(result) == ["a.py", "b/c d.py"]


def test_a_list_adds_to_the_paths():
    for name in ("a.py", "b.py", "c/d.py", "e.py"):
        write(name)
    assert files(invoke("b.py", "--files-from", "-", "--format", "json", code="a.py\nb.py\nc\n")) == [
        "a.py",
        "b.py",
        "c/d.py",
    ]


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
@pytest.mark.parametrize("command", [cli.migrate, cli.lint])
def test_an_empty_list_is_nothing_to_do(text, command):
    write("a.py")
    result = invoke("--files-from", "-", code=text, command=command)
    assert (result.exit_code, result.stdout if command is cli.migrate else "") == (0, "")
    assert "(no files scanned)" in result.stderr


def test_a_listed_file_that_is_not_there_is_an_error_of_its_own():
    write("a.py")
    result = invoke("--files-from", "-", "--write", code="gone.py\na.py\n")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: gone.py: does not exist\nrewrote a.py\n")


def test_a_list_that_cannot_be_read_ends_the_run():
    result = invoke("--files-from", "gone.txt")
    assert result.exit_code == 2
    assert result.stderr == "Error: gone.txt cannot be read: No such file or directory\n"


@pytest.mark.parametrize(
    "name", ["caf\xe9.py", 'quo"te.py', "tab\there.py", "back\\slash.py", "new\nline.py"]
)
@pytest.mark.parametrize("options", [["-z"], []], ids=["null", "quoted"])
def test_what_git_lists_is_found(name, options):
    write(name)
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "."], check=True)
    listed = subprocess.run(["git", "ls-files", *options], check=True, capture_output=True).stdout
    assert files(invoke("--files-from", "-", "--format", "json", code=listed)) == [name]


def test_a_file_whose_name_is_in_quotes_is_that_file():
    write('"a.py"')
    assert read_list(b'"a.py"\n"b.py"\n"') == [Path('"a.py"'), Path("b.py"), Path('"')]


def test_settings_are_those_of_the_listed_files():
    write("pkg/a.py")
    write("pkg/pyproject.toml", "[tool.bufcb]\ntarget = 'jax'\n")
    assert "jax.experimental" in invoke("--files-from", "-", code="pkg/a.py\n").stdout


# ------------------------------------------------------------------------------- standard input


def test_the_diff_of_standard_input_is_printed():
    result = invoke("-", code=BEFORE)
    assert result.exit_code == 0
    assert result.stdout.startswith("--- a/<stdin>\n+++ b/<stdin>\n@@ -1,10 +1,13 @@\n+import bufcb\n")
    assert result.stderr.startswith("1 file would change, 1 call site: 1 rewritten")


def test_written_standard_input_goes_to_standard_output():
    result = invoke("-", "--write", code=BEFORE)
    assert (result.exit_code, result.stdout) == (0, migrated())
    assert result.stderr == ("rewrote <stdin>\n1 file changed, 1 call site: 1 rewritten (1 file scanned).\n")
    assert os.listdir() == []


@pytest.mark.parametrize(
    "code",
    [b"", b"print()", b"# \xff pure_callback\r\n", BEFORE.replace("\n", "\r\n").encode()],
    ids=["empty", "no candidate", "undecodable", "CRLF"],
)
def test_written_standard_input_is_never_lost(code):
    result = invoke("-", "--write", code=code)
    assert result.exit_code == (2 if b"\xff" in code else 0)
    expected = migrated().replace("\n", "\r\n").encode() if b"_f" in code else code
    assert result.stdout_bytes == expected


def test_check_of_standard_input_tells_by_its_status():
    assert invoke("-", "--check", code=BEFORE).exit_code == 1
    assert invoke("-", "--check", code=migrated()).exit_code == 0


def test_standard_input_has_the_name_that_is_given():
    result = invoke("-", "--stdin-filename", "pkg/mod.py", "--format", "json", code=BEFORE)
    assert files(result) == ["pkg/mod.py"]
    assert invoke("-", "--stdin-filename", "pkg/mod.py", code=BEFORE).stdout.startswith("--- a/pkg/mod.py\n")
    bad = invoke("--stdin-filename", "pkg/mod.py", "-", code="pure_callback(\n")
    assert (bad.exit_code, bad.stderr.split(" ")[1]) == (2, "pkg/mod.py:1:")


def test_settings_and_project_are_those_of_the_given_name():
    write("pkg/pyproject.toml", "[tool.bufcb]\ntarget = 'jax'\n")
    write("pkg/other.py", "from mod import _f\n")
    result = invoke("-", "--stdin-filename", "pkg/mod.py", code=BEFORE)
    assert "from jax.experimental" in result.stdout
    assert "def _f_into(ctx, out, x):" in result.stdout
    assert "def _f_into" not in invoke("-", "--stdin-filename", "elsewhere/mod.py", code=BEFORE).stdout


def test_standard_input_stands_for_the_file_as_it_will_be():
    """An editor's buffer: what the file holds does not count, and is not touched."""
    file = write("mod.py", "old = pure_callback\n")
    result = invoke("-", "--write", "--stdin-filename", "mod.py", code=BEFORE)
    assert result.stdout == migrated()
    assert file.read_text() == "old = pure_callback\n"


def test_the_report_on_written_standard_input_goes_to_standard_error():
    result = invoke("-", "--write", "--format", "json", code=BEFORE)
    assert result.stdout == migrated()
    assert json.loads(result.stderr)["summary"]["rewritten"] == 1


def test_lint_takes_standard_input():
    code = "import bufcb\n\ny = bufcb.buffer_callback(lambda ctx, out, x: x, S)(x)\n"
    result = invoke("-", "--stdin-filename", "a.py", code=code, command=cli.lint)
    assert result.exit_code == 1
    assert result.stdout.startswith("a.py:3:47: BCL001 `<lambda>` returns a value")
    fixed = invoke("-", "--fix", code=code, command=cli.lint)
    assert (fixed.exit_code, fixed.stderr) == (
        0,
        "fixed <stdin>\n1 file fixed, no findings left (1 file scanned).\n",
    )
    assert "def _callback(ctx, out, x):\n    bufcb.store(out, x)\n    return\n" in fixed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "a.py"], "- is the only PATH"),
        (["-", "--shard", "1/2"], "- is the only PATH"),
        (["-", "--files-from", "list"], "- is the only PATH"),
        (["a.py", "--stdin-filename", "b.py"], "--stdin-filename needs - as the only PATH"),
        (["--stdin-filename", "b.py"], "Missing argument 'PATH...'"),
        (["-", "--stdin-filename", "/"], "File '/' is a directory."),
    ],
)
def test_what_does_not_go_with_standard_input(arguments, message):
    result = invoke(*arguments, code=BEFORE)
    assert result.exit_code == 2 and message in result.stderr


@pytest.mark.parametrize("command", [cli.migrate, cli.lint])
def test_standard_input_without_end_is_not_read_to_the_end(command, monkeypatch):
    monkeypatch.setattr("codemods.inputs.LARGEST_NOTEBOOK", 1_000_000)
    result = invoke("-", code=b"#" * 1_000_000, command=command)
    assert result.exit_code == 0
    result = invoke("-", code=b"#" * 1_000_001, command=command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "standard input cannot be read: it is larger than 1 MB" in result.stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no file without an end")
def test_a_list_without_end_is_not_read_to_the_end(monkeypatch):
    monkeypatch.setattr("codemods.inputs._LARGEST_LIST", 1_000_000)
    result = invoke("--files-from", "/dev/zero")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "/dev/zero cannot be read: it is larger than 1 MB" in result.stderr
    assert "standard input cannot be read" in invoke("--files-from", "-", code=b"a.py\n" * 300_000).stderr


def test_settings_that_are_too_large_name_the_limit():
    write("pyproject.toml", b"#" * 10_000_001)
    result = invoke("a.py")
    assert result.exit_code == 2
    assert "pyproject.toml: cannot be read: it is larger than 10 MB" in result.stderr


def test_a_file_may_be_called_dash():
    write("-")
    assert files(invoke("./-", "--format", "json")) == ["-"]


# ------------------------------------------------------------------------------- --shard


def names(count: int) -> list[str]:
    return [f"pkg{index % 7}/module_{index}.py" for index in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 8, 61])
def test_every_file_is_in_one_shard(folder, count):
    shards = [Shard(index, count).of(str(folder)) for index in range(1, count + 1)]
    held = Counter(sum(holds(str(folder / name)) for holds in shards) for name in names(300))
    assert held == {1: 300}


@pytest.mark.parametrize("count", [2, 4, 10])
def test_shards_are_about_as_large(folder, count):
    shards = [Shard(index, count).of(str(folder)) for index in range(1, count + 1)]
    sizes = [sum(map(holds, names(1000))) for holds in shards]
    assert max(sizes) < 1.3 * 1000 / count and min(sizes) > 0.7 * 1000 / count


def test_the_runs_of_all_shards_are_the_whole_run():
    for name in names(20):
        write(name)
    whole = files(invoke(".", "--format", "json"))
    shares = [files(invoke(".", "--format", "json", "--shard", f"{k}/3")) for k in (1, 2, 3)]
    assert sorted(itertools.chain(*shares)) == sorted(whole) and len(whole) == 20
    assert all(shares)


def test_a_shard_stays_when_files_come_and_the_way_to_them_changes(monkeypatch):
    """Neither other files, nor the order or spelling of paths, nor where the project lies, move a file."""

    def share(*paths: str) -> set[str]:
        found = files(invoke(*paths, "--format", "json", "--shard", "1/3"))
        return {
            os.path.relpath(path, next(p for p in Path(path).absolute().parents if p.name == "project"))
            for path in found
        }

    write("here/project/pyproject.toml", "")
    write("there/project/pyproject.toml", "")
    for name in names(20):
        write(f"here/project/{name}")
        write(f"there/project/{name}")
    expected = share("here/project")
    assert 0 < len(expected) < 20
    write("here/project/new.py")
    assert share("here/project") - {"new.py"} == expected
    assert share("there/project") == expected
    assert share(*sorted((f"there/project/{name}" for name in names(20)), reverse=True)) == expected
    assert share(os.path.abspath("there/project")) == expected
    monkeypatch.chdir("there/project")
    assert share(".") == expected
    monkeypatch.chdir("pkg0")
    assert share(".") == {name for name in expected if name.startswith("pkg0")}


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "a/b", "1/2/3", "-1/3", "1 / 3", "", "1/1e3"])
def test_what_is_no_share_is_a_usage_error(text):
    result = invoke(".", "--shard", text)
    assert result.exit_code == 2
    assert "Invalid value for '--shard'" in result.stderr


# ------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("key", ["files-from = '-'", "stdin-filename = 'a'", "shard = '1/2'", "patch = 'p'"])
def test_what_is_about_one_run_is_no_setting(key):
    write("a.py")
    write("pyproject.toml", f"[tool.bufcb]\n{key}\n")
    result = invoke("a.py")
    assert result.exit_code == 2 and "no such option" in result.stderr


def test_settings_may_start_with_a_byte_order_mark():
    write("a.py")
    write("pyproject.toml", b"\xef\xbb\xbf[tool.bufcb]\ntarget = 'jax'\n")
    assert "jax.experimental" in invoke("a.py").stdout


def test_a_notebook_may_come_by_standard_input():
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": BEFORE.splitlines(True)}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)
    result = invoke("-", "--write", "--stdin-filename", "a.ipynb", code=text)
    assert result.exit_code == 0, result.stderr
    assert "".join(json.loads(result.stdout)["cells"][0]["source"]) == migrated()
