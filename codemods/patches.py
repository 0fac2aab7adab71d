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
# Where the line goes on for long behind the name, that is reason enough.
_LIKELY: Final = (
    rb"%b\s*(?:=[^=]|[:,)\]](?:.{500}|.*=[^=]))|setattr|delattr|patch|\bspy\b|\bdel\b|__dict__|\bvars\b"
)
# `setattr`, `monkeypatch.setattr`, `patch`, `mock.patch.object`, `mocker.spy`, and helpers called alike.
_PATCHER: Final = re.compile(
    r"set|del|patch|mock|object|multiple|spy|stub|swap|replac|overrid", re.IGNORECASE
)

# Of a namespace or of a module, those that change what it holds under a name.
_NAMESPACE_METHODS: Final = frozenset(
    {"update", "pop", "setdefault", "__setitem__", "__delitem__", "__setattr__", "__delattr__"}
)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Patch:
    """One such place.

    Attributes:
      node: the attribute or element that is assigned or deleted, or the call that patches.
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
        for attribute in self.module.attributes.get(self.api.name, ()):
            if not isinstance(attribute.ctx, ast.Load) and (target := self._module(attribute.value)):
                yield Patch(attribute, target)
        for node in self.module.parents:
            if isinstance(node, ast.Call | ast.Subscript) and (target := self._replaced_by(node)):
                yield Patch(node, target)

    def _replaced_by(self, node: ast.Call | ast.Subscript) -> str | None:
        """The module whose API a call replaces, or the assignment or deletion of an element."""
        match node:
            case ast.Call():
                return self._patched_by(node)
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store() | ast.Del()) if (
                key == self.api.name
            ):
                return self._namespace(node.value)
        return None

    def _patched_by(self, call: ast.Call) -> str | None:
        function, api = call.func, self.api.name
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name == "dict" and isinstance(function, ast.Attribute):  # patch.dict
            name = getattr(function.value, "attr", getattr(function.value, "id", ""))
        if isinstance(function, ast.Attribute) and name in _NAMESPACE_METHODS and self._names_api(call):
            return self._namespace(function.value) or self._module(function.value)
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
            case [base, *_] if self._names_api(call):
                return self._module(base)
        return None

    def _names_api(self, call: ast.Call) -> bool:
        """Whether a call has the API's name for a keyword, a key, or its first argument."""
        keys = {
            k.value
            for a in call.args
            if isinstance(a, ast.Dict)
            for k in a.keys
            if isinstance(k, ast.Constant)
        }
        first = {call.args[0].value} if call.args and isinstance(call.args[0], ast.Constant) else set()
        return self.api.name in {k.arg for k in call.keywords} | keys | first

    def _namespace(self, node: ast.expr) -> str | None:
        """The module whose names `vars(module)` or `module.__dict__` holds."""
        match node:
            case ast.Call(func=ast.Name(id="vars"), args=[base]):
                return self._module(base)
            case ast.Attribute(value=base, attr="__dict__"):
                return self._module(base)
        return None

    def _module(self, node: ast.expr) -> str | None:
        """The module that an expression stands for; None if it may be anything else."""
        if self.api.is_in(node, self.module, self.assume_jax):
            return "jax"
        match node:
            case ast.Subscript(value=base, slice=ast.Constant(value=str(name))):
                return self._canonical(name) if self.module.origins(base) == {"sys.modules"} else None
            case ast.Call(func=function, args=[ast.Constant(value=str(name))]):
                imported = self.module.origins(function) == {"importlib.import_module"}
                return self._canonical(name) if imported else None
        if (inside := self._namespace(node)) is not None:
            return inside
        origin = next(iter(sorted(self.module.origins(node))), None)
        return self._canonical(origin) if origin else None

    def _canonical(self, dotted: str) -> str:
        return "jax" if dotted in self.api.modules else dotted.rpartition(".")[2]
