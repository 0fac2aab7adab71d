"""From the paths that the user gave to the files that may need migration.

Every Python file is read once, and only one that contains the word `pure_callback` becomes a
candidate: on most trees this turns away all but a handful before anything is parsed.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from codemods.model import FileResult

if TYPE_CHECKING:
    import pathspec

WORD: Final = b"pure_callback"
SUFFIXES: Final = (".py", ".pyw")

# Folders that hold tools' state, other people's code or build products, whatever `.gitignore` says.
EXCLUDED: Final = frozenset(
    {
        ".bzr", ".direnv", ".eggs", ".git", ".hg", ".hypothesis", ".idea", ".ipynb_checkpoints",
        ".mypy_cache", ".nox", ".pixi", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn",
        ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "buck-out", "node_modules",
        "site-packages", "venv",
    }
)  # fmt: skip
# Build products as well, unless the folder is a package that merely has that name.
EXCLUDED_UNLESS_PACKAGE: Final = frozenset({"_build", "build", "dist"})
EXCLUDED_SUFFIXES: Final = (".egg-info", ".dist-info")
# A file or folder that gives away a virtual environment of any name.
ENVIRONMENT_MARKERS: Final = frozenset({"conda-meta", "pyvenv.cfg"})


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A file that contains the word `pure_callback`, with its bytes."""

    path: Path
    data: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Discovery:
    """What a look through the given paths found.

    Attributes:
      candidates: the files to analyse, ordered by path, each real file once.
      failures: paths that do not exist or cannot be read, ordered by path.
      scanned: how many Python files were read.
    """

    candidates: tuple[Candidate, ...]
    failures: tuple[FileResult, ...]
    scanned: int


OnError = Callable[[str, str], None]
"""Takes a path and the reason why it cannot be looked at."""


def discover(paths: Sequence[Path]) -> Discovery:
    """Reads every Python file under `paths` and keeps those that may need migration.

    A file that is named is always read, whatever its suffix and whatever ignores it. A folder is
    walked as `python_files` says. No failure stops the rest: each becomes a `FileResult`.
    """
    candidates: list[Candidate] = []
    failures: list[FileResult] = []
    scanned = 0

    def fail(path: str, reason: str) -> None:
        failures.append(FileResult(Path(path), b"", b"", error=f"{path}: {reason}"))

    for path in python_files(paths, fail):
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except (OSError, MemoryError) as error:
            fail(path, f"cannot be read: {_reason(error)}")
            continue
        scanned += 1
        if WORD in data:
            candidates.append(Candidate(Path(path), data))
    candidates.sort(key=lambda candidate: candidate.path.parts)
    failures.sort(key=lambda failure: failure.path.parts)
    return Discovery(tuple(candidates), tuple(failures), scanned)


def python_files(paths: Sequence[Path], on_error: OnError) -> Iterator[str]:
    """Yields the path of every Python file in `paths`, each real file once, in no set order.

    A folder that is named is walked even if something ignores it. Inside it, folders that hold no
    source of the project are left out: those in `EXCLUDED`, virtual environments, and whatever a
    `.gitignore` of the folder, of those below it, or of those above it in the same repository
    matches. Symbolic links to files are followed, those to folders are not.

    Paths keep the spelling that the user gave: relative stays relative.
    """
    seen: set[str] = set()
    for given in paths:
        path = str(given)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            on_error(path, "does not exist" if isinstance(error, FileNotFoundError) else _reason(error))
            continue
        if stat.S_ISDIR(mode):
            yield from _walk(path, seen, on_error)
        elif not stat.S_ISREG(mode):
            on_error(path, "is neither a file nor a folder")
        elif _is_new(os.path.realpath(path), seen):
            yield path


