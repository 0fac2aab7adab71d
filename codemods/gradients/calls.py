"""Calls of what is in sight: functions, methods, classes, partials, derivatives and custom functions."""

from __future__ import annotations

import ast
import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from codemods.gradients import flags
from codemods.gradients.frames import (
    OUTSIDE,
    Arguments,
    Extent,
    Flags,
    Frame,
    Place,
    whatever,
)
from codemods.gradients.levels import NOT_AT_ALL, UNSEEN, Levels
from codemods.gradients.modules import Call, Modules, top_statement
from codemods.gradients.values import (
    PLAIN,
    REST,
    CallSiteFunction,
    Class,
    Container,
    Custom,
    Derivative,
    Descriptor,
    Function,
    Inherited,
    Instance,
    Key,
    Method,
    Partial,
    Pullback,
    Reference,
    Stateful,
    Value,
    join,
)
from codemods.names import FunctionNode, own_name
from codemods.names import parameters as parameters_of
from codemods.project import Project

# Bounds that only generated or hostile code meets. Beyond them the sites that are not found to be
# differentiated count as unknown.
_DEEPEST_CALL: Final = 60
_CONTEXTS: Final = 12
# What may be more things than this counts as something out of sight, to which they are handed.
_MOST_REFERENCES: Final = 24
# From this many bases on, to look through them is work that counts.
_MANY_CLASSES: Final = 20
# Functions that lead to no call site are evaluated if they are as short as this, and this deep at most.
_SMALL: Final = 12
_ASIDE: Final = 3

Callable_ = (
    Function,
    Method,
    Partial,
    Derivative,
    Custom,
    Class,
    Inherited,
    Stateful,
    Instance,
    Pullback,
    CallSiteFunction,
)


_NONE: Final[frozenset[Reference]] = frozenset()


