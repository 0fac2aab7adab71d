"""What the source shows of a result's pytree."""

from __future__ import annotations

import ast

import pytest

from codemods.names import read
from codemods.specs import EMPTY, LEAF, UNKNOWN, Spec, structure

HEADER = """\
import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax import ShapeDtypeStruct as Sds
"""


def spec(expression: str, before: str = "") -> Spec:
    module = read(ast.parse(f"{HEADER}{before}\n{expression}"))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    return structure(statement.value, module)


@pytest.mark.parametrize(
    "expression",
    [
        "jax.ShapeDtypeStruct((3,), np.float32)",
        "jax.ShapeDtypeStruct(shape=x.shape, dtype=x.dtype)",
        "Sds(x.shape, x.dtype)",
        "jax.core.ShapedArray((3,), np.float32)",
        "jnp.zeros(3)",
        "jnp.zeros_like(x)",
        "jnp.empty((2, 2), np.int32)",
        "jnp.asarray(x)",
    ],
)
def test_one_array_is_a_leaf(expression: str):
    assert spec(expression) == LEAF


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        pytest.param("(Sds(a), Sds(b))", Spec("tuple", (LEAF, LEAF)), id="a tuple"),
        pytest.param("(Sds(a),)", Spec("tuple", (LEAF,)), id="a tuple of one"),
        pytest.param("[Sds(a), Sds(b)]", Spec("list", (LEAF, LEAF)), id="a list"),
        pytest.param(
            "{'b': Sds(b), 'a': Sds(a)}",
            Spec("dict", (LEAF, LEAF), ("b", "a")),
            id="a dict, in written order",
        ),
        pytest.param(
            "((Sds(a), Sds(b)), Sds(c))", Spec("tuple", (Spec("tuple", (LEAF, LEAF)), LEAF)), id="nested"
        ),
        pytest.param("(Sds(a), None)", Spec("tuple", (LEAF, EMPTY)), id="with None in it"),
        pytest.param("(Sds(a), s)", Spec("tuple", (LEAF, UNKNOWN)), id="with something unknown in it"),
        pytest.param("{'a': s}", Spec("dict", (UNKNOWN,), ("a",)), id="a dict of something unknown"),
    ],
)
def test_literal_containers_are_known(expression: str, wanted: Spec):
    assert spec(expression) == wanted


@pytest.mark.parametrize("expression", ["None", "()", "[]", "{}", "(None, None)", "[(), None]"])
def test_what_has_no_leaf_is_empty(expression: str):
    assert spec(expression) == EMPTY


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("s", id="a name that nothing binds"),
        pytest.param("s.spec", id="an attribute"),
        pytest.param("s[0]", id="an item"),
        pytest.param("f(x)", id="a call"),
        pytest.param("jax.eval_shape(f, x)", id="eval_shape"),
        pytest.param("jax.tree.map(f, x)", id="a tree map"),
        pytest.param("(*s, Sds(a))", id="a star"),
        pytest.param("[*s]", id="a list's star"),
        pytest.param("{**s}", id="a dict's stars"),
        pytest.param("{'a': Sds(a), **s}", id="a dict with stars in it"),
        pytest.param("{k: Sds(a)}", id="a key that is a variable"),
        pytest.param("{1: Sds(a)}", id="a key that is no string"),
        pytest.param("{'a': Sds(a), 'a': Sds(b)}", id="a key given twice"),
        pytest.param("Sds(a) if c else (Sds(a), Sds(b))", id="a choice"),
        pytest.param("(Sds(a),) * 2", id="a product"),
        pytest.param("[Sds(a) for a in s]", id="a comprehension"),
        pytest.param("tuple(s)", id="tuple()"),
        pytest.param("dict(a=Sds(a))", id="dict()"),
        pytest.param("jnp.split(x, 2)", id="a function that gives a list"),
        pytest.param("np.zeros(3)", id="a NumPy array"),
    ],
)
def test_everything_else_is_unknown(expression: str):
    assert spec(expression) == UNKNOWN


