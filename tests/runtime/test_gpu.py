"""Callbacks on a real GPU. They run where JAX has one:

JAX_PLATFORMS=cuda,cpu python3 -m pytest tests/runtime/test_gpu.py
"""

import functools
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import bufcb


@functools.cache
def gpus() -> list[Any]:
    try:
        return jax.devices("gpu")
    except RuntimeError:
        return []


if not gpus():
    pytest.skip("JAX has no GPU here (see the first lines of this file)", allow_module_level=True)


@pytest.fixture
def x() -> jax.Array:
    return jax.device_put(jnp.arange(1024, dtype=jnp.float32), gpus()[0])


def spec_of(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def add_one(ctx: Any, out: Any, x: Any) -> None:
    assert isinstance(x, bufcb.DeviceBuffer) and isinstance(out, bufcb.DeviceBuffer)
    out[...] = np.asarray(x) + 1


def run(call: Callable[..., Any], *args: Any) -> Any:
    """Calls and waits, so that an error of the callback is raised here."""
    return jax.block_until_ready(call(*args))


RUNS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "eager": lambda call, x: call(x),
    "jit": lambda call, x: jax.jit(call)(x),
    "within jit": lambda call, x: jax.jit(lambda x: call(x * 2) / 1)(x / 2),
    "vmap": lambda call, x: jax.jit(jax.vmap(call))(jnp.stack([x, x]))[1],
    "scan": lambda call, x: jax.jit(lambda x: lax.scan(lambda c, _: (call(c), ()), x - 4, length=5)[0])(x),
    "cond": lambda call, x: jax.jit(lambda x: lax.cond(x[0] < 1, call, jnp.negative, x))(x),
    "aot": lambda call, x: jax.jit(call).lower(x).compile()(x),
}


@pytest.mark.parametrize("transform", RUNS)
def test_numpy_callbacks(transform: str, x: Any) -> None:
    call = bufcb.buffer_callback(add_one, spec_of(x), vmap_method="sequential")
    result = run(functools.partial(RUNS[transform], call), x)
    np.testing.assert_array_equal(result, np.asarray(x) + 1)
    assert result.devices() == x.devices()


METHODS = ["expand_dims", "broadcast_all", "legacy_vectorized", "sequential_unrolled"]


@pytest.mark.parametrize("method", METHODS)
def test_vmap_methods(method: str, x: Any) -> None:
    def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
        out[...] = np.broadcast_to(np.asarray(x) + np.asarray(y), out.shape)

    call = bufcb.buffer_callback(into, spec_of(x), vmap_method=method)
    stacked = jnp.stack([x, x + 1, x + 2])
    result = run(jax.jit(jax.vmap(call, in_axes=(0, None))), stacked, x)
    np.testing.assert_array_equal(result, np.asarray(stacked) + np.asarray(x))


DTYPES = ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "complex64"]
DTYPES += ["float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int2", "float4_e2m1fn"]


@pytest.mark.parametrize("name", [name for name in DTYPES if hasattr(jnp, name)])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4)])
def test_dtypes(name: str, shape: tuple[int, ...]) -> None:
    def reverse(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = np.asarray(x).reshape(-1)[::-1].reshape(shape)

    dtype = getattr(jnp, "bool_" if name == "bool" else name)
    values = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    result = run(jax.jit(bufcb.buffer_callback(reverse, spec_of(values))), jnp.asarray(values))
    assert np.asarray(result).tobytes() == values.reshape(-1)[::-1].tobytes()


def test_large_arrays() -> None:
    x = jax.device_put(jnp.arange(1 << 24, dtype=jnp.float32), gpus()[0])
    result = run(jax.jit(bufcb.buffer_callback(add_one, spec_of(x))), x)
    np.testing.assert_array_equal(result, np.asarray(x) + 1)


def test_aliases(x: Any) -> None:
    def increment(ctx: Any, out: Any, x: Any) -> None:
        out += 1

    call = bufcb.buffer_callback(increment, spec_of(x), input_output_aliases={0: 0})
    np.testing.assert_array_equal(run(jax.jit(lambda x: call(x * 2)), x), np.asarray(x) * 2 + 1)


def test_as_pure_callback(x: Any) -> None:
    result = run(jax.jit(lambda x: bufcb.pure_callback(lambda v: v.at[0].set(9), spec_of(x), x)), x)
    expected = run(jax.jit(lambda x: jax.pure_callback(lambda v: v.at[0].set(9), spec_of(x), x)), x)
    np.testing.assert_array_equal(result, expected)


def test_an_output_of_another_callback_is_ready(x: Any) -> None:
    call = bufcb.buffer_callback(add_one, spec_of(x))
    result = run(jax.jit(lambda x: call(jnp.sort(call(call(-x)))).sum()), x)
    assert float(result) == float(np.sum(-np.asarray(x) + 3))


def test_inputs_are_read_only(x: Any) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(x)[...] = 0

    with pytest.raises(jax.errors.JaxRuntimeError, match="read-only"):
        run(jax.jit(bufcb.buffer_callback(into, spec_of(x))), x)


def test_kept_buffers_are_an_error(x: Any) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(x)
        out[...] = x

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"argument `x` \(args\[0\]\)"):
        run(jax.jit(bufcb.buffer_callback(keep, spec_of(x))), x)


