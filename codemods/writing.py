"""Replaces a file's content so that no reader ever sees half of it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from codemods.source import SourceError


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
        _replace(path, target, before, after)
    except OSError as error:
        raise SourceError(path, 0, f"cannot be written: {error.strerror or error}") from None


def _replace(path: Path, target: str, before: bytes, after: bytes) -> None:
    import tempfile  # slow to import, and needed for the first changed file only

    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):  # a pipe that took its place would be waited for
        raise SourceError(path, 0, "cannot be written: it was changed in the meantime")
    # Root may write a file that nobody is meant to, hence the look at the mode as well.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise SourceError(path, 0, "cannot be written: it is read-only")
    descriptor, temporary = tempfile.mkstemp(prefix=".bufcb-", suffix=".tmp", dir=os.path.dirname(target))
    try:
        with open(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _copy_attributes(target, temporary, status)
        with open(target, "rb") as file:
            if file.read() != before:
                raise SourceError(path, 0, "cannot be written: it was changed in the meantime")
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


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
