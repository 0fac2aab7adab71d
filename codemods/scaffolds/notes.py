"""What a user is told of the derivatives that calls got, or did not get."""

from __future__ import annotations

from typing import Final

from codemods.gradients import Mode, Verdict
from codemods.model import Diagnostic, Vjp
from codemods.plans import HostExpression, ScaffoldPlan

_BY_HAND: Final = "Move the call into a `jax.custom_vjp` or `jax.custom_jvp` function by hand."


def of_scaffold(plan: ScaffoldPlan, verdict: Verdict, asked: Vjp) -> Diagnostic:
    """The note on a call that has become one of a function with a derivative; `asked` is `--vjp`."""
    reason = f"{_differentiated(verdict)}: it is a call of `{plan.name}` now,"
    match plan.rule:
        case "raise":
            way_out = "Fill it in, or let `--vjp finite-difference` write one that runs."
            if asked == "finite-difference":
                way_out = (
                    "Fill it in. Finite differences call back later, when a variable of an outer function "
                    "that the callback reads may have another value; a parameter's default would keep it."
                )
            return Diagnostic(
                "BC303", f"{reason} whose rule `{plan.rules[-1]}` raises until it is filled in.", way_out
            )
        case "zeros":
            return Diagnostic(
                "BC303", f"{reason} whose rule `{plan.rules[-1]}` gives zeros.", "Fill in the true one."
            )
        case "finite-difference":
            return Diagnostic("BC304", f"{reason} which is differentiated by finite differences.")
        case "reused":
            return Diagnostic("BC304", f"{reason} which has a derivative already.")
        case "integer":
            return Diagnostic("BC304", f"{reason} which has no derivative, since its result is of integers.")
    if isinstance(plan.host, HostExpression):
        return Diagnostic("BC304", f"{reason} whose derivative JAX takes of the same expression.")
    origin = plan.host.origin if plan.host else ""
    return Diagnostic("BC304", f"{reason} whose derivative is that of `{origin}`.")


def of_refusal(why: str, verdict: Verdict) -> Diagnostic:
    """The note on a call that needs a derivative and got none."""
    return Diagnostic("BC305", f"{_differentiated(verdict)}, and gets no derivative, since {why}.", _BY_HAND)


def _differentiated(verdict: Verdict) -> str:
    if verdict.assumed:
        return "Code out of sight may differentiate the call"
    modes = verdict.modes & {Mode.REVERSE, Mode.FORWARD}
    how = f"in {min(modes)} mode" if len(modes) == 1 else "in both modes"
    return f"The call is differentiated {how}"
