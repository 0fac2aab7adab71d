import os
import stat
from pathlib import Path

import pytest

from codemods import writing
from codemods.source import SourceError

OLD, NEW = b"old\r\n", b"new\r\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    return path


def untouched(path: Path, content: bytes = OLD) -> bool:
    """Whether `path` holds `content` and no temporary file lies beside it."""
    return path.read_bytes() == content and os.listdir(path.parent) == [path.name]


def test_the_content_is_replaced_and_nothing_else_is_left(file):
    writing.replace(file, OLD, NEW)
    assert untouched(file, NEW)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o666])
def test_permissions_stay(file, mode):
    file.chmod(mode)
    writing.replace(file, OLD, NEW)
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_extended_attributes_stay(file):
    try:
        os.setxattr(file, "user.note", b"mine")
    except (AttributeError, OSError):
        pytest.skip("the file system has no extended attributes")
    writing.replace(file, OLD, NEW)
    assert os.getxattr(file, "user.note") == b"mine"


def test_a_link_stays_and_its_target_is_written(file, tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    first, second = folder / "first.py", folder / "second.py"
    first.symlink_to(file)
    second.symlink_to("first.py")
    writing.replace(second, OLD, NEW)
    assert second.is_symlink()
    assert first.is_symlink()
    assert file.read_bytes() == NEW
    assert sorted(os.listdir(folder)) == ["first.py", "second.py"]
    assert sorted(os.listdir(tmp_path)) == ["a.py", "links"]


def test_a_file_changed_in_the_meantime_is_left_alone(file):
    file.write_bytes(b"edited\n")
    with pytest.raises(SourceError, match=r"a\.py: cannot be written: it was changed in the meantime$"):
        writing.replace(file, OLD, NEW)
    assert untouched(file, b"edited\n")


@pytest.mark.parametrize("mode", [0o444, 0o555, 0o400])
def test_a_read_only_file_is_left_alone_even_by_root(file, mode):
    file.chmod(mode)
    with pytest.raises(SourceError, match=r"a\.py: cannot be written: it is read-only$"):
        writing.replace(file, OLD, NEW)
    assert untouched(file)


def test_a_file_that_went_away_is_an_error(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.py: cannot be written: No such file or directory$"):
        writing.replace(tmp_path / "gone.py", OLD, NEW)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_disk_leaves_the_file_whole(file, monkeypatch):
    """Writes to `/dev/full` in place of the temporary file."""
    import tempfile

    real = tempfile.mkstemp

    def mkstemp(**keywords):
        descriptor, path = real(**keywords)
        os.close(descriptor)
        return os.open("/dev/full", os.O_WRONLY), path

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    with pytest.raises(SourceError, match=r"a\.py: cannot be written: No space left on device$"):
        writing.replace(file, OLD, NEW)
    assert untouched(file)


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_at_any_step_leaves_the_file_whole(file, monkeypatch, failure, step):
    def fail(*_arguments):
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((SourceError, KeyboardInterrupt)):
        writing.replace(file, OLD, NEW)
    assert untouched(file)


def test_a_folder_that_takes_no_file_is_an_error(file, monkeypatch):
    import tempfile

    def fail(**_keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with pytest.raises(SourceError, match=r"a\.py: cannot be written: Permission denied$"):
        writing.replace(file, OLD, NEW)
    assert untouched(file)
