"""The HTML page: its text, its structure, and the option that writes it."""

import base64
import errno
import hashlib
import html
import io
import itertools
import json
import keyword
import os
import re
import shutil
import stat
import subprocess
import sys
import tokenize
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from codemods import cli
from codemods.diagnostics import CODES
from codemods.model import Diagnostic, FileResult, Gradient, Hop, Note, SiteResult, Status
from codemods.report.html import START, colour, lines, markup, to_html
from codemods.report.html.page import _asset
from codemods.report.run import Run

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "testdata" / "demo"
SOURCES = sorted((ROOT / "codemods").rglob("*.py"))

VOID = {"meta", "input", "wbr", "rect"}
UNKNOWN = Diagnostic("BC201", "Where `pure_callback` comes from is unknown.", "Import it from `jax`.")
CALL, CALLED = "y = jax.pure_callback(f, s, x)", "y = bufcb.buffer_callback(f, s)(x)"


def result(before: str, after: str | None = None, path: str = "pkg/a.py", **fields) -> FileResult:
    return FileResult(Path(path), before.encode(), (before if after is None else after).encode(), **fields)


def site(line: int, status: Status = Status.REWRITTEN, diagnostic: Diagnostic | None = None, **fields):
    return SiteResult(
        line, 5, fields.pop("end_line", line), fields.pop("callback", "f"), status, diagnostic, **fields
    )


def page(*files: FileResult, **fields) -> str:
    return to_html(Run(files, scanned=len(files), **fields)).decode()


class Document(HTMLParser):
    """A page as a list of elements; whatever is not well-formed is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data):
        for index in self._open:
            self.texts[index] = self.texts.get(index, "") + data

    def find(self, **wanted: str) -> list[int]:
        """The elements with these attributes; `class` by one of its names."""
        return [
            index
            for index, (_, found) in enumerate(self.elements)
            if all(value in (found.get(name.rstrip("_")) or "").split() for name, value in wanted.items())
        ]

    def text(self, index: int) -> str:
        return self.texts.get(index, "")

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def pieces(source: str) -> list[tuple[str, str]]:
    return [(token.kind, source[token.start : token.end]) for token in colour.tokens(source)]


# ------------------------------------------------------------------------------- colour


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("x = 1 + 0x_ff", [("m", "1"), ("m", "0x_ff")], id="numbers"),
        pytest.param("1.5e-3j .5 1_000.", [("m", "1.5e-3j"), ("m", ".5"), ("m", "1_000.")], id="floats"),
        pytest.param("x1 = a.b2", [], id="digits in names"),
        pytest.param("def f(x): return x", [("k", "def"), ("f", "f"), ("k", "return")], id="a function"),
        pytest.param("class größe: pass", [("k", "class"), ("f", "größe"), ("k", "pass")], id="a class"),
        pytest.param("x is None  # why", [("k", "is"), ("b", "None"), ("c", "# why")], id="a comment"),
        pytest.param("'#' \"a'b\"", [("s", "'#'"), ("s", '"a\'b"')], id="strings"),
        pytest.param(r"'a\'b' r'\' x", [("s", r"'a\'b'"), ("s", r"r'\' x")], id="escaped quotes"),
        pytest.param("rb'x' Rb\"y\" ur''", [("s", "rb'x'"), ("s", 'Rb"y"'), ("s", "''")], id="prefixes"),
        pytest.param('"""a\n"b"\n"""', [("s", '"""a\n"b"\n"""')], id="three quotes"),
        pytest.param("'open\nx = 1", [("s", "'open"), ("m", "1")], id="a string that does not end"),
        pytest.param("'go\\\non' 1", [("s", "'go\\\non'"), ("m", "1")], id="a continued string"),
        pytest.param('"""open\nx = 1', [("s", '"""open\nx = 1')], id="three quotes that do not end"),
        pytest.param("@jit.g\ndef f(): a @ b", [("d", "@jit.g"), ("k", "def"), ("f", "f")], id="a decorator"),
        pytest.param("match x:\n  case _: pass", [("k", "match"), ("k", "case"), ("k", "pass")], id="match"),
        pytest.param("match = type(x)\nmatch in y", [("k", "in")], id="match is a name"),
        pytest.param("f'{x}'", [("s", "f'"), ("s", "'")], id="a field"),
        pytest.param(
            "f'a{x + 1:>{w}.2f}b'",
            [("s", "f'a"), ("m", "1"), ("s", ">"), ("s", ".2f"), ("s", "b'")],
            id="format specifications",
        ),
        pytest.param("f'{{x}}' 1", [("s", "f'{{x}}'"), ("m", "1")], id="doubled braces"),
        pytest.param(
            "f'{d['k']}' 1", [("s", "f'"), ("s", "'k'"), ("s", "'"), ("m", "1")], id="the same quotes inside"
        ),
        pytest.param(
            "f'{f'{1}'}'", [("s", "f'"), ("s", "f'"), ("m", "1"), ("s", "'"), ("s", "'")], id="one in another"
        ),
        pytest.param("f'{x[1:2]}'", [("s", "f'"), ("m", "1"), ("m", "2"), ("s", "'")], id="a slice"),
        pytest.param("f'{{1}: 2}'", [("s", "f'{{1}: 2}'")], id="no set in a field"),
        pytest.param(r"f'\N{DASH}{1}'", [("s", r"f'\N{DASH}"), ("m", "1"), ("s", "'")], id="a name"),
        pytest.param(
            "f'{x\ndef f(): 1",
            [("s", "f'"), ("k", "def"), ("f", "f"), ("m", "1")],
            id="a field that stays open",
        ),
        pytest.param("rf'\\{x}' 1", [("s", "rf'\\"), ("s", "'"), ("m", "1")], id="a backslash"),
    ],
)
def test_tokens_have_their_kinds(source, expected):
    assert pieces(source) == expected


@given(st.text(st.sampled_from("f\"'\\{}[]():#\n\r \t@ab1.xé\u2028\ud800")))
def test_any_text_has_tokens_in_order(text):
    position = 0
    for token in colour.tokens(text):
        assert position <= token.start < token.end <= len(text)
        position = token.end


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_tokens_are_those_of_python(path):
    """All but formatted strings, which one version of Python reads whole and another in parts."""
    source = path.read_text()
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
    found = set(colour.tokens(source))
    kinds = {tokenize.COMMENT: "c", tokenize.NUMBER: "m", tokenize.STRING: "s"}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = kinds.get(token.type)
        if token.type == tokenize.NAME and keyword.iskeyword(token.string):
            kind = "b" if token.string in {"None", "True", "False"} else "k"
        is_formatted = (
            token.type == tokenize.STRING and "f" in token.string.partition(token.string[-1])[0].lower()
        )
        if kind and not is_formatted:
            start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
            assert (start, end, kind) in found, token


@pytest.mark.parametrize(
    "text", ["f'{" * 20_000, "\\N{" * 50_000, "f'''" + "{{" * 50_000, " " * 200_000 + "@", '"""' * 50_001]
)
def test_hostile_text_takes_no_longer_than_any(text):
    assert all(token.kind in "cs" for token in colour.tokens(text))


