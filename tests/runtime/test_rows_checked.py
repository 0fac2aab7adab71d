"""Checked mode and `dry_run`: outputs that a callback forgot, wholly or in part."""

import functools
import subprocess
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb
from bufcb import testing

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "float16",
    "bfloat16",
    "float32",
    "complex64",
    "int4",
    "float8_e5m2",
]

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def copy_into(ctx: Any, out: Any, x: Any) -> None:
    np.asarray(out)[...] = np.asarray(x)


def half_into(ctx: Any, out: Any, x: Any) -> None:
    np.asarray(out)[:2] = np.asarray(x)[:2]


def forget_into(ctx: Any, out: Any, x: Any) -> None:
    np.asarray(x)


def in_jit(callback: Callable[..., None], spec: Any, *args: Any, **options: Any) -> Any:
    with bufcb.checked():
        return jax.block_until_ready(jax.jit(bufcb.buffer_callback(callback, spec, **options))(*args))


def eagerly(callback: Callable[..., None], spec: Any, *args: Any, **options: Any) -> Any:
    with bufcb.checked():
        return jax.block_until_ready(bufcb.buffer_callback(callback, spec, **options)(*args))


def dry(callback: Callable[..., None], spec: Any, *args: Any) -> Any:
    return testing.dry_run(callback, spec, *args)


each_way = pytest.mark.parametrize("way", [in_jit, eagerly, dry])


@each_way
@pytest.mark.parametrize("dtype", DTYPES)
class TestEveryDtype:
    """Whatever the dtype, an output that is written passes and one that is not does not."""

    def argument(self, dtype: str) -> Any:
        return jnp.asarray([0, 1, 0, 1], dtype=dtype)

    def test_written(self, way: Any, dtype: str) -> None:
        x = self.argument(dtype)
        result = way(copy_into, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        assert result.dtype == x.dtype
        assert np.asarray(result).tobytes() == np.asarray(x).tobytes()

    def test_not_written(self, way: Any, dtype: str) -> None:
        x = self.argument(dtype)
        with pytest.raises(Exception, match="forget_into") as seen:
            way(forget_into, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        assert "out" in str(seen.value)

    def test_written_in_part(self, way: Any, dtype: str) -> None:
        x = self.argument(dtype)
        with pytest.raises(Exception, match="half_into"):
            way(half_into, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@each_way
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "float32", "float16"])
def test_every_byte_is_a_value(way: Any, dtype: str) -> None:
    """No value of a small dtype may be taken for the pattern that marks an element as not written."""
    width = np.dtype(dtype).itemsize
    values = np.repeat(np.arange(256, dtype=np.uint8), width).view(dtype)
    result = way(copy_into, jax.ShapeDtypeStruct(values.shape, values.dtype), jnp.asarray(values))
    assert np.asarray(result).tobytes() == values.tobytes()


@each_way
def test_one_element_is_missing(way: Any) -> None:
    def all_but_one(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        view[...] = 0
        view[1, 2] = np.nan  # a value like any other
        view[:1] = np.asarray(x)[:1]

    spec = jax.ShapeDtypeStruct((3, 4), jnp.float32)
    way(all_but_one, spec, jnp.ones((3, 4)))

    def leave_one(ctx: Any, out: Any, x: Any) -> None:
        flat = np.asarray(out).reshape(-1)
        flat[:7], flat[8:] = 0, 0

    with pytest.raises(Exception, match=r"\(1, 3\)"):
        way(leave_one, spec, jnp.ones((3, 4)))


@each_way
def test_the_leaf_is_named(way: Any) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out["a"])[...] = 0
        np.asarray(out["b"][0])[...] = 0

    with pytest.raises(Exception, match=r"out\['b'\]\[1\]"):
        way(into, {"a": F4, "b": [F4, F4]}, jnp.ones(4))


@each_way
@pytest.mark.parametrize("shape", [(), (0,), (0, 3)])
def test_scalars_and_empty_outputs(way: Any, shape: tuple[int, ...]) -> None:
    spec = (jax.ShapeDtypeStruct(shape, jnp.float32), SCALAR)

    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out[0])[...] = 1
        np.asarray(out[1])[...] = 2

    first, second = way(into, spec, jnp.ones(4))
    assert first.shape == shape
    assert float(second) == 2


