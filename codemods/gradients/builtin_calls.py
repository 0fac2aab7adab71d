"""Calls of Python's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from codemods.gradients.control_flow import ControlFlow
from codemods.gradients.frames import Arguments, Place
from codemods.gradients.values import (
    PLAIN,
    REST,
    Container,
    Descriptor,
    Instance,
    Key,
    Partial,
    ProjectModule,
    Value,
    join,
    literals,
)

Handler = Callable[[str, Arguments, Place], Value]
"""Evaluates the call of a function, given by its name."""

_DESCRIPTORS: Final = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
}


_PARTIAL: Final = frozenset({"functools.partial", "jax.tree_util.Partial"})
_SEQUENCES: Final = frozenset(f"builtins.{name}" for name in "list tuple sorted reversed set iter".split())


class BuiltinCalls(ControlFlow):
    def python_function(self, name: str) -> Handler | None:
        """What evaluates calls of one of Python's own functions; None where nothing special does."""
        if name in _PARTIAL:
            return self.partial
        if name in _DESCRIPTORS:
            return self._descriptor
        if name in _SEQUENCES:
            return self._sequence
        if name.startswith(("builtins.", "functools.")):
            found: Handler | None = getattr(self, f"_{name.replace('.', '_').replace('()', '_object')}", None)
            return found
        return None

    def _sequence(self, name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return self.heap.container((at, name), {})
        given = arguments.positional[0]
        if name in ("builtins.list", "builtins.tuple") and any(isinstance(r, Container) for r in given):
            return given
        if "key" in arguments.keywords:
            self.call(arguments.keywords["key"], Arguments((self.element(given, None),)), at)
        return self.heap.container((at, name), {REST: self.element(given, None)})

    def _builtins_zip(self, _name: str, arguments: Arguments, at: Place) -> Value:
        row: dict[Key, Value] = {i: self.element(v, None) for i, v in enumerate(arguments.positional)}
        if arguments.rest is not None:
            row[REST] = self.element(arguments.rest, None)
        return self.heap.container((at, "zip"), {REST: self.heap.container((at, "row"), row)})

    def _builtins_enumerate(self, _name: str, arguments: Arguments, at: Place) -> Value:
        given = self.element(arguments.given(0, "iterable") or PLAIN, None)
        return self.heap.container(
            (at, "enumerate"), {REST: self.heap.container((at, "row"), {0: PLAIN, 1: given})}
        )

    def _builtins_map(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return PLAIN
        rows = Arguments(
            tuple(self.element(value, None) for value in arguments.positional[1:]), arguments.rest
        )
        return self.heap.container((at, "map"), {REST: self.call(arguments.positional[0], rows, at)})

    def _builtins_dict(self, _name: str, arguments: Arguments, at: Place) -> Value:
        content: dict[Key, Value] = dict(arguments.keywords.items())
        others = [self.element(v, None) for v in arguments.positional]
        made = self.heap.container((at, "dict"), content | ({REST: join(others)} if others else {}))
        return made | join(v for v in arguments.positional if any(isinstance(r, Container) for r in v))

    def _builtins_getattr(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if len(arguments.positional) < 2:
            return PLAIN
        base, *rest = arguments.positional
        names = [c for c in literals(rest[0]) if isinstance(c, str)]
        if not names:
            return self._any_attribute(base, at)
        return join(self.attribute(base, name, at) for name in names) | join(rest[1:])

    def _any_attribute(self, base: Value, at: Place) -> Value:
        """An attribute whose name cannot be seen."""
        found = Value(self.heap.levels(base))
        for each in base:
            if isinstance(each, Instance):
                members = sorted(self.member_names(each.of) | {k for k in each.content if isinstance(k, str)})
                found |= join(self.attribute(self.heap.value(each), name, at) for name in members)
            elif isinstance(each, ProjectModule):
                source = self.source(each.file)
                bound = source.module.root.bindings if source is not None else ()
                found |= join(self.module_attribute(each, name) for name in bound)
        return found

    def _builtins_setattr(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if arguments.positional:
            self.escape(join(arguments.positional[1:]), at)
        return PLAIN

    def partial(self, _name: str, arguments: Arguments, at: Place) -> Value:
        if not arguments.positional:
            return PLAIN
        made = self.heap.make((at, "partial", len(arguments.positional)), Partial)
        content: dict[Key, Value] = dict(arguments.keywords.items())
        content[""] = arguments.positional[0]
        content |= dict(enumerate(arguments.positional[1:]))
        if arguments.rest is not None:
            content[REST] = arguments.rest
        if arguments.extra is not None:
            content["**"] = arguments.extra
        for key, value in content.items():
            self.heap.put(made, key, value)
        return self.heap.value(made)

    def _descriptor(self, name: str, arguments: Arguments, at: Place) -> Value:
        made = self.heap.make((at, name), Descriptor, _DESCRIPTORS[name])
        self.heap.put(made, "", arguments.given(0, "fget") or PLAIN)
        return self.heap.value(made)

    def _functools_wraps(self, _name: str, _arguments: Arguments, _at: Place) -> Value:
        return self.heap.library("functools.wraps()")

    def _functools_wraps_object(self, _name: str, arguments: Arguments, _at: Place) -> Value:
        return join(arguments.positional[:1])
