"""Bodies of callbacks that JAX can compute as well: arithmetic, and functions that JAX has too."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from codemods import hostlib
from codemods.names import Module
from codemods.plans import HostExpression
from codemods.scaffolds.derivatives import DERIVATIVES, KEYWORDS, Formula, Twin
from codemods.scaffolds.reads import is_settled

_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
_NUMBERS: Final = {
    f"{library}.{name}": f"jax.numpy.{name}" for library in ("numpy", "math") for name in ("pi", "e")
}
# Methods of arrays, with the keywords that mean the same to JAX's.
_METHODS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("sum", "mean", "prod", "max", "min"), frozenset({"axis", "keepdims"})),
    **dict.fromkeys(("std", "var"), frozenset({"axis", "keepdims", "ddof"})),
    **dict.fromkeys(("cumsum", "cumprod", "squeeze"), frozenset({"axis"})),
    **dict.fromkeys(("reshape", "ravel", "flatten", "transpose", "swapaxes"), frozenset()),
    "trace": frozenset({"offset", "axis1", "axis2"}),
}
_LOCAL: Final = re.compile(r"\{local:(\d+):\w+\}")

_Kind = Literal["constant", "argument", "array", "tuple"]


class _NotInJax(Exception):
    """Something of the body is nothing that JAX surely computes alike."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Value:
    """Something of the body, as JAX has it.

    Attributes:
      kind: a `constant` is a number of Python's; an `argument`, or part of one, may be a pytree.
      elements: the names of a tuple's.
    """

    node: ast.expr
    kind: _Kind
    elements: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class _Statement:
    """The assignment of a value to a variable, or of a tuple to several."""

    target: str
    value: str


def translated(
    function: ast.FunctionDef | ast.Lambda, arguments: Mapping[str, int], module: Module, *, is_batched: bool
) -> HostExpression | None:
    """What a callback computes, for one that JAX surely computes the same as.

    `arguments` has the index of each parameter that the call gives; `is_batched` says that the callback may
    get batches of them, whose first axes are none of an array's own.
    """
    try:
        return _Translation(function, arguments, module, is_batched=is_batched).result()
    except _NotInJax:
        return None


