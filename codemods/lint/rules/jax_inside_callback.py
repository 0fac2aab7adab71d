"""BCL008: JAX called from inside a callback may wait for the thread that runs the callback."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.jax_calls import jax_call
from codemods.lint.registry import Finding, Subject, rule


@rule("BCL008")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if (found := jax_call(callback.function, callback.module)) is not None:
            where = f" (in `{found.function}`)" if found.function else ""
            yield Finding(
                found.node,
                f"`{callback.name}` runs JAX{where} inside a callback, which can hang on JAX before 0.11.",
                "Compute with NumPy here, or do it outside of the callback.",
                callback,
            )
