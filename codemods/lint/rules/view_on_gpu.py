"""BCL010: on a GPU, JAX's own buffers are device memory, of which NumPy can make no view."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.lint.views import NUMPY_VIEWS, Views
from codemods.platforms import asks_for_gpu

_CONVERTING: Final = NUMPY_VIEWS | {"numpy.array", "numpy.frombuffer"}


@rule("BCL010")
def check(subject: Subject) -> Iterator[Finding]:
    found = [(c, *each) for c in subject.callbacks if c.libraries == {"jax"} for each in _views(c)]
    where = _asked(subject) if found else None
    for callback, call, name in found if where is not None else ():
        yield Finding(
            call,
            f"{where} asks for a GPU, where `{name}` is memory of the device, which NumPy cannot view.",
            "Use CuPy or DLPack, or `bufcb.buffer_callback`, whose buffers NumPy can read on a GPU.",
            callback,
        )


def _views(callback: Callback) -> Iterator[tuple[ast.Call, str]]:
    """Where NumPy is to view a buffer, and which one."""
    views, module = Views(callback), callback.module
    for statement in callback.body:
        if isinstance(statement, ast.If | ast.Try | ast.Match):
            continue  # which may tell where the buffer is
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            if not call.args or not module.origins(call.func) & _CONVERTING:
                continue
            memory = views.of(call.args[0])
            if memory is not None and memory.is_buffer:
                yield call, memory.name


def _asked(subject: Subject) -> str | None:
    """The line that asks for a GPU: of the module itself, or of one that takes something from it."""
    own = asks_for_gpu(subject.module)
    if own or own is None:
        return f"Line {own}" if own else None
    for file in subject.project.importing(subject.source.path):
        module = subject.project.module(file)
        if module is not None and (line := asks_for_gpu(module)):
            name = os.path.relpath(file, os.path.dirname(os.path.realpath(subject.source.path)))
            return f"Line {line} of {Path(name).as_posix()}"
    return None
