"""Runs the migration or the audit over many files, in memory, and writes what changed."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codemods.model import AuditOptions, FileResult, Options
from codemods.report.run import Run

if TYPE_CHECKING:
    from codemods.analysis import Analysis
    from codemods.discovery import Candidate, Discovery
    from codemods.inputs import Inputs
    from codemods.progress import Progress

# What one process analyses in the time in which others start and read what they need of the project, or more.
_BYTES_A_PROCESS: Final = 500_000


def analyse(inputs: Inputs, options: Options | AuditOptions, jobs: int, progress: Progress) -> Run:
    """Runs the migration or the audit, as `options` are, over everything in `inputs`, in memory.

    `jobs` is how many processes analyse files, 0 for as many as pay off; the result is always the same.
    `progress` is told how far the run is.
    """
    found = look(inputs, options.words, progress)
    files = list(found.failures)
    if found.candidates:
        files += _results(found.candidates, inputs.paths, options, jobs, progress)
    files.sort(key=lambda file: file.path.parts)
    if isinstance(options, AuditOptions):
        return Run(tuple(files), found.scanned, is_audit=True)
    return Run(tuple(files), found.scanned, apis=options.apis)


def choose(inputs: Inputs, options: Options) -> Run:
    """Asks about the changes of one file after the other, and writes those that are taken, file by file."""
    from codemods.progress import Progress

    found = look(inputs, options.words, Progress(None))
    files = list(found.failures)
    if found.candidates:
        files += _chosen(found.candidates, inputs.paths, options)
    files.sort(key=lambda file: file.path.parts)
    return Run(tuple(files), found.scanned, written=True, apis=options.apis)


def _chosen(candidates: Sequence[Candidate], paths: Sequence[Path], options: Options) -> Iterator[FileResult]:
    from codemods import analysis, interactive

    migrate = analysis.Analysis(paths, options)
    for candidate in candidates:
        again = functools.partial(_analyse_but, candidate, migrate)
        try:
            yield _written(interactive.choose(again(frozenset()), again))
        except interactive.Quit as stop:
            yield _written(stop.result)
            return


def _analyse_but(candidate: Candidate, migrate: Analysis, left: frozenset[int]) -> FileResult:
    """Migrates one file, but for the call sites that are `left`."""
    from codemods import analysis

    return analysis.on_deep_stack(lambda: migrate(candidate, left))


def _results(
    candidates: Sequence[Candidate],
    paths: Sequence[Path],
    options: Options | AuditOptions,
    jobs: int,
    progress: Progress,
) -> Collection[FileResult]:
    """The result for each candidate, in no set order."""
    results: dict[int, FileResult] = {}

    def note(index: int, result: FileResult) -> None:
        results[index] = result
        progress.analysed(len(candidates[index].data))

    progress.analysing(len(candidates), sum(len(candidate.data) for candidate in candidates))
    count = min(jobs or _processes(candidates), len(candidates))
    if count > 1:
        from codemods import workers

        with contextlib.suppress(workers.NoWorkers), workers.Workers(count, paths, options) as pool:
            for index, result in pool.results(candidates, progress.tick):
                note(index, result)
    if len(results) < len(candidates):
        from codemods import analysis

        analyse_file = analysis.Analysis(paths, options)

        def analyse_rest() -> None:
            with analysis.collector_paused():
                for index, candidate in enumerate(candidates):
                    if index not in results:
                        note(index, analyse_file(candidate))

        analysis.on_deep_stack(analyse_rest, progress.tick)
    return results.values()


def _processes(candidates: Sequence[Candidate]) -> int:
    """How many processes pay off."""
    return min(_processors(), sum(len(candidate.data) for candidate in candidates) // _BYTES_A_PROCESS)


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def look(inputs: Inputs, words: Sequence[str], progress: Progress) -> Discovery:
    """Reads what is to be looked at, and keeps what spells one of `words`."""
    from codemods import discovery

    if inputs.code is not None:
        return discovery.of_code(inputs.paths[0], inputs.code, words)
    if inputs.shard is None:
        return discovery.discover(inputs.paths, names=words, scanned=progress.scanned)
    folder = discovery.common_folder(inputs.paths) or os.path.realpath(os.curdir)
    root = discovery.project_of(folder) or folder
    return discovery.discover(inputs.paths, inputs.shard.of(root), words, progress.scanned)


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
