"""Value-returning functions as buffer callbacks: what `adapt` returns, and how it hands over arrays."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, Literal

import jax
import numpy as np
from jax.tree_util import tree_leaves, tree_map, tree_unflatten

from bufcb import _jax, buffers, device
from bufcb.buffers import Buffer, Output
from bufcb.device import DeviceBuffer
from bufcb.keys import Keyed, callable_key

Arrays = Literal["numpy", "jax"]


@dataclasses.dataclass(frozen=True, slots=True, weakref_slot=True)
class Adapted(Keyed):
    """A value-returning function as a buffer callback; equal to another if their functions are.

    The trampoline does not call it, but does the same by code of its own; this is for callbacks that call
    another.

    Attributes:
      function: called with arrays in the place of buffers; returns a pytree of arrays and scalars.
      arrays: which arrays, "numpy" or "jax".
      key: what stands for `function` in comparisons.
    """

    function: Callable[..., Any] = dataclasses.field(compare=False)
    arrays: Arrays
    key: Hashable = dataclasses.field(repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", callable_key(self.function))

    def __call__(self, ctx: Any, out: Any, /, *args: Any, **kwargs: Any) -> None:
        outputs: list[Any] = [out] if isinstance(out, (Output, DeviceBuffer)) else tree_leaves(out)
        on_gpu = any(isinstance(output, DeviceBuffer) for output in outputs)
        write: Callable[..., None] = device.write if on_gpu else buffers.write
        if self.arrays == "numpy":
            args, kwargs = tree_map(np.asarray, (args, kwargs))
            write(outputs, buffers.leaves(self.function(*args, **kwargs)))
            return
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        handed = (leaf for leaf in (*leaves, *outputs) if isinstance(leaf, (Buffer, DeviceBuffer)))
        x64 = next((buffer._x64 for buffer in handed), None)
        with scope(x64):
            args, kwargs = tree_unflatten(tree, [to_jax(np.asarray(leaf)) for leaf in leaves])
            values = host_leaves(self.function(*args, **kwargs))
        write(outputs, values)


def scope(x64: bool | None) -> _jax.HostScope:
    """Return the context that JAX code in a callback runs in: on the CPU, in the x64 mode at bind time."""
    return _jax.HostScope(_cpu_device(), x64)


@functools.cache
def _cpu_device() -> jax.Device:
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError as error:
        raise RuntimeError(
            "bufcb failed to find a local CPU device to place the arguments of a callback on. Make sure "
            "'cpu' is listed in --jax_platforms or the JAX_PLATFORMS environment variable."
        ) from error


_ALIGNMENT = 64
_LARGE = 1 << 16


def to_jax(array: np.ndarray) -> jax.Array:
    """Return a copy as a `jax.Array` on the CPU. `jnp.asarray` would compile a program for every shape."""
    copy = _aligned_copy(array) if array.nbytes > _LARGE else np.array(array)
    return _jax.put(copy, _cpu_device())


def _aligned_copy(array: np.ndarray) -> np.ndarray:
    """Return a copy in memory that JAX takes over as it is: a copy of a copy costs when it is large."""
    memory = np.empty(array.nbytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def host_leaves(value: Any) -> list[np.ndarray]:
    """Flatten a result into NumPy arrays, waiting for JAX to compute them."""
    return [np.asarray(leaf) for leaf in buffers.leaves(value)]
