"""Names that nothing uses yet."""

from __future__ import annotations

import ast
import builtins
import copy
import keyword
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from codemods import hostlib
from codemods.names import FunctionNode, Module
from codemods.trees import walk


class FreeNames:
    """Chooses names for one module, and remembers them; `planned` are names that it is going to have."""

    def __init__(self, module: Module, planned: Collection[str] = ()) -> None:
        self._taken = {*module.all_names, *planned, *dir(builtins), *keyword.kwlist}
        self._module = module

    def copy(self) -> FreeNames:
        """The same names, to choose from without an effect here."""
        copied = copy.copy(self)
        copied._taken = set(self._taken)
        return copied

    def inside(self, function: FunctionNode) -> frozenset[str]:
        """Every name that occurs in a function, nested ones included."""
        found: set[str] = set()
        for node in walk(function):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                    found.add(name)
                case ast.FunctionDef() | ast.AsyncFunctionDef() if node is function:
                    continue
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    found.update(names)
                case ast.alias(name=name, asname=asname):
                    found.add(asname or name.partition(".")[0])
                case (
                    ast.MatchAs(name=str(name))
                    | ast.MatchStar(name=str(name))
                    | ast.MatchMapping(rest=str(name))
                ):
                    found.add(name)
        return frozenset(found)

    @staticmethod
    def choose(wanted: Iterable[str], taken: frozenset[str]) -> str:
        """The first of `wanted` that is not in `taken`, else the last with a number."""
        last = ""
        for last in wanted:
            if last not in taken:
                return last
        number = 2
        while f"{last}_{number}" in taken:
            number += 1
        return f"{last}_{number}"

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted` with a number; taken from now on."""
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name

    def stem(self, wanted: str, endings: Sequence[str]) -> str:
        """`wanted`, or `wanted` with a number, so that it is free with each of the endings."""
        stem, number = wanted, 2
        while any(f"{stem}{ending}" in self._taken for ending in endings):
            stem, number = f"{wanted}_{number}", number + 1
        self._taken.update(f"{stem}{ending}" for ending in endings)
        return stem

    def sibling(self, name: str) -> str:
        return self.fresh(f"_{name.strip('_')}_into")

    def for_lambda(self, function: ast.Lambda, module: Module) -> str:
        """`_sort` for a lambda that returns `np.sort(x)`, else a name after the function around it.

        `_callback` where nothing tells, or all of these are taken.
        """
        around = next(
            (a for a in module.ancestors(function) if isinstance(a, ast.FunctionDef | ast.AsyncFunctionDef)),
            None,
        )
        named = [_called_name(function.body, module), around and f"{around.name.strip('_')}_host"]
        wanted = [f"_{name}" for name in named if name]
        free = (name for name in wanted if name not in self._taken)
        return self.fresh(next(free, "_callback"))


_CONVERSIONS: Final = frozenset(
    "asarray array ascontiguousarray astype reshape float int bool copy tuple list squeeze ravel".split()
)


def _called_name(node: ast.expr, module: Module) -> str | None:
    """The last name of the function whose result an expression is, conversions and indices aside."""
    while True:
        match node:
            case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if (
                name in _CONVERSIONS and not module.origins(node.func)
            ):
                node = inner
            case ast.Call(func=function, args=[inner, *_]) if _converts(function, module):
                node = inner
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                name = name.strip("_")
                return name if name.isidentifier() and name.islower() else None
            case _:
                return None


def _converts(function: ast.expr, module: Module) -> bool:
    origin = module.origin(function) or (function.id if isinstance(function, ast.Name) else "")
    return origin.rpartition(".")[2] in _CONVERSIONS or origin in hostlib.SCALAR_TYPES
