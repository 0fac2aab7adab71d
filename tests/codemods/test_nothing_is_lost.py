"""Killed runs, full disks, files that others change: each file is old or new, never half."""

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli, writing
from codemods.source import SourceError

BEFORE = """\
import jax
import numpy as np


def _f(x):
    return np.sin(x)


def run(x):
    return jax.pure_callback(_f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
# Large enough that a file which is not written at once is seen half-written.
LARGE = BEFORE + "# filler\n" * 8_000
OLD, NEW = b"old\n" * 200_000, b"new\n" * 300_000

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and links are POSIX's")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*command: str, **keywords) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        **keywords,
    )


def migrate(*arguments: str, **keywords) -> subprocess.Popen[bytes]:
    return start("-m", "codemods", *arguments, **keywords)


def migrated(text: str) -> bytes:
    Path("expected.py").write_text(text)
    assert CliRunner().invoke(cli.migrate, ["--write", "expected.py"]).exit_code == 0
    data = Path("expected.py").read_bytes()
    Path("expected.py").unlink()
    return data


def temporaries() -> list[str]:
    return [name for name in os.listdir() if name.startswith(".bufcb-")]


# ------------------------------------------------------------------------------- a run that is killed


REPLACE_FOR_EVER = """
    import pathlib
    from codemods import writing
    path, old, new = pathlib.Path("a.py"), b"old\\n" * 200_000, b"new\\n" * 300_000
    print(flush=True)
    while True:
        writing.replace(path, old, new)
        writing.replace(path, new, old)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_process_that_is_killed_while_it_writes_leaves_the_file_whole(ending):
    """At a random moment, a dozen times: nearly all of the time the process is writing."""
    moments = random.Random(0)
    file = Path("a.py")
    for _ in range(12):
        file.write_bytes(OLD)
        program = textwrap.dedent(REPLACE_FOR_EVER)
        with start("-c", program, preexec_fn=heed_signals) as process:
            process.stdout.readline()
            time.sleep(moments.uniform(0, 0.03))
            process.send_signal(ending)
            process.communicate(timeout=30)
        assert process.returncode != 0
        assert file.read_bytes() in (OLD, NEW)
        if ending is signal.SIGKILL:  # nobody could clean up
            assert len(temporaries()) <= 1
            for name in temporaries():
                os.unlink(name)
        assert os.listdir() == ["a.py"]


def heed_signals() -> None:
    for ending in (signal.SIGINT, signal.SIGHUP):  # a shell's background jobs ignore them
        signal.signal(ending, signal.SIG_DFL)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_killed_has_migrated_some_files_whole(ending):
    new, count = migrated(LARGE), 60
    for index in range(count):
        Path(f"{index:03}.py").write_text(LARGE if index < 6 else BEFORE)
    small = migrated(BEFORE)
    with migrate(".", "--write", "--jobs", "1", preexec_fn=heed_signals) as process:
        deadline = time.monotonic() + 60
        while Path("000.py").stat().st_size == len(LARGE) and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(ending)
        process.communicate(timeout=30)
    status = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: -signal.SIGTERM, signal.SIGINT: 130}
    assert process.returncode in (status[ending], 0)
    whole = {LARGE.encode(), BEFORE.encode(), new, small}
    assert all(Path(f"{index:03}.py").read_bytes() in whole for index in range(count))
    assert Path("000.py").read_bytes() == new
    assert len(temporaries()) <= (ending is signal.SIGKILL)
    # What it leaves behind is in nobody's way: the next run finishes the job.
    assert CliRunner().invoke(cli.migrate, [".", "--write"]).exit_code == 0
    assert {Path(f"{index:03}.py").read_bytes() for index in range(count)} == {new, small}


