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


def _both(ctx, out, x):
    x = _to_numpy(x)
    x = np.asarray(x)
    _store_results(out[0], np.sin(x))
    _store_results(out[1], np.cos(x))
    return


def _square(ctx, out, x):
    x = _to_numpy(x)
    _store_results(out, np.square(x))
    return


def main():
    x = jnp.zeros(2)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print([r.tolist() for r in buffer_callback(_both, (spec, spec))(x)])
    print(buffer_callback(_square, spec, vmap_method="sequential")(x).tolist())
