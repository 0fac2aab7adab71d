"""Whether two callables are the same: keys to compare them by."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

# Classes with an `==` of their own by which equal values are the same for every purpose.
_PLAINLY_EQUAL: Final = frozenset(
    {str, bytes, int, bool, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType}
)


class Keyed:
    """A base of classes whose `==` compares keys, as made here."""

    __slots__ = ()


class _ById:
    """A key for an object that cannot be hashed: equal to itself only, and keeps it alive."""

    __slots__ = ("target",)

    def __init__(self, target: object) -> None:
        self.target = target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


def callable_key(function: Callable[..., Any]) -> Hashable:
    """Return a key that is equal for callables that do the same; a `partial` goes by its parts."""
    if type(function) is functools.partial:
        try:
            keywords = tuple((name, _value_key(value)) for name, value in function.keywords.items())
            return (
                functools.partial,
                _value_key(function.func),
                tuple(map(_value_key, function.args)),
                keywords,
            )
        except TypeError:
            return _ById(function)
    try:
        hash(function)
    except TypeError:
        return _ById(function)
    return function


def _value_key(value: Any) -> Hashable:
    """Return a key that tells apart what Python's `==` does not: 1, 1.0 and True; 0.0 and -0.0.

    A value whose class has an `==` of its own, which may leave some of it out, is equal to itself only.

    Raises:
      TypeError: if the value cannot be hashed.
    """
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, np.generic):
        return kind, str(value.dtype), value.tobytes()
    if kind is tuple:
        return kind, tuple(map(_value_key, value))
    if kind is frozenset:
        return kind, frozenset(map(_value_key, value))
    if kind is functools.partial:
        return kind, callable_key(value)
    equality: Any = kind.__eq__
    if equality is object.__eq__ or kind in _PLAINLY_EQUAL or isinstance(value, (type, np.dtype, Keyed)):
        hash(value)
        return kind, value
    return _ById(value)