# ------------------------------------------------------------------------------- lines


def beside(old: str, new: str) -> list[tuple[str, str, bool]]:
    """The rows for two texts, whose lines are separated by `|`; a lack of line is `-`."""
    left, right = old.split("|"), new.split("|")
    return [
        ("-" if row.old is None else left[row.old], "-" if row.new is None else right[row.new], row.changed)
        for row in lines.side_by_side(left, right)
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("a|b", "a|b", [("a", "a", False), ("b", "b", False)], id="the same"),
        pytest.param("a|b", "a|x|b", [("a", "a", False), ("-", "x", True), ("b", "b", False)], id="added"),
        pytest.param("a|x|b", "a|b", [("a", "a", False), ("x", "-", True), ("b", "b", False)], id="removed"),
        pytest.param("p|q|r", "s|t", [("p", "s", True), ("q", "t", True), ("r", "-", True)], id="unlike"),
        pytest.param(
            "def f(x):|return g(x)",
            "def f(out, x):|x = np.asarray(x)|out[...] = g(x)|return",
            [
                ("def f(x):", "def f(out, x):", True),
                ("-", "x = np.asarray(x)", True),
                ("return g(x)", "out[...] = g(x)", True),
                ("-", "return", True),
            ],
            id="a callback",
        ),
    ],
)  # fmt: skip
def test_lines_that_are_alike_stand_beside_each_other(old, new, expected):
    assert beside(old, new) == expected


def test_a_line_that_is_often_there_is_no_change():
    """`difflib` alone takes lines that are in a long text often for noise."""
    block = "def f{0}(x):|    # a comment|    if x:|        return a{0}|    return b{0}"
    old = "|".join(block.format(n) for n in range(100))
    rows = beside(old, old.replace("return", "out[...] ="))
    assert sum(changed for *_, changed in rows) == 200


