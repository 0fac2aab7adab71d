"""The state of one function under analysis, and the record of each parameter's uses."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping

from codemods.bodies.values import Use, Value, join

FunctionLike = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
LazyNode = FunctionLike | ast.GeneratorExp
ScopeNode = FunctionLike | ast.ClassDef


@dataclasses.dataclass(eq=False, slots=True)
class Usage:
    """How one supplied parameter is used.

    Attributes:
      uses: the kinds of use of the argument as it arrives.
      conversions: the `np.asarray(p)` and `np.array(p)` calls on it.
      escape: where it, or a view of it, is handed to code that may keep it.
      write: where it, or a view of it, is written into.
    """

    uses: set[Use] = dataclasses.field(default_factory=set)
    conversions: list[ast.Call] = dataclasses.field(default_factory=list)
    escape: ast.AST | None = None
    write: ast.AST | None = None


class Frame:
    """One function's names while it is being run, or one class body's.

    Attributes:
      env: the names' values at this point.
      ever: the join of all values that each name ever had, which is what a nested function may see.
      nested: the body's functions, lambdas and stored generators, with what their free names may hold.
      shared: the names that nested functions bind as well, so that their order says nothing.
      walruses: what assignment expressions in comprehensions have bound.
      ended: whether control has left the block.
      handlers: how many `except` blocks surround the statement being run.
    """

    def __init__(self, function: ScopeNode, parent: Frame | None) -> None:
        self.function = function
        self.parent = parent
        self.env: dict[str, Value] = {}
        self.ever: dict[str, Value] = {}
        self.nested: dict[LazyNode, dict[str, Value]] = {}
        self.shared: set[str] = set()
        self.walruses: dict[str, Value] = {}
        self.returns: dict[ast.AST, Value] = {}
        self.yields: list[Value] = []
        self.loop_exits: list[dict[str, Value]] = []
        self.loop_continues: list[dict[str, Value]] = []
        self.ended = False
        self.handlers = 0

    def bind(self, name: str, value: Value) -> None:
        self.env[name] = value
        for seen in (self.ever, *self.nested.values()):
            seen[name] = join([seen[name], value]) if name in seen else value

    def seen_by(self, inner: ScopeNode, name: str) -> Mapping[str, Value]:
        """The values that the names of this frame may have when `inner`, which it defines, reads `name`."""
        if isinstance(inner, ast.ClassDef) and name in self.env:  # it runs where it stands
            return self.env
        if name in self.shared or isinstance(inner, ast.ClassDef):
            return self.ever
        return self.nested.get(inner, self.ever)

    def share(self, name: str, value: Value) -> None:
        """A nested function binds the name."""
        self.shared.add(name)
        self.bind(name, join([self.ever[name], value]) if name in self.ever else value)

    def capture(self, function: LazyNode) -> None:
        """From here on `function` sees what names hold now, and whatever they are bound to later."""
        seen = self.nested.setdefault(function, {})
        for name, value in self.env.items():
            seen[name] = join([seen[name], value]) if name in seen else value

    def snapshots_since(self, before: Mapping[str, Value]) -> list[dict[str, Value]]:
        """What names may hold when an exception interrupts a block that began with `before`."""
        return [{name: value for name, value in self.ever.items() if name in self.env or name in before}]
