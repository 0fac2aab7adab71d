"""Places that put something else where `pure_callback` is looked up, which migrated calls pass by."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import Final

from codemods.names import Module

_NAME: Final = "pure_callback"
# What a file must spell to be worth parsing: an assignment, or one of the functions that patch.
_LIKELY: Final = re.compile(
    rb"pure_callback\s*(?:[:,)\]].*)?=[^=]|setattr|delattr|patch|\bspy\b|\bdel\b|__dict__"
)
# `setattr`, `monkeypatch.setattr`, `patch`, `mock.patch.object`, `mocker.spy`, and helpers called alike.
_PATCHER: Final = re.compile(
    r"set|del|patch|mock|object|multiple|spy|stub|swap|replac|overrid", re.IGNORECASE
)
_JAX: Final = frozenset({"jax", "jax.experimental", "jax._src.callback", "jax._src.api"})


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Patch:
    """One such place.

    Attributes:
      node: the attribute that is assigned or deleted, or the call that patches.
      module: `jax`, or the last part of the module whose own `pure_callback` is replaced.
    """

    node: ast.expr
    module: str

    @property
    def line(self) -> int:
        return self.node.lineno


def may_patch(data: bytes) -> bool:
    """Whether a file's bytes give reason to look."""
    return _LIKELY.search(data) is not None


def find(module: Module, assume_jax: tuple[str, ...] = ()) -> tuple[Patch, ...]:
    """Every patch in a module, in order of position."""
    found = [
        Patch(node, target)
        for node in module.attributes.get(_NAME, ())
        if not isinstance(node.ctx, ast.Load) and (target := _module(node.value, module, assume_jax))
    ]
    found += [
        Patch(node, target)
        for node in module.parents
        if isinstance(node, ast.Call) and (target := _patched_by(node, module, assume_jax))
    ]
    return tuple(sorted(found, key=lambda patch: (patch.line, patch.node.col_offset)))


def _patched_by(call: ast.Call, module: Module, assume_jax: tuple[str, ...]) -> str | None:
    """The module whose `pure_callback` a call replaces."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if not call.args or not _PATCHER.search(name):
        return None
    match call.args:
        case [base, ast.Constant(value="pure_callback"), *_]:
            return _module(base, module, assume_jax)
        case [ast.Constant(value=str(text)), *_]:
            head, _, tail = text.rpartition(".")
            if tail == _NAME and head:
                return _canonical(head)
            if any(keyword.arg == _NAME for keyword in call.keywords):
                return _canonical(text)
        case [base, *_] if any(k.arg == _NAME for k in call.keywords):
            return _module(base, module, assume_jax)
    return None


def _module(node: ast.expr, module: Module, assume_jax: tuple[str, ...]) -> str | None:
    """The module that an expression stands for; None if it may be anything else."""
    if assume_jax and ast.unparse(node) in assume_jax:
        return "jax"
    origin = next(iter(sorted(module.origins(node))), None)
    return _canonical(origin) if origin else None


def _canonical(dotted: str) -> str:
    dotted = dotted.removesuffix(".__dict__")
    return "jax" if dotted in _JAX else dotted.rpartition(".")[2]
