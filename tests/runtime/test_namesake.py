"""What holds for `jax.pure_callback` holds for `bufcb.pure_callback` and `bufcb.adapt` in its place.

Each test runs under all of them, `jax.pure_callback` first: what is asserted is its behaviour.
"""

import functools
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import bufcb

Call = Callable[..., Any]
Script = Callable[..., "subprocess.CompletedProcess[str]"]
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
FAILURES = (
    jax.errors.JaxRuntimeError,
    ValueError,
)  # JAX's fast path for functions called before raises the latter


def through_adapt(arrays: Any) -> Call:
    def call(
        function: Any, out: Any, *args: Any, sharding: Any = None, vmap_method: Any = None, **kw: Any
    ) -> Any:
        adapted = bufcb.adapt(function, arrays=arrays)
        return bufcb.buffer_callback(adapted, out, sharding=sharding, vmap_method=vmap_method)(*args, **kw)

    return call


CALLS = {
    "jax": jax.pure_callback,
    "bufcb": bufcb.pure_callback,
    "adapt": through_adapt("numpy"),
    'adapt, arrays="jax"': through_adapt("jax"),
}


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> Call:
    return CALLS[request.param]


def spec(x: Any) -> Any:
    return jax.ShapeDtypeStruct(np.shape(x), jnp.asarray(x).dtype)


def compiled(function: Call) -> Call:
    return lambda *args, **kwargs: jax.block_until_ready(jax.jit(function)(*args, **kwargs))


class TestResults:
    """What a callback may return, and what is an error."""

    def test_scalars(self, call: Call) -> None:
        result = compiled(lambda x: call(lambda x: np.float32(np.asarray(x) + 1), SCALAR, x) * 2)(1.0)
        assert (float(result), result.shape, result.dtype) == (4, (), jnp.float32)

    @pytest.mark.parametrize(
        ("literal", "dtype"), [(1, jnp.int32), (1.5, jnp.float32), (True, jnp.bool_), (1j, jnp.complex64)]
    )
    def test_python_literals(self, literal: Any, dtype: Any, call: Call) -> None:
        result = compiled(lambda: call(lambda: literal, jax.ShapeDtypeStruct((), dtype)))()
        assert (result.item(), result.dtype) == (literal, dtype)

    @pytest.mark.parametrize("dtype", [jnp.float32, jnp.int8])
    def test_a_literal_of_another_type(self, dtype: Any, call: Call) -> None:
        with pytest.raises(FAILURES, match="Incorrect output dtype for return value #0: Expected: "):
            compiled(lambda: call(lambda: 1, jax.ShapeDtypeStruct((), dtype)))()

    def test_arrays_of_other_libraries(self, call: Call) -> None:
        class Other:
            """Has an `__array__`, and nothing else that NumPy knows."""

            def __init__(self, array: Any) -> None:
                self.array = array

            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return self.array

        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(compiled(lambda: call(lambda: Other(values), spec(values)))(), values)

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_the_number_of_values(self, count: int, call: Call) -> None:
        def returns(x: Any) -> Any:
            return (np.asarray(x),) * count

        text = f"Mismatched number of outputs from callback. Expected: 2, Actual: {count}"
        with pytest.raises(FAILURES, match=text):
            compiled(lambda x: call(returns, (SCALAR, SCALAR), x))(1.0)

    def test_none_is_no_value(self, call: Call) -> None:
        with pytest.raises(FAILURES, match="Expected: 1, Actual: 0"):
            compiled(lambda x: call(lambda x: None, SCALAR, x))(1.0)

    @pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 3), (3, 1)])
    def test_another_shape(self, shape: Any, call: Call) -> None:
        with pytest.raises(
            FAILURES, match=r"Incorrect output shape for return value #1: Expected: \(3,\), Actual:"
        ):
            compiled(
                lambda: call(
                    lambda: (np.zeros(3, np.float32), np.zeros(shape, np.float32)), (spec(np.zeros(3)),) * 2
                )
            )()

    @pytest.mark.parametrize("dtype", [np.int32, np.float16, np.int8, np.complex64, np.bool_])
    def test_another_dtype(self, dtype: Any, call: Call) -> None:
        with pytest.raises(
            FAILURES, match="Incorrect output dtype for return value #0: Expected: float32, Actual"
        ):
            compiled(lambda: call(lambda: np.zeros(3, dtype), jax.ShapeDtypeStruct((3,), jnp.float32)))()

    def test_64_bits_in_32_bit_mode(self, call: Call) -> None:
        result = compiled(lambda: call(lambda: np.arange(3.0), jax.ShapeDtypeStruct((3,), jnp.float32)))()
        assert result.dtype == jnp.float32
        for dtype in (np.float64, np.int64, np.uint64, np.complex128):
            with pytest.raises(ValueError, match="cannot specify 64-bit types"):
                call(lambda: 0, jax.ShapeDtypeStruct((3,), dtype))

    def test_64_bits_in_64_bit_mode(self, call: Call) -> None:
        with jax.enable_x64(True):
            result = compiled(lambda: call(lambda: np.arange(3.0), jax.ShapeDtypeStruct((3,), np.float64)))()
            assert result.dtype == np.float64
            with pytest.raises(FAILURES, match="Incorrect output dtype"):
                compiled(lambda: call(lambda: np.arange(3.0), jax.ShapeDtypeStruct((3,), np.float32)))()

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
    def test_zero_size_among_others(self, shape: Any, call: Call) -> None:
        def host(empty: Any, x: Any) -> Any:
            assert np.shape(empty) == shape
            return np.zeros(shape, np.float32), np.asarray(x) + 1

        x = jnp.ones(3)
        first, second = compiled(
            lambda empty, x: call(host, (jax.ShapeDtypeStruct(shape, jnp.float32), spec(x)), empty, x)
        )(jnp.zeros(shape), x)
        assert first.shape == shape
        np.testing.assert_array_equal(second, np.full(3, 2))

    def test_pytrees_in_and_out(self, call: Call) -> None:
        def host(tree: Any, *, scale: Any) -> Any:
            return [np.asarray(tree["b"]) * np.asarray(scale), {"n": np.asarray(tree["a"][0])}]

        tree = {"a": (jnp.int32(3), None), "b": jnp.ones(2)}
        out = (spec(tree["b"]), {"n": jax.ShapeDtypeStruct((), jnp.int32)})
        result = compiled(lambda tree: call(host, out, tree, scale=2.0))(tree)
        assert jax.tree.structure(result) == jax.tree.structure(out)
        np.testing.assert_array_equal(result[0], [2, 2])
        assert int(result[1]["n"]) == 3

    @pytest.mark.parametrize(
        "derive",
        [
            lambda a: a.T,
            lambda a: a[::-1],
            lambda a: a[:, ::2],
            np.asfortranarray,
            lambda a: np.broadcast_to(a[:1], a.shape),
        ],
        ids=["transposed", "reversed", "strided", "column-major", "broadcast"],
    )
    @pytest.mark.parametrize("dtype", ["float32", "int4", "uint4", "int2", "bool"])
    def test_strides_of_results(self, dtype: str, derive: Any, call: Call) -> None:
        values = np.arange(24).reshape(4, 6) % 2
        expected = derive(values.astype(np.dtype(getattr(jnp, dtype))))
        result = compiled(
            lambda: call(lambda: expected, jax.ShapeDtypeStruct(expected.shape, expected.dtype))
        )()
        assert result.dtype == expected.dtype
        assert np.asarray(result).astype(np.int8).tolist() == expected.astype(np.int8).tolist()

    def test_layouts_of_operands(self, call: Call) -> None:
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        function = compiled(lambda x: call(np.asarray, spec(x.T), x.T) + 0)
        np.testing.assert_array_equal(function(x), x.T)
        np.testing.assert_array_equal(function(np.asfortranarray(x)), x.T)


