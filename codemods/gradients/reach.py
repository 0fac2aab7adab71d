"""Which statements of which modules may lead to a call site, told by names alone.

A function is reached from wherever its name is read; what reads it hands it on under its own name, and so
on. Only files that spell one of the names are parsed.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from codemods.discovery import STUB
from codemods.gradients.frames import Source
from codemods.gradients.modules import Modules, top_statement
from codemods.gradients.table import TRANSFORMS, words
from codemods.names import Module, Scope, ScopeKind
from codemods.project import module_name
from codemods.uses import (
    ANYTHING,
    LITERALS,
    OBJECT_OF,
    FileUses,
    first_parameter,
    is_import,
    makes_own_objects,
)

_MOST_FILES: Final = 100
_MOST_BYTES: Final = 4_000_000
# Names to follow, and how many more for each call site.
_MOST_NAMES: Final = 500
_NAMES_OF_SITE: Final = 4
# Names under which modules hand on what they import.
_MOST_HANDED_ON: Final = 2_000
# Of more files than this, those come first that differentiate something.
_MANY_FILES: Final = 50
_DIFFERENTIATES: Final = re.compile(rb"(?:%b)\b" % "|".join(sorted(words(TRANSFORMS))).encode())


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
    """A name to look for: one at the top level of a file, or an attribute wherever it is read.

    `owner` is the class whose objects alone have the attribute.
    """

    text: str
    file: str | None = None
    owner: str | None = None


class Search:
    """Follows the names from the call sites of one module."""

    def __init__(self, modules: Modules, source: Source, sites: Iterable[ast.expr]) -> None:
        self.modules = modules
        self.found = Reach()
        self.names: set[Name] = set()
        self.texts: set[tuple[str, str | None]] = set()
        self.waiting: deque[Name] = deque()
        self.elsewhere: deque[Name] = deque()
        self.files: set[str] = set()
        self.read: set[str] = set()
        self.own = source.file
        self.handed_on: set[Name] = set()
        self._meant: dict[tuple[str, str, str], bool] = {}
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
        for name, is_global, owner in _names_given(source.module, node):
            self.add(Name(name, source.file if is_global else None, owner))

    def add(self, name: Name) -> None:
        """Looks for one more name when `run` is called."""
        if name not in self.names and not (name.text.startswith("__") and name.text.endswith("__")):
            self.names.add(name)
            self.texts.add((name.text, name.file))
            self.waiting.append(name)

    def run(self) -> bool:
        """Looks for the names that are waiting; whether that led to more statements."""
        before = sum(map(len, self.found.statements.values()))
        self._run()
        return sum(map(len, self.found.statements.values())) > before

    def _run(self) -> None:
        while self.waiting or self.elsewhere:
            if len(self.texts) - len(self.handed_on) > self.most_names:
                self.found.is_whole = False
                return
            if self.waiting:
                # Own statements come first: other files that share a name may be too many to look at all.
                # The module itself may come from standard input, and be no file of the project.
                name = self.waiting.popleft()
                self._look(name, self.own)
                self.elsewhere.append(name)
            elif not self._look_elsewhere(self.elsewhere.popleft()):
                self.found.is_whole = False
                return

    def _look_elsewhere(self, name: Name) -> bool:
        """Looks for a name in all other files; whether that was not too much."""
        if name.file is not None:
            self._hand_on_all(name, name.file)
        for file in self._spelling(name.text):
            if file == self.own:
                continue
            if not self._may_read(file):
                return False
            if not self._may_use(name, file):
                continue
            self.files.add(file)
            if len(self.files) > _MOST_FILES:
                return False
            self._look(name, file)
        return True

    def _spelling(self, name: str) -> list[str]:
        files = self.modules.project.spelling(name)
        return self.in_order(files) if len(files) > _MANY_FILES else files

    def in_order(self, files: Collection[str]) -> list[str]:
        """The own file, then those that differentiate something: there may be too many to look at all."""
        matches = self.modules.project.matches
        first = {file for file in files if file != self.own and matches(_DIFFERENTIATES, file)}
        return sorted(files, key=lambda file: (file != self.own, file not in first, file))

    def _may_read(self, file: str) -> bool:
        """Whether to read one more file is not too much."""
        if file not in self.read:
            self.read.add(file)
            self.bytes_left -= self.modules.project.size(file)
        return self.bytes_left >= 0

    def _may_use(self, name: Name, file: str) -> bool:
        """Whether a file that spells a name may mean this one, and not another of its own.

        One that only has it in a string is not looked at.
        """
        uses = self.modules.project.uses(file)
        if uses is None or file == name.file:
            return True
        if not uses.mentions(name.text) and "*" not in uses.imported:
            return False
        if self._takes(name, uses) or self._reads(name, uses):
            return True
        if name.text in uses.spelled or name.text in uses.declared:
            self.found.spelled.add(name.text)
        return False

    @staticmethod
    def _takes(name: Name, uses: FileUses) -> bool:
        """Whether a file may import a name of a module."""
        if name.file is None:
            return False
        modules = ("", _module_name(name.file))
        return any((module, each) in uses.taken for module in modules for each in (name.text, "*"))

    def _reads(self, name: Name, uses: FileUses) -> bool:
        """Whether a file reads an attribute of what may have it."""
        bases = uses.bases.get(name.text)
        if bases is None:
            return False
        return any(self._may_be_read(name, base) for base in bases)

    def _may_be_read(self, name: Name, base: str) -> bool:
        if base == ANYTHING:
            return name.file is None or self.modules.project.is_handed_around(name.file)
        if base.startswith(OBJECT_OF):
            return self._may_be_of(name, base.removeprefix(OBJECT_OF))
        return base == "." or self.modules.project.has_module(base.removesuffix("."))

    def _may_be_of(self, name: Name, owner: str) -> bool:
        """Whether an object that has the methods of a class may have what is looked for."""
        if name.file is not None:
            return False
        return name.owner is None or self.modules.project.are_related(owner, name.owner)

    def _look(self, name: Name, file: str) -> None:
        source = None if file.endswith(STUB) else self.modules.source(file)
        if source is None:
            self.found.spelled.add(name.text)
            return
        module = source.module
        if name.file is not None:
            self._look_for_global(name, name.file, source)
        for attribute in module.attributes.get(name.text, ()):
            if self._may_have(attribute.value, name, source):
                self.follow(source, attribute)
        if module.spells(name.text):
            self.found.spelled.add(name.text)

    def _look_for_global(self, name: Name, home: str, source: Source) -> None:
        """Takes what reads a name of a module, in that module or behind an import of it."""
        module = source.module
        if source.file == home:
            self._follow_reads(source, name.text, module.root)
        if any(self._may_mean(star, source, home) for star in module.star_imports):
            self._follow_reads(source, name.text, None)
        for binding in module.imported.get(name.text, ()):
            statement = module.parents[binding.node]
            assert isinstance(statement, ast.ImportFrom)
            if self._may_mean("." * statement.level + (statement.module or ""), source, home):
                self._follow_reads(source, binding.name, binding.scope)
                if binding.scope is module.root:
                    self._hand_on(Name(binding.name, source.file))

    def _follow_reads(self, source: Source, name: str, scope: Scope | None) -> None:
        for use in source.module.references(name, scope):
            self.follow(source, use)

    def _hand_on(self, name: Name) -> None:
        """Looks for what a module has by an import, which others may take from there."""
        if name in self.names:
            return
        if len(self.handed_on) >= _MOST_HANDED_ON:
            self.found.is_whole = False
            return
        self.handed_on.add(name)
        self.add(name)

    def _hand_on_all(self, name: Name, file: str) -> None:
        """A module that takes everything from another has its names without spelling them."""
        for other in self.modules.project.taking_all(Path(file)):
            source = self.modules.source(other)
            if source is not None and any(
                self._may_mean(star, source, file) for star in source.module.star_imports
            ):
                self._hand_on(Name(name.text, other))

    def _may_mean(self, dotted: str, source: Source, file: str) -> bool:
        """Whether a dotted name that a module imports may be the module in a file."""
        key = (dotted, source.file, file)
        if key not in self._meant:
            self._meant[key] = self._is_meant(*key)
        return self._meant[key]

    def _is_meant(self, dotted: str, importer: str, file: str) -> bool:
        found = self.modules.files(dotted, importer)
        if found:
            # Another folder may come first on the path.
            return file in found or dotted.rpartition(".")[2] == _module_name(file)
        return not self._is_of_library(dotted)

    def _is_of_library(self, dotted: str) -> bool:
        return not dotted.startswith(".") and not self.modules.project.has_module(dotted.partition(".")[0])

    def _may_have(self, base: ast.expr, name: Name, source: Source) -> bool:
        """Whether an attribute with this name of `base` may be what is looked for."""
        if isinstance(base, LITERALS):
            return False
        origins = source.module.origins(base)
        if origins:
            return any(self._has(origin, name, source) for origin in origins)
        owner = _own_class(base, source.module)
        if owner is not None:
            return self._may_be_of(name, owner)
        return name.file is None or is_import(base) or self.modules.project.is_handed_around(name.file)

    def _has(self, origin: str, name: Name, source: Source) -> bool:
        """Whether what has a dotted name may have what is looked for: no module has a method."""
        if name.file is not None:
            return self._may_mean(origin, source, name.file)
        return not self._is_of_library(origin) and not self.modules.files(origin, source.file)


@functools.lru_cache(maxsize=1_000)
def _module_name(file: str) -> str:
    return module_name(Path(file))


def _own_class(base: ast.expr, module: Module) -> str | None:
    """The class that `base` is an object of, where it is made of it or what its method is called on."""
    if "ModuleType" in module.all_names:
        return None
    if isinstance(base, ast.Call) and isinstance(base.func, ast.Name):
        made = module.sole_binding(base.func)
        is_plain = made is not None and isinstance(made.node, ast.ClassDef) and makes_own_objects(made.node)
        return base.func.id if is_plain else None
    if not isinstance(base, ast.Name):
        return None
    scope = module.home(base.id, module.scopes[base])
    owner = module.parents.get(scope.node) if scope is not None else None
    if scope is None or not isinstance(owner, ast.ClassDef):
        return None
    is_own = first_parameter(scope.node) == base.id and len(scope.bindings[base.id]) == 1
    return owner.name if is_own else None


def _names_given(module: Module, node: ast.AST) -> Iterator[tuple[str, bool, str | None]]:
    """The names under which code outside can reach what a node is part of.

    With each, whether it is global, and the class whose objects have it.
    """
    inside, inner = False, node
    yield from _keys_of(module, node)
    for outer in (node, *module.ancestors(node)):
        match outer:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                inside = True
                owner = module.parents[outer]
                of_class = owner.name if isinstance(owner, ast.ClassDef) else None
                yield outer.name, module.scopes[outer] is module.root, of_class
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from _stored(target, module, inside)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.NamedExpr(target=target):
                yield from _stored(target, module, inside)
            case ast.For(target=target, iter=values) | ast.AsyncFor(target=target, iter=values):
                if inner is values:
                    yield from _stored(target, module, inside)
            case ast.withitem(optional_vars=ast.expr() as target):
                yield from _stored(target, module, inside)
        inner = outer


def _keys_of(module: Module, node: ast.AST) -> Iterator[tuple[str, bool, str | None]]:
    """The name of a value that is passed, or held by a dict, under its own name."""
    match node, module.parents.get(node):
        case ast.Name(id=name), ast.keyword(arg=key) if key == name:
            yield name, False, None
        case ast.Name(id=name), ast.Dict(keys=keys, values=values):
            if any(
                v is node and isinstance(k, ast.Constant) and k.value == name
                for k, v in zip(keys, values, strict=True)
            ):
                yield name, False, None


def _stored(target: ast.AST, module: Module, inside: bool) -> Iterator[tuple[str, bool, str | None]]:
    for each in ast.walk(target):
        if isinstance(each, ast.Attribute):
            yield each.attr, False, None
        elif isinstance(each, ast.Name) and each in module.scopes:
            scope = module.scopes[each]
            if scope.kind is ScopeKind.CLASS:
                yield each.id, False, getattr(scope.node, "name", None)
            elif not inside and scope is module.root:
                yield each.id, True, None
