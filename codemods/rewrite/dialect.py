"""How the migrated code spells the runtime: `bufcb`, or JAX's own buffer callback with generated helpers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from codemods.plans import Conversion, How

_LINE_LENGTH = 88


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The names by which the migrated code reaches its libraries at one place.

    Attributes:
      runtime: `bufcb`, or the prefix of the generated helpers under `--target jax`.
      numpy: the name of NumPy.
    """

    runtime: str
    numpy: str


class Dialect:
    """`--target bufcb`."""

    helpers: tuple[str, ...] = ()
    needs_numpy_for_writes = False

    def buffer_callback(self, names: Names) -> str:
        return f"{names.runtime}.buffer_callback"

    def pure_callback(self, names: Names) -> str:
        return f"{names.runtime}.pure_callback"

    def adapt(self, names: Names, function: str, arrays: Literal["numpy", "jax"]) -> str:
        option = ', arrays="jax"' if arrays == "jax" else ""
        return f"{names.runtime}.adapt({function}{option})"

    def write(self, names: Names, out: str, value: str) -> str:
        return f"{out}[...] = {value}"

    def store(self, names: Names, out: str, value: str) -> str:
        return f"{names.runtime}.store({out}, {value})"

    def convert_array(self, names: Names, name: str, *, copy: bool) -> str:
        return f"{names.numpy}.array({name})" if copy else f"{names.numpy}.asarray({name})"

    def convert_tree(self, names: Names, expression: str, *, copy: bool) -> str:
        option = ", copy=True" if copy else ""
        return f"{names.runtime}.to_numpy({expression}{option})"

    def converted(self, names: Names, conversion: Conversion) -> str:
        """One parameter, converted, as an expression."""
        copy = conversion.how.endswith("copy")
        if conversion.how.startswith("array"):
            return self.convert_array(names, conversion.name, copy=copy)
        return self.convert_tree(names, conversion.name, copy=copy)

    def conversion_lines(self, names: Names, conversions: Sequence[Conversion], width: int) -> list[str]:
        """The statements that convert parameters, on as few lines as fit; `width` is the indentation's."""
        lines = []
        for copy in (True, False):
            trees = _named(conversions, "tree copy" if copy else "tree")
            if trees:
                joined = ", ".join(trees)
                lines.append(f"{joined} = {self.convert_tree(names, _tuple(trees), copy=copy)}")
        arrays = [c for c in conversions if c.how.startswith("array")]
        if arrays:
            left = ", ".join(c.name for c in arrays)
            line = f"{left} = {', '.join(self.converted(names, c) for c in arrays)}"
            if len(line) + width <= _LINE_LENGTH:
                lines.append(line)
            else:
                lines.extend(f"{c.name} = {self.converted(names, c)}" for c in arrays)
        return lines


def _named(conversions: Sequence[Conversion], how: How) -> list[str]:
    return [c.name for c in conversions if c.how == how]


def _tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
