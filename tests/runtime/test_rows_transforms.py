"""Buffer callbacks under every transformation of JAX."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import bufcb

SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
METHODS = ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]

JVP_TEXT = (
    "Buffer callbacks do not support JVP. "
    "Please use `jax.custom_jvp` to use callbacks while taking gradients."
)
TRANSPOSE_TEXT = (
    "Buffer callbacks do not support transpose. "
    "Please use `jax.custom_vjp` to use callbacks while taking gradients."
)


def add_into(ctx: Any, out: Any, x: Any, y: Any) -> None:
    np.add(np.asarray(x), np.asarray(y), out=np.asarray(out))


def double_into(ctx: Any, out: Any, x: Any) -> None:
    np.multiply(np.asarray(x), 2, out=np.asarray(out))


def cos_into(ctx: Any, out: Any, x: Any) -> None:
    np.cos(np.asarray(x), out=np.asarray(out))


def double(x: Any) -> Any:
    return bufcb.buffer_callback(
        double_into, jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="expand_dims"
    )(x)


class TestVmap:
    """`vmap_method` means what it means for `jax.pure_callback`."""

    @pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 0)])
    @pytest.mark.parametrize("method", METHODS)
    def test_shapes_seen_and_results(self, method: str, axes: Any) -> None:
        x = jnp.arange(12.0).reshape(3, 4)
        y = jnp.arange(12.0).reshape(3, 4) * 10
        x = {0: x, None: x[0], 1: x.T}[axes[0]]
        y = {0: y, None: y[0]}[axes[1]]
        expected_shapes: list[Any] = []
        shapes: list[Any] = []

        def host(x: Any, y: Any) -> Any:
            expected_shapes.append((x.shape, y.shape))
            return np.asarray(x) + np.asarray(y)

        def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
            shapes.append((x.shape, y.shape))
            np.asarray(out)[...] = np.asarray(x) + np.asarray(y)

        pure = functools.partial(jax.pure_callback, host, F4, vmap_method=method)
        buffered = bufcb.buffer_callback(into, F4, vmap_method=method)
        expected = jax.block_until_ready(jax.jit(jax.vmap(pure, in_axes=axes))(x, y))
        result = jax.block_until_ready(jax.jit(jax.vmap(buffered, in_axes=axes))(x, y))
        np.testing.assert_array_equal(result, expected)
        assert shapes == expected_shapes

    @pytest.mark.parametrize("method", METHODS)
    def test_nested(self, method: str) -> None:
        x = jnp.arange(24.0).reshape(2, 3, 4)
        call = bufcb.buffer_callback(double_into, F4, vmap_method=method)
        np.testing.assert_array_equal(jax.jit(jax.vmap(jax.vmap(call)))(x), x * 2)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("axes", [(None, 0), (0, None), (0, 0)])
    def test_aliased_operand(self, method: str, axes: Any) -> None:
        """The aliased output holds the input's values on every path."""

        def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
            np.asarray(out)[...] += np.asarray(y)

        x = jnp.full((4,) if axes[0] is None else (3, 4), 10.0)
        y = jnp.arange(4.0) if axes[1] is None else jnp.arange(12.0).reshape(3, 4)
        call = bufcb.buffer_callback(into, F4, vmap_method=method, input_output_aliases={0: 0})
        np.testing.assert_array_equal(
            jax.jit(jax.vmap(call, in_axes=axes))(x, y), jnp.broadcast_to(x + y, (3, 4))
        )
        np.testing.assert_array_equal(x, jnp.full(x.shape, 10.0))

    def test_without_a_method(self) -> None:
        with pytest.raises(NotImplementedError, match=r"vmap is only supported for the .* when vmap_method"):
            jax.vmap(bufcb.buffer_callback(double_into, F4))(jnp.ones((3, 4)))

    @pytest.mark.parametrize("method", METHODS)
    def test_zero_batch(self, method: str) -> None:
        call = bufcb.buffer_callback(double_into, F4, vmap_method=method)
        assert jax.jit(jax.vmap(call))(jnp.ones((0, 4))).shape == (0, 4)

    def test_pytrees(self) -> None:
        def into(ctx: Any, out: Any, tree: Any, *, scale: Any) -> None:
            np.asarray(out["sum"])[...] = (np.asarray(tree["a"]) + np.asarray(tree["b"][0])) * np.asarray(
                scale
            )
            np.asarray(out["a"])[...] = np.asarray(tree["a"])

        call = bufcb.buffer_callback(into, {"a": SCALAR, "sum": SCALAR}, vmap_method="broadcast_all")
        tree = {"a": jnp.arange(3.0), "b": (jnp.ones(3),)}
        result = jax.vmap(lambda tree: call(tree, scale=2.0))(tree)
        np.testing.assert_array_equal(result["sum"], [2, 4, 6])
        np.testing.assert_array_equal(result["a"], [0, 1, 2])

    def test_spmd_axis_and_jit_inside(self) -> None:
        call = jax.jit(bufcb.buffer_callback(double_into, F4, vmap_method="broadcast_all"))
        np.testing.assert_array_equal(jax.vmap(call)(jnp.ones((3, 4))), np.full((3, 4), 2.0))

    @pytest.mark.parametrize("method", METHODS)
    def test_side_effects(self, method: str) -> None:
        calls: list[None] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            calls.append(None)
            np.asarray(out)[...] = np.asarray(x)

        call = bufcb.buffer_callback(into, SCALAR, vmap_method=method, has_side_effect=True)
        jax.block_until_ready(jax.jit(jax.vmap(call))(jnp.arange(3.0)))
        assert len(calls) == (3 if method.startswith("sequential") else 1)