def _walk(root: str, seen: set[str], on_error: OnError) -> Iterator[str]:
    """Yields the Python files under the folder `root` whose real path is not in `seen`."""
    # One entry a folder: the path shown, the real path (links to folders are not followed, so that
    # it only ever grows by a name), and the patterns in force.
    pending = [(root, os.path.realpath(root), _rules_above(root, on_error))]
    while pending:
        shown, real, rules = pending.pop()
        try:
            with os.scandir(shown) as scan:
                entries = {entry.name: entry for entry in scan}
        except OSError as error:
            on_error(shown, f"cannot be read: {_reason(error)}")
            continue
        if shown != root and _is_foreign(os.path.basename(shown), entries):
            continue
        if ".gitignore" in entries:
            rules = _read_rules(entries[".gitignore"].path, shown, "", rules, on_error)
        for name, entry in entries.items():
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not (name.endswith(SUFFIXES) and entry.is_file()):
                    continue
                is_link = not is_folder and entry.is_symlink()
            except OSError as error:  # a loop of links, or an entry that went away
                on_error(entry.path, f"cannot be read: {_reason(error)}")
                continue
            if is_folder and (name in EXCLUDED or name.endswith(EXCLUDED_SUFFIXES)):
                continue
            if rules is not None and rules.ignore(entry.path + "/" if is_folder else entry.path):
                continue
            real_path = os.path.realpath(entry.path) if is_link else os.path.join(real, name)
            if is_folder:
                pending.append((entry.path, real_path, rules))
            elif _is_new(real_path, seen):
                yield entry.path


def _is_new(real_path: str, seen: set[str]) -> bool:
    if real_path in seen:
        return False
    seen.add(real_path)
    return True


def _is_foreign(name: str, entries: dict[str, os.DirEntry[str]]) -> bool:
    """Whether a folder's own content shows that it holds no source of the project."""
    if name in EXCLUDED_UNLESS_PACKAGE and "__init__.py" not in entries:
        return True
    return not ENVIRONMENT_MARKERS.isdisjoint(entries)


@dataclasses.dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one `.gitignore`, and those of the folders above it.

    Attributes:
      spec: the patterns, which match paths relative to the `.gitignore`'s folder.
      cut: how many leading characters to drop from a path as shown …
      lead: … and what to put there instead, to make it relative to that folder.
      above: the patterns that decide when these do not.
    """

    spec: pathspec.GitIgnoreSpec
    cut: int
    lead: str
    above: _Rules | None

    def ignore(self, path: str) -> bool:
        """Whether `path`, a folder's with a slash at its end, is ignored. The nearest match decides."""
        rules: _Rules | None = self
        while rules is not None:
            verdict = rules.spec.check_file(rules.lead + path[rules.cut :]).include
            if verdict is not None:
                return verdict
            rules = rules.above
        return False


def _read_rules(path: str, root: str, lead: str, above: _Rules | None, on_error: OnError) -> _Rules | None:
    """Adds the patterns of the file `path` to those `above`.

    `lead` is the way from that file's folder to the folder `root`, with a slash at its end, and empty
    where they are the same.
    """
    import pathspec  # most trees without a `.gitignore` never need it

    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig", "surrogateescape")
    except OSError as error:
        if not isinstance(error, IsADirectoryError):
            on_error(path, f"cannot be read: {_reason(error)}")
        return above
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    try:
        spec = pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError:  # Git passes over a malformed pattern, so that pattern alone is left out
        spec = pathspec.GitIgnoreSpec.from_lines(filter(_is_pattern, lines))
    return _Rules(spec, len(os.path.join(root, "")), lead, above)


def _is_pattern(line: str) -> bool:
    import pathspec

    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _rules_above(root: str, on_error: OnError) -> _Rules | None:
    """The patterns of the folders above `root` in its repository.

    None where there is no repository, and where they ignore `root` itself: naming an ignored folder
    means that its files are wanted.
    """
    folder = os.path.realpath(root)
    above: list[tuple[str, str]] = []  # a file of patterns, and the way from its folder to `root`
    lead = ""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent, name = os.path.split(folder)
        if parent == folder:
            return None
        folder, lead = parent, f"{name}/{lead}"
        above.append((os.path.join(folder, ".gitignore"), lead))
    above.append((os.path.join(folder, ".git", "info", "exclude"), lead))
    rules: _Rules | None = None
    for path, way in reversed(above):
        if os.path.isfile(path):
            rules = _read_rules(path, root, way, rules, on_error)
    return None if rules is not None and rules.ignore(os.path.join(root, "")) else rules


def _reason(error: OSError | ValueError | MemoryError) -> str:
    """The system's words for `error`, without the number and the path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or "not enough memory"
