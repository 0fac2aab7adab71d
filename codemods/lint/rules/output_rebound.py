"""BCL003: `out = value` gives a name to the value and writes nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule


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
                yield _finding(statement, out, callback)


def _finding(statement: ast.stmt, output: str, callback: Callback) -> Finding:
    what = "binds the name" if output.isidentifier() else "puts another object into"
    return Finding(
        statement,
        f"This {what} `{output}`; the output of `{callback.name}` is not written.",
        f"Write `{output}[...] = ` and the value.",
        callback,
    )


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