def test_kept_copies(x: Any) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(x)
        out[...] = x

    run(jax.jit(bufcb.buffer_callback(keep, spec_of(x), retain="copy")), x)
    np.testing.assert_array_equal(np.asarray(kept[0]), np.asarray(x))


def test_checked(x: Any) -> None:
    def half(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[:512] = np.asarray(x)[:512]

    with bufcb.checked():
        run(jax.jit(bufcb.buffer_callback(add_one, spec_of(x))), x)
        with pytest.raises(jax.errors.JaxRuntimeError, match="512 of 1024 elements are missing"):
            run(jax.jit(bufcb.buffer_callback(half, spec_of(x))), x)


def test_strict_writes(x: Any) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.ones(3, np.float32)

    with pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output shape for return value #0"):
        run(jax.jit(bufcb.buffer_callback(into, spec_of(x))), x)


def test_threads(x: Any) -> None:
    call = jax.jit(bufcb.buffer_callback(add_one, spec_of(x)))
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        value = x + number
        for _ in range(20):
            value = call(value)
        results[number] = np.asarray(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(8):
        np.testing.assert_array_equal(results[number], np.asarray(x) + number + 20)


def test_shard_map() -> None:
    devices = gpus()
    mesh = jax.make_mesh((len(devices),), ("d",), axis_types=(jax.sharding.AxisType.Auto,), devices=devices)
    part = jax.ShapeDtypeStruct((4,), jnp.float32)
    call = bufcb.buffer_callback(add_one, part)
    x = jnp.arange(4 * len(devices), dtype=jnp.float32)
    spec = jax.P("d")
    result = run(jax.jit(jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec)), x)
    np.testing.assert_array_equal(result, np.asarray(x) + 1)


# CuPy and PyTorch, with XLA's buffers as they are.


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.fixture
def torch() -> Any:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    return torch


def cupy_writes(cupy: Any) -> dict[str, Callable[..., None]]:
    def on_the_default_stream(ctx: Any, out: Any, x: Any) -> None:
        cupy.asarray(out)[...] = cupy.sin(cupy.asarray(x))

    def on_the_stream_of_xla(ctx: Any, out: Any, x: Any) -> None:
        with cupy.cuda.ExternalStream(ctx.stream):
            cupy.sin(cupy.asarray(x), out=cupy.asarray(out))

    def by_dlpack(ctx: Any, out: Any, x: Any) -> None:
        cupy.from_dlpack(out)[...] = cupy.sin(cupy.from_dlpack(x))

    def by_assignment(ctx: Any, out: Any, x: Any) -> None:
        out[...] = cupy.sin(cupy.asarray(x))

    return {f.__name__: f for f in (on_the_default_stream, on_the_stream_of_xla, by_dlpack, by_assignment)}


def torch_writes(torch: Any) -> dict[str, Callable[..., None]]:
    def on_the_default_stream(ctx: Any, out: Any, x: Any) -> None:
        torch.sin(torch.from_dlpack(x), out=torch.from_dlpack(out))

    def on_the_stream_of_xla(ctx: Any, out: Any, x: Any) -> None:
        with torch.cuda.stream(torch.cuda.ExternalStream(ctx.stream)):
            torch.sin(torch.from_dlpack(x), out=torch.from_dlpack(out))

    def on_another_stream(ctx: Any, out: Any, x: Any) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.sin(torch.from_dlpack(x), out=torch.from_dlpack(out))

    def by_the_cuda_array_interface(ctx: Any, out: Any, x: Any) -> None:
        torch.as_tensor(out, device="cuda").copy_(torch.sin(torch.from_dlpack(x)))

    def by_assignment(ctx: Any, out: Any, x: Any) -> None:
        out[...] = torch.sin(torch.from_dlpack(x))

    functions = (on_the_default_stream, on_the_stream_of_xla, on_another_stream)
    return {f.__name__: f for f in (*functions, by_the_cuda_array_interface, by_assignment)}


def check_sine(into: Callable[..., None], x: Any) -> None:
    """Compare with JAX, over calls that follow each other on XLA's stream without a break."""
    call = bufcb.buffer_callback(into, spec_of(x), vmap_method="sequential")
    for size in (x, jnp.arange(1 << 20, dtype=jnp.float32)):
        call = bufcb.buffer_callback(into, spec_of(size), vmap_method="sequential")
        many = jax.jit(lambda x, call=call: lax.fori_loop(0, 20, lambda _, x: call(x * 1.01) + 1, x))
        expected = jax.jit(lambda x: lax.fori_loop(0, 20, lambda _, x: jnp.sin(x * 1.01) + 1, x))
        np.testing.assert_allclose(run(many, size), run(expected, size), rtol=1e-4)
        np.testing.assert_allclose(run(jax.vmap(call), size[None])[0], np.sin(size), rtol=1e-4, atol=1e-4)


CUPY_WAYS = ["on_the_default_stream", "on_the_stream_of_xla", "by_dlpack", "by_assignment"]
TORCH_WAYS = ["on_the_default_stream", "on_the_stream_of_xla", "on_another_stream"]
TORCH_WAYS += ["by_the_cuda_array_interface", "by_assignment"]


@pytest.mark.parametrize("way", CUPY_WAYS)
def test_cupy(way: str, cupy: Any, x: Any) -> None:
    check_sine(cupy_writes(cupy)[way], x)


@pytest.mark.parametrize("way", TORCH_WAYS)
def test_torch(way: str, torch: Any, x: Any) -> None:
    check_sine(torch_writes(torch)[way], x)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_kept_arrays_of_libraries_are_an_error(library: str, request: pytest.FixtureRequest, x: Any) -> None:
    module = request.getfixturevalue(library)
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(module.asarray(x) if library == "cupy" else module.from_dlpack(x))
        out[...] = x

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"argument `x` \(args\[0\]\)"):
        run(jax.jit(bufcb.buffer_callback(keep, spec_of(x))), x)
    kept.clear()


