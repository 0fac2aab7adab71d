"""JAX callbacks that write their results into output buffers in place."""

import bufcb.lowering  # noqa: F401  registers the rules that reach XLA
from bufcb.buffers import Buffer, ExecutionContext, ExecutionStage
from bufcb.callback import adapt, buffer_callback, checked, pure_callback, store, to_numpy
from bufcb.device import DeviceBuffer
from bufcb.differences import finite_difference_jvp, finite_difference_vjp

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