@given(*[st.lists(st.sampled_from(["", "a", "b", "a b", "a b c", "x(y)"]), max_size=12)] * 2)
def test_every_line_is_shown_once_and_in_order(old, new):
    rows = lines.side_by_side(old, new)
    assert [row.old for row in rows if row.old is not None] == list(range(len(old)))
    assert [row.new for row in rows if row.new is not None] == list(range(len(new)))
    for row in rows:
        assert row.changed or (row.old is not None and row.new is not None and old[row.old] == new[row.new])


def test_differences_in_a_line_are_marked_by_whole_words():
    old, new = CALL, CALLED
    left, right = lines.differences(old, new)
    assert [old[slice(*span)] for span in left] == ["jax.pure_callback", ", "]
    assert [new[slice(*span)] for span in right] == ["bufcb.buffer_callback", ")("]


def test_lines_with_little_in_common_have_no_marks():
    assert lines.differences("return alpha(beta)", "import numpy") == ([], [])


def test_of_long_lines_the_differing_middle_is_marked():
    old = ", ".join(map(str, range(1000)))
    assert lines.differences(old, old.replace(", 700,", ", x, y,")) == (
        [(old.index("700"), old.index("700") + 3)],
        [(old.index("700"), old.index("700") + 4)],
    )


@given(st.text("ab .(\t", max_size=12), st.text("ab .(\t", max_size=12))
def test_marks_lie_in_their_lines(old, new):
    for line, spans in zip((old, new), lines.differences(old, new), strict=True):
        ends = [0, *itertools.chain.from_iterable(spans), len(line)]
        assert ends == sorted(ends)
        assert all(start < end for start, end in spans)


# ------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("char", "name", "title"),
    [
        ("\x00", "\\x00", "U+0000"),
        ("\n", "\\x0a", "U+000A"),
        ("\x1b", "\\x1b", "U+001B"),
        ("\x85", "\\x85", "U+0085"),
        ("\xa0", "\\xa0", "U+00A0"),
        ("\u200b", "\\u200b", "U+200B"),
        ("\u202e", "\\u202e", "U+202E"),
        ("\u2028", "\\u2028", "U+2028"),
        ("\ufeff", "\\ufeff", "U+FEFF"),
        ("\ud800", "\\ud800", "U+D800"),
        ("\udce9", "\\xe9", "byte E9"),
        ("\U000e0041", "\\U000e0041", "U+E0041"),
    ],
)
def test_characters_that_do_not_show_are_shown(char, name, title):
    assert markup.text(f"a{char}<b>") == f'a<i class="x" title="{title}">{name}</i>&lt;b&gt;'
    assert markup.plain(f"'{char}") == f"&#x27;{name}"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_out_as_it_went_in(value):
    shown = markup.text(value)
    shown.encode()
    assert set(re.findall(r"<[^>]*>", shown)) <= {"</i>", *re.findall(r'<i class="x" title="[^"]*">', shown)}
    visible = "".join(char for char in value if char.isprintable() or char == "\t")
    assert html.unescape(re.sub(r"<i class.*?</i>", "", shown)) == visible


@given(st.text(st.sampled_from("ab'\"#<&\n\u202e \té"), max_size=40), st.data())
def test_colour_and_marks_change_no_text(line, data):
    ends = sorted(data.draw(st.sets(st.integers(0, len(line)), max_size=6)))
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    shown = markup.code(line, colour.tokens(line), spans, "ins")
    assert re.sub(r"</?ins>|<i class=\w>|(?<!>)</i>", "", shown).replace("</i>", "") == re.sub(
        "</i>", "", markup.text(line)
    )
    assert shown.count("<ins>") == len(spans)


def test_of_a_long_line_the_part_that_matters_is_shown():
    line = "x" * 5_000 + "needle" + "y" * 5_000
    shown = markup.code(line, (), [(5_000, 5_006)], "del", focus=5_000)
    assert "<del>needle</del>" in shown
    assert shown.startswith('<i class="x">… 4,800 characters …</i>x')
    assert shown.endswith('y<i class="x">… 4,206 characters …</i>')
    assert len(shown) < markup.LONGEST_LINE + 200


def test_messages_have_their_code_as_code():
    assert markup.prose("Use `a < b` & `c.") == "Use <code>a &lt; b</code> &amp; `c."


