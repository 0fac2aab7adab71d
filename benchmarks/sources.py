"""Generated Python source: trees of files, and modules with call sites, the same at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_WORDS: Final = (
    "array axis batch buffer cache carry channel chunk config count cursor data decay delta depth entry "
    "epoch error event factor field flag frame grid group handle height host index inner input kernel key "
    "label layer left length level limit line log loss mask matrix mean mode model name node noise norm "
    "offset order outer output owner pair params path peak phase point pool prior queue rank rate ratio "
    "result rows sample scale score seed shape shift sigma size slot solver source spec stack state step "
    "stride sum table target task tensor time token total trace tree unit update value weight width "
    "window"
).split()

# Line by line what a project's code is made of; the names in braces are drawn anew for every block.
_FUNCTION: Final = '''
def {a}_{b}({c}, {d}, *, {e}=None, {f}=1.0):
    """Returns the {a} of every {b} in `{c}`.

    Args:
      {c}: the {b} to look at, in the order of their {g}.
      {d}: how many of them count; all of them when it is 0.
      {e}: replaces the {h} where given.
      {f}: a factor for the {g}.

    Raises:
      ValueError: `{d}` is negative.
    """
    if {d} < 0:
        raise ValueError(f"{d} must not be negative, is {{{d}}}")
    {g} = np.asarray({c}, dtype=np.float64)
    # The {h} of an empty {b} is that of the whole {a}.
    if {g}.size == 0:
        return {{"{a}": {g}, "{h}": {e}}}
    {h} = [{f} * item.{b}[{d}] for item in {g} if item.{a} is not None]
    for position, item in enumerate({h}):
        if item > {f} and not np.isnan(item):
            {h}[position] = min(item, {f} + {d})
        elif isinstance(item, (int, float)):
            logger.debug("{a} %d has {b} %r", position, item)
    return {{
        "{a}": np.sum({g}, axis=-1, keepdims=True) / max({d}, 1),
        "{h}": {e} if {e} is not None else tuple({h}),
    }}
'''
_CLASS: Final = '''
class {A}{B}(Base{C}):
    """A {a} with its {b}, as read from a `{c}`."""

    {d}: int = 0
    {e} = ("{f}", "{g}", "{h}")

    def __init__(self, {a}, {b}=(), **options):
        super().__init__(**options)
        self._{a} = {a}
        self.{b} = dict({b})

    @property
    def {c}(self):
        return self._{a} + self.{d}

    def update_{f}(self, {g}, {h}=3):
        """Adds `{g}` to the {b}, at most `{h}` times."""
        try:
            previous = self.{b}[{g}.{f}]
        except KeyError:
            previous = self.{b}[{g}.{f}] = {a}_default(self.{c}, {h})
        while previous < {h} and self.{d} != {g}:
            previous += self._{a} * 0.5 - np.exp({g}.{e})
            self.{d} += 1
        return [(key, value, previous) for key, value in sorted(self.{b}.items())]
'''
_HEAD: Final = '''"""The {a} and {b} of a {c}."""

import logging
import os
from collections.abc import Iterable

import numpy as np
import scipy.{d}

from .{e} import {f}, {g}_{h}

logger = logging.getLogger(__name__)
{A}_{B} = {{"{a}": 1, "{b}": (2.5, -1), "{c}": os.environ.get("{A}")}}
'''
_HIT: Final = """
import jax


def _{a}_on_host(x, y):
    return np.add(np.sin(x), np.asarray(y))


def {a}_in_jax(x, y):
    return jax.pure_callback(_{a}_on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, y)
"""

# Programs of one repository that share their names, as examples and tests do.
_PROGRAM: Final = """
import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.sin(x) * {number}.0


class Model:
    def __init__(self, scale):
        self.scale = scale

    def step(self, x):
        return f(x) * self.scale

    def run(self, x):
        return jax.grad(lambda x: jnp.sum(self.step(x)))(x)


def f(x):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Model({number}.5).run(jnp.arange(3.0)))


if __name__ == "__main__":
    main()
