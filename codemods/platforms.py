"""Where a module asks for the platform that its programs run on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods.names import Module

_GPUS: Final = frozenset({"gpu", "cuda", "rocm"})
_OTHERS: Final = frozenset({"cpu", "tpu"})
_NAMING: Final = frozenset({"jax.devices", "jax.local_devices", "jax.jit"})
_VARIABLES: Final = frozenset({"JAX_PLATFORMS", "JAX_PLATFORM_NAME"})
# What sets an option, the first argument, to the second one.
_SETTING: Final = {
    "jax.config.update": frozenset({"jax_platforms", "jax_platform_name"}),
    "os.environ.setdefault": _VARIABLES,
    "os.putenv": _VARIABLES,
}
_ASKING: Final = frozenset(
    {"jax.default_backend", "jax.lax.platform_dependent", "jax.extend.backend.get_backend"}
)


def asks_for_gpu(module: Module) -> int | None:
    """The first line that asks for a GPU, 0 for none; None if one asks for another, or for which."""
    lines = []
    for node in module.parents:
        if isinstance(node, ast.Call) and module.origins(node.func) & _ASKING:
            return None
        named = frozenset(_platforms(node, module))
        if named & _OTHERS or (named and _is_tried(node, module)):
            return None
        if named & _GPUS:
            assert isinstance(node, ast.expr | ast.stmt)
            lines.append(node.lineno)
    return min(lines, default=0)


def _platforms(node: ast.AST, module: Module) -> Iterator[str]:
    """The platforms that a statement or call names, in order of preference."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            origins = module.origins(function)
            texts = [_text(each) for each in (*arguments, *(keyword.value for keyword in keywords))]
            if origins & _NAMING:
                yield from _parts(*texts)
            elif any(texts and texts[0] in _SETTING.get(origin, ()) for origin in origins):
                yield from _parts(*texts[1:])
        case ast.Assign(targets=[ast.Subscript(value=place, slice=key)], value=value):
            if module.origins(place) == {"os.environ"} and _text(key) in _VARIABLES:
                yield from _parts(_text(value))


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _parts(*texts: str | None) -> Iterator[str]:
    for text in texts:
        yield from (part.strip() for part in (text or "").split(",") if part.strip())


def _is_tried(node: ast.AST, module: Module) -> bool:
    """Whether an error would be caught, so that there may be no such platform."""
    return any(isinstance(each, ast.Try) and each.handlers for each in module.ancestors(node))
