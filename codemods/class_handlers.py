"""What may change the methods of a class behind its back: decorators, metaclasses and hooks of the project.

Those of libraries hand on what a method is called with.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from typing import Final

from codemods.classes import lookup_order
from codemods.definitions import Library
from codemods.names import Module
from codemods.trees import own_nodes
from codemods.wrappers import Imported, definition_of, returned_function

# What reads or writes attributes by computed names.
_BY_NAME: Final = frozenset({"setattr", "delattr", "getattr", "vars", "dir", "type"})


@dataclasses.dataclass(frozen=True, eq=False)
class ClassHandlers:
    """What handles the classes of one module, looked up once for all of them."""

    module: Module
    imported: Imported

    def of(self, owner: ast.ClassDef) -> str | None:
        """What may put something else in the place of a method, or of the class; None for nothing."""
        for node in owner.decorator_list:
            if not _leaves_class(node, self.module, self.imported):
                return f"the decorator `@{ast.unparse(node)}`"
        return next((why for found, why in self._suspects if self._may_share_objects(owner, found)), None)

    def _may_share_objects(self, owner: ast.ClassDef, other: ast.ClassDef) -> bool:
        """Whether an object may have both classes, as far as those of the module say."""
        return any({owner, other} <= set(order) for order in self._orders)

    @functools.cached_property
    def _orders(self) -> list[list[ast.ClassDef]]:
        return [lookup_order(c, self.module) for c in self.module.opened if isinstance(c, ast.ClassDef)]

    @functools.cached_property
    def _suspects(self) -> list[tuple[ast.ClassDef, str]]:
        """The classes that change how methods are found, or which, with what does so."""
        classes = [node for node in self.module.opened if isinstance(node, ast.ClassDef)]
        return [(found, why) for found in classes if (why := self._hook_of(found)) is not None]

    def _hook_of(self, found: ast.ClassDef) -> str | None:
        bindings = self.module.opened[found].bindings
        if "__getattribute__" in bindings:
            return f"`{found.name}.__getattribute__`"
        if any(_uses_computed_names(b.node) for b in bindings.get("__init_subclass__", ())):
            return f"`{found.name}.__init_subclass__`"
        for keyword in found.keywords:
            if keyword.arg == "metaclass" and not _is_of_library(keyword.value, self.module, self.imported):
                return f"the metaclass `{ast.unparse(keyword.value)}`"
        return None


def _is_of_library(node: ast.expr, module: Module, imported: Imported) -> bool:
    origins = module.origins(node)
    return bool(origins) and isinstance(imported(origins), Library)


def _leaves_class(node: ast.expr, module: Module, imported: Imported) -> bool:
    """Whether a decorator gives a class back as it is."""
    named = node.func if isinstance(node, ast.Call) else node
    if _is_of_library(named, module, imported):
        return True
    found = definition_of(named, module, imported)
    if found is None:
        return False
    decorator, home = found
    inner = returned_function(decorator) if isinstance(node, ast.Call) else decorator
    return inner is not None and _gives_back(inner, home)


def _gives_back(decorator: ast.FunctionDef, module: Module) -> bool:
    """Whether a function only ever returns its one parameter, and uses no computed names."""
    taken = [*decorator.args.posonlyargs, *decorator.args.args]
    if len(taken) != 1 or decorator.decorator_list or _uses_computed_names(decorator):
        return False
    if len(module.opened[decorator].bindings[taken[0].arg]) != 1:
        return False
    returns = [node for node in own_nodes(decorator.body) if isinstance(node, ast.Return)]
    given = [node.value.id for node in returns if isinstance(node.value, ast.Name)]
    return bool(returns) and given == [taken[0].arg] * len(returns)


def _uses_computed_names(function: ast.AST) -> bool:
    """Whether a function may get at attributes without naming them, or calls something that may."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(attr="__dict__" | "getmembers" | "getmembers_static"):
                return True
            case ast.Call(func=ast.Name(id=name)) if name in _BY_NAME:
                return True
    return False
