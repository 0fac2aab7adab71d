import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
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


def _call_host(function, spec, *arguments, vmap_method):
    """Call a function of the host that returns its result."""

    def call(ctx, out, *arrays):
        np.asarray(out)[...] = function(*map(np.asarray, arrays))

    return buffer_callback(call, spec, vmap_method=vmap_method)(*arguments)


def _slopes(function, primals, reduce):
    """What `reduce` makes of the results' slopes, for each float of the arguments: one, or two if complex."""
    leaves, tree = jax.tree.flatten(primals)

    def is_a(kind, leaf):
        return jax.numpy.issubdtype(jax.numpy.result_type(leaf), kind)

    def results(index, leaf):
        given = jax.tree.unflatten(tree, [*leaves[:index], leaf, *leaves[index + 1 :]])
        return [leaf for leaf in jax.tree.leaves(function(*given)) if is_a(jax.numpy.inexact, leaf)]

    def along(index, way):
        leaf = jax.numpy.asarray(leaves[index])
        flat = leaf.ravel()
        dtypes = [leaf.dtype, *(shape.dtype for shape in jax.eval_shape(lambda: results(index, leaf)))]
        part = max(float(jax.numpy.finfo(dtype).eps) for dtype in dtypes) ** (1 / 3)

        def slopes(element):
            step = (part * jax.numpy.maximum(1, abs(flat[element])) * way).astype(leaf.dtype)
            above, below = flat.at[element].add(step), flat.at[element].add(-step)
            ends = (results(index, end.reshape(leaf.shape)) for end in (above, below))
            width = jax.numpy.real((above[element] - below[element]) / way)
            return reduce([(a - b) / width for a, b in zip(*ends)])

        return jax.lax.map(slopes, jax.numpy.arange(flat.size))

    def ways(leaf):
        return (1, 1j) if is_a(jax.numpy.complexfloating, leaf) else (1,)

    return [
        [along(index, way) for way in ways(leaf)] if is_a(jax.numpy.inexact, leaf) else None
        for index, leaf in enumerate(leaves)
    ]


def _finite_difference_vjp(function, primals, cotangents):
    """The cotangents of `primals`, by two calls of `function` for each element of a float."""
    weights = [leaf for leaf in jax.tree.leaves(cotangents) if leaf.dtype != jax.dtypes.float0]

    def reduce(slopes):
        return sum(jax.numpy.sum(jax.numpy.real(w * s)) for w, s in zip(weights, slopes))

    def shaped(each, leaf):
        if each is None:
            return np.zeros(np.shape(leaf), jax.dtypes.float0)
        both = each[0] if len(each) == 1 else each[0] - 1j * each[1]
        return both.reshape(np.shape(leaf)).astype(jax.numpy.result_type(leaf))

    leaves, tree = jax.tree.flatten(primals)
    found = [shaped(each, leaf) for each, leaf in zip(_slopes(function, primals, reduce), leaves)]
    return jax.tree.unflatten(tree, found)


def _bessel(ctx, out, z):
    z = _to_numpy(z)
    _store_results(out, scipy.special.j0(z))
    return


@jax.custom_vjp
def _bessel_call(z):
    z = jnp.asarray(z)
    return buffer_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype))(z)


def _bessel_fwd(z):
    return _bessel_call(z), (z,)


def _bessel_bwd(residuals, cotangent):
    (z,) = residuals
    spec = jax.ShapeDtypeStruct(cotangent.shape, cotangent.dtype)
    j1 = _call_host(scipy.special.j1, spec, z, vmap_method="expand_dims")
    return (-cotangent * j1,)


_bessel_call.defvjp(_bessel_fwd, _bessel_bwd)


def _smooth(ctx, out, x):
    x = _to_numpy(x)
    _store_results(out, np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same"))
    return


@jax.custom_vjp
def _smooth_call(y):
    return buffer_callback(_smooth, jax.ShapeDtypeStruct(y.shape, y.dtype))(y)


def _smooth_fwd(y):
    return _smooth_call(y), (y,)


def _smooth_bwd(residuals, cotangent):
    return _finite_difference_vjp(_smooth_call, residuals, cotangent)


_smooth_call.defvjp(_smooth_fwd, _smooth_bwd)


def loss(z):
    y = _bessel_call(z)
    return jnp.sum(_smooth_call(y) ** 2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([1.0, 2.0, 3.0])))
