"""One call of a callback on a GPU: copies between the host and the GPU, and the order of streams."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from bufcb import buffers, dlpack
from bufcb.device import DeviceBuffer, DeviceOutput
from bufcb.drivers import Driver, DriverError
from bufcb.pinned import Pool
from bufcb.read_only import Owner
from bufcb.trampoline import Plan


class _HostSource:
    """Checked values on the host, to be written into an output."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def copy_into(self, output: DeviceBuffer) -> None:
        with output._edited(current=False) as array:
            array[...] = self.array


class _DeviceSource:
    """Checked values on the GPU, in C order, to be written into an output of the same type."""

    def __init__(self, call: Call, address: int, owner: Any) -> None:
        self.call = call
        self.address = address
        self.owner = owner

    def copy_into(self, output: DeviceBuffer) -> None:
        self.call.copy(output, self.address, self.owner)


_Source = _HostSource | _DeviceSource


def _apart(source: _Source, call: Call, outputs: Sequence[DeviceBuffer]) -> _Source:
    """Copy values that lie in one of the outputs: an earlier write would change them."""
    if isinstance(source, _HostSource):
        hosts = [output._host for output in outputs if output._host is not None]
        if any(np.may_share_memory(source.array, host) for host in hosts):
            return _HostSource(source.array.copy())
        return source
    size = max(output.nbytes for output in outputs)
    for output in outputs:
        if abs(call.address(output) - source.address) < size:
            array = np.empty(output.shape, output.dtype)
            call.read(array, source.address)
            return _HostSource(array)
    return source


def _in_c_order(shape: tuple[int, ...], strides: Sequence[int] | None, itemsize: int) -> bool:
    """Return whether elements lie one after the other; `strides` are None if they do."""
    if strides is None or 0 in shape:
        return True
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length > 1 and stride != itemsize:
            return False
        itemsize *= length
    return True


def _address(array: np.ndarray) -> int:
    """Return where the elements of an array in C order are."""
    return int(array.__array_interface__["data"][0])


# The reference count of an object that one other object and a local name refer to.
_HELD = buffers.IDLE + 1


