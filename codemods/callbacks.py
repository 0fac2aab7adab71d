"""Decides what becomes of each call site: groups them by callback, and plans or adapts each group."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeGuard

from codemods.advice import to_convert, trees_among
from codemods.apis import Api
from codemods.arguments import Blurred, Supplied, supplied
from codemods.bodies import BodyReport, Obstacle, analyse
from codemods.checks import (
    check_definition,
    check_handled,
    check_jax,
    check_keys,
    check_listed,
    check_replaced,
    check_writes,
)
from codemods.class_handlers import ClassHandlers
from codemods.copies import why_copied
from codemods.definitions import Definitions, Found
from codemods.diagnostics import PLAIN
from codemods.free_names import FreeNames
from codemods.groups import Adapted, Context, Findings, Group, of_obstacle, place
from codemods.in_place import InPlace
from codemods.model import Diagnostic, Options, Status
from codemods.names import FunctionNode, Module, parameters
from codemods.ordering import why_not_reordered
from codemods.overrides import Overrides
from codemods.plans import FunctionPlan, ModulePlan, SiblingPlan, SitePlan
from codemods.project import Project
from codemods.reflection import Reflection
from codemods.resolve import Opaque, Resolved, resolve
from codemods.selection import Selection
from codemods.siblings import Siblings
from codemods.sites import CallSite, Site, Unresolved, ValueUse
from codemods.source import SourceFile
from codemods.specs import Spec, structure
from codemods.stars import bind_stars
from codemods.suppressions import Suppressions

_ACCEPTED: Final = frozenset({"BC104", "BC111", "BC112"})

_COMMENTED: Final = Diagnostic("BC004", "Left alone, as the comment asks.")
_BY_CHOICE: Final = Opaque("BC117", "`--arrays jax` keeps every callback as it is.")


class Planner:
    """Plans one module.

    Args:
      replaced: the APIs that the module replaces at run time, each with what is said of it.
    """

    def __init__(
        self,
        source: SourceFile,
        module: Module,
        project: Project,
        options: Options,
        replaced: Mapping[Api, Diagnostic],
    ) -> None:
        self.source, self.module, self.project, self.options = source, module, project, options
        self.replaced = replaced
        self.free = FreeNames(module)
        self.overridden = Overrides(module, source.path, project)
        self.imported = Definitions(project)
        self.reflection = Reflection(module)
        self.handlers = ClassHandlers(module, self._follow_import)
        self.functions: list[FunctionPlan] = []
        self.siblings: list[SiblingPlan] = []
        self.remarks: list[tuple[ast.expr | ast.stmt, Diagnostic]] = []
        self.definitions: dict[Site, tuple[Suppressions, ast.FunctionDef | ast.Lambda]] = {}
        self.suppressions: dict[str, Suppressions] = {}
        self.resolved: dict[Site, Resolved] = {}
        self.selection = Selection(options)
        self.silenced: dict[Site, Diagnostic] = {}

    def plan(
        self, sites: Sequence[Site], suppressions: Suppressions, left: Collection[Site] = ()
    ) -> ModulePlan:
        """Decides on every site but those that are `left` alone.

        What is silenced is left alone as well, and the rest decided again.
        """
        while True:
            self.free = FreeNames(self.module)
            self.functions, self.siblings, self.remarks = [], [], []
            plan = self._plan(sites, suppressions, left)
            if not self.silence(plan, suppressions):
                return plan

    @property
    def context(self) -> Context:
        return Context(self.source, self.module, self.project, self.options, self.free, self.reflection)

    def silence(self, plan: ModulePlan, suppressions: Suppressions) -> bool:
        """Notes the sites whose outcome nobody wants, for the next plan; returns whether there are any."""
        found = {site.site: self._why_silenced(site, suppressions) for site in plan.sites}
        more = {site: diagnostic for site, diagnostic in found.items() if diagnostic is not None}
        self.silenced |= more
        return bool(more)

    def _why_silenced(self, plan: SitePlan, suppressions: Suppressions) -> Diagnostic | None:
        """What stands against the outcome of a site: a comment on its call or its callback, or an option."""
        if plan.status is Status.SKIPPED:
            return None
        code = plan.diagnostic.code if plan.diagnostic else PLAIN
        definition = self.definitions.get(plan.site)
        if plan.diagnostic is not None and (
            suppressions.covers_code(plan.site.node, code)
            or (definition is not None and definition[0].covers_definition(definition[1], code))
        ):
            return _COMMENTED
        if self.selection.admits(code):
            return None
        return Diagnostic("BC010", f"Left alone, since its outcome, {code}, {self.selection.why_not(code)}.")

    def _plan(self, sites: Sequence[Site], suppressions: Suppressions, left: Collection[Site]) -> ModulePlan:
        plans: dict[Site, SitePlan] = {}
        groups: dict[ast.AST, list[tuple[CallSite, Resolved]]] = {}
        live = {site for site in sites if not suppressions.covers(site.node)}
        live -= {*self.silenced, *left}
        settled = {site: plan for site in live if (plan := self._settled(site)) is not None}
        callbacks = frozenset(site.callback for site in live - settled.keys() if isinstance(site, CallSite))
        for site in sites:
            if site in left:
                plans[site] = SitePlan(site, Status.SKIPPED)
            elif site not in live:
                plans[site] = SitePlan(site, Status.SKIPPED, self.silenced.get(site, _COMMENTED))
            elif not isinstance(site, CallSite):
                plans[site] = settled[site]
            else:
                found = self._resolve(site, callbacks)
                definition = found.function if isinstance(found, Resolved) else found.definition
                if definition is not None:
                    self.definitions[site] = self._suppressions_of(found, suppressions), definition
                if definition is not None and self._is_covered(found, self.definitions[site][0], definition):
                    asked = Diagnostic("BC004", "The callback is left alone, as its comment asks.")
                    plans[site] = SitePlan(site, Status.SKIPPED, asked)
                elif site in settled:
                    plans[site] = settled[site]
                elif isinstance(found, Resolved):
                    groups.setdefault(found.function, []).append((site, found))
                else:
                    plans[site] = self._opaque(site, found)
        for function, calls in groups.items():
            assert isinstance(function, ast.FunctionDef | ast.Lambda)
            plans.update(self._group(Group(function, tuple(calls))))
        if self.options.target == "jax":
            plans = {site: _without_runtime(plan) for site, plan in plans.items()}
        ordered = tuple(plans[site] for site in sites)
        definitions = {site: definition for site, (_, definition) in self.definitions.items()}
        return ModulePlan(
            ordered, tuple(self.functions), tuple(self.siblings), tuple(self.remarks), definitions
        )

    def _resolve(self, site: CallSite, callbacks: frozenset[ast.expr]) -> Resolved | Opaque:
        found = resolve(site.callback, self.module, callbacks, self.overridden, self._follow_import)
        if isinstance(found, Resolved):
            self.resolved[site] = found
        return found

    def _follow_import(self, origins: frozenset[str]) -> Found:
        return self.imported.follow(origins, self.source.path)

    def _is_covered(
        self, found: Resolved | Opaque, comments: Suppressions, definition: ast.FunctionDef | ast.Lambda
    ) -> bool:
        """Whether a comment asks to leave a callback alone, on any of its definitions."""
        variants = found.also if isinstance(found, Resolved) else ()
        covered = [comments.covers_definition(each) for each in (definition, *variants)]
        return any(covered)  # each comment is of use

    def _suppressions_of(self, found: Resolved | Opaque, own: Suppressions) -> Suppressions:
        """The comments of the file that has a callback's definition."""
        home = found.home if isinstance(found, Resolved) else None
        if home is None:
            return own
        if home.file not in self.suppressions:
            source = self.project.source(home.file)
            self.suppressions[home.file] = Suppressions(source) if source is not None else own
        return self.suppressions[home.file]

    # One site.

    def _settled(self, site: Site) -> SitePlan | None:
        """What becomes of a site whatever its callback is; None where that decides."""
        if isinstance(site, Unresolved):
            status = Status.SKIPPED if site.code == "BC003" else Status.REFUSED
            return SitePlan(site, status, Diagnostic(site.code, site.reason, site.way_out))
        if site.api in self.replaced:
            return SitePlan(site, Status.REFUSED, self.replaced[site.api])
        if isinstance(site, ValueUse):
            return self._renamed(site.why, site)
        if (ordered := _of_order(site)) is not None:
            return SitePlan(site, Status.REFUSED, ordered)
        if (why := self._unsorted(site)) is not None:
            return self._renamed(why, site)
        if self.options.target == "jax" and any(o.arg == "sharding" for o in site.options):
            diagnostic = Diagnostic("BC110", "JAX's buffer callback takes no `sharding=`.")
            return SitePlan(site, Status.ADAPTED, diagnostic)
        return None

    def _opaque(self, site: CallSite, found: Opaque) -> SitePlan:
        if found.arrays == "numpy" and self.options.arrays == "jax":
            found = _BY_CHOICE
        return self._adapted(site, Diagnostic(found.code, found.reason, found.way_out), found.arrays)

    def _renamed(self, why: str, site: CallSite | ValueUse) -> SitePlan:
        """A site that becomes one of the function with the same signature, where there is one."""
        if site.api.counterpart is None:
            way_out = f"Only plain calls of `{site.api.name}` can be migrated: write one, or keep it."
            return SitePlan(site, Status.REFUSED, Diagnostic("BC211", why, way_out))
        way_out = f"It becomes `bufcb.{site.api.counterpart}`, which behaves the same."
        return SitePlan(site, Status.ADAPTED, Diagnostic("BC110", why, way_out))

    def _adapted(self, site: CallSite, diagnostic: Diagnostic, arrays: str = "jax") -> SitePlan:
        keep = arrays == "numpy" and self.options.arrays != "jax"
        return SitePlan(site, Status.ADAPTED, diagnostic, adapt="numpy" if keep else "jax")

    def _unsorted(self, site: CallSite) -> str | None:
        """Why a sorted-out call is still only renamed: its options cannot move, or come later."""
        if (why := why_not_reordered(site, self.module)) is not None:
            return why
        if site.is_partial and not self._only_called_plainly(site):
            return f"The partial may be called with options of `{site.api.name}` itself."
        return None

    def _only_called_plainly(self, site: CallSite) -> bool:
        """Whether every use of a partial is in sight: calls without options of the API."""
        parent = self.module.parents[site.call]
        if not (
            isinstance(parent, ast.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
        ):
            return False
        target = parent.targets[0]
        home = self.module.home(target.id, self.module.scopes[target])
        if home is None or len(home.bindings[target.id]) != 1:
            return False
        if home is self.module.root and self.project.used_elsewhere(target.id, self.source.path):
            return False
        for use in self.module.references(target.id, home):
            call = self.module.parents[use]
            if not (isinstance(call, ast.Call) and call.func is use):
                return False
            if any(k.arg in (None, *site.api.options) for k in call.keywords):
                return False
        return True

    # One callback.

    def _group(self, group: Group) -> dict[Site, SitePlan]:
        try:
            if self.options.arrays == "jax":
                raise Adapted(Diagnostic(_BY_CHOICE.code, _BY_CHOICE.reason))
            return self._rewritten(group)
        except Adapted as stop:
            return {site: self._adapted(site, stop.diagnostic, stop.arrays) for site, _ in group.calls}

    def _rewritten(self, group: Group) -> dict[Site, SitePlan]:
        context = self.context
        check_listed(group, context)
        check_handled(group, self.handlers)
        in_place = InPlace(context)
        if group.resolved.also:
            return self._variants_in_place(group.variants, in_place)
        group = in_place.settled(group)
        findings = self._followed(group)
        if group.resolved.home is None and in_place.is_possible(group):
            return self._with_rewrite(group, in_place.plan(group, findings), findings.report)
        return self._with_sibling(group, Siblings(context).plan(group, findings), findings.report)

    def _variants_in_place(self, groups: Sequence[Group], in_place: InPlace) -> dict[Site, SitePlan]:
        """Rewrites every definition of one name; raises `Adapted` where one of them must stay."""
        plans = []
        for group in groups:
            findings = self._followed(group)
            if not in_place.is_possible(group):
                name = getattr(group.function, "name", "")
                reason = f"`{name}` has {len(groups)} definitions and is used in other ways as well."
                raise Adapted(Diagnostic("BC114", reason, "Give each definition a name of its own."))
            plans.append((group, in_place.plan(group, findings), findings.report))
        rewritten: dict[Site, SitePlan] = {}
        for group, plan, report in plans:
            found = self._with_rewrite(group, plan, report)
            rewritten = {
                s: p if (p.diagnostic or s not in rewritten) else rewritten[s] for s, p in found.items()
            }
        return rewritten

    def _followed(self, group: Group) -> Findings:
        """What is known of a callback's body; raises `Adapted` where it cannot be rewritten."""
        home = group.resolved.home
        module, path = (self.module, self.source.path) if home is None else (home.module, Path(home.file))
        if home is not None:
            bind_stars(module, path, self.imported)
        check_definition(group, module, lambda origins: self.imported.follow(origins, path))
        check_replaced(
            group, module, self.overridden if home is None else Overrides(module, path, self.project)
        )
        return self._follow(group)

    def _follow(self, group: Group) -> Findings:
        """Follows the arguments through the callback's body; raises `Adapted` at an obstacle."""
        found = self._supplied(group)
        home = group.resolved.home
        report = self._analysed(group, found, _ACCEPTED if self.options.arrays == "numpy" else frozenset())
        if report.obstacle is not None:
            raise Adapted(of_obstacle(self._with_advice(report.obstacle, group, found), home))
        check_jax(group, self.module if home is None else home.module)
        findings = Findings(found, report, self._spec(group))
        check_writes(findings, self.options)
        check_keys(findings)
        return findings

    def _analysed(self, group: Group, found: dict[str, Supplied], accept: frozenset[str]) -> BodyReport:
        arguments = {name: seen.argument for name, seen in found.items()}
        home = group.resolved.home
        if home is None:
            return analyse(group.function, arguments, self.module, accept, self.overridden)
        overridden = Overrides(home.module, Path(home.file), self.project)
        return analyse(group.function, arguments, home.module, accept, overridden)

    def _with_advice(self, obstacle: Obstacle, group: Group, found: dict[str, Supplied]) -> Obstacle:
        """An obstacle with what to do about it and all of its kind, or one that such would not remove."""
        if not obstacle.names:
            return obstacle
        report = self._analysed(group, found, _ACCEPTED)
        if report.obstacle is not None:
            return report.obstacle
        sites = [site for site, _ in group.calls]
        trees = trees_among(group.function, sites, group.position, self.module)
        order = [parameter.arg for parameter in parameters(group.function.args)]
        names = {name for each in report.accepted for name in each.names}
        return dataclasses.replace(obstacle, way_out=to_convert(names, trees, order))

    def _with_rewrite(self, group: Group, plan: FunctionPlan, report: BodyReport) -> dict[Site, SitePlan]:
        self.functions.append(plan)
        self._remark_on_copies(group, plan, report)
        diagnostic = self._note(report, None, group)
        rewritten: dict[Site, SitePlan] = {}
        for site, resolved in group.calls:
            replace = isinstance(group.function, ast.Lambda) and resolved.via is None
            rewritten[site] = SitePlan(
                site,
                Status.REWRITTEN,
                diagnostic,
                replacement=plan.name if replace else None,
                target=resolved.reference if replace else None,
                owner=plan,
            )
        return rewritten

    def _with_sibling(self, group: Group, plan: SiblingPlan, report: BodyReport) -> dict[Site, SitePlan]:
        self.siblings.append(plan)
        self._remark_on_copies(group, plan, report)
        diagnostic = self._note(report, plan, group)
        rewritten: dict[Site, SitePlan] = {}
        for site, resolved in group.calls:
            reference, text = resolved.reference, plan.name
            if isinstance(reference, ast.Attribute) and resolved.home is None:
                text = f"{ast.unparse(reference.value)}.{plan.name}"
            rewritten[site] = SitePlan(
                site, Status.REWRITTEN, diagnostic, replacement=text, target=reference, owner=plan
            )
        return rewritten

    def _remark_on_copies(self, group: Group, plan: FunctionPlan | SiblingPlan, report: BodyReport) -> None:
        home = group.resolved.home
        if (diagnostic := why_copied(plan, report, self.module, home)) is not None:
            # A definition in another module has no place in this one, but the calls of it have.
            node = plan.function if home is None else _first(group)
            self.remarks.append((node, diagnostic))

    def _supplied(self, group: Group) -> dict[str, Supplied]:
        try:
            return supplied(group.function, group.calls, self.module)
        except Blurred as error:
            raise Adapted(
                Diagnostic("BC116", str(error), "Such a call raises TypeError when it runs.")
            ) from None

    def _spec(self, group: Group) -> Spec:
        found = {structure(site.spec, self.module) for site, _ in group.calls}
        return found.pop() if len(found) == 1 else Spec("unknown")

    def _note(self, report: BodyReport, sibling: SiblingPlan | None, group: Group) -> Diagnostic | None:
        if report.accepted:
            first = report.accepted[0]
            return Diagnostic("BC007", f"Accepted by `--arrays numpy`: {first.reason}")
        home = group.resolved.home
        if report.arithmetic is not None:
            where = place(report.arithmetic, home)
            return Diagnostic(
                "BC008",
                f"`{ast.unparse(report.arithmetic)}` ({where}) is computed by NumPy now:"
                " the same, but for subnormal numbers, which JAX flushes to zero, and for NumPy's warnings.",
            )
        if sibling is None and _documents_returns(function := group.function):
            reason = f"The docstring of `{function.name}` still describes a returned value."
            return Diagnostic("BC009", reason, "Say what `out` receives instead.")
        if sibling is not None and home is not None:
            reason = f"`{sibling.callee}` is imported, so `{sibling.name}`, which calls it, is added here."
            return Diagnostic("BC001", reason)
        if sibling is not None:
            return Diagnostic(
                "BC001", f"`{sibling.callee}` has other users, so `{sibling.name}` is added beside it."
            )
        return None


def _first(group: Group) -> ast.Call:
    """The first call of a callback in the module."""
    return min((site.call for site, _ in group.calls), key=lambda call: (call.lineno, call.col_offset))


def _of_order(site: CallSite) -> Diagnostic | None:
    """Buffer callbacks are not ordered, so only `ordered=False` can go."""
    value = next((option.value for option in site.options if option.arg == "ordered"), None)
    match value:
        case None | ast.Constant(value=False):
            return None
        case ast.Constant():
            reason = f"`ordered={ast.unparse(value)}` asks for ordered calls, which buffer callbacks are not."
            way_out = f"Keep `{site.api.name}` here, or drop `ordered` if any order will do."
        case _:
            reason = (
                f"`ordered={ast.unparse(value)}` may ask for ordered calls, which buffer callbacks are not."
            )
            way_out = f"Drop `ordered` if any order will do, else keep `{site.api.name}` here."
    return Diagnostic("BC210", reason, way_out)


def _without_runtime(plan: SitePlan) -> SitePlan:
    """A site that only the `bufcb` runtime could adapt stays as it is."""
    if plan.status is not Status.ADAPTED:
        return plan
    reason = plan.diagnostic.reason if plan.diagnostic else ""
    is_library = plan.diagnostic is not None and plan.diagnostic.code == "BC102"
    change = "Call it in a function of your own" if is_library else "Change that"
    way_out = f"{change}, or use `--target bufcb`, whose runtime can adapt it."
    return SitePlan(
        plan.site, Status.REFUSED, Diagnostic("BC207", f"JAX has nothing to adapt it with: {reason}", way_out)
    )


def _documents_returns(function: FunctionNode) -> TypeGuard[ast.FunctionDef]:
    """Whether a docstring has a Returns section, in Google's, NumPy's or Sphinx's style."""
    text = None if isinstance(function, ast.Lambda) else ast.get_docstring(function)
    return (
        text is not None and re.search(r"^\s*(Returns?:?|:returns?:.*)\s*$", text, re.MULTILINE) is not None
    )
