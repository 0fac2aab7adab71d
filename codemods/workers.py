"""Analyses files in several processes, each of which has one file at a time and writes nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from codemods.discovery import Candidate
from codemods.model import AuditOptions, FileResult, Options, failed

# The one way of starting a process that every system has, and that programs with threads may use.
_CONTEXT: Final = multiprocessing.get_context("spawn")
_SECONDS_BETWEEN_TICKS: Final = 0.2
# Windows waits for no more than 63 things at a time.
_MOST: Final = 60 if sys.platform == "win32" else 1000


class NoWorkers(Exception):
    """No process can be started, or none gets as far as to be of use."""


@dataclasses.dataclass(eq=False, slots=True)
class _Worker:
    """One process. The first thing that it sends is None, then a result for each file that it is sent.

    Attributes:
      file: the index of the file that it has; None while it starts, or waits for the next.
    """

    process: multiprocessing.process.BaseProcess
    connection: multiprocessing.connection.Connection[Any, Any]
    file: int | None = None
    is_ready: bool = False


class Workers:
    """Processes that analyse the files of one project; a context manager, behind which none is left."""

    def __init__(self, count: int, paths: Sequence[Path], options: Options | AuditOptions) -> None:
        """`count` is how many there are at most; they are started when there are files to analyse."""
        self._count, self._paths, self._options = min(count, _MOST), tuple(paths), options
        self._workers: list[_Worker] = []
        self._waiting: list[int] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()  # what writes nothing leaves nothing half done
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    def results(
        self, candidates: Sequence[Candidate], tick: Callable[[], None]
    ) -> Iterator[tuple[int, FileResult]]:
        """Yields the index of each candidate and its result, as they come; `tick` is called now and then.

        A process that dies is the error of the file that it had, and the next file gets a new one.

        Raises:
          NoWorkers: the candidates not yet yielded have to be analysed in another way.
        """
        # Large files first, lest one of them comes last, when the other processes have nothing to do.
        self._waiting = sorted(range(len(candidates)), key=lambda index: len(candidates[index].data))
        for _ in range(min(self._count, len(candidates))):
            self._start()
        for _ in candidates:
            yield self._next(candidates, tick)

    def _next(self, candidates: Sequence[Candidate], tick: Callable[[], None]) -> tuple[int, FileResult]:
        while self._workers:
            worker = self._heard_from(tick)
            index = worker.file
            try:
                result = worker.connection.recv()
            except (EOFError, OSError):
                result = self._bury(worker, candidates)
            else:
                worker.is_ready = True
                self._hand_out(worker, candidates)
            if index is not None:
                return index, result
        raise NoWorkers

    def _start(self) -> None:
        """Starts a process; where that is impossible, those that there are have to do."""
        ours, theirs = _CONTEXT.Pipe()
        arguments = (theirs, self._paths, self._options)
        process = _CONTEXT.Process(target=_serve, args=arguments, name="bufcb", daemon=True)
        try:
            with _interrupts_kept_from_children():
                process.start()
        except (OSError, RuntimeError):
            ours.close()
        else:
            self._workers.append(_Worker(process, ours))
        finally:
            theirs.close()  # only when nobody else holds it is the end of the process seen

    def _heard_from(self, tick: Callable[[], None]) -> _Worker:
        """A process that has sent something or has died, once there is one."""
        by_connection: dict[object, _Worker] = {worker.connection: worker for worker in self._workers}
        connections = [worker.connection for worker in self._workers]
        while not (heard := multiprocessing.connection.wait(connections, _SECONDS_BETWEEN_TICKS)):
            tick()
        tick()
        return by_connection[heard[0]]

    def _hand_out(self, worker: _Worker, candidates: Sequence[Candidate]) -> None:
        worker.file = self._waiting.pop() if self._waiting else None
        if worker.file is not None:
            # One that has died meanwhile is heard of next.
            with contextlib.suppress(OSError):
                worker.connection.send(candidates[worker.file])

    def _bury(self, worker: _Worker, candidates: Sequence[Candidate]) -> FileResult | None:
        """Replaces a process that has died, unless it never got to work; the result for the file it had."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        if worker.is_ready and self._waiting:
            self._start()
        if worker.file is None:
            return None
        candidate = candidates[worker.file]
        why = f"the process that analysed it {_why(worker.process.exitcode)}"
        return failed(candidate.path, candidate.data, why)


def _why(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"ended with status {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    hint = "; perhaps there was not enough memory" if name == "SIGKILL" else ""
    return f"was ended by {name}{hint}"


@contextlib.contextmanager
def _interrupts_kept_from_children() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; those started here are ended by the one that started them.

    They would print a traceback if it came while they start.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which it is anyway, but to start it takes the mask away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# What runs in the processes.


def _serve(
    connection: multiprocessing.connection.Connection[Any, Any],
    paths: Sequence[Path],
    options: Options | AuditOptions,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from codemods.analysis import Analysis, collector_paused, on_deep_stack

    analysis = Analysis(paths, options)
    with contextlib.suppress(EOFError, OSError), collector_paused():  # there is nobody left to answer to
        connection.send(None)
        on_deep_stack(lambda: _answer(connection, analysis))


def _answer(
    connection: multiprocessing.connection.Connection[Any, Any], analysis: Callable[[Candidate], FileResult]
) -> None:
    while True:
        connection.send(analysis(connection.recv()))


def _end_with_parent() -> None:
    """One that is killed cannot end its children, which may be at work for long."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
