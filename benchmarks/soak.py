"""Whether memory grows with the number of calls: ``python -m benchmarks.soak [--calls N]``.

Calls one callback over and over, eagerly, as one jitted function and inside a compiled loop, each in a
process of its own, and reads resident memory in between. The exit status is 1 if a call costs more than a
bound.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

import bufcb

BOUND = 16.0
"""Bytes a call; the smallest Python object that could be left behind is larger."""

SPEC = jax.ShapeDtypeStruct((8,), jnp.float32)


def increment_into(ctx: Any, out: Any, x: Any) -> None:
    """Adds one, in place."""
    out[...] = np.asarray(x) + 1


def increment(x: Any) -> Any:
    """Adds one."""
    return np.asarray(x) + 1


def _eager(x: jax.Array) -> Any:
    return bufcb.buffer_callback(increment_into, SPEC)(x)


_jitted = jax.jit(bufcb.buffer_callback(increment_into, SPEC))
_adapted = jax.jit(bufcb.buffer_callback(bufcb.adapt(increment, arrays="jax"), SPEC))
_looped = jax.jit(lambda calls, x: jax.lax.fori_loop(0, calls, lambda _, v: _eager(v), x))


def _repeated(function: Callable[[jax.Array], jax.Array]) -> Callable[[int], jax.Array]:
    def run(calls: int) -> jax.Array:
        x = jnp.zeros(8)
        for _ in range(calls):
            x = function(x)
        return x

    return run


def _failing(calls: int) -> jax.Array:
    def fail(ctx: Any, out: Any, x: Any) -> None:
        raise LookupError("on purpose")

    function = jax.jit(bufcb.buffer_callback(fail, SPEC))
    for _ in range(calls):
        try:
            jax.block_until_ready(function(jnp.zeros(8)))
        except (jax.errors.JaxRuntimeError, ValueError):  # JAX's fast path raises the latter
            continue
        raise AssertionError("the callback did not fail")
    return jnp.full(8, float(calls))


KINDS: dict[str, Callable[[int], jax.Array]] = {
    "eager": _repeated(_eager),
    "jit": _repeated(_jitted),
    "adapt": _repeated(_adapted),
    "loop": lambda calls: _looped(calls, jnp.zeros(8)),
    "fail": _failing,
}


def resident() -> int:
    """Resident bytes of this process, once garbage is gone."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def growth(kind: str, warm_up: int, calls: int) -> int:
    """Bytes by which resident memory grows in `calls` calls, after some to fill caches and arenas."""
    run = KINDS[kind]
    jax.block_until_ready(run(warm_up))
    before = resident()
    result = jax.block_until_ready(run(calls))
    grown = resident() - before
    assert result.tolist() == [calls] * 8
    return grown


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each kind of call; the exit status is 1 if a bound was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000, help="how often the callback is called")
    parser.add_argument("--kind", choices=KINDS, help="one kind alone, in this process")
    options = parser.parse_args(arguments)
    if options.kind:
        start = time.perf_counter()
        calls = options.calls // (20 if options.kind == "fail" else 1)  # JAX spends milliseconds on an error
        grown = growth(options.kind, calls // 4, calls)
        cost = grown / calls
        seconds = time.perf_counter() - start
        verdict = "PASS" if cost <= BOUND else "over"
        print(
            f"{options.kind:<6} {calls:>9,} calls  {grown / 1024:>8.0f} KiB  "
            f"{cost:>7.2f} bytes a call  {seconds:>6.1f} s  {verdict}"
        )
        return int(cost > BOUND)
    print(f"jax {jax.__version__}, Python {sys.version.split()[0]}; bound {BOUND:.0f} bytes a call")
    command = [sys.executable, "-m", "benchmarks.soak", "--calls", str(options.calls), "--kind"]
    missed = [kind for kind in KINDS if subprocess.run([*command, kind], check=False).returncode]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