# ------------------------------------------------------------------------------- the page

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\'\x00\x1b[31m\u202e\u2066'
HOSTILE_DIAGNOSTIC = Diagnostic("BC101", f"`{HOSTILE}` {HOSTILE}", f"{HOSTILE} `{HOSTILE}`")


@pytest.fixture(scope="module")
def mixed() -> str:
    """A page with everything that there is."""
    before = "\n".join(
        [*(f"x{n} = {n}" for n in range(40)), CALL, *(f"z{n} = {n}" for n in range(40)), CALL, ""]
    )
    notebook = [
        json.dumps(
            {"cells": [{"cell_type": "markdown", "source": ["# A\n"]}, {"source": ["import jax\n", text]}]}
        )
        for text in (CALL, CALLED)
    ]
    suppression = Note(3, 1, Diagnostic("BC005", "This comment suppresses nothing.", "Remove it."))
    refused = site(41, Status.REFUSED, UNKNOWN, callback="g")
    hostile = site(1, Status.ADAPTED, HOSTILE_DIAGNOSTIC, callback=HOSTILE)
    skipped = [site(line, Status.SKIPPED) for line in (82, 999)]
    return page(
        result(before, before.replace(CALL, CALLED), sites=(site(41), site(82)), notes=(suppression,)),
        result(before, path="pkg/b.py", sites=(refused, *skipped)),
        result(*notebook, "pkg/c.ipynb", sites=(site(2, cell=2, gradient=Gradient.PROTECTED),)),
        result("def (:", path="pkg/d.py", error="pkg/d.py:1: cannot be parsed: invalid syntax"),
        result(f"{CALL}  # {HOSTILE}", f"{CALLED}  # {HOSTILE}", f"pkg/{HOSTILE}\udce9.py", sites=(hostile,)),
        result("x\n", path="pkg/nothing.py"),
    )


@pytest.fixture(scope="module")
def document(mixed) -> Document:
    return Document(mixed)


def test_it_begins_as_the_option_expects(mixed):
    assert mixed.encode().startswith(START)


def test_every_remark_is_there_once(document):
    kinds = [document.elements[index][1]["data-kind"] for index in document.find(class_="item")]
    assert sorted(kinds) == [
        "adapted", "failed", "note", "refused", "rewritten", "rewritten", "rewritten", "skipped", "skipped",
    ]  # fmt: skip


def test_ids_are_there_once_and_links_lead_to_them(document):
    ids = [found["id"] for _, found in document.elements if "id" in found]
    assert len(ids) == len(set(ids))
    links = [found["href"] for tag, found in document.elements if tag == "a"]
    assert len(links) == 7  # to the files, to each file, to the failure
    assert {link[1:] for link in links} <= set(ids)
    labels = [found["aria-labelledby"] for _, found in document.elements if "aria-labelledby" in found]
    assert set(labels) <= set(ids)


def test_a_remark_stands_above_the_line_that_it_is_about(document):
    for name, line in [("f1s1", 3), ("f1s2", 41), ("f1s3", 82), ("f2s1", 41), ("f2s2", 82), ("f3c2s1", 2)]:
        (remark,) = document.find(id=name)
        (number,) = document.find(id=f"{name[:-2]}L{line}")
        between = [document.text(index) for index in document.find(class_="n") if remark < index < number]
        assert not any(between), name
        assert document.text(number) == str(line)


def test_a_remark_about_a_place_that_is_not_there_comes_last(document):
    (remark,) = document.find(id="f2s3")
    (section,) = document.find(id="f2")
    (following,) = document.find(id="f3")
    assert (
        [index for index in document.find(class_="n") if section < index < following][-1] < remark < following
    )


def test_a_remark_has_status_code_reason_and_way_out(document):
    (remark,) = document.find(id="f2s1")
    assert document.elements[remark][1]["data-code"] == "BC201"
    text = document.text(remark)
    for expected in (
        "refused",
        "g",
        "BC201",
        CODES["BC201"].replace("`", ""),
        "41:5",
        "Where pure_callback comes from is unknown.",
        "Way out: Import it from jax.",
    ):
        assert expected in text
    assert "gradient: protected" in document.text(document.find(id="f3c2s1")[0])


def test_unchanged_stretches_are_folded_and_kept(document):
    folds = [document.text(index) for index in document.find(class_="fold")]
    assert [re.match(r"(\d+) unchanged lines", fold)[1] for fold in folds] == ["31", "34", "37", "34"]
    assert "x20 = 20" in folds[0]
    assert "z20 = 20" in folds[1]


