"""The names that a call's callback, spec and options read, and whether they still mean the same later.

They move into a function of their own, which JAX may run again when it differentiates: after the call, when a
loop has gone on and variables have been bound anew.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final, Literal

from codemods.arguments import ARRAY_METHODS
from codemods.gradients.table import NOT_DIFFERENTIATED
from codemods.names import Binding, BindingKind, FunctionNode, Module, Scope, ScopeKind
from codemods.plans import SitePlan
from codemods.sites import PARTIAL, CallSite
from codemods.specs import LEAVES

Part = Literal["callback", "spec", "option"]

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_VIEWS: Final = frozenset({"T", "mT", "real", "imag"})
# Functions that look at the shape and dtype of their arguments alone; the number is of those that they call.
_ABSTRACT: Final = {
    **dict.fromkeys(("jax.eval_shape", "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"), 1),
    **dict.fromkeys(("jax.typeof", "jax.ShapeDtypeStruct.like", "builtins.len"), 0),
    **{
        f"{library}.{name}": 0
        for library in ("jax.numpy", "numpy")
        for name in "shape ndim size result_type zeros_like ones_like empty_like iscomplexobj".split()
    },
}


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Read:
    """One name that is read.

    Attributes:
      root: the expression that it is part of: callback, spec, or the value of an option.
      home: the scope that binds it; None for a builtin, or what a star import brings.
      is_late: whether a lambda reads it, which may be called at any time.
    """

    node: ast.Name
    part: Part
    root: ast.expr
    home: Scope | None
    is_late: bool

    @property
    def name(self) -> str:
        return self.node.id


def reads(plan: SitePlan, site: CallSite, module: Module) -> Iterator[Read]:
    """Every read of a name that is not bound inside of the expressions themselves."""
    parts: list[tuple[Part, ast.expr]] = [("callback", site.callback), ("spec", site.spec)]
    parts += [("option", option.value) for option in site.options]
    for part, root in parts:
        inner = {module.opened[node] for node in ast.walk(root) if node in module.opened}
        for node in _kept(root, plan):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                home = module.home(node.id, module.scopes[node])
                if home not in inner:
                    late = part == "callback" and any(s.kind is ScopeKind.LAMBDA for s in inner)
                    yield Read(node, part, root, home, late)


def _kept(root: ast.expr, plan: SitePlan) -> Iterator[ast.AST]:
    """The nodes of an expression that are left when its lambda has become a function."""
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        if node is plan.target and isinstance(node, ast.Lambda):
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def binds(site: CallSite) -> bool:
    """Whether callback, spec or options bind a name, or wait for something."""
    acts = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(node, acts) for root in site.parts for node in ast.walk(root))


def is_abstract(read: Read, module: Module) -> bool:
    """Whether nothing but the shape and dtype of a value is read, which a tracer has as well.

    That is so of a whole spec, which may be an example array, and of each of its leaves.
    """
    return is_asked_for_shape(read, module) or _is_leaf_of_spec(read, module)


def is_asked_for_shape(read: Read, module: Module) -> bool:
    """Whether an attribute or a function takes the shape or dtype of a value, and no more."""
    return _taker(read, module) is not None


def needs_array(read: Read, module: Module) -> bool:
    """Whether a Python number would not do, which has a dtype for JAX's custom functions, and no shape.

    They get one where `jax.grad` was given one. A tracer of it has a shape.
    """
    taker = _taker(read, module)
    is_shape = isinstance(taker, ast.Attribute) and taker.attr != "dtype"
    return is_shape or (taker is None and _is_leaf_of_spec(read, module))


def has_dimensions(read: Read, module: Module) -> bool:
    """Whether an element of its shape is taken, so that a value surely is no number."""
    taker = _taker(read, module)
    if not (isinstance(taker, ast.Attribute) and taker.attr == "shape" and taker.value is read.node):
        return False
    match module.parents[taker]:
        case ast.Subscript(slice=ast.Constant() | ast.UnaryOp()):
            return True
    return False


def _taker(read: Read, module: Module) -> ast.Attribute | ast.Call | None:
    """The expression that takes the shape or dtype of a value, and no more."""
    node: ast.AST = read.node
    while node is not read.root:
        parent = module.parents[node]
        match parent:
            case ast.Attribute(attr=attr) if attr in NOT_DIFFERENTIATED:
                return parent
            case ast.Attribute(attr=attr) if attr in _VIEWS:
                node = parent
            case ast.Subscript(value=value) if value is node:
                node = parent
            case ast.Call(func=function, args=args) if node in args:
                names = module.origins(function) or _builtin(function, module)
                first = {_ABSTRACT.get(name, len(args)) for name in names} or {len(args)}
                return parent if args.index(node) >= max(first) else None
            case _:
                return None
    return None


def _is_leaf_of_spec(read: Read, module: Module) -> bool:
    node: ast.AST = read.node
    while node is not read.root:
        node = module.parents[node]
        if not isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Starred | ast.Subscript):
            return False
    return read.part == "spec"


def _builtin(function: ast.expr, module: Module) -> frozenset[str]:
    if isinstance(function, ast.Name) and module.home(function.id, module.scopes[function]) is None:
        return frozenset({f"builtins.{function.id}"})
    return frozenset()


def is_static(read: Read, module: Module) -> bool:
    """Whether a value is surely a Python value, for what it is bound to or used as."""
    if _is_bound_to_static(read, module):
        return True
    if is_asked_for_shape(read, module):
        return False
    if read.part != "spec":  # what a callback and its options are made of is no tracer, but may hold one
        is_object = isinstance(module.parents[read.node], ast.Attribute) and read.name != "cls"
        return not (is_object and _is_parameter(read))
    around = (node for node in module.ancestors(read.node) if isinstance(node, ast.Call))
    nearest = next(around, None)
    return nearest is not None and bool(o := module.origins(nearest.func)) and o <= LEAVES


def may_be_number(read: Read, module: Module) -> bool:
    """Whether a value with a shape may be a tracer of a Python number: it is not computed from others."""
    bindings = read.home.bindings[read.name] if read.home is not None else []
    return not all(_is_array(binding, module) for binding in bindings)


def _is_array(binding: Binding, module: Module) -> bool:
    match binding.value or binding.node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Call(func=ast.Attribute(attr=attr) as function) if not module.origins(function):
            return attr in ARRAY_METHODS
        case ast.Call(func=function):
            origins = module.origins(function)
            return bool(origins) and all(origin.startswith(("jax.", "numpy.")) for origin in origins)
        case ast.arg(annotation=ast.expr() as annotation):
            return module.origins(annotation) == {"jax.Array"}
    return False


def _is_bound_to_static(read: Read, module: Module) -> bool:
    """Whether all that a name is bound to is Python values: specs, numbers, functions."""
    bindings = read.home.bindings[read.name] if read.home is not None else []
    values = [each.value or each.node for each in bindings]
    return bool(values) and all(_is_static_value(value, module) for value in values)


def _is_parameter(read: Read) -> bool:
    bindings = read.home.bindings[read.name] if read.home is not None else []
    return any(binding.kind is BindingKind.PARAMETER for binding in bindings)


def _is_static_value(node: ast.AST, module: Module) -> bool:
    match node:
        case ast.Constant() | ast.Lambda() | ast.FunctionDef() | ast.ClassDef() | ast.alias():
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(_is_static_value(element, module) for element in elements)
        case ast.Dict(values=values):
            return all(_is_static_value(value, module) for value in values)
        case ast.Attribute(attr=attr):
            return attr in NOT_DIFFERENTIATED
        case ast.Call(func=function):
            origins = module.origins(function)
            return bool(origins) and origins <= LEAVES | PARTIAL | {"jax.eval_shape"}
    return False


def is_settled(name: str, scope: Scope, module: Module) -> bool:
    """Whether a name is bound once and for all before the code that reads it runs."""
    found = scope.bindings[name]
    definitions = (BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.IMPORT)
    once = len(found) == 1 or all(_is_none(each) or each.kind in definitions for each in found)
    return once and not any(_is_repeated(binding, scope, module) for binding in found)


def _is_none(binding: Binding) -> bool:
    """Whether a name is bound to None, as where a library is not installed."""
    return isinstance(binding.value, ast.Constant) and binding.value.value is None


def _is_repeated(binding: Binding, scope: Scope, module: Module) -> bool:
    """Whether a name may be bound again and again while its scope lives."""
    if scope.kind is ScopeKind.COMPREHENSION:
        return True
    for node in module.ancestors(binding.node):
        if node is scope.node:
            return False
        if isinstance(node, (*_LOOPS, *_COMPREHENSIONS)):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return True  # another function binds it
    return False


def reads_what_changes(function: FunctionNode, call: ast.expr, module: Module) -> bool:
    """Whether a function reads a variable of one around it that may be bound anew after `call`.

    Those of the module count as settled: they change by import, or by code that runs between executions.
    """
    waiting, seen = [function], set[ast.AST]()
    while waiting:
        current = waiting.pop()
        seen.add(current)
        for binding in _outer_bindings(current, module):
            if _may_come_later(binding, call, module):
                return True
            values = (binding.value, binding.node)
            functions = [each for each in values if isinstance(each, ast.FunctionDef | ast.Lambda)]
            waiting += [each for each in functions if each not in seen]
    return False


def _outer_bindings(function: FunctionNode, module: Module) -> Iterator[Binding]:
    """Where the variables of functions around it that a function reads when it runs are bound."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in (node for part in body for node in ast.walk(part)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            home = module.home(node.id, module.scopes[node])
            if home is None or home is module.root:
                continue
            if function not in (home.node, *module.ancestors(home.node)):
                yield from home.bindings[node.id]


