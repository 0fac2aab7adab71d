"""Which statements of which modules may lead to a call site, told by names alone.

A function is reached from wherever its name is read; what reads it hands it on under its own name, and so
on. Only files that spell one of the names are parsed.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from codemods.gradients.frames import Source
from codemods.gradients.modules import Modules, top_statement
from codemods.names import Module

_MOST_FILES: Final = 100
_MOST_BYTES: Final = 4_000_000
# Names to follow, and how many more for each call site.
_MOST_NAMES: Final = 500
_NAMES_OF_SITE: Final = 4
# Of more files than this, those come first that differentiate something.
_MANY_FILES: Final = 50
_DIFFERENTIATES: Final = re.compile(
    rb"grad\b|grad_|vjp|jvp|jacfwd|jacrev|jacobian|hessian|linearize|minimi[sz]e|root_find|least_squares"
    rb"|numpyro|blackjax|jaxopt"
)


@dataclasses.dataclass(eq=False, slots=True)
class Reach:
    """What leads to the call sites.

    Attributes:
      statements: of each file, the statements at its top level that may.
      around: the functions and classes around what may.
      spelled: names that a string, a stub, or a file that cannot be parsed may use at run time.
      is_whole: whether everything was looked at, and not too much for that.
    """

    statements: dict[str, set[ast.stmt]] = dataclasses.field(default_factory=dict)
    around: set[ast.AST] = dataclasses.field(default_factory=set)
    spelled: set[str] = dataclasses.field(default_factory=set)
    is_whole: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """A name to look for: one at the top level of a file, or an attribute wherever it is read."""

    text: str
    file: str | None = None


class Search:
    """Follows the names from the call sites of one module."""

    def __init__(self, modules: Modules, source: Source, sites: Iterable[ast.expr]) -> None:
        self.modules = modules
        self.found = Reach()
        self.names: set[Name] = set()
        self.waiting: deque[Name] = deque()
        self.files: set[str] = set()
        self.read: set[str] = set()
        self.own = source.file
        self.most_names, self.bytes_left = _MOST_NAMES, _MOST_BYTES
        for site in sites:
            self.most_names += _NAMES_OF_SITE
            self.follow(source, site)

    def follow(self, source: Source, node: ast.AST) -> None:
        """Takes the statement around a node, and the names under which it can be used."""
        statement = top_statement(source.module, node)
        if statement is None or isinstance(statement, ast.Import | ast.ImportFrom):
            return
        self.found.statements.setdefault(source.file, set()).add(statement)
        self.found.around.update(source.module.ancestors(node))
        for name, is_global in _names_given(source.module, node):
            self.add(Name(name, source.file if is_global else None))

    def add(self, name: Name) -> None:
        """Looks for one more name when `run` is called."""
        if name not in self.names and not (name.text.startswith("__") and name.text.endswith("__")):
            self.names.add(name)
            self.waiting.append(name)

    def run(self) -> bool:
        """Looks for the names that are waiting; whether that led to more statements."""
        before = sum(map(len, self.found.statements.values()))
        self._run()
        return sum(map(len, self.found.statements.values())) > before

    def _run(self) -> None:
        while self.waiting:
            name = self.waiting.popleft()
            if len(self.names) > self.most_names:
                self.found.is_whole = False
                return
            # The module itself may come from standard input, and be no file of the project.
            self._look(name, self.own)
            for file in self._spelling(name.text):
                if file == self.own:
                    continue
                if not self._may_read(file):
                    self.found.is_whole = False
                    return
                if not self._may_use(name, file):
                    continue
                self.files.add(file)
                if len(self.files) > _MOST_FILES:
                    self.found.is_whole = False
                    return
                self._look(name, file)

    def _spelling(self, name: str) -> list[str]:
        files = self.modules.project.spelling(name)
        return self.in_order(files) if len(files) > _MANY_FILES else files

    def in_order(self, files: Collection[str]) -> list[str]:
        """Those that differentiate something come first: there may be too many to look at them all."""
        first = self.modules.project.matching(_DIFFERENTIATES, set(files) - {self.own})
        return sorted(files, key=lambda file: (file not in first, file))

    def _may_read(self, file: str) -> bool:
        """Whether to read one more file is not too much."""
        if file not in self.read:
            self.read.add(file)
            with contextlib.suppress(OSError):
                self.bytes_left -= os.path.getsize(file)
        return self.bytes_left >= 0

    def _may_use(self, name: Name, file: str) -> bool:
        """Whether a file that spells a name may mean this one, and not another of its own."""
        uses = self.modules.project.uses(file)
        if uses is None or file == name.file:
            return True
        taken = name.file is not None and (name.text in uses.imported or "*" in uses.imported)
        return taken or any(name.text in each for each in (uses.attributes, uses.spelled, uses.declared))

    def _look(self, name: Name, file: str) -> None:
        source = self.modules.source(file)
        if source is None or file.endswith(".pyi"):
            self.found.spelled.add(name.text)
            return
        module = source.module
        if name.file is not None:
            for use in module.uses.get(name.text, ()):
                if self._is_use(use, name, source):
                    self.follow(source, use)
            for other in module.renamed.get(name.text, ()):
                self.add(Name(other, file))
        for attribute in module.attributes.get(name.text, ()):
            if not self._is_of_library(attribute, module):
                self.follow(source, attribute)
        if module.spells(name.text):
            self.found.spelled.add(name.text)

    def _is_of_library(self, attribute: ast.Attribute, module: Module) -> bool:
        origins = module.origins(attribute.value)
        has_module = self.modules.project.has_module
        return bool(origins) and not any(
            o.startswith(".") or has_module(o.partition(".")[0]) for o in origins
        )

    def _is_use(self, use: ast.Name, name: Name, source: Source) -> bool:
        """Whether a name that is read may be the one at the top level of a file, or an import of it."""
        module = source.module
        home = module.home(use.id, module.scopes[use])
        if home is None:
            return bool(module.star_imports)
        if home is module.root and source.file == name.file:
            return True
        return any((b.origin or "").rpartition(".")[2] == name.text for b in home.bindings[use.id])


def _names_given(module: Module, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names under which code outside can reach what a node is part of, and whether each is global."""
    inside = False
    for outer in (node, *module.ancestors(node)):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = True
            owner = module.parents[outer]
            yield outer.name, module.scopes[outer] is module.root
            if isinstance(owner, ast.ClassDef):
                yield outer.name, False
        elif isinstance(outer, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
            for target in targets:
                yield from _stored(target, module, inside)


def _stored(target: ast.AST, module: Module, inside: bool) -> Iterator[tuple[str, bool]]:
    for each in ast.walk(target):
        if isinstance(each, ast.Attribute):
            yield each.attr, False
        elif isinstance(each, ast.Name) and not inside and module.scopes.get(each) is module.root:
            yield each.id, True
