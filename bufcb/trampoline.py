"""What XLA calls: a function of the execution context and flat buffers, generated once per lowering.

The source is written for the callback's own argument and result structure, so that no pytree is flattened or
built by JAX at run time, except for nodes of registered classes. For one array in and out it reads

    def trampoline(ctx, a0, b0):
        r0 = a0.__array__()
        r0.setflags(False)
        w0 = b0.__array__()
        try:
            x0 = r0.view(Fresh)
            x0.__class__ = Input
            y0 = w0.view(Fresh)
            y0.__class__ = Output0
            if callback(ctx, y0, x0) is not None:
                raise_returned()
            x0 = y0 = None
        except BaseException as error:
            ctx = a0 = b0 = x0 = y0 = None
            detach((r0, w0, ))
            name_leaf(error, (r0, ))
            check_text(error)
            raise
        if getrefcount(r0) + getrefcount(w0) > 4:
            check_escapes((r0, w0))
        return ()
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from jax.tree_util import PyTreeDef, keystr, tree_flatten_with_path, tree_unflatten

from bufcb import adapted, buffers, read_only
from bufcb.adapted import Adapted
from bufcb.buffers import is_sub_byte
from bufcb.callables import argument_names, describe
from bufcb.primitive import Api
from bufcb.recording import Recorder, clock


@dataclasses.dataclass(frozen=True)
class Plan:
    """Everything that the trampoline is specialised by.

    Attributes:
      api: what the user called; a callback of "pure_callback" that fails is logged, as by JAX.
      function: the callback, called as `function(ctx, out, *args, **kwargs)`.
      in_tree: the structure of `(args, kwargs)`.
      out_tree: the structure of `out`.
      in_dtypes: the dtypes of the flat inputs, as the callback sees them.
      out_shapes: the shapes of the flat outputs.
      out_dtypes: their dtypes.
      aliases: pairs of flat input and output that share their memory.
      repeatable: whether calling the callback twice does no harm (no side effects, no aliases).
      retain: "raise" or "copy".
      x64: the x64 mode at bind time.
      checked: whether outputs are checked for elements that were not written.
      has_peers: whether other devices take part. If they wait for what this call computes, XLA ends the
        process when it fails, and nobody is told the error, which is why it is logged then.
      recorder: what records every call; None for nothing.
    """

    api: Api
    function: Callable[..., Any]
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    in_dtypes: tuple[np.dtype, ...]
    out_shapes: tuple[tuple[int, ...], ...]
    out_dtypes: tuple[np.dtype, ...]
    aliases: tuple[tuple[int, int], ...]
    repeatable: bool
    retain: str
    x64: bool
    checked: bool
    has_peers: bool = False
    recorder: Recorder | None = None

    @property
    def aliased(self) -> set[int]:
        """The flat outputs that share their memory with an input."""
        return {output for _, output in self.aliases}

    @property
    def failure(self) -> str | None:
        """What is logged when the callback raises; None if nothing is."""
        if self.api == "pure_callback":
            return "jax.pure_callback failed"
        return "buffer_callback failed" if self.has_peers else None

    @property
    def copies(self) -> bool:
        """Whether the callback works on copies of its own; without the GIL, reference counts do not tell."""
        return self.retain == "copy" or buffers.FREE_THREADED


def build(plan: Plan) -> Callable[..., tuple[()]]:
    """Return `trampoline(ctx, *inputs, *outputs)`; each buffer needs an `__array__()` that makes a view."""
    return _Writer(plan).compile()


class _Writer:
    """Writes the trampoline's source; constants that have no literal form become names of its namespace."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names: dict[str, Any] = {
            "getrefcount": sys.getrefcount,
            "OutputError": buffers.OutputError,
            "raise_returned": functools.partial(raise_returned, plan),
            "__name__": __name__,
            "name_leaf": functools.partial(_name_leaf, plan),
            "check_text": check_text,
            "check_escapes": functools.partial(_check_escapes, plan),
            "detach": buffers.detach,
            "fill_canary": buffers.fill_canary,
            "check_written": functools.partial(_check_written, plan),
            "hand_out": buffers.hand_out,
            "Fresh": buffers.Fresh,
            "Input": buffers.input_class(plan.x64),
        }
        if plan.recorder is not None:
            check_escapes = functools.partial(_check_escapes_recorded, plan, plan.recorder)
            self.names.update(
                clock=clock,
                recorder=plan.recorder,
                done=plan.recorder.done,
                failed=plan.recorder.failed,
                check_escapes=check_escapes,
            )
        for i, (shape, dtype) in enumerate(zip(plan.out_shapes, plan.out_dtypes, strict=True)):
            self.names[f"Output{i}"] = buffers.output_class(i, plan.x64, shape, dtype)
        self.inputs = [f"r{i}" for i, _ in enumerate(plan.in_dtypes)]
        self.outputs = [f"w{i}" for i, _ in enumerate(plan.out_dtypes)]
        # The buffers that the callback is handed.
        self.handed_in = [f"x{i}" for i, _ in enumerate(plan.in_dtypes)]
        self.handed_out = [f"y{i}" for i, _ in enumerate(plan.out_dtypes)]
        # XLA's own objects, by the parameters that they arrive in.
        self.raw_inputs = [f"a{i}" for i, _ in enumerate(plan.in_dtypes)]
        self.raw_outputs = [f"b{i}" for i, _ in enumerate(plan.out_dtypes)]

    def compile(self) -> Callable[..., tuple[()]]:
        source = "\n".join(self.lines()) + "\n"
        name = _readable(f"<bufcb trampoline of {describe(self.plan.function)}>")
        code = compile(source, name, "exec")
        exec(code, self.names)  # noqa: S102 - made of names of our own and of literals of str and int
        trampoline: Callable[..., tuple[()]] = self.names["trampoline"]
        trampoline.__qualname__ = name  # which the error of who pickles a compiled computation shows
        return trampoline

    def lines(self) -> Iterator[str]:
        yield f"def trampoline({', '.join(['ctx', *self.raw_inputs, *self.raw_outputs])}):"
        yield from map(_indent, self.open())
        call = list(self.call())
        yield "    try:"
        yield from (_indent(line, 2) for line in call)
        if self.plan.checked and self.outputs:
            yield from (_indent(line, 2) for line in self.check_written(call))
        yield "    except BaseException as error:"
        if self.plan.recorder is not None:
            yield f"        failed({self.recorded_inputs()}, error, started)"
        yield from (_indent(line, 2) for line in self.part())
        yield f"        name_leaf(error, ({''.join(f'{array}, ' for array in self.inputs)}))"
        if self.plan.failure:
            self.names["log"] = functools.partial(logging.getLogger("bufcb").exception, self.plan.failure)
            yield "        if type(error) is not OutputError:"
            yield "            log()"
        yield "        check_text(error)"
        yield "        raise"
        yield from map(_indent, self.close())
        yield "    return ()"

    def open(self) -> Iterator[str]:
        """Make arrays of XLA's buffers, r0 … for inputs and w0 … for outputs."""
        if self.plan.recorder is not None:
            yield "started = clock()"
        copy = ".copy()" if self.plan.copies else ""
        for array, raw in zip(self.inputs, self.raw_inputs, strict=True):
            yield f"{array} = {raw}.__array__(){copy}"
            yield f"{array}.setflags(False)"
        for i, (array, raw) in enumerate(zip(self.outputs, self.raw_outputs, strict=True)):
            if self.plan.copies:
                yield f"m{i} = {raw}.__array__()"
                yield f"{array} = m{i}.copy()"
            else:
                yield f"{array} = {raw}.__array__()"
            if self.plan.checked and i not in self.plan.aliased:
                yield f"fill_canary({array})"
        if self.plan.recorder is not None:
            yield from self.fill_for_recording()
            # What the callback writes into an output takes the place of such an input.
            yield from (f"g{i} = r{i}.copy()" for i in sorted({i for i, _ in self.plan.aliases}))

    def fill_for_recording(self) -> Iterator[str]:
        """Fill outputs, which may by chance hold what the callback ought to write. No time is counted."""
        fresh = [array for i, array in enumerate(self.outputs) if i not in self.plan.aliased]
        if fresh and not self.plan.checked:
            yield "if recorder.is_dense:"
            yield "    begun = clock()"
            yield from (f"    fill_canary({array})" for array in fresh)
            yield "    started += clock() - begun"

    def recorded_inputs(self) -> str:
        """Return the inputs of a recorded call, as they were when it began, as a tuple."""
        aliased = {i for i, _ in self.plan.aliases}
        inputs = (f"g{i}" if i in aliased else array for i, array in enumerate(self.inputs))
        return f"({''.join(f'{array}, ' for array in inputs)})"

    def close(self) -> Iterator[str]:
        """Copy the outputs back, or check that nothing refers to the memory any more."""
        arrays = [*self.inputs, *self.outputs]
        if self.plan.copies:
            yield from (f"m{i}[...] = {array}" for i, array in enumerate(self.outputs))
        elif arrays:
            # No count is below that of an idle array, so that one comparison of the sums does for all.
            counts = " + ".join(f"getrefcount({array})" for array in arrays)
            yield f"if {counts} > {buffers.IDLE * len(arrays)}:"
            if self.plan.recorder is not None:  # which cannot look at arrays that have been detached
                yield "    given = tuple(array.copy() for array in " + self.recorded_inputs() + ")"
                yield f"    check_escapes(({', '.join(arrays)},), given, started)"
            else:
                yield f"    check_escapes(({', '.join(arrays)},))"
        if self.plan.recorder is not None:
            outputs = "".join(f"{array}, " for array in self.outputs)
            yield f"done({self.recorded_inputs()}, ({outputs}), started)"

    def part(self) -> Iterator[str]:
        """Let go of XLA's objects: the traceback keeps this frame, and perhaps the callback's."""
        names = ["ctx", *self.raw_inputs, *self.raw_outputs, *self.handed_in, *self.handed_out]
        yield " = ".join([*names, "None"])
        if not self.plan.copies:
            yield f"detach(({''.join(f'{array}, ' for array in [*self.inputs, *self.outputs])}))"

    def call(self) -> Iterator[str]:
        """Run the callback, by its kind."""
        function = self.plan.function
        if not isinstance(function, Adapted):
            self.names["callback"] = function
            yield from self.call_with_buffers()
            return
        self.names["callback"] = function.function
        if function.arrays == "numpy":
            yield from self.call_with_numpy()
        else:
            yield from self.call_with_jax(function)

    def call_with_buffers(self) -> Iterator[str]:
        """Run a buffer callback, and let go of its buffers."""
        for buffer, view in zip(self.handed_in, self.views(self.inputs, self.plan.in_dtypes), strict=True):
            yield f"{buffer} = {view}.view(Fresh)"
            yield f"{buffer}.__class__ = Input"
        views = self.views(self.outputs, self.plan.out_dtypes)
        for i, (buffer, view) in enumerate(zip(self.handed_out, views, strict=True)):
            yield f"{buffer} = {view}.view(Fresh)"
            yield f"{buffer}.__class__ = Output{i}"
        out = self.structure(self.plan.out_tree, iter(self.handed_out))
        yield f"if callback({', '.join(['ctx', out, *self.arguments(iter(self.handed_in))])}) is not None:"
        yield "    raise_returned()"
        if handed := [*self.handed_in, *self.handed_out]:
            yield " = ".join([*handed, "None"])

    def call_with_numpy(self) -> Iterator[str]:
        """Run an adapted function on plain arrays; one array that fits is written at once."""
        self.names.update(write=buffers.write, leaves=buffers.leaves, ndarray=np.ndarray)
        inputs = self.views(self.inputs, self.plan.in_dtypes)
        yield f"value = callback({', '.join(self.arguments(iter(inputs)))})"
        write = f"write(({self.written()}), leaves(value))"
        if len(self.outputs) == 1 and not is_sub_byte(self.plan.out_dtypes[0]):
            shape, dtype = map(self.constant, (self.plan.out_shapes[0], self.plan.out_dtypes[0]))
            yield f"if type(value) is ndarray and value.dtype is {dtype} and value.shape == {shape}:"
            yield "    w0[...] = value"
            yield "else:"
            yield f"    {write}"
        else:
            yield write
        yield "value = None"

    def call_with_jax(self, function: Adapted) -> Iterator[str]:
        """Run an adapted function on JAX arrays, in the scope that JAX code in callbacks runs in."""
        self.names.update(write=buffers.write, to_jax=adapted.to_jax, host_leaves=adapted.host_leaves)
        self.names["scope"] = functools.partial(adapted.scope, self.plan.x64)
        inputs = [f"to_jax({view})" for view in self.views(self.inputs, self.plan.in_dtypes)]
        yield "with scope():"
        yield f"    value = host_leaves(callback({', '.join(self.arguments(iter(inputs)))}))"
        yield f"write(({self.written()}), value)"
        yield "value = None"

    def check_written(self, call: list[str]) -> Iterator[str]:
        """Look for elements that were not written; a callback that may be repeated settles doubtful cases."""
        arrays = "".join(f"{array}, " for array in self.outputs)
        if self.plan.repeatable:
            names = ["ctx", *self.inputs, *self.outputs]
            yield f"def again({', '.join(f'{name}={name}' for name in names)}):"
            yield from map(_indent, call)
            yield f"check_written(({arrays}), again)"
            yield "again = None"
        else:
            yield f"check_written(({arrays}), None)"

    def written(self) -> str:
        """Return the flat outputs of an adapted function as the items of a tuple."""
        views = self.views(self.outputs, self.plan.out_dtypes)
        return "".join(f"hand_out({view}, Output{i}), " for i, view in enumerate(views))

    def views(self, arrays: Sequence[str], dtypes: Sequence[np.dtype]) -> list[str]:
        """Return expressions of the arrays as the callback sees them: in their dtype."""
        return [f"{array}{self.seen_as(dtype)}" for array, dtype in zip(arrays, dtypes, strict=True)]

    def seen_as(self, dtype: np.dtype) -> str:
        """Return the view that undoes XLA's widening of 2- and 4-bit types to 8 bits."""
        if not is_sub_byte(dtype):
            return ""
        return f".view({self.constant(dtype)})"

    def arguments(self, arrays: Iterator[str]) -> Iterator[str]:
        args, kwargs = self.plan.in_tree.children()
        for child in args.children():
            yield self.structure(child, arrays)
        spread = []
        node = kwargs.node_data()
        assert node is not None
        for key, child in zip(node[1], kwargs.children(), strict=True):
            value = self.structure(child, arrays)
            if key.isidentifier() and not keyword.iskeyword(key):
                yield f"{key}={value}"
            else:
                spread.append(f"{key!r}: {value}")
        if spread:
            yield f"**{{{', '.join(spread)}}}"

    def structure(self, tree: PyTreeDef, arrays: Iterator[str]) -> str:
        """Return an expression that builds the tree anew from the expressions of its leaves."""
        node = tree.node_data()
        if node is None:
            return next(arrays)
        kind, data = node
        children = tree.children()
        if kind is type(None):
            return "None"
        if kind is tuple:
            return "(" + "".join(self.structure(child, arrays) + ", " for child in children) + ")"
        if kind is list:
            return "[" + ", ".join(self.structure(child, arrays) for child in children) + "]"
        if kind is dict:
            keys = map(self.constant, data)
            items = (f"{k}: {self.structure(child, arrays)}" for k, child in zip(keys, children, strict=True))
            return "{" + ", ".join(items) + "}"
        leaves = "".join(f"{next(arrays)}, " for _ in range(tree.num_leaves))
        return f"{self.constant(functools.partial(tree_unflatten, tree))}(({leaves}))"

    def constant(self, value: Any) -> str:
        if type(value) in (str, int):
            return repr(value)
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name


