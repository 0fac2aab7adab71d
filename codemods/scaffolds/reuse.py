"""Functions of the user's that make a call and give it its derivative: others need no second one."""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Iterable
from typing import Final

from codemods.gradients.levels import Mode
from codemods.names import Module
from codemods.plans import SitePlan
from codemods.scaffolds.parameters import Signature
from codemods.scaffolds.reads import is_settled
from codemods.sites import CallSite

_CUSTOM: Final = {
    "jax.custom_vjp": frozenset({Mode.REVERSE}),
    "jax.custom_jvp": frozenset({Mode.REVERSE, Mode.FORWARD}),
}
_SETTERS: Final = frozenset({"defvjp", "defjvp", "defjvps"})

Key = tuple[object, ...]


def key(plan: SitePlan, site: CallSite, own: Signature) -> Key:
    """What two call sites must have in common: all but what their arguments are called."""
    shared = {id(read.node): index for read, index in own.shared.items()}
    homes = {id(read.node): id(read.home) for read in own.others if read.home is not None}
    dumps = []
    for part in (site.callback, site.spec, *sorted(site.options, key=lambda option: option.arg or "")):
        copied = copy.deepcopy(part)
        for node, old in zip(ast.walk(copied), ast.walk(part), strict=True):
            if isinstance(node, ast.Name) and id(old) in shared:
                node.id = f"#{shared[id(old)]}"
            elif isinstance(node, ast.Name) and id(old) in homes:
                node.id = f"{node.id}@{homes[id(old)]}"
        dumps.append(ast.dump(copied))
    forms = tuple((parameter.is_starred, parameter.keyword) for parameter in own.own)
    return (plan.adapt, plan.replacement, *dumps, forms)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Differentiable:
    """A function with rules that does nothing but make one call.

    Attributes:
      modes: the modes that it can be differentiated in.
      key: that of its call.
    """

    function: ast.FunctionDef
    modes: frozenset[Mode]
    key: Key

    def is_in_sight(self, node: ast.expr, module: Module) -> bool:
        """Whether its name means it where another call stands."""
        name, home = self.function.name, module.scopes[self.function]
        return module.home(name, module.scopes[node]) is home and is_settled(name, home, module)


def differentiable(plan: SitePlan, site: CallSite, own: Signature, module: Module) -> Differentiable | None:
    """The function with rules that does nothing but make this call."""
    statement = module.parents[site.call]
    function = module.parents.get(statement)
    if not (isinstance(statement, ast.Return) and isinstance(function, ast.FunctionDef)):
        return None
    origins = [module.origin(decorator) or "" for decorator in function.decorator_list]
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if len(origins) != 1 or origins[0] not in _CUSTOM or body != [statement]:
        return None
    arguments = function.args
    taken = [p.arg for p in (*arguments.posonlyargs, *arguments.args)]
    more = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.defaults)
    given = [node.id for node in site.given if isinstance(node, ast.Name)]
    if taken != given or len(given) < len(own.own) or any(more) or not _has_rules(function, module):
        return None
    return Differentiable(function, _CUSTOM[origins[0]], key(plan, site, own))


def _has_rules(function: ast.FunctionDef, module: Module) -> bool:
    uses: Iterable[ast.Name] = module.references(function.name, module.scopes[function])
    parents = (module.parents[use] for use in uses)
    return any(isinstance(parent, ast.Attribute) and parent.attr in _SETTERS for parent in parents)
