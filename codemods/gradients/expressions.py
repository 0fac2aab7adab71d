"""Evaluates expressions."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from codemods.gradients import guards
from codemods.gradients.attributes import Attributes
from codemods.gradients.flags import outcome
from codemods.gradients.frames import Arguments, Frame, Place
from codemods.gradients.values import (
    PLAIN,
    REST,
    CallSiteFunction,
    Class,
    Constant,
    Container,
    Function,
    Instance,
    Key,
    ProjectModule,
    Value,
    join,
    literal_key,
)
from codemods.names import FunctionNode, Scope, ScopeKind, defaults

_INTEGER_OPERATORS: Final = (ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_INTEGER_METHODS: Final = frozenset("argmax argmin argsort nonzero searchsorted any all".split())
_ARRAY_LITERALS: Final = (float, complex, bytes)


class Expressions(Attributes):
    site_nodes: Mapping[ast.expr, frozenset[str]]

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assigns to a target."""

    def value(self, node: ast.expr, frame: Frame) -> Value:
        if node in self.site_nodes:
            return self.heap.value(self.heap.make(node, CallSiteFunction, node))
        found: Value = self.handler("_of_", node, self._of_any)(node, frame)
        return found if self.is_limited(found) else self.called_here(found, Place(frame, node))

    def _of_any(self, node: ast.expr, frame: Frame) -> Value:
        inner = [self.value(c, frame) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        return Value(self.heap.levels(join(inner)))

    def _of_Constant(self, node: ast.Constant, _frame: Frame) -> Value:
        if node.value is ... or isinstance(node.value, _ARRAY_LITERALS):
            return PLAIN
        return self.heap.constant(node.value)

    def _of_Name(self, node: ast.Name, frame: Frame) -> Value:
        source = frame.source
        scope = source.module.scopes[node]
        home = source.module.home(node.id, scope)
        return self.named(node.id, home, frame)

    def named(self, name: str, home: Scope | None, frame: Frame) -> Value:
        """What a name of a scope holds where `frame` reads it."""
        if home is None or home is frame.source.module.root:
            return self.global_value(frame.source, name)
        if home.kind is ScopeKind.COMPREHENSION:
            return self._in_comprehension(name, frame)
        reading: Frame | None = frame
        while reading is not None:
            if reading.node is home.node:
                own = reading.values.get(name) if reading is frame else None
                if own is not None and name not in frame.source.module.nonlocal_names:
                    return own
                return (own or PLAIN) | (reading.captured_value(name) or PLAIN)
            reading = reading.parent
        return PLAIN

    @staticmethod
    def _in_comprehension(name: str, frame: Frame) -> Value:
        reading: Frame | None = frame
        while reading is not None:
            held = reading.values.get(name) if reading is frame else reading.captured_value(name)
            if held is not None:
                return held
            reading = reading.parent
        return PLAIN

    def _of_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        library = self._of_library(node, frame)
        if library is not None:
            return library
        return self.attribute(self.value(node.value, frame), node.attr, Place(frame, node))

    def _of_library(self, node: ast.Attribute, frame: Frame) -> Value | None:
        """What a library has under a dotted name, which is most of what calls name."""
        parts = [node.attr]
        base = node.value
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return None
        module = frame.source.module
        library = self.imported_library(frame.source, base.id)
        if library is None or module.home(base.id, module.scopes[base]) is not module.root:
            return None
        return self.heap.library(".".join((library, *reversed(parts))))

    def _of_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        self.assign(node.target, value, frame)
        return value

    def _of_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.function(node, frame)

    def function(self, node: FunctionNode, frame: Frame) -> Value:
        """A function that is defined here, with its defaults."""
        made = self.heap.make((node, frame), Function, node, frame)
        for parameter, default in defaults(node.args):
            self.heap.put(made, parameter.arg, self.value(default, frame))
        frame.capture(self.heap)
        return self.heap.value(made)

    # Operators.

    def _of_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        if isinstance(node.op, _INTEGER_OPERATORS):
            return Value(references=left.references | right.references) if self._holds(left, right) else PLAIN
        if self._holds(left, right):
            inner = self.element(left, None) | self.element(right, None)
            return self.heap.container(Place(frame, node), {REST: inner})
        return Value(self.heap.levels(left) | self.heap.levels(right))

    def _of_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.value(node.operand, frame)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            return self.heap.constant(-number) if isinstance(number, int) else PLAIN
        if isinstance(node.op, ast.Not | ast.Invert):
            return PLAIN
        return Value(self.heap.levels(value))

    def _of_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        for each in (node.left, *node.comparators):
            self.value(each, frame)
        return PLAIN

    def _of_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        return join(self.value(each, frame) for each in node.values)

    def _of_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        self.value(node.test, frame)
        match outcome(node.test, frame):
            case True:
                return self.value(node.body, frame)
            case False:
                return self.value(node.orelse, frame)
        found, before = PLAIN, dict(frame.values)
        for branch, untraced in zip((node.body, node.orelse), guards.of_if(node, frame), strict=True):
            self.without_levels(untraced, frame)
            found |= self.value(branch, frame)
            frame.values |= {name: before[name] for name in untraced if name in before}
        return found

    def without_levels(self, names: guards.Names, frame: Frame) -> None:
        """Takes what names of a function hold for no tracers, which nothing differentiates.

        An object of the project's own classes is no tracer, whatever it has as attributes.
        """
        for name in names:
            if name in frame.values and not any(
                isinstance(each, Instance) for each in frame.values[name].references
            ):
                frame.values[name] = self.heap.kept(frame.values[name], lambda _level: False, "nothing")

    def _of_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        self._of_any(node, frame)
        return PLAIN

    def _of_Await(self, node: ast.Await, frame: Frame) -> Value:
        return self.value(node.value, frame)

    def _of_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        value = self.value(node.value, frame) if node.value else PLAIN
        frame.returned |= self.heap.container(("yield", frame), {REST: value})
        return PLAIN

    def _of_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        frame.returned |= self.heap.container(("yield", frame), {REST: self.element(value, None)})
        return value

    # Containers.

    def _of_Tuple(self, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        content: dict[Key, Value] = {}
        for index, each in enumerate(node.elts):
            if isinstance(each, ast.Starred):
                inner = self.element(self.value(each.value, frame), None)
                content[REST] = content.get(REST, PLAIN) | inner
            elif REST in content:
                content[REST] |= self.value(each, frame)
            else:
                content[index] = self.value(each, frame)
        return self.heap.container(Place(frame, node), content)

    _of_List = _of_Set = _of_Tuple

    def _of_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        content: dict[Key, Value] = {}
        for key, inner in zip(node.keys, node.values, strict=True):
            value = self.value(inner, frame)
            name: Key | None = None
            if key is None:
                value = self.element(value, None)
            else:
                name = literal_key(self.value(key, frame))
            name = REST if name is None else name
            content[name] = content.get(name, PLAIN) | value
        return self.heap.container(Place(frame, node), content)

    def _of_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        value, index = self.value(node.value, frame), self.value(node.slice, frame)
        if isinstance(node.slice, ast.Slice) and self._holds(value):
            return self.heap.container(Place(frame, node), {REST: self.element(value, None)})
        return self.element(value, literal_key(index), Place(frame, node))

    def element(self, value: Value, key: Key | None, at: Place | None = None) -> Value:
        """What a value holds under a key, or under any; what is no container may hold itself."""
        found = Value(value.levels)
        for reference in value:
            if isinstance(reference, Container):
                found |= self._held(reference, key).at(value.levels)
            elif isinstance(reference, Instance):
                found |= self._item(reference, key, value, at)
            elif not isinstance(reference, Constant | ProjectModule | Class):
                found |= self.heap.value(reference)
        return found

    @staticmethod
    def _held(container: Container, key: Key | None) -> Value:
        content = container.content
        if key in content and not (isinstance(key, int) and key < 0):
            return content[key] | content.get(REST, PLAIN)
        if isinstance(key, str) or (isinstance(key, int) and key >= 0 and REST in content):
            return content.get(REST, PLAIN)
        return join(content.values())

    def _item(self, reference: Instance, key: Key | None, value: Value, at: Place | None) -> Value:
        method = self.member(reference.of, "__getitem__")
        if method is not None and at is not None:
            me = self.heap.value(reference).at(value.levels)
            return self.call(method, Arguments((me, PLAIN)), at)
        if key is not None and key in reference.content:
            return reference.content[key].at(value.levels)
        # What cannot be indexed is held by what was: a library's pair of a model and something else.
        return (join(reference.content.values()) | self.heap.value(reference)).at(value.levels)

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        results: Sequence[ast.expr],
        frame: Frame,
    ) -> Value:
        with frame.shadowing(frame.source.module.opened[node].bindings):
            for generator in node.generators:
                inner = self.element(self.value(generator.iter, frame), None, Place(frame, generator.iter))
                self.assign(generator.target, inner, frame)
                for condition in generator.ifs:
                    self.value(condition, frame)
            value = [self.value(each, frame) for each in results][-1]
        return self.heap.container(Place(frame, node), {REST: value})

    def _of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Value:
        return self._comprehension(node, [node.elt], frame)

    _of_SetComp = _of_GeneratorExp = _of_ListComp

    def _of_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        return self._comprehension(node, [node.key, node.value], frame)

    # Calls.

    def _of_Call(self, node: ast.Call, frame: Frame) -> Value:
        at = Place(frame, node)
        function = self.value(node.func, frame)
        arguments = self._arguments(node, frame)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not arguments.positional:
            return self._super(node, frame)
        if isinstance(node.func, ast.Attribute) and not function.references:
            if node.func.attr in _INTEGER_METHODS:
                return PLAIN
            dtype = arguments.given(0, "dtype") if node.func.attr == "astype" else None
            if dtype is not None and self.is_integer(dtype):
                return PLAIN
            if not self.callables(join(arguments)):
                return Value(function.levels | self.levels_of(arguments))
        return self.call(function, arguments, at)

    def _arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        positional: list[Value] = []
        rest: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                spread = self.spread(self.value(each.value, frame))
                if rest or spread.rest is not None:
                    rest += spread
                else:
                    positional += spread.positional
            else:
                (rest or positional).append(self.value(each, frame))
        keywords: dict[str, Value] = {}
        extra: list[Value] = []
        for keyword in node.keywords:
            value = self.value(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            else:
                extra.append(self._named_content(value, keywords))
        extra = [value for value in extra if value != PLAIN]
        return Arguments(
            tuple(positional), join(rest) if rest else None, keywords, join(extra) if extra else None
        )

    def _named_content(self, value: Value, keywords: dict[str, Value]) -> Value:
        """Adds the known keys of a `**` argument to the keywords; the rest of it."""
        containers = [each for each in value if isinstance(each, Container)]
        if len(containers) != 1 or len(value.references) != 1:
            return self.element(value, None)
        for key, inner in containers[0].content.items():
            if isinstance(key, str) and key != REST:
                keywords[key] = inner.at(value.levels)
        return containers[0].content.get(REST, PLAIN)
