"""Adds the imports that migrated code needs, and drops those that nothing uses any more."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from codemods.free_names import FreeNames
from codemods.names import FunctionNode, Module, Scope, ScopeKind
from codemods.rewrite.edits import Edits
from codemods.source import SourceFile

Import = ast.Import | ast.ImportFrom


class NoPlace(Exception):
    """There is no place where an import would be sure to run before its use."""


class Imports:
    """The imports of one module: finds a usable name, or plans a new import.

    A module that imports JAX at its top level gets its new imports there. Where JAX is imported inside functions
    or under a guard, so is the runtime: at the top of the outermost function that needs it.
    """

    def __init__(self, source: SourceFile, module: Module, runtime: str) -> None:
        self._source, self._module, self._runtime = source, module, runtime
        self._free = FreeNames(module)
        self._top_level: dict[str, str] = {}
        self._local: dict[tuple[ast.AST, str], str] = {}
        self._chosen: dict[str, str] = {}

    def runtime(self, node: ast.AST) -> str:
        return self._name(self._runtime, None, node)

    def numpy(self, node: ast.AST) -> str:
        return self._name("numpy", "np", node)

    def jax(self, node: ast.AST) -> str:
        return self._name("jax", None, node)

    def end_of_header(self) -> int:
        """The offset behind the top-level imports that hold JAX's, where definitions may follow."""
        anchor = self._anchor()
        if anchor is None:
            raise NoPlace("JAX is not imported at the top of the module, so its helpers have no sure place.")
        body = self._module.tree.body
        last: ast.stmt = anchor
        for statement in body[body.index(anchor) :]:
            if not _is_import(statement):
                break
            last = statement
        return self._source.line_end(last.end_lineno or last.lineno)

    def lines_in(self, function: ast.AST) -> list[str]:
        """The imports that belong at the top of a function."""
        return [_statement(name, alias) for (home, name), alias in self._local.items() if home is function]

    def apply(self, edits: Edits, rewritten: frozenset[ast.AST]) -> None:
        """Adds the planned imports; functions in `rewritten` put their own in themselves."""
        for name, alias in sorted(self._top_level.items(), reverse=True):
            self._add_at_top(name, alias, edits)
        for (home, name), alias in self._local.items():
            if home not in rewritten:
                self._add_in_function(home, _statement(name, alias), edits)

    # Names.

    def _name(self, library: str, alias: str | None, node: ast.AST) -> str:
        scope = self._module.opened.get(node, self._module.scopes.get(node, self._module.root))
        existing = self._existing(library, scope)
        if existing is not None:
            return existing
        chosen = self._alias(library, alias)
        if self._anchor() is not None:
            self._top_level[library] = chosen
            return chosen
        home = self._outermost_function(node)
        if home is None or isinstance(home, ast.Lambda):
            raise NoPlace(
                f"JAX is not imported at the top of the module, so `import {library}` has no sure place."
            )
        self._local[home, library] = chosen
        return chosen

    def _existing(self, library: str, scope: Scope) -> str | None:
        """A name in sight that is bound to `library` alone."""
        for level, candidate in enumerate(scope.enclosing()):
            if level and candidate.kind is ScopeKind.CLASS:
                continue
            for name, found in candidate.bindings.items():
                bound = all(b.origin == library and self._always_runs(b.node) for b in found)
                if bound and self._module.home(name, scope) is candidate:
                    return name
        return None

    def _always_runs(self, alias: ast.AST) -> bool:
        """Whether an import stands straight in the body of its module or function."""
        statement = self._module.parents[alias]
        return isinstance(
            self._module.parents[statement], ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
        )

    def _alias(self, library: str, alias: str | None) -> str:
        if library not in self._chosen:
            plain = alias or library.rpartition(".")[2]
            taken = plain in self._module.all_names
            if taken and alias and library not in self._module.all_names:
                self._chosen[library] = self._free.fresh(library)
            else:
                self._chosen[library] = self._free.fresh(f"_{plain}" if taken else plain)
        return self._chosen[library]

    def _outermost_function(self, node: ast.AST) -> FunctionNode | None:
        found = [
            a
            for a in (node, *self._module.ancestors(node))
            if isinstance(a, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        return found[-1] if found else None

    # Placement.

    def _anchor(self) -> Import | None:
        """The first unguarded top-level import of JAX."""
        for statement in self._module.tree.body:
            if isinstance(statement, ast.Import) and any(_is_jax(alias.name) for alias in statement.names):
                return statement
            if (
                isinstance(statement, ast.ImportFrom)
                and not statement.level
                and _is_jax(statement.module or "")
            ):
                return statement
        return None

    def _block(self, anchor: Import) -> list[Import]:
        """The imports around `anchor` that no blank line or other statement separates."""
        body = self._module.tree.body
        position = body.index(anchor)
        block = [anchor]
        for statement in reversed(body[:position]):
            if not _is_import(statement) or (statement.end_lineno or 0) + 1 < block[0].lineno:
                break
            assert isinstance(statement, Import)
            block.insert(0, statement)
        for statement in body[position + 1 :]:
            if not _is_import(statement) or statement.lineno > (block[-1].end_lineno or 0) + 1:
                break
            assert isinstance(statement, Import)
            block.append(statement)
        return [s for s in block if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]

    def _add_at_top(self, name: str, alias: str, edits: Edits) -> None:
        anchor = self._anchor()
        assert anchor is not None
        block = self._block(anchor)
        text = _statement(name, alias) + self._source.newline
        module = name.rpartition(".")[0]
        if module:
            later: list[Import] = [s for s in block if isinstance(s, ast.ImportFrom) and (s.module or "") > module]
            plain: list[Import] = list(block)
        else:
            later = [s for s in block if isinstance(s, ast.Import) and s.names[0].name > name]
            plain = [s for s in block if isinstance(s, ast.Import)]
        if later or not plain:
            target = later[0] if later else block[0]
            edits.insert(self._source.line_start(target.lineno), lambda: text)
            return
        last_line = plain[-1].end_lineno or plain[-1].lineno
        offset = self._source.line_end(last_line)
        ends_line = self._source.text[:offset].endswith(("\n", "\r"))
        edits.insert(offset, lambda: text if ends_line else self._source.newline + text)

    def _add_in_function(self, home: ast.AST, line: str, edits: Edits) -> None:
        assert isinstance(home, ast.FunctionDef | ast.AsyncFunctionDef)
        body = (
            home.body[1:]
            if ast.get_docstring(home, clean=False) is not None and len(home.body) > 1
            else home.body
        )
        first = body[0]
        lineno = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
        start = self._source.line_start(lineno)
        indent = self._source.indentation(lineno)
        if self._source.text[start : self._source.start(first)].strip(" \t\f@"):
            raise NoPlace("The function is written on one line, so an import has no place in it.")
        edits.insert(start, lambda: f"{indent}{line}{self._source.newline}")

    # Removal.

    def drop_unused(self, gone: frozenset[ast.Name], kept: Iterable[str], edits: Edits) -> None:
        """Removes each import alias whose every use is among `gone`, except the names in `kept`."""
        aliases = {self._alias_of(use) for use in gone}
        doomed = {
            a for a in aliases if a is not None and self._is_unused(a, gone) and _bound_name(a) not in kept
        }
        for statement in {self._module.parents[alias] for alias in doomed}:
            assert isinstance(statement, Import)
            self._drop(statement, [a for a in statement.names if a in doomed], edits)

    def _alias_of(self, use: ast.Name) -> ast.alias | None:
        binding = self._module.sole_binding(use)
        return binding.node if binding and isinstance(binding.node, ast.alias) else None

    def _is_unused(self, alias: ast.alias, gone: frozenset[ast.Name]) -> bool:
        scope = self._module.scopes[alias]
        name = _bound_name(alias)
        if self._module.names_in_strings(name):
            return False
        home = self._module.root if name in scope.global_names else scope
        return all(use in gone for use in self._module.references(name, home))

    def _drop(self, statement: Import, doomed: list[ast.alias], edits: Edits) -> None:
        remaining = [alias for alias in statement.names if alias not in doomed]
        source = self._source
        if remaining:
            _remove_aliases(statement, doomed, source, edits)
            return
        siblings = _block_of(statement, self._module)
        first, last = (
            source.line_start(statement.lineno),
            source.line_end(statement.end_lineno or statement.lineno),
        )
        alone = not source.text[first : source.start(statement)].strip() and not source.text[
            source.end(statement) : last
        ].strip(" \t\f\r\n")
        if len(siblings) < 2:
            edits.replace(source.start(statement), source.end(statement), "pass")
        elif alone:
            edits.replace(first, last, "")
        else:
            self._drop_beside(statement, edits)

    def _drop_beside(self, statement: Import, edits: Edits) -> None:
        """Removes a statement that shares its line with a comment or with other statements."""
        source = self._source
        start, end = source.start(statement), source.end(statement)
        rest = source.text[end : source.line_end(statement.end_lineno or statement.lineno)]
        if rest.lstrip(" \t").startswith(";"):
            edits.replace(
                start,
                end
                + rest.index(";")
                + 1
                + (len(rest.split(";", 1)[1]) - len(rest.split(";", 1)[1].lstrip(" \t"))),
                "",
            )
        elif source.text[source.line_start(statement.lineno) : start].strip():
            before = source.text[:start].rstrip(" \t")
            edits.replace(len(before) - 1 if before.endswith(";") else start, end, "")
        else:
            edits.replace(
                source.line_start(statement.lineno),
                source.line_end(statement.end_lineno or statement.lineno),
                "",
            )


_JAX: Final = "jax"


def _is_jax(name: str) -> bool:
    return name == _JAX or name.startswith("jax.")


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _statement(name: str, alias: str) -> str:
    module, _, member = name.rpartition(".")
    if module:
        return f"from {module} import {member}" + (f" as {alias}" if alias != member else "")
    return f"import {name}" if alias == name else f"import {name} as {alias}"


def _bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _block_of(statement: ast.stmt, module: Module) -> list[ast.stmt]:
    parent = module.parents[statement]
    for _, value in ast.iter_fields(parent):
        if isinstance(value, list) and statement in value:
            return value
    return [statement]


def _remove_aliases(statement: Import, doomed: list[ast.alias], source: SourceFile, edits: Edits) -> None:
    """Removes some aliases of a statement together with a comma each, line breaks kept where there are any."""
    names = statement.names
    for index, alias in enumerate(names):
        if alias not in doomed:
            continue
        start, end = source.start(alias), source.end(alias)
        if any(later not in doomed for later in names[index + 1 :]):
            edits.replace(start, source.start(names[index + 1]), "")
        else:
            survivors = [a for a in names[:index] if a not in doomed]
            previous_end = (
                source.end(survivors[-1])
                if index and names[index - 1] not in doomed
                else source.end(names[index - 1])
            )
            edits.replace(previous_end, end, "")
