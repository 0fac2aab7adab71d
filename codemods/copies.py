"""Why arguments are copied, which a reviewer may take for a mistake."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence

from codemods.bodies import BodyReport
from codemods.definitions import Definition
from codemods.model import Diagnostic, listed
from codemods.names import Module, parameters
from codemods.plans import FunctionPlan, SiblingPlan


def why_copied(
    plan: FunctionPlan | SiblingPlan, report: BodyReport, module: Module, home: Definition | None
) -> Diagnostic | None:
    """A note that names the copied arguments of a callback, which may be in another module, if any are."""
    copied = {c.name for c in plan.conversions if c.how.endswith("copy")}
    if isinstance(plan, FunctionPlan):
        copied |= {c.args[0].id for c in plan.copied if isinstance(c.args[0], ast.Name)}
    names = [p.arg for p in parameters(plan.function.args) if p.arg in copied]
    if not names:
        return None
    are, they, them = ("is", "it", "it") if len(names) == 1 else ("are", "they", "them")
    where = _lines([report.usages[name].escape for name in names], module, home)
    return Diagnostic(
        "BC002",
        f"{listed(names)} {are} copied, since {they} may outlive the call{where}.",
        f"Pass `--views` to hand out views, if nothing keeps {them}.",
    )


def _lines(nodes: Sequence[ast.AST | None], module: Module, home: Definition | None) -> str:
    """Where in the module of the callback this happens, in parentheses."""
    known = module.parents if home is None else home.module.parents
    own = {getattr(node, "lineno", 0) for node in nodes if node in known}
    if not own:
        return ""
    of_file = "" if home is None else f" of {os.path.basename(home.file)}"
    return f" (line{'s' if len(own) > 1 else ''} {', '.join(map(str, sorted(own)))}{of_file})"
