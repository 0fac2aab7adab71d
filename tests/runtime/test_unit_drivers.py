"""CUDA's driver and HIP's runtime, called by ctypes: `bufcb.drivers`, on libraries that are simulated."""

import contextlib
import ctypes
from typing import Any

import numpy as np
import pytest
from simulated_gpu import ORDINAL, XLA_STREAM, CudaLibrary, Gpu, HipLibrary, Library

from bufcb import drivers
from bufcb.drivers import CudaDriver, Driver, DriverError, HipDriver, driver_of

KINDS: dict[str, tuple[type[Any], type[Library]]] = {
    "cuda": (CudaDriver, CudaLibrary),
    "hip": (HipDriver, HipLibrary),
}


class Machine:
    """A driver, the library that it calls, and the GPU behind that."""

    def __init__(self, kind: str) -> None:
        self.gpu = Gpu()
        self.library = KINDS[kind][1](self.gpu)
        self.driver: Driver = KINDS[kind][0](self.library)


@pytest.fixture(params=KINDS)
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine(request.param)


VALUES = np.arange(6, dtype=np.float32)


def test_copies_there_and_back(machine: Machine) -> None:
    driver, gpu = machine.driver, machine.gpu
    first, second = gpu.put(VALUES), gpu.put(np.zeros_like(VALUES))
    host = np.zeros_like(VALUES)
    with driver.scope(XLA_STREAM, ORDINAL):
        driver.within(second, first, VALUES.nbytes, XLA_STREAM)
        driver.to_host(host.ctypes.data, second, VALUES.nbytes, XLA_STREAM)
        assert not host.any()  # not done before something waits for it
        driver.synchronize(XLA_STREAM)
        assert host.tolist() == VALUES.tolist()
        host *= 2
        driver.to_device(first, host.ctypes.data, host.nbytes, XLA_STREAM)
        driver.fill(second, 0xA5, 4, XLA_STREAM)
        driver.synchronize(XLA_STREAM)
    assert gpu.memory[first].view(np.float32).tolist() == (VALUES * 2).tolist()
    assert gpu.memory[second][:4].tolist() == [0xA5] * 4


def test_one_stream_waits_for_another(machine: Machine) -> None:
    driver, gpu = machine.driver, machine.gpu
    first, second = gpu.put(VALUES), gpu.put(np.zeros_like(VALUES))
    host = np.zeros_like(VALUES)
    with driver.scope(XLA_STREAM, ORDINAL):
        driver.within(second, first, VALUES.nbytes, 0x99)
        driver.order(0x99, XLA_STREAM)
        driver.within(second, second + 4, 4, 0x99)  # after the event: nothing waits for it
        driver.to_host(host.ctypes.data, second, VALUES.nbytes, XLA_STREAM)
        driver.synchronize(XLA_STREAM)
    assert host.tolist() == VALUES.tolist()
    assert machine.library.events == {}


def test_the_default_stream_is_a_stream(machine: Machine) -> None:
    driver, gpu = machine.driver, machine.gpu
    first, second = gpu.put(VALUES), gpu.put(np.zeros_like(VALUES))
    with driver.scope(XLA_STREAM, ORDINAL):
        driver.within(second, first, VALUES.nbytes, driver.default_stream)
        driver.order(driver.default_stream, XLA_STREAM)
        driver.synchronize(XLA_STREAM)
    assert gpu.memory[second].tolist() == gpu.memory[first].tolist()


def test_page_locked_memory(machine: Machine) -> None:
    with machine.driver.scope(XLA_STREAM, ORDINAL):
        host = machine.driver.allocate(64)
        assert list(machine.gpu.pinned) == [host]
        machine.driver.free(host)
    assert not machine.gpu.pinned


def test_recording(machine: Machine) -> None:
    assert not machine.driver.is_recording(XLA_STREAM)
    machine.gpu.recording.add(XLA_STREAM)
    assert machine.driver.is_recording(XLA_STREAM)


def test_scopes_nest_and_leave_what_was_current() -> None:
    cuda = Machine("cuda")
    cuda.library.contexts[0x71] = 0xC1
    with cuda.driver.scope(XLA_STREAM, ORDINAL):
        assert fail_within(cuda, 0x71) == [0xC0, 0xC1]
        assert cuda.gpu.current == [0xC0]
    assert cuda.gpu.current == []

    hip = Machine("hip")
    assert fail_within(hip, XLA_STREAM) == [ORDINAL]
    assert hip.gpu.current == [0]


