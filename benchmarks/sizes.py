"""Time of one call against its size, as a plot: ``python -m benchmarks.sizes [FILE]``.

Adds one to a float32 array under `jax.pure_callback`, JAX's own buffer callback and `bufcb`'s, side by side,
and writes `benchmarks/sizes.svg`. Calls are timed inside a compiled loop, so that dispatch does not count.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import math
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

from benchmarks.callbacks import INCREMENTS, loop
from benchmarks.contest import Run, duration, timed

SIZES = [8 * 8**step for step in range(8)]  # 8 floats to 16 M
NAMES = {"pure_callback": "jax.pure_callback", "upstream": "JAX's buffer_callback", "bufcb": "bufcb"}
COLOURS = {"pure_callback": "#d1495b", "upstream": "#8a7f1f", "bufcb": "#2f7fd6"}
BUDGET = 0.15
"""Seconds that one measured run should take at least, if one call does not take longer."""


@dataclasses.dataclass(frozen=True)
class Series:
    """One line of the plot: seconds a call, by size."""

    name: str
    seconds: list[float]


def measure(repeats: int) -> list[Series]:
    """Medians of interleaved runs."""
    medians: dict[str, list[float]] = {name: [] for name in NAMES}
    for size in SIZES:
        x = jnp.zeros(size)
        runs = {}
        for name in NAMES:
            seconds = timed(warm(loop(INCREMENTS[name], x, 4))) / 4
            calls = max(1, min(20_000, int(BUDGET / seconds)))
            runs[name] = calls, warm(loop(INCREMENTS[name], x, calls))
        gc.collect()
        times: dict[str, list[float]] = {name: [] for name in NAMES}
        for repeat in range(repeats):
            for name in list(NAMES)[:: -1 if repeat % 2 else 1]:
                calls, run = runs[name]
                times[name].append(timed(run) / calls)
        for name in NAMES:
            medians[name].append(statistics.median(times[name]))
        print(f"{size:>10,}", *(f"{duration(medians[name][-1]):>9}" for name in NAMES))
    return [Series(name, seconds) for name, seconds in medians.items()]


def warm(run: Run) -> Run:
    """Return a run that has been compiled and run once."""
    run()
    return run


WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 168, 56, 48
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.quiet { fill: #57606a }
.grid { stroke: #57606a; stroke-opacity: .22 }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.name { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .quiet { fill: #9198a1 }
  .grid { stroke: #9198a1 }
}
"""


@dataclasses.dataclass(frozen=True)
class Scale:
    """A logarithmic axis: values from `low` to `high` on pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + part * (self.end - self.start), 1)


def svg(lines: Sequence[Series], caption: str) -> str:
    """The plot, readable on light and dark pages, with each line's name at its end."""
    seconds = [second for line in lines for second in line.seconds]
    low = 10.0 ** math.floor(math.log10(min(seconds)))
    high = 10.0 ** math.ceil(math.log10(max(seconds)))
    across = Scale(SIZES[0], SIZES[-1], LEFT, WIDTH - RIGHT)
    up = Scale(low, high, HEIGHT - BOTTOM, TOP)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    label = 'role="img" aria-label="Time of one callback against its size"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>',
        f"<style>{STYLE}</style>",
        text(LEFT, 22, "Time of one callback that adds one to x", "title"),
        text(LEFT, 41, caption, "quiet"),
        *axes(across, up),
        *(part for line in lines for part in curve(line, across, up)),
        *names(lines, up),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def text(x: float, y: float, words: str, kind: str, extra: str = "") -> str:
    """Words that begin at a point, unless `extra` says otherwise."""
    return f'<text class="{kind}" x="{x}" y="{y:.1f}"{extra}>{words}</text>'


MIDDLE, END = ' text-anchor="middle"', ' text-anchor="end"'


def axes(across: Scale, up: Scale) -> Iterator[str]:
    """Grid lines at powers of ten and at the sizes, and their labels."""
    for power in range(round(math.log10(up.low)), round(math.log10(up.high)) + 1):
        y = up(10.0**power)
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield text(LEFT - 8, y + 4, duration(10.0**power), "quiet", END)
    for size in SIZES:
        x = across(size)
        yield f'<path class="grid" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'
        yield text(x, HEIGHT - BOTTOM + 18, short(size), "quiet", MIDDLE)
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "float32 elements", "quiet", MIDDLE)


def short(size: int) -> str:
    """A power of two in units of 2**10.

    >>> short(8), short(4096), short(1 << 24)
    ('8', '4 K', '16 M')
    """
    for unit, scale in ((" M", 1 << 20), (" K", 1 << 10)):
        if size >= scale:
            return f"{size // scale}{unit}"
    return str(size)


def curve(line: Series, across: Scale, up: Scale) -> Iterator[str]:
    """One line and its points."""
    colour = COLOURS[line.name]
    points = [(across(size), up(second)) for size, second in zip(SIZES, line.seconds, strict=True)]
    path = "L".join(f"{x} {y}" for x, y in points)
    yield f'<path class="line" stroke="{colour}" d="M{path}"/>'
    for (x, y), size, second in zip(points, SIZES, line.seconds, strict=True):
        label = f"{NAMES[line.name]}, {short(size)}: {duration(second)}"
        yield f'<circle cx="{x}" cy="{y}" r="3.2" fill="{colour}"><title>{label}</title></circle>'


def names(lines: Sequence[Series], up: Scale) -> Iterator[str]:
    """Each line's name where it ends, in its colour, moved away from the one below where they touch."""
    floor = math.inf
    for line in sorted(lines, key=lambda line: line.seconds[-1]):
        floor = min(up(line.seconds[-1]) + 4, floor - 17)
        colour = f' style="fill:{COLOURS[line.name]}"'
        yield text(WIDTH - RIGHT + 10, floor, NAMES[line.name], "name", colour)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the medians and writes the plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes", description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_suffix(".svg"))
    parser.add_argument("--repeats", type=int, default=9, help="interleaved runs, of which the median counts")
    options = parser.parse_args(arguments)
    lines = measure(options.repeats)
    caption = (
        f"inside a compiled loop, medians of {options.repeats}; CPU with {os.cpu_count()} cores, "
        f"JAX {jax.__version__}, Python {sys.version.split()[0]}"
    )
    options.file.write_text(svg(lines, caption), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
