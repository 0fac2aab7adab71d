"""BCL009: JAX's own buffers are no arrays: they can be viewed, and asked for their shape and dtype."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

from codemods import hostlib
from codemods.lint.callbacks import Callback
from codemods.lint.copies import numpy_at
from codemods.lint.evidence import (
    ATTRIBUTES,
    ORDERING,
    is_given,
    is_number,
    is_numeric,
    names_asked_for,
    surely_arrays,
)
from codemods.lint.registry import Finding, Rewording, Subject, rule
from codemods.lint.views import NUMPY_VIEWS, Memory, Views, is_part

# These ask for a copy or a dtype, or may.
_CONVERTING: Final = NUMPY_VIEWS | {"numpy.array", "numpy.ascontiguousarray", "numpy.asfortranarray"}
_COPYING: Final = frozenset({"numpy.copy", "numpy.nan_to_num"})
_COPIED: Final = "NumPy asks `{}` for a copy or another dtype, which JAX's own buffers refuse."
_OF_NUMBERS: Final = frozenset({"abs", "float", "int", "complex", "round", "divmod"})
_OF_ELEMENTS: Final = frozenset(
    {"len", "iter", "list", "tuple", "set", "sorted", "reversed", "enumerate", "zip", "sum", "any", "all"}
)
_HAS: Final = frozenset({"shape", "dtype", "ndim", "writeable"})


@dataclasses.dataclass(frozen=True, slots=True)
class _Use:
    """What is asked of an expression, which fails if that is one of JAX's buffers.

    Attributes:
      what: what JAX's own buffers have not.
      is_of_array: whether only what surely is one array is meant: a tuple or another pytree may do it.
    """

    expression: ast.expr
    what: str
    is_of_array: bool = True


@rule("BCL009")
def check(subject: Subject) -> Iterator[Finding]:
    for callback in subject.callbacks:
        if callback.libraries == {"jax"}:
            yield from _Search(callback).run()


class _Search:
    def __init__(self, callback: Callback) -> None:
        self._callback, self._module = callback, callback.module
        self._views = Views(callback)
        self._arrays = surely_arrays(callback, self._views)
        self._inputs = {each.arg for each in callback.inputs}
        self._given = {each.arg for each in callback.inputs if is_given(each, callback)}

    def run(self) -> Iterator[Finding]:
        for node in self._callback.nodes():
            yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Finding]:
        if isinstance(node, ast.Call) and node.args and _converts(node, self._callback):
            memory = self._views.of(node.args[0])
            if memory is not None and memory.is_buffer:
                yield self._finding(node, _Use(node.args[0], ""), memory)
            return
        for use in self._uses(node):
            memory = self._views.of(use.expression)
            fails = memory is not None and memory.is_buffer and self._fails(use, memory)
            if memory is not None and fails and not self._is_guarded(node, use.expression):
                where = use.expression if isinstance(node, ast.For | ast.comprehension) else node
                yield self._finding(where, use, memory)

    def _finding(self, node: ast.AST, use: _Use, memory: Memory) -> Finding:
        name, numpy = memory.name, numpy_at(node, self._callback)
        if not use.what:
            reason = _COPIED.format(name)
            way_out = f"Take a view first: `np.asarray({name})`, and copy or convert that."
        else:
            reason = f"`{name}` is one of JAX's own buffers, which have no {use.what}."
            way_out = f"Take a view first: `np.asarray({name})`."
        is_fixed = numpy and (not use.what or not use.is_of_array or self._is_array(memory))
        is_fixed = is_fixed and not isinstance(node, ast.AugAssign)
        rewording = Rewording(use.expression, f"{numpy}.asarray({{}})") if is_fixed else None
        return Finding(node, reason, way_out, self._callback, rewording=rewording)

    def _is_array(self, memory: Memory) -> bool:
        """Whether a buffer is known to be one, and no pytree of buffers."""
        if memory.name in self._inputs:
            return memory.name in self._arrays
        return memory.name.endswith("]") or self._callback.spec.kind == "leaf"

    def _fails(self, use: _Use, memory: Memory) -> bool:
        if self._is_array(memory):
            return True
        return not use.is_of_array and (memory.name not in self._inputs or memory.name in self._given)

    def _is_guarded(self, node: ast.AST, buffer: ast.expr) -> bool:
        """Whether the callback has looked at what it is, or is ready for the error."""
        child = node
        for around in self._module.ancestors(node):
            if around is self._callback.function:
                return False
            match around:
                case ast.Try(body=body, handlers=[_, *_]) if child in body:
                    return True
                case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                    asked = {name for inner in ast.walk(test) for name in names_asked_for(inner)}
                    if asked & {inner.id for inner in ast.walk(buffer) if isinstance(inner, ast.Name)}:
                        return True
            child = around
        return False

    # What is asked of what.

    def _uses(self, node: ast.AST) -> Iterator[_Use]:
        match node:
            case ast.Call():
                yield from self._in_call(node)
            case ast.Attribute(value=value, attr=attribute, ctx=ast.Load()):
                if attribute in ATTRIBUTES - _HAS:
                    yield _Use(value, f"`.{attribute}`")
            case ast.Subscript():
                yield from self._in_subscript(node)
            case ast.For(iter=each) | ast.comprehension(iter=each) | ast.Starred(value=each):
                yield _Use(each, "elements")
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
                yield _Use(value, "elements")
            case _:
                yield from self._in_operation(node)

    def _in_subscript(self, node: ast.Subscript) -> Iterator[_Use]:
        if isinstance(node.ctx, ast.Load):
            yield _Use(node.value, "elements", not _is_of_arrays_alone(node.slice))
        elif isinstance(node.ctx, ast.Store):
            memory = self._views.of(node.value)  # a write into an input is another rule's finding
            if memory is not None and memory.name not in self._inputs:
                yield _Use(node.value, "item assignment", not _is_of_arrays_alone(node.slice))

    def _in_operation(self, node: ast.AST) -> Iterator[_Use]:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                for one, other in ((left, right), (right, left)):
                    if is_number(other) or self._is_buffer(other):
                        yield _Use(one, "arithmetic", not is_numeric(op, other))
            case ast.AugAssign(target=ast.Name() as target):
                memory = self._views.of(target)
                if memory is not None and memory.name not in self._inputs:
                    yield _Use(target, "arithmetic")
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                yield _Use(operand, "arithmetic", False)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if isinstance(op, ORDERING) and (is_number(left) or is_number(right)):
                    yield _Use(right if is_number(left) else left, "order", False)
                elif isinstance(op, ast.In | ast.NotIn):
                    yield _Use(right, "elements")

    def _in_call(self, node: ast.Call) -> Iterator[_Use]:
        function, origin = node.func, self._module.origin(node.func)
        first = node.args[0] if node.args else None
        if isinstance(function, ast.Name) and not self._module.bindings(function):
            if first is not None and function.id in _OF_NUMBERS | _OF_ELEMENTS:
                yield _Use(first, f"`{function.id}()`", function.id in _OF_ELEMENTS)
            return
        if origin is None or not origin.startswith(("numpy.", "scipy.", "math.")):
            return
        if first is not None and origin.startswith("math."):
            yield _Use(first, f"`{origin}()`", False)
        if first is not None and origin in hostlib.WRITES_FIRST:
            memory = self._views.of(first)
            if memory is not None and memory.name not in self._inputs:
                yield _Use(first, f"item assignment, as `{origin}` needs it", False)
        yield from (
            _Use(each.value, "item assignment, as `out=` needs it")
            for each in node.keywords
            if each.arg == "out"
        )

    def _is_buffer(self, node: ast.expr) -> bool:
        memory = self._views.of(node)
        return memory is not None and memory.is_buffer and self._is_array(memory)


def _is_of_arrays_alone(index: ast.expr) -> bool:
    """Whether an index takes a part of an array, and fails for a list or dict."""
    return is_part(index) and not isinstance(index, ast.Slice)


def _converts(call: ast.Call, callback: Callback) -> bool:
    """Whether NumPy is asked for a copy of the first argument, or for a dtype."""
    origin = callback.module.origin(call.func)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if origin in _COPYING:
        return True
    if origin not in _CONVERTING or None in given:
        return False
    if len(call.args) > 1 or not _is_constant(given.get("dtype"), None):
        return True
    if "copy" in given:
        return _is_constant(given["copy"], True)
    return origin == "numpy.array"


def _is_constant(node: ast.expr | None, value: object) -> bool:
    """Whether an option is `value`, or is left out where that means None."""
    return value is None if node is None else isinstance(node, ast.Constant) and node.value is value
