"""The project around the migrated files: who else uses a name, and what its modules hand on."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods import names
from codemods.apis import Api
from codemods.contents import Contents
from codemods.discovery import NOTEBOOK, STUB, SUFFIXES, is_marked, marked, project_of, python_files
from codemods.names import Module
from codemods.patches import Patch, find, may_patch
from codemods.source import SourceError, SourceFile
from codemods.uses import ANYTHING, IMPORTERS, ClassUse, FileUses, everything, read_uses

_LOOKED_AT: Final = (*SUFFIXES, STUB)
_JSON_ESCAPE: Final = re.compile(rb"\\[bfnrt]")
# Larger files are not parsed, or not even read: each may use whatever it spells.
_LARGEST_PARSED: Final = 2_000_000
_LARGEST_READ: Final = 32_000_000
# How many bytes of parsed modules are remembered from one migrated file to the next. A byte of source takes
# some hundred bytes once it is parsed.
_REMEMBERED: Final = 4_000_000
# What a file must have, beside a name, to put something else in its place: a helper that patches, or an
# assignment to an attribute or an element.
_PATCHING: Final = re.compile(rb"(?i:set|del|patch|mock|spy|stub|swap|replac|overrid)|\]\s*=")
# An annotation that is longer counts as one with a value.
_STORING: Final = rb"\.\s*%b\s*(?:=[^=]|:(?:[^=\n]{200}|[^=\n]+=[^=]))"
# The names of `from . import …`, in a file or in the lines of a notebook; comments may be anything. Nothing
# in it is tried in two ways, which would take for ever where there are many comments.
_FROM_PACKAGE: Final = re.compile(
    rb"from[\s\\]*\.[\s\\.]*import\b(?:(?!\bfrom\b)[\w\s,()*\\\"\x80-\xff]|#[^\n]*+)*+"
)
# Of more classes than this that derive from one another, each may be any.
_MOST_KIN: Final = 200
_DELEGATING: Final = frozenset({"__getattr__", "__getattribute__"})
_STAR: Final = re.compile(rb"\bimport[\s\\]*\*")
# What a file may raise that is not Python, not text, or nested without end. That is its own misfortune, and
# not that of the files which are migrated.
_UNREADABLE: Final = (SourceError, OSError, ValueError, LookupError, RecursionError, MemoryError, SystemError)


class Project:
    """The Python files of a project, read only when a name must be looked for."""

    def __init__(self, places: Sequence[Path]) -> None:
        """`places` are folders to walk, and files."""
        self._places = places
        # Those that were asked for last are at the end.
        self._modules: dict[str, Module | None] = {}
        self._parsed: dict[str, int] = {}
        self._sources: dict[str, SourceFile | None] = {}

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Project:
        """The project of `paths`: their repositories, or the nearest folders with a project file.

        Where there is neither, the project is the given folders, the packages that hold what is given, and
        the folders of the given files without what lies below them: a script in a home folder does not make
        a project of it.
        """
        places: dict[Path, None] = {}
        project = functools.cache(project_of)  # a list of files has many of one folder
        for path in (Path(os.path.abspath(path)) for path in paths):
            folder = path if os.path.isdir(path) else path.parent
            if (top := project(str(folder))) is not None:
                places[Path(top)] = None
                continue
            package = _package(folder)
            if package is not None:
                places[package] = None
            if package is not None or folder != path:
                places.update(dict.fromkeys(_beside(package or path)))
            else:
                places[path] = None
        return cls(tuple(places))

    def used_elsewhere(self, name: str, path: Path) -> bool:
        """Whether another file imports `name`, reads it as an attribute, or spells it in a string.

        In the other projects of a repository the name is common, and only what is taken from the very module
        counts.
        """
        module = module_name(path)
        return any(
            (module, name) in other.taken
            or (
                self._is_near(file, path)
                and (other.mentions(name) or ("*" in other.imported and not name.startswith("_")))
            )
            for file, other in self.others(name, path)
        )

    def _is_near(self, file: str, path: Path) -> bool:
        """Whether a file is in the same project of the repository as `path`."""
        top = self._marked(os.path.dirname(_real(path)))
        return top is None or file.startswith(os.path.join(top, ""))

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def _marked(self, folder: str) -> str | None:
        return marked(folder)

    def reexported(self, name: str, path: Path) -> bool:
        """Whether another file takes `name` from the module that `path` is, or takes everything from it."""
        module = module_name(path)
        likely = (self._spelling(name) & self._spelling(module)) | self._from_packages(name)
        return any(
            (module, name) in other.taken or ("", name) in other.taken
            for _, other in self._uses_of(name, likely, path)
        ) or any(
            (module, "*") in other.taken for _, other in self.others(module, path) if "*" in other.imported
        )

    def importing(self, path: Path) -> list[str]:
        """The files that take something from the module that `path` is."""
        module = module_name(path)
        return [
            file
            for file, other in self.others(module, path)
            if module in other.imported or any(taken == module for taken, _ in other.taken)
        ]

    def replaced(self, name: str, path: Path) -> str | None:
        """The first other file that may put something else where a module has `name`, as tests do."""
        found = self._uses_of(name, self._patching(name, _real(path)), path)
        return next((file for file, other in found if name in other.patched | other.stored), None)

    def others(self, name: str, path: Path) -> Iterator[tuple[str, FileUses]]:
        """The files that spell `name`, with what they use, but for the one at `path`."""
        return self._uses_of(name, self._spelling(name), path)

    def _uses_of(self, name: str, files: Collection[str], path: Path) -> Iterator[tuple[str, FileUses]]:
        """What `files`, all of which spell `name`, use; without the one at `path`."""
        own = _real(path)
        for file in sorted(files):
            if file != own:
                # One that is too large to be looked into uses what it spells, and all that a module has.
                yield file, self.uses(file) or everything(os.fsencode(name) + b" *")

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def uses(self, path: str) -> FileUses | None:
        """What a file of the project uses; None where it is too large to tell."""
        try:
            data = _read(path)
        except OSError:
            return FileUses()  # it is gone
        if len(data) > _LARGEST_READ:
            return None
        try:
            source = _source(path, data)
            if source.runs_files:
                return everything(source.text.encode(errors="replace"))
            return read_uses(source.tree, stub=path.endswith(STUB))
        except _UNREADABLE:
            # In a notebook's JSON, an escape may stand right in front of a word.
            return everything(_JSON_ESCAPE.sub(b" ", data) if path.endswith(NOTEBOOK) else data)

    def forget(self) -> None:
        """Lets go of the parsed modules that were asked for least of late, when they have become many.

        To be called when nothing refers to them.
        """
        self._sources.clear()
        excess = sum(self._parsed.values()) - _REMEMBERED
        while excess > 0:
            file = next(iter(self._modules))
            del self._modules[file]
            excess -= self._parsed.pop(file, 0)

    def taking_all(self, path: Path) -> list[str]:
        """The files that may take everything from the module that `path` is."""
        wanted = {(module_name(path), "*"), ("", "*")}
        return [file for file in self._with_stars if (uses := self.uses(file)) and uses.taken & wanted]

    @functools.cache  # noqa: B019
    def is_handed_around(self, file: str) -> bool:
        """Whether another file may hand on the module in `file`, or a package around it, as a value."""
        return self._computes_imports or any(
            map(self._is_handed, {module_name(Path(file)), *self._parts(file)})
        )

    @functools.cache  # noqa: B019
    def _is_handed(self, module: str) -> bool:
        return module in self._module_names and any(
            uses is None or module in uses.handed for uses in map(self.uses, self._spelling(module))
        )

    @functools.cached_property
    def _computes_imports(self) -> bool:
        """Whether a file hands on a module whose name is computed."""
        files = frozenset().union(*map(self._spelling, IMPORTERS))
        return any(uses is None or ANYTHING in uses.handed for uses in map(self.uses, files))

    def are_related(self, name: str, other: str) -> bool:
        """Whether an object may have methods of both classes with these names."""
        kin = self._kin(name)
        return other in kin or ANYTHING in kin or ANYTHING in self._kin(other)

    @functools.cache  # noqa: B019
    def _kin(self, name: str) -> frozenset[str]:
        """A class with those that derive from one another; `ANYTHING` where one may be out of sight."""
        found, waiting = {name}, [name]
        while waiting and ANYTHING not in found and len(found) < _MOST_KIN:
            new = self._next_kin(waiting.pop()) - found
            found |= new
            waiting += new
        return frozenset(found | {ANYTHING} if waiting else found)

    def _next_kin(self, name: str) -> set[str]:
        found, is_class = set(), False
        all_uses = [self.uses(file) for file in self._spelling(name)]
        taken = {attribute for uses in all_uses if uses for of, attribute in uses.taken if of == name}
        for uses in all_uses:
            for each in uses.classes if uses else ():
                bases = set(self._bases_in_sight(each))
                if name == each.name:
                    is_class = True
                    found |= bases
                    # One that hands out its methods, or looks for those of others.
                    if each.defined & (taken | _DELEGATING):
                        found.add(ANYTHING)
                elif name in bases:
                    found.add(each.name)
            found |= {
                another
                for own, other in (uses.renamed if uses else ())
                if name in (own, other)
                for another in (own, other)
            }
        return found | {ANYTHING} if None in all_uses or not (is_class or found) else found

    def _bases_in_sight(self, owner: ClassUse) -> Iterator[str]:
        for dotted in itertools.chain.from_iterable({ANYTHING} if b is None else b for b in owner.bases):
            root, dot, _ = dotted.partition(".")
            if not dot or not root or self.has_module(root):
                yield dotted.rpartition(".")[2]

    @functools.cached_property
    def _with_stars(self) -> list[str]:
        return sorted(self._contents.matching(_STAR.search, self._files))

    def spelling(self, name: str) -> list[str]:
        """The files that spell `name`, notebooks and stubs included."""
        return sorted(self._spelling(name))

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def matches(self, pattern: re.Pattern[bytes], file: str) -> bool:
        """Whether the content of a file of the project may match."""
        return bool(self._contents.matching(pattern.search, (file,)))

    @functools.cache  # noqa: B019
    def size(self, file: str) -> int:
        """How many bytes a file has; none if it cannot be found any more."""
        try:
            return os.path.getsize(file)
        except OSError:
            return 0

    def has_module(self, name: str) -> bool:
        """Whether a file or folder of the project may be what `import name` finds."""
        return name in self._module_names

    def module_files(self, dotted: str, path: Path) -> list[str]:
        """The files that `dotted`, with leading dots where relative, may mean when imported in `path`."""
        return list(self.files_from(dotted, os.path.dirname(_real(path))))

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def files_from(self, dotted: str, folder: str) -> tuple[str, ...]:
        """The files that `dotted` may mean when imported by a module in `folder`, a real path."""
        parts = dotted.lstrip(".").split(".") if dotted.strip(".") else []
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            roots = [folder]
        else:
            roots = self._import_roots(folder)
        found: dict[str, None] = {}
        for root in roots:
            stem = os.path.join(root, *parts)
            for file in (f"{stem}.py", os.path.join(stem, "__init__.py")):
                if (parts or file.endswith("__init__.py")) and os.path.isfile(file):
                    found[os.path.realpath(file)] = None
        if not found:  # `%run` takes a notebook as well
            stems = [os.path.join(root, *parts) for root in roots if parts]
            found = {os.path.realpath(s + NOTEBOOK): None for s in stems if os.path.isfile(s + NOTEBOOK)}
        return tuple(found)

    def _import_roots(self, folder: str) -> list[str]:
        """The folders that may be on the path of a program with a module in `folder`."""
        tops = [os.path.realpath(place) for place in self._places if place.is_dir()]
        roots = [folder]
        while folder not in tops and os.path.dirname(folder) != folder:
            if not tops and not os.path.exists(os.path.join(folder, "__init__.py")):
                break
            folder = os.path.dirname(folder)
            roots.append(folder)
        return roots + [os.path.join(root, "src") for root in roots]

    def module(self, file: str) -> Module | None:
        """The names of the module in a file; None where it cannot be read or parsed."""
        module = self._modules.pop(file) if file in self._modules else self._read(file)
        self._modules[file] = module
        return module

    def source(self, file: str) -> SourceFile | None:
        """The text of a file; None where it cannot be read or decoded."""
        if file not in self._sources:
            try:
                self._sources[file] = SourceFile.from_bytes(Path(file), _read(file))
            except _UNREADABLE:
                self._sources[file] = None
        return self._sources[file]

    def patches(self, path: Path, api: Api) -> Iterator[tuple[str, str]]:
        """File and place where another file of the same project replaces the API it calls."""
        own, called = _real(path), module_name(path)
        for file, found in self._patches(api).items():
            if file != own and self._is_near(file, path):
                yield from ((file, place) for patch, place in found if patch.module in ("jax", called))

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def _patches(self, api: Api) -> dict[str, list[tuple[Patch, str]]]:
        hits = [file for file in self._contents.containing(api.name.encode()) if file.endswith(SUFFIXES)]
        return {file: found for file in sorted(hits) if (found := self._patches_in(file, api))}

    def _patches_in(self, file: str, api: Api) -> list[tuple[Patch, str]]:
        try:
            data = _read(file)
            if not may_patch(data, api):
                return []
            # Read for this alone, lest every hit of a large project stays in memory.
            source = _source(file, data)
            found = find(names.read(source.tree), api)
            places = [(patch, source.position(patch.line, 1)) for patch in found]
        except _UNREADABLE:
            return []
        return [(patch, f"cell {p.cell}:{p.line}" if p.cell else f"{p.line}") for patch, p in places]

    @functools.cached_property
    def _module_names(self) -> frozenset[str]:
        return frozenset(itertools.chain.from_iterable(map(self._parts, self._files)))

    def _parts(self, file: str) -> list[str]:
        """The names of a module and of the packages around it, as far out as the project reaches."""
        parts = [part for part in os.path.splitext(file.removeprefix(self._top))[0].split(os.sep) if part]
        return [os.path.basename(self._top), *parts] if self._top_is_package else parts

    @functools.cached_property
    def _top(self) -> str:
        """The folder around all files."""
        return os.path.commonpath([os.path.dirname(file) for file in self._files]) if self._files else os.sep

    @functools.cached_property
    def _top_is_package(self) -> bool:
        """Whether the folder around all files may be imported; that of a repository says so somewhere."""
        if os.path.isfile(os.path.join(self._top, "__init__.py")):
            return True
        if not is_marked(self._top) and not os.path.exists(os.path.join(self._top, ".git")):
            return True
        name = os.path.basename(self._top)
        word = re.escape(os.fsencode(name))
        imports = rb"(?:^|[\r\n;:])[ \t]*(?:from[ \t]+|import[ \t][^\r\n;]*\b)%b\b" % word
        strings = rb"[\"']%b\.(?!py\b|ipynb\b)" % word
        pattern = re.compile(b"%b|%b" % (imports, strings))
        return bool(self._contents.matching(pattern.search, self._spelling(name)))

    @functools.cached_property
    def _files(self) -> tuple[str, ...]:
        """The real path of each file."""
        places = [Path(os.path.realpath(place)) for place in self._places]
        found = python_files(places, lambda path, reason: None, _LOOKED_AT)
        return tuple(os.path.realpath(path) if os.path.islink(path) else path for path in found)

    @functools.cached_property
    def _contents(self) -> Contents:
        return Contents(self._files)

    @functools.cache  # noqa: B019 - a project lives as long as the run
    def _spelling(self, name: str) -> frozenset[str]:
        spelled = {os.fsencode(name)}  # a file's name, and so that of a module, may be no text
        if not name.isascii():
            spelled.add(json.dumps(name)[1:-1].encode())  # as a notebook may have it
        return frozenset(itertools.chain.from_iterable(map(self._contents.spelling, spelled)))

    @functools.cache  # noqa: B019
    def _patching(self, name: str, own: str) -> frozenset[str]:
        """The files, but for one's own, that may replace `name` in a module."""
        files = self._spelling(name) - {own}
        if not files:  # to compile a pattern takes time
            return frozenset()
        stores = re.compile(_STORING % re.escape(os.fsencode(name))).search
        return frozenset(filter(self._may_patch, files)).union(self._contents.matching(stores, files))

    @functools.cache  # noqa: B019
    def _may_patch(self, file: str) -> bool:
        """Whether a file has something that may replace whatever it names."""
        return bool(self._contents.matching(_PATCHING.search, (file,)))

    @functools.cache  # noqa: B019
    def _from_packages(self, name: str) -> frozenset[str]:
        """The files that may import `name` from the package that they are in, or one around that."""
        files = self._spelling(name)
        if not files:
            return frozenset()
        word = re.compile(rb"(?<![0-9A-Za-z_])%b(?![0-9A-Za-z_])" % re.escape(os.fsencode(name)))

        def imports(data: bytes) -> bool:
            return any(word.search(found.group()) for found in _FROM_PACKAGE.finditer(data))

        return frozenset(self._contents.matching(imports, files))

    def _read(self, file: str) -> Module | None:
        try:
            data = _read(file)
            self._parsed[file] = len(data)
            return names.read(_source(file, data).tree)
        except _UNREADABLE:
            return None


