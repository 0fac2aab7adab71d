"""What a callback costs next to JAX's own: ``python -m benchmarks.runtime [--quick]``.

Every line is a ratio of two medians taken in this run, so that the machine does not matter much. The exit
status is 1 if a bound is missed. All of `bufcb`'s default safety checks are on. The bound of 1/20 is that of
a callback which adds two arrays with NumPy, in place or by assignment.
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
from benchmarks import callbacks, memory, recording
from benchmarks.callbacks import Call, buffered, buffered_pair, buffered_tree, loop, pure, pure_pair
from benchmarks.contest import Contest, Outcome, Run, hold, table

SMALL = 8
LARGE = 1 << 24
BUFFER_CALLBACK = "jax buffer_callback"
PURE_CALLBACK = "jax.pure_callback"


def once(call: Call, x: Any) -> Run:
    """A run of one compiled call."""
    compiled = jax.jit(call)
    return lambda: jax.block_until_ready(compiled(x))


def ours(callback: Callable[..., None]) -> Call:
    """`callback` under `bufcb.buffer_callback`."""
    return buffered(bufcb.buffer_callback, callback)


def view_contest(calls: int) -> Contest:
    """Per-call cost of a callback that asks for its output's view and does nothing."""
    x, view = jnp.zeros(SMALL), callbacks.view_into
    other = buffered(upstream_buffer_callback, view)
    item = "8 floats, view of the output"
    return Contest(item, loop(ours(view), x, calls), loop(other, x, calls), BUFFER_CALLBACK, 0.85, calls)


def add_contests(calls: int) -> Iterator[Contest]:
    """Per-call cost of adding two arrays of 8 floats with NumPy, in each way to write it."""
    pair = (jnp.zeros(SMALL), jnp.ones(SMALL))
    upstream = loop(buffered_pair(upstream_buffer_callback, callbacks.add_into), pair, calls)
    pure_add = loop(pure_pair(callbacks.add), pair, calls)
    add, adapt = callbacks.add_into, bufcb.adapt
    for item, callback, other, reference, bound in (
        ("np.add(x, y, out=...)", add, upstream, BUFFER_CALLBACK, 0.85),
        ("np.add(x, y, out=...)", add, pure_add, PURE_CALLBACK, 1 / 20),
        ("out[...] = x + y", callbacks.assign_sum, pure_add, PURE_CALLBACK, 1 / 20),
        ("bufcb.store(out, x + y)", callbacks.store_sum, pure_add, PURE_CALLBACK, 1 / 20),
        ("adapt(f)", adapt(callbacks.add), pure_add, PURE_CALLBACK, 1 / 15),
        ('adapt(f, arrays="jax")', adapt(callbacks.add, arrays="jax"), pure_add, PURE_CALLBACK, 1.0),
    ):
        mine = loop(buffered_pair(bufcb.buffer_callback, callback), pair, calls)
        yield Contest(f"8 floats, {item}", mine, other, reference, bound, calls)


def increment_contests(calls: int) -> Iterator[Contest]:
    """Per-call cost of adding one to 8 floats, of which NumPy's own share is the largest."""
    x = jnp.zeros(SMALL)
    mine = loop(callbacks.INCREMENTS["bufcb"], x, calls)
    for name, reference, bound in (
        ("upstream", BUFFER_CALLBACK, 0.85),
        ("pure_callback", PURE_CALLBACK, 1 / 12),
    ):
        other = loop(callbacks.INCREMENTS[name], x, calls)
        yield Contest("8 floats, np.add(x, 1, out=...)", mine, other, reference, bound, calls)


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
    mine = once(callbacks.INCREMENTS["bufcb"], x)
    for call, reference, bound in (
        (callbacks.INCREMENTS["upstream"], BUFFER_CALLBACK, 1.05),
        (callbacks.INCREMENTS["pure_callback"], PURE_CALLBACK, 0.45),
        (ours(callbacks.assign_increment), "out[...] = np.add(x, 1)", 0.9),
    ):
        yield Contest("16 M floats, np.add(x, 1, out=...)", mine, once(call, x), reference, bound)


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


def recordings(repeats: int) -> Iterator[Outcome]:
    """What it costs that `BUFCB_RECORD` records the calls of `--verify`.

    The first calls of a callback are recorded one and all, which is little beside what `pure_callback` takes,
    and a fraction of a second in all where `bufcb` calls.
    """
    every = "every call recorded"
    yield recording.overhead("pure_callback", every, 100, 1000, repeats, 2.0)
    yield recording.overhead(
        "bufcb", "behind the first 10,000 calls", recording.ALL_CALLS, 20_000, repeats, 2.0
    )


def outcomes(quick: bool) -> Iterator[Outcome]:
    """Holds every contest, in the order printed."""
    calls, repeats = (500, 7) if quick else (4000, 21)
    small = (view_contest(calls), *add_contests(calls), *increment_contests(calls), *tree_contests(calls))
    for contest in small:
        yield hold(contest, repeats)
    for contest in cyclic_contests(calls // 10):
        yield hold(contest, 5 if quick else 11)
    for contest in large_contests():
        yield hold(contest, 5 if quick else 15)
    yield peak_memory()
    yield from recordings(3 if quick else 7)


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
