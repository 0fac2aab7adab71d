"""Abstract values: by which transforms a value is differentiated, and which functions or objects it may be.

Everything that a value may refer to is made once for each place in the program that makes it, and only ever
gains content, so that the analysis comes to an end.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from codemods.gradients.levels import NOT_AT_ALL, Level, Levels
from codemods.names import FunctionNode

if TYPE_CHECKING:
    from codemods.gradients.frames import Frame, Place
    from codemods.gradients.table import Transform

Key = int | str
Keep = Callable[[Level], bool]
REST: Final = "*"
"""The key of what a container holds under a key that cannot be seen."""


class Reference:
    """What a value may be, apart from an array.

    Attributes:
      number: orders references as they were made.
      is_new: whether nothing has been handed this reference yet, so that nobody knows what it holds.
      content: the values that it holds.
      original: what this is a copy of, and which levels the copy is without.
    """

    def __init__(self) -> None:
        self.number = 0
        self.is_new = True
        self.content: dict[Key, Value] = {}
        self.original: tuple[Reference, frozenset[Hashable]] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value.

    Attributes:
      levels: the levels at which it, or some leaf of it, is differentiated.
      references: what it may be.
    """

    levels: Levels = NOT_AT_ALL
    references: frozenset[Reference] = frozenset()

    def __or__(self, other: Value) -> Value:
        if other is self or other is PLAIN:
            return self
        if self is PLAIN:
            return other
        return Value(self.levels | other.levels, self.references | other.references)

    def __iter__(self) -> Iterator[Reference]:
        if len(self.references) < 2:
            return iter(self.references)
        return iter(sorted(self.references, key=lambda reference: reference.number))

    def at(self, levels: Iterable[Level]) -> Value:
        """The same value, differentiated at `levels` too."""
        added = frozenset(levels) - self.levels
        return Value(self.levels | added, self.references) if added else self


PLAIN: Final = Value()


def join(values: Iterable[Value]) -> Value:
    result = PLAIN
    for value in values:
        result |= value
    return result


class Constant(Reference):
    """A literal string, number, bool or None."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Library(Reference):
    """A dotted name of a library, or of what calling it gives, as in `optax.adam().update`.

    `path` is the importing file where the name may still turn out to be a module of the project.
    """

    def __init__(self, name: str, path: str = "") -> None:
        super().__init__()
        self.name, self.path = name, path


class ProjectModule(Reference):
    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file


class CallSiteFunction(Reference):
    """`jax.pure_callback` where a call site names it."""

    def __init__(self, node: ast.expr) -> None:
        super().__init__()
        self.node = node


class Function(Reference):
    """A function with the frame that it is defined in; `content` holds its defaults, by parameter."""

    def __init__(self, node: FunctionNode, frame: Frame) -> None:
        super().__init__()
        self.node, self.frame = node, frame


class Class(Reference):
    def __init__(self, node: ast.ClassDef, frame: Frame) -> None:
        super().__init__()
        self.node, self.frame = node, frame


class Instance(Reference):
    """An object of a class in sight; `content` holds its attributes.

    Attributes:
      above: whether this is `super()`, which passes over the methods of the class itself.
    """

    def __init__(self, of: Class, above: bool = False) -> None:
        super().__init__()
        self.of, self.above = of, above


class Method(Reference):
    """A function bound to its first argument; `content` holds `function` and `self`."""


class Inherited(Reference):
    """A method that an instance, in `content["self"]`, has from a base class out of sight."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Container(Reference):
    """A tuple, list, dict or the like, by index or literal key, and `REST`."""


class ContainerMethod(Reference):
    """A method of the container in `content["self"]`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Descriptor(Reference):
    """What `staticmethod`, `classmethod` or `property` make of the function under `""`."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind


class Partial(Reference):
    """`content` holds the function under `""`, positional arguments by index, keywords by name."""


class Derivative(Reference):
    """A function that a transform gives; `content` holds the function that it is applied to under `""`.

    Attributes:
      at: where the transform is applied.
      arguments: the positions of the arguments that are differentiated; None for all of them.
      with_aux: whether the function gives something else beside what is differentiated.
    """

    def __init__(
        self, transform: Transform, at: Place, arguments: frozenset[int] | None, with_aux: bool
    ) -> None:
        super().__init__()
        self.transform, self.at, self.arguments, self.with_aux = transform, at, arguments, with_aux


class Pullback(Reference):
    """What `vjp` gives beside the result; `content` holds function and arguments as `Partial` does."""

    def __init__(self, transform: Transform, at: Place) -> None:
        super().__init__()
        self.transform, self.at = transform, at


class Custom(Reference):
    """A function with custom rules; `content` holds `""`, the function, and the rules by their names."""

    def __init__(self, kind: str, static: frozenset[int]) -> None:
        super().__init__()
        self.kind, self.static = kind, static


