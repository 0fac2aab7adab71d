"""The annotations of a callback that stop being true, and whether it has them throughout."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from codemods.names import FunctionNode, Module, Scope, parameters
from codemods.plans import Conversion

_ARRAYS: Final = frozenset({"jax.Array", "jax.numpy.ndarray", "jax.typing.ArrayLike"})


def jax_annotated(
    function: FunctionNode, supplied: Collection[str], conversions: Iterable[Conversion], module: Module
) -> Iterator[ast.arg]:
    """The parameters whose annotation names a JAX array, and which are NumPy's from now on."""
    whole = {c.name for c in conversions if c.how in ("array", "array copy")}
    for parameter in parameters(function.args):
        if parameter.annotation is None or parameter.arg not in supplied:
            continue
        origins = _origins(parameter.annotation, module, module.scopes[function])
        if origins and (origins <= _ARRAYS or parameter.arg in whole) and _are_of_jax(origins):
            yield parameter


def _are_of_jax(origins: Iterable[str]) -> bool:
    return any(origin.partition(".")[0] == "jax" for origin in origins)


def _origins(annotation: ast.expr, module: Module, scope: Scope) -> frozenset[str]:
    """The dotted names that an annotation may stand for, in quotes or without."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return module.origins(annotation)
    first, _, rest = annotation.value.partition(".")
    home = module.home(first, scope)
    found = home.bindings[first] if home is not None else []
    suffix = f".{rest}" if rest else ""
    return frozenset(f"{b.origin}{suffix}" for b in found) if all(b.origin for b in found) else frozenset()


def is_typed(function: FunctionNode, implicit: int) -> bool:
    """Whether a definition annotates all that it takes, but for what binding it consumes, and its result."""
    if isinstance(function, ast.Lambda) or function.returns is None:
        return False
    rest = parameters(function.args)[implicit:]
    return all(parameter.annotation is not None for parameter in rest)
