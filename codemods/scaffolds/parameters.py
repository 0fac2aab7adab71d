"""The parameters of a function that gives a call its derivative."""

from __future__ import annotations

import ast
import dataclasses
import keyword
from collections.abc import Iterable, Sequence
from typing import Final

from codemods import arguments
from codemods.free_names import FreeNames
from codemods.gradients import Verdict
from codemods.names import Module
from codemods.plans import FunctionPlan, Parameter, SiblingPlan, SitePlan
from codemods.resolve import Resolved
from codemods.scaffolds.reads import (
    Read,
    has_dimensions,
    is_abstract,
    is_asked_for_shape,
    is_static,
    may_be_number,
    needs_array,
)
from codemods.scaffolds.results import has_no_derivative, is_shaped_like
from codemods.sites import CallSite

_EVERY: Final = "*"


class NoScaffold(Exception):
    """A call must stay as it is; the text says why."""


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Signature:
    """The parameters of one call site's scaffold.

    Attributes:
      own: those that the callback gets, in the order of the call.
      shared: the reads that mean one of these.
      others: the reads that mean something else.
    """

    own: tuple[Parameter, ...]
    shared: dict[Read, int]
    others: tuple[Read, ...]


def signature(
    plan: SitePlan,
    site: CallSite,
    verdict: Verdict,
    found: Sequence[Read],
    resolved: Resolved | None,
    module: Module,
) -> Signature:
    """The parameters for what the callback gets.

    Raises:
      NoScaffold: the arguments of the call cannot be told apart.
    """
    given = _given(site)
    named = [_named_alike(node, found, key in verdict.arguments, module) for key, node in given]
    shared: dict[Read, int] = {}
    names: list[str | None] = []
    for index, ((_, node), reads) in enumerate(zip(given, named, strict=True)):
        name = _plain(node)
        usable = name is not None and reads is not None and name not in names
        names.append(name if usable else None)
        shared |= dict.fromkeys(reads or (), index) if usable else {}
    others = tuple(read for read in found if read not in shared)
    taken = {name for name in names if name} | {read.name for read in others} | _libraries(module)
    of_callback = _parameter_names(resolved)
    arrays = _converted(plan)
    parameters: list[Parameter] = []
    for (key, node), plain in zip(given, names, strict=True):
        other = of_callback.get(key)
        name = plain or FreeNames.choose(_wanted(key, node, other), frozenset(taken))
        taken.add(name)
        inner = node.value if isinstance(node, ast.Starred) else node
        is_shaped = isinstance(inner, ast.Name) and is_shaped_like(site.spec, inner, module)
        is_array = is_shaped or other in arrays or arguments.argument(node, module).form == "array"
        alike = [read for read, position in shared.items() if position == len(parameters)]
        parameters.append(
            Parameter(
                name,
                "array" if is_array and inner is node else "tree",
                is_differentiated=_is_differentiated(key, verdict) and not has_no_derivative(node, module),
                may_be_number=_may_be_number(alike, module),
                is_starred=isinstance(node, ast.Starred),
                keyword=key if isinstance(key, str) else None,
            )
        )
    return Signature(tuple(parameters), shared, others)


def extra(reads: Sequence[Read], module: Module) -> Parameter:
    """A parameter for a name that would mean something else when the function runs.

    Raises:
      NoScaffold: it may be a tracer or a Python value.
    """
    name = reads[0].name
    if any(read.is_late for read in reads):
        raise NoScaffold(f"`{name}`, which the callback reads, is bound again")
    if all(is_static(read, module) for read in reads):
        return Parameter(name, "tree", is_given=False, is_static=True)
    if all(is_asked_for_shape(read, module) for read in reads):
        return Parameter(name, "tree", is_given=False, may_be_number=_may_be_number(reads, module))
    raise NoScaffold(f"whether `{name}` is an array cannot be seen")


def _given(site: CallSite) -> list[tuple[int | str, ast.expr]]:
    """The callback's own arguments, by index or keyword; what follows a star is part of it."""
    found: list[tuple[int | str, ast.expr]] = []
    for index, node in enumerate(site.args):
        found.append((index, node))
        if isinstance(node, ast.Starred):
            if site.keywords:
                raise NoScaffold("the call has a star and keywords")
            return found
    found += [(k.arg or "", k.value) for k in site.keywords]
    return found


def _plain(node: ast.expr) -> str | None:
    inner = node.value if isinstance(node, ast.Starred) else node
    return inner.id if isinstance(inner, ast.Name) else None


def _named_alike(
    node: ast.expr, found: Iterable[Read], differentiated: bool, module: Module
) -> list[Read] | None:
    """The reads of the name that an argument is; None where they may need its Python value.

    A differentiated argument has no Python value.
    """
    reads = [read for read in found if read.name == _plain(node)]
    for read in reads:
        is_array = is_abstract(read, module) or (differentiated and not is_static(read, module))
        if read.is_late or not is_array:
            return None
    return reads


def _may_be_number(reads: Sequence[Read], module: Module) -> bool:
    """Whether a value may be a Python number, or have such for leaves, and does not do as that."""
    if any(has_dimensions(read, module) for read in reads):
        return False
    return any(needs_array(read, module) and may_be_number(read, module) for read in reads)


def _is_differentiated(key: int | str, verdict: Verdict) -> bool:
    return not verdict.arguments or key in verdict.arguments or _EVERY in verdict.arguments


def _parameter_names(resolved: Resolved | None) -> dict[int | str, str]:
    """The callback's own names for what it gets, by index and keyword."""
    if resolved is None:
        return {}
    known = resolved.function.args
    skipped = resolved.implicit + resolved.bound.positional
    found: dict[int | str, str] = {p.arg: p.arg for p in (*known.args, *known.kwonlyargs)}
    found.update(enumerate([p.arg for p in (*known.posonlyargs, *known.args)][skipped:]))
    return found


def _converted(plan: SitePlan) -> frozenset[str]:
    """The callback's parameters that it takes for one array each."""
    owner = plan.owner
    if not isinstance(owner, FunctionPlan | SiblingPlan):
        return frozenset()
    return frozenset(c.name for c in owner.conversions if c.how.startswith("array"))


def _libraries(module: Module) -> set[str]:
    bindings = module.root.bindings.items()
    imported = {name for name, found in bindings if any(each.origin for each in found)}
    return imported | {"bufcb", "functools", "jax", "jnp", "np", "scipy"}


def _wanted(key: int | str, node: ast.expr, other: str | None) -> list[str]:
    """Names for an argument, the best one first."""
    given = key if isinstance(key, str) else None
    found = [name for name in (given, other, _derived(node)) if name and not keyword.iskeyword(name)]
    return [*found, f"{found[-1]}_value" if found else "argument"]


def _derived(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if not name.startswith("_"):
            return name if name not in ("T", "mT", "real", "imag") else None
        case ast.Starred(value=inner):
            return _derived(inner) or "arguments"
        case ast.Subscript(value=inner, slice=ast.Constant(value=str() as key)):
            return key if key.isidentifier() else _derived(inner)
        case ast.Subscript(value=inner):
            return _derived(inner)
        case ast.Call(func=ast.Attribute(value=inner), args=[]) | ast.BinOp(left=inner):
            return _derived(inner)
        case ast.UnaryOp(operand=inner):
            return _derived(inner)
        case ast.Call(args=[first, *_]):
            return _derived(first)
    return None
