"""A function beside a callback that others use as well: it calls the original and writes its result."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from codemods.arguments import default_of
from codemods.groups import Adapted, Context, Findings, Group, conversion
from codemods.model import Diagnostic
from codemods.names import parameters
from codemods.plans import Conversion, ReturnForm, SiblingPlan


class Siblings:
    """Plans the sibling of one callback."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def plan(self, group: Group, findings: Findings) -> SiblingPlan:
        """The function to add; raises `Adapted` where none can stand for the original."""
        function, report, spec = group.function, findings.report, findings.spec
        assert isinstance(function, ast.FunctionDef)
        scope = self.context.module.scopes[function]
        if self.context.module.home(function.name, scope) is not scope:
            raise Adapted(Diagnostic("BC114", f"`{function.name}` is declared global where it is defined."))
        if spec.kind == "leaf" and report.returns and all(v.is_number_like for v in report.returns.values()):
            result: ReturnForm = "write" if not report.falls_through else "store"
        else:
            result = "store"
        wanted = self._parameters(group, findings)
        self._check_hidden({p.arg for p in wanted}, group)
        kinds = {d.id for d in function.decorator_list if isinstance(d, ast.Name)}
        taken = frozenset({p.arg for p in wanted} | {function.name, "np", "bufcb"})
        context, out, clash = group.buffer_names(self.context.free, taken)
        return SiblingPlan(
            function,
            function,
            self.context.free.sibling(function.name),
            self._callee(group),
            group.position,
            clash,
            context,
            out,
            wanted,
            tuple(self._handed_on(findings, wanted)),
            result,
            next(iter(kinds), None),
        )

    def _check_hidden(self, parameters_: set[str], group: Group) -> None:
        """A sibling's own parameters must not hide what its body calls."""
        owner = group.resolved.owner
        called = {getattr(group.function, "name", ""), owner.name if owner else ""}
        called |= {
            b.name
            for bs in self.context.module.root.bindings.values()
            for b in bs
            if b.origin in ("numpy", "bufcb")
        }
        if hidden := parameters_ & (called | {"np", "numpy", "bufcb"}):
            name = min(hidden)
            raise Adapted(
                Diagnostic("BC115", f"The parameter `{name}` hides what a sibling would call.", "Rename it.")
            )

    def _parameters(self, group: Group, findings: Findings) -> tuple[ast.arg, ...]:
        """The original's parameters that a site supplies or a `partial` binds, and `self`."""
        function = group.function
        positional = [*function.args.posonlyargs, *function.args.args]
        leading = positional[: group.position]
        bound, found = group.bound_by_name, findings.supplied
        wanted = [p for p in parameters(function.args) if p in leading or p.arg in found or p.arg in bound]
        for parameter in wanted:
            default = default_of(parameter, function.args)
            maybe = parameter.arg in found and not found[parameter.arg].always
            some = parameter.arg in bound and not all(
                parameter.arg in r.bound.keywords for _, r in group.calls
            )
            if (maybe or some) and default is not None:
                raise Adapted(Diagnostic("BC116", f"Some calls leave `{parameter.arg}` to its default.", ""))
        if (
            function.args.kwarg
            and bound - {p.arg for p in parameters(function.args)}
            and function.args.kwarg not in wanted
        ):
            wanted.append(function.args.kwarg)
        return tuple(wanted)

    def _callee(self, group: Group) -> str:
        function, resolved = group.function, group.resolved
        assert isinstance(function, ast.FunctionDef)
        scope = self.context.module.scopes[function]
        if self.context.module.home(function.name, scope) is not scope:
            raise Adapted(Diagnostic("BC114", f"`{function.name}` is declared global where it is defined."))
        if resolved.owner is None:
            return function.name
        if resolved.implicit:
            return f"{[*function.args.posonlyargs, *function.args.args][0].arg}.{function.name}"
        if self.context.module.scopes[resolved.owner] is not self.context.module.root:
            raise Adapted(Diagnostic("BC115", "A static method of a nested class has no name to call it by."))
        return f"{resolved.owner.name}.{function.name}"

    def _handed_on(self, findings: Findings, wanted: Sequence[ast.arg]) -> Iterable[Conversion]:
        """How each converted parameter reaches the original."""
        for parameter in wanted:
            if parameter.arg not in findings.supplied:
                continue
            usage = findings.report.usages[parameter.arg]
            if usage.uses:
                how = conversion(usage, findings.supplied[parameter.arg], self.context.options)
                yield Conversion(parameter.arg, how)
