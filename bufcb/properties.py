"""The calls that `bufcb.testing.check_callback` makes, and what must be true of their results."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax.tree_util import tree_flatten, tree_map, tree_unflatten

from bufcb._jax import ShapedArray
from bufcb.buffers import Order
from bufcb.callables import argument_names, describe
from bufcb.callback import Declaration
from bufcb.dry_runs import first_difference, run
from bufcb.primitive import AT_ONCE

_BATCH: Final = 3


@dataclasses.dataclass(frozen=True)
class Checks:
    """The checks of one callback; the fields are the arguments of `check_callback`."""

    callback: Callable[..., None]
    spec: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    aliases: Mapping[int, int] | None

    def repeated(self) -> None:
        """Check that results depend on arguments alone."""
        first = self._run("in a first call", self._leaves)
        self._same("called twice with the same arguments", first, self._run("in a second call", self._leaves))
        for other in self._others():
            self._run_or_none(other)
        last = self._run("in a call after others", self._leaves)
        self._same("called again after a call with other arguments", first, last)

    def in_column_major_order(self) -> None:
        """Check that results do not depend on the order of arguments in memory."""
        first = self._run("in a first call", self._leaves)
        other = self._run("with column-major arguments", self._leaves, order="F")
        self._same("called with column-major arguments (see `any_order`)", first, other)

    def batched(self, vmap_method: str, rtol: float, atol: float) -> None:
        """Check that a batch gives what its elements give."""
        if vmap_method not in AT_ONCE or not self._leaves:
            return
        names = argument_names(self.callback, self.args, self.kwargs)
        count = len(self._leaves)
        self._batch(vmap_method, (True,) * count, "all arguments", rtol, atol)
        if count > 1:
            for i in range(count):
                self._batch(vmap_method, tuple(i == j for j in range(count)), f"{names[i]} alone", rtol, atol)

    @functools.cached_property
    def _leaves(self) -> list[np.ndarray]:
        declared = Declaration.of(self.callback, self.spec, self.aliases)
        return declared.bind(self.args, self.kwargs).as_numpy()

    def _others(self) -> Iterator[list[np.ndarray]]:
        """Other arguments that most callbacks take as well."""
        for power in range(1, _BATCH):
            yield [
                (leaf * leaf.dtype.type(0.5**power)).astype(leaf.dtype)
                if jnp.issubdtype(leaf.dtype, jnp.inexact)
                else leaf
                for leaf in self._leaves
            ]

    def _elements(self, batched: Sequence[bool]) -> list[list[np.ndarray]]:
        """The arguments of each element of a batch; those that the callback refuses are replaced."""
        elements = [self._leaves]
        for other in self._others():
            element = [
                a if is_batched else b for a, b, is_batched in zip(other, self._leaves, batched, strict=True)
            ]
            elements.append(element if self._run_or_none(element) is not None else self._leaves)
        return elements

    def _batch(self, vmap_method: str, batched: Sequence[bool], which: str, rtol: float, atol: float) -> None:
        where = f"in a batch of {_BATCH}, of {which}, as by vmap_method={vmap_method!r}"
        elements = self._elements(batched)
        leaves = [
            np.stack([element[i] for element in elements])
            if is_batched
            else _unbatched(self._leaves[i], vmap_method, is_aliased=i in (self.aliases or {}))
            for i, is_batched in enumerate(batched)
        ]
        spec = tree_map(lambda leaf: ShapedArray((_BATCH, *leaf.shape), leaf.dtype), self.spec)
        results = self._run(where, leaves, spec=spec)
        for index, element in enumerate(elements):
            alone = self._run(f"as element {index} of a batch", element)
            of_batch = tree_map(lambda leaf, index=index: leaf[index], results)
            self._same(f"called {where}: element {index}", alone, of_batch, rtol, atol)

    def _run(self, where: str, leaves: Sequence[np.ndarray], order: Order = "C", spec: Any = None) -> Any:
        _, tree = tree_flatten((self.args, self.kwargs))
        args, kwargs = tree_unflatten(tree, leaves)
        try:
            return run(self.callback, spec or self.spec, args, kwargs, self.aliases, order)
        except Exception as error:
            error.add_note(f"check_callback: {where}")
            raise

    def _run_or_none(self, leaves: Sequence[np.ndarray]) -> Any:
        """Return the results; None where the callback does not take such arguments."""
        try:
            return self._run("", leaves)
        except Exception:  # noqa: BLE001 - arguments that are made up may be wrong in any way
            return None

    def _same(self, how: str, expected: Any, actual: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
        if (found := first_difference(expected, actual, rtol, atol)) is not None:
            raise AssertionError(f"{describe(self.callback)}, {how}, gives another result in {found}")


def _unbatched(leaf: np.ndarray, vmap_method: str, *, is_aliased: bool) -> np.ndarray:
    """Return an argument without batch axis as the callback is handed it beside batched ones."""
    if is_aliased or vmap_method == "broadcast_all":
        return np.broadcast_to(leaf, (_BATCH, *leaf.shape))
    return leaf[np.newaxis] if vmap_method == "expand_dims" else leaf
