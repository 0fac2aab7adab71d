"""Calls of libraries, as `table` knows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from codemods.gradients import table
from codemods.gradients.calls import Calls
from codemods.gradients.frames import OUTSIDE, Arguments, Place, whatever
from codemods.gradients.levels import NOT_AT_ALL, Level, Levels, Mode
from codemods.gradients.table import Applied, Table, Transform
from codemods.gradients.values import (
    PLAIN,
    REST,
    Class,
    Constant,
    Container,
    Custom,
    Derivative,
    Descriptor,
    Instance,
    Key,
    Library,
    Partial,
    Pullback,
    Stateful,
    Value,
    join,
)
from codemods.project import Project

_PARTIAL: Final = frozenset({"functools.partial", "jax.tree_util.Partial"})
_ABSTRACT: Final = ("eval_shape", "filter_eval_shape")
_DESCRIPTORS: Final = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
}
_SEQUENCES: Final = frozenset(f"builtins.{name}" for name in "list tuple sorted reversed set iter".split())

_MOST_STEPS: Final = 8
_KEEPERS: Final = (
    *(f"{name}." for name in "jax.numpy jax.tree jax.tree_util jax.debug numpy builtins equinox optax".split()),
    *(f"{name}." for name in "copy dataclasses chex operator".split()),
    "jax.block_until_ready",
    "jax.device_",
)


class LibraryCalls(Calls):
    def __init__(self, project: Project, transforms: Table) -> None:
        super().__init__(project)
        self.transforms = transforms
        roots = {name.partition(".")[0] for name in transforms}
        self.plain = table.PLAIN | roots

    def _call_Library(self, reference: Library, levels: Levels, arguments: Arguments, at: Place) -> Value:
        name = reference.name
        rows = self._rows(name)
        if rows:
            found = [self._transformed(name, row, arguments, at) for row in rows]
            return join(found)
        special = self._special(name)
        if special is not None:
            return special(name, arguments, at)
        if name in table.STOPS:
            return PLAIN
        return self._called_plainly(name, levels, arguments, at)

    def _rows(self, name: str) -> tuple[Transform, ...]:
        if name in self.transforms:
            return self.transforms[name]
        if "()" in name:
            root, _, method = name.partition(".")[0], "", name.rpartition("().")[2]
            return self.transforms.get(f"{root}.().{method}", ())
        return ()

    def _special(self, name: str) -> Callable[[str, Arguments, Place], Value] | None:
        for names, handler in (
            (table.CUSTOM, self._custom),
            (table.CONTROL_FLOW, self._control_flow),
            (table.LINEAR_SOLVES, self._linear_solve),
            (table.ON_THE_HOST, self._on_the_host),
            (table.STATEFUL, self._stateful),
            (table.CASTS, self._cast),
            (_PARTIAL, self._partial),
            (_DESCRIPTORS, self._descriptor),
            (_SEQUENCES, self._sequence),
        ):
            if name in names:
                return handler
        if name.rpartition(".")[2] in _ABSTRACT:
            return self._abstract
        return getattr(self, f"_{name.replace('.', '_').replace('()', '_object')}", None)

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
        return self._partial(name, Arguments((self.heap.library(name),), keywords=arguments.keywords), at)

    def _applies(self, row: Transform, arguments: Arguments) -> bool:
        if row.unless and True in self.constants(arguments.keywords.get(row.unless, PLAIN)):
            return False
        if row.needs and "modes" in arguments.keywords:
            modes = self.constants(arguments.keywords["modes"])
            return not modes or row.needs in modes
        names = {each.name for each in join(arguments) if isinstance(each, Library)}
        return not row.given or bool(names & row.given)

    def _as_often_as(self, row: Transform, arguments: Arguments) -> Transform:
        if row.order is None:
            return row
        orders = [n for n in self.constants(arguments.given(row.order, "order") or PLAIN) if isinstance(n, int)]
        times = min(max(orders, default=1), 3)
        return dataclasses.replace(row, modes=row.modes * times)

    def constants(self, value: Value) -> list[object]:
        """The literals that a value may be or hold."""
        found: list[object] = []
        for reference in value:
            if isinstance(reference, Constant):
                found.append(reference.value)
            elif isinstance(reference, Container):
                found += [c for inner in reference.content.values() for c in self.constants(inner)]
        return found

    def _applied_later(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        selected = row.arguments
        if row.argnums is not None:
            given = others.given(row.argnums - 1, "argnums")
            if given is not None:
                numbers = frozenset(n for n in self.constants(given) if isinstance(n, int))
                selected = numbers or None
        made = self.heap.make((at, row, selected), Derivative, row, at, selected)
        self.heap.put(made, "", function)
        return self.heap.value(made)

    def _applied_to_rest(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        return self._applied_now(row, function, dataclasses.replace(others, keywords={}), at)

    def _applied_to_tuple(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        values = others.positional[0] if others.positional else PLAIN
        given = self.spread(values)
        return self._applied_now(row, function, given, at)

    def spread(self, value: Value) -> Arguments:
        """The elements of a tuple as arguments."""
        containers = [each for each in value if isinstance(each, Container)]
        if len(containers) == 1 and REST not in containers[0].content and len(value.references) == 1:
            content = containers[0].content
            return Arguments(tuple(content[key].at(value.levels) for key in content))
        return Arguments(rest=self.element(value, None))

    def _applied_now(self, row: Transform, function: Value, given: Arguments, at: Place) -> Value:
        result = self.differentiate(row, function, given, row.arguments, at, at)
        made = self.heap.make((at, row), Pullback, row, at)
        self.heap.put(made, "", function)
        for index, value in enumerate((*given.positional, *([given.rest] if given.rest else []))):
            self.heap.put(made, index, value)
        return self.heap.container((at, row, "pair"), {0: result, 1: self.heap.value(made)})

    def _applied_inside(self, row: Transform, function: Value, others: Arguments, at: Place) -> Value:
        around = Value(self.levels_of(others))
        first = {index: around for index in range(3)}
        given = Arguments(tuple(first.values()), around, extra=around)
        self.differentiate(row, function, given, row.arguments, at, at)
        return Value(around.levels, self.callables(function))

    # Custom functions.

    def _custom(self, name: str, arguments: Arguments, at: Place) -> Value:
        function = arguments.given(0, "fun") or arguments.keywords.get("fn")
        if function is None:
            return self._partial(name, Arguments((self.heap.library(name),), keywords=arguments.keywords), at)
        kind = table.CUSTOM[name]
        numbers = self.constants(arguments.given(1, "nondiff_argnums") or PLAIN) if "linen" not in kind else []
        static = frozenset(n for n in numbers if isinstance(n, int))
        made = self.heap.make((at, kind), Custom, "vjp" if kind == "linen_vjp" else kind, static)
        self.heap.put(made, "", function)
        if kind == "linen_vjp":
            for index, (key, keyword) in enumerate((("fwd", "forward_fn"), ("bwd", "backward_fn")), 1):
                rule = arguments.given(index, keyword)
                if rule is not None:
                    self.heap.put(made, key, rule)
        return self.heap.value(made)

    # Control flow.

    def _control_flow(self, name: str, arguments: Arguments, at: Place) -> Value:
        handler = getattr(self, f"_flow_{table.CONTROL_FLOW[name]}")
        found: Value = handler(arguments, at)
        return found

    def _flow_scan(self, arguments: Arguments, at: Place) -> Value:
        body = arguments.given(0, "f") or PLAIN
        carry = arguments.given(1, "init") or PLAIN
        xs = self.element(arguments.given(2, "xs") or PLAIN, None)
        result = PLAIN
        for _ in range(_MOST_STEPS):
            result = self.call(body, Arguments((carry, xs)), at)
            after = carry | self.element(result, 0)
            if after == carry:
                break
            carry = after
        return self.heap.container((at, "scan"), {0: carry, 1: self.element(result, 1)})

    def _loop(self, body: Value, first: tuple[Value, ...], carry: Value, at: Place) -> Value:
        for _ in range(_MOST_STEPS):
            after = carry | self.call(body, Arguments((*first, carry)), at)
            if after == carry:
                break
            carry = after
        return carry

    def _flow_while_loop(self, arguments: Arguments, at: Place) -> Value:
        carry = arguments.given(2, "init_val") or PLAIN
        carry = self._loop(arguments.given(1, "body_fun") or PLAIN, (), carry, at)
        self.call(arguments.given(0, "cond_fun") or PLAIN, Arguments((carry,)), at)
        return carry

    def _flow_fori_loop(self, arguments: Arguments, at: Place) -> Value:
        carry = arguments.given(3, "init_val") or PLAIN
        return self._loop(arguments.given(2, "body_fun") or PLAIN, (PLAIN,), carry, at)

    def _flow_cond(self, arguments: Arguments, at: Place) -> Value:
        given = arguments.positional[1:]
        named = [v for k, v in arguments.keywords.items() if k in ("true_fun", "false_fun")]
        branches = [*named, *(v for v in given[:2] if self.callables(v))]
        operands = given[max(0, 2 - len(named)) :]
        old_style = len(given) == 4 and not self.callables(given[0]) and bool(self.callables(given[1]))
        if old_style:
            return self.call(given[1], Arguments((given[0],)), at) | self.call(
                given[3], Arguments((given[2],)), at
            )
        inner = Arguments(operands, arguments.rest)
        return join(self.call(branch, inner, at) for branch in branches)

    def _flow_switch(self, arguments: Arguments, at: Place) -> Value:
        branches = self.element(arguments.given(1, "branches") or PLAIN, None)
        return self.call(branches, Arguments(arguments.positional[2:], arguments.rest), at)

    def _flow_map(self, arguments: Arguments, at: Place) -> Value:
        inner = self.element(arguments.given(1, "xs") or PLAIN, None)
        return self.call(arguments.given(0, "f") or PLAIN, Arguments((inner,)), at)

    # Solvers whose derivatives are defined by their arguments.

    def _linear_solve(self, name: str, arguments: Arguments, at: Place) -> Value:
        kind = table.LINEAR_SOLVES[name]
        found: Value = getattr(self, f"_solve_{kind}")(arguments, at)
        return found

    def _ruled(self, function: Value | None, given: Arguments, at: Place) -> None:
        """Calls a function that stands for a derivative, or whose derivative others stand for."""
        if function is None or not self.callables(function):
            return
        top = max((level.depth for level in self.levels_of(given)), default=0)
        outer = self.kept(given, lambda level: level.depth < top and level.mode is not Mode.UNKNOWN, f"below {top}")
        with self.within(dataclasses.replace(self.extent, active=True)):
            self.call(function, outer, at)

    def _transposed(self, function: Value | None, at: Place, mode: Mode = Mode.TRANSPOSE) -> None:
        row = Transform((mode,), arguments=None)
        if function is not None and self.callables(function):
            self.differentiate(row, function, whatever(PLAIN), None, at, at)

    def _solve_root(self, arguments: Arguments, at: Place) -> Value:
        levels = self.levels_of(v for v in arguments if not self.callables(v))
        guess = arguments.given(1, "initial_guess") or PLAIN
        self._transposed(arguments.given(0, "f"), at, Mode.FORWARD)
        function = arguments.given(0, "f") or PLAIN
        self._ruled(arguments.given(2, "solve"), Arguments((function, guess)), at)
        transposed = {Level(level.depth, Mode.TRANSPOSE) for level in self._reverse_around()}
        tangent = Arguments((PLAIN, Value(frozenset(transposed))))
        if arguments.given(3, "tangent_solve") is not None:
            self.call(arguments.given(3, "tangent_solve") or PLAIN, tangent, at)
        return Value(levels | self._levels_around())

    def _levels_around(self) -> Levels:
        """The levels that what a function closes over may have."""
        return frozenset(call.level for call in self.calls if call.level is not None)

    def _reverse_around(self) -> Levels:
        return frozenset(level for level in self._levels_around() if level.mode is Mode.REVERSE)

    def _solve_linear_solve(self, arguments: Arguments, at: Place) -> Value:
        vector = arguments.given(1, "b") or PLAIN
        matrix = arguments.given(0, "matvec") or PLAIN
        self._ruled(matrix, Arguments((vector,)), at)
        for position, keyword in ((2, "solve"), (3, "transpose_solve")):
            self._ruled(arguments.given(position, keyword), Arguments((matrix, vector)), at)
        symmetric = True in self.constants(arguments.given(4, "symmetric") or PLAIN)
        if not symmetric and arguments.given(3, "transpose_solve") is not None:
            self._transposed(matrix, at)
        return Value(self.heap.levels(vector) | self._levels_around())

    def _solve_cg(self, arguments: Arguments, at: Place) -> Value:
        vector = arguments.given(1, "b") or PLAIN
        self._ruled(arguments.given(0, "A"), Arguments((vector,)), at)
        return Value(self.heap.levels(vector) | self._levels_around())

    def _solve_linear_call(self, arguments: Arguments, at: Place) -> Value:
        residuals = arguments.given(2, "residual_args") or PLAIN
        linear = arguments.given(3, "linear_args") or PLAIN
        for position, keyword in ((0, "fun"), (1, "fun_transpose")):
            self._ruled(arguments.given(position, keyword), Arguments((residuals, linear)), at)
        return Value(self.levels_of(arguments))

    # The rest.

    def _on_the_host(self, _name: str, arguments: Arguments, at: Place) -> Value:
        self.run_on_host(join(arguments), at)
        return PLAIN

    def run_on_host(self, function: Value, at: Place) -> None:
        """Evaluates a function that receives concrete arrays, wherever it is called."""
        calls, self.calls = self.calls, []
        try:
            with self.within(OUTSIDE):
                for reference in Value(references=self.callables(function)):
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

    def _haiku_without_apply_rng(self, _name: str, arguments: Arguments, at: Place) -> Value:
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

    def _partial(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return PLAIN
        made = self.heap.make((at, "partial", len(arguments.positional)), Partial)
        content: dict[Key, Value] = {"": arguments.positional[0], **arguments.keywords}
        content |= dict(enumerate(arguments.positional[1:]))
        if arguments.rest is not None:
            content[REST] = arguments.rest
        if arguments.extra is not None:
            content["**"] = arguments.extra
        for key, value in content.items():
            self.heap.put(made, key, value)
        return self.heap.value(made)

    def _descriptor(self, name: str, arguments: Arguments, at: Place) -> Value:
        made = self.heap.make((at, name), Descriptor, _DESCRIPTORS[name])
        self.heap.put(made, "", arguments.given(0, "fget") or PLAIN)
        return self.heap.value(made)

    def _sequence(self, name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return self.heap.container((at, name), {})
        given = arguments.positional[0]
        if name in ("builtins.list", "builtins.tuple") and any(isinstance(r, Container) for r in given):
            return given
        if "key" in arguments.keywords:
            self.call(arguments.keywords["key"], Arguments((self.element(given, None),)), at)
        return self.heap.container((at, name), {REST: self.element(given, None)})

    def _builtins_zip(self, _name: str, arguments: Arguments, at: Place) -> Value:
        row: dict[Key, Value] = {i: self.element(v, None) for i, v in enumerate(arguments.positional)}
        if arguments.rest is not None:
            row[REST] = self.element(arguments.rest, None)
        return self.heap.container((at, "zip"), {REST: self.heap.container((at, "row"), row)})

    def _builtins_enumerate(self, _name: str, arguments: Arguments, at: Place) -> Value:
        given = self.element(arguments.given(0, "iterable") or PLAIN, None)
        return self.heap.container((at, "enumerate"), {REST: self.heap.container((at, "row"), {0: PLAIN, 1: given})})

    def _builtins_map(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return PLAIN
        rows = Arguments(tuple(self.element(value, None) for value in arguments.positional[1:]), arguments.rest)
        return self.heap.container((at, "map"), {REST: self.call(arguments.positional[0], rows, at)})

    def _builtins_dict(self, _name: str, arguments: Arguments, at: Place) -> Value:
        content: dict[Key, Value] = dict(arguments.keywords)
        others = [self.element(v, None) for v in arguments.positional]
        made = self.heap.container((at, "dict"), content | ({REST: join(others)} if others else {}))
        return made | join(v for v in arguments.positional if any(isinstance(r, Container) for r in v))

    def _builtins_getattr(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if len(arguments.positional) < 2:
            return PLAIN
        base, *rest = arguments.positional
        names = [c for c in self.constants(rest[0]) if isinstance(c, str)]
        found = join(self.attribute(base, name, at) for name in names)
        return found | join(rest[1:]) if names else Value(self.heap.levels(base))

    def _builtins_setattr(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if arguments.positional:
            self.escape(join(arguments.positional[1:]), at)
        return PLAIN

    def _functools_wraps(self, _name: str, _arguments: Arguments, _at: Place) -> Value:
        return self.heap.library("functools.wraps()")

    def _functools_wraps_object(self, _name: str, arguments: Arguments, _at: Place) -> Value:
        return join(arguments.positional[:1])

    def _jax_jit(self, name: str, arguments: Arguments, _at: Place) -> Value:
        function = arguments.given(0, "fun")
        return self.heap.library(name) if function is None else function

    _jax_vmap = _jax_pmap = _jax_checkpoint = _jax_remat = _jax_ad_checkpoint_checkpoint = _jax_jit
    _equinox_filter_jit = _equinox_filter_vmap = _equinox_filter_checkpoint = _jax_jit
    _flax_nnx_jit = _flax_nnx_vmap = _flax_nnx_remat = _haiku_jit = _haiku_remat = _jax_jit
    _flax_linen_jit = _flax_linen_remat = _flax_linen_compact = _jax_named_call = _jax_jit
    _functools_cache = _functools_lru_cache = _contextlib_contextmanager = _jax_jit

    def _jax_ShapeDtypeStruct(self, _name: str, arguments: Arguments, at: Place) -> Value:
        dtype = arguments.given(1, "dtype") or PLAIN
        return self.heap.container((at, "spec"), {"dtype": dtype})

    def _called_plainly(self, name: str, levels: Levels, arguments: Arguments, at: Place) -> Value:
        """A call that does nothing special: it may call functions that it is given, and return them."""
        root = name.partition(".")[0]
        given = join(arguments)
        functions = self.callables(given)
        around = levels | self.heap.levels(given)
        if root in table.GIVES_PARAMETERS:
            around |= self.extent.parameters
        result = Value(around, functions)
        if functions:
            inner, keeps = Value(around), name.startswith(_KEEPERS)
            for reference in Value(references=functions):
                if keeps and isinstance(reference, Instance | Class):
                    continue  # data to these
                result |= self.call(self.heap.value(reference), whatever(inner), at)
            if root not in self.plain:
                self.escape(given, at)
        is_object = root in table.NAMED_OBJECTS or root not in self.plain or not arguments.positional
        if is_object and "()" not in name and not name.startswith(("jax.numpy.", "numpy.", "builtins.")):
            result |= self.heap.library(f"{name}()")
        return result
