"""Where classes have their methods from."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.classes import class_of_instance, method_of
from codemods.names import read


def source_of(text: str, name: str = "f") -> str | None:
    """The class that gives the last class of `text` its method."""
    module = read(ast.parse(textwrap.dedent(text)))
    *_, owner = (node for node in module.tree.body if isinstance(node, ast.ClassDef))
    found = method_of(owner, name, module)
    return found[0].name if found else None


A = "class A:\n    def f(self): ...\n"
B = "class B(A):\n    def f(self): ...\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(A, "A", id="its own"),
        pytest.param(f"{A}class C(A): ...", "A", id="its base's"),
        pytest.param(f"{A}{B}class C(B): ...", "B", id="its nearest base's"),
        pytest.param(f"{A}{B}class C(B): ...\nclass D(C): ...", "B", id="through a class without it"),
        pytest.param(
            f"{A}class M(A): ...\n{B}class C(M, B): ...", "B", id="as the order of a diamond has it"
        ),
        pytest.param(f"{A}class C(A, object): ...", "A", id="with object"),
        pytest.param(f"from typing import Generic\n{A}class C(Generic[T], A): ...", "A", id="with Generic"),
        pytest.param(f"{A}class C(A[int]): ...", "A", id="a base with parameters"),
        pytest.param(f"{A}class C(A, Unseen): ...", "A", id="in front of a base out of sight"),
        pytest.param("class C(Unseen):\n    def f(self): ...", "C", id="its own, whatever its base"),
    ],
)
def test_a_method_is_that_of_the_first_class_that_has_it(text: str, wanted: str):
    assert source_of(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class C: ...", id="none has it"),
        pytest.param(f"{A}class C(Unseen, A): ...", id="behind a base out of sight"),
        pytest.param(f"{A}class C(make(A)): ...", id="behind a base that a call makes"),
        pytest.param(f"{A}class C(*bases): ...", id="behind bases in a star"),
        pytest.param(
            f"{A}if a:\n    class B(A): ...\nelse:\n    class B: ...\nclass C(B): ...",
            id="a base is one of two",
        ),
        pytest.param(f"{A}class C(A):\n    f = None", id="its own is no method"),
        pytest.param(
            f"{A}class C(A):\n    def f(self): ...\n    def f(self): ...", id="its own is one of two"
        ),
        pytest.param("class C(C): ...", id="a circle"),
        pytest.param(
            f"class X: ...\nclass Y(X): ...\n{A}class C(X, Y, A): ...", id="an order that cannot be"
        ),
    ],
)
def test_what_cannot_be_seen_is_no_method(text: str):
    assert source_of(text) is None


def made_of(text: str) -> str | None:
    module = read(ast.parse(f"{text}\nc"))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name)
    found = class_of_instance(statement.value, module)
    return found.name if found else None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(f"{A}c = A()", "A", id="a class"),
        pytest.param(f"{A}c = A(1, n=2)", "A", id="with arguments"),
        pytest.param(f"{A}{B}c = B()", "B", id="of a derived class"),
        pytest.param(
            f"from dataclasses import dataclass\n@dataclass(frozen=True)\n{A}c = A()", "A", id="a dataclass"
        ),
        pytest.param(f"{A}c = A\n", None, id="the class itself"),
        pytest.param(f"{A}c = A()\nc = A()", None, id="assigned twice"),
        pytest.param(f"{A}c = make()", None, id="made by a function"),
        pytest.param("class A(Unseen): ...\nc = A()", None, id="of a base out of sight"),
        pytest.param("class A(metaclass=M): ...\nc = A()", None, id="of a metaclass"),
        pytest.param(f"@register\n{A}c = A()", None, id="of a decorated class"),
        pytest.param(
            "class A:\n    def __new__(cls): return 1\nc = A()", None, id="of a class with a __new__"
        ),
        pytest.param(
            "class A:\n    def __getattribute__(self, n): return 1\nclass B(A): ...\nc = B()",
            None,
            id="of a base that looks up otherwise",
        ),
    ],
)
def test_an_object_is_of_the_class_that_makes_it(text: str, wanted: str | None):
    assert made_of(text) == wanted