class TestAliases:
    """An aliased output holds its input's values, never the pattern."""

    @pytest.mark.parametrize("way", [in_jit, eagerly])
    def test_not_written_is_no_error(self, way: Any) -> None:
        x = jnp.arange(4, dtype=jnp.float32)
        result = way(forget_into, F4, x, input_output_aliases={0: 0})
        np.testing.assert_array_equal(result, x)

    @pytest.mark.parametrize("way", [in_jit, eagerly])
    def test_other_outputs_are_checked(self, way: Any) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(out[0])[...] += 1

        with pytest.raises(jax.errors.JaxRuntimeError, match=r"out\[1\]"):
            way(into, (F4, F4), jnp.ones(4), input_output_aliases={0: 0})


class TestSwitch:
    """Where the mode comes from."""

    def test_off_by_default(self) -> None:
        jax.block_until_ready(bufcb.buffer_callback(forget_into, F4)(jnp.ones(4)))

    def test_context_ends(self) -> None:
        call = bufcb.buffer_callback(forget_into, F4)
        with bufcb.checked(), pytest.raises(jax.errors.JaxRuntimeError, match="forget_into"):
            jax.block_until_ready(call(jnp.ones(4)))
        jax.block_until_ready(call(jnp.ones(4)))

    def test_context_reaches_a_function_compiled_before(self) -> None:
        function = jax.jit(bufcb.buffer_callback(forget_into, F4))
        jax.block_until_ready(function(jnp.ones(4)))
        with bufcb.checked(), pytest.raises(jax.errors.JaxRuntimeError, match="forget_into"):
            jax.block_until_ready(function(jnp.ones(4)))
        jax.block_until_ready(function(jnp.ones(4)))

    def test_context_can_switch_off(self) -> None:
        with bufcb.checked(), bufcb.checked(False):
            jax.block_until_ready(bufcb.buffer_callback(forget_into, F4)(jnp.ones(4)))

    @pytest.mark.parametrize(("value", "asked"), [("1", True), ("0", False), ("", False), ("true", True)])
    def test_values_of_the_environment_variable(
        self, monkeypatch: pytest.MonkeyPatch, value: str, asked: bool
    ) -> None:
        monkeypatch.setenv("BUFCB_CHECKED", value)
        assert bufcb.callback._environment_asks_for_checks() == asked

    @pytest.mark.parametrize(("value", "raised"), [("1", True), ("0", False)])
    def test_environment(self, script: Script, value: str, raised: bool) -> None:
        done = script(
            """
            import bufcb, jax, jax.numpy as jnp
            spec = jax.ShapeDtypeStruct((4,), jnp.float32)
            try:
                jax.block_until_ready(bufcb.buffer_callback(lambda ctx, out, x: None, spec)(jnp.ones(4)))
            except jax.errors.JaxRuntimeError:
                print("raised")
            """,
            BUFCB_CHECKED=value,
        )
        assert done.returncode == 0, done.stderr
        assert (done.stdout.strip() == "raised") == raised

    def test_all_transformations(self) -> None:
        with bufcb.checked():
            call = bufcb.buffer_callback(copy_into, SCALAR, vmap_method="sequential")
            x = jnp.arange(3.0)
            np.testing.assert_array_equal(jax.jit(jax.vmap(call))(x), x)
            assert float(jax.lax.fori_loop(0, 3, lambda _, y: call(y), jnp.float32(2))) == 2

    def test_callbacks_with_effects_run_once(self) -> None:
        """An 8-bit output cannot be told from the pattern by one run, but an effect must not happen twice."""
        calls: list[None] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            calls.append(None)
            np.asarray(out)[...] = np.asarray(x)

        x = jnp.arange(256, dtype=jnp.uint8)
        in_jit(into, jax.ShapeDtypeStruct(x.shape, x.dtype), x, has_side_effect=True)
        jax.effects_barrier()
        assert len(calls) == 1


