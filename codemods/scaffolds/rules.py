"""Where the derivative of a call comes from."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from codemods.model import Status, Vjp
from codemods.names import Module
from codemods.plans import FunctionPlan, HostCall, HostExpression, Parameter, Rule, SitePlan
from codemods.resolve import Resolved
from codemods.scaffolds import known
from codemods.scaffolds.derivatives import DERIVATIVES, Slopes, of_higher_order
from codemods.scaffolds.reads import reads_what_changes
from codemods.scaffolds.results import dtype_of, has_no_derivative, is_integer
from codemods.sites import CallSite, Site
from codemods.specs import Spec, structure

# Why a callback is adapted that computes what its body says, if partly in JAX.
_AS_ITS_BODY_SAYS: Final = frozenset({"BC104", "BC108", "BC117"})


def rule_of(
    plans: Sequence[SitePlan],
    resolved: Mapping[Site, Resolved],
    module: Module,
    chosen: Vjp,
    parameters: Sequence[Parameter],
    *,
    takes_all: bool,
    order: int,
) -> tuple[Rule, HostCall | HostExpression | None]:
    """The rule for call sites that share it; with what the callback does, if that has a known derivative.

    `takes_all` says that a rule must give what every argument adds to the result's tangent, and `order` how
    often rules differentiate the call.
    """
    sites = [plan.site for plan in plans if isinstance(plan.site, CallSite)]
    if is_integer(sites[0].spec, module):
        return "integer", None
    host = _host(plans[0], sites[0], resolved.get(sites[0]), module)
    specs = [structure(site.spec, module) for site in sites]
    if isinstance(host, HostCall) and all(spec.kind in ("leaf", "unknown") for spec in specs):
        unknown = {index for site in sites for index in _unknown(host, site, module)}
        is_enough = not (takes_all and unknown) or len(sites[0].given) == len(host.arguments)
        is_known = order < 2 or of_higher_order(host.origin) is not None
        if _has_slope(host) and is_enough and is_known:
            return "known", dataclasses.replace(host, unknown=tuple(sorted(unknown)))
    if isinstance(host, HostExpression) and all(_gives(host, spec) for spec in specs):
        homes = {module.home(name, module.scopes[site.call]) for name in host.names for site in sites}
        if homes <= {module.root} and not host.names & {parameter.name for parameter in parameters}:
            return "known", host
    if chosen == "finite-difference" and any(_reads_anew(plan, resolved, module) for plan in plans):
        return "raise", None
    return ("raise" if chosen == "known" else chosen), None


def _gives(host: HostExpression, spec: Spec) -> bool:
    """Whether an expression is of the structure that is asked for."""
    if host.is_tuple:
        return spec.kind == "tuple" and spec.is_flat and len(spec.children) == len(host.results)
    return bool(host.arguments) and spec.kind in ("leaf", "unknown")


def _reads_anew(plan: SitePlan, resolved: Mapping[Site, Resolved], module: Module) -> bool:
    """Whether a callback that is called once more, after the call, may compute something else."""
    found = resolved.get(plan.site)
    if found is None or found.home is not None or not isinstance(plan.site, CallSite):
        return False
    return reads_what_changes(found.function, plan.site.call, module)


def _host(
    plan: SitePlan, site: CallSite, resolved: Resolved | None, module: Module
) -> HostCall | HostExpression | None:
    if (found := known.of_library(site, module)) is not None:
        return found
    code = plan.diagnostic.code if plan.diagnostic else ""
    if resolved is None or not (plan.status is Status.REWRITTEN or code in _AS_ITS_BODY_SAYS):
        return None  # it may do something else than its body says
    home = module if resolved.home is None else resolved.home.module
    body = known.of_body(site, resolved, home)
    if isinstance(body, HostExpression) and body.names and home is not module:
        return None
    return body


def _has_slope(host: HostCall) -> bool:
    """Whether the derivative in one of the arguments is known."""
    return not isinstance(known := DERIVATIVES[host.origin], Slopes) or any(
        isinstance(operand, int) and slope is not None
        for operand, slope in zip(host.operands, known.texts, strict=True)
    )


def _unknown(host: HostCall, site: CallSite, module: Module) -> list[int]:
    """The arguments that may be differentiated, and have no known derivative."""
    known = DERIVATIVES[host.origin]
    if not isinstance(known, Slopes):
        return []
    operands = [o for o, slope in zip(host.operands, known.texts, strict=True) if slope is None]
    return [o for o in operands if isinstance(o, int) and not has_no_derivative(site.given[o], module)]


def same_dtype(site: CallSite, module: Module) -> int | None:
    """The index of the argument whose dtype the result surely has."""
    name = dtype_of(site.spec, module)
    for index, node in enumerate(site.given if name is not None else ()):
        if name is not None and isinstance(node, ast.Name) and node.id == name.id:
            homes = [module.home(each.id, module.scopes[each]) for each in (node, name)]
            return index if homes[0] is homes[1] else None
    return None


def callback_name(plan: SitePlan, site: CallSite) -> str:
    """The callback's name, without underscores around it."""
    callback = site.callback
    if isinstance(callback, ast.Call) and callback.args:
        callback = callback.args[0]
    name = ""
    if isinstance(plan.owner, FunctionPlan):
        name = plan.owner.name
    elif isinstance(callback, ast.Name | ast.Attribute):
        name = callback.id if isinstance(callback, ast.Name) else callback.attr
    return name.strip("_") or "host"
