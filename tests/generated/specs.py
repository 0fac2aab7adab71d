"""The structure of what a callback returns, and the ways to spell it as a spec and as a value."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from expressions import Expressions, Names
from hypothesis import strategies as st

KEYS = ("lo", "hi", "Ω")
FIELDS = ("first", "second")  # of the named tuple `Pair`


@dataclasses.dataclass(frozen=True)
class Leaf:
    """`array` and `mask` have the shape of the argument, `number` and `index` that without its last axis."""

    kind: str


@dataclasses.dataclass(frozen=True)
class Node:
    """A `tuple`, a `list`, a `dict` by the first of `KEYS`, or a `Pair`."""

    kind: str
    children: "tuple[Structure, ...]"


Structure: TypeAlias = Leaf | Node
LEAVES = st.sampled_from(["array", "array", "array", "number", "mask", "index"]).map(Leaf)


def nodes(children: "st.SearchStrategy[Structure]") -> "st.SearchStrategy[Structure]":
    several = st.lists(children, min_size=1, max_size=3).map(tuple)
    two = st.tuples(children, children)
    return (
        st.builds(Node, st.just("tuple"), several)
        | st.builds(Node, st.just("dict"), several)
        | st.builds(Node, st.just("list"), several)
        | st.builds(Node, st.just("Pair"), two)
    )


STRUCTURES: "st.SearchStrategy[Structure]" = (
    LEAVES | LEAVES | nodes(LEAVES) | nodes(LEAVES | nodes(LEAVES)) | st.just(Node("tuple", ()))
)


def spelled(node: Node, parts: Sequence[str]) -> str:
    """A structure as a display, its parts spelled already."""
    if node.kind == "tuple":
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if node.kind == "list":
        return f"[{', '.join(parts)}]"
    if node.kind == "Pair":
        return f"Pair({', '.join(parts)})"
    return "{" + ", ".join(f'"{key}": {part}' for key, part in zip(KEYS, parts, strict=False)) + "}"


def leaves(structure: Structure) -> Iterator[Leaf]:
    if isinstance(structure, Leaf):
        yield structure
    else:
        for child in structure.children:
            yield from leaves(child)


@dataclasses.dataclass(frozen=True)
class Specs:
    """Spells specs; `array` is an expression for an array that has the results' shape, where they stand."""

    expressions: Expressions
    array: str

    def spec(self, structure: Structure) -> str:
        if isinstance(structure, Node):
            if structure.kind == "dict" and self.expressions.choice([False, False, True]):
                pairs = zip(KEYS, structure.children, strict=False)
                return f"dict({', '.join(f'{key}={self.spec(child)}' for key, child in pairs)})"
            if set(map(type, structure.children)) == {Leaf} and len(set(structure.children)) == 1:
                repeated = f"({self.spec(structure.children[0])},) * {len(structure.children)}"
                if structure.kind == "tuple" and self.expressions.choice([False, True]):
                    return repeated
            return spelled(structure, [self.spec(child) for child in structure.children])
        return self.expressions.choice(self._spellings(structure.kind))

    def example(self, structure: Structure) -> str:
        """An expression with JAX's arrays of this structure."""
        if isinstance(structure, Node):
            return spelled(structure, [self.example(child) for child in structure.children])
        x = self.array
        return {
            "array": f"{x} * 2",
            "number": f"{x}.sum(-1)",
            "mask": f"{x} > 0",
            "index": f"jnp.argmax({x}, -1).astype(jnp.int32)",
        }[structure.kind]

    def _spellings(self, kind: str) -> list[str]:
        x = self.array
        if kind == "array":
            return [
                f"jax.ShapeDtypeStruct({x}.shape, {x}.dtype)",
                "jax.ShapeDtypeStruct((3,), jnp.float32)",
                "jax.ShapeDtypeStruct(shape=(3,), dtype=np.float32)",
                "jnp.zeros(3)",
                "np.zeros(3, np.float32)",
                f"jnp.zeros_like({x})",
                x,
                "ARRAY",
                f"jax.eval_shape(lambda v: v + 1, {x})",
            ]
        if kind == "mask":
            return [
                f"jax.ShapeDtypeStruct({x}.shape, jnp.bool_)",
                "jax.ShapeDtypeStruct((3,), bool)",
                f"jax.eval_shape(jnp.isfinite, {x})",
            ]
        dtype = "jnp.float32" if kind == "number" else "jnp.int32"
        return [
            f"jax.ShapeDtypeStruct((), {dtype})",
            f"jax.ShapeDtypeStruct({x}.shape[:-1], {dtype})",
            f"jnp.zeros((), {dtype})",
            "NUMBER" if kind == "number" else "jnp.int32(0)",
        ]


@dataclasses.dataclass(frozen=True)
class Values:
    """Spells values of a structure."""

    expressions: Expressions

    def value(self, structure: Structure, names: Names, depth: int = 2) -> str:
        if isinstance(structure, Leaf):
            return self.expressions.leaf(structure.kind, names, depth)
        parts = [self.value(child, names, depth) for child in structure.children]
        if structure.kind == "tuple" and len(parts) > 1 and self.expressions.choice([False, False, True]):
            # JAX compares leaves, not structures.
            return f"[{', '.join(parts)}]"
        if structure.kind == "Pair" and self.expressions.choice([False, True]):
            return "Pair(" + ", ".join(f"{f}={p}" for f, p in zip(FIELDS, parts, strict=True)) + ")"
        return spelled(structure, parts)
