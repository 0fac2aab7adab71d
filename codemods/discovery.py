"""From the paths that the user gave to the files that may need migration.

Every Python file and notebook is read once, and only one that contains the name of an API to migrate becomes
a candidate: on most trees this turns away all but a handful before anything is parsed. (JSON could spell the
name with escapes, but nothing that writes notebooks escapes letters.)
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods import apis
from codemods.contents import contains
from codemods.model import LARGEST, LARGEST_NOTEBOOK, FileResult

NOTEBOOK: Final = ".ipynb"
SUFFIXES: Final = (".py", ".pyw", NOTEBOOK)
STUB: Final = ".pyi"  # not migrated, but names what a module defines

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
# What shows that a folder is a project's.
PROJECT_MARKERS: Final = ("pyproject.toml", "setup.py", "setup.cfg")


# Files about files, such as `.gitignore`, are no longer than this.
_LARGEST_RULES: Final = 10_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A file that contains the name of an API, with its bytes."""

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


def discover(
    paths: Sequence[Path],
    is_wanted: Callable[[str], bool] = lambda path: True,
    names: Sequence[str] = apis.DEFAULT,
    scanned: Callable[[int], None] = lambda count: None,
) -> Discovery:
    """Reads every Python file under `paths` that is wanted, and keeps those that spell one of `names`.

    Now and then `scanned` is told how many files have been read.

    A file that is named is always read, whatever its suffix and whatever ignores it. A folder is
    walked as `python_files` says. No failure stops the rest: each becomes a `FileResult`.
    """
    words = [name.encode() for name in names]
    candidates: list[Candidate] = []
    failures: list[FileResult] = []
    count = 0

    def fail(path: str, why: str) -> None:
        shown = Path(path)
        failures.append(FileResult(shown, b"", b"", error=f"{shown}: {why}"))

    for path in python_files(paths, fail):
        if not is_wanted(path):
            continue
        try:
            if contains(path, *words):
                candidates.append(Candidate(Path(path), _read(path)))
        except (OSError, MemoryError) as error:
            fail(path, f"cannot be read: {reason(error)}")
            continue
        count += 1
        if not count % 64:
            scanned(count)
    candidates.sort(key=lambda candidate: candidate.path.parts)
    failures.sort(key=lambda failure: failure.path.parts)
    return Discovery(tuple(candidates), tuple(failures), count)


def of_code(name: Path, code: bytes, names: Sequence[str] = apis.DEFAULT) -> Discovery:
    """Code that is no file, or not one as it stands; `name` is where it would be."""
    candidates = (Candidate(name, code),) if any(each.encode() in code for each in names) else ()
    return Discovery(candidates, (), 1)


def common_folder(paths: Sequence[Path]) -> str | None:
    """The real path of the folder that all `paths` share; None on different drives."""
    real = [os.path.realpath(path) for path in paths or (".",)]
    try:
        return os.path.commonpath([p if os.path.isdir(p) else os.path.dirname(p) for p in real])
    except ValueError:
        return None


def folders_above(folder: str) -> Iterator[str]:
    """The folder itself and those above it, the nearest first."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        yield (folder := parent)


def project_of(folder: str) -> str | None:
    """The repository of a folder, so that a part of it is decided on as the whole is; else its project."""
    return repository_of(os.path.realpath(folder)) or marked(folder)


def marked(folder: str) -> str | None:
    """The nearest folder with a project file, of which a repository may have several."""
    return next(filter(is_marked, folders_above(folder)), None)


def is_marked(folder: str) -> bool:
    """Whether a folder has a project file."""
    return any(os.path.exists(os.path.join(folder, marker)) for marker in PROJECT_MARKERS)


def python_files(
    paths: Sequence[Path], on_error: OnError, suffixes: tuple[str, ...] = SUFFIXES
) -> Iterator[str]:
    """Yields the path of every file in `paths` with one of `suffixes`, each real file once, in no set order.

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
            on_error(path, _why_missing(error))
            continue
        if stat.S_ISDIR(mode):
            yield from _walk(path, seen, on_error, suffixes)
        elif not stat.S_ISREG(mode):
            on_error(path, "is neither a file nor a folder")
        elif _is_new(os.path.realpath(path), seen):
            yield path


