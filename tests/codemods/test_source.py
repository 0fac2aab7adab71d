"""Bytes to text and back, and `ast` positions to offsets."""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codemods.source import SourceError, SourceFile, parse

PATH = Path("m.py")


def source(data: bytes | str) -> SourceFile:
    return SourceFile.from_bytes(PATH, data.encode() if isinstance(data, str) else data)


def failure(data: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        _ = source(data).tree
    return caught.value


# ------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        pytest.param(b"a = 1\n", "utf-8", "a = 1\n", id="plain"),
        pytest.param(b"", "utf-8", "", id="empty"),
        pytest.param("a = 'é'\n".encode(), "utf-8", "a = 'é'\n", id="UTF-8"),
        pytest.param(codecs.BOM_UTF8 + "a = 'é'\n".encode(), "utf-8", "a = 'é'\n", id="UTF-8 with a mark"),
        pytest.param(codecs.BOM_UTF8, "utf-8", "", id="a mark and nothing else"),
        pytest.param(
            b"# coding: latin-1\na = '\xe9'\n", "iso-8859-1", "# coding: latin-1\na = 'é'\n", id="Latin-1"
        ),
        pytest.param(
            b"# -*- coding: cp1252 -*-\na = '\x80'",
            "cp1252",
            "# -*- coding: cp1252 -*-\na = '€'",
            id="a code page",
        ),
        pytest.param(
            b"#!/usr/bin/python\n# vim: set fileencoding=koi8-r :\na = '\xc1'",
            "koi8-r",
            None,
            id="on the second line",
        ),
        pytest.param(
            "# coding: shift_jis\na = 'あ'".encode("shift_jis"),
            "shift_jis",
            "# coding: shift_jis\na = 'あ'",
            id="a multibyte one",
        ),
        pytest.param(
            codecs.BOM_UTF8 + b"# coding: utf-8\n",
            "utf-8",
            "# coding: utf-8\n",
            id="a mark and a declaration",
        ),
        pytest.param(b"a = 1\n\n# coding: latin-1\n", "utf-8", None, id="a declaration too far down"),
        pytest.param(
            b"#!/usr/bin/python\r# coding: latin-1\ra = '\xe9'\r",
            "iso-8859-1",
            "#!/usr/bin/python\r# coding: latin-1\ra = '\u00e9'\r",
            id="lines that end as those of old Macs do",
        ),
        pytest.param(
            "# one\ra = 'é'\r# coding: latin-1\r".encode(),
            "utf-8",
            "# one\ra = 'é'\r# coding: latin-1\r",
            id="a declaration too far down such lines",
        ),
    ],
)
def test_the_encoding_is_the_one_that_python_would_use(data: bytes, encoding: str, text: str | None):
    found = source(data)
    assert found.encoding == encoding
    assert found.has_bom is data.startswith(codecs.BOM_UTF8)
    assert text is None or found.text == text
    assert found.encode(found.text) == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"# coding: nonsense\n", "cannot tell the file's encoding", id="an unknown encoding"),
        pytest.param(
            codecs.BOM_UTF8 + b"# coding: latin-1\n",
            "cannot tell the file's encoding",
            id="a mark that contradicts",
        ),
        pytest.param(b"a = 1\nb = '\xff'\n", "is not valid utf-8", id="bytes that are no UTF-8"),
        pytest.param(b"# coding: ascii\na = '\xe9'\n", "ascii", id="bytes that are no ASCII"),
        pytest.param("a = 1".encode("utf-16"), "", id="UTF-16"),
    ],
)
def test_a_file_that_python_cannot_decode_is_an_error(data: bytes, reason: str):
    assert reason in str(failure(data))


def test_an_encoding_without_end_is_a_short_error():
    assert len(str(failure(b"# coding: " + b"x" * 5000 + b"\n"))) < 300


def test_the_error_names_the_line_of_the_bad_byte():
    assert failure(b"a = 1\r\nb = 2\rc = 3\nd = '\xff'\n").line in (1, 4)
    assert failure(b"a\nb\n\xff").line in (1, 3)
    error = failure(b"# coding: ascii\na = 1\nb = '\xe9'\n")
    assert error.line == 3 and str(error).startswith("m.py:3: ")


def test_an_encoding_that_loses_bytes_is_an_error():
    # UTF-7 writes `~` both as itself and as an escape, so that a round trip would change the file.
    assert "round trip" in str(failure(b"# coding: utf-7\na = '+AH4-'\n"))


