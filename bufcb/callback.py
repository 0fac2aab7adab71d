"""What users call: `buffer_callback`, `adapt`, `pure_callback`, `store`, `to_numpy` and `checked`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import PyTreeDef, keystr, tree_flatten, tree_flatten_with_path, tree_map, tree_unflatten

from bufcb import _jax, buffers, device
from bufcb._jax import ShapedArray
from bufcb.adapted import Adapted, Arrays
from bufcb.buffers import Output
from bufcb.callables import Callback, argument_names, check_signature, describe
from bufcb.device import DeviceBuffer, DeviceOutput
from bufcb.primitive import VMAP_METHODS, Api, primitive_for

Retain = Literal["raise", "copy"]


def buffer_callback(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    command_buffer_compatible: bool = False,
    sharding: jax.sharding.Sharding | None = None,
    retain: Retain = "raise",
) -> Callable[..., Any]:
    """Return a JAX function that has a Python callback write its results into output buffers.

    Example:
      >>> def add_one(ctx, out, x):
      ...     out[...] = np.asarray(x) + 1
      >>> x = jnp.arange(3.0)
      >>> bufcb.buffer_callback(add_one, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
      Array([1., 2., 3.], dtype=float32)

    The callback is called as `callback(ctx, out, *args, **kwargs)`, where `ctx` is an `ExecutionContext`,
    `out` has the structure of `result_shape_dtypes` and the arguments that of the call, with a `Buffer` for
    every array, or on a GPU a `DeviceBuffer`. It returns None. Buffers are valid until it returns; inputs are
    read-only.

    Args:
      callback: the Python function.
      result_shape_dtypes: a pytree whose leaves have a shape and a dtype, such as `jax.ShapeDtypeStruct`.
      has_side_effect: whether the callback must run even if its results are not used.
      vmap_method: how it runs under `jax.vmap`, as for `jax.pure_callback`: "sequential",
        "sequential_unrolled", "expand_dims", "broadcast_all" or "legacy_vectorized". None: `jax.vmap` raises
        an error.
      input_output_aliases: a mapping of flat input index to flat output index; that output shares the memory
        of that input, and holds its values when the callback is called.
      command_buffer_compatible: on GPU, whether the callback is traced into a command buffer and not called
      again.
      sharding: a single-device sharding that says on which device of several the callback is called.
      retain: "raise" makes it an error if a reference to a buffer outlives the call. "copy" hands out copies;
        on a GPU to NumPy, not to GPU libraries.

    Returns:
      A function of arrays and pytrees of arrays, whose result has the structure of `result_shape_dtypes`.

    Raises:
      ValueError: for an option that does not exist, an alias that does not fit, or (when the result is
        called) a 64-bit type while `jax_enable_x64` is off.
      TypeError: for a callback that cannot be called, a specification without shape or dtype, or (when the
        result is called) an argument that is not an array.
      JaxRuntimeError: from the computation, if the callback raises, returns a value or keeps a buffer.

    See Also:
      `adapt`, for callbacks that return their results; `pure_callback`, with the signature of
      `jax.pure_callback`.
    """
    return _make_call(
        "buffer_callback",
        callback,
        result_shape_dtypes,
        input_output_aliases,
        has_side_effect=bool(has_side_effect),
        vmap_method=vmap_method,
        command_buffer_compatible=bool(command_buffer_compatible),
        sharding=sharding,
        retain=retain,
    )


def _make_call(
    api: Api,
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    aliases: Mapping[int, int] | None = None,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    command_buffer_compatible: bool = False,
    sharding: jax.sharding.Sharding | None = None,
    retain: Retain = "raise",
) -> Callable[..., Any]:
    """Return what `buffer_callback` does; errors and logs speak of `api`."""
    _check_options(callback, vmap_method, retain)
    declared = Declaration.of(callback, result_shape_dtypes, aliases)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = declared.bind(args, kwargs)
        results = _jax.bind(
            primitive_for(sharding),
            *bound.flat_args,
            api=api,
            callback=declared.callback,
            result_avals=declared.result_avals,
            in_tree=bound.in_tree,
            out_tree=declared.out_tree,
            vmap_method=vmap_method,
            has_side_effect=has_side_effect,
            input_output_aliases=declared.aliases,
            command_buffer_compatible=command_buffer_compatible,
            sharding=sharding,
            retain=retain,
            x64=bound.x64,
            checked=_is_checked(),
        )
        return tree_unflatten(declared.out_tree, results)

    return call


@dataclasses.dataclass(frozen=True)
class Bound:
    """A call whose arguments have been checked.

    Attributes:
      flat_args: the flat arguments, with random keys as their data.
      in_avals: their abstract values.
      in_tree: the structure of `(args, kwargs)`.
      x64: the x64 mode at the call.
    """

    flat_args: Sequence[Any]
    in_avals: Sequence[ShapedArray]
    in_tree: PyTreeDef
    x64: bool

    def as_numpy(self) -> list[np.ndarray]:
        """The flat arguments as JAX takes them: a Python number is an array of 32 bits by default."""
        return [
            np.asarray(arg).astype(aval.dtype)
            for arg, aval in zip(self.flat_args, self.in_avals, strict=True)
        ]


@dataclasses.dataclass(frozen=True)
class Declaration:
    """What is known of a buffer callback before it is called: all that a call is checked against."""

    callback: Callback
    result_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    aliases: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, callback: Callable[..., Any], spec: Any, aliases: Mapping[int, int] | None) -> Declaration:
        if not callable(callback):
            raise TypeError(f"buffer_callback: the callback must be callable, not {_shown(callback)}.")
        result_avals, out_tree = _result_avals(callback, spec)
        return cls(Callback.of(callback), result_avals, out_tree, _alias_pairs(callback, aliases))

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """Check the arguments of a call; raises `TypeError` or `ValueError` if they do not fit."""
        function = self.callback.function
        x64 = _jax.x64_enabled()
        _check_x64(function, self.result_avals, x64)
        check_signature(function, args, kwargs)
        flat_args, in_tree = tree_flatten((args, kwargs))
        flat_args, in_avals = _bind_arguments(function, flat_args, args, kwargs)
        _check_aliases(function, self.aliases, in_avals, self.result_avals)
        return Bound(flat_args, in_avals, in_tree, x64)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} (a {type(value).__name__})"


def _check_options(callback: Callable[..., Any], vmap_method: str | None, retain: str) -> None:
    check_vmap_method(callback, vmap_method)
    if retain not in ("raise", "copy"):
        raise ValueError(
            f"retain must be 'raise' or 'copy', but got: {retain!r}\nCallback {describe(callback)}"
        )


def check_vmap_method(callback: Callable[..., Any], vmap_method: str | None) -> None:
    """Raise `ValueError` for a method that does not exist."""
    if vmap_method not in VMAP_METHODS:
        # JAX's own text, slip included: programs look for it.
        raise ValueError(
            f"vmap_method must be on of the allowed methods {VMAP_METHODS}, but got: {vmap_method}\n"
            f"Callback {describe(callback)}"
        )


def _result_avals(callback: Callable[..., Any], spec: Any) -> tuple[tuple[ShapedArray, ...], PyTreeDef]:
    leaves, out_tree = tree_flatten(spec)
    for leaf in leaves:
        if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
            path = next(keystr(path) for path, other in tree_flatten_with_path(spec)[0] if other is leaf)
            raise TypeError(
                f"buffer_callback: result_shape_dtypes{path} must have a shape and a dtype, as "
                f"jax.ShapeDtypeStruct(shape, dtype) has, but is {_shown(leaf)}.\n"
                f"Callback {describe(callback)}"
            )
    try:
        return tuple(ShapedArray(tuple(leaf.shape), np.dtype(leaf.dtype)) for leaf in leaves), out_tree
    except TypeError as error:
        raise TypeError(
            "buffer_callback: result_shape_dtypes has a leaf of a shape or dtype that no output can have: "
            f"{error}\nCallback {describe(callback)}"
        ) from error


def _check_x64(callback: Callable[..., Any], avals: Sequence[ShapedArray], x64: bool) -> None:
    for index, aval in enumerate(avals):
        if buffers.canonical_dtype(aval.dtype, x64) != aval.dtype:
            raise ValueError(
                "result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` is disabled\n"
                f"Callback {describe(callback)}, output #{index} is {aval.dtype}"
            )


def _alias_pairs(
    callback: Callable[..., Any], aliases: Mapping[int, int] | None
) -> tuple[tuple[int, int], ...]:
    try:
        return tuple(sorted((operator.index(i), operator.index(o)) for i, o in (aliases or {}).items()))
    except (AttributeError, TypeError) as error:
        raise TypeError(
            "input_output_aliases must map the indices of flat inputs to those of flat outputs, but is "
            f"{_shown(aliases)}.\nCallback {describe(callback)}"
        ) from error


def _check_aliases(
    callback: Callable[..., Any],
    aliases: Sequence[tuple[int, int]],
    in_avals: Sequence[ShapedArray],
    out_avals: Sequence[ShapedArray],
) -> None:
    taken: dict[int, int] = {}
    for i, o in aliases:
        fault = None
        if not 0 <= i < len(in_avals):
            fault = f"with input index {i} outside the range [0, {len(in_avals)})."
        elif not 0 <= o < len(out_avals):
            fault = f"with output index {o} outside the range [0, {len(out_avals)})."
        elif (in_avals[i].shape, in_avals[i].dtype) != (out_avals[o].shape, out_avals[o].dtype):
            fault = (
                f"referring to an input with abstract value {in_avals[i]} and an output with a different "
                f"abstract value {out_avals[o]}."
            )
        elif o in taken:
            fault = f"referring to an output that input {taken[o]} is aliased to already."
        if fault:
            raise ValueError(
                f"input_output_aliases contains the mapping '{i}:{o}' {fault}\nCallback {describe(callback)}"
            )
        taken[o] = i


def _bind_arguments(
    callback: Callable[..., Any], flat_args: list[Any], args: Any, kwargs: Any
) -> tuple[list[Any], list[ShapedArray]]:
    """Return arguments and their abstract values as they are bound: random keys by their data."""
    avals = []
    flat_args = list(flat_args)
    for i, arg in enumerate(flat_args):
        try:
            aval = jax.typeof(arg)
        except TypeError as error:
            raise TypeError(_not_an_array(callback, i, args, kwargs, arg)) from error
        if not isinstance(aval, ShapedArray):
            raise TypeError(_not_an_array(callback, i, args, kwargs, arg))
        if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
            if not isinstance(callback, Adapted):
                raise TypeError(_typed_key(callback, i, args, kwargs))
            flat_args[i] = jax.random.key_data(arg)
            aval = jax.typeof(flat_args[i])
        avals.append(aval)
    return flat_args, avals


def _not_an_array(callback: Callable[..., Any], i: int, args: Any, kwargs: Any, arg: Any) -> str:
    return (
        f"buffer_callback: {argument_names(callback, args, kwargs)[i]} of callback {describe(callback)} must "
        f"be an array, but is {_shown(arg)}. Bind what is not an array with functools.partial or a closure."
    )


def _typed_key(callback: Callable[..., Any], i: int, args: Any, kwargs: Any) -> str:
    return (
        f"buffer_callback: {argument_names(callback, args, kwargs)[i]} of callback {describe(callback)} is a "
        "typed random key, which has no buffer of its own. Pass jax.random.key_data(key) instead, and "
        "rebuild the key with jax.random.wrap_key_data where one is needed."
    )


def adapt(function: Callable[..., Any], arrays: Arrays = "numpy") -> Callable[..., None]:
    """Return a buffer callback that writes what `function` returns, by the rules of `jax.pure_callback`.

    The flattened result is compared with the outputs leaf by leaf, in number, shape and dtype, once 64-bit
    values are canonicalised as the x64 mode at the call asks. Two results of `adapt` are equal if their
    functions are.

    Args:
      function: returns arrays, scalars or a pytree of them.
      arrays: what it is called with: "numpy", read-only NumPy views that are valid until it returns; or
        "jax", `jax.Array`s on the CPU, copied, as `jax.pure_callback` hands them over. A typed random key
        arrives as its data, as it does there.

    Raises:
      ValueError: for another value of `arrays`.
      TypeError: if `function` cannot be called.
    """
    if arrays not in ("numpy", "jax"):
        raise ValueError(f"arrays must be 'numpy' or 'jax', but got: {arrays!r}")
    if not callable(function):
        raise TypeError(f"bufcb.adapt: the function must be callable, not {_shown(function)}.")
    return Adapted(function, arrays)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: jax.sharding.Sharding | None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a value-returning function as `jax.pure_callback` does, on the primitive of `buffer_callback`.

    Takes and returns what `jax.pure_callback` does; `callback` is called with `jax.Array`s on the CPU.
    """
    call = _make_call(
        "pure_callback",
        adapt(callback, arrays="jax"),
        result_shape_dtypes,
        sharding=sharding,
        vmap_method=vmap_method,
    )
    return call(*args, **kwargs)


def store(out: Any, value: Any) -> None:
    """Write `value` into the outputs `out` of a callback, as strictly as `out[...] = value` does.

    Both may be pytrees: their flattened leaves are paired, as `jax.pure_callback` pairs results. All is
    checked before the first write.

    Raises:
      RuntimeError: if the number of leaves, a shape or a dtype differs.
      TypeError: if `out` is not an output as the callback was handed it.
    """
    if isinstance(out, Output):
        if buffers.fits(value, out):
            np.ndarray.__setitem__(out, Ellipsis, value)
        else:
            buffers.write((out,), buffers.leaves(value))
        return
    outputs = jax.tree_util.tree_leaves(out)
    if any(isinstance(output, DeviceBuffer) for output in outputs):
        kind: type[Any] = DeviceOutput
        write: Callable[..., None] = device.write
    else:
        kind, write = Output, buffers.write
    for output in outputs:
        if not isinstance(output, kind):
            raise TypeError(
                "bufcb.store writes into outputs as the callback was handed them, not into a "
                f"{type(output).__name__}; write into a view of one with `view[...] = value`."
            )
    write(outputs, buffers.leaves(value))


def to_numpy(x: Any, copy: bool = False) -> Any:
    """Return an array, or a pytree of arrays, as read-only NumPy views, or as copies that the caller owns.

    Leaves that are not arrays, and None, stay as they are.
    """
    if isinstance(x, np.ndarray):
        return _leaf_to_numpy(x, copy)
    return tree_map(functools.partial(_leaf_to_numpy, copy=copy), x)


def _leaf_to_numpy(leaf: Any, copy: bool) -> Any:
    if not isinstance(leaf, (np.ndarray, jax.Array, _jax.XlaBuffer, DeviceBuffer)):
        return leaf
    if copy:
        return np.array(leaf)
    view = np.asarray(leaf)
    if view.flags.writeable:
        view = view.view()
        view.setflags(write=False)
    return view


def _environment_asks_for_checks() -> bool:
    return os.environ.get("BUFCB_CHECKED", "").lower() not in ("", "0", "false", "no", "off")


_CHECKED_BY_DEFAULT = _environment_asks_for_checks()


def _is_checked() -> bool:
    value = _jax.checked_context.value
    return _CHECKED_BY_DEFAULT if value is None else value


@contextlib.contextmanager
def checked(enabled: bool = True) -> Iterator[None]:
    """Check, for computations called in this context, that callbacks write every element of their outputs.

    Functions under `jax.jit` are traced anew for it. To switch it on for a whole process, set the environment
    variable `BUFCB_CHECKED=1`.

    A callback without side effects may be called once more, to tell a value from the pattern that stands for
    an element that was not written.
    """
    with _jax.checked_context(bool(enabled)):
        yield
