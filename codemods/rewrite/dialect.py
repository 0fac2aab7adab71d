"""How the migrated code spells the runtime: `bufcb`, or JAX's own buffer callback with generated helpers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

from codemods.plans import Conversion

Mode = Literal["vjp", "jvp"]

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

    def view(self, names: Names, out: str) -> str:
        """One leaf as an array of NumPy."""
        return f"{names.numpy}.asarray({out})"

    def converted(self, names: Names, conversion: Conversion) -> str:
        """One parameter, converted, as an expression."""
        copy = conversion.how.endswith("copy")
        if conversion.how.startswith("array"):
            return (
                f"{names.numpy}.array({conversion.name})"
                if copy
                else f"{names.numpy}.asarray({conversion.name})"
            )
        return self._convert_tree(names, conversion.name, copy=copy)

    def _convert_tree(self, names: Names, expression: str, *, copy: bool) -> str:
        option = ", copy=True" if copy else ""
        return f"{names.runtime}.to_numpy({expression}{option})"

    def conversion_lines(self, names: Names, conversions: Sequence[Conversion], width: int) -> list[str]:
        """The statements that convert parameters, on as few lines as fit; `width` is the indentation's."""
        trees = [c for c in conversions if c.how.startswith("tree")]
        arrays = [c for c in conversions if c.how.startswith("array")]
        return self._tree_lines(names, trees) + self._array_lines(names, arrays, width)

    def _tree_lines(self, names: Names, conversions: Sequence[Conversion]) -> list[str]:
        lines = []
        for copy in (True, False):
            found = [c.name for c in conversions if c.how.endswith("copy") == copy]
            if found:
                lines.append(f"{', '.join(found)} = {self._convert_tree(names, _tuple(found), copy=copy)}")
        return lines

    def _array_lines(self, names: Names, arrays: Sequence[Conversion], width: int) -> list[str]:
        if not arrays:
            return []
        left = ", ".join(c.name for c in arrays)
        line = f"{left} = {', '.join(self.converted(names, c) for c in arrays)}"
        if len(line) + width <= _LINE_LENGTH:
            return [line]
        return [f"{c.name} = {self.converted(names, c)}" for c in arrays]

    def call_host(self, names: Names, function: str, spec: str, arguments: str, vmap_method: str) -> str:
        """A call of a function of the host that returns its result."""
        return f'{names.runtime}.pure_callback({function}, {spec}, {arguments}, vmap_method="{vmap_method}")'

    def difference(self, names: Names, mode: Mode, arguments: str) -> str:
        """A call of the function for finite differences of a mode."""
        return f"{names.runtime}.finite_difference_{mode}({arguments})"

    def has_more_helpers(self) -> bool:
        """Whether something that was given so far needs functions in the module."""
        return False

    def helpers(self, names: Names, jax: str, *, store: bool, to_numpy: bool) -> list[str]:
        """Source of the functions that the module needs beside the runtime."""
        return []


class JaxDialect(Dialect):
    """`--target jax`: JAX's own buffer callback, whose buffers are no arrays and take no strict writes.

    Two small functions are generated into the module: one stores results by the rules of `jax.pure_callback`,
    one hands out read-only arrays, since `np.asarray` of JAX's input buffers is writable.
    """

    generates_helpers = True

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._store, self._to_numpy = fresh("_store_results"), fresh("_to_numpy")
        self._fresh = fresh
        self._more: dict[str, str] = {}

    def buffer_callback(self, names: Names) -> str:
        return names.runtime

    def write(self, names: Names, out: str, value: str) -> str:
        return self.store(names, out, value)

    def store(self, names: Names, out: str, value: str) -> str:
        return f"{self._store}({out}, {value})"

    def _convert_tree(self, names: Names, expression: str, *, copy: bool) -> str:
        return f"{self._to_numpy}({expression}{', copy=True' if copy else ''})"

    def converted(self, names: Names, conversion: Conversion) -> str:
        return self._convert_tree(names, conversion.name, copy=conversion.how.endswith("copy"))

    def conversion_lines(self, names: Names, conversions: Sequence[Conversion], width: int) -> list[str]:
        return self._tree_lines(names, conversions)

    def call_host(self, names: Names, function: str, spec: str, arguments: str, vmap_method: str) -> str:
        helper = self._helper("_call_host", _CALL_HOST)
        return f'{helper}({function}, {spec}, {arguments}, vmap_method="{vmap_method}")'

    def difference(self, names: Names, mode: Mode, arguments: str) -> str:
        self._helper("_slopes", _SLOPES)
        text = _DIFFERENCE_VJP if mode == "vjp" else _DIFFERENCE_JVP
        return f"{self._helper(f'_finite_difference_{mode}', text)}({arguments})"

    def _helper(self, name: str, text: str) -> str:
        if text not in self._more:
            self._more[text] = self._fresh(name)
        return self._more[text]

    def has_more_helpers(self) -> bool:
        return bool(self._more)

    def helpers(self, names: Names, jax: str, *, store: bool, to_numpy: bool) -> list[str]:
        wanted = [(_STORE, self._store)] if store else []
        wanted += [(_TO_NUMPY, self._to_numpy)] if to_numpy else []
        wanted += self._more.items()
        more = {"call": names.runtime, "slopes": self._more.get(_SLOPES, "")}
        return [text.format(name=name, jax=jax, np=names.numpy, **more) for text, name in wanted]


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
        memory = memoryview(array.reshape(-1).view({np}.uint8)).toreadonly()
        return {np}.asarray(memory).view(array.dtype).reshape(array.shape)

    return {jax}.tree.map(convert, tree)
