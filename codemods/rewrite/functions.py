"""A callback's definition, lambda or sibling, as the text of a buffer callback."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from codemods.names import Module
from codemods.plans import FunctionPlan, SiblingPlan
from codemods.rewrite import arguments, parsing
from codemods.rewrite.alignment import realigned
from codemods.rewrite.dialect import Dialect, Names
from codemods.rewrite.returns import ReturnRewriter, Spot, Write, Writer
from codemods.specs import Spec

_CONTINUED: Final = re.compile(r"(?:\\\n|\s)+\Z")  # white space at the end, lines that go on included
_LINE_LENGTH: Final = 100
_LONGEST_WRITE: Final = "bufcb.store(out, )"


def definition(
    text: str,
    plan: FunctionPlan,
    module: Module,
    dialect: Dialect,
    names: Names,
    header: Names,
    imports: Sequence[str],
    step: str = "    ",
) -> str:
    """Rewrites the lines of a `def`.

    `header` are the names for annotations, and `step` is one of indentation where the text shows none.
    """
    indent = _indent(text)
    growth = len(f"{plan.context}, {plan.out}, /, None")
    may_be_long = header.runtime or header.numpy or max(map(len, text.split("\n"))) + growth > _LINE_LENGTH

    def change(node: cst.CSTNode, unit: str) -> cst.BaseStatement:
        assert isinstance(node, cst.FunctionDef)
        writer = Writer(dialect, names, plan.out)
        rewriter = ReturnRewriter(plan, writer, _depths(plan, module), indent, unit)
        body = _visited(node.body, rewriter)
        parameters = node.params
        if not plan.takes_buffers:
            parameters = arguments.with_buffers(
                node.params,
                plan.position,
                plan.context,
                plan.out,
                positional_only=plan.positional_only,
                opening=node.whitespace_before_params,
                types=_types_of_buffers(plan.spec, header.runtime) if header.runtime else None,
            )
        was_short = may_be_long and len(indent + _header(node)) <= _LINE_LENGTH
        node = node.with_changes(body=body, params=parameters)
        jax_annotated = [parameter.arg for parameter in plan.jax_annotated if header.numpy]
        node = arguments.with_annotations(node, jax_annotated, f"{header.numpy}.ndarray")
        if was_short:
            node = _with_short_header(node, indent, unit if isinstance(body, cst.IndentedBlock) else step)
        lines = [*imports, *dialect.conversion_lines(names, plan.conversions, len(indent + unit))]
        node = arguments.with_first_lines(node, lines)
        return _broken(arguments.with_last_lines(node, _last_lines(plan, dialect, names)), len(indent), step)

    return parsing.transform_block(text, change)


def _types_of_buffers(spec: Spec, runtime: str) -> tuple[str, str]:
    """The types of the context and of the outputs, which are written leaf by leaf where they are known."""
    buffer = f"{runtime}.Buffer"
    containers = {"tuple": f"tuple[{buffer}, ...]", "list": f"list[{buffer}]", "dict": f"dict[str, {buffer}]"}
    out = buffer if spec.kind == "leaf" else containers[spec.kind] if spec.is_flat else "object"
    return f"{runtime}.ExecutionContext", out


def _header(node: cst.FunctionDef) -> str:
    """A header's text, up to its colon."""
    bare = node.with_changes(body=cst.SimpleStatementSuite([cst.Pass()]), leading_lines=[], decorators=[])
    return parsing.code(bare).strip().removesuffix("pass").rstrip()


def _with_short_header(node: cst.FunctionDef, indent: str, step: str) -> cst.FunctionDef:
    """Puts the parameters on lines of their own where the header has become too long for one."""
    text = _header(node)
    if "\n" in text or len(indent + text) <= _LINE_LENGTH:
        return node
    parameters = parsing.code(node.params)
    if len(indent + step + parameters) > _LINE_LENGTH:
        parameters = arguments.one_a_line(node.params, indent + step)
    (header,) = parsing.statements(f"def _(\n{indent}{step}{parameters}\n{indent}): pass\n")
    header = header.visit(parsing.Absolute(""))  # type: ignore[assignment]
    assert isinstance(header, cst.FunctionDef)
    return node.with_changes(params=header.params, whitespace_before_params=header.whitespace_before_params)


def _indent(text: str) -> str:
    """The indentation of a text's first line; a form feed starts its columns anew."""
    return text[: len(text) - len(text.lstrip(" \t\f"))].rpartition("\f")[2]


def _broken(node: cst.FunctionDef, indent: int, step: str) -> cst.FunctionDef:
    """A definition on one line gets a block when the line has become too long."""
    body = node.body
    if not isinstance(body, cst.SimpleStatementSuite):
        return node
    bare = body.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    text = parsing.code(node.with_changes(body=bare, leading_lines=[], decorators=[])).strip()
    if indent + len(text) <= _LINE_LENGTH or "\n" in text:
        return node
    plain = [statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for statement in body.body]
    lines = [cst.SimpleStatementLine([statement]) for statement in plain]
    return node.with_changes(body=cst.IndentedBlock(lines, header=body.trailing_whitespace, indent=step))


