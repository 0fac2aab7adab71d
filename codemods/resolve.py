"""Which function a callback expression means."""

from __future__ import annotations

import ast
import dataclasses
from typing import Literal

from codemods import hostlib
from codemods.bodies.effects import overridden, owner_of_self
from codemods.names import BindingKind, FunctionNode, Module
from codemods.sites import PARTIAL

Arrays = Literal["numpy", "jax"]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """What a `functools.partial` binds: so many positional arguments, and these keywords."""

    positional: int = 0
    keywords: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Resolved:
    """A callback whose definition is in sight.

    Attributes:
      function: the definition.
      reference: the name, attribute or lambda that stands for it, inside any `partial`.
      owner: the class, for a method.
      implicit: how many parameters the method binding consumes: 1 for `self` and `cls`.
      via: the variable that holds the lambda or `partial`, whose reads are all callbacks.
    """

    function: ast.FunctionDef | ast.Lambda
    reference: ast.expr
    bound: Bound = Bound()
    owner: ast.ClassDef | None = None
    implicit: int = 0
    via: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Opaque:
    """A callback that is adapted, with the code and the reason."""

    code: str
    reason: str
    way_out: str = ""
    arrays: Arrays = "jax"


def resolve(node: ast.expr, module: Module, callbacks: frozenset[ast.expr]) -> Resolved | Opaque:
    """Follows a callback expression to its definition; `callbacks` are the callbacks of all call sites."""
    if isinstance(node, ast.Lambda):
        return Resolved(node, node)
    if _is_partial(node, module):
        assert isinstance(node, ast.Call)
        return _partial(node, module, callbacks)
    if origins := module.origins(node):
        return _library(node, origins)
    if isinstance(node, ast.Name):
        return _name(node, module, callbacks)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _attribute(node, node.value, module)
    if isinstance(node, ast.Call) and module.origins(node.func) == {"numpy.vectorize"}:
        return Opaque("BC102", "NumPy's `vectorize` converts its arguments itself.", arrays="numpy")
    what = type(node).__name__.lower() if not isinstance(node, ast.Call) else "the result of a call"
    return _out_of_sight(f"The callback is {what}: `{_short(node)}`.")


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:47] + "..."


def _out_of_sight(reason: str) -> Opaque:
    return Opaque("BC101", reason, "It gets JAX arrays, as before.")


def _library(node: ast.expr, origins: frozenset[str]) -> Opaque:
    if len(origins) == 1:
        (origin,) = origins
        converts = origin in hostlib.FRESH | hostlib.VIEWING | hostlib.CONVERTING or origin.startswith(
            hostlib.SAFE_MODULES
        )
        if converts and origin not in hostlib.TAKES_FUNCTION:
            return Opaque("BC102", f"`{origin}` takes NumPy arrays and keeps none.", arrays="numpy")
    name = min(origins)
    if name.startswith(".") or name.partition(".")[0] not in ("numpy", "scipy", "jax"):
        return _out_of_sight(f"`{_short(node)}` is imported, and its body is not in this file.")
    return Opaque(
        "BC102", f"`{name}` may compute with its argument's own methods.", "It gets JAX arrays, as before."
    )


def _is_partial(node: ast.expr, module: Module) -> bool:
    return (
        isinstance(node, ast.Call)
        and bool(o := module.origins(node.func))
        and o <= PARTIAL
        and bool(node.args)
    )


def _partial(node: ast.Call, module: Module, callbacks: frozenset[ast.expr]) -> Resolved | Opaque:
    blurred = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    )
    if blurred or isinstance(node.args[0], ast.Lambda):
        return _out_of_sight(f"What `{_short(node)}` binds cannot be seen.")
    inner = resolve(node.args[0], module, callbacks)
    if isinstance(inner, Opaque):
        return (
            dataclasses.replace(inner, arrays="jax") if inner.arrays == "numpy" and node.keywords else inner
        )
    if inner.via is not None or inner.bound.positional or inner.bound.keywords:
        return _out_of_sight("A partial of a partial is left as it is.")
    bound = Bound(len(node.args) - 1, frozenset(k.arg for k in node.keywords if k.arg))
    return dataclasses.replace(inner, bound=bound)


