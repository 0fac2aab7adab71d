"""Control flow, and solvers that are differentiated by rules of their own."""

from __future__ import annotations

import dataclasses
from typing import Final

from codemods.gradients import table
from codemods.gradients.derivatives import Application, Derivatives
from codemods.gradients.frames import Arguments, Place, whatever
from codemods.gradients.levels import Level, Levels, Mode, innermost
from codemods.gradients.table import Transform
from codemods.gradients.values import PLAIN, Value, join, literals

_MOST_STEPS: Final = 8


class ControlFlow(Derivatives):
    def _control_flow(self, name: str, arguments: Arguments, at: Place) -> Value:
        handler = getattr(self, f"_flow_{name.rpartition('.')[2]}")
        found: Value = handler(arguments, at)
        return found

    def _flow_scan(self, arguments: Arguments, at: Place) -> Value:
        body = arguments.given(0, "f") or PLAIN
        carry = arguments.given(1, "init") or PLAIN
        xs = arguments.given(2, "xs") or PLAIN  # of which each leaf is sliced
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
        return self.call(
            arguments.given(0, "f") or PLAIN, Arguments((arguments.given(1, "xs") or PLAIN,)), at
        )

    def _linear_solve(self, name: str, arguments: Arguments, at: Place) -> Value:
        kind = table.LINEAR_SOLVES[name]
        found: Value = getattr(self, f"_solve_{kind}")(arguments, at)
        return found

    def _ruled(self, function: Value | None, given: Arguments, at: Place) -> None:
        """Calls a function that stands for a derivative, or whose derivative others stand for."""
        if function is None or not self.callables(function):
            return
        outer = self.outside(given, innermost(self.levels_of(given)))
        with self.within(dataclasses.replace(self.extent, active=True)):
            self.call(function, outer, at)

    def _transposed(self, function: Value | None, at: Place, mode: Mode = Mode.TRANSPOSE) -> None:
        row = Transform((mode,), arguments=None)
        if function is not None and self.callables(function):
            self.differentiate(Application(row, function, None, at), whatever(PLAIN), at)

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
        symmetric = True in literals(arguments.given(4, "symmetric") or PLAIN)
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
