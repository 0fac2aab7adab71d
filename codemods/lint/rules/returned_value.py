"""BCL001: a buffer callback writes its results; one that returns them raises when it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.lint.returned import leftover_returns
from codemods.names import Module
from codemods.returns import is_generator


@rule("BCL001")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        yield from _of(callback)
    for call in subject.calls:
        if (name := _coroutine(call.callback, subject.module)) is not None:
            reason = f"`{name}` is a coroutine function: a call returns a coroutine, and runs nothing."
            yield Finding(call.call, reason, "Write the results without `async`.", is_of_call=True)


def _coroutine(callback: ast.expr, module: Module) -> str | None:
    binding = module.sole_binding(callback) if isinstance(callback, ast.Name) else None
    node = binding.node if binding is not None else None
    return node.name if isinstance(node, ast.AsyncFunctionDef) and not node.decorator_list else None


def _of(callback: Callback) -> Iterator[Finding]:
    if is_generator(callback.function):
        reason = f"`{callback.name}` is a generator function: a call returns a generator, and runs nothing."
        yield Finding(callback.function, reason, "Write the results without `yield`.", callback)
        return
    for returned in leftover_returns(callback):
        reason = f"`{callback.name}` returns a value, and a buffer callback must not return any."
        if not returned.is_sure:
            reason = (
                f"`{callback.name}` writes no output, and returns what a buffer callback must not return."
            )
        way_out = "Write it into the output, then return nothing."
        if returned.is_output:
            way_out = "What it has written is the result: return nothing."
        yield Finding(returned.node, reason, way_out, callback, is_rewritten=returned.is_fixable)
