"""Calls of libraries, as `table` knows them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Final

from codemods.gradients import table
from codemods.gradients.builtin_calls import BuiltinCalls, Handler
from codemods.gradients.derivatives import Application
from codemods.gradients.frames import OUTSIDE, Arguments, Place, whatever
from codemods.gradients.levels import NOT_AT_ALL, Levels
from codemods.gradients.table import Applied, Table, Transform
from codemods.gradients.values import (
    PLAIN,
    REST,
    Class,
    Constant,
    Container,
    Custom,
    Derivative,
    Function,
    Instance,
    Library,
    Pullback,
    Stateful,
    Value,
    join,
    literals,
)
from codemods.project import Project

_ABSTRACT: Final = ("eval_shape", "filter_eval_shape")

_GIVES_ARRAYS: Final = ("jax.numpy.", "jax.lax.", "jax.random.", "jax.nn.", "jax.scipy.", "numpy.", "math.")
_PASSES_FUNCTIONS: Final = ("functools.", "itertools.", "pytest.", "unittest.", "hypothesis.")
_KEEPERS: Final = (
    *(
        f"{name}."
        for name in "jax.numpy jax.tree jax.tree_util jax.debug numpy builtins equinox optax".split()
    ),
    *(f"{name}." for name in "copy dataclasses chex operator".split()),
    "jax.block_until_ready",
    "jax.device_",
)


class LibraryCalls(BuiltinCalls):
    def __init__(self, project: Project, transforms: Table, sites: int) -> None:
        super().__init__(project, sites)
        self.transforms = transforms
        roots = {name.partition(".")[0] for name in transforms}
        self._called: set[object] = set()
        self._specials: dict[str, Handler | None] = {}
        self._plain = table.PLAIN | roots

    def is_plain(self, name: str) -> bool:
        """Whether a library differentiates what it is given only where the table says so."""
        return name.partition(".")[0] in self._plain

    def _call_Library(self, reference: Library, levels: Levels, arguments: Arguments, at: Place) -> Value:
        name = reference.name
        if reference.content:  # what it was made with takes part
            held = join(reference.content.values())
            arguments = dataclasses.replace(arguments, extra=held | (arguments.extra or PLAIN))
        rows = self._rows(name)
        if rows:
            found = [self._transformed(name, row, arguments, at) for row in rows]
            return join(found)
        if name not in self._specials:
            self._specials[name] = self._special(name)
        special = self._specials[name]
        if special is not None:
            return special(name, arguments, at)
        if name in table.STOPS:
            return PLAIN
        return self._called_plainly(name, levels, arguments, at)

    def _rows(self, name: str) -> tuple[Transform, ...]:
        if name in self.transforms:
            return self.transforms[name]
        if "()" in name:
            root, method = name.partition(".")[0], name.rpartition("().")[2]
            return self.transforms.get(f"{root}.().{method}", ())
        return ()

    def _special(self, name: str) -> Handler | None:
        for names, handler in (
            (table.CUSTOM, self._custom),
            (table.CONTROL_FLOW, self._control_flow),
            (table.LINEAR_SOLVES, self._linear_solve),
            (table.ON_THE_HOST, self._on_the_host),
            (table.STATEFUL, self._stateful),
            (table.CASTS, self._cast),
        ):
            if name in names:
                return handler
        if name.rpartition(".")[2] in _ABSTRACT:
            return self._abstract
        if name in table.SEE_THROUGH:
            return self._see_through
        return self._special_cases.get(name) or self.python_function(name)

    @functools.cached_property
    def _special_cases(self) -> dict[str, Handler]:
        return {
            "jax.ShapeDtypeStruct": self._spec,
            "jax.tree.map": self._tree_map,
            "jax.tree_util.tree_map": self._tree_map,
            "jax.tree_map": self._tree_map,
            "importlib.import_module": self._import,
            "builtins.__import__": self._import,
            "haiku.without_apply_rng": self._without_apply_rng,
        }

    # Transforms.

    def _transformed(self, name: str, row: Transform, arguments: Arguments, at: Place) -> Value:
        if row.function == table.ANY_ARGUMENT:
            function = Value(references=self.callables(join(arguments)))
        else:
            given = arguments.given(*row.function)
            if given is None:
                return self._awaiting_function(name, row, arguments, at)
            function = given
        if not self._applies(row, arguments) or not self.callables(function):
            return self._called_plainly(name, NOT_AT_ALL, arguments, at)
        position = row.function[0]
        others = dataclasses.replace(
            arguments,
            positional=tuple(v for i, v in enumerate(arguments.positional) if i != position),
            keywords={k: v for k, v in arguments.keywords.items() if k != row.function[1]},
        )
        row = self._as_often_as(row, arguments)
        return getattr(self, f"_applied_{row.applied.name.lower()}")(row, function, others, at)  # type: ignore[no-any-return]

    def _awaiting_function(self, name: str, row: Transform, arguments: Arguments, at: Place) -> Value:
        """A transform that gets its function later, as a decorator with options does."""
        if row.applied is not Applied.LATER or list(arguments.positional):
            return self._called_plainly(name, NOT_AT_ALL, arguments, at)
        return self.partial(name, Arguments((self.heap.library(name),), keywords=arguments.keywords), at)

    def _applies(self, row: Transform, arguments: Arguments) -> bool:
        if row.unless and True in literals(arguments.keywords.get(row.unless, PLAIN)):
            return False
        if row.needs and "modes" in arguments.keywords:
            modes = literals(arguments.keywords["modes"])
            return not modes or row.needs in modes
        names = {each.name for each in join(arguments) if isinstance(each, Library)}
        return not row.given or bool(names & row.given)

    def _as_often_as(self, row: Transform, arguments: Arguments) -> Transform:
        if row.order is None:
            return row
        orders = [n for n in literals(arguments.given(row.order, "order") or PLAIN) if isinstance(n, int)]
        times = min(max(orders, default=1), 3)
        return dataclasses.replace(row, modes=row.modes * times)

    def _applied_later(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        selected = row.arguments
        if row.argnums is not None:
            given = others.given(row.argnums - 1, "argnums")
            if given is not None:
                selected = _numbers(given) or None
        with_aux = True in literals(others.keywords.get("has_aux", PLAIN))
        made = self.heap.make((at, row, selected), Derivative, row, at, selected, with_aux)
        self.heap.put(made, "", function)
        # Whoever calls it may be out of sight, but is sure to differentiate the arguments that are selected.
        count = max(_count(function), *(index + 1 for index in selected or ()), 0)
        whatever_else = Arguments((PLAIN,) * count, PLAIN, extra=PLAIN)
        self.differentiate(Application(row, function, selected, at), whatever_else, at)
        return self.heap.value(made)

    def _applied_to_rest(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        given = dataclasses.replace(others, keywords={})
        found = self.differentiate(Application(row, function, row.arguments, at), given, at)
        made = self.heap.make((at, row), Pullback, row, at)
        self.heap.put(made, "", function)
        for index, value in enumerate((*given.positional, *([given.rest] if given.rest else []))):
            self.heap.put(made, index, value)
        return self.heap.container((at, row, "pair"), {0: found.primal, 1: self.heap.value(made)})

    def _applied_to_tuple(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        values, *tangents = (*others.positional, PLAIN)
        applied = Application(row, function, row.arguments, at)
        found = self.differentiate(applied, self.spread(values), at)
        derivative = found.derivative.at(self.levels_of(tangents))
        return self.heap.container((at, row, "pair"), {0: found.primal, 1: derivative})

    def spread(self, value: Value) -> Arguments:
        """The elements of a tuple as arguments."""
        containers = [each for each in value if isinstance(each, Container)]
        if len(containers) == 1 and REST not in containers[0].content and len(value.references) == 1:
            content = containers[0].content
            return Arguments(tuple(content[key].at(value.levels) for key in content))
        return Arguments(rest=self.element(value, None))

    def _applied_inside(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        around = Value(self.levels_of(others))
        given = Arguments((around,) * 3, around, extra=around)
        self.differentiate(Application(row, function, row.arguments, at), given, at)
        return Value(around.levels, self.callables(function))

    # Custom functions.

    def _custom(self, name: str, arguments: Arguments, at: Place) -> Value:
        function = arguments.given(0, "fun") or arguments.keywords.get("fn")
        if function is None:
            return self.partial(name, Arguments((self.heap.library(name),), keywords=arguments.keywords), at)
        kind = table.CUSTOM[name]
        numbers = literals(arguments.given(1, "nondiff_argnums") or PLAIN) if "linen" not in kind else []
        static = frozenset(n for n in numbers if isinstance(n, int))
        made = self.heap.make((at, kind), Custom, "vjp" if kind == "linen_vjp" else kind, static)
        self.heap.put(made, "", function)
        if kind == "linen_vjp":
            for index, (key, keyword) in enumerate((("fwd", "forward_fn"), ("bwd", "backward_fn")), 1):
                rule = arguments.given(index, keyword)
                if rule is not None:
                    self.heap.put(made, key, rule)
        return self.heap.value(made)

    # The rest.

    def _on_the_host(self, _name: str, arguments: Arguments, at: Place) -> Value:
        self.run_on_host(join(arguments), at)
        return PLAIN

    def run_on_host(self, function: Value, at: Place) -> None:
        """Evaluates a function that receives concrete arrays, wherever it is called."""
        reached = Value(references=frozenset(filter(self.reaches, self.callables(function))))
        if not reached.references:
            return
        calls, self.calls = self.calls, []
        try:
            with self.within(OUTSIDE):
                for reference in reached:
                    self.call(self.heap.value(reference), whatever(PLAIN), at)
        finally:
            self.calls = calls

    def _abstract(self, _name: str, arguments: Arguments, at: Place) -> Value:
        function, rest = arguments.given(0, "fun") or PLAIN, arguments.without_first(1)
        if self.callables(function):
            self.call(function, self.kept(rest, lambda level: False, "nothing"), at)
        return PLAIN

    def _stateful(self, name: str, arguments: Arguments, at: Place) -> Value:
        made = self.heap.make((at, name), Stateful, table.STATEFUL[name])
        self.heap.put(made, "", arguments.given(0, "f") or PLAIN)
        return self.heap.value(made)

    def _without_apply_rng(self, _name: str, arguments: Arguments, at: Place) -> Value:
        found = PLAIN
        for each in arguments.given(0, "f") or PLAIN:
            if isinstance(each, Stateful):
                made = self.heap.make((at, each), Stateful, each.skipped - 1, each.method)
                self.heap.put(made, "", each.content[""])
                found |= self.heap.value(made)
        return found

    def _cast(self, name: str, arguments: Arguments, at: Place) -> Value:
        position = table.CASTS[name]
        dtype = arguments.given(position, "dtype") or arguments.keywords.get("new_dtype")
        if dtype is not None and self.is_integer(dtype):
            return PLAIN
        return self._called_plainly(name, NOT_AT_ALL, arguments, at)

    def is_integer(self, dtype: Value) -> bool:
        """Whether a dtype is one of integers or booleans, which are not differentiated."""
        return bool(dtype.references) and all(
            (isinstance(each, Library) and each.name in table.INTEGER_TYPES)
            or (isinstance(each, Constant) and each.value in table.INTEGER_NAMES)
            for each in dtype
        )

    def _see_through(self, name: str, arguments: Arguments, _at: Place) -> Value:
        """A function that gives another one that does the same."""
        function = arguments.given(0, "fun")
        return self.heap.library(name) if function is None or not self.callables(function) else function

    def _tree_map(self, _name: str, arguments: Arguments, at: Place) -> Value:
        """The first tree, with leaves as differentiated as what the function gives for those of all trees."""
        function, *trees = (*arguments.positional, PLAIN)
        leaves = [Value(self.heap.levels(tree)) for tree in trees[: len(arguments.positional) - 1]]
        levels = self.heap.levels(self.call(function, Arguments(tuple(leaves), arguments.rest), at))
        first = self.heap.kept(trees[0], lambda level: level in levels, levels)
        return first.at(levels - self.heap.levels(first))

    def _import(self, _name: str, arguments: Arguments, at: Place) -> Value:
        """A module that is imported by a name, which may be any if the name cannot be seen."""
        names = [each for each in literals(arguments.given(0, "name") or PLAIN) if isinstance(each, str)]
        if not names:
            self.incomplete = True
        return join(self.resolve(name, at.frame.source) for name in names)

    def _spec(self, _name: str, arguments: Arguments, at: Place) -> Value:
        dtype = arguments.given(1, "dtype") or PLAIN
        return self.heap.container((at, "spec"), {"dtype": dtype})

    def _called_plainly(self, name: str, levels: Levels, arguments: Arguments, at: Place) -> Value:
        """A call that does nothing special: it may call functions that it is given, and return them."""
        root = name.partition(".")[0]
        given = join(arguments)
        functions = self.that_matter(given)
        around = levels | self.heap.levels(given)
        if root in table.GIVES_PARAMETERS:
            around |= self.extent.parameters
        result = Value(around, frozenset() if name.startswith(_GIVES_ARRAYS) else functions)
        mark = (name, given, self.extent)
        if functions and mark not in self._called:
            self._called.add(mark)
            keeps, passes = name.startswith(_KEEPERS), name.startswith(_PASSES_FUNCTIONS)
            for reference in Value(references=functions):
                if keeps and isinstance(reference, Instance | Class):
                    continue  # data to these
                others = functions - {reference} if passes else frozenset()
                found = self.call(self.heap.value(reference), whatever(Value(around, others)), at)
                result |= Value(found.levels, self.that_matter(found))
            self._called.discard(mark)
            if not self.is_plain(name):
                self.escape(given, at)
        is_object = root in table.NAMED_OBJECTS or not self.is_plain(name) or not arguments.positional
        if is_object and "()" not in name and not name.startswith(("jax.numpy.", "numpy.", "builtins.")):
            made = self.heap.make((name, at if functions else None), Library, f"{name}()")
            if functions:
                self.heap.put(made, REST, Value(references=functions))
            result |= self.heap.value(made)
        return result


def _numbers(given: Value) -> frozenset[int]:
    """The numbers of arguments that `argnums` gives; none where one of them may be another."""
    if given.levels or not given.references:  # an argument of code out of sight, or what is computed
        return frozenset()
    found = set[int]()
    for each in given:
        inner = [_numbers(value) for value in each.content.values()] if isinstance(each, Container) else []
        if not all(inner):
            return frozenset()
        found.update(*inner)
        if isinstance(each, Constant) and isinstance(each.value, int):
            found.add(each.value)
    return frozenset(found)


def _count(function: Value) -> int:
    """How many positional parameters a function has."""
    found = [each.node.args for each in function if isinstance(each, Function)]
    return max((len(args.posonlyargs) + len(args.args) for args in found), default=0)
