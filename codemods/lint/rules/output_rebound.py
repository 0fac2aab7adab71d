"""BCL003: `out = value` gives a name to the value and writes nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.copies import numpy_at
from codemods.lint.outputs import is_only_read
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.lint.views import VIEWING
from codemods.names import Module
from codemods.trees import mentions


@rule("BCL003")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if callback.out is not None and isinstance(callback.function, ast.FunctionDef):
            yield from _of(callback, callback.function, callback.out.arg)


def _of(callback: Callback, function: ast.FunctionDef, out: str) -> Iterator[Finding]:
    module = callback.module
    scope = module.opened[function]
    outputs = _names_of_outputs(callback, function, out)
    for node in (inner for each in function.body for inner in ast.walk(each)):
        if module.scopes.get(node) is not scope or node in outputs.values():
            continue
        for target, value in _bound(node):
            if isinstance(target, ast.Subscript):
                is_slot = callback.spec.kind in ("tuple", "list", "dict") and _is_slot(target, out)
                if is_slot and (value is None or not mentions(value, out)):
                    yield _finding(node, ast.unparse(target), callback)
            elif (
                target.id in outputs
                and not _keeps(value, target.id, callback, out)
                and not _is_used_before(function, node, target.id, outputs[target.id])
                and not _is_used_around(node, target.id, module)
            ):
                rewording = _written(node, callback, function) if target.id == out else None
                yield _finding(node, target.id, callback, rewording)


def _names_of_outputs(callback: Callback, function: ast.FunctionDef, out: str) -> dict[str, ast.stmt | None]:
    """The names that outputs have, with the statement that gives each one: unpacked, or the one view."""
    found: dict[str, ast.stmt | None] = {out: None}
    module = callback.module
    scope = module.opened[function]
    mentions = [use for use in module.uses.get(out, ()) if _is_within(use, function, module)]
    for statement in function.body if len(mentions) == 1 else []:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=name)) if name == out:
                if callback.spec.is_flat and callback.spec.kind != "dict":
                    found |= {each.id: statement for each in targets if isinstance(each, ast.Name)}
            case ast.Assign(
                targets=[ast.Name(id=view)],
                value=ast.Call(func=viewing, args=[ast.Name(id=name)], keywords=[]),
            ) if name == out and callback.spec.kind == "leaf":
                if module.origins(viewing) & VIEWING:
                    found[view] = statement
    return {name: given for name, given in found.items() if name in scope.bindings}


def _keeps(value: ast.expr | None, name: str, callback: Callback, out: str) -> bool:
    """Whether what a name is bound to may still be the output, or a view of it."""
    if value is None:
        return False
    is_array = name != out or callback.spec.kind == "leaf"
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and not is_only_read(node, callback.module, is_array=is_array)
        for node in ast.walk(value)
    )


def _finding(
    statement: ast.AST, output: str, callback: Callback, rewording: Rewording | None = None
) -> Finding:
    what = "binds the name" if output.isidentifier() else "puts another object into"
    return Finding(
        statement,
        f"This {what} `{output}`; the output of `{callback.name}` is not written.",
        f"Write `{output}[...] = ` and the value.",
        callback,
        rewording=rewording,
    )


def _written(statement: ast.AST, callback: Callback, function: ast.FunctionDef) -> Rewording | None:
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


def _is_on_another_way(use: ast.Name, statement: ast.AST, module: Module) -> bool:
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


def _bound(node: ast.AST) -> Iterator[tuple[ast.Name | ast.Subscript, ast.expr | None]]:
    """The names and elements that a statement or expression binds, and what to, if that is an expression."""
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    match node:
        case ast.Assign():
            targets, value = node.targets, node.value
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            targets = [target]
        case ast.NamedExpr(target=target, value=value):
            targets = [target]
        case ast.For(target=target, iter=value):
            targets = [target]
    for target in targets:
        elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for element in elements:
            if isinstance(element, ast.Name | ast.Subscript):
                yield element, value


def _is_slot(target: ast.Subscript, out: str) -> bool:
    """Whether a target is a place in the container of the outputs."""
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
            return name == out and key is not ...
    return False


def _is_used_before(function: ast.FunctionDef, node: ast.AST, name: str, given: ast.stmt | None) -> bool:
    """Whether the output is used further up: written, or given another name under which it will be.

    What stands before the statement that gives it the name is about another object.
    """
    first = given.end_lineno or given.lineno if given is not None else 0
    line = getattr(node, "lineno", 0)
    return (given is not None and line <= first) or any(
        isinstance(inner, ast.Name) and inner.id == name and first < inner.lineno < line
        for each in function.body
        for inner in ast.walk(each)
        if not (isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store))
    )


def _is_used_around(node: ast.AST, name: str, module: Module) -> bool:
    """Whether a loop around it uses the output, perhaps in a run before."""
    return any(
        isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Load)
        for around in module.ancestors(node)
        if isinstance(around, ast.For | ast.AsyncFor | ast.While)
        for inner in ast.walk(around)
    )