def test_a_fold_tells_the_function_that_goes_on_below():
    inner = "".join(f"    x{n} = {n}\n" for n in range(20))
    before = f"def outer(x):\n    def inner():\n        pass\n{inner}    {CALL}\n"
    document = Document(page(result(before, before.replace(CALL, CALLED), sites=(site(24),))))
    (fold,) = document.find(class_="inside")
    assert document.text(fold) == "def outer"


def test_lines_of_both_texts_stand_side_by_side(document):
    (start,) = document.find(id="f1L41")
    cells = [
        document.text(index) for index in range(start, start + 40) if document.elements[index][0] == "td"
    ]
    assert cells[:4] == ["41", CALL, "41", CALLED]
    marks = [
        document.text(index) for index, (tag, _) in enumerate(document.elements) if tag in {"del", "ins"}
    ]
    assert marks[:4] == ["jax.pure_callback", ", ", "bufcb.buffer_callback", ")("]


def test_a_notebook_is_shown_by_cells(document):
    (cell,) = document.find(class_="cell")
    assert document.text(cell) == "Cell 2"
    (start,) = document.find(id="f3c2L2")
    assert [document.text(i) for i in range(start, start + 20) if document.elements[i][0] == "td"][1] == CALL


def test_the_last_line_of_a_cell_needs_no_ending():
    before, after = (
        json.dumps({"cells": [{"cell_type": "code", "source": lines}]})
        for lines in (
            ["def f(x):\n", f"    return {CALL}"],
            ["def f(x):\n", f"    out = {CALLED}\n", "    return"],
        )
    )
    assert "no newline" not in page(result(before, after, "c.ipynb"))


@pytest.mark.parametrize("text", ["[]", '{"cells": [{}]}', "not JSON", '{"cells": [{"source": [1]}]}', ""])
def test_a_notebook_that_is_none_is_shown_as_text(text):
    document = Document(page(result(text, text + "\n" + CALL, "a.ipynb")))
    assert CALL in "".join(document.text(index) for index in document.find(class_="a"))


def test_the_summary_counts(document):
    tiles = {document.text(index) for index in document.find(class_="tile")}
    assert tiles == {
        "rewritten call sites3", "adapted call sites1", "refused call sites1", "skipped call sites2",
        "to change files3", "failed files1",
    }  # fmt: skip
    assert [document.text(index) for index in document.find(class_="failures")] == [
        "\npkg/d.py:1: cannot be parsed: invalid syntax\n"
    ]
    (end,) = document.find(class_="end")
    assert document.text(end) == "6 files read. 1 file looked into without anything to say."


def test_files_are_listed_by_their_path_from_the_common_folder(document):
    entries = [i for i, (_, found) in enumerate(document.elements) if "data-file" in found]
    assert [document.text(entry + 1) for entry in entries[:4]] == ["a.py", "b.py", "c.ipynb", "d.py"]
    assert document.text(entries[0]) == "a.py 2 rewritten 1 note"


def test_nothing_in_the_text_becomes_markup(document, mixed):
    assert [tag for tag, _ in document.elements].count("script") == 1
    assert "img" not in document.tags()
    assert not [name for _, found in document.elements for name in found if name.startswith("on")]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", mixed)
    text = "".join(document.text(index) for index in document.find(id="f5"))
    assert '<img src=x onerror="alert(2)">\'\\x00\\x1b[31m\\u202e\\u2066' in text
    assert "\\xe9.py" in text