def test_a_signal_waits_for_the_file_and_then_does_what_it_does(monkeypatch):
    """The handlers that were in force are asked, once the new file is in its place."""
    file, heard = Path("a.py"), []
    file.write_bytes(OLD)
    real = os.replace

    def replace(source: str, target: str) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert heard == []
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    handlers = {
        number: signal.signal(number, lambda number, frame: heard.append((number, file.read_bytes())))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        writing.replace(file, OLD, NEW)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert heard == [(signal.SIGTERM, NEW), (signal.SIGINT, NEW)]


def test_writing_from_another_thread_needs_no_signals():
    import threading

    file = Path("a.py")
    file.write_bytes(OLD)
    thread = threading.Thread(target=writing.replace, args=(file, OLD, NEW))
    thread.start()
    thread.join()
    assert file.read_bytes() == NEW


# ------------------------------------------------------------------------------- no room


def test_a_file_larger_than_allowed_is_left_and_the_others_are_written():
    Path("large.py").write_text(LARGE)
    Path("small.py").write_text(BEFORE)
    new = migrated(BEFORE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    with migrate(".", "--write", preexec_fn=limit) as process:
        _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert error.startswith(b"error: large.py: cannot be written: File too large\n")
    assert Path("large.py").read_text() == LARGE
    assert Path("small.py").read_bytes() == new
    assert sorted(os.listdir()) == ["large.py", "small.py"]


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be made without root's rights")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_keeps_what_is_on_it(folder):
    with small_disk(folder, 200_000) as disk:
        (disk / "large.py").write_text(LARGE)
        (disk / "other.py").write_text(LARGE)
        with migrate(str(disk), "--write") as process:
            _, error = process.communicate(timeout=60)
        assert process.returncode == 2
        assert error.count(b"cannot be written: No space left on device\n") == 2
        assert {path.name: path.read_text() for path in disk.iterdir()} == {
            "large.py": LARGE,
            "other.py": LARGE,
        }


def test_a_patch_without_room_leaves_the_old_one():
    Path("a.py").write_text(BEFORE)
    old = "diff --git a/old.py b/old.py\n"
    Path("all.patch").write_text(old)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    with migrate("a.py", "--patch", "all.patch", preexec_fn=limit) as process:
        output, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert output.startswith(b"--- a/a.py")
    assert error.startswith(b"error: all.patch: cannot be written: File too large\n")
    assert Path("all.patch").read_text() == old
    assert sorted(os.listdir()) == ["a.py", "all.patch"]


# ------------------------------------------------------------------------------- no permission


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of a user without rights, who this process is for the moment."""
    place = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    if is_root:
        place.chmod(0o755)
        os.chown(place, 65534, 65534)
        os.seteuid(65534)
    try:
        yield place
    finally:
        if is_root:
            os.seteuid(0)
        place.chmod(0o755)
        shutil.rmtree(place)


def test_a_file_in_a_read_only_folder_is_left_alone(nobody):
    file = nobody / "a.py"
    file.write_bytes(OLD)
    nobody.chmod(0o555)
    with pytest.raises(SourceError, match="cannot be written: Permission denied"):
        writing.replace(file, OLD, NEW)
    assert file.read_bytes() == OLD and os.listdir(nobody) == ["a.py"]


def test_a_file_of_somebody_else_is_left_alone(nobody):
    if os.geteuid() == os.getuid():
        pytest.skip("only root can make a file that is somebody else's")
    file = nobody / "a.py"
    file.write_bytes(OLD)
    file.chmod(0o644)
    os.seteuid(0)
    os.chown(file, 0, 0)
    os.chown(nobody, 0, 0)
    os.seteuid(65534)
    with pytest.raises(SourceError, match="cannot be written: "):
        writing.replace(file, OLD, NEW)
    assert file.read_bytes() == OLD and os.listdir(nobody) == ["a.py"]


# ------------------------------------------------------------------------------- other hands


def test_two_runs_at_once_leave_every_file_whole():
    new = migrated(LARGE)
    for index in range(4):
        Path(f"{index}.py").write_text(LARGE)
    runs = [migrate(".", "--write") for _ in range(2)]
    for process in runs:
        _, error = process.communicate(timeout=120)
        # One that comes second finds the file changed, or has read the new one and has nothing to do.
        assert process.returncode in (0, 2), error
        lines = [line for line in error.splitlines() if line.startswith(b"error")]
        assert all(line.endswith(b"it was changed in the meantime") for line in lines)
    assert {Path(f"{index}.py").read_bytes() for index in range(4)} == {new}
    assert temporaries() == []


@pytest.mark.parametrize("change", ["edited", "removed", "a folder now", "a link now", "longer"])
def test_a_file_that_others_change_keeps_their_change(change):
    file = Path("a.py")
    file.write_bytes(OLD)
    if change in ("edited", "longer"):
        file.write_bytes(OLD + b"# more\n" if change == "longer" else b"edited\n")
    else:
        file.unlink()
        if change == "a folder now":
            file.mkdir()
        elif change == "a link now":
            Path("other.py").write_bytes(b"other\n")
            file.symlink_to("other.py")
    before = sorted(os.listdir())
    with pytest.raises(SourceError, match=r"a\.py: cannot be written: "):
        writing.replace(file, OLD, NEW)
    assert sorted(os.listdir()) == before
    if file.is_file():
        assert file.read_bytes() in (b"edited\n", OLD + b"# more\n", b"other\n")


# ------------------------------------------------------------------------------- links


def test_each_hard_link_of_a_file_is_migrated_for_itself():
    new = migrated(BEFORE)
    Path("a.py").write_text(BEFORE)
    os.link("a.py", "b.py")
    os.link("a.py", "kept.txt")
    assert CliRunner().invoke(cli.migrate, ["--write", "."]).exit_code == 0
    assert Path("a.py").read_bytes() == Path("b.py").read_bytes() == new
    assert Path("kept.txt").read_text() == BEFORE


def test_a_file_and_a_link_to_it_are_one_file():
    new = migrated(BEFORE)
    Path("z.py").write_text(BEFORE)
    Path("a.py").symlink_to("z.py")
    result = CliRunner().invoke(cli.migrate, ["--write", "a.py", "z.py", "."])
    assert result.exit_code == 0 and "1 file changed" in result.stderr
    assert Path("z.py").read_bytes() == new and Path("a.py").is_symlink()


@pytest.mark.parametrize("named", [".", "loop", "loop/loop", "first.py"])
def test_loops_of_links_end(named):
    new = migrated(BEFORE)
    Path("pkg").mkdir()
    Path("pkg/a.py").write_text(BEFORE)
    Path("loop").symlink_to(".")
    Path("pkg/up").symlink_to("..")
    Path("first.py").symlink_to("second.py")
    Path("second.py").symlink_to("first.py")
    result = CliRunner().invoke(cli.migrate, ["--write", named])
    assert result.exit_code == (2 if named == "first.py" else 0), result.output
    assert Path("pkg/a.py").read_bytes() == (BEFORE.encode() if named == "first.py" else new)
