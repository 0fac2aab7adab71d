"""A GPU in the memory of this process, as lazy as one may be: work on a stream is done when waited for.

`Gpu` has memory, streams and events. On top of it there are a `Driver`, and the libraries of CUDA and HIP as
far as `bufcb` calls them, with the arguments and types of C. `Raw` and `Context` are what XLA hands over.
"""

import collections
import contextlib
import ctypes
import itertools
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from typing import Any, ClassVar

import numpy as np

from bufcb import dlpack
from bufcb.drivers import Driver, DriverError

XLA_STREAM = 0x70
ORDINAL = 3


class Gpu:
    """Memory and streams. `log` has the name of everything that was asked of it, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.failures: dict[str, str] = {}  # the error that a function is to fail with
        self.recording: set[int] = set()
        self.memory: dict[int, np.ndarray] = {}
        self.pinned: dict[int, np.ndarray] = {}
        self.current: list[Any] = []
        self._queues: dict[int, collections.deque[Callable[[], None]]] = {}

    def put(self, values: np.ndarray) -> int:
        """Put values into the GPU's memory, and return their address."""
        held = np.array(values, order="C")
        memory = np.frombuffer(bytearray(held.tobytes() or b"\0"), np.uint8)
        self.memory[memory.ctypes.data] = memory
        return memory.ctypes.data

    def has(self, address: int) -> bool:
        """Whether an address is in the GPU's memory."""
        return any(start <= address < start + memory.size for start, memory in self.memory.items())

    def enqueue(self, stream: int, work: Callable[[], None]) -> None:
        assert stream not in self.recording, "recorded work is never run here"
        self._queues.setdefault(stream, collections.deque()).append(work)

    def finish(self, stream: int) -> None:
        """Do all the work on a stream."""
        queue = self._queues.get(stream, collections.deque())
        while queue:
            queue.popleft()()

    def record(self, stream: int) -> Callable[[], None]:
        """Return an event: a function that waits for all work which is on the stream by now."""
        reached = [False]
        self.enqueue(stream, lambda: reached.__setitem__(0, True))

        def wait() -> None:
            queue = self._queues[stream]
            while not reached[0]:
                queue.popleft()()

        return wait

    def copy(self, stream: int, target: int, source: int, size: int) -> None:
        self.enqueue(stream, lambda: ctypes.memmove(target, source, size) and None)

    def fill(self, stream: int, target: int, byte: int, size: int) -> None:
        self.enqueue(stream, lambda: ctypes.memset(target, byte, size) and None)

    def allocate(self, size: int) -> int:
        memory = np.zeros(size, np.uint8)
        self.pinned[memory.ctypes.data] = memory
        return memory.ctypes.data

    def free(self, host: int) -> None:
        del self.pinned[host]

    def called(self, *names: str) -> list[str]:
        """What was asked of these kinds, in order."""
        return [name for name in self.log if name in names]


class SimulatedDriver(Driver):
    """The driver of a `Gpu`."""

    default_stream = 1

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu

    def _asked(self, name: str, scoped: bool = True) -> Gpu:
        if name in self.gpu.failures:
            raise DriverError(f"{name} failed with {self.gpu.failures[name]}", self.gpu.failures[name])
        assert not scoped or self.gpu.current, f"{name} outside of a scope"
        self.gpu.log.append(name)
        return self.gpu

    @contextlib.contextmanager
    def scope(self, stream: int, ordinal: int) -> Iterator[None]:
        self.gpu.current.append((stream, ordinal))
        try:
            yield
        finally:
            self.gpu.current.pop()

    def is_recording(self, stream: int) -> bool:
        return stream in self._asked("is_recording", scoped=False).recording

    def to_host(self, host: int, address: int, size: int, stream: int) -> None:
        self._asked("to_host").copy(stream, host, address, size)

    def to_device(self, address: int, host: int, size: int, stream: int) -> None:
        self._asked("to_device").copy(stream, address, host, size)

    def within(self, address: int, source: int, size: int, stream: int) -> None:
        gpu = self._asked("within")
        if stream not in gpu.recording:
            gpu.copy(stream, address, source, size)

    def fill(self, address: int, byte: int, size: int, stream: int) -> None:
        self._asked("fill").fill(stream, address, byte, size)

    def synchronize(self, stream: int) -> None:
        self._asked("synchronize").finish(stream)

    def order(self, first: int, then: int) -> None:
        gpu = self._asked("order")
        gpu.enqueue(then, gpu.record(first))

    def allocate(self, size: int) -> int:
        return self._asked("allocate").allocate(size)

    def free(self, host: int) -> None:
        self._asked("free").free(host)


