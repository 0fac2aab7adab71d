"""Which functions are called back in the place of which, so that runs before and after can be compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from codemods.model import Place, Successor
from codemods.names import FunctionNode, Module, own_name
from codemods.plans import ModulePlan, SiblingPlan
from codemods.resolve import Resolved
from codemods.sites import Site
from codemods.source import SourceFile


def successors(
    plan: ModulePlan, source: SourceFile, resolved: Mapping[Site, Resolved]
) -> Iterator[Successor]:
    """The functions that a plan adds to a file in order to call them back."""
    for function in plan.functions:
        node = function.function
        if isinstance(node, ast.Lambda):
            yield Successor(function.name, Place(source.path, node.lineno, node.col_offset), own_name(node))
    siblings = {site.owner: site.site for site in plan.sites if isinstance(site.owner, SiblingPlan)}
    for sibling, site in siblings.items():
        home = resolved[site].home
        path = source.path if home is None else Path(home.file)
        original = sibling.function
        yield Successor(sibling.name, Place(path, first_line(original)), own_name(original))


def definition(
    site: Site, plan: ModulePlan, source: SourceFile, module: Module, resolved: Mapping[Site, Resolved]
) -> Place | None:
    """Where the callback of a call site is defined; None where that is not in sight."""
    node, found = plan.callbacks.get(site), resolved.get(site)
    if node is None:
        return None
    if found is not None and found.home is not None:
        return Place(Path(found.home.file), first_line(node))
    return Place(source.path, first_line(node)) if node in module.parents else None


def first_line(function: FunctionNode) -> int:
    """The line that Python knows a function by."""
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return min([function.lineno, *(decorator.lineno for decorator in decorators)])
