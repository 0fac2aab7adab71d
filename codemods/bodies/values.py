"""What the analysis knows of a value inside a callback."""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections.abc import Iterable
from typing import Literal

Form = Literal["array", "number", "tree", "dict", "none", "any"]
# A container made in the body: the expression that makes it, and which one of its making.
Place = tuple[ast.AST, str]


class Use(enum.IntEnum):
    """How a parameter is used as it arrives, from what needs no conversion to what needs one."""

    INQUIRY = 0
    CONVERTED = 1
    PIECE_CONVERTED = 2
    NUMPY = 3
    OTHER = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """A value, by what separates the original program from the migrated one.

    Attributes:
      raw: the parameters for which this is, or contains, a `jax.Array` in the original.
      view: the parameters whose memory it may share in the migrated program; a superset of `raw`.
      direct: the parameters of which it is the argument itself, or a piece of it.
      form: `array` for one array, `number` for a Python scalar, `dict` or `tree` for a Python container,
        `none` for None, `any` when unknown.
      places: the containers made in this body that it may be; what they hold is in the heap.
      dtype: the name of a raw array's dtype, where the call site shows it.
      is_exception: whether it is an exception, whose traceback keeps the callback's frame and its outputs.
      is_outside: whether it may as well be a container that others hold, beside those in `places`.
      is_piece: whether it came out of a container or an array by iteration or indexing.
    """

    raw: frozenset[str] = frozenset()
    view: frozenset[str] = frozenset()
    direct: frozenset[str] = frozenset()
    form: Form = "any"
    places: frozenset[Place] = frozenset()
    dtype: str | None = None
    is_piece: bool = False
    is_exception: bool = False
    is_outside: bool = False

    @property
    def is_container(self) -> bool:
        return self.form in ("tree", "dict")

    @property
    def is_clean(self) -> bool:
        return not self.view and not self.is_exception

    @property
    def is_number_like(self) -> bool:
        """Whether it is an array or a scalar, which holds no reference."""
        return self.form in ("array", "number")


CLEAN = Value()
ARRAY = Value(form="array")
NUMBER = Value(form="number")
NONE = Value(form="none")


def join(values: Iterable[Value]) -> Value:
    """The value that may be any of `values`."""
    found = list(values)
    if not found:
        return CLEAN
    if len(found) == 1:
        return found[0]
    forms = {value.form for value in found}
    dtypes = {value.dtype for value in found if value.raw}
    return Value(
        raw=frozenset().union(*(value.raw for value in found)),
        view=frozenset().union(*(value.view for value in found)),
        direct=frozenset().union(*(value.direct for value in found)),
        form=_common(forms),
        places=frozenset().union(*(value.places for value in found)),
        dtype=dtypes.pop() if len(dtypes) == 1 else None,
        is_piece=any(value.is_piece for value in found),
        is_exception=any(value.is_exception for value in found),
        is_outside=any(value.is_outside for value in found) or _may_be_outside(found),
    )


def _common(forms: set[Form]) -> Form:
    if forms <= {"array", "number"}:
        return "array" if "array" in forms else "number"
    return next(iter(forms)) if len(forms) == 1 else "any"


def _may_be_outside(values: list[Value]) -> bool:
    """Whether one of several values is a container made here, and another one may be any other."""
    unknown = any(not value.places and value.form in ("any", "tree", "dict") for value in values)
    return unknown and any(value.places for value in values)


@dataclasses.dataclass(frozen=True, slots=True)
class Obstacle:
    """The one thing that keeps a callback from being rewritten.

    Attributes:
      names: the arguments that would be in the way no more if they were converted.
    """

    code: str
    node: ast.AST
    reason: str
    way_out: str = ""
    names: tuple[str, ...] = ()


class Obstructed(Exception):
    """Raised where the analysis meets an obstacle."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.reason)
        self.obstacle = obstacle