class Calls(Modules):
    """Evaluates calls. `results` has what each function gives for each set of arguments."""

    def __init__(self, project: Project, sites: int) -> None:
        super().__init__(project, sites)
        self.results: dict[object, Value] = {}
        self.frames: dict[object, Frame] = {}
        self._done: set[object] = set()
        self._finished: set[object] = set()
        self._asked: set[object] = set()
        self._contexts: Counter[ast.AST] = Counter()
        self._joined: dict[object, tuple[Value, ...]] = {}
        self.on_the_way: Mapping[str, Collection[ast.stmt]] = {}
        self.around_sites: Collection[ast.AST] = ()
        self._matters: set[Reference] = set()
        self._tops: dict[ast.AST, ast.stmt | None] = {}
        # What was searched through, and found not to matter, in one state of the heap.
        self._does_not: set[Reference | Frame] = set()
        self._searched_at = -1
        self._escaped: set[tuple[Reference, Levels, Extent]] = set()

    @abstractmethod
    def value(self, node: ast.expr, frame: Frame) -> Value:
        """What an expression gives."""

    @abstractmethod
    def run_body(self, function: FunctionNode, frame: Frame) -> None:
        """Evaluates the body of a function."""

    def start_round(self) -> None:
        super().start_round()
        self._done.clear()
        self._finished.clear()
        self._escaped.clear()
        self._searched_at = -1  # more statements may lead to a call site by now

    # Any value.

    def call(self, function: Value, arguments: Arguments, at: Place) -> Value:
        """What calling a value gives."""
        result = None
        for reference in function:
            handler = self.handler("_call_", reference)
            if handler is not None:
                found: Value = handler(reference, function.levels, arguments, at)
                result = found if result is None else result | found
        return self.call_unseen(function, arguments, at) if result is None else result

    def call_unseen(self, function: Value, arguments: Arguments, at: Place) -> Value:
        """What code out of sight gives, which may call, differentiate and keep what it is given."""
        given = join(arguments)
        self.escape(given, at)
        return Value(function.levels | self.levels_of(arguments), self.that_matter(given))

    def levels_of(self, values: Iterable[Value]) -> Levels:
        return self.heap.levels(join(values))

    def matters(self, reference: Reference) -> bool:
        """Whether a function or object may lead to a call site, by its own code or by what it holds."""
        if reference in self._matters:
            return True
        if self._searched_at != self.heap.version:
            self._does_not, self._searched_at = set(), self.heap.version
        if reference in self._does_not:
            return False
        searched = _without_one(
            reference, lambda each: each in self._matters or self._is_on_the_way(each), self._does_not
        )
        if searched is None:
            self._matters.add(reference)
            return True
        self._does_not |= searched  # whatever these hold has been searched through as well
        return False

    def reaches(self, reference: Reference) -> bool:
        """Whether a function or object calls what matters by itself, whatever it is called with."""
        return _without_one(reference, self._is_around_site) is None

    def _is_on_the_way(self, reference: Reference) -> bool:
        """Whether something is a call site, or defined in a statement that may lead to one."""
        if not isinstance(reference, Function | Class):
            return isinstance(reference, CallSiteFunction)
        source = reference.frame.source
        if reference.node not in self._tops:
            self._tops[reference.node] = top_statement(source.module, reference.node)
        return self._tops[reference.node] in self.on_the_way.get(source.file, ())

    def _is_around_site(self, reference: Reference) -> bool:
        """Whether something is a call site, or has in its own text what may lead to one."""
        if not isinstance(reference, Function | Class):
            return isinstance(reference, CallSiteFunction)
        return reference.node in self.around_sites

    def that_matter(self, value: Value) -> frozenset[Reference]:
        """The functions and objects that a value may be or hold, and that may lead to a call site."""
        return frozenset(each for each in self.callables(value) if self.matters(each))

    def callables(self, value: Value) -> frozenset[Reference]:
        """The functions and objects that a value may be or hold."""
        if not value.references:
            return _NONE
        found: set[Reference] = set()
        waiting, seen = list(value.references), set(value.references)
        while waiting:
            reference = waiting.pop()
            if isinstance(reference, Callable_):
                found.add(reference)
            elif isinstance(reference, Container | Descriptor):
                new = join(reference.content.values()).references - seen
                seen |= new
                waiting += new
        return frozenset(found)

    @staticmethod
    def is_limited(value: Value) -> bool:
        """Whether a value is not too many things at once."""
        return len(value.references) <= _MOST_REFERENCES

    def called_here(self, value: Value, at: Place) -> Value:
        """What stands for too many things at once: all of them that matter are called here."""
        with self.within(dataclasses.replace(OUTSIDE, active=True)):
            self.escape(value, at)
        return Value(self.heap.levels(value) | {UNSEEN})

    def escape(self, value: Value, at: Place, levels: Levels = frozenset({UNSEEN})) -> None:
        """Hands functions to code out of sight, which calls them with values of unknown levels."""
        for reference in Value(references=self.that_matter(value)):
            mark = (reference, levels, self.extent)
            if mark in self._escaped:
                continue
            self._escaped.add(mark)
            extent = dataclasses.replace(self.extent, active=True, parameters=self.extent.parameters | levels)
            with self.within(extent):
                self._escape(reference, Value(levels), at)

    def _escape(self, reference: Reference, anything: Value, at: Place) -> None:
        if isinstance(reference, Class):
            self.escape(self._instance(reference, at), at, anything.levels)
        elif isinstance(reference, Instance):
            for name in sorted(self.member_names(reference.of)):
                if not name.startswith("__") or name == "__call__":
                    method = self.attribute(self.heap.value(reference).at(anything.levels), name, at)
                    if self.callables(method):
                        self.call(method, whatever(anything), at)
        elif not isinstance(reference, Inherited):
            self.call(self.heap.value(reference), whatever(anything), at)

    # Functions.

    def _call_Function(self, reference: Function, _levels: Levels, arguments: Arguments, at: Place) -> Value:
        if not self._is_worth_it(reference, arguments):
            return Value(self.levels_of(arguments))
        bound = self._bind(reference, arguments, at)
        kept = flags.kept(reference.node, reference.frame.source.module, arguments, at)
        key: object = (reference, tuple(bound.values()), self.extent, kept)
        if key not in self.results:
            if self._contexts[reference.node] >= _CONTEXTS:
                key, bound = self._in_one_context(reference, bound)
                kept = flags.NO_FLAGS
            else:
                self._contexts[reference.node] += 1
        return self._run(reference, key, bound, at, kept)

    def _is_worth_it(self, reference: Function, arguments: Arguments) -> bool:
        """Whether to evaluate a function: one that leads to no call site only for what it stops."""
        if self.matters(reference) or any(map(self.matters, join(arguments).references)):
            return True
        small = isinstance(reference.node, ast.Lambda) or len(reference.node.body) <= _SMALL
        return small and sum(not call.matters for call in self.calls) < _ASIDE

    def _in_one_context(
        self, reference: Function, bound: dict[str, Value]
    ) -> tuple[object, dict[str, Value]]:
        """What stands for all further calls of a function that is called in very many ways."""
        key = (reference, dataclasses.replace(self.extent, parameters=NOT_AT_ALL, cotangents=NOT_AT_ALL))
        before = self._joined.get(key, (PLAIN,) * len(bound))
        after = tuple(a | b for a, b in zip(before, bound.values(), strict=True))
        if after != before:
            self._joined[key] = after
            self.heap.changed = True
            self._done.discard(key)
        return key, dict(zip(bound, after, strict=True))

    def _run(
        self, reference: Function, key: object, bound: dict[str, Value], at: Place, kept: Flags
    ) -> Value:
        if key in self._done:
            if key not in self._finished:
                self._asked.add(key)
            return self.results.get(key, PLAIN)
        if len(self.calls) > _DEEPEST_CALL:
            self.incomplete = True
            return PLAIN
        self.heap.spend()
        self._done.add(key)
        outer = reference.frame
        if key not in self.frames:
            self.frames[key] = Frame(key, reference.node, outer.source, outer)
        frame = self.frames[key]
        frame.flags = kept
        frame.restart()
        for name, value in bound.items():
            frame.bind(name, value, self.heap)
        self.calls.append(Call(at, own_name(reference.node), matters=self.matters(reference)))
        try:
            self.run_body(reference.node, frame)
        finally:
            self.calls.pop()
        before = self.results.get(key, PLAIN)
        self.results[key] = before | frame.returned
        self._finished.add(key)
        if key in self._asked and self.results[key] != before:
            self.heap.changed = True
        return self.results[key]

    def _bind(self, reference: Function, arguments: Arguments, at: Place) -> dict[str, Value]:
        """The parameters of a function, in their order, with what a call gives them."""
        signature = reference.node.args
        names = [p.arg for p in signature.posonlyargs] + [p.arg for p in signature.args]
        bound = dict(zip(names, arguments.positional, strict=False))
        surplus = arguments.positional[len(names) :]
        keywords = dict(arguments.keywords)
        for parameter in (*names, *(p.arg for p in signature.kwonlyargs)):
            if parameter not in bound:
                bound[parameter] = self._given(reference, parameter, keywords, arguments, parameter in names)
        key = (reference, at)
        if signature.vararg:
            content: dict[Key, Value] = dict(enumerate(surplus))
            if arguments.rest is not None:
                content[REST] = arguments.rest
            bound[signature.vararg.arg] = self.heap.container((*key, "*"), content)
        if signature.kwarg:
            content = dict(keywords.items())
            if arguments.extra is not None:
                content[REST] = arguments.extra
            bound[signature.kwarg.arg] = self.heap.container((*key, "**"), content)
        return {p.arg: bound[p.arg] for p in parameters_of(signature)}

    @staticmethod
    def _given(
        reference: Function, name: str, keywords: dict[str, Value], arguments: Arguments, positional: bool
    ) -> Value:
        if name in keywords:
            return keywords.pop(name)
        found = reference.content.get(name, PLAIN)
        if arguments.extra is not None:
            found |= arguments.extra
        if positional and arguments.rest is not None:
            found |= arguments.rest
        return found

    # Objects.

    def _call_Method(self, reference: Method, levels: Levels, arguments: Arguments, at: Place) -> Value:
        first = reference.content["self"].at(levels)
        return self.call(reference.content["function"], arguments.behind(first), at)

    def _call_Partial(self, reference: Partial, levels: Levels, arguments: Arguments, at: Place) -> Value:
        content = {key: value.at(levels) for key, value in reference.content.items()}
        bound = [value for key, value in content.items() if isinstance(key, int)]
        named = {key: v for key, v in content.items() if isinstance(key, str) and key not in ("", REST, "**")}
        rest = join([*(v for v in (content.get(REST), arguments.rest) if v is not None)])
        if REST in content:  # what follows may come at any place
            given = Arguments(
                tuple(bound), rest | join(arguments.positional), {**named, **arguments.keywords}
            )
        else:
            given = Arguments(
                (*bound, *arguments.positional), arguments.rest, {**named, **arguments.keywords}
            )
        extra = [v for v in (content.get("**"), arguments.extra) if v is not None]
        if extra:
            given = dataclasses.replace(given, extra=join(extra))
        return self.call(content[""], given, at)

    def _call_Class(self, reference: Class, _levels: Levels, arguments: Arguments, at: Place) -> Value:
        made = self._instance(reference, at)
        constructor = self.member(reference, "__init__")
        if constructor is not None:
            self.call(constructor, arguments.behind(made), at)
        else:
            self._fill(reference, made, arguments)
        for name in ("__post_init__", "setup"):
            hook = self.member(reference, name)
            if hook is not None:
                self.call(hook, Arguments((made,)), at)
        return made

    def _instance(self, of: Class, at: Place) -> Value:
        return self.heap.value(self.heap.make((of, at.node), Instance, of))

    def _fill(self, of: Class, made: Value, arguments: Arguments) -> None:
        """Gives the arguments of a constructor out of sight to the fields of the same names."""
        fields = [
            item.target.id
            for owner in reversed(list(self.lineage(of)))
            for item in owner.node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        content: dict[Key, Value] = dict(arguments.keywords.items())
        for index, value in enumerate(arguments.positional):
            content[index] = value
            content[fields[index] if index < len(fields) else REST] = value
        for other in (arguments.rest, arguments.extra):
            if other is not None:
                content[REST] = content.get(REST, PLAIN) | other
        for instance in made:
            for key, value in content.items():
                self.heap.put(instance, key, value)

    def lineage(self, of: Class) -> Iterator[Class]:
        """The classes in sight whose methods an instance has, its own class first."""
        seen, waiting = {of}, [of]
        while waiting:
            found = waiting.pop(0)
            yield found
            if len(seen) > _MANY_CLASSES:
                self.heap.spend()
            for base in found.node.bases:
                for reference in self.value(base, found.frame):
                    if isinstance(reference, Class) and reference not in seen:
                        seen.add(reference)
                        waiting.append(reference)

    def member(self, of: Class, name: str) -> Value | None:
        """What the first class that binds a name holds there; None if it is out of sight."""
        return next((each.content[name] for each in self.lineage(of) if name in each.content), None)

    def member_names(self, of: Class) -> frozenset[str]:
        return frozenset(key for each in self.lineage(of) for key in each.content if isinstance(key, str))

    def _call_Instance(self, reference: Instance, levels: Levels, arguments: Arguments, at: Place) -> Value:
        method = self.attribute(self.heap.value(reference).at(levels), "__call__", at)
        if method == PLAIN or not self.callables(method):
            return self.call_unseen(Value(levels), arguments, at)
        return self.call(method, arguments, at)

    # What containers hold.

    @abstractmethod
    def element(self, value: Value, key: Key | None) -> Value:
        """What a value holds under a key, or under any."""


def _without_one(
    reference: Reference,
    is_one: Callable[[Reference], bool],
    without: Collection[Reference | Frame] = (),
) -> set[Reference | Frame] | None:
    """A function or object with all that it holds or captures; None as soon as something there is one.

    What is in `without` is known to be, hold and capture none.
    """
    if is_one(reference):
        return None
    seen: set[Reference | Frame] = {reference}
    waiting: list[Reference | Frame] = [reference]
    while waiting:
        # Not `-=`, which goes through all that has been seen.
        found = {other for other in _next_to(waiting.pop()) if other not in seen and other not in without}
        for other in found:
            if not isinstance(other, Frame) and is_one(other):
                return None
        waiting += found
        seen |= found
    for each in seen:
        if isinstance(each, Frame):
            each.is_searched = True
    return seen


def _next_to(each: Reference | Frame) -> set[Reference | Frame]:
    """What something holds or captures by itself."""
    found: set[Reference | Frame] = set()
    around: Frame | None = None
    inner: Mapping[Key, Value] | Mapping[str, Value]
    if isinstance(each, Frame):
        inner, around = each.captured, each.parent
    else:
        inner = each.content
        if isinstance(each, Function | Class):
            around = each.frame
        elif isinstance(each, Instance):
            found.add(each.of)
    for value in inner.values():
        found |= value.references
    if around is not None and not around.is_module:
        found.add(around)
    return found
