"""Derivatives by central differences, for host functions whose derivative nobody has written down."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import PyTreeDef, tree_flatten, tree_leaves, tree_unflatten

# So many elements are gone through without a loop of JAX's, in which JAX 0.10 loses the rules of custom
# functions when it differentiates twice.
_UNROLLED = 16


def finite_difference_vjp(
    function: Callable[..., Any], primals: tuple[Any, ...], cotangents: Any
) -> tuple[Any, ...]:
    """Return the cotangents of `primals`, for the backward rule of a `jax.custom_vjp` function.

    Every element of every floating-point argument takes two calls of `function`, one after the other, and
    one of a complex argument takes four. For a function that varies on the scale of its argument, or of one
    if that is larger, the error is about 1e-4 of the cotangent in single precision and 1e-9 in double
    precision.

    Example:
      >>> def call_bwd(residuals, cotangent):
      ...     return bufcb.finite_difference_vjp(call, residuals, cotangent)

    Args:
      function: takes and returns arrays or pytrees of them.
      primals: what it is called with.
      cotangents: those of its result.

    Returns:
      A tuple with the structure of `primals`; zeros of dtype `float0` for leaves of integers.
    """
    weights = [weight for weight in tree_leaves(cotangents) if _is_inexact(weight)]
    at = _Point.of(function, primals, weights)

    def contracted(slopes: Sequence[Any]) -> Any:
        pairs = zip(weights, slopes, strict=True)
        return sum((jnp.sum(jnp.real(_widened(w) * s)) for w, s in pairs), jnp.float32(0))

    def pulled(index: int) -> Any:
        real, *imaginary = (at.along_elements(index, way, contracted) for way in at.ways(index))
        return real - 1j * imaginary[0] if imaginary else real  # JAX's convention: no conjugate

    cotangent = [
        pulled(i).reshape(np.shape(leaf)).astype(_dtype(leaf))
        if i in at.moving
        else np.zeros(np.shape(leaf), jax.dtypes.float0)
        for i, leaf in enumerate(at.leaves)
    ]
    return tuple(tree_unflatten(at.tree, cotangent))


def finite_difference_jvp(
    function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return the result of a function and its tangent, for the rule of a `jax.custom_jvp` function.

    The tangent is linear in `tangents`, so that the rule serves reverse mode as well, and `function` is not
    called under `jax.vmap` by `jax.jacfwd`. It is called as often as by `finite_difference_vjp`.

    Example:
      >>> @call.defjvp
      ... def call_jvp(primals, tangents):
      ...     return bufcb.finite_difference_jvp(call, primals, tangents)

    Args:
      function: takes and returns arrays or pytrees of them.
      primals: what it is called with.
      tangents: those of `primals`.

    Returns:
      The result and its tangent, as from `jax.jvp`; zeros of dtype `float0` for leaves of integers.
    """
    result = function(*primals)
    leaves, tree = tree_flatten(result)
    at = _Point.of(function, primals, filter(_is_inexact, leaves))
    pushed = iter(at.pushed(tree_leaves(tangents)))
    tangent = [
        next(pushed).astype(_dtype(leaf)) if _is_inexact(leaf) else _zero_tangent(leaf) for leaf in leaves
    ]
    return result, tree_unflatten(tree, tangent)


@dataclasses.dataclass(frozen=True)
class _Point:
    """A function, and where its derivative is asked for.

    Attributes:
      leaves: the flat arguments; `tree` is their structure.
      moving: the indices of those that are floats or complex.
      results: the shapes of such among the flat results.
      step: how far to go, as a part of the argument: what is cut off and what is rounded off are about
        the same then.
    """

    function: Callable[..., Any]
    leaves: Sequence[Any]
    tree: PyTreeDef
    moving: Sequence[int]
    results: Sequence[tuple[int, ...]]
    step: float

    @classmethod
    def of(cls, function: Callable[..., Any], primals: tuple[Any, ...], results: Iterable[Any]) -> _Point:
        leaves, tree = tree_flatten(primals)
        moving = [index for index, leaf in enumerate(leaves) if _is_inexact(leaf)]
        found = list(results)
        floats = [*(leaves[index] for index in moving), *found]
        coarsest = max((_precision(leaf) for leaf in floats), default=1.0)
        return cls(function, leaves, tree, moving, [np.shape(leaf) for leaf in found], coarsest ** (1 / 3))

    def ways(self, index: int) -> tuple[complex, ...]:
        """The directions that each element of a leaf can go in."""
        return (1, 1j) if jnp.issubdtype(_dtype(self.leaves[index]), jnp.complexfloating) else (1,)

    def along_elements(self, index: int, way: complex, reduced: Callable[[Sequence[Any]], Any]) -> Any:
        """The slopes of the results along each element of one leaf, reduced, and stacked in front."""
        leaf = jnp.asarray(self.leaves[index])
        flat = leaf.ravel()

        def slopes(element: Any) -> Any:
            step = (self.step * jnp.maximum(1, abs(_widened(flat[element]))) * way).astype(flat.dtype)
            above, below = (flat.at[element].add(each) for each in (step, -step))
            # What was really gone, since the ends are rounded.
            width = jnp.real((_widened(above[element]) - _widened(below[element])) / way)
            ends = (self._results_with({index: end.reshape(leaf.shape)}) for end in (above, below))
            return reduced([(a - b) / width for a, b in zip(*ends, strict=True)])

        if flat.size == 0:
            shapes = jax.eval_shape(lambda: reduced([jnp.zeros(shape) for shape in self.results]))
            return jax.tree.map(lambda shape: jnp.zeros((0, *shape.shape), shape.dtype), shapes)
        if flat.size <= _UNROLLED:
            return jax.tree.map(lambda *each: jnp.stack(each), *map(slopes, range(flat.size)))
        return jax.lax.map(slopes, jnp.arange(flat.size))

    def pushed(self, directions: Sequence[Any]) -> list[Any]:
        """The tangents of the results: linear in `directions`."""
        tangents = [jnp.zeros(shape) for shape in self.results]
        for index in self.moving:
            direction = _widened(directions[index]).ravel()
            for way in self.ways(index):
                part = jnp.real(direction) if way == 1 else jnp.imag(direction)
                rows = self.along_elements(index, way, tuple)
                tangents = [t + jnp.tensordot(part, row, 1) for t, row in zip(tangents, rows, strict=True)]
        return tangents

    def _results_with(self, leaves: dict[int, Any]) -> list[Any]:
        """The results that are floats or complex where some leaves are others."""
        given = [leaves.get(index, leaf) for index, leaf in enumerate(self.leaves)]
        found = tree_leaves(self.function(*tree_unflatten(self.tree, given)))
        return [_widened(leaf) for leaf in found if _is_inexact(leaf)]


def _dtype(leaf: Any) -> Any:
    """The dtype of an array or a Python number."""
    return leaf.dtype if hasattr(leaf, "dtype") else jnp.result_type(leaf)


def _precision(leaf: Any) -> float:
    return float(jnp.finfo(_dtype(leaf)).eps)  # type: ignore[no-untyped-call]


def _zero_tangent(leaf: Any) -> Any:
    return jax.custom_derivatives.zero_from_primal(leaf)  # type: ignore[no-untyped-call]


def _is_inexact(leaf: Any) -> bool:
    return bool(jnp.issubdtype(_dtype(leaf), jnp.inexact))


def _widened(leaf: Any) -> Any:
    """An array in single precision at least."""
    return jnp.asarray(leaf, jnp.promote_types(_dtype(leaf), jnp.float32))
