"""The state of a function while it is evaluated, and of the code around it."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from codemods.gradients.levels import NOT_AT_ALL, Levels
from codemods.gradients.values import PLAIN, Heap, Value
from codemods.names import Module, own_name


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Source:
    """A module with the real path of its file.

    Attributes:
      is_test: whether it is run by a test runner, which calls its tests.
    """

    file: str
    module: Module
    is_test: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """The transforms around the code that is evaluated.

    Attributes:
      depth: how many there are.
      active: whether the code may run under one, rules of custom functions included.
      parameters: the levels of the parameters that a library hands out.
      cotangents: the levels of the cotangents that backward rules will receive, beside those of arguments.
    """

    depth: int = 0
    active: bool = False
    parameters: Levels = NOT_AT_ALL
    cotangents: Levels = NOT_AT_ALL


OUTSIDE: Final = Extent()


Flags = frozenset[tuple[str, bool | str | None]]
"""Parameters with the literals that they surely are."""


class Frame:
    """The names of one function for one set of arguments, or of one module.

    Attributes:
      values: what each name holds at this point; of a module, what it ever holds.
      captured: what each name holds once a nested function may read it.
      returned: the join of the results so far.
      flags: the parameters that have their defaults, which are literals.
      nests: whether a nested function has been made by now.
      is_searched: whether someone has looked through all that it captures, and found nothing.
    """

    def __init__(self, key: Hashable, node: ast.AST, source: Source, parent: Frame | None) -> None:
        self.key, self.node, self.source, self.parent = key, node, source, parent
        self.values: dict[str, Value] = {}
        self.captured: dict[str, Value] = {}
        self.returned = PLAIN
        self.flags: Flags = frozenset()
        self.nests = False
        self.is_searched = False
        self._read: set[str] = set()

    @property
    def is_module(self) -> bool:
        return isinstance(self.node, ast.Module)

    @property
    def name(self) -> str:
        """The qualified name of the function or class; `<module>` for a module."""
        if self.is_module:
            return "<module>"
        around = [
            outer.name
            for outer in self.source.module.ancestors(self.node)
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        return ".".join((*reversed(around), own_name(self.node)))

    def restart(self) -> None:
        """Forgets what holds at one point only."""
        self.values, self.returned, self.nests = {}, PLAIN, False

    def captured_value(self, name: str) -> Value | None:
        """What a name holds as nested functions see it."""
        self._read.add(name)
        return self.captured.get(name)

    def global_value(self, name: str) -> Value:
        """What a name of a module holds."""
        self._read.add(name)
        return self.values.get(name, PLAIN)

    def bind(self, name: str, value: Value, heap: Heap) -> None:
        """Assigns a value to a name of this frame."""
        if self.is_module:
            self._keep(self.values, name, value, heap)
            return
        self.values[name] = value
        if self.nests:
            self._keep(self.captured, name, value, heap)

    def bind_in_comprehension(self, name: str, value: Value, heap: Heap) -> None:
        self.values[name] = value
        self._keep(self.captured, name, value, heap)

    def capture(self, heap: Heap) -> None:
        """Lets nested functions see what the names hold from now on."""
        self.nests = True
        if not self.is_module:
            for name, value in self.values.items():
                self._keep(self.captured, name, value, heap)

    def keep(self, name: str, value: Value, heap: Heap) -> None:
        """Assigns from a nested function."""
        self._keep(self.values if self.is_module else self.captured, name, value, heap)

    def _keep(self, where: dict[str, Value], name: str, value: Value, heap: Heap) -> None:
        before = where.get(name)
        after = value if before is None else before | value
        if after != before:
            where[name] = after
            if self.is_searched or name in self._read:
                heap.changed = True

    @contextlib.contextmanager
    def shadowing(self, names: Iterable[str]) -> Iterator[None]:
        """Gives some names back what they held, as the scope of a comprehension does."""
        hidden = {name: self.values.get(name) for name in names}
        try:
            yield
        finally:
            for name, value in hidden.items():
                if value is None:
                    self.values.pop(name, None)
                else:
                    self.values[name] = value


class Place(NamedTuple):
    """An expression or statement, and the frame that evaluates it."""

    frame: Frame
    node: ast.AST

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes.

    Attributes:
      rest: positional arguments of a number that cannot be seen, behind the others.
      extra: keyword arguments whose names cannot be seen.
    """

    positional: tuple[Value, ...] = ()
    rest: Value | None = None
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    extra: Value | None = None

    def __iter__(self) -> Iterator[Value]:
        """Every value, in the order of the call."""
        yield from self.positional
        if self.rest is not None:
            yield self.rest
        yield from self.keywords.values()
        if self.extra is not None:
            yield self.extra

    def given(self, position: int, name: str) -> Value | None:
        """The argument for one parameter."""
        if 0 <= position < len(self.positional):
            return self.positional[position]
        if name in self.keywords:
            return self.keywords[name]
        return self.rest if position >= 0 and self.rest is not None else self.extra

    def without_first(self, count: int) -> Arguments:
        return dataclasses.replace(self, positional=self.positional[count:])

    def behind(self, first: Value) -> Arguments:
        return dataclasses.replace(self, positional=(first, *self.positional))

    def map(self, change: Callable[[Value], Value]) -> Arguments:
        """The same call with every value changed."""
        return Arguments(
            tuple(map(change, self.positional)),
            None if self.rest is None else change(self.rest),
            {name: change(value) for name, value in self.keywords.items()},
            None if self.extra is None else change(self.extra),
        )


def whatever(value: Value) -> Arguments:
    """A call whose every argument may be `value`."""
    return Arguments(rest=value, extra=value)
