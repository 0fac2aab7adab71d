"""What a callback is handed: NumPy-backed buffers, and the execution context.

A `Buffer` is a view of memory that XLA owns for the time of the call. It is built in two steps, an array
`r = raw.__array__()` and a view of it, see `hand_out`: NumPy makes `r` the base of every view derived from
it, so the reference count of `r` tells whether anything still looks at the memory when the callback has
returned.
"""

from __future__ import annotations

import abc
import functools
import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from jax.tree_util import tree_leaves

from bufcb import _jax
from bufcb._jax import ExecutionStage, XlaExecutionContext

__all__ = ["Buffer", "ExecutionContext", "ExecutionStage", "HostArray", "HostContext", "OutputError"]


_Kind = TypeVar("_Kind", bound="Buffer")

Order = Literal["C", "F"]
"""An order in memory: row-major, as XLA's, or column-major."""


class OutputError(RuntimeError):
    """A value that does not match its output in number of leaves, shape or dtype; raised inside the callback.

    Attributes:
      index: the flattened index of the output, or None if the number of leaves is wrong.
    """

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class _Plainly(np.ndarray):
    """An array whose results of arithmetic, and whose pickles, are plain arrays and scalars."""

    __slots__ = ()
    # Below ndarray's own: functions that choose the type of their result by priority then give plain arrays.
    __array_priority__ = -1.0

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        if array is self or not return_scalar:
            return array
        return array[()]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


class Buffer(_Plainly):
    """An argument or an output of a callback: an `np.ndarray` that is valid until the callback returns.

    Inputs are read-only. `out[...] = value` on an output as handed in is strict: `value` must have the
    output's shape and dtype, once 64-bit types are canonicalised as the x64 mode asks; nothing broadcasts and
    nothing is cast. Every other way to write is NumPy's own; `np.asarray(out)` is a plain view. What is
    derived from a `Buffer` is never one: slices, copies, reshapes and the results of arithmetic are plain
    arrays and scalars.
    """

    __slots__ = ()
    _x64 = False

    def __array_finalize__(self, source: Any) -> None:
        # NumPy asked for a result of the class of `source`, as `np.array(x, subok=True)` does.
        self.__class__ = _Derived  # type: ignore[assignment]

    @property
    def writeable(self) -> bool:
        """Whether the callback may write into it: true for outputs only."""
        return self.flags.writeable

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*plain(args, Buffer), **plain(kwargs, Buffer))

    def __dlpack__(self, **options: Any) -> Any:
        """Export the memory, a read-only input as `jax.Array` does: also to consumers without a flag."""
        if self.flags.writeable or (options.get("max_version") or (0, 0)) >= (1, 0):
            return np.asarray(self).__dlpack__(**options)
        return np.asarray(_Writable(self)).view(self.dtype).__dlpack__(**options)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __iter__(self) -> Any:
        return iter(np.asarray(self))


class Fresh(np.ndarray):
    """The class of a view until `hand_out` makes it a `Buffer`, which no view may be by itself."""

    __slots__ = ()


class _Derived(_Plainly):
    """What NumPy derives from a `Buffer` where it keeps subclasses; by name and behaviour a plain array."""

    __slots__ = ()


_Derived.__name__ = _Derived.__qualname__ = "array"


def hand_out(array: np.ndarray, kind: type[_Kind]) -> _Kind:
    """Return a view of `array` as a callback is handed it. The trampoline has these lines for its own."""
    view: Any = array.view(Fresh)
    view.__class__ = kind
    buffer: _Kind = view
    return buffer


class _Writable:
    """Lends the memory of a read-only array without its flag, and keeps the array alive."""

    def __init__(self, array: np.ndarray) -> None:
        interface = array.__array_interface__
        # Extension types have no typestr of their own: lend bytes of that width, the caller views them.
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self._array = array


def plain(value: Any, kind: type[Any]) -> Any:
    """Replace every `kind` of buffer in the arguments of a NumPy function by a plain array."""
    if isinstance(value, kind):
        return np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)([plain(item, kind) for item in value])
    if type(value) is dict:
        return {key: plain(item, kind) for key, item in value.items()}
    return value


