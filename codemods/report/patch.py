"""The changes of all files as one patch for `git apply`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from codemods.discovery import common_folder, folders_above
from codemods.model import FileResult
from codemods.report.diff import changed_rows, quoted

START: Final = b"diff --git "


def git_patch(files: Sequence[FileResult]) -> bytes:
    """A patch that `git apply` takes; empty where nothing changes.

    Its headers are those of Git. So paths are relative to the top of the repository, and the patch is
    taken there and in the folders below. Outside of a repository they are relative to the current folder.
    A link is followed, since Git patches none.
    """
    changed = [file for file in files if file.changed]
    if not changed:
        return b""
    top = _top(changed)
    return b"".join(_of_file(file, top) for file in changed)


def _top(files: Sequence[FileResult]) -> str:
    """The folder that the paths of a patch are relative to."""
    here, common = os.path.realpath(os.curdir), common_folder([file.path for file in files])
    if common is None:
        return here
    for start in (here, common):
        for folder in folders_above(start):
            if os.path.exists(os.path.join(folder, ".git")) and _is_below(common, folder):
                return folder
    return here if _is_below(common, here) else common


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _of_file(file: FileResult, top: str) -> bytes:
    name = os.path.relpath(os.path.realpath(file.path), top).replace(os.sep, "/")
    header = b"%s %s\n" % (quoted(f"a/{name}"), quoted(f"b/{name}"))
    return START + header + b"".join(changed_rows(file.before, file.after, name))