class TestDryRun:
    """`dry_run` calls without JAX and checks everything."""

    def test_returns_numpy_results(self) -> None:
        def into(ctx: Any, out: Any, x: Any, *, scale: Any) -> None:
            out["sum"][...] = np.float32((np.asarray(x) * np.asarray(scale)).sum())
            out["x"][...] = np.asarray(x)

        result = testing.dry_run(into, {"sum": SCALAR, "x": F4}, np.ones(4, np.float32), scale=2.0)
        assert set(result) == {"sum", "x"}
        assert float(result["sum"]) == 8
        assert type(result["x"]) is np.ndarray
        np.testing.assert_array_equal(result["x"], np.ones(4))

    def test_results_outlive_the_call(self) -> None:
        results = [testing.dry_run(copy_into, F4, np.full(4, float(i), np.float32)) for i in range(5)]
        assert [float(result[0]) for result in results] == [0, 1, 2, 3, 4]

    def test_arguments_may_be_jax_arrays_scalars_and_pytrees(self) -> None:
        def into(ctx: Any, out: Any, tree: Any, number: Any) -> None:
            out[...] = np.asarray(tree["x"]) + np.asarray(number)

        result = testing.dry_run(into, F4, {"x": jnp.ones(4), "none": None}, np.float32(2))
        np.testing.assert_array_equal(result, np.full(4, 3.0))

    def test_returned_value(self) -> None:
        with pytest.raises(ValueError, match=r"buffer_callback callback must not return any values\."):
            testing.dry_run(lambda ctx, out: 1, F4)

    def test_kept_view(self) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x)
            kept.append(np.asarray(x))

        with pytest.raises(Exception, match=r"np\.array\(x\)"):
            testing.dry_run(keep, F4, np.ones(4, np.float32))
        assert kept

    def test_kept_output(self) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x)
            kept.append(out)

        with pytest.raises(Exception, match="out"):
            testing.dry_run(keep, F4, np.ones(4, np.float32))
        assert kept

    def test_garbage_is_no_escape(self) -> None:
        def cyclic(ctx: Any, out: Any, x: Any) -> None:
            view = np.asarray(x)

            def descend(depth: int) -> float:
                return float(view[0]) if depth == 0 else descend(depth - 1)

            np.asarray(out)[...] = descend(3)

        testing.dry_run(cyclic, F4, np.ones(4, np.float32))

    def test_inputs_are_read_only(self) -> None:
        def write(ctx: Any, out: Any, x: Any) -> None:
            x += 1

        argument = np.ones(4, np.float32)
        with pytest.raises(ValueError, match="read-only"):
            testing.dry_run(write, F4, argument)
        np.testing.assert_array_equal(argument, np.ones(4))

    def test_input_written_behind_the_flag(self) -> None:
        """Through a pointer, a callback can write into memory that is marked read-only."""
        import ctypes

        def write(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x)
            ctypes.c_float.from_address(np.asarray(x).ctypes.data).value = 7.0

        with pytest.raises(Exception, match=r"\bx\b"):
            testing.dry_run(write, F4, np.ones(4, np.float32))

    def test_strict_write(self) -> None:
        def write(ctx: Any, out: Any) -> None:
            out[...] = np.ones(3, np.float32)

        text = r"Incorrect output shape for return value #0: Expected: \(4,\), Actual: \(3,\)"
        with pytest.raises(RuntimeError, match=text):
            testing.dry_run(write, F4)

    def test_exceptions_come_through_as_they_are(self) -> None:
        class Special(Exception):
            pass

        def fail(ctx: Any, out: Any) -> None:
            raise Special("as it is")

        with pytest.raises(Special, match="as it is"):
            testing.dry_run(fail, F4)

    def test_context(self) -> None:
        stages: list[Any] = []

        def into(ctx: Any, out: Any) -> None:
            stages.append(ctx.stage)
            assert isinstance(ctx, bufcb.ExecutionContext)
            with pytest.raises(Exception, match="GPU context is not available"):
                ctx.stream  # noqa: B018
            np.asarray(out)[...] = 0

        testing.dry_run(into, F4)
        assert stages == [bufcb.ExecutionStage.EXECUTE]

    def test_bad_calls_are_the_errors_of_buffer_callback(self) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            raise NotImplementedError("never called")

        for args, spec in (((), F4), ((np.ones(4), "text"), F4), ((np.ones(4),), 3)):
            with pytest.raises((TypeError, ValueError)):
                testing.dry_run(into, spec, *args)

    def test_partials_and_adapted_functions(self) -> None:
        result = testing.dry_run(bufcb.adapt(np.sin), F4, np.ones(4, np.float32))
        np.testing.assert_array_equal(result, np.sin(np.ones(4, np.float32)))

        def scaled(factor: float, ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x) * np.float32(factor)

        result = testing.dry_run(functools.partial(scaled, 3.0), F4, np.ones(4, np.float32))
        np.testing.assert_array_equal(result, np.full(4, 3.0))

    def test_narrow_types(self) -> None:
        x = np.asarray(jnp.asarray([1, -2, 3, 0], dtype=jnp.int4))
        result = testing.dry_run(copy_into, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        assert result.dtype == x.dtype
        assert result.tolist() == x.tolist()
