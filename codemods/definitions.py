"""Follows a dotted name through the modules of the project to what defines it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from codemods.names import Binding, BindingKind, Module, is_private
from codemods.project import Project


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """A function that a module of the project defines at its top level.

    Attributes:
      file: the real path of the module.
      module: its names; `function` is a node of this very tree.
    """

    file: str
    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True, slots=True)
class Library:
    """What modules outside the project define, by the dotted names that it may have there."""

    origins: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Unseen:
    """What modules of the project hand on without showing one definition of it.

    Attributes:
      is_defined: whether it is a function or class of the project at any rate.
      is_missing: whether the module that should have it is in sight and has no such name.
    """

    is_defined: bool = False
    is_missing: bool = False


Found = Definition | Library | Unseen
_Seen = frozenset[tuple[str, str]]

# The steps from module to module that one name may take. Where many modules take everything from each other,
# the ways to it are more than could ever be tried.
_MOST_STEPS: Final = 1_000


class _TooFar(Exception):
    """There are more ways than are tried."""


class Definitions:
    """Follows imports, re-exports, star imports and plain assignments, from module to module."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._steps = 0

    def follow(self, origins: Iterable[str], path: Path) -> Found:
        """What dotted names, as `Module.origins` gives them, stand for in the file `path`."""
        self._steps = 0
        try:
            found = [self._follow(origin, str(path), frozenset()) for origin in sorted(origins)]
        except _TooFar:
            return Unseen()
        if len(found) > 1:  # of several star imports, or of guarded ones, those that have the name count
            found = [each for each in found if each != Unseen(is_missing=True)] or found
        return _agreed(found)

    def given_by_star(self, star: str, name: str, path: Path) -> Found | None:
        """What `from star import *` gives the file `path` under a name; None for nothing that can be seen."""
        self._steps = 0
        try:
            found = [
                given
                for each in self._project.module_files(star, path)
                if self._hands_on(each, name)
                and (given := self._member(each, (name,), frozenset({(star, each)}))) is not None
            ]
        except _TooFar:
            return Unseen()
        return _agreed(found) if found else None

    def _follow(self, origin: str, file: str, seen: _Seen) -> Found:
        self._step()
        if (origin, file) in seen:
            return Unseen()  # modules that import each other in a circle
        seen |= {(origin, file)}
        found = [
            self._member(each, rest, seen) or Unseen(is_missing=True)
            for each, rest in self._located(origin, Path(file))
        ]
        if found:
            return _agreed(found)
        return Unseen() if origin.startswith(".") else Library(frozenset({origin}))

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _TooFar

    def _located(self, origin: str, path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The files that hold the longest part of a dotted name that is a module, and the names behind it."""
        dots = origin[: len(origin) - len(origin.lstrip("."))]
        parts = tuple(origin.lstrip(".").split("."))
        for length in range(len(parts) - 1, -1 if dots else 0, -1):
            files = self._project.module_files(dots + ".".join(parts[:length]), path)
            if files:
                yield from ((file, parts[length:]) for file in files)
                return

    def _member(self, file: str, names: tuple[str, ...], seen: _Seen) -> Found | None:
        """What `names`, one an attribute of the other, stand for in a module; None if it has no such name."""
        self._step()
        module = self._project.module(file)
        if module is None:
            return Unseen()
        bindings = module.root.bindings.get(names[0], [])
        if bindings:
            return _agreed([self._bound(each, names[1:], file, module, seen) for each in bindings])
        if "__getattr__" in module.root.bindings:
            return Unseen()
        return self._through_stars(file, module, names, seen)

    def _through_stars(self, file: str, module: Module, names: tuple[str, ...], seen: _Seen) -> Found | None:
        """What the star imports of a module give it under a name."""
        found: list[Found] = []
        for star in module.star_imports:
            files = self._project.module_files(star, Path(file))
            if not files and not star.startswith("."):
                found.append(Library(frozenset({".".join((star, *names))})))
            for each in files:
                if (star, each) in seen or not self._hands_on(each, names[0]):
                    continue
                given = self._member(each, names, seen | {(star, each)})
                if given is not None:
                    found.append(given)
        defined = [each for each in found if not isinstance(each, Library)]
        if len(found) > 1 and len(defined) < len(found):
            return Unseen()  # which of the libraries has the name cannot be seen
        return _agreed(found) if found else None

    def _hands_on(self, file: str, name: str) -> bool:
        """Whether `from … import *` takes `name` from a module, if it is there."""
        module = self._project.module(file)
        if module is None or "__all__" not in module.root.bindings:
            return not name.startswith("_")
        listed = module.names_in_strings(name)
        return listed or not is_private(name)

    def _bound(
        self, binding: Binding, rest: tuple[str, ...], file: str, module: Module, seen: _Seen
    ) -> Found:
        if binding.kind is BindingKind.IMPORT and binding.origin is not None:
            return self._follow(".".join((binding.origin, *rest)), file, seen)
        if binding.kind is BindingKind.FUNCTION and not rest:
            assert isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef)
            return Definition(file, module, binding.node)
        if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None:
            return self._assigned(binding.value, rest, file, module, seen)
        return Unseen(is_defined=binding.kind is BindingKind.CLASS and not rest)

    def _assigned(
        self, value: ast.expr, rest: tuple[str, ...], file: str, module: Module, seen: _Seen
    ) -> Found:
        if isinstance(value, ast.Lambda) and not rest:
            return Definition(file, module, value)
        if origins := module.origins(value):
            return _agreed([self._follow(".".join((each, *rest)), file, seen) for each in origins])
        self._step()
        key = (f"={value.id}", file) if isinstance(value, ast.Name) else None
        if key is None or key in seen:
            return Unseen()
        assert isinstance(value, ast.Name)
        return _agreed(
            [self._bound(each, rest, file, module, seen | {key}) for each in module.bindings(value)]
        )


def _agreed(found: Iterable[Found]) -> Found:
    """What several ways to the same name lead to."""
    every = list(found)
    if every and all(isinstance(each, Library) for each in every):
        return Library(frozenset().union(*(each.origins for each in every if isinstance(each, Library))))
    first = every[0] if every else Unseen()
    if all(each == first for each in every):
        return first
    if isinstance(first, Definition) and all(
        isinstance(each, Definition) and each.function is first.function for each in every
    ):
        return first
    defined = (isinstance(e, Definition) or (isinstance(e, Unseen) and e.is_defined) for e in every)
    return Unseen(is_defined=bool(every) and all(defined))
