"""Runs a callback's body on abstract values: statements, names and frames.

Two passes are made, so that a nested function sees every value that its enclosing function ever binds.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from codemods.bodies.calls import Calls
from codemods.bodies.frames import Frame, FunctionLike, Usage
from codemods.bodies.values import CLEAN, Form, Obstacle, Obstructed, Value, join
from codemods.contexts import lets_exceptions_pass, watches_warnings
from codemods.names import Module, parameters
from codemods.overrides import Overrides
from codemods.trees import walk

__all__ = ["Argument", "BodyReport", "Usage", "analyse"]


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """What the call sites show of one parameter that they supply.

    Attributes:
      form: `array` when every call site passes one array, `tree` for `*args` and `**kwargs`.
      dtype: the dtype's name, when every call site shows the same.
    """

    form: Form = "any"
    dtype: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class BodyReport:
    """What a body does with its arguments.

    Attributes:
      obstacle: what keeps the callback from being rewritten; None when nothing does.
      usages: one entry a supplied parameter.
      returns: the value of each `return` of this very function; of a lambda, that of its body.
      element_forms: the form of each element of a returned tuple, list or dict.
      closed: the `try` and `with` statements that control never leaves at their end.
      falls_through: whether control may reach the end of the body.
      accepted: what would have been an obstacle, but for the user's options.
      arithmetic: the first place where NumPy computes on floats what JAX did, subnormals apart alike.
    """

    obstacle: Obstacle | None
    usages: Mapping[str, Usage]
    returns: Mapping[ast.AST, Value]
    element_forms: Mapping[ast.expr, Form] = dataclasses.field(default_factory=dict)
    closed: frozenset[ast.stmt] = frozenset()
    falls_through: bool = False
    accepted: tuple[Obstacle, ...] = ()
    arithmetic: ast.AST | None = None


def analyse(
    function: FunctionLike,
    arguments: Mapping[str, Argument],
    module: Module,
    accept: frozenset[str] = frozenset(),
    overridden: Overrides | None = None,
) -> BodyReport:
    """Analyses `function` for the parameters that call sites supply; `accept` names codes to let pass."""
    interpreter = Interpreter(module, frozenset(arguments), accept, overridden or Overrides(module))
    try:
        frame = interpreter.run(function, arguments)
    except Obstructed as stop:
        return BodyReport(stop.obstacle, interpreter.usages, {})
    return BodyReport(
        None,
        interpreter.usages,
        frame.returns,
        interpreter.element_forms,
        frozenset(interpreter.closed),
        not frame.ended and not isinstance(function, ast.Lambda),
        tuple(interpreter.accepted.values()),
        interpreter.arithmetic,
    )


class Interpreter(Calls):
    """The statements; expressions and calls are in the base classes."""

    def run(self, function: FunctionLike, arguments: Mapping[str, Argument]) -> Frame:
        frame = self.root = Frame(function, None)
        known: object = None
        # Once for what is bound, then until nothing new comes to light in containers and shared names.
        while known != (known := self._known(frame)):
            frame.env, frame.ended = {}, False
            self.results.clear()
            frame.returns.clear()
            frame.nested.clear()
            for parameter in parameters(function.args):
                self._bind_parameter(parameter, function, arguments.get(parameter.arg), frame)
            self._run_body(function, frame)
            self._run_nested(frame)
        return frame

    def _known(self, frame: Frame) -> object:
        return dict(self.heap), dict(frame.ever), set(self.released), set(frame.shared), bool(frame.returns)

    def _bind_parameter(
        self, parameter: ast.arg, function: FunctionLike, argument: Argument | None, frame: Frame
    ) -> None:
        if argument is None:
            frame.bind(parameter.arg, CLEAN)
            return
        name = frozenset({parameter.arg})
        form = argument.form
        if parameter is function.args.vararg:
            form = "tree"
        elif parameter is function.args.kwarg:
            form = "dict"
        frame.bind(parameter.arg, Value(name, name, name, form, dtype=argument.dtype))

    def _run_body(self, function: FunctionLike, frame: Frame) -> None:
        if isinstance(function, ast.Lambda):
            frame.returns[function] = self.result(function.body, frame)
        else:
            self.block(function.body, frame)

    def _run_nested(self, frame: Frame) -> None:
        """Runs the functions defined in the body, as whoever they are handed to may call them."""
        for function, seen in list(frame.nested.items()):
            if isinstance(function, ast.GeneratorExp):
                self._run_generator(function, seen, frame)
                continue
            inner = Frame(function, frame)
            for parameter in parameters(function.args):
                inner.bind(parameter.arg, CLEAN)
            self._run_body(function, inner)
            self._run_nested(inner)
            if not self.only_called(function):
                self._note_captured(function, frame)
            result = join([*inner.returns.values(), *inner.yields])
            if result.raw and function not in self.contained and not self.only_called(function):
                self.hand_out(result, function, "the result of a nested function")

    def _run_generator(self, node: ast.GeneratorExp, seen: Mapping[str, Value], frame: Frame) -> None:
        """A generator expression that is run later sees what names are bound to by then."""
        now, frame.env = frame.env, {name: self.refreshed(value) for name, value in seen.items()}
        self.run_lazily(node, frame)
        frame.env = now

    def _note_captured(self, function: FunctionLike, frame: Frame) -> None:
        """A nested function may outlive the call, and with it what it captures, now or later."""
        for name in self.free_names(function):
            captured = self.refreshed(frame.seen_by(function, name).get(name, CLEAN))
            for parameter in captured.view:
                self.usages[parameter].escape = self.usages[parameter].escape or function

    def call_function(
        self, function: FunctionLike, frame: Frame, values: Sequence[Value], call: ast.Call
    ) -> Value:
        """The result of calling a function in sight with these values."""
        bound = tuple(self.match_parameters(function, values, call))
        key = (function, tuple(value for _, value in bound))
        if function in self.active or len(self.active) > 8:
            return self.unknown_code(values, call)
        if key in self.results:
            return self.results[key]
        lexical = self.lexical_frame(function, frame)
        inner = Frame(function, lexical)
        inner.handlers = frame.handlers
        for parameter, value in bound:
            inner.bind(parameter.arg, value)
        self.active.append(function)
        try:
            self._run_body(function, inner)
            self._run_nested(inner)
        finally:
            self.active.pop()
        result = join(inner.returns.values())
        if inner.yields:  # a suspended generator holds its frame
            result = self.made(call, [*inner.yields, self.in_frame(inner)])
        if lexical is None:  # a nested function's result depends on what it captures, too
            self.results[key] = result
        return result

    # Statements.

    def block(self, statements: Sequence[ast.stmt], frame: Frame) -> None:
        """Runs statements; `frame.ended` tells whether control leaves before their end."""
        for statement in statements:
            if frame.ended:
                break
            self.take_steps(statement)
            visit = getattr(self, f"_do_{type(statement).__name__}", None)
            if visit is not None:
                visit(statement, frame)

    def branches(self, blocks: Iterable[Sequence[ast.stmt]], frame: Frame) -> None:
        """Runs each block from the same state, and joins those that reach their end."""
        before, ends = frame.env, []
        for statements in blocks:
            frame.env, frame.ended = dict(before), False
            self.take_steps(frame.function, len(before))
            self.block(statements, frame)
            if not frame.ended:
                ends.append(frame.env)
        frame.ended = not ends
        frame.env = join_environments(ends) if ends else before

    def _do_Expr(self, node: ast.Expr, frame: Frame) -> None:
        self.operand(node.value, frame)

    def _do_Return(self, node: ast.Return, frame: Frame) -> None:
        if node.value is not None:
            frame.returns[node] = self.result(node.value, frame)
        frame.ended = True

    def _do_Raise(self, node: ast.Raise, frame: Frame) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                raised = self.operand(part, frame)
                if not raised.is_exception:  # which goes on its way to the caller
                    self.keep(raised, part, "an exception")
        frame.ended = True

    def _do_Break(self, node: ast.stmt, frame: Frame) -> None:
        frame.loop_exits.append(dict(frame.env))
        frame.ended = True

    def _do_Continue(self, node: ast.stmt, frame: Frame) -> None:
        frame.loop_continues.append(dict(frame.env))
        frame.ended = True

    def _do_Assert(self, node: ast.Assert, frame: Frame) -> None:
        self.operand(node.test, frame)
        if node.msg:
            self.keep(self.operand(node.msg, frame), node.msg, "an exception")

    def _do_Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.env.pop(target.id, None)
            elif isinstance(target, ast.Subscript | ast.Attribute) and self.value(target.value, frame).raw:
                self.write_into(self.value(target.value, frame), target)

    def _do_Assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.value(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame, node.value)

    def _do_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, frame), frame, node.value)

    def _do_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        value = self.operand(node.value, frame)
        if isinstance(node.target, ast.Name):
            self._augment(node, node.target, value, frame)
            return
        old = self.value(node.target.value, frame)
        if value.raw and not old.places:
            self.arithmetic_differs(value, node, "an augmented assignment")
        if old.places and self.element(old).view:
            self.write_into(self.element(old), node, rebinds=True)
        self.assign(node.target, value, frame, node.value)

    def _augment(self, node: ast.AugAssign, target: ast.Name, value: Value, frame: Frame) -> None:
        old = self.look_up(target.id, frame)
        if old.places:
            added = self.element(value) if isinstance(node.op, ast.BitOr) else self.iterated(value)
            self.put_in(old, added, node, f"`{target.id}`")
            return
        if old.view:
            self.write_into(old, node, rebinds=True)
        if value.raw:
            self.arithmetic_differs(value, node, "an augmented assignment")
        if not old.is_number_like:  # a list, perhaps, which keeps what it is extended by
            self.keep(value, node, f"`{target.id}`")

    def _do_If(self, node: ast.If, frame: Frame) -> None:
        self.operand(node.test, frame)
        self.branches([node.body, node.orelse], frame)

    def _do_Match(self, node: ast.Match, frame: Frame) -> None:
        subject = self.operand(node.subject, frame)
        if subject.raw:
            self.asks_type(subject, node)
        for case in node.cases:
            for pattern in walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):  # or not, if the pattern fails
                    old = [frame.env[name]] if name in frame.env else []
                    frame.bind(name, join([self.element(subject), *old]))
            if case.guard:
                self.operand(case.guard, frame)
        exhaustive = any(_matches_anything(case) for case in node.cases)
        self.branches([*(case.body for case in node.cases), *([] if exhaustive else [()])], frame)

    def _do_While(self, node: ast.While, frame: Frame) -> None:
        def once() -> None:
            self.operand(node.test, frame)
            self.block(node.body, frame)

        left = self._loop(once, node.orelse, frame)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        frame.ended = frame.ended or (endless and not left)

    def _do_For(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        iterated = self.iterate(node.iter, frame)

        def once() -> None:
            self.assign(node.target, iterated, frame, None)
            self.block(node.body, frame)

        self._loop(once, node.orelse, frame)

    _do_AsyncFor = _do_For

    def _loop(self, once: Callable[[], None], otherwise: Sequence[ast.stmt], frame: Frame) -> bool:
        """Runs a loop to its fixed point; returns whether a `break` leaves it."""
        outer = frame.loop_exits, frame.loop_continues
        frame.loop_exits, frame.loop_continues = [], []
        state = dict(frame.env)
        before: object = None
        while state != before:
            before = state
            frame.env, frame.ended = dict(state), False
            once()
            ends = [state, *frame.loop_exits, *frame.loop_continues] + ([] if frame.ended else [frame.env])
            self.take_steps(frame.function, len(ends) * len(state))
            state = join_environments(ends)
        left, exits = bool(frame.loop_exits), list(frame.loop_exits)
        frame.env, frame.ended = state, False
        frame.loop_exits, frame.loop_continues = outer
        self.block(otherwise, frame)
        # A `break` does not pass through `else`.
        frame.env = join_environments([*exits, *([] if frame.ended else [frame.env])]) if exits else frame.env
        frame.ended = frame.ended and not left
        return left

    def _do_With(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        for item in node.items:
            value = self.operand(item.context_expr, frame)
            if item.optional_vars:
                self.assign(item.optional_vars, value, frame, item.context_expr)
        before = dict(frame.env)
        watched = any(watches_warnings(item.context_expr, self.module) for item in node.items)
        self.watched += watched
        self.block(node.body, frame)
        self.watched -= watched
        self._note_closed(node, frame)
        if not all(lets_exceptions_pass(item.context_expr, self.module) for item in node.items):
            ends = [before, *frame.snapshots_since(before)]
            frame.env = join_environments(ends if frame.ended else [frame.env, *ends])
            frame.ended = False

    _do_AsyncWith = _do_With

    def _do_Try(self, node: ast.Try, frame: Frame) -> None:
        before = dict(frame.env)
        earlier = len(frame.loop_exits), len(frame.loop_continues)
        self.block(node.body, frame)
        ended_body, after = frame.ended, frame.env
        frame.ended = False
        # An exception may leave the body anywhere.
        risen = join_environments([before, after, *frame.snapshots_since(before)])
        ends = []
        if not ended_body:
            self.block(node.orelse, frame)
            if not frame.ended:
                ends.append(frame.env)
        for handler in node.handlers:
            frame.env, frame.ended = dict(risen), False
            if handler.name:
                held = self.in_frame(frame)
                frame.bind(handler.name, dataclasses.replace(held, is_exception=True))
            frame.handlers += 1
            self.block(handler.body, frame)
            frame.handlers -= 1
            if not frame.ended:
                ends.append(frame.env)
        frame.ended = not ends
        frame.env = join_environments(ends) if ends else dict(risen)
        self._note_closed(node, frame)
        if node.finalbody:
            frame.env = join_environments([frame.env, risen, *frame.snapshots_since(before)])
        ended, frame.ended = frame.ended, False
        self.block(node.finalbody, frame)
        frame.ended = frame.ended or ended
        if node.finalbody:  # `break` and `continue` pass through it, too
            left = [*frame.loop_exits[earlier[0] :], *frame.loop_continues[earlier[1] :]]
            for environment in left:
                environment.update(join_environments([environment, frame.env]))

    _do_TryStar = _do_Try

    def _note_closed(self, node: ast.stmt, frame: Frame) -> None:
        if frame is self.root:
            (self.closed.add if frame.ended else self.closed.discard)(node)

    def _do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults, *node.decorator_list):
            if default is not None:
                self.keep(self.operand(default, frame), default, "a default argument")
        self.capture(node, frame)
        frame.bind(node.name, CLEAN)

    _do_AsyncFunctionDef = _do_FunctionDef

    def _do_ClassDef(self, node: ast.ClassDef, frame: Frame) -> None:
        inner = Frame(node, frame)
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                self.capture(item, frame)
            else:
                self.block([item], inner)
        for name, value in inner.ever.items():
            self.keep(value, node, f"`{node.name}.{name}`")
        frame.bind(node.name, CLEAN)

    # Targets.

    def assign(self, target: ast.expr, value: Value, frame: Frame, source: ast.expr | None) -> None:
        match target:
            case ast.Name(id=name):
                home = self.home_frame(name, frame)
                if home is None:
                    self.keep(value, target, f"`{name}` of an outer scope")
                elif home is not frame:
                    home.share(name, value)
                frame.bind(name, value)
            case ast.Starred(value=inner):
                self.assign(inner, self.made(target, [self.iterated(value)]), frame, None)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(targets, value, frame, source)
            case ast.Subscript():
                self._assign_item(target, value, frame)
            case ast.Attribute():
                self.write_attribute(target, value, frame)

    def _unpack(self, targets: list[ast.expr], value: Value, frame: Frame, source: ast.expr | None) -> None:
        pairwise = (
            isinstance(source, ast.Tuple | ast.List)
            and len(source.elts) == len(targets)
            and not any(isinstance(e, ast.Starred) for e in (*targets, *source.elts))
        )
        if pairwise:
            assert isinstance(source, ast.Tuple | ast.List)
            values = [self.value(part, frame) for part in source.elts]
            for target, part, found in zip(targets, source.elts, values, strict=True):
                self.assign(target, found, frame, part)
            return
        for target in targets:
            inner = value if isinstance(target, ast.Starred) else self.iterated(value)
            self.assign(target, inner, frame, None)

    def _assign_item(self, target: ast.Subscript, value: Value, frame: Frame) -> None:
        base = self.value(target.value, frame)
        self.operand(target.slice, frame)
        if base.places:
            self.put_in(base, value, target, f"`{ast.unparse(target.value)}`")
        elif base.view:
            self.write_into(base, target)
        elif base.form == "array" or self.is_array_name(target.value) or _selects_by_ellipsis(target):
            self.consume_by_numpy(value)
        else:
            self.keep(value, target, f"`{ast.unparse(target.value)}`")

    def write_attribute(self, target: ast.Attribute, value: Value, frame: Frame) -> None:
        base = self.value(target.value, frame)
        if base.view:
            self.write_into(base, target)
        self.keep(value, target, f"`{ast.unparse(target)}`")


def join_environments(environments: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """What names may hold after any of several ways here; values that all share are shared."""
    joined = dict(environments[0]) if environments else {}
    for environment in environments[1:]:
        for name, value in environment.items():
            old = joined.get(name, value)
            joined[name] = value if old is value or old == value else join([old, value])
    return joined


def _matches_anything(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _selects_by_ellipsis(target: ast.Subscript) -> bool:
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in parts)
