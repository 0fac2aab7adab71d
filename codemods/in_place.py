"""Whether a callback can be rewritten where it stands, and how."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from typing import Final

from codemods.annotations import is_typed, jax_annotated
from codemods.arguments import Supplied
from codemods.bodies import BodyReport, Obstacle, Usage, Use
from codemods.fusing import fused
from codemods.groups import Adapted, Context, Findings, Group, conversion, of_obstacle
from codemods.hoisting import anchor, why_not_hoisted
from codemods.model import Diagnostic
from codemods.names import FunctionNode, is_private
from codemods.plans import Conversion, FunctionPlan, How, ReturnForm, ReturnPlan
from codemods.returns import form_of, plan_returns

# What a body holds may run several times, or later.
_REPEATED: Final = (
    *(ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef),
)
_NEEDS_NONE: Final = frozenset({Use.INQUIRY, Use.CONVERTED, Use.PIECE_CONVERTED})


class InPlace:
    """Plans the rewrite of one callback's own definition."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def is_possible(self, group: Group) -> bool:
        """Whether every reference of the callback is one of these call sites."""
        function, resolved = group.function, group.resolved
        self._check_holders(group)
        if resolved.has_stubs:
            return False
        if isinstance(function, ast.Lambda):
            self._check_lambda(group)
            return True
        references = {r.reference for _, r in group.calls}
        if resolved.owner is not None:
            return self._method_in_place(function.name, references, resolved.owner)
        scope = (
            self.context.module.home(function.name, self.context.module.scopes[function])
            or self.context.module.scopes[function]
        )
        if any(use not in references for use in self.context.module.references(function.name, scope)):
            return False
        nested = any(s.is_function for s in scope.enclosing())
        if nested:
            return True
        if self.context.reflection.looks_up(function.name, is_attribute=False):
            return False
        return self._free_to_change(function.name)

    def _check_holders(self, group: Group) -> None:
        """What holds a callback must lead to these call sites alone, in all of the project."""
        for name in sorted({name for _, r in group.calls for name in r.holders if name != r.via}):
            if not self._free_to_change(name):
                reason = f"`{name}`, which leads to the callback, may be used by others."
                raise Adapted(Diagnostic("BC101", reason, "Give it a private name, or pass `--public`."))

    def _method_in_place(self, name: str, references: set[ast.expr], owner: ast.ClassDef) -> bool:
        by_name = self.context.module.references(name, self.context.module.opened[owner])
        uses = [*self.context.module.attributes.get(name, ()), *by_name]
        if self.context.reflection.looks_up(name, is_attribute=True):
            return False
        return all(use in references for use in uses) and self._free_to_change(name)

    def _free_to_change(self, name: str) -> bool:
        is_public = self.context.source.is_importable and not is_private(name)
        if is_public and not self.context.options.public:
            return False
        if name.startswith("__") or self.context.module.spells(name):
            return False
        return not self.context.project.used_elsewhere(name, self.context.source.path)

    def _check_lambda(self, group: Group) -> None:
        function = group.function
        assert isinstance(function, ast.Lambda)
        if (name := group.resolved.via) is not None:
            self._check_variable(name, function)
            return
        reason = why_not_hoisted(function, self.context.module, self.context.source)
        if reason:
            raise Adapted(Diagnostic("BC108", reason, "Write it as a `def` to have it rewritten."))

    def _check_variable(self, name: str, function: ast.Lambda) -> None:
        """A lambda bound to a name is replaced where it stands; others must not use that name."""
        module = self.context.module
        if module.scopes[module.parents[function]] is module.root and not self._free_to_change(name):
            reason = f"`{name}` is public, so others may call it."
            raise Adapted(Diagnostic("BC108", reason, "Write it as a `def`."))

    def settled(self, group: Group) -> Group:
        """The same group; a lambda whose assignment no `def` can stand for is handed over by a new name."""
        if group.resolved.via is None:
            return group
        parent = self.context.module.parents[group.function]
        if (
            isinstance(parent, ast.Assign)
            and self._alone(parent)
            and self.context.module.enclosing_class(parent) is None
        ):
            return group
        calls = tuple((site, dataclasses.replace(r, via=None)) for site, r in group.calls)
        return dataclasses.replace(group, calls=calls)

    def _alone(self, statement: ast.stmt) -> bool:
        """Whether a statement has its lines to itself."""
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = self.context.source.text[
            self.context.source.line_start(first) : self.context.source.start(statement)
        ]
        after = self.context.source.text[
            self.context.source.end(statement) : self.context.source.line_end(last)
        ].strip()
        return not before.strip() and (not after or after.startswith("#"))

    def plan(self, group: Group, findings: Findings) -> FunctionPlan:
        """How the definition changes; raises `Adapted` where it cannot."""
        function, report, spec = group.function, findings.report, findings.spec
        returns = plan_returns(function, report, spec, self.context.module)
        if isinstance(returns, Obstacle):
            raise Adapted(of_obstacle(returns))
        copied, kept = self._own_copies(function, report)
        conversions = self._conversions(findings, skip=kept)
        taken = self.context.free.inside(function)
        context, out, positional_only = group.buffer_names(self.context.free, taken)
        result: ReturnForm = "store"
        if isinstance(function, ast.Lambda):
            result = (
                "store"
                if spec.kind == "empty"
                else form_of(function.body, function, report, spec, self.context.module)
            )
        plan = FunctionPlan(
            function,
            self._new_name(group),
            group.position,
            positional_only,
            context,
            out,
            conversions,
            copied,
            returns,
            result,
            spec,
            report.falls_through and spec.kind != "empty" and not _ends_in_kept(function, returns),
            self.context.free.choose(("result", "result_value", "_result"), taken | {context, out}),
            tuple(jax_annotated(function, findings.supplied, conversions, self.context.module)),
            is_typed(function, group.position),
            self._anchor(function),
        )
        if not self.context.options.fuse:
            return plan
        found = fused(plan, group, findings, self.context.module, self.context.options)
        return dataclasses.replace(plan, fused=found)

    def _anchor(self, function: FunctionNode) -> ast.stmt | None:
        if not isinstance(function, ast.Lambda):
            return None
        return anchor(function, self.context.module, self.context.source)

    def _new_name(self, group: Group) -> str:
        function = group.function
        if isinstance(function, ast.FunctionDef):
            return function.name
        if via := group.resolved.via:
            return via
        return self.context.free.for_lambda(function, self.context.module)

    def _own_copies(
        self, function: FunctionNode, report: BodyReport
    ) -> tuple[tuple[ast.Call, ...], frozenset[str]]:
        """Conversions of the body's own that can copy instead: one `np.asarray(x)` as the only raw use."""
        copied, names = [], set()
        if self.context.options.target == "jax":
            return (), frozenset()
        for name, usage in report.usages.items():
            if (
                usage.escape is None
                or self.context.options.views
                or usage.uses - {Use.CONVERTED, Use.INQUIRY}
            ):
                continue
            if len(usage.conversions) == 1 and self._is_plain_asarray(usage.conversions[0], function):
                copied.append(usage.conversions[0])
                names.add(name)
        return tuple(copied), frozenset(names)

    def _is_plain_asarray(self, call: ast.Call, function: FunctionNode) -> bool:
        """Whether a call is `np.asarray(x)`, and made at most once whenever the function is called."""
        around = itertools.takewhile(lambda node: node is not function, self.context.module.ancestors(call))
        return (
            isinstance(call.func, ast.Attribute)
            and self.context.module.origins(call.func) == {"numpy.asarray"}
            and not any(isinstance(node, _REPEATED) for node in around)
        )

    def _conversions(self, findings: Findings, skip: frozenset[str] = frozenset()) -> tuple[Conversion, ...]:
        conversions = []
        for name, seen in findings.supplied.items():
            how = self._how(findings.report.usages[name], seen)
            if how is None or name in skip:
                continue
            if not seen.always:
                raise Adapted(
                    Diagnostic(
                        "BC116", f"Whether the call supplies `{name}` or leaves its default cannot be seen."
                    )
                )
            conversions.append(Conversion(name, how))
        return tuple(conversions)

    def _how(self, usage: Usage, seen: Supplied) -> How | None:
        copies = usage.escape is not None and not self.context.options.views
        if not usage.uses:
            return None
        if self.context.options.target == "jax":  # whose buffers are no arrays
            return "tree copy" if copies else "tree"
        if not copies and usage.uses <= _NEEDS_NONE:
            return None
        return conversion(usage, seen, self.context.options)


def _ends_in_kept(function: FunctionNode, returns: tuple[ReturnPlan, ...]) -> bool:
    """Whether a function ends in the write of a kept value."""
    return isinstance(function, ast.FunctionDef) and any(p.after is function.body[-1] for p in returns)
