"""Which expressions of a callback surely are a buffer, or a NumPy view of one, where they stand."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from codemods.lint.callbacks import Callback

NUMPY_VIEWS: Final = frozenset({"numpy.asarray", "numpy.asanyarray"})
VIEWING: Final = NUMPY_VIEWS | {"bufcb.to_numpy"}
_VIEWING_ATTRIBUTES: Final = frozenset({"T", "mT"})
_VIEWING_METHODS: Final = frozenset({"view", "transpose", "squeeze", "swapaxes"})
# These make a view of what is contiguous, and a copy of anything else.
_VIEWING_THE_CONTIGUOUS: Final = frozenset({"reshape", "ravel"})
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """What an expression surely is.

    Attributes:
      name: the parameter of which it is the buffer, or a view; of one of several outputs, its place.
      is_buffer: whether it is the buffer as handed in.
      is_contiguous: whether it is the whole of it, in order.
      elements: the keys or indices of a container of outputs, each of which is a buffer.
    """

    name: str
    is_buffer: bool = True
    is_contiguous: bool = True
    elements: tuple[object, ...] = ()


Names = Mapping[str, Memory]


class Views:
    """The buffers and views of one callback, statement by statement. Nested functions are left out."""

    def __init__(
        self,
        callback: Callback,
        helper: ast.FunctionDef | None = None,
        given: Mapping[str, Memory] | None = None,
    ) -> None:
        """With `helper`, of what is `given` to its parameters by the callback that calls it."""
        self._callback, self._module = callback, callback.module
        self._at: dict[ast.AST, Names] = {}
        if helper is not None:
            self._block(helper.body, dict(given or {}))
            return
        arrays = [*callback.inputs, *([callback.out] if callback.out is not None else [])]
        stars = {callback.function.args.vararg, callback.function.args.kwarg}
        start = {each.arg: Memory(each.arg) for each in arrays if each not in stars}
        if callback.out is not None and callback.spec.kind not in ("leaf", "unknown"):
            start[callback.out.arg] = self._container(callback.out.arg)
        for name in callback.containers:
            start.pop(name, None)
        function = callback.function
        if isinstance(function, ast.Lambda):
            self._at[function] = start
        else:
            self._block(function.body, start)

    def of(self, node: ast.expr) -> Memory | None:
        """What an expression is; None where it may be anything else."""
        names = self._names(node)
        memory = None if names is None else self._of(node, names)
        return None if memory is None or memory.elements else memory

    def named(self, name: str, node: ast.AST) -> Memory | None:
        """What a name is at the start of a node's statement."""
        memory = (self._names(node) or {}).get(name)
        return None if memory is None or memory.elements else memory

    def _names(self, node: ast.AST) -> Names | None:
        """What the names are at the start of a node's statement; None inside of a nested function."""
        for around in (node, *self._module.ancestors(node)):
            if around in self._at:
                return self._at[around]
            if isinstance(around, (*_DEFINITIONS, ast.Lambda)):
                return None
        return None

    def _container(self, out: str) -> Memory:
        """All of the outputs, whose buffers are told apart where nothing may take the place of one."""
        spec, function = self._callback.spec, self._callback.function
        is_changed = any(
            isinstance(node, ast.Subscript)
            and not isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and node.value.id == out
            for node in ast.walk(function)
        )
        keys: tuple[object, ...] = spec.keys if spec.kind == "dict" else (*range(len(spec.children)),)
        return Memory(out, is_buffer=False, elements=keys if spec.is_flat and not is_changed else (None,))

    # Expressions.

    def _of(self, node: ast.expr, names: Names) -> Memory | None:
        match node:
            case ast.Name(id=name):
                return names.get(name)
            case ast.NamedExpr(value=value):
                return self._of(value, names)
            case ast.Attribute(value=value, attr=attribute) if attribute in _VIEWING_ATTRIBUTES:
                return _view(self._of(value, names), is_contiguous=False)
            case ast.Subscript(value=value, slice=index):
                return self._of_item(self._of(value, names), index)
            case ast.Call():
                return self._of_call(node, names)
        return None

    def _of_item(self, memory: Memory | None, index: ast.expr) -> Memory | None:
        if memory is not None and memory.elements:
            key = index.value if isinstance(index, ast.Constant) else None
            return _element(memory, key) if key is not None and key in memory.elements else None
        return _view(memory, is_contiguous=False) if is_part(index) else None

    def _of_call(self, node: ast.Call, names: Names) -> Memory | None:
        origin = self._module.origin(node.func)
        if origin in VIEWING and len(node.args) == 1 and not node.keywords:
            return _view(self._of(node.args[0], names))
        if isinstance(node.func, ast.Name) and node.func.id == "memoryview" and len(node.args) == 1:
            is_builtin = not self._module.bindings(node.func)
            return _view(self._of(node.args[0], names), is_contiguous=False) if is_builtin else None
        if origin is None and isinstance(node.func, ast.Attribute) and not node.keywords:
            memory, method = self._of(node.func.value, names), node.func.attr
            if method in _VIEWING_METHODS:
                return _view(memory, is_contiguous=False)
            if method in _VIEWING_THE_CONTIGUOUS and memory is not None and memory.is_contiguous:
                return _view(memory)
        return None

    # Statements. Each returns what names are behind it; None where control does not get there.

    def _block(self, statements: Sequence[ast.stmt], names: Names | None) -> Names | None:
        for statement in statements:
            if names is None:
                return None
            self._at[statement] = names
            names = self._behind(statement, names)
        return names

    def _behind(self, node: ast.stmt, names: Names) -> Names | None:
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return None
            case ast.If():
                return _joined(self._block(node.body, names), self._block(node.orelse, names))
            case ast.Match():
                return _joined(names, *(self._block(case.body, names) for case in node.cases))
            case ast.With() | ast.AsyncWith():
                return self._block(node.body, self._without(names, [i.optional_vars for i in node.items]))
            case ast.For() | ast.AsyncFor() | ast.While():
                stable = self._without(names, [node])  # whatever a run of the body may have bound
                self._block(node.body, self._in_loop(stable, node))
                return self._block(node.orelse, stable)
            case ast.Try() | ast.TryStar():
                return self._try(node, names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self._bound(names, name, value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values):
                found = [self._of(value, names) for value in values]
                return self._paired(names, targets, found)
            case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)], value=value) if (
                whole := self._of(value, names)
            ) is not None and len(whole.elements) == len(targets):
                keyed = isinstance(whole.elements[0], str)  # a dict gives its keys
                return self._paired(
                    names, targets, [None if keyed else _element(whole, key) for key in whole.elements]
                )
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return self._bound(names, name, value)
            case ast.AugAssign(target=ast.Name(id=name)):
                return self._augmented(names, name)
        return self._without(names, [node])

    def _in_loop(self, names: Names, node: ast.For | ast.AsyncFor | ast.While) -> Names:
        """The names in the body of a loop, where one over the outputs gives each of them."""
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            return names
        whole = self._of(node.iter, names)
        if whole is None or not whole.elements or not isinstance(whole.elements[0], int):
            return names
        return {**names, node.target.id: Memory(f"{whole.name}[...]")}

    def _try(self, node: ast.Try | ast.TryStar, names: Names) -> Names | None:
        stable = self._without(names, node.body)
        ends = [self._block([*node.body, *node.orelse], names)]
        ends += [self._block(handler.body, stable) for handler in node.handlers]
        behind = _joined(*ends)
        finally_ = self._block(node.finalbody, self._without(names, [*node.body, *node.handlers]))
        return None if behind is None or finally_ is None else self._without(behind, node.finalbody)

    def _paired(self, names: Names, targets: Sequence[ast.expr], found: Sequence[Memory | None]) -> Names:
        pairs = zip(targets, found, strict=True)
        bound = {t.id: m for t, m in pairs if isinstance(t, ast.Name) and m is not None}
        return {**self._without(names, targets), **bound}

    def _augmented(self, names: Names, name: str) -> Names:
        """In place, or an error; but JAX's own buffer gives way to the new array of the other operand."""
        memory = names.get(name)
        if memory is None or not memory.is_buffer or "jax" not in self._callback.libraries:
            return names
        return {key: each for key, each in names.items() if key != name}

    def _bound(self, names: Names, name: str, value: ast.expr) -> Names:
        memory = self._of(value, names)
        rest = {key: each for key, each in self._without(names, [value]).items() if key != name}
        return rest if memory is None else {**rest, name: memory}

    def _without(self, names: Names, nodes: Sequence[ast.AST | None]) -> Names:
        """The names but for those that `nodes` bind."""
        bound = set()
        for node in nodes:
            for inner in ast.walk(node) if node is not None else ():
                if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                    bound.add(inner.id)
                bound.update(name for name in (getattr(inner, "name", None),) if isinstance(name, str))
        return {name: memory for name, memory in names.items() if name not in bound}


def is_part(index: ast.expr) -> bool:
    """Whether an index takes a part of an array as a view, of whatever dimension it is."""
    match index:
        case ast.Slice():
            return True
        case ast.Constant(value=value):
            return value is ...
        case ast.Tuple(elts=elements):
            return any(map(is_part, elements)) and all(
                is_part(each) or (isinstance(each, ast.Constant) and type(each.value) in (int, type(None)))
                for each in elements
            )
    return False


def _view(memory: Memory | None, *, is_contiguous: bool = True) -> Memory | None:
    if memory is None or memory.elements:
        return None
    return Memory(memory.name, False, is_contiguous and memory.is_contiguous)


def _element(container: Memory, key: object) -> Memory | None:
    return None if key is None else Memory(f"{container.name}[{key!r}]")


def _joined(*ends: Names | None) -> Names | None:
    """What names surely are where several ways meet."""
    found = [end for end in ends if end is not None]
    if not found:
        return None
    first, *rest = found
    return {name: memory for name, memory in first.items() if all(o.get(name) == memory for o in rest)}
