"""The `buffer_callback` primitive: the shapes of its results, its effects, and its transformations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import jax
import jax.numpy as jnp
from jax import lax

from bufcb import _jax
from bufcb._jax import ShapedArray
from bufcb.callables import Callback, describe

_IN_TURN = ["sequential", "sequential_unrolled"]
AT_ONCE = ["expand_dims", "broadcast_all", "legacy_vectorized"]
VMAP_METHODS = [*_IN_TURN, *AT_ONCE, None]

Api = Literal["buffer_callback", "pure_callback"]
"""The function that a user called: errors and logs have the words of its namesake in JAX."""

_CALLED: dict[Api, str] = {"buffer_callback": "Buffer callbacks", "pure_callback": "Pure callbacks"}


def _make_primitive() -> _jax.Primitive:
    primitive = _jax.Primitive("buffer_callback")
    primitive.multiple_results = True
    _jax.register_impl(primitive)
    return primitive


buffer_callback_p = _make_primitive()
# The same with `sharding=`: its lowering has to know the devices, and JAX tells them only to primitives that
# cannot stand in programs of several meshes.
placed_buffer_callback_p = _make_primitive()
PRIMITIVES = (buffer_callback_p, placed_buffer_callback_p)


def primitive_for(sharding: jax.sharding.Sharding | None) -> _jax.Primitive:
    """Return the primitive to bind with this value of `sharding=`."""
    return buffer_callback_p if sharding is None else placed_buffer_callback_p


_effect = _jax.make_effect("BufferCallback")


def _abstract_eval(
    *_: Any, result_avals: tuple[ShapedArray, ...], has_side_effect: bool, **__: Any
) -> tuple[tuple[ShapedArray, ...], set[Any]]:
    return result_avals, {_effect} if has_side_effect else set()


def _jvp(primals: Any, tangents: Any, *, api: Api, callback: Callback, **_: Any) -> NoReturn:
    raise ValueError(
        f"{_CALLED[api]} do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking "
        f"gradients.\nCallback {describe(callback.function)}"
    )


def _transpose(cotangents: Any, *primals: Any, api: Api, callback: Callback, **_: Any) -> NoReturn:
    raise ValueError(
        f"{_CALLED[api]} do not support transpose. Please use `jax.custom_vjp` to use callbacks while "
        f"taking gradients.\nCallback {describe(callback.function)}"
    )


def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    vmap_method: str | None,
    result_avals: tuple[ShapedArray, ...],
    input_output_aliases: tuple[tuple[int, int], ...],
    callback: Callback,
    api: Api,
    **params: Any,
) -> tuple[Sequence[Any], Sequence[int]]:
    """Batch by `vmap_method`; every result is batched along its first axis."""
    params.update(
        vmap_method=vmap_method, input_output_aliases=input_output_aliases, callback=callback, api=api
    )
    (size,) = {arg.shape[dim] for arg, dim in zip(args, dims, strict=True) if dim is not None}
    args = [arg if dim is None else jnp.moveaxis(arg, dim, 0) for arg, dim in zip(args, dims, strict=True)]
    if vmap_method in _IN_TURN:
        unroll = vmap_method == "sequential_unrolled"
        results = _batch_in_turn(args, dims, result_avals, params, unroll)
    elif vmap_method in AT_ONCE:
        # An aliased operand shares its memory with a result, which has the batch axis: it needs the axis in
        # full.
        aliased = {operand for operand, _ in input_output_aliases}
        args = [
            arg if dim is not None else _unbatched(arg, size, vmap_method, i in aliased)
            for i, (arg, dim) in enumerate(zip(args, dims, strict=True))
        ]
        batched = tuple(ShapedArray((size, *aval.shape), aval.dtype) for aval in result_avals)
        results = _jax.bind(primitive_for(params["sharding"]), *args, result_avals=batched, **params)
    else:
        raise NotImplementedError(
            f"vmap is only supported for the {api} primitive when vmap_method is one of "
            "'sequential', 'sequential_unrolled', 'expand_dims', 'broadcast_all', or 'legacy_vectorized'. "
            f"Got vmap_method={vmap_method!r}.\nCallback {describe(callback.function)}"
        )
    return results, (0,) * len(results)


def _unbatched(arg: Any, size: int, vmap_method: str, aliased: bool) -> Any:
    """Return an operand without batch axis as the callback is to see it."""
    if aliased or vmap_method == "broadcast_all":
        return lax.broadcast(arg, (size,))
    return lax.broadcast(arg, (1,)) if vmap_method == "expand_dims" else arg


def _batch_in_turn(
    args: Sequence[Any],
    dims: Sequence[int | None],
    result_avals: tuple[ShapedArray, ...],
    params: dict[str, Any],
    unroll: bool,
) -> Sequence[Any]:
    """Call once per element, in a loop."""

    def call(_: Any, batched: list[Any]) -> tuple[tuple[()], Sequence[Any]]:
        elements = iter(batched)
        element = [arg if dim is None else next(elements) for arg, dim in zip(args, dims, strict=True)]
        return (), _jax.bind(primitive_for(params["sharding"]), *element, result_avals=result_avals, **params)

    batched = [arg for arg, dim in zip(args, dims, strict=True) if dim is not None]
    return jax.lax.scan(call, (), batched, unroll=unroll)[1]


for _primitive in PRIMITIVES:
    _primitive.def_effectful_abstract_eval(_abstract_eval)  # type: ignore[no-untyped-call]
    _jax.register_jvp(_primitive, _jvp)
    _jax.register_transpose(_primitive, _transpose)
    _jax.register_batching(_primitive, _batch)
