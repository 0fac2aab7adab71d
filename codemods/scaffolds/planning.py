"""Decides which calls get a derivative of their own, of what kind, and where it stands."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from codemods.free_names import FreeNames
from codemods.gradients import Mode, Verdict
from codemods.gradients.levels import BEYOND_RULES
from codemods.groups import Context
from codemods.hoisting import anchor, scopes_between
from codemods.model import Gradient, Status
from codemods.names import Module, Scope
from codemods.ordering import why_not_behind_arguments
from codemods.plans import (
    FunctionPlan,
    HostCall,
    HostExpression,
    HostScaffold,
    ModulePlan,
    Parameter,
    Rule,
    ScaffoldPlan,
    SitePlan,
)
from codemods.resolve import Resolved
from codemods.scaffolds.derivatives import of_higher_order
from codemods.scaffolds.parameters import NoScaffold, Signature, extra, signature
from codemods.scaffolds.places import Place, at_top, nested
from codemods.scaffolds.reads import Read, binds, is_in_loop, is_settled, reads, why_not_lasting
from codemods.scaffolds.repeatable import why_not_repeatable
from codemods.scaffolds.reuse import Differentiable, differentiable, key
from codemods.scaffolds.rules import callback_name, rule_of, same_dtype
from codemods.sites import CallSite, Site
from codemods.specs import structure

NOWHERE: Final = Verdict(Gradient.NONE)
_ENDINGS: Final = ("_call", "_fwd", "_bwd", "_jvp")
_MIGRATED: Final = (Status.REWRITTEN, Status.ADAPTED)


@dataclasses.dataclass(eq=False, slots=True)
class _Draft:
    """A scaffold in the making.

    Attributes:
      plans: the call sites that share it.
      signature: the parameters of the first one.
      more: the parameters for what callback and spec read.
      key: equal for sites that may share one.
    """

    plans: list[SitePlan]
    signature: Signature
    more: tuple[Parameter, ...]
    key: tuple[object, ...]
    place: Place
    modes: frozenset[Mode]
    differentiated: set[int]

    @property
    def sites(self) -> list[CallSite]:
        return [plan.site for plan in self.plans if isinstance(plan.site, CallSite)]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        own = (
            dataclasses.replace(parameter, is_differentiated=index in self.differentiated)
            for index, parameter in enumerate(self.signature.own)
        )
        return (*self.more, *own)


class Scaffolds:
    """Plans the scaffolds of one module."""

    def __init__(
        self, context: Context, verdicts: Mapping[Site, Verdict], resolved: Mapping[Site, Resolved]
    ) -> None:
        self.context, self.module = context, context.module
        self.verdicts, self.resolved = verdicts, resolved

    def plan(
        self, plan: ModulePlan, left: Collection[Site] = ()
    ) -> tuple[Mapping[Site, ScaffoldPlan], Mapping[Site, str]]:
        """The scaffold of each call site that needs one but those `left`, or why there can be none."""
        drafts: list[_Draft] = []
        refused: dict[Site, str] = {}
        for each in plan.sites:
            if each.site in left or not self._needs_one(each):
                continue
            try:
                draft = self._draft(each)
            except NoScaffold as error:
                refused[each.site] = str(error)
                continue
            self._add(draft, drafts)
        functions = self._of_user(plan) if drafts else []
        free = self.context.free.copy() if drafts else self.context.free
        found: dict[Site, ScaffoldPlan] = {}
        for draft in drafts:
            function = self._reused(draft, functions)
            scaffold = self._scaffold(draft, function.name) if function else self._finished(draft, free)
            found |= dict.fromkeys(draft.sites, scaffold)
        return found, refused

    def _needs_one(self, plan: SitePlan) -> bool:
        verdict = self.verdicts[plan.site]
        return (
            plan.status in _MIGRATED
            and isinstance(plan.site, CallSite)
            and verdict.gradient is Gradient.UNPROTECTED
            and bool(verdict.modes - BEYOND_RULES)
        )

    # Functions of the user's.

    def _of_user(self, plan: ModulePlan) -> list[Differentiable]:
        """The functions that give one of the migrated calls its derivative, and do no more."""
        found = []
        for each in plan.sites:
            site = each.site
            if each.status in _MIGRATED and isinstance(site, CallSite) and not site.is_partial:
                try:
                    own = self._signature(each, site, NOWHERE)
                except NoScaffold:
                    continue
                found.append(differentiable(each, site, own, self.module))
        return [each for each in found if each is not None]

    def _reused(self, draft: _Draft, functions: Sequence[Differentiable]) -> ast.FunctionDef | None:
        """The function of the user's that all call sites of a draft can call."""
        for each in functions:
            fits = each.key == draft.key and draft.modes <= each.modes and not draft.more
            if fits and all(each.is_in_sight(site.call, self.module) for site in draft.sites):
                return each.function
        return None

    def _signature(self, plan: SitePlan, site: CallSite, verdict: Verdict) -> Signature:
        found = list(reads(plan, site, self.module))
        return signature(plan, site, verdict, found, self.resolved.get(site), self.module)

    # Drafts.

    def _draft(self, plan: SitePlan) -> _Draft:
        site, module = plan.site, self.module
        assert isinstance(site, CallSite)
        _check(plan, site, self.context)
        verdict = self.verdicts[site]
        own = self._signature(plan, site, verdict)
        above = anchor(site.call, module, self.context.source)
        crossed = frozenset(scopes_between(site.call, above, module))
        more, is_nested = self._of_reads(plan, own.others, crossed)
        if (of_lambda := _hoisted(plan)) is not None:
            is_settled_ = not is_in_loop(of_lambda, module)
            is_nested = is_nested or (is_settled_ and module.scopes[of_lambda] is not module.root)
            if not is_settled_:
                more.insert(0, Parameter(plan.replacement or "", "tree", is_given=False, is_static=True))
        place = (None if is_nested else at_top(plan, site, module)) or nested(above, module)
        more.sort(key=lambda parameter: not parameter.is_static)
        differentiated = {i for i, parameter in enumerate(own.own) if parameter.is_differentiated}
        return _Draft([plan], own, tuple(more), key(plan, site, own), place, verdict.modes, differentiated)

    def _of_reads(
        self, plan: SitePlan, others: Sequence[Read], crossed: frozenset[Scope]
    ) -> tuple[list[Parameter], bool]:
        """Parameters for names that would mean something else later, and whether others are local."""
        groups: dict[tuple[str, Scope | None], list[Read]] = {}
        for read in others:
            groups.setdefault((read.name, read.home), []).append(read)
        more: list[Parameter] = []
        is_nested = False
        for (name, home), group in groups.items():
            if home is None:
                continue
            if home in crossed or not is_settled(name, home, self.module):
                parameter = _extra(group, home, crossed, self.module)
                if plan.replacement and any(read.node is plan.target for read in group):
                    parameter = dataclasses.replace(parameter, name=plan.replacement)
                more.append(parameter)
            else:
                is_nested = is_nested or home is not self.module.root
        return more, is_nested

    def _add(self, draft: _Draft, drafts: list[_Draft]) -> None:
        """Adds a draft to those that there are, or to one of them that can stand for it."""
        for earlier in drafts:
            if earlier.key == draft.key and earlier.place.reaches(draft.place, self.module):
                earlier.plans += draft.plans
                earlier.modes |= draft.modes
                earlier.differentiated |= draft.differentiated
                return
        drafts.append(draft)

    # Finished.

    def _finished(self, draft: _Draft, free: FreeNames) -> ScaffoldPlan:
        """A new function with rules; `free` has names for them."""
        module, forward = self.module, Mode.FORWARD in draft.modes
        order = max(self.verdicts[site].order for site in draft.sites)
        vjp, given = self.context.options.vjp, draft.parameters
        rule, host = rule_of(draft.plans, self.resolved, module, vjp, given, takes_all=forward, order=order)
        stem = free.stem(f"_{callback_name(draft.plans[0], draft.sites[0])}", _ENDINGS)
        found = self._scaffold(draft, f"{stem}_call", _rules(stem, forward), rule, host)
        if order < 2 or not isinstance(host, HostCall):
            return found
        return dataclasses.replace(found, higher=tuple(_higher(draft, host, found, free)))

    def _scaffold(
        self,
        draft: _Draft,
        name: str,
        rules: tuple[str, ...] = (),
        rule: Rule = "reused",
        host: HostCall | HostExpression | None = None,
    ) -> ScaffoldPlan:
        site = draft.sites[0]
        first = self.verdicts[site]
        return ScaffoldPlan(
            tuple(draft.sites),
            "jvp" if Mode.FORWARD in draft.modes else "vjp",
            name,
            rules,
            draft.parameters,
            rule,
            host,
            structure(site.spec, self.module),
            same_dtype(site, self.module),
            draft.place.anchor,
            draft.place.above,
            first.hops[0] if first.hops else None,
            first.assumed,
        )


