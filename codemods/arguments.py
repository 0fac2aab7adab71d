"""Which parameters the call sites of a callback supply, and what they show of the values."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence
from typing import Final

from codemods.bodies import Argument
from codemods.names import BindingKind, FunctionNode, Module, parameters
from codemods.resolve import Resolved
from codemods.sites import CallSite

# Methods whose result is one array, of an object that is one.
ARRAY_METHODS: Final = frozenset(
    "astype reshape ravel flatten sum mean prod std var max min cumsum cumprod transpose squeeze swapaxes "
    "clip round dot argmax argmin argsort trace".split()
)
_JNP_OTHER: Final = frozenset(
    "split array_split hsplit vsplit dsplit meshgrid unique unique_all unique_counts unique_inverse "
    "unique_values nonzero where shape ndim size broadcast_arrays gradient atleast_1d atleast_2d atleast_3d "
    "unstack polydiv diag_indices diag_indices_from tril_indices tril_indices_from triu_indices "
    "triu_indices_from mask_indices indices einsum_path printoptions get_printoptions set_printoptions "
    "array_repr array_str array2string histogram histogram2d histogramdd frexp modf divmod unravel_index ix_ "
    "sici fresnel broadcast_shapes result_type dtype finfo iinfo promote_types can_cast issubdtype isdtype "
    "vectorize apply_along_axis apply_over_axes piecewise select load save savez ndarray iscomplexobj "
    "isrealobj isscalar iterable frompyfunc ufunc ComplexWarning minmax top_k".split()
)
_MORE_RESULTS: Final = frozenset({"returned", "retstep", "full", "cov", "return_indices", "sparse"})
_DTYPES: Final = frozenset("int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64".split())
_FLOAT_SAMPLERS: Final = frozenset({"jax.random.normal", "jax.random.uniform"})
_DEPTH: Final = 5
_MAKE_KEYS: Final = frozenset(
    f"jax.random.{name}" for name in ("PRNGKey", "clone", "fold_in", "key", "split", "wrap_key_data")
)
_KEY_NAME: Final = re.compile(r"(^|_)(sub)?(key|keys|rng|rngs|prng)(_|\d|$)", re.IGNORECASE)


class Blurred(Exception):
    """The arguments of a call site cannot be matched with the parameters."""


@dataclasses.dataclass(frozen=True, slots=True)
class Supplied:
    """One parameter as the call sites see it.

    Attributes:
      argument: what is known of the values.
      always: whether every call site supplies it; else some leave it to its default.
      may_be_key: whether a call site may pass a typed random key.
      given: what each call site passes, in their order; empty unless all of them show it.
    """

    argument: Argument
    always: bool
    may_be_key: bool = False
    given: tuple[ast.expr, ...] = dataclasses.field(default=(), compare=False)


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """One parameter as one call site sees it; `certain` unless a star may or may not reach it."""

    argument: Argument
    certain: bool = True
    may_be_key: bool = False
    node: ast.expr | None = None


def supplied(
    function: FunctionNode, calls: Sequence[tuple[CallSite, Resolved]], module: Module
) -> dict[str, Supplied]:
    """The parameters that at least one call site supplies; raises `Blurred` where that cannot be told."""
    per_site = [_of_site(function, site, resolved, module) for site, resolved in calls]
    names = [p.arg for p in parameters(function.args) if any(p.arg in found for found in per_site)]
    return {
        name: Supplied(
            _common([found[name].argument for found in per_site if name in found]),
            all(name in found and found[name].certain for found in per_site),
            any(name in found and found[name].may_be_key for found in per_site),
            _given([found[name].node if name in found else None for found in per_site]),
        )
        for name in names
    }


def _given(nodes: list[ast.expr | None]) -> tuple[ast.expr, ...]:
    shown = tuple(node for node in nodes if node is not None)
    return shown if len(shown) == len(nodes) else ()


def _common(arguments: list[Argument]) -> Argument:
    forms, dtypes = {a.form for a in arguments}, {a.dtype for a in arguments}
    form = forms.pop() if len(forms) == 1 else "any"
    return Argument(form, dtypes.pop() if len(dtypes) == 1 else None)


def _of_site(function: FunctionNode, site: CallSite, resolved: Resolved, module: Module) -> dict[str, _Seen]:
    """Each supplied parameter, and whether it surely is."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    free = positional[resolved.implicit + resolved.bound.positional :]
    found: dict[str, _Seen] = {}
    if site.is_partial:
        return {
            p.arg: _Seen(Argument(), not _has_default(p, arguments))
            for p in parameters(arguments)
            if _is_free(p, free, arguments, resolved)
        }
    starred = False
    for index, value in enumerate(site.args):
        starred = starred or isinstance(value, ast.Starred)
        if starred:
            for parameter in free[index:]:
                if parameter.arg not in resolved.bound.keywords:
                    found[parameter.arg] = _Seen(Argument(), not _has_default(parameter, arguments))
            break
        if index < len(free):
            found[free[index].arg] = _seen(value, module)
    if arguments.vararg and (starred or len(site.args) > len(free)):
        found[arguments.vararg.arg] = _Seen(Argument("tree"))
    if not starred and len(site.args) > len(free) and not arguments.vararg:
        raise Blurred("The call passes more arguments than the callback takes.")
    _keywords(site, arguments, found, module)
    return found


