"""DLPack capsules of memory on a GPU: XLA's say where it is, ours also keep alive whom it belongs to.

XLA's capsules hold no reference to the buffer that they come from, so that nothing tells whether a tensor
made of one outlives the call. NumPy's hold their array. So NumPy is made to export an array that claims to
lie at the same address, and the capsule is told the device and the dtype.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, ClassVar

import numpy as np

from bufcb.pinned import array_interface

CPU = 1
"""The number that DLPack gives the host's memory."""


class _Device(ctypes.Structure):
    _fields_: ClassVar = [("kind", c_int32), ("ordinal", c_int32)]


class _DataType(ctypes.Structure):
    _fields_: ClassVar = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", c_void_p),
        ("device", _Device),
        ("ndim", c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_: ClassVar = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


_READ_ONLY = 1
_NUMPY_HAS_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"

_pointer: Callable[[Any, bytes], int] = ctypes.pythonapi["PyCapsule_GetPointer"]
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), c_void_p  # type: ignore[attr-defined]


def address_of(buffer: Any) -> int:
    """Return the address of the memory of one of XLA's buffers."""
    capsule = buffer.__dlpack__()
    tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    return (tensor.data or 0) + int(tensor.byte_offset)


def export(buffer: Any, owner: Any, *, versioned: bool) -> Any:
    """Return a capsule of the memory of `buffer`, one of XLA's, which keeps `owner` alive.

    A capsule without a version cannot say that the memory is read-only, and does not, as JAX's do not. Before
    NumPy 2.1 there are no others, which their consumer has to reckon with.
    """
    lent = buffer.__dlpack__()
    source = _Tensor.from_address(_pointer(lent, b"dltensor"))
    array = np.asarray(_Claim(buffer, (source.data or 0) + int(source.byte_offset), owner))
    if not (versioned and _NUMPY_HAS_VERSIONS):
        capsule = array.__dlpack__()
        tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    else:
        capsule = array.__dlpack__(max_version=(1, 0))
        managed = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        managed.flags = 0 if buffer.writeable else _READ_ONLY
        tensor = managed.tensor
    tensor.device, tensor.dtype = source.device, source.dtype
    return capsule


class _Claim:
    """The base of an array that claims to lie in memory which only the GPU can read."""

    # NumPy exports none but these; the capsule is told the real dtype.
    _BY_WIDTH: ClassVar = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}

    def __init__(self, buffer: Any, address: int, owner: Any) -> None:
        dtype = np.dtype(self._BY_WIDTH[np.dtype(buffer.dtype).itemsize])
        self.__array_interface__ = array_interface(address, tuple(buffer.shape), dtype)
        self._owner = owner