class Call:
    """One call of a callback on a GPU: its buffers, the driver, and what has to be done before it returns.

    Attributes:
      plan: what the call is specialised by.
      inputs: the flat inputs.
      outputs: the flat outputs.
      stream: the stream that XLA computes on.
    """

    def __init__(
        self, plan: Plan, driver: Driver, pool: Pool, ctx: Any, raw: Sequence[Any], recordable: bool
    ) -> None:
        self.plan = plan
        self.stream = int(ctx.stream)
        self._recordable = recordable
        self._driver = driver
        self._pool = pool
        self._ordinal = int(raw[0].__dlpack_device__()[1]) if raw else 0
        self._lock = threading.Lock()
        self._consumers: list[int] = []
        self._kept: list[Any] = []  # what the GPU may still read when the callback returns
        split = len(plan.in_dtypes)
        self.inputs = [
            DeviceBuffer(self, buffer, i, tuple(buffer.shape), dtype)
            for i, (buffer, dtype) in enumerate(zip(raw[:split], plan.in_dtypes, strict=True))
        ]
        shapes = zip(raw[split:], plan.out_shapes, plan.out_dtypes, strict=True)
        self.outputs: list[DeviceBuffer] = [
            DeviceOutput(self, buffer, i, shape, dtype) for i, (buffer, shape, dtype) in enumerate(shapes)
        ]
        for i, output in enumerate(self.outputs):
            output._valid = i in plan.aliased

    def scope(self) -> contextlib.AbstractContextManager[None]:
        return self._driver.scope(self.stream, self._ordinal)

    def is_recording(self) -> bool:
        """Return whether XLA records the work on its stream in a command buffer."""
        return self._recordable and self._driver.is_recording(self.stream)

    def address(self, buffer: DeviceBuffer) -> int:
        return dlpack.address_of(buffer._raw)

    def _must_run(self) -> None:
        if self.is_recording():
            raise RuntimeError(
                "buffer_callback: the work of this callback is being recorded in a command buffer, where no "
                "values exist that NumPy could see. Leave out `command_buffer_compatible=True`, or use a GPU "
                "library on `ctx.stream`."
            )

    # From the GPU to the host.

    def staged(self, buffer: DeviceBuffer, *, current: bool = True) -> np.ndarray:
        """Return the one copy on the host, made when it is asked for first; with current values, or any."""
        with self._lock:
            if buffer._host is None:
                self._must_run()
                buffer._host = self._stage(buffer, current and buffer._valid)
            return buffer._host

    def _stage(self, buffer: DeviceBuffer, current: bool) -> np.ndarray:
        with self.scope():
            host = self._pool.array(buffer.shape, buffer.dtype) if buffer.nbytes else None
            if host is None:
                host = np.empty(buffer.shape, buffer.dtype)
            if current and host.nbytes:
                self._read(host, self.address(buffer))
        if not buffer.writeable:
            host.setflags(write=False)  # and no view of it can be made writable
        return host

    def fetch(self, buffer: DeviceBuffer) -> np.ndarray:
        """Return a new array of what the GPU holds, once the libraries that were handed it are done."""
        self._must_run()
        array = np.empty(buffer.shape, buffer.dtype)
        self.read(array, self.address(buffer))
        return array

    def read(self, array: np.ndarray, address: int) -> None:
        """Copy to the host, and wait for it."""
        if array.nbytes:
            with self.scope():
                self._wait_for_consumers()
                self._read(array, address)

    def _read(self, array: np.ndarray, address: int) -> None:
        self._driver.to_host(_address(array), address, array.nbytes, self.stream)
        self._driver.synchronize(self.stream)

    # From the host to the GPU, and within it.

    def push(self, buffer: DeviceBuffer, array: np.ndarray) -> None:
        """Copy to the GPU; libraries that were handed the memory see the values."""
        self._must_run()
        if array.nbytes:
            with self.scope():
                self._wait_for_consumers()
                self._driver.to_device(self.address(buffer), _address(array), array.nbytes, self.stream)
                self._have_consumers_wait()
        self._kept.append(array)
        buffer._valid = True

    def fill_canary(self, byte: int) -> None:
        """Fill the outputs with a pattern that tells whether the callback wrote each element."""
        with self.scope():
            for output in self.outputs:
                if output.nbytes and output._index not in self.plan.aliased:
                    self._driver.fill(self.address(output), byte, output.nbytes, self.stream)
                    output._valid = True

    def copy(self, output: DeviceBuffer, address: int, owner: Any) -> None:
        """Copy within the GPU; the values come from `address`, in memory of `owner`."""
        if output._host is not None:  # which is copied to the GPU in the end
            self.read(output._host, address)
            return
        if output.nbytes:
            with self.scope():
                self._wait_for_consumers()
                self._driver.within(self.address(output), address, output.nbytes, self.stream)
                self._have_consumers_wait()
        self._kept.append(owner)
        output._valid = True

    def settle(self, output: DeviceBuffer) -> None:
        """Have the GPU hold what was written on the host, before a GPU library is handed the memory.

        Raises:
          RuntimeError: if something still refers to the array on the host, and so may write into it.
        """
        host = output._host
        if host is None:
            return
        if sys.getrefcount(host) > _HELD:
            raise RuntimeError(
                "buffer_callback: an output is in use as a NumPy array, and cannot be handed to a GPU "
                "library at the same time. Delete the array first, or use one of both."
            )
        output._host = None
        self.push(output, host)

    # The streams of other libraries.

    def join(self, stream: int | None) -> None:
        """Have a library's stream wait for XLA's, and XLA's for it when the callback returns.

        Without a word on the stream, it is the default one; -1 asks for nothing to be waited for.
        """
        if stream == -1 or self.is_recording():
            return
        consumer = self._driver.default_stream if stream is None else stream
        if consumer == self.stream:
            return
        with self.scope():
            self._driver.order(self.stream, consumer)
        if consumer not in self._consumers:
            self._consumers.append(consumer)

    def _wait_for_consumers(self) -> None:
        for consumer in self._consumers:
            self._driver.order(consumer, self.stream)

    def _have_consumers_wait(self) -> None:
        for consumer in self._consumers:
            self._driver.order(self.stream, consumer)

    # What is written into outputs.

    def write(self, outputs: Sequence[DeviceBuffer], values: Sequence[Any]) -> None:
        """Write flat values, of which there are as many; raises `OutputError` before the first write."""
        sources = [self.source(value, output) for value, output in zip(values, outputs, strict=True)]
        if len(outputs) > 1:
            sources = [_apart(source, self, outputs) for source in sources]
        for source, output in zip(sources, outputs, strict=True):
            source.copy_into(output)

    def source(self, value: Any, output: DeviceBuffer) -> _Source:
        """Check a value by `jax.pure_callback`'s rules; raises `OutputError` if it does not fit."""
        if isinstance(value, DeviceBuffer):
            if value._call is self and value.dtype == output.dtype and value._is_on_gpu():
                buffers.check(value, output)
                return _DeviceSource(self, self.address(value), value)
            value = value._view()
        elif not isinstance(value, np.ndarray):
            interface = getattr(value, "__cuda_array_interface__", None)
            if interface is not None:
                return self._foreign_source(value, interface, output)
        array = buffers.canonical(np.asarray(value), output)
        buffers.check(array, output)
        return _HostSource(array)

    def _foreign_source(self, value: Any, interface: dict[str, Any], output: DeviceBuffer) -> _Source:
        """Check an array of a GPU library, and have XLA's stream wait for it."""
        if self.is_recording():
            raise RuntimeError(
                "buffer_callback: the work of this callback is being recorded in a command buffer, and the "
                "array that is written may be gone when it runs. Write into the memory of the output on "
                "`ctx.stream`, or leave out `command_buffer_compatible=True`."
            )
        described = np.dtype(interface["typestr"])
        # Of the types that NumPy has not, bfloat16 is the only one of 2 bytes; those of 1 byte are many.
        bfloat16 = described == np.dtype("V2") and output.dtype.name == "bfloat16"
        dtype = output.dtype if bfloat16 else described
        shape, address = tuple(interface["shape"]), interface["data"][0]
        if not _in_c_order(shape, interface.get("strides"), described.itemsize):
            raise TypeError(
                "buffer_callback: an array of a GPU library must be contiguous to be written into an output; "
                "`cupy.ascontiguousarray(value)` and `tensor.contiguous()` make it so."
            )
        producer = interface.get("stream")
        with self.scope():
            self._driver.order(self._driver.default_stream if producer is None else producer, self.stream)
        if dtype == output.dtype:
            if shape == output.shape:
                return _DeviceSource(self, address, value)
        elif shape == output.shape:  # perhaps of 64 bits, to be narrowed
            values = np.empty(shape, dtype)
            self.read(values, address)
            return self.source(values, output)
        return self.source(np.broadcast_to(np.zeros((), dtype), shape), output)  # which raises

    # The end of the call.

    def flush(self) -> None:
        """Copy the outputs that were asked for to the GPU, and finish."""
        for output in self.outputs:
            if output._host is not None:
                self.push(output, output._host)
        self.finish()

    def finish(self) -> None:
        """Have XLA's stream wait for those of libraries, and wait for copies of memory that is not XLA's."""
        if self._consumers or self._kept:
            with self.scope():
                self._wait_for_consumers()
                if self._kept and not self.is_recording():
                    self._driver.synchronize(self.stream)
        self._kept.clear()

    def abandon(self) -> None:
        """End the call after an exception: the GPU must be done with memory that is about to be freed."""
        with contextlib.suppress(DriverError):
            self.finish()
        self.part()

    def part(self) -> None:
        """Part the buffers from XLA's memory."""
        for buffer in (*self.inputs, *self.outputs):
            buffer._call = buffer._raw = None

    def keep_inputs(self) -> None:
        """Copy the inputs that something still refers to to the host, where they can be read later."""
        for buffer in self.inputs:
            if buffers.FREE_THREADED or sys.getrefcount(buffer) > _HELD:
                self.staged(buffer)

    def kept(self) -> list[int]:
        """Return the flat indices of inputs, and then outputs, that something still refers to."""
        handed: tuple[Any, ...] = (*self.inputs, *self.outputs)
        found = set(buffers.still_referenced(handed))
        del handed
        staged = [(i, host) for i, host in enumerate(self._hosts()) if host is not None]
        hosts = tuple(host for _, host in staged)
        indices = [i for i, _ in staged]
        del staged
        return sorted(found.union(indices[i] for i in buffers.still_referenced(hosts)))

    def owners(self) -> list[Owner]:
        """Return what an input is known by: the buffer itself, and its copy on the host."""
        handed = list(enumerate(self.inputs))
        return [*handed, *((i, buffer._host) for i, buffer in handed if buffer._host is not None)]

    def _hosts(self) -> list[np.ndarray | None]:
        return [buffer._host for buffer in (*self.inputs, *self.outputs)]
