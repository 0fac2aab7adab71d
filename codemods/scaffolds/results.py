"""What the source shows of dtypes: whether a result or an argument is of integers, or like an argument."""

from __future__ import annotations

import ast
from typing import Final

from codemods.arguments import is_literal_of
from codemods.gradients.table import INTEGER_NAMES, INTEGER_TYPES
from codemods.names import Module
from codemods.specs import LEAVES

_SAME_DTYPE: Final = frozenset({"reshape", "ravel", "flatten", "squeeze", "transpose", "copy"})
_OF_THEIR_ARGUMENTS: Final = frozenset(
    f"{library}.{name}" for library in ("numpy", "jax.numpy") for name in ("array", "asarray", "arange")
)


def is_integer(spec: ast.expr, module: Module) -> bool:
    """Whether every leaf of the result is surely of integers or booleans, and so without a derivative."""
    spec = _followed(spec, module)
    match spec:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) and all(is_integer(element, module) for element in elements)
        case ast.Dict(values=values):
            return bool(values) and all(is_integer(value, module) for value in values)
    dtype = _dtype(spec, module)
    return dtype is not None and _is_integer_type(dtype, module)


def has_no_derivative(node: ast.expr, module: Module) -> bool:
    """Whether an argument surely is a constant, or of integers."""
    match node:
        case ast.Constant():
            return True
        case ast.Name():
            binding = module.sole_binding(node)
            value = binding.value if binding is not None else None
            return value is not None and has_no_derivative(value, module)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return has_no_derivative(operand, module)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
            return has_no_derivative(left, module) and has_no_derivative(right, module)
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call():
            return _gives_integers(node, module)
    return False


def _gives_integers(node: ast.Call, module: Module) -> bool:
    if _is_integer_type(node.func, module):
        return True
    origin = module.origin(node.func)
    dtypes = [k.value for k in node.keywords if k.arg == "dtype"]
    if not origin and isinstance(node.func, ast.Attribute):
        if node.func.attr == "astype":
            dtypes += node.args[:1]
        elif node.func.attr in _SAME_DTYPE:
            return has_no_derivative(node.func.value, module)
    elif origin in ("jax.numpy.asarray", "jax.numpy.array", "jax.numpy.zeros", "jax.numpy.ones"):
        dtypes += node.args[1:2]
    if not dtypes and not node.keywords and origin in _OF_THEIR_ARGUMENTS:
        return bool(node.args) and all(is_literal_of(int, argument) for argument in node.args)
    return bool(dtypes) and _is_integer_type(dtypes[0], module)


def _is_integer_type(node: ast.expr, module: Module) -> bool:
    match node:
        case ast.Constant(value=str() as name):
            return name in INTEGER_NAMES
        case ast.Name(id="int" | "bool" | "len" as name):
            return module.home(name, module.scopes[node]) is None
    return bool(origins := module.origins(node)) and origins <= INTEGER_TYPES


def dtype_of(spec: ast.expr, module: Module) -> ast.Name | None:
    """The variable whose dtype the result has, for one that is bound once."""
    match _dtype(_followed(spec, module), module):
        case ast.Attribute(value=ast.Name() as name, attr="dtype") if module.sole_binding(name) is not None:
            return name
    return None


def is_shaped_like(spec: ast.expr, name: ast.Name, module: Module) -> bool:
    """Whether a spec asks for the shape or dtype of a variable, as only one array has them."""
    home = module.home(name.id, module.scopes[name])
    waiting, seen = [spec], set[ast.expr]()
    while waiting:
        root = waiting.pop()
        seen.add(root)
        for node in ast.walk(root):
            match node:
                case ast.Attribute(value=ast.Name(id=read) as base, attr="shape" | "dtype" | "ndim" | "size"):
                    if read == name.id and module.home(read, module.scopes[base]) is home:
                        return True
                case ast.Name(ctx=ast.Load()) if (value := _followed(node, module)) not in seen:
                    waiting.append(value)
    return False


def _followed(spec: ast.expr, module: Module) -> ast.expr:
    """The expression that a variable is assigned."""
    if isinstance(spec, ast.Name):
        binding = module.sole_binding(spec)
        if binding is not None and binding.value is not None:
            return binding.value
    return spec


def _dtype(spec: ast.expr, module: Module) -> ast.expr | None:
    """The dtype in a call of `jax.ShapeDtypeStruct`."""
    if not (isinstance(spec, ast.Call) and (o := module.origins(spec.func)) and o <= LEAVES):
        return None
    given = {k.arg: k.value for k in spec.keywords}
    return given.get("dtype") or (spec.args[1] if len(spec.args) == 2 else None)