def module_name(path: Path) -> str:
    """The last part of the dotted name of the module that `path` is."""
    return path.parent.name if path.stem == "__init__" else path.stem


def _real(path: Path) -> str:
    """The real path of a file, which is asked for again and again; a relative one leads from where we are."""
    return _real_of(os.fspath(path) if path.is_absolute() else os.path.join(os.getcwd(), path))


@functools.lru_cache(maxsize=16)
def _real_of(path: str) -> str:
    return os.path.realpath(path)


def _package(folder: Path) -> Path | None:
    """The outermost package that a folder belongs to."""
    found = None
    while os.path.isfile(folder / "__init__.py") and folder != folder.parent:
        found, folder = folder, folder.parent
    return found


def _read(file: str) -> bytes:
    """The bytes of a file; of one that is too large, enough to tell.

    Raises:
      OSError: it cannot be read.
    """
    with open(file, "rb") as opened:
        return opened.read(_LARGEST_READ + 1)


def _source(path: str, data: bytes) -> SourceFile:
    source = SourceFile.from_bytes(Path(path), data)
    if len(source.text) > _LARGEST_PARSED:
        raise SourceError(Path(path), 0, "is too large to be looked into")
    return source


def _beside(path: Path) -> list[Path]:
    """The files to look at in the folder of `path`; `path` alone where the folder cannot be listed."""
    try:
        found = list(path.parent.iterdir())
    except OSError:
        return [path]
    return sorted(p for p in found if p.name.endswith(_LOOKED_AT) and os.path.isfile(p))
