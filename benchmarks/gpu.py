"""What a callback costs on a GPU next to JAX's own: ``JAX_PLATFORMS=cuda,cpu python -m benchmarks.gpu``.

A NumPy callback against `jax.pure_callback`, which copies to the host and back as well, and a CuPy callback
against JAX's own buffer callback, where CuPy is installed. The exit status is 1 if a bound is missed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.buffer_callback import buffer_callback as upstream_buffer_callback

import bufcb
from benchmarks import callbacks
from benchmarks.callbacks import buffered_pair, loop, pure_pair
from benchmarks.contest import Contest, hold, table

SIZES = {"1 K floats": 1 << 10, "16 M floats": 1 << 24}


def cupy_add() -> Callable[..., None]:
    """A callback that adds two arrays with CuPy, on XLA's stream."""
    import cupy

    def add_into(ctx: Any, out: Any, x: Any, y: Any) -> None:
        with cupy.cuda.ExternalStream(ctx.stream):
            cupy.add(cupy.asarray(x), cupy.asarray(y), out=cupy.asarray(out))

    return add_into


def contests(device: Any) -> Iterator[Contest]:
    """Adding two arrays, small and large."""
    for item, size in SIZES.items():
        pair = jax.device_put((jnp.zeros(size), jnp.ones(size)), device)
        calls = 200 if size < 1 << 20 else 3
        mine = loop(buffered_pair(bufcb.buffer_callback, callbacks.add_into), pair, calls)
        other = loop(pure_pair(callbacks.add), pair, calls)
        yield Contest(f"{item}, NumPy", mine, other, "jax.pure_callback", 1.0, calls)
        if importlib.util.find_spec("cupy"):
            add_into = cupy_add()
            mine = loop(buffered_pair(bufcb.buffer_callback, add_into), pair, calls)
            other = loop(buffered_pair(upstream_buffer_callback, add_into), pair, calls)
            yield Contest(f"{item}, CuPy", mine, other, "jax buffer_callback", 1.5, calls)


def main() -> int:
    """Prints the table; 1 if a bound was missed, 2 without a GPU."""
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        print("JAX has no GPU here", file=sys.stderr)
        return 2
    outcomes = [hold(contest, 11) for contest in contests(device)]
    print(f"jax {jax.__version__}, {device.device_kind}; N = interleaved repeats")
    print(table(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
