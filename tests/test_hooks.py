"""The hooks for pre-commit: what it reads in `.pre-commit-hooks.yaml`, and what its commands do."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from libcst.tool import yaml  # which LibCST needs in any case

ROOT = Path(__file__).parents[1]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
RETURNS = "import bufcb\ny = bufcb.buffer_callback(lambda ctx, out, x: x, s)(x)\n"
BEFORE = "import jax\ny = jax.pure_callback(f, s, x)\n"


def commit(hook: str, *files: str) -> int:
    """Runs a hook as pre-commit does: one process, with the changed files behind the entry."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    name, *arguments = shlex.split(HOOKS[hook]["entry"])
    module, function = scripts[name].split(":")
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {module} import {function}; {function}()"
    return subprocess.run([sys.executable, "-c", program, *arguments, *files], check=False).returncode


def test_the_hooks_are_those_of_the_commands():
    assert HOOKS.keys() == {"bufcb-migrate", "bufcb-lint"}
    for hook in HOOKS.values():
        assert (hook["language"], hook["require_serial"]) == ("python", True)
        assert hook["name"] == hook["id"] and hook["description"]
        assert hook["types_or"] == ["python", "jupyter"]
        assert f"- id: {hook['id']}\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("hook", HOOKS)
def test_clean_files_pass(hook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("x = 1\n")
    assert commit(hook, "a.py") == 0
    assert Path("a.py").read_text() == "x = 1\n"


def test_one_hook_migrates_and_the_other_fails(tmp_path, monkeypatch):
    """A file that changes fails the commit, too: pre-commit sees to that."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        Path(name).write_text(BEFORE)
    assert commit("bufcb-migrate", "a.py") == 0
    assert "bufcb" in Path("a.py").read_text() and Path("b.py").read_text() == BEFORE
    assert commit("bufcb-lint", "a.py", "b.py") == 0
    Path("b.py").write_text(RETURNS)
    assert commit("bufcb-lint", "a.py", "b.py") == 1
    assert Path("b.py").read_text() == RETURNS


def test_a_file_that_cannot_be_read_as_python_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("pure_callback(\n")
    assert commit("bufcb-migrate", "a.py") == 2
