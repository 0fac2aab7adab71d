"""What a user can do so that a callback's arguments stand in its way no more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from codemods.model import listed
from codemods.names import FunctionNode, Module, parameters
from codemods.sites import CallSite


def to_convert(names: Collection[str], trees: Collection[str], order: Sequence[str]) -> str:
    """Names every argument that must be converted, in the order of the callback's parameters.

    `trees` are the arguments that hold arrays, as far as can be seen.
    """
    ordered = sorted(names, key=order.index)
    whole = [name for name in ordered if name not in trees]
    parts = [_whole(whole)] if whole else []
    parts += [
        f"the arrays in `{name}` with `jax.tree.map(np.asarray, {name})`" for name in ordered if name in trees
    ]
    return f"Convert {' and '.join(parts)} first, or pass `--arrays numpy`."


def _whole(names: Sequence[str]) -> str:
    return f"it with `np.asarray({names[0]})`" if len(names) == 1 else f"{listed(names)} with `np.asarray`"


def trees_among(function: FunctionNode, sites: Iterable[CallSite], position: int, module: Module) -> set[str]:
    """The parameters that hold arrays: tuples, lists or dicts at a call site, or taken apart in the body."""
    found = {name for node in ast.walk(function) for name in _taken_apart(node)}
    found.update(star.arg for star in (function.args.vararg, function.args.kwarg) if star is not None)
    for site in sites:
        given = [(p.arg, a) for p, a in zip(parameters(function.args)[position:], site.args, strict=False)]
        given += [(k.arg, k.value) for k in site.keywords if k.arg]
        found.update(name for name, value in given if _is_container(value, module))
    return found


def _taken_apart(node: ast.AST) -> Iterator[str]:
    """The names that an expression or assignment takes for containers."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr="items" | "keys" | "values"):
            yield name
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Name(id=name)):
            yield name


def _is_container(node: ast.expr, module: Module) -> bool:
    if isinstance(node, ast.Name):
        binding = module.sole_binding(node)
        if binding is not None and binding.value is not None and not isinstance(binding.value, ast.Name):
            return _is_container(binding.value, module)
    return isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.ListComp | ast.DictComp)
