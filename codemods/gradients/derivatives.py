"""Calls of derivatives, of functions with rules of their own, and of models with parameters."""

from __future__ import annotations

import dataclasses
from typing import Final

from codemods.gradients.calls import Calls
from codemods.gradients.frames import OUTSIDE, Arguments, Place, whatever
from codemods.gradients.levels import (
    NOT_AT_ALL,
    Level,
    Levels,
    Mode,
    below,
    by_rules,
    innermost,
    is_beyond_rules,
)
from codemods.gradients.modules import Call
from codemods.gradients.table import Transform
from codemods.gradients.values import (
    PLAIN,
    REST,
    Constant,
    Custom,
    Derivative,
    Inherited,
    Keep,
    Key,
    Pullback,
    RuleSetter,
    Stateful,
    Value,
    join,
)

_MOST_NESTED: Final = 6


@dataclasses.dataclass(frozen=True, slots=True)
class Application:
    """A transform with the function that it is applied to.

    Attributes:
      selected: the positions of the arguments that are differentiated; None for all of them.
      root: where the transform is applied.
    """

    transform: Transform
    function: Value
    selected: frozenset[int] | None
    root: Place


@dataclasses.dataclass(frozen=True, slots=True)
class Differentiated:
    """What a function gives under a transform, as the code around the transform sees it."""

    primal: Value
    derivative: Value


class Derivatives(Calls):
    def differentiate(
        self, applied: Application, arguments: Arguments, at: Place, modes: tuple[Mode, ...] | None = None
    ) -> Differentiated:
        """Calls a function under a transform.

        Args:
          applied: the transform and the function.
          arguments: as the code around the transform passes them.
          at: where the function is called.
          modes: the levels left to apply, the outermost first.
        """
        modes = applied.transform.modes if modes is None else modes
        depth = min(self.extent.depth + 1, _MOST_NESTED)
        level = Level(depth, modes[0])
        parameters = self.extent.parameters | ({level} if applied.transform.parameters else NOT_AT_ALL)
        extent = dataclasses.replace(self.extent, depth=depth, active=True, parameters=parameters)
        with self.within(extent), self.called(Call(applied.root, None, level)):
            marked = _mark(arguments, applied.selected, level)
            if len(modes) > 1:
                result = self.differentiate(applied, marked, at, modes[1:]).derivative
            else:
                result = self.call(applied.function, marked, at)
        levels = self.heap.levels(result)
        primal = self.heap.kept(result, lambda each: each.depth < depth, f"outside {depth}")
        # Of a function that does not depend on what is differentiated, all derivatives are zeros.
        around = self.levels_of(arguments) | levels if level in levels else NOT_AT_ALL
        return Differentiated(primal, Value(below(around, depth)))

    def _call_Derivative(
        self, reference: Derivative, levels: Levels, arguments: Arguments, at: Place
    ) -> Value:
        arguments = arguments.map(lambda value: value.at(levels))
        transform = reference.transform
        applied = Application(transform, reference.content[""], reference.arguments, reference.at)
        found = self.differentiate(applied, arguments, at)
        if transform.with_value:
            return self.heap.container((reference, at), {0: found.primal, 1: found.derivative})
        if reference.with_aux:
            aux = self.element(found.primal, 1)
            return self.heap.container((reference, at), {0: found.derivative, 1: aux})
        return found.derivative

    def _call_Pullback(self, reference: Pullback, levels: Levels, arguments: Arguments, at: Place) -> Value:
        """Evaluates once more, as the cotangents reach backward rules."""
        cotangents = self.levels_of(arguments) | levels
        given = [value for key, value in reference.content.items() if key != ""]
        if cotangents:
            extent = dataclasses.replace(self.extent, cotangents=self.extent.cotangents | cotangents)
            applied = Application(reference.transform, reference.content[""], None, reference.at)
            with self.within(extent):
                self.differentiate(applied, Arguments(tuple(given)), at)
        return Value(cotangents | self.levels_of(given))

    def _call_Custom(self, reference: Custom, levels: Levels, arguments: Arguments, at: Place) -> Value:
        arguments = arguments.map(lambda value: value.at(levels))
        around = self.levels_of(arguments)
        ruled = by_rules(around)
        beyond = self.kept(arguments, is_beyond_rules, "beyond rules")
        with self.within(dataclasses.replace(self.extent, active=self.extent.active or bool(around))):
            result = self.call(reference.content[""], beyond, at)
            if reference.kind == "gradient":
                self._run_gradient(reference, arguments, ruled, at)
            elif ruled:
                self.run_rules(reference, arguments, ruled, at)
        return Value(around | result.levels, result.references)

    def kept(self, arguments: Arguments, keep: Keep, key: str) -> Arguments:
        """The arguments without the levels that `keep`, which `key` identifies, does not keep."""
        return arguments.map(lambda value: self.heap.kept(value, keep, key))

    def outside(self, arguments: Arguments, depth: int) -> Arguments:
        """The arguments as the transforms around the one at `depth` see them."""
        return self.kept(
            arguments, lambda level: level.mode is not Mode.UNKNOWN and level.depth < depth, f"below {depth}"
        )

    def run_rules(self, reference: Custom, arguments: Arguments, ruled: Levels, at: Place) -> None:
        """Evaluates the rules as the innermost transform does: under those around it."""
        top = innermost(ruled)
        outer = self.outside(arguments, top)
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
            static = [value for index, value in enumerate(arguments.positional) if index in reference.static]
            given = Arguments((*static, residuals, cotangent))
        self._called_or_plain(self._rule(reference, "bwd"), given, at)

    def _called_or_plain(self, rule: Value, arguments: Arguments, at: Place) -> Value:
        return self.call(rule, arguments, at) if self.callables(rule) else PLAIN

    @staticmethod
    def _rule(reference: Custom, name: str) -> Value:
        return reference.content.get(name, PLAIN)

    def _run_jvp_rules(self, reference: Custom, arguments: Arguments, tangents: Levels, at: Place) -> None:
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
        outer = self.outside(arguments, innermost(ruled))
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

    def _call_Inherited(self, reference: Inherited, levels: Levels, arguments: Arguments, at: Place) -> Value:
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
