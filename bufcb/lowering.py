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

from bufcb import _jax, device_trampoline, trampoline
from bufcb._jax import LoweringRuleContext, ShapedArray
from bufcb.buffers import HostArray, HostContext, is_sub_byte
from bufcb.callables import Callback
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
    return trampoline.Plan(
        api=api,
        function=callback.function,
        in_tree=in_tree,
        out_tree=out_tree,
        in_dtypes=tuple(np.dtype(aval.dtype) for aval in _jax.avals_in(ctx)),
        out_shapes=tuple(aval.shape for aval in _jax.avals_out(ctx)),
        out_dtypes=tuple(np.dtype(aval.dtype) for aval in _jax.avals_out(ctx)),
        aliases=input_output_aliases,
        repeatable=not has_side_effect and not input_output_aliases,
        retain=retain,
        x64=x64,
        checked=checked,
    )


def _lower(ctx: LoweringRuleContext, *operands: Any, **params: Any) -> Sequence[Any]:
    platform = _jax.platform_of(ctx)
    if platform not in _RULES:
        raise _not_supported(platform)
    rule = _RULES[platform]
    if _needs_host_path(ctx, params["sharding"]) and rule is not _lower_oneapi:
        rule = _lower_host
    return rule(ctx, *operands, **params)


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


def _lower_oneapi(ctx: LoweringRuleContext, *operands: Any, **params: Any) -> Sequence[Any]:
    """Lower to a call on the host, where JAX can: XLA's queues there cannot be waited for from Python."""
    try:
        return _lower_host(ctx, *operands, **params)
    except ValueError as error:
        if "not supported on" not in str(error):
            raise
        raise _not_supported("oneapi") from error


def _not_supported(platform: str) -> ValueError:
    return ValueError(f"`buffer_callback` not supported on {platform} backend.")


def _lower_buffers(
    ctx: LoweringRuleContext,
    operands: Sequence[Any],
    target: str,
    params: dict[str, Any],
    build: Callable[[trampoline.Plan], Callable[..., tuple[()]]],
) -> Sequence[Any]:
    """Lower to a handler of XLA's that passes its own buffers; 2- and 4-bit types are widened around it."""
    function = build(_plan(ctx, **params))
    index = _jax.add_host_callback(ctx, function)
    avals_in, avals_out = _jax.avals_in(ctx), _jax.avals_out(ctx)
    wide_in, wide_out = list(map(_widened, avals_in)), list(map(_widened, avals_out))
    wide_operands = map(functools.partial(_convert, ctx), operands, avals_in, wide_in)
    rule = jax.ffi.ffi_lowering(
        target,
        has_side_effect=params["has_side_effect"],
        operand_output_aliases=dict(params["input_output_aliases"]),
    )
    results = rule(_jax.with_avals(ctx, wide_in, wide_out), *wide_operands, index=np.uint64(index))
    return list(map(functools.partial(_convert, ctx), results, wide_out, avals_out))


def _widened(aval: ShapedArray) -> ShapedArray:
    """Return the 8-bit counterpart of a 2- or 4-bit array, else `aval` itself."""
    if not is_sub_byte(np.dtype(aval.dtype)):
        return aval
    return ShapedArray(aval.shape, jnp.uint8)


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
    shapes = [(aval.shape, np.dtype(aval.dtype)) for aval in _jax.avals_out(ctx)]
    sources = {output: operand for operand, output in params["input_output_aliases"]}
    context = HostContext()

    def call(*values: Any) -> tuple[np.ndarray, ...]:
        inputs = [HostArray.input_of(value) for value in values]
        outputs = [
            HostArray.copy_of(values[sources[i]]) if i in sources else HostArray.empty(shape, dtype)
            for i, (shape, dtype) in enumerate(shapes)
        ]
        function(context, *inputs, *outputs)
        return tuple(output.view(np.ndarray) for output in outputs)

    results = _jax.emit_host_callback(
        ctx, call, operands, sharding=params["sharding"], has_side_effect=params["has_side_effect"]
    )
    if params["sharding"] is None or _jax.device_count(ctx) == 1:
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
    "oneapi": _lower_oneapi,
    "tpu": _lower_host,
}

_jax.register_lowering(buffer_callback_p, _lower)
_jax.register_lowering(placed_buffer_callback_p, _lower, requires_devices=True)
