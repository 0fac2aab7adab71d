"""What `BUFCB_RECORD=FOLDER` asks for: a record of the calls of callbacks, by which two runs are compared.

Calls of this package's callbacks are recorded, and those of `jax.pure_callback`,
`jax.experimental.io_callback` and JAX's own `buffer_callback`, so that a run before a migration is recorded
as well as one after it. Each process writes a log of its own, in memory that is mapped to a file: what is
written stays written, however the process ends.

A log begins with `HEADER`, and goes on with records, each of which is `RECORD`, a length and a kind, and as
many bytes. A kind of 0 ends the log, and a "-" fills a gap.

  "s"  A signature: a JSON object that says which callback is called, what is bound to it, and with which
       shapes and dtypes. Signatures are numbered from 0.
  "n"  `COUNT`: the number of a signature, and how many calls of it there were so far, recorded or not.
  "c"  `CALL`: the number of a signature, seconds, and the digests of inputs and outputs.
  "a"  The same, and `PLACE`: where the file of the same name with the suffix `ARRAYS` has their bytes.
  "f"  `FAILED`: the number of a signature, seconds, the digest of the inputs, and what kind of exception it
       raised, a zero byte and the beginning of its text, which is empty where it is not known.

The first `ALL_CALLS` calls of a signature are recorded, and from then on one in `SAMPLED`, whose kinds are
capitals wherever they stand. What a callback is called with decides which, so that two runs agree on them.
`BUFCB_RECORD_LIMIT` is how many bytes all processes may write in all.

`BUFCB_RECORD_HOOKED` says that a module `_bufcb_startup` is imported in each process, to record callbacks
also where nothing else imports `bufcb`. A process without it leaves a file with the suffix `UNHOOKED`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import itertools
import json
import mmap
import os
import struct
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from jax.tree_util import tree_leaves

from bufcb import _jax
from bufcb.adapted import Adapted
from bufcb.buffers import SUB_BYTE_BITS, OutputError, canonical_dtype, fill_canary
from bufcb.callables import code_of, innermost, unwrapped

__all__ = ["Recorder", "install", "is_on", "recorder"]

HEADER: Final = struct.Struct("<16sII")
MAGIC: Final = b"bufcb calls 3\n\0\0"
RECORD: Final = struct.Struct("<Ic")
COUNT: Final = struct.Struct("<IQ")
_NUMBER: Final = struct.Struct("<Q")
CALL: Final = struct.Struct("<If16s16s")
PLACE: Final = struct.Struct("<Q")
FAILED: Final = struct.Struct("<If16s")
LOG: Final = ".calls"
ARRAYS: Final = ".arrays"
FAULT: Final = ".fault"
UNHOOKED: Final = ".unhooked"

ALL_CALLS: Final = 10_000
SAMPLED: Final = 64
# Of so many calls of a signature the arrays are kept, and from then on of one in so many.
_ALL_ARRAYS: Final = 200
_SAMPLED_ARRAYS: Final = 512

# As the process found them: programs change their environment.
_FOLDER: Final = os.path.abspath(folder) if (folder := os.environ.get("BUFCB_RECORD")) else ""
_LIMIT: Final = os.environ.get("BUFCB_RECORD_LIMIT") or "268435456"

_UNIT: Final = 1 << 16
_SMALL: Final = 1 << 16
_FEW: Final = 100
_LONGEST_TEXT: Final = 1_000

Aval: TypeAlias = tuple[tuple[int, ...], np.dtype]
"""A shape and a dtype."""

clock: Final = time.perf_counter


def is_on() -> bool:
    """Return whether the environment asks for a recording."""
    return bool(_FOLDER)


class Recorder:
    """Records the calls of one callback with arrays of the same shapes and dtypes.

    Nothing that it does raises: a recording that fails ends, and says so in its folder.

    Attributes:
      is_dense: whether every call is recorded as yet. So long, outputs are filled before they are written.
    """

    def __init__(self, signature: str, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> None:
        self._signature = signature
        self._input_masks = [_mask(dtype) for _, dtype in inputs]
        self._output_masks = [_mask(dtype) for _, dtype in outputs]
        self._log: _Log | None = None
        self._pages: Any = None
        self._number = self._count_at = 0
        self._count = itertools.count(1)
        self.is_dense = True

    def done(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], started: float) -> None:
        """Record a call that began at `started`, by `clock`."""
        seconds = clock() - started
        try:
            if (self._log is _current and self._log is not None) or self._enter():
                checksum = self._checksum(inputs)
                # No lock: two threads that count at once may leave the lower number until the next call.
                calls = next(self._count)
                _NUMBER.pack_into(self._pages, self._count_at, calls)
                if calls > ALL_CALLS:
                    self.is_dense = False
                if calls <= ALL_CALLS or not checksum % SAMPLED:
                    is_kept = calls <= _ALL_ARRAYS or not checksum % _SAMPLED_ARRAYS
                    self._write(seconds, inputs, outputs, not checksum % SAMPLED, is_kept)
        except Exception as error:  # noqa: BLE001 - no recording is worth the user's program
            _give_up(error)

    def failed(self, inputs: Sequence[np.ndarray], error: BaseException, started: float) -> None:
        """Record a call that raised."""
        seconds = clock() - started
        # A strict write raises a class of our own, where `pure_callback` raises its base.
        name = "RuntimeError" if type(error) is OutputError else type(error).__qualname__
        try:
            if (self._log is _current and self._log is not None) or self._enter():
                sampled = not self._checksum(inputs) % SAMPLED
                calls = next(self._count)
                _NUMBER.pack_into(self._pages, self._count_at, calls)
                if sampled or calls <= ALL_CALLS:
                    given = _digest(_bytes(inputs, self._input_masks))
                    raised = f"{name}\0{_text(error)}".encode(errors="backslashreplace")
                    record = FAILED.pack(self._number, seconds, given) + raised
                    self._add(b"f", record, sampled)
        except Exception as problem:  # noqa: BLE001 - likewise
            _give_up(problem)

    def _enter(self) -> bool:
        """Write the signature into the log; False where there is no room in it, or none any more."""
        log = _open()
        if log is None:
            return False
        with log.lock:
            if self._log is log:
                return True
            number = log.signatures
            if not log.add(b"s", self._signature.encode()):
                return False
            log.signatures += 1
            if not log.add(b"n", COUNT.pack(number, 0)):
                return False
            self._pages, end = log.place
            self._count_at = end - _NUMBER.size
            self._number, self._count = number, itertools.count(1)
            self._log = log
        return True

    def _checksum(self, inputs: Sequence[np.ndarray]) -> int:
        checksum = 0
        for array, mask in zip(inputs, self._input_masks, strict=True):
            is_plain = mask is None and array.nbytes <= _SMALL
            checksum = crc32(array.tobytes() if is_plain else _memory(array, mask), checksum)
        return checksum

    def _write(
        self,
        seconds: float,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        sampled: bool,
        is_kept: bool,
    ) -> None:
        given, written = _bytes(inputs, self._input_masks), _bytes(outputs, self._output_masks)
        record = CALL.pack(self._number, seconds, _digest(given), _digest(written))
        self._add(b"c", record, sampled, (*given, *written) if is_kept else None)

    def _add(self, kind: bytes, record: bytes, sampled: bool, parts: Sequence[Any] | None = None) -> None:
        log = self._log
        assert log is not None
        with log.lock:
            if parts is not None and (place := log.keep(parts)) is not None:
                kind, record = b"a", record + PLACE.pack(place)
            log.add(kind.upper() if sampled else kind, record)


def _text(error: BaseException) -> str:
    """Return the beginning of an exception's text; empty where it cannot be read."""
    with contextlib.suppress(Exception):  # it is an object of the user's
        return str(error)[:_LONGEST_TEXT]
    return ""


