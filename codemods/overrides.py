"""Which methods may be replaced: in a derived class, or by an assignment to the attribute.

Classes are told apart by name, over all files of the project. What cannot be seen may be a derived class.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from codemods.names import Module
from codemods.project import Project
from codemods.uses import ClassUse, FileUses, read_uses

_HERE: Final = ""
# How many classes are looked at to tell whether one method is overridden.
_MOST_CLASSES: Final = 5_000


class _TooMany(Exception):
    """There are more classes than are looked at."""


class Overrides:
    """The overrides of one module's methods. Only files that spell a name in question are parsed."""

    def __init__(self, module: Module, path: Path = Path(), project: Project | None = None) -> None:
        """Without `project`, the module is all there is."""
        self._module, self._path, self._project = module, path, project
        self._replaced: dict[str, str | None] = {}
        self._looked_at = 0

    def __call__(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether `self.name` in a method of `owner` may be another function than the one in `owner`."""
        if _is_mangled(name):
            return name in self._own.stored | self._own.patched
        self._looked_at = 0
        try:
            return any(
                name in uses.stored | uses.patched
                or any(self._replaces(file, found, owner, name) for found in uses.classes)
                for file, uses in self._files(name)
            )
        except (RecursionError, _TooMany):  # as far as anybody can tell
            return True

    def of_function(self, name: str) -> str | None:
        """The file that may replace a function of the module at run time, a test for example."""
        if name not in self._replaced:
            self._replaced[name] = self._replacing(name)
        return self._replaced[name]

    def _replacing(self, name: str) -> str | None:
        # To read all that the module uses takes long, and most modules name none of their functions in text.
        if self._module.may_name(name) and name in self._own.patched:
            return str(self._path)
        return None if self._project is None else self._project.replaced(name, self._path)

    def _replaces(self, file: str, found: ClassUse, owner: ast.ClassDef, name: str) -> bool:
        if file == _HERE and found.line == owner.lineno:
            return name in found.assigned
        return name in found.defined | found.assigned and self._may_replace(file, found, owner)

    @functools.cached_property
    def _own(self) -> FileUses:
        return read_uses(self._module.tree)

    @functools.cache  # noqa: B019 - it lives as long as a file is analysed
    def _files(self, name: str) -> tuple[tuple[str, FileUses], ...]:
        others = self._project.others(name, self._path) if self._project is not None else ()
        return ((_HERE, self._own), *others)

    @functools.cache  # noqa: B019
    def _heirs(self, name: str) -> tuple[tuple[str, ClassUse], ...]:
        """The classes with a base of that name, or one that cannot be seen."""
        return tuple(
            (file, heir)
            for file, uses in self._files(name)
            for heir in uses.classes
            if _names_base(heir, name)
        )

    def _may_replace(self, file: str, found: ClassUse, owner: ast.ClassDef) -> bool:
        """Whether a class that derives from `found`, or `found` itself, may derive from `owner`.

        A class that stands beside `owner` among the bases of a third one comes before it, perhaps; one that
        `owner` derives from never does.
        """
        seen: set[tuple[str, int]] = set()  # of no class in it is `owner` a base, or the search would be over
        return (file, found.line) not in self._ancestors(owner) and any(
            self._may_derive(where, heir, owner, seen) for where, heir in self._with_heirs(file, found)
        )

    def _with_heirs(self, file: str, found: ClassUse) -> Iterator[tuple[str, ClassUse]]:
        """A class, and those that may derive from it, in files that spell its name."""
        seen, waiting = {(file, found.line)}, [(file, found)]
        while waiting:
            where, base = waiting.pop()
            self._look()
            yield where, base
            for other, heir in self._heirs(base.name):
                if (other, heir.line) not in seen:
                    seen.add((other, heir.line))
                    waiting.append((other, heir))

    def _look(self) -> None:
        self._looked_at += 1
        if self._looked_at > _MOST_CLASSES:
            raise _TooMany

    @functools.cache  # noqa: B019
    def _ancestors(self, owner: ast.ClassDef) -> set[tuple[str, int]]:
        """The classes that `owner` surely derives from."""
        seen: set[tuple[str, int]] = set()
        waiting = [(_HERE, found) for found in self._own.classes if found.line == owner.lineno]
        while waiting:
            file, heir = waiting.pop()
            for origins in heir.bases:
                if origins is None or len(origins) != 1:
                    continue
                (origin,) = origins
                bases = self._classes_named(file, origin)
                if len(bases) == 1 and (bases[0][0], bases[0][1].line) not in seen:
                    seen.add((bases[0][0], bases[0][1].line))
                    waiting += bases
        return seen

    @functools.cache  # noqa: B019
    def _classes_named(self, file: str, origin: str) -> list[tuple[str, ClassUse]]:
        """The classes that a base called `origin` in `file` may be."""
        name = origin.rpartition(".")[2]
        return [
            (where, found)
            for where, uses in self._files(name)
            if where == file or "." in origin
            for found in uses.classes
            if found.name == name
        ]

    def _may_derive(
        self, file: str, found: ClassUse, owner: ast.ClassDef, seen: set[tuple[str, int]]
    ) -> bool:
        if (file, found.line) in seen:
            return False
        seen.add((file, found.line))
        self._look()
        return any(
            origins is None or any(self._may_be(file, origin, owner, seen) for origin in origins)
            for origins in found.bases
        )

    def _may_be(self, file: str, origin: str, owner: ast.ClassDef, seen: set[tuple[str, int]]) -> bool:
        """Whether the base called `origin` in `file` may be `owner` or derive from it."""
        local = "." not in origin
        if not local and not self._of_project(origin):
            return False
        name = origin.rpartition(".")[2]
        if name == owner.name and (not local or file == _HERE):
            return True
        candidates = self._classes_named(file, origin)
        if not candidates:
            return True  # a name that some module gives to a class
        return any(self._may_derive(where, found, owner, seen) for where, found in candidates)

    def _of_project(self, origin: str) -> bool:
        top = origin.partition(".")[0]
        return not top or (self._project is not None and self._project.has_module(top))


def _names_base(found: ClassUse, name: str) -> bool:
    return any(
        origins is None or any(origin.rpartition(".")[2] == name for origin in origins)
        for origins in found.bases
    )


def _is_mangled(name: str) -> bool:
    """Whether Python gives the name another spelling in each class."""
    return name.startswith("__") and not name.endswith("__")
