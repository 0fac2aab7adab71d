"""BCL008: JAX called from inside a callback may wait for the thread that runs the callback."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.names import Module

_COMPUTING: Final = (
    "jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.", "jax.image.", "jax.ops."
)  # fmt: skip
_TRANSFORMS: Final = frozenset({"jax.jit", "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.pmap"})
_MOVING: Final = frozenset({"jax.device_put", "jax.device_get", "jax.block_until_ready"})
# What answers from shapes and dtypes alone.
_INQUIRIES: Final = frozenset(
    f"jax.numpy.{name}"
    for name in (
        "dtype", "finfo", "iinfo", "issubdtype", "result_type", "promote_types", "shape", "ndim", "size",
        "isscalar", "broadcast_shapes", "iscomplexobj", "isrealobj",
    )
)  # fmt: skip
_DEPTH: Final = 3


@rule("BCL008")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        for node, where in _uses(callback.function, callback.module, _DEPTH):
            yield _finding(node, where, callback)
            break


def _finding(node: ast.AST, where: str, callback: Callback) -> Finding:
    return Finding(
        node,
        f"`{callback.name}` runs JAX{where} inside a callback, which can hang on JAX before 0.11.",
        "Compute with NumPy here, or do it outside of the callback.",
        callback,
    )


def _uses(
    function: ast.FunctionDef | ast.Lambda, module: Module, depth: int
) -> Iterator[tuple[ast.AST, str]]:
    """Where a function runs JAX itself, or calls a function in sight that does."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for call in (node for each in body for node in ast.walk(each) if isinstance(node, ast.Call)):
        if _runs_jax(call.func, module):
            yield call, ""
        elif isinstance(call.func, ast.Name) and (binding := module.sole_binding(call.func)) is not None:
            called = binding.node if binding.value is None else binding.value
            if isinstance(called, ast.Call) and module.origins(called.func) & _TRANSFORMS:
                yield call, f" (`{call.func.id}`)"
            elif isinstance(called, ast.FunctionDef | ast.Lambda) and _runs(called, module, depth):
                yield call, f" (in `{call.func.id}`)"


def _runs(function: ast.FunctionDef | ast.Lambda, module: Module, depth: int) -> bool:
    decorators = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    if any(module.origins(_undecorated(each, module)) & _TRANSFORMS for each in decorators):
        return True
    return depth > 0 and not decorators and any(_uses(function, module, depth - 1))


def _undecorated(decorator: ast.expr, module: Module) -> ast.expr:
    """What decorates: `jax.jit` of `jax.jit(…)` and of `partial(jax.jit, …)`."""
    if not isinstance(decorator, ast.Call):
        return decorator
    is_partial = module.origin(decorator.func) == "functools.partial" and decorator.args
    return decorator.args[0] if is_partial else decorator.func


def _runs_jax(function: ast.expr, module: Module) -> bool:
    if isinstance(function, ast.Call):  # jax.jit(f)(x)
        return bool(module.origins(function.func) & _TRANSFORMS)
    origins = module.origins(function) - _INQUIRIES
    return bool(origins) and all(o.startswith(_COMPUTING) or o in _MOVING for o in origins)