def _seen(node: ast.expr, module: Module) -> _Seen:
    return _Seen(argument(node, module), may_be_key=may_be_key(node, module), node=node)


def _keywords(site: CallSite, arguments: ast.arguments, found: dict[str, _Seen], module: Module) -> None:
    by_name = {p.arg for p in (*arguments.args, *arguments.kwonlyargs)}
    for keyword in site.keywords:
        assert keyword.arg is not None
        if keyword.arg in by_name:
            found[keyword.arg] = _seen(keyword.value, module)
        elif arguments.kwarg:
            found[arguments.kwarg.arg] = _Seen(Argument("tree"))
        else:
            raise Blurred(f"The callback takes no keyword `{keyword.arg}`.")


def _is_free(parameter: ast.arg, free: list[ast.arg], arguments: ast.arguments, resolved: Resolved) -> bool:
    return parameter.arg not in resolved.bound.keywords and (
        parameter in free
        or parameter in arguments.kwonlyargs
        or parameter in (arguments.vararg, arguments.kwarg)
    )


def _has_default(parameter: ast.arg, arguments: ast.arguments) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    if parameter in positional:
        return positional.index(parameter) >= len(positional) - len(arguments.defaults)
    if parameter in arguments.kwonlyargs:
        return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)] is not None
    return False


def default_of(parameter: ast.arg, arguments: ast.arguments) -> ast.expr | None:
    positional = [*arguments.posonlyargs, *arguments.args]
    if parameter in positional:
        index = positional.index(parameter) - len(positional) + len(arguments.defaults)
        return arguments.defaults[index] if index >= 0 else None
    if parameter in arguments.kwonlyargs:
        return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)]
    return None


def may_be_key(node: ast.expr, module: Module) -> bool:
    """Whether an argument may be a typed random key: made by `jax.random`, or named as one."""
    if isinstance(node, ast.Name):
        binding = module.sole_binding(node)
        made = binding.value if binding is not None else None
        if isinstance(made, ast.Call) and _is_of_jax(made, module):
            return may_be_key(made, module)
        return bool(_KEY_NAME.search(node.id)) or (made is not None and may_be_key(made, module))
    if isinstance(node, ast.Attribute):
        return bool(_KEY_NAME.search(node.attr))
    if isinstance(node, ast.Subscript):
        return may_be_key(node.value, module)
    return isinstance(node, ast.Call) and not module.origins(node.func).isdisjoint(_MAKE_KEYS)


def _is_of_jax(node: ast.Call, module: Module) -> bool:
    """Whether a function of `jax.random` or `jax.numpy` is called, whose results are known."""
    origins = module.origins(node.func)
    return bool(origins) and all(origin.startswith(("jax.random.", "jax.numpy.")) for origin in origins)


