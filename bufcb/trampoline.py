"""What XLA calls: a function of the execution context and flat buffers, generated once per lowering.

The source is written for the callback's own argument and result structure, so that no pytree is flattened or built by
JAX at run time, except for nodes of registered classes. For one array in and out it reads

    def trampoline(ctx, a0, b0):
        r0 = a0.__array__()
        r0.setflags(False)
        w0 = b0.__array__()
        try:
            if callback(ctx, w0.view(Output0), r0.view(Input)) is not None:
                raise_returned()
        except OutputMismatch as error:
            name_output(error)
            raise
        if getrefcount(r0) > 2 or getrefcount(w0) > 2:
            check_escapes((r0, w0,))
        return ()
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax.tree_util import PyTreeDef, keystr, tree_flatten_with_path, tree_unflatten

from bufcb import buffers
from bufcb.callables import describe, parameter_names


@dataclasses.dataclass(frozen=True)
class Plan:
    """Everything that the trampoline is specialised by.

    Attributes:
      function: the callback, called as `function(ctx, out, *args, **kwargs)`.
      in_tree: the structure of `(args, kwargs)`.
      out_tree: the structure of `out`.
      in_dtypes: the dtypes of the flat inputs, as the callback sees them.
      out_dtypes: the dtypes of the flat outputs.
      aliases: pairs of flat input and output that share their memory.
      repeatable: whether calling the callback twice does no harm (no side effects, no aliases).
      retain: "raise" or "copy".
      x64: the x64 mode at bind time.
      checked: whether outputs are checked for elements that were not written.
    """

    function: Callable[..., Any]
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    in_dtypes: tuple[np.dtype, ...]
    out_dtypes: tuple[np.dtype, ...]
    aliases: tuple[tuple[int, int], ...]
    repeatable: bool
    retain: str
    x64: bool
    checked: bool

    @property
    def copies(self) -> bool:
        """Whether the callback works on owned copies. Without the GIL, reference counts of others cannot be read."""
        return self.retain == "copy" or buffers.FREE_THREADED


def build(plan: Plan) -> Callable[..., tuple[()]]:
    """Return `trampoline(ctx, *inputs, *outputs)`; each buffer only needs an `__array__()` that returns a new view."""
    return _Writer(plan).compile()


class _Writer:
    """Writes the trampoline's source; constants that have no literal form become names of its namespace."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names: dict[str, Any] = {
            "callback": plan.function,
            "getrefcount": sys.getrefcount,
            "OutputMismatch": buffers.OutputMismatch,
            "raise_returned": functools.partial(_raise_returned, plan),
            "name_output": functools.partial(_name_output, plan),
            "check_escapes": functools.partial(_check_escapes, plan),
            "fill_canary": buffers.fill_canary,
            "check_written": functools.partial(_check_written, plan),
        }
        self.inputs = range(len(plan.in_dtypes))
        self.outputs = range(len(plan.out_dtypes))

    def compile(self) -> Callable[..., tuple[()]]:
        source = "\n".join(self.lines()) + "\n"
        exec(compile(source, f"<bufcb trampoline of {describe(self.plan.function)}>", "exec"), self.names)
        return self.names["trampoline"]

    def lines(self) -> Iterator[str]:
        call = self.call()
        yield f"def trampoline({', '.join(['ctx', *(f'a{i}' for i in self.inputs), *(f'b{i}' for i in self.outputs)])}):"
        for i in self.inputs:
            yield from self.read(i)
        for i in self.outputs:
            yield from self.open(i)
        yield "    try:"
        yield f"        if {call} is not None:"
        yield "            raise_returned()"
        if self.plan.checked and self.outputs:
            yield from self.check_written(call)
        yield "    except OutputMismatch as error:"
        yield "        name_output(error)"
        yield "        raise"
        if self.plan.copies:
            yield from (f"    m{i}[...] = w{i}" for i in self.outputs)
        elif self.inputs or self.outputs:
            yield from self.check_escapes()
        yield "    return ()"

    def read(self, i: int) -> Iterator[str]:
        copy = f"{self.seen_as(self.plan.in_dtypes[i])}.copy()" if self.plan.copies else ""
        yield f"    r{i} = a{i}.__array__(){copy}"
        yield f"    r{i}.setflags(False)"

    def open(self, i: int) -> Iterator[str]:
        dtype = self.plan.out_dtypes[i]
        if self.plan.copies:
            yield f"    m{i} = b{i}.__array__(){self.seen_as(dtype)}"
            yield f"    w{i} = m{i}.copy()"
        else:
            yield f"    w{i} = b{i}.__array__()"
        if self.plan.checked and i not in {output for _, output in self.plan.aliases}:
            yield f"    fill_canary(w{i})"

    def check_written(self, call: str) -> Iterator[str]:
        arrays = "".join(f"w{i}, " for i in self.outputs)
        again = "None"
        if self.plan.repeatable:
            bound = ["ctx", *(f"r{i}" for i in self.inputs), *(f"w{i}" for i in self.outputs)]
            again = f"lambda {', '.join(f'{name}={name}' for name in bound)}: {call}"
        yield f"        check_written(({arrays}), {again})"

    def check_escapes(self) -> Iterator[str]:
        arrays = [*(f"r{i}" for i in self.inputs), *(f"w{i}" for i in self.outputs)]
        yield f"    if {' or '.join(f'getrefcount({name}) > {buffers.IDLE}' for name in arrays)}:"
        yield f"        check_escapes(({', '.join(arrays)},))"

    def call(self) -> str:
        copies = self.plan.copies
        names = self.names
        names["Input"] = buffers.input_class(self.plan.x64)
        inputs = []
        for i in self.inputs:
            inputs.append(f"r{i}{'' if copies else self.seen_as(self.plan.in_dtypes[i])}.view(Input)")
        outputs = []
        for i in self.outputs:
            names[f"Output{i}"] = buffers.output_class(i, self.plan.x64)
            outputs.append(f"w{i}{'' if copies else self.seen_as(self.plan.out_dtypes[i])}.view(Output{i})")
        out = self.structure(self.plan.out_tree, iter(outputs))
        return f"callback({', '.join(['ctx', out, *self.arguments(iter(inputs))])})"

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
        for key, child in zip(node[1], kwargs.children()):
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
            items = (f"{self.constant(key)}: {self.structure(child, arrays)}" for key, child in zip(data, children))
            return "{" + ", ".join(items) + "}"
        leaves = "".join(f"{next(arrays)}, " for _ in range(tree.num_leaves))
        return f"{self.constant(functools.partial(tree_unflatten, tree))}(({leaves}))"

    def constant(self, value: Any) -> str:
        if type(value) in (str, int):
            return repr(value)
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name


