"""What a module does with names that it computes: looks them up, or lists all that a scope or a class has."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator
from typing import Final

from codemods.bodies.effects import is_class_itself, owner_of
from codemods.classes import lookup_order
from codemods.names import Module, Scope

_NAMESPACES: Final = frozenset({"globals", "locals", "vars", "dir"})
_LOOKUPS: Final = frozenset({"get", "pop", "setdefault", "update", "__getitem__"})
_BY_NAME: Final = frozenset({"operator.attrgetter", "operator.methodcaller"})
_MEMBERS: Final = frozenset({"inspect.getmembers", "inspect.getmembers_static"})
_PERCENT: Final = re.compile(r"%(?:\(\w*\))?[-+ #0-9.*]*[a-zA-Z]")
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_ANY: Final = ".*"


@dataclasses.dataclass(frozen=True, eq=False)
class Reflection:
    """The computed names of one module, read when first asked for."""

    module: Module

    def looks_up(self, name: str, *, is_attribute: bool) -> bool:
        """Whether a name that is computed may be `name`: of an attribute, or of a module's own."""
        patterns = self._attributes if is_attribute else self._globals
        return any(re.fullmatch(pattern, name) for pattern in patterns)

    def lists(self, scope: Scope) -> ast.expr | None:
        """The call that lists the names which `scope` binds, those of a class among them."""
        if isinstance(scope.node, ast.ClassDef):
            return next((node for node in self._members if self._may_list(node, scope.node)), None)
        return next((call for call in self._listings if self._home(call) is scope), None)

    @functools.cached_property
    def _calls(self) -> list[ast.Call]:
        return [node for node in self.module.parents if isinstance(node, ast.Call)]

    # Lookups.

    @functools.cached_property
    def _attributes(self) -> frozenset[str]:
        return frozenset(self._pattern(name) for call in self._calls for name in self._attribute_names(call))

    def _attribute_names(self, call: ast.Call) -> Iterator[ast.expr]:
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[base, name, *_]):
                if not self.module.origins(base) and not isinstance(name, ast.Constant):
                    yield name
            case ast.Call(func=function, args=[name, *_]) if not isinstance(name, ast.Constant):
                if (origins := self.module.origins(function)) and origins <= _BY_NAME:
                    yield name

    @functools.cached_property
    def _globals(self) -> frozenset[str]:
        found = [self._name_looked_up(call) for call in self._calls if self._is_namespace(call)]
        for node in self.module.parents:
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[base, name, *_]) if self._is_module(base):
                    found.append(name)
        return frozenset(self._pattern(name) for name in found if name is not None)

    def _is_module(self, node: ast.expr) -> bool:
        """Whether an expression is a module that is looked up by its name."""
        match node:
            case ast.Subscript(value=base):
                return self.module.origins(base) == {"sys.modules"}
            case ast.Call(func=function):
                return self.module.origins(function) == {"importlib.import_module"}
        return False

    def _name_looked_up(self, namespace: ast.Call) -> ast.expr | None:
        match parent := self.module.parents[namespace]:
            case ast.Subscript(value=base, slice=name) if base is namespace:
                return name
            case ast.Attribute(attr=method) if method in _LOOKUPS:
                call = self.module.parents[parent]
                return call.args[0] if isinstance(call, ast.Call) and call.args else None
        return None

    def _pattern(self, node: ast.expr, depth: int = 0) -> str:
        """A regular expression of the texts that an expression may have."""
        match node:
            case ast.Constant(value=str(text)):
                return re.escape(text)
            case ast.JoinedStr(values=values):
                return "".join(map(self._pattern, values))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._pattern(left) + self._pattern(right)
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
                return _ANY.join(map(re.escape, _PERCENT.split(text)))
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                return _ANY.join(map(re.escape, _BRACES.split(text)))
            case ast.Name() if depth < 4 and (binding := self.module.sole_binding(node)) and binding.value:
                return self._pattern(binding.value, depth + 1)
        return _ANY

    # Listings.

    @functools.cached_property
    def _listings(self) -> list[ast.Call]:
        return [call for call in self._calls if self._is_namespace(call) and not self._is_one_name(call)]

    def _is_namespace(self, call: ast.Call) -> bool:
        """Whether a call gives the names of the scope that it stands in, or of the module."""
        function = call.func
        return (
            isinstance(function, ast.Name)
            and function.id in _NAMESPACES
            and not call.args
            and not self.module.bindings(function)
        )

    def _is_one_name(self, namespace: ast.Call) -> bool:
        """Whether no more than one name is taken from a namespace, or put there."""
        parent = self.module.parents[namespace]
        if isinstance(parent, ast.Compare):
            return namespace in parent.comparators
        if isinstance(parent, ast.Attribute):
            return parent.attr in _LOOKUPS
        return isinstance(parent, ast.Subscript) and parent.value is namespace

    def _home(self, namespace: ast.Call) -> Scope:
        assert isinstance(namespace.func, ast.Name)
        if namespace.func.id == "globals":
            return self.module.root
        scopes = self.module.scopes[namespace].enclosing()
        return next(
            (s for s in scopes if s.is_function or isinstance(s.node, ast.ClassDef)), self.module.root
        )

    @functools.cached_property
    def _members(self) -> list[ast.expr]:
        """What is asked for all of its attributes."""
        found = [attribute.value for attribute in self.module.attributes.get("__dict__", ())]
        for call in self._calls:
            match call:
                case ast.Call(func=ast.Name(id="dir" | "vars"), args=[base]):
                    found.append(base)
                case ast.Call(func=function, args=[base, *_]):
                    if (origins := self.module.origins(function)) and origins <= _MEMBERS:
                        found.append(base)
        return found

    def _are_related(self, one: ast.ClassDef, other: ast.ClassDef) -> bool:
        return one in lookup_order(other, self.module) or other in lookup_order(one, self.module)

    def _may_list(self, base: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether the attributes of `base` are those of `owner`: an object's own ones hold no methods."""
        own_only = not isinstance(parent := self.module.parents[base], ast.Call) or (
            isinstance(parent.func, ast.Name) and parent.func.id == "vars"
        )
        match base:
            case ast.Call(func=ast.Name(id="type"), args=[ast.Name() as instance]):
                base, own_only = instance, False
            case ast.Attribute(value=ast.Name() as instance, attr="__class__"):
                base, own_only = instance, False
        if not isinstance(base, ast.Name) or self.module.origins(base):
            return False
        found = owner_of(base, self.module)
        if found is None:
            return not own_only
        is_class = is_class_itself(base, self.module)
        return (is_class or not own_only) and self._are_related(found, owner)
