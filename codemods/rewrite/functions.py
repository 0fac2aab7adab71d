"""A callback's definition, lambda or sibling, as the text of a buffer callback."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from codemods.names import Module
from codemods.plans import FunctionPlan, SiblingPlan
from codemods.rewrite import arguments, parsing
from codemods.rewrite.dialect import Dialect, Names
from codemods.rewrite.returns import ReturnRewriter, Writer


def definition(
    text: str,
    plan: FunctionPlan,
    module: Module,
    dialect: Dialect,
    names: Names,
    imports: Sequence[str],
    newline: str,
) -> str:
    """Rewrites the lines of a `def`."""

    def change(node: cst.CSTNode) -> cst.BaseStatement:
        assert isinstance(node, cst.FunctionDef)
        writer = Writer(dialect, names, plan.out)
        body = _visited(node.body, ReturnRewriter(plan, writer, _depths(plan, module)))
        if plan.copied:
            body = _visited(body, arguments.AsarrayToArray(_copied_names(plan)))
        parameters = arguments.with_buffers(
            node.params, plan.position, plan.context, plan.out, positional_only=plan.positional_only
        )
        node = node.with_changes(body=body, params=parameters)
        jax_annotated = [parameter.arg for parameter in plan.jax_annotated]
        node = arguments.with_annotations(node, jax_annotated, f"{names.numpy}.ndarray")
        width = len(text) - len(text.lstrip()) + 4
        lines = [*imports, *dialect.conversion_lines(names, plan.conversions, width)]
        node = arguments.with_first_lines(node, lines)
        return arguments.with_last_lines(node, _last_lines(plan, dialect, names))

    return parsing.transform_block(text, newline, change)


def _visited(body: cst.BaseSuite, transformer: cst.CSTTransformer) -> cst.BaseSuite:
    visited = body.visit(transformer)
    assert isinstance(visited, cst.BaseSuite)
    return visited


def _last_lines(plan: FunctionPlan, dialect: Dialect, names: Names) -> list[str]:
    return [dialect.store(names, plan.out, "None"), "return"] if plan.falls_through else []


def _copied_names(plan: FunctionPlan) -> frozenset[str]:
    return frozenset(call.args[0].id for call in plan.copied if isinstance(call.args[0], ast.Name))


def _depths(plan: FunctionPlan, module: Module) -> dict[ast.Return, int]:
    """For each `return` kept for later, how many `with` statements lie between it and its write."""
    depths = {}
    for planned in plan.returns:
        if planned.after is not None:
            withs = [a for a in module.ancestors(planned.node) if isinstance(a, ast.With)]
            depths[planned.node] = withs.index(planned.after) + 1
    return depths


def hoisted(
    text: str,
    plan: FunctionPlan,
    dialect: Dialect,
    names: Names,
    imports: Sequence[str],
    indent: str,
    unit: str,
    newline: str,
) -> str:
    """The `def` that stands for a lambda, as whole lines with their last line ending."""
    expression = cst.parse_expression(text)
    assert isinstance(expression, cst.Lambda)
    parameters = arguments.with_buffers(
        expression.params, plan.position, plan.context, plan.out, positional_only=plan.positional_only
    )
    writer = Writer(dialect, names, plan.out)
    written = writer.write(plan.result, expression.body)
    body = indent + unit
    lines = [f"{indent}def {plan.name}({parsing.code(parameters).strip()}):"]
    lines += [body + line for line in imports]
    lines += [body + line for line in dialect.conversion_lines(names, plan.conversions, len(body))]
    lines += [body + line for statement in written for line in _code_lines(statement)]
    lines.append(f"{body}return")
    return newline.join(lines) + newline


def _code_lines(statement: cst.SimpleStatementLine) -> list[str]:
    """A statement's lines; the first of each logical line is to be indented by the caller."""
    comments = [line.comment.value for line in statement.leading_lines if line.comment]
    plain = statement.with_changes(leading_lines=[])
    return [*comments, parsing.code(plain).rstrip("\r\n")]


def sibling(
    plan: SiblingPlan,
    dialect: Dialect,
    names: Names,
    imports: Sequence[str],
    indent: str,
    unit: str,
    newline: str,
) -> str:
    """A function beside the original that calls it and writes its result, as whole lines."""
    ways = {conversion.name: dialect.converted(names, conversion) for conversion in plan.conversions}
    writer = Writer(dialect, names, plan.out)
    value = cst.parse_expression(f"{plan.callee}({', '.join(_handed_on(plan, ways))})")
    body = indent + unit
    lines = [f"{indent}@{plan.decorator}"] if plan.decorator else []
    lines.append(f"{indent}def {plan.name}({', '.join(_signature(plan))}):")
    lines += [body + line for line in imports]
    lines += [
        body + line for statement in writer.write(plan.result, value) for line in _code_lines(statement)
    ]
    lines.append(f"{body}return")
    return newline.join(lines) + newline


def _signature(plan: SiblingPlan) -> list[str]:
    known = plan.function.args
    wanted = set(plan.parameters)
    leading = [*known.posonlyargs, *known.args][: plan.position]
    rest = [p for p in [*known.posonlyargs, *known.args] if p in wanted and p not in leading]
    found = [*(p.arg for p in leading), plan.context, plan.out]
    if plan.positional_only or any(p in known.posonlyargs for p in leading):
        found.append("/")
    found += [p.arg for p in rest]
    keyword_only = [p.arg for p in known.kwonlyargs if p in wanted]
    if known.vararg and known.vararg in wanted:
        found.append(f"*{known.vararg.arg}")
    elif keyword_only:
        found.append("*")
    found += keyword_only
    if known.kwarg and known.kwarg in wanted:
        found.append(f"**{known.kwarg.arg}")
    return found


def _handed_on(plan: SiblingPlan, ways: dict[str, str]) -> list[str]:
    """The arguments of the call to the original."""
    known = plan.function.args
    wanted = set(plan.parameters)
    positional = [p for p in [*known.posonlyargs, *known.args] if p in wanted]
    if plan.callee.count(".") and plan.decorator != "staticmethod":
        positional = positional[1:]
    given = [*known.posonlyargs, *known.args]
    found, gap = [], False
    for parameter in given:
        if parameter in positional:
            value = ways.get(parameter.arg, parameter.arg)
            found.append(f"{parameter.arg}={value}" if gap else value)
        elif parameter not in wanted:
            gap = True
    if known.vararg and known.vararg in wanted:
        found.append(f"*{ways.get(known.vararg.arg, known.vararg.arg)}")
    found += [f"{p.arg}={ways.get(p.arg, p.arg)}" for p in known.kwonlyargs if p in wanted]
    if known.kwarg and known.kwarg in wanted:
        found.append(f"**{ways.get(known.kwarg.arg, known.kwarg.arg)}")
    return found
