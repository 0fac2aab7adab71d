"""Proves a migration by a command of the user's: what callbacks give before it, and what they give after."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from codemods import discovery
from codemods.model import FileResult, Place, Status
from codemods.report.run import Run
from codemods.source import SourceError
from codemods.verification import processes, recordings, trees
from codemods.verification.comparison import Row, Verdict, compare, without_varying
from codemods.verification.errors import VerificationError
from codemods.verification.names import Key, Names, key_of
from codemods.verification.printed import Change, first_change, last_change
from codemods.verification.processes import Ended
from codemods.verification.recordings import Recording
from codemods.verification.trees import Tree

__all__ = ["Proof", "Settings", "VerificationError", "verify"]

_MEGABYTE: Final = 1_000_000
_IGNORES: Final = (
    "ignores PYTHONPATH, or has another one: what sets it must add to it, PYTHONPATH=src:$PYTHONPATH"
)
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """What the user asks for.

    Attributes:
      command: as for `sh -c`.
      limit: how many megabytes a recording may have.
      timeout: how many seconds each run may take; None for any number.
    """

    command: str
    limit: int = 256
    timeout: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """What the runs of a command show.

    Attributes:
      root: the project; paths of callbacks are relative to it.
      before, after: how the command ended, on the original and on the migrated copy.
      again: how it ended on the original once more; None where that was not needed.
      rows: one for each callback.
      not_called: migrated callbacks that the command does not call.
      is_full: whether there was no room for all calls.
      printed: where the standard output differs, if it does not do so by itself; that is no failure.
      message: what both runs fail with, at the end of the standard error, if that differs; likewise.
    """

    command: str
    root: str
    before: Ended
    after: Ended
    again: Ended | None
    rows: tuple[Row, ...]
    not_called: tuple[Key, ...]
    is_full: bool
    printed: Change | None = None
    message: Change | None = None

    @property
    def is_same(self) -> bool:
        """Whether both runs ended alike, with the same results of all callbacks."""
        all_same = all(row.verdict is Verdict.SAME for row in self.rows)
        return self.before.status == self.after.status and all_same and not self.lacks_room

    @property
    def lacks_room(self) -> bool:
        """Whether there are callbacks of which nothing was compared, perhaps for want of room."""
        return self.is_full and (bool(self.not_called) or not all(row.compared for row in self.rows))


def verify(run: Run, settings: Settings, say: Say) -> Proof:
    """Runs a command on a copy of the project as it is and on a migrated one, and compares.

    `say` is told what takes time.

    Raises:
      VerificationError: the command could not be run, or what it called back could not be recorded.
    """
    import tempfile

    folder = os.path.realpath(os.curdir)
    root = _root(folder)
    changed = [file for file in run.files if file.changed]
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="bufcb-verify-"))
    try:
        with processes.interruptible():
            runner = _Runner(settings, root, folder, scratch, changed)
            return _proof(run, runner, say)
    finally:
        trees.remove(scratch)


def _root(folder: str) -> str:
    """The project of the current folder, which is what is copied."""
    root = os.path.realpath(discovery.project_of(folder) or folder)
    if os.path.dirname(root) == root or root == os.path.realpath(os.path.expanduser("~")):
        raise VerificationError(f"the current folder belongs to no project, and all of {root} is too much")
    return root


def _proof(run: Run, runner: _Runner, say: Say) -> Proof:
    shown = runner.settings.command
    say(f"Running `{shown}` on a copy of {runner.root} …")
    before, one = runner.run("before", migrated=False)
    if before.status in processes.NOT_RUN:
        raise VerificationError(_with_output(f"`{shown}` cannot be run", before))
    say(f"Running it on a migrated copy … (the first took {before.seconds:.1f} s)")
    after, other = runner.run("after", migrated=True)
    if not one.total and not other.total and (before.status == after.status or not one.started):
        why = f"`{shown}` calls no callback, or runs a Python that {_IGNORES}"
        raise VerificationError(_with_output(why, before))
    rows = compare(one, other)
    printed, message = _changes(before, after)
    again = None
    if _are_in_doubt(before, after, rows) or printed or message:
        say("Running it on a copy of the original once more, to see whether that gives the same twice …")
        again, repeated = runner.run("again", migrated=False)
        rows = without_varying(rows, one, repeated)
        if before.status != again.status or any(_changes(before, again)):
            printed = message = None
    missed = tuple(_not_called(run.files, runner.relative, one, other))
    is_full = one.is_full or other.is_full
    proof = Proof(shown, runner.root, before, after, again, rows, missed, is_full, printed, message)
    if proof.is_same and missed and missed == tuple(_not_called(run.files, runner.relative)):
        raise VerificationError(
            f"`{shown}` calls none of the callbacks of migrated calls, such as {missed[0].name} in "
            f"{missed[0].path}; if it imports an installed copy of the project, use `pip install -e`"
        )
    return proof


def _are_in_doubt(before: Ended, after: Ended, rows: tuple[Row, ...]) -> bool:
    return before.status != after.status or any(
        row.verdict is not Verdict.SAME or row.messages for row in rows
    )


def _changes(one: Ended, other: Ended) -> tuple[Change | None, Change | None]:
    """Where two runs differ in what they print, and in the message that both fail with."""
    printed = first_change(one.log, other.log)
    fail_alike = one.status == other.status != 0
    return printed, last_change(one.errors, other.errors) if fail_alike else None


def _with_hooks(command: str, hooks: str) -> str:
    """The command, with a folder in front of each PYTHONPATH that it sets."""
    if shlex.quote(hooks) != hooks:
        return command
    return re.sub(r"\bPYTHONPATH=(?![\s;&|)]|$)", lambda found: f"{found[0]}{hooks}{os.pathsep}", command)


def _with_output(text: str, ended: Ended) -> str:
    text += f" (exit status {ended.status})" if ended.status else ""
    printed = "\n".join(filter(None, (ended.output.strip("\n"), ended.errors.strip("\n"))))
    return f"{text}; it printed:\n{printed}" if printed.strip() else text


def _not_called(
    files: tuple[FileResult, ...], relative: Callable[[str], str], *runs: Recording
) -> Iterator[Key]:
    """The callbacks of migrated calls that no run called; without runs, those that would be missed."""
    called = {(key.path, key.line) for recording in runs for key in recording.callbacks}
    seen: set[Key] = set()
    for file in files:
        for site in file.sites:
            place = site.definition
            if site.status not in (Status.REWRITTEN, Status.ADAPTED):
                continue
            if place is None or _is_notebook(place):
                if not runs:  # it may have been called
                    yield Key("", 0, site.callback)
                continue
            key = Key(relative(str(place.path)), place.line, site.callback)
            if (key.path, key.line) not in called and key not in seen:
                seen.add(key)
                yield key


def _is_notebook(place: Place) -> bool:
    return place.path.suffix == discovery.NOTEBOOK


class _Runner:
    """Runs the command on copies of the project, each of which is where the one before it was."""

    def __init__(
        self,
        settings: Settings,
        root: str,
        folder: str,
        scratch: str,
        changed: list[FileResult],
    ) -> None:
        self.settings, self.root = settings, root
        self._scratch, self._changed = scratch, changed
        self._copy = os.path.join(scratch, "tree", os.path.basename(root))
        self._folder = os.path.join(self._copy, os.path.relpath(folder, root))
        try:
            self._names = Names(changed, self.relative)
        except SourceError as error:
            raise VerificationError(str(error)) from None
        self._tree = Tree.of(root, scratch)
        os.mkdir(os.path.dirname(self._copy))
        self._add_hooks()

    def relative(self, path: str) -> str:
        """The path of a file, relative to the project.

        Raises:
          VerificationError: it is not in the project.
        """
        real = os.path.realpath(path)
        if not real.startswith(os.path.join(self.root, "")):
            raise VerificationError(
                f"{path} is not in {self.root}, which is what is copied to run the command in; run this "
                "in the project that the command belongs to"
            )
        return os.path.relpath(real, self.root)

    def run(self, name: str, *, migrated: bool) -> tuple[Ended, Recording]:
        """Runs the command on a new copy, and reads what was recorded.

        Raises:
          VerificationError: it took too long, or it did not run the code of the copy.
        """
        self._tree.copy(self._copy)
        if migrated:
            for file in self._changed:
                copied = os.path.join(self._copy, self.relative(str(file.path)))
                trees.write(copied, file.before, file.after, file.path)
        folder = Path(self._scratch, name)
        folder.mkdir()
        log = Path(self._scratch, f"{name}.log")
        ended = processes.run(
            _with_hooks(self.settings.command, os.path.join(self._scratch, "hooks")),
            self._folder,
            self._environment(folder),
            log,
            self.settings.timeout,
        )
        recording = self._read(folder, self._names.original if migrated else lambda key: key)
        trees.remove(self._copy)
        self._check(ended, recording)
        return ended, recording

    def _read(self, folder: Path, original: Callable[[Key], Key]) -> Recording:
        def key(signature: Mapping[str, object]) -> Key:
            return original(key_of(signature, self._copy))

        return recordings.read(folder, key)

    def _check(self, ended: Ended, recording: Recording) -> None:
        command = self.settings.command
        if ended.status is None:
            limit = f"{self.settings.timeout:g} s"
            raise VerificationError(_with_output(f"`{command}` takes more than {limit}", ended))
        if recording.unhooked:
            raise VerificationError(f"`{command}` runs a Python that {_IGNORES}")
        if recording.faults:
            raise VerificationError(f"`{command}` could not be recorded: {'; '.join(recording.faults)}")
        inside = [key.path for key in recording.callbacks if key.path.startswith(os.path.join(self.root, ""))]
        strays = [path for path in inside if not self._is_linked(path)]
        if strays:
            raise VerificationError(
                f"`{command}` runs {strays[0]} and not its copy; name files by paths that are relative "
                "to the current folder"
            )

    def _is_linked(self, path: str) -> bool:
        folders = (os.path.join(self.root, folder, "") for folder in self._tree.linked)
        return any(path.startswith(folder) for folder in folders)

    def _add_hooks(self) -> None:
        """Puts what is to be imported first in a folder: this very `bufcb`, and the module that starts it."""
        from importlib.util import find_spec

        hooks = os.path.join(self._scratch, "hooks")
        os.mkdir(hooks)
        package = find_spec("bufcb")
        if package is None or package.origin is None:
            raise VerificationError("bufcb is not installed beside bufcb-migrate")
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(os.path.dirname(package.origin), os.path.join(hooks, "bufcb"), ignore=ignore)
        startup = os.path.join(os.path.dirname(__file__), "startup.py")
        shutil.copyfile(startup, os.path.join(hooks, "sitecustomize.py"))
        settings = {"source": self.root, "target": self._copy, "left": self._tree.linked}
        with open(os.path.join(hooks, "settings.json"), "w", encoding="utf-8") as file:
            json.dump(settings, file)

    def _environment(self, folder: Path) -> dict[str, str]:
        from codemods.verification.startup import Redirection

        redirected = Redirection(self.root, self._copy, self._tree.linked)
        paths = os.environ.get("PYTHONPATH")
        hooks = os.path.join(self._scratch, "hooks")
        environment = {
            # So that the order of sets, on which results may depend, is the same in all runs.
            "PYTHONHASHSEED": "0",
            **os.environ,
            "PYTHONPATH": os.pathsep.join([hooks, *([redirected.paths(paths)] if paths else [])]),
            "BUFCB_RECORD": str(folder),
            "BUFCB_RECORD_HOOKED": "1",
            "BUFCB_RECORD_LIMIT": str(self.settings.limit * _MEGABYTE),
        }
        if "PWD" in environment:
            environment["PWD"] = self._folder
        return environment
