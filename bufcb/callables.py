"""What is known about a callback before it runs: its name and its parameters."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from jax.tree_util import keystr, tree_flatten_with_path

from bufcb.adapted import Adapted
from bufcb.keys import callable_key


@dataclasses.dataclass(frozen=True, slots=True, weakref_slot=True)
class Callback:
    """A callback as a parameter of the primitive: equal to another when calling either does the same."""

    function: Callable[..., Any] = dataclasses.field(compare=False)
    key: Hashable

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Callback:
        return cls(function, callable_key(function))


def describe(function: Callable[..., Any]) -> str:
    """Return the callback's qualified name and place, for error messages: `` `solve` (model.py:12) ``."""
    target = innermost(function)
    name = _ask(target, "__qualname__")
    code = code_of(unwrapped(target))
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"`{name if isinstance(name, str) else type(target).__qualname__}`{place}"


def unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a function says, as `functools.wraps` has it say, that it wraps; else the function."""
    with contextlib.suppress(Exception):  # it wraps itself, or is an object that answers with any error
        function = inspect.unwrap(function)
    return function


def code_of(function: Callable[..., Any]) -> types.CodeType | None:
    """Return the code of a function, or that of another object's `__call__`; None if it is not Python's."""
    code = _ask(function, "__code__")
    if code is None and not inspect.isclass(function):
        code = _ask(_ask(type(function), "__call__"), "__code__")
    return code if isinstance(code, types.CodeType) else None


def _ask(target: Any, name: str) -> Any:
    """Return an attribute, or None: an object may answer a question about it with any error."""
    try:
        return getattr(target, name, None)
    except Exception:  # noqa: BLE001
        return None


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
    signature = _signature(function)
    if signature is None:
        return
    try:
        signature.bind(None, None, *args, **kwargs)
    except TypeError as error:
        raise TypeError(_explain_call(function, signature, args, kwargs, error)) from None


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature, or None where there is none to be had.

    A wrapper's own counts, not that of the function which `functools.wraps` says it stands for.
    """
    try:
        return inspect.signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001 - an object may answer a question about it with any error
        return None


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
    signature = _signature(function)
    if signature is None:
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in positional]
    return names if adapted else names[2:]
