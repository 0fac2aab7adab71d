"""Callbacks on GPUs as JAX runs them, with everything but the GPU: XLA's buffers on CPU are its memory.

The tests of other rows run here once more, on `DeviceBuffer`s: the same callback does the same on CPU and on
GPU.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import test_rows_escapes
import test_rows_read_only
import test_rows_results
import test_rows_transforms
from jax import lax
from simulated_gpu import XLA_STREAM, Gpu, SimulatedDriver

import bufcb
from bufcb import device_trampoline, lowering
from bufcb.buffers import ExecutionContext, ExecutionStage
from bufcb.pinned import Pool

SPEC = jax.ShapeDtypeStruct((4,), jnp.float32)
X = jnp.arange(4, dtype=jnp.float32)


class OnCpu(ExecutionContext):
    """XLA's context on CPU, with a stream."""

    def __init__(self, context: Any) -> None:
        self._context = context

    @property
    def stage(self) -> ExecutionStage:
        return self._context.stage

    @property
    def stream(self) -> int:
        return XLA_STREAM


@pytest.fixture(scope="module", autouse=True)
def gpu() -> Iterator[Gpu]:
    """Lowers for CPU as for GPU."""
    machine = Gpu()
    driver = SimulatedDriver(machine)
    pool = Pool(driver, 1 << 24)

    def build(plan: Any) -> Callable[..., tuple[()]]:
        call = device_trampoline.build(plan, lambda: (driver, pool), recordable=False)

        def on_cpu(context: Any, *raw: Any) -> tuple[()]:
            try:
                return call(OnCpu(context), *raw)
            finally:
                machine.finish(XLA_STREAM)

        return on_cpu

    def lower(ctx: Any, *operands: Any, **params: Any) -> Sequence[Any]:
        return lowering._lower_buffers(ctx, operands, "xla_buffer_python_cpu_callback", params, build)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(lowering._RULES, "cpu", lower)
        jax.clear_caches()
        yield machine
    jax.clear_caches()


# What is about memory that is shared with the CPU, or about the trampoline there.
_NOT_HERE = {
    "test_memory_is_shared_without_a_copy_in_between",
    "test_kept_input_is_an_error",
    "test_kept_output_is_an_error",
}


def _again(module: Any) -> dict[str, Any]:
    """Return the tests of a module for this one; classes as subclasses, without what does not belong here."""
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("test_") and name not in _NOT_HERE:
            found[name] = value
        elif name.startswith("Test"):
            left_out = dict.fromkeys(_NOT_HERE.intersection(vars(value)))
            found[name] = type(name, (value,), {**left_out, "__module__": __name__})
    return found


for _module in (test_rows_escapes, test_rows_read_only, test_rows_results, test_rows_transforms):
    globals().update(_again(_module))


def add_one(ctx: Any, out: Any, x: Any) -> None:
    assert isinstance(ctx, bufcb.ExecutionContext) and ctx.stage == bufcb.ExecutionStage.EXECUTE
    assert isinstance(x, bufcb.DeviceBuffer) and isinstance(out, bufcb.DeviceBuffer)
    assert ctx.stream == x.__cuda_array_interface__["stream"] == XLA_STREAM
    out[...] = np.asarray(x) + 1


RUNS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "eager": lambda call: call(X),
    "jit": lambda call: jax.jit(call)(X),
    "vmap": lambda call: jax.jit(jax.vmap(call))(X[None])[0],
    "scan": lambda call: lax.scan(lambda carry, _: (call(carry), ()), X - 2, length=3)[0],
    "aot": lambda call: jax.jit(call).lower(X).compile()(X),
    "custom_jvp": lambda call: jax.jvp(_with_rule(call), (X,), (X,))[0],
}


def _with_rule(call: Callable[..., Any]) -> Callable[..., Any]:
    function = jax.custom_jvp(call)
    function.defjvp(lambda primals, tangents: (function(*primals), tangents[0]))
    return function


@pytest.mark.parametrize("run", RUNS)
def test_transformations(run: str) -> None:
    call = bufcb.buffer_callback(add_one, SPEC, vmap_method="sequential")
    np.testing.assert_array_equal(RUNS[run](call), X + 1)


