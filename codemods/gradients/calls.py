"""Calls of what is in sight: functions, methods, classes, partials, derivatives and custom functions."""

from __future__ import annotations

import ast
import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from codemods.gradients.frames import (
    OUTSIDE,
    Arguments,
    Extent,
    Frame,
    Place,
    function_name,
    whatever,
)
from codemods.gradients.levels import NOT_AT_ALL, UNSEEN, Level, Levels, Mode, below, by_rules
from codemods.gradients.modules import Call, Modules
from codemods.gradients.table import Transform
from codemods.gradients.values import (
    PLAIN,
    REST,
    Class,
    Constant,
    Container,
    Custom,
    Derivative,
    Descriptor,
    Function,
    Inherited,
    Instance,
    Key,
    Method,
    Partial,
    Pullback,
    Reference,
    RuleSetter,
    Stateful,
    Value,
    join,
)
from codemods.names import FunctionNode
from codemods.names import parameters as parameters_of

# Bounds that only generated or hostile code meets. Beyond them the sites that are not found to be
# differentiated count as unknown.
_DEEPEST_CALL: Final = 60
_CONTEXTS: Final = 24
_MOST_NESTED: Final = 6

Callable_ = (Function, Method, Partial, Derivative, Custom, Class, Inherited, Stateful, Instance)


