"""What is known of the context managers of `with` statements."""

from __future__ import annotations

import ast
from typing import Final

from codemods import hostlib
from codemods.names import BindingKind, Module

_LOCKS: Final = frozenset({"threading.Lock", "threading.RLock", "multiprocessing.Lock", "open"})


def is_neutral(node: ast.expr, module: Module) -> bool:
    """Whether a write may stand inside the block: a lock or a file, which notices nothing of it."""
    if isinstance(node, ast.Call):
        return _made_by(node, module) in _LOCKS
    if isinstance(node, ast.Name):
        binding = module.sole_binding(node)
        if binding and binding.kind is BindingKind.ASSIGNMENT and isinstance(binding.value, ast.Call):
            return is_neutral(binding.value, module)
    return False


def lets_exceptions_pass(node: ast.expr, module: Module) -> bool:
    """Whether a context manager surely swallows no exception."""
    if isinstance(node, ast.Call) and _made_by(node, module) in hostlib.PLAIN_CONTEXTS:
        return True
    return is_neutral(node, module)


def watches_warnings(node: ast.expr, module: Module) -> bool:
    """Whether a context manager may turn NumPy's warnings, which JAX does not give, into errors."""
    return isinstance(node, ast.Call) and _made_by(node, module) in (
        "numpy.errstate",
        "warnings.catch_warnings",
    )


def _made_by(node: ast.Call, module: Module) -> str:
    return module.origin(node.func) or (node.func.id if isinstance(node.func, ast.Name) else "")
