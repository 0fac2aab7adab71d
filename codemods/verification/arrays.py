"""Numbers in recorded bytes, and how far they are apart. Without NumPy, which the migration does not need."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Sequence
from typing import Any, Final

from codemods.verification.recordings import Avals, itemsize, nbytes

# How many elements are looked at for one callback.
_ELEMENTS: Final = 2_000_000
_FORMATS: Final = {
    "bool": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex64": "f",
    "complex128": "d", "uint4": "B", "uint2": "B", "uint1": "B",
}  # fmt: skip
_SHORT: Final = {"bool": "bool", "float": "f", "bfloat": "bf", "complex": "c", "int": "s", "uint": "u"}


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """How two results differ: by how much at most, and where first, in words."""

    size: float
    text: str


class Budget:
    """How many elements may still be looked at."""

    def __init__(self) -> None:
        self.left = _ELEMENTS

    def take(self, count: int) -> bool:
        if count > self.left:
            return False
        self.left -= count
        return True


def larger(one: float, other: float) -> float:
    """The larger of two differences, of which one that is no number is the largest."""
    return math.nan if math.isnan(one) or math.isnan(other) else max(one, other)


def difference(avals: Avals, before: bytes, after: bytes, budget: Budget) -> Difference | None:
    """How two results differ; None where that would take too long to tell, or they are the same."""
    largest, text, position = 0.0, "", 0
    for index, aval in enumerate(avals):
        size = nbytes(aval)
        left, right = before[position : position + size], after[position : position + size]
        position += size
        if left == right:
            continue
        if not budget.take(size // itemsize(aval[0])):
            return None
        found = _of_leaf(aval, left, right)
        largest = larger(largest, found.size)
        leaf = f"output {index}" if len(avals) > 1 else "the output"
        text = text or f"{leaf} differs first at index {found.text}"
    return Difference(largest, text) if text else None


def _of_leaf(aval: tuple[str, tuple[int, ...]], before: bytes, after: bytes) -> Difference:
    dtype, shape = aval
    one, other = _numbers(dtype, before), _numbers(dtype, after)
    size = itemsize(dtype)
    differing = [
        index
        for index in range(len(before) // size)
        if before[index * size : (index + 1) * size] != after[index * size : (index + 1) * size]
    ]
    first = differing[0]
    where = _index(first, shape)
    if one is None or other is None:
        bits = before[first * size : (first + 1) * size].hex(), after[first * size : (first + 1) * size].hex()
        return Difference(math.nan, f"{where}: bits {bits[0]} before, {bits[1]} after")
    largest = 0.0
    for index in differing:
        largest = larger(largest, _distance(one[index], other[index]))
    before_shown, after_shown = _shown_number(one[first], dtype), _shown_number(other[first], dtype)
    if before_shown == after_shown:
        return Difference(largest, f"{where}: {before_shown}, in its bits alone")
    return Difference(largest, f"{where}: {before_shown} before, {after_shown} after")


def _distance(one: Any, other: Any) -> float:
    if one == other or (one != one and other != other):  # noqa: PLR0124 - NaN
        return 0.0
    if one != one or other != other:  # noqa: PLR0124 - NaN
        return math.nan
    return float(abs(one - other))


def _numbers(dtype: str, data: bytes) -> Sequence[Any] | None:
    """The elements; None of a dtype that Python has no numbers for."""
    if dtype == "bfloat16":
        return [_of_bfloat(half) for half in struct.unpack(f"<{len(data) // 2}H", data)]
    if dtype in ("int4", "int2", "int1"):
        bits = int(dtype[-1])
        return [value - (1 << bits) if value >> (bits - 1) else value for value in data]
    if dtype not in _FORMATS:
        return None
    code = _FORMATS[dtype]
    numbers = struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)
    if dtype.startswith("complex"):
        return [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers


def _of_bfloat(half: int) -> float:
    number: float = struct.unpack("<f", struct.pack("<I", half << 16))[0]
    return number


def _shown_number(value: Any, dtype: str) -> str:
    if dtype == "bool":
        return str(bool(value))
    digits = {"float16": 5, "bfloat16": 4, "float32": 9, "complex64": 9}.get(dtype, 17)
    if isinstance(value, complex):
        return f"{value:.{digits}g}"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _index(flat: int, shape: tuple[int, ...]) -> str:
    places = []
    for length in reversed(shape):
        flat, place = divmod(flat, length)
        places.append(str(place))
    return f"[{', '.join(reversed(places))}]"


def shown(avals: Avals) -> str:
    """Dtypes and shapes in JAX's own short form: `f32[3,4], s32[]`."""
    return ", ".join(f"{_short(dtype)}[{','.join(map(str, shape))}]" for dtype, shape in avals) or "nothing"


def _short(dtype: str) -> str:
    letters = dtype.rstrip("0123456789")
    return _SHORT[letters] + dtype[len(letters) :] if letters in _SHORT and letters != dtype else dtype
