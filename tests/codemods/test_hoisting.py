"""Where a `def` can stand for a lambda."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from codemods.hoisting import anchor, why_not_hoisted
from codemods.names import Module, read
from codemods.source import SourceFile

HEADER = "import numpy as np\n"


def lambda_in(text: str) -> tuple[ast.Lambda, Module, SourceFile]:
    """The lambda in `text` that is handed to `call`."""
    source = SourceFile.from_bytes(Path("program.py"), (HEADER + textwrap.dedent(text)).encode())
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id="call"), args=[ast.Lambda() as found, *_]):
                return found, read(source.tree), source
    raise AssertionError("no call")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("y = call(lambda v: v)", 2, id="its statement"),
        pytest.param("if a:\n    y = call(lambda v: v)", 3, id="its statement in a block"),
        pytest.param("if a: y = call(lambda v: v)", 2, id="the if on whose line it is"),
        pytest.param("if a:\n    pass\nelse: y = call(lambda v: v)", 2, id="the if of an else on one line"),
        pytest.param("if a:\n    pass\nelif call(lambda v: v): pass", 2, id="the if of an elif"),
        pytest.param(
            "if a:\n    pass\nelif b:\n    pass\nelif call(lambda v: v): pass",
            2,
            id="the first of a chain of elifs",
        ),
        pytest.param("if a:\n    pass\nelif b:\n    y = call(lambda v: v)", 5, id="its statement in an elif"),
        pytest.param("while call(lambda v: v): pass", 2, id="a loop"),
        pytest.param("for x in y: call(lambda v: v)", 2, id="the loop on whose line it is"),
        pytest.param("a = 1; y = call(lambda v: v)", 2, id="the first statement of its line"),
        pytest.param("if a: b = 1; y = call(lambda v: v)", 2, id="the if of a line with semicolons"),
        pytest.param("a = [\n    1]; y = call(lambda v: v)", 2, id="a statement that ends on its line"),
        pytest.param("try: call(lambda v: v)\nfinally: pass", 2, id="a try on whose line it is"),
        pytest.param("try:\n    pass\nexcept E: call(lambda v: v)", 2, id="the try of a handler on one line"),
        pytest.param("match a:\n    case 1: call(lambda v: v)", 2, id="the match of a case on one line"),
        pytest.param("match a:\n    case 1:\n        call(lambda v: v)", 4, id="its statement in a case"),
        pytest.param("with a: call(lambda v: v)", 2, id="the with on whose line it is"),
        pytest.param("class C:\n    y = call(lambda v: v)", 2, id="the class in whose body it is"),
        pytest.param("class C:\n    class D:\n        y = call(lambda v: v)", 2, id="the outermost class"),
        pytest.param(
            "class C:\n    def f(self):\n        call(lambda v: v)", 4, id="its statement in a method"
        ),
        pytest.param(
            "class C:\n    @call(lambda v: v)\n    def f(self): pass",
            2,
            id="the class of a method's decorator",
        ),
        pytest.param(
            "class C:\n    def f(self, y=call(lambda v: v)): pass", 2, id="the class of a method's default"
        ),
        pytest.param("@call(lambda v: v)\ndef f(): pass", 3, id="a decorated function"),
        pytest.param("def f(x): return call(lambda v: v)", 2, id="a function on one line"),
        pytest.param(
            "class C:\n    def f(self, x): return call(lambda v: v)",
            2,
            id="the class of a method on one line",
        ),
    ],
)
def test_a_def_goes_in_front_of(text: str, line: int):
    function, module, source = lambda_in(text)
    assert why_not_hoisted(function, module, source) is None
    assert anchor(function, module, source).lineno == line


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = call(lambda v, n=1: v)", id="a number"),
        pytest.param("y = call(lambda v, n=-1: v)", id="a negative number"),
        pytest.param("y = call(lambda v, n=np.float32(1): v)", id="a number of NumPy's"),
        pytest.param("y = call(lambda v, *, n=m: v)", id="a name"),
        pytest.param("if a: y = call(lambda v, n=1: v)", id="a number on the line of an if"),
        pytest.param("y = call(lambda v: (w := v) + w)", id="a walrus of its own"),
        pytest.param(
            "y = [call(lambda v: v) for n in m]", id="in a comprehension whose variables it does not read"
        ),
        pytest.param("f = lambda n: call(lambda v: v)", id="in a lambda whose parameters it does not read"),
        pytest.param(
            "class C:\n    n = 1\n    y = call(lambda v: n)", id="a name that the class has for itself"
        ),
        pytest.param(
            "class C:\n    y = call(lambda v: v.__len__())", id="a name with underscores on both sides"
        ),
    ],
)
def test_a_def_can_stand_for_a_lambda(text: str):
    assert why_not_hoisted(*lambda_in(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = call(lambda v, n=f(): v)", id="a default that is a call"),
        pytest.param("y = call(lambda v, n=a.b: v)", id="a default that is an attribute"),
        pytest.param("y = call(lambda v, n=np.float32(a.b): v)", id="a number of an attribute"),
        pytest.param("if a: y = call(lambda v, n=m: v)", id="a default that is a name, on the line of an if"),
        pytest.param("while call(lambda v, n=m: v): pass", id="a default that is evaluated again and again"),
        pytest.param("y = a and call(lambda v, n=m: v)", id="a default that may not be evaluated"),
        pytest.param("y = [call(lambda v: n) for n in m]", id="a comprehension's variable"),
        pytest.param("f = lambda n: call(lambda v: n)", id="an outer lambda's parameter"),
        pytest.param("def f(x): return call(lambda v: x)", id="a parameter of a function on one line"),
        pytest.param("def f(): import a; return call(lambda v: v)", id="a function on one line that imports"),
        pytest.param("class C:\n    y = call(lambda v: __n)", id="a private name of the class"),
        pytest.param("class C:\n    y = call(lambda v: v.__n)", id="a private attribute of the class"),
        pytest.param("y = call(lambda v: (yield v))", id="a yield"),
    ],
)
def test_a_lambda_stays_where_a_def_would_mean_something_else(text: str):
    assert why_not_hoisted(*lambda_in(text)) is not None