def _visited(body: cst.BaseSuite, transformer: cst.CSTTransformer) -> cst.BaseSuite:
    visited = body.visit(transformer)
    assert isinstance(visited, cst.BaseSuite)
    return visited


def _last_lines(plan: FunctionPlan, dialect: Dialect, names: Names) -> list[str]:
    return [dialect.store(names, plan.out, "None"), "return"] if plan.falls_through else []


_BLOCKS: Final = (ast.With, ast.Try, ast.TryStar)


def _depths(plan: FunctionPlan, module: Module) -> dict[ast.Return, int]:
    """For each `return` kept for later, how many blocks it leaves before its write."""
    depths = {}
    for planned in plan.returns:
        if planned.after is not None:
            blocks = [a for a in module.ancestors(planned.node) if isinstance(a, _BLOCKS)]
            depths[planned.node] = blocks.index(planned.after) + 1
    return depths


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """Where a lambda stood: its column, and the indentation of its line."""

    column: int
    indent: str


def hoisted(
    text: str,
    plan: FunctionPlan,
    dialect: Dialect,
    names: Names,
    imports: Sequence[str],
    indent: str,
    unit: str,
    origin: Origin,
) -> str:
    """The `def` that stands for a lambda, as whole lines."""
    expression = parsing.expression(text)
    assert isinstance(expression, cst.Lambda)
    parameters = expression.params
    if not plan.takes_buffers:
        parameters = arguments.with_buffers(
            expression.params, plan.position, plan.context, plan.out, positional_only=plan.positional_only
        )
    body = indent + unit
    head = f"{indent}def {plan.name}("
    start = Spot(origin.column, origin.indent, body, unit)
    between = expression.whitespace_after_lambda
    between = between if isinstance(between, cst.BaseParenthesizableWhitespace) else cst.SimpleWhitespace(" ")
    named = start.behind(f"lambda{parsing.code(between)}")
    behind = named.behind(parsing.code(expression.params) + parsing.code(expression.colon))
    shown = realigned(
        _CONTINUED.sub("", parsing.code(parameters)).strip(),
        named.column,
        len(head),
        (named.old_indent, indent),
    )
    written = Writer(dialect, names, plan.out).write(
        plan.result, expression.body, behind, plan.fused.get(plan.function, frozenset())
    )
    around = [*parsing.comments_in(between), *parsing.comments_in(expression.colon)]
    lines = [f"{head}{shown}):"]
    lines += [body + line for line in imports]
    lines += [body + line for line in dialect.conversion_lines(names, plan.conversions, len(body))]
    lines += [body + comment for comment in around]
    lines += _code_lines(written, body)
    lines.append(f"{body}return")
    return "\n".join(lines) + "\n"


def _code_lines(written: Sequence[Write], indent: str) -> list[str]:
    """Writes as lines, each under its comments."""
    lines = []
    for write in written:
        lines += [indent + comment for comment in write.above]
        if write.text:
            lines.append(f"{indent}{write.text}{'  ' if write.pragma else ''}{write.pragma}")
    return lines


def sibling(
    plan: SiblingPlan,
    dialect: Dialect,
    names: Names,
    imports: Sequence[str],
    indent: str,
    unit: str,
) -> str:
    """A function beside the original that calls it and writes its result, as whole lines."""
    ways = {conversion.name: dialect.converted(names, conversion) for conversion in plan.conversions}
    writer = Writer(dialect, names, plan.out)
    body = indent + unit
    value = _call(plan.callee, _handed_on(plan, ways), body, unit)
    spot = Spot(len(body), body, body, unit)
    lines = [f"{indent}@{plan.decorator}"] if plan.decorator else []
    lines.append(f"{indent}def {plan.name}({', '.join(_signature(plan))}):")
    lines += [body + line for line in imports]
    lines += _code_lines(writer.write(plan.result, value, spot), body)
    lines.append(f"{body}return")
    return "\n".join(lines) + "\n"


def _call(callee: str, given: Sequence[str], indent: str, unit: str) -> cst.BaseExpression:
    """The call to the original, on lines of its own where it is long."""
    text = f"{callee}({', '.join(given)})"
    if len(indent) + len(_LONGEST_WRITE) + len(text) > _LINE_LENGTH and given:
        inner = "".join(f"{indent}{unit}{argument},\n" for argument in given)
        text = f"{callee}(\n{inner}{indent})"
    return cst.parse_expression(text)


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
    positional = positional[plan.implicit :]
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
