"""`# bufcb: skip` comments: where they count, and which were of no use."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods.source import SourceFile
from codemods.suppressions import Suppressions


def read(text: str) -> tuple[Suppressions, ast.Module]:
    source = SourceFile.from_bytes(Path("m.py"), text.encode())
    return Suppressions(source), source.tree


def first_call(tree: ast.Module) -> ast.Call:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("f(x)  # bufcb: skip", id="on the call's line"),
        pytest.param("f(x)  # bufcb:skip", id="without a space"),
        pytest.param("f(x)  #bufcb: skip", id="without a space in front"),
        pytest.param("f(x)  #  bufcb:   skip  ", id="with many"),
        pytest.param("f(x)  # noqa  # bufcb: skip", id="behind another comment"),
        pytest.param("f(x)  # bufcb: skip -- it holds a lock", id="with a reason"),
        pytest.param("f(  # bufcb: skip\n    x,\n)", id="on the first of several lines"),
        pytest.param("f(\n    x,  # bufcb: skip\n)", id="on a line in the middle"),
        pytest.param("f(\n    x,\n)  # bufcb: skip", id="on the last of several lines"),
        pytest.param("y = f(x); z = 1  # bufcb: skip", id="behind two statements"),
        pytest.param("f(x)  # bufcb: skip\r\ng = 1\r\n", id="with Windows line endings"),
    ],
)
def test_a_comment_on_one_of_a_calls_lines_covers_it(text: str):
    suppressions, tree = read(text)
    assert suppressions.covers(first_call(tree))
    assert suppressions.unused() == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("f(x)", id="no comment"),
        pytest.param("# bufcb: skip\nf(x)", id="on the line above"),
        pytest.param("f(x)\n# bufcb: skip", id="on the line below"),
        pytest.param("f('# bufcb: skip')", id="in a string"),
        pytest.param("f(x)  # bufcb skip", id="without the colon"),
        pytest.param("f(x)  # bufcb: ship", id="another word"),
        pytest.param("f(x)  # bufcb: skip[BC104]", id="of a code alone"),
        pytest.param("f(x)  # notbufcb: skipper", id="in the middle of words"),
    ],
)
def test_any_other_comment_does_not(text: str):
    suppressions, tree = read(text)
    assert not suppressions.covers(first_call(tree))


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        pytest.param("def f(x):  # bufcb: skip\n    return x", True, id="on the header"),
        pytest.param("def f(\n    x,  # bufcb: skip\n):\n    return x", True, id="on a line of the header"),
        pytest.param("@a  # bufcb: skip\ndef f(x):\n    return x", True, id="on a decorator"),
        pytest.param("def f(x): return x  # bufcb: skip", True, id="on the only line"),
        pytest.param("def f(x):\n    # bufcb: skip\n    return x", True, id="between header and body"),
        pytest.param("def f(x):\n    return x  # bufcb: skip", False, id="in the body"),
        pytest.param("def f(x):\n    y = x\n    # bufcb: skip\n    return y", False, id="deep in the body"),
        pytest.param("# bufcb: skip\ndef f(x):\n    return x", False, id="above"),
        pytest.param("def f(x):  # bufcb: skip[BC104]\n    return x", False, id="of a code"),
    ],
)
def test_a_comment_on_a_definitions_header_covers_it(text: str, covered: bool):
    suppressions, tree = read(text)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    assert suppressions.covers_definition(function) is covered


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("f = lambda x: x  # bufcb: skip", True),
        ("f = (lambda x:\n    x)  # bufcb: skip", True),
        ("f = lambda x: x\n# bufcb: skip", False),
    ],
)
def test_a_comment_on_a_lambdas_lines_covers_it(text: str, covered: bool):
    suppressions, tree = read(text)
    (function,) = (node for node in ast.walk(tree) if isinstance(node, ast.Lambda))
    assert suppressions.covers_definition(function) is covered


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# bufcb: skip[BC104]", {"BC104"}),
        ("# bufcb: skip[BC104,BC111]", {"BC104", "BC111"}),
        ("# bufcb: skip[ BC104 , BC111 ]", {"BC104", "BC111"}),
        ("# bufcb: skip[BC104]  # bufcb: skip[BC111]", {"BC104"}),
    ],
)
def test_codes_cover_those_codes_alone(comment: str, codes: set[str]):
    for code in ("BC104", "BC111", "BC112"):
        suppressions, tree = read(f"f(x)  {comment}")
        assert suppressions.covers_code(first_call(tree), code) is (code in codes)
        assert bool(suppressions.unused()) is (code not in codes)


def test_unused_comments_are_told_by_line_and_column():
    suppressions, tree = read("f(x)  # bufcb: skip\ny = 1  # a  # bufcb: skip\n  # bufcb: skip[BC1]\n")
    assert suppressions.covers(first_call(tree))
    assert suppressions.unused() == [(2, 13), (3, 3)]


def test_columns_count_characters():
    suppressions, _ = read("y = 'é日'  # bufcb: skip\n")
    assert suppressions.unused() == [(1, 11)]


def test_a_comment_may_cover_two_calls():
    suppressions, tree = read("f(x), g(x)  # bufcb: skip")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [suppressions.covers(call) for call in calls] == [True, True]


def test_an_outer_call_is_covered_by_the_comment_on_an_inner_line():
    suppressions, tree = read("f(\n    g(x),  # bufcb: skip\n)")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [suppressions.covers(call) for call in calls] == [True, True]
