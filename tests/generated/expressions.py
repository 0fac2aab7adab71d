"""Random expressions over `float32` arrays, as text: tables of templates whose holes are filled in again.

Holes: `{a}` an array of shape `(..., 3)`, `{s}` a number, `{c}` a condition, `{v}` a name that holds an
array, `{o}` one that holds an array to write into, `{n}` one that holds a number. A template that is no atom
has its own parentheses.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

# What works whatever axes `vmap` puts in front.
ARRAYS = (
    "{v}",
    "{v}",
    "{v}",
    "np.sin({a})",
    "np.tanh({a})",
    "np.abs({a})",
    "np.maximum({a}, {a})",
    "np.add({a}, {a})",
    "({a} + {a})",
    "({a} - {a})",
    "({a} * {a})",
    "({a} * 0.5)",
    "(1 - {a})",
    "(-{a})",
    "np.where({a} > 0, {a}, {a})",
    "np.clip({a}, -1.0, 1.0)",
    "np.sort({a}, axis=-1)",
    "np.flip({a}, -1)",
    "np.cumsum({a}, axis=-1)",
    "np.roll({a}, 1, axis=-1)",
    "{a}[..., ::-1]",
    "{a}[..., [2, 0, 1]]",
    "{a}.copy()",
    "{a}.astype(np.float32)",
    "{a}.astype(np.float64)",
    "{a}.reshape({a}.shape)",
    "{a}.clip(0.0, 2.0)",
    "np.asarray({a})",
    "np.array({a})",
    "np.asarray({a}, dtype=np.float32)",
    "np.zeros_like({a})",
    "_helper({a})",
    "_helper({a}, scale=0.25)",
    "_same({a})",
    "(lambda q: q * {a})({a})",
    "({a} if {c} else {a})",
    "[{a}, {a}][{a}.ndim % 2]",
    '{{"é": {a}}}["é"]',
    "np.moveaxis(np.stack([{a}[..., i] for i in (1, 2, 0)]), 0, -1)",
)
# What changes an array while it computes, so that the order of evaluation can be seen.
WRITES = (
    "np.add({o}, 1, out={o})",
    "np.multiply({o}, {a}, out={o})",
    "{o}.__iadd__(1)",
    "_doubled({o})",
    "{o}[..., ::-1]",
    "{o}.view()",
)
# What works on one array of three numbers only.
PLAIN_ARRAYS = (
    "np.full(3, {s}, np.float32)",
    "np.stack([{s}, {s}, {s}]).astype(np.float32)",
    "np.array([{s}, 1.0, {s}], np.float32)",
    "np.array([v * 2 for v in {a}], np.float32)",
    "np.fromiter((float(v) for v in {a}), np.float32)",
    "{a}.ravel()",
    "{a}.T",
    "({a} * {s})",
    "np.dot(np.eye(3, dtype=np.float32), {a})",
    "np.array(sorted({a}.tolist()), np.float32)",
    "np.outer({a}, {a})[0]",
    "_scratch({a})",
)
NUMBERS = (
    "{n}",
    "{a}.sum(axis=-1)",
    "np.sum({a}, axis=-1)",
    "{a}.max(axis=-1)",
    "np.max({a}, axis=-1)",
    "{a}[..., 0]",
    "{a}.mean(axis=-1)",
    "({s} * 2)",
    "(-{s})",
    "np.sqrt(np.abs({s}))",
)
PLAIN_NUMBERS = (
    "np.float32(0.5)",
    "np.float32({s})",
    "float({s})",
    "{a}[1]",
    "{a}[-1]",
    "np.dot({a}, {a})",
    "({s} if {c} else {s})",
    "max({s}, {s})",
    "np.float32(len({a}))",
    "{a}.item(0)",
    "sum({a}.tolist())",
)
CONDITIONS = (
    "np.all({a} > 0)",
    "{a}.ndim == 1",
    "{a}.shape[-1] == 3",
    "not np.any({a})",
    "{a}.size > 2 and {a}.dtype == np.float32",
    "bool((np.asarray({a}) < 1).any())",
    "isinstance({v}, np.ndarray)",
    "isinstance({v}, jax.Array)",
    '"Array(" in repr({v})',
    "{v} is {v}",
    'hasattr({v}, "at")',
    "np.asarray({v}).flags.writeable",
    '{v}.dtype.name == "float32"',
)
PLAIN_CONDITIONS = (
    "{s} > 0",
    "len({a}) == 3",
    "0 <= {s} < 2",
    "float({s}) in (0.0, 0.5)",
)
# Where arguments are arrays of JAX still, what runs in JAX costs a compilation.
MASKS = ("({a} > {a})", "np.isfinite({a})", "({a} != 0)")
INDICES = ("np.argmax({a}, axis=-1)", "np.argmin({a}, axis=-1).astype(np.int32)")
PLAIN_INDICES = ("np.int32(3)", "len({a})", "int({s} > 0)", "np.int64(2)")


@dataclasses.dataclass
class Names:
    """The names, or short expressions, that hold something where an expression stands.

    Attributes:
      owned: arrays that are the callback's own, so that it may write into them.
    """

    arrays: list[str]
    numbers: list[str]
    owned: list[str] = dataclasses.field(default_factory=list)

    def copy(self) -> "Names":
        return Names([*self.arrays], [*self.numbers], [*self.owned])


@dataclasses.dataclass(frozen=True)
class Expressions:
    """Draws expressions; with `batched`, such as work whatever axes are in front."""

    draw: Draw
    batched: bool

    def choice(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def array(self, names: Names, depth: int = 2) -> str:
        return self._fill(ARRAYS, PLAIN_ARRAYS, "{v}", names, depth)

    def number(self, names: Names, depth: int = 2) -> str:
        has_number = bool(names.numbers) and not self.batched
        return self._fill(NUMBERS, PLAIN_NUMBERS, "{n}" if has_number else "{v}[..., 0]", names, depth)

    def condition(self, names: Names, depth: int = 1) -> str:
        return self._fill(CONDITIONS, PLAIN_CONDITIONS, "{v}.ndim == 1", names, depth)

    def leaf(self, kind: str, names: Names, depth: int = 2) -> str:
        """The value of a leaf of the result."""
        if kind == "array":
            return bare(self.array(names, depth))
        if kind == "number":
            return bare(self.number(names, depth))
        if kind == "mask":
            return bare(self._fill(MASKS, (), "({v} > 0)", names, depth))
        return bare(self._fill(INDICES, PLAIN_INDICES, "np.argmax({v}, axis=-1)", names, depth))

    def _fill(self, general: Sequence[str], plain: Sequence[str], atom: str, names: Names, depth: int) -> str:
        options = general if self.batched else (*general, *plain)
        if general is ARRAYS and names.owned:
            options = (*options, *WRITES)
        template = self.choice(options) if depth > 0 else atom
        if "{n}" in template and (self.batched or not names.numbers):
            template = "{v}[..., 0]"

        def filled(match: "re.Match[str]") -> str:
            hole = match.group(1)
            if hole == "v":
                return self.choice(names.arrays)
            if hole in "no":
                return self.choice(names.numbers if hole == "n" else names.owned)
            make = {"a": self.array, "s": self.number, "c": self.condition}[hole]
            return make(names, depth - 1)

        return re.sub(r"\{([asvnco])\}", filled, template).replace("{{", "{").replace("}}", "}")


def bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    level = 0
    for index, character in enumerate(text):
        level += (character == "(") - (character == ")")
        if level == 0 and index < len(text) - 1:
            return text
    return text[1:-1]
