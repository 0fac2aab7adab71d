"""What a migration costs next to tools that read the same files: ``python -m benchmarks.migrate [--quick]``.

Every line is a ratio of two medians taken in this run, so that the machine does not matter much, but for
limits of memory and of one time. The exit status is 1 if a bound is missed. The files are generated, the same
every time, and in the system's cache when the clock runs. It takes `grep` and Ruff.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import libcst

from benchmarks import sources
from benchmarks.contest import Contest, Outcome, Run, hold, table
from codemods.analysis import Analysis
from codemods.discovery import Candidate
from codemods.model import Options

FILES: Final = 5000
HITS: Final = 10
PROGRAMS: Final = 120
MEGABYTES: Final = 300
# Runs a command and says how much memory its largest process had at most. It is small, since on Linux a
# process starts with its parent's peak.
LAUNCHER: Final = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def command(*arguments: str | Path) -> Run:
    """A run of another program, whose output goes nowhere; grep finds nothing, which is no failure."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return lambda: subprocess.run(arguments, check=False, **quiet)  # type: ignore[call-overload]


def ours(*paths: str | Path) -> tuple[str | Path, ...]:
    return (sys.executable, "-m", "codemods", *paths)


def audit(*paths: str | Path) -> tuple[str | Path, ...]:
    return (sys.executable, "-c", "from codemods.cli import lint; lint()", *paths)


def seconds(count: float) -> Run:
    """A run that takes so long."""
    return lambda: time.sleep(count)


class Sources:
    """The generated files, in a folder that is gone at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.empty = folder / "empty.py"
        self.empty.touch()
        self.plain, self.hits, self.alone = folder / "plain", folder / "hits", folder / "alone"
        self.lines = sources.write_tree(self.plain, FILES)
        sources.write_tree(self.hits, FILES, HITS, self.alone)
        self.programs = folder / "programs"
        sources.write_programs(self.programs, PROGRAMS)
        self.long = self.module(9000, 1)
        self.dense = self.module(1500, 80)

    def module(self, lines: int, sites: int) -> Path:
        """A module in a project of its own."""
        project = self.folder / f"{lines} lines {sites} sites"
        project.mkdir()
        (project / "pyproject.toml").touch()
        (project / "module.py").write_text(sources.module(lines, sites))
        return project / "module.py"


def migration(path: Path) -> Run:
    """A run in this process, from a file's bytes to those of the migrated file."""
    data = path.read_bytes()

    def run() -> None:
        result = Analysis([path], Options())(Candidate(path, data))
        assert result.changed and result.error is None

    return run


def tree_contests(files: Sources) -> Iterator[Contest]:
    start_up = command(*ours(files.empty))
    item, plain = f"{FILES} files, {files.lines / 1e6:.1f} M lines, no call site", command(*ours(files.plain))
    grep = command("grep", "-rl", "pure_callback", files.plain)
    yield Contest(f"{item}, start-up apart", plain, grep, "grep -rl", 2.5, apart=start_up)
    audited = command(*audit(files.plain))
    yield Contest(f"{item}, bufcb-lint", audited, plain, "bufcb-migrate", 1.2)
    ruff = shutil.which("ruff", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    check = command(ruff or "ruff", "check", "--no-cache", "--select", "NPY201", files.plain)
    yield Contest(item, plain, check, "ruff, one rule", 0.25)
    # The search for what differentiates a call asks all files for many more names.
    for option, bound in (("never", 8.0), ("auto", 20.0)):
        yield Contest(
            f"{FILES} files, {HITS} with a call site, --gradients {option}, alone apart",
            command(*ours(files.hits, "--gradients", option)),
            plain,
            "no call site",
            bound,
            apart=command(*ours(files.alone, "--gradients", option)),
        )
    yield Contest(
        f"{PROGRAMS} programs under grad with the same names, start-up apart",
        command(*ours(files.programs, "--jobs", "1")),
        command(*ours(files.programs, "--jobs", "1", "--gradients", "never")),
        "--gradients never",
        6.0,
        apart=start_up,
    )
    long = command(*ours(files.long))
    yield Contest("9,000 lines, 1 call site, start-up apart", long, seconds(1), "limit", 1.0, apart=start_up)


def parser_contest(files: Sources) -> Contest:
    text = files.dense.read_text()
    return Contest(
        "1,500 lines, 80 call sites, in one process",
        migration(files.dense),
        lambda: libcst.parse_module(text),
        "libcst.parse_module",
        2.0,
    )


def growth_contests(files: Sources) -> Iterator[Contest]:
    """Ten times the size may take thirteen times as long."""
    for what, sizes, make in (
        ("lines", (100, 1000, 10_000), lambda size: files.module(size, 1)),
        ("call sites", (1, 10, 100, 1000), lambda size: files.module(0, size)),
    ):
        modules = [(size, migration(make(size))) for size in sizes]
        for (small, less), (large, more) in itertools.pairwise(modules):
            yield Contest(f"{large:,} {what}", more, less, f"{small:,}", 13.0)


def memory(item: str, *paths: Path) -> Outcome:
    """The peak memory of a run."""
    launched = [sys.executable, "-c", LAUNCHER, *map(str, ours(*paths))]
    output = subprocess.run(launched, check=True, capture_output=True, text=True).stdout
    peak = int(output) / (2**20 if sys.platform == "darwin" else 2**10)
    return Outcome(f"memory, {item}", f"{peak:.0f} MB", f"{MEGABYTES} MB", "limit", peak / MEGABYTES, 1.0, 1)


def outcomes(files: Sources, quick: bool) -> Iterator[Outcome]:
    """Holds every contest, in the order printed."""
    for contest in tree_contests(files):
        yield hold(contest, 3 if quick else 15)
    yield hold(parser_contest(files), 5 if quick else 21)
    for contest in growth_contests(files):
        yield hold(contest, 1 if quick else 5)
    yield memory(f"{FILES} files, no call site", files.plain)
    yield memory(f"{FILES} files, {HITS} with a call site", files.hits)
    yield memory("9,000 lines", files.long)
    yield memory("80 call sites", files.dense)
    yield memory("1,000 call sites", files.folder / "0 lines 1000 sites" / "module.py")
    yield memory("10,000 lines", files.folder / "10000 lines 1 sites" / "module.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; the exit status is 1 if a bound was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migrate", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, for a first look")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        held = list(outcomes(Sources(Path(folder)), options.quick))
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs; N = interleaved repeats")
    print(table(held))
    missed = sum(not outcome.passed for outcome in held)
    print(f"{len(held) - missed} of {len(held)} bounds kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
