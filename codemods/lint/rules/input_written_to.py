"""BCL005: inputs are memory of immutable arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods import hostlib
from codemods.lint.callbacks import Callback
from codemods.lint.calls import BufferCall
from codemods.lint.copies import copied
from codemods.lint.evidence import is_number, surely_arrays
from codemods.lint.helpers import handed_on, is_attempted
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.lint.views import Memory, Views, is_part
from codemods.reaching import value_reaching

_WRITING_METHODS: Final = frozenset({"fill", "sort", "put", "partition", "itemset"})


@rule("BCL005")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if not any(_may_write(call) for call, _ in callback.calls):
            yield from _of(callback)


def _may_write(call: BufferCall) -> bool:
    """Whether inputs may be outputs as well."""
    return not call.is_complete or "input_output_aliases" in call.options


def _of(callback: Callback) -> Iterator[Finding]:
    inputs = {parameter.arg for parameter in callback.inputs}
    views = Views(callback)
    arrays = surely_arrays(callback, views)

    def writes(node: ast.AST, views: Views) -> Iterator[tuple[ast.expr, Memory]]:
        for written, is_surely_array in _written(node, callback):
            memory = views.of(written)
            if memory is None or memory.name not in inputs:
                continue
            if memory.is_buffer and _makes_new(node, callback):
                continue
            if is_surely_array or not memory.is_buffer or memory.name in arrays:
                yield written, memory

    for node in callback.nodes():
        for written, memory in writes(node, views):
            yield _finding(node, memory, callback, _copied(written, views, callback, arrays))
        for asked in _made_writable(node, callback):
            if (held := views.of(asked)) is not None and held.name in inputs:
                rewording = _copied(asked, views, callback, arrays)
                yield _finding(node, held, callback, rewording, "asks to write into")
        for helper, there in handed_on(node, views, callback):
            for each in helper.nodes:
                yield from (_finding(node, m, callback, None) for _, m in writes(each, there))


def _made_writable(node: ast.AST, callback: Callback) -> Iterator[ast.expr]:
    """The array that `x.setflags(write=True)` or `x.flags.writeable = True` asks to be writable."""
    if callback.libraries != {"bufcb"} or is_attempted(node, callback):
        return
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="setflags"), args=[ast.Constant(value=True), *_]):
            yield value
        case ast.Call(func=ast.Attribute(value=value, attr="setflags"), args=[], keywords=keywords):
            if any(
                k.arg == "write" and isinstance(k.value, ast.Constant) and k.value.value for k in keywords
            ):
                yield value
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Attribute(value=value, attr="flags"), attr="writeable")],
            value=ast.Constant(value=True),
        ):
            yield value


def _makes_new(node: ast.AST, callback: Callback) -> bool:
    """Whether an augmented assignment may leave a buffer of JAX's own alone, which gives way to an array."""
    return "jax" in callback.libraries and isinstance(node, ast.AugAssign) and not is_number(node.value)


def _finding(
    node: ast.AST,
    memory: Memory,
    callback: Callback,
    rewording: Rewording | None,
    how: str = "writes into",
) -> Finding:
    changes = callback.libraries == {"jax"} and not memory.is_buffer
    what = "changes the caller's immutable array" if changes else "raises"
    name = memory.name
    return Finding(
        node,
        f"`{callback.name}` {how} its input `{name}`, which {what}.",
        f"Write into a copy: `np.asarray({name}).copy()`.",
        callback,
        rewording=rewording,
    )


def _copied(written: ast.expr, views: Views, callback: Callback, arrays: frozenset[str]) -> Rewording | None:
    """The copy to write into: of the one view that the name was given, `name = np.asarray(...)`."""
    if not isinstance(written, ast.Name) or callback.home is not None:
        return None
    value = value_reaching(written, callback.module)
    memory = views.of(value) if value is not None else None
    if value is None or memory is None or memory.is_buffer:
        return None
    return copied(value, memory, callback, arrays)


def _written(node: ast.AST, callback: Callback) -> Iterator[tuple[ast.expr, bool]]:
    """What a statement or call writes into, and whether only an array can be written so."""
    match node:
        case ast.AugAssign(target=ast.Name() as target):
            yield target, False
        case ast.Subscript(value=value, ctx=ast.Store(), slice=index):
            yield value, is_part(index)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            origin = callback.module.origin(function)
            if origin in hostlib.WRITES_FIRST:
                yield from ((each, True) for each in arguments[:1])
            elif origin is not None and origin.startswith(("numpy.", "scipy.")):
                yield from ((each.value, True) for each in keywords if each.arg == "out")
            elif origin is None and isinstance(function, ast.Attribute) and function.attr in _WRITING_METHODS:
                yield function.value, False
            elif arguments and _shuffles(function, origin, callback):
                yield arguments[0], False


def _shuffles(function: ast.expr, origin: str | None, callback: Callback) -> bool:
    """Whether a call shuffles its argument in place: `random.shuffle`, or a generator of NumPy's."""
    if origin == "random.shuffle":
        return True
    match function:
        case ast.Attribute(value=ast.Name() as name, attr="shuffle"):
            value = value_reaching(name, callback.module)
            makers = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random")
            return isinstance(value, ast.Call) and callback.module.origin(value.func) in makers
    return False
