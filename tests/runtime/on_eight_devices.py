"""What holds on eight devices, each thing beside `jax.pure_callback`.

Run by `test_devices.py` in processes of their own, with Shardy and without; by hand:
``XLA_FLAGS=--xla_force_host_platform_device_count=8 python3 -m pytest tests/runtime/on_eight_devices.py``.
"""

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

import bufcb
from bufcb.buffers import HostContext

SHARDY = os.environ.get("BUFCB_TEST_SHARDY", "1") == "1"
jax.config.update("jax_use_shardy_partitioner", SHARDY)

Call = Callable[..., Any]

calls: list[tuple[int, ...]] = []
lock = threading.Lock()


def count(x: Any) -> None:
    with lock:
        calls.append(x.shape)


@pytest.fixture(autouse=True)
def no_calls_yet() -> Iterator[None]:
    calls.clear()
    yield
    calls.clear()


def host(x: Any) -> Any:
    count(x)
    return np.asarray(x) * 2


def into(ctx: Any, out: Any, x: Any) -> None:
    count(x)
    out[...] = np.asarray(x) * 2


def spec(x: Any) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def pure(x: Any, **options: Any) -> Any:
    return jax.pure_callback(host, spec(x), x, **options)


def same_name(x: Any, **options: Any) -> Any:
    return bufcb.pure_callback(host, spec(x), x, **options)


def buffered(x: Any, **options: Any) -> Any:
    return bufcb.buffer_callback(into, spec(x), **options)(x)


def effectful(x: Any, **options: Any) -> Any:
    return bufcb.buffer_callback(into, spec(x), has_side_effect=True, **options)(x)


WAYS = [buffered, effectful, same_name]


def mesh_of(kind: AxisType) -> jax.sharding.Mesh:
    return jax.make_mesh((4, 2), ("a", "b"), axis_types=(kind,) * 2)


def numbers(mesh: jax.sharding.Mesh, *axes: Any) -> jax.Array:
    """Return 64 numbers in 8 rows, of which each device has its part."""
    return jax.device_put(jnp.arange(64.0).reshape(8, 8), NamedSharding(mesh, P(*axes)))


def measured(program: Callable[..., Any], mesh: jax.sharding.Mesh, call: Call) -> Any:
    """Return values, sharding and the shapes that the callback saw; an error by its type and first line."""
    calls.clear()
    try:
        result = jax.block_until_ready(program(mesh, call))
        jax.effects_barrier()
    except Exception as error:  # noqa: BLE001
        return type(error), str(error).partition("\n")[0], sorted(calls)
    return np.asarray(result).tolist(), result.sharding, sorted(calls)


