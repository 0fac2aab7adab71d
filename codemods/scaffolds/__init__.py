"""Derivatives for calls that are differentiated: what JAX needs where it cannot look into a callback.

A call that JAX differentiates moves into a `jax.custom_vjp` function, or a `jax.custom_jvp` one if forward
mode reaches it, with a rule that is known or to be filled in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from codemods.gradients import Verdict
from codemods.groups import Context
from codemods.model import Diagnostic
from codemods.plans import ModulePlan
from codemods.resolve import Resolved
from codemods.scaffolds import notes
from codemods.scaffolds.planning import Scaffolds
from codemods.sites import Site

__all__ = ["add"]

Admits = Callable[[Site, Diagnostic], bool]
"""Whether the user wants what a diagnostic of a call site says."""


def add(
    plan: ModulePlan,
    context: Context,
    verdicts: Mapping[Site, Verdict],
    resolved: Mapping[Site, Resolved],
    admits: Admits,
) -> tuple[ModulePlan, dict[Site, Diagnostic]]:
    """The plan with a scaffold for each call site that needs one, and what is said of those call sites."""
    planner = Scaffolds(context, verdicts, resolved)
    left: set[Site] = set()
    while True:
        found, refused = planner.plan(plan, left)
        said = {
            site: notes.of_scaffold(scaffold, verdicts[site], context.options.vjp)
            for site, scaffold in found.items()
        }
        unwanted = {site for site, diagnostic in said.items() if not admits(site, diagnostic)}
        if not unwanted:
            break
        left |= unwanted
    said |= {site: notes.of_refusal(why, verdicts[site]) for site, why in refused.items()}
    sites = tuple(dataclasses.replace(each, scaffold=found.get(each.site)) for each in plan.sites)
    return dataclasses.replace(plan, sites=sites), said
