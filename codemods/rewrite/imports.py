"""Adds the imports that migrated code needs, and drops those that nothing uses any more."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection
from typing import Final, TypeGuard

from codemods.free_names import FreeNames
from codemods.names import Binding, Module, Scope, ScopeKind
from codemods.rewrite import unused
from codemods.rewrite.edits import Edits
from codemods.rewrite.removal import Removal
from codemods.source import SourceFile
from codemods.trees import walk

Import = ast.Import | ast.ImportFrom

_NO_HEADER: Final = "JAX is not imported at the top of the module, so its helpers have no sure place."


class NoPlace(Exception):
    """There is no place where an import would be sure to run before its use."""


class Imports:
    """The imports of one module: finds a usable name, or plans a new import.

    A module that imports JAX at its top level gets its new imports there. Where JAX is imported inside
    functions, so is the runtime: beside the import that a call uses, which has run by then. Else it is
    imported at the top of the outermost function that needs it.
    """

    def __init__(
        self, source: SourceFile, module: Module, runtime: str, planned: Collection[str] = ()
    ) -> None:
        self._source, self._module, self._runtime = source, module, runtime
        self._free = FreeNames(module, planned)
        self._top_level: dict[str, str] = {}
        self._local: dict[tuple[ast.stmt | ast.Lambda, str], str] = {}
        self._chosen: dict[str, str] = {}
        self._needed: set[str] = set()
        self._known: dict[tuple[str, ast.AST], list[tuple[str, int]]] = {}
        self._offsets: set[int] = set()

    def runtime(self, node: ast.AST) -> str:
        return self._name(self._runtime, None, node)

    def numpy(self, node: ast.AST) -> str:
        return self._name("numpy", "np", node)

    def jax(self, node: ast.AST) -> str:
        return self._name("jax", None, node)

    def spelled(self, dotted: str, node: ast.AST) -> str:
        """What to call a member of a library in a statement: the shortest that the imports there allow."""
        scope = self._module.opened.get(node, self._module.scopes.get(node, self._module.root))
        in_sight, line = node not in self._module.opened, self._top_line(node)
        library, rest = dotted, ""
        while library:
            name = self._existing(library, scope, line, own_body=in_sight) or self._guarded(library, scope)
            if name is not None:
                self._needed.add(name)
                return name + rest
            library, _, last = library.rpartition(".")
            rest = f".{last}{rest}"
        package, _, rest = dotted.partition(".")
        if package in _LAZY:
            module, _, rest = rest.partition(".")
            package = f"{package}.{module}"
        return f"{self._name(package, None, node)}.{rest}"

    def runtime_in_header(self, function: ast.stmt) -> str:
        return self._in_header(self._runtime, None, function)

    def numpy_in_header(self, function: ast.stmt) -> str:
        return self._in_header("numpy", "np", function)

    def end_of_header(self) -> tuple[int, str]:
        """The offset behind the top-level imports that hold JAX's, where definitions may follow.

        With it what goes between the definitions and a statement that shares the last import's line.
        """
        anchor = self._anchor()
        if anchor is None:
            raise NoPlace(_NO_HEADER)
        body = self._module.tree.body
        last: ast.stmt = anchor
        for statement in body[body.index(anchor) :]:
            if not _is_import(statement):
                break
            last = statement
        line = last.end_lineno or last.lineno
        behind = body[body.index(last) + 1 :]
        if behind and behind[0].lineno == line:
            return self._source.start(behind[0]), "\n\n"
        return self._source.line_end(line), ""

    def lines_in(self, function: ast.AST) -> list[str]:
        """The imports that belong at the top of a function."""
        return [_statement(name, alias) for (home, name), alias in self._local.items() if home is function]

    def apply(self, edits: Edits, rewritten: frozenset[ast.AST]) -> None:
        """Adds the planned imports; functions in `rewritten` put their own in themselves."""
        for name, alias in sorted(self._top_level.items(), reverse=True):
            self._add_at_top(name, alias, edits)
        for (home, name), alias in self._local.items():
            if home not in rewritten:
                assert isinstance(home, ast.stmt)
                self._add_above(home, _statement(name, alias), edits)

    def adds_at(self, offset: int) -> bool:
        """Whether an import was added at an offset."""
        return offset in self._offsets

    # Names.

    def _name(self, library: str, alias: str | None, node: ast.AST) -> str:
        scope = self._module.opened.get(node, self._module.scopes.get(node, self._module.root))
        existing = self._existing(
            library, scope, self._top_line(node), own_body=node not in self._module.opened
        )
        if existing is not None:
            self._needed.add(existing)
            return existing
        chosen = self._alias(library, alias)
        if self._anchor() is not None:
            self._top_level[library] = chosen
            return chosen
        home: ast.stmt | ast.Lambda | None = self._beside(node)
        if home is None:
            home = node if isinstance(node, ast.FunctionDef | ast.Lambda) else self._above(node, library)
        self._local[home, library] = chosen
        return chosen

    def _in_header(self, library: str, alias: str | None, function: ast.stmt) -> str:
        """A name that is bound where the annotations of a function are evaluated; empty if there is none."""
        scope, first = self._module.scopes[function], self._top_line(function)
        for candidate in scope.enclosing():
            before = first if candidate is self._module.root else function.lineno
            for name, line in self._bound_to(library, candidate):
                if line < before and self._module.home(name, scope) is candidate:
                    self._needed.add(name)
                    return name
        anchor = self._anchor()
        if anchor is None or anchor.lineno >= first:
            return ""
        chosen = self._alias(library, alias)
        self._top_level[library] = chosen
        return chosen

    def _top_line(self, node: ast.AST) -> int:
        """The first line of the top-level statement that holds a node."""
        around = [a for a in (node, *self._module.ancestors(node)) if isinstance(a, ast.stmt)]
        return around[-1].lineno if around else 1 << 30

    def _above(self, node: ast.AST, library: str) -> ast.stmt:
        """The statement to import in front of: the one that needs it, or one that surely runs before it."""
        if node is self._module.tree:
            raise NoPlace(_NO_HEADER)
        statement = self._module.statement(node)
        inner: ast.AST = statement
        while isinstance(inner, ast.stmt):
            block = self._module.block(inner)
            for earlier in block[: block.index(inner) + 1]:
                if (earlier, library) in self._local:
                    return earlier
            inner = self._module.parents[inner]
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
        if self._module.enclosing_class(statement) is not None or _is_elif(statement, self._source):
            raise NoPlace(f"`import {library}` has no sure place in front of this call.")
        return statement

    def _existing(self, library: str, scope: Scope, top_line: int, *, own_body: bool) -> str | None:
        """A name in sight that is bound to `library` alone, and in time: not in a function's own body."""
        for level, candidate in enumerate(scope.enclosing()):
            is_late = candidate.is_function and not (level or own_body)
            if is_late or (level and candidate.kind is ScopeKind.CLASS):
                continue
            for name, line in self._bound_to(library, candidate):
                in_time = candidate is not self._module.root or line < top_line
                if in_time and self._module.home(name, scope) is candidate:
                    return name
        return None

    def _guarded(self, library: str, scope: Scope) -> str | None:
        """A name that is bound to `library` or to None, for code of a function that needs it anyway."""
        if scope is self._module.root:
            return None
        for candidate in scope.enclosing():
            for name, found in candidate.bindings.items():
                plain = [binding for binding in found if not _is_none(binding)]
                is_bound = bool(plain) and all(binding.origin == library for binding in plain)
                if is_bound and self._module.home(name, scope) is candidate:
                    return name
        return None

    def _bound_to(self, library: str, scope: Scope) -> list[tuple[str, int]]:
        """The names that a scope binds to `library` alone, each with the line of its import."""
        key = (library, scope.node)
        if key not in self._known:
            self._known[key] = [
                (name, getattr(found[0].node, "lineno", 0))
                for name, found in scope.bindings.items()
                if all(b.origin == library and self._always_runs(b.node) for b in found)
            ]
        return self._known[key]

    def _always_runs(self, alias: ast.AST) -> bool:
        """Whether an import stands straight in the body of its module or function."""
        statement = self._module.statement(alias)
        return isinstance(
            self._module.parents[statement], ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
        ) and self._source.keeps_names(statement.lineno)

    def _alias(self, library: str, alias: str | None) -> str:
        if library not in self._chosen:
            plain = alias or library.rpartition(".")[2]
            taken = plain in self._module.all_names
            if taken and alias and library not in self._module.all_names:
                self._chosen[library] = self._free.fresh(library)
            else:
                self._chosen[library] = self._free.fresh(f"_{plain}" if taken else plain)
        return self._chosen[library]

    def _beside(self, node: ast.AST) -> Import | None:
        """The import of JAX in a function that has run whenever `node` does."""
        used: list[ast.expr] = [node] if isinstance(node, ast.Attribute | ast.Name) else []
        if isinstance(node, ast.Call):
            used = [node.func, *node.args[:1]]
        for name in (n for expression in used for n in walk(expression) if isinstance(n, ast.Name)):
            alias = self._alias_before(name)
            if alias is not None and self._module.scopes[alias].is_function:
                statement = self._module.parents[alias]
                if isinstance(statement, ast.Import | ast.ImportFrom) and _imports_jax(statement):
                    return statement
        scope = self._module.scopes.get(node, self._module.root)
        planned = [home for home, _ in self._local if isinstance(home, ast.Import | ast.ImportFrom)]
        around = list(scope.enclosing())
        return next((home for home in planned if self._module.scopes[home] in around), None)

    # Placement.

    def _anchor(self) -> Import | None:
        """The first unguarded top-level import of JAX."""
        imports = (s for s in self._module.tree.body if isinstance(s, ast.Import | ast.ImportFrom))
        lasting = (s for s in imports if self._source.keeps_names(s.lineno))
        return next(filter(_imports_jax, lasting), None)

    def _block(self, anchor: Import) -> list[Import]:
        """The imports around `anchor` that no blank line, other statement or standard library separates."""
        body = self._module.tree.body
        position = body.index(anchor)
        block = [anchor]
        for statement in reversed(body[:position]):
            if not _is_third_party(statement) or (statement.end_lineno or 0) + 1 < block[0].lineno:
                break
            block.insert(0, statement)
        for statement in body[position + 1 :]:
            if not _is_third_party(statement) or statement.lineno > (block[-1].end_lineno or 0) + 1:
                break
            block.append(statement)
        return block

    def _add_at_top(self, name: str, alias: str, edits: Edits) -> None:
        anchor = self._anchor()
        assert anchor is not None
        text = _statement(name, alias)
        if name.partition(".")[0] in sys.stdlib_module_names:
            self._add_to_standard_library(text, name, self._block(anchor)[0], edits)
            return
        block = self._block(anchor)
        module = name.rpartition(".")[0]
        alike = [s for s in block if not module or isinstance(s, ast.ImportFrom)]
        alike = [s for s in alike if module or isinstance(s, ast.Import)]
        key = (module or name).lower()
        later = [s for s in alike if _sort_key(s) > key]
        if later or not (alike or module):
            self._add_above(later[0] if later else block[0], text, edits)
            return
        last = alike[-1] if alike else block[-1]
        if self._shares_line(last):
            self._add_above(last, text, edits)  # what shares the line may need the import
            return
        offset = self._source.line_end(last.end_lineno or last.lineno)
        newline = self._source.newline
        ends_line = self._source.text[:offset].endswith(("\n", "\r"))
        self._insert(offset, text + newline if ends_line else newline + text, edits)

    def _add_to_standard_library(self, text: str, name: str, first: Import, edits: Edits) -> None:
        """Adds an import of Python's own among those above `first`, or in a block of its own there."""
        above = self._module.tree.body[: self._module.tree.body.index(first)]
        plain = [s for s in above if isinstance(s, ast.Import) and not _is_third_party(s)]
        later = [s for s in plain if _sort_key(s) > name]
        if later:
            self._add_above(later[0], text, edits)
            return
        newline = self._source.newline
        if plain and self._shares_line(plain[-1]):
            self._add_above(plain[-1], text, edits)
            return
        if plain:
            offset = self._source.line_end(plain[-1].end_lineno or plain[-1].lineno)
            self._insert(offset, text + newline, edits)
            return
        offset = self._source.line_start(first.lineno)
        self._insert(offset, f"{text}{newline}{newline}", edits)

    def _shares_line(self, statement: ast.stmt) -> bool:
        """Whether more than a comment stands behind a statement on its last line."""
        end = self._source.line_end(statement.end_lineno or statement.lineno)
        behind = self._source.text[self._source.end(statement) : end].strip()
        return bool(behind) and not behind.startswith("#")

    def _add_above(self, statement: ast.stmt, text: str, edits: Edits) -> None:
        """Adds a statement right before another one, on its line if something else stands in front."""
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        start, offset = self._source.start(statement), self._source.line_start(first)
        if first == statement.lineno and self._source.text[offset:start].strip(" \t\f"):
            self._insert(start, f"{text}; ", edits)
        else:
            indent = self._source.indentation(first)
            self._insert(offset, f"{indent}{text}{self._source.newline}", edits)

    def _insert(self, offset: int, text: str, edits: Edits) -> None:
        self._offsets.add(offset)
        edits.insert(offset, lambda: text)

    # Removal.

    def drop_unused(self, gone: frozenset[ast.Name], is_kept: Callable[[str], bool], edits: Edits) -> None:
        """Removes each import alias whose every use is among `gone`, unless its name is kept."""
        found = unused.find(
            self._module, gone, lambda name: name in self._needed or is_kept(name), self._is_touched
        )
        Removal(self._source, self._module, edits, self._offsets.__contains__).remove(found)

    def _is_touched(self, statement: ast.stmt) -> bool:
        """Whether an import is put into a statement."""
        start, end = self._source.start(statement), self._source.end(statement)
        return any(start < offset <= end for offset in self._offsets)

    def _alias_before(self, use: ast.Name) -> ast.alias | None:
        """The import that a name was bound by last: the only one, or the nearest in the blocks around it."""
        aliases = [b.node for b in self._module.bindings(use) if isinstance(b.node, ast.alias)]
        if len(aliases) < 2:
            return aliases[0] if aliases and self._module.sole_binding(use) else None
        around = [a for a in (use, *self._module.ancestors(use)) if isinstance(a, ast.stmt)]
        for statement in around:
            block = self._module.block(statement)
            for earlier in reversed(block[: block.index(statement)]):
                found = next((alias for alias in aliases if self._module.parents[alias] is earlier), None)
                if found is not None:
                    return found
        return None