Program = Callable[[jax.sharding.Mesh, Call], Any]
PROGRAMS: dict[str, Program] = {
    "eager": lambda mesh, call: call(numbers(mesh, "a", "b")),
    "jit": lambda mesh, call: jax.jit(call)(numbers(mesh, "a", "b")),
    "replicated": lambda mesh, call: jax.jit(call)(numbers(mesh)),
    "between operations": lambda mesh, call: jax.jit(lambda x: call(x * 2) + 1)(numbers(mesh, "a")),
    "out_shardings": lambda mesh, call: jax.jit(call, out_shardings=NamedSharding(mesh, P("b")))(
        numbers(mesh, "a", "b")
    ),
    "in_shardings": lambda mesh, call: jax.jit(call, in_shardings=NamedSharding(mesh, P("b")))(
        np.ones((8, 8), np.float32)
    ),
    "fori_loop": lambda mesh, call: jax.jit(lambda x: lax.fori_loop(0, 3, lambda _, v: call(v), x))(
        numbers(mesh)
    ),
    "scan": lambda mesh, call: jax.jit(lambda x: lax.scan(lambda v, _: (call(v), None), x, length=3)[0])(
        numbers(mesh)
    ),
    "while_loop": lambda mesh, call: jax.jit(lambda x: lax.while_loop(lambda v: v[0, 1] < 100, call, x))(
        numbers(mesh)
    ),
    "cond": lambda mesh, call: jax.jit(lambda x: lax.cond(x[0, 1] > 0, call, lambda x: x, x))(numbers(mesh)),
    "vmap at once": lambda mesh, call: jax.jit(
        jax.vmap(functools.partial(call, vmap_method="broadcast_all"))
    )(numbers(mesh, "a", "b")),
    "vmap in turn": lambda mesh, call: jax.jit(jax.vmap(functools.partial(call, vmap_method="sequential")))(
        numbers(mesh, None, "b")
    ),
    "shard_map": lambda mesh, call: jax.jit(
        jax.shard_map(call, mesh=mesh, in_specs=P("a", "b"), out_specs=P("a", "b"))
    )(numbers(mesh, "a", "b")),
    "shard_map, eager": lambda mesh, call: jax.shard_map(
        call, mesh=mesh, in_specs=P("a"), out_specs=P("a"), check_vma=False
    )(numbers(mesh, "a")),
    "shard_map in a loop": lambda mesh, call: jax.jit(
        jax.shard_map(
            lambda x: lax.fori_loop(0, 2, lambda _, v: call(v), x),
            mesh=mesh,
            in_specs=P("a", "b"),
            out_specs=P("a", "b"),
            check_vma=False,
        )
    )(numbers(mesh, "a", "b")),
    "pmap": lambda mesh, call: jax.pmap(call)(np.arange(64, dtype=np.float32).reshape(8, 8)),
    "pmap with a collective": lambda mesh, call: jax.pmap(lambda x: lax.psum(call(x), "i"), axis_name="i")(
        np.arange(64, dtype=np.float32).reshape(8, 8)
    ),
    "one device of eight": lambda mesh, call: jax.jit(call)(jax.device_put(jnp.ones(3), jax.devices()[5])),
    "two devices of eight": lambda mesh, call: jax.jit(call)(
        jax.device_put(
            jnp.ones(4), NamedSharding(jax.make_mesh((2,), ("z",), devices=jax.devices()[4:6]), P("z"))
        )
    ),
}


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_shardings_and_calls_are_those_of_pure_callback(name: str, kind: AxisType) -> None:
    program, mesh = PROGRAMS[name], mesh_of(kind)
    expected = measured(program, mesh, pure)
    assert isinstance(expected[0], list), expected
    ways = [buffered, effectful]
    assert {way.__name__: measured(program, mesh, way) for way in ways} == {
        way.__name__: expected for way in ways
    }


def test_a_sharding_in_the_program_is_that_of_pure_callback() -> None:
    mesh = mesh_of(AxisType.Explicit)

    def program(mesh: jax.sharding.Mesh, call: Call) -> Any:
        with jax.set_mesh(mesh):
            return jax.jit(lambda x: jax.sharding.reshard(call(x), P("b", "a")))(numbers(mesh, "a", "b"))

    expected = measured(program, mesh, pure)
    assert expected[1].spec == P("b", "a")
    assert [measured(program, mesh, way) for way in WAYS] == [expected] * 3


def note(ctx: Any, out: Any, x: Any) -> None:
    count(x)


EMPTY = jax.ShapeDtypeStruct((0, 8), jnp.float32)
ONCE: dict[str, Callable[[jax.Array], Any]] = {
    "unused": lambda x: (effectful(x), x)[1],
    "no outputs": bufcb.buffer_callback(note, (), has_side_effect=True),
    "no inputs and no outputs": lambda x: bufcb.buffer_callback(
        lambda ctx, out: count(np.empty(0)), (), has_side_effect=True
    )(),
    "zero-size outputs": bufcb.buffer_callback(note, EMPTY, has_side_effect=True),
    "zero-size inputs": lambda x: effectful(x[:0]),
    "one output of two used": lambda x: bufcb.buffer_callback(
        two_into, (spec(x), spec(x)), has_side_effect=True
    )(x)[1],
    "used": effectful,
}


def two_into(ctx: Any, out: Any, x: Any) -> None:
    count(x)
    bufcb.store(out, (np.asarray(x), np.asarray(x) + 1))


@pytest.mark.parametrize("name", ONCE)
def test_side_effects_run_once_per_execution(name: str) -> None:
    mesh = mesh_of(AxisType.Auto)
    function, x = jax.jit(ONCE[name]), numbers(mesh, "a", "b")
    for execution in range(1, 4):
        jax.block_until_ready(function(x))
        jax.effects_barrier()
        assert len(calls) == execution