class _Translation:
    def __init__(
        self,
        function: ast.FunctionDef | ast.Lambda,
        arguments: Mapping[str, int],
        module: Module,
        *,
        is_batched: bool,
    ) -> None:
        self._function, self._module, self._is_batched = function, module, is_batched
        self._values: dict[str, _Value] = dict(_defaults(function.args))
        self._values |= {name: _Value(_name(f"argument:{i}"), "argument") for name, i in arguments.items()}
        self._statements: list[_Statement] = []
        self._names: set[str] = set()
        self._count = 0

    def result(self) -> HostExpression:
        """The whole body.

        Raises:
          _NotInJax: something of it is nothing that JAX surely computes alike.
        """
        returned = self._returned()
        is_tuple, nodes = False, [returned]
        if isinstance(returned, ast.Tuple):
            is_tuple, nodes = True, returned.elts
        values = [self._value(node) for node in nodes]
        if len(values) == 1 and values[0].kind == "tuple":
            is_tuple, values = True, self._elements(values[0], values[0].elements)
        if not values or any(value.kind == "tuple" for value in values):
            raise _NotInJax
        texts = tuple(ast.unparse(value.node) for value in values)
        used = _used(texts, self._statements)
        if used and texts == (used[-1].target,):
            texts = (used.pop().value,)
        everything = " ".join([*texts, *(statement.value for statement in used)])
        return HostExpression(
            tuple((statement.target, statement.value) for statement in used),
            texts,
            is_tuple,
            frozenset(name for name in self._names if re.search(rf"\b{name}\b", everything)),
            tuple(sorted({int(index) for index in re.findall(r"\{(?:argument|array):(\d+)\}", everything)})),
        )

    # Statements.

    def _returned(self) -> ast.expr:
        """The expression that is returned, behind assignments that are followed."""
        if isinstance(self._function, ast.Lambda):
            return self._function.body
        for statement in self._function.body:
            match statement:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                    self._assign(target, value)
                case ast.Return(value=ast.expr() as value):
                    return value
                case _:
                    break
        raise _NotInJax

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self._values[name] = self._kept(name, self._value(value), may_rebind=True)
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                names = [_plain(each) for each in targets]
                found = [self._value(each) for each in values]
                self._values |= {n: self._kept(n, each) for n, each in zip(names, found, strict=True)}
            case ast.Tuple(elts=targets), _:
                names = [_plain(each) for each in targets]
                found = self._elements(self._value(value), names)
                self._values |= dict(zip(names, found, strict=True))
            case _:
                raise _NotInJax

    def _kept(self, name: str, value: _Value, *, may_rebind: bool = False) -> _Value:
        """The value of a variable: itself if it is but a name, else what the variable stands for."""
        if isinstance(value.node, ast.Name | ast.Constant):
            return value
        local = (self._rebound(name) if may_rebind else None) or self._local(name)
        self._statements.append(_Statement(local.id, ast.unparse(value.node)))
        return dataclasses.replace(value, node=local)

    def _rebound(self, name: str) -> ast.Name | None:
        """The variable of that name, if nothing else stands for its value."""
        old = self._values[name].node if name in self._values else None
        if not isinstance(old, ast.Name) or not re.fullmatch(rf"\{{local:\d+:{name}\}}", old.id):
            return None
        others = [value.node for other, value in self._values.items() if other != name]
        is_sole = all(not isinstance(node, ast.Name) or node.id != old.id for node in others)
        return old if is_sole else None

    def _elements(self, value: _Value, names: Sequence[str]) -> list[_Value]:
        """The variables to which a tuple is assigned."""
        if value.kind != "tuple" or len(value.elements) != len(names):
            raise _NotInJax
        variables = [self._local(name) for name in names]
        target = ", ".join(variable.id for variable in variables)
        self._statements.append(_Statement(target, ast.unparse(value.node)))
        return [_Value(variable, "array") for variable in variables]

    def _local(self, name: str) -> ast.Name:
        self._count += 1
        return _name(f"local:{self._count}:{name}")

    # Expressions.

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Name(id=name):
                return self._values.get(name) or self._outer(node)
            case ast.Constant() if is_number(node):
                return _Value(node, "constant")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                value = self._array(self._value(operand))
                return _Value(ast.UnaryOp(node.op, value.node), value.kind)
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
                return _combined(self._value(left), operator, self._value(right))
            case ast.Subscript(value=inner, slice=index):
                return self._item(inner, index)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(func=function):
                origin = self._module.origin(function)
                return self._function_call(node, origin) if origin else self._method(node)
        raise _NotInJax

    def _outer(self, node: ast.Name) -> _Value:
        """A number that the module binds once and for all."""
        binding, root = self._module.sole_binding(node), self._module.root
        if binding is None or binding.value is None or not is_number(binding.value):
            raise _NotInJax
        if binding.scope is not root or not is_settled(node.id, root, self._module):
            raise _NotInJax
        self._names.add(node.id)
        return _Value(node, "constant")

    def _array(self, value: _Value) -> _Value:
        if value.kind == "tuple":
            raise _NotInJax
        return value

    def _item(self, inner: ast.expr, index: ast.expr) -> _Value:
        if isinstance(inner, ast.Attribute) and inner.attr == "shape":
            value = self._sizes(inner)
            return _Value(ast.Subscript(value.node, _checked(index)), "constant")
        value = self._value(inner)
        is_list = any(isinstance(part, ast.List) for part in ast.walk(index))
        if value.kind == "constant" or is_list or (value.kind == "tuple" and not is_number(index)):
            raise _NotInJax
        kind: _Kind = "array" if value.kind == "tuple" else value.kind
        is_key = value.kind == "argument" and isinstance(index, ast.Constant) and isinstance(index.value, str)
        if self._is_batched and value.kind != "tuple" and not (is_key or _counts_from_the_end(index)):
            raise _NotInJax
        return _Value(ast.Subscript(value.node, index if is_key else _checked(index)), kind)

    def _attribute(self, node: ast.Attribute) -> _Value:
        origin = self._module.origin(node)
        if origin is not None:
            if origin not in _NUMBERS:
                raise _NotInJax
            return _Value(_name(f"jax:{_NUMBERS[origin]}"), "constant")
        if node.attr in ("size", "ndim"):
            return self._sizes(node)
        value = self._array(self._value(node.value))
        if (
            node.attr not in ("T", "mT")
            or value.kind == "constant"
            or (self._is_batched and node.attr == "T")
        ):
            raise _NotInJax
        return _Value(ast.Attribute(value.node, node.attr), "array")

    def _sizes(self, node: ast.Attribute) -> _Value:
        value = self._array(self._value(node.value))
        if self._is_batched or value.kind == "constant":
            raise _NotInJax
        return _Value(ast.Attribute(value.node, node.attr), "constant")

    # Calls.

    def _method(self, node: ast.Call) -> _Value:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="astype"), args=[dtype], keywords=[]):
                return self._cast(self._value(inner), dtype)
            case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[], keywords=[]):
                return self._value(inner)
            case ast.Call(func=ast.Attribute(attr=name)) if self._is_batched and not _has_last_axis(node):
                raise _NotInJax
            case ast.Call(func=ast.Attribute(value=inner, attr="dot"), args=[other], keywords=[]):
                values = [self._array(self._value(each)) for each in (inner, other)]
                return _Value(ast.Call(_name("jax:jax.numpy.dot"), [v.node for v in values], []), "array")
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _METHODS:
                value = self._array(self._value(inner))
                keywords = _constants(node.keywords, _METHODS[name])
                if value.kind == "constant":
                    raise _NotInJax
                method = ast.Attribute(value.node, name)
                return _Value(ast.Call(method, list(map(_checked, node.args)), keywords), "array")
        raise _NotInJax

    def _function_call(self, node: ast.Call, origin: str) -> _Value:
        match node:
            case ast.Call(args=[inner], keywords=[]) if origin in hostlib.CONVERTING:
                return self._converted(inner, origin)
            case (
                ast.Call(args=[inner, dtype], keywords=[])
                | ast.Call(args=[inner], keywords=[ast.keyword(arg="dtype", value=dtype)])
            ) if origin in hostlib.CONVERTING:
                return self._cast(self._converted(inner, origin), dtype)
            case ast.Call(args=[inner], keywords=[]) if origin in _CASTS:
                return self._cast(self._value(inner), node.func)
        if self._is_batched and not (_is_of_last_axes(node, origin) or _has_last_axis(node)):
            raise _NotInJax
        match DERIVATIVES.get(origin):
            case Twin() as twin:
                return self._twin(node, twin)
            case Formula(text=text) if len(node.args) == 1 and not node.keywords:
                return _Value(_filled(text, self._given(node.args[0]).node), "array")
        raise _NotInJax

    def _twin(self, node: ast.Call, twin: Twin) -> _Value:
        keywords = _constants(node.keywords, KEYWORDS)
        given: list[ast.expr] = []
        for index, argument in enumerate(node.args):
            if not 0 <= index - twin.leading < twin.arrays:
                given.append(_checked(argument))
            elif twin.takes_list:
                if not isinstance(argument, ast.List | ast.Tuple):
                    raise _NotInJax
                given.append(type(argument)([self._given(each).node for each in argument.elts], ast.Load()))
            else:
                given.append(self._given(argument).node)
        call = ast.Call(_name(f"jax:{twin.origin}"), given, keywords)
        return _Value(call, "tuple" if twin.results else "array", twin.results)

    def _given(self, node: ast.expr) -> _Value:
        """An argument of a function: one array or number."""
        return _as_array(self._array(self._value(node)))

    def _converted(self, node: ast.expr, origin: str) -> _Value:
        """What `np.asarray` and the like give."""
        if isinstance(node, ast.List | ast.Tuple):
            if origin not in hostlib.MAKING or self._is_batched:
                raise _NotInJax
            elements = [self._given(each).node for each in node.elts]
            return _Value(ast.Call(_name("jax:jax.numpy.array"), [ast.List(elements)], []), "array")
        value = self._array(self._value(node))
        if value.kind == "argument" and not isinstance(value.node, ast.Name):
            return _Value(ast.Call(_name("jax:jax.numpy.asarray"), [value.node], []), "array")
        return _as_array(value)

    def _cast(self, value: _Value, dtype: ast.expr) -> _Value:
        """A value of another dtype: that of an argument, or single precision, which JAX always has."""
        match dtype:
            case ast.Attribute(value=ast.Name(id=name), attr="dtype") if name in self._values:
                of = _as_array(self._values[name])
                if of.kind in ("constant", "tuple"):
                    raise _NotInJax
                wanted: ast.expr = ast.Attribute(of.node, "dtype")
            case ast.Constant(value="float32" | "f4"):
                wanted = _name("jax:jax.numpy.float32")
            case _ if self._module.origin(dtype) in _CASTS:
                wanted = _name("jax:jax.numpy.float32")
            case _:
                raise _NotInJax
        if value.kind in ("constant", "tuple"):
            raise _NotInJax
        return _Value(ast.Call(ast.Attribute(value.node, "astype"), [wanted], []), "array")