def is_sub_byte(dtype: np.dtype) -> bool:
    """Return whether XLA packs several elements of this dtype into a byte."""
    return dtype.name in SUB_BYTE


SUB_BYTE = frozenset({"int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn"})


def leaf_names(plan: Plan) -> list[str]:
    """Return how error messages call each flat input and output: ``argument `x` (args[0])``, ``output out[1]``."""
    args, kwargs = tree_unflatten(plan.in_tree, range(len(plan.in_dtypes)))
    names = parameter_names(plan.function, len(args))
    found = []
    for i, arg in enumerate(args):
        for path, _ in tree_flatten_with_path(arg)[0]:
            called = f"`{names[i]}{keystr(path)}` " if names[i] else ""
            found.append(f"argument {called}(args[{i}]{keystr(path)})")
    for path, _ in tree_flatten_with_path(kwargs)[0]:
        found.append(f"argument `{path[0].key}{keystr(path[1:])}`")
    out = tree_unflatten(plan.out_tree, range(len(plan.out_dtypes)))
    return found + [f"output out{keystr(path)}" for path, _ in tree_flatten_with_path(out)[0]]


def _raise_returned(plan: Plan) -> None:
    raise ValueError(
        f"buffer_callback callback must not return any values. Callback {describe(plan.function)} did: write the results "
        "into its outputs (`out[...] = value`, or `bufcb.store(out, value)`), or wrap it in `bufcb.adapt`."
    )


def _name_output(plan: Plan, error: buffers.OutputMismatch) -> None:
    """Add the callback's name and the leaf to an error that a strict write raised."""
    leaf = "" if error.index is None else f", {leaf_names(plan)[len(plan.in_dtypes) + error.index]}"
    error.args = (f"{error.args[0]} [callback {describe(plan.function)}{leaf}]",)


def _check_escapes(plan: Plan, arrays: tuple[np.ndarray, ...]) -> None:
    kept = buffers.still_referenced(arrays)
    if not kept:
        return
    names = leaf_names(plan)
    copied = parameter_names(plan.function, 1)[0] or "x"
    raise RuntimeError(
        f"buffer_callback: callback {describe(plan.function)} returned, but something still refers to its "
        f"{', '.join(names[i] for i in kept)}, whose memory XLA reuses now. Keep a copy instead, such as "
        f"`np.array({copied})`, or pass `retain=\"copy\"` to hand out copies."
    )


def _check_written(plan: Plan, arrays: Sequence[np.ndarray], again: Callable[[], None] | None) -> None:
    aliased = {output for _, output in plan.aliases}
    for i, array in enumerate(arrays):
        if i in aliased:
            continue
        mask = buffers.find_unwritten(array, again)
        if mask is not None:
            name = leaf_names(plan)[len(plan.in_dtypes) + i]
            raise RuntimeError(_unwritten(plan, name, mask, array.shape))


def _unwritten(plan: Plan, name: str, mask: np.ndarray, shape: tuple[int, ...]) -> str:
    if mask.all():
        return f"buffer_callback: callback {describe(plan.function)} did not write its {name}."
    first = tuple(int(i) for i in np.unravel_index(int(mask.argmax()), shape))
    return (
        f"buffer_callback: callback {describe(plan.function)} wrote its {name} only in part: "
        f"{int(mask.sum())} of {mask.size} elements are missing, the first at index {first}."
    )
