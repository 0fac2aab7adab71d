"""Ways in which a raw argument, or an exception, hid from the analysis once; each must be an obstacle."""

from __future__ import annotations

import ast

import pytest

from codemods import names
from codemods.bodies import Argument, analyse


def obstacle(body: str, *parameters: str) -> str | None:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    tree = ast.parse(f"import numpy as np\ndef f({', '.join(parameters)}):\n{lines}")
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    report = analyse(function, {name: Argument() for name in parameters}, names.read(tree))
    return report.obstacle.code if report.obstacle else None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(
            "for _ in range(2):\n    try: break\n    finally: y = x\nreturn y // 0",
            "BC104",
            id="a break passes through finally",
        ),
        pytest.param(
            "for _ in range(2):\n    try: continue\n    finally: y = x\nreturn y // 0",
            "BC104",
            id="a continue passes through finally",
        ),
        pytest.param(
            "key = x\nmatch {'a': 1}:\n    case {'b': key}: pass\n    case _: pass\nreturn key // 0",
            "BC104",
            id="a pattern that fails binds nothing",
        ),
        pytest.param(
            "a = np.zeros(2)\nreturn list(map(lambda v: x, a))[0] // 0",
            "BC104",
            id="what a mapped function returns",
        ),
        pytest.param(
            "y = 0.0\nfor _ in range(2):\n    y = x\n    break\nelse:\n    y = 0.0\nreturn y // 0",
            "BC104",
            id="a break does not pass through else",
        ),
        pytest.param(
            "k = 1\ng = (v // k for v in range(3))\nk = x\nreturn list(g)",
            "BC104",
            id="a generator that is run later",
        ),
        pytest.param(
            "import sys\nreturn x * sys._getframe().f_code.co_argcount", "BC118", id="the frame is read"
        ),
        pytest.param("return max(*[x, y])", "BC104", id="a starred list is several values"),
        pytest.param("vals = [x, y]\nvals[0] += 1.0\nreturn vals[0]", "BC105", id="an element is augmented"),
        pytest.param(
            "vals = {'now': x}\nvals['now'] += 1.0\nreturn vals['now']",
            "BC105",
            id="a dict's value is augmented",
        ),
        pytest.param(
            "s = STATE if flag else {}\ns['last'] = x\nreturn 1.0", "BC112", id="a dict that may be another's"
        ),
        pytest.param(
            "rows = BOX.rows or [None]\nrows += [x]\nreturn 1.0", "BC112", id="a list that may be another's"
        ),
        pytest.param(
            "try: y = np.linalg.inv(x)\nexcept ValueError as e: LOG.append(('inv', e)); y = 0\nreturn y",
            "BC112",
            id="an exception kept in a tuple",
        ),
        pytest.param(
            "try: y = np.linalg.inv(x)\nexcept ValueError as e: LOG.append(e.__traceback__); y = 0\nreturn y",
            "BC112",
            id="the traceback of an exception",
        ),
        pytest.param(
            "try: y = np.linalg.inv(x)\nexcept ValueError: logger.exception('no'); y = 0\nreturn y",
            "BC112",
            id="an exception logged with its traceback",
        ),
        pytest.param(
            "def tell(): logger.exception('no')\n"
            "try: y = np.linalg.inv(x)\nexcept ValueError: tell(); y = 0\nreturn y",
            "BC112",
            id="an exception logged by a helper",
        ),
        pytest.param(
            "with np.errstate(all='raise'):\n    return x + x",
            "BC104",
            id="arithmetic where NumPy's warnings are errors",
        ),
    ],
)
def test_a_raw_value_is_followed(body: str, code: str):
    assert obstacle(body, "x", "y") == code


def test_an_exception_of_a_callback_without_arguments_holds_its_outputs():
    body = "try: r = g()\nexcept ValueError as e: BOX.record(e); r = 0\nreturn r"
    assert obstacle(body) == "BC112"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "try: return np.linalg.inv(x)\nexcept ValueError as e: print(e); return np.zeros(2)",
            id="an exception that is printed",
        ),
        pytest.param(
            "try: return np.linalg.inv(x)\nexcept ValueError as e: raise RuntimeError(str(e)) from e",
            id="an exception that is passed on",
        ),
        pytest.param("rows = []\nrows += [np.sin(x)]\nreturn np.stack(rows)", id="a list of its own"),
        pytest.param(
            "acc = None\nacc = [] if acc is None else acc\nacc.append(np.sin(x))\nreturn acc[0]",
            id="None holds nothing",
        ),
        pytest.param(
            "x = np.asarray(x)\nreturn sum(x[i] * 2 for i in range(3))", id="a generator that is run at once"
        ),
        pytest.param("return list(map(lambda v: np.sin(v), [x]))[0]", id="a mapped function of NumPy's"),
    ],
)
def test_what_keeps_nothing_is_no_obstacle(body: str):
    assert obstacle(body, "x") is None