def _may_come_later(binding: Binding, call: ast.expr, module: Module) -> bool:
    """Whether a variable may be bound in this place after a call in the same function."""
    home = binding.scope
    if home.kind is ScopeKind.COMPREHENSION:
        return True
    around = set(module.ancestors(call))
    for node in module.ancestors(binding.node):
        if node is home.node:
            break
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return True  # another function binds it
        if isinstance(node, _LOOPS) and node in around:
            return True
    if binding.kind is BindingKind.PARAMETER or binding.node in around:
        return False
    return getattr(binding.node, "lineno", 0) > call.lineno


def why_not_lasting(site: CallSite, module: Module) -> str | None:
    """Which attribute that callback, spec or options read is set in the same function; None for none."""
    function = module.enclosing_function(site.call)
    if function is None:
        return None
    for root in site.parts:
        for node in ast.walk(root):
            if isinstance(node, ast.Attribute):
                uses = module.attributes.get(node.attr, ())
                stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
                if any(module.enclosing_function(store) is function for store in stores):
                    return f"`{ast.unparse(node)}` is set in the function around it"
    return None


def is_in_loop(statement: ast.stmt, module: Module) -> bool:
    """Whether a statement runs several times while its scope lives."""
    for node in module.ancestors(statement):
        if isinstance(node, _LOOPS):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
    return False
