"""Files that are made, or came about, to break the tools: each is one error at most, and its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli, nesting, writing
from codemods.discovery import read_file
from codemods.model import LARGEST
from codemods.project import Project
from codemods.rewrite import call
from codemods.source import SourceError, SourceFile

GOOD = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
TEMPLATE = """\
import jax
import numpy as np


def _f(x):
    y = {body}
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), {argument})
"""
CHAINS = {
    "and": lambda n: " and ".join(["x"] * n),
    "add": lambda n: " + ".join(["x"] * n),
    "compare": lambda n: " < ".join(["x"] * n),
    "string": lambda n: "(" + "\n ".join(['"a"'] * n) + ")",
    "fstring": lambda n: "(" + "\n ".join(['f"{x}"'] * n) + ")",
    "not": lambda n: "not " * n + "x",
    "minus": lambda n: "-" * n + "x",
    "subscript": lambda n: "x" + "[0]" * n,
    "method": lambda n: "x" + ".a()" * (n // 2),
    "lambda": lambda n: "lambda: " * n + "x",
}
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(GOOD)
    return tmp_path


def migrated(*arguments: str) -> dict[str, dict]:
    """The report on each file, by its name, in this process."""
    result = CliRunner().invoke(cli.migrate, [*(arguments or (".",)), "--format", "json"])
    return {Path(file["path"]).name: file for file in json.loads(result.stdout)["files"]}


def run_apart(*arguments: str, limit: float = 60) -> subprocess.CompletedProcess:
    """The command in a process of its own, which may crash or hang."""
    return subprocess.run(
        [sys.executable, "-m", "codemods", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=limit,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])},
    )


def status(file: dict) -> list[tuple[str, str | None]]:
    return [(site["status"], site["code"]) for site in file["sites"]]


def is_migrated(file: dict) -> bool:
    return file["changed"] and file["error"] is None


# ---------------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize(
    "codec",
    ["bz2", "zlib", "hex", "rot13", "base64", "uu", "quopri", "undefined", "idna", "punycode", "utf-7"],
)
def test_a_codec_that_is_not_for_source_is_an_error_on_line_1(codec):
    data = f"# coding: {codec}\npure_callback = '\N{LATIN SMALL LETTER E WITH ACUTE}+AGE-.'\n".encode()
    with pytest.raises(SourceError) as caught:
        SourceFile.from_bytes(Path("bad.py"), data)
    assert caught.value.line in (1, 2)


@pytest.mark.parametrize("codec", ["bz2", "rot13", "undefined"])
def test_an_odd_codec_does_not_stop_the_other_files(codec):
    Path("bad.py").write_text(f"# coding: {codec}\n_f = pure_callback\n")
    files = migrated()
    assert files["bad.py"]["error"].startswith("bad.py:1: ")
    assert is_migrated(files["good.py"])


# ---------------------------------------------------------------------------------------- bystanders


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("n.ipynb", '{"_f pure_callback":' + "[" * 100_000, id="nested notebook"),
        pytest.param(
            "n.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["_f \\ud800"]}]}',
            id="surrogate in a notebook",
        ),
        pytest.param("other.py", "# coding: rot13\n_f = 1\n", id="codec"),
        pytest.param("other.py", "_f = " + "(" * 10_000, id="brackets"),
        pytest.param("other.py", "_f" + ".a" * 100_000, id="attributes"),
        pytest.param("other.py", "_f\n" + "-" * 100_000 + "x", id="signs"),
        pytest.param("other.pyi", "_f: int\n\0", id="null byte"),
    ],
)
def test_a_bystander_that_cannot_be_read_stops_nobody(name, text):
    Path("pyproject.toml").touch()
    Path(name).write_text(text)
    assert is_migrated(migrated()["good.py"])


def test_a_bystander_that_cannot_be_read_may_use_every_word_in_it():
    Path("pyproject.toml").touch()
    Path("other.py").write_text("# coding: rot13\n_f = 1\n")
    result = CliRunner().invoke(cli.migrate, ["good.py"])
    assert "def _f_into(ctx, out, x):" in result.stdout


def test_an_unreadable_file_takes_whatever_a_module_has():
    Path("pyproject.toml").touch()
    Path("other.py").write_text("# coding: rot13\nfrom good import *\n")
    assert Project.of([Path("good.py")]).reexported("anything", Path("good.py"))
    assert not Project.of([Path("good.py")]).reexported("anything", Path("bad.py"))


# ---------------------------------------------------------------------------------------- size


def test_a_file_without_end_is_one_error(folder):
    with open("large.py", "wb") as file:
        file.write(b"pure_callback\n")
        file.truncate(50 * LARGEST)  # takes no room on most disks
    files = migrated()
    assert files["large.py"]["error"] == "large.py: is too large to be analysed; the limit is 4 MB"
    assert is_migrated(files["good.py"])


def test_a_file_of_the_largest_size_is_analysed():
    Path("good.py").write_text(GOOD + "#" * (LARGEST - len(GOOD)))
    assert is_migrated(migrated()["good.py"])


PARAMETERS = ", ".join(f"p{number}" for number in range(3000))
LARGE = {
    "arguments": f"""\