class Calls(Modules):
    """Evaluates calls. `results` has what each function gives for each set of arguments."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.results: dict[object, Value] = {}
        self.frames: dict[object, Frame] = {}
        self._done: set[object] = set()
        self._contexts: Counter[ast.AST] = Counter()
        self._joined: dict[object, tuple[Value, ...]] = {}
        self._escaped: set[tuple[Reference, Levels, Extent]] = set()

    @abstractmethod
    def value(self, node: ast.expr, frame: Frame) -> Value:
        """What an expression gives."""

    @abstractmethod
    def run_body(self, function: FunctionNode, frame: Frame) -> None:
        """Evaluates the body of a function."""

    def start_round(self) -> None:
        super().start_round()
        self._done.clear()
        self._escaped.clear()

    # Any value.

    def call(self, function: Value, arguments: Arguments, at: Place) -> Value:
        """What calling a value gives."""
        called = [r for r in function if hasattr(self, f"_call_{type(r).__name__}")]
        if not called:
            return self.call_unseen(function, arguments, at)
        return join(
            getattr(self, f"_call_{type(reference).__name__}")(reference, function.levels, arguments, at)
            for reference in called
        )

    def call_unseen(self, function: Value, arguments: Arguments, at: Place) -> Value:
        """What code out of sight gives, which may call, differentiate and keep what it is given."""
        given = join(arguments)
        self.escape(given, at)
        return Value(function.levels | self.levels_of(arguments), self.callables(given))

    def levels_of(self, values: Iterable[Value]) -> Levels:
        return self.heap.levels(join(values))

    def callables(self, value: Value) -> frozenset[Reference]:
        """The functions and objects that a value may be or hold."""
        found: set[Reference] = set()
        waiting, seen = list(value.references), set(value.references)
        while waiting:
            reference = waiting.pop()
            if isinstance(reference, Callable_) or hasattr(reference, "node"):
                found.add(reference)
            elif isinstance(reference, Container | Descriptor):
                new = join(reference.content.values()).references - seen
                seen |= new
                waiting += new
        return frozenset(found)

    def escape(self, value: Value, at: Place, levels: Levels = frozenset({UNSEEN})) -> None:
        """Hands functions to code out of sight, which calls them with values of unknown levels."""
        for reference in Value(references=self.callables(value)):
            mark = (reference, levels, self.extent)
            if mark in self._escaped:
                continue
            self._escaped.add(mark)
            extent = dataclasses.replace(self.extent, active=True, parameters=self.extent.parameters | levels)
            with self.within(extent):
                self._escape(reference, Value(levels), at)

    def _escape(self, reference: Reference, anything: Value, at: Place) -> None:
        if isinstance(reference, Class):
            self.escape(self._instance(reference, at), at, anything.levels)
        elif isinstance(reference, Instance):
            for name in sorted(self.member_names(reference.of)):
                if not name.startswith("__") or name == "__call__":
                    method = self.attribute(self.heap.value(reference).at(anything.levels), name, at)
                    if self.callables(method):
                        self.call(method, whatever(anything), at)
        elif not isinstance(reference, Inherited):
            self.call(self.heap.value(reference), whatever(anything), at)

    # Functions.

    def _call_Function(
        self, reference: Function, _levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        bound = self._bind(reference, arguments, at)
        key: object = (reference, tuple(bound.values()), self.extent)
        if key not in self.results:
            if self._contexts[reference.node] >= _CONTEXTS:
                key, bound = self._in_one_context(reference, bound)
            else:
                self._contexts[reference.node] += 1
        return self._run(reference, key, bound, at)

    def _in_one_context(self, reference: Function, bound: dict[str, Value]) -> tuple[object, dict[str, Value]]:
        """What stands for all further calls of a function that is called in very many ways."""
        key = (reference, dataclasses.replace(self.extent, parameters=NOT_AT_ALL, cotangents=NOT_AT_ALL))
        before = self._joined.get(key, (PLAIN,) * len(bound))
        after = tuple(a | b for a, b in zip(before, bound.values(), strict=True))
        if after != before:
            self._joined[key] = after
            self.heap.changed = True
            self._done.discard(key)
        return key, dict(zip(bound, after, strict=True))

    def _run(self, reference: Function, key: object, bound: dict[str, Value], at: Place) -> Value:
        if key in self._done:
            return self.results.get(key, PLAIN)
        if len(self.calls) > _DEEPEST_CALL:
            self.incomplete = True
            return PLAIN
        self._done.add(key)
        outer = reference.frame
        if key not in self.frames:
            self.frames[key] = Frame(key, reference.node, outer.source, outer)
        frame = self.frames[key]
        frame.restart()
        for name, value in bound.items():
            frame.bind(name, value, self.heap)
        with self.called(Call(at, function_name(reference.node))):
            self.run_body(reference.node, frame)
        before = self.results.get(key, PLAIN)
        self.results[key] = before | frame.returned
        if self.results[key] != before:
            self.heap.changed = True
        return self.results[key]

    def _bind(self, reference: Function, arguments: Arguments, at: Place) -> dict[str, Value]:
        """The parameters of a function, in their order, with what a call gives them."""
        signature = reference.node.args
        names = [p.arg for p in (*signature.posonlyargs, *signature.args)]
        bound = dict(zip(names, arguments.positional, strict=False))
        surplus = arguments.positional[len(names) :]
        keywords = dict(arguments.keywords)
        for parameter in (*names, *(p.arg for p in signature.kwonlyargs)):
            if parameter not in bound:
                bound[parameter] = self._given(reference, parameter, keywords, arguments, parameter in names)
        key = (reference, at)
        if signature.vararg:
            content: dict[Key, Value] = dict(enumerate(surplus))
            if arguments.rest is not None:
                content[REST] = arguments.rest
            bound[signature.vararg.arg] = self.heap.container((*key, "*"), content)
        if signature.kwarg:
            content = dict(keywords)
            if arguments.extra is not None:
                content[REST] = arguments.extra
            bound[signature.kwarg.arg] = self.heap.container((*key, "**"), content)
        return {p.arg: bound[p.arg] for p in parameters_of(signature)}

    @staticmethod
    def _given(
        reference: Function, name: str, keywords: dict[str, Value], arguments: Arguments, positional: bool
    ) -> Value:
        if name in keywords:
            return keywords.pop(name)
        found = reference.content.get(name, PLAIN)
        if arguments.extra is not None:
            found |= arguments.extra
        if positional and arguments.rest is not None:
            found |= arguments.rest
        return found

    # Objects.

    def _call_Method(self, reference: Method, levels: Levels, arguments: Arguments, at: Place) -> Value:
        first = reference.content["self"].at(levels)
        return self.call(reference.content["function"], arguments.behind(first), at)

    def _call_Partial(self, reference: Partial, levels: Levels, arguments: Arguments, at: Place) -> Value:
        content = {key: value.at(levels) for key, value in reference.content.items()}
        bound = [value for key, value in content.items() if isinstance(key, int)]
        named = {key: v for key, v in content.items() if isinstance(key, str) and key not in ("", REST, "**")}
        rest = join([*(v for v in (content.get(REST), arguments.rest) if v is not None)])
        if REST in content:  # what follows may come at any place
            given = Arguments(tuple(bound), rest | join(arguments.positional), {**named, **arguments.keywords})
        else:
            given = Arguments(
                (*bound, *arguments.positional), arguments.rest, {**named, **arguments.keywords}
            )
        extra = [v for v in (content.get("**"), arguments.extra) if v is not None]
        if extra:
            given = dataclasses.replace(given, extra=join(extra))
        return self.call(content[""], given, at)

    def _call_Class(self, reference: Class, _levels: Levels, arguments: Arguments, at: Place) -> Value:
        made = self._instance(reference, at)
        constructor = self.member(reference, "__init__")
        if constructor is not None:
            self.call(constructor, arguments.behind(made), at)
        else:
            self._fill(reference, made, arguments)
        for name in ("__post_init__", "setup"):
            hook = self.member(reference, name)
            if hook is not None:
                self.call(hook, Arguments((made,)), at)
        return made

    def _instance(self, of: Class, at: Place) -> Value:
        return self.heap.value(self.heap.make((of, at.node), Instance, of))

    def _fill(self, of: Class, made: Value, arguments: Arguments) -> None:
        """Gives the arguments of a constructor out of sight to the fields of the same names."""
        fields = [
            item.target.id
            for owner in reversed(list(self.lineage(of)))
            for item in owner.node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        content: dict[Key, Value] = dict(arguments.keywords)
        for index, value in enumerate(arguments.positional):
            content[index] = value
            content[fields[index] if index < len(fields) else REST] = value
        for other in (arguments.rest, arguments.extra):
            if other is not None:
                content[REST] = content.get(REST, PLAIN) | other
        for instance in made:
            for key, value in content.items():
                self.heap.put(instance, key, value)

    def lineage(self, of: Class) -> Iterator[Class]:
        """The classes in sight whose methods an instance has, its own class first."""
        seen, waiting = {of}, [of]
        while waiting:
            found = waiting.pop(0)
            yield found
            for base in found.node.bases:
                for reference in self.value(base, found.frame):
                    if isinstance(reference, Class) and reference not in seen:
                        seen.add(reference)
                        waiting.append(reference)

    def member(self, of: Class, name: str) -> Value | None:
        """What the first class that binds a name holds there; None if it is out of sight."""
        return next((each.content[name] for each in self.lineage(of) if name in each.content), None)

    def member_names(self, of: Class) -> frozenset[str]:
        return frozenset(key for each in self.lineage(of) for key in each.content if isinstance(key, str))

    def _call_Instance(self, reference: Instance, levels: Levels, arguments: Arguments, at: Place) -> Value:
        method = self.attribute(self.heap.value(reference).at(levels), "__call__", at)
        if method == PLAIN or not self.callables(method):
            return self.call_unseen(Value(levels), arguments, at)
        return self.call(method, arguments, at)

    # Differentiation.

    def differentiate(
        self,
        transform: Transform,
        function: Value,
        arguments: Arguments,
        selected: frozenset[int] | None,
        at: Place,
        root: Place,
        modes: tuple[Mode, ...] | None = None,
    ) -> Value:
        """What a function gives under a transform, as far as the code around the transform sees it.

        Args:
          selected: the positions of the arguments that are differentiated; None for all of them.
          at: where the function is called.
          root: where the transform is applied to it.
          modes: the levels left to apply, the outermost first.
        """
        modes = transform.modes if modes is None else modes
        if not modes:
            return self.call(function, arguments, at)
        depth = min(self.extent.depth + 1, _MOST_NESTED)
        level = Level(depth, modes[0])
        around = self.levels_of(arguments)
        parameters = self.extent.parameters | ({level} if transform.parameters else NOT_AT_ALL)
        extent = dataclasses.replace(self.extent, depth=depth, active=True, parameters=parameters)
        label = ast.unparse(root.node) if isinstance(root.node, ast.expr) else ""
        with self.within(extent), self.called(Call(root, label, level)):
            marked = _mark(arguments, selected, level)
            result = self.differentiate(transform, function, marked, selected, at, root, modes[1:])
        return Value(below(around | self.heap.levels(result), depth))

    def _call_Derivative(
        self, reference: Derivative, levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        arguments = arguments.map(lambda value: value.at(levels))
        function = reference.content[""]
        return self.differentiate(
            reference.transform, function, arguments, reference.arguments, at, reference.at
        )

    def _call_Pullback(self, reference: Pullback, levels: Levels, arguments: Arguments, at: Place) -> Value:
        """Evaluates once more, as the cotangents reach backward rules."""
        cotangents = self.levels_of(arguments) | levels
        if cotangents:
            extent = dataclasses.replace(self.extent, cotangents=self.extent.cotangents | cotangents)
            content = [v for k, v in sorted(reference.content.items(), key=lambda i: str(i[0])) if k != ""]
            with self.within(extent):
                self.differentiate(
                    reference.transform, reference.content[""], Arguments(tuple(content)), None, at, reference.at
                )
        return Value(cotangents | self.levels_of(v for k, v in reference.content.items() if k != ""))

    # Custom rules.

    def _call_Custom(self, reference: Custom, levels: Levels, arguments: Arguments, at: Place) -> Value:
        arguments = arguments.map(lambda value: value.at(levels))
        around = self.levels_of(arguments)
        ruled = by_rules(around)
        transposed = self.kept(arguments, lambda level: level.mode is Mode.TRANSPOSE, "linear")
        with self.within(dataclasses.replace(self.extent, active=self.extent.active or bool(around))):
            result = self.call(reference.content[""], transposed, at)
            if reference.kind == "gradient":
                self._run_gradient(reference, arguments, ruled, at)
            elif ruled:
                self.run_rules(reference, arguments, ruled, at)
        return Value(around | result.levels, result.references)

    def kept(self, arguments: Arguments, keep: object, key: str) -> Arguments:
        return arguments.map(lambda value: self.heap.kept(value, keep, key))  # type: ignore[arg-type]

    def run_rules(self, reference: Custom, arguments: Arguments, ruled: Levels, at: Place) -> None:
        """Evaluates the rules as the innermost transform does: under those around it."""
        top = max((level.depth for level in ruled), default=0)
        outer = self.kept(
            arguments,
            lambda level: level.mode is not Mode.UNKNOWN and level.depth < top,
            f"below {top}",
        )
        tangents = frozenset(
            Level(top, Mode.TRANSPOSE) for level in ruled if level.depth == top and level.mode is Mode.REVERSE
        )
        if reference.kind == "jvp":
            self._run_jvp_rules(reference, outer, tangents, at)
        else:
            self._run_vjp_rules(reference, outer, at)

    def _run_vjp_rules(self, reference: Custom, arguments: Arguments, at: Place) -> None:
        levels = self.levels_of(arguments)
        cotangent = Value(levels | self.extent.cotangents)
        forward = self._rule(reference, "fwd")
        if reference.kind == "filter_vjp":
            everything = whatever(join(arguments))
            residuals = self._called_or_plain(forward, everything, at)
            given = whatever(join(arguments) | residuals | cotangent)
        else:
            residuals = self.element(self._called_or_plain(forward, arguments, at), 1)
            static = [
                value for index, value in enumerate(arguments.positional) if index in reference.static
            ]
            given = Arguments((*static, residuals, cotangent))
        self._called_or_plain(self._rule(reference, "bwd"), given, at)

    def _called_or_plain(self, rule: Value, arguments: Arguments, at: Place) -> Value:
        return self.call(rule, arguments, at) if self.callables(rule) else PLAIN

    @staticmethod
    def _rule(reference: Custom, name: str) -> Value:
        return reference.content.get(name, PLAIN)

    def _run_jvp_rules(
        self, reference: Custom, arguments: Arguments, tangents: Levels, at: Place
    ) -> None:
        static = [v for index, v in enumerate(arguments.positional) if index in reference.static]
        moved = [v for index, v in enumerate(arguments.positional) if index not in reference.static]
        spread = [v for v in (arguments.rest, *arguments.keywords.values(), arguments.extra) if v is not None]
        plain = [Value(self.heap.levels(value)) for value in moved]
        key = (reference, at, tangents)
        content: dict[Key, Value] = dict(enumerate(moved))
        twins: dict[Key, Value] = {index: value.at(tangents) for index, value in enumerate(plain)}
        if spread:
            content[REST] = join(spread)
            twins[REST] = Value(self.levels_of(spread)).at(tangents)
        primals = self.heap.container((*key, "primals"), content)
        moving = self.heap.container((*key, "tangents"), twins)
        self._called_or_plain(self._rule(reference, "jvp"), Arguments((*static, primals, moving)), at)
        tangent = Value(self.levels_of(arguments)).at(tangents)
        result = Value(self.levels_of(arguments))
        each = Arguments((tangent, result, *moved), join(spread) if spread else None)
        self._called_or_plain(self._rule(reference, "jvps"), each, at)

    def _run_gradient(self, reference: Custom, arguments: Arguments, ruled: Levels, at: Place) -> None:
        """A function that gives its result with the function for its cotangents."""
        top = max((level.depth for level in ruled), default=0)
        outer = self.kept(
            arguments, lambda level: level.mode is not Mode.UNKNOWN and level.depth < top, f"below {top}"
        )
        backward = self.element(self.call(reference.content[""], outer, at), 1)
        cotangent = Value(self.levels_of(outer) | self.extent.cotangents)
        self._called_or_plain(backward, whatever(cotangent), at)

    def _call_RuleSetter(
        self, reference: RuleSetter, _levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        for custom in reference.content["self"]:
            assert isinstance(custom, Custom)
            self._set_rules(custom, reference.name, arguments)
            nothing = whatever(PLAIN)
            with self.within(dataclasses.replace(OUTSIDE, active=True)):
                for name, rule in sorted((str(k), v) for k, v in custom.content.items() if k != ""):
                    self._called_or_plain(rule, nothing, at) if name != "nondiff" else None
        return join(arguments)

    def _set_rules(self, custom: Custom, name: str, arguments: Arguments) -> None:
        names = {
            "defvjp": ("fwd", "bwd"),
            "defjvp": ("jvp",),
            "def_jvp": ("jvp",),
            "def_fwd": ("fwd",),
            "def_bwd": ("bwd",),
        }.get(name)
        if names is None:  # `defjvps`, one rule for each argument
            for rule in arguments:
                self.heap.put(custom, "jvps", rule)
            return
        for index, key in enumerate(names):
            rule_given = arguments.given(index, key)
            if rule_given is not None:
                self.heap.put(custom, key, rule_given)

    def _call_Stateful(self, reference: Stateful, levels: Levels, arguments: Arguments, at: Place) -> Value:
        skipped = 1 if reference.method == "init" else reference.skipped
        first = self.levels_of(arguments.positional[:skipped]) | levels
        if reference.method == "init":
            first = NOT_AT_ALL
        extent = dataclasses.replace(self.extent, parameters=self.extent.parameters | first)
        with self.within(extent):
            result = self.call(reference.content[""], arguments.without_first(skipped), at)
        return Value(first | self.heap.levels(result), result.references)

    def _call_Inherited(
        self, reference: Inherited, levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        """A method of a base class out of sight, such as Flax's `apply`, calls others of the instance."""
        instance = reference.content["self"].at(levels)
        around = self.levels_of(arguments)
        if reference.name in ("apply", "init", "init_with_output", "lazy_init"):
            state = self.levels_of(arguments.positional[:1]) if reference.name == "apply" else NOT_AT_ALL
            named = {k: v for k, v in arguments.keywords.items() if k not in ("method", "rngs", "mutable")}
            inner = dataclasses.replace(arguments.without_first(1), keywords=named)
            methods = arguments.keywords.get("method") or self.attribute(instance.at(state), "__call__", at)
            if any(isinstance(each, Constant) for each in methods):
                methods = join(
                    self.attribute(instance.at(state), str(each.value), at)
                    for each in methods
                    if isinstance(each, Constant)
                )
            elif arguments.keywords.get("method"):
                inner = inner.behind(instance.at(state))
            with self.within(dataclasses.replace(self.extent, parameters=self.extent.parameters | state)):
                result = self.call(methods, inner, at)
            return Value(around | self.heap.levels(result), result.references)
        self.escape(Value(instance.levels | around, instance.references), at)
        return Value(around | instance.levels | self.extent.parameters)

    # What containers hold.

    @abstractmethod
    def element(self, value: Value, key: Key | None) -> Value:
        """What a value holds under a key, or under any."""


def _mark(arguments: Arguments, selected: frozenset[int] | None, level: Level) -> Arguments:
    """The arguments with those differentiated that a transform selects."""
    if selected is None:
        return arguments.map(lambda value: value.at({level}))
    count = len(arguments.positional)
    chosen = {index + count if index < 0 else index for index in selected}
    positional = tuple(
        value.at({level}) if index in chosen else value for index, value in enumerate(arguments.positional)
    )
    beyond = any(index >= count for index in chosen)
    rest = arguments.rest.at({level}) if arguments.rest is not None and beyond else arguments.rest
    return dataclasses.replace(arguments, positional=positional, rest=rest)