@pytest.mark.parametrize("name", ["unused", "no outputs", "zero-size outputs"])
def test_pure_callbacks_whose_results_are_unused_do_not_run(name: str) -> None:
    programs: dict[str, Callable[[jax.Array], Any]] = {
        "unused": lambda x: (buffered(x), x)[1],
        "no outputs": bufcb.buffer_callback(note, ()),
        "zero-size outputs": bufcb.buffer_callback(note, EMPTY),
    }
    jax.block_until_ready(jax.jit(programs[name])(numbers(mesh_of(AxisType.Auto), "a", "b")))
    assert calls == []


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=lambda kind: kind.name)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("check_vma", [False, True])
def test_a_partly_manual_shard_map(way: Call, kind: AxisType, check_vma: bool) -> None:
    """`jax.pure_callback` refuses it. Each device calls back, as it does where all axes are manual."""
    mesh = mesh_of(kind)

    def program(call: Call, **options: Any) -> Any:
        mapped = jax.shard_map(
            lambda x: call(x + 1),
            mesh=mesh,
            in_specs=P("a"),
            out_specs=P("a"),
            check_vma=check_vma,
            **options,
        )
        return jax.jit(mapped)(numbers(mesh, "a"))

    with pytest.raises(NotImplementedError, match="all mesh axes are partitioned manually"):
        program(pure, axis_names={"a"})
    x = np.arange(64).reshape(8, 8)
    np.testing.assert_array_equal(program(way, axis_names={"a"}), (x + 1) * 2)
    jax.effects_barrier()
    assert calls == [(2, 8)] * 8


def test_a_partly_manual_shard_map_with_aliases_and_loops() -> None:
    mesh = mesh_of(AxisType.Auto)

    def add_one(ctx: Any, out: Any, x: Any) -> None:
        out += 1

    def body(x: jax.Array) -> jax.Array:
        call = bufcb.buffer_callback(add_one, spec(x), input_output_aliases={0: 0})
        return lax.fori_loop(0, 3, lambda _, v: call(v), x)

    mapped = jax.shard_map(
        body, mesh=mesh, in_specs=P("a"), out_specs=P("a"), axis_names={"a"}, check_vma=False
    )
    result = jax.jit(mapped)(numbers(mesh, "a", "b"))
    np.testing.assert_array_equal(result, np.arange(64).reshape(8, 8) + 3)


def test_sharding_inside_a_partly_manual_shard_map_is_refused() -> None:
    mesh = mesh_of(AxisType.Auto)
    call = functools.partial(buffered, sharding=SingleDeviceSharding(jax.devices()[0]))
    mapped = jax.shard_map(
        call, mesh=mesh, in_specs=P("a"), out_specs=P("a"), axis_names={"a"}, check_vma=False
    )
    with pytest.raises(NotImplementedError, match="do not support specifying sharding"):
        jax.jit(mapped)(numbers(mesh, "a"))


class TestSharding:
    """`sharding=` says which device calls back."""

    @pytest.mark.parametrize("index", [0, 7])
    @pytest.mark.parametrize("way", WAYS)
    def test_once_and_right(self, way: Call, index: int) -> None:
        """`jax.pure_callback` returns zeros where the device is not the first and nothing follows."""
        x = numbers(mesh_of(AxisType.Auto), "a", "b")
        call = functools.partial(way, sharding=SingleDeviceSharding(jax.devices()[index]))
        for run in (call, jax.jit(call), jax.jit(lambda x: call(x) * 1)):
            calls.clear()
            np.testing.assert_array_equal(run(x), np.asarray(x) * 2)
            jax.effects_barrier()
            assert calls == [(8, 8)]

    def test_the_first_device_is_that_of_pure_callback(self) -> None:
        mesh = mesh_of(AxisType.Auto)
        sharding = SingleDeviceSharding(jax.devices()[0])

        def program(mesh: jax.sharding.Mesh, call: Call) -> Any:
            return jax.jit(functools.partial(call, sharding=sharding))(numbers(mesh, "a", "b"))

        assert measured(program, mesh, buffered) == measured(program, mesh, pure)

    @pytest.mark.parametrize(
        "sharding",
        [
            lambda mesh: NamedSharding(mesh, P("a")),
            lambda mesh: SingleDeviceSharding(jax.devices()[7]),
            lambda mesh: "device 0",
        ],
        ids=["several devices", "a device that is not there", "no sharding"],
    )
    def test_errors_are_those_of_pure_callback(self, sharding: Any) -> None:
        mesh = jax.make_mesh((2,), ("a",), devices=jax.devices()[:2], axis_types=(AxisType.Auto,))
        x = jax.device_put(jnp.ones(4), NamedSharding(mesh, P("a")))
        errors = []
        for call in (pure, buffered, same_name):
            with pytest.raises((NotImplementedError, ValueError, TypeError)) as seen:
                jax.jit(functools.partial(call, sharding=sharding(mesh)))(x)
            errors.append((type(seen.value), str(seen.value)))
        assert errors == [errors[0]] * 3


