"""The bundled demo, migrated, computes what it computed before."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "testdata" / "demo"


def run(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-W", "error", "main.py"]
    process = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def original() -> str:
    return run(DEMO)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ([], 0),
        (["--arrays", "jax"], 0),
        (["--arrays", "numpy", "--public"], 0),
        (["--target", "jax"], 2),  # JAX has nothing to adapt a callback with
    ],
)
def test_the_migrated_demo_prints_the_same(tmp_path, original, options, refused):
    folder = Path(shutil.copytree(DEMO, tmp_path / "demo", ignore=shutil.ignore_patterns("__pycache__")))
    result = CliRunner().invoke(cli.migrate, [str(folder), "--write", "--format", "json", *options])
    assert result.exit_code == 0, result.stdout
    summary = json.loads(result.stdout)["summary"]
    assert summary["sites"] == 9
    assert summary["refused"] == refused
    assert run(folder) == original
    again = CliRunner().invoke(cli.migrate, [str(folder), "--check", *options])
    assert (again.exit_code, again.stdout) == (0, "")


def test_by_default_most_of_the_demo_is_rewritten(tmp_path):
    document = json.loads(CliRunner().invoke(cli.migrate, [str(DEMO), "--format", "json"]).stdout)
    adapted = {
        (Path(file["path"]).name, site["callback"])
        for file in document["files"]
        for site in file["sites"]
        if site["status"] == "adapted"
    }
    assert adapted == {("hosting.py", "function"), ("modes.py", "np.linalg.inv")}
    assert document["summary"]["rewritten"] == 7
