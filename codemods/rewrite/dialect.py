"""How the migrated code spells the runtime: `bufcb`, or JAX's own buffer callback with generated helpers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from codemods.plans import Conversion

_LINE_LENGTH = 88


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The names by which the migrated code reaches its libraries at one place.

    Attributes:
      runtime: `bufcb`; under `--target jax`, JAX's `buffer_callback` itself.
      numpy: the name of NumPy.
    """

    runtime: str
    numpy: str


class Dialect:
    """`--target bufcb`."""

    generates_helpers = False

    def buffer_callback(self, names: Names) -> str:
        return f"{names.runtime}.buffer_callback"

    def pure_callback(self, names: Names) -> str:
        return f"{names.runtime}.pure_callback"

    def adapt(self, names: Names, function: str, arrays: Literal["numpy", "jax"]) -> str:
        option = ', arrays="jax"' if arrays == "jax" else ""
        return f"{names.runtime}.adapt({function}{option})"

    def write(self, names: Names, out: str, value: str) -> str:
        """One strict write of one leaf."""
        return f"{out}[...] = {value}"

    def store(self, names: Names, out: str, value: str) -> str:
        return f"{names.runtime}.store({out}, {value})"

    def converted(self, names: Names, conversion: Conversion) -> str:
        """One parameter, converted, as an expression."""
        copy = conversion.how.endswith("copy")
        if conversion.how.startswith("array"):
            return (
                f"{names.numpy}.array({conversion.name})"
                if copy
                else f"{names.numpy}.asarray({conversion.name})"
            )
        return self.convert_tree(names, conversion.name, copy=copy)

    def convert_tree(self, names: Names, expression: str, *, copy: bool) -> str:
        option = ", copy=True" if copy else ""
        return f"{names.runtime}.to_numpy({expression}{option})"

    def conversion_lines(self, names: Names, conversions: Sequence[Conversion], width: int) -> list[str]:
        """The statements that convert parameters, on as few lines as fit; `width` is the indentation's."""
        trees = [c for c in conversions if c.how.startswith("tree")]
        arrays = [c for c in conversions if c.how.startswith("array")]
        return self.tree_lines(names, trees) + self._array_lines(names, arrays, width)

    def tree_lines(self, names: Names, conversions: Sequence[Conversion]) -> list[str]:
        lines = []
        for copy in (True, False):
            found = [c.name for c in conversions if c.how.endswith("copy") == copy]
            if found:
                lines.append(f"{', '.join(found)} = {self.convert_tree(names, _tuple(found), copy=copy)}")
        return lines

    def _array_lines(self, names: Names, arrays: Sequence[Conversion], width: int) -> list[str]:
        if not arrays:
            return []
        left = ", ".join(c.name for c in arrays)
        line = f"{left} = {', '.join(self.converted(names, c) for c in arrays)}"
        if len(line) + width <= _LINE_LENGTH:
            return [line]
        return [f"{c.name} = {self.converted(names, c)}" for c in arrays]

    def helpers(self, names: Names, jax: str, *, store: bool, to_numpy: bool) -> list[str]:
        """Source of the functions that the module needs beside the runtime."""
        return []


class JaxDialect(Dialect):
    """`--target jax`: JAX's own buffer callback, whose buffers are no arrays and take no strict writes.

    Two small functions are generated into the module: one stores results by the rules of `jax.pure_callback`,
    one hands out read-only arrays, since `np.asarray` of JAX's input buffers is writable.
    """

    generates_helpers = True

    def __init__(self, store: str, to_numpy: str) -> None:
        self._store, self._to_numpy = store, to_numpy

    def buffer_callback(self, names: Names) -> str:
        return names.runtime

    def write(self, names: Names, out: str, value: str) -> str:
        return self.store(names, out, value)

    def store(self, names: Names, out: str, value: str) -> str:
        return f"{self._store}({out}, {value})"

    def convert_tree(self, names: Names, expression: str, *, copy: bool) -> str:
        return f"{self._to_numpy}({expression}{', copy=True' if copy else ''})"

    def converted(self, names: Names, conversion: Conversion) -> str:
        return self.convert_tree(names, conversion.name, copy=conversion.how.endswith("copy"))

    def conversion_lines(self, names: Names, conversions: Sequence[Conversion], width: int) -> list[str]:
        return self.tree_lines(names, conversions)

    def helpers(self, names: Names, jax: str, *, store: bool, to_numpy: bool) -> list[str]:
        wanted = [(self._store, _STORE)] if store else []
        wanted += [(self._to_numpy, _TO_NUMPY)] if to_numpy else []
        return [text.format(name=name, jax=jax, np=names.numpy) for name, text in wanted]


_STORE = '''\
def {name}(out, value):
    """Write a callback's results into its output buffers, by the rules of `jax.pure_callback`."""
    buffers = [{np}.asarray(buffer) for buffer in {jax}.tree.leaves(out)]
    values = [{np}.asarray(leaf) for leaf in {jax}.tree.leaves(value)]
    values = [leaf.astype({jax}.dtypes.canonicalize_dtype(leaf.dtype)) for leaf in values]
    if len(values) != len(buffers):
        raise RuntimeError(
            "Mismatched number of outputs from callback. "
            f"Expected: {{len(buffers)}}, Actual: {{len(values)}}"
        )
    for index, (buffer, leaf) in enumerate(zip(buffers, values)):
        for what in ("shape", "dtype"):
            expected, actual = getattr(buffer, what), getattr(leaf, what)
            if expected != actual:
                raise RuntimeError(
                    f"Incorrect output {{what}} for return value #{{index}}: "
                    f"Expected: {{expected}}, Actual: {{actual}}"
                )
    for buffer, leaf in zip(buffers, values):
        buffer[...] = leaf
'''

_TO_NUMPY = '''\
def {name}(tree, copy=False):
    """The buffers of a pytree as read-only NumPy views, or as copies that may outlive the callback."""

    def convert(leaf):
        array = {np}.asarray(leaf)
        if copy:
            return array.copy()
        array = array.view()
        array.flags.writeable = False
        return array

    return {jax}.tree.map(convert, tree)
'''


def _tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