def _indent(line: str, levels: int = 1) -> str:
    return "    " * levels + line


def _input_names(plan: Plan) -> list[str]:
    args, kwargs = tree_unflatten(plan.in_tree, range(len(plan.in_dtypes)))
    return argument_names(plan.function, args, kwargs)


def _output_names(plan: Plan) -> list[str]:
    out = tree_unflatten(plan.out_tree, range(len(plan.out_dtypes)))
    return [f"output `out{keystr(path)}`" for path, _ in tree_flatten_with_path(out)[0]]


def raise_returned(plan: Plan) -> NoReturn:
    """Raise the error of a callback that returned a value."""
    raise ValueError(
        "buffer_callback callback must not return any values.\n"
        f"Callback {describe(plan.function)} did: write the results into its outputs, with `out[...] = "
        "value` or `bufcb.store(out, value)`, or wrap it in `bufcb.adapt`."
    )


def name_output(plan: Plan, error: buffers.OutputError) -> None:
    """Add the callback's name and the leaf to an error that a strict write raised."""
    leaf = "" if error.index is None else f", {_output_names(plan)[error.index]}"
    error.args = (f"{error.args[0]}\nCallback {describe(plan.function)}{leaf}",)


def name_inputs(plan: Plan, error: BaseException, owners: Sequence[read_only.Owner]) -> None:
    """Add the callback's name and the leaf to an error about writing into an input; others stay as they are.

    By `owners` inputs are known in the callback's frames.
    """
    if read_only.is_refusal(error):
        read_only.explain(error, describe(plan.function), functools.partial(_input_names, plan), owners)


