"""Runs a shell command in a group of processes of its own, all of which end with it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

_SECONDS_BETWEEN: Final = 0.1
_SECONDS_TO_END: Final = 3.0
# What a shell says of a command that it does not find, or cannot run.
NOT_RUN: Final = frozenset({126, 127})


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
      status: the exit status, negative for the signal that ended the shell; None where it took too long.
      seconds: how long it ran.
      output: the end of its standard output.
      errors: the end of its standard error.
      log: the file with all of its standard output.
    """

    status: int | None
    seconds: float
    output: str
    errors: str
    log: Path


def run(
    command: str,
    folder: str,
    environment: Mapping[str, str],
    log: Path,
    timeout: float | None,
) -> Ended:
    """Runs a command as `sh -c` does, and waits for it.

    Its standard output goes to the file `log`, and its standard error to another one beside that.
    Whatever ends the wait, an exception included, ends the command as well.
    """
    options: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
    begun = time.monotonic()
    error_log = log.with_suffix(".errors")
    with open(log, "wb") as output, open(error_log, "wb") as errors:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            **options,
        )
        try:
            status = _wait(process, begun, timeout)
        finally:
            _end(process)
            _end_sessions(environment)
    return Ended(status, time.monotonic() - begun, _tail(log), _tail(error_log), log)


def _wait(process: subprocess.Popen[bytes], begun: float, timeout: float | None) -> int | None:
    """Waits in short steps, since Windows lets no interrupt through to a wait without an end."""
    while timeout is None or time.monotonic() - begun <= timeout:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_SECONDS_BETWEEN)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the group: first politely."""
    if not hasattr(os, "killpg"):
        process.kill()
        process.wait()
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):  # none is left; the latter on macOS, of ended ones
            break
        if _has_ended(process, time.monotonic() + _SECONDS_TO_END):
            break
    process.wait()


def _end_sessions(environment: Mapping[str, str]) -> None:
    """Ends processes that left the group, where the system tells: each recording has a folder of its own."""
    if not (mark := environment.get("BUFCB_RECORD")):
        return
    wanted = os.fsencode(f"BUFCB_RECORD={mark}")
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to somebody else
            if wanted in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)


def _has_ended(process: subprocess.Popen[bytes], until: float) -> bool:
    while time.monotonic() < until:
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return True
        time.sleep(_SECONDS_BETWEEN / 10)
    return False


def _tail(log: Path, size: int = 4_000) -> str:
    with open(log, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - size, 0))
        return file.read().decode(errors="replace")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Has the signals that end a process raise `KeyboardInterrupt`, so that it cleans up behind itself."""
    import threading

    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