class TestControlFlow:
    """Loops and branches."""

    def test_scan(self) -> None:
        total, ys = jax.jit(lambda x: lax.scan(lambda c, x: (double(c), c + x), x, jnp.arange(5.0)))(
            jnp.float32(1)
        )
        assert float(total) == 32
        np.testing.assert_array_equal(ys, [1, 3, 6, 11, 20])

    def test_while(self) -> None:
        assert float(jax.jit(lambda x: lax.while_loop(lambda v: v < 100, double, x))(jnp.float32(1))) == 128

    def test_callback_in_the_condition(self) -> None:
        def small_into(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(out)[...] = np.asarray(x) < 100

        small = bufcb.buffer_callback(small_into, jax.ShapeDtypeStruct((), jnp.bool_))
        assert float(jax.jit(lambda x: lax.while_loop(small, lambda v: v * 2, x))(jnp.float32(1))) == 128

    def test_cond_runs_one_branch(self) -> None:
        calls: list[str] = []

        def into(ctx: Any, out: Any, x: Any, *, name: str = "") -> None:
            calls.append(name)
            np.asarray(out)[...] = np.asarray(x)

        def branch(name: str) -> Any:
            return bufcb.buffer_callback(functools.partial(into, name=name), SCALAR)

        function = jax.jit(lambda p, x: lax.cond(p, branch("yes"), branch("no"), x))
        jax.block_until_ready(function(True, jnp.float32(1)))
        jax.block_until_ready(function(False, jnp.float32(1)))
        assert calls == ["yes", "no"]

    def test_switch(self) -> None:
        branches = [double, lambda x: x, lambda x: double(double(x))]
        function = jax.jit(lambda i, x: lax.switch(i, branches, x))
        assert [float(function(i, jnp.float32(3))) for i in range(3)] == [6, 3, 12]

    def test_side_effects_in_loops(self) -> None:
        calls: list[float] = []

        def record(ctx: Any, out: Any, x: Any) -> None:
            calls.append(float(x))

        effect = bufcb.buffer_callback(record, (), has_side_effect=True)

        def body(i: Any, x: Any) -> Any:
            effect(x)
            return x + 1

        jax.block_until_ready(jax.jit(lambda x: lax.fori_loop(0, 4, body, x))(jnp.float32(0)))
        jax.effects_barrier()
        assert sorted(calls) == [0, 1, 2, 3]

    def test_map_and_associative_scan(self) -> None:
        np.testing.assert_array_equal(jax.jit(lambda x: lax.map(double, x))(jnp.arange(4.0)), [0, 2, 4, 6])
        add = bufcb.buffer_callback  # one call per level, each of its own shape

        def combine(a: Any, b: Any) -> Any:
            return add(add_into, jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)

        result = jax.jit(lambda x: lax.associative_scan(combine, x))(jnp.arange(1.0, 9.0))
        np.testing.assert_array_equal(result, np.cumsum(np.arange(1.0, 9.0)))


class TestDerivatives:
    """Errors word for word, and the ways around them."""

    @pytest.mark.parametrize(
        "transform",
        [
            jax.grad,
            jax.value_and_grad,
            jax.jacfwd,
            jax.jacrev,
            jax.hessian,
            lambda f: lambda x: jax.jvp(f, (x,), (x,)),
            lambda f: lambda x: jax.linearize(f, x),
            lambda f: lambda x: jax.vjp(f, x),
            lambda f: jax.jit(jax.grad(jax.jit(f))),
            lambda f: jax.grad(jax.checkpoint(f)),
        ],
    )
    def test_jvp_error(self, transform: Any) -> None:
        with pytest.raises(ValueError, match="Buffer callbacks do not support JVP") as seen:
            transform(lambda x: double(x) * 1.0)(jnp.float32(1))
        assert str(seen.value).startswith(JVP_TEXT)

    def test_jvp_error_names_the_callback(self) -> None:
        with pytest.raises(ValueError, match="double_into") as seen:
            jax.grad(double)(jnp.float32(1))
        code = double_into.__code__
        assert f"{code.co_filename}:{code.co_firstlineno}" in str(seen.value)

    def test_transpose_error(self) -> None:
        with pytest.raises(ValueError, match="Buffer callbacks do not support transpose") as seen:
            jax.linear_transpose(double, SCALAR)(jnp.float32(1))
        assert str(seen.value).startswith(TRANSPOSE_TEXT)
        assert "double_into" in str(seen.value)

    @pytest.mark.parametrize(
        ("transform", "error"),
        [
            (lambda f: jax.grad(lambda x: f(x) * 1.0), ValueError),
            (lambda f: jax.linear_transpose(f, SCALAR), ValueError),
            (lambda f: lambda x: jax.vmap(f)(x[None]), NotImplementedError),
        ],
        ids=["jvp", "transpose", "vmap"],
    )
    def test_pure_callback_has_the_texts_of_its_namesake(self, transform: Any, error: Any) -> None:
        texts = []
        for pure_callback in (jax.pure_callback, bufcb.pure_callback):
            with pytest.raises(error) as seen:
                transform(lambda x, call=pure_callback: call(np.sin, SCALAR, x))(jnp.float32(1))
            texts.append(str(seen.value))
        assert texts[1].startswith(texts[0].rstrip("."))
        assert "ure" in texts[0]

    def test_the_same_texts_as_upstream(self) -> None:
        from jax.experimental.buffer_callback import buffer_callback

        upstream = buffer_callback(double_into, SCALAR)
        with pytest.raises(ValueError, match="JVP") as jvp:
            jax.grad(upstream)(jnp.float32(1))
        with pytest.raises(ValueError, match="transpose") as transpose:
            jax.linear_transpose(upstream, SCALAR)(jnp.float32(1))
        assert str(jvp.value).startswith(JVP_TEXT)
        assert str(transpose.value).startswith(TRANSPOSE_TEXT)

    def test_stop_gradient_and_zero_tangents(self) -> None:
        def loss(x: Any) -> Any:
            return x * lax.stop_gradient(double(lax.stop_gradient(x)))

        assert float(jax.grad(loss)(jnp.float32(3))) == 6

    def test_custom_vjp(self) -> None:
        @jax.custom_vjp
        def sin(x: Any) -> Any:
            return bufcb.buffer_callback(
                sin_into, jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="expand_dims"
            )(x)

        def sin_into(ctx: Any, out: Any, x: Any) -> None:
            np.sin(np.asarray(x), out=np.asarray(out))

        def backward(x: Any, cotangent: Any) -> Any:
            spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return (bufcb.buffer_callback(cos_into, spec, vmap_method="expand_dims")(x) * cotangent,)

        sin.defvjp(lambda x: (sin(x), x), backward)
        x = jnp.linspace(0.0, 1.0, 5)
        np.testing.assert_allclose(jax.jit(jax.grad(lambda x: jnp.sum(sin(x))))(x), np.cos(x), rtol=1e-6)
        np.testing.assert_allclose(jax.vmap(jax.grad(sin))(x), np.cos(x), rtol=1e-6)
        checkpointed = jax.grad(lambda x: jnp.sum(jax.checkpoint(sin)(x)))
        np.testing.assert_allclose(checkpointed(x), np.cos(x), rtol=1e-6)
        scanned = jax.grad(lambda x: lax.scan(lambda c, _: (sin(c), None), x, None, length=3)[0])
        plain = jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(x))))
        np.testing.assert_allclose(scanned(jnp.float32(0.5)), plain(jnp.float32(0.5)), rtol=1e-6)

    def test_custom_jvp(self) -> None:
        @jax.custom_jvp
        def sin(x: Any) -> Any:
            return bufcb.pure_callback(
                np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims"
            )

        @sin.defjvp
        def sin_jvp(primals: Any, tangents: Any) -> Any:
            (x,), (t,) = primals, tangents
            spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return sin(x), bufcb.buffer_callback(cos_into, spec, vmap_method="expand_dims")(x) * t

        x = jnp.linspace(0.0, 1.0, 5)
        np.testing.assert_allclose(jax.vmap(jax.grad(sin))(x), np.cos(x), rtol=1e-6)
        np.testing.assert_allclose(jax.jacfwd(sin)(x), np.diag(np.cos(x)), rtol=1e-6)
        np.testing.assert_allclose(
            jax.jit(jax.jvp, static_argnums=0)(sin, (x,), (x,))[1], np.cos(x) * x, rtol=1e-6
        )

    def test_integer_arguments_have_no_tangents(self) -> None:
        def loss(x: Any, i: Any) -> Any:
            return x * bufcb.buffer_callback(double_into, jax.ShapeDtypeStruct((), jnp.int32))(i)

        assert float(jax.grad(loss)(jnp.float32(3), jnp.int32(4))) == 8


