"""Timing contenders side by side: interleaved repeats, medians, and a bound that each ratio has to keep."""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable, Sequence

Run = Callable[[], object]
"""One measured run, which has ended when this returns."""


@dataclasses.dataclass(frozen=True)
class Contest:
    """`ours` against `theirs`, which must not cost more than `bound` times as much.

    Attributes:
      item: What is measured, as printed.
      ours: One run of the implementation under test.
      theirs: One run of the reference.
      reference: The reference's name, as printed.
      bound: The largest ratio ours / theirs that passes.
      calls: Callbacks in one run, by which times are divided.
      apart: A part of `ours` that is measured on its own and does not count, such as start-up.
    """

    item: str
    ours: Run
    theirs: Run
    reference: str
    bound: float
    calls: int = 1
    apart: Run | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one contest measured; `ours` and `theirs` are printed as they are, with their unit."""

    item: str
    ours: str
    theirs: str
    reference: str
    ratio: float
    bound: float
    repeats: int

    @property
    def passed(self) -> bool:
        """Whether the bound was kept."""
        return self.ratio <= self.bound


def timed(run: Run) -> float:
    """Seconds that one run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def hold(contest: Contest, repeats: int) -> Outcome:
    """Runs all sides `repeats` times, alternating which goes first, and compares their medians.

    The ratio is the median over repeats of ours / theirs within one repeat, so that a machine that slows down
    half way through slows both sides of every ratio.
    """
    runs = [contest.ours, contest.theirs, *([contest.apart] if contest.apart else [])]
    for run in runs:  # compiles, and fills caches
        run()
    gc.collect()
    ours, theirs = [], []
    for repeat in range(repeats):
        times = [0.0, 0.0, 0.0]
        order = list(enumerate(runs))
        for side, run in reversed(order) if repeat % 2 else order:
            times[side] = timed(run)
        ours.append(times[0] - times[2])
        theirs.append(times[1])
    ratio = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    return Outcome(
        item=contest.item,
        ours=duration(statistics.median(ours) / contest.calls),
        theirs=duration(statistics.median(theirs) / contest.calls),
        reference=contest.reference,
        ratio=ratio,
        bound=contest.bound,
        repeats=repeats,
    )


def duration(seconds: float) -> str:
    """A time with three significant digits and its unit.

    >>> duration(0.00000123), duration(0.0456)
    ('1.23 µs', '45.6 ms')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as aligned text, one row each."""
    header = ("", "bufcb", "reference", "", "ratio", "bound", "N", "")
    rows = [header, *(_row(outcome) for outcome in outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    flush = "<><<>>><"
    return "\n".join(
        "  ".join(map(format, row, map(str.__add__, flush, map(str, widths)))).rstrip() for row in rows
    )


def _row(outcome: Outcome) -> tuple[str, ...]:
    return (
        outcome.item,
        outcome.ours,
        outcome.theirs,
        outcome.reference,
        f"{outcome.ratio:.3f}",
        f"{outcome.bound:.3f}",
        str(outcome.repeats),
        "PASS" if outcome.passed else "over",
    )