_CASTS: Final = frozenset({"numpy.float32", "numpy.single", "jax.numpy.float32", "jax.numpy.single"})
# Functions that are elementwise, or of the last axes, if no axis is given.
_ELEMENTWISE: Final = (
    (hostlib.UFUNCS - {"numpy.matvec", "numpy.vecmat"})
    | {f"numpy.{name}" for name in "clip i0 nan_to_num sinc".split()}
    | {
        f"numpy.linalg.{name}"
        for name in "cholesky det eigvalsh inv matrix_power pinv slogdet svdvals".split()
    }
    | {name for name in DERIVATIVES if name.startswith("scipy.special.")}
) - {f"scipy.special.{name}" for name in "logsumexp softmax log_softmax".split()}
_OF_LAST_AXES: Final = frozenset(
    {"numpy.diff", "numpy.sort"}
    | {f"numpy.fft.{name}" for name in "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2".split()}
)


def _is_of_last_axes(call: ast.Call, origin: str) -> bool:
    """Whether a call of a function names no axis, and the function then takes the last ones or none."""
    if any(keyword.arg in ("axis", "axes") for keyword in call.keywords):
        return False
    return origin in _ELEMENTWISE or (origin in _OF_LAST_AXES and len(call.args) == 1)


def _has_last_axis(call: ast.Call) -> bool:
    """Whether a call names an axis, counted from the end, and no other argument is one."""
    axes = [keyword.value for keyword in call.keywords if keyword.arg == "axis"]
    return len(axes) == 1 and isinstance(axes[0], ast.UnaryOp) and is_number(axes[0]) and len(call.args) <= 1


