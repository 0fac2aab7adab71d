"""What staging needs of a GPU: copies, streams and page-locked memory, through the driver's own library.

The library is the one that XLA has loaded, called by ctypes, which lets go of the GIL meanwhile. Addresses,
streams and events are integers.
"""

from __future__ import annotations

import abc
import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from typing import Any, ClassVar


class DriverError(RuntimeError):
    """A function of the GPU's driver failed, or the driver's library cannot be used.

    Attributes:
      name: the driver's name of the error, such as "CUDA_ERROR_ILLEGAL_ADDRESS"; empty without a library.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class Driver(abc.ABC):
    """Copies between a GPU's memory and the host's. Every method raises `DriverError` if the driver does.

    All but `scope` and `is_recording` are called within `scope`. Copies and fills are ordered on `stream` and
    may be under way when the method returns; `synchronize` waits for them.

    Attributes:
      default_stream: the stream that GPU libraries use unless told otherwise.
    """

    default_stream: int

    @abc.abstractmethod
    def scope(self, stream: int, ordinal: int) -> contextlib.AbstractContextManager[None]:
        """Return a context in which the GPU of `stream`, number `ordinal`, is current on this thread."""

    @abc.abstractmethod
    def is_recording(self, stream: int) -> bool:
        """Return whether work on `stream` is recorded to be run later, and not run."""

    @abc.abstractmethod
    def to_host(self, host: int, address: int, size: int, stream: int) -> None:
        """Copy `size` bytes from the GPU to the host."""

    @abc.abstractmethod
    def to_device(self, address: int, host: int, size: int, stream: int) -> None:
        """Copy `size` bytes from the host to the GPU."""

    @abc.abstractmethod
    def within(self, address: int, source: int, size: int, stream: int) -> None:
        """Copy `size` bytes from one place of the GPU's memory to another."""

    @abc.abstractmethod
    def fill(self, address: int, byte: int, size: int, stream: int) -> None:
        """Fill `size` bytes of the GPU's memory."""

    @abc.abstractmethod
    def synchronize(self, stream: int) -> None:
        """Wait for the work on `stream`."""

    @abc.abstractmethod
    def order(self, first: int, then: int) -> None:
        """Have later work on the stream `then` wait, on the GPU, for the work on the stream `first`."""

    @abc.abstractmethod
    def allocate(self, size: int) -> int:
        """Return the address of new page-locked host memory."""

    @abc.abstractmethod
    def free(self, host: int) -> None:
        """Free memory that `allocate` returned."""


class _LibraryDriver(Driver):
    """A driver whose functions return a status, zero for success.

    Attributes:
      _SIGNATURES: the argument types of each function.
      _LIBRARIES: file names of the library, the most likely first.
    """

    _SIGNATURES: ClassVar[Mapping[str, Sequence[Any]]]
    _LIBRARIES: ClassVar[Sequence[str]]

    def __init__(self, library: Any) -> None:
        self._functions: dict[str, Callable[..., int]] = {}
        for name, types in self._SIGNATURES.items():
            try:
                function = getattr(library, name)
            except AttributeError as error:
                raise DriverError(f"bufcb: the GPU's driver is too old: it has no {name}.") from error
            function.argtypes, function.restype = types, c_int
            self._functions[name] = function

    @classmethod
    def load(cls) -> Driver:
        """Return the driver of the library that this process uses, or else finds."""
        for mode in (getattr(os, "RTLD_NOLOAD", 0), 0):
            for name in cls._LIBRARIES:
                with contextlib.suppress(OSError):
                    return cls(ctypes.CDLL(name, mode=ctypes.DEFAULT_MODE | mode))
        raise DriverError(
            f"bufcb: the GPU's driver cannot be called, since none of {', '.join(cls._LIBRARIES)} was found."
        )

    def _call(self, name: str, *args: Any) -> None:
        status = self._functions[name](*args)
        if status:
            error, text = self._explain(status)
            raise DriverError(f"{name} failed with {error}{text and ': ' + text}", error)

    @abc.abstractmethod
    def _explain(self, status: int) -> tuple[str, str]:
        """Return the name of an error, and its description if there is one."""

    def _ask(self, name: str, kind: Any, *args: Any) -> int:
        """Return what a function writes where its last argument points."""
        value = kind()
        self._call(name, *args, ctypes.byref(value))
        return value.value or 0

    @contextlib.contextmanager
    def _event(self, create: str, destroy: str, no_timing: int) -> Iterator[c_void_p]:
        event = c_void_p()
        self._call(create, ctypes.byref(event), no_timing)
        try:
            yield event
        finally:
            # The driver frees an event that something waits for once it is reached.
            self._call(destroy, event)