def test_the_page_needs_nothing_but_itself(document, mixed):
    styles = {"style", "src", "srcset", "action", "formaction", "background", "data", "ping", "poster"}
    assert not [name for _, found in document.elements for name in found if name in styles]
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bfetch\(|XMLHttp|import\(|innerHTML|eval\(", mixed)
    assert document.tags().isdisjoint({"link", "iframe", "object", "embed", "base", "img", "audio", "video"})


def test_the_policy_allows_its_own_style_and_script_alone(mixed):
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', mixed)
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["base-uri"] == directives["form-action"] == "'none'"
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", mixed, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert directives[f"{name}-src"] == f"'sha256-{digest}'"
    assert mixed.index("Content-Security-Policy") < mixed.index("<style>")


def test_it_has_landmarks_and_headings(document):
    for tag in ("header", "nav", "main", "h1"):
        assert [found for found, _ in document.elements].count(tag) == 1
    assert document.elements[0] == ("html", document.elements[0][1])
    assert document.elements[0][1]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch(r"h\d", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise([0, *levels]))


def test_a_page_without_call_sites_says_so():
    document = Document(page(result("x\n")))
    assert "No call sites, no files to change" in document.text(0)
    assert not document.find(class_="file")


PIECES = [b"x = 1", b"def f(", b"'''", b'f"{', b"\xff", b"\r", b"\n", b"\n", b"    ", b"<&>", b"# coding: x"]
BYTES = st.lists(st.sampled_from(PIECES)).map(b"".join)
TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
DIAGNOSTICS = st.builds(Diagnostic, st.sampled_from(sorted(CODES)), TEXT, TEXT)
LINES = st.integers(-1, 9)
CELLS = st.none() | st.integers(0, 3)
SITES = st.builds(
    SiteResult, LINES, LINES, LINES, TEXT, st.sampled_from(Status), st.none() | DIAGNOSTICS, cell=CELLS
)
FILES = st.builds(
    FileResult,
    st.sampled_from([Path("a.py"), Path("b/<c>\udce9.py"), Path("/d.ipynb")]),
    BYTES,
    BYTES,
    st.lists(SITES, max_size=3).map(tuple),
    st.lists(st.builds(Note, LINES, LINES, DIAGNOSTICS, cell=CELLS), max_size=2).map(tuple),
    st.none() | TEXT,
)


@given(st.lists(FILES, max_size=3).map(tuple))
def test_any_run_has_a_page_with_all_that_is_said(files):
    document = Document(to_html(Run(files, 3)).decode())
    remarks = sum(len(file.sites) + len(file.notes) + (file.error is not None) for file in files)
    assert len(document.find(class_="item")) == remarks
    ids = [found["id"] for _, found in document.elements if "id" in found]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("x", "y", [("x", "y")], id="both"),
        pytest.param("x", "y\n", [("x no newline at the end", "y")], id="before"),
        pytest.param("x\n", "y", [("x", "y no newline at the end")], id="after"),
        pytest.param("x\r\n", "x\n", [("x\\x0d\\x0a", "x\\x0a")], id="another ending"),
        pytest.param("a\rx\r", "a\ry\r", [("a", "a"), ("x", "y")], id="carriage returns"),
        pytest.param("", "y\n", [("", "y")], id="an empty file"),
    ],
)
def test_line_endings_are_told_where_they_differ(before, after, expected):
    document = Document(page(result(before, after)))
    cells = [
        document.text(i)
        for i, (tag, found) in enumerate(document.elements)
        if tag == "td" and found.get("class") != "n"
    ]
    assert [*zip(cells[::2], cells[1::2], strict=True)] == expected


def test_the_same_run_is_the_same_page(tmp_path):
    shutil.copytree(DEMO, tmp_path / "demo")
    pages = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "codemods", "demo", "--html", seed]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        subprocess.run(command, check=True, capture_output=True, env=environment, cwd=tmp_path)
        pages.append((tmp_path / seed).read_bytes())
    assert pages[0] == pages[1]


def many(files: int, sites: int) -> list[FileResult]:
    """Files with call sites, callbacks and other code."""
    block = (
        "def host(x, weights):\n    if weights.size == 0:\n        return np.zeros_like(x)\n"
        "    return np.convolve(x, weights, mode='same')\n\n\n"
        f"def smooth(x, weights, scale=1.0):\n    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)\n    {CALL}\n"
        "    return y * scale\n\n\n" + "".join(f"TABLE_{n} = [1, 2, 3]  # unchanged\n" for n in range(20))
    )  # fmt: skip
    before = block * sites
    after = before.replace(CALL, CALLED).replace("(x, weights):", "(ctx, out, x, weights):")
    after = after.replace("return np.", "out[...] = np.")
    found = tuple(site(9 + 32 * n) for n in range(sites))
    return [result(before, after, f"pkg/module_{n}.py", sites=found) for n in range(files)]


def test_a_thousand_call_sites_in_two_hundred_files_take_less_than_ten_megabytes():
    text = page(*many(200, 5))
    assert text.count('class="item') == 1_000
    assert 1_000_000 < len(text.encode()) < 10_000_000