def _name_leaf(plan: Plan, error: BaseException, inputs: Sequence[np.ndarray]) -> None:
    if isinstance(error, buffers.OutputError):
        name_output(plan, error)
    else:
        name_inputs(plan, error, list(enumerate(inputs)))


def check_text(error: BaseException) -> None:
    """Raise another error in the place of one that XLA cannot put into words: it would end the process.

    Its text, or a name in its traceback, may have characters that UTF-8 has no bytes for.
    """
    try:
        text, has_text = str(error), True
    except BaseException as fault:  # noqa: BLE001
        text, has_text = f"its text cannot be read, since that raises {type(fault).__qualname__}", False
    text = f"{type(error).__qualname__}: {text}"
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    traced = all(map(_is_readable, (name for code, _ in frames for name in (code.co_name, code.co_filename))))
    if has_text and traced and _is_readable(text):
        return
    if not traced:
        text += "".join(f"\n  in {code.co_name} ({code.co_filename}:{line})" for code, line in frames[1:])
    raise RuntimeError(_readable(text)).with_traceback(error.__traceback__ if traced else None) from None


def _readable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _is_readable(text: str) -> bool:
    return text.isascii() or _readable(text) == text


def _check_escapes(plan: Plan, arrays: tuple[np.ndarray, ...]) -> None:
    kept = buffers.still_referenced(arrays)
    if not kept:
        return
    buffers.detach(arrays)
    raise_kept(plan, kept)


