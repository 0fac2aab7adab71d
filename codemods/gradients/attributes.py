"""What attributes of values hold."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Final

from codemods.gradients import table
from codemods.gradients.frames import Arguments, Frame, Place
from codemods.gradients.library import LibraryCalls
from codemods.gradients.values import (
    PLAIN,
    REST,
    Class,
    Constant,
    Container,
    ContainerMethod,
    Custom,
    Derivative,
    Descriptor,
    Function,
    Inherited,
    Instance,
    Library,
    Method,
    Partial,
    ProjectModule,
    Pullback,
    Reference,
    RuleSetter,
    Stateful,
    Value,
    join,
    literal_key,
)

_FILLING: Final = frozenset("append add extend insert update setdefault appendleft".split())
_MOVING: Final = frozenset("insert appendleft pop popleft remove sort reverse rotate".split())
_SAME_FUNCTION: Final = frozenset({"__wrapped__", "lower", "trace", "func", "fun", "__call__", "__func__"})

_HAS_OWN: Final = (Library, ProjectModule, Instance, Container)
_UNSEEN: Final = "?"


class Attributes(LibraryCalls):
    @abstractmethod
    def methods_named(self, name: str) -> Value:
        """The methods of that name which objects that cannot be seen may have."""

    @staticmethod
    def _holds(*values: Value) -> bool:
        return any(isinstance(each, Container) for value in values for each in value.references)

    def _super(self, node: ast.Call, frame: Frame) -> Value:
        """`super()`: the same object, whose base classes' methods are taken for all of its class's."""
        reading: Frame | None = frame
        while reading is not None:
            if isinstance(reading.node, ast.FunctionDef) and reading.node.args.args:
                name = reading.node.args.args[0].arg
                held = reading.values.get(name) if reading is frame else reading.captured_value(name)
                return PLAIN if held is None else join(self._above(each, reading, held) for each in held)
            reading = reading.parent
        return PLAIN

    def _above(self, reference: Reference, frame: Frame, value: Value) -> Value:
        """An object seen as one of the bases of the class around `frame`."""
        owner = frame.parent.node if frame.parent is not None else None
        if not isinstance(reference, Instance):
            return self.heap.value(reference)
        for each in self.lineage(reference.of):
            if each.node is owner:
                made = self.heap.make((each, reference, "super"), Instance, each, True)
                made.content = reference.content
                return self.heap.value(made).at(value.levels)
        return self.heap.value(reference).at(value.levels)

    def attribute(self, value: Value, name: str, at: Place) -> Value:
        """What an attribute of a value holds, which is differentiated if the value is."""
        references = [r for r in value if not isinstance(r, Constant)]
        if name in table.NOT_DIFFERENTIATED and not any(isinstance(r, _HAS_OWN) for r in references):
            return PLAIN
        if not references:
            return Value(value.levels) | self.methods_named(name).at(value.levels)
        return join(self._attribute_of(each, name, value, at) for each in references).at(value.levels)

    def _attribute_of(self, reference: Reference, name: str, value: Value, at: Place) -> Value:
        found: Value = self.handler("_attribute_", reference, self._attribute_any)(reference, name, value, at)
        return found

    def _attribute_any(self, reference: Reference, name: str, value: Value, _at: Place) -> Value:
        """An attribute of a function, or of an object out of sight that was given one and may hold it."""
        if name in reference.content:
            return reference.content[name]
        found = self.heap.value(reference).at(value.levels)
        if name in _SAME_FUNCTION or any(isinstance(each, Library) for each in value.references):
            return found
        return found | self.heap.library(f"{_UNSEEN}.{name}")

    def _attribute_ProjectModule(
        self, reference: ProjectModule, name: str, _value: Value, _at: Place
    ) -> Value:
        return self.module_attribute(reference, name)

    def _attribute_Library(self, reference: Library, name: str, _value: Value, at: Place) -> Value:
        dotted = f"{reference.name}.{name}"
        if reference.path:
            return self.resolve(dotted, at.frame.source)
        if "()" not in reference.name:
            return self.heap.library(dotted)
        made = self.heap.make((dotted, reference), Library, dotted)
        for key, held in reference.content.items():
            self.heap.put(made, key, held)
        found = self.heap.value(made)
        return found if self.is_plain(reference.name) else found | self.methods_named(name)

    def _attribute_Container(self, reference: Container, name: str, value: Value, at: Place) -> Value:
        if name in reference.content:
            return reference.content[name].at(value.levels)
        made = self.heap.make((reference, name), ContainerMethod, name)
        self.heap.put(made, "self", self.heap.value(reference).at(value.levels))
        return self.heap.value(made)

    def _attribute_Instance(self, reference: Instance, name: str, value: Value, at: Place) -> Value:
        me = self.heap.value(reference).at(value.levels)
        found = [reference.content[key].at(value.levels) for key in (name, REST) if key in reference.content]
        lineage = list(self.lineage(reference.of))
        if reference.above:
            lineage = lineage[1:]
        member = _first(lineage, name)
        if member is not None:
            bound = [self._bound(each, member, me, at) for each in member]
            found.append(join(bound) if bound else member)
        elif not found and (asked := _first(lineage, "__getattr__")) is not None:
            found.append(self.call(asked, Arguments((me, self.heap.constant(name))), at))
        elif not found and self._has_unseen_base(reference):
            made = self.heap.make((reference, name), Inherited, name)
            self.heap.put(made, "self", me)
            found.append(self.heap.value(made).at(value.levels))
        return join(found).at(value.levels) if found else Value(value.levels)

    def _has_unseen_base(self, reference: Instance) -> bool:
        return any(
            not any(isinstance(each, Class) for each in self.value(base, owner.frame))
            and not (isinstance(base, ast.Name) and base.id == "object")
            for owner in self.lineage(reference.of)
            for base in owner.node.bases
        )

    def _bound(self, reference: Reference, member: Value, me: Value, at: Place) -> Value:
        """What a class holds, as read from an instance."""
        if isinstance(reference, Function | Derivative):
            made = self.heap.make((reference, me), Method)
            self.heap.put(made, "function", self.heap.value(reference))
            self.heap.put(made, "self", me)
            return self.heap.value(made)
        if not isinstance(reference, Descriptor):
            return Value(member.levels, frozenset({reference}))
        function = reference.content.get("", PLAIN)
        if reference.kind == "static":
            return function
        if reference.kind == "property":
            return self.call(function, Arguments((me,)), at)
        return join(self._bound(each, function, me, at) for each in function)

    def _attribute_Class(self, reference: Class, name: str, _value: Value, at: Place) -> Value:
        member = self.member(reference, name)
        if member is None:
            return self.heap.library(f"functools.attribute.{name}")
        found = PLAIN
        for each in member:
            if isinstance(each, Descriptor):
                function = each.content.get("", PLAIN)
                if each.kind == "class":
                    me = self.heap.value(reference)
                    function = join(self._bound(inner, function, me, at) for inner in function)
                found |= function
            else:
                found |= self.heap.value(each)
        return found | Value(member.levels)

    def _attribute_Custom(self, reference: Custom, name: str, value: Value, at: Place) -> Value:
        if name not in table.RULE_SETTERS:
            return self._attribute_any(reference, name, value, at)
        made = self.heap.make((reference, name), RuleSetter, name)
        self.heap.put(made, "self", self.heap.value(reference))
        return self.heap.value(made)

    def _attribute_Stateful(self, reference: Stateful, name: str, _value: Value, _at: Place) -> Value:
        made = self.heap.make((reference, name), Stateful, reference.skipped, name)
        self.heap.put(made, "", reference.content.get("", PLAIN))
        return self.heap.value(made)

    def _attribute_Partial(self, reference: Partial, name: str, value: Value, at: Place) -> Value:
        return reference.content[""] if name == "func" else self._attribute_any(reference, name, value, at)

    def _attribute_Pullback(self, reference: Pullback, _name: str, _value: Value, _at: Place) -> Value:
        return self.heap.value(reference)

    def _attribute_Inherited(self, reference: Inherited, _name: str, value: Value, _at: Place) -> Value:
        """An attribute of what a base class out of sight holds."""
        return self.heap.value(reference).at(value.levels)

    def _call_ContainerMethod(
        self, reference: ContainerMethod, _levels: object, arguments: Arguments, at: Place
    ) -> Value:
        me = reference.content["self"]
        if reference.name in _FILLING | _MOVING:
            given = join(arguments)
            for each in me:
                if reference.name in _MOVING:
                    self.heap.put(each, REST, join(each.content.values()))
                inner = self.element(given, None) if reference.name in ("extend", "update") else given
                self.heap.put(each, REST, inner)
        if reference.name in ("get", "pop", "setdefault") and arguments.positional:
            found = self.element(me, literal_key(arguments.positional[0]))
            return found | join(arguments.positional[1:])
        inner = self.element(me, None)
        if reference.name == "items":
            inner = self.heap.container((reference, "item"), {0: PLAIN, 1: inner})
        elif reference.name == "keys":
            inner = PLAIN
        elif reference.name not in ("values", "copy"):
            return inner
        if reference.name == "copy":
            return me
        return self.heap.container((reference, reference.name), {REST: inner})


def _first(lineage: list[Class], name: str) -> Value | None:
    """What the first class that binds a name holds there."""
    return next((each.content[name] for each in lineage if name in each.content), None)
