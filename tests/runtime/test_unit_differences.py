"""`finite_difference_vjp` and `finite_difference_jvp`, against the derivatives that JAX knows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb

TOLERANCES = {jnp.float16: 3e-2, jnp.bfloat16: 2e-1, jnp.float32: 1e-3, jnp.float64: 1e-6}


def on_host(function):
    """A buffer callback that computes `function` with NumPy; its results have the shapes that JAX gives."""

    def call(*arguments):
        spec = jax.eval_shape(function, *arguments)
        host = bufcb.adapt(lambda *given: jax.tree.map(np.asarray, function(*given)), arrays="jax")
        return bufcb.buffer_callback(host, spec, vmap_method="sequential")(*arguments)

    return call


def with_rules(function, kind):
    """The same, differentiated by finite differences: in reverse mode, or in both."""
    host = on_host(function)
    if kind == "vjp":
        call = jax.custom_vjp(host)
        call.defvjp(
            lambda *primals: (call(*primals), primals),
            lambda residuals, cotangent: bufcb.finite_difference_vjp(call, residuals, cotangent),
        )
        return call
    call = jax.custom_jvp(host)
    call.defjvp(lambda primals, tangents: bufcb.finite_difference_jvp(call, primals, tangents))
    return call


def several(a, tree):
    return {"s": jnp.sin(a) * tree["b"], "n": jnp.int32(3), "t": (jnp.sum(tree["c"] ** 3), a.sum())}


def weighted(call):
    """A scalar that depends on every float of the results, each in another way."""

    def loss(a, tree):
        found = call(a, tree)
        return jnp.sum(found["s"] * jnp.arange(1.0, 1.0 + a.size)) + 2 * found["t"][0] - found["t"][1] ** 2

    return loss


def arguments(dtype):
    a = jnp.asarray([0.3, -1.2, 2.0], dtype)
    return a, {"b": jnp.asarray(1.5, dtype), "c": jnp.asarray([[0.5], [-0.7]], dtype)}


def close(found, expected, tolerance):
    for each, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert each.dtype == wanted.dtype
        assert each.shape == wanted.shape
        scale = np.max(np.abs(wanted), initial=1e-30).astype(float)
        np.testing.assert_allclose(each.astype(float), wanted.astype(float), atol=tolerance * scale)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_gradients_of_a_pytree_agree(kind, dtype):
    with jax.enable_x64(dtype == jnp.float64):
        given = arguments(dtype)
        found = jax.grad(weighted(with_rules(several, kind)), argnums=(0, 1))(*given)
        close(found, jax.grad(weighted(several), argnums=(0, 1))(*given), TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.__name__)
def test_tangents_of_a_pytree_agree(dtype):
    with jax.enable_x64(dtype == jnp.float64):
        given = arguments(dtype)
        tangents = jax.tree.map(lambda leaf: 0.3 + leaf / 2, given)
        found = jax.jvp(with_rules(several, "jvp"), given, tangents)
        expected = jax.jvp(several, given, tangents)
        assert found[1]["n"].dtype == jax.dtypes.float0
        for which in (0, 1):
            for value in (found, expected):
                del value[which]["n"]
            close(found[which], expected[which], TOLERANCES[dtype])


TRANSFORMS = {
    "jit of grad": lambda f: jax.jit(jax.grad(lambda x: f(x).sum())),
    "grad of jit": lambda f: jax.grad(lambda x: jax.jit(f)(x).sum()),
    "vmap of grad": jax.vmap,
    "grad of vmap": lambda f: jax.grad(lambda x: jax.vmap(f)(x).sum()),
    "grad through scan": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda carry, each: (carry * f(each), None), 1.0, x)[0]
    ),
    "grad through checkpoint": lambda f: jax.grad(lambda x: jax.checkpoint(f)(x).sum()),
    "jacrev": jax.jacrev,
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_transforms_go_around_and_through(kind, name):
    x = jnp.asarray([0.2, 0.9, -1.4])
    transform = TRANSFORMS[name]
    if name == "vmap of grad":
        found, expected = (jax.vmap(jax.grad(f))(x) for f in (with_rules(jnp.sin, kind), jnp.sin))
    else:
        found, expected = (transform(f)(x) for f in (with_rules(jnp.sin, kind), jnp.sin))
    close(found, expected, 1e-3)


def test_forward_over_reverse_over_forward():
    with jax.enable_x64(True):
        call = with_rules(jnp.sin, "jvp")
        x = jnp.float64(0.7)
        assert np.isclose(jax.hessian(call)(x), -np.sin(0.7), rtol=1e-3)
        assert np.isclose(jax.jvp(jax.grad(call), (x,), (1.0,))[1], -np.sin(0.7), rtol=1e-3)
        assert np.isclose(jax.grad(jax.grad(call))(x), -np.sin(0.7), rtol=1e-3)


def test_every_element_takes_two_calls():
    calls = []

    def host(ctx, out, x):
        calls.append(None)
        out[...] = np.sin(x)

    def call(x):
        return bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    x = jnp.linspace(0, 1, 20)
    jax.block_until_ready(bufcb.finite_difference_vjp(call, (x,), jnp.ones(20)))
    assert len(calls) == 40
    jax.block_until_ready(bufcb.finite_difference_jvp(call, (x,), (jnp.ones(20),)))
    assert len(calls) == 81  # one is for the result


def test_the_callback_is_not_batched_by_jacfwd_and_hessian():
    x = jnp.asarray([0.3, 1.2])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = jax.custom_jvp(bufcb.buffer_callback(bufcb.adapt(np.sin), spec))  # without a `vmap_method`
    call.defjvp(lambda primals, tangents: bufcb.finite_difference_jvp(call, primals, tangents))
    np.testing.assert_allclose(jax.jacfwd(call)(x), np.diag(np.cos(x)), atol=1e-3)


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_arguments_of_many_elements(kind):
    x = jnp.linspace(-1, 1, 40).reshape(8, 5)
    found = jax.jit(jax.grad(lambda x: jnp.sum(with_rules(jnp.sin, kind)(x) ** 2)))(x)
    close(found, np.sin(2 * x), 1e-3)


def test_large_arguments_take_large_steps():
    x = jnp.asarray([1e4, 1.0])
    (found,) = bufcb.finite_difference_vjp(on_host(jnp.sqrt), (x,), jnp.ones(2))
    np.testing.assert_allclose(found, 0.5 / np.sqrt(x), rtol=1e-3)


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_integers_keys_and_numbers_among_the_arguments(kind):
    def function(x, n, flags, scale):
        return x * n * flags.sum() * scale

    call = with_rules(function, kind)
    given = (jnp.asarray([0.5, 2.0]), 3, jnp.asarray([True, True]), 1.5)
    found = jax.grad(lambda *a: call(*a).sum())(*given)
    np.testing.assert_allclose(found, [9, 9], rtol=1e-3)
    cotangents = bufcb.finite_difference_vjp(function, given, jnp.ones(2))
    assert [np.shape(each) for each in cotangents] == [(2,), (), (2,), ()]
    assert [each.dtype == jax.dtypes.float0 for each in cotangents] == [False, True, True, False]
    of_x, of_key = bufcb.finite_difference_vjp(
        lambda x, key: x * jax.random.uniform(key, minval=1.0, maxval=2.0), (1.0, jax.random.key(0)), 1.0
    )
    np.testing.assert_allclose(of_x, jax.random.uniform(jax.random.key(0), minval=1.0, maxval=2.0), rtol=1e-3)
    assert of_key.dtype == jax.dtypes.float0


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_empty_arrays(kind):
    call = with_rules(lambda x, y: (x * 2, y * 3), kind)
    empty, one = jnp.zeros((0, 2)), jnp.ones(1)
    found = jax.grad(lambda x, y: sum(leaf.sum() for leaf in call(x, y)), argnums=(0, 1))(empty, one)
    assert found[0].shape == (0, 2)
    np.testing.assert_allclose(found[1], [3], rtol=1e-3)


def into_complex(x, z):
    return {
        "of both": jnp.exp(1j * x) * z**2,
        "absolute": jnp.abs(z),
        "conjugate": jnp.conj(z) * x.sum(),
        "real": x,
    }


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("x64", [False, True], ids=["complex64", "complex128"])
def test_complex_numbers(kind, x64):
    """By JAX's conventions, for functions that have a complex derivative and for others."""
    with jax.enable_x64(x64):
        given = jnp.asarray([0.5, -1.2]), jnp.asarray([0.4 + 1j, -0.3j])

        def loss(call):
            def weighted(*arguments):
                leaves = jax.tree.leaves(call(*arguments))
                return sum(jnp.sum(jnp.abs(leaf - 0.3j) ** 2 + jnp.real(leaf)) for leaf in leaves)

            return jax.grad(weighted, argnums=(0, 1))(*given)

        for found, expected in zip(loss(with_rules(into_complex, kind)), loss(into_complex), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, atol=1e-6 if x64 else 1e-2)


def test_complex_tangents():
    with jax.enable_x64(True):
        given = jnp.asarray([0.5, -1.2]), jnp.asarray([0.4 + 1j, -0.3j])
        tangents = jnp.asarray([1.0, 0.5]), jnp.asarray([0.2 - 1j, 1.0])
        found, expected = (
            jax.jvp(f, given, tangents)[1] for f in (with_rules(into_complex, "jvp"), into_complex)
        )
        assert all(jax.tree.leaves(jax.tree.map(lambda a, b: a.dtype == b.dtype, found, expected)))
        jax.tree.map(lambda *pair: np.testing.assert_allclose(*pair, atol=1e-6), found, expected)
