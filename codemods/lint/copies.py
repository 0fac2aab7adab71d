"""How a fix writes a copy of what a callback was handed, with the name that the module has for NumPy."""

from __future__ import annotations

import ast

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Rewording
from codemods.lint.views import NUMPY_VIEWS, Memory
from codemods.names import BindingKind


def numpy_at(node: ast.AST, callback: Callback) -> str | None:
    """The name of NumPy where a node stands; None where the module has none, or another module is changed."""
    module = callback.module
    if callback.home is not None:
        return None
    for name, bindings in module.root.bindings.items():
        origins = [(each.kind, each.origin) for each in bindings]
        if (
            origins == [(BindingKind.IMPORT, "numpy")]
            and module.home(name, module.scopes[node]) is module.root
        ):
            return name
    return None


def copied(node: ast.expr, memory: Memory, callback: Callback, arrays: frozenset[str]) -> Rewording | None:
    """What makes a copy of `node`, which is `memory`; None where it cannot be told how.

    What may be a pytree, and is not among the `arrays`, is none to copy. JAX's own buffers make a view, and
    no copy of themselves.
    """
    numpy = numpy_at(node, callback)
    if numpy is None:
        return None
    match node:
        case ast.Call(func=function, args=[_], keywords=[]) if _views_alone(function, callback):
            is_nested = "jax" in callback.libraries
            return (
                Rewording(node, f"{numpy}.array({{}})")
                if is_nested
                else Rewording(function, f"{numpy}.array")
            )
    if memory.is_buffer and memory.name not in arrays:
        return None
    is_nested = "jax" in callback.libraries and memory.is_buffer
    return Rewording(node, f"{numpy}.array({numpy}.asarray({{}}))" if is_nested else f"{numpy}.array({{}})")


def _views_alone(function: ast.expr, callback: Callback) -> bool:
    return bool(origins := callback.module.origins(function)) and origins <= NUMPY_VIEWS
