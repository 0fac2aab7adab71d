"""Which calls of a function run JAX itself, directly or through functions of the same module."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Final

from codemods.names import Module
from codemods.trees import walk

_COMPUTING: Final = (
    "jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.", "jax.image.", "jax.ops."
)  # fmt: skip
_TRANSFORMS: Final = frozenset({"jax.jit", "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.pmap"})
_MOVING: Final = frozenset({"jax.device_put", "jax.device_get", "jax.block_until_ready"})
# What answers from shapes and dtypes alone, or makes a view and computes nothing.
_INQUIRIES: Final = frozenset(
    f"jax.numpy.{name}"
    for name in (
        "dtype", "finfo", "iinfo", "issubdtype", "result_type", "promote_types", "shape", "ndim", "size",
        "isscalar", "broadcast_shapes", "iscomplexobj", "isrealobj", "from_dlpack", "save", "savez",
    )
)  # fmt: skip
_MOST_FUNCTIONS: Final = 100

_Function = ast.FunctionDef | ast.Lambda
# What a called expression of a module stands for, where the search itself does not see it.
Elsewhere = Callable[[ast.expr, Module], tuple[_Function, Module] | None]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class JaxCall:
    """A call in a function's body that runs JAX.

    Attributes:
      function: the name of what is called, if that is a function of the module in which JAX runs.
    """

    node: ast.Call
    function: str | None = None


def jax_call(function: _Function, module: Module, elsewhere: Elsewhere | None = None) -> JaxCall | None:
    """The first call in `function` that surely is one of JAX, or of a function in sight that has one.

    In sight are the functions of `module`, and those to which `elsewhere` leads.
    """
    return _Search(module, set(), elsewhere).first(function)


class _Search:
    def __init__(self, module: Module, seen: set[ast.AST], elsewhere: Elsewhere | None) -> None:
        self._module, self._seen, self._elsewhere = module, seen, elsewhere

    def first(self, function: _Function) -> JaxCall | None:
        """Each function is looked into once: what was seen without a find has none."""
        self._seen.add(function)
        body = [function.body] if isinstance(function, ast.Lambda) else function.body
        for call in (node for each in body for node in walk(each) if isinstance(node, ast.Call)):
            if _is_of_jax(call.func, self._module):
                return JaxCall(call)
            if isinstance(call.func, ast.Name) and self._runs(call.func):
                return JaxCall(call, call.func.id)
            if self._elsewhere is not None and (found := self._elsewhere(call.func, self._module)):
                search = _Search(found[1], self._seen, self._elsewhere)
                if search.runs_in(found[0]):
                    return JaxCall(call, ast.unparse(call.func))
        return None

    def _runs(self, name: ast.Name) -> bool:
        """Whether a name surely is a function that JAX has transformed, or one with a call of JAX."""
        binding = self._module.sole_binding(name)
        if binding is None:
            return False
        called = binding.node if binding.value is None else binding.value
        if isinstance(called, ast.Call):
            return bool(self._module.origins(called.func) & _TRANSFORMS)
        return isinstance(called, ast.FunctionDef | ast.Lambda) and self.runs_in(called)

    def runs_in(self, called: _Function) -> bool:
        """Whether a function is one that JAX has transformed, or has a call of JAX."""
        decorators = called.decorator_list if isinstance(called, ast.FunctionDef) else []
        if any(self._module.origins(_undecorated(each, self._module)) & _TRANSFORMS for each in decorators):
            return True
        if decorators or called in self._seen or len(self._seen) >= _MOST_FUNCTIONS:
            return False
        return self.first(called) is not None


def _undecorated(decorator: ast.expr, module: Module) -> ast.expr:
    """What decorates: `jax.jit` of `jax.jit(…)` and of `partial(jax.jit, …)`."""
    if not isinstance(decorator, ast.Call):
        return decorator
    is_partial = module.origin(decorator.func) == "functools.partial" and decorator.args
    return decorator.args[0] if is_partial else decorator.func


def _is_of_jax(function: ast.expr, module: Module) -> bool:
    if isinstance(function, ast.Call):  # jax.jit(f)(x)
        return bool(module.origins(function.func) & _TRANSFORMS)
    origins = module.origins(function) - _INQUIRIES
    return bool(origins) and all(o.startswith(_COMPUTING) or o in _MOVING for o in origins)
