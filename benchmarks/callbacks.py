"""The calls that the benchmarks measure, each written once and run under every implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.buffer_callback import buffer_callback as upstream_buffer_callback
from scipy.integrate import solve_ivp

import bufcb
from benchmarks.contest import Run

Call = Callable[[Any], Any]
"""A traceable function of one pytree of arrays."""

BufferCallback = Callable[..., Callable[..., Any]]

nested = jax.jit(lambda x: jnp.sin(x) * 2)
"""JAX code compiled outside, which a callback calls."""


def spec(x: Any) -> Any:
    """`x` as a result specification of the same structure, shapes and dtypes."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), x)


def view_into(ctx: Any, out: Any, x: Any) -> None:
    """Asks for the output's view and leaves it as it is."""
    np.asarray(out)


def add_into(ctx: Any, out: Any, x: Any, y: Any) -> None:
    """Adds two arrays, in place."""
    np.add(np.asarray(x), np.asarray(y), out=np.asarray(out))


def assign_sum(ctx: Any, out: Any, x: Any, y: Any) -> None:
    """Adds two arrays and assigns their sum, as migrated code does."""
    x, y = np.asarray(x), np.asarray(y)
    out[...] = x + y


def store_sum(ctx: Any, out: Any, x: Any, y: Any) -> None:
    """Adds two arrays and stores their sum, as migrated code does where a result may be a pytree."""
    bufcb.store(out, np.asarray(x) + np.asarray(y))


def add(x: Any, y: Any) -> np.ndarray:
    """Adds two arrays."""
    total: np.ndarray = np.asarray(x) + np.asarray(y)
    return total


def increment_into(ctx: Any, out: Any, x: Any) -> None:
    """Adds one, in place; NumPy takes longer for the Python number than for an array."""
    np.add(np.asarray(x), 1, out=np.asarray(out))


def assign_increment(ctx: Any, out: Any, x: Any) -> None:
    """Adds one and assigns the result, as migrated code does without `--fuse`."""
    out[...] = np.add(np.asarray(x), 1)


def increment(x: Any) -> np.ndarray:
    """Adds one."""
    total: np.ndarray = np.add(np.asarray(x), 1)
    return total


def every_leaf_into(ctx: Any, out: Any, tree: Any) -> None:
    """Reads all three inputs and writes both outputs."""
    np.add(np.asarray(tree["a"]), np.asarray(tree["b"]), out=np.asarray(out["p"]))
    np.multiply(np.asarray(tree["b"]), np.asarray(tree["c"]), out=np.asarray(out["q"]))


def one_leaf_into(ctx: Any, out: Any, tree: Any) -> None:
    """Reads one input of three and writes one output of two."""
    np.add(np.asarray(tree["a"]), 1, out=np.asarray(out["p"]))


def decay(x: Any) -> np.ndarray:
    """Integrates x' = -x over [0, 1] with SciPy's adaptive Runge-Kutta."""
    start = np.asarray(x)
    end: np.ndarray = solve_ivp(lambda _, state: -state, (0.0, 1.0), start).y[:, -1]
    return end.astype(start.dtype)


def decay_into(ctx: Any, out: Any, x: Any) -> None:
    """`decay`, in place."""
    out[...] = decay(x)


def nested_jit(x: Any) -> np.ndarray:
    """Runs compiled JAX code inside the callback."""
    return np.asarray(nested(np.array(x)))


def nested_jit_into(ctx: Any, out: Any, x: Any) -> None:
    """`nested_jit`, in place."""
    out[...] = nested_jit(x)


def buffered(implementation: BufferCallback, callback: Callable[..., None]) -> Call:
    """`callback` on buffers like its argument, under `implementation`."""
    return lambda x: implementation(callback, spec(x))(x)


def buffered_pair(implementation: BufferCallback, callback: Callable[..., None]) -> Call:
    """`callback` from (x, y) to an array like `x`, which becomes the next `x`."""
    return lambda pair: (implementation(callback, spec(pair[0]))(*pair), pair[1])


def buffered_tree(implementation: BufferCallback, callback: Callable[..., None]) -> Call:
    """`callback` from {"a", "b", "c"} to {"p", "q"}, whose results become the next "a" and "b"."""

    def call(tree: dict[str, Any]) -> dict[str, Any]:
        results = implementation(callback, spec({"p": tree["a"], "q": tree["b"]}))(tree)
        return {"a": results["p"], "b": results["q"], "c": tree["c"]}

    return call


def pure(callback: Callable[..., Any]) -> Call:
    """`callback` under `jax.pure_callback`."""
    return lambda x: jax.pure_callback(callback, spec(x), x)


def pure_pair(callback: Callable[..., Any]) -> Call:
    """`callback` of (x, y) under `jax.pure_callback`; its result becomes the next `x`."""
    return lambda pair: (jax.pure_callback(callback, spec(pair[0]), *pair), pair[1])


def loop(call: Call, x: Any, calls: int) -> Run:
    """A run of `calls` iterations of `call` from `x` inside one compiled `lax.fori_loop`."""
    looped = jax.jit(lambda start: jax.lax.fori_loop(0, calls, lambda _, carry: call(carry), start))
    return lambda: jax.block_until_ready(looped(x))


INCREMENTS: dict[str, Call] = {
    "bufcb": buffered(bufcb.buffer_callback, increment_into),
    "upstream": buffered(upstream_buffer_callback, increment_into),
    "pure_callback": pure(increment),
}
"""Adding one to an array, under each implementation."""
