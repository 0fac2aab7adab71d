"""Where results can be written: the form of each `return`, and what stands around it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.bodies import Argument, Obstacle, analyse
from codemods.names import FunctionNode, Module, read
from codemods.plans import ReturnPlan
from codemods.returns import is_generator, leaves, own_returns, plan_returns
from codemods.specs import EMPTY, LEAF, UNKNOWN, Spec

HEADER = "import contextlib, threading, warnings\nimport numpy as np\nLOCK = threading.Lock()\n"
PAIR = Spec("tuple", (LEAF, LEAF))
PAIR_LIST = Spec("list", (LEAF, LEAF))
NAMED = Spec("dict", (LEAF, LEAF), ("a", "b"))


def function(body: str) -> tuple[FunctionNode, Module]:
    module = read(ast.parse(f"{HEADER}def f(x, y=1):\n{textwrap.indent(body, '    ')}"))
    found = module.tree.body[-1]
    assert isinstance(found, ast.FunctionDef)
    return found, module


def planned(body: str, spec: Spec = LEAF) -> tuple[ReturnPlan, ...] | Obstacle:
    found, module = function(body)
    report = analyse(found, {"x": Argument("array")}, module)
    assert report.obstacle is None, report.obstacle
    return plan_returns(found, report, spec, module)


def forms(body: str, spec: Spec = LEAF) -> list[str]:
    plans = planned(body, spec)
    assert not isinstance(plans, Obstacle), plans
    return [plan.form for plan in plans]


# ------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("np.sin(x)", "write"),
        ("np.asarray(x) + 1", "write"),
        ("x", "write"),
        ("1.5", "write"),
        ("float(x)", "write"),
        ("g(1) + 1", "write"),
        ("g(1).astype('f4')", "write"),
        ("g(1)", "store"),
        ("y", "store"),
        ("(np.sin(x),)", "store"),
        ("[np.sin(x)]", "store"),
        ("{'a': np.sin(x)}", "store"),
        ("None", "store"),
        ("'a'", "store"),
    ],
)
def test_one_leaf_is_written_when_the_value_is_one_array(value: str, form: str):
    assert forms(f"return {value}") == [form]


@pytest.mark.parametrize(
    ("value", "spec", "form"),
    [
        pytest.param("np.sin(x), np.cos(x)", PAIR, "leaves", id="a tuple of ufuncs"),
        pytest.param("g(1) + 1, np.cos(x)", PAIR, "leaves", id="the first may be anything that is an array"),
        pytest.param("np.sin(x), x", PAIR, "leaves", id="a name"),
        pytest.param("np.sin(x), 2.0", PAIR, "leaves", id="a constant"),
        pytest.param("np.sin(x), np.cos(x).astype(np.float32)", PAIR, "leaves", id="a cast"),
        pytest.param("np.sin(x), np.float32(2)", PAIR, "leaves", id="a scalar"),
        pytest.param("[np.sin(x), np.cos(x)]", PAIR_LIST, "leaves", id="a list"),
        pytest.param("{'a': np.sin(x), 'b': np.cos(x)}", NAMED, "leaves", id="a dict"),
        pytest.param("{'b': np.sin(x), 'a': np.cos(x)}", NAMED, "leaves", id="a dict in another order"),
        pytest.param("np.sin(x), g(x.shape) + 1", PAIR, "store", id="a call in a later element"),
        pytest.param("np.sin(x), np.asarray(x).sum()", PAIR, "store", id="a method in a later element"),
        pytest.param("np.sin(x), np.cos(x, out=buf)", PAIR, "store", id="a ufunc that writes"),
        pytest.param("np.sin(x), g(1)", PAIR, "store", id="an element that may be a pytree"),
        pytest.param("[np.sin(x), np.cos(x)]", PAIR, "store", id="a list for a tuple"),
        pytest.param("(np.sin(x), np.cos(x))", PAIR_LIST, "store", id="a tuple for a list"),
        pytest.param("(np.sin(x),)", PAIR, "store", id="one too few"),
        pytest.param("(np.sin(x), 1.0, 2.0)", PAIR, "store", id="one too many"),
        pytest.param("np.sin(x), None", PAIR, "store", id="None"),
        pytest.param("np.sin(x), (1.0,)", PAIR, "store", id="a nested tuple"),
        pytest.param("(*y, 1.0)", PAIR, "store", id="a star"),
        pytest.param("{'a': np.sin(x), 'c': 1.0}", NAMED, "store", id="another key"),
        pytest.param("{'a': np.sin(x), **y}", NAMED, "store", id="double stars"),
        pytest.param("{'a': np.sin(x), y: 1.0}", NAMED, "store", id="a key that is a variable"),
        pytest.param("{'a': 1.0, 'a': 2.0, 'b': 3.0}", NAMED, "store", id="a key given twice"),
        pytest.param("np.sin(x), np.cos(x)", NAMED, "store", id="a tuple for a dict"),
        pytest.param("np.sin(x), np.cos(x)", UNKNOWN, "store", id="an unknown spec"),
        pytest.param("np.sin(x), np.cos(x)", Spec("tuple", (LEAF, PAIR)), "store", id="a nested spec"),
        pytest.param("np.sin(x)", PAIR, "store", id="an array for a tuple"),
        pytest.param("y", PAIR, "store", id="a name for a tuple"),
    ],
)
def test_literals_are_written_leaf_by_leaf_when_nothing_can_come_between(value: str, spec: Spec, form: str):
    assert forms(f"return {value}", spec) == [form]


@pytest.mark.parametrize(
    ("body", "spec", "wanted"),
    [
        ("return", EMPTY, ["bare"]),
        ("return None", EMPTY, ["bare"]),
        ("return y", EMPTY, ["store"]),
        ("return", UNKNOWN, ["store"]),
        ("return None", LEAF, ["store"]),
        ("pass", LEAF, []),
    ],
)
def test_nothing_is_stored_when_the_spec_is_known_to_be_empty(body: str, spec: Spec, wanted: list[str]):
    assert forms(body, spec) == wanted


def test_every_return_has_its_plan_in_order_of_position():
    body = "if y:\n    return np.sin(x)\nfor _ in range(3):\n    return g(1)\nreturn x"
    assert forms(body) == ["write", "store", "write"]


def test_returns_of_nested_functions_are_their_own():
    found, _ = function(
        "def g():\n    return 1\nclass C:\n    def m(self):\n        return 2\nh = lambda: 3\nreturn 4"
    )
    assert [ast.unparse(node) for node in own_returns(found)] == ["return 4"]


@pytest.mark.parametrize(
    ("body", "generator"),
    [
        ("yield x", True),
        ("yield from x", True),
        ("y = yield", True),
        ("return [v for v in x]", False),
        ("def g():\n    yield x\nreturn g", False),
        ("return lambda: (yield x)", False),
        ("if y:\n    while y:\n        yield", True),
    ],
)
def test_generators_yield_in_their_own_body(body: str, generator: bool):
    assert is_generator(function(body)[0]) is generator


def test_leaves_have_their_index_as_text():
    value = ast.parse("{'b': x, \"a'\": y}", mode="eval").body
    assert [index for index, _ in leaves(value)] == ["'b'", '"a\'"']
    assert [index for index, _ in leaves(ast.parse("x, y", mode="eval").body)] == ["0", "1"]


# ------------------------------------------------------------------------------- what stands around


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return x", id="nothing"),
        pytest.param("if y:\n    return x", id="a branch"),
        pytest.param("for _ in y:\n    return x", id="a loop"),
        pytest.param("while y:\n    return x\nelse:\n    return y", id="a loop's else"),
        pytest.param("match y:\n    case 1:\n        return x", id="a match"),
        pytest.param("try:\n    g()\nexcept E:\n    return x", id="a handler"),
        pytest.param("try:\n    g()\nexcept E:\n    pass\nelse:\n    return x", id="a try's else"),
        pytest.param("try:\n    g()\nexcept E:\n    y = 2\nreturn x", id="behind a try"),
        pytest.param("with LOCK:\n    return x", id="a lock"),
        pytest.param("with threading.Lock():\n    return x", id="a lock made here"),
        pytest.param("with open('a') as h:\n    return x", id="a file"),
        pytest.param("with open('a') as h, LOCK:\n    return x", id="a file and a lock"),
    ],
)
def test_a_return_is_written_where_it_stands(body: str):
    plans = planned(body)
    assert not isinstance(plans, Obstacle)
    assert all(plan.after is None for plan in plans)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "with np.errstate(all='ignore'):\n    return np.log(x)", id="the last statement of the body"
        ),
        pytest.param("with manager:\n    return np.log(x)", id="an unknown context at the end of the body"),
        pytest.param(
            "with np.errstate(all='ignore'):\n    z = 1\n    return np.log(x)", id="the last of a block"
        ),
        pytest.param(
            "with np.errstate():\n    with warnings.catch_warnings():\n        return np.log(x)",
            id="nested ones",
        ),
        pytest.param(
            "if y:\n    with np.errstate(all='ignore'):\n        return np.log(x)\nreturn x",
            id="a plain context in a branch",
        ),
    ],
)
def test_a_return_at_the_end_of_a_context_is_written_behind_it(body: str):
    plans = planned(body)
    assert not isinstance(plans, Obstacle)
    assert isinstance(plans[0].after, ast.With)
    assert plans[0].after.lineno < plans[0].node.lineno


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "try:\n    g()\nexcept E:\n    return x\nfinally:\n    g()", id="a handler with a finally"
        ),
        pytest.param("try:\n    g()\nfinally:\n    return x", id="a finally"),
        pytest.param(
            "try:\n    if y:\n        return x\nexcept E:\n    pass\nreturn x", id="deep in a try's body"
        ),
        pytest.param(
            "try:\n    with LOCK:\n        return x\nexcept E:\n    pass\nreturn x", id="a lock in a try"
        ),
        pytest.param(
            "with manager:\n    if y:\n        return x\nreturn x", id="in the middle of an unknown context"
        ),
        pytest.param(
            "with np.errstate(all='ignore'):\n    if y:\n        return x\n    return y",
            id="two in a context",
        ),
        pytest.param(
            "if y:\n    with manager:\n        return x\nreturn x", id="an unknown context in a branch"
        ),
        pytest.param(
            "with contextlib.suppress(E):\n    return x\nreturn y", id="a context that swallows errors"
        ),
        pytest.param("for _ in y:\n    with manager:\n        return x", id="an unknown context in a loop"),
    ],
)
def test_a_return_that_the_write_would_not_replace_is_an_obstacle(body: str):
    found = planned(body)
    assert isinstance(found, Obstacle) and found.code == "BC106"
    assert isinstance(found.node, ast.Return)


def test_a_bare_return_may_stand_anywhere():
    assert forms("try:\n    return\nfinally:\n    g()", EMPTY) == ["bare"]
    assert forms("with manager:\n    if y:\n        return None\n    g()", EMPTY) == ["bare"]


def test_a_context_that_may_swallow_an_exception_may_leave_the_value_unset():
    (plan,) = planned("with manager:\n    return np.log(x)")  # type: ignore[misc]
    assert plan.may_miss
    (plan,) = planned("with np.errstate(all='ignore'):\n    return np.log(x)")  # type: ignore[misc]
    assert not plan.may_miss
