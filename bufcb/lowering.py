"""How the primitive reaches XLA: one rule per platform.

On CPU and on GPU, XLA's own handler for buffer callbacks calls the trampoline with its buffers. Everywhere
else, and wherever XLA would partition the computation over several devices, the *host path* calls it with
host arrays, through the custom call that `jax.pure_callback` lowers to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bufcb import _jax, device_trampoline, recording, trampoline
from bufcb._jax import LoweringRuleContext, ShapedArray
from bufcb.buffers import HostArray, HostContext, is_sub_byte
from bufcb.callables import Callback, describe
from bufcb.primitive import Api, buffer_callback_p, placed_buffer_callback_p


def _plan(
    ctx: LoweringRuleContext,
    *,
    api: Api,
    callback: Callback,
    in_tree: Any,
    out_tree: Any,
    has_side_effect: bool,
    input_output_aliases: tuple[tuple[int, int], ...],
    retain: str,
    x64: bool,
    checked: bool,
    **_: Any,
) -> trampoline.Plan:
    inputs = tuple((aval.shape, np.dtype(aval.dtype)) for aval in _jax.avals_in(ctx))
    outputs = tuple((aval.shape, np.dtype(aval.dtype)) for aval in _jax.avals_out(ctx))
    return trampoline.Plan(
        api=api,
        function=callback.function,
        in_tree=in_tree,
        out_tree=out_tree,
        in_dtypes=tuple(dtype for _, dtype in inputs),
        out_shapes=tuple(shape for shape, _ in outputs),
        out_dtypes=tuple(dtype for _, dtype in outputs),
        aliases=input_output_aliases,
        repeatable=not has_side_effect and not input_output_aliases,
        retain=retain,
        x64=x64,
        checked=checked,
        has_peers=_jax.has_peers(ctx),
        recorder=recording.recorder(api, callback.function, inputs, outputs),
    )


def _lower(ctx: LoweringRuleContext, *operands: Any, **params: Any) -> Sequence[Any]:
    if _jax.is_for_export(ctx):
        # The beginning is JAX's own text, which it raises once the lowering is done.
        raise NotImplementedError(
            "serialization of host_callbacks is not yet implemented: a buffer_callback runs a Python "
            "function of this process, so that jax.export cannot export it.\n"
            f"Callback {describe(params['callback'].function)}"
        )
    if _jax.loses_callbacks(ctx):
        raise NotImplementedError(
            "buffer_callback is not supported inside a custom_partitioning function that XLA partitions: JAX "
            "drops the callbacks of its partitions. Call back outside of it, or use jax.shard_map instead.\n"
            f"Callback {describe(params['callback'].function)}"
        )
    platform = _jax.platform_of(ctx)
    if platform not in _RULES:
        raise _not_supported(platform)
    rule = _RULES[platform]
    if _needs_host_path(ctx, params["sharding"]):
        rule = _lower_host
    elif axes := _jax.automatic_axes(ctx):
        rule = functools.partial(_lower_partly_manual, axes)
    return rule(ctx, *operands, **params)


def _lower_partly_manual(
    axes: set[str], ctx: LoweringRuleContext, *operands: Any, **params: Any
) -> Sequence[Any]:
    """Make the remaining axes manual as well, around the call alone: XLA does not partition a callback.

    Each device calls back with the whole shard, as it does inside a `shard_map` over all axes. Without this,
    XLA refuses side effects, and without Shardy it aborts the process.
    """

    def per_device(*args: Any) -> Sequence[Any]:
        return _jax.bind(buffer_callback_p, *args, **params)

    def call(*args: Any) -> Sequence[Any]:
        whole = jax.sharding.PartitionSpec()  # type: ignore[no-untyped-call]
        mapped = jax.shard_map(per_device, in_specs=whole, out_specs=whole, axis_names=axes, check_vma=False)
        replicated = [jax.sharding.reshard(arg, whole) for arg in args]  # type: ignore[no-untyped-call]
        results: Sequence[Any] = mapped(*replicated)
        return results

    return _jax.lower_in_place(ctx, call, operands)


def _lower_cpu(ctx: LoweringRuleContext, *operands: Any, **params: Any) -> Sequence[Any]:
    return _lower_buffers(ctx, operands, "xla_buffer_python_cpu_callback", params, trampoline.build)


def _needs_host_path(ctx: LoweringRuleContext, sharding: jax.sharding.Sharding | None) -> bool:
    """Return whether the callback must run once for several devices, or on a device that the caller chose."""
    if _jax.has_manual_axes(ctx):
        if sharding is not None:
            raise NotImplementedError("callbacks do not support specifying sharding inside spmd computations")
        return False
    return sharding is not None or _jax.device_count(ctx) > 1


def _lower_gpu(
    platform: str, ctx: LoweringRuleContext, *operands: Any, command_buffer_compatible: bool, **params: Any
) -> Sequence[Any]:
    target = "xla_buffer_python_gpu_callback" + ("_cmd_buffer" if command_buffer_compatible else "")
    build = functools.partial(
        device_trampoline.build,
        machine=functools.partial(device_trampoline.machine_of, platform),
        recordable=command_buffer_compatible,
    )
    return _lower_buffers(ctx, operands, target, params, build)


def _not_supported(platform: str) -> ValueError:
    return ValueError(f"`buffer_callback` not supported on {platform} backend.")


def _lower_buffers(
    ctx: LoweringRuleContext,
    operands: Sequence[Any],
    target: str,
    params: dict[str, Any],
    build: Callable[[trampoline.Plan], Callable[..., tuple[()]]],
) -> Sequence[Any]:
    """Lower to a handler of XLA's that passes its own buffers."""
    function = build(_plan(ctx, **params))
    index = _jax.add_host_callback(ctx, function)
    rule = jax.ffi.ffi_lowering(
        target,
        has_side_effect=params["has_side_effect"],
        operand_output_aliases=dict(params["input_output_aliases"]),
    )
    rule = functools.partial(rule, index=np.uint64(index))
    return _lower_widened(ctx, operands, rule, _widened, _widened)