class RuleSetter(Reference):
    """A method such as `defvjp` of the custom function in `content["self"]`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Stateful(Reference):
    """A function turned into `init` and `apply`, as Haiku's `transform` does; `content` holds `""`.

    Attributes:
      skipped: how many arguments of `apply` come before those of the function.
      method: which of the two this is; empty for both.
    """

    def __init__(self, skipped: int, method: str = "") -> None:
        super().__init__()
        self.skipped, self.method = skipped, method


def literals(value: Value) -> list[object]:
    """The literals that a value may be or hold."""
    found: list[object] = []
    seen, waiting = set(value.references), list(value)
    while waiting:
        reference = waiting.pop(0)
        if isinstance(reference, Constant):
            found.append(reference.value)
        elif isinstance(reference, Container):
            inner = [each for each in join(reference.content.values()) if each not in seen]
            seen.update(inner)
            waiting += inner
    return found


def literal_key(value: Value) -> Key | None:
    """The one literal key that a value is; None where it is another, or several."""
    found = list(value)
    if len(found) == 1 and isinstance(found[0], Constant) and isinstance(found[0].value, int | str):
        return found[0].value
    return None


R = TypeVar("R", bound=Reference)


# Less than a second of steps, after which what has not been found to be differentiated counts as unknown. A
# call site takes ten of them, or some hundred where it is reached in many ways.
_MOST_WORK: Final = 3_000
_WORK_OF_SITE: Final = 20
# More than this is not copied to be without some levels; it counts as if it still had them.
_MOST_COPIED: Final = 100


class TooLarge(Exception):
    """The program takes more steps than are worth it."""


class Heap:
    """All references, and whether any has changed."""

    def __init__(self, sites: int) -> None:
        """`sites` is how many call sites are looked at, which says how much work may be spent."""
        self.version = 0
        self.work = 0
        self._most_work = _MOST_WORK + _WORK_OF_SITE * sites
        self._changed = False
        self._levels: dict[frozenset[Reference], Levels] = {}
        self._numbers = itertools.count()
        self._made: dict[Hashable, Reference] = {}
        self._copies: dict[Hashable, Reference] = {}
        self._copying: set[Reference] = set()
        self._libraries: dict[tuple[str, str], Value] = {}
        self._instances: dict[Class, list[Instance]] = {}
        self._listed: set[Class] = set()

    @property
    def changed(self) -> bool:
        """Whether anything has gained content, after it was looked at, since this was last set to False."""
        return self._changed

    @changed.setter
    def changed(self, value: bool) -> None:
        self._changed = value
        if value:
            self.version += 1
            self._levels.clear()

    def make(self, key: Hashable, kind: type[R], *arguments: object) -> R:
        """The reference with this key, which includes `kind`; `arguments` make it the first time."""
        found = self._made.get((kind, key))
        if found is None:
            found = kind(*arguments)
            found.number = next(self._numbers)
            self._made[kind, key] = found
            if isinstance(found, Instance):
                self._instances.setdefault(found.of, []).append(found)
                if found.of in self._listed:
                    self.changed = True
        return found  # type: ignore[return-value]

    def instances(self) -> list[Instance]:
        """All that were made, class by class."""
        return [each for made in self._instances.values() for each in made]

    def instances_of(self, owner: Class) -> list[Instance]:
        """All that were made of a class, in order."""
        self._listed.add(owner)
        return list(self._instances.get(owner, ()))

    def constant(self, value: object) -> Value:
        return self.value(self.make((type(value), value), Constant, value))

    def library(self, name: str, path: str = "") -> Value:
        found = self._libraries.get((name, path))
        if found is None:
            made = self.make((name, path), Library, name, path)
            found = self._libraries[name, path] = self.value(made)
        return found

    @staticmethod
    def value(reference: Reference) -> Value:
        reference.is_new = False
        return Value(NOT_AT_ALL, frozenset({reference}))

    def put(self, reference: Reference, key: Key, value: Value) -> None:
        """Adds to what a reference holds."""
        before = reference.content.get(key)
        after = value if before is None else before | value
        if after != before:
            reference.content[key] = after
            if not reference.is_new:
                self.changed = True

    def container(self, key: Hashable, content: dict[Key, Value]) -> Value:
        made = self.make(key, Container)
        for each, value in content.items():
            self.put(made, each, value)
        return self.value(made)

    def levels(self, value: Value) -> Levels:
        """The levels of a value with all that it holds."""
        if not value.references:
            return value.levels
        held = self._levels.get(value.references)
        if held is None:
            self.spend()
            held = self._levels[value.references] = _levels_held(value.references)
        return value.levels | held

    def kept(self, value: Value, keep: Keep, key: Hashable) -> Value:
        """The value without the levels that `keep`, which `key` identifies, does not keep.

        What it refers to is copied where it holds such levels.
        """
        levels = frozenset(level for level in value.levels if keep(level))
        held = self.levels(Value(NOT_AT_ALL, value.references))
        if all(map(keep, held)):
            return Value(levels, value.references)
        if len(_within(value.references)) > _MOST_COPIED:
            return Value(levels | held, value.references)
        return Value(levels, frozenset(self._copy(each, keep, key) for each in value))

    def spend(self) -> None:
        """Counts one step, of those whose number is bounded.

        Raises:
          TooLarge: that was too many.
        """
        self.work += 1
        if self.work > self._most_work:
            raise TooLarge

    def _copy(self, reference: Reference, keep: Keep, key: Hashable) -> Reference:
        self.spend()
        if all(keep(level) for level in self.levels(Value(NOT_AT_ALL, frozenset({reference})))):
            return reference
        original, without = reference.original or (reference, frozenset())
        mark = (original.number, without | {key})
        copied = self._copies.get(mark)
        if copied is None:
            copied = copy.copy(original)
            copied.content, copied.original = {}, (original, without | {key})
            copied.is_new = False
            copied.number = next(self._numbers)
            self._copies[mark] = copied
        if copied not in self._copying:
            self._copying.add(copied)
            for each, value in list(reference.content.items()):
                self.put(copied, each, self.kept(value, keep, key))
            self._copying.discard(copied)
        return copied


def _levels_held(references: frozenset[Reference]) -> Levels:
    found: set[Level] = set()
    for reference in _within(references):
        for inner in reference.content.values():
            found |= inner.levels
    return frozenset(found)


def _within(references: frozenset[Reference]) -> set[Reference]:
    """References with all that they hold."""
    seen, waiting = set(references), list(references)
    while waiting:
        for inner in waiting.pop().content.values():
            new = inner.references - seen
            seen |= new
            waiting += new
    return seen