def test_numpy_and_cupy_write_one_output(cupy: Any, x: Any) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x) * 2
        cupy.asarray(out)[1:] += 1
        assert float(np.asarray(out)[1]) == 3
        out[0] = 7

    expected = np.asarray(x) * 2 + 1
    expected[0] = 7
    np.testing.assert_array_equal(run(jax.jit(bufcb.buffer_callback(into, spec_of(x))), x), expected)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_command_buffers(library: str, request: pytest.FixtureRequest, x: Any) -> None:
    """Whether XLA records the call is up to XLA: results are right, and it is not called more than run."""
    module = request.getfixturevalue(library)
    writes = cupy_writes(module) if library == "cupy" else torch_writes(module)
    into = writes["on_the_stream_of_xla"]
    calls: list[int] = []

    def counted(ctx: Any, out: Any, x: Any) -> None:
        calls.append(1)
        into(ctx, out, x)

    call = bufcb.buffer_callback(counted, spec_of(x), command_buffer_compatible=True)
    function = jax.jit(lambda x: call(x + 1) * 2)
    for i in range(10):
        expected = np.sin(np.asarray(x) + i + 1) * 2
        np.testing.assert_allclose(run(function, x + i), expected, rtol=1e-4, atol=1e-4)
    assert 1 <= len(calls) <= 10


def test_numpy_in_a_command_buffer(x: Any) -> None:
    """It runs where XLA runs the call itself, and says what is wrong where XLA records it."""
    call = jax.jit(bufcb.buffer_callback(add_one, spec_of(x), command_buffer_compatible=True))
    outcomes = set()
    for _ in range(5):
        try:
            outcomes.add(np.asarray(run(call, x)).tobytes())
        except jax.errors.JaxRuntimeError as error:
            outcomes.add("recorded in a command buffer" in str(error))
    assert outcomes <= {(np.asarray(x) + 1).tobytes(), True}