class CudaDriver(_LibraryDriver):
    """NVIDIA's driver API. Functions have the versions that `cuda.h` of CUDA 12 and 13 names."""

    _LIBRARIES = ("libcuda.so.1", "libcuda.so")
    _SIGNATURES: ClassVar[Mapping[str, Sequence[Any]]] = {
        "cuGetErrorName": (c_int, c_void_p),
        "cuGetErrorString": (c_int, c_void_p),
        "cuStreamGetCtx": (c_void_p, c_void_p),
        "cuCtxPushCurrent_v2": (c_void_p,),
        "cuCtxPopCurrent_v2": (c_void_p,),
        "cuStreamIsCapturing": (c_void_p, c_void_p),
        "cuMemcpyDtoHAsync_v2": (c_void_p, c_uint64, c_size_t, c_void_p),
        "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
        "cuMemcpyDtoDAsync_v2": (c_uint64, c_uint64, c_size_t, c_void_p),
        "cuMemsetD8Async": (c_uint64, c_ubyte, c_size_t, c_void_p),
        "cuStreamSynchronize": (c_void_p,),
        "cuEventCreate": (c_void_p, c_uint),
        "cuEventRecord": (c_void_p, c_void_p),
        "cuEventDestroy_v2": (c_void_p,),
        "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
        "cuMemHostAlloc": (c_void_p, c_size_t, c_uint),
        "cuMemFreeHost": (c_void_p,),
    }
    default_stream = 1  # CU_STREAM_LEGACY
    _EVENT_DISABLE_TIMING = 2
    _PINNED_IN_ALL_CONTEXTS = 1  # CU_MEMHOSTALLOC_PORTABLE

    def _explain(self, status: int) -> tuple[str, str]:
        found = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = c_char_p()
            self._functions[name](status, ctypes.byref(text))
            found.append((text.value or b"").decode())
        return found[0] or f"error {status}", found[1]

    @contextlib.contextmanager
    def scope(self, stream: int, ordinal: int) -> Iterator[None]:
        # XLA may call back on a thread where no context, or that of another GPU, is current. The stream knows
        # its own; memory that was allocated in stream order has none.
        self._call("cuCtxPushCurrent_v2", self._ask("cuStreamGetCtx", c_void_p, stream))
        try:
            yield
        finally:
            self._ask("cuCtxPopCurrent_v2", c_void_p)

    def is_recording(self, stream: int) -> bool:
        return self._ask("cuStreamIsCapturing", c_int, stream) != 0

    def to_host(self, host: int, address: int, size: int, stream: int) -> None:
        self._call("cuMemcpyDtoHAsync_v2", host, address, size, stream)

    def to_device(self, address: int, host: int, size: int, stream: int) -> None:
        self._call("cuMemcpyHtoDAsync_v2", address, host, size, stream)

    def within(self, address: int, source: int, size: int, stream: int) -> None:
        self._call("cuMemcpyDtoDAsync_v2", address, source, size, stream)

    def fill(self, address: int, byte: int, size: int, stream: int) -> None:
        self._call("cuMemsetD8Async", address, byte, size, stream)

    def synchronize(self, stream: int) -> None:
        self._call("cuStreamSynchronize", stream)

    def order(self, first: int, then: int) -> None:
        with self._event("cuEventCreate", "cuEventDestroy_v2", self._EVENT_DISABLE_TIMING) as event:
            self._call("cuEventRecord", event, first)
            self._call("cuStreamWaitEvent", then, event, 0)

    def allocate(self, size: int) -> int:
        host = c_void_p()
        self._call("cuMemHostAlloc", ctypes.byref(host), size, self._PINNED_IN_ALL_CONTEXTS)
        return host.value or 0

    def free(self, host: int) -> None:
        self._call("cuMemFreeHost", host)