def _higher(draft: _Draft, host: HostCall, scaffold: ScaffoldPlan, free: FreeNames) -> Iterator[HostScaffold]:
    """The functions in place of those that rules call on the host, which are differentiated as well."""
    own = draft.signature.own
    is_all = not (draft.more or host.has_cast) and host.operands == tuple(range(len(own)))
    for origin in of_higher_order(host.origin) or ():
        if origin == host.origin and is_all:
            yield HostScaffold(origin, scaffold.name, ())
        else:
            stem = free.stem(f"_{origin.rpartition('.')[2]}", _ENDINGS)
            yield HostScaffold(origin, f"{stem}_call", _rules(stem, scaffold.mode == "jvp"))


def _extra(group: Sequence[Read], home: Scope, crossed: Collection[Scope], module: Module) -> Parameter:
    """The parameter for a name that the call reads beside its arguments.

    Raises:
      NoScaffold: it cannot be one; where the name is of a function on one line, that is what is in the way.
    """
    try:
        return extra(group, module)
    except NoScaffold:
        function = home.node
        if home not in crossed or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            raise
        name, of = group[0].name, function.name
        raise NoScaffold(f"it reads `{name}` of `{of}`, whose body stands on the line of its `def`") from None


def _rules(stem: str, forward: bool) -> tuple[str, ...]:
    return (f"{stem}_jvp",) if forward else (f"{stem}_fwd", f"{stem}_bwd")


