"""Functions of the same module that a callback hands its buffers to, and what surely runs in them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from codemods.bodies.effects import owner_of_self
from codemods.classes import method_of
from codemods.lint.callbacks import Callback
from codemods.lint.views import Memory, Views
from codemods.names import BindingKind
from codemods.returns import is_generator


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Helper:
    """One call of such a function.

    Attributes:
      function: its definition.
      implicit: the parameter that is the object of a method.
      given: what each parameter surely gets.
    """

    function: ast.FunctionDef
    implicit: str | None
    given: Mapping[str, ast.expr]

    @property
    def nodes(self) -> Iterator[ast.AST]:
        """What runs, whatever the arguments are."""
        for statement in _sure(self.function.body):
            yield from _evaluated(statement)

    def memory(self, views: Views) -> dict[str, Memory]:
        """The parameters that are buffers or views, by what the callback gives for them."""
        found = {name: views.of(value) for name, value in self.given.items()}
        return {name: memory for name, memory in found.items() if memory is not None}


def handed_on(node: ast.AST, views: Views, callback: Callback) -> Iterator[tuple[Helper, Views]]:
    """The function that a call hands buffers to, if it does, with what its names are."""
    helper = helper_of(node, callback) if isinstance(node, ast.Call) else None
    if helper is not None and (given := helper.memory(views)):
        yield helper, Views(callback, helper.function, given)


def is_attempted(node: ast.AST, callback: Callback) -> bool:
    """Whether the callback may be ready for an error that a node raises."""
    return any(
        isinstance(around, ast.Try | ast.TryStar | ast.With)
        for around in callback.module.ancestors(node)
        if callback.function in callback.module.ancestors(around)
    )


def helper_of(call: ast.Call, callback: Callback) -> Helper | None:
    """The function of the callback's module that a call runs; None where it may be another."""
    found = _called(call.func, callback)
    if found is None:
        return None
    function, implicit = found
    arguments = function.args
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    is_shown = len(named) == len(call.keywords) and not any(isinstance(a, ast.Starred) for a in call.args)
    is_plain = not (function.decorator_list or arguments.vararg or arguments.kwarg or is_generator(function))
    if not is_shown or not is_plain:
        return None
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    given = dict(zip(positional[implicit:], call.args, strict=False)) | named
    return Helper(function, positional[0] if implicit else None, given)


def _called(function: ast.expr, callback: Callback) -> tuple[ast.FunctionDef, int] | None:
    """A function's definition, and how many parameters a call of it does not show."""
    module = callback.module
    match function:
        case ast.Name():
            binding = module.sole_binding(function)
            if binding is not None and binding.kind is BindingKind.FUNCTION:
                return (binding.node, 0) if isinstance(binding.node, ast.FunctionDef) else None
        case ast.Attribute(value=ast.Name() as base, attr=name):
            owner = owner_of_self(base, module)
            found = method_of(owner, name, module) if owner is not None else None
            if found is not None and owner is not None and not callback.overridden(owner, name):
                return found[1], 1
    return None


def _sure(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.With(body=body):
                yield from _sure(body)
                if not _is_plain(body[-1]):
                    return
            case _ if _is_plain(statement):
                yield statement
            case ast.FunctionDef() | ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.Pass():
                pass
            case _:
                return


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a statement that are evaluated, whatever the values are."""
    yield node
    match node:
        case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
            yield from _evaluated(first)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _evaluated(node.generators[0].iter)
        case ast.Lambda():
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _evaluated(child)


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)