'''


_CALL_HOST = '''\
def {name}(function, spec, *arguments, vmap_method):
    """Call a function of the host that returns its result."""

    def call(ctx, out, *arrays):
        {np}.asarray(out)[...] = function(*map({np}.asarray, arrays))

    return {call}(call, spec, vmap_method=vmap_method)(*arguments)
'''

_SLOPES = '''\
def {name}(function, primals, reduce):
    """What `reduce` makes of the results' slopes, for each float of the arguments: one, or two if complex."""
    leaves, tree = {jax}.tree.flatten(primals)

    def is_a(kind, leaf):
        return {jax}.numpy.issubdtype({jax}.numpy.result_type(leaf), kind)

    def results(index, leaf):
        given = {jax}.tree.unflatten(tree, [*leaves[:index], leaf, *leaves[index + 1 :]])
        return [leaf for leaf in {jax}.tree.leaves(function(*given)) if is_a({jax}.numpy.inexact, leaf)]

    def along(index, way):
        leaf = {jax}.numpy.asarray(leaves[index])
        flat = leaf.ravel()
        dtypes = [leaf.dtype, *(shape.dtype for shape in {jax}.eval_shape(lambda: results(index, leaf)))]
        part = max(float({jax}.numpy.finfo(dtype).eps) for dtype in dtypes) ** (1 / 3)

        def slopes(element):
            step = (part * {jax}.numpy.maximum(1, abs(flat[element])) * way).astype(leaf.dtype)
            above, below = flat.at[element].add(step), flat.at[element].add(-step)
            ends = (results(index, end.reshape(leaf.shape)) for end in (above, below))
            width = {jax}.numpy.real((above[element] - below[element]) / way)
            return reduce([(a - b) / width for a, b in zip(*ends)])

        return {jax}.lax.map(slopes, {jax}.numpy.arange(flat.size))

    def ways(leaf):
        return (1, 1j) if is_a({jax}.numpy.complexfloating, leaf) else (1,)

    return [
        [along(index, way) for way in ways(leaf)] if is_a({jax}.numpy.inexact, leaf) else None
        for index, leaf in enumerate(leaves)
    ]
'''

_DIFFERENCE_VJP = '''\
def {name}(function, primals, cotangents):
    """The cotangents of `primals`, by two calls of `function` for each element of a float."""
    weights = [leaf for leaf in {jax}.tree.leaves(cotangents) if leaf.dtype != {jax}.dtypes.float0]

    def reduce(slopes):
        return sum({jax}.numpy.sum({jax}.numpy.real(w * s)) for w, s in zip(weights, slopes))

    def shaped(each, leaf):
        if each is None:
            return {np}.zeros({np}.shape(leaf), {jax}.dtypes.float0)
        both = each[0] if len(each) == 1 else each[0] - 1j * each[1]
        return both.reshape({np}.shape(leaf)).astype({jax}.numpy.result_type(leaf))

    leaves, tree = {jax}.tree.flatten(primals)
    found = [shaped(each, leaf) for each, leaf in zip({slopes}(function, primals, reduce), leaves)]
    return {jax}.tree.unflatten(tree, found)
'''

_DIFFERENCE_JVP = '''\
def {name}(function, primals, tangents):
    """The result of `function` and its tangent, by two calls of it for each element of a float."""
    results, tree = {jax}.tree.flatten(function(*primals))
    directions = {jax}.tree.leaves(tangents)
    moved = [
        [{jax}.numpy.tensordot(part.ravel(), row, 1) for row in rows]
        for each, direction in zip({slopes}(function, primals, tuple), directions)
        for rows, part in zip(each or (), (direction.real, direction.imag))
    ]
    sums = iter([sum(parts) for parts in zip(*moved)])
    found = [
        next(sums).astype(leaf.dtype)
        if {jax}.numpy.issubdtype(leaf.dtype, {jax}.numpy.inexact)
        else {jax}.custom_derivatives.zero_from_primal(leaf)
        for leaf in results
    ]
    return {jax}.tree.unflatten(tree, results), {jax}.tree.unflatten(tree, found)
'''


def _tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
