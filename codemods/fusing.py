"""Which results a ufunc may compute straight into their outputs, for `--fuse`.

`out[...] = np.sin(x)` makes an array and copies it, which `np.sin(x, out=np.asarray(out), casting="no")` does
not. The first one is strict: a value of another shape or dtype is an error. So is the second one, where

- every operand has the output's shape, or is a number. A smaller array would be broadcast.
- the operands have the output's dtype, so that `casting="no"` refuses what the strict write refuses: a result
  of any other dtype. (Of operands with other dtypes, the strict write may narrow a 64-bit result as JAX does.
  `tests/codemods/test_fusing.py` tries every ufunc with all dtypes of JAX.)

An operand is an argument of the callback, or what ufuncs make of such. That it has the output's shape and
dtype is what every call site must show, by a spec such as `jax.ShapeDtypeStruct(x.shape, x.dtype)` for the
argument `x`. Where anything is missing the write stays as it is.
"""

from __future__ import annotations

import ast
import itertools
from typing import Final

from codemods import hostlib
from codemods.arguments import argument, dtype_name
from codemods.groups import Findings, Group
from codemods.model import Options
from codemods.names import Binding, BindingKind, Module
from codemods.plans import FunctionPlan
from codemods.returns import leaves
from codemods.sites import CallSite

# Of these, an argument that is batched has the output's shape, and so has one that is not.
_BATCHED_ALIKE: Final = frozenset({"broadcast_all", "sequential", "sequential_unrolled"})
_SPECS: Final = frozenset({"jax.ShapeDtypeStruct", "jax.core.ShapedArray"})
_LIKE: Final = frozenset({"jax.ShapeDtypeStruct.like", "jax.numpy.zeros_like", "jax.numpy.ones_like"})
_SHAPES: Final = frozenset({"jax.numpy.shape", "numpy.shape"})
# Give an array that has the shape and dtype of their argument, once that is a value of JAX.
_SAME_ARRAY: Final = frozenset({"jax.lax.stop_gradient", "jax.numpy.asarray", "jax.numpy.array"})
# What they hold may run several times; functions, where a name is declared `global` or `nonlocal`.
_REPEATED: Final = (
    *(ast.For, ast.AsyncFor, ast.While, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
)
_DEPTH: Final = 8

Key = int | str | None
"""The place of a leaf in the spec's container; None for a spec that is a leaf."""


def fused(
    plan: FunctionPlan, group: Group, findings: Findings, module: Module, options: Options
) -> dict[ast.AST, frozenset[int]]:
    """What `FunctionPlan.fused` is to be."""
    if _may_reshape(plan.function):
        return {}
    body = _Body(plan, findings, module)
    sites = _Sites(group, findings, module, options.default_vmap_method)
    behind = {planned.node for planned in plan.returns if planned.after is not None}
    found: dict[ast.AST, frozenset[int]] = {}
    for node, form, value in plan.results:
        if form not in ("write", "leaves") or value is None or node in behind:
            continue
        values = [(None, value)] if form == "write" else _elements(value)
        whole = [index for index, (key, each) in enumerate(values) if sites.agree(body.made_of(each), key)]
        if whole:
            found[node] = frozenset(whole)
    return found


def _may_reshape(function: ast.AST) -> bool:
    """Whether an array, which may have several names, is given another shape or dtype in place."""
    return any(
        isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr == "resize")
        for node in ast.walk(function)
    )


def _elements(value: ast.expr) -> list[tuple[Key, ast.expr]]:
    return [(ast.literal_eval(index), element) for index, element in leaves(value)]


