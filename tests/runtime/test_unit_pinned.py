"""Page-locked memory that is used again: `bufcb.pinned`."""

import gc
import threading
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from simulated_gpu import Gpu, SimulatedDriver

from bufcb import pinned
from bufcb.drivers import DriverError
from bufcb.pinned import Pool, size_class

F4 = np.dtype(np.float32)


def pool_of(limit: int = 1 << 20) -> tuple[Gpu, Pool]:
    gpu = Gpu()
    gpu.current.append("scope")
    return gpu, Pool(SimulatedDriver(gpu), limit)


@pytest.mark.parametrize("size", [0, 1, 4096, 4097, 5000, 8192, 8193, 10_240, 12_289, 1 << 26, (1 << 26) + 1])
def test_size_classes(size: int) -> None:
    block = size_class(size)
    assert block >= max(size, 4096)
    assert block <= max(size * 5 // 4 + 1, 4096)
    assert size_class(block) == block


def test_there_are_four_sizes_to_a_power_of_two() -> None:
    assert sorted({size_class(size) for size in range(4097, 8193)}) == [5120, 6144, 7168, 8192]


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.float32, np.complex64, jnp.bfloat16, jnp.float8_e5m2, jnp.int4]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_arrays_lie_in_page_locked_memory(dtype: Any, shape: tuple[int, ...]) -> None:
    gpu, pool = pool_of()
    array = pool.array(shape, np.dtype(dtype))
    assert array is not None
    assert array.__array_interface__["data"][0] in gpu.pinned
    assert array.shape == shape
    array.view(dtype)[...] = 1
    assert (array.view(dtype) == np.ones(shape, dtype)).all()


def test_memory_goes_back_with_the_last_view() -> None:
    gpu, pool = pool_of()
    array = pool.array((4,), F4)
    assert array is not None
    first, view = array.ctypes.data, array[1:]
    del array
    assert pool.array((4,), F4).ctypes.data != first  # type: ignore[union-attr]
    del view
    assert {pool.array((4,), F4).ctypes.data for _ in range(5)} <= set(gpu.pinned)  # type: ignore[union-attr]
    assert len(gpu.pinned) == 2


def test_memory_in_a_cycle_goes_back_when_it_is_collected() -> None:
    gpu, pool = pool_of()
    cycle: list[Any] = [pool.array((4,), F4)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert pool.array((4,), F4) is not None
    assert len(gpu.pinned) == 1


def test_views_of_a_read_only_array_cannot_be_made_writable() -> None:
    _, pool = pool_of()
    array = pool.array((4,), F4)
    assert array is not None
    array.setflags(write=False)
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.view().setflags(write=True)


class TestLimit:
    def test_there_is_no_more(self) -> None:
        gpu, pool = pool_of(10_000)
        held = [pool.array((1024,), F4) for _ in range(3)]
        assert [array is not None for array in held] == [True, True, False]
        held.clear()
        assert pool.array((1024,), F4) is not None
        assert len(gpu.pinned) == 2

    def test_idle_blocks_of_another_size_make_room(self) -> None:
        gpu, pool = pool_of(16_384)
        held = [pool.array((1024,), F4) for _ in range(3)]
        used = held.pop()
        held.clear()
        large = pool.array((2048,), F4)
        assert large is not None
        assert sorted(memory.size for memory in gpu.pinned.values()) == [4096, 4096, 8192]
        assert used is not None and used.ctypes.data in gpu.pinned

    def test_the_size_that_was_not_used_for_longest_goes_first(self) -> None:
        gpu, pool = pool_of(20_000)
        for size in (1024, 1280, 1024):
            pool.array((size,), F4)
        assert pool.array((3072,), F4) is not None
        assert sorted(memory.size for memory in gpu.pinned.values()) == [4096, 12_288]

    def test_never_above(self) -> None:
        gpu, pool = pool_of(100_000)
        held: list[Any] = []
        generator = np.random.default_rng(0)
        for _ in range(500):
            held.append(pool.array((int(generator.integers(1, 9000)),), F4))
            if len(held) > 3:
                held.pop(int(generator.integers(len(held))))
            assert sum(memory.size for memory in gpu.pinned.values()) <= 100_000

    def test_none_at_all(self) -> None:
        gpu, pool = pool_of(0)
        assert pool.array((1,), F4) is None
        assert not gpu.pinned

    def test_the_driver_has_none(self) -> None:
        gpu, pool = pool_of()
        gpu.failures["allocate"] = "CUDA_ERROR_OUT_OF_MEMORY"
        assert pool.array((1,), F4) is None
        gpu.failures.clear()
        assert pool.array((1,), F4) is not None

    def test_errors_of_freeing_come_through(self) -> None:
        gpu, pool = pool_of(5000)
        pool.array((1,), F4)
        gpu.failures["free"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
        with pytest.raises(DriverError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
            pool.array((1200,), F4)


def test_threads_share_a_pool() -> None:
    gpu, pool = pool_of()
    faults: list[Any] = []

    def work(number: int) -> None:
        for _ in range(300):
            array = pool.array((500,), F4)
            if array is None:
                faults.append("no memory")
                return
            array[...] = number
            if (array != number).any():
                faults.append("memory of another thread")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(gpu.pinned) <= 8


@pytest.mark.parametrize(("text", "limit"), [("", pinned.DEFAULT_LIMIT), ("0", 0), ("4096", 4096)])
def test_limit_of_the_process(text: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUFCB_PINNED_LIMIT", text)
    assert pinned.limit_of_process() == limit


@pytest.mark.parametrize("text", ["1 GB", "-1", "1.5"])
def test_limit_that_is_no_number_of_bytes(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUFCB_PINNED_LIMIT", text)
    with pytest.raises(ValueError, match="BUFCB_PINNED_LIMIT must be a number of bytes, but is"):
        pinned.limit_of_process()
