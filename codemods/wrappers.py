"""Decorators that leave a callback's arguments and results alone, so that it may change below them.

A decorator of the project is read: it must return the function itself, or an inner function that hands all of
its arguments on once a call, and returns what comes back, looking at neither.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from codemods.contexts import is_neutral
from codemods.definitions import Definition, Found
from codemods.names import FunctionNode, Module, parameters
from codemods.trees import own_nodes, walk

Imported = Callable[[frozenset[str]], Found]
"""Takes the dotted names that an imported name may have, and follows them through the project."""

_TRANSPARENT: Final = frozenset(
    {"typing.final", "typing.override", "typing.no_type_check", "typing_extensions.final"}
    | {"typing_extensions.override", "functools.wraps"}
)
_BINDING: Final = frozenset({"staticmethod", "classmethod"})
# What a wrapper may read of the function that it wraps.
_TEXTS: Final = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})


def opaque_decorators(
    function: FunctionNode, module: Module, position: int, imported: Imported | None = None
) -> list[ast.expr]:
    """The decorators of a callback that may look at its arguments or results.

    `position` is how many positional arguments come before the buffers, as `self` does.
    """
    decorators: list[ast.expr] = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return [d for d in decorators if not _passes(d, module, position, imported)]


def binding_decorator(function: FunctionNode) -> str | None:
    """`staticmethod` or `classmethod`, where a method is decorated with it."""
    decorators: list[ast.expr] = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return next((d.id for d in decorators if isinstance(d, ast.Name) and d.id in _BINDING), None)


def _passes(node: ast.expr, module: Module, position: int, imported: Imported | None) -> bool:
    if isinstance(node, ast.Name) and node.id in _BINDING and not module.bindings(node):
        return True
    made = isinstance(node, ast.Call)
    named = node.func if isinstance(node, ast.Call) else node
    if (origins := module.origins(named)) and origins <= _TRANSPARENT:
        return True
    found = definition_of(named, module, imported)
    if found is None:
        return False
    decorator, home = found
    if made:
        inner = returned_function(decorator)
        if inner is None:
            return False
        decorator = inner
    return _is_pass_through(decorator, home, position)


def definition_of(
    node: ast.expr, module: Module, imported: Imported | None
) -> tuple[ast.FunctionDef, Module] | None:
    """The function that a decorator is, with the module that has it; None where it is out of sight."""
    if origins := module.origins(node):
        found = imported(origins) if imported is not None else None
        if isinstance(found, Definition) and isinstance(found.function, ast.FunctionDef):
            return found.function, found.module
        return None
    if isinstance(node, ast.Name):
        binding = module.sole_binding(node)
        if binding is not None and isinstance(binding.node, ast.FunctionDef):
            return binding.node, module
    return None


def returned_function(function: ast.FunctionDef) -> ast.FunctionDef | None:
    """The function that another one defines in its body and returns in its last statement."""
    if function.decorator_list or not function.body:
        return None
    match function.body[-1]:
        case ast.Return(value=ast.Name(id=name)):
            inner = [i for i in function.body if isinstance(i, ast.FunctionDef) and i.name == name]
            returns = [n for n in own_nodes(function.body) if isinstance(n, ast.Return)]
            return inner[0] if len(inner) == 1 and len(returns) == 1 else None
    return None


def _is_pass_through(decorator: ast.FunctionDef, module: Module, position: int) -> bool:
    """Whether a decorator's result behaves as the function that it is given."""
    taken = decorator.args.args + decorator.args.posonlyargs
    if decorator.decorator_list or len(taken) != 1 or len(parameters(decorator.args)) != 1:
        return False
    wrapped, returns = taken[0], [n for n in own_nodes(decorator.body) if isinstance(n, ast.Return)]
    uses = module.references(wrapped.arg, module.opened[decorator])
    if len(module.opened[decorator].bindings[wrapped.arg]) != 1 or len(returns) != 1:
        return False
    if isinstance(returned := returns[0].value, ast.Name) and returned in uses:
        return all(use is returned or _is_harmless(use, module) for use in uses)
    inner = returned_function(decorator)
    if inner is None or len(module.opened[decorator].bindings[inner.name]) != 1:
        return False
    others = module.references(inner.name, module.opened[decorator])
    if not all(use is returns[0].value or _is_harmless(use, module) for use in others):
        return False
    call = _handed_on(inner, position)
    if call is None or call.func not in uses or not _is_straight(call, inner, module):
        return False
    return all(use is call.func or _is_harmless(use, module) for use in uses)


