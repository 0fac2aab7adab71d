"""Reads what `bufcb.recording` wrote, which describes the format."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from codemods.verification.names import Key

_HEADER: Final = struct.Struct("<16sII")
_MAGIC: Final = b"bufcb calls 3\n\0\0"
_RECORD: Final = struct.Struct("<Ic")
_COUNT: Final = struct.Struct("<IQ")
_CALL: Final = struct.Struct("<If16s16s")
_PLACE: Final = struct.Struct("<Q")
_FAILED: Final = struct.Struct("<If16s")

Avals: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""The dtypes and shapes of flat arrays."""


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """What a callback was called with."""

    avals: Avals
    digest: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What a call gave.

    Attributes:
      raised: the name of the exception; None if it returned.
    """

    avals: Avals = ()
    digest: bytes = b""
    raised: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """Where the bytes of a call's arrays are."""

    path: Path
    offset: int

    def read(self, arguments: Arguments, result: Result) -> tuple[bytes, bytes]:
        """The bytes of the inputs and of the outputs."""
        given, written = _size(arguments.avals), _size(result.avals)
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read(given + written)
        return data[:given], data[given:]


@dataclasses.dataclass(slots=True)
class Calls:
    """The calls of one callback in one run.

    Attributes:
      apis: the functions of JAX or `bufcb` that called it.
      name: its qualified name.
      total: how many calls there were, recorded or not.
      results: what it gave, and how often, for each arguments.
      bound: the same by what is bound to it, such as the values in a closure; only where anything is.
      sampled: the arguments that are recorded in every run, however many calls there are.
      texts: the texts of exceptions, as far as they are known.
      seconds: the times of recorded calls.
      kept: where to find arrays.
    """

    apis: set[str] = dataclasses.field(default_factory=set)
    name: str = ""
    total: int = 0
    results: defaultdict[Arguments, Counter[Result]] = dataclasses.field(
        default_factory=lambda: defaultdict(Counter)
    )
    bound: defaultdict[Arguments, set[tuple[str, Result]]] = dataclasses.field(
        default_factory=lambda: defaultdict(set)
    )
    sampled: set[Arguments] = dataclasses.field(default_factory=set)
    texts: defaultdict[tuple[Arguments, Result], set[str]] = dataclasses.field(
        default_factory=lambda: defaultdict(set)
    )
    seconds: list[float] = dataclasses.field(default_factory=list)
    kept: dict[tuple[Arguments, Result], Kept] = dataclasses.field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every call was recorded."""
        return sum(map(Counter.total, self.results.values())) == self.total


@dataclasses.dataclass(frozen=True, slots=True)
class Recording:
    """The calls of one run.

    Attributes:
      is_full: whether there was no more room for some of them.
      faults: what kept processes from recording.
      started: whether JAX was imported where calls are recorded.
      unhooked: whether `bufcb` was imported where calls of JAX's own callbacks are not recorded.
    """

    callbacks: dict[Key, Calls]
    is_full: bool
    faults: tuple[str, ...]
    started: bool
    unhooked: bool

    @property
    def total(self) -> int:
        """How many calls there were."""
        return sum(calls.total for calls in self.callbacks.values())


@dataclasses.dataclass(frozen=True, slots=True)
class _Signature:
    calls: Calls
    bound: str
    inputs: Avals
    outputs: Avals


def read(folder: Path, key_of: Callable[[dict[str, object]], Key]) -> Recording:
    """Reads all logs of a run. Calls of one callback are put together, whichever process they ran in."""
    callbacks: dict[Key, Calls] = {}
    is_full = False
    faults = {line for path in folder.glob("*.fault") for line in _lines(path)}
    for path in sorted(folder.glob("*.calls")):
        data = path.read_bytes()
        if len(data) < _HEADER.size:
            is_full = True  # not even a header found room
            continue
        magic, _, full = _HEADER.unpack_from(data)
        if magic == _MAGIC:
            is_full |= bool(full)
            _read_log(data, path.with_suffix(".arrays"), callbacks, key_of)
        else:
            faults.add("a process imports another version of bufcb")
    started, unhooked = (any(folder.glob(f"*.{name}")) for name in ("started", "unhooked"))
    return Recording(callbacks, is_full, tuple(sorted(faults)), started, unhooked)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines()


def _read_log(
    data: bytes, arrays: Path, callbacks: dict[Key, Calls], key_of: Callable[[dict[str, object]], Key]
) -> None:
    signatures: list[_Signature] = []
    for kind, record in _records(data):
        if kind == b"s":
            signature = json.loads(record)
            calls = callbacks.setdefault(key_of(signature), Calls())
            calls.apis.add(signature["api"])
            calls.name = calls.name or signature["name"]
            inputs, outputs = _avals(signature["inputs"]), _avals(signature["outputs"])
            signatures.append(_Signature(calls, signature["bound"], inputs, outputs))
        elif kind == b"n":
            number, count = _COUNT.unpack(record)
            signatures[number].calls.total += count
        elif kind in b"caCA":
            _add_call(kind, record, signatures, arrays)
        elif kind in b"fF":
            number, seconds, given = _FAILED.unpack_from(record)
            signature = signatures[number]
            name, _, text = record[_FAILED.size :].decode(errors="replace").partition("\0")
            arguments, result = Arguments(signature.inputs, given), Result(raised=name)
            _add(signature, arguments, result, seconds, kind)
            if text:
                signature.calls.texts[arguments, result].add(text)


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = _HEADER.size
    while position + _RECORD.size <= len(data):
        size, kind = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if kind == b"\0":
            return
        if kind != b"-":
            yield kind, data[position : position + size]
        position += size


def _add_call(kind: bytes, record: bytes, signatures: list[_Signature], arrays: Path) -> None:
    number, seconds, given, written = _CALL.unpack_from(record)
    signature = signatures[number]
    arguments, result = Arguments(signature.inputs, given), Result(signature.outputs, written)
    _add(signature, arguments, result, seconds, kind)
    if kind in b"aA":
        (place,) = _PLACE.unpack_from(record, _CALL.size)
        signature.calls.kept.setdefault((arguments, result), Kept(arrays, place))


def _add(signature: _Signature, arguments: Arguments, result: Result, seconds: float, kind: bytes) -> None:
    calls = signature.calls
    calls.results[arguments][result] += 1
    if signature.bound:
        calls.bound[arguments].add((signature.bound, result))
    calls.seconds.append(seconds)
    if kind.isupper():
        calls.sampled.add(arguments)


def _avals(listed: list[tuple[str, list[int]]]) -> Avals:
    return tuple((dtype, tuple(shape)) for dtype, shape in listed)


def _size(avals: Avals) -> int:
    return sum(map(nbytes, avals))


def nbytes(aval: tuple[str, tuple[int, ...]]) -> int:
    """The size of an array in a recording."""
    dtype, shape = aval
    size = itemsize(dtype)
    for length in shape:
        size *= length
    return size


def itemsize(dtype: str) -> int:
    """The size of an element in a recording, where none takes less than a byte."""
    digits = "".join(character if character.isdigit() else " " for character in dtype.partition("_")[0])
    bits = int(digits.split()[0]) if digits.split() else 8  # bool
    return max(bits // 8, 1)
