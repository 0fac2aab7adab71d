"""Which inputs of a callback surely are one array each, by what the calls and the callback itself say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from codemods import hostlib
from codemods.arguments import default_of
from codemods.lint.callbacks import Callback
from codemods.lint.calls import BufferCall
from codemods.lint.views import Views

# What an array has, and a tuple, list, dict or number has not.
ATTRIBUTES: Final = hostlib.ARRAY_INQUIRIES | hostlib.NEUTRAL_METHODS | frozenset(
    {"T", "astype", "sum", "mean", "std", "var", "prod", "min", "max", "dot", "fill", "tolist", "argmax",
     "argmin", "argsort", "cumsum", "tobytes", "strides", "flags", "flat", "clip", "round"}
)  # fmt: skip
_ASKING: Final = frozenset({"isinstance", "hasattr", "type", "getattr", "callable"})
ORDERING: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def surely_arrays(callback: Callback, views: Views) -> frozenset[str]:
    """The inputs that every call gives, each as one array."""
    given = {each.arg for each in callback.inputs if is_given(each, callback)} - callback.containers
    asked = {name for node in ast.walk(callback.function) for name in names_asked_for(node)}
    by_spec = {
        name for name in given if all(_shapes_spec(call, name, callback) for call, _ in callback.calls)
    }
    by_use = _used_as_arrays(callback, views) & given
    return callback.arrays | ((by_spec | by_use) - asked)


def is_given(parameter: ast.arg, callback: Callback) -> bool:
    """Whether every call gives a parameter a value of its own, which arrives as buffers."""
    arguments = callback.function.args
    if parameter in (arguments.vararg, arguments.kwarg):
        return False
    if default_of(parameter, arguments) is None:
        return True
    applied = [each for call, _ in callback.calls for each in call.applied]
    complete = all(call.applied for call, _ in callback.calls)
    return complete and all(callback.given_by(each, parameter) is not None for each in applied)


def names_asked_for(node: ast.AST) -> Iterator[str]:
    """The names whose type a call looks at: `isinstance(x, …)`."""
    match node:
        case ast.Call(func=ast.Name(id=asking), args=[ast.Name(id=name), *_]) if asking in _ASKING:
            yield name


def _shapes_spec(call: BufferCall, name: str, callback: Callback) -> bool:
    """Whether the spec of a call is made with the shape or dtype of what each of its uses gives."""
    parameter = next(each for each in callback.inputs if each.arg == name)
    given = [callback.given_by(applied, parameter) for applied in call.applied]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    return (
        len(names) == 1
        and all(isinstance(each, ast.Name) for each in given)
        and names <= _shaped(call, callback)
    )


def _shaped(call: BufferCall, callback: Callback) -> set[str]:
    """The names whose `.shape` or `.dtype` a spec is made with."""
    spec: ast.expr | None = call.spec
    if isinstance(spec, ast.Name):
        binding = callback.caller.sole_binding(spec)
        spec = binding.value if binding is not None else None
    return {
        node.value.id
        for node in (ast.walk(spec) if spec is not None else ())
        if isinstance(node, ast.Attribute)
        and node.attr in ("shape", "dtype", "ndim")
        and isinstance(node.value, ast.Name)
    }


def _used_as_arrays(callback: Callback, views: Views) -> set[str]:
    """The inputs whose buffers the callback uses as only arrays can be."""
    found = set()
    for node in ast.walk(callback.function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load | ast.Store):
            memory = views.of(node)
            if memory is not None and memory.is_buffer and _is_use_as_array(node, callback):
                found.add(memory.name)
    return found


def _is_use_as_array(name: ast.Name, callback: Callback) -> bool:
    module = callback.module
    match module.parents[name]:
        case ast.Attribute(attr=attribute, ctx=ast.Load()):
            return attribute in ATTRIBUTES
        case ast.BinOp(left=left, op=op, right=right):
            return is_numeric(op, right if left is name else left)
        case ast.AugAssign(op=op, value=value):
            return value is not name and is_numeric(op, value)
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return True
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return isinstance(op, ORDERING) and is_number(right if left is name else left)
        case ast.Subscript(value=value, slice=index) if value is name:
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return any(isinstance(each, ast.Constant) and each.value is ... for each in parts) or (
                isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in parts)
            )
        case ast.Call(func=function, args=arguments) if name in arguments:
            return bool(origins := module.origins(function)) and origins <= hostlib.UFUNCS
        case ast.Assign(targets=[target]):
            return _is_whole_output(target, callback)
    return False


def _is_whole_output(target: ast.expr, callback: Callback) -> bool:
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=value)):
            is_out = callback.out is not None and name == callback.out.arg
            return is_out and value is ... and callback.spec.kind == "leaf"
    return False


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a Python number as written."""
    match node:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_number(operand)
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex)
    return False


def is_numeric(op: ast.operator, other: ast.expr) -> bool:
    """Whether an operator and a number make sense for arrays alone: a list can be repeated."""
    if not is_number(other):
        return False
    is_repeated = (
        isinstance(op, ast.Mult) and isinstance(other, ast.Constant) and isinstance(other.value, int)
    )
    return not is_repeated