def test_unchanged_lines_are_left_out_where_there_are_too_many():
    unchanged = "".join(f"x{n} = 'some text that makes the line longer'\n" for n in range(30_000))
    before = f"{CALL}\n{unchanged}{CALL}\n"
    text = page(*[result(before, before.replace(CALL, CALLED), sites=(site(1), site(30_002)))] * 2)
    assert len(text.encode()) < 1_200_000
    assert text.count("27,994 lines not shown") == 2
    for line in ("x3 =", "x1002 =", "x28997 =", "x29996 ="):
        assert line in text


# ------------------------------------------------------------------------------- contrast


def colours() -> dict[str, tuple[str, str]]:
    pattern = r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)"
    return {name: (light, dark) for name, light, dark in re.findall(pattern, _asset("page.css"))}


def channels(value: str) -> list[float]:
    return [int(value[n : n + 2], 16) / 255 for n in (1, 3, 5)]


def luminance(rgb: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: list[float], background: list[float]) -> float:
    low, high = sorted((luminance(text), luminance(background)))
    return (high + 0.05) / (low + 0.05)


CODE = ("text", "keyword", "constant", "string", "number-token", "comment", "defined", "decorator")
KINDS = ("rewritten", "adapted", "refused", "skipped", "note", "failed")


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(theme):
    """At least 4.5:1, which is level AA of WCAG, on every background that it can have."""
    values = {name: channels(pair[theme]) for name, pair in colours().items()}
    grounds = {name: values[name] for name in ("paper", "removed", "removed-part", "added", "added-part")}
    for name, (ground, value) in itertools.product(CODE, grounds.items()):
        assert contrast(values[name], value) >= 4.5, (name, ground)
    for name, ground in itertools.product(("text", "muted", "accent"), ("page", "paper", "raised")):
        assert contrast(values[name], values[ground]) >= 4.5, (name, ground)
    for name in KINDS:
        kind = values[name]
        for share in (0, 0.06, 0.12):  # as in `color-mix`
            mixed = [share * a + (1 - share) * b for a, b in zip(kind, values["paper"], strict=True)]
            assert contrast(kind, mixed) >= 4.5, (name, share)
            assert share > 0.06 or contrast(values["muted"], mixed) >= 4.5, (name, share)


def test_the_shares_of_mixed_colours_are_those_that_are_tested():
    shares = re.findall(r"color-mix\(in srgb, var\(--kind\) (\d+)%, var\(--paper\)\)", _asset("page.css"))
    # The last is that of a line that a link led to, whose text has the common colour.
    assert set(shares) == {"6", "12", "30"}


# ------------------------------------------------------------------------------- the option

SOURCE = "import jax\n\n\ndef f(g, s, x):\n    return jax.pure_callback(g, s, x)\n"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(cli.migrate, ["a.py", *arguments], prog_name="bufcb-migrate")


@pytest.mark.parametrize("mode", ["--no-write", "--write", "--check"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_page_comes_besides_the_other_output(project, mode, form):
    plain = migrate("--no-write", "--format", form)
    found = migrate(mode, "--format", form, "--html", "page.html")
    assert found.exit_code == (1 if mode == "--check" else 0)
    if mode != "--write":
        assert found.output == plain.output
    document = Document((project / "page.html").read_text())
    assert len(document.find(class_="item")) == 1
    assert ("1 file changed" if mode == "--write" else "1 file to change") in document.text(0)
    assert ((project / "a.py").read_text() == SOURCE) == (mode != "--write")
    assert sorted(os.listdir(project)) == ["a.py", "page.html"]


def test_a_failure_is_on_the_page(project):
    (project / "b.py").write_text("pure_callback(\n")
    assert migrate("b.py", "--html", "page.html").exit_code == 2
    document = Document((project / "page.html").read_text())
    assert [document.elements[index][1]["data-kind"] for index in document.find(class_="item")] == [
        "adapted",
        "failed",
    ]


def test_a_new_page_has_the_usual_permissions(project):
    mask = os.umask(0o027)
    try:
        migrate("--html", "page.html")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((project / "page.html").stat().st_mode) == 0o640


@pytest.mark.parametrize("content", [b"", START, b"<!DOCTYPE HTML><p>an old page"])
def test_an_old_page_is_replaced_and_keeps_its_permissions(project, content):
    path = project / "page.html"
    path.write_bytes(content)
    path.chmod(0o600)
    assert migrate("--html", "page.html").exit_code == 0
    assert len(path.read_bytes()) > 10_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_and_its_target_is_written(project):
    (project / "pages").mkdir()
    (project / "page.html").symlink_to("pages/new.html")
    assert migrate("--html", "page.html").exit_code == 0
    assert (project / "page.html").is_symlink()
    assert (project / "pages" / "new.html").read_bytes().startswith(START)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("-", "standard output has the changes; name a file", id="standard output"),
        pytest.param("none/page.html", "there is no folder", id="no folder"),
        pytest.param("a.py/page.html", "a.py is no folder", id="a file for a folder"),
        pytest.param("folder", "it is a folder", id="a folder"),
        pytest.param("", "it is a folder", id="nothing"),
        pytest.param("a.py", "does not begin with '<!doctype html>'", id="a source file"),
        pytest.param("read_only.html", "it is read-only", id="read-only"),
        pytest.param("loop", "Too many levels of symbolic links", id="a link to itself"),
    ],
)
def test_what_cannot_be_written_is_an_error_before_any_work(project, path, message):
    (project / "folder").mkdir()
    (project / "read_only.html").touch()
    (project / "read_only.html").chmod(0o400)
    (project / "loop").symlink_to("loop")
    found = migrate("--write", "--html", path)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert message in found.stderr
    assert (project / "a.py").read_text() == SOURCE


