"""A copy of a project's folder to run a command in."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from codemods.discovery import ENVIRONMENT_MARKERS, reason
from codemods.verification.errors import VerificationError

# What version control and tools keep for themselves, and what Python makes anew.
_LEFT_OUT: Final = frozenset(
    {
        ".bzr", ".git", ".hg", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache",
        ".pytype", ".ruff_cache", ".svn", ".tox", "__pycache__",
    }
)  # fmt: skip
# Other people's code, which is read and not written: linked to, not copied. So are virtual environments.
_LINKED: Final = frozenset({".pixi", "node_modules"})
# Left free on the disk, for what the command writes.
_SPARE: Final = 100_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    """What of a folder is copied.

    Attributes:
      root: the real path of the folder.
      scratch: the folder for copies, which is left out.
      size: the bytes of all files.
      linked: the folders, relative to `root`, that a copy links to.
    """

    root: str
    scratch: str
    size: int
    linked: tuple[str, ...]

    @classmethod
    def of(cls, root: str, scratch: str) -> Tree:
        """Looks through a folder.

        Raises:
          VerificationError: a part of it cannot be read.
        """
        size, linked = 0, []
        for relative, entry in _entries(root, scratch):
            if _is_linked(entry):
                linked.append(relative)
            elif entry.is_file(follow_symlinks=False):
                size += entry.stat(follow_symlinks=False).st_size
        return cls(root, scratch, size, tuple(sorted(linked)))

    def copy(self, target: str) -> None:
        """Makes a copy, as the new folder `target`, with times and permissions; the original stays untouched.

        Raises:
          VerificationError: there is no room for it, or a file cannot be copied.
        """
        free = shutil.disk_usage(os.path.dirname(target)).free
        if free < self.size + _SPARE:
            raise VerificationError(
                f"a copy of {self.root} takes {self.size // 1_000_000} MB, and {os.path.dirname(target)} has "
                f"{free // 1_000_000} MB left; set TMPDIR to a folder with more room"
            )
        os.mkdir(target)
        try:
            for relative, entry in _entries(self.root, self.scratch):
                _copy_entry(entry, os.path.join(target, relative), self.root, target)
        except OSError as error:
            raise VerificationError(
                f"{error.filename or self.root} cannot be copied: {reason(error)}"
            ) from None


def remove(folder: str) -> None:
    """Removes a copy, whatever permissions a command gave to what is in there."""

    def retry(function: Callable[..., object], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
            function(path)

    shutil.rmtree(folder, onerror=retry)
    if os.path.isdir(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _entries(root: str, scratch: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything to be copied, each folder before what is in it, with its path relative to `root`."""
    pending = [("", root)]
    while pending:
        relative, path = pending.pop()
        try:
            with os.scandir(path) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            raise VerificationError(f"{path} cannot be read: {reason(error)}") from None
        for entry in entries:
            if entry.name in _LEFT_OUT or entry.path == scratch:
                continue
            below = os.path.join(relative, entry.name)
            yield below, entry
            if entry.is_dir(follow_symlinks=False) and not _is_linked(entry):
                pending.append((below, entry.path))


def _is_linked(entry: os.DirEntry[str]) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    return entry.name in _LINKED or any(
        os.path.exists(os.path.join(entry.path, marker)) for marker in ENVIRONMENT_MARKERS
    )


def _copy_entry(entry: os.DirEntry[str], to: str, root: str, target: str) -> None:
    if _is_linked(entry):
        os.symlink(entry.path, to, target_is_directory=True)
    elif entry.is_symlink():
        os.symlink(_link(entry.path, root, target), to, target_is_directory=entry.is_dir())
    elif entry.is_dir():
        os.mkdir(to)
        # What is read-only stays so for others, but is to be filled and removed.
        os.chmod(to, stat.S_IMODE(entry.stat().st_mode) | 0o700)
    elif entry.is_file():
        shutil.copy2(entry.path, to, follow_symlinks=False)


def _link(path: str, root: str, target: str) -> str:
    """What a copied symbolic link says: the copy of what is in `root`, and else the same as the original."""
    text = os.readlink(path)
    found = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if found != root and not found.startswith(os.path.join(root, "")):
        return found
    if not os.path.isabs(text):
        return text
    return os.path.join(target, os.path.relpath(found, root))


def write(path: str, before: bytes, after: bytes, shown: Path) -> None:
    """Replaces what a copied file holds.

    Raises:
      VerificationError: it is not there, or holds something else than `before`.
    """
    try:
        with open(path, "rb") as file:
            is_same = file.read() == before
        if is_same:
            os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) | 0o600)
            with open(path, "wb") as file:
                file.write(after)
    except OSError as error:
        raise VerificationError(f"{shown} is not in the copy of the project: {reason(error)}") from None
    if not is_same:
        raise VerificationError(f"{shown} was changed in the meantime")
