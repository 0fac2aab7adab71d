"""BCL008: JAX called from inside a callback may wait for the thread that runs the callback."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from codemods.bodies.effects import owner_of
from codemods.classes import method_of
from codemods.definitions import Definition, Definitions
from codemods.jax_calls import jax_call
from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.names import Module


@rule("BCL008")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if (found := jax_call(callback.function, callback.module, _Elsewhere(callback))) is not None:
            where = f" (in `{found.function}`)" if found.function else ""
            yield Finding(
                found.node,
                f"`{callback.name}` runs JAX{where} inside a callback, which can hang on JAX before 0.11.",
                "Compute with NumPy here, or do it outside of the callback.",
                callback,
            )


class _Elsewhere:
    """Methods of the callback's module that no class replaces, and functions of other modules."""

    def __init__(self, callback: Callback) -> None:
        self._callback, self._definitions = callback, Definitions(callback.project)
        home = callback.path if callback.home is None else Path(callback.home.file)
        self._files: dict[int, tuple[Module, Path]] = {id(callback.module): (callback.module, home)}

    def __call__(
        self, function: ast.expr, module: Module
    ) -> tuple[ast.FunctionDef | ast.Lambda, Module] | None:
        if origins := module.origins(function):
            return self._imported(origins, module)
        match function:
            case ast.Attribute(value=ast.Name() as base, attr=name) if module is self._callback.module:
                owner = owner_of(base, module)
                found = method_of(owner, name, module) if owner is not None else None
                if found is not None and owner is not None and not self._callback.overridden(owner, name):
                    return found[1], module
        return None

    def _imported(
        self, origins: frozenset[str], module: Module
    ) -> tuple[ast.FunctionDef | ast.Lambda, Module] | None:
        found = self._definitions.follow(origins, self._files[id(module)][1])
        if not isinstance(found, Definition) or isinstance(found.function, ast.AsyncFunctionDef):
            return None
        self._files[id(found.module)] = (found.module, Path(found.file))
        return found.function, found.module
