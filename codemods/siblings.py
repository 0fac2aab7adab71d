"""A function beside a callback that others use as well: it calls the original and writes its result."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Sequence

from codemods.arguments import default_of
from codemods.classes import is_protocol
from codemods.groups import Adapted, Context, Findings, Group, conversion
from codemods.model import Diagnostic
from codemods.names import is_deletion, parameters
from codemods.plans import Conversion, ReturnForm, SiblingPlan
from codemods.wrappers import binding_decorator


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """Where a sibling stands and how it calls the original; the fields are those of `SiblingPlan`.

    Attributes:
      called: the names that the call must find, which no parameter may hide.
      stem: the original's own name, after which the sibling is named.
    """

    anchor: ast.stmt
    callee: str
    called: frozenset[str]
    stem: str
    implicit: int = 0
    above: bool = False
    decorator: str | None = None


class Siblings:
    """Plans the sibling of one callback."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def plan(self, group: Group, findings: Findings) -> SiblingPlan:
        """The function to add; raises `Adapted` where none can stand for the original."""
        place = self._imported(group) if group.resolved.home is not None else self._beside(group)
        wanted = self._parameters(group, findings)
        self._check_hidden({p.arg for p in wanted}, place)
        taken = frozenset({p.arg for p in wanted} | place.called | {"np", "bufcb"})
        context, out, clash = group.buffer_names(self.context.free, taken)
        return SiblingPlan(
            group.function,
            place.anchor,
            self.context.free.sibling(place.stem),
            place.callee,
            group.position,
            clash,
            context,
            out,
            wanted,
            tuple(self._handed_on(findings, wanted)),
            _result(findings),
            place.decorator,
            place.implicit,
            place.above,
        )

    # Where it stands.

    def _beside(self, group: Group) -> _Place:
        """Right behind the original, in its own scope."""
        function, resolved = group.function, group.resolved
        assert isinstance(function, ast.FunctionDef)
        scope = self.context.module.scopes[function]
        if self.context.module.home(function.name, scope) is not scope:
            raise Adapted(Diagnostic("BC114", f"`{function.name}` is declared global where it is defined."))
        if any(is_deletion(binding) for binding in scope.bindings[function.name]):
            reason = f"`{function.name}`, by which a sibling would call it, is deleted."
            raise Adapted(Diagnostic("BC115", reason, "Leave the name in place."))
        callee, called = function.name, {function.name}
        if resolved.owner is not None:
            called.add(resolved.owner.name)
            callee = f"{resolved.owner.name}.{function.name}"
            if resolved.implicit:
                callee = f"{[*function.args.posonlyargs, *function.args.args][0].arg}.{function.name}"
            else:
                self._check_name_of(resolved.owner)
            if is_protocol(resolved.owner, self.context.module):
                reason = f"A sibling of `{function.name}` would be one more member of a protocol."
                raise Adapted(Diagnostic("BC115", reason, "Give the callback a private name."))
        return _Place(
            function,
            callee,
            frozenset(called),
            function.name,
            resolved.implicit,
            decorator=binding_decorator(function),
        )

    def _check_name_of(self, owner: ast.ClassDef) -> None:
        """A sibling of a static method finds the original by the name of the class."""
        module = self.context.module
        if module.scopes[owner] is not module.root:
            raise Adapted(Diagnostic("BC115", "A static method of a nested class has no name to call it by."))
        if len(module.root.bindings[owner.name]) > 1:
            reason = f"`{owner.name}`, by which a sibling would call the static method, is bound again."
            raise Adapted(Diagnostic("BC115", reason, "Give each definition a name of its own."))

    def _imported(self, group: Group) -> _Place:
        """In front of the first top-level statement that calls back, in the module with the import."""
        module, name = self.context.module, ast.unparse(group.resolved.reference)
        root = group.resolved.reference
        while isinstance(root, ast.Attribute):
            root = root.value
        assert isinstance(root, ast.Name)
        if module.home(root.id, module.scopes[root]) not in (module.root, None) or not self._has_jax():
            raise Adapted(
                Diagnostic(
                    "BC101",
                    f"`{name}` or JAX is imported inside a function, where each call would make a sibling.",
                    "Import both at the top of the module to have it rewritten.",
                )
            )
        first = min((site.call for site, _ in group.calls), key=lambda call: (call.lineno, call.col_offset))
        around = [a for a in module.ancestors(first) if isinstance(a, ast.stmt)]
        return _Place(around[-1], name, frozenset({root.id}), name.rpartition(".")[2], above=True)

    def _has_jax(self) -> bool:
        """Whether JAX is imported at the top level, and with it all that a sibling needs."""
        bindings = self.context.module.root.bindings.values()
        return any(
            b.origin is not None and b.origin.partition(".")[0] == "jax" for bs in bindings for b in bs
        )

    def _check_hidden(self, parameters_: set[str], place: _Place) -> None:
        """A sibling's own parameters must not hide what its body calls."""
        bindings = self.context.module.root.bindings.values()
        libraries = {b.name for bs in bindings for b in bs if b.origin in ("numpy", "bufcb")}
        if hidden := parameters_ & (place.called | libraries | {"np", "numpy", "bufcb"}):
            name = min(hidden)
            raise Adapted(
                Diagnostic("BC115", f"The parameter `{name}` hides what a sibling would call.", "Rename it.")
            )

    # What it takes and hands on.

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

    def _handed_on(self, findings: Findings, wanted: Sequence[ast.arg]) -> Iterable[Conversion]:
        """How each converted parameter reaches the original."""
        for parameter in wanted:
            if parameter.arg not in findings.supplied:
                continue
            usage = findings.report.usages[parameter.arg]
            if usage.uses:
                how = conversion(usage, findings.supplied[parameter.arg], self.context.options)
                yield Conversion(parameter.arg, how)


def _result(findings: Findings) -> ReturnForm:
    """One strict write where the result is surely one array or number, else `store`."""
    report = findings.report
    one = findings.spec.kind == "leaf" and not report.falls_through
    plain = bool(report.returns) and all(value.is_number_like for value in report.returns.values())
    return "write" if one and plain else "store"
