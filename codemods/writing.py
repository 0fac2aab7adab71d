"""Replaces a file's content so that no reader ever sees half of it."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from codemods.source import SourceError

_ENDING: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def replace(path: Path, before: bytes, after: bytes) -> None:
    """Atomically replaces the content `before` of the file `path` by `after`.

    A new file takes the place of the old one, with its permissions, owner and extended attributes
    where the system lets us. A symbolic link stays and its target is replaced. Other hard links of
    the file keep the old content.

    Raises:
      SourceError: the file is read-only, no longer holds `before`, or cannot be written; it is then
        untouched.
    """
    target = os.path.realpath(path)
    try:
        with _uninterrupted():
            _replace(path, target, before, after)
    except OSError as error:
        raise SourceError(path, 0, f"cannot be written: {error.strerror or error}") from None


def save(path: Path, data: bytes) -> None:
    """Atomically writes `data` to the file `path`, whatever it held; a pipe or device is written to.

    Raises:
      OSError: it cannot be written; a file that was there is then untouched.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            file.write(data)
        return
    with _uninterrupted():
        _install(target, data, lambda temporary: os.chmod(temporary, _permissions(target)))


def check_output(path: Path, start: bytes) -> None:
    """Looks whether `save` can write to the file `path`, as far as that can be told beforehand.

    A file that is there already may be replaced if it is empty or begins with `start`, in any case of
    letters. Another one was hardly meant.

    Raises:
      SourceError: something is in the way.
    """
    target = os.path.realpath(path)
    try:
        obstacle = _obstacle(target, os.path.dirname(target), start)
    except OSError as error:
        obstacle = error.strerror or str(error)
    if obstacle:
        raise SourceError(path, 0, f"cannot be written: {obstacle}")


def _obstacle(target: str, folder: str, start: bytes) -> str:
    """What keeps a file from being written; empty for nothing. Raises `OSError` for what the system says."""
    if not os.path.isdir(folder):
        return f"{folder} is no folder" if os.path.exists(folder) else f"there is no folder {folder}"
    if os.path.lexists(target):
        status = os.stat(target)
        if stat.S_ISDIR(status.st_mode):
            return "it is a folder"
        if not stat.S_ISREG(status.st_mode):
            return ""
        if _is_read_only(target, status):
            return "it is read-only"
        with open(target, "rb") as file:
            found = file.read(len(start))
        if found and found.lower() != start.lower():
            return f"it exists, and does not begin with {start.decode()!r} as what is written here does"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"the folder {folder} is read-only"


def _is_read_only(target: str, status: os.stat_result) -> bool:
    # Root may write a file that nobody is meant to, hence the look at the mode as well.
    return not status.st_mode & 0o222 or not os.access(target, os.W_OK)


def _permissions(target: str) -> int:
    """Those of the file `target`; where there is none, those that a new file gets."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _replace(path: Path, target: str, before: bytes, after: bytes) -> None:
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):  # a pipe that took its place would be waited for
        raise SourceError(path, 0, "cannot be written: it was changed in the meantime")
    if _is_read_only(target, status):
        raise SourceError(path, 0, "cannot be written: it is read-only")

    def finish(temporary: str) -> None:
        _copy_attributes(target, temporary, status)
        with open(target, "rb") as file:
            if file.read() != before:
                raise SourceError(path, 0, "cannot be written: it was changed in the meantime")

    _install(target, after, finish)


def _install(target: str, data: bytes, finish: Callable[[str], None]) -> None:
    """Puts a new file with `data` in the place of `target`, once `finish` has had its way with it."""
    import tempfile  # slow to import, and needed for the first changed file only

    descriptor, temporary = tempfile.mkstemp(prefix=".bufcb-", suffix=".tmp", dir=os.path.dirname(target))
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        finish(temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds back the signals that end a run, so that none leaves a temporary file behind."""
    import threading

    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return
    held: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    handlers = {number: handler for number, handler in handlers.items() if handler is not None}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: held.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held:
            signal.raise_signal(number)


def _copy_attributes(source: str, destination: str, status: os.stat_result) -> None:
    """Gives `destination` the owner, extended attributes and permissions of `source`."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(destination, status.st_uid, status.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(source):
                os.setxattr(destination, attribute, os.getxattr(source, attribute))
    os.chmod(destination, stat.S_IMODE(status.st_mode))  # last, since a new owner clears some bits
