"""Decides what becomes of each call site: groups them by callback, and plans or adapts each group."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from codemods.arguments import Blurred, Supplied, default_of, supplied
from codemods.bodies import BodyReport, Obstacle, Usage, Use, analyse
from codemods.free_names import FreeNames
from codemods.hoisting import why_not_hoisted
from codemods.model import Diagnostic, Options, Status
from codemods.names import FunctionNode, Module, is_private, parameters
from codemods.ordering import why_not_reordered
from codemods.overrides import Overrides
from codemods.plans import (
    Conversion,
    FunctionPlan,
    How,
    ModulePlan,
    ReturnForm,
    ReturnPlan,
    SiblingPlan,
    SitePlan,
)
from codemods.project import Project
from codemods.resolve import Opaque, Resolved, plain_decorators, resolve
from codemods.returns import form_of, is_generator, plan_returns
from codemods.sites import CallSite, Site, Unresolved, ValueUse
from codemods.source import SourceFile
from codemods.specs import Spec, structure
from codemods.suppressions import Suppressions

ACCEPTED_BY_NUMPY: Final = frozenset({"BC104", "BC111", "BC112"})

_BY_CHOICE: Final = Opaque("BC117", "`--arrays jax` keeps every callback as it is.")
_MAY_BE_TREE: Final = frozenset({Use.OTHER, Use.PIECE_CONVERTED})
_NEEDS_NONE: Final = frozenset({Use.INQUIRY, Use.CONVERTED, Use.PIECE_CONVERTED})


class _Adapted(Exception):
    """A group of call sites cannot be rewritten."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.code)
        self.diagnostic = diagnostic


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """The call sites of one callback."""

    function: ast.FunctionDef | ast.Lambda
    calls: tuple[tuple[CallSite, Resolved], ...]

    @property
    def resolved(self) -> Resolved:
        return self.calls[0][1]