class TestHostPath:
    """What a callback is handed there, and what becomes of it."""

    def test_buffers(self) -> None:
        seen: list[Any] = []

        def look(ctx: Any, out: Any, x: Any) -> None:
            seen.extend((isinstance(x, bufcb.Buffer), x.writeable, out.writeable, type(ctx), ctx.stage))
            for view in (x, np.asarray(x), x[...]):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    view.setflags(write=True)
            with pytest.raises(ValueError, match="read-only"):
                np.asarray(x)[...] = 0
            with pytest.raises(RuntimeError, match="GPU context is not available"):
                ctx.stream  # noqa: B018
            out[...] = np.asarray(x)

        x = numbers(mesh_of(AxisType.Auto), "a", "b")
        np.testing.assert_array_equal(jax.jit(bufcb.buffer_callback(look, spec(x)))(x), np.asarray(x))
        assert seen == [True, False, True, HostContext, bufcb.ExecutionStage.EXECUTE]

    @pytest.mark.parametrize("which", ["input", "output"])
    def test_a_kept_view_is_an_error(self, which: str) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x)
            kept.append(np.asarray(x if which == "input" else out)[1:])

        x = numbers(mesh_of(AxisType.Auto), "a", "b")
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"keep[^$]*np\.array\(x\)"):
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(keep, spec(x)))(x))
        kept.clear()
        copied = jax.jit(bufcb.buffer_callback(keep, spec(x), retain="copy"))
        np.testing.assert_array_equal(copied(x), np.asarray(x))
        np.testing.assert_array_equal(kept[0], np.asarray(x)[1:])

    def test_x64_is_that_at_the_call(self) -> None:
        with jax.enable_x64(True):
            x = jax.device_put(np.arange(8.0) / 3, NamedSharding(mesh_of(AxisType.Auto), P("a")))
            assert x.dtype == np.float64

            def third(ctx: Any, out: Any, x: Any) -> None:
                out[...] = np.asarray(x) / 3

            compiled = jax.jit(bufcb.buffer_callback(third, spec(x))).lower(x).compile()
        np.testing.assert_array_equal(compiled(x), np.arange(8.0) / 3 / 3)

    def test_a_donated_argument(self) -> None:
        mesh = mesh_of(AxisType.Auto)

        def add_one(ctx: Any, out: Any, x: Any) -> None:
            out += 1

        x = numbers(mesh, "a", "b")
        call = bufcb.buffer_callback(add_one, spec(x), input_output_aliases={0: 0})
        donating = jax.jit(call, donate_argnums=0, out_shardings=x.sharding)
        np.testing.assert_array_equal(donating(x), np.arange(64).reshape(8, 8) + 1)

    def test_a_typed_key(self) -> None:
        keys = jax.device_put(
            jax.random.split(jax.random.key(3), 8), NamedSharding(mesh_of(AxisType.Auto), P("a"))
        )
        out = jax.ShapeDtypeStruct((8, 2), jnp.uint32)
        results = [
            jax.jit(call)(keys)
            for call in (
                lambda keys: jax.pure_callback(np.asarray, out, keys),
                lambda keys: bufcb.pure_callback(np.asarray, out, keys),
                bufcb.buffer_callback(bufcb.adapt(np.asarray), out),
            )
        ]
        for result in results:
            np.testing.assert_array_equal(result, jax.random.key_data(keys))

    def test_a_layout_that_is_not_row_major(self) -> None:
        from jax.experimental.layout import Format, Layout

        mesh = mesh_of(AxisType.Auto)
        columns = Format(Layout((1, 0)), NamedSharding(mesh, P("a", "b")))
        function = jax.jit(buffered, in_shardings=columns, out_shardings=columns)
        x = jax.device_put(numbers(mesh, "a", "b"), columns)
        np.testing.assert_array_equal(function(x), np.asarray(x) * 2)


