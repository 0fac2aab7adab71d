"""BCL010: on a GPU, JAX's own buffers are device memory, of which NumPy can make no view."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.lint.views import Views
from codemods.names import Module

_GPUS: Final = frozenset({"gpu", "cuda", "rocm"})
_ASKS_FOR_PLATFORM: Final = frozenset({"jax.devices", "jax.local_devices", "jax.jit", "jax.config.update"})
_ASKS_WHICH: Final = frozenset(
    {"jax.default_backend", "jax.lax.platform_dependent", "jax.extend.backend.get_backend"}
)
_CONVERTING: Final = frozenset({"numpy.asarray", "numpy.asanyarray", "numpy.frombuffer", "numpy.array"})


@rule("BCL010")
def check(subject: Subject) -> Iterator[Finding]:
    if not (line := _runs_on_gpu(subject.module)):
        return
    for callback in subject.callbacks:
        if callback.libraries == {"jax"}:
            yield from _of(callback, line)


def _of(callback: Callback, line: int) -> Iterator[Finding]:
    views, body, module = Views(callback), callback.function.body, callback.module
    for statement in [body] if isinstance(body, ast.expr) else body:
        if isinstance(statement, ast.If | ast.Try | ast.Match):
            continue  # which may tell where the buffer is
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            if not call.args or not module.origins(call.func) & _CONVERTING:
                continue
            memory = views.of(call.args[0])
            if memory is not None and memory.is_buffer:
                yield Finding(
                    call,
                    f"Line {line} asks for a GPU, where `{memory.name}` is memory of the device, which NumPy "
                    "cannot view.",
                    "Use CuPy or DLPack, or `bufcb.buffer_callback`, whose buffers NumPy can read on a GPU.",
                    callback,
                )


def _runs_on_gpu(module: Module) -> int:
    """The line that asks for a GPU; 0 in a module that asks for another platform, or on which one it is."""
    lines = []
    for call in (node for node in module.parents if isinstance(node, ast.Call)):
        origins = module.origins(call.func)
        if origins & _ASKS_WHICH:
            return 0
        if origins & _ASKS_FOR_PLATFORM:
            named = {
                platform.strip()
                for each in [*call.args, *(keyword.value for keyword in call.keywords)]
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
                for platform in each.value.split(",")
            }
            if named & {"cpu", "tpu"}:
                return 0
            lines += [call.lineno] if named & _GPUS else []
    return min(lines, default=0)