def recorder(
    api: str, function: Callable[..., Any], inputs: Sequence[Aval], outputs: Sequence[Aval]
) -> Recorder | None:
    """Return what records the calls of `function`; None where no recording is asked for."""
    return _recorder(api, function, inputs, outputs) if is_on() else None


def _recorder(
    api: str, function: Callable[..., Any], inputs: Sequence[Aval], outputs: Sequence[Aval]
) -> Recorder:
    signature = {
        "api": api,
        **identity(function),
        "bound": bound(function),
        "inputs": [[dtype.name, list(shape)] for shape, dtype in inputs],
        "outputs": [[dtype.name, list(shape)] for shape, dtype in outputs],
    }
    text = json.dumps(signature)
    # One for all programs that are compiled with it, so that their calls are counted together.
    return _by_signature.setdefault(text, Recorder(text, inputs, outputs))


_by_signature: Final[dict[str, Recorder]] = {}


def identity(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what tells a callback from others: `name`, and `file` and `line` of one written in Python.

    The function is the one under `functools.partial`, `functools.wraps`, `bufcb.adapt` or a bound method;
    that of another object is its `__call__`.
    """
    try:
        return _identity(function)
    except Exception:  # noqa: BLE001 - an object may answer any question about it with any error
        return {"name": type(function).__qualname__, "file": None, "line": None}


def _identity(function: Callable[..., Any]) -> dict[str, Any]:
    target = unwrapped(innermost(function))
    if (code := code_of(target)) is not None:
        file = _absolute(code.co_filename, getattr(target, "__module__", None))
        return {"name": code.co_qualname, "file": file, "line": code.co_firstlineno}
    named = target if hasattr(target, "__name__") else type(target)
    module = getattr(named, "__module__", None)
    name = getattr(named, "__qualname__", named.__name__)
    return {"name": f"{module}.{name}" if module else name, "file": None, "line": None}


def bound(function: Callable[..., Any]) -> str:
    """Return a digest of the plain values that tell a callback from others of the same code; "" for none.

    They are those in its closure, its defaults, what `functools.partial` adds and the attributes of a
    method's object; all as they are now.
    """
    try:
        values = dict(_bound(function, ""))
    except Exception:  # noqa: BLE001 - a value may answer any question about it with any error
        return ""
    plain = {name: text for name, value in values.items() if (text := _plain(value)) is not None}
    return hashlib.blake2b(repr(sorted(plain.items())).encode(), digest_size=8).hexdigest() if plain else ""


def _bound(function: Any, place: str) -> Iterator[tuple[str, Any]]:
    while isinstance(function, Adapted):
        function = function.function
    if isinstance(function, functools.partial):
        yield f"{place} arguments", function.args
        yield from ((f"{place} {name}=", value) for name, value in function.keywords.items())
        yield from _bound(function.func, f"{place} partial")
    elif isinstance(function, types.MethodType):
        yield from _attributes(function.__self__)
        yield from _bound(function.__func__, place)
    elif isinstance(function, types.FunctionType):
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # it is empty as yet
                yield f"{place} {name}", cell.cell_contents
        yield f"{place} defaults", function.__defaults__
        yield from ((f"{place} {name}=", value) for name, value in (function.__kwdefaults__ or {}).items())
    elif not inspect.isclass(function):
        yield from _attributes(function)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    yield from ((f"self.{name}", attribute) for name, attribute in getattr(value, "__dict__", {}).items())


def _plain(value: Any, depth: int = 3) -> str | None:
    """Return a text that is equal for equal values; None for one that is more than data, or too much."""
    if value is None:
        return None
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject or value.nbytes > _SMALL:
            return None
        digest = hashlib.blake2b(np.asarray(value).tobytes(), digest_size=8).hexdigest()
        return f"{value.dtype} {value.shape} {digest}"
    if type(value) in (bool, int, float, complex, str, bytes):
        return repr(value)
    if type(value) in (tuple, list, dict) and depth and len(value) <= _FEW:
        items = value.items() if type(value) is dict else value
        texts = [_plain(item, depth - 1) for item in items]
        return None if None in texts else repr(texts)
    return None


def _absolute(file: str, module: str | None) -> str:
    """Return the path of a code object's file, which may be relative to a folder that was the current one."""
    if os.path.isabs(file) or file.startswith("<"):
        return file
    known = getattr(sys.modules.get(module or ""), "__file__", None)
    return known if known and os.path.basename(known) == os.path.basename(file) else os.path.abspath(file)


def _mask(dtype: np.dtype) -> int | None:
    """Return the bits of a byte that hold a value of less than 8 bits; None for other types."""
    bits = SUB_BYTE_BITS.get(dtype.name)
    return None if bits is None else (1 << bits) - 1


def _bytes(arrays: Sequence[np.ndarray], masks: Sequence[int | None]) -> list[Any]:
    """Return the memory of arrays, in C order."""
    return [
        array.tobytes() if mask is None and array.nbytes <= _SMALL else _memory(array, mask)
        for array, mask in zip(arrays, masks, strict=True)
    ]


def _memory(array: np.ndarray, mask: int | None) -> Any:
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return flat if mask is None else (flat & np.uint8(mask)).tobytes()


def _digest(parts: Sequence[Any]) -> bytes:
    if len(parts) == 1:
        return hashlib.blake2b(parts[0], digest_size=16).digest()
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    """Open a file to append to. None is kept open: programs close what they did not open, and use it anew."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)


class _Budget:
    """Bytes that all processes share: a file that grows by one byte for each unit that one of them takes."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = path
        self._units = limit // _UNIT

    def take(self, size: int) -> int:
        """Return how many bytes were granted, at least `size`; or 0."""
        units = -(-size // _UNIT)
        with _opened(self._path) as file:
            if os.fstat(file).st_size + units > self._units:
                return 0
            os.write(file, bytes(units))
            return units * _UNIT if os.fstat(file).st_size <= self._units else 0


class _Log:
    """The log of this process. All methods are for who holds its lock."""

    def __init__(self, folder: str, limit: int) -> None:
        os.makedirs(folder, exist_ok=True)
        stem = os.path.join(folder, f"{os.getpid()}-{time.time_ns()}")
        self.lock = threading.RLock()
        self.signatures = 0
        self._path, self._arrays = stem + LOG, stem + ARRAYS
        # Arrays must leave room for what tells that results differ, which is more than by how much.
        self._calls_budget = _Budget(os.path.join(folder, "calls.taken"), limit // 4)
        self._arrays_budget = _Budget(os.path.join(folder, "arrays.taken"), limit - limit // 4)
        self._arrays_left = self._arrays_end = 0
        self._start = self._end = 0
        # All are kept, since a map that goes closes a file by its number.
        self._maps: list[mmap.mmap] = []
        self._first = self._pages = self._map(HEADER.size)
        self._note(is_full=self._pages is None)
        self._position = HEADER.size

    @property
    def place(self) -> tuple[mmap.mmap | None, int]:
        """The pages that have the last record, and where in them it ends."""
        return self._pages, self._position - self._start

    def add(self, kind: bytes, data: bytes) -> bool:
        """Append a record; False where there is no room left."""
        size = RECORD.size + len(data)
        # Behind the record there is room for one that fills what is left, or nothing as yet.
        if self._is_full or (self._position + size + RECORD.size > self._end and not self._next(size)):
            self._note(is_full=True)
            return False
        pages, at = self._pages, self._position - self._start
        assert pages is not None
        pages[at + RECORD.size : at + size] = data
        pages[at : at + RECORD.size] = RECORD.pack(len(data), kind)
        self._position += size
        return True

    def keep(self, parts: Sequence[Any]) -> int | None:
        """Append bytes to the file of arrays, and return where; None where there is no room left."""
        size = sum(len(part) for part in parts)
        if size > self._arrays_left:
            granted = self._arrays_budget.take(size)
            if not granted:
                return None
            self._arrays_left = granted
        start = self._arrays_end
        with _opened(self._arrays) as file:
            for part in parts:
                _write_all(file, memoryview(part))
        self._arrays_left -= size
        self._arrays_end += size
        return start

    def _map(self, size: int) -> mmap.mmap | None:
        """Make the file longer, by at least `size`, and return its new pages."""
        granted = self._calls_budget.take(size)
        if not granted:
            return None
        with _opened(self._path) as file:
            # To write into pages that find no room on the disk would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file, self._end, granted)
            else:
                os.ftruncate(file, self._end + granted)
            pages = mmap.mmap(file, granted, offset=self._end)
            self._maps.append(pages)
        self._start = self._position = self._end
        self._end += granted
        return pages

    def _next(self, size: int) -> bool:
        """Go on in new pages, behind a record that fills what is left of the old ones."""
        rest = self._end - self._position
        pages, at = self._pages, self._position - self._start
        more = self._map(size + RECORD.size)
        if pages is None or more is None:
            return False
        pages[at : at + RECORD.size] = RECORD.pack(rest - RECORD.size, b"-")
        self._pages = more
        return True

    def _note(self, *, is_full: bool) -> None:
        self._is_full = is_full
        if self._first is not None:
            HEADER.pack_into(self._first, 0, MAGIC, os.getpid(), is_full)


def _write_all(file: int, data: memoryview) -> None:
    while data:
        data = data[os.write(file, data) :]


# The log of this process, which a fork inherits and leaves alone.
_current: _Log | None = None
_has_failed = False
_opening = threading.Lock()


def _open() -> _Log | None:
    global _current  # noqa: PLW0603 - there is one log a process, and looking for it must cost nothing
    with _opening:
        if _current is None and not _has_failed:
            _current = _Log(_FOLDER, int(_LIMIT))
    return _current


def _start_anew() -> None:
    """Leave the log to the process that this one was forked from."""
    global _current, _opening
    _current, _opening = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def _give_up(error: Exception) -> None:
    """End the recording of this process; its folder says why."""
    global _current, _has_failed
    if _has_failed:
        return
    _current, _has_failed = None, True
    report(f"{type(error).__name__}: {error}")


def report(why: str, suffix: str = FAULT) -> None:
    """Say in the folder of the recording what keeps it from being complete."""
    with contextlib.suppress(OSError):  # it will be short of calls all the same
        os.makedirs(_FOLDER, exist_ok=True)
        with open(os.path.join(_FOLDER, f"{os.getpid()}{suffix}"), "a", encoding="utf-8") as file:
            file.write(f"{why}\n")


# JAX's own callbacks.


def install() -> None:
    """Record the calls of JAX's own callbacks from now on, if the environment asks for it."""
    if is_on():
        if os.environ.get("BUFCB_RECORD_HOOKED") and "_bufcb_startup" not in sys.modules:
            report("", UNHOOKED)
        _jax.wrap_host_callbacks(_recorded)
        _jax.wrap_buffer_callback(_recorded_buffers)


# By callback, which the values must not keep alive.
_recorders: Final[weakref.WeakKeyDictionary[Any, dict[Any, Recorder]]] = weakref.WeakKeyDictionary()


def _recorded(api: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return what JAX calls on the host for a callback of `api`, recorded."""

    def recorded(*args: Any, result_avals: Any, callback: Any, **params: Any) -> Any:
        inputs = list(map(np.asarray, args))
        found = _known(api, callback, inputs, result_avals)
        started = clock()
        try:
            results = call(*args, result_avals=result_avals, callback=callback, **params)
        except BaseException as error:
            found.failed(inputs, error, started)
            raise
        _note_results(found, inputs, results, result_avals, started)
        return results

    return recorded


def _known(api: str, callback: Any, inputs: Sequence[np.ndarray], result_avals: Any) -> Recorder:
    avals = tuple((array.shape, array.dtype) for array in inputs)
    outputs = tuple((aval.shape, np.dtype(aval.dtype)) for aval in result_avals)
    known = _recorders.setdefault(callback, {})
    found = known.get((api, avals, outputs))
    if found is None:
        found = known[api, avals, outputs] = _recorder(api, callback.callback_func, avals, outputs)
    return found


def _note_results(
    found: Recorder, inputs: Sequence[np.ndarray], results: Any, result_avals: Any, started: float
) -> None:
    """Record results as JAX takes them; it raises where they do not fit."""
    x64 = _jax.x64_enabled()
    values = [value.astype(canonical_dtype(value.dtype, x64), copy=False) for value in results]
    if [(value.shape, value.dtype) for value in values] == [(a.shape, a.dtype) for a in result_avals]:
        found.done(inputs, values, started)
    else:
        found.failed(inputs, RuntimeError(), started)


def _recorded_buffers(
    callback: Callable[..., Any], inputs: Sequence[Aval], outputs: Sequence[Aval], *, has_aliases: bool
) -> Callable[..., Any]:
    """Return a callback of JAX's own `buffer_callback`, recorded."""
    found = _recorder("jax.buffer_callback", callback, inputs, outputs)

    def recorded(ctx: Any, out: Any, /, *args: Any, **kwargs: Any) -> Any:
        started = clock()
        # Copies: an input may share its memory with an output, and JAX's inputs can be written to.
        given = [np.array(np.asarray(buffer)) for buffer in tree_leaves((args, kwargs))]
        if not has_aliases:  # memory may by chance hold what the callback ought to write
            for buffer in tree_leaves(out):
                fill_canary(np.asarray(buffer))
        try:
            value = callback(ctx, out, *args, **kwargs)
        except BaseException as error:
            found.failed(given, error, started)
            raise
        found.done(given, [np.asarray(buffer) for buffer in tree_leaves(out)], started)
        return value

    return recorded