"""

# Call sites as public code has them: most callbacks are nested functions or lambdas.
_NESTED: Final = '''
def site_{number}(x, y, scale=1.0):
    """Solves on the host, where `y` is the start."""

    def host(x, y):
        z = np.sin(x)
        if y is None:
            return np.cos(z)
        w = np.add(z, np.cos(y))
        return np.multiply(w, np.float32({number}))

    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    z = jnp.tanh(x)
    z = jax.pure_callback(host, spec, z, y, vmap_method="sequential")
    return z * scale + {number}
'''
_LAMBDA: Final = '''
def site_{number}(x, indices):
    """Sorts on the host."""
    taken = jnp.take(x, indices, axis={number})
    spec = jax.ShapeDtypeStruct(taken.shape, taken.dtype)
    return jax.pure_callback(lambda a: np.sort(np.abs(a)), spec, taken, vmap_method="expand_dims")
'''
_FUNCTION_OF_MODULE: Final = """
def _host_{number}(x, y):
    x, y = np.asarray(x), np.asarray(y)
    total = np.zeros_like(x)
    for index in range({number}, {number} + 3):
        total += np.roll(x, index) * y
    return total


def site_{number}(x, y):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_host_{number}, spec, x, jnp.cos(y))
"""
_LIBRARY: Final = """
def site_{number}(matrix):
    spec = jax.ShapeDtypeStruct(matrix.shape, matrix.dtype)
    inverse = jax.pure_callback(np.linalg.inv, spec, matrix, vmap_method="broadcast_all")
    return inverse @ matrix / {number}.5
"""
_SITES: Final = (
    _NESTED,
    _LAMBDA,
    _NESTED,
    _FUNCTION_OF_MODULE,
    _NESTED,
    _LAMBDA,
    _FUNCTION_OF_MODULE,
    _NESTED,
    _LIBRARY,
)


def _filled(template: str, source: random.Random) -> str:
    names = dict(zip("abcdefgh", source.sample(_WORDS, 8), strict=True))
    return template.format(**names, **{key.upper(): name.capitalize() for key, name in names.items()})


def _blocks(source: random.Random) -> list[str]:
    return [_filled(template, source) for template in (_FUNCTION, _CLASS) for _ in range(400)]


def texts(files: int, hits: int) -> Iterator[str]:
    """Modules of some 500 lines on average, a few much longer; `hits` of them have a call site."""
    source = random.Random(files)
    blocks = _blocks(source)
    every = files // hits if hits else 0
    for number in range(files):
        size = min(max(round(source.lognormvariate(2.45, 0.9)), 1), 400)
        parts = [_filled(_HEAD, source), *source.choices(blocks, k=size)]
        if hits and number % every == every // 2 and number // every < hits:
            parts.append(_filled(_HIT, source))
        yield "\n".join(parts)


def write_tree(folder: Path, files: int, hits: int = 0, alone: Path | None = None) -> int:
    """Writes a project of packages and their parts into a new `folder`, and returns how many lines it has.

    The files with a call site go into a project of their own as well, if `alone` says where.
    """
    lines = 0
    _start_project(folder)
    if alone is not None:
        _start_project(alone)
    for number, text in enumerate(texts(files, hits)):
        package = folder / "src" / f"package_{number // 400}" / f"part_{number // 40 % 10}"
        if number % 40 == 0:
            package.mkdir(parents=True)
        name = "__init__" if number % 40 == 0 else f"{_WORDS[number % 40]}_{number}"
        (package / f"{name}.py").write_text(text)
        if alone is not None and "pure_callback" in text:
            (alone / f"{name}.py").write_text(text)
        lines += text.count("\n")
    return lines


def write_programs(folder: Path, count: int) -> None:
    """Writes programs with a call site under `grad` each, which share all their names, into a new project."""
    _start_project(folder)
    for number in range(count):
        (folder / f"program_{number}.py").write_text(_PROGRAM.format(number=number))


def _start_project(folder: Path) -> None:
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "generated"\nversion = "1"\n')
    (folder / ".gitignore").write_text("*.pyc\n/dist/\n.cache/\n*.egg-info\n")


def module(lines: int, sites: int) -> str:
    """A module of about `lines` lines, with `sites` call sites, a callback for each, spread evenly."""
    source = random.Random(lines)
    called = [_SITES[number % len(_SITES)].format(number=number) for number in range(sites)] or [""]
    missing = lines - sum(map(_length, called))
    parts, filled = ["import jax\nimport jax.numpy as jnp\nimport numpy as np\n"], 0
    for number, text in enumerate(called, 1):
        while filled < missing * number // len(called):
            parts.append(_filled(source.choice((_FUNCTION, _CLASS)), source))
            filled += _length(parts[-1])
        parts.append(text)
    return "\n".join(parts)


def _length(text: str) -> int:
    """The lines that a part takes, with the one that separates it from the next."""
    return text.count("\n") + 1