class TestStaging:
    """Tracing, ahead-of-time compilation, evaluation of jaxprs."""

    def test_make_jaxpr_and_eval(self) -> None:
        closed = jax.make_jaxpr(lambda x: double(x) + 1)(jnp.ones(4))
        assert "buffer_callback" in str(closed)
        (result,) = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, jnp.ones(4))
        np.testing.assert_array_equal(result, np.full(4, 3.0))

    def test_eval_shape(self) -> None:
        shape = jax.eval_shape(double, jax.ShapeDtypeStruct((4,), jnp.float32))
        assert (shape.shape, shape.dtype) == ((4,), jnp.float32)

    def test_ahead_of_time(self) -> None:
        lowered = jax.jit(double).lower(jax.ShapeDtypeStruct((4,), jnp.float32))
        assert "custom_call" in lowered.as_text()
        compiled = lowered.compile()
        for value in (1.0, 2.0):
            np.testing.assert_array_equal(compiled(jnp.full(4, value)), np.full(4, 2 * value))

    def test_the_compiled_function_keeps_the_callback_alive(self) -> None:
        import gc

        def compile_it() -> Any:
            factor = np.float32(5)

            def into(ctx: Any, out: Any, x: Any) -> None:
                np.asarray(out)[...] = np.asarray(x) * factor

            return jax.jit(bufcb.buffer_callback(into, F4)).lower(jnp.ones(4)).compile()

        compiled = compile_it()
        gc.collect()
        np.testing.assert_array_equal(compiled(jnp.ones(4)), np.full(4, 5.0))

    def test_unused_pure_results_are_removed_and_effects_are_not(self) -> None:
        calls: list[bool] = []

        def into(ctx: Any, out: Any, x: Any, *, effect: bool) -> None:
            calls.append(effect)
            np.asarray(out)[...] = 0

        def function(x: Any) -> Any:
            for effect in (False, True):
                callback = functools.partial(into, effect=effect)
                bufcb.buffer_callback(callback, SCALAR, has_side_effect=effect)(x)
            return x

        jax.block_until_ready(jax.jit(function)(jnp.float32(1)))
        jax.effects_barrier()
        assert calls == [True]

    def test_effects_are_visible_in_the_jaxpr(self) -> None:
        pure = jax.make_jaxpr(bufcb.buffer_callback(double_into, F4))(jnp.ones(4))
        effectful = jax.make_jaxpr(bufcb.buffer_callback(double_into, F4, has_side_effect=True))(jnp.ones(4))
        assert not pure.effects
        assert effectful.effects

    def test_donated_argument(self) -> None:
        function = jax.jit(lambda x: double(x), donate_argnums=0)  # noqa: PLW0108
        np.testing.assert_array_equal(function(jnp.ones(4)), np.full(4, 2.0))

    def test_alias_of_a_donated_argument(self) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(out)[...] += 1

        call = bufcb.buffer_callback(into, F4, input_output_aliases={0: 0})
        np.testing.assert_array_equal(jax.jit(call, donate_argnums=0)(jnp.ones(4)), np.full(4, 2.0))

    def test_jit_in_jit_and_disable_jit(self) -> None:
        np.testing.assert_array_equal(jax.jit(lambda x: jax.jit(double)(x) + 1)(jnp.ones(4)), np.full(4, 3.0))
        with jax.disable_jit():
            np.testing.assert_array_equal(jax.jit(double)(jnp.ones(4)), np.full(4, 2.0))
            np.testing.assert_array_equal(
                lax.fori_loop(0, 2, lambda _, x: double(x), jnp.ones(4)), np.full(4, 4.0)
            )

    def test_command_buffer_compatible_is_accepted(self) -> None:
        call = bufcb.buffer_callback(double_into, F4, command_buffer_compatible=True)
        np.testing.assert_array_equal(jax.jit(call)(jnp.ones(4)), np.full(4, 2.0))

    def test_shard_map_on_one_device(self) -> None:
        mesh = jax.make_mesh(
            (1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:1]
        )
        spec = jax.sharding.PartitionSpec("x")
        function = jax.jit(jax.shard_map(double, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
        np.testing.assert_array_equal(function(jnp.arange(4.0)), [0, 2, 4, 6])

    def test_shard_map_with_varying_axes_checked(self) -> None:
        mesh = jax.make_mesh(
            (1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:1]
        )
        spec = jax.sharding.PartitionSpec("x")

        def outcome(function: Callable[..., Any]) -> Any:
            try:
                mapped = jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec)
                return np.asarray(jax.jit(mapped)(jnp.arange(4.0))).tolist()
            except Exception as error:  # noqa: BLE001
                return type(error)

        def pure(x: Any) -> Any:
            return jax.pure_callback(lambda x: np.asarray(x) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

        expected = outcome(pure)
        seen = outcome(double)
        assert seen in ([0.0, 2.0, 4.0, 6.0], expected)

    def test_multi_platform_export_is_a_clear_error(self) -> None:
        with pytest.raises(NotImplementedError, match="buffer_callback"):
            jax.jit(double).trace(jnp.ones(4)).lower(lowering_platforms=("cpu", "cuda"))

    def test_remat_policies(self) -> None:
        @jax.custom_vjp
        def sin(x: Any) -> Any:
            return bufcb.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

        sin.defvjp(lambda x: (sin(x), x), lambda x, c: (jnp.cos(x) * c,))
        for policy in (
            None,
            jax.checkpoint_policies.everything_saveable,
            jax.checkpoint_policies.dots_saveable,
        ):
            gradient = jax.grad(jax.checkpoint(lambda x: sin(sin(x)), policy=policy))(jnp.float32(0.5))
            np.testing.assert_allclose(gradient, np.cos(np.sin(0.5)) * np.cos(0.5), rtol=1e-6)


class TestAliases:
    """`input_output_aliases` speaks of flattened inputs and outputs."""

    def into(self, ctx: Any, out: Any, *args: Any, **kwargs: Any) -> None:
        for leaf in jax.tree.leaves(out):
            np.asarray(leaf)[...] += 1

    def test_every_leaf(self) -> None:
        tree = {"a": jnp.zeros(4), "b": (jnp.full(4, 10.0), jnp.int32(5))}
        spec = (jax.ShapeDtypeStruct((), jnp.int32), F4, F4)
        call = bufcb.buffer_callback(self.into, spec, input_output_aliases={0: 1, 1: 2, 2: 0})
        count, first, second = jax.jit(call)(tree)
        assert int(count) == 6
        np.testing.assert_array_equal(first, np.ones(4))
        np.testing.assert_array_equal(second, np.full(4, 11.0))
        np.testing.assert_array_equal(tree["a"], np.zeros(4))

    def test_keyword_leaf(self) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases={1: 0})
        np.testing.assert_array_equal(
            jax.jit(lambda x, y: call(x, state=y))(jnp.zeros(3), jnp.ones(4)), np.full(4, 2.0)
        )

    def test_memory_is_shared_without_a_copy_in_between(self) -> None:
        same: list[bool] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            same.append(np.asarray(out).ctypes.data == np.asarray(x).ctypes.data)

        jax.block_until_ready(
            jax.jit(bufcb.buffer_callback(into, F4, input_output_aliases={0: 0}))(jnp.ones(4))
        )
        assert same == [True]

    @pytest.mark.parametrize(
        ("aliases", "text"),
        [
            ({2: 0}, r"'2:0' with input index 2 outside the range \[0, 2\)"),
            ({-1: 0}, r"'-1:0' with input index -1 outside the range \[0, 2\)"),
            ({0: 1}, r"'0:1' with output index 1 outside the range \[0, 1\)"),
            ({0: -1}, r"'0:-1' with output index -1 outside the range \[0, 1\)"),
            ({1: 0}, "'1:0' referring to an input with abstract value .*3.* different abstract value .*4"),
        ],
    )
    def test_invalid(self, aliases: Any, text: str) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases=aliases)
        for run in (call, jax.jit(call)):
            with pytest.raises(ValueError, match=text):
                run(jnp.ones(4), jnp.ones(3))

    def test_two_inputs_for_one_output(self) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases={0: 0, 1: 0})
        with pytest.raises(ValueError, match="input_output_aliases"):
            call(jnp.ones(4), jnp.ones(4))

    @pytest.mark.parametrize("aliases", [{0.5: 0}, {"x": 0}, {0: None}])
    def test_indices_that_are_no_integers(self, aliases: Any) -> None:
        with pytest.raises((TypeError, ValueError)):
            bufcb.buffer_callback(self.into, F4, input_output_aliases=aliases)(jnp.ones(4))

    def test_numpy_integers(self) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases={np.int64(0): np.int64(0)})
        np.testing.assert_array_equal(call(jnp.ones(4)), np.full(4, 2.0))

    def test_argument_used_again_afterwards(self) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases={0: 0})
        result, kept = jax.jit(lambda x: (call(x), x))(jnp.ones(4))
        np.testing.assert_array_equal(result, np.full(4, 2.0))
        np.testing.assert_array_equal(kept, np.ones(4))

    def test_in_a_loop(self) -> None:
        call = bufcb.buffer_callback(self.into, F4, input_output_aliases={0: 0})
        function = jax.jit(lambda x: lax.fori_loop(0, 10, lambda _, x: call(x), x))
        np.testing.assert_array_equal(function(jnp.zeros(4)), np.full(4, 10.0))