class Raw:
    """One of XLA's buffers on a GPU. Its DLPack capsules hold no reference to it, as XLA's do not."""

    def __init__(self, gpu: Gpu, values: Any, writeable: bool = False, kind: int = 2) -> None:
        values = np.asarray(values)
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim
        self.writeable = writeable
        self._kind = kind
        self._address = gpu.put(values)
        self._memory = gpu.memory[self._address]

    @property
    def values(self) -> np.ndarray:
        """What is in the memory; only the test may look there."""
        size = int(np.prod(self.shape, dtype=int)) * self.dtype.itemsize
        return self._memory[:size].view(self.dtype).reshape(self.shape).copy()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, ORDINAL

    def __dlpack__(self, stream: Any = None, max_version: Any = None) -> Any:
        assert stream is None and max_version is None
        width = self.dtype.itemsize
        capsule = np.zeros(self.shape, f"u{width}" if width <= 8 else "c16").__dlpack__()
        tensor = dlpack._Tensor.from_address(dlpack._pointer(capsule, b"dltensor"))
        tensor.data, tensor.device.kind, tensor.device.ordinal = self._address, self._kind, ORDINAL
        codes = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}
        tensor.dtype.code = codes[self.dtype.kind]
        return capsule

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Buffer.__array__ is only supported on CPU.")


class Context:
    """XLA's execution context on a GPU."""

    def __init__(self, stream: int = XLA_STREAM) -> None:
        self.stream = stream


class GpuArray:
    """An array of a GPU library: it has `__cuda_array_interface__`, and keeps alive what it was made of."""

    def __init__(self, interface: dict[str, Any], owner: Any = None) -> None:
        self.__cuda_array_interface__ = interface
        self.owner = owner

    @classmethod
    def of(cls, exporter: Any) -> "GpuArray":
        return cls(exporter.__cuda_array_interface__, exporter)

    @classmethod
    def put(cls, gpu: Gpu, values: np.ndarray, **changes: Any) -> "GpuArray":
        """Upload values."""
        interface = {"shape": values.shape, "typestr": values.dtype.str, "data": (gpu.put(values), False)}
        return cls({**interface, "version": 3, "strides": None, **changes})

    @property
    def address(self) -> int:
        return int(self.__cuda_array_interface__["data"][0])

    @property
    def nbytes(self) -> int:
        interface = self.__cuda_array_interface__
        return int(np.prod(interface["shape"], dtype=int)) * np.dtype(interface["typestr"]).itemsize

    def assign(self, gpu: Gpu, values: np.ndarray, stream: int = 1) -> None:
        """Have the GPU write values, on the library's stream."""
        source = gpu.put(values)
        assert values.nbytes == self.nbytes
        gpu.copy(stream, self.address, source, self.nbytes)


# The libraries, as C sees them. Prototypes have the types of cuda.h and hip_runtime_api.h.


def _store(kind: Any, pointer: int, value: Any) -> None:
    kind.from_address(pointer).value = value


