"""Names that nothing uses yet."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterable

from codemods.names import FunctionNode, Module


class FreeNames:
    """Chooses names for one module, and remembers them."""

    def __init__(self, module: Module) -> None:
        self._taken = set(module.all_names) | set(dir(builtins)) | set(keyword.kwlist)
        self._module = module

    def inside(self, function: FunctionNode) -> frozenset[str]:
        """Every name that occurs in a function, nested ones included."""
        found: set[str] = set()
        for node in ast.walk(function):
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

    def choose(self, wanted: Iterable[str], taken: frozenset[str]) -> str:
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

    def sibling(self, name: str) -> str:
        return self.fresh(f"_{name.strip('_')}_into")

    def for_lambda(self, function: ast.Lambda, module: Module) -> str:
        """`_sort` for a lambda that calls `np.sort`; `_callback` where nothing tells."""
        return self.fresh(f"_{_called_name(function.body, module) or 'callback'}")


_TELLS_NOTHING = frozenset({"asarray", "array", "astype", "reshape", "float", "int", "copy", "tuple", "list"})


def _called_name(node: ast.expr, module: Module) -> str | None:
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    for call in calls:
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        name = name.strip("_")
        scalar = (module.origin(call.func) or "").startswith(("numpy.float", "numpy.int", "numpy.bool"))
        if name and name.isidentifier() and name not in _TELLS_NOTHING and not scalar and name.islower():
            return name
    return None
