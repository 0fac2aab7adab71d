"""What XLA calls on a GPU: the callback with `DeviceBuffer`s, and what has to be done before and after.

Unlike on CPU, no source is generated: a wait for the GPU takes longer than all that Python does here.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.tree_util import tree_unflatten

from bufcb import adapted, buffers, trampoline
from bufcb.adapted import Adapted
from bufcb.callables import describe
from bufcb.device import DeviceBuffer, write
from bufcb.device_call import Call
from bufcb.drivers import Driver, DriverError, driver_of
from bufcb.pinned import Pool, limit_of_process
from bufcb.recording import clock
from bufcb.trampoline import Plan

Machine = tuple[Driver, Pool]


@functools.cache
def machine_of(platform: str) -> Machine:
    """Return the driver of a platform, and the process's page-locked memory; raises `DriverError`."""
    driver = driver_of(platform)
    return driver, Pool(driver, limit_of_process())


def build(plan: Plan, machine: Callable[[], Machine], *, recordable: bool) -> Callable[..., tuple[()]]:
    """Return `trampoline(ctx, *inputs, *outputs)`, to be called with XLA's objects of a GPU.

    Args:
      plan: what it is specialised by.
      machine: returns the driver, and page-locked memory; called with the first call.
      recordable: whether XLA may record a call in a command buffer.
    """
    invoke = _invoker(plan)
    log = logging.getLogger("bufcb").exception

    def device_trampoline(ctx: Any, *raw: Any) -> tuple[()]:
        try:
            _run(plan, machine, invoke, recordable, ctx, raw)
        except BaseException as error:
            # The traceback keeps this frame: let go of XLA's objects.
            ctx, raw = None, ()
            if isinstance(error, (buffers.OutputError, DriverError)):
                _name_callback(plan, error)
            elif plan.failure:
                log(plan.failure)
            trampoline.check_text(error)
            raise
        return ()

    return device_trampoline


def _name_callback(plan: Plan, error: buffers.OutputError | DriverError) -> None:
    if isinstance(error, buffers.OutputError):
        trampoline.name_output(plan, error)
    else:
        error.args = (f"{error.args[0]}\nCallback {describe(plan.function)}",)


_Invoke = Callable[[Any, Sequence[DeviceBuffer], Sequence[DeviceBuffer]], None]


def _run(
    plan: Plan,
    machine: Callable[[], Machine],
    invoke: _Invoke,
    recordable: bool,
    ctx: Any,
    raw: tuple[Any, ...],
) -> None:
    def once(canary: int) -> list[np.ndarray]:
        call = Call(plan, *machine(), ctx, raw, recordable)
        return _once(plan, call, invoke, ctx, canary)

    try:
        written = once(buffers.CANARY)
        for i, array in enumerate(written):
            again = functools.partial(_again, once, i, array) if plan.repeatable else None
            mask = None if i in plan.aliased else buffers.find_unwritten(array, again)
            if mask is not None:
                trampoline.raise_unwritten(plan, i, mask)
    except BaseException:
        ctx, raw = None, ()
        raise


def _again(once: Callable[[int], list[np.ndarray]], i: int, array: np.ndarray) -> None:
    array[...] = once(buffers.SECOND_CANARY)[i]


def _once(plan: Plan, call: Call, invoke: _Invoke, ctx: Any, canary: int) -> list[np.ndarray]:
    """Call the callback; return what it wrote, if that is checked and XLA runs the work at once."""
    written: list[np.ndarray] = []
    checked = plan.checked and not call.is_recording()
    record = _Record(plan, call)
    try:
        if checked:
            call.fill_canary(canary)
        invoke(ctx, call.inputs, call.outputs)
        call.flush()
        record.end()
        if checked:
            written = [call.fetch(output) for output in call.outputs]
    except BaseException as error:
        ctx = None
        record.fail(error)
        trampoline.name_inputs(plan, error, call.owners())
        call.abandon()
        raise
    kept: list[int] = []
    try:
        if plan.retain == "copy":
            if not call.is_recording():
                call.keep_inputs()
        elif not plan.copies:
            kept = call.kept()
    finally:
        call.part()
    try:
        if kept:
            trampoline.raise_kept(plan, kept)
    except RuntimeError as error:
        record.fail(error)
        raise
    record.write()
    return written


class _Record:
    """The record of one call, if there is to be one: arrays are copied to the host before and after it."""

    def __init__(self, plan: Plan, call: Call) -> None:
        # Work that XLA records in a command buffer has no values.
        self._recorder = None if plan.recorder is None or call.is_recording() else plan.recorder
        self._call = call
        self._given: list[np.ndarray] = []
        try:
            self._given = self._fetched(call.inputs)
        except DriverError:  # the callback is about to run into it as well, if anything does
            self._recorder = None
        self._results: list[np.ndarray] = []
        self._begun = clock()

    def _fetched(self, handed: Sequence[DeviceBuffer]) -> list[np.ndarray]:
        return [] if self._recorder is None else [self._call.fetch(buffer) for buffer in handed]

    def end(self) -> None:
        """The callback has returned."""
        seconds = clock() - self._begun
        self._results = self._fetched(self._call.outputs)
        self._begun = clock() - seconds  # the copies are not the callback's

    def write(self) -> None:
        if self._recorder is not None:
            self._recorder.done(self._given, self._results, self._begun)

    def fail(self, error: BaseException) -> None:
        if self._recorder is not None:
            self._recorder.failed(self._given, error, self._begun)


def _invoker(plan: Plan) -> _Invoke:
    """Return how the callback is called, by its kind."""
    function = plan.function

    def with_buffers(ctx: Any, inputs: Sequence[DeviceBuffer], outputs: Sequence[DeviceBuffer]) -> None:
        args, kwargs = tree_unflatten(plan.in_tree, inputs)
        if function(ctx, tree_unflatten(plan.out_tree, outputs), *args, **kwargs) is not None:
            trampoline.raise_returned(plan)

    if not isinstance(function, Adapted):
        return with_buffers
    returning = function.function

    def with_numpy(ctx: Any, inputs: Sequence[DeviceBuffer], outputs: Sequence[DeviceBuffer]) -> None:
        args, kwargs = tree_unflatten(plan.in_tree, list(map(np.asarray, inputs)))
        write(outputs, buffers.leaves(returning(*args, **kwargs)))

    def with_jax(ctx: Any, inputs: Sequence[DeviceBuffer], outputs: Sequence[DeviceBuffer]) -> None:
        args, kwargs = tree_unflatten(plan.in_tree, [adapted.to_jax(np.asarray(x)) for x in inputs])
        with adapted.scope(plan.x64):
            values = adapted.host_leaves(returning(*args, **kwargs))
        write(outputs, values)

    return with_numpy if function.arrays == "numpy" else with_jax
