"""BCL002: an output that is never written holds whatever its memory held before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.outputs import Output, is_aliased, may_stay_unwritten, outputs
from codemods.lint.paths import unwritten
from codemods.lint.registry import Finding, Subject, rule
from codemods.lint.returned import leftover_returns
from codemods.trees import mentions


@rule("BCL002")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if not may_stay_unwritten(callback):
            for output in outputs(callback):
                if not is_aliased(output):
                    yield from _of(callback, output)


def _of(callback: Callback, output: Output) -> Iterator[Finding]:
    function = callback.function
    returned = {id(each.node) for each in leftover_returns(callback)}  # another rule's findings
    if isinstance(function, ast.Lambda):
        if not output.is_written_in(function.body) and not returned:
            yield _finding(function, output, callback)
        return
    for leaving in unwritten(function, output.is_written_in, callback.module, _asks_for_stage(callback)):
        if id(leaving) not in returned:
            yield _finding(leaving, output, callback)


def _asks_for_stage(callback: Callback) -> Callable[[ast.AST], bool]:
    """Whether a condition looks at the context, which tells at what stage of an execution it is called."""
    context = callback.context
    return lambda test: context is not None and mentions(test, context.arg)


def _finding(node: ast.AST, output: Output, callback: Callback) -> Finding:
    where = "returns here" if isinstance(node, ast.Return) else "may end"
    return Finding(
        node,
        f"`{callback.name}` {where} without having written `{output.shown}`, which holds garbage then.",
        f"Write `{output.shown}[...]` on every path, or raise.",
        callback,
    )
