"""BCL012: an alias names an input and an output by their places among the flattened ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.arguments import argument
from codemods.lint.calls import BufferCall
from codemods.lint.registry import Finding, Subject, rule
from codemods.names import Module
from codemods.specs import Spec, structure


@rule("BCL012")
def check(subject: Subject) -> Iterator[Finding]:
    for call in subject.calls:
        aliases = call.options.get("input_output_aliases")
        if isinstance(aliases, ast.Dict):
            yield from _of(call, aliases, subject.module)


def _of(call: BufferCall, aliases: ast.Dict, module: Module) -> Iterator[Finding]:
    inputs, outputs = _inputs(call, module), _leaves(structure(call.spec, module))
    used: set[int] = set()
    for key, value in zip(aliases.keys, aliases.values, strict=True):
        for node, count, what in ((key, inputs, "input"), (value, outputs, "output")):
            index = _integer(node)
            if index is None or node is None:
                continue
            if index < 0 or (count is not None and index >= count):
                known = f"there are {count}" if count is not None else "they count from 0"
                yield Finding(
                    node,
                    f"There is no {what} {index} to alias: {known}, flattened.",
                    "Aliases are `{input: output}`, each the place of a leaf.",
                )
        output = _integer(value)
        if output is not None and output in used and call.library == "bufcb":
            yield Finding(value, f"Output {output} is aliased to two inputs.", "Alias each output once.")
        used.add(output if output is not None else -1)


def _integer(node: ast.expr | None) -> int | None:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def _leaves(spec: Spec) -> int | None:
    """How many leaves a spec has; None where that cannot be told."""
    if spec.kind in ("leaf", "empty"):
        return 1 if spec.kind == "leaf" else 0
    counts = [_leaves(child) for child in spec.children]
    return None if spec.kind == "unknown" or None in counts else sum(c for c in counts if c is not None)


def _inputs(call: BufferCall, module: Module) -> int | None:
    """How many inputs the calls give, where each argument is surely one array."""
    counts = set()
    for applied in call.applied:
        given = [*applied.args, *(keyword.value for keyword in applied.keywords)]
        starred = any(isinstance(a, ast.Starred) for a in applied.args)
        if starred or any(k.arg is None for k in applied.keywords):
            return None
        if any(argument(value, module).form != "array" for value in given):
            return None
        counts.add(len(given))
    return counts.pop() if len(counts) == 1 else None
