"""Runs the migration over many files, in memory, and writes what changed."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from codemods.model import FileResult, Options
from codemods.report.run import Run

if TYPE_CHECKING:
    from codemods.apis import Name
    from codemods.discovery import Candidate, Discovery
    from codemods.inputs import Inputs

Migrate = Callable[..., FileResult]
"""Takes a `SourceFile`, and as `left` the indices of the call sites to leave alone."""
Result = TypeVar("Result")

# More than what `nesting.LIMIT` levels take, of which each is up to a dozen frames.
_STACK_FRAMES: Final = 20_000
_STACK_BYTES: Final = 256 * 2**20


def analyse(inputs: Inputs, options: Options) -> Run:
    """Runs the migration over everything in `inputs`, in memory."""
    found = look(inputs, options.apis)
    files = list(found.failures)
    if found.candidates:
        engine = _engine(inputs.paths, options)
        files += _on_deep_stack(lambda: [_analyse_file(each, engine) for each in found.candidates])
    files.sort(key=lambda file: file.path.parts)
    return Run(tuple(files), found.scanned, apis=options.apis)


def choose(inputs: Inputs, options: Options) -> Run:
    """Asks about the changes of one file after the other, and writes those that are taken, file by file."""
    from codemods import interactive

    found = look(inputs, options.apis)
    files = list(found.failures)
    engine = _engine(inputs.paths, options) if found.candidates else None
    for candidate in found.candidates:
        assert engine is not None
        again = functools.partial(_analyse_but, candidate, engine)
        try:
            files.append(_written(interactive.choose(again(frozenset()), again)))
        except interactive.Quit as stop:
            files.append(_written(stop.result))
            break
    files.sort(key=lambda file: file.path.parts)
    return Run(tuple(files), found.scanned, written=True, apis=options.apis)


def _analyse_but(candidate: Candidate, engine: Migrate, left: frozenset[int]) -> FileResult:
    """Migrates one file, but for the call sites that are `left`."""
    return _on_deep_stack(lambda: _analyse_file(candidate, functools.partial(engine, left=left)))


def look(inputs: Inputs, apis: Sequence[Name]) -> Discovery:
    """Reads what is to be looked at, and keeps what spells one of `apis`."""
    from codemods import discovery

    if inputs.code is not None:
        return discovery.of_code(inputs.paths[0], inputs.code, apis)
    if inputs.shard is None:
        return discovery.discover(inputs.paths, names=apis)
    folder = discovery.common_folder(inputs.paths) or os.path.realpath(os.curdir)
    root = discovery.project_of(folder) or folder
    return discovery.discover(inputs.paths, inputs.shard.of(root), apis)


def _on_deep_stack(work: Callable[[], Result]) -> Result:
    """Runs `work`, which recurses as deeply as the code that it reads is nested, where there is room.

    A string of a few hundred pieces is nested too deeply for Python's usual limits. On a system that
    grants no such stack, `work` runs on the one that there is.
    """
    import threading

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
            thread.join(timeout=0.2)
    except (RuntimeError, ValueError):  # no thread of that size
        sys.setrecursionlimit(frames)
        return work()
    finally:
        sys.setrecursionlimit(frames)
    if failures:
        raise failures[0]
    return results[0]


def _engine(paths: Sequence[Path], options: Options) -> Migrate:
    """The migration of one file; loads the parsers."""
    from codemods import engine, project

    # Made for the first file, so that its failure is reported as a file's is.
    whole = functools.cache(lambda: project.Project.of(paths))
    return lambda source, left=(): engine.migrate(source, whole(), options, left)


def _analyse_file(candidate: Candidate, engine: Migrate) -> FileResult:
    """Migrates one file; whatever goes wrong ends up in the result, so that the next file has its turn."""
    from codemods.source import SourceError, SourceFile

    try:
        return engine(SourceFile.from_bytes(candidate.path, candidate.data))
    except SourceError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - one file's bad luck must not be the other files'
        reason = (
            f"{candidate.path}: internal error in bufcb-migrate: {type(error).__name__}: {error} "
            f"({_place(error)}); please report it"
        )
    return FileResult(candidate.path, candidate.data, candidate.data, error=reason)


def _place(error: Exception) -> str:
    """Where `error` was raised, for a report of our own bug."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}"


def write(run: Run) -> Run:
    """Writes the changed files; one that cannot be written becomes a failure without call sites."""
    return dataclasses.replace(run, files=tuple(map(_written, run.files)), written=True)


def _written(file: FileResult) -> FileResult:
    from codemods import writing
    from codemods.source import SourceError

    try:
        if file.changed:
            writing.replace(file.path, file.before, file.after)
    except SourceError as error:
        return FileResult(file.path, file.before, file.before, error=str(error))
    return file