class TestArguments:
    """What a callback is called with."""

    def test_too_many_and_too_few(self, call: Call) -> None:
        def two(x: Any, y: Any) -> Any:
            raise NotImplementedError("never called")

        for arguments in ((1.0,), (1.0, 2.0, 3.0)):
            with pytest.raises((*FAILURES, TypeError), match="argument"):
                compiled(lambda *args: call(two, SCALAR, *args))(*arguments)

    def test_arrays_are_read_only(self, call: Call) -> None:
        def write(x: Any) -> Any:
            np.asarray(x)[...] = 0

        x = jnp.ones(4)
        with pytest.raises(FAILURES, match="read-only"):
            compiled(lambda x: call(write, spec(x), x))(x)
        np.testing.assert_array_equal(x, np.ones(4))

    def test_jax_arrays(self) -> None:
        kinds: list[bool] = []

        def look(x: Any) -> Any:
            kinds.append(isinstance(x, jax.Array) and x.committed is not None)
            return x

        for name in ("jax", "bufcb", 'adapt, arrays="jax"'):
            compiled(lambda x, call=CALLS[name]: call(look, spec(x), x))(jnp.ones(4))
        assert kinds == [True] * 3

    @pytest.mark.parametrize("dtype", ["int2", "int4", "uint4", "float4_e2m1fn", "bfloat16", "float8_e5m2"])
    def test_narrow_types(self, dtype: str, call: Call) -> None:
        x = np.array([0, 1, 1, 0, 1], np.float32).astype(np.dtype(getattr(jnp, dtype)))
        seen: list[Any] = []

        def host(x: Any) -> Any:
            seen.append((np.asarray(x).dtype, list(map(str, np.asarray(x)))))
            return np.asarray(x)

        result = compiled(lambda x: call(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(jnp.asarray(x))
        assert seen == [(x.dtype, list(map(str, x)))]
        assert list(map(str, np.asarray(result))) == list(map(str, x))


def double(x: Any) -> Any:
    return np.asarray(x) * 2


class TestTransforms:
    """Control flow, batching, devices, derivatives."""

    @pytest.mark.parametrize("shape", [(), (3,)])
    def test_while_loop(self, shape: Any, call: Call) -> None:
        def is_small(x: Any) -> Any:
            return np.bool_(np.asarray(x).sum() < 100)

        def function(x: Any) -> Any:
            condition = functools.partial(call, is_small, jax.ShapeDtypeStruct((), jnp.bool_))
            return lax.while_loop(condition, lambda v: call(double, spec(v), v), x)

        result = compiled(function)(jnp.ones(shape))
        assert float(result.sum()) == {(): 128, (3,): 192}[shape]

    @pytest.mark.parametrize("shape", [(), (3,)])
    def test_cond(self, shape: Any, call: Call) -> None:
        taken: list[str] = []

        def branch(name: str, factor: float) -> Any:
            def host(x: Any) -> Any:
                taken.append(name)
                return np.asarray(x) * np.float32(factor)

            return lambda x: call(host, spec(x), x)

        function = compiled(lambda p, x: lax.cond(p, branch("yes", 2), branch("no", 3), x))
        np.testing.assert_array_equal(function(True, jnp.ones(shape)), np.full(shape, 2))
        np.testing.assert_array_equal(function(False, jnp.ones(shape)), np.full(shape, 3))
        assert taken == ["yes", "no"]

    @pytest.mark.parametrize("shape", [(), (3,)])
    def test_scan(self, shape: Any, call: Call) -> None:
        def body(carry: Any, x: Any) -> Any:
            return call(lambda c, x: np.asarray(c) + np.asarray(x), spec(carry), carry, x), call(
                double, spec(x), x
            )

        last, each = compiled(lambda x, xs: lax.scan(body, x, xs))(jnp.zeros(shape), jnp.ones((4, *shape)))
        np.testing.assert_array_equal(last, np.full(shape, 4))
        np.testing.assert_array_equal(each, np.full((4, *shape), 2))

    @pytest.mark.parametrize("shape", [(), (3,)])
    def test_pmap(self, shape: Any, call: Call) -> None:
        result = jax.pmap(lambda x: call(double, spec(x), x) + 1)(jnp.ones((1, *shape)))
        np.testing.assert_array_equal(result, np.full((1, *shape), 3))

    @pytest.mark.parametrize(
        "method", [None, "sequential", "sequential_unrolled", "expand_dims", "broadcast_all"]
    )
    def test_vmap(self, method: Any, call: Call) -> None:
        shapes: list[Any] = []

        def host(x: Any, y: Any) -> Any:
            shapes.append((np.shape(x), np.shape(y)))
            return np.asarray(x) + np.asarray(y)

        function = jax.vmap(lambda x, y: call(host, SCALAR, x, y, vmap_method=method), in_axes=(0, None))
        if method is None:
            with pytest.raises(NotImplementedError, match="vmap is only supported"):
                function(jnp.arange(3.0), 1.0)
            return
        np.testing.assert_array_equal(compiled(function)(jnp.arange(3.0), 1.0), [1, 2, 3])
        once = {"expand_dims": [((3,), (1,))], "broadcast_all": [((3,), (3,))]}
        assert shapes == once.get(method, [((), ())] * 3)

    def test_vmap_that_returns_the_wrong_shape(self, call: Call) -> None:
        function = jax.vmap(lambda x: call(lambda x: np.asarray(x)[:1], SCALAR, x, vmap_method="expand_dims"))
        with pytest.raises(FAILURES, match=r"Incorrect output shape .*Expected: \(3,\), Actual: \(1,\)"):
            compiled(function)(jnp.arange(3.0))

    def test_vmap_of_scan_evaluated(self, call: Call) -> None:
        closed = jax.make_jaxpr(jax.vmap(lambda x: call(double, SCALAR, x, vmap_method="sequential")))(
            jnp.ones(3)
        )
        (result,) = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, jnp.arange(3.0))
        np.testing.assert_array_equal(result, [0, 2, 4])

    def test_unused_results_are_not_computed(self, call: Call) -> None:
        def never(x: Any) -> Any:
            raise NotImplementedError("called")

        assert float(compiled(lambda x: (call(never, SCALAR, x), x * 2)[1])(1.0)) == 2

    def test_derivatives(self, call: Call) -> None:
        with pytest.raises(ValueError, match="callbacks do not support JVP"):
            jax.grad(lambda x: call(np.sin, SCALAR, x) * 1.0)(1.0)

        @jax.custom_jvp
        def sin(x: Any) -> Any:
            return call(lambda x: np.sin(np.asarray(x)), SCALAR, x)

        sin.defjvp(lambda x, t: (sin(x[0]), call(lambda x: np.cos(np.asarray(x)), SCALAR, x[0]) * t[0]))
        np.testing.assert_allclose(compiled(jax.grad(sin))(1.0), np.cos(1.0), rtol=1e-6)

    def test_compiled_once(self, call: Call) -> None:
        traced: list[None] = []

        @jax.jit
        def function(x: Any) -> Any:
            traced.append(None)
            return call(double, spec(x), x)

        for value in range(3):
            np.testing.assert_array_equal(function(jnp.full(3, float(value))), np.full(3, 2 * value))
        assert traced == [None]

    def test_the_executable_may_go_at_once(self, call: Call) -> None:
        class Holder:
            """Compiles a function anew for each instance."""

            def __init__(self) -> None:
                self.function = jax.jit(lambda x: call(lambda x: np.asarray(x) + 1, spec(x), x))

        results = [Holder().function(jnp.full(4, float(value))) for value in range(8)]
        for value, result in enumerate(results):
            np.testing.assert_array_equal(result, np.full(4, value + 1))


class TestErrors:
    """Errors come through, and leave nothing behind."""

    def test_type_and_message(self, call: Call) -> None:
        def fails(x: Any) -> Any:
            raise LookupError("no such luck")

        function = jax.jit(lambda x: call(fails, SCALAR, x))
        for _ in range(2):
            with pytest.raises(FAILURES, match="LookupError: no such luck"):
                jax.block_until_ready(function(1.0))

    def test_from_a_callback_in_a_callback(self, call: Call) -> None:
        def inner(x: Any) -> Any:
            raise LookupError("no such luck")

        def outer(x: Any) -> Any:
            return np.asarray(jax.jit(lambda x: call(inner, SCALAR, x))(np.float32(1)))

        with pytest.raises(FAILURES, match="LookupError: no such luck"):
            compiled(lambda x: call(outer, SCALAR, x))(1.0)

    @pytest.mark.parametrize("method", ["vectorised", "", 1])
    def test_unknown_vmap_methods(self, method: Any, call: Call) -> None:
        with pytest.raises(ValueError, match="vmap_method must be on of the allowed methods"):
            call(double, SCALAR, 1.0, vmap_method=method)


DEADLOCK = """
    import concurrent.futures, sys
    import jax, jax.numpy as jnp, numpy as np, bufcb

    def through_adapt(function, out, *args):
        return bufcb.buffer_callback(bufcb.adapt(function, arrays=ARRAYS), out)(*args)

    call = CALL
    size = 1 << 20
    spec = jax.ShapeDtypeStruct((size,), jnp.float32)

    @jax.jit
    def function(x):
        y = call(lambda x: np.asarray(x) + 1, spec, x)       # large, so that it is copied aside
        z = call(lambda x: np.asarray(x) * 2, spec, x * 3)   # at the same time
        return y + z

    x = jnp.zeros(size)
    for _ in range(5):
        x = function(x) * 0
    jax.block_until_ready(x)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: float(function(jnp.ones(size))[0]), range(8)))
    print(results == [8.0] * 8)
"""


@pytest.mark.parametrize(
    ("expression", "arrays"),
    [("bufcb.pure_callback", "jax"), ("through_adapt", "numpy"), ("through_adapt", "jax")],
)
def test_no_deadlock(expression: str, arrays: str, script: Script) -> None:
    """Callbacks on large arrays, dispatched asynchronously and from threads."""
    done = script(DEADLOCK.replace("CALL", expression).replace("ARRAYS", repr(arrays)))
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


def test_a_callback_does_not_hold_the_lock_of_the_dispatching_thread() -> None:
    """The callback waits for the thread that dispatched it."""
    may_go = threading.Event()

    def wait(x: Any) -> Any:
        assert may_go.wait(60)
        return np.asarray(x)

    for call in (bufcb.pure_callback, through_adapt("numpy")):
        may_go.clear()
        results: list[Any] = []
        function = jax.jit(lambda x, call=call: call(wait, SCALAR, x))
        thread = threading.Thread(
            target=lambda function=function, results=results: results.append(float(function(3.0)))
        )
        thread.start()
        assert float(jax.jit(lambda x: x + 1)(1.0)) == 2
        may_go.set()
        thread.join(60)
        assert results == [3]
