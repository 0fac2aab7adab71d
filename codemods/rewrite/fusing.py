"""A ufunc's call gets the output that it computes into, for `--fuse`."""

from __future__ import annotations

import libcst as cst

_NEWLINE = cst.TrailingWhitespace()


def with_output(call: cst.Call, out: str) -> cst.Call:
    """The call of a ufunc that writes into `out` and casts nothing.

    Its new arguments get lines of their own if each of the others may have had one.
    """
    *others, last = call.args
    before: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace("")
    opening = call.whitespace_before_args
    closing, has_comma = last.whitespace_after_arg, isinstance(last.comma, cst.Comma)
    if isinstance(last.comma, cst.Comma):
        before, closing = last.comma.whitespace_before, last.comma.whitespace_after
    beside: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    line = beside
    if (
        has_comma
        and isinstance(opening, cst.ParenthesizedWhitespace)
        and isinstance(closing, cst.ParenthesizedWhitespace)
    ):
        line = opening.with_changes(first_line=_NEWLINE, empty_lines=[])
        beside = line.with_changes(first_line=closing.first_line)  # with the comment on the last operand
        closing = closing.with_changes(first_line=_NEWLINE)
    arguments = [
        *others,
        last.with_changes(
            comma=cst.Comma(whitespace_before=before, whitespace_after=beside),
            whitespace_after_arg=cst.SimpleWhitespace(""),
        ),
        _keyword("out", out).with_changes(comma=cst.Comma(whitespace_after=line)),
        _keyword("casting", '"no"').with_changes(comma=last.comma),
    ]
    return _closed(call.with_changes(args=arguments), closing)


def broken(call: cst.Call, indent: str, unit: str) -> cst.Call:
    """A call on one line, with its arguments on a line of their own."""
    inner, outer = (
        cst.ParenthesizedWhitespace(_NEWLINE, indent=False, last_line=cst.SimpleWhitespace(each))
        for each in (indent + unit, indent)
    )
    return _closed(call.with_changes(whitespace_before_args=inner), outer)


def _closed(call: cst.Call, space: cst.BaseParenthesizableWhitespace) -> cst.Call:
    """The call with this white space in front of its closing parenthesis."""
    *others, last = call.args
    if isinstance(last.comma, cst.Comma):
        last = last.with_changes(comma=cst.Comma(whitespace_after=space))
    else:
        last = last.with_changes(whitespace_after_arg=space)
    return call.with_changes(args=[*others, last])


def _keyword(name: str, value: str) -> cst.Arg:
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(cst.parse_expression(value), cst.Name(name), equal)
