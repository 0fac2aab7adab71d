"""The project around the migrated files: who else uses a name."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods.discovery import python_files
from codemods.source import SourceError, SourceFile

_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_IDENTIFIER_AT_END: Final = re.compile(r"(\w+)$")


class Project:
    """The Python files of a project, read only when a name must be looked for."""

    def __init__(self, places: Sequence[Path]) -> None:
        """`places` are folders to walk, and files."""
        self._places = places

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Project:
        """The project of `paths`: the nearest folder with a project file.

        Where there is none, the project is the given folders, and the folders of the given files without what
        lies below them: a script in a home folder does not make a project of it.
        """
        absolute = [Path(os.path.abspath(path)) for path in paths]
        folders = [path if path.is_dir() else path.parent for path in absolute]
        if not folders:
            return cls(())
        common = Path(os.path.commonpath(folders))
        for folder in (common, *common.parents):
            if any((folder / marker).exists() for marker in _MARKERS):
                return cls((folder,))
        places: dict[Path, None] = {}
        for path in absolute:
            if path.is_dir():
                places[path] = None
            else:
                places.update(dict.fromkeys(sorted(path.parent.glob("*.py"))))
        return cls(tuple(places))

    def used_elsewhere(self, name: str, path: Path) -> bool:
        """Whether another file imports `name`, reads it as an attribute, or spells it in a string."""
        return any(
            name in other.imported or name in other.attributes or name in other.string_ends
            for other in self._others(name, path)
        )

    def reexported(self, name: str, path: Path) -> bool:
        """Whether another file takes `name` from the module that `path` is, or takes everything from it."""
        module = path.parent.name if path.stem == "__init__" else path.stem
        return any(
            (module, name) in other.taken or ("", name) in other.taken for other in self._others(name, path)
        ) or any(
            (module, "*") in other.taken for other in self._others(module, path) if "*" in other.imported
        )

    def _others(self, name: str, path: Path) -> Iterator[FileUses]:
        """What the files use that spell `name`, but for the one at `path`."""
        own, spelled = os.path.realpath(path), name.encode()
        for other, data in self._files.items():
            if spelled in data and other != own:
                yield self._uses(other)

    @functools.cached_property
    def _files(self) -> dict[str, bytes]:
        found = {}
        for path in python_files(self._places, lambda path, reason: None):
            try:
                found[os.path.realpath(path)] = Path(path).read_bytes()
            except OSError:
                continue  # what cannot be read cannot be run from here either
        return found

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def _uses(self, path: str) -> FileUses:
        try:
            tree = SourceFile.from_bytes(Path(path), self._files[path]).tree
        except SourceError:
            return _everything(self._files[path])
        return _read_uses(tree)


@dataclasses.dataclass(frozen=True, slots=True)
class FileUses:
    """The names that one file may take from other modules.

    Attributes:
      imported: the names in its `from … import …` statements.
      taken: module and name, from such imports and from attributes; the module's last part alone, empty
        where the import names none.
      attributes: every attribute that it reads.
      string_ends: the identifier at the end of each string.
    """

    imported: frozenset[str]
    taken: frozenset[tuple[str, str]]
    attributes: frozenset[str]
    string_ends: frozenset[str]


def _everything(data: bytes) -> FileUses:
    """A file that cannot be parsed may use any word in it."""
    words = frozenset(re.findall(r"\w+", data.decode("utf-8", "replace")))
    return FileUses(words, frozenset(("", word) for word in words), words, words)


def _read_uses(tree: ast.Module) -> FileUses:
    imported: set[str] = set()
    taken: set[tuple[str, str]] = set()
    attributes: set[str] = set()
    strings: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, names=aliases):
                tail = (module or "").rpartition(".")[2]
                imported.update(alias.name for alias in aliases)
                taken.update((tail, alias.name) for alias in aliases)
            case ast.Attribute(value=base, attr=name):
                attributes.add(name)
                taken.update((tail, name) for tail in _last_names(base))
            case ast.Constant(value=str(text)) if match := _IDENTIFIER_AT_END.search(text):
                strings.add(match[1])
    return FileUses(frozenset(imported), frozenset(taken), frozenset(attributes), frozenset(strings))


def _last_names(node: ast.expr) -> Iterable[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return (name,)
    return ()
