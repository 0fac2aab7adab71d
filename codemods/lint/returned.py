"""Which `return`s of a buffer callback give a value, and which of them can be turned into writes."""

from __future__ import annotations

import ast
import dataclasses
from typing import Final

from codemods import hostlib
from codemods.lint.callbacks import Callback
from codemods.lint.outputs import is_aliased, may_stay_unwritten, outputs
from codemods.names import BindingKind, Module, ScopeKind
from codemods.returns import own_returns
from codemods.trees import mentions

# Functions and methods that work in place and return None.
_WITHOUT_RESULT: Final = frozenset(
    {
        "bufcb.store",
        "numpy.copyto",
        "numpy.fill_diagonal",
        "numpy.place",
        "numpy.put",
        "numpy.put_along_axis",
        "numpy.putmask",
        "numpy.random.shuffle",
        "numpy.save",
        "numpy.savetxt",
        "numpy.savez",
        "time.sleep",
    }
)
_BUILTINS_WITH_RESULT: Final = (
    hostlib.SCALAR_BUILTINS
    | (hostlib.UNPACKING_BUILTINS - {"next", "max", "min"})
    | {"sum", "abs", "round", "len", "str", "bool"}
)
_METHODS_WITH_RESULT: Final = hostlib.NEUTRAL_METHODS | hostlib.VIEWING_METHODS | {
    "astype", "sum", "mean", "min", "max", "prod", "std", "var", "dot", "item", "tolist", "copy", "cumsum"
}  # fmt: skip
_LIBRARIES: Final = ("numpy.", "scipy.", "jax.numpy.", "jax.scipy.", "jax.lax.", "math.")
_DEPTH: Final = 4


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Returned:
    """A `return`, or a lambda's body, that gives a value on some run.

    Attributes:
      node: the `return`; of a lambda, the body.
      is_sure: whether it surely does. Else it does, or the output is never written.
      is_output: whether what it returns is the output that the callback was given.
      is_fixable: whether a write can stand for it without any doubt of what is meant.
    """

    node: ast.Return | ast.expr
    is_sure: bool
    is_output: bool
    is_fixable: bool


def leftover_returns(callback: Callback) -> list[Returned]:
    """Those of one callback, in order of position."""
    function, out = callback.function, callback.out
    nodes: list[tuple[ast.Return | ast.expr, ast.expr | None]]
    if isinstance(function, ast.Lambda):
        nodes = [(function.body, function.body)]
    else:
        nodes = [(node, node.value) for node in own_returns(function)]
    is_unused = out is not None and not mentions(function, out.arg)
    is_meant = (
        is_unused
        and not may_stay_unwritten(callback)
        and not any(is_aliased(output) for output in outputs(callback))
    )
    found = []
    for node, value in nodes:
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            continue
        is_sure = gives_value(value, callback.module)
        if is_sure or (is_meant and not isinstance(function, ast.Lambda)):
            is_output = out is not None and _is(value, out.arg) and not _is_rebound(callback, out.arg)
            is_fixable = (is_output or is_unused) and not _has_other_users(callback)
            found.append(Returned(node, is_sure, is_output, is_fixable))
    return found


def _is_rebound(callback: Callback, name: str) -> bool:
    return len(callback.module.opened[callback.function].bindings[name]) > 1


def _has_other_users(callback: Callback) -> bool:
    """Whether something other than buffer calls may call the function, and use what it returns."""
    function, module = callback.function, callback.module
    if callback.is_shared:
        return True
    if isinstance(function, ast.Lambda) or all(call.decorated is function for call, _ in callback.calls):
        return False
    handed_over = {resolved.reference for _, resolved in callback.calls}
    if (scope := module.scopes[function]).kind is ScopeKind.CLASS:
        uses: list[ast.expr] = [
            *module.attributes.get(function.name, ()),
            *module.references(function.name, scope),
        ]
    else:
        uses = [*module.references(function.name, scope)]
    return any(use not in handed_over for use in uses) or module.names_in_strings(function.name)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def gives_value(node: ast.expr, module: Module, depth: int = 0) -> bool:
    """Whether an expression is surely something else than None, on some run at least."""
    match node:
        case ast.Constant(value=value):
            return value is not None
        case ast.IfExp(body=body, orelse=other):
            return gives_value(body, module, depth) or gives_value(other, module, depth)
        case ast.BoolOp(values=values):
            return gives_value(values[-1], module, depth)
        case ast.NamedExpr(value=value):
            return gives_value(value, module, depth)
        case ast.Name():
            return _name_gives_value(node, module, depth)
        case ast.Call():
            return _call_gives_value(node, module, depth)
        case ast.Subscript(value=value):
            return gives_value(value, module, depth) and not isinstance(
                value, ast.Dict | ast.List | ast.Tuple
            )
        case ast.Await() | ast.Attribute() | ast.Yield() | ast.YieldFrom() | ast.Starred():
            return False
    return True


def _name_gives_value(node: ast.Name, module: Module, depth: int) -> bool:
    found = module.bindings(node)
    if depth > _DEPTH or not found:
        return False
    if all(binding.kind is BindingKind.PARAMETER for binding in found):
        return True
    values = [binding.value for binding in found if binding.kind is BindingKind.ASSIGNMENT]
    return any(value is not None and gives_value(value, module, depth + 1) for value in values)


def _call_gives_value(node: ast.Call, module: Module, depth: int) -> bool:
    if origins := module.origins(node.func):
        return all(o.startswith(_LIBRARIES) for o in origins) and not origins & _WITHOUT_RESULT
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _METHODS_WITH_RESULT
    if not isinstance(node.func, ast.Name) or depth > _DEPTH:
        return False
    found = module.bindings(node.func)
    if not found:
        return node.func.id in _BUILTINS_WITH_RESULT
    return all(_function_gives_value(b.node if b.value is None else b.value, module, depth) for b in found)


def _function_gives_value(node: ast.AST, module: Module, depth: int) -> bool:
    match node:
        case ast.Lambda(body=body):
            return gives_value(body, module, depth + 1)
        case ast.FunctionDef(decorator_list=[]):
            values = [each.value for each in own_returns(node)]
            return any(value is not None and gives_value(value, module, depth + 1) for value in values)
    return False
