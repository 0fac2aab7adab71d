"""What a callback computes in terms of JAX, as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Final

from codemods.plans import Parameter

Spell = Callable[[str], str]
"""Takes a dotted name, and gives what the module calls it."""

_PLACE: Final = re.compile(r"\{(\w+):([\w.]+)(?::(\w+))?\}")


class Translated:
    """Spells the texts of a `HostExpression`, with names for its variables that nothing else has."""

    def __init__(self, spell: Spell, own: Sequence[Parameter], fresh: Callable[[str], str]) -> None:
        self._spell, self._own, self._fresh = spell, own, fresh
        self._locals: dict[str, str] = {}

    def of(self, text: str) -> str:
        """One of the texts."""
        return _PLACE.sub(self._filled, text)

    def _filled(self, place: re.Match[str]) -> str:
        match place[1]:
            case "argument":
                return self._own[int(place[2])].name
            case "array":
                parameter = self._own[int(place[2])]
                is_array = parameter.form == "array"
                return parameter.name if is_array else f"{self._spell('jax.numpy.asarray')}({parameter.name})"
            case "local":
                if place[2] not in self._locals:
                    self._locals[place[2]] = self._fresh(place[3])
                return self._locals[place[2]]
        return self._spell(place[2])


def cast(value: str, dtype: str) -> str:
    """An expression of another dtype."""
    node = ast.parse(value, mode="eval").body
    is_atom = isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    return f"{value}.astype({dtype})" if is_atom else f"({value}).astype({dtype})"