def _is_harmless(use: ast.Name, module: Module) -> bool:
    """Whether a use of the wrapped function, or of the wrapper, is of its names or attributes alone."""
    parent = module.parents[use]
    if isinstance(parent, ast.Attribute):
        is_stored = not isinstance(parent.ctx, ast.Load)
        return is_stored or parent.attr in _TEXTS or not parent.attr.startswith("__")
    around = module.parents[parent] if isinstance(parent, ast.Call) else None
    return (
        isinstance(parent, ast.Call)
        and bool(o := module.origins(parent.func))
        and o <= {"functools.wraps"}
        and isinstance(around, ast.FunctionDef)
    )


def _handed_on(inner: ast.FunctionDef, position: int) -> ast.Call | None:
    """The one call in a wrapper that hands on all of its arguments, in order and untouched."""
    arguments = inner.args
    leading = [p.arg for p in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is None or arguments.kwonlyargs or arguments.defaults or len(leading) > position:
        return None
    stars = {arguments.vararg.arg} | ({arguments.kwarg.arg} if arguments.kwarg else set())
    names = [n for n in walk(inner) if isinstance(n, ast.Name)]
    calls = [n for n in walk(inner) if isinstance(n, ast.Call) and _hands_on(n, leading, arguments)]
    is_rebound = any(n.id in leading and not isinstance(n.ctx, ast.Load) for n in names)
    if len(calls) != 1 or is_rebound or sum(n.id in stars for n in names) != len(stars):
        return None
    return calls[0]


def _hands_on(call: ast.Call, leading: Sequence[str], arguments: ast.arguments) -> bool:
    assert arguments.vararg is not None
    wanted = [f"{name}" for name in leading] + [f"*{arguments.vararg.arg}"]
    given = [ast.unparse(argument) for argument in call.args]
    options = [(k.arg, ast.unparse(k.value)) for k in call.keywords]
    return given == wanted and options == ([(None, arguments.kwarg.arg)] if arguments.kwarg else [])


def _is_straight(call: ast.Call, inner: ast.FunctionDef, module: Module) -> bool:
    """Whether a wrapper makes its call at most once, and its result is returned unseen.

    What fails in the callback must pass through, and nothing may run in a context of the wrapper's that
    notices more than the callback did before.
    """
    if any(not _is_transparent(d, module) for d in inner.decorator_list):
        return False
    returns = [n for n in own_nodes(inner.body) if isinstance(n, ast.Return)]
    if len(returns) != 1 or not all(_always_runs(node, inner, module) for node in (call, returns[0])):
        return False
    if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in own_nodes(inner.body)):
        return False
    match module.parents[call]:
        case ast.Return():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            result = module.opened[inner].bindings.get(name, [])
            reads = module.references(name, module.opened[inner])
            return len(result) == len(reads) == 1 and returns[0].value is reads[0]
    return False


def _always_runs(node: ast.AST, inner: ast.FunctionDef, module: Module) -> bool:
    """Whether a node stands in the straight path of a function, and fails as if it stood there alone."""
    child = node
    for parent in module.ancestors(node):
        if parent is inner:
            return True
        if not _lets_through(parent, child, module):
            return False
        child = parent
    return False


def _is_transparent(node: ast.expr, module: Module) -> bool:
    origins = module.origins(node.func if isinstance(node, ast.Call) else node)
    return bool(origins) and origins <= _TRANSPARENT


def _lets_through(parent: ast.AST, child: ast.AST, module: Module) -> bool:
    """Whether a statement around the call notices neither a failed write nor NumPy's warnings."""
    if isinstance(parent, ast.Try | ast.TryStar):
        exits = (ast.Return, ast.Break, ast.Continue)
        ends = any(isinstance(n, exits) for s in parent.finalbody for n in walk(s))
        return child in parent.body and not parent.handlers and not parent.orelse and not ends
    if isinstance(parent, ast.With):
        return all(is_neutral(item.context_expr, module) for item in parent.items)
    return isinstance(parent, ast.Return | ast.Assign)
