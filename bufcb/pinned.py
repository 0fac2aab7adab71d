"""Page-locked host memory, which a GPU copies from and to at full speed, reused between calls.

To lock pages takes longer than most copies, so memory goes back into a pool when the last array in it is
gone. A pool never holds more than its limit, in use or idle.
"""

from __future__ import annotations

import collections
import math
import os
import threading
from typing import Any

import numpy as np

from bufcb.drivers import Driver, DriverError

_SMALLEST = 1 << 12
DEFAULT_LIMIT = 1 << 29
"""Bytes of a pool, unless the environment variable `BUFCB_PINNED_LIMIT` says otherwise."""


def limit_of_process() -> int:
    """Return how many bytes may be page-locked; 0 for none.

    Raises:
      ValueError: if the environment variable is no number of bytes.
    """
    text = os.environ.get("BUFCB_PINNED_LIMIT", "")
    if not text:
        return DEFAULT_LIMIT
    if not text.isdecimal():
        raise ValueError(f"BUFCB_PINNED_LIMIT must be a number of bytes, but is {text!r}.")
    return int(text)


def size_class(size: int) -> int:
    """Return the size of block that serves `size` bytes: four sizes to a power of two, at most 1/4 above."""
    if size <= _SMALLEST:
        return _SMALLEST
    step = 1 << ((size - 1).bit_length() - 3)
    return -(-size // step) * step


class Pool:
    """Blocks of page-locked memory by size, for any thread."""

    def __init__(self, driver: Driver, limit: int) -> None:
        self._driver = driver
        self._limit = limit
        self._lock = threading.Lock()
        self._total = 0
        # The size that was used last comes last.
        self._idle: collections.OrderedDict[int, list[int]] = collections.OrderedDict()
        # Arrays may go away on any thread and in the middle of `take`, by a collection of garbage: what they
        # leave is put here without the lock.
        self._returned: collections.deque[tuple[int, int]] = collections.deque()

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
        """Return an array in page-locked memory, or None if there is none left or the driver has none.

        The memory goes back when the array, and every view of it, is gone. In the place of an extension type
        it has bytes of its width, to be viewed as that. To be called in a `scope`.
        """
        size = size_class(math.prod(shape) * dtype.itemsize)
        block = self._take(size)
        if block is None:
            return None
        return np.asarray(_Lent(array_interface(block, shape, dtype), self, size, block))

    def _take(self, size: int) -> int | None:
        with self._lock:
            while self._returned:
                freed, block = self._returned.popleft()
                self._idle.setdefault(freed, []).append(block)
            idle = self._idle.get(size)
            if idle:
                self._idle.move_to_end(size)
                return idle.pop()
            if not self._make_room(size):
                return None
            try:
                block = self._driver.allocate(size)
            except DriverError:
                return None  # page-locked memory is scarce, and a copy does without
            self._total += size
            return block

    def _make_room(self, size: int) -> bool:
        """Free idle blocks, of the sizes not used for the longest time, until `size` more bytes fit."""
        for idle_size in list(self._idle):
            blocks = self._idle[idle_size]
            while blocks and self._total + size > self._limit:
                self._driver.free(blocks.pop())
                self._total -= idle_size
            if not blocks:
                del self._idle[idle_size]
        return self._total + size <= self._limit

    def give_back(self, size: int, block: int) -> None:
        self._returned.append((size, block))


class _Lent:
    """The base of an array in a block: gives the block back when the last view is gone."""

    def __init__(self, interface: dict[str, Any], pool: Pool, size: int, block: int) -> None:
        self.__array_interface__ = interface
        self._pool = pool
        self._size = size
        self._block = block

    def __del__(self) -> None:
        self._pool.give_back(self._size, self._block)


def array_interface(address: int, shape: tuple[int, ...], dtype: np.dtype) -> dict[str, Any]:
    """Return NumPy's description of an array at `address`; extension types are bytes of their width there."""
    return {"shape": shape, "typestr": typestr(dtype), "data": (address, False), "version": 3}


def typestr(dtype: np.dtype) -> str:
    """Return the name of a dtype in array interfaces, where extension types are bytes of their width."""
    if dtype.isbuiltin == 1:
        return dtype.str
    return "|V1" if dtype.itemsize == 1 else f"<V{dtype.itemsize}"
