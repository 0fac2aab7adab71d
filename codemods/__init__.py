"""Codemods that migrate `jax.pure_callback` call sites to `bufcb.buffer_callback`.

`PureToBuffer` is the migration as a codemod of LibCST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemods.commands import PureToBuffer

__all__ = ["PureToBuffer"]


def __getattr__(name: str) -> object:
    # LibCST's codemods take a second to import, which the commands do without.
    if name != "PureToBuffer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from codemods.commands import PureToBuffer

    return PureToBuffer