def test_new_text_is_encoded_as_the_file_was():
    assert source(codecs.BOM_UTF8 + b"a = 1").encode("b = 'é'") == codecs.BOM_UTF8 + "b = 'é'".encode()
    assert source(b"# coding: latin-1\n").encode("b = 'é'") == b"b = '\xe9'"


def test_text_that_the_encoding_cannot_take_is_an_error():
    with pytest.raises(SourceError, match=r"m\.py: cannot be written in iso-8859-1"):
        source(b"# coding: latin-1\n").encode("a = 'あ'")


# ------------------------------------------------------------------------------- parsing


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a = (\n", 1, id="an open parenthesis"),
        pytest.param("a = 1\nb = = 2\n", 2, id="a bad expression"),
        pytest.param("def f():\nreturn 1\n", 2, id="a missing indentation"),
        pytest.param("if a:\n\tb\n        c\n", 3, id="mixed tabs"),
        pytest.param("print 'a'\n", 1, id="Python 2"),
    ],
)
def test_a_syntax_error_has_its_line(text: str, line: int):
    error = failure(text.encode())
    assert error.line == line
    assert str(error).startswith(f"m.py:{line}: cannot be parsed: ")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a = '\0'\n", id="a null byte"),
        pytest.param("(" * 300 + ")" * 300, id="too many parentheses"),
        pytest.param("-" * 100_000 + "1", id="an expression too deep"),
        pytest.param("a = " + "9" * 10_000, id="a number too long"),
    ],
)
def test_other_failures_of_pythons_parser_are_errors_as_well(text: str):
    with pytest.raises(SourceError, match="cannot be parsed"):
        parse(PATH, text)


def test_a_warning_about_the_users_syntax_is_not_shown():
    assert parse(PATH, "a = '\\d'\nb = 1 is 1\n").body


# ------------------------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("text", "newline", "lines"),
    [
        pytest.param("a\nb\n", "\n", ["a\n", "b\n", ""], id="line feeds"),
        pytest.param("a\r\nb", "\r\n", ["a\r\n", "b"], id="carriage return and line feed"),
        pytest.param("a\rb\r", "\r", ["a\r", "b\r", ""], id="carriage returns"),
        pytest.param("a\r\nb\nc\rd", "\r\n", ["a\r\n", "b\n", "c\r", "d"], id="a mixture"),
        pytest.param("a", "\n", ["a"], id="one line"),
        pytest.param("", "\n", [""], id="nothing"),
        pytest.param(
            "a = '\x0c\x1c\u2028\x85\x0b'\nb",
            "\n",
            ["a = '\x0c\x1c\u2028\x85\x0b'\n", "b"],
            id="what else looks like a line's end",
        ),
    ],
)
def test_lines_end_where_python_ends_them(text: str, newline: str, lines: list[str]):
    found = source(text)
    assert found.newline == newline
    assert [found.line_text(n + 1) for n in range(len(found.line_starts))] == lines
    assert [found.line_start(n + 1) for n in range(len(lines))] == list(found.line_starts)
    assert found.line_end(len(lines)) == len(text)


@pytest.mark.parametrize(
    ("text", "indentation"),
    [
        ("    a", "    "),
        ("\ta", "\t"),
        ("a", ""),
        (" \t a", " \t "),
        ("\x0c  a", "\x0c  "),
        ("  \u3000", "  "),
    ],
)
def test_indentation_is_spaces_tabs_and_form_feeds(text: str, indentation: str):
    assert source(text).indentation(1) == indentation


# ------------------------------------------------------------------------------- offsets


def nodes(tree: ast.AST) -> list[ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias]:
    kinds = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
    return [node for node in ast.walk(tree) if isinstance(node, kinds) and node.end_lineno is not None]


