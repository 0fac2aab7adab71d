"""The host path on one device: forced on CPU, where programs have to do as they do directly, and for TPU."""

import functools
import re
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax._src.interpreters import mlir

import bufcb
from bufcb import lowering
from bufcb.buffers import HostContext

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
METHODS = ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]


@pytest.fixture(params=["direct", "host"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test on both paths; callbacks have to be new ones, since JAX caches what it compiled."""
    if request.param == "host":
        monkeypatch.setitem(lowering._RULES, "cpu", lowering._lower_host)
    name: str = request.param
    return name


def spec(x: Any) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def adding(step: float = 1) -> Callable[..., None]:
    """Return a new callback that adds to an output which has its input's values."""

    def add(ctx: Any, out: Any, x: Any, *rest: Any) -> None:
        np.asarray(out)[...] += step

    return add


def aliased(x: Any, step: float = 1, **options: Any) -> Any:
    return bufcb.buffer_callback(adding(step), spec(x), input_output_aliases={0: 0}, **options)(x)


def test_the_path(path: str) -> None:
    contexts: list[Any] = []

    def look(ctx: Any, out: Any, x: Any) -> None:
        contexts.append(isinstance(ctx, HostContext))
        assert isinstance(x, bufcb.Buffer) and not x.writeable and out.writeable
        assert isinstance(ctx, bufcb.ExecutionContext) and ctx.stage == bufcb.ExecutionStage.EXECUTE
        out[...] = np.asarray(x)

    np.testing.assert_array_equal(jax.jit(bufcb.buffer_callback(look, F4))(jnp.ones(4)), np.ones(4))
    assert contexts == [path == "host"]


@jax.custom_vjp
def add_with_rule(x: Any) -> Any:
    return aliased(x)


add_with_rule.defvjp(lambda x: (aliased(x), None), lambda _, cotangent: (aliased(cotangent, 0),))

one_device = functools.partial(jax.make_mesh, (1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
ALIASED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "eager": (aliased, lambda x: x + 1),
    "jit": (jax.jit(aliased), lambda x: x + 1),
    "in between": (jax.jit(lambda x: aliased(x * 2) * 3), lambda x: (x * 2 + 1) * 3),
    "used again": (jax.jit(lambda x: aliased(x) + x), lambda x: 2 * x + 1),
    "in a row": (jax.jit(lambda x: aliased(aliased(aliased(x)))), lambda x: x + 3),
    "scan": (
        jax.jit(lambda x: lax.scan(lambda c, _: (aliased(c), c.sum()), x, None, length=3)[0]),
        lambda x: x + 3,
    ),
    "scan, stacked": (jax.jit(lambda x: lax.scan(lambda c, y: (c, aliased(y)), 0.0, x)[1]), lambda x: x + 1),
    "fori_loop": (jax.jit(lambda x: lax.fori_loop(0, 5, lambda _, v: aliased(v), x)), lambda x: x + 5),
    "while_loop": (jax.jit(lambda x: lax.while_loop(lambda v: v[0] < 3, aliased, x)), lambda x: x + 3),
    "cond": (jax.jit(lambda x: lax.cond(x[1] > 0, aliased, lambda v: v, x)), lambda x: x + 1),
    "not taken": (jax.jit(lambda x: lax.cond(x[1] < 0, aliased, lambda v: v, x)), lambda x: x),
    "switch": (jax.jit(lambda x: lax.switch(1, [lambda v: v, aliased], x)), lambda x: x + 1),
    "map": (jax.jit(lambda x: lax.map(aliased, x)), lambda x: x + 1),
    "custom_vjp": (jax.jit(add_with_rule), lambda x: x + 1),
    "gradient": (jax.jit(jax.grad(lambda x: jnp.sum(add_with_rule(x) * 2))), lambda x: 0 * x + 2),
    "gradient of a loop": (
        jax.jit(
            jax.grad(lambda x: lax.scan(lambda c, _: (add_with_rule(c), None), x, None, length=3)[0].sum())
        ),
        lambda x: 0 * x + 1,
    ),
    "checkpoint": (
        jax.jit(jax.grad(lambda x: jnp.sum(jax.checkpoint(add_with_rule)(x) * x))),
        lambda x: 2 * x + 1,
    ),
    "shard_map": (
        jax.jit(jax.shard_map(aliased, mesh=one_device(), in_specs=jax.P("d"), out_specs=jax.P("d"))),
        lambda x: x + 1,
    ),
    "with an effect": (jax.jit(functools.partial(aliased, has_side_effect=True)), lambda x: x + 1),
    "retain": (jax.jit(functools.partial(aliased, retain="copy")), lambda x: x + 1),
    "donated": (lambda x: jax.jit(aliased, donate_argnums=0)(x + 0), lambda x: x + 1),
    "ahead of time": (lambda x: jax.jit(aliased).lower(spec(x)).compile()(x), lambda x: x + 1),
    "jvp of what is beside": (
        jax.jit(
            lambda x: jax.jvp(lambda v: v * lax.stop_gradient(aliased(lax.stop_gradient(v))), (x,), (x,))[1]
        ),
        lambda x: x * (x + 1),
    ),
    **{
        f"vmap {method}": (
            jax.jit(jax.vmap(functools.partial(aliased, vmap_method=method))),
            lambda x: x + 1,
        )
        for method in METHODS
    },
    **{
        f"scan of vmap {method}": (
            jax.jit(
                lambda x, method=method: lax.scan(
                    lambda c, _: (jax.vmap(functools.partial(aliased, vmap_method=method))(c), None),
                    x,
                    None,
                    length=2,
                )[0]
            ),
            lambda x: x + 2,
        )
        for method in METHODS
    },
}


@pytest.mark.parametrize("name", ALIASED)
def test_aliases_under_every_transform(name: str, path: str) -> None:
    jax.clear_caches()
    function, expected = ALIASED[name]
    x = np.arange(4, dtype=np.float32)
    if "vmap" in name or name == "map":
        x = np.stack([x, x * 10])
    argument = jnp.asarray(x)
    np.testing.assert_array_equal(function(argument), expected(x))
    np.testing.assert_array_equal(argument, x)  # the caller's array stays as it is


@pytest.mark.parametrize("axes", [(None, 0), (0, None), (1, 0)])
@pytest.mark.parametrize("method", METHODS)
def test_aliases_of_operands_with_and_without_batch_axis(method: str, axes: Any, path: str) -> None:
    def add(ctx: Any, out: Any, x: Any, y: Any) -> None:
        np.asarray(out)[...] += np.asarray(y)

    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = {None: values[0], 0: values, 1: values.T}[axes[0]]
    y = values[1] if axes[1] is None else values * 10
    call = bufcb.buffer_callback(add, F4, input_output_aliases={0: 0}, vmap_method=method)
    expected = np.broadcast_to((x.T if axes[0] == 1 else x) + y, (3, 4))
    np.testing.assert_array_equal(jax.jit(jax.vmap(call, in_axes=axes))(x, y), expected)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2), ()])