def argument(node: ast.expr, module: Module, depth: int = 0) -> Argument:
    """What an argument expression shows: whether it is one array, and of which dtype."""
    match node:
        case ast.Constant(value=bool() | int() | float() | complex()):
            return Argument("array")
        case ast.BinOp(op=op, left=left, right=right):
            # A sparse matrix has operators, too, so both sides must be arrays.
            sides = [argument(side, module, depth + 1) for side in (left, right)]
            if all(side.form == "array" for side in sides):
                kept = isinstance(op, ast.Add | ast.Sub | ast.Mult) and sides[0].dtype == sides[1].dtype
                return Argument("array", sides[0].dtype if kept else None)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return argument(operand, module, depth + 1)
        case ast.Attribute(value=value, attr="T" | "mT"):
            return argument(value, module, depth + 1)
        case ast.Call():
            return _of_call(node, module, depth)
        case ast.Name() if depth < _DEPTH:
            binding = module.sole_binding(node)
            if binding and binding.kind is BindingKind.ASSIGNMENT and binding.value is not None:
                return argument(binding.value, module, depth + 1)
    return Argument()


def _of_call(node: ast.Call, module: Module, depth: int) -> Argument:
    origin = module.origin(node.func) or ""
    prefix, _, name = origin.rpartition(".")
    asked_for_more = any(keyword.arg in _MORE_RESULTS or keyword.arg is None for keyword in node.keywords)
    if (
        prefix in ("jax.numpy", "jax.nn", "jax.scipy.special")
        and name not in _JNP_OTHER
        and not asked_for_more
    ):
        return Argument("array", _made_dtype(node, name, module))
    if origin in _FLOAT_SAMPLERS and len(node.args) <= 2 and _is_plain(node):
        return Argument("array", "float")
    if origin == "jax.lax.stop_gradient" and node.args:
        return argument(node.args[0], module, 1)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ARRAY_METHODS and not origin:
        if argument(node.func.value, module, depth + 1).form != "array":
            return Argument()
        dtype = dtype_name(node.args[0], module) if node.func.attr == "astype" and node.args else None
        return Argument("array", dtype)
    return Argument()


def _made_dtype(node: ast.Call, name: str, module: Module) -> str | None:
    """The dtype of what a function of `jax.numpy` makes; `float` for the default, of 32 or 64 bits."""
    if name in _DTYPES:
        return name
    if any(keyword.arg == "dtype" for keyword in node.keywords):
        return _dtype_keyword(node, module)
    if not _is_plain(node):
        return None
    if name in ("zeros", "ones", "empty", "eye", "identity") and len(node.args) == 1:
        return "float"
    if name in ("array", "asarray", "full", "linspace") and node.args and len(node.args) <= 3:
        numbers = node.args[:1] if name in ("array", "asarray") else node.args[1:2]
        if len(node.args) == len(numbers) + (name not in ("array", "asarray")) and all(
            is_literal_of(float, number) for number in numbers
        ):
            return "float"
    return None


def _is_plain(node: ast.Call) -> bool:
    """Whether a call has neither stars nor keywords, one of which may be the dtype."""
    return not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)


def is_literal_of(kind: type, node: ast.expr) -> bool:
    """Whether a literal is a Python number of one kind, or holds nothing but such."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, kind)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_literal_of(kind, operand)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return bool(elements) and all(is_literal_of(kind, element) for element in elements)
    return False


def _dtype_keyword(node: ast.Call, module: Module) -> str | None:
    return next((dtype_name(k.value, module) for k in node.keywords if k.arg == "dtype"), None)


def dtype_name(node: ast.expr, module: Module) -> str | None:
    """The name of a dtype that is the same in every mode; None for others."""
    name = node.value if isinstance(node, ast.Constant) else (module.origin(node) or "").rpartition(".")[2]
    return name if isinstance(name, str) and name in _DTYPES else None