def fail_within(machine: Machine, stream: int) -> list[Any]:
    """Raise an error in a scope, and return what was current there."""
    current: list[Any] = []
    with contextlib.suppress(ZeroDivisionError), machine.driver.scope(stream, ORDINAL):
        current.extend(machine.gpu.current)
        raise ZeroDivisionError
    return current


ERRORS = {
    "cuda": (
        "cuMemcpyDtoHAsync_v2",
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
    ),
    "hip": ("hipMemcpyAsync", "hipErrorIllegalAddress: hipErrorIllegalAddress"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_errors_have_the_names_of_the_driver(kind: str) -> None:
    machine = Machine(kind)
    function, text = ERRORS[kind]
    address, host = machine.gpu.put(VALUES), np.zeros(1)
    machine.library.fail[function] = 700
    with machine.driver.scope(XLA_STREAM, ORDINAL):
        with pytest.raises(DriverError) as seen:
            machine.driver.to_host(host.ctypes.data, address, 4, XLA_STREAM)
        assert str(seen.value) == f"{function} failed with {text}"
        assert seen.value.name == text.partition(":")[0]
        machine.library.fail[function] = 12345
        with pytest.raises(DriverError, match=f"^{function} failed with error 12345$"):
            machine.driver.to_host(host.ctypes.data, address, 4, XLA_STREAM)


@pytest.mark.parametrize(("kind", "wait"), [("cuda", "cuStreamWaitEvent"), ("hip", "hipStreamWaitEvent")])
def test_events_are_destroyed_after_errors(kind: str, wait: str) -> None:
    machine = Machine(kind)
    machine.library.fail[wait] = 2
    with machine.driver.scope(XLA_STREAM, ORDINAL), pytest.raises(DriverError, match=r"(?i)out.?of.?memory"):
        machine.driver.order(1, XLA_STREAM)
    assert machine.library.events == {}


def test_a_stream_that_is_none() -> None:
    machine = Machine("cuda")
    with pytest.raises(DriverError, match="cuStreamGetCtx failed with error 400"), machine.driver.scope(5, 0):
        pytest.fail("there is no such stream")
    assert machine.gpu.current == []


def test_without_the_names_of_errors() -> None:
    """HIP's functions that name errors are looked up, not required."""
    library = HipLibrary(Gpu())
    del library.hipGetErrorName, library.hipGetErrorString
    driver = HipDriver(library)
    library.fail["hipSetDevice"] = 101
    with pytest.raises(DriverError, match=r"^hipSetDevice failed with error 101$"), driver.scope(0, 0):
        pytest.fail("no device")


@pytest.mark.parametrize("kind", KINDS)
def test_a_library_that_lacks_a_function(kind: str) -> None:
    with pytest.raises(DriverError, match=r"too old: it has no (cu|hip)"):
        KINDS[kind][0](ctypes.pythonapi)


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
def test_no_library(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, mode: int = 0) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", fail)
    driver_of.cache_clear()
    with pytest.raises(DriverError, match=r"none of lib(cuda|amdhip64)\.so.* was found"):
        driver_of(platform)


@pytest.mark.parametrize(("platform", "kind"), [("cuda", "cuda"), ("rocm", "hip")])
def test_the_library_that_is_loaded_already_comes_first(
    platform: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with two releases of ROCm installed, of which XLA uses the older."""
    library, tried = KINDS[kind][1](Gpu()), []
    loaded = KINDS[kind][0]._LIBRARIES[-1]

    def load(name: str, mode: int = 0) -> Any:
        tried.append(name)
        if mode & drivers.os.RTLD_NOLOAD and name != loaded:
            raise OSError(f"{name}: not loaded")
        return library

    monkeypatch.setattr(ctypes, "CDLL", load)
    driver_of.cache_clear()
    assert isinstance(driver_of(platform), KINDS[kind][0])
    assert tried == list(KINDS[kind][0]._LIBRARIES)
    assert driver_of(platform) is driver_of(platform)
    driver_of.cache_clear()