@pytest.mark.parametrize(
    ("before", "expression", "wanted"),
    [
        pytest.param("s = Sds(a)", "s", LEAF, id="its only assignment"),
        pytest.param("s: object = Sds(a)", "s", LEAF, id="an annotated one"),
        pytest.param("s = Sds(a)\nt = s\nu = t", "u", LEAF, id="a chain of names"),
        pytest.param("s = Sds(a)", "(s, s)", Spec("tuple", (LEAF, LEAF)), id="names in a tuple"),
        pytest.param("s = (Sds(a), Sds(b))", "s", Spec("tuple", (LEAF, LEAF)), id="a tuple by name"),
        pytest.param("s = [Sds(a)]", "s", UNKNOWN, id="a list by name, which may have changed"),
        pytest.param("s = {'a': Sds(a)}", "s", UNKNOWN, id="a dict by name, which may have changed"),
        pytest.param("s = Sds(a)\ns = (Sds(a), Sds(b))", "s", UNKNOWN, id="assigned twice"),
        pytest.param(
            "if c:\n    s = Sds(a)\nelse:\n    s = Sds(b)", "s", UNKNOWN, id="assigned in two branches"
        ),
        pytest.param("s, t = Sds(a), Sds(b)", "s", UNKNOWN, id="unpacked"),
        pytest.param("s = t = Sds(a)", "s", UNKNOWN, id="a chained assignment"),
        pytest.param("for s in t: pass", "s", UNKNOWN, id="a loop variable"),
        pytest.param("s = None", "s", EMPTY, id="None by name"),
        pytest.param("s += Sds(a)", "s", UNKNOWN, id="an augmented assignment"),
        pytest.param("s = s", "s", UNKNOWN, id="a name that is itself"),
        pytest.param("s = t\nt = s", "s", UNKNOWN, id="two names that are each other"),
    ],
)
def test_names_are_followed_to_their_only_assignment(before: str, expression: str, wanted: Spec):
    assert spec(expression, before) == wanted


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        pytest.param(
            "def f(x):\n    return Sds(x.shape, x.dtype)", LEAF, id="a function that returns a leaf"
        ),
        pytest.param("f = lambda x: Sds(x.shape, x.dtype)", LEAF, id="a lambda that does"),
        pytest.param(
            "def g(x):\n    return Sds(x)\ndef f(x):\n    return g(x)", LEAF, id="through another one"
        ),
        pytest.param(
            "def f(x):\n    return Sds(x), Sds(x)", UNKNOWN, id="a tuple, which other leaves may join"
        ),
        pytest.param(
            "def f(*x):\n    'Like x.'\n    x = list(x)\n    return Sds(x[0].shape)",
            LEAF,
            id="more than a return",
        ),
        pytest.param(
            "def f(x):\n    if x:\n        return Sds(x)\n    return Sds(())", LEAF, id="two leaves"
        ),
        pytest.param(
            "def f(x):\n    if x:\n        return None\n    return Sds(x)", UNKNOWN, id="None or a leaf"
        ),
        pytest.param(
            "def f(x):\n    if x:\n        return\n    return Sds(x)", UNKNOWN, id="nothing or a leaf"
        ),
        pytest.param(
            "def f(x):\n    if x:\n        return x\n    return Sds(x)", UNKNOWN, id="anything or a leaf"
        ),
        pytest.param("def f(x):\n    if x:\n        return Sds(x)", UNKNOWN, id="an end without return"),
        pytest.param("def f(x):\n    s = Sds(x)\n    return s", LEAF, id="a leaf by name"),
        pytest.param(
            "def f(x):\n    s = Sds(x)\n    s = g(s)\n    return s", UNKNOWN, id="a name bound twice"
        ),
        pytest.param("def f(x):\n    yield x\n    return Sds(x)", UNKNOWN, id="a generator"),
        pytest.param(
            "def f(x):\n    def g():\n        return x\n    return Sds(g())", LEAF, id="a function in it"
        ),
        pytest.param("@g\ndef f(x):\n    return Sds(x)", UNKNOWN, id="decorated"),
        pytest.param("async def f(x):\n    return Sds(x)", UNKNOWN, id="a coroutine function"),
        pytest.param("def f(x):\n    return f(x)", UNKNOWN, id="endless recursion"),
        pytest.param(
            "def f(x):\n    return Sds(x)\ndef f(x):\n    return None", UNKNOWN, id="two definitions"
        ),
        pytest.param("class f:\n    pass", UNKNOWN, id="a class"),
        pytest.param("f = functools.partial(Sds, (3,))", UNKNOWN, id="a partial"),
    ],
)
def test_functions_that_return_a_leaf_are_followed(before: str, wanted: Spec):
    assert spec("f(x)", before) == wanted


def test_jax_must_be_jax():
    assert spec("q.ShapeDtypeStruct((3,), int)", "import other as q") == UNKNOWN
    assert spec("jax.ShapeDtypeStruct((3,), int)", "jax = g()") == UNKNOWN


def test_flat_means_nothing_but_leaves():
    assert spec("(Sds(a), Sds(b))").is_flat
    assert not spec("(Sds(a), None)").is_flat
    assert not spec("((Sds(a),), Sds(b))").is_flat
    assert not LEAF.is_flat and not EMPTY.is_flat