def test_a_folder_that_cannot_be_written_is_an_error_before_any_work(project, monkeypatch):
    """Root may write into every folder, so `os.access` is asked to answer as for others."""
    (project / "folder").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("folder"))
    found = migrate("--write", "--html", "folder/page.html")
    assert found.exit_code == 2
    assert "is read-only" in found.stderr
    assert (project / "a.py").read_text() == SOURCE


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_page_that_fails_late_loses_nothing_else(project, monkeypatch, form):
    (project / "page.html").write_bytes(START)
    replace = os.replace

    def full(source, target):
        if str(target).endswith("page.html"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    found = migrate("--write", "--format", form, "--html", "page.html")
    assert found.exit_code == 2
    assert "error: page.html: cannot be written: No space left on device" in found.stderr
    assert ("1 file changed" in found.stderr) if form == "text" else json.loads(found.stdout)["files"]
    assert (project / "a.py").read_text() != SOURCE
    assert (project / "page.html").read_bytes() == START
    assert sorted(os.listdir(project)) == ["a.py", "page.html"]


def test_a_pipe_is_written_to(project):
    os.mkfifo(project / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((project / "pipe").read_bytes)
        assert migrate("--html", "pipe").exit_code == 0
        assert read.result(timeout=30).startswith(START)
    assert stat.S_ISFIFO((project / "pipe").stat().st_mode)


def test_code_on_standard_input_has_a_page(project):
    arguments = ["-", "--stdin-filename", "a.py", "--html", "page.html"]
    assert CliRunner().invoke(cli.migrate, arguments, input=SOURCE).exit_code == 0
    assert len(Document((project / "page.html").read_text()).find(class_="item")) == 1


def test_a_project_cannot_choose_what_is_written(project):
    (project / "pyproject.toml").write_text('[tool.bufcb]\nhtml = "page.html"\n')
    found = migrate()
    assert found.exit_code == 2
    assert "[tool.bufcb] html" in found.stderr
    assert not (project / "page.html").exists()


def test_the_page_is_made_without_what_is_migrated(project):
    program = (
        "import sys\nfrom codemods.cli import migrate\n"
        "try:\n    migrate(['a.py', '--html', 'page.html'])\n"
        "finally:\n    print(*sys.modules, sep='\\n', file=open('modules', 'w'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment)
    modules = set((project / "modules").read_text().split())
    assert "codemods.report.html.page" in modules
    assert modules.isdisjoint({"jax", "numpy", "bufcb"})


def test_the_way_to_a_differentiated_call_is_a_list_of_places():
    hops = (Hop(Path("train.py"), 4, "jax.grad(loss)"), Hop(Path("n.ipynb"), 2, "loss<'a'>", 3))
    note = Note(1, 5, Diagnostic("BC301", "It is differentiated.", "Give it a rule."), hops=hops)
    document = Document(page(result(CALL, CALLED, sites=(site(1),), notes=(note,))))
    (steps,) = document.find(class_="hops")
    assert document.text(steps) == "train.py:4 jax.grad(loss)n.ipynb:cell 3:2 loss<'a'>"
    plain = Document(page(result(CALL, CALLED, sites=(site(1),))))
    assert not plain.find(class_="hops")
