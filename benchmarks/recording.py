"""A callback of 1 K floats in a process of its own: ``python -m benchmarks.recording NAME FIRST CALLS``.

Calls the increment NAME `FIRST` times in a compiled loop, and then three times `CALLS` times; prints the
median seconds of one of the latter. With `BUFCB_RECORD` in the environment, the calls are recorded.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

from benchmarks.callbacks import INCREMENTS  # imports bufcb, which records JAX's own callbacks as well
from benchmarks.contest import Outcome, duration, timed
from bufcb.recording import ALL_CALLS

__all__ = ["ALL_CALLS", "overhead"]

SIZE = 1024


def overhead(name: str, item: str, first: int, calls: int, repeats: int, bound: float) -> Outcome:
    """How many times as long a call takes when it is recorded: fresh processes in turn, and their medians."""
    pairs = [
        (_seconds(name, first, calls, True), _seconds(name, first, calls, False)) for _ in range(repeats)
    ]
    recorded, plain = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Outcome(
        item=f"1 K floats, {name}, {item}",
        ours=duration(recorded),
        theirs=duration(plain),
        reference="not recorded",
        ratio=statistics.median(one / other for one, other in pairs),
        bound=bound,
        repeats=repeats,
    )


def _seconds(name: str, first: int, calls: int, is_recorded: bool) -> float:
    command = [sys.executable, "-m", "benchmarks.recording", name, str(first), str(calls)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "BUFCB_RECORD": folder if is_recorded else ""}
        process = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(process.stdout)


def main(name: str, first: int, calls: int) -> None:
    """Runs the loops, and prints seconds a call."""
    x = jnp.zeros(SIZE)

    @jax.jit
    def loop(start: jax.Array, count: int) -> jax.Array:
        return jax.lax.fori_loop(0, count, lambda _, carry: INCREMENTS[name](carry), start)

    jax.block_until_ready(loop(x, 1 + first))
    runs = [timed(lambda: jax.block_until_ready(loop(x, calls))) for _ in range(3)]
    print(statistics.median(runs) / calls)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
