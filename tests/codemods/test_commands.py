"""The migration as a codemod of LibCST, by LibCST's own runner."""

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import libcst
import pytest
from click.testing import CliRunner
from libcst.codemod import CodemodContext

import codemods
from codemods import cli
from codemods.commands import PureToBuffer
from codemods.model import Options

PROGRAM = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def call(f, x):
    return jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
SHARED = PROGRAM.replace("_f", "_shared")
PUBLIC = PROGRAM.replace("_f", "solve").replace("np.sin(x)", "SOLVER.run(x)")
FILES = {
    "plain.py": PROGRAM.encode(),
    "pkg/crlf.py": PROGRAM.replace("\n", "\r\n").encode(),
    "pkg/bom.py": b"\xef\xbb\xbf" + PROGRAM.encode(),
    "pkg/latin.py": f"# coding: latin-1\n{PROGRAM}# caf\xe9\n".encode("latin-1"),
    "pkg/no_newline.py": PROGRAM.rstrip().encode(),
    "pkg/shared.py": SHARED.encode(),
    "pkg/public.py": PUBLIC.encode(),
    "pkg/user.py": b"from pkg.shared import _shared\n",
    "pkg/other.py": b"\xef\xbb\xbfx = 1\r\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fill()
    Path("pyproject.toml").touch()
    return tmp_path


def fill() -> None:
    for name, data in FILES.items():
        file = Path(name)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)


def contents() -> dict[str, bytes]:
    return {name: Path(name).read_bytes() for name in FILES}


def tool(*arguments: str, **keywords) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "libcst.tool", "codemod", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **keywords)


def migrated(*options: str) -> dict[str, bytes]:
    """What `bufcb-migrate` makes of the files, which are then as they were."""
    assert CliRunner().invoke(cli.migrate, [".", "--write", *options]).exit_code == 0
    found = contents()
    fill()
    return found


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_runner_does_what_the_command_does(folder, jobs):
    expected = migrated()
    done = tool("-x", "codemods.PureToBuffer", "--no-format", "-j", jobs, ".")
    assert done.returncode == 0, done.stderr
    assert contents() == expected
    assert b"def _shared_into(ctx, out, x):" in expected["pkg/shared.py"]
    assert " - Failed to codemod 0 files.\n" in done.stderr


def test_a_configuration_names_the_module(folder):
    Path(".libcst.codemod.yaml").write_text(
        "modules: ['codemods']\nformatter: []\nblacklist_patterns: ['.*/crlf.py']\nrepo_root: '.'\n"
    )
    expected = migrated()
    done = tool("commands.PureToBuffer", "--no-format", "--hide-progress", ".")
    assert done.returncode == 0, done.stderr
    assert contents() == {**expected, "pkg/crlf.py": FILES["pkg/crlf.py"]}


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "jax"],
        ["--arrays", "jax"],
        ["--arrays=numpy", "--views", "--public", "--fuse"],
        ["--default-vmap-method", "sequential"],
    ],
    ids=" ".join,
)
def test_options_are_those_of_the_command(folder, options):
    expected = migrated(*options)
    assert expected != migrated()
    assert tool("-x", "codemods.PureToBuffer", "--no-format", *options, ".").returncode == 0
    assert contents() == expected


def test_an_option_may_be_repeated(folder):
    text = PROGRAM.replace("jax.pure", "self._jax.pure")
    context = CodemodContext(filename="new.py")
    command = PureToBuffer(context, assume_jax=["backend", "self._jax"], views=None)
    assert "bufcb.buffer_callback" in command.transform_module(libcst.parse_module(text)).code
    assert "bufcb" not in PureToBuffer(context).transform_module(libcst.parse_module(text)).code


def test_settings_count_and_arguments_outweigh_them(folder):
    Path("pyproject.toml").write_text("[tool.bufcb]\ntarget = 'jax'\nviews = true\nwrite = true\n")
    expected, other = migrated(), migrated("--target", "bufcb", "--no-views")
    assert tool("-x", "codemods.PureToBuffer", "--no-format", ".").returncode == 0
    assert contents() == expected
    fill()
    options = ["--target", "bufcb", "--no-views"]
    assert tool("-x", "codemods.PureToBuffer", "--no-format", *options, ".").returncode == 0
    assert contents() == other


def test_remarks_are_warnings(folder):
    done = tool("-x", "codemods.PureToBuffer", "--no-format", "plain.py")
    assert re.search(r"WARNING: \S*plain\.py:14:12: BC101 `f` is a parameter", done.stderr)
    assert " - 1 warnings were generated." in done.stderr


def test_one_bad_file_stops_nothing(folder):
    expected = migrated()["plain.py"]
    Path("bad.py").write_text("# pure_callback\ndef f(:\n")
    Path("deep.py").write_text("import jax\nx = jax.pure_callback" + "(" * 300 + "\n")
    done = tool("-x", "codemods.PureToBuffer", "--no-format", ".")
    assert done.returncode == 1
    assert " - Failed to codemod 2 files." in done.stderr
    assert Path("plain.py").read_bytes() == expected


def test_wrong_settings_fail_every_file_and_change_none(folder):
    Path("pyproject.toml").write_text("[tool.bufcb]\ntarget = 'torch'\n")
    done = tool("-x", "codemods.PureToBuffer", "--no-format", ".")
    assert done.returncode == 1 and "expected one of bufcb, jax, found 'torch'" in done.stderr
    assert contents() == FILES


def test_standard_input_is_migrated(folder):
    done = tool("-x", "codemods.PureToBuffer", "--no-format", "-", input=PROGRAM)
    assert done.returncode == 0
    assert done.stdout == migrated()["plain.py"].decode() + "\n"


def test_a_diff_is_printed_and_nothing_written(folder):
    done = tool("-x", "codemods.PureToBuffer", "--no-format", "-u", "3", "plain.py")
    assert "+    return bufcb.buffer_callback(" in done.stdout
    assert contents() == FILES


def test_a_second_run_changes_nothing(folder):
    for _ in range(2):
        assert tool("-x", "codemods.PureToBuffer", "--no-format", ".").returncode == 0
        first = contents()
    assert tool("-x", "codemods.PureToBuffer", "--no-format", ".").returncode == 0
    assert contents() == first


def test_help_describes_every_option():
    text = tool("-x", "codemods.PureToBuffer", "--help").stdout
    for field in dataclasses.fields(Options):
        (option,) = (each for each in cli.migrate.params if each.name == field.name)
        assert option.opts[0] in text
    assert "Migrate jax.pure_callback to bufcb.buffer_callback." in text


def test_libcst_lists_the_codemod(tmp_path):
    (tmp_path / ".libcst.codemod.yaml").write_text("modules: ['codemods']\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    command = [sys.executable, "-m", "libcst.tool", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert "commands.PureToBuffer - Migrate jax.pure_callback to bufcb.buffer_callback." in done.stdout


def test_the_package_has_no_other_attribute():
    assert codemods.PureToBuffer is PureToBuffer
    with pytest.raises(AttributeError, match="module 'codemods' has no attribute 'Nothing'"):
        codemods.Nothing  # noqa: B018
