"""The fixes: the migration's own rewrite for returned values, and small replacements of text."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from codemods import nesting
from codemods.bodies import Obstacle
from codemods.free_names import FreeNames
from codemods.hoisting import anchor, why_not_hoisted
from codemods.lint.callbacks import Callback
from codemods.lint.calls import Library
from codemods.lint.registry import Finding, Subject
from codemods.lint.returned import leftover_returns
from codemods.model import Options
from codemods.plans import FunctionPlan, ReturnForm, ReturnPlan
from codemods.returns import form_of, own_returns, plan_returns
from codemods.rewrite import NoPlace, with_writes
from codemods.rewrite.edits import Edits
from codemods.source import Change

Fix = Callable[[Subject, Sequence[Finding]], tuple[Change, ...]]


def apply(subject: Subject, found: Mapping[str, Sequence[Finding]]) -> tuple[Change, ...]:
    """The changes of the first rule whose fix makes any; none where no rule's does."""
    for code, fix in FIXES.items():
        fixable = [finding for finding in found.get(code, ()) if finding.is_fixable]
        if fixable and (changes := fix(subject, fixable)):
            return changes
    return ()


def _write_returned(subject: Subject, findings: Sequence[Finding]) -> tuple[Change, ...]:
    """BCL001: writes what is returned, for the callbacks of one library at a time."""
    callbacks = {id(f.callback): f.callback for f in findings if f.callback is not None}
    free = FreeNames(subject.module)
    targets: tuple[Library, ...] = ("bufcb", "jax")  # what JAX's own buffers take, those of `bufcb` take too
    for target in targets:
        plans = [
            plan
            for callback in callbacks.values()
            if ("jax" in callback.libraries) is (target == "jax")
            and (plan := _plan(callback, subject, free)) is not None
        ]
        if not plans:
            continue
        try:
            return with_writes(subject.source, subject.module, tuple(plans), Options(target=target))
        except NoPlace:
            continue
    return ()


def _plan(callback: Callback, subject: Subject, free: FreeNames) -> FunctionPlan | None:
    """The rewrite of one callback; None where a write would not mean what the return was meant for."""
    function, out, context = callback.function, callback.out, callback.context
    if out is None or context is None or not all(each.is_fixable for each in leftover_returns(callback)):
        return None
    if nesting.too_deep(subject.source, function) is not None:
        return None
    name: str | None
    place = None
    if isinstance(function, ast.Lambda):
        place = anchor(function, subject.module, subject.source)
        returns: tuple[ReturnPlan, ...] = ()
        name = _name_of_lambda(callback, function, subject, free)
        result = form_of(function.body, function, callback.report, callback.spec, callback.module)
    else:
        planned = _planned(callback, function, out.arg)
        if planned is None:
            return None
        returns, name, result = planned, function.name, "store"
    if name is None:
        return None
    return FunctionPlan(
        function,
        name,
        callback.position or 0,
        positional_only=False,
        context=context.arg,
        out=out.arg,
        conversions=(),
        copied=(),
        returns=returns,
        result=result,
        spec=callback.spec,
        falls_through=False,
        kept=free.choose(("result", "result_value", "_result"), free.inside(function)),
        jax_annotated=(),
        is_typed=False,
        anchor=place,
        takes_buffers=True,
    )


def _planned(callback: Callback, function: ast.FunctionDef, out: str) -> tuple[ReturnPlan, ...] | None:
    """One plan a `return`: those without a value stay, an output that is returned is dropped."""
    leftover = {id(each.node): each for each in leftover_returns(callback)}
    planned = plan_returns(function, callback.report, callback.spec, callback.module)
    if isinstance(planned, Obstacle):
        if not all(each.is_output for each in leftover.values()):
            return None
        planned = tuple(ReturnPlan(node, "bare") for node in own_returns(function))
    found = []
    for plan in planned:
        each = leftover.get(id(plan.node))
        form: ReturnForm = plan.form
        if each is None:
            form = "stays"
        elif each.is_output:
            form = "bare"
        moved = form not in ("stays", "bare")
        found.append(dataclasses.replace(plan, form=form, after=plan.after if moved else None))
    return tuple(found)


def _name_of_lambda(
    callback: Callback, function: ast.Lambda, subject: Subject, free: FreeNames
) -> str | None:
    """What the `def` for a lambda is called; None where none can stand for it."""
    names = {resolved.via for _, resolved in callback.calls}
    if names != {None}:
        return names.pop() if len(names) == 1 else None
    if len(callback.calls) > 1 or why_not_hoisted(function, subject.module, subject.source):
        return None
    return free.for_lambda(function, subject.module)


def _reworded(subject: Subject, findings: Sequence[Finding]) -> tuple[Change, ...]:
    """The replacements that the findings of a rule bring; two of the same text are one."""
    edits, seen = Edits(subject.source.text), set[int]()
    for each in (finding.rewording for finding in findings if finding.rewording is not None):
        start, end = subject.source.start(each.node), subject.source.end(each.until or each.node)
        if start not in seen:
            seen.add(start)
            edits.transform(start, end, _filled(each.text))
    return edits.changes()


def without(subject: Subject, comments: Sequence[tuple[int, int]]) -> tuple[Change, ...]:
    """BCL000: cuts comments off, from the column given on; lines of nothing else go."""
    edits, source = Edits(subject.source.text), subject.source
    for line, column in comments:
        start, end = source.line_start(line), source.line_end(line)
        kept = source.text[start : start + column - 1].rstrip()
        if kept:
            edits.replace(start + len(kept), start + len(source.text[start:end].rstrip("\r\n")), "")
        else:
            edits.replace(start, end, "")
    return edits.changes()


def _filled(text: str) -> Callable[[str], str]:
    before, has_place, after = text.partition("{}")
    return lambda own: before + own + after if has_place else text


FIXES: Final[Mapping[str, Fix]] = {
    "BCL001": _write_returned,
    "BCL003": _reworded,
    "BCL004": _reworded,
    "BCL005": _reworded,
    "BCL009": _reworded,
}
