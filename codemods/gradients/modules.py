"""The modules of the project as the analysis sees them: what a name of one stands for."""

from __future__ import annotations

import ast
import builtins
import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from codemods.discovery import NOTEBOOK
from codemods.gradients.frames import OUTSIDE, Extent, Frame, Place, Source
from codemods.gradients.levels import Level
from codemods.gradients.values import PLAIN, Heap, ProjectModule, Value, join
from codemods.names import Binding, BindingKind, Module
from codemods.project import Project
from codemods.uses import IMPORTERS

_MISSING: Final = object()
_BUILTINS: Final = frozenset(dir(builtins))
_LOADERS: Final = IMPORTERS | {"run_path", "run_module", "spec_from_file_location"}


class Call:
    """A function that is being evaluated.

    Attributes:
      at: where it is called.
      level: the level at which it is differentiated here.
      matters: whether it may lead to a call site.
    """

    def __init__(
        self, at: Place, label: str | None, level: Level | None = None, matters: bool = True
    ) -> None:
        """`label` is how the call is shown; None for the expression at `at`."""
        self.at, self._label, self.level, self.matters = at, label, level, matters

    @property
    def label(self) -> str:
        """How the call is shown. Few are, so that the text is made only then."""
        if self._label is not None:
            return self._label
        return ast.unparse(self.at.node) if isinstance(self.at.node, ast.expr) else ""