def test_zero_size_and_zero_dimensions(shape: tuple[int, ...], path: str) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        assert x.shape == out[0].shape == shape
        bufcb.store(out, (np.asarray(x), np.float32(x.sum())))

    out = (jax.ShapeDtypeStruct(shape, jnp.float32), jax.ShapeDtypeStruct((), jnp.float32))
    same, total = jax.jit(bufcb.buffer_callback(into, out))(jnp.ones(shape))
    np.testing.assert_array_equal(same, np.ones(shape))
    assert float(total) == np.prod(shape)


TYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64"),
    *sorted(
        {*ml_dtypes.__all__}
        & {*dir(jnp)}
        - {
            "finfo",
            "iinfo",
            "int1",
            "uint1",
            "float6_e2m3fn",
            "float6_e3m2fn",
        }  # XLA compiles nothing with them
    ),
]


@pytest.mark.parametrize("name", TYPES)
def test_every_type(name: str, path: str) -> None:
    dtype = np.dtype(getattr(jnp, name))
    values = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1]], np.float32).astype(dtype)
    seen: list[Any] = []

    def reverse(ctx: Any, out: Any, x: Any) -> None:
        seen.append((x.dtype, str(np.asarray(x))))
        out[0][...] = np.asarray(x)[::-1]  # values that do not lie in row-major order
        out[1][...] = np.asarray(x).T

    results = jax.jit(bufcb.buffer_callback(reverse, (spec(values), spec(values))))(jnp.asarray(values))
    results = jax.block_until_ready(results)
    assert seen == [(dtype, str(values))]
    for result, expected in zip(results, (values[::-1], values.T), strict=True):
        assert (result.dtype, np.asarray(result).tobytes()) == (dtype, expected.tobytes())


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2", "bfloat16", "float8_e4m3fn"])
def test_aliases_of_narrow_types(name: str, path: str) -> None:
    dtype = np.dtype(getattr(jnp, name))

    def swap(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        view[:2] = view[:2][::-1].copy()

    x = np.array([0, 1, 1, 0, 1], np.float32).astype(dtype)
    call = bufcb.buffer_callback(swap, spec(x), input_output_aliases={0: 0})
    result = jax.jit(call)(jnp.asarray(x))
    assert (result.dtype, list(map(str, np.asarray(result)))) == (dtype, list(map(str, x[[1, 0, 2, 3, 4]])))


def test_x64_is_that_at_the_call(path: str) -> None:
    def third(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x) / 3

    with jax.enable_x64(True):
        x = jnp.arange(4.0)
        assert x.dtype == np.float64
        compiled = jax.jit(bufcb.buffer_callback(third, spec(x))).lower(x).compile()
    np.testing.assert_array_equal(compiled(x), np.arange(4.0) / 3)


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_typed_keys_arrive_as_their_data(arrays: Any, path: str) -> None:
    def data(keys: Any) -> Any:
        return np.asarray(keys)

    out = jax.ShapeDtypeStruct((3, 2), jnp.uint32)
    keys = jax.random.split(jax.random.key(7), 3)
    call = bufcb.buffer_callback(bufcb.adapt(data, arrays), out, vmap_method="sequential")
    for run in (call, jax.jit(call)):
        np.testing.assert_array_equal(run(keys), jax.random.key_data(keys))
    one = bufcb.buffer_callback(
        bufcb.adapt(data, arrays), jax.ShapeDtypeStruct((2,), jnp.uint32), vmap_method="sequential"
    )
    np.testing.assert_array_equal(jax.jit(jax.vmap(one))(keys), jax.random.key_data(keys))


def test_layouts_that_are_not_row_major(path: str) -> None:
    from jax.experimental.layout import Format, Layout

    seen: list[Any] = []

    def double(ctx: Any, out: Any, x: Any) -> None:
        seen.append(np.asarray(x).flags.c_contiguous)
        out[...] = np.asarray(x).T.T * 2

    columns = Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    function = jax.jit(bufcb.buffer_callback(double, spec(x)), in_shardings=columns, out_shardings=columns)
    result = function(jax.device_put(jnp.asarray(x), columns))
    np.testing.assert_array_equal(result, x * 2)
    assert result.format.layout.major_to_minor == (1, 0)
    assert seen == [True]


def test_checkpoint_with_effects(path: str) -> None:
    calls: list[float] = []

    def double(ctx: Any, out: Any, x: Any) -> None:
        calls.append(float(x))
        out[...] = np.asarray(x) * 2

    effectful = bufcb.buffer_callback(double, jax.ShapeDtypeStruct((), jnp.float32), has_side_effect=True)

    def loss(x: Any) -> Any:
        return x * lax.stop_gradient(effectful(lax.stop_gradient(x)))

    assert float(jax.jit(jax.grad(jax.checkpoint(loss)))(3.0)) == 6
    jax.effects_barrier()
    assert calls and set(calls) == {3.0}


def test_platform_dependent(path: str) -> None:
    def function(x: Any) -> Any:
        call = bufcb.buffer_callback(adding(), F4, input_output_aliases={0: 0})
        return lax.platform_dependent(x, cpu=call, default=lambda x: x - 1)

    np.testing.assert_array_equal(jax.jit(function)(jnp.ones(4)), np.full(4, 2))


def test_jaxprs(path: str) -> None:
    closed = jax.make_jaxpr(lambda x: aliased(x) * 2)(jnp.ones(4))
    assert [eqn.primitive.name for eqn in closed.jaxpr.eqns] == ["buffer_callback", "mul"]
    (result,) = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, jnp.ones(4))
    np.testing.assert_array_equal(result, np.full(4, 4))
    evaluated = jax.jit(functools.partial(jax.core.eval_jaxpr, closed.jaxpr, closed.consts))
    np.testing.assert_array_equal(evaluated(jnp.ones(4))[0], np.full(4, 4))


