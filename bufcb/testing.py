"""Buffer callbacks tested without a device: `dry_run`, and `assert_same_results` for migrated ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax.tree_util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten

from bufcb import trampoline
from bufcb.adapted import Adapted
from bufcb.buffers import HostArray, HostContext
from bufcb.callables import argument_names, describe
from bufcb.callback import Bound, Declaration, adapt

__all__ = ["assert_same_results", "dry_run"]


def dry_run(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *args: Any,
    input_output_aliases: Mapping[int, int] | None = None,
    **kwargs: Any,
) -> Any:
    """Call a buffer callback on buffers in host memory, outside JAX, with every check that there is.

    Example:
      >>> def add_one(ctx, out, x):
      ...     out[...] = np.asarray(x) + 1
      >>> bufcb.testing.dry_run(add_one, jax.ShapeDtypeStruct((2,), np.float32), np.zeros(2, np.float32))
      array([1., 1.], dtype=float32)

    The call is checked as `bufcb.buffer_callback(callback, result_shape_dtypes)(*args, **kwargs)` would be,
    and so is what the callback does: it returns None, writes every element of its outputs, changes no input
    and keeps no buffer. An exception of the callback comes through as it is. It may be called once more, to
    tell a value from the pattern that stands for an element that was not written.

    Args:
      callback: the buffer callback.
      result_shape_dtypes: a pytree whose leaves have a shape and a dtype.
      *args: arrays, scalars and pytrees of them; the callback gets copies.
      input_output_aliases: as for `buffer_callback`; such an output holds the input's values.
      **kwargs: likewise, by keyword.

    Returns:
      The outputs, as NumPy arrays in the structure of `result_shape_dtypes`.

    Raises:
      RuntimeError: if an output was not written, an input was changed, a buffer was kept, or a strict write
        did not match its output.
      ValueError: if the callback returned a value.
      TypeError, ValueError: if the call is one that `buffer_callback` refuses.
    """
    declared = Declaration.of(callback, result_shape_dtypes, input_output_aliases)
    bound = declared.bind(args, kwargs)
    inputs = [
        HostArray.input_of(np.asarray(arg).astype(aval.dtype))
        for arg, aval in zip(bound.flat_args, bound.in_avals, strict=True)
    ]
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


def assert_same_results(
    original: Callable[..., Any],
    migrated: Callable[..., None],
    result_shape_dtypes: Any,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Check that a migrated callback writes, bit for bit, what the original returns.

    Args:
      original: a callback of `jax.pure_callback`, called with `jax.Array`s; its results follow the rules
      there.
      migrated: a buffer callback, called as `dry_run` does.
      result_shape_dtypes: the specification that both are called with.
      *args: arrays, scalars and pytrees of them.
      **kwargs: likewise, by keyword.

    Raises:
      AssertionError: if a leaf differs; names the first one, and where it differs first.
      Exception: whatever either callback, or a check of `dry_run`, raises.
    """
    if not isinstance(original, Adapted):
        original = adapt(original, arrays="jax")
    expected = dry_run(original, result_shape_dtypes, *args, **kwargs)
    actual = dry_run(migrated, result_shape_dtypes, *args, **kwargs)
    for (path, left), right in zip(tree_flatten_with_path(expected)[0], tree_flatten(actual)[0], strict=True):
        if left.tobytes() != right.tobytes():
            raise AssertionError(
                f"{describe(migrated)} and {describe(original)} differ in `out{keystr(path)}`, "
                f"{_difference(left, right)}"
            )


def _difference(left: np.ndarray, right: np.ndarray) -> str:
    bits = [array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize) for array in (left, right)]
    flat = int((bits[0] != bits[1]).any(axis=1).argmax())
    index = tuple(int(i) for i in np.unravel_index(flat, left.shape))
    return f"first at index {index}: {left[index]} is expected, {right[index]} was written"
