"""Calls of buffer callbacks in host memory, outside JAX, and the comparison of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path, tree_leaves, tree_unflatten

from bufcb import trampoline
from bufcb.buffers import HostArray, HostContext, Order
from bufcb.callables import argument_names, describe
from bufcb.callback import Bound, Declaration


def run(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    aliases: Mapping[int, int] | None,
    order: Order = "C",
) -> Any:
    """Do what `bufcb.testing.dry_run` does, with inputs in the given order in memory."""
    declared = Declaration.of(callback, result_shape_dtypes, aliases)
    bound = declared.bind(args, kwargs)
    inputs = [HostArray.input_of(array, order) for array in bound.as_numpy()]
    sources = {output: inputs[i] for i, output in declared.aliases}
    outputs = [
        HostArray.copy_of(sources[i]) if i in sources else HostArray.empty(aval.shape, np.dtype(aval.dtype))
        for i, aval in enumerate(declared.result_avals)
    ]
    before = [array.tobytes() for array in inputs]
    trampoline.build(_plan(declared, bound))(HostContext(), *inputs, *outputs)
    _check_unchanged(callback, args, kwargs, before, inputs)
    return tree_unflatten(declared.out_tree, [output.view(np.ndarray) for output in outputs])


def _plan(declared: Declaration, bound: Bound) -> trampoline.Plan:
    return trampoline.Plan(
        api="buffer_callback",
        function=declared.callback.function,
        in_tree=bound.in_tree,
        out_tree=declared.out_tree,
        in_dtypes=tuple(np.dtype(aval.dtype) for aval in bound.in_avals),
        out_shapes=tuple(aval.shape for aval in declared.result_avals),
        out_dtypes=tuple(np.dtype(aval.dtype) for aval in declared.result_avals),
        aliases=declared.aliases,
        repeatable=not declared.aliases,
        retain="raise",
        x64=bound.x64,
        checked=True,
    )


def _check_unchanged(
    callback: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    before: Sequence[bytes],
    inputs: Sequence[np.ndarray],
) -> None:
    changed = [i for i, array in enumerate(inputs) if array.tobytes() != before[i]]
    if changed:
        names = argument_names(callback, args, kwargs)
        raise RuntimeError(
            f"buffer_callback: callback {describe(callback)} changed its "
            f"{', '.join(names[i] for i in changed)}, which belongs to the caller. "
            "Write into a copy, `np.array(x)`, or into an output."
        )


def first_difference(expected: Any, actual: Any, rtol: float, atol: float) -> str | None:
    """Return where results of the same structure differ first, in words; None if they do not."""
    for (path, left), right in zip(tree_flatten_with_path(expected)[0], tree_leaves(actual), strict=True):
        mask = _differing(left, right, rtol, atol)
        if mask.any():
            index = tuple(int(i) for i in np.unravel_index(int(mask.argmax()), left.shape))
            return (
                f"`out{keystr(path)}`, first at index {index}: {left[index]} is expected, {right[index]} was "
                "written"
            )
    return None


def _differing(left: np.ndarray, right: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Return the flat mask of elements that differ by more than the tolerance, or in any bit without one."""
    bits = [array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize) for array in (left, right)]
    mask: np.ndarray = (bits[0] != bits[1]).any(axis=1)
    if (rtol or atol) and jnp.issubdtype(left.dtype, jnp.inexact):
        kind = np.complex128 if left.dtype.kind == "c" else np.float64
        one, other = left.astype(kind).reshape(-1), right.astype(kind).reshape(-1)
        mask &= ~np.isclose(other, one, rtol=rtol, atol=atol, equal_nan=True)
    return mask