def _counts_from_the_end(index: ast.expr) -> bool:
    """Whether an index leaves the first axes as they are."""
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    return isinstance(first, ast.Constant) and first.value is Ellipsis


def _name(what: str) -> ast.Name:
    return ast.Name(f"{{{what}}}", ast.Load())


def _plain(node: ast.expr) -> str:
    if not isinstance(node, ast.Name):
        raise _NotInJax
    return node.id


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, _Value]]:
    """The parameters that have a number for a default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = list(
        zip(reversed(positional), reversed(arguments.defaults), strict=False)
    )
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for parameter, default in pairs:
        if default is not None and is_number(default):
            yield parameter.arg, _Value(default, "constant")


def _combined(left: _Value, operator: ast.operator, right: _Value) -> _Value:
    kinds = {left.kind, right.kind}
    if "tuple" in kinds:
        raise _NotInJax
    kind: _Kind = "array" if "array" in kinds else "argument" if "argument" in kinds else "constant"
    return _Value(ast.BinOp(left.node, operator, right.node), kind)


def _as_array(value: _Value) -> _Value:
    """An argument that is used as an array, which it may have to be made."""
    if value.kind == "argument" and isinstance(value.node, ast.Name):
        return _Value(ast.Name(value.node.id.replace("{argument:", "{array:"), ast.Load()), "array")
    return value


def _filled(text: str, node: ast.expr) -> ast.expr:
    """The expression of a formula."""
    tree = ast.parse(text.format("ARGUMENT", jnp="JNP"), mode="eval").body
    given = {"ARGUMENT": node, "JNP": _name("jax:jax.numpy")}

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return copy.deepcopy(given[name.id])

    filled = Fill().visit(tree)
    assert isinstance(filled, ast.expr)
    return filled


def _constants(keywords: Sequence[ast.keyword], allowed: frozenset[str]) -> list[ast.keyword]:
    if any(keyword.arg not in allowed for keyword in keywords):
        raise _NotInJax
    return [ast.keyword(keyword.arg, _checked(keyword.value)) for keyword in keywords]


def _checked(node: ast.expr) -> ast.expr:
    """A constant as it is."""
    if not is_constant(node):
        raise _NotInJax
    return node


def is_constant(node: ast.expr) -> bool:
    """Whether an expression is of nothing but constants."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_constant(operand)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(map(is_constant, elements))
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or is_constant(part) for part in (lower, upper, step))
    return False


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a real number, perhaps a negative one."""
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and type(inner.value) in (int, float)


def _used(texts: Iterable[str], statements: Sequence[_Statement]) -> list[_Statement]:
    """The statements that the results need."""
    wanted = {number for text in texts for number in _LOCAL.findall(text)}
    kept: list[_Statement] = []
    for statement in reversed(statements):
        assigned = set(_LOCAL.findall(statement.target))
        if wanted & assigned:
            kept.insert(0, statement)
            wanted = (wanted - assigned) | set(_LOCAL.findall(statement.value))
    return kept
