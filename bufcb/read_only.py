"""What is added to the error of a callback that writes into one of its inputs: which one, and what to do.

NumPy's own error says only that some array is read-only. Which one it is, is looked for in the frames that
the error passed through, so that it costs nothing where there is none.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinMethodType, FrameType
from typing import Any, Final

import numpy as np

_TEXT: Final = re.compile(
    r"\b(?:array|destination) is read-only\.?$|^cannot modify read-only memory$|^cannot set WRITEABLE flag"
)
# Functions that write into their first argument, and the keywords for what is written to.
_WRITING_FIRST: Final = frozenset(
    ("copyto", "fill_diagonal", "place", "put_along_axis", "putmask", "shuffle")
)
_WRITTEN: Final = ("out", "output", "dst")
# How deep in containers, of so many items at most, an input is looked for.
_DEPTH: Final = 3
_MOST: Final = 1_000

Owner = tuple[int, object]
"""The flat index of an input, and an object that it is, or that all its views go back to."""


def is_refusal(error: BaseException) -> bool:
    """Return whether this is an error of NumPy's, or of a library, about writing into a read-only array."""
    if type(error) not in (ValueError, TypeError) or len(error.args) != 1:
        return False
    return isinstance(error.args[0], str) and _TEXT.search(error.args[0]) is not None


def explain(
    error: BaseException, callback: str, names: Callable[[], Sequence[str]], owners: Sequence[Owner]
) -> None:
    """Add to the text of a refusal that inputs are read-only, and which one was to be written to.

    Args:
      error: as it came out of the callback.
      callback: what errors call the callback.
      names: returns what they call its flat inputs.
      owners: by which a value in a frame is known to be an input, or a view of one.
    """
    found: list[str] = []
    # Whatever a frame holds, and a node of a class of the user's does, the error itself is to come through.
    with contextlib.suppress(Exception):
        found = [names()[i] for i in _written_inputs(error, owners)]
    which = f"To change its {' or '.join(found)}, copy it" if found else "If this is one of them, copy it"
    remedy = f"{which} first: `x = np.array(x)`."
    owned = f"Inputs of callback {callback} are read-only, since they belong to the caller."
    error.args = (f"{error.args[0]}\n{owned} {remedy}",)


def _written_inputs(error: BaseException, owners: Sequence[Owner]) -> list[int]:
    """Return the indices of the inputs that the error may be about; several where it does not tell."""
    found: set[int] = set()
    for frame, last in reversed(list(_frames(error))):
        values = [frame.f_locals[name] for name in _named(frame, last) if name in frame.f_locals]
        here = {index for value in values for index in _indices(value, owners, _DEPTH)}
        # An outer frame may say more of what an inner one leaves open.
        found = found & here or found or here
    return sorted(found)


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames of the callback and of what it called, with the instruction that each is at."""
    entry = error.__traceback__
    while entry is not None:
        module = str(entry.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] != __name__.partition(".")[0]:
            yield entry.tb_frame, entry.tb_lasti
        entry = entry.tb_next


def _indices(value: Any, owners: Sequence[Owner], depth: int) -> Iterator[int]:
    """The indices of inputs that a value is, is a view or a method of, or has in tuples, lists and dicts."""
    held = [value.__self__ if type(value) is BuiltinMethodType else value]
    while isinstance(held[-1], np.ndarray):
        held.append(held[-1].base)
    yield from (index for index, owner in owners if any(owner is item for item in held))
    if depth and type(value) in (tuple, list, dict) and len(value) <= _MOST:
        for item in value.values() if type(value) is dict else value:
            yield from _indices(item, owners, depth - 1)


def _named(frame: FrameType, last: int) -> list[str]:
    """The variables in the part of the source that says what is written to; all where there is no source."""
    tree = None
    with contextlib.suppress(SyntaxError, ValueError):  # it stands in parentheses of its own
        tree = ast.parse(_source(frame, last).strip())
    if tree is None or not tree.body:
        return list(frame.f_locals)
    return [node.id for node in ast.walk(_target(tree.body[0])) if isinstance(node, ast.Name)]


def _source(frame: FrameType, last: int) -> str:
    """The source of the expression that the frame is at; "" where it is not known."""
    position = next(itertools.islice(frame.f_code.co_positions(), last // 2, None), None)
    first, end, column, end_column = position or (None,) * 4
    if first is None or end is None or column is None or end_column is None:
        return ""
    file = frame.f_code.co_filename
    lines = [linecache.getline(file, line, frame.f_globals).encode() for line in range(first, end + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b"".join(lines).decode(errors="replace")


def _target(node: ast.AST) -> ast.AST:
    """The part of a failing statement or expression that is written to; all of it where that is not known."""
    if isinstance(node, ast.Expr):
        return _target(node.value)
    if isinstance(node, ast.AugAssign):
        return _target(node.target)
    if isinstance(node, ast.Subscript):
        return node.value
    if isinstance(node, ast.Call):
        return _written_by(node)
    return node


def _written_by(call: ast.Call) -> ast.AST:
    """What a call writes to; all of the call where that is not known."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg in _WRITTEN), None)
    if named is not None:
        return named
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    return call.args[0] if name in _WRITING_FIRST and call.args else call
