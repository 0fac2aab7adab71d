"""The kinds of Python's tokens, for colour.

A scanner of our own: the standard library's gives up on broken files, and reads f-strings differently from
one version of Python to the next. Any text has its tokens here, in one pass, each found by how it starts.
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import re
from typing import Final, NamedTuple

COMMENT: Final = "c"
STRING: Final = "s"
NUMBER: Final = "m"
KEYWORD: Final = "k"
CONSTANT: Final = "b"
DEFINED: Final = "f"
DECORATOR: Final = "d"

_CONSTANTS: Final = frozenset({"None", "True", "False", "NotImplemented", "Ellipsis", "self", "cls"})
_WORDS: Final = {**dict.fromkeys(keyword.kwlist, KEYWORD), **dict.fromkeys(_CONSTANTS, CONSTANT)}

_CODE: Final = r"""
    (?P<comment>\#[^\r\n]*)
  | (?P<string>(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])?(?P<quote>\"{3}|'{3}|\"|'))
  | (?P<number>0[xX][\da-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
      | (?:\d[\d_]*\.?[\d_]* | \.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?)
  | ^[ \t]*+(?P<decorator>@[^\W\d][\w.]*+)
  # Keywords at the start of a statement only, and names elsewhere.
  | ^[ \t]*+(?P<soft>match|case|type)(?=[ ][\w"'({\[*-])(?![ ](?:in|is|and|or|if|not|else|for)\b)
  | (?P<defined>(?:(?<=\bdef[ ])|(?<=\bclass[ ]))[^\W\d]\w*+)
  | (?P<name>[^\W\d]\w*+)
"""
_IN_CODE: Final = re.compile(_CODE, re.VERBOSE | re.MULTILINE)
_IN_FIELD: Final = re.compile(_CODE + r"| (?P<bracket>[()\[\]{}:])", re.VERBOSE | re.MULTILINE)


class Token(NamedTuple):
    """A coloured stretch of text: `start` and `end` are offsets, `kind` is one of this module's constants."""

    start: int
    end: int
    kind: str


@dataclasses.dataclass(slots=True)
class _Literal:
    """An unfinished string literal, or the format specification of a field in one."""

    quote: str
    formatted: bool
    specification: bool = False


@dataclasses.dataclass(slots=True)
class _Field:
    """An unfinished replacement field of a formatted string, inside so many brackets."""

    literal: _Literal
    start: int
    depth: int = 0


def tokens(text: str) -> list[Token]:
    """The coloured tokens of `text` in order of position; none overlap, and none is empty."""
    return _Scanner(text).scan()


@functools.cache
def _literal_text(quote: str, formatted: bool) -> re.Pattern[str]:
    """What a string literal holds up to its end, to a replacement field, or to the end of its line."""
    own = quote[0]
    plain = rf"[^{own}\\" + ("" if len(quote) == 3 else r"\r\n") + (r"{}" if formatted else "") + "]++"
    parts = [plain]
    if len(quote) == 3:
        parts.append(f"{own}(?!{own}{own})")
    if formatted:
        parts += [r"\\N\{[^{}\r\n]{0,100}\}", r"\\(?:\r\n|[^{}]|(?=[{}]))", r"\{\{", r"\}"]
    else:
        parts.append(r"\\(?:\r\n|[\s\S])")
    return re.compile(f"(?:{'|'.join(parts)})*+")


_SPECIFICATION_TEXT: Final = re.compile(r"[^\"'{}\r\n]*+")


class _Scanner:
    """Reads a text once, with a stack of the formatted strings and fields that it is inside of."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._tokens: list[Token] = []
        self._open: list[_Literal | _Field] = []

    def scan(self) -> list[Token]:
        while self._position < len(self._text):
            inside = self._open[-1] if self._open else None
            if isinstance(inside, _Literal):
                self._read_literal(inside, self._position)
            else:
                self._read_code(inside)
        return self._tokens

    def _add(self, start: int, end: int, kind: str) -> None:
        self._position = end
        if start < end:
            self._tokens.append(Token(start, end, kind))

    def _read_code(self, field: _Field | None) -> None:
        """Reads on to the end of the next token of code."""
        match = (_IN_FIELD if field else _IN_CODE).search(self._text, self._position)
        if match is None:
            self._position = len(self._text)
            return
        kind, end = match.lastgroup, match.end()
        self._position = end
        match kind:
            case "comment":
                self._add(match.start(), end, COMMENT)
            case "number":
                self._add(match.start(), end, NUMBER)
            case "decorator":
                self._add(match.start("decorator"), end, DECORATOR)
            case "soft":
                self._add(match.start("soft"), end, KEYWORD)
            case "defined":
                self._add(match.start(), end, DEFINED)
            case "name":
                word = _WORDS.get(match.group())
                if word is not None:
                    self._add(match.start(), end, word)
            case "bracket":
                assert field is not None
                self._pass_bracket(field, match.group())
            case _:  # a string's start: its last group is the quote
                self._start_literal(match)

    def _start_literal(self, match: re.Match[str]) -> None:
        prefix = match.group("string").removesuffix(match.group("quote")).lower()
        literal = _Literal(match.group("quote"), formatted="f" in prefix or "t" in prefix)
        self._open.append(literal)
        self._read_literal(literal, match.start())

    def _read_literal(self, literal: _Literal, start: int) -> None:
        """Reads a literal from the current position on; what is read is a token that starts at `start`."""
        text = self._text
        inner = _literal_text(literal.quote, literal.formatted)
        match = (_SPECIFICATION_TEXT if literal.specification else inner).match(text, self._position)
        assert match is not None  # both match the empty string
        end = match.end()
        following = text[end : end + 1]
        if literal.formatted and following == "{":
            self._add(start, end, STRING)
            self._position = end + 1
            self._open.append(_Field(literal, end + 1))
        elif literal.specification:
            self._add(start, end, STRING)
            del self._open[-2:]  # with its field, whether that ends here or the string does
            self._position = end + (following == "}")
        else:
            self._add(start, end + (len(literal.quote) if text.startswith(literal.quote, end) else 0), STRING)
            self._open.pop()

    def _pass_bracket(self, field: _Field, bracket: str) -> None:
        if bracket in "([{":
            field.depth += 1
        elif bracket == ":":
            if field.depth:
                return
            if len(field.literal.quote) == 1 and "\n" in self._text[field.start : self._position]:
                del self._open[-2:]  # more likely a string that somebody is in the middle of writing
            else:
                self._open.append(_Literal(field.literal.quote, formatted=True, specification=True))
        elif field.depth:
            field.depth -= 1
        elif bracket == "}":
            self._open.pop()
