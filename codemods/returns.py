"""Where a callback's results can be written: the form of each `return`, and what stands around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods import hostlib
from codemods.bodies import BodyReport, Obstacle
from codemods.contexts import is_neutral, lets_exceptions_pass
from codemods.names import FunctionNode, Module
from codemods.plans import ReturnForm, ReturnPlan
from codemods.specs import Spec
from codemods.trees import own_nodes

Block = ast.With | ast.Try | ast.TryStar
_TRIES: Final = (ast.Try, ast.TryStar)
_QUIET_METHODS: Final = frozenset({"astype", "reshape", "copy"})


def own_returns(function: FunctionNode) -> list[ast.Return]:
    """The `return` statements of a function, those of nested functions left out, in source order."""
    if isinstance(function, ast.Lambda):
        return []
    return [node for node in own_nodes(function.body) if isinstance(node, ast.Return)]


def is_generator(function: FunctionNode) -> bool:
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(body))


def plan_returns(
    function: FunctionNode, report: BodyReport, spec: Spec, module: Module
) -> tuple[ReturnPlan, ...] | Obstacle:
    """One plan a `return`, or the obstacle that the statements around one are."""
    plans = []
    for node in own_returns(function):
        form = (
            "bare"
            if spec.kind == "empty" and _is_none(node.value)
            else form_of(node.value, node, report, spec, module)
        )
        placed = _placement(node, function, report, module)
        if isinstance(placed, Obstacle):
            if form != "bare":
                return placed
            placed = None
        may_miss = placed is not None and not all(
            lets_exceptions_pass(item.context_expr, module) for item in _managers(node, placed, module)
        )
        plans.append(ReturnPlan(node, form, placed, may_miss))
    return tuple(plans)


def _managers(node: ast.Return, outermost: Block, module: Module) -> Iterator[ast.withitem]:
    """The context managers from a `return` out to the block behind which its value is written."""
    for parent in module.ancestors(node):
        if isinstance(parent, ast.With):
            yield from parent.items
        if parent is outermost:
            return


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def form_of(
    value: ast.expr | None, key: ast.AST, report: BodyReport, spec: Spec, module: Module
) -> ReturnForm:
    """How a returned value is written; `key` is the return, or the lambda, that the report knows."""
    if value is None or _is_none(value):
        return "store"
    if spec.kind == "leaf":
        known = report.returns.get(key)
        proven = known is not None and known.is_number_like
        return "write" if proven or _is_array_by_form(value) else "store"
    if spec.is_flat and _matches(value, spec) and _are_quiet_arrays(leaves(value), report, module):
        return "leaves"
    return "store"


def _is_one_array(element: ast.expr, report: BodyReport) -> bool:
    return report.element_forms.get(element) in ("array", "number") or _is_array_by_form(element)


def _is_array_by_form(node: ast.expr) -> bool:
    """Whether an expression is arithmetic, or a method that only arrays have."""
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Call(func=ast.Attribute(attr="astype" | "reshape")):
            return True
    return False


def _matches(value: ast.expr, spec: Spec) -> bool:
    """Whether a literal has the spec's kind, length and keys, and no element that is no leaf."""
    match value:
        case ast.Tuple(elts=elements) if spec.kind == "tuple":
            return len(elements) == len(spec.children) and not any(map(_is_no_leaf, elements))
        case ast.List(elts=elements) if spec.kind == "list":
            return len(elements) == len(spec.children) and not any(map(_is_no_leaf, elements))
        case ast.Dict(keys=keys, values=values) if spec.kind == "dict":
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            same = len(names) == len(keys) and sorted(names, key=str) == sorted(spec.keys)
            return same and not any(map(_is_no_leaf, values))
    return False


def _is_no_leaf(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred | ast.Tuple | ast.List | ast.Dict | ast.Set) or _is_none(node)