def _lower_widened(
    ctx: LoweringRuleContext,
    operands: Sequence[Any],
    rule: Callable[..., Sequence[Any]],
    widen_operand: Callable[[ShapedArray], ShapedArray],
    widen_result: Callable[[ShapedArray], ShapedArray],
) -> Sequence[Any]:
    """Lower by `rule` with 8-bit arrays in the place of narrower ones."""
    avals_in, avals_out = _jax.avals_in(ctx), _jax.avals_out(ctx)
    wide_in, wide_out = list(map(widen_operand, avals_in)), list(map(widen_result, avals_out))
    wide_operands = map(functools.partial(_convert, ctx), operands, avals_in, wide_in)
    results = rule(_jax.with_avals(ctx, wide_in, wide_out), *wide_operands)
    return list(map(functools.partial(_convert, ctx), results, wide_out, avals_out))


def _widened(aval: ShapedArray) -> ShapedArray:
    """Return the 8-bit counterpart of a 2- or 4-bit array, else `aval` itself."""
    return _eight_bits(aval) if is_sub_byte(np.dtype(aval.dtype)) else aval


def _widened_2_bits(aval: ShapedArray) -> ShapedArray:
    """Return the 8-bit counterpart of a 2-bit array, else `aval` itself."""
    return _eight_bits(aval) if np.dtype(aval.dtype).name.endswith("int2") else aval


def _eight_bits(aval: ShapedArray) -> ShapedArray:
    return ShapedArray(aval.shape, jnp.uint8)


def _as_it_is(aval: ShapedArray) -> ShapedArray:
    return aval


