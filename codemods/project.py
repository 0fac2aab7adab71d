"""The project around the migrated files: who else uses a name."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods.source import SourceError, SourceFile

_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_SKIPPED: Final = frozenset(
    {
        ".git",
        ".hg",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "env",
        "node_modules",
        "__pycache__",
        "build",
        "dist",
        "site-packages",
    }
)


class Project:
    """The Python files of a project, read only when a name must be looked for."""

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._texts: dict[Path, bytes] | None = None
        self._answers: dict[tuple[str, Path], bool] = {}

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Project:
        """The project of `paths`: the nearest folder with a project file, else their common folder."""
        folders = [p if p.is_dir() else p.parent for p in (Path(os.path.abspath(p)) for p in paths)]
        if not folders:
            return cls(None)
        common = Path(os.path.commonpath(folders))
        for folder in (common, *common.parents):
            if any((folder / marker).exists() for marker in _MARKERS):
                return cls(folder)
        return cls(common)

    def used_elsewhere(self, name: str, path: Path) -> bool:
        """Whether another file imports `name`, reads it as an attribute, or spells it in a string."""
        path = Path(os.path.abspath(path))
        key = (name, path)
        if key not in self._answers:
            self._answers[key] = any(
                _uses(name, other, data) for other, data in self._files().items() if other != path
            )
        return self._answers[key]

    def reexported(self, name: str, path: Path) -> bool:
        """Whether another file takes `name` from the module that `path` is, or takes everything from it."""
        path = Path(os.path.abspath(path))
        module = path.parent.name if path.stem == "__init__" else path.stem
        return any(
            other != path and module.encode() in data and _takes_from(name, module, other, data)
            for other, data in self._files().items()
        )

    def _files(self) -> dict[Path, bytes]:
        if self._texts is None:
            self._texts = dict(_python_files(self._root)) if self._root else {}
        return self._texts


def _python_files(root: Path) -> Iterator[tuple[Path, bytes]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.endswith(".egg-info"))
        for name in files:
            if name.endswith((".py", ".pyw", ".pyi", ".ipynb")):
                path = Path(folder, name)
                try:
                    yield path, path.read_bytes()
                except OSError:
                    continue  # what cannot be read cannot be run from here either


def _uses(name: str, path: Path, data: bytes) -> bool:
    if not re.search(rb"(?<![\w])" + re.escape(name.encode()) + rb"(?![\w])", data):
        return False
    if path.suffix == ".ipynb":
        return True
    try:
        tree = SourceFile.from_bytes(path, data).tree
    except SourceError:
        return True
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=aliases) if any(alias.name == name for alias in aliases):
                return True
            case ast.Attribute(attr=attribute) if attribute == name:
                return True
            case ast.Constant(value=str(text)) if re.search(rf"(?<!\w){re.escape(name)}$", text):
                return True
    return False


def _takes_from(name: str, module: str, path: Path, data: bytes) -> bool:
    try:
        tree = SourceFile.from_bytes(path, data).tree
    except SourceError:
        return name.encode() in data
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=source, names=aliases, level=level):
                same = (source or "").rpartition(".")[2] == module or (level and not source)
                if same and any(alias.name in (name, "*") for alias in aliases):
                    return True
            case ast.Attribute(value=ast.Name(id=base) | ast.Attribute(attr=base), attr=attribute):
                if attribute == name and base == module:
                    return True
    return False