def check_segments(text: str, data: bytes | None = None) -> int:
    """Every node's segment is what `ast` says, or what its positions in UTF-8 bytes say."""
    found = source(data if data is not None else text)
    assert found.text == text
    utf8_lines = [found.line_text(n + 1).encode() for n in range(len(found.line_starts))]
    for node in nodes(found.tree):
        start, end = found.start(node), found.end(node)
        assert node.end_lineno is not None and node.end_col_offset is not None
        before = b"".join(utf8_lines[: node.lineno - 1]) + utf8_lines[node.lineno - 1][: node.col_offset]
        upto = (
            b"".join(utf8_lines[: node.end_lineno - 1])
            + utf8_lines[node.end_lineno - 1][: node.end_col_offset]
        )
        assert (start, end) == (len(before.decode()), len(upto.decode()))
        assert found.segment(node) == text[start:end]
        if "\r" not in text:
            assert found.segment(node) == ast.get_source_segment(text, node)
    return len(nodes(found.tree))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("f('é', b)", id="a wide character before"),
        pytest.param("é = f(é, 'ß', é.ö)", id="wide names"),
        pytest.param("x = '日本', b, '🎉', c", id="characters of three and four bytes"),
        pytest.param("if a:\n\tb = 'é'; c = d", id="behind a tab"),
        pytest.param("f(\n  'é',\n  b,\n)", id="over several lines"),
        pytest.param("a = '''é\nö''', b", id="behind a string of several lines"),
        pytest.param("a = f'é{b}ö{c!r:>{d}}', e", id="around an f-string"),
        pytest.param("def f(é: ö = 'ü', *ä, **ß): pass", id="parameters"),
        pytest.param("from é import ö as ü, a", id="imports"),
        pytest.param("a = 'x\x0cy', b", id="a form feed in a string"),
        pytest.param("a = 'x\u2028y', b", id="a line separator in a string"),
        pytest.param("\x0ca = b", id="a form feed in front"),
        pytest.param("@é\ndef f(): pass", id="a decorator"),
    ],
)
def test_segments_are_the_nodes_text(text: str):
    assert check_segments(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_segments_do_not_depend_on_line_endings(newline: str):
    text = "x = 'é'\ny = f(\n    'ü', a,\n    b)  # é\nz = '''é\n''', c\n".replace("\n", newline)
    assert check_segments(text) > 10


def test_segments_do_not_depend_on_the_encoding():
    text = "# coding: latin-1\nx = f('é', b)"
    assert check_segments(text, text.encode("latin-1")) > 3
    text = "# coding: shift_jis\nx = f('あ', b)"
    assert check_segments(text, text.encode("shift_jis")) > 3
    text = "x = f('é', b)"
    assert check_segments(text, codecs.BOM_UTF8 + text.encode()) > 3


NAMES = st.sampled_from(["a", "é", "ß", "名", "𠀀y", "_b"])
STRINGS = st.text(alphabet="aé日🎉 \t\x0c\u2028\x85'\\", max_size=6).map(repr)
EXPRESSIONS = st.recursive(
    NAMES | STRINGS | st.sampled_from(["1", "2.5", "None", "'''é\nö'''", "f'{a}é{b!r}'"]),
    lambda inner: st.one_of(
        st.builds("f({}, {})".format, inner, inner),
        st.builds("f(\n  {},  # é\n  k={})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("{}.ö".format, NAMES),
        st.builds("{}[{}]".format, NAMES, inner),
        st.builds("(lambda é, *b: {})".format, inner),
    ),
    max_leaves=8,
)
STATEMENTS = st.one_of(
    EXPRESSIONS,
    st.builds("{} = {}".format, NAMES, EXPRESSIONS),
    st.builds("if {}:\n\té = {}; x".format, EXPRESSIONS, EXPRESSIONS.filter(lambda text: "\n" not in text)),
    st.builds("def f(a, é={}): return {}".format, EXPRESSIONS, EXPRESSIONS),
)


@given(st.lists(STATEMENTS, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_segments_are_those_of_ast_for_any_text(statements: list[str], newline: str, has_bom: bool):
    text = "\n".join(statements)
    try:
        ast.parse(text)
    except SyntaxError:
        assume(False)
    text = text.replace("\n", newline)
    data = (codecs.BOM_UTF8 if has_bom else b"") + text.encode()
    assert check_segments(text, data)


@given(st.text(alphabet="aé\n\r\x0c\u2028日 \t#", max_size=40))
def test_lines_are_those_of_pythons_tokenizer(text: str):
    found = source(text)
    assert "".join(found.line_text(n + 1) for n in range(len(found.line_starts))) == text
    # Universal newlines end a line at `\n`, `\r\n` and `\r`, and nowhere else.
    assert len(io.StringIO(text, newline=None).read().split("\n")) == len(found.line_starts)


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_exactly_or_refused(data: bytes):
    try:
        found = source(data)
    except SourceError:
        return
    assert found.encode(found.text) == data
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    assert found.encoding == encoding.removesuffix("-sig")
