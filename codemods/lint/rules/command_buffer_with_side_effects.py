"""BCL011: what a command buffer has recorded is replayed without running Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods.lint.registry import Finding, Subject, rule
from codemods.names import Module, Scope

_PRINTING: Final = frozenset({"print", "open", "input"})
_ACTING: Final = ("logging.", "warnings.warn", "sys.stdout.", "sys.stderr.", "random.", "numpy.random.")
# Functions of those modules that make something, or only ask.
_QUIET: Final = ("logging.getLogger", "random.Random", "numpy.random.default_rng", "numpy.random.Generator",
          "numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.RandomState")  # fmt: skip
_ACTING_ALONE: Final = frozenset(
    {"numpy.save", "numpy.savez", "numpy.savetxt", "pickle.dump", "json.dump", "os.system", "os.remove",
     "os.makedirs", "time.time", "time.perf_counter", "time.monotonic", "time.sleep"}
)  # fmt: skip
_LOGGING: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_MOST_FUNCTIONS: Final = 20
_CHANGING: Final = frozenset(
    {"append", "extend", "add", "update", "insert", "write", "put", "setdefault", "pop"}
)


@rule("BCL011")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        asked = any(_is_true(call.options.get("command_buffer_compatible")) for call, _ in callback.calls)
        effects = _effects(callback.function, callback.module, set())
        if asked and (node := next(effects, None)) is not None:
            yield Finding(
                node,
                f"`{callback.name}` is said to fit into a command buffer, which replays what it did on the "
                "device; this effect in Python happens once.",
                "Drop `command_buffer_compatible=True`, or the effect.",
                callback,
            )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _effects(function: ast.FunctionDef | ast.Lambda, module: Module, seen: set[ast.AST]) -> Iterator[ast.AST]:
    """Where a body prints, logs, or changes what is not its own, or calls a function that does."""
    for node in _nodes(function, module):
        called = _called(node, module)
        if _is_effect(node, module, module.opened[function]) or (
            called is not None and _acts(called, module, seen)
        ):
            yield node


def _acts(function: ast.FunctionDef, module: Module, seen: set[ast.AST]) -> bool:
    """Whether a function of the module has such an effect; each is looked into once."""
    if function in seen or len(seen) >= _MOST_FUNCTIONS:
        return False
    seen.add(function)
    return next(_effects(function, module, seen), None) is not None


def _called(node: ast.AST, module: Module) -> ast.FunctionDef | None:
    """The function at the top of the module that a call calls, as it is written there."""
    binding = (
        module.sole_binding(node.func)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        else None
    )
    function = binding.node if binding is not None and binding.scope is module.root else None
    return function if isinstance(function, ast.FunctionDef) and not function.decorator_list else None


def _nodes(function: ast.FunctionDef | ast.Lambda, module: Module) -> Iterator[ast.AST]:
    """What stands in a function, but for the functions in it that nothing in the file uses."""
    left: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*function.body]
    while left:
        node = left.pop(0)
        if isinstance(node, ast.FunctionDef) and node.name not in module.uses:
            continue
        yield node
        left[:0] = ast.iter_child_nodes(node)


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
            return bool(origins & _ACTING_ALONE) or any(
                origin.startswith(_ACTING) and not origin.startswith(_QUIET) for origin in origins
            )
        case ast.Call(func=ast.Attribute(value=ast.Name() as logger, attr=method)) if (
            method in _LOGGING and _is_logger(logger, module)
        ):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return method in _CHANGING and name not in scope.bindings and _is_outside(name, module, scope)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name)), attr=method)):
            return method in _CHANGING and _is_outside(name, module, scope)
    return False


def _is_logger(name: ast.Name, module: Module) -> bool:
    binding = module.sole_binding(name)
    value = binding.value if binding is not None else None
    return isinstance(value, ast.Call) and module.origin(value.func) == "logging.getLogger"


def _is_outside(name: str, module: Module, scope: Scope) -> bool:
    """Whether a name means something that was there before the call: a variable outside, or `self`."""
    home = module.home(name, scope)
    if home is not scope:
        return home is not None
    first = next(iter([*scope.node.args.posonlyargs, *scope.node.args.args]), None)  # type: ignore[attr-defined]
    return first is not None and first.arg == name and name in ("self", "cls")