class Library:
    """A shared library whose functions are written in Python; `errors` maps a status to name and text."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.events: dict[int, Callable[[], None] | None] = {}
        self.fail: dict[str, int] = {}
        self._numbers = itertools.count(0x5000)
        self._keep: list[Any] = []

    def _define(self, name: str, types: Sequence[Any], body: Callable[..., int | None]) -> None:
        def function(*args: Any) -> int:
            self.gpu.log.append(name)
            return self.fail.get(name) or body(*args) or 0

        setattr(self, name, ctypes.CFUNCTYPE(c_int, *types)(function))

    def create_event(self, pointer: int, flags: int) -> None:
        assert flags == 2, "events are faster without timing"
        number = next(self._numbers)
        self.events[number] = None
        _store(c_void_p, pointer, number)

    def record_event(self, event: int, stream: int | None) -> None:
        self.events[event] = self.gpu.record(stream or 0)

    def wait_event(self, stream: int | None, event: int, flags: int) -> None:
        wait = self.events[event]
        assert wait is not None and flags == 0
        self.gpu.enqueue(stream or 0, wait)

    def destroy_event(self, event: int) -> None:
        del self.events[event]

    def allocate(self, pointer: int, size: int, flags: int) -> None:
        assert flags == 1, "pinned for every GPU"
        _store(c_void_p, pointer, self.gpu.allocate(size))

    def is_capturing(self, stream: int, pointer: int) -> None:
        _store(c_int, pointer, int(stream in self.gpu.recording))


class CudaLibrary(Library):
    """libcuda.so.1. A function needs a current context, but for those that ask about a stream or an error."""

    ERRORS: ClassVar = {
        2: (b"CUDA_ERROR_OUT_OF_MEMORY", b"out of memory"),
        700: (b"CUDA_ERROR_ILLEGAL_ADDRESS", b"an illegal memory access was encountered"),
    }
    INVALID_VALUE, INVALID_CONTEXT, INVALID_HANDLE = 1, 201, 400

    def __init__(self, gpu: Gpu) -> None:
        super().__init__(gpu)
        self.contexts = {XLA_STREAM: 0xC0}
        pointer, address = c_void_p, c_uint64

        def copy(target: int, source: int, size: int, stream: int | None) -> None:
            gpu.copy(stream or 0, target, source, size)

        def fill(target: int, byte: int, size: int, stream: int | None) -> None:
            gpu.fill(stream or 0, target, byte, size)

        for name, types, body in (
            ("cuMemcpyDtoHAsync_v2", (pointer, address, c_size_t, pointer), copy),
            ("cuMemcpyHtoDAsync_v2", (address, pointer, c_size_t, pointer), copy),
            ("cuMemcpyDtoDAsync_v2", (address, address, c_size_t, pointer), copy),
            ("cuMemsetD8Async", (address, c_ubyte, c_size_t, pointer), fill),
            ("cuStreamSynchronize", (pointer,), gpu.finish),
            ("cuEventCreate", (pointer, c_uint), self.create_event),
            ("cuEventRecord", (pointer, pointer), self.record_event),
            ("cuEventDestroy_v2", (pointer,), self.destroy_event),
            ("cuStreamWaitEvent", (pointer, pointer, c_uint), self.wait_event),
            ("cuMemHostAlloc", (pointer, c_size_t, c_uint), self.allocate),
            ("cuMemFreeHost", (pointer,), gpu.free),
        ):
            self._define(name, types, self._in_context(body))
        self._define("cuStreamGetCtx", (pointer, pointer), self.context_of)
        self._define("cuCtxPushCurrent_v2", (pointer,), gpu.current.append)
        self._define("cuCtxPopCurrent_v2", (pointer,), lambda p: _store(c_void_p, p, gpu.current.pop()))
        self._define("cuStreamIsCapturing", (pointer, pointer), self.is_capturing)
        self._define("cuGetErrorName", (c_int, pointer), lambda status, p: self.text_of(status, p, 0))
        self._define("cuGetErrorString", (c_int, pointer), lambda status, p: self.text_of(status, p, 1))

    def _in_context(self, body: Callable[..., int | None]) -> Callable[..., int | None]:
        return lambda *args: body(*args) if self.gpu.current else self.INVALID_CONTEXT

    def context_of(self, stream: int, pointer: int) -> int:
        if stream not in self.contexts:
            return self.INVALID_HANDLE
        _store(c_void_p, pointer, self.contexts[stream])
        return 0

    def text_of(self, status: int, pointer: int, which: int) -> int:
        if status not in self.ERRORS:
            _store(c_void_p, pointer, None)
            return self.INVALID_VALUE
        text = ctypes.create_string_buffer(self.ERRORS[status][which])
        self._keep.append(text)
        _store(c_void_p, pointer, ctypes.addressof(text))
        return 0


class HipLibrary(Library):
    """libamdhip64.so. The device that is current on the thread is `gpu.current[-1]`."""

    ERRORS: ClassVar = {2: b"hipErrorOutOfMemory", 700: b"hipErrorIllegalAddress"}

    def __init__(self, gpu: Gpu) -> None:
        super().__init__(gpu)
        gpu.current.append(0)
        pointer = c_void_p
        for name, types, body in (
            ("hipGetDevice", (pointer,), lambda p: _store(c_int, p, gpu.current[-1])),
            ("hipSetDevice", (c_int,), lambda number: gpu.current.__setitem__(-1, number)),
            ("hipStreamIsCapturing", (pointer, pointer), self.is_capturing),
            ("hipMemcpyAsync", (pointer, pointer, c_size_t, c_int, pointer), self.copy),
            ("hipMemsetAsync", (pointer, c_int, c_size_t, pointer), self.fill),
            ("hipStreamSynchronize", (pointer,), lambda s: gpu.finish(s or 0)),
            ("hipEventCreateWithFlags", (pointer, c_uint), self.create_event),
            ("hipEventRecord", (pointer, pointer), self.record_event),
            ("hipEventDestroy", (pointer,), self.destroy_event),
            ("hipStreamWaitEvent", (pointer, pointer, c_uint), self.wait_event),
            ("hipHostMalloc", (pointer, c_size_t, c_uint), self.allocate),
            ("hipHostFree", (pointer,), gpu.free),
        ):
            self._define(name, types, body)
        self.hipGetErrorName = ctypes.CFUNCTYPE(c_void_p, c_int)(self._text)
        self.hipGetErrorString = ctypes.CFUNCTYPE(c_void_p, c_int)(self._text)

    def _text(self, status: int) -> int | None:
        if status not in self.ERRORS:
            return None
        text = ctypes.create_string_buffer(self.ERRORS[status])
        self._keep.append(text)
        return ctypes.addressof(text)

    def fill(self, target: int, byte: int, size: int, stream: int | None) -> None:
        self.gpu.fill(stream or 0, target, byte, size)

    def copy(self, target: int, source: int, size: int, kind: int, stream: int | None) -> None:
        on_gpu = [self.gpu.has(address) for address in (source, target)]
        expected = {(True, False): 2, (False, True): 1, (True, True): 3}[on_gpu[0], on_gpu[1]]
        assert kind == expected, (kind, expected)
        self.gpu.copy(stream or 0, target, source, size)