# JAX has names for 1- and 6-bit types as well, but XLA compiles nothing with them on CPU.
NO_COMPILER = {"int1", "uint1", "float6_e2m3fn", "float6_e3m2fn"}
TYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64"),
    *sorted({*ml_dtypes.__all__} & {*dir(jnp)} - {"finfo", "iinfo"} - NO_COMPILER),
]


@pytest.mark.parametrize("sharded", [False, True], ids=["jit", "sharding="])
@pytest.mark.parametrize("name", TYPES)
def test_every_type(name: str, sharded: bool) -> None:
    dtype = np.dtype(getattr(jnp, name))
    values = np.array([0, 1, 0, 1, 1, 1, 0, 0] * 2, np.float32).astype(dtype)
    x = jax.device_put(values, NamedSharding(jax.make_mesh((8,), ("d",)), P("d")))
    seen: list[Any] = []

    def reverse(ctx: Any, out: Any, x: Any) -> None:
        seen.append((x.dtype, list(map(str, np.asarray(x)))))
        out[...] = np.asarray(x)[::-1]

    sharding = SingleDeviceSharding(jax.devices()[3]) if sharded else None
    result = jax.block_until_ready(jax.jit(bufcb.buffer_callback(reverse, spec(x), sharding=sharding))(x))
    assert seen == [(dtype, list(map(str, values)))]
    assert (result.dtype, np.asarray(result).tobytes()) == (dtype, values[::-1].tobytes())


class Trouble(Exception):
    """An error of the user's."""


ERROR_PATHS: dict[str, Callable[[Call], tuple[Callable[..., Any], Any]]] = {
    "sharded": lambda call: (jax.jit(call), numbers(mesh_of(AxisType.Auto), "a", "b")),
    "sharding=": lambda call: (
        jax.jit(functools.partial(call, sharding=SingleDeviceSharding(jax.devices()[0]))),
        numbers(mesh_of(AxisType.Auto), "a", "b"),
    ),
    "shard_map": lambda call: (
        jax.jit(jax.shard_map(call, mesh=mesh_of(AxisType.Auto), in_specs=P("a"), out_specs=P("a"))),
        numbers(mesh_of(AxisType.Auto), "a"),
    ),
    "partly manual": lambda call: (
        jax.jit(
            jax.shard_map(
                call, mesh=mesh_of(AxisType.Auto), in_specs=P("a"), out_specs=P("a"), axis_names={"a"}
            )
        ),
        numbers(mesh_of(AxisType.Auto), "a"),
    ),
    "pmap": lambda call: (jax.pmap(call), np.ones((8, 8), np.float32)),
    "ahead of time": lambda call: (
        jax.jit(call).lower(numbers(mesh_of(AxisType.Auto), "a")).compile(),
        numbers(mesh_of(AxisType.Auto), "a"),
    ),
}


@pytest.mark.parametrize("path", ERROR_PATHS)
@pytest.mark.parametrize("effect", [False, True], ids=["pure", "effect"])
def test_errors_have_type_message_and_place(path: str, effect: bool) -> None:
    fail = [False]

    def fails(ctx: Any, out: Any, x: Any) -> None:
        if fail[0]:
            raise Trouble("no such luck, 17")
        out[...] = np.asarray(x)

    def call(x: Any, **options: Any) -> Any:
        return bufcb.buffer_callback(fails, spec(x), has_side_effect=effect, **options)(x)

    function, x = ERROR_PATHS[path](call)
    for succeeded in (False, True):
        fail[0] = not succeeded
        if succeeded:
            np.testing.assert_array_equal(function(x), np.asarray(x))
            fail[0] = True
        with pytest.raises(
            (jax.errors.JaxRuntimeError, ValueError), match="Trouble: no such luck, 17"
        ) as seen:
            jax.block_until_ready(function(x))
        line = fails.__code__.co_firstlineno + 2
        assert f'{__file__}", line {line}, in fails' in str(seen.value)
    fail[0] = False
    np.testing.assert_array_equal(function(x), np.asarray(x))
    with contextlib.suppress(jax.errors.JaxRuntimeError):  # JAX may tell of the failure once more
        jax.effects_barrier()


