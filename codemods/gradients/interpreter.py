"""Evaluates statements, and records what reaches the call sites."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from codemods.gradients import guards
from codemods.gradients.expressions import Expressions
from codemods.gradients.flags import outcome
from codemods.gradients.frames import Arguments, Frame, Place
from codemods.gradients.levels import NOT_AT_ALL, Levels, Mode
from codemods.gradients.modules import Call
from codemods.gradients.table import Table
from codemods.gradients.values import (
    PLAIN,
    REST,
    CallSiteFunction,
    Class,
    Container,
    Function,
    Instance,
    Key,
    Method,
    Value,
    join,
    literal_key,
)
from codemods.names import FunctionNode, ScopeKind
from codemods.project import Project

_MOST_PASSES: Final = 8
_SUPPRESSING: Final = frozenset({"contextlib.suppress", "pytest.raises"})

_Branch = tuple[Sequence[ast.stmt], guards.Names]
"""Statements, with the names that hold no tracer where they run."""


@dataclasses.dataclass(eq=False, slots=True)
class Reached:
    """What was seen of one call site.

    Attributes:
      levels: the levels of its arguments.
      arguments: those that are differentiated: by index, keyword, or `*` for any.
      active: whether it ran under a transform or in a custom rule, or may have.
      trace: for each mode the calls that were under way when it was first seen.
    """

    levels: Levels = NOT_AT_ALL
    arguments: set[Key] = dataclasses.field(default_factory=set)
    active: bool = False
    trace: dict[Mode, tuple[tuple[Call, ...], Place]] = dataclasses.field(default_factory=dict)


class Interpreter(Expressions):
    """Evaluates programs; `reached` has what is known of each call site that was reached."""

    def __init__(self, project: Project, transforms: Table, sites: Mapping[ast.expr, frozenset[str]]) -> None:
        """`sites` has the expressions that stand for the API, with the names of its own options."""
        super().__init__(project, transforms, len(sites))
        self.site_nodes = sites
        self.reached: dict[ast.expr, Reached] = {}
        self.owners: dict[str, dict[Value, None]] = {}  # in order, without a second one
        self._asked_for: set[str] = set()

    # Call sites.

    def _call_CallSiteFunction(
        self, reference: CallSiteFunction, _levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        """A call of `pure_callback`: callback, spec, and what the callback is called with.

        What `buffer_callback(callback, spec)` gives is called with the arguments alone, and what a partial of
        `buffer_callback` gives with the callback that it decorates.
        """
        has_both = isinstance(reference.node, ast.Call)
        if has_both and _is_one_function(arguments):
            return self.heap.value(reference)
        seen = self.reached.setdefault(reference.node, Reached())
        seen.active |= self.extent.active
        options = self.site_nodes[reference.node]
        given: dict[Key, Value] = {k: v for k, v in arguments.keywords.items() if k not in options}
        taken = [None if has_both else given.pop(name, None) for name in ("callback", "result_shape_dtypes")]
        shift = 0 if has_both else 2 - sum(each is not None for each in taken)
        given.update(enumerate(arguments.positional[shift:]))
        for other in (arguments.rest, arguments.extra):
            if other is not None:
                given[REST] = given.get(REST, PLAIN) | other
        levels = NOT_AT_ALL
        for key, value in given.items():
            own = self.heap.levels(value)
            levels |= own
            if own:
                seen.arguments.add(key)
        seen.levels |= levels
        for mode in {level.mode for level in levels}:
            if mode not in seen.trace:
                seen.trace[mode] = (tuple(self.calls), at)
        if has_both:
            return Value(levels)
        callback = arguments.given(0, "callback") if taken[0] is None else taken[0]
        if callback is not None:
            self.run_on_host(callback, at)
        spec = taken[1] if taken[1] is not None else arguments.given(shift - 1, "result_shape_dtypes")
        return PLAIN if spec is not None and self._is_integer_spec(spec) else Value(levels)

    def _is_integer_spec(self, spec: Value) -> bool:
        """Whether every leaf of a result is one of integers, which are not differentiated."""
        return bool(spec.references) and all(
            isinstance(each, Container)
            and bool(each.content)
            and (
                self.is_integer(each.content["dtype"])
                if "dtype" in each.content
                else all(map(self._is_integer_spec, each.content.values()))
            )
            for each in spec
        )

    # Functions out of sight.

    def methods_named(self, name: str) -> Value:
        self._asked_for.add(name)
        return join(self.owners.get(name, ()))

    def add_owner(self, owner: Value, name: str, method: Value) -> None:
        """Lets an object that cannot be seen have a method."""
        for reference in method:
            if isinstance(reference, Function):
                made = self.heap.make((reference, owner, "unseen"), Method)
                self.heap.put(made, "function", self.heap.value(reference))
                self.heap.put(made, "self", owner)
                known = self.owners.setdefault(name, {})
                value = self.heap.value(made)
                if value not in known:
                    known[value] = None
                    if name in self._asked_for:
                        self.heap.changed = True

    # Statements.

    def run_body(self, function: FunctionNode, frame: Frame) -> None:
        if isinstance(function, ast.Lambda):
            frame.returned |= self.value(function.body, frame)
        else:
            self.run_block(function.body, frame)

    def run_block(self, statements: Sequence[ast.stmt], frame: Frame) -> bool:
        """Evaluates statements one after the other; whether the last one may be passed."""
        return all(self.run_statement(statement, frame) for statement in statements)

    def run_statement(self, statement: ast.stmt, frame: Frame) -> bool:
        self.heap.spend()
        handler = self.handler("_run_", statement)
        if handler is None:
            return True
        return handler(statement, frame) is not False

    def _run_Expr(self, statement: ast.Expr, frame: Frame) -> None:
        self.value(statement.value, frame)

    def _run_Return(self, statement: ast.Return, frame: Frame) -> bool:
        if statement.value is not None:
            frame.returned |= self.value(statement.value, frame)
        return False

    def _run_Raise(self, statement: ast.Raise, frame: Frame) -> bool:
        if statement.exc is not None:
            self.value(statement.exc, frame)
        return False

    def _run_Assert(self, statement: ast.Assert, frame: Frame) -> None:
        self.value(statement.test, frame)
        self.without_levels(guards.of_assert(statement, frame), frame)

    def _run_Assign(self, statement: ast.Assign, frame: Frame) -> None:
        value = self.value(statement.value, frame)
        for target in statement.targets:
            self.assign(target, value, frame)

    def _run_AnnAssign(self, statement: ast.AnnAssign, frame: Frame) -> None:
        if statement.value is not None:
            self.assign(statement.target, self.value(statement.value, frame), frame)

    def _run_AugAssign(self, statement: ast.AugAssign, frame: Frame) -> None:
        value, target = self.value(statement.value, frame), statement.target
        if isinstance(target, ast.Name):
            module = frame.source.module
            value |= self.named(target.id, module.home(target.id, module.scopes[target]), frame)
        elif isinstance(target, ast.Attribute):
            value |= self.attribute(self.value(target.value, frame), target.attr, Place(frame, target))
        self.assign(target, value, frame)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        match target:
            case ast.Name():
                self._assign_name(target, value, frame)
            case ast.Starred(value=inner):
                self.assign(inner, value, frame)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value, frame)
            case ast.Attribute(value=base, attr=name):
                self._set_attribute(self.value(base, frame), name, value, Place(frame, target))
            case ast.Subscript(value=base, slice=index):
                key = literal_key(self.value(index, frame))
                self._set_item(self.value(base, frame), key, value, target, frame)

    def _assign_name(self, target: ast.Name, value: Value, frame: Frame) -> None:
        scope = frame.source.module.scopes[target]
        if scope.kind is ScopeKind.COMPREHENSION:
            frame.bind_in_comprehension(target.id, value, self.heap)
            return
        if target.id in scope.global_names:
            self.frame_of(frame.source).keep(target.id, value, self.heap)
            return
        if target.id in scope.nonlocal_names:
            home = frame.source.module.home(target.id, scope)
            outer = frame.parent
            while outer is not None:
                if home is not None and outer.node is home.node:
                    outer.keep(target.id, value, self.heap)
                    return
                outer = outer.parent
        frame.bind(target.id, value, self.heap)

    def _unpack(self, parts: Sequence[ast.expr], value: Value, frame: Frame) -> None:
        stars = [index for index, part in enumerate(parts) if isinstance(part, ast.Starred)]
        at = Place(frame, parts[0]) if parts else None
        for index, part in enumerate(parts):
            if stars and index == stars[0] and at is not None:
                inner = self.element(value, None, at)
                self.assign(part, self.heap.container(Place(frame, part), {REST: inner}), frame)
            else:
                key = index if not stars or index < stars[0] else None
                self.assign(part, self.element(value, key, at), frame)

    def _set_attribute(self, base: Value, name: str, value: Value, at: Place) -> None:
        known = [each for each in base if isinstance(each, Instance | Class | Function)]
        for each in known:
            self.heap.put(each, name, value)
        if not known:
            self.escape(value, at)

    def _set_item(
        self, base: Value, key: Key | None, value: Value, target: ast.Subscript, frame: Frame
    ) -> None:
        containers = [each for each in base if isinstance(each, Container)]
        for each in containers:
            self.heap.put(each, REST if key is None else key, value)
        if containers:
            return
        if self.callables(value):
            self.escape(value, Place(frame, target))
        if isinstance(target.value, ast.Name):  # a NumPy array that gets an element
            self._assign_name(target.value, base | value, frame)

    # Definitions.

    def _run_FunctionDef(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        value = self.function(statement, frame)
        for decorator in reversed(statement.decorator_list):
            decorated = self.value(decorator, frame)
            value = self.call(decorated, Arguments((value,)), Place(frame, decorator))
        self._define(statement, statement.name, value, frame)

    _run_AsyncFunctionDef = _run_FunctionDef

    def _define(self, statement: ast.stmt, name: str, value: Value, frame: Frame) -> None:
        scope = frame.source.module.scopes[statement]
        if name in scope.global_names:
            self.frame_of(frame.source).keep(name, value, self.heap)
        else:
            frame.bind(name, value, self.heap)

    def _run_ClassDef(self, statement: ast.ClassDef, frame: Frame) -> None:
        made = self.heap.make((statement, frame), Class, statement, frame)
        body = Frame((statement, frame), statement, frame.source, frame)
        key = ("class", statement, frame)
        body = self.frames.setdefault(key, body)
        body.restart()
        self.run_block(statement.body, body)
        for name, value in body.values.items():
            self.heap.put(made, name, value)
        frame.capture(self.heap)
        value = self.heap.value(made)
        for decorator in reversed(statement.decorator_list):
            decorated = self.value(decorator, frame)
            result = self.call(decorated, Arguments((value,)), Place(frame, decorator))
            value = result if any(isinstance(each, Class) for each in result) else value
        self._define(statement, statement.name, value, frame)

    def _run_Import(self, statement: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        scope = frame.source.module.scopes[statement]
        for alias in statement.names:
            for found in scope.bindings.get(alias.asname or alias.name.partition(".")[0], ()):
                if found.node is alias and found.origin is not None:
                    self._define(statement, found.name, self.resolve(found.origin, frame.source), frame)

    _run_ImportFrom = _run_Import

    # Branches.

    def _either(self, branches: Iterable[_Branch], frame: Frame) -> bool:
        """Evaluates one of several blocks, and joins what they leave behind."""
        if frame.is_module:
            passed = [self.run_block(block, frame) for block, _ in branches]
            return any(passed)
        before, ends = dict(frame.values), []
        for block, untraced in branches:
            frame.values = dict(before)
            self.without_levels(untraced, frame)
            if self.run_block(block, frame):
                ends.append(frame.values)
        frame.values = _joined(ends) if ends else before
        return bool(ends)

    def _run_If(self, statement: ast.If, frame: Frame) -> bool:
        self.value(statement.test, frame)
        match outcome(statement.test, frame):
            case None:
                blocks = (statement.body, statement.orelse)
                return self._either(zip(blocks, guards.of_if(statement, frame), strict=True), frame)
            case True:
                return self.run_block(statement.body, frame)
        return self.run_block(statement.orelse, frame)

    def _run_Match(self, statement: ast.Match, frame: Frame) -> bool:
        subject = self.value(statement.subject, frame)
        names = {
            getattr(node, "name", None) or getattr(node, "rest", None)
            for case in statement.cases
            for node in ast.walk(case.pattern)
            if isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping)
        }
        inner = Value(self.heap.levels(subject), subject.references | self.callables(subject))
        for name in sorted(name for name in names if name):
            frame.bind(name, inner | self.element(subject, None), self.heap)
        for case in statement.cases:
            if case.guard is not None:
                self.value(case.guard, frame)
        blocks = [*(case.body for case in statement.cases), []]
        return self._either(((block, guards.NONE) for block in blocks), frame)

    def _run_For(self, statement: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        values = self.value(statement.iter, frame)
        inner = self.element(values, None, Place(frame, statement.iter))
        self._repeat(lambda: self.assign(statement.target, inner, frame), statement, frame)
        return self.run_block(statement.orelse, frame) or True

    _run_AsyncFor = _run_For

    def _run_While(self, statement: ast.While, frame: Frame) -> bool:
        self._repeat(lambda: self.value(statement.test, frame), statement, frame)
        return self.run_block(statement.orelse, frame) or True

    def _repeat(
        self, first: Callable[[], object], statement: ast.For | ast.AsyncFor | ast.While, frame: Frame
    ) -> None:
        """Evaluates a loop's body until another pass shows nothing new."""
        for _ in range(_MOST_PASSES):
            before = dict(frame.values)
            first()
            self.run_block(statement.body, frame)
            if not frame.is_module:
                frame.values = _joined([before, frame.values])
            if frame.values == before:
                return
        self.incomplete = True

    def _run_With(self, statement: ast.With | ast.AsyncWith, frame: Frame) -> bool:
        for item in statement.items:
            value = self.value(item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, frame)
        before = dict(frame.values)
        passes = self.run_block(statement.body, frame)
        if not any(_suppresses(item.context_expr, frame) for item in statement.items):
            return passes
        if not frame.is_module:
            frame.values = _joined([before, frame.values])
        return True

    _run_AsyncWith = _run_With

    def _run_Try(self, statement: ast.Try | ast.TryStar, frame: Frame) -> bool:
        before = dict(frame.values)
        passes = self.run_block([*statement.body, *statement.orelse], frame)
        ends = [frame.values] if passes else []
        if not frame.is_module:
            start = _joined([before, frame.values])
        for handler in statement.handlers:
            if not frame.is_module:
                frame.values = dict(start)
            if self.run_block(handler.body, frame):
                ends.append(frame.values)
        if not frame.is_module:
            # What returns or raises on its way here has passed no guard behind it.
            frame.values = _joined([start, *ends])
            self.run_block(statement.finalbody, frame)
            frame.values = _joined(ends) if ends else before
        return self.run_block(statement.finalbody, frame) and bool(ends)

    _run_TryStar = _run_Try


def _is_one_function(arguments: Arguments) -> bool:
    given = list(arguments)
    return len(given) == 1 and any(isinstance(each, Function) for each in given[0].references)


def _suppresses(context: ast.expr, frame: Frame) -> bool:
    """Whether a context passes over errors, so that what stands behind it runs even so."""
    return isinstance(context, ast.Call) and bool(frame.source.module.origins(context.func) & _SUPPRESSING)


def _joined(environments: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """What names hold after one of several ways to the same place."""
    if len(environments) == 1:
        return environments[0]
    joined: dict[str, Value] = {}
    for environment in environments:
        for name, value in environment.items():
            joined[name] = joined[name] | value if name in joined else value
    return joined
