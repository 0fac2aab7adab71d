"""JAX callbacks that write their results into output buffers in place."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import bufcb.lowering  # noqa: F401  registers the rules that reach XLA
from bufcb.buffers import Buffer, ExecutionContext, ExecutionStage
from bufcb.callback import adapt, buffer_callback, checked, pure_callback, store, to_numpy
from bufcb.device import DeviceBuffer
from bufcb.differences import finite_difference_jvp, finite_difference_vjp

if TYPE_CHECKING:
    from bufcb import testing as testing

__version__ = "0.1.0"

__all__ = [
    "Buffer",
    "DeviceBuffer",
    "ExecutionContext",
    "ExecutionStage",
    "__version__",
    "adapt",
    "buffer_callback",
    "checked",
    "finite_difference_jvp",
    "finite_difference_vjp",
    "pure_callback",
    "store",
    "to_numpy",
]


def __getattr__(name: str) -> Any:
    """Import `bufcb.testing` when it is asked for, which programs in production never do."""
    if name == "testing":
        return importlib.import_module("bufcb.testing")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "testing"})