def test_errors_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """XLA ends the process where other devices wait for a call that failed, as under `jax.pure_callback`."""

    def fails(ctx: Any, out: Any, x: Any) -> None:
        raise Trouble("no such luck, 18")

    x = numbers(mesh_of(AxisType.Auto), "a", "b")
    with pytest.raises(jax.errors.JaxRuntimeError, match="Trouble"):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(fails, spec(x)))(x))
    assert [record.getMessage() for record in caplog.records] == ["buffer_callback failed"]
    assert "Trouble: no such luck, 18" in caplog.text
    jax.block_until_ready(jax.jit(buffered)(x))
    with contextlib.suppress(jax.errors.JaxRuntimeError):
        jax.effects_barrier()


def test_shards_call_back_at_the_same_time() -> None:
    """Two callbacks wait for each other; were they called in turn, neither would return."""
    meeting = threading.Barrier(2, timeout=60)
    mesh = jax.make_mesh((2,), ("d",), devices=jax.devices()[:2], axis_types=(AxisType.Auto,))

    def meet(ctx: Any, out: Any, x: Any) -> None:
        meeting.wait()
        out[...] = np.asarray(x) + 1

    mapped = jax.shard_map(
        lambda x: bufcb.buffer_callback(meet, spec(x))(x), mesh=mesh, in_specs=P("d"), out_specs=P("d")
    )
    x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("d")))
    np.testing.assert_array_equal(jax.jit(mapped)(x), np.arange(8) + 1)


def test_each_shard_sees_its_own_part() -> None:
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    parts: list[list[float]] = []

    def record(ctx: Any, out: Any, x: Any, index: Any) -> None:
        with lock:
            parts.append([float(np.asarray(index)), *np.asarray(x).tolist()])

    def body(x: jax.Array) -> jax.Array:
        bufcb.buffer_callback(record, (), has_side_effect=True)(x, lax.axis_index("d"))
        return x

    x = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("d")))
    jax.block_until_ready(jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=P("d")))(x))
    jax.effects_barrier()
    assert sorted(parts) == [[i, 2 * i, 2 * i + 1] for i in range(8)]


def test_gradients_of_a_sharded_function_with_a_rule_of_its_own() -> None:
    @jax.custom_vjp
    def double(x: jax.Array) -> jax.Array:
        return buffered(x)

    double.defvjp(lambda x: (double(x), x), lambda x, cotangent: (buffered(cotangent),))
    x = numbers(mesh_of(AxisType.Auto), "a", "b")
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(double(x) * x)))(x)
    np.testing.assert_array_equal(gradient, np.asarray(x) * 4)
    checkpointed = jax.jit(jax.grad(lambda x: jnp.sum(jax.checkpoint(double)(x) * x)))(x)
    np.testing.assert_array_equal(checkpointed, np.asarray(x) * 4)


@pytest.mark.parametrize("way", [buffered, same_name])
def test_a_custom_partitioning_around_a_callback_is_refused(way: Call) -> None:
    """JAX drops the callbacks of partitions: under `jax.pure_callback`, the process crashes."""

    @custom_partitioning
    def partitioned(x: Any) -> Any:
        return way(x)

    def partition(mesh: Any, args: Any, result: Any) -> Any:
        return mesh, way, args[0].sharding, (args[0].sharding,)

    partitioned.def_partition(
        partition=partition,
        infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
        sharding_rule="i -> i",
    )
    mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
    x = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("i")))
    name = "into" if way is buffered else "host"
    with pytest.raises(jax.errors.JaxRuntimeError, match=rf"custom_partitioning[^`]*`{name}` \("):
        jax.jit(lambda x: partitioned(x) + 1)(x)
    assert not calls
    np.testing.assert_array_equal(jax.jit(partitioned)(jnp.arange(4.0)), 2 * np.arange(4))
