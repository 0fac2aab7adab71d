"""Where a function that gives a call its derivative stands."""

from __future__ import annotations

import ast
import dataclasses

from codemods.names import Module, Scope
from codemods.plans import FunctionPlan, SiblingPlan, SitePlan
from codemods.scaffolds.parameters import NoScaffold
from codemods.sites import CallSite


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A place behind a statement, or above one; `scope` is that of the statement."""

    anchor: ast.stmt
    above: bool
    scope: Scope

    def reaches(self, other: Place, module: Module) -> bool:
        """Whether what stands here has run wherever the other place runs."""
        if self.scope is not other.scope:
            return False
        if self.scope is module.root:
            return True
        block = module.block(self.anchor)
        around = [other.anchor, *module.ancestors(other.anchor)]
        return any(node in block and block.index(node) >= block.index(self.anchor) for node in around)


def at_top(plan: SitePlan, site: CallSite, module: Module) -> Place | None:
    """The place at the top of the module: behind the callback, or above the statement that calls it."""
    owner = plan.owner
    own: ast.stmt | None = None
    if isinstance(owner, FunctionPlan) and isinstance(owner.function, ast.FunctionDef):
        own = owner.function
    elif isinstance(owner, SiblingPlan) and not owner.above:
        own = owner.anchor
    if own is not None and isinstance(module.parents[own], ast.Module) and _has_jax(own, module):
        return Place(own, above=False, scope=module.root)
    top = [node for node in module.ancestors(site.call) if isinstance(node, ast.stmt)][-1]
    return Place(top, above=True, scope=module.root) if _has_jax(top, module) else None


def nested(statement: ast.stmt, module: Module) -> Place:
    """The place above the statement that holds the call.

    Raises:
      NoScaffold: it is at the top of the module, which has not imported JAX there.
    """
    scope = module.scopes[statement]
    if scope is module.root and not _has_jax(statement, module):
        raise NoScaffold("JAX is not imported above it at the top of the module")
    return Place(statement, above=True, scope=scope)


def _has_jax(statement: ast.stmt, module: Module) -> bool:
    """Whether the module has imported JAX for sure when it comes to a statement at its top."""
    body = module.tree.body
    if statement not in body:
        return False
    names = [name for earlier in body[: body.index(statement)] for name in _imported(earlier)]
    return any(name.partition(".")[0] == "jax" for name in names)


def _imported(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str() as module, level=0):
            return [module]
    return []
