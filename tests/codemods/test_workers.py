"""Files analysed by several processes: the same results, and no process that dies takes others with it."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli, running
from codemods.analysis import Analysis
from codemods.discovery import Candidate
from codemods.model import Options

GOOD = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
# What Python runs at its start in every process of a test: files may ask for trouble in a comment.
HOOKS = """\
import os, signal, sys, time

is_worker = "--multiprocessing-fork" in sys.argv
if is_worker:
    open(os.path.join(os.environ["STARTED"], str(os.getpid())), "w").close()
if is_worker and os.environ.get("CRIPPLED"):
    os._exit(1)

from codemods import engine

migrate = engine.migrate


def hooked(source, *others):
    if "# killed" in source.text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "# exits" in source.text:
        os._exit(3)
    if "# no memory" in source.text:
        raise MemoryError
    if "# sleeps" in source.text:
        open(os.path.join(os.environ["STARTED"], f"{os.getpid()} sleeps"), "w").close()
        time.sleep(60)
    return migrate(source, *others)


engine.migrate = hooked
"""
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended differently there")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(HOOKS)
    (tmp_path / "started").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    monkeypatch.chdir(project)
    return tmp_path


def write(**comments: str) -> None:
    for name, comment in comments.items():
        Path(f"{name}.py").write_text(f"# {comment}\n{GOOD}")


def environment(folder: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(folder / "hooks"), str(Path(cli.__file__).parents[1])])
    return {**os.environ, "PYTHONPATH": path, "STARTED": str(folder / "started"), **more}


def heed() -> None:
    """Undoes that a shell's background jobs, and what they start, ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(folder: Path, *arguments: str, **more: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "codemods", ".", *arguments],
        env=environment(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed if os.name == "posix" else None,  # noqa: PLW1509 - no other thread holds a lock
    )


def migrated(folder: Path, *arguments: str, **more: str) -> tuple[dict[str, dict], str]:
    """The report on each file, and what is said on standard error."""
    process = start(folder, "--format", "json", *arguments, **more)
    output, said = process.communicate(timeout=60)
    return {file["path"]: file for file in json.loads(output)["files"]}, said


def is_migrated(file: dict) -> bool:
    return file["changed"] and file["error"] is None


def started(folder: Path) -> list[int]:
    return [int(name) for name in os.listdir(folder / "started") if name.isdigit()]


def wait_for(condition, limit: float = 30):
    end = time.monotonic() + limit
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


# ---------------------------------------------------------------------------------------- results


@pytest.mark.parametrize(
    "given",
    [
        # All of it, but for the way from each call to what differentiates it, which the demo has as well.
        ["testdata", "--format", "json", "--gradients", "never"],
        ["testdata/demo"],
    ],
)
def test_the_number_of_processes_changes_nothing(given):
    with contextlib.chdir(Path(__file__).parents[2]):
        one, three = (CliRunner().invoke(cli.migrate, [*given, "--jobs", jobs]) for jobs in "13")
    assert one.exit_code == three.exit_code == 0
    assert one.stdout == three.stdout
    assert one.stderr == three.stderr


def test_no_more_processes_than_files(folder):
    write(a="", b="")
    files, _ = migrated(folder, "--jobs", "50")
    assert all(map(is_migrated, files.values())) and len(files) == 2
    assert len(started(folder)) == 2


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_small_run_starts_no_process(folder, jobs):
    write(**{f"m{number}": "" for number in range(20)})
    files, _ = migrated(folder, "--jobs", jobs)
    assert all(map(is_migrated, files.values())) and len(files) == 20
    assert not started(folder)


@pytest.mark.parametrize(
    ("kilobytes", "processors", "expected"), [(10, 8, 0), (1000, 8, 2), (9000, 8, 8), (9000, 1, 1)]
)
def test_how_many_processes_pay_off(monkeypatch, kilobytes, processors, expected):
    monkeypatch.setattr(running, "_processors", lambda: processors)
    candidates = [Candidate(Path(f"{number}.py"), bytes(1000)) for number in range(kilobytes)]
    assert running._processes(candidates) == expected


def test_the_settings_say_how_many(folder):
    write(a="", b="")
    Path("pyproject.toml").write_text("[tool.bufcb]\njobs = 2\n")
    migrated(folder)
    assert len(started(folder)) == 2


@pytest.mark.parametrize("value", ['"2"', "-1", "true", "1.5"])
def test_settings_that_are_no_number(folder, value):
    Path("pyproject.toml").write_text(f"[tool.bufcb]\njobs = {value}\n")
    result = CliRunner().invoke(cli.migrate, ["."])
    assert result.exit_code == 2
    assert "[tool.bufcb] jobs: expected a number, 0 or more" in result.stderr


@pytest.mark.parametrize("text", [GOOD, "import jax\njax.pure_callback(\n"], ids=["migrated", "an error"])
@pytest.mark.parametrize("collects", [True, False])
def test_the_garbage_collector_is_left_as_it_was(folder, collects, text):
    was_enabled = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        Analysis([Path()], Options())(Candidate(Path("a.py"), text.encode()))
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was_enabled else gc.disable)()


# ---------------------------------------------------------------------------------------- processes that die


@posix_only
def test_a_process_that_dies_is_the_error_of_its_file(folder):
    write(a="", b="killed", c="exits", d="", e="no memory", f="killed", g="")
    files, said = migrated(folder, "--jobs", "2")
    errors = {path: file["error"] for path, file in files.items() if file["error"]}
    killed = "the process that analysed it was ended by SIGKILL; perhaps there was not enough memory"
    assert errors == {
        "b.py": f"b.py: {killed}",
        "c.py": "c.py: the process that analysed it ended with status 3",
        "e.py": "e.py: there is not enough memory to analyse it",
        "f.py": f"f.py: {killed}",
    }
    assert all(is_migrated(files[name]) for name in ("a.py", "d.py", "g.py"))
    assert not said


def test_processes_that_cannot_work_are_done_without(folder):
    write(a="", b="", c="")
    files, _ = migrated(folder, "--jobs", "2", CRIPPLED="1")
    assert all(map(is_migrated, files.values())) and len(files) == 3
    assert len(started(folder)) == 2


def test_no_process_can_be_started(folder, monkeypatch):
    def refuse(process):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refuse)
    write(a="", b="")
    result = CliRunner().invoke(cli.migrate, [".", "--jobs", "2"])
    assert result.exit_code == 0 and "2 files would change" in result.stderr


# ---------------------------------------------------------------------------------------- ends


def slept(folder: Path) -> bool:
    return any(name.endswith("sleeps") for name in os.listdir(folder / "started"))


@posix_only
@pytest.mark.parametrize("when", [started, slept], ids=["at the start", "at work"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_all_at_once(folder, jobs, when):
    if jobs == "1" and when is started:
        when = slept
    write(a="sleeps", b="sleeps", c="")
    process = start(folder, "--write", "--jobs", jobs)
    wait_for(lambda: when(folder))
    os.killpg(process.pid, signal.SIGINT)
    output, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (output, said) == ("", "")
    assert not any(map(is_alive, started(folder)))
    assert Path("c.py").read_text().endswith(GOOD)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs a list of processes")
def test_no_process_outlives_one_that_is_killed(folder):
    write(a="sleeps", b="sleeps")
    process = start(folder, "--jobs", "2")
    wait_for(lambda: slept(folder))
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not any(map(is_alive, started(folder))))
