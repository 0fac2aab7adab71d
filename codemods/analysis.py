"""The migration or audit of files, in memory, by one process: what goes wrong is the file's own error."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from codemods import engine
from codemods.discovery import Candidate
from codemods.model import AuditOptions, FileResult, Options, failed
from codemods.project import Project
from codemods.source import SourceError, SourceFile

Result = TypeVar("Result")

# More than what `nesting.LIMIT` levels take, of which each is up to a dozen frames.
_STACK_FRAMES: Final = 20_000
_STACK_BYTES: Final = 256 * 2**20
_SECONDS_BETWEEN_TICKS: Final = 0.2
# So many more objects than at the last collection, some 70 MB of them, are worth looking for garbage.
_MANY_OBJECTS: Final = 700_000


class Analysis:
    """The migration or audit of the files of one project, of which it reads what each of them needs."""

    def __init__(self, paths: Sequence[Path], options: Options | AuditOptions) -> None:
        self._migrate = _engine(paths, options)
        self._command = "bufcb-lint" if isinstance(options, AuditOptions) else "bufcb-migrate"

    def __call__(self, candidate: Candidate, left: Collection[int] = ()) -> FileResult:
        """Migrates one file, but for the call sites with the indices `left`.

        A failure ends up in the result, so that the next file has its turn.
        """
        try:
            with collector_paused():
                return self._migrate(SourceFile.from_bytes(candidate.path, candidate.data), left=left)
        except SourceError as error:
            return FileResult(candidate.path, candidate.data, candidate.data, error=str(error))
        except MemoryError:
            why = "there is not enough memory to analyse it"
        except Exception as error:  # noqa: BLE001 - one file's bad luck must not be the other files'
            shown = f"{type(error).__name__}: {error} ({_place(error)})"
            why = f"internal error in {self._command}: {shown}; please report it"
        return failed(candidate.path, candidate.data, why)


def _engine(paths: Sequence[Path], options: Options | AuditOptions) -> Callable[..., FileResult]:
    # Made for the first file, so that its failure is reported as a file's is.
    project = functools.cache(lambda: Project.of(paths))

    def migrate(source: SourceFile, left: Collection[int]) -> FileResult:
        if isinstance(options, AuditOptions):
            from codemods.lint.engine import lint

            result = lint(source, project(), options)
        else:
            result = engine.migrate(source, project(), options, left)
        project().forget()
        return result

    return migrate


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Trees are large and live as long as the file is looked at: to look for garbage meanwhile finds none.

    Around many files, garbage is looked for between them, when there may be much.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY_OBJECTS:
            gc.collect()
        if was_enabled:
            gc.enable()


def on_deep_stack(work: Callable[[], Result], tick: Callable[[], None] = lambda: None) -> Result:
    """Runs `work`, which recurses as deeply as the code that it reads is nested, where there is room.

    A string of a few hundred pieces is nested too deeply for Python's usual limits. On a system that
    grants no such stack, `work` runs on the one that there is. Meanwhile `tick` is called now and then.
    """
    results: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failures.append(error)

    frames = sys.getrecursionlimit()
    try:
        # A daemon, so that an interrupt does not wait for it: it writes nothing.
        thread = threading.Thread(target=run, daemon=True)
        before = threading.stack_size(_STACK_BYTES)
        try:
            sys.setrecursionlimit(max(frames, _STACK_FRAMES))
            thread.start()
        finally:
            threading.stack_size(before)
        while thread.is_alive():  # an interrupt that comes right before a wait does not end it
            thread.join(timeout=_SECONDS_BETWEEN_TICKS)
            tick()
    except (RuntimeError, ValueError):  # no thread of that size
        sys.setrecursionlimit(frames)
        return work()
    finally:
        sys.setrecursionlimit(frames)
    if failures:
        raise failures[0]
    return results[0]


def _place(error: Exception) -> str:
    """Where `error` was raised, for a report of our own bug."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}"