def _walk(root: str, seen: set[str], on_error: OnError, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Yields the files with `suffixes` under the folder `root` whose real path is not in `seen`."""
    real = os.path.realpath(root)
    # One entry a folder: the path shown, the real path (links to folders are not followed, so that
    # it only ever grows by a name), and the rules in force.
    pending = [(root, real, _rules_above(real, on_error))]
    while pending:
        shown, real, rules = pending.pop()
        try:
            with os.scandir(shown) as scan:
                entries = {entry.name: entry for entry in scan}
        except OSError as error:
            on_error(shown, f"cannot be read: {reason(error)}")
            continue
        if shown != root and _is_foreign(os.path.basename(shown), entries):
            continue
        if ".gitignore" in entries:
            rules = _read_rules(entries[".gitignore"].path, real, rules, on_error)
        for name, entry in entries.items():
            path = os.path.join(real, name)
            if entry.is_dir(follow_symlinks=False):
                if _is_wanted_folder(name) and not (rules and rules.ignore(path, is_folder=True)):
                    pending.append((entry.path, path, rules))
            elif (
                name.endswith(suffixes)
                and _is_file(entry, on_error)
                and not (rules and rules.ignore(path, is_folder=False))
                and _is_new(os.path.realpath(path) if entry.is_symlink() else path, seen)
            ):
                yield entry.path


def _read(path: str) -> bytes:
    """The content of a file; of one that is too large to be analysed, enough to show that."""
    with open(path, "rb") as file:
        return file.read((LARGEST_NOTEBOOK if path.endswith(NOTEBOOK) else LARGEST) + 1)


def read_file(path: str) -> bytes | None:
    """The content of a file; None where `path` is no regular file, or is not there to be seen.

    Raises:
      OSError: it cannot be looked at or read, or is too large.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # the last is about its folder
        return None
    if not stat.S_ISREG(mode):  # a pipe would be waited for, and a device may have no end
        return None
    with open(path, "rb") as file:
        data = file.read(_LARGEST_RULES + 1)
    if len(data) > _LARGEST_RULES:
        raise OSError(errno.EFBIG, f"it is larger than {_LARGEST_RULES // 1_000_000} MB")
    return data


def _is_file(entry: os.DirEntry[str], on_error: OnError) -> bool:
    """Whether `entry` is a file or a link to one."""
    try:
        return entry.is_file()
    except OSError as error:
        if error.errno != errno.ELOOP:  # a link to itself is a broken link: there is no file
            on_error(entry.path, f"cannot be read: {reason(error)}")
        return False


def _is_wanted_folder(name: str) -> bool:
    return name not in EXCLUDED and not name.endswith(EXCLUDED_SUFFIXES)


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
class _Pattern:
    """One line of a `.gitignore`, which matches a folder's entry and nothing inside it.

    `pathspec` lets a pattern that matches a folder match all that is inside as well. To Git, `!tests`
    brings back the folder alone, and `*.py` goes on to ignore the files in it.

    Attributes:
      matches: whether a path matches as `pathspec` sees it.
      negated: whether a match brings an entry back.
      by_name: the pattern has no slash inside, and looks at an entry's name alone.
      by_depth: the pattern has `**`, and so may match a folder and, for itself, what is inside.
      inside: the pattern ends in `/**`, and does not match the folder in front of that.
    """

    matches: Callable[[str], object]
    negated: bool
    by_name: bool
    by_depth: bool
    inside: bool

    def match(self, folder: str, name: str) -> bool:
        """Whether the entry `name` of `folder` matches; both have a slash at the end if folders."""
        if self.by_name:
            return bool(self.matches(name))
        if not self.matches(folder + (name.removesuffix("/") if self.inside else name)):
            return False
        return self.by_depth or not folder or not self.matches(folder)


@dataclasses.dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one `.gitignore`, and those of the folders above it.

    Attributes:
      for_folders: the patterns, the last first.
      for_files: those that may match a Python file.
      cut: how much of a real path leads to the `.gitignore`'s folder.
      above: the rules that decide when these do not.
    """

    for_folders: tuple[_Pattern, ...]
    for_files: tuple[_Pattern, ...]
    cut: int
    above: _Rules | None

    def ignore(self, path: str, is_folder: bool) -> bool:
        """Whether the entry at the real path `path` is ignored. The nearest match decides."""
        rules: _Rules | None = self
        while rules is not None:
            patterns = rules.for_folders if is_folder else rules.for_files
            if patterns:
                folder, slash, name = path[rules.cut :].replace(os.sep, "/").rpartition("/")
                folder, name = folder + slash, f"{name}/" if is_folder else name
                for pattern in patterns:
                    if pattern.match(folder, name):
                        return not pattern.negated
            rules = rules.above
        return False


def _read_rules(path: str, folder: str, above: _Rules | None, on_error: OnError) -> _Rules | None:
    """Adds the patterns of the file `path`, which are about the entries of `folder`, to those `above`."""
    try:
        data = read_file(path)
    except (OSError, MemoryError) as error:
        on_error(path, f"cannot be read: {reason(error)}")
        return above
    if data is None:
        return above
    text = data.decode("utf-8-sig", "surrogateescape")
    for_folders: list[_Pattern] = []
    for_files: list[_Pattern] = []
    for line in reversed(text.split("\n")):
        pattern = _parse_pattern(line.removesuffix("\r"))
        if pattern is not None:
            for_folders.append(pattern)
            if _may_match_python_file(line):
                for_files.append(pattern)
    return _Rules(tuple(for_folders), tuple(for_files), len(os.path.join(folder, "")), above)


def _parse_pattern(line: str) -> _Pattern | None:
    """None for a line without a pattern, and for a malformed one, which Git passes over too."""
    import pathspec  # a tree without a `.gitignore` does without

    # A row of stars is one, or two across folders; longer rows would make matching take for ever.
    line = re.sub(r"\*{3,}", "**", line)
    try:
        (pattern,) = pathspec.GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return None
    if pattern.include is None or pattern.regex is None:
        return None
    text = line.rstrip(" ")
    return _Pattern(
        matches=_bounded(pattern.regex).search,
        negated=not pattern.include,
        by_name="/" not in text[:-1],
        by_depth="**" in text,
        inside=text.endswith("/**"),
    )


# In the regular expressions of `pathspec`: a star, any number of folders, a set of characters, and what may
# stand between stars or between folders.
_STAR: Final = r"\[\^/\]\*"
_FOLDERS: Final = r"\(\?:/\.\+\)\?"
_SET: Final = r"\[(?!\^/\])\^?\]?(?:\\.|[^\]\\])*\]"
_PLAIN: Final = rf"(?:\\.|\[\^/\](?!\*)|\(\?!/\){_SET}|[^\\\[\]/()|^$])"
_ANY_SET: Final = re.compile(rf"(\\.)|({_SET})")
_BETWEEN_STARS: Final = re.compile(rf"{_STAR}({_PLAIN}+)(?={_STAR})")
_BETWEEN_FOLDERS: Final = re.compile(rf"{_FOLDERS}((?:/(?:{_PLAIN}|{_STAR}|\(\?>|\))+)+)(?={_FOLDERS}/)")


def _bounded(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The same pattern, without trying every way in which a path can be shared out among many stars.

    What stands between two stars may as well be the first that fits, since the second takes what is left; to
    Git, a set of characters matches no slash.
    """
    text = _ANY_SET.sub(lambda found: found[1] or f"(?!/){found[2]}", pattern.pattern)
    text = re.sub(rf"(?:{_STAR})+", "[^/]*", text)
    text = _BETWEEN_STARS.sub(r"(?>[^/]*?\1)", text)
    text = _BETWEEN_FOLDERS.sub(r"(?>(?:/.+?)??\1(?=/))", text)
    return pattern if text == pattern.pattern else re.compile(text, pattern.flags)


def _may_match_python_file(line: str) -> bool:
    """Whether a pattern ends as a Python file's name may; turns away most lines of most projects."""
    end = line.rstrip(" \r")
    return end.endswith((*SUFFIXES, STUB, "*", "?", "]", "\\"))


def repository_of(folder: str) -> str | None:
    """The top of the Git repository that the real path `folder` belongs to; None if that ignores it."""
    found = _above(folder, lambda path, reason: None)
    return found[0] if found is not None else None


def _rules_above(root: str, on_error: OnError) -> _Rules | None:
    """The rules of the folders above the real path `root` in its repository.

    None where there is no repository, and where they ignore `root`: naming an ignored folder means
    that its files are wanted.
    """
    found = _above(root, on_error)
    return found[1] if found is not None else None


def _above(root: str, on_error: OnError) -> tuple[str, _Rules | None] | None:
    """The top of the repository of `root` and its rules; None where there is none or they ignore it."""
    folder = root
    names: list[str] = []
    while not os.path.exists(os.path.join(folder, ".git")):
        parent, name = os.path.split(folder)
        if parent == folder:
            return None
        names.append(name)
        folder = parent
    top = folder
    rules = _read_rules(os.path.join(folder, ".git", "info", "exclude"), folder, None, on_error)
    for name in reversed(names):
        rules = _read_rules(os.path.join(folder, ".gitignore"), folder, rules, on_error)
        folder = os.path.join(folder, name)
        if rules is not None and rules.ignore(folder, is_folder=True):
            return None
    return top, rules


def _why_missing(error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):  # a null byte, or a character that the file system has not
        return "is not a valid path"
    return "does not exist" if isinstance(error, FileNotFoundError) else reason(error)


def reason(error: OSError | MemoryError) -> str:
    """The system's words for `error`, without the number and the path."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    return error.strerror or str(error)
