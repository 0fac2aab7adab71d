"""Names that nothing uses yet."""

from __future__ import annotations

import ast
import builtins
import keyword

import pytest

from codemods.free_names import FreeNames
from codemods.names import Module, read


def free(text: str = "") -> FreeNames:
    return FreeNames(read(ast.parse(text)))


def first_function(text: str) -> tuple[ast.FunctionDef | ast.Lambda, Module]:
    module = read(ast.parse(text))
    return next(n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef | ast.Lambda)), module


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("", "g", id="free"),
        pytest.param("g = 1", "g_2", id="bound"),
        pytest.param("f(g)", "g_2", id="read, and bound nowhere"),
        pytest.param("a.g", "g_2", id="an attribute"),
        pytest.param("import g", "g_2", id="imported"),
        pytest.param("def f():\n    g = 1", "g_2", id="a local of a function"),
        pytest.param("g = g_2 = 1", "g_3", id="with its first number as well"),
        pytest.param("def f():\n    global g", "g_2", id="declared global"),
    ],
)
def test_a_fresh_name_is_used_nowhere_in_the_module(text: str, wanted: str):
    assert free(text).fresh("g") == wanted


def test_a_fresh_name_is_taken_from_then_on():
    names = free()
    assert [names.fresh("g") for _ in range(3)] == ["g", "g_2", "g_3"]


@pytest.mark.parametrize("name", ["print", "class", "None", "len"])
def test_a_fresh_name_is_no_builtin_and_no_keyword(name: str):
    found = free().fresh(name)
    assert found == f"{name}_2" and not hasattr(builtins, found) and not keyword.iskeyword(found)


def test_choosing_takes_the_first_that_is_free():
    assert free().choose(("out", "out_buffer"), frozenset()) == "out"
    assert free().choose(("out", "out_buffer"), frozenset({"out"})) == "out_buffer"
    assert free().choose(("out", "out_buffer"), frozenset({"out", "out_buffer"})) == "out_buffer_2"
    assert free().choose(("out",), frozenset({"out", "out_2", "out_3"})) == "out_4"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out = 1", id="a local"),
        pytest.param("out", id="a global that is read"),
        pytest.param("for out in y: pass", id="a loop variable"),
        pytest.param("import out", id="an import"),
        pytest.param("import out.y", id="a package"),
        pytest.param("import y as out", id="an alias"),
        pytest.param("def g(out): pass", id="a nested function's parameter"),
        pytest.param("def out(): pass", id="a nested function"),
        pytest.param("class out: pass", id="a nested class"),
        pytest.param("lambda out: 1", id="a lambda's parameter"),
        pytest.param("[out for out in y]", id="a comprehension's variable"),
        pytest.param("(out := 1)", id="a walrus"),
        pytest.param("try: pass\n    except E as out: pass", id="an except"),
        pytest.param("with y as out: pass", id="a with"),
        pytest.param("global out", id="a global"),
        pytest.param("match y:\n        case out: pass", id="a capture"),
        pytest.param("match y:\n        case [*out]: pass", id="a star pattern"),
        pytest.param("match y:\n        case {**out}: pass", id="a mapping's rest"),
        pytest.param("def g():\n        def h():\n            return out", id="deep inside"),
        pytest.param("del out", id="a deletion"),
    ],
)
def test_every_name_inside_a_function_is_known(body: str):
    function, module = first_function(f"def f(x):\n    {body}")
    assert "out" in FreeNames(module).inside(function)


def test_names_outside_of_a_function_do_not_matter_inside():
    function, module = first_function("def f(x, *a, k=1, **b):\n    y.out = x\nout = 1")
    assert FreeNames(module).inside(function) - {"f"} == {"x", "a", "k", "b", "y"}


def test_siblings_are_named_after_their_function():
    assert free().sibling("jv") == "_jv_into"
    assert free().sibling("_jv") == "_jv_into"
    assert free("_jv_into = 1").sibling("jv") == "_jv_into_2"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("lambda a: np.sort(a)", "_sort", id="what it calls"),
        pytest.param("lambda a: scipy.special.jv(1, a)", "_jv", id="the last part of a dotted name"),
        pytest.param("lambda a: q._solve_(a)", "_solve", id="without its own underscores"),
        pytest.param("lambda a: np.asarray(solve(a))", "_solve", id="not a conversion"),
        pytest.param("lambda a: np.float32(solve(a))", "_solve", id="not a scalar type"),
        pytest.param("lambda a: solve(a).astype('f4')", "_solve", id="not a cast"),
        pytest.param("lambda a: self.solver.run(a)", "_run", id="a method"),
        pytest.param("lambda a: np.sort(a)[0].T", "_sort", id="not an index, not an attribute"),
        pytest.param("lambda a: tuple(solve(a))", "_solve", id="not a container"),
        pytest.param("lambda a: Solver(a)", "_callback", id="not a class"),
        pytest.param("lambda a: a + 1", "_callback", id="nothing called"),
        pytest.param("lambda a: sin(a) - cos(a)", "_callback", id="neither of two"),
        pytest.param("lambda a: table[0](a)", "_callback", id="nothing with a name"),
        pytest.param("_sort = lambda a: np.sort(a)", "_callback", id="a name that is taken"),
        pytest.param("_sort = _callback = lambda a: np.sort(a)", "_callback_2", id="names that are taken"),
    ],
)
def test_lambdas_are_named_after_the_function_whose_result_they_return(text: str, wanted: str):
    function, module = first_function(f"import numpy as np\n{text}")
    assert isinstance(function, ast.Lambda)
    assert FreeNames(module).for_lambda(function, module) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("def f(a):\n    g(lambda a: -a)", "_f_host", id="without a name of their own"),
        pytest.param("def _f_(a):\n    g(lambda a: -a)", "_f_host", id="without its underscores"),
        pytest.param("async def f(a):\n    g(lambda a: -a)", "_f_host", id="a coroutine function"),
        pytest.param("def f(a):\n    [g(lambda a: -a) for _ in a]", "_f_host", id="through a comprehension"),
        pytest.param("def f(a):\n    g(lambda a: _sort(a))", "_f_host", id="where the name called is taken"),
        pytest.param("def f(a):\n    g(lambda a: sort(a))", "_sort", id="not where one is called"),
        pytest.param("_f_host = 1\ndef f(a):\n    g(lambda a: -a)", "_callback", id="unless it is taken"),
    ],
)
def test_lambdas_are_named_after_the_function_around_them(text: str, wanted: str):
    module = read(ast.parse(text))
    function = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Lambda))
    assert FreeNames(module).for_lambda(function, module) == wanted