def leaves(value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Index text and expression of each element of a literal, in written order."""
    if isinstance(value, ast.Dict):
        return [
            (repr(k.value), v)
            for k, v in zip(value.keys, value.values, strict=True)
            if isinstance(k, ast.Constant)
        ]
    assert isinstance(value, ast.Tuple | ast.List)
    return [(str(index), element) for index, element in enumerate(value.elts)]


def _are_quiet_arrays(elements: list[tuple[str, ast.expr]], report: BodyReport, module: Module) -> bool:
    """Whether every element is one array, and no write can come between two evaluations that matter."""
    values = [element for _, element in elements]
    return all(_is_one_array(v, report) for v in values) and all(_is_quiet(v, module) for v in values[1:])


def _is_quiet(node: ast.expr, module: Module) -> bool:
    """Whether evaluating an expression can change nothing that another element reads."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=base, attr=name) if name in hostlib.ARRAY_INQUIRIES:
            return _is_quiet(base, module)
        case ast.Call(func=func, args=args, keywords=keywords):
            if any(isinstance(a, ast.Starred) for a in args) or any(k.arg in (None, "out") for k in keywords):
                return False
            parts = [*args, *(keyword.value for keyword in keywords)]
            quiet = all(_is_quiet(part, module) or bool(module.origins(part)) for part in parts)
            if origins := module.origins(func):
                return quiet and origins <= hostlib.UFUNCS | hostlib.SCALAR_TYPES
            return (
                quiet
                and isinstance(func, ast.Attribute)
                and func.attr in _QUIET_METHODS
                and _is_quiet(func.value, module)
            )
    return False


def _placement(
    node: ast.Return, function: FunctionNode, report: BodyReport, module: Module
) -> Block | Obstacle | None:
    """None to write where the `return` stands, a block to write behind it, or the obstacle.

    A write inside a `try` would meet its handlers and its `finally`, inside a `with` its context. The value
    is kept in a name instead and written behind the block, if nothing else runs in between.
    """
    behind: Block | None = None
    child: ast.AST = node
    for parent in module.ancestors(node):
        if parent is function:
            break
        if isinstance(parent, ast.AsyncWith) or (isinstance(parent, _TRIES) and child in parent.finalbody):
            return _in_block(node, parent)
        if _surrounds(parent, child, module):
            assert isinstance(parent, ast.With | ast.Try | ast.TryStar)
            if not _may_follow(node, parent, function, report, module):
                return _in_block(node, parent)
            behind = parent
        child = parent
    return behind


def _surrounds(parent: ast.AST, child: ast.AST, module: Module) -> bool:
    """Whether a block would notice a write in that part of it."""
    if isinstance(parent, _TRIES):
        return bool(parent.finalbody) or (child in parent.body and bool(parent.handlers))
    return isinstance(parent, ast.With) and not all(is_neutral(i.context_expr, module) for i in parent.items)


def _may_follow(
    node: ast.Return, block: Block, function: FunctionNode, report: BodyReport, module: Module
) -> bool:
    """Whether a block may be left at its end, instead of by the `return`, with the value kept."""
    if block not in report.closed or not _is_tail(node, block, module):
        return False
    if isinstance(block, ast.With) and not all(
        lets_exceptions_pass(i.context_expr, module) for i in block.items
    ):
        return isinstance(function, ast.FunctionDef) and function.body[-1] is block
    return True


def _is_tail(node: ast.Return, block: Block, module: Module) -> bool:
    """Whether nothing in a block runs after the `return`, if it were left out."""
    child: ast.AST = node
    for parent in module.ancestors(node):
        if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
            return False
        if isinstance(parent, _TRIES) and child in parent.body and parent.orelse:
            return False
        if isinstance(child, ast.stmt) and not any(
            isinstance(part, list) and part and part[-1] is child for _, part in ast.iter_fields(parent)
        ):
            return False
        if parent is block:
            return True
        child = parent
    return False


def _in_block(node: ast.Return, block: ast.AST) -> Obstacle:
    what = "with" if isinstance(block, ast.With | ast.AsyncWith) else "try"
    return Obstacle(
        "BC106",
        node,
        f"A `return` stands inside a `{what}`, where a write would mean something else.",
        "Keep the result in a name and return it after the block.",
    )
