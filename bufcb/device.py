"""What a callback is handed on a GPU: buffers in its memory, which NumPy sees as copies on the host.

Nothing is copied until it is asked for. `np.asarray(x)` copies an input to the host, once, and waits for it;
an output that is asked for as an array lies on the host until the callback returns, and is copied to the GPU
then. GPU libraries get the memory itself, through `__cuda_array_interface__` or DLPack, and the streams that
they use it on are put in order with XLA's.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bufcb import buffers, dlpack
from bufcb.pinned import typestr

if TYPE_CHECKING:
    from bufcb.device_call import Call


class DeviceBuffer(np.lib.mixins.NDArrayOperatorsMixin):
    """An argument or an output of a callback in a GPU's memory, valid until the callback returns.

    `cupy.asarray(x)`, `torch.from_dlpack(x)` and the like take its memory as it is. The stream that they
    name, or else the default one, waits for XLA's and is waited for; work on other streams has to be put in
    order with `ctx.stream`. All that an `np.ndarray` does works as well, on a copy on the host:
    `np.asarray(x)`, indexing, arithmetic, `x.sum()`. Inputs are read-only, for GPU libraries as far as they
    heed it.

    `out[...] = value` on an output is as strict as on CPU: `value`, an array of NumPy's or of a GPU library,
    must have the output's shape and dtype, once 64-bit types are canonicalised. An output that a GPU library
    was handed is read-only as `np.asarray(out)` from then on, a copy of what the GPU holds.
    """

    __slots__ = ("__weakref__", "_call", "_dtype", "_host", "_index", "_raw", "_shape", "_shared", "_valid")
    _writeable = False

    def __init__(self, call: Call, raw: Any, index: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._call: Call | None = call
        self._raw = raw
        self._index = index
        self._shape = shape
        self._dtype = dtype
        # The copy on the host, with the GPU's dtype or bytes of its width; every view has it for its base.
        self._host: np.ndarray | None = None
        self._valid = True  # whether the GPU's memory has values that matter
        self._shared = False  # whether a GPU library may write into it

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """The type of its elements."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """The bytes that its elements take, as NumPy counts them."""
        return self.size * self._dtype.itemsize

    @property
    def writeable(self) -> bool:
        """Whether the callback may write into it: true for outputs only."""
        return self._writeable

    @property
    def _x64(self) -> bool:
        return self._running().plan.x64

    # What GPU libraries ask for.

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the interface; its consumer waits for the stream that it names."""
        call = self._share(None)
        address = call.address(self) if self.size else 0
        interface = {
            "shape": self._shape,
            "typestr": typestr(self._dtype),
            "data": (address, not self._writeable),
        }
        # While work is recorded nothing can be waited for: the callback has to use `ctx.stream`.
        stream = None if call.is_recording() else call.stream
        return {**interface, "strides": None, "version": 3, "stream": stream}

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the memory, or a copy on the host if `dl_device` asks for it, as the array API specifies."""
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            return self._host_dlpack(stream, max_version, dl_device, copy)
        if copy:
            raise BufferError("A DeviceBuffer cannot be copied on its GPU; copy what is made of it.")
        if buffers.is_sub_byte(self._dtype):
            raise BufferError(f"DLPack has no counterpart of a {self._dtype} in each byte.")
        self._share(stream)
        return dlpack.export(self._raw, self, versioned=(max_version or (0, 0)) >= (1, 0))

    def _host_dlpack(
        self,
        stream: int | None,
        max_version: tuple[int, int] | None,
        dl_device: tuple[int, int],
        copy: bool | None,
    ) -> Any:
        if int(dl_device[0]) != dlpack.CPU:
            raise BufferError(f"A DeviceBuffer cannot be exported to the device {tuple(dl_device)}.")
        if copy is False:
            raise BufferError("A DeviceBuffer cannot be exported to the host without a copy.")
        if stream is not None:
            raise BufferError("The host has no streams.")
        versions: dict[str, Any] = {} if max_version is None else {"max_version": max_version}
        return np.array(self._view()).__dlpack__(**versions)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of the device and its number, as DLPack counts them."""
        self._running()
        kind, ordinal = self._raw.__dlpack_device__()
        return int(kind), int(ordinal)

    def _share(self, stream: int | None) -> Call:
        """Get ready for a GPU library that uses the memory on `stream`."""
        call = self._running()
        if self._writeable:
            call.settle(self)
            self._shared = True
        call.join(stream)
        return call

    # What NumPy asks for.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._view(), dtype=dtype, copy=copy)

    def _view(self) -> np.ndarray:
        """Return the values on the host: a view of the one copy, or a copy if a GPU library may write."""
        if self._call is None and self._host is not None:
            return self._host.view(self._dtype)
        call = self._running()
        if self._shared:
            array = call.fetch(self)
            array.setflags(write=False)
            return array
        return call.staged(self).view(self._dtype)

    def _is_on_gpu(self) -> bool:
        """Return whether the GPU's memory holds the values."""
        return self._valid and (self._host is None or not self._writeable)

    def _running(self) -> Call:
        """Return the call that it belongs to; `RuntimeError` if that is over."""
        if self._call is None:
            raise RuntimeError(
                "buffer_callback: a buffer was used after its callback returned, and XLA uses its memory for "
                "something else now. Keep a copy instead, with `np.array(x)`."
            )
        return self._call

    @contextlib.contextmanager
    def _edited(
        self, *, current: bool = True, called: str = "assignment destination"
    ) -> Iterator[np.ndarray]:
        """Give an array on the host to write into, with the current values or any, for the GPU to have.

        Errors say what NumPy calls such an array.
        """
        if not self._writeable:
            raise ValueError(f"{called} is read-only")
        call = self._running()
        if self._shared:
            array = call.fetch(self) if current else np.empty(self._shape, self._dtype)
            yield array
            call.push(self, array)
        else:
            yield call.staged(self, current=current).view(self._dtype)

    def __getitem__(self, key: Any) -> Any:
        return self._view()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is Ellipsis and self._writeable:
            write((self,), buffers.leaves(value))
            return
        with self._edited() as array:
            array[key] = _plain(value)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._view())

    def __contains__(self, item: Any) -> bool:
        return item in self._view()

    def __repr__(self) -> str:
        state = "" if self._call is not None else ", after its callback"
        kind = "output" if self._writeable else "input"
        return f"<DeviceBuffer: {kind} of shape {self._shape} and dtype {self._dtype}{state}>"

    def __str__(self) -> str:
        return str(self._view())

    def __bool__(self) -> bool:
        return bool(self._view())

    def __int__(self) -> int:
        return int(self._view())

    def __float__(self) -> float:
        return float(self._view())

    def __complex__(self) -> complex:
        return complex(self._view())

    def __index__(self) -> int:
        return self._view().__index__()

    def __format__(self, spec: str) -> str:
        return format(self._view(), spec)

    def __copy__(self) -> np.ndarray:
        return np.array(self)

    def __deepcopy__(self, memo: Any) -> np.ndarray:
        return copy.deepcopy(np.array(self), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.array(self).__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_ARRAYS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self._view(), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(_has_ufuncs_of_its_own(value) for value in (*inputs, *(kwargs.get("out") or ()))):
            return NotImplemented
        with contextlib.ExitStack() as stack:
            targets = kwargs.pop("out", None) or ()
            if targets:
                kwargs["out"] = tuple(
                    stack.enter_context(out._edited(called="output array"))
                    if isinstance(out, DeviceBuffer)
                    else out
                    for out in targets
                )
            result = getattr(ufunc, method)(*map(_plain, inputs), **_plain(kwargs))
        if not targets:
            return result
        return targets[0] if len(targets) == 1 else targets

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_plain(args), **_plain(kwargs))