class Planner:
    """Plans one module."""

    def __init__(self, source: SourceFile, module: Module, project: Project, options: Options) -> None:
        self.source, self.module, self.project, self.options = source, module, project, options
        self.free = FreeNames(module)
        self.overridden = Overrides(module, source.path, project)
        self.functions: list[FunctionPlan] = []
        self.siblings: list[SiblingPlan] = []
        self.definitions: dict[Site, ast.FunctionDef | ast.Lambda] = {}

    def plan(self, sites: Sequence[Site], suppressions: Suppressions) -> ModulePlan:
        """Decides on every site. What `skip[CODE]` silences is left alone, and the rest decided again."""
        silenced: set[Site] = set()
        while True:
            self.free, self.functions, self.siblings = FreeNames(self.module), [], []
            plan = self._plan(sites, suppressions, silenced)
            more = {site.site for site in plan.sites if self._is_silenced(site, suppressions)}
            if not more:
                return plan
            silenced |= more

    def _is_silenced(self, plan: SitePlan, suppressions: Suppressions) -> bool:
        """Whether a comment with the code of what became of a site stands on its call or its callback."""
        if plan.diagnostic is None or plan.status is Status.SKIPPED:
            return False
        code, definition = plan.diagnostic.code, self.definitions.get(plan.site)
        return suppressions.covers_code(plan.site.node, code) or (
            definition is not None and suppressions.covers_definition(definition, code)
        )

    def _plan(self, sites: Sequence[Site], suppressions: Suppressions, silenced: set[Site]) -> ModulePlan:
        plans: dict[Site, SitePlan] = {}
        groups: dict[ast.AST, list[tuple[CallSite, Resolved]]] = {}
        live = {site for site in sites if not suppressions.covers(site.node)} - silenced
        callbacks = frozenset(site.callback for site in live if isinstance(site, CallSite))
        for site in sites:
            if site not in live:
                plans[site] = _skipped(site, "Left alone, as the comment asks.")
            elif isinstance(site, Unresolved):
                status = Status.SKIPPED if site.code == "BC003" else Status.REFUSED
                plans[site] = SitePlan(site, status, Diagnostic(site.code, site.reason, site.way_out))
            elif isinstance(site, ValueUse):
                plans[site] = self._renamed(site.why, site)
            else:
                found = resolve(site.callback, self.module, callbacks, self.overridden)
                definition = found.function if isinstance(found, Resolved) else found.definition
                if definition is not None:
                    self.definitions[site] = definition
                if definition is not None and suppressions.covers_definition(definition):
                    plans[site] = _skipped(site, "The callback is left alone, as its comment asks.")
                elif (alone := self._alone_plan(site, found)) is not None:
                    plans[site] = alone
                elif isinstance(found, Resolved):
                    groups.setdefault(found.function, []).append((site, found))
        for function, calls in groups.items():
            assert isinstance(function, ast.FunctionDef | ast.Lambda)
            plans.update(self._group(_Group(function, tuple(calls))))
        if self.options.target == "jax":
            plans = {site: _without_runtime(plan) for site, plan in plans.items()}
        ordered = tuple(plans[site] for site in sites)
        return ModulePlan(ordered, tuple(self.functions), tuple(self.siblings))

    # One site.

    def _alone_plan(self, site: CallSite, found: Resolved | Opaque) -> SitePlan | None:
        """What becomes of a site whatever its callback's other sites; None where they decide together."""
        if self.options.target == "jax" and any(o.arg == "sharding" for o in site.options):
            return self._renamed("JAX's buffer callback takes no `sharding=`.", site)
        if (why := self._unsorted(site)) is not None:
            return self._renamed(why, site)
        if isinstance(found, Resolved):
            return None
        if found.arrays == "numpy" and self.options.arrays == "jax":
            found = _BY_CHOICE
        return self._adapted(site, Diagnostic(found.code, found.reason, found.way_out), found.arrays)

    def _renamed(self, why: str, site: Site) -> SitePlan:
        diagnostic = Diagnostic("BC110", why, "It becomes `bufcb.pure_callback`, which behaves the same.")
        return SitePlan(site, Status.ADAPTED, diagnostic)

    def _adapted(self, site: CallSite, diagnostic: Diagnostic, arrays: str = "jax") -> SitePlan:
        keep = arrays == "numpy" and self.options.arrays != "jax"
        return SitePlan(site, Status.ADAPTED, diagnostic, adapt="numpy" if keep else "jax")

    def _unsorted(self, site: CallSite) -> str | None:
        """Why a sorted-out call is still only renamed: its options cannot move, or come later."""
        if (why := why_not_reordered(site, self.module)) is not None:
            return why
        if site.is_partial and not self._only_called_plainly(site):
            return "The partial may be called with options of `pure_callback` itself."
        return None

    def _only_called_plainly(self, site: CallSite) -> bool:
        """Whether every use of a partial is in sight: calls without options of `pure_callback`."""
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
            if any(k.arg in (None, "sharding", "vmap_method", "vectorized") for k in call.keywords):
                return False
        return True

    # One callback.

    def _group(self, group: _Group) -> dict[Site, SitePlan]:
        try:
            if self.options.arrays == "jax":
                raise _Adapted(Diagnostic(_BY_CHOICE.code, _BY_CHOICE.reason))
            return self._rewritten(group)
        except _Adapted as stop:
            return {site: self._adapted(site, stop.diagnostic) for site, _ in group.calls}

    def _rewritten(self, group: _Group) -> dict[Site, SitePlan]:
        function = group.function
        self._check_definition(group)
        found = self._supplied(group)
        accept = ACCEPTED_BY_NUMPY if self.options.arrays == "numpy" else frozenset()
        arguments = {n: s.argument for n, s in found.items()}
        report = analyse(function, arguments, self.module, accept, self.overridden)
        if report.obstacle is not None:
            raise _Adapted(self._of_obstacle(report.obstacle))
        self._check_writes(report)
        self._check_keys(found, report)
        spec = self._spec(group)
        if self._in_place(group):
            plan = self._function_plan(group, found, report, spec)
        else:
            return self._with_sibling(group, found, report, spec)
        self.functions.append(plan)
        diagnostic = self._note(report, None, function)
        rewritten: dict[Site, SitePlan] = {}
        for site, resolved in group.calls:
            replace = isinstance(function, ast.Lambda) and resolved.via is None
            rewritten[site] = SitePlan(
                site,
                Status.REWRITTEN,
                diagnostic,
                replacement=plan.name if replace else None,
                target=resolved.reference if replace else None,
                owner=plan,
            )
        return rewritten

    def _of_obstacle(self, obstacle: Obstacle) -> Diagnostic:
        line = getattr(obstacle.node, "lineno", 0)
        return Diagnostic(obstacle.code, f"{obstacle.reason} (line {line})", obstacle.way_out)

    def _check_definition(self, group: _Group) -> None:
        function = group.function
        name = getattr(function, "name", "<lambda>")
        if not plain_decorators(function):
            shown = ", ".join(f"`@{ast.unparse(d)}`" for d in getattr(function, "decorator_list", []))
            raise _Adapted(
                Diagnostic("BC107", f"`{name}` is decorated with {shown}.", "It gets JAX arrays, as before.")
            )
        if is_generator(function):
            raise _Adapted(
                Diagnostic(
                    "BC109", f"`{name}` is a generator function.", "JAX callbacks are plain functions."
                )
            )
        bounds = {(r.bound.positional, r.bound.keywords, r.implicit) for _, r in group.calls}
        if len({(p, i) for p, _, i in bounds}) > 1:
            raise _Adapted(
                Diagnostic(
                    "BC115",
                    f"Call sites bind different numbers of arguments of `{name}`.",
                    "Use one `partial`.",
                )
            )
        self._check_position(group)

    def _check_position(self, group: _Group) -> None:
        arguments, position = group.function.args, _position(group)
        positional = [*arguments.posonlyargs, *arguments.args]
        before = positional[:position]
        if position > len(positional):
            raise _Adapted(
                Diagnostic(
                    "BC115", "There is no place for the buffers in front of `*args`.", "Name the parameters."
                )
            )
        if any(default_of(p, arguments) is not None for p in before):
            raise _Adapted(
                Diagnostic(
                    "BC115", "A parameter with a default would come before the buffers.", "Drop the default."
                )
            )
        bound_by_name = frozenset().union(*(r.bound.keywords for _, r in group.calls))
        if any(p.arg in bound_by_name for p in before):
            raise _Adapted(Diagnostic("BC115", "A `partial` binds one parameter twice."))

    def _supplied(self, group: _Group) -> dict[str, Supplied]:
        try:
            return supplied(group.function, group.calls, self.module)
        except Blurred as error:
            raise _Adapted(
                Diagnostic("BC116", str(error), "Such a call raises TypeError when it runs.")
            ) from None

    def _check_writes(self, report: BodyReport) -> None:
        """A copy would let a write succeed that fails today."""
        for name, usage in report.usages.items():
            if usage.write is not None and usage.escape is not None and not self.options.views:
                raise _Adapted(
                    Diagnostic(
                        "BC105",
                        f"A view of `{name}` is written into and may be kept.",
                        f"Copy it first: `{name} = np.array({name})`.",
                    )
                )

    def _check_keys(self, found: Mapping[str, Supplied], report: BodyReport) -> None:
        """A typed random key is no array, which an unused parameter does not notice."""
        for name, seen in found.items():
            if seen.may_be_key and report.usages[name].uses <= {Use.INQUIRY}:
                raise _Adapted(
                    Diagnostic(
                        "BC119",
                        f"`{name}` may be a typed random key, which is no buffer.",
                        "Pass `jax.random.key_data(...)` of it, or leave the parameter out.",
                    )
                )

    def _spec(self, group: _Group) -> Spec:
        found = {structure(site.spec, self.module) for site, _ in group.calls}
        return found.pop() if len(found) == 1 else Spec("unknown")

    # In place, or beside.

    def _in_place(self, group: _Group) -> bool:
        """Whether every reference of the callback is one of these call sites."""
        function, resolved = group.function, group.resolved
        if isinstance(function, ast.Lambda):
            self._check_lambda(group)
            return True
        references = {r.reference for _, r in group.calls}
        if resolved.owner is not None:
            return self._method_in_place(function.name, references, resolved.owner)
        scope = self.module.home(function.name, self.module.scopes[function]) or self.module.scopes[function]
        if any(use not in references for use in self.module.references(function.name, scope)):
            return False
        nested = any(s.is_function for s in scope.enclosing())
        if nested:
            return True
        return self._free_to_change(function.name)

    def _method_in_place(self, name: str, references: set[ast.expr], owner: ast.ClassDef) -> bool:
        by_name = self.module.references(name, self.module.opened[owner])
        uses = [*self.module.attributes.get(name, ()), *by_name]
        return all(use in references for use in uses) and self._free_to_change(name)

    def _free_to_change(self, name: str) -> bool:
        if not (is_private(name) or self.options.public):
            return False
        if name.startswith("__") or self.module.spells(name):
            return False
        return not self.project.used_elsewhere(name, self.source.path)

    def _check_lambda(self, group: _Group) -> None:
        function = group.function
        assert isinstance(function, ast.Lambda)
        if any(r.via for _, r in group.calls):
            self._check_variable(function)
            return
        reason = why_not_hoisted(function, self.module, self.source)
        if reason:
            raise _Adapted(Diagnostic("BC108", reason, "Write it as a `def` to have it rewritten."))

    def _check_variable(self, function: ast.Lambda) -> None:
        """A lambda bound to a name is replaced where it stands, if its assignment has a line of its own."""
        parent = self.module.parents[function]
        if (
            not isinstance(parent, ast.Assign)
            or not self._alone(parent)
            or self.module.enclosing_class(parent)
        ):
            raise _Adapted(
                Diagnostic(
                    "BC108", "The lambda's assignment is not a line of its own.", "Write it as a `def`."
                )
            )
        target = parent.targets[0]
        assert isinstance(target, ast.Name)
        if self.module.scopes[parent] is self.module.root and not self._free_to_change(target.id):
            raise _Adapted(
                Diagnostic(
                    "BC108", f"`{target.id}` is public, so others may call it.", "Write it as a `def`."
                )
            )

    def _alone(self, statement: ast.stmt) -> bool:
        """Whether a statement has its lines to itself."""
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = self.source.text[self.source.line_start(first) : self.source.start(statement)]
        after = self.source.text[self.source.end(statement) : self.source.line_end(last)].strip()
        return not before.strip() and (not after or after.startswith("#"))

    # Plans.

    def _function_plan(
        self, group: _Group, found: Mapping[str, Supplied], report: BodyReport, spec: Spec
    ) -> FunctionPlan:
        function = group.function
        returns = plan_returns(function, report, spec, self.module)
        if isinstance(returns, Obstacle):
            raise _Adapted(self._of_obstacle(returns))
        copied, kept = self._own_copies(function, report)
        conversions = self._conversions(found, report, skip=kept)
        taken = self.free.inside(function)
        context, out, positional_only = self._buffer_names(group, taken)
        result: ReturnForm = "store"
        if isinstance(function, ast.Lambda):
            result = (
                "store"
                if spec.kind == "empty"
                else form_of(function.body, function, report, spec, self.module)
            )
        return FunctionPlan(
            function,
            self._new_name(group),
            _position(group),
            positional_only,
            context,
            out,
            conversions,
            copied,
            returns,
            result,
            spec,
            report.falls_through and spec.kind != "empty" and not _ends_in_kept(function, returns),
            self.free.choose(("result", "result_value", "_result"), taken | {context, out}),
            self._jax_annotated(function, conversions),
        )

    def _jax_annotated(
        self, function: FunctionNode, conversions: tuple[Conversion, ...]
    ) -> tuple[ast.arg, ...]:
        converted = {c.name for c in conversions if c.how in ("array", "array copy")}
        return tuple(
            parameter
            for parameter in parameters(function.args)
            if parameter.arg in converted
            and parameter.annotation is not None
            and any(origin.startswith("jax") for origin in self.module.origins(parameter.annotation))
        )

    def _new_name(self, group: _Group) -> str:
        function = group.function
        if isinstance(function, ast.FunctionDef):
            return function.name
        if via := group.resolved.via:
            return via
        return self.free.for_lambda(function, self.module)

    def _buffer_names(self, group: _Group, taken: frozenset[str]) -> tuple[str, str, bool]:
        keywords = {k.arg for site, _ in group.calls for k in site.keywords if k.arg}
        keywords |= frozenset().union(*(r.bound.keywords for _, r in group.calls))
        named = {p.arg for p in parameters(group.function.args)}
        clash = group.function.args.kwarg is not None or bool(group.function.args.vararg and keywords - named)
        taken = taken | (frozenset() if clash else frozenset(keywords))
        context = self.free.choose(("ctx", "context", "callback_context"), taken)
        out = self.free.choose(("out", "out_buffer", "output_buffer"), taken | {context})
        return context, out, clash

    def _own_copies(
        self, function: FunctionNode, report: BodyReport
    ) -> tuple[tuple[ast.Call, ...], frozenset[str]]:
        """Conversions of the body's own that can copy instead: `x = np.asarray(x)` as the only raw use."""
        copied, names = [], set()
        if self.options.target == "jax":
            return (), frozenset()
        for name, usage in report.usages.items():
            if usage.escape is None or self.options.views or usage.uses - {Use.CONVERTED, Use.INQUIRY}:
                continue
            plain = [c for c in usage.conversions if self._is_plain_asarray(c, name, function)]
            if len(plain) == len(usage.conversions) == 1:
                copied.append(plain[0])
                names.add(name)
        return tuple(copied), frozenset(names)

    def _is_plain_asarray(self, call: ast.Call, name: str, function: FunctionNode) -> bool:
        parent = self.module.parents[call]
        return (
            isinstance(function, ast.FunctionDef)
            and isinstance(parent, ast.Assign)
            and parent in function.body
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
            and parent.targets[0].id == name
            and isinstance(call.func, ast.Attribute)
            and self.module.origins(call.func) == {"numpy.asarray"}
        )

    def _conversions(
        self, found: Mapping[str, Supplied], report: BodyReport, skip: frozenset[str] = frozenset()
    ) -> tuple[Conversion, ...]:
        conversions = []
        for name, seen in found.items():
            how = self._how(report.usages[name], seen)
            if how is None or name in skip:
                continue
            if not seen.always:
                raise _Adapted(
                    Diagnostic(
                        "BC116", f"Whether the call supplies `{name}` or leaves its default cannot be seen."
                    )
                )
            conversions.append(Conversion(name, how))
        return tuple(conversions)

    def _how(self, usage: Usage, seen: Supplied) -> How | None:
        copies = usage.escape is not None and not self.options.views
        if not usage.uses:
            return None
        if self.options.target == "jax":  # whose buffers are no arrays
            return "tree copy" if copies else "tree"
        if not copies and usage.uses <= _NEEDS_NONE:
            return None
        one = seen.argument.form == "array" or (
            seen.argument.form != "tree"
            and bool(usage.uses & {Use.NUMPY, Use.CONVERTED})
            and not usage.uses & _MAY_BE_TREE
        )
        if one:
            return "array copy" if copies else "array"
        return "tree copy" if copies else "tree"

    def _with_sibling(
        self, group: _Group, found: Mapping[str, Supplied], report: BodyReport, spec: Spec
    ) -> dict[Site, SitePlan]:
        plan = self._sibling_plan(group, found, report, spec)
        self.siblings.append(plan)
        diagnostic = self._note(report, plan, group.function)
        rewritten: dict[Site, SitePlan] = {}
        for site, resolved in group.calls:
            reference = resolved.reference
            text = plan.name
            if isinstance(reference, ast.Attribute):
                text = f"{ast.unparse(reference.value)}.{plan.name}"
            rewritten[site] = SitePlan(
                site, Status.REWRITTEN, diagnostic, replacement=text, target=reference, owner=plan
            )
        return rewritten

    def _sibling_plan(
        self, group: _Group, found: Mapping[str, Supplied], report: BodyReport, spec: Spec
    ) -> SiblingPlan:
        function = group.function
        assert isinstance(function, ast.FunctionDef)
        if spec.kind == "leaf" and report.returns and all(v.form == "array" for v in report.returns.values()):
            result: ReturnForm = "write" if not report.falls_through else "store"
        else:
            result = "store"
        wanted = self._sibling_parameters(group, found)
        self._check_hidden({p.arg for p in wanted}, group)
        kinds = {d.id for d in function.decorator_list if isinstance(d, ast.Name)}
        taken = frozenset({p.arg for p in wanted} | {function.name, "np", "bufcb"})
        context, out, clash = self._buffer_names(group, taken)
        return SiblingPlan(
            function,
            function,
            self.free.sibling(function.name),
            self._callee(group),
            _position(group),
            clash,
            context,
            out,
            wanted,
            tuple(self._handed_on(found, report, wanted)),
            result,
            next(iter(kinds), None),
        )

    def _check_hidden(self, parameters_: set[str], group: _Group) -> None:
        """A sibling's own parameters must not hide what its body calls."""
        owner = group.resolved.owner
        called = {getattr(group.function, "name", ""), owner.name if owner else ""}
        called |= {
            b.name for bs in self.module.root.bindings.values() for b in bs if b.origin in ("numpy", "bufcb")
        }
        if hidden := parameters_ & (called | {"np", "numpy", "bufcb"}):
            name = min(hidden)
            raise _Adapted(
                Diagnostic("BC115", f"The parameter `{name}` hides what a sibling would call.", "Rename it.")
            )

    def _sibling_parameters(self, group: _Group, found: Mapping[str, Supplied]) -> tuple[ast.arg, ...]:
        """The original's parameters that a site supplies or a `partial` binds, and `self`."""
        function = group.function
        positional = [*function.args.posonlyargs, *function.args.args]
        leading = positional[: _position(group)]
        bound = frozenset().union(*(r.bound.keywords for _, r in group.calls))
        wanted = [p for p in parameters(function.args) if p in leading or p.arg in found or p.arg in bound]
        for parameter in wanted:
            default = default_of(parameter, function.args)
            maybe = parameter.arg in found and not found[parameter.arg].always
            some = parameter.arg in bound and not all(
                parameter.arg in r.bound.keywords for _, r in group.calls
            )
            if (maybe or some) and default is not None:
                raise _Adapted(Diagnostic("BC116", f"Some calls leave `{parameter.arg}` to its default.", ""))
        if (
            function.args.kwarg
            and bound - {p.arg for p in parameters(function.args)}
            and function.args.kwarg not in wanted
        ):
            wanted.append(function.args.kwarg)
        return tuple(wanted)

    def _callee(self, group: _Group) -> str:
        function, resolved = group.function, group.resolved
        assert isinstance(function, ast.FunctionDef)
        if resolved.owner is None:
            return function.name
        if resolved.implicit:
            return f"{[*function.args.posonlyargs, *function.args.args][0].arg}.{function.name}"
        if self.module.scopes[resolved.owner] is not self.module.root:
            raise _Adapted(
                Diagnostic("BC115", "A static method of a nested class has no name to call it by.")
            )
        return f"{resolved.owner.name}.{function.name}"

    def _handed_on(
        self, found: Mapping[str, Supplied], report: BodyReport, wanted: Sequence[ast.arg]
    ) -> Iterable[Conversion]:
        for parameter in wanted:
            if parameter.arg not in found:
                continue
            seen, usage = found[parameter.arg], report.usages[parameter.arg]
            copies = usage.escape is not None and not self.options.views
            one = seen.argument.form == "array" or (
                seen.argument.form != "tree" and not usage.uses & _MAY_BE_TREE and usage.uses != {Use.INQUIRY}
            )
            if one and usage.uses:
                yield Conversion(parameter.arg, "array copy" if copies else "array")
            elif usage.uses:
                yield Conversion(parameter.arg, "tree copy" if copies else "tree")

    def _note(
        self, report: BodyReport, sibling: SiblingPlan | None, function: FunctionNode
    ) -> Diagnostic | None:
        if report.accepted:
            first = report.accepted[0]
            return Diagnostic("BC007", f"Accepted by `--arrays numpy`: {first.reason}")
        if report.arithmetic is not None:
            line = getattr(report.arithmetic, "lineno", 0)
            return Diagnostic(
                "BC008",
                f"`{ast.unparse(report.arithmetic)}` (line {line}) is computed by NumPy now:"
                " the same, but for subnormal numbers, which JAX flushes to zero, and for NumPy's warnings.",
            )
        if sibling is None and _documents_returns(function):
            return Diagnostic(
                "BC009", "Its docstring still describes a returned value.", "Say what `out` receives instead."
            )
        if sibling is not None:
            return Diagnostic(
                "BC001", f"`{sibling.callee}` has other users, so `{sibling.name}` was added beside it."
            )
        return None