def _delegate(name: str) -> Callable[..., Any]:
    """Return ndarray's own method, applied to a plain view, so that its result is plain too."""
    method = getattr(np.ndarray, name)

    @functools.wraps(method)
    def call(self: Buffer, *args: Any, **kwargs: Any) -> Any:
        return method(np.asarray(self), *args, **kwargs)

    return call


def _delegate_property(name: str) -> property:
    """Return ndarray's own property, read from (and set on) a plain view."""

    def get(self: Buffer) -> Any:
        return getattr(np.asarray(self), name)

    def put(self: Buffer, value: Any) -> None:
        setattr(np.asarray(self), name, value)

    return property(get, put, doc=getattr(np.ndarray, name).__doc__)


# What would otherwise return a Buffer. Methods that work in place (fill, sort, put, ...) stay NumPy's.
_DELEGATED = (
    *("__copy__", "__deepcopy__", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype"),
    *("byteswap", "choose", "clip", "compress", "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal"),
    *("dot", "flatten", "getfield", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape"),
    *(
        "round",
        "searchsorted",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "transpose",
        "var",
        "view",
    ),
)
for _name in _DELEGATED:
    setattr(Buffer, _name, _delegate(_name))
for _name in ("T", "mT", "flat", "imag", "real"):
    if hasattr(np.ndarray, _name):
        setattr(Buffer, _name, _delegate_property(_name))


class Output(Buffer):
    """A `Buffer` with strict `out[...] = value`; each output of a callback has a subclass of its own."""

    __slots__ = ()
    _index = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        # As handed in, an output's base is the plain array that the trampoline holds.
        if key is Ellipsis and type(self.base) is np.ndarray:
            write((self,), leaves(value))
        else:
            _assign(self, key, value)


_assign = np.ndarray.__setitem__


def fits(value: Any, output: np.ndarray) -> bool:
    """Return whether `value` is an array of the output's shape and dtype, as it mostly is."""
    return type(value) is np.ndarray and value.dtype == output.dtype and value.shape == output.shape


@functools.cache
def input_class(x64: bool) -> type[Buffer]:
    """Return the class of the arguments of a callback that was bound in the given x64 mode."""
    return _subclass(Buffer, _x64=True) if x64 else Buffer


def output_class(index: int, x64: bool, shape: tuple[int, ...], dtype: np.dtype) -> type[Output]:
    """Return a class for a callback's output number `index`, of known shape and dtype.

    A class carries what belongs to the output for free, where an attribute would have to be set on every
    call. Its assignment looks for the usual value, an array that fits, by constants of its own.
    """
    array, strict = np.ndarray, Output.__setitem__

    def assign(self: Output, key: Any, value: Any) -> None:
        if type(value) is array and value.dtype is dtype and value.shape == shape:
            _assign(self, key, value)
        else:
            strict(self, key, value)

    return _subclass(Output, _x64=x64, _index=index, __setitem__=assign)


def _subclass(kind: type[_Kind], **attributes: Any) -> type[_Kind]:
    return type("Buffer", (kind,), {"__slots__": (), "__module__": "bufcb", **attributes})


def is_sub_byte(dtype: np.dtype) -> bool:
    """Return whether XLA packs several elements of this dtype into a byte."""
    return dtype.name in SUB_BYTE_BITS


SUB_BYTE_BITS = {"int1": 1, "uint1": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
"""By the name of a dtype, how many bits of a byte hold a value."""

_NARROW = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


# What JAX has no type for, though its kind is that of numbers: structures, and more than double precision.
_EXTENDED = {np.longdouble: np.float64, np.clongdouble: np.complex128}
_FOREIGN = frozenset({np.void, *(kind for kind, double in _EXTENDED.items() if np.dtype(kind) != double)})


def canonical_dtype(dtype: np.dtype, x64: bool) -> np.dtype:
    """Return the 32-bit counterpart of a 64-bit dtype where x64 is off, else `dtype` itself."""
    return dtype if x64 else _NARROW.get(dtype, dtype)


_LEAF_TYPES = frozenset({np.ndarray, np.float32, np.float64, float, int, bool})


def leaves(value: Any) -> Sequence[Any]:
    """Flatten what a callback writes or returns, as `jax.pure_callback` flattens results."""
    kind = type(value)
    if kind in _LEAF_TYPES:
        return (value,)
    if kind is tuple and _LEAF_TYPES.issuperset(map(type, value)):
        flat: tuple[Any, ...] = value
        return flat
    return tree_leaves(value)


def write(outputs: Sequence[Output], values: Sequence[Any]) -> None:
    """Write flat values into flat outputs by `jax.pure_callback`'s rules; everything is checked before.

    Raises:
      OutputError: if the number of leaves, a shape or a dtype differs.
    """
    if len(values) != len(outputs):
        raise wrong_number(outputs, values)
    arrays = values if all(map(fits, values, outputs)) else _checked(outputs, values)
    if len(arrays) > 1:
        arrays = [_apart(array, outputs) for array in arrays]
    for array, output in zip(arrays, outputs, strict=True):
        _assign(output, Ellipsis, array)


def wrong_number(outputs: Sequence[Any], values: Sequence[Any]) -> OutputError:
    """Return the error of a value with another number of leaves than there are outputs."""
    return OutputError(
        f"Mismatched number of outputs from callback. Expected: {len(outputs)}, Actual: {len(values)}"
    )


def _checked(outputs: Sequence[Output], values: Sequence[Any]) -> list[np.ndarray]:
    arrays = [canonical(np.asarray(value), output) for value, output in zip(values, outputs, strict=True)]
    for array, output in zip(arrays, outputs, strict=True):
        check(array, output)
    return arrays


def canonical(array: np.ndarray, output: Any) -> np.ndarray:
    """Return a value, narrowed to 32 bits where the x64 mode asks; raises `TypeError` if not of numbers."""
    dtype = array.dtype
    if dtype == output.dtype:
        return array
    if dtype.kind not in "biufcV" or dtype.type in _FOREIGN or not dtype.isnative:
        raise TypeError(
            f"Dtype {dtype} is not a valid JAX array type. Only arrays of numeric types are supported by JAX."
        )
    return array if output._x64 or dtype not in _NARROW else array.astype(_NARROW[dtype])


def check(array: Any, output: Any) -> None:
    """Check that something with a shape and a dtype has those of the output; raises `OutputError`."""
    if array.shape != output.shape:
        raise OutputError(
            f"Incorrect output shape for return value #{output._index}: "
            f"Expected: {output.shape}, Actual: {array.shape}",
            output._index,
        )
    if array.dtype != output.dtype:
        raise OutputError(
            f"Incorrect output dtype for return value #{output._index}: "
            f"Expected: {output.dtype}, Actual: {array.dtype}",
            output._index,
        )


def _apart(array: np.ndarray, outputs: Sequence[Output]) -> np.ndarray:
    """Copy a value that lies in one of the outputs: an earlier write would change it."""
    if array.base is not None and any(np.may_share_memory(array, output) for output in outputs):
        return array.copy()
    return array


class ExecutionContext(abc.ABC):
    """What a callback knows about its execution. XLA's own contexts are instances as well."""

    @property
    @abc.abstractmethod
    def stage(self) -> ExecutionStage:
        """The stage that the callback is called for."""

    @property
    @abc.abstractmethod
    def stream(self) -> int:
        """The address of the accelerator's stream; an error on CPU, which has none."""


ExecutionContext.register(XlaExecutionContext)


class HostContext(ExecutionContext):
    """The context of a call that does not come from XLA's buffer handler: the host path and `dry_run`."""

    @property
    def stage(self) -> ExecutionStage:
        return ExecutionStage.EXECUTE

    @property
    def stream(self) -> int:
        raise RuntimeError("XLA FFI GPU context is not available: the callback runs on the host")


class HostArray(np.ndarray):
    """Memory of our own in the place of XLA's, for the host path and `dry_run`.

    A class of its own, since NumPy sees through plain arrays when it looks for the base of a view.
    """

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: np.dtype, order: Order = "C") -> HostArray:
        return np.ndarray.__new__(cls, shape, dtype, order=order)

    @classmethod
    def copy_of(cls, value: Any, order: Order = "C") -> HostArray:
        value = np.asarray(value)
        array = cls.empty(value.shape, value.dtype, order)
        array[...] = value
        return array

    @classmethod
    def input_of(cls, value: Any, order: Order = "C") -> HostArray:
        """Return a copy that no view of it can be made writable from.

        A view would not do: NumPy sees through it to the memory's owner, and a kept reference goes unseen.
        """
        array = cls.copy_of(value, order)
        array.setflags(write=False)
        return array


FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()


def _local_reference_count() -> int:
    array = np.empty(0)
    return sys.getrefcount(array)


def _escaped(arrays: Sequence[np.ndarray], idle: int) -> list[int]:
    """Return the indices of arrays that something else than the trampoline and `arrays` refers to."""
    return [i for i in range(len(arrays)) if sys.getrefcount(arrays[i]) > idle]


def _idle_count() -> int:
    array = np.empty(0)
    held = (array,)
    return next(count for count in range(16) if not _escaped(held, count))


# The reference count of a local array that nothing else refers to, and that of one which a tuple holds as
# well. Measured, since Python 3.14 no longer counts the reference on its evaluation stack.
IDLE = _local_reference_count()
_IDLE_IN_TUPLE = _idle_count()


def _wait(seconds: float) -> None:
    """Give other threads, if there are any, the time to drop what the callback lent them."""
    if threading.active_count() > 1:
        time.sleep(seconds)


def _full_collection() -> None:
    gc.collect()


_CLEARING: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: gc.collect(0),
    lambda: gc.collect(1),
    functools.partial(_wait, 0.0002),
    functools.partial(_wait, 0.005),
    _full_collection,
    functools.partial(_wait, 0.05),
)


def still_referenced(arrays: tuple[np.ndarray, ...]) -> list[int]:
    """Return the indices of `arrays` that stay referenced however garbage is collected, from cheap to dear.

    Reference cycles (recursive closures, SciPy's solvers) and arrays that JAX imported without a copy raise
    the count on every call; the first steps, of a few microseconds, clear those. A full collection comes
    last.
    """
    for clear in _CLEARING:
        clear()
        _jax.collect_garbage()
        if not (found := _escaped(arrays, _IDLE_IN_TUPLE)):
            return []
    return found


def detach(arrays: Sequence[np.ndarray]) -> None:
    """Part arrays from XLA's buffers, when something may refer to the arrays after the call.

    An array of XLA's has a wrapper for its base that is registered under the address of a C++ object on the
    stack. While it lives, a later call that passes a buffer from the same address is handed this stale
    wrapper instead, and crashes. Unpickling nothing into the array drops the base; views of the array stay as
    they are.
    """
    for array in arrays:
        if isinstance(array.base, _jax.XlaBuffer):
            state: Any = (1, (0,), np.dtype(np.uint8), False, b"")
            array.__setstate__(state)


CANARY, SECOND_CANARY = 0xA5, 0x5A


def fill_canary(array: np.ndarray, byte: int = CANARY) -> None:
    """Fill an output with a pattern that tells whether the callback wrote each element."""
    array.reshape(-1).view(np.uint8).fill(byte)


def _untouched(array: np.ndarray, byte: int) -> np.ndarray:
    """Return a flat mask of the elements that still hold the pattern."""
    flat = array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
    mask: np.ndarray = (flat == byte).all(axis=1)
    return mask


def find_unwritten(array: np.ndarray, run_again: Callable[[], None] | None) -> np.ndarray | None:
    """Return the flat mask of the elements that the callback did not write, or None if it wrote all.

    A value may equal the pattern, by chance or on purpose. So the callback is run once more over another
    pattern, if `run_again` is given; else 8- and 16-bit types, where chance will do, count only if untouched
    as a whole.
    """
    mask = _untouched(array, CANARY)
    if not mask.any():
        return None
    if run_again is not None:
        fill_canary(array, SECOND_CANARY)
        run_again()
        mask &= _untouched(array, SECOND_CANARY)
    elif array.itemsize <= 2 and array.dtype != np.bool_ and not (mask.all() and array.nbytes >= 4):
        return None
    return mask if mask.any() else None