class Modules(ABC):
    """Evaluates the top level of a module as far as its names are asked for."""

    def __init__(self, project: Project, sites: int) -> None:
        self.project = project
        self.heap = Heap(sites)
        self.extent = OUTSIDE
        self.calls: list[Call] = []
        self.incomplete = False
        self._handlers: dict[tuple[str, type], Any] = {}
        self._sources: dict[str, Source | None] = {}
        self._programs: dict[str, bool] = {}
        self._frames: dict[str, Frame] = {}
        self._started: set[ast.stmt] = set()
        self._libraries: dict[tuple[str, str], str | None] = {}

    @abstractmethod
    def run_statement(self, statement: ast.stmt, frame: Frame) -> bool:
        """Evaluates a statement; whether the next one may run."""

    @abstractmethod
    def attribute(self, value: Value, name: str, at: Place) -> Value:
        """What an attribute of a value holds."""

    def handler(self, prefix: str, of: object, default: Any = None) -> Any:
        """The method for one type of node or reference; `default` where there is none."""
        key = (prefix, type(of))
        found = self._handlers.get(key, _MISSING)
        if found is _MISSING:
            found = self._handlers[key] = getattr(self, prefix + type(of).__name__, default)
        return found

    @contextlib.contextmanager
    def within(self, extent: Extent) -> Iterator[None]:
        """Evaluates under other transforms."""
        before, self.extent = self.extent, extent
        try:
            yield
        finally:
            self.extent = before

    @contextlib.contextmanager
    def called(self, call: Call) -> Iterator[None]:
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.pop()

    def add(self, file: str, module: Module) -> Source:
        """Takes a module that has been read already."""
        found = self._sources[file] = _source(file, module)
        return found

    def source(self, file: str) -> Source | None:
        if file not in self._sources:
            module = self.project.module(file)
            self._sources[file] = None if module is None else _source(file, module)
        return self._sources[file]

    def is_program(self, source: Source) -> bool:
        """Whether a module is run, and imported by no other, so that its callers are in sight."""
        if source.file not in self._programs:
            self._programs[source.file] = self._is_program(source)
        return self._programs[source.file]

    def _is_program(self, source: Source) -> bool:
        file, stem = source.file, Path(source.file).stem
        if source.is_test or stem == "__main__" or file.endswith(NOTEBOOK):
            return True
        if os.path.exists(os.path.join(os.path.dirname(file), "__init__.py")) or not _is_run(source.module):
            return False
        return not any(
            _may_import(self.project.module(other), stem)
            for other, _ in self.project.others(stem, Path(file))
        )

    def frame_of(self, source: Source) -> Frame:
        """The frame of a module."""
        if source.file not in self._frames:
            self._frames[source.file] = Frame(source.file, source.module.tree, source, None)
        return self._frames[source.file]

    def globals(self) -> Iterator[tuple[str, str, Value]]:
        """File, name and value of all that the modules hold at their top levels."""
        for file, frame in self._frames.items():
            yield from ((file, name, value) for name, value in frame.values.items())

    def start_round(self) -> None:
        """Evaluates everything once more, with what is known by now."""
        self._started.clear()

    def run_top_level(self, source: Source, statement: ast.stmt) -> None:
        """Evaluates a statement of a module, once a round."""
        if statement in self._started:
            return
        self._started.add(statement)
        calls, self.calls = self.calls, []
        try:
            with self.within(OUTSIDE):
                self.run_statement(statement, self.frame_of(source))
        finally:
            self.calls = calls

    def global_value(self, source: Source, name: str) -> Value:
        """What a name at the top level of a module may hold."""
        bindings = source.module.root.bindings.get(name)
        if bindings is None:
            return self._starred(source, name)
        for binding in bindings:
            self._run_binding(source, binding)
        return self.frame_of(source).global_value(name)

    def _run_binding(self, source: Source, binding: Binding) -> None:
        node: ast.AST = binding.node
        parents = source.module.parents
        while not isinstance(parents.get(node), ast.Module):
            if node not in parents:
                return
            node = parents[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not binding.node:
            return  # bound by a function that says `global`, when it runs
        assert isinstance(node, ast.stmt)
        self.run_top_level(source, node)

    def _starred(self, source: Source, name: str) -> Value:
        found = [
            self.attribute(self.resolve(star, source), name, Place(self.frame_of(source), source.module.tree))
            for star in source.module.star_imports
        ]
        if found:
            return join(found)
        return self.heap.library(f"builtins.{name}") if name in _BUILTINS else PLAIN

    def imported_library(self, source: Source, name: str) -> str | None:
        """The module or object of a library that a name of a module stands for, and nothing else."""
        key = (source.file, name)
        if key not in self._libraries:
            self._libraries[key] = self._imported_library(source, name)
        return self._libraries[key]

    def _imported_library(self, source: Source, name: str) -> str | None:
        bindings = source.module.root.bindings.get(name, ())
        origin = bindings[0].origin if len(bindings) == 1 else None
        if origin is None or origin.startswith(".") or self.project.has_module(origin.partition(".")[0]):
            return None
        return _canonical(origin)

    def resolve(self, dotted: str, source: Source) -> Value:
        """What a dotted name stands for when it is imported in a module."""
        dots = dotted[: len(dotted) - len(dotted.lstrip("."))]
        parts = dotted.lstrip(".").split(".") if dotted.strip(".") else []
        if not dots and not self.project.has_module(parts[0]):
            return self.heap.library(_canonical(dotted))
        for length in range(len(parts), -1, -1):
            if not length and not dots:
                break
            files = self.files(dots + ".".join(parts[:length]), source.file)
            if files:
                return join(self._member(file, parts[length:], source) for file in files)
        return PLAIN if dots else self.heap.library(_canonical(dotted), source.file)

    def files(self, dotted: str, path: str) -> tuple[str, ...]:
        """The files that a dotted name may mean when a module imports it."""
        return self.project.files_from(dotted, os.path.dirname(path))

    def _member(self, file: str, names: list[str], source: Source) -> Value:
        value = self.heap.value(self.heap.make(file, ProjectModule, file))
        at = Place(self.frame_of(source), source.module.tree)
        for name in names:
            value = self.attribute(value, name, at)
        return value

    def module_attribute(self, module: ProjectModule, name: str) -> Value:
        """What a module of the project, or a module inside it, has under a name."""
        source = self.source(module.file)
        if source is None:
            return PLAIN
        if name in source.module.root.bindings:
            return self.global_value(source, name)
        inner = self.files(f".{name}", module.file) if module.file.endswith("__init__.py") else []
        if inner:
            return join(self.heap.value(self.heap.make(file, ProjectModule, file)) for file in inner)
        return self._starred(source, name) if source.module.star_imports else PLAIN


def _canonical(dotted: str) -> str:
    """The public name of what an import takes from JAX's private modules."""
    return f"jax.{dotted.rpartition('.')[2]}" if dotted.startswith("jax._src.") else dotted


def _source(file: str, module: Module) -> Source:
    stem = os.path.splitext(os.path.basename(file))[0]
    return Source(file, module, stem.startswith("test_") or stem.endswith("_test") or stem == "conftest")


def _may_import(module: Module | None, stem: str) -> bool:
    """Whether a module may import one of this name."""
    if module is None:
        return True
    for node in module.parents:
        if isinstance(node, ast.alias) and stem in node.name.split("."):
            return True
        if isinstance(node, ast.ImportFrom) and stem in (node.module or "").split("."):
            return True
    loads = _LOADERS & (module.uses.keys() | module.attributes.keys())
    return bool(loads) and module.names_in_strings(stem)


def _is_run(module: Module) -> bool:
    """Whether a module does something when it is run: it has a main guard, prints, or calls its functions."""
    if "__name__" in module.uses and module.names_in_strings("__main__"):
        return True
    return any(_does_something(statement, module) for statement in module.tree.body)


def _does_something(statement: ast.stmt, module: Module) -> bool:
    if isinstance(statement, ast.For | ast.While | ast.With):
        return any(_does_something(inner, module) for inner in statement.body)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    if not isinstance(called, ast.Name):
        return False
    found = module.bindings(called)
    return called.id == "print" if not found else any(b.kind is BindingKind.FUNCTION for b in found)


def top_statement(module: Module, node: ast.AST) -> ast.stmt | None:
    """The statement at the top level of the module that holds a node."""
    parents = module.parents
    while node in parents:
        if isinstance(parents[node], ast.Module):
            return node if isinstance(node, ast.stmt) else None
        node = parents[node]
    return None