def _convert(ctx: LoweringRuleContext, value: Any, source: ShapedArray, target: ShapedArray) -> Any:
    """Convert between a 2- or 4-bit array and its 8-bit counterpart, which has its bits and zeros above."""
    if source.dtype == target.dtype:
        return value
    if target.dtype == jnp.uint8:
        bits = _bits(source.dtype)
        return _jax.lower_function(
            ctx, lambda x: lax.bitcast_convert_type(x, bits).astype(jnp.uint8), value, source, target
        )
    bits = _bits(target.dtype)
    return _jax.lower_function(
        ctx, lambda x: lax.bitcast_convert_type(x.astype(bits), target.dtype), value, source, target
    )


def _bits(dtype: np.dtype) -> np.dtype:
    """Return the unsigned integers of the width of a 2- or 4-bit type."""
    bits: np.dtype = np.dtype(jnp.uint2 if dtype.name.endswith("int2") else jnp.uint4)
    return bits


def _lower_host(ctx: LoweringRuleContext, *operands: Any, **params: Any) -> Sequence[Any]:
    """Lower to a call on the host with copies of the operands, whose outputs are copied back."""
    function = trampoline.build(_plan(ctx, **params))
    rule = functools.partial(_emit_host_call, function=function, params=params)
    # XLA hands over sub-byte types unpacked, but corrupts memory when it gathers the shards of 2-bit arrays.
    # Results are left on the device of the call, as those of `jax.pure_callback`, unless that is not the
    # first.
    widen_result = _widened_2_bits if _is_placed(ctx, params["sharding"]) else _as_it_is
    return _lower_widened(ctx, operands, rule, _widened_2_bits, widen_result)


def _is_placed(ctx: LoweringRuleContext, sharding: jax.sharding.Sharding | None) -> bool:
    """Return whether the results are on another device than the first, from where JAX reads them."""
    return sharding is not None and _jax.device_count(ctx) > 1 and not _jax.is_first_device(ctx, sharding)


def _emit_host_call(
    ctx: LoweringRuleContext, *operands: Any, function: Callable[..., tuple[()]], params: dict[str, Any]
) -> Sequence[Any]:
    """Emit the call, with operands and results as the host has them."""
    shapes = [(aval.shape, np.dtype(aval.dtype)) for aval in _jax.avals_out(ctx)]
    sources = {output: operand for operand, output in params["input_output_aliases"]}
    context = HostContext()

    def call(*values: Any) -> tuple[np.ndarray, ...]:
        inputs = list(map(HostArray.input_of, values))
        outputs = [
            HostArray.copy_of(values[sources[i]]) if i in sources else HostArray.empty(shape, dtype)
            for i, (shape, dtype) in enumerate(shapes)
        ]
        function(context, *inputs, *outputs)
        return tuple(
            out.view(np.ndarray).view(dtype) for out, (_, dtype) in zip(outputs, shapes, strict=True)
        )

    try:
        results = _jax.emit_host_callback(
            ctx, call, operands, sharding=params["sharding"], has_side_effect=params["has_side_effect"]
        )
    except ValueError as error:
        if "not supported on" not in str(error):
            raise
        raise _not_supported(_jax.platform_of(ctx)) from error
    if not _is_placed(ctx, params["sharding"]):
        return results
    # Without an operation in between, XLA returns zeros for a result on another device than the first.
    return [
        _jax.lower_function(ctx, lax.optimization_barrier, result, aval, aval)
        for result, aval in zip(results, _jax.avals_out(ctx), strict=True)
    ]


# The rule of each platform, where the computation runs on one device or sees one device's shard. One entry
# for all of them is registered with JAX: rules that are registered by platform cannot say that several at
# once are too many.
_RULES: dict[str, Callable[..., Sequence[Any]]] = {
    "cpu": _lower_cpu,
    "cuda": functools.partial(_lower_gpu, "cuda"),
    "rocm": functools.partial(_lower_gpu, "rocm"),
    "oneapi": _lower_host,  # XLA's queues there cannot be waited for from Python
    "tpu": _lower_host,
}

_jax.register_lowering(buffer_callback_p, _lower)
_jax.register_lowering(placed_buffer_callback_p, _lower, requires_devices=True)

recording.install()
