"""What the analysis says of a call site."""

from __future__ import annotations

import dataclasses
from typing import Final

from codemods.gradients.levels import BEYOND_RULES, Mode
from codemods.gradients.values import Key
from codemods.model import Diagnostic, Gradient, Hop

_WORDS: Final = {
    frozenset({Mode.REVERSE}): "in reverse mode",
    frozenset({Mode.FORWARD}): "in forward mode",
    frozenset({Mode.REVERSE, Mode.FORWARD}): "in both modes",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a call site.

    Attributes:
      modes: for an unprotected site, how it is differentiated. `Mode.TRANSPOSE` is among them if its
        arguments are tangents or otherwise linear, and will be transposed, and `Mode.TAYLOR` under `jet`: a
        custom rule is no help there.
      hops: the way to the site: from the transform, or for an unknown site from what code out of sight may
        differentiate.
      arguments: the arguments of the callback that are differentiated, by index or keyword, and `*` for
        those whose place cannot be seen. Of an unknown site, those that may be.
      assumed: whether the site is unknown, and taken for unprotected.
      order: how often it is differentiated, as far as that can be seen.
    """

    gradient: Gradient
    modes: frozenset[Mode] = frozenset()
    hops: tuple[Hop, ...] = ()
    arguments: frozenset[Key] = frozenset()
    assumed: bool = False
    order: int = 1

    def settled(self) -> Verdict:
        """The verdict that takes what cannot be told for differentiated, in reverse mode."""
        if self.gradient is not Gradient.UNKNOWN:
            return self
        modes = frozenset({Mode.REVERSE})
        return dataclasses.replace(self, gradient=Gradient.UNPROTECTED, modes=modes, assumed=True)

    @property
    def diagnostic(self) -> Diagnostic | None:
        """What the user should know of the site; None for one that no transform can harm."""
        if self.assumed or (self.gradient is Gradient.UNKNOWN and self.hops):
            return Diagnostic("BC302", "Code out of sight may differentiate this call.", _IF_SO)
        if self.gradient is not Gradient.UNPROTECTED:
            return None
        if self.modes <= BEYOND_RULES:
            return _beyond_rules(self.modes)
        how = _WORDS.get(self.modes - BEYOND_RULES, "")
        return Diagnostic("BC301", f"The call is differentiated {how}, and has no derivative.", _WAY_OUT)


def _beyond_rules(modes: frozenset[Mode]) -> Diagnostic:
    if Mode.TRANSPOSE in modes:
        reason = "The call is part of a linear function that is transposed, and has no transpose."
        return Diagnostic("BC301", reason, "Move it to where its arguments are no tangents.")
    reason = "The call is expanded into a Taylor series by `jet`, which has no rule for it and ignores yours."
    return Diagnostic("BC301", reason, "Take its derivatives with `jax.jvp`.")


_IF_SO: Final = "If it does, give the call a derivative with `jax.custom_vjp`."
_WAY_OUT: Final = "Give it one with `jax.custom_vjp`, or `jax.custom_jvp` for forward mode."

UNKNOWN: Final = Verdict(Gradient.UNKNOWN)