import jax
import numpy as np


def _f({PARAMETERS}):
    return np.sin(p0)


def run({PARAMETERS}):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(p0.shape, p0.dtype), {PARAMETERS})
""",
    "classes": "import jax\nimport numpy as np\n"
    + "".join(
        f"""

class C{number}:
    def _f(self, x):
        return np.sin(x)

    def run(self, x):
        return jax.pure_callback(self._f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
        for number in range(1000)
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_migrated_in_time(name):
    """Each would take many minutes if time grew faster than the file."""
    Path("good.py").write_text(LARGE[name])
    done = run_apart("good.py", "--format", "json", limit=150)
    (file,) = json.loads(done.stdout)["files"]
    assert is_migrated(file) and {site["status"] for site in file["sites"]} == {"rewritten"}


# ---------------------------------------------------------------------------------------- depth


def test_a_chain_without_end_stops_nobody():
    for name, chain in CHAINS.items():
        text = chain(12_000)
        Path(f"body_{name}.py").write_text(TEMPLATE.format(body=text, argument="x"))
        Path(f"argument_{name}.py").write_text(TEMPLATE.format(body="x", argument=text))
    done = run_apart(".", "--format", "json")
    assert done.returncode == 2, done.stderr
    files = {file["path"]: file for file in json.loads(done.stdout)["files"]}
    assert is_migrated(files.pop("good.py")) and len(files) == 2 * len(CHAINS)
    assert not any("internal" in (file["error"] or "") for file in files.values())
    refused = {path for path, file in files.items() if status(file) == [("refused", "BC209")]}
    assert {"argument_and.py", "argument_string.py", "argument_fstring.py"} <= refused
    assert (files["argument_add.py"]["error"] or "").startswith("argument_add.py:")


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_some_hundred_is_migrated(name):
    Path("good.py").write_text(TEMPLATE.format(body=CHAINS[name](400), argument="x"))
    file = migrated()["good.py"]
    assert is_migrated(file) and file["sites"]


def test_the_line_of_the_nesting_is_told():
    Path("good.py").write_text(TEMPLATE.format(body=CHAINS["and"](2000), argument="x"))
    (site,) = migrated()["good.py"]["sites"]
    assert (site["status"], site["code"]) == ("refused", "BC209")
    assert "Line 6," in site["message"]


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("limit", [20, 35])
def test_depth_is_that_of_the_chain(monkeypatch, name, limit):
    monkeypatch.setattr(nesting, "LIMIT", limit)
    source = SourceFile.from_bytes(Path("a.py"), f"x = 1\ny = {CHAINS[name](30)}\n".encode())
    assert nesting.too_deep(source, source.tree.body[0]) is None
    assert (nesting.too_deep(source, source.tree.body[1]) is not None) == (limit == 20)


def test_strings_in_different_places_are_no_chain(monkeypatch):
    monkeypatch.setattr(nesting, "LIMIT", 20)
    text = "x = [" + "'a', f'{b}', " * 100 + "]\n"
    source = SourceFile.from_bytes(Path("a.py"), text.encode())
    assert nesting.too_deep(source, source.tree.body[0]) is None


def test_without_a_large_stack_there_is_still_the_small_one(monkeypatch):
    def no_thread(self):
        raise RuntimeError("can't start new thread")

    frames = sys.getrecursionlimit()
    monkeypatch.setattr("threading.Thread.start", no_thread)
    assert is_migrated(migrated()["good.py"])
    assert sys.getrecursionlimit() == frames


# ---------------------------------------------------------------------------------------- names


def test_a_keyword_is_read_as_python_reads_it():
    text = 'jax.pure_callback(f, s, x, \N{MATHEMATICAL BOLD SMALL V}map_method="sequential")'
    new = call.rewritten(text, "bufcb.buffer_callback", None, frozenset({"vmap_method"}), is_partial=False)
    assert new == ('bufcb.buffer_callback(f, s, \N{MATHEMATICAL BOLD SMALL V}map_method="sequential")(x)')


# ---------------------------------------------------------------------------------------- special files


@needs_pipes
@pytest.mark.parametrize("name", ["pyproject.toml", ".gitignore", ".git/info/exclude"])
def test_nobody_waits_for_a_pipe(name):
    Path(".git/info").mkdir(parents=True)
    os.mkfifo(name)
    done = run_apart(".")
    assert done.returncode == 0, done.stderr
    assert "bufcb.buffer_callback" in done.stdout


@needs_pipes
def test_a_pipe_in_the_place_of_a_file_is_not_written(folder):
    os.mkfifo("pipe.py")
    with pytest.raises(SourceError, match="changed in the meantime"):
        writing.replace(Path("pipe.py"), b"", b"new")
    assert sorted(os.listdir(folder)) == ["good.py", "pipe.py"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no such device")
def test_a_device_is_not_read():
    Path("link").symlink_to("/dev/zero")
    assert read_file("link") is None
    assert read_file("good.py") == GOOD.encode()


@pytest.mark.parametrize(
    "value",
    ["[" * 5000 + "]" * 5000, "{a=" * 5000 + "1" + "}" * 5000, "1" * 5000],
    ids=["list", "table", "int"],
)
def test_settings_that_no_parser_takes_are_an_error(value):
    Path("pyproject.toml").write_text(f"[tool.bufcb]\nx={value}\n")
    result = CliRunner().invoke(cli.migrate, ["."])
    assert result.exit_code == 2
    assert "pyproject.toml: cannot be parsed: " in result.stderr


# ---------------------------------------------------------------------------------------- paths


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_a_name_that_is_no_text():
    os.rename(b"good.py", b"bad\xff.py")
    Path("pyproject.toml").touch()
    (file,) = migrated().values()
    assert is_migrated(file)


def test_a_folder_that_cannot_be_listed(monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert is_migrated(migrated("good.py")["good.py"])


def test_an_empty_path_is_not_the_current_folder():
    result = CliRunner().invoke(cli.migrate, ["--write", ""])
    assert result.exit_code == 2 and "does not exist" in result.stderr
    assert Path("good.py").read_text() == GOOD


@pytest.mark.skipif(sys.platform == "win32", reason="the current folder cannot be removed there")
def test_the_current_folder_is_gone(folder, monkeypatch):
    (folder / "gone").mkdir()
    monkeypatch.chdir("gone")
    (folder / "gone").rmdir()
    result = CliRunner().invoke(cli.migrate, ["."])
    assert result.exit_code == 2 and "current folder" in result.stderr
    assert is_migrated(migrated(str(folder / "good.py"))["good.py"])
    monkeypatch.chdir(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_name_cannot_command_the_terminal():
    Path("\x1b[31mred.py").write_text("import jax\njax.pure_callback(\n")
    result = CliRunner().invoke(cli.migrate, ["."])
    assert "\x1b" not in result.stderr and "\\x1b[31mred.py" in result.stderr


# ---------------------------------------------------------------------------------------- look-alikes


def test_names_are_read_as_python_reads_them():
    r"""To Python `\uff46` is `f`. The word itself stands in a comment, so that the file is looked at."""
    wide = str.maketrans("fpk", "\N{FULLWIDTH LATIN SMALL LETTER F}\N{FULLWIDTH LATIN SMALL LETTER P}k")
    text = GOOD.replace("_f(x)", "_f(x)".translate(wide)).replace(
        "pure_callback", "pure_callback".translate(wide)
    )
    Path("good.py").write_text("# pure_callback\n" + text)
    file = migrated()["good.py"]
    assert is_migrated(file) and status(file) == [("rewritten", None)]
    assert CliRunner().invoke(cli.migrate, ["good.py", "--write"]).exit_code == 0
    assert "bufcb.buffer_callback(_f, " in Path("good.py").read_text()


def test_a_file_is_looked_at_for_the_word_alone():
    """The scan is for the bytes of `pure_callback`: whoever spells it otherwise everywhere is left alone."""
    Path("good.py").write_text(GOOD.replace("pure", "\N{FULLWIDTH LATIN SMALL LETTER P}ure"))
    assert migrated() == {}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_the_line_of_a_null_byte_is_told(ending):
    Path("good.py").write_bytes(f"# pure_callback{ending}x = 1{ending}y = '\0'{ending}".encode())
    assert migrated()["good.py"]["error"] == "good.py:3: cannot be parsed: it contains a null byte"