def _check(plan: SitePlan, site: CallSite, context: Context) -> None:
    """Raises `NoScaffold` where the call cannot move as a whole."""
    if site.is_partial:
        raise NoScaffold("its arguments are given elsewhere")
    if ("has_side_effect", "True") in site.api.keywords:
        raise NoScaffold("it has side effects, which a rule may repeat")
    if plan.adapt is None and plan.owner is None:
        raise NoScaffold("its callback, spec and options cannot be told from its arguments")
    if binds(site):
        raise NoScaffold("its callback or spec binds a name")
    if (why := why_not_lasting(site, context.module)) is not None:
        raise NoScaffold(why)
    parts = [site.spec, *(option.value for option in site.options)]
    # A callback that is rewritten is always the same: all that is called by its name is in sight.
    is_fixed = plan.owner is not None and isinstance(site.callback, ast.Name | ast.Attribute)
    moved = parts if is_fixed else [site.callback, *parts]
    if (why := why_not_behind_arguments(site, moved, context.module)) is not None:
        raise NoScaffold(why[0].lower() + why[1:].rstrip("."))
    reasons = [why_not_repeatable(part, context.module) for part in parts]
    reasons.append(why_not_repeatable(site.callback, context.module, runs_lambdas=False))
    if (why := next(filter(None, reasons), None)) is not None:
        raise NoScaffold(why)


def _hoisted(plan: SitePlan) -> ast.stmt | None:
    """The statement above which the callback's lambda becomes a function."""
    owner = plan.owner
    replaced = isinstance(plan.target, ast.Lambda)
    return owner.anchor if replaced and isinstance(owner, FunctionPlan) else None
