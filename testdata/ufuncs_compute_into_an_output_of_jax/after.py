import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.buffer_callback import buffer_callback


def _store_results(out, value):
    """Write a callback's results into its output buffers, by the rules of `jax.pure_callback`."""
    buffers = [np.asarray(buffer) for buffer in jax.tree.leaves(out)]
    values = [np.asarray(leaf) for leaf in jax.tree.leaves(value)]
    values = [leaf.astype(jax.dtypes.canonicalize_dtype(leaf.dtype)) for leaf in values]
    if len(values) != len(buffers):
        raise RuntimeError(
            "Mismatched number of outputs from callback. "
            f"Expected: {len(buffers)}, Actual: {len(values)}"
        )
    for index, (buffer, leaf) in enumerate(zip(buffers, values)):
        for what in ("shape", "dtype"):
            expected, actual = getattr(buffer, what), getattr(leaf, what)
            if expected != actual:
                raise RuntimeError(
                    f"Incorrect output {what} for return value #{index}: "
                    f"Expected: {expected}, Actual: {actual}"
                )
    for buffer, leaf in zip(buffers, values):
        buffer[...] = leaf


def _to_numpy(tree, copy=False):
    """The buffers of a pytree as read-only NumPy views, or as copies that may outlive the callback."""

    def convert(leaf):
        array = np.asarray(leaf)
        if copy:
            return array.copy()
        memory = memoryview(array.reshape(-1).view(np.uint8)).toreadonly()
        return np.asarray(memory).view(array.dtype).reshape(array.shape)

    return jax.tree.map(convert, tree)


def _decay(ctx, out, t):
    t = _to_numpy(t)
    t = np.asarray(t)
    np.exp(np.negative(t), out=np.asarray(out), casting="no")
    return


def _phase(ctx, out, t):
    t = _to_numpy(t)
    _store_results(out, np.remainder(t, 6.25))
    return


def decay(t):
    return buffer_callback(_decay, jax.ShapeDtypeStruct(t.shape, t.dtype))(t)


def phase(t):
    return buffer_callback(_phase, jax.ShapeDtypeStruct(t.shape, t.dtype))(t)


def main():
    t = jnp.array([0.5, 8.0])
    print(decay(t), phase(t))