class DeviceOutput(DeviceBuffer):
    """A `DeviceBuffer` that the callback writes."""

    __slots__ = ()
    _writeable = True


DeviceOutput.__name__ = DeviceOutput.__qualname__ = "DeviceBuffer"


def _settable(name: str) -> property:
    """Return a property of arrays that can be set, which writes elements."""

    def get(self: DeviceBuffer) -> Any:
        return getattr(self._view(), name)

    def put(self: DeviceBuffer, value: Any) -> None:
        with self._edited() as array:
            setattr(array, name, _plain(value))

    return property(get, put, doc=getattr(np.ndarray, name).__doc__)


for _name in ("flat", "imag", "real"):
    setattr(DeviceBuffer, _name, _settable(_name))

# Attributes of arrays that are those of the copy on the host; these two would deny that there is a GPU.
_OF_ARRAYS = frozenset(name for name in dir(np.ndarray) if name[0] != "_") - {"device", "to_device"}


def _plain(value: Any) -> Any:
    """Replace every `DeviceBuffer` in the arguments of a NumPy function by an array on the host."""
    return buffers.plain(value, DeviceBuffer)


def _has_ufuncs_of_its_own(value: Any) -> bool:
    if isinstance(value, (DeviceBuffer, np.ndarray, np.generic)):
        return False
    return getattr(type(value), "__array_ufunc__", None) is not None


def write(outputs: Sequence[DeviceBuffer], values: Sequence[Any]) -> None:
    """Write flat values into flat outputs by `jax.pure_callback`'s rules; everything is checked before.

    Raises:
      OutputError: if the number of leaves, a shape or a dtype differs.
    """
    if len(values) != len(outputs):
        raise buffers.wrong_number(outputs, values)
    if outputs:
        outputs[0]._running().write(outputs, values)
