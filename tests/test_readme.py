"""What README.md says is true."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


PYTHON = blocks("python")
RUNTIME = [block for block in PYTHON if "print(" in block]


def run(*command: str, cwd: Path = ROOT) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, env=environment)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_two_commands_install_and_run():
    """One installs and runs the main job, one installs and runs the tests, each on a line of its own."""
    commands = [line for block in blocks("bash") for line in block.splitlines()]
    assert len(commands) == 2
    installs, jobs = zip(*(command.split(" && ") for command in commands), strict=True)
    assert [shlex.split(install)[:4] for install in installs] == [["python3", "-m", "pip", "install"]] * 2
    verify = "--verify 'python3 testdata/demo/main.py'"
    assert jobs == (f"python3 -m codemods testdata/demo {verify}", "python3 -m pytest")


def test_the_main_job_migrates_the_demo_and_ends_with_the_proof(tmp_path):
    _, _, job = blocks("bash")[0].partition(" && ")
    _, *arguments = shlex.split(job)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "JAX_PLATFORMS": "cpu",
    }
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    command = [sys.executable, *arguments]
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("--- a/testdata/demo/")
    assert "+import bufcb" in process.stdout
    lines = process.stderr.splitlines()
    assert lines[-1].startswith("Verified: 9 callbacks give the same, bit for bit, in ")
    assert lines[-11].split()[:3] == ["callback", "calls", "difference"]


def test_before_becomes_after(tmp_path, monkeypatch):
    before, after = (block.split("\n", 1)[1] for block in PYTHON if block.startswith(("# before", "# after")))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "example.py"
    path.write_text(before)
    result = CliRunner().invoke(cli.migrate, ["example.py", "--write"])
    assert result.exit_code == 0, result.stderr
    assert path.read_text() == after


@pytest.mark.parametrize("example", RUNTIME, ids=["a callback", "a pytree"])
def test_the_examples_of_the_runtime_run(tmp_path, example):
    (tmp_path / "example.py").write_text(example)
    output = run(sys.executable, "-W", "error", "example.py", cwd=tmp_path)
    for expected in re.findall(r"print\(.*\)  # (.*)", example):
        assert expected in output.splitlines()
    assert output


def test_the_unit_tests_that_are_shown_pass(tmp_path):
    (example,) = (block for block in PYTHON if "def test_" in block)
    (tmp_path / "test_example.py").write_text(example)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "bufcb.pytest_plugin"]
    process = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert "4 passed" in process.stdout, process.stdout + process.stderr


def test_the_json_has_the_keys_that_are_shown(tmp_path, monkeypatch):
    def shape(value: object) -> object:
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items()}
        return [shape(item) for item in value[:1]] if isinstance(value, list) else None

    (shown,) = (json.loads(block) for block in blocks("json"))
    (before,) = (block for block in PYTHON if block.startswith("# before"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(before + "\n\nx = 1  # bufcb: skip\n")
    result = CliRunner().invoke(cli.migrate, ["model.py", "--format", "json"])
    assert shape(json.loads(result.stdout)) == shape(shown)


def test_every_option_that_is_mentioned_exists():
    options = {name for each in (*cli.migrate.params, *cli.lint.params) for name in each.opts}
    options.add("--no-format")  # of LibCST's own command
    options |= {"--examples", "--examples-seed", "--examples-from"}  # of the tests in tests/generated
    assert set(re.findall(r"(?<=[` ])--[a-z-]+", README)) <= options


@pytest.mark.parametrize("settings", blocks("toml"))
def test_the_settings_that_are_shown_are_accepted(settings, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "a.py").touch()
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli.migrate, ["a.py"]).exit_code == 0


def test_every_module_that_is_mentioned_exists():
    _, _, table = README.partition("| module | step |")
    for module in re.findall(r"`(\w+(?:\.py|/))`", table.split("\n\n")[0]):
        assert (ROOT / "codemods" / module).exists(), module


def test_every_code_is_listed():
    from codemods.diagnostics import CODES, LINT_CODES

    listed = dict(re.findall(r"^\| `(BCL?\d+)` \| (.+) \|$", README, re.MULTILINE))
    assert listed == {**CODES, **LINT_CODES}


def test_modules_that_maintainers_are_told_of_are_there():
    chapter = README[README.index("## For maintainers") :]
    rows = [line.split("|")[1] for line in chapter.splitlines() if line.startswith("| `")]
    steps = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(steps) == len(set(steps)) > 30
    assert [name for name in steps if not (ROOT / "codemods" / name).exists()] == []
    runtime = re.findall(
        r"`(\w+\*?\.py)`", chapter[chapter.index("runtime, `") : chapter.index("A new rule")]
    )
    assert len(runtime) == 10
    assert [name for name in runtime if not [*ROOT.glob(f"bufcb/{name}")]] == []
    packages = {path.parent.name for path in ROOT.glob("codemods/*/__init__.py")}
    assert packages <= {name.rstrip("/") for name in steps}