def _skipped(site: Site, reason: str) -> SitePlan:
    return SitePlan(site, Status.SKIPPED, Diagnostic("BC004", reason))


def _without_runtime(plan: SitePlan) -> SitePlan:
    """A site that only the `bufcb` runtime could adapt stays with `jax.pure_callback`."""
    if plan.status is not Status.ADAPTED:
        return plan
    reason = plan.diagnostic.reason if plan.diagnostic else ""
    way_out = "Change that, or use `--target bufcb`, whose runtime can adapt it."
    return SitePlan(
        plan.site, Status.REFUSED, Diagnostic("BC207", f"JAX has nothing to adapt it with: {reason}", way_out)
    )


def _ends_in_kept(function: FunctionNode, returns: Sequence[ReturnPlan]) -> bool:
    """Whether a function ends in the write of a kept value."""
    return isinstance(function, ast.FunctionDef) and any(p.after is function.body[-1] for p in returns)


def _position(group: _Group) -> int:
    return group.resolved.implicit + group.resolved.bound.positional


def _documents_returns(function: FunctionNode) -> bool:
    """Whether a docstring has a Returns section, in Google's, NumPy's or Sphinx's style."""
    text = None if isinstance(function, ast.Lambda) else ast.get_docstring(function)
    return (
        text is not None and re.search(r"^\s*(Returns?:?|:returns?:.*)\s*$", text, re.MULTILINE) is not None
    )