class _Body:
    """What the callback's own values are made of."""

    def __init__(self, plan: FunctionPlan, findings: Findings, module: Module) -> None:
        self._function, self._module, self._supplied = plan.function, module, findings.supplied
        # Those that are arrays of NumPy in the body: anything else may have ways of its own with `out=`.
        self._arrays = {c.name for c in plan.conversions if c.how.startswith("array")}
        self._arrays |= {name for name, seen in findings.supplied.items() if seen.argument.form == "array"}

    def made_of(self, node: ast.expr, depth: int = 0) -> frozenset[str]:
        """The parameters of which the result of a ufunc has the shape; none for any other value."""
        origin = self._module.origin(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or origin not in hostlib.ELEMENTWISE or depth > _DEPTH:
            return frozenset()
        if node.keywords or len(node.args) != (2 if origin in hostlib.BINARY else 1):
            return frozenset()
        operands = [self._operand(each, depth + 1) for each in node.args if not _is_number(each)]
        return frozenset().union(*operands) if all(operands) else frozenset()

    def _operand(self, node: ast.expr, depth: int) -> frozenset[str]:
        if isinstance(node, ast.Name) and depth <= _DEPTH:
            return self._variable(node, depth)
        if (inner := self._converted(node)) is None:
            return self.made_of(node, depth)
        if isinstance(inner, ast.Name) and self._is_parameter(inner):
            return frozenset({inner.id})
        return self._operand(inner, depth + 1)

    def _variable(self, name: ast.Name, depth: int) -> frozenset[str]:
        """A parameter that is bound to its own conversion at most, or what is assigned but once."""
        if self._is_parameter(name):
            is_array = name.id in self._arrays or self._is_converted_above(name)
            return frozenset({name.id}) if is_array else frozenset()
        binding = self._module.sole_binding(name)
        if binding is None or not self._is_local(binding):
            return frozenset()
        value = self._assigned(binding)
        return frozenset() if value is None else self._operand(value, depth + 1)

    def _is_local(self, binding: Binding) -> bool:
        return binding.scope is self._module.opened[self._function]

    def _is_parameter(self, name: ast.Name) -> bool:
        """Whether a name is a supplied parameter, bound to nothing else but what it is converted to."""
        bindings = self._module.bindings(name)
        return (
            name.id in self._supplied
            and bool(bindings)
            and bindings[0].kind is BindingKind.PARAMETER
            and self._is_local(bindings[0])
            and all(self._is_own_conversion(each) for each in bindings[1:])
        )

    def _is_own_conversion(self, binding: Binding) -> bool:
        value = self._assigned(binding)
        inner = self._converted(value) if value is not None else None
        return isinstance(inner, ast.Name) and inner.id == binding.name

    def _is_converted_above(self, name: ast.Name) -> bool:
        """Whether a parameter's own conversion is a statement of the body that comes before."""
        body = [] if isinstance(self._function, ast.Lambda) else self._function.body
        conversions = [self._module.statement(b.node) for b in self._module.bindings(name)[1:]]
        return any(each in body and _end(each) <= (name.lineno, name.col_offset) for each in conversions)

    def _converted(self, node: ast.expr) -> ast.expr | None:
        """What is made an array, of the same dtype."""
        match node:
            case ast.Call(func=function, args=[inner], keywords=[]):
                return inner if self._module.origin(function) in hostlib.MAKING else None
        return None

    def _assigned(self, binding: Binding) -> ast.expr | None:
        """What a binding assigns to its name alone, or as one of as many values as names."""
        if binding.value is not None:
            return binding.value
        targets = self._module.parents.get(binding.node)
        match targets, self._module.parents.get(targets) if targets is not None else None:
            case ast.Tuple(elts=names), ast.Assign(targets=[_], value=ast.Tuple(elts=values)):
                if len(names) == len(values) and not any(isinstance(e, ast.Starred) for e in names + values):
                    return next(v for n, v in zip(names, values, strict=True) if n is binding.node)
        return None


class _Sites:
    """What the call sites show of the callback's arguments."""

    def __init__(self, group: Group, findings: Findings, module: Module, default: str | None) -> None:
        self._calls, self._supplied = [site for site, _ in group.calls], findings.supplied
        self._module, self._default = module, default

    def agree(self, names: frozenset[str], key: Key) -> bool:
        """Whether at every call site the arguments for these parameters are as an output is to be."""
        return bool(names) and all(self._is_like_output(name, key) for name in names)

    def _is_like_output(self, name: str, key: Key) -> bool:
        given = self._supplied[name].given
        return bool(given) and all(
            (variable := self._variable(node)) is not None
            and self._keeps_up(site, variable)
            and _Comparison(variable, argument(node, self._module).dtype, self._module).holds(site.spec, key)
            for site, node in zip(self._calls, given, strict=True)
        )

    def _variable(self, node: ast.expr) -> Binding | None:
        """The variable that an argument is, or has its shape and dtype from."""
        while isinstance(node, ast.Call) and self._module.origin(node.func) in _SAME_ARRAY:
            if len(node.args) != 1 or node.keywords:
                return None
            node = node.args[0]
        return self._module.sole_binding(node) if isinstance(node, ast.Name) else None

    def _keeps_up(self, site: CallSite, variable: Binding) -> bool:
        """Whether an argument goes on to have the output's shape under `vmap`.

        One that is not batched is given an axis of size one, or none at all, if another one is batched.
        """
        if self._batches_alike(site):
            return True
        given = [*site.args, *(keyword.value for keyword in site.keywords)]
        return all(isinstance(each, ast.Constant) or self._variable(each) is variable for each in given)

    def _batches_alike(self, site: CallSite) -> bool:
        options = {option.arg: option.value for option in site.options}
        match options.get("vmap_method"), options.get("vectorized"):
            case None, None:
                default = self._default if "vmap_method" in site.api.options else site.api.vmap_method
                return default is None or default in _BATCHED_ALIKE
            case ast.Constant(value=method), None:
                return method is None or method in _BATCHED_ALIKE
            case None, ast.Constant(value=False):
                return True
        return False


class _Comparison:
    """Whether a spec asks for the shape and dtype of a variable, read with what it holds at the call.

    Args:
      dtype: the name of the argument's dtype, where its expression shows it.
    """

    def __init__(self, variable: Binding, dtype: str | None, module: Module) -> None:
        self._variable, self._dtype, self._module = variable, dtype, module
        self._through: list[Binding] = []

    def holds(self, spec: ast.expr, key: Key) -> bool:
        leaf = self._followed(spec)
        if key is not None:
            element = _element(leaf, key)
            if element is None:
                return False
            leaf = self._followed(element)
        return self._is_alike(leaf) and self._is_current()

    def _is_alike(self, leaf: ast.expr) -> bool:
        if not isinstance(leaf, ast.Call):
            return self._is_variable(leaf)
        origin = self._module.origin(leaf.func)
        if origin in _LIKE:
            return len(leaf.args) == 1 and not leaf.keywords and self._is_variable(leaf.args[0])
        parts = dict(zip(("shape", "dtype"), leaf.args, strict=False))
        parts |= {keyword.arg: keyword.value for keyword in leaf.keywords if keyword.arg}
        if origin not in _SPECS or parts.keys() != {"shape", "dtype"} or len(leaf.args + leaf.keywords) != 2:
            return False
        return self._is_shape(self._followed(parts["shape"])) and self._is_dtype(
            self._followed(parts["dtype"])
        )

    def _is_shape(self, node: ast.expr) -> bool:
        match node:
            case ast.Attribute(value=value, attr="shape"):
                return self._is_variable(value)
            case ast.Call(func=function, args=[value], keywords=[]):
                return self._module.origin(function) in _SHAPES and self._is_variable(value)
        return False

    def _is_dtype(self, node: ast.expr) -> bool:
        match node:
            case ast.Attribute(value=value, attr="dtype") if self._is_variable(value):
                return True
        return self._dtype is not None and self._dtype == dtype_name(node, self._module)

    def _is_variable(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self._module.sole_binding(node) is self._variable

    def _followed(self, node: ast.expr) -> ast.expr:
        """The expression that a variable is assigned, which is noted; the one to compare with stays."""
        for _ in range(_DEPTH):
            binding = self._module.sole_binding(node) if isinstance(node, ast.Name) else None
            if binding is None or binding.value is None or binding is self._variable:
                break
            self._through.append(binding)
            node = binding.value
        return node

    def _is_current(self) -> bool:
        """Whether what the spec was read through was made of the very value that the call passes."""
        if not self._through:
            return True
        inside = all(self._variable.scope in each.scope.enclosing() for each in self._through)
        return inside and not self._may_be_bound_again()

    def _may_be_bound_again(self) -> bool:
        """Whether what binds the variable may run several times in one run of its scope."""
        node, scope = self._variable.node, self._variable.scope.node
        around = itertools.takewhile(lambda each: each is not scope, self._module.ancestors(node))
        return any(isinstance(each, _REPEATED) for each in around)


def _element(container: ast.expr, key: Key) -> ast.expr | None:
    """The expression at an index or key of a literal."""
    match container:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return elements[key] if isinstance(key, int) and key < len(elements) else None
        case ast.Dict(keys=keys, values=values):
            found = [v for k, v in zip(keys, values, strict=True) if _is_key(k, key)]
            return found[0] if len(found) == 1 else None
    return None


def _is_key(node: ast.expr | None, key: Key) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _is_number(node: ast.expr) -> bool:
    """Whether a literal is a Python number, which takes on the dtype of an array beside it."""
    match node:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_number(operand)
        case ast.Constant(value=int() | float() | complex() as value):
            return not isinstance(value, bool)
    return False


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or statement.lineno, statement.end_col_offset or 0