def test_aliases_and_pytrees() -> None:
    def swap(ctx: Any, out: Any, pair: Any, *, scale: Any) -> None:
        np.asarray(out["a"])[...] *= np.asarray(scale)
        out["b"][...] = pair["a"]

    call = bufcb.buffer_callback(swap, {"a": SPEC, "b": SPEC}, input_output_aliases={1: 0})
    result = jax.jit(call)({"a": X, "b": X + 1}, scale=jnp.float32(3))
    np.testing.assert_array_equal(result["a"], (X + 1) * 3)
    np.testing.assert_array_equal(result["b"], X)


def test_pure_callback_on_a_gpu() -> None:
    result = jax.jit(lambda x: bufcb.pure_callback(lambda v: v.at[0].set(9), SPEC, x))(X)
    assert result.tolist() == [9, 1, 2, 3]


@pytest.mark.parametrize("keep", [False, True])
def test_a_consumer_of_dlpack(keep: bool) -> None:
    """NumPy takes the memory as it is here, which is on the CPU; what it made of a capsule counts as kept."""
    kept: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        view = np.from_dlpack(x)
        assert not view.flags.writeable
        np.from_dlpack(out)[...] = view + 1
        if keep:
            kept.append(view[1:])

    call = jax.jit(bufcb.buffer_callback(into, SPEC))
    if keep:
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"argument `x` \(args\[0\]\)"):
            jax.block_until_ready(call(X))
    else:
        np.testing.assert_array_equal(call(X), X + 1)


def test_jax_as_a_consumer_of_dlpack() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(jnp.from_dlpack(x)) * 2

    np.testing.assert_array_equal(jax.jit(bufcb.buffer_callback(into, SPEC))(X), X * 2)


def test_errors_of_the_driver_name_themselves_and_the_callback(gpu: Gpu) -> None:
    def read_it(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(x)

    gpu.failures["to_host"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    try:
        with pytest.raises(jax.errors.JaxRuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as seen:
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(read_it, SPEC))(X))
    finally:
        gpu.failures.clear()
    assert "read_it" in str(seen.value)


def test_an_error_without_readable_text_does_not_end_the_process() -> None:
    def fails(ctx: Any, out: Any, x: Any) -> None:
        raise LookupError("lone surrogate \udc80")

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"LookupError: lone surrogate \\udc80"):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(fails, SPEC))(X))


def test_a_kept_buffer_is_an_error() -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(x)
        out[...] = x

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"argument `x` \(args\[0\]\)"):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(keep, SPEC))(X))


def test_pinned_memory_is_bounded_over_many_calls(gpu: Gpu) -> None:
    call = jax.jit(bufcb.buffer_callback(add_one, SPEC))
    call(X).block_until_ready()
    before = sum(memory.size for memory in gpu.pinned.values())
    for _ in range(300):
        call(X).block_until_ready()
    assert sum(memory.size for memory in gpu.pinned.values()) == before


# What XLA is asked for on each platform; this needs none.


def lowered(platform: str, call: Callable[..., Any]) -> str:
    text = jax.jit(call).trace(X).lower(lowering_platforms=(platform,)).as_text()
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
@pytest.mark.parametrize("compatible", [False, True])
def test_xla_calls_its_own_handler_on_gpus(platform: str, compatible: bool) -> None:
    call = bufcb.buffer_callback(add_one, SPEC, command_buffer_compatible=compatible)
    target = "xla_buffer_python_gpu_callback" + "_cmd_buffer" * compatible
    assert f"@{target}(" in lowered(platform, call)


def test_oneapi() -> None:
    """As far as JAX goes: 0.10 has no callbacks there; later ones have, where there is such a device."""
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 - the text differs with the version
        lowered("oneapi", lambda x: jax.pure_callback(np.sin, SPEC, x))
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        lowered("oneapi", bufcb.buffer_callback(add_one, SPEC))
    if "not supported on oneapi" in str(theirs.value):
        assert str(ours.value) == "`buffer_callback` not supported on oneapi backend."
    else:
        assert str(ours.value) == str(theirs.value)


def test_platforms_that_are_unknown() -> None:
    with pytest.raises(ValueError, match=r"^`buffer_callback` not supported on METAL backend\.$"):
        lowered("METAL", bufcb.buffer_callback(add_one, SPEC))
