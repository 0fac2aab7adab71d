"""The outputs of a callback, leaf by leaf, and what may write each of them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

from codemods.lint.callbacks import Callback
from codemods.lint.helpers import helper_of
from codemods.lint.views import NUMPY_VIEWS
from codemods.names import Module
from codemods.returns import is_generator

# What one asks an output for, which writes nothing.
_ASKED: Final = frozenset({"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides"})
# What reads an array and gives another one.
_COPYING: Final = frozenset(
    f"numpy.{name}"
    for name in ("array", "copy", "empty_like", "zeros_like", "ones_like", "full_like", "shape")
)
_COPYING_METHODS: Final = frozenset({"copy", "astype", "tolist", "sum", "mean"})
# Functions that hand an output on to one another.
_MOST_LINKS: Final = 3
_READS_NAMES: Final = frozenset({"exec", "eval", "locals", "vars"})


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Output:
    """One output, or all of them where they cannot be told apart.

    Attributes:
      shown: how it is written in the callback.
      key: its place in the container; None for the whole.
      alias: the name that an unpacking gives it.
      place: its place among the flattened ones; None where it cannot be told.
      star: the `*args` of which it is the element `key`, where it has no parameter of its own.
    """

    callback: Callback
    shown: str
    key: object = None
    alias: str | None = None
    place: int | None = None
    star: str | None = None

    def is_written_in(self, node: ast.AST) -> bool:
        """Whether anything inside a node may write it: any mention but for a question."""
        return any(self._is_mention(inner) for inner in ast.walk(node) if isinstance(inner, ast.Name))

    def _is_mention(self, name: ast.Name) -> bool:
        parents, out = self.callback.module.parents, self.callback.out
        parent = parents[name]
        if self.star is not None:
            return name.id == self.star and not _is_other_element(name, self.key, parent)
        is_array = name.id == self.alias or self.callback.spec.kind == "leaf"
        if _is_only_read(name, self.callback, is_array=is_array):
            return False
        if name.id == self.alias:
            return isinstance(name.ctx, ast.Load)
        if out is None or name.id != out.arg:
            return False
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
            return False
        if self.key is None:
            return True
        if self.alias is not None and isinstance(parent, ast.Assign) and parent.value is name:
            return False  # the unpacking itself
        match parent:
            case ast.Subscript(value=value, slice=ast.Constant(value=key)) if value is name:
                around = parents[parent]
                if isinstance(around, ast.Attribute) and around.attr in _ASKED:
                    return False
                return bool(key == self.key)
        return True


def outputs(callback: Callback) -> Iterator[Output]:
    """The outputs of a callback that has a parameter for them, or a `*args` that they are among."""
    star = callback.function.args.vararg
    if callback.out is None:
        if star is not None and callback.position is not None and callback.spec.kind != "empty":
            index = 0 if callback.context is not None else 1
            yield Output(callback, f"{star.arg}[{index}]", index, star=star.arg)
        return
    out, spec = callback.out.arg, callback.spec
    if spec.kind not in ("tuple", "list", "dict") or not spec.children:
        if spec.kind != "empty":
            yield Output(callback, out, place=0 if spec.kind == "leaf" else None)
        return
    keys: list[object] = [*spec.keys] if spec.kind == "dict" else [*range(len(spec.children))]
    names = unpacked(callback, out) if spec.kind != "dict" else []
    order: list[object] = [*sorted(spec.keys)] if spec.kind == "dict" else keys
    for index, (key, child) in enumerate(zip(keys, spec.children, strict=True)):
        if child.kind == "leaf":
            alias = names[index] if len(names) == len(keys) else None
            place = order.index(key) if spec.is_flat else None
            yield Output(callback, alias or f"{out}[{key!r}]", key, alias, place)


def is_only_read(name: ast.Name, module: Module, *, is_array: bool) -> bool:
    """Whether an array is asked for its shape, or for a copy, where it is named."""
    node = _viewed(name, module)
    match module.parents[node]:
        case ast.Attribute(attr=attribute) as found:
            call = module.parents[found]
            is_called = isinstance(call, ast.Call) and call.func is found
            return attribute in _ASKED or (is_array and is_called and attribute in _COPYING_METHODS)
        case ast.Call(func=function, args=[first, *_]) if first is node:
            return bool(origins := module.origins(function)) and origins <= _COPYING
        case ast.BinOp():
            return is_array
    return False


def _viewed(name: ast.Name, module: Module) -> ast.AST:
    """What is used where an array is named: itself, or NumPy's view of it."""
    node: ast.AST = name
    while isinstance(around := module.parents[node], ast.Call) and module.origins(around.func) & NUMPY_VIEWS:
        node = around
    return node


def _is_other_element(name: ast.Name, key: object, parent: ast.AST) -> bool:
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if value is name:
            return index >= 0 and index != key
    return False


def _is_only_read(name: ast.Name, callback: Callback, *, is_array: bool, links: int = _MOST_LINKS) -> bool:
    """Whether that is so as well where a function of the module is handed the array."""
    module = callback.module
    if is_only_read(name, module, is_array=is_array):
        return True
    node = _viewed(name, module)
    around = module.parents[node]
    call = module.parents[around] if isinstance(around, ast.keyword) else around
    helper = helper_of(call, callback) if links and isinstance(call, ast.Call) else None
    if helper is None or _runs_text(helper.function):
        return False
    scope = module.opened[helper.function]
    names = [parameter for parameter, value in helper.given.items() if value is node]
    return bool(names) and all(
        len(scope.bindings[each]) == 1
        and all(
            _is_only_read(use, callback, is_array=is_array, links=links - 1)
            for use in module.references(each, scope)
        )
        for each in names
    )


def unpacked(callback: Callback, out: str) -> list[str]:
    """The names that `a, b = out` gives the outputs, where they are bound to nothing else."""
    function = callback.function
    scope = callback.module.opened[function]
    for statement in function.body if isinstance(function, ast.FunctionDef) else []:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=name)) if name == out:
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                once = all(len(scope.bindings[each]) == 1 for each in names)
                return names if once and len(names) == len(targets) else []
    return []


def may_stay_unwritten(callback: Callback) -> bool:
    """Whether an output may hold something without being written, or nobody may look at it."""
    if is_generator(callback.function) or _runs_text(callback.function):
        return True
    for call, _ in callback.calls:
        if not call.is_complete:
            return True
        if any(isinstance(n, ast.Constant) and n.value == 0 for n in ast.walk(call.spec)):
            return True  # of no elements, perhaps
    with_effects = all("has_side_effect" in call.options for call, _ in callback.calls)
    return with_effects and not any(o.is_written_in(callback.function) for o in outputs(callback))


def is_aliased(output: Output) -> bool:
    """Whether an output may hold an input's values from the start."""
    aliases = [call.options.get("input_output_aliases") for call, _ in output.callback.calls]
    return any(each is not None and _may_alias(each, output.place) for each in aliases)


def _may_alias(aliases: ast.expr, place: int | None) -> bool:
    match aliases:
        case ast.Constant(value=None):
            return False
        case ast.Dict(keys=keys, values=values) if None not in keys:
            found = [each.value if isinstance(each, ast.Constant) else None for each in values]
            return bool(found) and (place is None or place in found or None in found)
    return True


def _runs_text(function: ast.AST) -> bool:
    """Whether a function runs code that is text, which may do anything with its names."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(each, ast.Name) and each.id in _READS_NAMES for each in calls)
