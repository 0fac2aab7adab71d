"""What a callback costs next to JAX's own: ``python -m benchmarks.runtime [--quick]``.

Every line is a ratio of two medians taken in this run, so that the machine does not matter much. The exit
status is 1 if a bound is missed. All of `bufcb`'s default safety checks are on.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax.experimental.buffer_callback import buffer_callback as upstream_buffer_callback

import bufcb
from benchmarks import callbacks, memory
from benchmarks.callbacks import Call, buffered, buffered_tree, pure
from benchmarks.contest import Contest, Outcome, Run, hold, table

SMALL = 8
LARGE = 1 << 24
BUFFER_CALLBACK = "jax buffer_callback"
PURE_CALLBACK = "jax.pure_callback"


def loop(call: Call, x: Any, calls: int) -> Run:
    """A run of `calls` iterations of `call` from `x` inside one compiled `lax.fori_loop`."""
    looped = jax.jit(lambda start: jax.lax.fori_loop(0, calls, lambda _, carry: call(carry), start))
    return lambda: looped(x)


def once(call: Call, x: Any) -> Run:
    """A run of one compiled call."""
    compiled = jax.jit(call)
    return lambda: compiled(x)


def ours(callback: Callable[..., None]) -> Call:
    """`callback` under `bufcb.buffer_callback`."""
    return buffered(bufcb.buffer_callback, callback)


def theirs(callback: Callable[..., None]) -> Call:
    """`callback` under JAX's `buffer_callback`."""
    return buffered(upstream_buffer_callback, callback)


def small_contests(calls: int) -> Iterator[Contest]:
    """Per-call cost on 8 floats inside a loop."""
    x = jnp.zeros(SMALL)

    def contest(item: str, mine: Call, other: Call, reference: str, bound: float) -> Contest:
        return Contest(item, loop(mine, x, calls), loop(other, x, calls), reference, bound, calls)

    view, add = callbacks.view_into, callbacks.add_into
    yield contest("8 floats, view of the output", ours(view), theirs(view), BUFFER_CALLBACK, 0.85)
    yield contest("8 floats, NumPy add", ours(add), theirs(add), BUFFER_CALLBACK, 0.85)
    pure_add = pure(callbacks.add)
    yield contest("8 floats, NumPy add", ours(add), pure_add, PURE_CALLBACK, 1 / 20)
    yield contest("8 floats, adapt(f)", ours(bufcb.adapt(callbacks.add)), pure_add, PURE_CALLBACK, 1 / 15)
    adapted = bufcb.adapt(callbacks.add, arrays="jax")
    yield contest('8 floats, adapt(f, arrays="jax")', ours(adapted), pure_add, PURE_CALLBACK, 1.0)


def tree_contests(calls: int) -> Iterator[Contest]:
    """Per-call cost with a dict of three inputs and a dict of two outputs."""
    tree = {name: jnp.ones(SMALL) for name in "abc"}
    for item, callback, bound in (
        ("dict of 3 in, 2 out, every leaf used", callbacks.every_leaf_into, 1.05),
        ("dict of 3 in, 2 out, one leaf of each used", callbacks.one_leaf_into, 1.5),
    ):
        mine = loop(buffered_tree(bufcb.buffer_callback, callback), tree, calls)
        other = loop(buffered_tree(upstream_buffer_callback, callback), tree, calls)
        yield Contest(item, mine, other, BUFFER_CALLBACK, bound, calls)


def cyclic_contests(calls: int) -> Iterator[Contest]:
    """Callbacks whose bodies leave garbage cycles behind, which must not be collected in full."""
    x = jnp.ones(SMALL)
    for item, into, returning in (
        ("8 floats, scipy.integrate.solve_ivp", callbacks.decay_into, callbacks.decay),
        ("8 floats, nested jit", callbacks.nested_jit_into, callbacks.nested_jit),
    ):
        mine, other = loop(ours(into), x, calls), loop(pure(returning), x, calls)
        yield Contest(item, mine, other, PURE_CALLBACK, 1.0, calls)


def large_contests() -> Iterator[Contest]:
    """One call on 16 M floats, where copies are what counts."""
    x = jnp.zeros(LARGE)
    mine = once(callbacks.ADDERS["bufcb"], x)
    for name, reference, bound in (
        ("upstream", BUFFER_CALLBACK, 1.05),
        ("pure_callback", PURE_CALLBACK, 0.45),
    ):
        yield Contest("16 M floats, NumPy add", mine, once(callbacks.ADDERS[name], x), reference, bound)


def peak_memory() -> Outcome:
    """How far one call on 16 M floats raises peak memory: one copy more would double it."""
    mine, other = memory.growth("bufcb", LARGE), memory.growth("upstream", LARGE)
    return Outcome(
        item="16 M floats, growth of peak memory",
        ours=f"{mine / 2**20:.0f} MiB",
        theirs=f"{other / 2**20:.0f} MiB",
        reference=BUFFER_CALLBACK,
        ratio=mine / other,
        bound=1.25,
        repeats=1,
    )


def outcomes(quick: bool) -> Iterator[Outcome]:
    """Holds every contest, in the order printed."""
    calls, repeats = (500, 7) if quick else (4000, 21)
    for contest in (*small_contests(calls), *tree_contests(calls)):
        yield hold(contest, repeats)
    for contest in cyclic_contests(calls // 10):
        yield hold(contest, 5 if quick else 11)
    for contest in large_contests():
        yield hold(contest, 5 if quick else 15)
    yield peak_memory()


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; the exit status is 1 if a bound was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runtime", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer calls and repeats, for a first look")
    options = parser.parse_args(arguments)
    held = list(outcomes(options.quick))
    versions = f"jax {jax.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs"
    print(f"{versions}; N = interleaved repeats")
    print(table(held))
    missed = sum(not outcome.passed for outcome in held)
    print(f"{len(held) - missed} of {len(held)} bounds kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