def test_linear_transpose_is_a_clear_error(path: str) -> None:
    with pytest.raises(ValueError, match=r"do not support transpose[\s\S]*adding\.<locals>\.add"):
        jax.linear_transpose(aliased, F4)(jnp.ones(4))


def test_export_is_a_clear_error(path: str) -> None:
    text = r"serialization of host_callbacks is not yet implemented.*\n.*adding\.<locals>\.add.*\.py:\d+"
    for platforms in (None, ("tpu",), ("cpu", "tpu")):
        with pytest.raises(NotImplementedError, match=text):
            jax.export.export(jax.jit(aliased), platforms=platforms)(jnp.ones(4))


def test_effects_barrier_waits(path: str) -> None:
    import time

    done: list[None] = []

    def slow(ctx: Any, out: Any, x: Any) -> None:
        time.sleep(0.1)
        done.append(None)

    jax.jit(bufcb.buffer_callback(slow, (), has_side_effect=True))(jnp.ones(4))
    jax.effects_barrier()
    assert done == [None]


def test_escapes_and_returned_values_are_errors(path: str) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(x)
        out[...] = np.asarray(x)

    for callback, text in ((keep, r"np\.array\(x\)"), (lambda ctx, out, x: x, "must not return any values")):
        with pytest.raises(jax.errors.JaxRuntimeError, match=text):
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(callback, F4))(jnp.ones(4)))
    kept.clear()
    np.testing.assert_array_equal(
        jax.jit(bufcb.buffer_callback(keep, F4, retain="copy"))(jnp.ones(4)), np.ones(4)
    )


