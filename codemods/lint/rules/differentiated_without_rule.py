"""BCL007: a buffer callback has no derivative; JAX raises an error where one is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from codemods import gradients
from codemods.lint.registry import Finding, Subject, rule
from codemods.model import Gradient


@rule("BCL007")
def check(subject: Subject) -> Iterator[Finding]:
    callbacks = {call.call: callback for callback in subject.callbacks for call, _ in callback.calls}
    verdicts = gradients.of_buffer_calls(
        subject.module,
        subject.source.path,
        subject.project,
        [call.call for call in subject.calls],
        subject.options.gradient_transform,
    )
    times = Counter(call.call for call in subject.calls)
    for call in subject.calls:
        verdict = verdicts.get(call.call)
        if verdict is None or verdict.gradient is not Gradient.UNPROTECTED:
            continue
        if times[call.call] > 1:  # a partial that decorates several functions, any of which it may be
            continue
        diagnostic = verdict.diagnostic
        assert diagnostic is not None
        yield Finding(
            call.call,
            diagnostic.reason,
            diagnostic.way_out,
            callbacks.get(call.call),
            hops=verdict.hops,
            is_of_call=True,
        )
