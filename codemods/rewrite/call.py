"""`pure_callback(f, spec, *args, …)` becomes `buffer_callback(f, spec, …)(*args, …)`, layout and comments kept."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

import libcst as cst

from codemods.rewrite import parsing

_FIRST_KEYWORDS: Final = ("callback", "result_shape_dtypes")
_OPTIONS: Final = frozenset({"sharding", "vmap_method", "vectorized"})


def rewritten(
    text: str,
    function: str,
    adapt: Callable[[str], str] | None,
    default_vmap_method: str | None,
    *,
    is_partial: bool,
) -> str:
    """Rewrites the text of a call; a partial becomes the buffer callback itself."""
    call = cst.parse_expression(text)
    assert isinstance(call, cst.Call)
    args = list(call.args[1:] if is_partial else call.args)
    callback, spec, options, rest = _sorted(args)
    if adapt is not None:
        callback = callback.with_changes(
            value=cst.parse_expression(adapt(parsing.code(parsing.as_argument(callback.value))))
        )
    options = [option for arg in options if (option := _option(arg)) is not None]
    if default_vmap_method and not any(arg.keyword and arg.keyword.value == "vmap_method" for arg in options):
        options.append(_keyword("vmap_method", cst.SimpleString(f'"{default_vmap_method}"')))
    layout = _Layout(call)
    new = cst.parse_expression(function)
    first = layout.group(new, [_positional(callback), _positional(spec), *options], is_first=True)
    if is_partial:
        return parsing.code(first.with_changes(lpar=call.lpar, rpar=call.rpar))
    return parsing.code(
        layout.group(first, rest, is_first=False).with_changes(lpar=call.lpar, rpar=call.rpar)
    )


def _sorted(args: Sequence[cst.Arg]) -> tuple[cst.Arg, cst.Arg, list[cst.Arg], list[cst.Arg]]:
    """Callback, spec, options and the callback's own arguments, as `sites` told them apart."""
    slots: dict[str, cst.Arg] = {
        arg.keyword.value: arg for arg in args if arg.keyword and arg.keyword.value in _FIRST_KEYWORDS
    }
    options = [arg for arg in args if arg.keyword and arg.keyword.value in _OPTIONS]
    taken = [*slots.values(), *options]
    rest = [arg for arg in args if arg not in taken]
    for name in _FIRST_KEYWORDS:
        if name not in slots:
            slots[name] = next(arg for arg in rest if arg.keyword is None)
            rest.remove(slots[name])
    return slots["callback"], slots["result_shape_dtypes"], options, rest


def _positional(arg: cst.Arg) -> cst.Arg:
    if arg.keyword is None:
        return arg
    return arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)


def _keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=plain)


def _option(arg: cst.Arg) -> cst.Arg | None:
    """An option of `pure_callback` as one of `buffer_callback`; None where it says nothing."""
    assert arg.keyword is not None
    if arg.keyword.value != "vectorized":
        return arg
    text = vectorized(parsing.code(arg.value))
    if text is None:
        return None
    return arg.with_changes(keyword=cst.Name("vmap_method"), value=cst.parse_expression(text))


def vectorized(value: str) -> str | None:
    """The `vmap_method` that stands for a value of the old `vectorized=`; None for its default."""
    match ast.parse(value.strip(), mode="eval").body:
        case ast.Constant(value=True):
            return '"legacy_vectorized"'
        case ast.Constant(value=False):
            return '"sequential"'
        case ast.Constant(value=None):
            return None
    return f'"legacy_vectorized" if {value} else "sequential"'


class _Layout:
    """The line breaks and comments of a call, given to the two calls that replace it."""

    def __init__(self, call: cst.Call) -> None:
        self._call = call
        self._last = call.args[-1] if call.args else None
        self._opening = call.whitespace_before_args
        self._closing = self._white_space_after(self._last) if self._last else cst.SimpleWhitespace("")
        self._trailing_comma = self._last is not None and isinstance(self._last.comma, cst.Comma)
        self._between = next(
            (self._white_space_after(arg) for arg in call.args[:-1]), cst.SimpleWhitespace(" ")
        )

    def group(self, function: cst.BaseExpression, args: Sequence[cst.Arg], *, is_first: bool) -> cst.Call:
        opening = self._opening if is_first else _without_comments(self._opening)
        before = self._call.whitespace_after_func if is_first else cst.SimpleWhitespace("")
        if not args:
            return cst.Call(function, [], whitespace_before_args=cst.SimpleWhitespace(""))
        placed = [self._followed(arg) for arg in args[:-1]] + [self._ended(args[-1])]
        return cst.Call(function, placed, whitespace_after_func=before, whitespace_before_args=opening)

    def _followed(self, arg: cst.Arg) -> cst.Arg:
        """An argument with another one behind it."""
        space = self._white_space_after(arg)
        if arg is self._last or not isinstance(arg.comma, cst.Comma):
            space = _joined(space, self._between)
        before = arg.comma.whitespace_before if isinstance(arg.comma, cst.Comma) else cst.SimpleWhitespace("")
        comma = cst.Comma(whitespace_before=before, whitespace_after=space)
        return arg.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))

    def _ended(self, arg: cst.Arg) -> cst.Arg:
        """The last argument of a call."""
        space = self._closing
        if arg is not self._last:
            own = self._white_space_after(arg)
            space = (
                _joined(own, self._closing) if parsing.comments_in(own) else _without_comments(self._closing)
            )
        if self._trailing_comma and isinstance(space, cst.ParenthesizedWhitespace):
            return arg.with_changes(
                comma=cst.Comma(whitespace_after=space), whitespace_after_arg=cst.SimpleWhitespace("")
            )
        return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=space)

    def _white_space_after(self, arg: cst.Arg) -> cst.BaseParenthesizableWhitespace:
        if isinstance(arg.comma, cst.Comma):
            return arg.comma.whitespace_after
        return arg.whitespace_after_arg


def _without_comments(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The line break of a piece of white space, without its comments and blank lines."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace("")
    first = cst.TrailingWhitespace(newline=space.first_line.newline)
    return space.with_changes(first_line=first, empty_lines=[])


def _joined(
    own: cst.BaseParenthesizableWhitespace, end: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """An argument's own comments, with the indentation that the next token has there."""
    if not isinstance(own, cst.ParenthesizedWhitespace):
        return end
    if isinstance(end, cst.ParenthesizedWhitespace):
        return own.with_changes(indent=end.indent, last_line=end.last_line)
    return own if parsing.comments_in(own) else end
