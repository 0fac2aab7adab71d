"""The `[tool.bufcb]` table of a project's `pyproject.toml`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codemods.discovery import common_folder, folders_above, read_file, reason


class SettingsError(Exception):
    """A settings file that cannot be used; the text names the file and the key."""


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """The settings as they stand in the file, and where they come from."""

    path: Path
    values: dict[str, Any]


def find(paths: Sequence[Path]) -> Settings | None:
    """Reads the nearest `pyproject.toml` that has a `[tool.bufcb]` table.

    The search starts in the folder that all `paths` share, and goes up.

    Raises:
      SettingsError: a file on the way cannot be read, or what it says of bufcb is no table.
    """
    common = common_folder(paths)
    for folder in folders_above(common) if common is not None else ():
        path = os.path.join(folder, "pyproject.toml")
        try:
            data = read_file(path)
        except (OSError, MemoryError) as error:
            raise SettingsError(f"{path}: cannot be read: {reason(error)}") from None
        if data is None:
            continue
        # A file without the word is neither parsed nor complained about.
        if b"bufcb" in data and (settings := _parse(Path(path), data)) is not None:
            return settings
    return None


def _parse(path: Path, data: bytes) -> Settings | None:
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError) as error:  # not all have a text
        raise SettingsError(f"{path}: cannot be parsed: {str(error) or type(error).__name__}") from None
    tool = document.get("tool")
    table = tool.get("bufcb") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: [tool.bufcb] is not a table")
    return Settings(path, table)
