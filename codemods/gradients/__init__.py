"""Which call sites sit under differentiation, and which of them something protects.

The program is evaluated on abstract values: for each value the levels at which it is differentiated, and the
functions that it may be. What is given to a transform of `table` is evaluated under one level more; the rules
of custom functions are evaluated without the innermost one; what code out of sight may call is evaluated with
arguments of unknown levels. `reach` chooses what to evaluate: all that may lead to the call sites, by name.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from codemods.gradients.analysis import Analysis
from codemods.gradients.levels import Mode
from codemods.gradients.table import extended, words
from codemods.gradients.verdict import UNKNOWN, Verdict
from codemods.model import Options
from codemods.names import Module
from codemods.project import Project
from codemods.sites import CallSite, Site, Unresolved

__all__ = ["Mode", "Verdict", "are_taken", "of_buffer_calls", "verdicts"]


def are_taken(project: Project, transforms: Sequence[str]) -> bool:
    """Whether anything in the project may differentiate.

    Args:
      project: the modules to look at.
      transforms: what differentiates beside the transforms of the table.

    Raises:
      ValueError: one of `transforms` is not known.
    """
    # Short words first, `grad` among them: nearly all projects that have any have one of these.
    return any(project.spelling(word) for word in sorted(words(extended(transforms)), key=len))


def verdicts(
    module: Module, path: Path, project: Project, sites: Sequence[Site], options: Options
) -> dict[Site, Verdict]:
    """What is known of each call site of a module.

    Args:
      module: the names of the module.
      path: its file.
      project: the modules around it.
      sites: its call sites.
      options: which call sites count, and what differentiates beside the transforms of the table.

    Raises:
      ValueError: `options.gradient_transform` names a transform that is not known.
    """
    nodes: dict[Site, ast.expr] = {
        site: site.function if isinstance(site, CallSite) else site.node
        for site in sites
        if not isinstance(site, Unresolved)
    }
    found: Mapping[ast.expr, Verdict] = {}
    if nodes and options.gradients != "never":
        own_options = {node: frozenset(site.api.options) for site, node in nodes.items()}
        found = Analysis(module, path, project, own_options, extended(options.gradient_transform)).verdicts()
    if options.gradients == "always":
        found = {node: verdict.settled() for node, verdict in found.items()}
    return {site: found[nodes[site]] if nodes.get(site) in found else UNKNOWN for site in sites}


def of_buffer_calls(
    module: Module, path: Path, project: Project, calls: Sequence[ast.Call], transforms: Sequence[str]
) -> dict[ast.expr, Verdict]:
    """What is known of calls of `buffer_callback`, by the call that gives the function of the arguments.

    Args:
      module: the names of the module.
      path: its file.
      project: the modules around it.
      calls: the calls of `buffer_callback`.
      transforms: what differentiates beside the transforms of the table.

    Raises:
      ValueError: one of `transforms` is not known.
    """
    if not calls:
        return {}
    own_options: dict[ast.expr, frozenset[str]] = dict.fromkeys(calls, frozenset())
    return Analysis(module, path, project, own_options, extended(transforms)).verdicts()
