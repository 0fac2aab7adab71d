"""What is known about a callback before it runs: whether two are the same, its name, its parameters."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path

from bufcb.adapted import Adapted


@dataclasses.dataclass(frozen=True, slots=True, weakref_slot=True)
class Callback:
    """A callback as a parameter of the primitive: equal to another when calling either does the same."""

    function: Callable[..., Any] = dataclasses.field(compare=False)
    key: Hashable

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Callback:
        return cls(function, callable_key(function))


# Classes with an `==` of their own by which equal values are the same for every purpose.
_PLAINLY_EQUAL: Final = frozenset(
    {str, bytes, int, bool, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType}
)


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
    if equality is object.__eq__ or kind in _PLAINLY_EQUAL or isinstance(value, (type, np.dtype, Adapted)):
        hash(value)
        return kind, value
    return _ById(value)


def describe(function: Callable[..., Any]) -> str:
    """Return the callback's qualified name and place, for error messages: `` `solve` (model.py:12) ``."""
    target = innermost(function)
    name = getattr(target, "__qualname__", None) or type(target).__qualname__
    code = getattr(inspect.unwrap(target), "__code__", None)
    if code is None:
        code = getattr(type(target).__call__, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"`{name}`{place}"


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the user's own function under `functools.partial`, a bound method or `bufcb.adapt`."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif isinstance(function, Adapted):
            function = function.function
        else:
            return function


def check_signature(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Check that `function` can be called as `function(ctx, out, *args, **kwargs)`.

    Raises:
      TypeError: if it cannot, with the callback's name and place. Callables without a signature pass.
    """
    try:
        # A wrapper's own signature counts, not that of the function which `functools.wraps` says it stands
        # for.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, None, *args, **kwargs)
    except TypeError as error:
        raise TypeError(_explain_call(function, signature, args, kwargs, error)) from None


def _explain_call(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: TypeError,
) -> str:
    own = [name for name, p in list(signature.parameters.items())[:2] if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in own:
        if name in kwargs:
            return (
                f"buffer_callback: the keyword argument `{name}` clashes with the parameter `{name}` of "
                f"callback {describe(function)}, which takes the execution context or the outputs. Make its "
                "first two parameters positional-only, as in `def callback(ctx, out, /, *args, **kwargs)`, "
                "or rename them."
            )
    given = ["ctx", "out", *(f"args[{i}]" for i in range(len(args))), *(f"{name}=..." for name in kwargs)]
    return (
        f"buffer_callback: callback {describe(function)} has the signature {signature} and cannot be called "
        f"as callback({', '.join(given)}): {error}."
    )


def argument_names(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """Return what error messages call each leaf of the arguments: ``argument `x['a']` (args[0]['a'])``."""
    parameters = _parameter_names(function)
    found = []
    for path, _ in tree_flatten_with_path(tuple(args))[0]:
        position, rest = path[0].idx, keystr(path[1:])
        called = f"`{parameters[position]}{rest}` " if position < len(parameters) else ""
        found.append(f"argument {called}(args[{position}]{rest})")
    for path, _ in tree_flatten_with_path(dict(kwargs))[0]:
        found.append(f"argument `{path[0].key}{keystr(path[1:])}`")
    return found


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that positional arguments arrive in, as far as they are known."""
    adapted = isinstance(function, Adapted)
    if isinstance(function, Adapted):
        function = function.function
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in positional]
    return names if adapted else names[2:]
