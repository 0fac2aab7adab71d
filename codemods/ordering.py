"""Whether a call's parts may change their order: callback, spec and options come first afterwards."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Final

from codemods.names import Module
from codemods.sites import CallSite
from codemods.trees import walk

_OF_ARRAYS: Final = frozenset({"shape", "dtype", "ndim", "size"})
_CONSTRUCTORS: Final = ("jax.ShapeDtypeStruct", "jax.sharding.", "functools.partial")


def why_not_reordered(site: CallSite, module: Module) -> str | None:
    """Which part would be evaluated earlier than it stands, although that may be seen; None when none is."""
    after = [*site.parts, *site.given]
    before = sorted(range(len(after)), key=lambda place: (after[place].lineno, after[place].col_offset))
    # Nearly all parts keep their order, of which there may be many.
    least = list(itertools.accumulate(reversed(before), min))[::-1]
    for index, early in enumerate(before[:-1]):
        if least[index + 1] > early:
            continue
        for late in before[index + 1 :]:
            if late < early and not _may_swap(after[early], after[late], module):
                return (
                    f"`{ast.unparse(after[late])}` would be evaluated before `{ast.unparse(after[early])}`."
                )
    return None


def why_not_behind_arguments(site: CallSite, parts: Sequence[ast.expr], module: Module) -> str | None:
    """Which of some parts, that but compute a value, cannot do so behind all arguments; None when all can."""
    for argument in site.given:
        for part in parts:
            early = (part.lineno, part.col_offset) < (argument.lineno, argument.col_offset)
            if early and not _may_wait(part, argument, module):
                return f"`{ast.unparse(argument)}` would be evaluated before `{ast.unparse(part)}`."
    return None


def _may_wait(part: ast.expr, argument: ast.expr, module: Module) -> bool:
    """Whether what computes a value may do so behind an argument."""
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in walk(argument)):
        return False
    return not _calls_unknown(argument, module) or (
        _is_inert(part, module) and not _reads_state(part, module, _OF_ARRAYS)
    )


def _may_swap(first: ast.expr, second: ast.expr, module: Module) -> bool:
    binds = any(isinstance(n, ast.NamedExpr | ast.Await) for part in (first, second) for n in walk(part))
    if binds or not (_is_inert(first, module) or _is_inert(second, module)):
        return False
    acts = any(_calls_unknown(part, module) for part in (first, second))
    return not acts or not any(
        _reads_state(part, module) for part in (first, second) if _is_inert(part, module)
    )


def _calls_unknown(node: ast.expr, module: Module) -> bool:
    """Whether an expression calls code that may set attributes or global names."""
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    return not all(
        any(
            origin.startswith(("jax.", "numpy.", "scipy.", "functools.")) for origin in module.origins(c.func)
        )
        for c in calls
    )


def _reads_state(node: ast.expr, module: Module, fixed: frozenset[str] = frozenset()) -> bool:
    """Whether an inert expression reads what a call could change: an attribute, or a name bound twice.

    The attributes that are `fixed` do not change.
    """
    for part in walk(node):
        if isinstance(part, ast.Attribute) and part.attr not in fixed and not module.origins(part):
            return True
        if isinstance(part, ast.Name):
            home = module.home(part.id, module.scopes.get(part, module.root))
            if home is module.root and len(home.bindings[part.id]) > 1:
                return True
    return False


def _is_inert(node: ast.expr, module: Module) -> bool:
    """Whether evaluating an expression neither does anything nor depends on when it is done."""
    match node:
        case ast.Constant() | ast.Name() | ast.Lambda():
            return True
        case ast.Attribute(value=value) | ast.Starred(value=value):
            return _is_inert(value, module)
        case ast.UnaryOp(operand=operand):
            return _is_inert(operand, module)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return all(_is_inert(part, module) for part in (test, body, orelse))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(_is_inert(element, module) for element in elements)
        case ast.Call(args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
            known = any(origin.startswith(_CONSTRUCTORS) for origin in module.origins(node.func))
            return known and all(_is_inert(part, module) for part in parts)
    return False
