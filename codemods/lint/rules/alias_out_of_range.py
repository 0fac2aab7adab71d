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
        aliases = _shown(call.options.get("input_output_aliases"), subject.module)
        if aliases is not None:
            yield from _of(call, aliases, subject.module)


def _shown(aliases: ast.expr | None, module: Module) -> ast.Dict | None:
    """The dict that an option is: as written, or in a variable that nothing changes."""
    if isinstance(aliases, ast.Name):
        binding = module.sole_binding(aliases)
        if binding is None:
            return None
        uses = module.references(aliases.id, binding.scope)
        if any(isinstance(module.parents[use], ast.Attribute | ast.Subscript) for use in uses):
            return None
        aliases = binding.value
    return aliases if isinstance(aliases, ast.Dict) else None


def _of(call: BufferCall, aliases: ast.Dict, module: Module) -> Iterator[Finding]:
    inputs, outputs = _inputs(call, module), _leaves(structure(call.spec, module))
    used: set[int] = set()
    for key, value in zip(aliases.keys, aliases.values, strict=True):
        for node, count, what in ((key, inputs, "input"), (value, outputs, "output")):
            index = _integer(node)
            if index is None or node is None:
                continue
            if index < 0 or (count is not None and index >= count):
                known = f"there are {count}, flattened" if count is not None else "they count from 0"
                if call.libraries == {"jax"} and what == "input" and count is not None:
                    known = f"JAX's own counts the {count} positional arguments"
                yield Finding(
                    node,
                    f"There is no {what} {index} to alias: {known}.",
                    "Aliases are `{input: output}`, each the place of a leaf.",
                )
        output = _integer(value)
        if output is not None and output in used and call.libraries == {"bufcb"}:
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
    """How many inputs the calls give, flattened; JAX's own takes no index behind its positional arguments."""
    counts = set()
    for applied in call.applied:
        if any(isinstance(a, ast.Starred) for a in applied.args):
            return None
        if "jax" in call.libraries:
            counts.add(len(applied.args))
        if call.libraries == {"jax"}:
            continue
        given = [*applied.args, *(keyword.value for keyword in applied.keywords)]
        leaves = [_leaves_of(value, module) for value in given]
        if any(k.arg is None for k in applied.keywords) or None in leaves:
            return None
        counts.add(sum(count for count in leaves if count is not None))
    return counts.pop() if len(counts) == 1 else None


def _leaves_of(node: ast.expr, module: Module) -> int | None:
    """How many arrays an argument is; None where that cannot be told."""
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            counts = [_leaves_of(each, module) for each in elements]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            counts = [_leaves_of(each, module) for each in values]
        case _:
            return 1 if argument(node, module).form == "array" else None
    return None if None in counts else sum(count for count in counts if count is not None)
