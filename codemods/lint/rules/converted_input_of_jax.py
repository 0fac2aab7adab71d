"""BCL009: JAX's own buffers have an `__array__` that neither copies nor converts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.copies import numpy_at
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.lint.views import Views

_CONVERTING: Final = frozenset(
    {"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.asfortranarray"}
)


@rule("BCL009")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if callback.libraries == {"jax"}:
            yield from _of(callback)


def _of(callback: Callback) -> Iterator[Finding]:
    views, body = Views(callback), callback.function.body
    for statement in [body] if isinstance(body, ast.expr) else body:
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            if not call.args or not _fails(call, callback):
                continue
            memory = views.of(call.args[0])
            if memory is None or not memory.is_buffer:
                continue
            numpy = numpy_at(call, callback)
            yield Finding(
                call,
                f"NumPy asks `{memory.name}` for a copy or another dtype, which JAX's own buffers refuse.",
                f"Take a view first: `np.asarray({memory.name})`, and copy or convert that.",
                callback,
                rewording=Rewording(call.args[0], f"{numpy}.asarray({{}})") if numpy else None,
            )


def _fails(call: ast.Call, callback: Callback) -> bool:
    origin = callback.module.origin(call.func)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if origin not in _CONVERTING or None in given:
        return False
    if len(call.args) > 1 or not _is_constant(given.get("dtype"), None):
        return True
    if "copy" in given:
        return _is_constant(given["copy"], True)
    return origin == "numpy.array"


def _is_constant(node: ast.expr | None, value: object) -> bool:
    """Whether an option is `value`, or is left out where that means None."""
    return value is None if node is None else isinstance(node, ast.Constant) and node.value is value
