"""Everything that `bufcb` needs from JAX beyond its documented API, in one file.

Each entry says what it is for and which public API would replace it. The rest of the package imports from
here and from JAX's public modules only, so that a JAX release that moves an internal name breaks this file
and no other.

Tested with JAX 0.10.2, the oldest release supported, on Python 3.11, and with JAX 0.12.0 on Python 3.13.
Before 0.10.2, the custom call of `jax.pure_callback` garbles 2- and 4-bit results.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import buffer_callback as _buffer_callback
from jax._src import callback as _callback
from jax._src import config as _config
from jax._src import dispatch as _dispatch
from jax._src import effects as _effects
from jax._src import mesh as _mesh
from jax._src import sharding_impls as _sharding_impls
from jax._src.interpreters import pxla as _pxla
from jax._src.lib import _jax as _jaxlib  # type: ignore[attr-defined]
from jax.core import ShapedArray
from jax.experimental.buffer_callback import Buffer as XlaBuffer
from jax.experimental.buffer_callback import ExecutionContext as XlaExecutionContext
from jax.experimental.buffer_callback import ExecutionStage
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters.mlir import LoweringRuleContext

__all__ = [
    "ExecutionStage",
    "HostScope",
    "LoweringRuleContext",
    "Primitive",
    "ShapedArray",
    "XlaBuffer",
    "XlaExecutionContext",
    "add_host_callback",
    "automatic_axes",
    "avals_in",
    "avals_out",
    "bind",
    "checked_context",
    "collect_garbage",
    "device_count",
    "emit_host_callback",
    "enable_x64",
    "has_manual_axes",
    "has_peers",
    "is_first_device",
    "is_for_export",
    "loses_callbacks",
    "lower_function",
    "lower_in_place",
    "make_effect",
    "platform_of",
    "put",
    "register_batching",
    "register_impl",
    "register_jvp",
    "register_lowering",
    "register_transpose",
    "with_avals",
    "wrap_buffer_callback",
    "wrap_host_callbacks",
    "x64_enabled",
]

# Releases the Python objects that XLA let go of on a thread without the GIL. JAX calls it on its own, but
# only now and then. Replaced by: nothing public.
collect_garbage: Callable[[], None] = _jaxlib.collect_garbage

# A thread-local value that is part of every `jit` cache key. Public as `jax.make_user_context`.
checked_context: Any = jax.make_user_context(default_value=None)  # type: ignore[no-untyped-call]

# The context manager for the x64 mode. Public as `jax.enable_x64`.
enable_x64: Callable[[bool], contextlib.AbstractContextManager[Any]] = jax.enable_x64


def x64_enabled() -> bool:
    """Return whether the x64 mode is on. Public as `jax.config.jax_enable_x64`, which some types lack."""
    config: Any = jax.config
    return bool(config.jax_enable_x64)


def put(array: np.ndarray, device: jax.Device) -> jax.Array:
    """Return an array on `device` without compiling a program for it; may take over the memory of `array`.

    To `jax.transfer_guard` it is as explicit as `jax.device_put(array, device)`, by which it is to be
    replaced; that takes 15 µs and more where this takes 4.
    """
    aval = ShapedArray(array.shape, array.dtype)
    with _config.explicit_device_put_scope():
        placed: jax.Array = _pxla.batched_device_put(aval, _single_device(device), [array], [device])
    return placed


@functools.cache
def _single_device(device: jax.Device) -> jax.sharding.Sharding:
    return jax.sharding.SingleDeviceSharding(device)


def make_effect(name: str) -> _effects.Effect:
    """Return an effect that may be lowered, and stand in control flow, checkpoints and custom derivatives.

    It equals the effect of `io_callback`, by which JAX refuses `vmap` of a branch, and of a loop whose
    predicate is batched: the callback would run for elements that do not take the branch, or have left the
    loop. Replaced by: a public effects API, which JAX does not have.
    """
    io_effect = _callback._IOEffect

    def text(self: object) -> str:
        return name

    def equals(self: object, other: object) -> bool:
        return other is self or other is io_effect

    def hashed(self: object) -> int:
        return hash(io_effect)

    methods = {"__str__": text, "__eq__": equals, "__hash__": hashed, "__module__": "bufcb"}
    kind = type(name + "Effect", (_effects.Effect,), methods)
    for allowed in (
        _effects.lowerable_effects,
        _effects.control_flow_allowed_effects,
        _effects.remat_allowed_effects,
        _effects.custom_derivatives_allowed_effects,
        _effects.partial_eval_kept_effects,
    ):
        allowed.add_type(kind)
    effect: _effects.Effect = kind()
    return effect


def register_impl(primitive: Primitive) -> None:
    """Make `primitive` run eagerly by compiling its lowering, as JAX's own primitives do.

    Replaced by: a public `apply_primitive`; `jax.extend.core.Primitive` offers none.
    """
    primitive.def_impl(functools.partial(_dispatch.apply_primitive, primitive))  # type: ignore[no-untyped-call]


def register_jvp(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Register a forward-mode rule (`jax.interpreters.ad`, public but not documented)."""
    ad.primitive_jvps[primitive] = rule


