"""Places that put something else where an API is looked up, which migrated calls pass by."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from typing import Final

from codemods.apis import Api
from codemods.names import Module

# What a file must spell to be worth parsing: an assignment, or one of the functions that patch.
_LIKELY: Final = rb"%b\s*(?:[:,)\]].*)?=[^=]|setattr|delattr|patch|\bspy\b|\bdel\b|__dict__"
# `setattr`, `monkeypatch.setattr`, `patch`, `mock.patch.object`, `mocker.spy`, and helpers called alike.
_PATCHER: Final = re.compile(
    r"set|del|patch|mock|object|multiple|spy|stub|swap|replac|overrid", re.IGNORECASE
)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Patch:
    """One such place.

    Attributes:
      node: the attribute that is assigned or deleted, or the call that patches.
      module: `jax`, or the last part of the module whose own name of the API is replaced.
    """

    node: ast.expr
    module: str

    @property
    def line(self) -> int:
        return self.node.lineno


def may_patch(data: bytes, api: Api) -> bool:
    """Whether a file's bytes give reason to look."""
    return re.search(_LIKELY % api.name.encode(), data) is not None


def find(module: Module, api: Api, assume_jax: tuple[str, ...] = ()) -> tuple[Patch, ...]:
    """Every patch of an API in a module, in order of position."""
    finder = _Finder(module, api, assume_jax)
    return tuple(sorted(finder.patches(), key=lambda patch: (patch.line, patch.node.col_offset)))


class _Finder:
    def __init__(self, module: Module, api: Api, assume_jax: tuple[str, ...]) -> None:
        self.module, self.api, self.assume_jax = module, api, assume_jax

    def patches(self) -> Iterator[Patch]:
        for node in self.module.attributes.get(self.api.name, ()):
            if not isinstance(node.ctx, ast.Load) and (target := self._module(node.value)):
                yield Patch(node, target)
        for call in self.module.parents:
            if isinstance(call, ast.Call) and (target := self._patched_by(call)):
                yield Patch(call, target)

    def _patched_by(self, call: ast.Call) -> str | None:
        """The module whose API a call replaces."""
        function, api = call.func, self.api.name
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if not call.args or not _PATCHER.search(name):
            return None
        match call.args:
            case [base, ast.Constant(value=str(text)), *_] if text == api:
                return self._module(base)
            case [ast.Constant(value=str(text)), *_]:
                head, _, tail = text.rpartition(".")
                if tail == api and head:
                    return self._canonical(head)
                if any(keyword.arg == api for keyword in call.keywords):
                    return self._canonical(text)
            case [base, *_] if any(k.arg == api for k in call.keywords):
                return self._module(base)
        return None

    def _module(self, node: ast.expr) -> str | None:
        """The module that an expression stands for; None if it may be anything else."""
        if self.api.is_in(node, self.module, self.assume_jax):
            return "jax"
        origin = next(iter(sorted(self.module.origins(node))), None)
        return self._canonical(origin) if origin else None

    def _canonical(self, dotted: str) -> str:
        dotted = dotted.removesuffix(".__dict__")
        return "jax" if dotted in self.api.modules else dotted.rpartition(".")[2]