def _name(node: ast.Name, module: Module, callbacks: frozenset[ast.expr]) -> Resolved | Opaque:
    found = module.bindings(node)
    if not found:
        return _out_of_sight(f"`{node.id}` is not defined in this file.")
    if len(found) > 1:
        return Opaque(
            "BC114",
            f"`{node.id}` is bound in {len(found)} places, so which one is called cannot be seen.",
            "Give each definition a name of its own.",
        )
    binding = found[0]
    match binding.node:
        case ast.AsyncFunctionDef():
            return Opaque(
                "BC109", f"`{node.id}` is a coroutine function.", "JAX callbacks are plain functions."
            )
        case ast.FunctionDef():
            if module.enclosing_class(binding.node) is not None:
                return _out_of_sight(f"`{node.id}` is used in the body of its class.")
            return Resolved(binding.node, node)
    if binding.kind is BindingKind.PARAMETER:
        return _out_of_sight(f"`{node.id}` is a parameter, so any function may arrive.")
    if binding.kind is BindingKind.ASSIGNMENT and binding.value is not None:
        return _variable(node, binding.value, module, callbacks)
    return _out_of_sight(f"`{node.id}` is a variable whose value cannot be seen.")


def _variable(
    node: ast.Name, value: ast.expr, module: Module, callbacks: frozenset[ast.expr]
) -> Resolved | Opaque:
    home = module.home(node.id, module.scopes[node])
    assert home is not None
    if isinstance(value, ast.Lambda) or _is_partial(value, module):
        if all(use in callbacks for use in module.references(node.id, home)):
            inner = resolve(value, module, callbacks)
            return dataclasses.replace(inner, via=node.id) if isinstance(inner, Resolved) else inner
        return _out_of_sight(f"`{node.id}` is used in other ways as well.")
    return _out_of_sight(f"`{node.id}` holds `{_short(value)}`.")


def _attribute(node: ast.Attribute, base: ast.Name, module: Module) -> Resolved | Opaque:
    owner = owner_of_self(base, module)
    through_class = False
    if owner is None:
        binding = module.sole_binding(base)
        if binding is None or not isinstance(binding.node, ast.ClassDef):
            return _out_of_sight(f"`{_short(node)}` is an attribute of an object that cannot be seen.")
        owner, through_class = binding.node, True
    methods = [
        i for i in owner.body if isinstance(i, ast.FunctionDef | ast.AsyncFunctionDef) and i.name == node.attr
    ]
    stored = any(not isinstance(use.ctx, ast.Load) for use in module.attributes[node.attr])
    bound_otherwise = stored or len(module.opened[owner].bindings.get(node.attr, [])) != 1
    if len(methods) != 1 or bound_otherwise or not isinstance(methods[0], ast.FunctionDef):
        return _out_of_sight(f"`{_short(node)}` is no plain method of class `{owner.name}`.")
    if overridden(owner, node.attr, module):
        return Opaque(
            "BC114", f"`{node.attr}` is overridden in a derived class.", "Each override gets JAX arrays."
        )
    return _method(node, owner, methods[0], through_class)


def _method(
    node: ast.Attribute, owner: ast.ClassDef, method: ast.FunctionDef, through_class: bool
) -> Resolved | Opaque:
    kinds = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
    static, of_class = "staticmethod" in kinds, "classmethod" in kinds
    if through_class and not (static or of_class):
        return _out_of_sight(f"`{_short(node)}` is an unbound method.")
    return Resolved(method, node, owner=owner, implicit=0 if static else 1)


def plain_decorators(function: FunctionNode) -> bool:
    """Whether a function's decorators leave its signature and result alone."""
    if isinstance(function, ast.Lambda):
        return True
    return all(
        isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod") for d in function.decorator_list
    )
