"""BCL006: a buffer callback is called with the context, the outputs, and then the arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.arguments import default_of
from codemods.lint.callbacks import Callback
from codemods.lint.calls import BufferCall
from codemods.lint.registry import Finding, Subject, rule
from codemods.resolve import Resolved


@rule("BCL006")
def check(subject: Subject) -> Iterator[Finding]:
    for call in subject.calls:
        if call.surplus:
            yield Finding(
                call.surplus[0],
                "`buffer_callback` takes a callback and a spec, and no arguments for the callback.",
                "Give them to the function that it returns: `buffer_callback(callback, spec)(*args)`.",
            )
    for callback in subject.callbacks:
        for call, resolved in callback.calls:
            if (reason := _misfit(callback, call, resolved)) is not None:
                way_out = "It is called as `callback(ctx, out, *args, **kwargs)`."
                yield Finding(callback.function, reason, way_out, callback)
                break


def _misfit(callback: Callback, call: BufferCall, resolved: Resolved) -> str | None:
    arguments = callback.function.args
    bound = resolved.implicit + resolved.bound.positional
    positional = [*arguments.posonlyargs, *arguments.args][bound:]
    if len(positional) < 2 and arguments.vararg is None:
        return f"`{callback.name}` cannot take the context and the outputs in front of its arguments."
    for applied in call.applied:
        if any(isinstance(a, ast.Starred) for a in applied.args) or any(
            k.arg is None for k in applied.keywords
        ):
            continue
        if (reason := _miscounted(callback, applied, positional, resolved)) is not None:
            return reason
    return None


def _miscounted(
    callback: Callback, applied: ast.Call, positional: list[ast.arg], resolved: Resolved
) -> str | None:
    arguments, given = callback.function.args, 2 + len(applied.args)
    named = {keyword.arg for keyword in applied.keywords} | resolved.bound.keywords
    taken = {parameter.arg for parameter in (*arguments.args, *arguments.kwonlyargs)}
    if given > len(positional) and arguments.vararg is None:
        return f"`{callback.name}` takes {len(positional)} positional arguments, and is given {given}."
    by_position = {parameter.arg for parameter in positional[:given]} - {p.arg for p in arguments.posonlyargs}
    if twice := named & by_position:
        return f"`{callback.name}` is given `{min(map(str, twice))}` by keyword and by position."
    if (extra := named - taken) and arguments.kwarg is None:
        return f"`{callback.name}` takes no keyword `{min(map(str, extra))}`."
    missing = [p for p in positional[given:] if p.arg not in named and default_of(p, arguments) is None]
    missing += [p for p in arguments.kwonlyargs if p.arg not in named and default_of(p, arguments) is None]
    if missing:
        return f"`{callback.name}` is not given its argument `{missing[0].arg}`, with the buffers in front."
    return None
