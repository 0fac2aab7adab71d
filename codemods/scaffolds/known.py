"""Which host function with a known derivative a callback is, or does nothing but call."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from codemods import hostlib
from codemods.names import Module
from codemods.plans import HostCall, HostExpression
from codemods.resolve import Bound, Resolved
from codemods.scaffolds.derivatives import DERIVATIVES, KEYWORDS, Known, Slopes, Twin
from codemods.scaffolds.expressions import is_constant, is_number, translated
from codemods.sites import PARTIAL, CallSite

_FLOATS: Final = frozenset(
    f"{library}.{name}"
    for library in ("numpy", "jax.numpy")
    for name in "float16 float32 float64 half single double bfloat16".split()
)
_FLOAT_NAMES: Final = frozenset("float16 float32 float64 bfloat16 f2 f4 f8".split())
_METHODS: Final = ("vmap_method", "vectorized")
_UNBATCHED: Final = ("sequential", "sequential_unrolled", False, None)


@dataclasses.dataclass(frozen=True, slots=True)
class _Operand:
    """One of the callback's arguments by its index, or a constant as text."""

    value: int | str
    has_cast: bool = False


_Symbolic = _Operand | HostCall


def of_library(site: CallSite, module: Module) -> HostCall | None:
    """The call, if the callback itself is such a function, or a partial that binds constants to it."""
    callback, bound = site.callback, list[ast.keyword]()
    if isinstance(callback, ast.Call) and (o := module.origins(callback.func)) and o <= PARTIAL:
        keywords, args = callback.keywords, callback.args
        if len(args) != 1 or site.keywords:
            return None
        callback, bound = args[0], keywords
    if site.keywords or any(isinstance(argument, ast.Starred) for argument in site.args):
        return None
    origin = module.origin(callback)
    return _call(origin, tuple(range(len(site.args))), bound) if origin else None


def of_body(site: CallSite, resolved: Resolved, module: Module) -> HostCall | HostExpression | None:
    """The call, if it is all that the body of the callback does, or else what it computes in terms of JAX.

    `module` has the definition of the callback.
    """
    if resolved.bound != Bound() or resolved.also:
        return None
    arguments = _arguments(site, resolved)
    if arguments is None:
        return None
    operands: dict[str, _Symbolic] = {name: _Operand(index) for name, index in arguments.items()}
    found = _Body(module, operands).result(resolved.function)
    if isinstance(found, HostCall):
        return found
    methods = [option.value for option in site.options if option.arg in _METHODS]
    is_batched = not all(isinstance(m, ast.Constant) and m.value in _UNBATCHED for m in methods)
    return translated(resolved.function, arguments, module, is_batched=is_batched)


def _arguments(site: CallSite, resolved: Resolved) -> dict[str, int] | None:
    """The indices of the parameters that the call gives; None where they cannot be told."""
    if any(isinstance(argument, ast.Starred) for argument in site.args):
        return None
    function = resolved.function.args
    names = [p.arg for p in (*function.posonlyargs, *function.args)][resolved.implicit :]
    if len(site.args) > len(names):
        return None
    found = {name: index for index, name in enumerate(names[: len(site.args)])}
    by_name = {p.arg for p in (*function.args, *function.kwonlyargs)}
    for index, keyword in enumerate(site.keywords, len(site.args)):
        if keyword.arg not in by_name or keyword.arg is None:
            return None
        found[keyword.arg] = index
    return found


class _Body:
    """Follows the values of a body that does nothing but convert and call."""

    def __init__(self, module: Module, environment: Mapping[str, _Symbolic]) -> None:
        self._module, self._values = module, dict(environment)

    def result(self, function: ast.FunctionDef | ast.Lambda) -> _Symbolic | None:
        if isinstance(function, ast.Lambda):
            return self._value(function.body)
        for statement in function.body:
            match statement:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Assign(targets=[target], value=value) if self._assign(target, value):
                    continue
                case ast.Return(value=ast.expr() as value):
                    return self._value(value)
            return None
        return None

    def _assign(self, target: ast.expr, value: ast.expr) -> bool:
        match target, value:
            case ast.Name(id=name), _:
                pairs = [(name, self._value(value))]
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                named = [each.id for each in names if isinstance(each, ast.Name)]
                pairs = list(zip(named, map(self._value, values), strict=False))
                if len(named) < len(names):
                    return False
            case _:
                return False
        found = {name: each for name, each in pairs if each is not None}
        self._values |= found
        return len(found) == len(pairs)

    def _value(self, node: ast.expr) -> _Symbolic | None:
        match node:
            case ast.Name(id=name):
                return self._values.get(name)
            case _ if is_number(node):
                return _Operand(ast.unparse(node))
            case ast.Call(func=ast.Attribute(value=inner, attr="astype"), args=[dtype], keywords=[]):
                return self._cast(inner, dtype) if not self._module.origins(node.func) else None
            case ast.Call(func=function):
                return self._called(node, self._module.origin(function) or "")
        return None

    def _called(self, node: ast.Call, origin: str) -> _Symbolic | None:
        match node:
            case ast.Call(args=[inner], keywords=[]) if origin in hostlib.CONVERTING:
                return self._value(inner)
            case ast.Call(args=[inner], keywords=[]) if origin in _FLOATS:
                return _with_cast(self._value(inner))
            case ast.Call(args=[inner, dtype], keywords=[]) if origin in hostlib.CONVERTING:
                return self._cast(inner, dtype)
            case ast.Call(args=[inner], keywords=[ast.keyword(arg="dtype", value=dtype)]) if (
                origin in hostlib.CONVERTING
            ):
                return self._cast(inner, dtype)
        operands = [self._value(argument) for argument in node.args]
        plain = [each for each in operands if isinstance(each, _Operand)]
        if len(plain) < len(operands):
            return None
        found = _call(origin, tuple(each.value for each in plain), node.keywords)
        return _with_cast(found) if any(each.has_cast for each in plain) else found

    def _cast(self, inner: ast.expr, dtype: ast.expr) -> _Symbolic | None:
        return _with_cast(self._value(inner)) if self._is_float_type(dtype) else None

    def _is_float_type(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str() as name):
                return name in _FLOAT_NAMES
            case ast.Attribute(value=ast.Name(id=name), attr="dtype") if name in self._values:
                return True  # an operand's, which is a float wherever this has a derivative
        return (self._module.origin(node) or "") in _FLOATS


def _with_cast(value: _Symbolic | None) -> _Symbolic | None:
    return dataclasses.replace(value, has_cast=True) if value is not None else None


def _call(origin: str, operands: tuple[int | str, ...], keywords: Sequence[ast.keyword]) -> HostCall | None:
    """A call of the table's, if the table says what it means with these keywords."""
    known = DERIVATIVES.get(origin)
    given = {k.arg: k.value for k in keywords}
    if known is None or (isinstance(known, Twin) and not known.is_plain):
        return None
    if keywords and not (isinstance(known, Twin) and given.keys() <= KEYWORDS):
        return None
    own = [operand for operand in operands if isinstance(operand, int)]
    behind = [operand for operand in operands[_arrays(known) :] if isinstance(operand, int)]
    if not isinstance(known, Twin) and len(operands) != _arrays(known):
        return None
    if not own or behind or len(set(own)) < len(own) or not all(map(is_constant, given.values())):
        return None
    texts = tuple((name, ast.unparse(value)) for name, value in given.items() if name)
    return HostCall(origin, operands, texts)


def _arrays(known: Known) -> int:
    """How many arrays a function takes."""
    match known:
        case Twin(arrays=arrays):
            return arrays
        case Slopes(texts=texts):
            return len(texts)
    return 1
