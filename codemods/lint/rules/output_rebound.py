"""BCL003: `out = value` gives a name to the value and writes nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.copies import numpy_at
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.names import Module


@rule("BCL003")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if callback.out is not None and isinstance(callback.function, ast.FunctionDef):
            yield from _of(callback, callback.function, callback.out.arg)


def _of(callback: Callback, function: ast.FunctionDef, out: str) -> Iterator[Finding]:
    module = callback.module
    scope = module.opened[function]
    for statement in (
        node for each in function.body for node in ast.walk(each) if isinstance(node, ast.stmt)
    ):
        if module.scopes[statement] is not scope:
            continue
        for target, value in _bound(statement):
            if value is not None and _mentions(value, out):
                continue
            if isinstance(target, ast.Subscript):
                if callback.spec.kind in ("tuple", "list", "dict") and _is_slot(target, out):
                    yield _finding(statement, ast.unparse(target), callback)
            elif target.id == out and not _is_used_before(function, statement, out):
                yield _finding(statement, out, callback, _written(statement, callback, function))


def _finding(
    statement: ast.stmt, output: str, callback: Callback, rewording: Rewording | None = None
) -> Finding:
    what = "binds the name" if output.isidentifier() else "puts another object into"
    return Finding(
        statement,
        f"This {what} `{output}`; the output of `{callback.name}` is not written.",
        f"Write `{output}[...] = ` and the value.",
        callback,
        rewording=rewording,
    )


def _written(statement: ast.stmt, callback: Callback, function: ast.FunctionDef) -> Rewording | None:
    """The write that an assignment was meant to be; None where the name may be meant to be another one's."""
    out, numpy = callback.out, numpy_at(statement, callback)
    if (
        out is None
        or callback.spec.kind != "leaf"
        or callback.home is not None
        or len(callback.libraries) > 1
    ):
        return None
    if "jax" in callback.libraries and numpy is None:
        return None
    reads = [
        use for use in callback.module.uses.get(out.arg, ()) if _is_within(use, function, callback.module)
    ]
    if not all(_is_on_another_way(use, statement, callback.module) for use in reads):
        return None
    text = f"{numpy}.asarray({out.arg})[...]" if "jax" in callback.libraries else f"{out.arg}[...]"
    match statement:
        case ast.Assign(targets=[ast.Name() as target]):
            return Rewording(target, text)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation):
            return Rewording(target, text, until=annotation)
    return None


def _is_within(node: ast.AST, function: ast.FunctionDef, module: Module) -> bool:
    return any(each is function for each in module.ancestors(node))


def _is_on_another_way(use: ast.Name, statement: ast.stmt, module: Module) -> bool:
    """Whether control that comes to `statement` does not come to `use`: they are in two branches."""
    around: dict[ast.AST, ast.AST] = {}
    child: ast.AST = statement
    for each in module.ancestors(statement):
        around[each], child = child, each
    child = use
    for each in module.ancestors(use):
        if each in around:
            loops = (ast.For, ast.AsyncFor, ast.While)
            looped = any(isinstance(outer, loops) for outer in module.ancestors(each) if outer in around)
            return isinstance(each, ast.If) and not looped and _is_orelse(each, around[each], child)
        child = each
    return False


def _is_orelse(node: ast.If, first: ast.AST, second: ast.AST) -> bool:
    return (first in node.body and second in node.orelse) or (first in node.orelse and second in node.body)


def _bound(statement: ast.stmt) -> Iterator[tuple[ast.Name | ast.Subscript, ast.expr | None]]:
    """The names and elements that a statement binds, and what to."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    for target in targets:
        elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for element in elements:
            if isinstance(element, ast.Name | ast.Subscript):
                yield element, statement.value  # type: ignore[attr-defined]


def _is_slot(target: ast.Subscript, out: str) -> bool:
    """Whether a target is a place in the container of the outputs."""
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
            return name == out and key is not ...
    return False


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _is_used_before(function: ast.FunctionDef, statement: ast.stmt, out: str) -> bool:
    """Whether the output is used further up: written, or given another name under which it will be."""
    return any(
        isinstance(node, ast.Name) and node.id == out and node.lineno < statement.lineno
        for inner in function.body
        for node in ast.walk(inner)
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )
