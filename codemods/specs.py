"""The structure of a `result_shape_dtypes` expression, as far as the source shows it."""

from __future__ import annotations

import ast
import dataclasses
from typing import Final, Literal

from codemods.names import BindingKind, Module
from codemods.trees import own_nodes

LEAVES: Final = frozenset({"jax.ShapeDtypeStruct", "jax.ShapeDtypeStruct.like", "jax.core.ShapedArray"})
_ARRAYS = frozenset(
    f"jax.numpy.{name}"
    for name in (
        "zeros",
        "ones",
        "full",
        "empty",
        "arange",
        "zeros_like",
        "ones_like",
        "array",
        "asarray",
        "eye",
    )
)
_DEPTH = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """What is known of a result's pytree.

    Attributes:
      kind: `leaf` is one array, `empty` has no leaf, `unknown` may be anything.
      children: the elements of a tuple, list or dict, in written order.
      keys: a dict's keys, one a child.
    """

    kind: Literal["leaf", "tuple", "list", "dict", "empty", "unknown"]
    children: tuple[Spec, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def is_flat(self) -> bool:
        """Whether it is a container of nothing but leaves."""
        return bool(self.children) and all(child.kind == "leaf" for child in self.children)


LEAF, EMPTY, UNKNOWN = Spec("leaf"), Spec("empty"), Spec("unknown")


def structure(node: ast.expr, module: Module, depth: int = 0) -> Spec:
    """The structure of a spec expression; names are followed to their only assignment."""
    if depth > _DEPTH:
        return UNKNOWN
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            kind: Literal["tuple", "list"] = "tuple" if isinstance(node, ast.Tuple) else "list"
            return _sequence(kind, elements, module, depth)
        case ast.Dict():
            return _mapping(node, module, depth)
        case ast.Constant(value=None):
            return EMPTY
        case ast.Name():
            return _named(node, module, depth)
        case ast.Call():
            return _called(node, module, depth)
    return UNKNOWN


def _sequence(kind: Literal["tuple", "list"], elements: list[ast.expr], module: Module, depth: int) -> Spec:
    if any(isinstance(element, ast.Starred) for element in elements):
        return UNKNOWN
    children = tuple(structure(element, module, depth + 1) for element in elements)
    if all(child.kind == "empty" for child in children):
        return EMPTY
    return Spec(kind, children)


def _mapping(node: ast.Dict, module: Module, depth: int) -> Spec:
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    if len(keys) != len(node.keys) or len(set(keys)) != len(keys):
        return UNKNOWN
    if not keys:
        return EMPTY
    return Spec("dict", tuple(structure(value, module, depth + 1) for value in node.values), tuple(keys))


def _named(node: ast.Name, module: Module, depth: int) -> Spec:
    binding = module.sole_binding(node)
    if binding is None or binding.kind is not BindingKind.ASSIGNMENT or binding.value is None:
        return UNKNOWN
    found = structure(binding.value, module, depth + 1)
    mutable = isinstance(binding.value, ast.List | ast.Dict)  # may be changed between here and the call
    return UNKNOWN if mutable else found


def _called(node: ast.Call, module: Module, depth: int) -> Spec:
    origins = module.origins(node.func)
    if origins and origins <= LEAVES | _ARRAYS:
        return LEAF
    if isinstance(node.func, ast.Name) and (binding := module.sole_binding(node.func)):
        match binding.value or binding.node:
            case ast.Lambda(body=body):
                return _leaf_only(structure(body, module, depth + 1))
            case ast.FunctionDef(body=body, decorator_list=[]):
                return _returned(body, module, depth)
    return UNKNOWN


def _returned(body: list[ast.stmt], module: Module, depth: int) -> Spec:
    """What a function gives that ends in a `return`, as do all other ways out of it, in a leaf each."""
    nodes = list(own_nodes(body))
    if not isinstance(body[-1], ast.Return) or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in nodes):
        return UNKNOWN
    values = [node.value for node in nodes if isinstance(node, ast.Return)]
    found = {_leaf_only(structure(v, module, depth + 1)) if v else UNKNOWN for v in values}
    return found.pop() if len(found) == 1 else UNKNOWN


def _leaf_only(found: Spec) -> Spec:
    return found if found.kind == "leaf" else UNKNOWN
