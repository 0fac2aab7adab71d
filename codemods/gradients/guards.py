"""What conditions tell of arguments: which surely are no tracers, so that nothing differentiates them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from codemods import hostlib
from codemods.gradients.frames import Frame
from codemods.names import BindingKind, Module
from codemods.reaching import reaching

# `is_concrete` is no such guard: what `grad` alone traces is concrete.
_TRACERS: Final = frozenset({"jax.core.Tracer", "jax._src.core.Tracer"})
_OTHERS: Final = frozenset({"numpy.ndarray", "numpy.generic", "numpy.number", "numpy.floating"})
_NUMBERS: Final = frozenset({"float", "int", "complex", "bool"})
_LEAVES: Final = frozenset({"jax.tree.leaves", "jax.tree_util.tree_leaves", "jax.tree_leaves"})
_MAKES_ARRAY: Final = hostlib.MAKING | {"jax.numpy.asarray", "jax.numpy.array"}
# What a tree that holds tracers, and is none itself, has not.
_OF_ARRAYS: Final = frozenset({"shape", "dtype", "ndim", "astype", "reshape", "ravel", "sum", "mean"})
_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_UNCONDITIONAL: Final = (
    ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Call, ast.keyword, ast.Attribute,
    ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp, ast.Starred,
)  # fmt: skip


Names = frozenset[str]
NONE: Final[Names] = frozenset()


def of_if(node: ast.If | ast.IfExp, frame: Frame) -> tuple[Names, Names]:
    """The names of a function that hold no tracer where a condition is true, and where it is false."""
    module = frame.source.module
    if isinstance(node, ast.IfExp):
        return _untraced(node.test, True, [node.body], frame), _untraced(
            node.test, False, [node.orelse], frame
        )
    block = module.block(node)
    rest = block[block.index(node) + 1 :]
    taken = [*node.body, *(rest if _leaves(node.orelse) else [])]
    other = [*node.orelse, *(rest if _leaves(node.body) else [])]
    return _untraced(node.test, True, taken, frame), _untraced(node.test, False, other, frame)


def of_assert(node: ast.Assert, frame: Frame) -> Names:
    """The names of a function that hold no tracer behind an `assert`."""
    block = frame.source.module.block(node)
    return _untraced(node.test, True, block[block.index(node) + 1 :], frame)


def _untraced(test: ast.expr, when: bool, behind: Sequence[ast.AST], frame: Frame) -> Names:
    """The names that hold no tracer where a condition is `when`, and `behind` is what runs then.

    A tree is no tracer, whatever it holds: a name counts only where all of its leaves are asked, or where it
    surely is an array.
    """
    module, names = frame.source.module, set[str]()
    for name, is_tree in () if frame.is_module else _asked(test, when, module):
        home = module.home(name.id, module.scopes[name])
        is_own = home is not None and home.node is frame.node
        if is_own and (is_tree or _is_array(name, behind, module)):
            names.add(name.id)
    return frozenset(names)


def _leaves(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], _LEAVING)


def _asked(test: ast.expr, when: bool, module: Module) -> Iterator[tuple[ast.Name, bool]]:
    """Names that are no tracers where a condition is `when`; with each, whether no leaf of it is one."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand, not when, module)
        case ast.BoolOp(op=op, values=parts) if isinstance(op, ast.And) is when:
            for part in parts:
                yield from _asked(part, when, module)
        case ast.Name():
            found = reaching(test, module)
            if len(found) == 1 and found[0].kind is BindingKind.ASSIGNMENT and found[0].value is not None:
                given = _asked(found[0].value, when, module)
                yield from ((name, tree) for name, tree in given if len(module.bindings(name)) == 1)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as name, kinds], keywords=[]):
            if _tells(kinds, when, module):
                yield name, when
        case ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp() | ast.ListComp() as each]) if (
            not when
        ):
            yield from _of_all(each, module)


def _tells(kinds: ast.expr, when: bool, module: Module) -> bool:
    """Whether what is no instance of `kinds`, or, where `when`, is one of them, is no tracer."""
    found = [origin for kind in _each(kinds) for origin in module.origins(kind) or {_builtin(kind, module)}]
    return all(o in _OTHERS | _NUMBERS for o in found) if when else any(o in _TRACERS for o in found)


def _each(kinds: ast.expr) -> Iterator[ast.expr]:
    match kinds:
        case ast.Tuple(elts=elements):
            yield from elements
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*_each(left), *_each(right))
        case _:
            yield kinds


def _builtin(node: ast.expr, module: Module) -> str:
    return node.id if isinstance(node, ast.Name) and not module.bindings(node) else ""


def _of_all(each: ast.GeneratorExp | ast.ListComp, module: Module) -> Iterator[tuple[ast.Name, bool]]:
    """The names in what is asked for tracers one by one: `any(isinstance(v, Tracer) for v in (a, b))`."""
    match each.elt, each.generators:
        case (
            ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), kinds], keywords=[]),
            [ast.comprehension(target=ast.Name(id=target), iter=values, ifs=[])],
        ) if asked == target and _tells(kinds, False, module):
            match values:
                case ast.Call(func=function, args=[tree], keywords=[]):
                    if module.origins(function) and module.origins(function) <= _LEAVES:
                        yield from ((name, True) for name in _names(tree))
                case _:
                    yield from ((name, False) for name in _names(values) if name is not values)


def _names(node: ast.expr) -> Iterator[ast.Name]:
    match node:
        case ast.Name():
            yield node
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            yield from (each for each in elements if isinstance(each, ast.Name))


def _is_array(name: ast.Name, behind: Sequence[ast.AST], module: Module) -> bool:
    """Whether what runs behind a condition asks a name for what arrays alone have, whatever happens."""
    found = reaching(name, module)
    if len(found) != 1:
        return False
    value = found[0].value
    if isinstance(value, ast.Call) and module.origins(value.func) & _MAKES_ARRAY:
        return True
    return any(
        isinstance(parent := module.parents[use], ast.Attribute)
        and parent.attr in _OF_ARRAYS
        and reaching(use, module) == found
        and _is_sure(use, behind, module)
        for use in module.references(name.id, found[0].scope)
    )


def _is_sure(node: ast.AST, behind: Sequence[ast.AST], module: Module) -> bool:
    """Whether a node is evaluated if all of `behind` is."""
    for around in (node, *module.ancestors(node)):
        if around in behind:
            return True
        if around is not node and not isinstance(around, _UNCONDITIONAL):
            return False
    return False