def test_checked_mode(path: str) -> None:
    def half(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[:2] = 1

    with bufcb.checked(), pytest.raises(jax.errors.JaxRuntimeError, match="2 of 4 elements are missing"):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(half, F4))(jnp.ones(4)))


@pytest.fixture
def tpu(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stands for a TPU while functions are lowered for one; lists the callbacks that XLA would be given."""
    made: list[Any] = []

    def make(function: Any, operands: Any, results: Any, sends: Any, receives: Any, serializer: Any) -> Any:
        made.append(
            types.SimpleNamespace(call=function, channels=(*sends, *receives), shapes=(operands, results))
        )
        return made[-1]

    backend = types.SimpleNamespace(platform="tpu", make_python_callback_from_host_send_and_recv=make)
    monkeypatch.setattr(mlir.ModuleContext, "get_backend", lambda self, optional=False: backend)
    return made


def lower_for_tpu(function: Callable[..., Any], *args: Any) -> str:
    return jax.jit(function).trace(*args).lower(lowering_platforms=("tpu",)).as_text()


class TestTpu:
    """Lowered for TPU: a send of each operand, a receive of each result, and the call in between."""

    def test_one_call(self, tpu: list[Any]) -> None:
        text = lower_for_tpu(aliased, jnp.ones(4))
        assert (text.count("stablehlo.send"), text.count("stablehlo.recv")) == (1, 1)
        (callback,) = tpu
        argument = np.ones(4, np.float32)
        (result,) = callback.call(argument)
        np.testing.assert_array_equal(result, np.full(4, 2))
        np.testing.assert_array_equal(argument, np.ones(4))

    def test_every_equation_has_channels_of_its_own(self, tpu: list[Any]) -> None:
        def twice(x: Any) -> Any:
            call = bufcb.buffer_callback(shared, F4, input_output_aliases={0: 0})
            return call(x) + call(x * 2)

        shared = adding()
        text = lower_for_tpu(twice, jnp.ones(4))
        channels = [channel for callback in tpu for channel in callback.channels]
        assert len(channels) == len(set(channels)) == 4
        assert sorted(map(int, re.findall(r"handle = (\d+)", text))) == sorted(channels)

    def test_the_same_texts_as_for_pure_callback(self, tpu: list[Any]) -> None:
        def host(x: Any) -> Any:
            return np.asarray(x) + 1

        def counts(function: Callable[..., Any]) -> Any:
            text = lower_for_tpu(function, jnp.ones((3, 4)))
            return [text.count(word) for word in ("stablehlo.send", "stablehlo.recv", "stablehlo.while")]

        calls = (
            lambda x, **options: jax.pure_callback(host, spec(x), x, **options),
            lambda x, **options: bufcb.buffer_callback(bufcb.adapt(host), spec(x), **options)(x),
        )
        for program in (
            lambda call: call,
            lambda call: jax.vmap(functools.partial(call, vmap_method="sequential")),
            lambda call: jax.vmap(functools.partial(call, vmap_method="expand_dims")),
            lambda call: lambda x: lax.fori_loop(0, 3, lambda _, v: call(v), x),
            lambda call: lambda x: (call(x), x)[1],
        ):
            expected, seen = (counts(program(call)) for call in calls)
            assert seen == expected

    def test_side_effects_and_missing_operands_and_results(self, tpu: list[Any]) -> None:
        calls: list[int] = []

        def record(ctx: Any, out: Any, *args: Any) -> None:
            calls.append(len(args))

        effectful = bufcb.buffer_callback(record, (), has_side_effect=True)
        text = lower_for_tpu(lambda x: (effectful(x), effectful(), x)[2], jnp.ones(4))
        assert text.count("stablehlo.send") == 2  # one of them stands for the missing operand
        assert [len(callback.call(np.ones(4, np.float32))) for callback in tpu] == [0, 0]
        assert calls == [1, 0]

    def test_empty_results_are_not_received(self, tpu: list[Any]) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            bufcb.store(out, (np.zeros((0, 3), np.float32), np.asarray(x)))

        out = (jax.ShapeDtypeStruct((0, 3), jnp.float32), F4)
        assert lower_for_tpu(bufcb.buffer_callback(into, out), jnp.ones(4)).count("stablehlo.recv") == 1
        received = tpu[0].call(np.ones(4, np.float32))
        assert [array.shape for array in received] == [(4,)]

    def test_errors_come_out_of_the_call(self, tpu: list[Any]) -> None:
        def fails(ctx: Any, out: Any, x: Any) -> None:
            raise LookupError("no such luck")

        lower_for_tpu(bufcb.buffer_callback(fails, F4), jnp.ones(4))
        with pytest.raises(LookupError, match="no such luck"):
            tpu[0].call(np.ones(4, np.float32))

    def test_other_platforms(self, tpu: list[Any]) -> None:
        trace = jax.jit(aliased).trace(jnp.ones(4))
        with pytest.raises(ValueError, match="`buffer_callback` not supported on METAL backend"):
            trace.lower(lowering_platforms=("METAL",))
        with pytest.raises(NotImplementedError, match="multi-platform lowering for buffer_callback"):
            trace.lower(lowering_platforms=("cpu", "tpu"))
