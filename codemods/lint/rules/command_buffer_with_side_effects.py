"""BCL011: what a command buffer has recorded is replayed without running Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.lint.callbacks import Callback
from codemods.lint.registry import Finding, Subject, rule
from codemods.names import Module, Scope

_PRINTING = frozenset({"print", "open", "input"})
_ACTING = ("logging.", "warnings.warn", "sys.stdout.", "sys.stderr.", "random.", "numpy.random.")
# Functions of those modules that make something, or only ask.
_QUIET = ("logging.getLogger", "random.Random", "numpy.random.default_rng", "numpy.random.Generator",
          "numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.RandomState")  # fmt: skip
_CHANGING = frozenset({"append", "extend", "add", "update", "insert", "write", "put", "setdefault", "pop"})


@rule("BCL011")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        asked = any(_is_true(call.options.get("command_buffer_compatible")) for call, _ in callback.calls)
        if asked and (node := next(_effects(callback), None)) is not None:
            yield Finding(
                node,
                f"`{callback.name}` is said to fit into a command buffer, which replays what it did on the "
                "device; this effect in Python happens once.",
                "Drop `command_buffer_compatible=True`, or the effect.",
                callback,
            )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _effects(callback: Callback) -> Iterator[ast.AST]:
    """Where a body prints, logs, or changes what is not its own."""
    scope = callback.module.opened[callback.function]
    body = callback.function.body
    for statement in [body] if isinstance(body, ast.expr) else body:
        for node in ast.walk(statement):
            if _is_effect(node, callback.module, scope):
                yield node


def _is_effect(node: ast.AST, module: Module, scope: Scope) -> bool:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name in scope.global_names | scope.nonlocal_names
        case ast.Attribute(ctx=ast.Store(), value=ast.Name(id=name)):
            return _is_outside(name, module, scope)
        case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=name)):
            return _is_outside(name, module, scope) and name not in scope.bindings
        case ast.Call(func=ast.Name(id=name) as function) if name in _PRINTING:
            return not module.bindings(function)
        case ast.Call(func=function) if origins := module.origins(function):
            return any(origin.startswith(_ACTING) and not origin.startswith(_QUIET) for origin in origins)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return method in _CHANGING and name not in scope.bindings and _is_outside(name, module, scope)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name)), attr=method)):
            return method in _CHANGING and _is_outside(name, module, scope)
    return False


def _is_outside(name: str, module: Module, scope: Scope) -> bool:
    """Whether a name means something that was there before the call: a variable outside, or `self`."""
    home = module.home(name, scope)
    if home is not scope:
        return home is not None
    first = next(iter([*scope.node.args.posonlyargs, *scope.node.args.args]), None)  # type: ignore[attr-defined]
    return first is not None and first.arg == name and name in ("self", "cls")
