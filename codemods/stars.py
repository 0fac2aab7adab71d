"""Names that a `from … import *` binds again, further down than the module's own statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from codemods.definitions import Definition, Definitions, Found, Library
from codemods.names import Binding, BindingKind, Module


def bind_stars(module: Module, path: Path, definitions: Definitions) -> None:
    """Adds to the names of a module what the star imports of the project put in their places."""
    for alias in [node for node in module.parents if isinstance(node, ast.alias) and node.name == "*"]:
        statement = module.parents[alias]
        assert isinstance(statement, ast.ImportFrom)
        star = "." * statement.level + (statement.module or "")
        for name, bindings in module.root.bindings.items():
            if any(b.node is alias for b in bindings) or all(_line(b) >= statement.lineno for b in bindings):
                continue
            found = definitions.given_by_star(star, name, path)
            if found is None or _is_the_same(found, bindings, definitions, path):
                continue
            origins = found.origins if isinstance(found, Library) else {f"{star}.{name}"}
            bindings.extend(_bound(alias, name, module, sorted(origins)))


def _bound(alias: ast.alias, name: str, module: Module, origins: Iterable[str]) -> Iterator[Binding]:
    for origin in origins:
        yield Binding(name, BindingKind.IMPORT, alias, module.root, origin=origin)


def _line(binding: Binding) -> int:
    return getattr(binding.node, "lineno", 0)


def _is_the_same(found: Found, bindings: list[Binding], definitions: Definitions, path: Path) -> bool:
    """Whether a name that the module has imported itself stands for the same thing."""
    origins = {binding.origin for binding in bindings if binding.origin is not None}
    if len(origins) < len(bindings):
        return False
    own = definitions.follow(origins, path)
    if isinstance(own, Definition) and isinstance(found, Definition):
        return own.function is found.function
    return own == found