def _is_none(binding: Binding) -> bool:
    return isinstance(binding.value, ast.Constant) and binding.value.value is None


def _is_elif(statement: ast.stmt, source: SourceFile) -> bool:
    return isinstance(statement, ast.If) and source.text.startswith("elif", source.start(statement))


_JAX: Final = "jax"
_LAZY: Final = frozenset({"scipy"})  # whose modules are imported one by one


def _is_jax(name: str) -> bool:
    return name == _JAX or name.startswith("jax.")


def _imports_jax(statement: Import) -> bool:
    if isinstance(statement, ast.Import):
        return any(_is_jax(alias.name) for alias in statement.names)
    return not statement.level and _is_jax(statement.module or "")


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_third_party(statement: ast.stmt) -> TypeGuard[Import]:
    """Whether a statement imports something that Python does not come with."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return False
    name = statement.names[0].name if isinstance(statement, ast.Import) else statement.module or ""
    return name.partition(".")[0] not in sys.stdlib_module_names


def _sort_key(statement: Import) -> str:
    name = statement.names[0].name if isinstance(statement, ast.Import) else statement.module
    return (name or "").lower()


def _statement(name: str, alias: str) -> str:
    module, _, member = name.rpartition(".")
    if module:
        return f"from {module} import {member}" + (f" as {alias}" if alias != member else "")
    return f"import {name}" if alias == name else f"import {name} as {alias}"