def register_transpose(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Register a transpose rule (`jax.interpreters.ad`, public but not documented)."""
    ad.primitive_transposes[primitive] = rule


def register_batching(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Register a batching rule (`jax.interpreters.batching`, public but not documented)."""
    batching.primitive_batchers[primitive] = rule


def register_lowering(
    primitive: Primitive, rule: Callable[..., Any], *, requires_devices: bool = False
) -> None:
    """Register the lowering rule, which is run anew for every equation; perhaps it has to know the devices.

    Not cached, because a send/receive pair of the host path has a channel number of its own. Replaced by:
    `jax.interpreters.mlir.register_lowering` alone, once it takes the requirement of devices as an argument.
    """
    if requires_devices:
        _dispatch.prim_requires_devices_during_lowering.add(primitive)
    mlir.register_lowering(primitive, rule, cacheable=False)


def platform_of(ctx: LoweringRuleContext) -> str:
    """Return the one platform that is lowered for; `NotImplementedError` if there are several."""
    platforms = ctx.module_context.platforms
    if len(platforms) > 1:
        raise NotImplementedError("multi-platform lowering for buffer_callback")
    return platforms[0]


def is_for_export(ctx: LoweringRuleContext) -> bool:
    """Return whether the computation is lowered by `jax.export`."""
    return bool(ctx.module_context.lowering_parameters.for_export)


def loses_callbacks(ctx: LoweringRuleContext) -> bool:
    """Return whether this is a partition of a `custom_partitioning` function: a module of its own.

    JAX drops the callbacks of such a module, and XLA's handlers would look them up among those of the whole
    computation: they would find another one, or none and crash. Replaced by: nothing public.
    """
    name = ctx.module_context.module.operation.attributes["sym_name"]
    return str(name) == '"tmp_xla_computation"'


def has_manual_axes(ctx: LoweringRuleContext) -> bool:
    """Return whether the equation stands inside `shard_map` or `pmap`, and so sees one shard only."""
    axis_context: Any = ctx.module_context.axis_context
    if isinstance(axis_context, _sharding_impls.SPMDAxisContext):
        return bool(axis_context.manual_axes)
    return not isinstance(axis_context, _sharding_impls.ShardingContext)


def automatic_axes(ctx: LoweringRuleContext) -> set[str]:
    """Return the mesh axes that XLA still partitions inside a `shard_map`; none if that is over all axes."""
    axis_context: Any = ctx.module_context.axis_context
    if not has_manual_axes(ctx) or not isinstance(axis_context, _sharding_impls.SPMDAxisContext):
        return set()
    return set(axis_context.mesh.axis_names) - set(axis_context.manual_axes)


def device_count(ctx: LoweringRuleContext) -> int:
    """Return over how many devices XLA may partition the computation (1 inside `shard_map` and `pmap`)."""
    return 1 if has_manual_axes(ctx) else _participants(ctx)


def has_peers(ctx: LoweringRuleContext) -> bool:
    """Return whether other devices take part in the computation, each with its shard or with none."""
    return _participants(ctx) > 1


def _participants(ctx: LoweringRuleContext) -> int:
    axis_context: Any = ctx.module_context.axis_context
    if isinstance(axis_context, _sharding_impls.SPMDAxisContext):
        return int(axis_context.mesh.size)
    return int(getattr(axis_context, "num_devices", 1))


def is_first_device(ctx: LoweringRuleContext, sharding: jax.sharding.Sharding) -> bool:
    """Return whether `sharding` is on the first of the devices that the computation runs on."""
    axis_context: Any = ctx.module_context.axis_context
    devices = getattr(axis_context, "device_assignment", None) or (None,)
    return getattr(sharding, "device_set", None) == {devices[0]}


def add_host_callback(ctx: LoweringRuleContext, function: Callable[..., Any]) -> int:
    """Keep `function` alive with the executable and return its index, which XLA's handler finds it by.

    Replaced by: a public way to hand a Python callable to an FFI handler.
    """
    ctx.module_context.add_host_callback(function)
    return len(ctx.module_context.host_callbacks) - 1


def lower_function(
    ctx: LoweringRuleContext,
    function: Callable[..., Any],
    operand: Any,
    aval_in: ShapedArray,
    aval_out: ShapedArray,
) -> Any:
    """Lower a JAX function of one array in place, inside another primitive's lowering rule."""
    inner = with_avals(ctx, [aval_in], [aval_out])
    (result,) = mlir.lower_fun(function, multiple_results=False)(inner, operand)
    return result


def lower_in_place(
    ctx: LoweringRuleContext, function: Callable[..., Sequence[Any]], operands: Sequence[Any]
) -> Sequence[Any]:
    """Lower a JAX function of the equation's operands in its place; it returns a sequence of arrays.

    Replaced by: `jax.interpreters.mlir.lower_fun`, which is public but not documented.
    """
    results: Sequence[Any] = mlir.lower_fun(function, multiple_results=True)(ctx, *operands)
    return results


def emit_host_callback(
    ctx: LoweringRuleContext,
    function: Callable[..., Sequence[Any]],
    operands: Sequence[Any],
    *,
    sharding: jax.sharding.Sharding | None,
    has_side_effect: bool,
) -> Sequence[Any]:
    """Emit a call of `function` on the host, once, on one device's copy of the whole operands.

    `function` takes and returns host arrays. XLA honours the sharding that says so only on the custom call
    which `jax.pure_callback` lowers to, hence this emitter. Replaced by:
    `jax.interpreters.mlir.emit_python_callback` alone, if it derived the sharding itself.
    """
    op_sharding = _callback._callback_op_sharding(ctx.module_context.axis_context, sharding, ctx.avals_out)
    results, _, _ = mlir.emit_python_callback(
        ctx,
        function,
        None,
        list(operands),
        avals_in(ctx),
        avals_out(ctx),
        has_side_effect=has_side_effect,
        returns_token=False,
        sharding=op_sharding,
    )
    # JAX wraps the function to check results and to canonicalise 64-bit types, by the x64 mode of whichever
    # thread XLA calls it on. `function` has done both by the mode at bind time.
    callbacks = ctx.module_context.host_callbacks
    if callable(callbacks[-1]):
        callbacks[-1] = function
    return results


class HostScope:
    """A context that runs JAX code in a callback as on a thread of its own: on `device`, without mesh.

    `x64` sets the x64 mode; None leaves it as it is. The callback may run on the thread that dispatched the
    computation, whose mesh is none of its business. Replaced by: `jax.set_mesh` with an empty mesh, which JAX
    does not accept yet.
    """

    __slots__ = ("_contexts",)

    def __init__(self, device: jax.Device, x64: bool | None) -> None:
        self._contexts: list[contextlib.AbstractContextManager[Any]] = [jax.default_device(device)]
        if x64 is not None:
            self._contexts.append(enable_x64(x64))
        if not _mesh.get_concrete_mesh().empty:
            self._contexts.append(_sharding_impls._internal_use_concrete_mesh(_mesh.empty_concrete_mesh))
        if not _mesh.get_abstract_mesh().empty:
            self._contexts.append(_mesh.use_abstract_mesh(_mesh.empty_abstract_mesh))

    def __enter__(self) -> None:
        for context in self._contexts:
            context.__enter__()

    def __exit__(self, *error: Any) -> None:
        for context in reversed(self._contexts):
            context.__exit__(*error)


def bind(primitive: Primitive, *args: Any, **params: Any) -> Sequence[Any]:
    """Apply a primitive of several results (`jax.extend.core.Primitive.bind`, which is not typed)."""
    results: Sequence[Any] = primitive.bind(*args, **params)  # type: ignore[no-untyped-call]
    return results


def avals_in(ctx: LoweringRuleContext) -> list[ShapedArray]:
    """Return the operands' abstract values; a callback takes arrays only."""
    return [aval for aval in ctx.avals_in if isinstance(aval, ShapedArray)]


def avals_out(ctx: LoweringRuleContext) -> list[ShapedArray]:
    """Return the results' abstract values; a callback writes arrays only."""
    return [aval for aval in ctx.avals_out if isinstance(aval, ShapedArray)]


def with_avals(
    ctx: LoweringRuleContext, operands: Sequence[ShapedArray], results: Sequence[ShapedArray]
) -> LoweringRuleContext:
    """Return the context of the same equation with other operands and results."""
    replaced: LoweringRuleContext = ctx.replace(avals_in=operands, avals_out=results)  # type: ignore[no-untyped-call]
    return replaced


def wrap_host_callbacks(wrap: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what JAX calls on the host for `pure_callback` and `io_callback`.

    `wrap` takes the name of either and a function of the flat arguments, with the keywords `result_avals` and
    `callback` among others; it returns one of the same kind. However a program imported the API, it ends up
    here. Replaced by: nothing public.
    """
    for api in ("pure_callback", "io_callback"):
        name = f"{api}_impl"
        setattr(_callback, name, wrap(api, getattr(_callback, name)))


def wrap_buffer_callback(wrap: Callable[..., Callable[..., Any]]) -> None:
    """Replace each callback of JAX's own `buffer_callback` by `wrap(callback, inputs, outputs)` from now on.

    `inputs` and `outputs` are pairs of shape and dtype; a keyword, `has_aliases`, says whether some share
    memory. Replaced by: nothing public.
    """
    lower = _buffer_callback._buffer_callback_lowering

    def rule(ctx: LoweringRuleContext, *operands: Any, callback: Any, **params: Any) -> Any:
        inputs, outputs = (
            [(aval.shape, np.dtype(aval.dtype)) for aval in avals]
            for avals in (avals_in(ctx), avals_out(ctx))
        )
        wrapped = wrap(callback, inputs, outputs, has_aliases=bool(params.get("input_output_aliases")))
        return lower(ctx, *operands, callback=wrapped, **params)

    mlir.register_lowering(_buffer_callback.buffer_callback_p, rule)