class HipDriver(_LibraryDriver):
    """AMD's HIP runtime, which has a current device in the place of CUDA's contexts."""

    _LIBRARIES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so")
    _SIGNATURES: ClassVar[Mapping[str, Sequence[Any]]] = {
        "hipGetDevice": (c_void_p,),
        "hipSetDevice": (c_int,),
        "hipStreamIsCapturing": (c_void_p, c_void_p),
        "hipMemcpyAsync": (c_void_p, c_void_p, c_size_t, c_int, c_void_p),
        "hipMemsetAsync": (c_void_p, c_int, c_size_t, c_void_p),
        "hipStreamSynchronize": (c_void_p,),
        "hipEventCreateWithFlags": (c_void_p, c_uint),
        "hipEventRecord": (c_void_p, c_void_p),
        "hipEventDestroy": (c_void_p,),
        "hipStreamWaitEvent": (c_void_p, c_void_p, c_uint),
        "hipHostMalloc": (c_void_p, c_size_t, c_uint),
        "hipHostFree": (c_void_p,),
    }
    default_stream = 0
    _EVENT_DISABLE_TIMING = 2
    _PINNED_IN_ALL_CONTEXTS = 1  # hipHostMallocPortable
    _HOST_TO_DEVICE, _DEVICE_TO_HOST, _DEVICE_TO_DEVICE = 1, 2, 3

    def __init__(self, library: Any) -> None:
        super().__init__(library)
        self._texts = [getattr(library, name, None) for name in ("hipGetErrorName", "hipGetErrorString")]
        for function in self._texts:
            if function is not None:
                function.argtypes, function.restype = (c_int,), c_char_p

    def _explain(self, status: int) -> tuple[str, str]:
        texts = [(function(status) or b"").decode() if function else "" for function in self._texts]
        return texts[0] or f"error {status}", texts[1]

    @contextlib.contextmanager
    def scope(self, stream: int, ordinal: int) -> Iterator[None]:
        before = self._ask("hipGetDevice", c_int)
        self._call("hipSetDevice", ordinal)
        try:
            yield
        finally:
            self._call("hipSetDevice", before)

    def is_recording(self, stream: int) -> bool:
        return self._ask("hipStreamIsCapturing", c_int, stream) != 0

    def to_host(self, host: int, address: int, size: int, stream: int) -> None:
        self._call("hipMemcpyAsync", host, address, size, self._DEVICE_TO_HOST, stream)

    def to_device(self, address: int, host: int, size: int, stream: int) -> None:
        self._call("hipMemcpyAsync", address, host, size, self._HOST_TO_DEVICE, stream)

    def within(self, address: int, source: int, size: int, stream: int) -> None:
        self._call("hipMemcpyAsync", address, source, size, self._DEVICE_TO_DEVICE, stream)

    def fill(self, address: int, byte: int, size: int, stream: int) -> None:
        self._call("hipMemsetAsync", address, byte, size, stream)

    def synchronize(self, stream: int) -> None:
        self._call("hipStreamSynchronize", stream)

    def order(self, first: int, then: int) -> None:
        with self._event("hipEventCreateWithFlags", "hipEventDestroy", self._EVENT_DISABLE_TIMING) as event:
            self._call("hipEventRecord", event, first)
            self._call("hipStreamWaitEvent", then, event, 0)

    def allocate(self, size: int) -> int:
        host = c_void_p()
        self._call("hipHostMalloc", ctypes.byref(host), size, self._PINNED_IN_ALL_CONTEXTS)
        return host.value or 0

    def free(self, host: int) -> None:
        self._call("hipHostFree", host)


_KINDS: dict[str, type[_LibraryDriver]] = {"cuda": CudaDriver, "rocm": HipDriver}


@functools.cache
def driver_of(platform: str) -> Driver:
    """Return the driver of "cuda" or "rocm"; `DriverError` if its library cannot be used."""
    return _KINDS[platform].load()
