"""A strategy for files made to break a reader of Python: spoilt at random, large, or deep beyond measure."""

import dataclasses
import unicodedata
from typing import Any

from expressions import Draw
from hypothesis import strategies as st

GOOD = """\
import functools

import jax
import numpy as np


class Häuser:
    def _host(self, x, *, scale=2.0):
        \"\"\"Computes `x[...]` — é.\"\"\"
        if scale > 1:  # note
            return f"{x!r:>{scale}}", np.sin(x)
        return (np.cos(x), x)

    def run(self, x):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        call = functools.partial(jax.pure_callback, self._host, (spec, spec))
        return call(x, scale=3.0), jax.pure_callback(lambda v: np.sort(v), spec, x)
"""
# What is nested: the beginning, the middle and the end.
NESTS = (
    ("(", "x", ")"),
    ("[", "", "]"),
    ("{1: ", "x", "}"),
    ("f(", "x", ")"),
    ("not ", "x", ""),
    ("-", "x", ""),
    ("lambda: ", "x", ""),
    ("x if x else ", "x", ""),
    ("x[", "0", "]"),
    ("x.a", "", ""),
    ("x ** ", "x", ""),
    ("await ", "x", ""),
    ("*", "x", ""),
    ('f"{', "x", '}"'),
    ("(yield ", "x", ")"),
    ("(x := ", "x", ")"),
    ("jax.pure_callback(f, s, ", "x", ")"),
    ("jax.pure_callback(", "f", ", s, x)"),
    ("functools.partial(", "f", ", 1)"),
)
BLOCKS = ("if x:", "def f():", "class C:", "for i in x:", "with x:", "try:", "while x:", "match x:")
CODECS = (
    *"utf-8 latin-1 ascii utf-16 utf-32 utf-7 utf-8-sig shift_jis gb18030 hz iso-2022-jp cp037 big5".split(),
    *"mbcs unicode_escape raw_unicode_escape idna punycode rot13 hex undefined utf8mb4 palmos é".split(),
    "",
    "x" * 5000,
)
# Spellings whose normal forms are, or are not, names that Python knows.
LOOK_ALIKES = {
    "pure_callback": (
        "\uff50ure_callback",
        "pure_\uff43allback",
        "\U0001d429ure_callback",
        "pure\u203fcallback",
    ),
    "jax": ("\uff4aax", "\U0001d4bfax", "j\u0430x", "ja\u036fx", "_", "\u00aa", "\ufdfa"),
    "_host": (
        "_ho\u017ft",
        "\uff3fhost",
        "\u210cost",
        "2host",
        "\u19dahost",
        "\u2118",
        "\u00b7host",
        "_host\u200d",
    ),
    "scale": ("\u017fcale", "if", "\uff49f", "None", "\U0001d413rue", "__debug__", "match", "\U000e0100"),
}
ODD = "\0\r\n\t\f\v\\'\"(){}[]:;#@=,.*_ é\x1a\x1b\ufeff\u2028\u202e\x85\ud800\U0010ffff"
CHARACTERS = st.sampled_from(ODD) | st.characters()
PIECES = ("x", "x, ", '"', "'é' ", "#", "x + ", "\\\n", "_f = ", "0", "x;", "jax.", "é", "@", "\f")
ENCODINGS = ("utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "utf-32", "utf-8-sig", "shift_jis")


@dataclasses.dataclass(frozen=True)
class Hostile:
    """A file, and what was done to it."""

    data: bytes
    kinds: tuple[str, ...]

    def __repr__(self) -> str:
        shown = self.data if len(self.data) < 3000 else self.data[:1000] + b" ... " + self.data[-1000:]
        return f"{self.kinds}, {len(self.data)} bytes: {shown!r}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Has Hypothesis show the text above, where it would show every byte."""
        printer.text(repr(self))


def _truncated(draw: Draw, text: str) -> str:
    return text[: draw(st.integers(0, len(text)))]


def _spoilt(draw: Draw, text: str) -> str:
    """Some text stands where it does not belong, or for other text."""
    place = draw(st.integers(0, len(text)))
    new = draw(st.text(CHARACTERS, max_size=8))
    return text[:place] + new + text[place + draw(st.integers(0, 12)) :]


def _doubled(draw: Draw, text: str) -> str:
    """A piece of the text stands there many times."""
    start = draw(st.integers(0, len(text)))
    piece = text[start : start + draw(st.integers(0, 200))]
    return text[:start] + piece * draw(st.sampled_from((2, 30, 1000))) + text[start:]


def _nested(draw: Draw, text: str) -> str:
    left, middle, right = draw(st.sampled_from(NESTS))
    count = draw(st.sampled_from((50, 150, 250, 1000, 10_000)))
    deep = left * count + middle + right * draw(st.sampled_from((count, count, count - 1, 0)))
    return _with(draw, text, deep)


def _blocks(draw: Draw, text: str) -> str:
    head, count = draw(st.sampled_from(BLOCKS)), draw(st.sampled_from((15, 25, 90, 110, 1000)))
    indent = draw(st.sampled_from((" ", "\t")))
    return text + "".join(f"{indent * depth}{head}\n" for depth in range(count)) + indent * count + "pass\n"


def _long(draw: Draw, text: str) -> str:
    """A line of up to five million characters."""
    piece = draw(st.sampled_from(PIECES))
    return _with(draw, text, piece * (draw(st.sampled_from((1000, 100_000, 5_000_000))) // len(piece)))


def _with(draw: Draw, text: str, new: str) -> str:
    """The text with something else where an argument, a statement, or the end is."""
    place = draw(st.sampled_from(("np.sin(x)", "x, scale=3.0", "import functools", "é", "self._host,", "")))
    if not place:
        return text + new + "\n"
    return text.replace(place, new, 1)


def _look_alike(draw: Draw, text: str) -> str:
    word = draw(st.sampled_from(tuple(LOOK_ALIKES)))
    new = draw(st.sampled_from(LOOK_ALIKES[word]) | st.characters(categories=("L", "M", "N", "Pc", "Cf")))
    if draw(st.booleans()):
        new = unicodedata.normalize(draw(st.sampled_from(("NFC", "NFD", "NFKC", "NFKD"))), new)
    return text.replace(word, new, draw(st.sampled_from((1, 2, -1))))


CHANGES = {
    "truncated": _truncated,
    "spoilt": _spoilt,
    "doubled": _doubled,
    "nested": _nested,
    "blocks": _blocks,
    "long": _long,
    "look-alike": _look_alike,
}


@st.composite
def hostile_files(draw: Draw) -> Hostile:
    """A good file after some changes of its text, in an odd encoding perhaps, and of its bytes."""
    kinds = draw(st.lists(st.sampled_from(tuple(CHANGES)), min_size=1, max_size=3))
    text = GOOD
    for kind in kinds:
        text = CHANGES[kind](draw, text)[:6_000_000]
    text = text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n", "\r"))))
    return Hostile(_bytes(draw, text), tuple(kinds))


def _bytes(draw: Draw, text: str) -> bytes:
    declared = draw(st.sampled_from((None, None, None, *CODECS)))
    if declared is not None:
        text = f"# coding: {declared}\n{text}"
    encoding = draw(st.sampled_from(ENCODINGS))
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(st.binary(max_size=4)) + data[place + draw(st.integers(0, 4)) :]
    return data
