"""What the commands import, and how fast they start. Each check has a process of its own."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codemods import cli

DEMO = Path(__file__).parents[2] / "testdata" / "demo"
HEAVY = ("jax", "jaxlib", "numpy", "scipy", "bufcb")
PARSERS = ("libcst", "ast", "tokenize", "difflib", "json", "tomllib", "tempfile", "pathspec")


def modules_after(*arguments: str, command: str = "migrate", cwd: Path) -> tuple[int, set[str]]:
    """The exit status of a command, and what its process has imported by then, beyond click's needs."""
    program = (
        "import sys, click, click.core, click.formatting\n"
        "before = set(sys.modules)\n"
        f"from codemods.cli import {command} as command\n"
        "try:\n"
        "    command(sys.argv[1:])\n"
        "finally:\n"
        "    open('modules', 'w').write(' '.join(set(sys.modules) - before))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=cwd, check=False, capture_output=True
    )
    return process.returncode, set((cwd / "modules").read_text().split())


@pytest.mark.parametrize("command", ["migrate", "lint"])
@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_loads_no_parser(tmp_path, command, arguments):
    _, modules = modules_after(*arguments, command=command, cwd=tmp_path)
    assert modules.isdisjoint(HEAVY + PARSERS)


def test_the_version_needs_no_library_that_it_is_not_about(tmp_path):
    status, modules = modules_after("--version", cwd=tmp_path)
    assert status == 0
    assert modules.isdisjoint((*HEAVY, "libcst"))


def test_a_tree_without_candidates_loads_no_parser(tmp_path):
    (tmp_path / "a.py").write_text("print()\n")
    status, modules = modules_after(".", cwd=tmp_path)
    assert status == 0
    assert modules.isdisjoint(HEAVY + PARSERS)


@pytest.mark.parametrize("mode", ["--no-write", "--write", "--check"])
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_migration_never_imports_what_it_migrates(tmp_path, mode, form):
    """The demo imports JAX and NumPy; to read and rewrite it takes neither."""
    shutil.copytree(DEMO, tmp_path / "demo")
    status, modules = modules_after("demo", mode, "--format", form, cwd=tmp_path)
    assert status == (1 if mode == "--check" else 0)
    assert "codemods.engine" in modules
    assert modules.isdisjoint(HEAVY)


def test_proving_never_imports_what_it_proves(tmp_path):
    shutil.copytree(DEMO, tmp_path / "demo")
    status, modules = modules_after("demo", "--verify", "true", cwd=tmp_path)
    assert status == 2  # nothing is called
    assert "codemods.verification.comparison" in modules
    assert modules.isdisjoint(HEAVY)


def test_linting_never_imports_what_it_lints(tmp_path):
    shutil.copytree(DEMO, tmp_path / "demo")
    status, modules = modules_after("demo", "--write", cwd=tmp_path)
    status, modules = modules_after("demo", command="lint", cwd=tmp_path)
    assert status == 0
    assert "codemods.lint.engine" in modules
    assert modules.isdisjoint(HEAVY)


def test_the_console_script_starts_fast():
    """`bufcb-migrate --help` takes at most 2.5 times as long as `import click`: the best of runs in turn."""

    def seconds(*arguments: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    script = "import sys; from codemods.cli import migrate; sys.exit(migrate())"
    runs = [(seconds("-c", "import click"), seconds("-c", script, "--help")) for _ in range(9)]
    click, ours = map(min, zip(*runs, strict=True))
    assert ours <= 2.5 * click


def test_python_m_codemods_is_bufcb_migrate():
    command = [sys.executable, "-m", "codemods", "--help"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert text.startswith("Usage: bufcb-migrate ")
    assert cli.migrate.help is not None
    assert cli.migrate.help.split("\n", maxsplit=1)[0] in text
