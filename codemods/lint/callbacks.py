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
from codemods.classes import class_of_call, class_of_instance, method_of
from codemods.definitions import Definition, Definitions, Found
from codemods.lint.calls import BufferCall, Libraries, Library
from codemods.lint.elsewhere import Elsewhere
from codemods.names import Module, ScopeKind, own_name, parameters
from codemods.overrides import Overrides
from codemods.project import Project
from codemods.resolve import Opaque, Resolved, resolve
from codemods.source import SourceFile
from codemods.specs import Spec, structure
from codemods.wrappers import binding_decorator, opaque_decorators

# What stands in the way of a migration is no fault of a buffer callback; the rules pick what is.
_EVERYTHING: Final = frozenset(f"BC{number}" for number in range(100, 300))
_Function = ast.FunctionDef | ast.Lambda


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
      is_held: whether something besides buffer calls holds it, through which others may call it.
      project: where others may use it as well.
      path: the file at hand.
    """

    function: _Function
    module: Module
    home: Definition | None
    calls: tuple[tuple[BufferCall, Resolved], ...]
    overridden: Overrides
    caller: Module
    is_held: bool
    project: Project
    path: Path

    @property
    def name(self) -> str:
        return own_name(self.function)

    @property
    def body(self) -> Sequence[ast.stmt | ast.expr]:
        """The statements of the function; the expression of a lambda."""
        return [self.function.body] if isinstance(self.function, ast.Lambda) else self.function.body

    def nodes(self) -> list[ast.AST]:
        """All that stands in the body, nested functions included."""
        return [node for each in self.body for node in ast.walk(each)]

    @functools.cached_property
    def position(self) -> int | None:
        """How many parameters come before the buffers; None where the calls disagree."""
        found = {resolved.implicit + resolved.bound.positional for _, resolved in self.calls}
        return found.pop() if len(found) == 1 else None

    @property
    def before(self) -> list[ast.arg]:
        """The parameters that come before the buffers, `self` among them."""
        arguments = self.function.args
        return [*arguments.posonlyargs, *arguments.args][: self.position or 0]

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
        others = {*self.before, *self._positional[:2]}
        return tuple(
            parameter
            for parameter in parameters(self.function.args)
            if parameter not in others and parameter.arg not in bound
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
            values = [self.given_by(call, parameter) for call in each.applied]
            found += values or [None]
        shown = [value for value in found if value is not None]
        return shown if len(shown) == len(found) else []

    def given_by(self, call: ast.Call, parameter: ast.arg) -> ast.expr | None:
        """What a call of the function that `buffer_callback` gave hands over for a parameter, if it shows."""
        by_name = [keyword.value for keyword in call.keywords if keyword.arg == parameter.arg]
        if by_name or parameter not in self._positional:
            return by_name[0] if by_name else None
        index = self._positional.index(parameter) - 2
        starred = any(isinstance(each, ast.Starred) for each in call.args[: index + 1])
        return call.args[index] if index < len(call.args) and not starred else None

    @functools.cached_property
    def is_shared(self) -> bool:
        """Whether others than the buffer calls of this file may call the function."""
        if self.home is not None or self.is_held or isinstance(self.function, ast.Lambda):
            return self.home is not None or self.is_held
        within = self.module.scopes[self.function].kind
        is_reachable = within in (ScopeKind.MODULE, ScopeKind.CLASS)
        return is_reachable and self.project.used_elsewhere(self.function.name, self.path)

    @functools.cached_property
    def spec(self) -> Spec:
        """The structure of the outputs, if all calls agree."""
        found = {structure(call.spec, self.caller) for call, _ in self.calls}
        return found.pop() if len(found) == 1 else Spec("unknown")

    @property
    def libraries(self) -> Libraries:
        return frozenset[Library]().union(*(call.libraries for call, _ in self.calls))


def find(
    calls: Sequence[BufferCall], source: SourceFile, module: Module, project: Project
) -> Iterator[Callback]:
    """The callbacks whose definitions are in sight, in the order of their first calls."""
    return _Finder(calls, source, module, project).run()


class _Finder:
    def __init__(
        self, calls: Sequence[BufferCall], source: SourceFile, module: Module, project: Project
    ) -> None:
        self._calls, self._path, self._module, self._project = calls, source.path, module, project
        self._overridden = Overrides(module, source.path, project)
        self._definitions = Definitions(project)
        self._elsewhere = Elsewhere(module, source.path, project)
        self._handed_over = frozenset(each for call in calls for each in _alternatives(call.callback))
        self._held: set[ast.AST] = set()

    def run(self) -> Iterator[Callback]:
        groups: dict[_Function, list[tuple[BufferCall, Resolved]]] = {}
        for call in self._calls:
            if call.decorated is not None:
                resolved = Resolved(call.decorated, call.call)
                groups.setdefault(call.decorated, []).append((call, resolved))
                continue
            for expression in self._expressions(call.callback):
                for resolved in self._resolved(expression):
                    groups.setdefault(resolved.function, []).append((call, resolved))
        decorated = {call.decorated for call in self._calls}
        for function, group in groups.items():
            home = group[0][1].home
            where = self._module if home is None else home.module
            path = self._path if home is None else Path(home.file)
            callback = Callback(
                function,
                where,
                home,
                tuple(group),
                self._overridden if home is None else Overrides(where, path, self._project),
                self._module,
                function in self._held,
                self._project,
                self._path,
            )
            if function in decorated or not self._is_wrapped(callback, path):
                yield callback

    def _expressions(self, callback: ast.expr) -> Iterator[ast.expr]:
        """The expressions of which a callback is one; of a table of callbacks, its values."""
        for each in _alternatives(callback):
            match each:
                case ast.Subscript(value=ast.Name() as name, slice=key) if table := self._table(name):
                    yield from _values(table, key)
                case _:
                    yield each

    def _table(self, node: ast.Name) -> ast.Dict | None:
        """The dict that a name is bound to, if all that it is used for is to be asked for callbacks."""
        binding = self._module.sole_binding(node)
        if binding is None or not isinstance(binding.value, ast.Dict) or None in binding.value.keys:
            return None
        uses = self._module.references(node.id, binding.scope)
        is_shown = all(self._module.parents[use] in self._handed_over for use in uses)
        return binding.value if is_shown else None

    def _resolved(self, expression: ast.expr) -> Iterator[Resolved]:
        """What a callback expression may mean: each definition by itself."""
        found = self._resolve(expression, any_use=True)
        if not isinstance(found, Resolved) and (called := self._called(expression)) is not None:
            found = called
        if not isinstance(found, Resolved) and (given := self._elsewhere.callback(expression)) is not None:
            found = given
        if not isinstance(found, Resolved):
            return
        strict = self._resolve(expression, any_use=False)
        known = {strict.function, *strict.also} if isinstance(strict, Resolved) else set()
        for function in (found.function, *found.also):
            if function not in known:
                self._held.add(function)
            yield dataclasses.replace(found, function=function, also=(), has_stubs=False)

    def _called(self, expression: ast.expr) -> Resolved | None:
        """The `__call__` of an object whose class is in sight."""
        owner = None
        if isinstance(expression, ast.Call):
            owner = class_of_call(expression, self._module)
        elif isinstance(expression, ast.Name):
            owner = class_of_instance(expression, self._module)
        found = method_of(owner, "__call__", self._module) if owner is not None else None
        if found is None or self._overridden(found[0], "__call__"):
            return None
        implicit = 0 if binding_decorator(found[1]) == "staticmethod" else 1
        return Resolved(found[1], expression, owner=found[0], implicit=implicit)

    def _resolve(self, expression: ast.expr, *, any_use: bool) -> Resolved | Opaque:
        return resolve(
            expression, self._module, self._handed_over, self._overridden, self._follow, any_use=any_use
        )

    def _follow(self, origins: frozenset[str]) -> Found:
        return self._definitions.follow(origins, self._path)

    def _is_wrapped(self, callback: Callback, path: Path) -> bool:
        """Whether a decorator may call the function with other arguments, or use what it returns."""

        def follow(origins: frozenset[str]) -> Found:
            return self._definitions.follow(origins, path)

        return bool(opaque_decorators(callback.function, callback.module, callback.position or 0, follow))


def _alternatives(callback: ast.expr) -> list[ast.expr]:
    """The expressions of which a callback is one."""
    match callback:
        case ast.IfExp(body=body, orelse=other):
            return [*_alternatives(body), *_alternatives(other)]
    return [callback]


def _values(table: ast.Dict, key: ast.expr) -> Iterator[ast.expr]:
    """The values that a dict may have under a key."""
    wanted = key.value if isinstance(key, ast.Constant) else None
    for name, value in zip(table.keys, table.values, strict=True):
        if wanted is None or (isinstance(name, ast.Constant) and name.value == wanted):
            yield value


def _is_container(node: ast.expr, module: Module) -> bool:
    if isinstance(node, ast.Name) and (binding := module.sole_binding(node)) is not None:
        node = binding.value if binding.value is not None else node
    return isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.ListComp | ast.DictComp)
