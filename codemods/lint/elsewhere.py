"""The callbacks that classes and factories of other modules of the project give."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from codemods.classes import method_of
from codemods.definitions import Definition, Definitions
from codemods.names import BindingKind, Module
from codemods.project import Project
from codemods.resolve import Resolved
from codemods.returns import own_returns
from codemods.wrappers import binding_decorator

# Modules that a class may be handed on through.
_MOST_LINKS: Final = 5


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Class:
    file: str
    module: Module
    node: ast.ClassDef


class Elsewhere:
    """Looks into the modules from which a file takes what makes its callbacks."""

    def __init__(self, module: Module, path: Path, project: Project) -> None:
        self._module, self._path, self._project = module, path, project
        self._definitions = Definitions(project)

    def callback(self, expression: ast.expr) -> Resolved | None:
        """What a callback expression means, where another module has the class or the factory of it."""
        match expression:
            case ast.Attribute(value=value, attr=name):
                if (owner := self._class(value)) is not None:
                    return self._method(owner, name, expression, through_class=True)
                made = self._made(value)
                owner = self._class(made.func) if made is not None else None
                return self._method(owner, name, expression) if owner is not None else None
            case ast.Name() | ast.Call():
                made = self._made(expression)
                if made is None:
                    return None
                owner = self._class(made.func)
                if owner is not None:
                    return self._method(owner, "__call__", expression)
                return self._given_by(made, expression)
        return None

    def _made(self, node: ast.expr) -> ast.Call | None:
        """The call that makes an object, in place or for the one assignment of a name."""
        if isinstance(node, ast.Name):
            binding = self._module.sole_binding(node)
            value = binding.value if binding is not None else None
            return value if isinstance(value, ast.Call) else None
        return node if isinstance(node, ast.Call) else None

    def _method(
        self, owner: _Class, name: str, expression: ast.expr, *, through_class: bool = False
    ) -> Resolved | None:
        found = method_of(owner.node, name, owner.module)
        if found is None or any(_is_assigned(name, module) for module in (owner.module, self._module)):
            return None
        function, kind = found[1], binding_decorator(found[1])
        implicit = int(kind == "classmethod" or (kind is None and not through_class))
        home = Definition(owner.file, owner.module, function)
        return Resolved(function, expression, owner=found[0], implicit=implicit, home=home)

    def _given_by(self, call: ast.Call, expression: ast.expr) -> Resolved | None:
        """The one function that a factory returns."""
        origins = self._module.origins(call.func)
        found = self._definitions.follow(origins, self._path) if origins else None
        if not isinstance(found, Definition) or not isinstance(found.function, ast.FunctionDef):
            return None
        if found.function.decorator_list:
            return None
        functions = [*_returned(found.function, found.module)]
        if len(functions) != 1 or functions[0] is None:
            return None
        home = Definition(found.file, found.module, functions[0])
        return Resolved(functions[0], expression, home=home)

    def _class(self, node: ast.expr) -> _Class | None:
        """The class of another module that an expression is, of which a call makes an instance."""
        origin = self._module.origin(node)
        found = self._follow(origin, self._path, _MOST_LINKS) if origin is not None else None
        is_usual = found is not None and not found.node.keywords and not found.node.decorator_list
        return found if is_usual else None

    def _follow(self, origin: str, path: Path, links: int) -> _Class | None:
        dotted, _, name = origin.rpartition(".")
        if not dotted.strip("."):  # `from . import name`, or a name without a module
            dotted = origin[: len(origin) - len(name)]
        files = self._project.module_files(dotted, path) if dotted and links else []
        module = self._project.module(files[0]) if len(files) == 1 else None
        bindings = module.root.bindings.get(name, []) if module is not None else []
        if module is None or len(bindings) != 1:
            return None
        node, handed_on = bindings[0].node, bindings[0].origin
        if bindings[0].kind is BindingKind.IMPORT and handed_on is not None:
            return self._follow(handed_on, Path(files[0]), links - 1)
        return _Class(files[0], module, node) if isinstance(node, ast.ClassDef) else None


def _is_assigned(name: str, module: Module) -> bool:
    """Whether an attribute of that name is assigned to, which may stand in front of the method."""
    return any(not isinstance(each.ctx, ast.Load) for each in module.attributes.get(name, ()))


def _returned(factory: ast.FunctionDef, module: Module) -> Iterator[ast.FunctionDef | ast.Lambda | None]:
    """What each `return` of a factory gives: a function that it defines, or None for anything else."""
    for each in own_returns(factory):
        match each.value:
            case ast.Lambda() as function:
                yield function
            case ast.Name() as name:
                binding = module.sole_binding(name)
                node = binding.node if binding is not None else None
                yield node if isinstance(node, ast.FunctionDef) else None
            case _:
                yield None
