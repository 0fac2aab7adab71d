"""The callbacks of a module's buffer calls: their definitions, and which parameter takes what."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods.arguments import argument
from codemods.bodies import Argument, BodyReport, analyse
from codemods.definitions import Definition, Definitions
from codemods.lint.calls import BufferCall
from codemods.names import Module, parameters
from codemods.overrides import Overrides
from codemods.project import Project
from codemods.resolve import Resolved, resolve
from codemods.source import SourceFile
from codemods.specs import Spec, structure

# What stands in the way of a migration is no fault of a buffer callback; the rules pick what is.
_EVERYTHING: Final = frozenset(f"BC{number}" for number in range(100, 300))
_BINDING: Final = frozenset({"staticmethod", "classmethod"})


@dataclasses.dataclass(frozen=True, eq=False)
class Callback:
    """One function that buffer calls of a module hand over.

    Attributes:
      function: its definition.
      module: the module that defines it.
      home: where that is, if not in the file at hand.
      calls: the buffer calls that hand it over, with what each one's expression was resolved to.
      overridden: whether a method of `self` may be another one.
      caller: the names of the file at hand.
    """

    function: ast.FunctionDef | ast.Lambda
    module: Module
    home: Definition | None
    calls: tuple[tuple[BufferCall, Resolved], ...]
    overridden: Overrides
    caller: Module

    @property
    def name(self) -> str:
        return getattr(self.function, "name", "<lambda>")

    @functools.cached_property
    def position(self) -> int | None:
        """How many parameters come before the buffers; None where the calls disagree."""
        found = {resolved.implicit + resolved.bound.positional for _, resolved in self.calls}
        return found.pop() if len(found) == 1 else None

    @functools.cached_property
    def _positional(self) -> list[ast.arg]:
        arguments = self.function.args
        return [*arguments.posonlyargs, *arguments.args][self.position or 0 :]

    @property
    def context(self) -> ast.arg | None:
        """The parameter that takes the execution context."""
        return self._positional[0] if self.position is not None and self._positional else None

    @property
    def out(self) -> ast.arg | None:
        """The parameter that takes the output buffers."""
        return self._positional[1] if self.position is not None and len(self._positional) > 1 else None

    @functools.cached_property
    def inputs(self) -> tuple[ast.arg, ...]:
        """The parameters that take inputs, or may; none where a `partial` or binding blurs them."""
        if self.out is None:
            return ()
        bound = frozenset().union(*(resolved.bound.keywords for _, resolved in self.calls))
        buffers = {*self._positional[:2]}
        before = [*self.function.args.posonlyargs, *self.function.args.args][: self.position]
        return tuple(
            parameter
            for parameter in parameters(self.function.args)
            if parameter not in buffers and parameter not in before and parameter.arg not in bound
        )

    @functools.cached_property
    def report(self) -> BodyReport:
        """What the body does with the inputs."""
        given = {parameter.arg: self._argument(parameter) for parameter in self.inputs}
        return analyse(self.function, given, self.module, _EVERYTHING, self.overridden)

    def _argument(self, parameter: ast.arg) -> Argument:
        return Argument("array") if parameter.arg in self.arrays else Argument()

    @functools.cached_property
    def arrays(self) -> frozenset[str]:
        """The parameters for which every call surely gives one array."""
        return frozenset(
            each.arg
            for each in self.inputs
            if (given := self._given(each)) and all(argument(g, self.caller).form == "array" for g in given)
        )

    @functools.cached_property
    def containers(self) -> frozenset[str]:
        """The parameters for which some call gives a tuple, list or dict."""
        return frozenset(
            each.arg for each in self.inputs if any(_is_container(g, self.caller) for g in self._given(each))
        )

    def _given(self, parameter: ast.arg) -> list[ast.expr]:
        """What the calls give for a parameter; nothing unless all of them show it."""
        found = []
        for each, _ in self.calls:
            values = [self._given_by(call, parameter) for call in each.applied]
            found += values or [None]
        shown = [value for value in found if value is not None]
        return shown if len(shown) == len(found) else []

    def _given_by(self, call: ast.Call, parameter: ast.arg) -> ast.expr | None:
        by_name = [keyword.value for keyword in call.keywords if keyword.arg == parameter.arg]
        if by_name or parameter not in self._positional:
            return by_name[0] if by_name else None
        index = self._positional.index(parameter) - 2
        starred = any(isinstance(each, ast.Starred) for each in call.args[: index + 1])
        return call.args[index] if index < len(call.args) and not starred else None

    @functools.cached_property
    def spec(self) -> Spec:
        """The structure of the outputs, if all calls agree."""
        found = {structure(call.spec, self.caller) for call, _ in self.calls}
        return found.pop() if len(found) == 1 else Spec("unknown")

    @property
    def libraries(self) -> frozenset[str]:
        return frozenset(call.library for call, _ in self.calls)


def find(
    calls: Sequence[BufferCall], source: SourceFile, module: Module, project: Project
) -> Iterator[Callback]:
    """The callbacks whose definitions are in sight, in the order of their first calls."""
    own = Overrides(module, source.path, project)
    definitions = Definitions(project)
    handed_over = frozenset(call.callback for call in calls)
    groups: dict[ast.AST, list[tuple[BufferCall, Resolved]]] = {}
    for call in calls:
        found = resolve(
            call.callback, module, handed_over, own, lambda origins: definitions.follow(origins, source.path)
        )
        if isinstance(found, Resolved):
            groups.setdefault(found.function, []).append((call, found))
    for group in groups.values():
        first = group[0][1]
        if first.also or first.has_stubs or _is_wrapped(first.function):
            continue
        where, overridden = module, own
        if first.home is not None:
            where = first.home.module
            overridden = Overrides(where, Path(first.home.file), project)
        yield Callback(first.function, where, first.home, tuple(group), overridden, module)


def _is_wrapped(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a decorator may call the function with other arguments, or use what it returns."""
    decorators = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    return any(not (isinstance(d, ast.Name) and d.id in _BINDING) for d in decorators)


def _is_container(node: ast.expr, module: Module) -> bool:
    if isinstance(node, ast.Name) and (binding := module.sole_binding(node)) is not None:
        node = binding.value if binding.value is not None else node
    return isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.ListComp | ast.DictComp)