def raise_kept(plan: Plan, kept: Sequence[int]) -> NoReturn:
    """Raise the error of a callback that kept some of its buffers, numbered from the first input on."""
    names = [*_input_names(plan), *_output_names(plan)]
    raise RuntimeError(
        f"buffer_callback: callback {describe(plan.function)} returned, but something still refers to its "
        f"{', '.join(names[i] for i in kept)}, whose memory XLA reuses now. Keep a copy instead, with "
        '`np.array(x)`, or pass `retain="copy"` to be handed copies.'
    )


def _check_escapes_recorded(
    plan: Plan,
    recorder: Recorder,
    arrays: tuple[np.ndarray, ...],
    given: tuple[np.ndarray, ...],
    started: float,
) -> None:
    try:
        _check_escapes(plan, arrays)
    except RuntimeError as error:
        recorder.failed(given, error, started)
        raise


def _check_written(plan: Plan, arrays: Sequence[np.ndarray], again: Callable[[], None] | None) -> None:
    for i, array in enumerate(arrays):
        if i in plan.aliased:
            continue
        mask = buffers.find_unwritten(array, again)
        if mask is not None:
            raise_unwritten(plan, i, mask)


def raise_unwritten(plan: Plan, output: int, mask: np.ndarray) -> NoReturn:
    """Raise the error of a callback that did not write the elements of an output which `mask` tells."""
    name = _output_names(plan)[output]
    if mask.all():
        raise RuntimeError(f"buffer_callback: callback {describe(plan.function)} did not write its {name}.")
    first = tuple(int(i) for i in np.unravel_index(int(mask.argmax()), plan.out_shapes[output]))
    raise RuntimeError(
        f"buffer_callback: callback {describe(plan.function)} wrote its {name} only in part: "
        f"{int(mask.sum())} of {mask.size} elements are missing, the first at index {first}."
    )
