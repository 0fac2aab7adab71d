"""Which parameters the call sites supply, and what they show of the values."""

from __future__ import annotations

import ast
import functools
import inspect
import types
import warnings
from collections.abc import Callable

import jax
import jax.nn
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import pytest

from codemods.arguments import Blurred, Supplied, argument, may_be_key, supplied
from codemods.bodies import Argument
from codemods.names import read
from codemods.overrides import Overrides
from codemods.resolve import Resolved, resolve
from codemods.sites import CallSite, find

HEADER = """\
import functools, jax, jax.nn, jax.scipy.special
import jax.numpy as jnp
import numpy as np
import scipy.sparse
"""


def shown(expression: str, before: str = "") -> Argument:
    module = read(ast.parse(f"{HEADER}{before}\n{expression}"))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    return argument(statement.value, module)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        pytest.param("1.5", None, id="a number"),
        pytest.param("True", None, id="a truth value"),
        pytest.param("-1", None, id="a negative number"),
        pytest.param("jnp.sin(x)", None, id="a function of jnp"),
        pytest.param("jax.numpy.sum(x, axis=0)", None, id="a function of jnp by its full name"),
        pytest.param("jax.nn.relu(x)", None, id="a function of jax.nn"),
        pytest.param("jax.scipy.special.gammaln(x)", None, id="a function of jax.scipy.special"),
        pytest.param("jnp.float32(2)", "float32", id="a scalar of a dtype"),
        pytest.param("jnp.asarray(x, dtype=jnp.int32)", "int32", id="a dtype by keyword"),
        pytest.param("jnp.zeros(3, dtype='float32')", "float32", id="a dtype by its name"),
        pytest.param("jnp.zeros(3, dtype=np.float16)", "float16", id="a dtype of NumPy"),
        pytest.param("jnp.zeros(3, dtype=jnp.int64)", None, id="a dtype that depends on a mode"),
        pytest.param("jnp.zeros(3, dtype=d)", None, id="a dtype that is a variable"),
        pytest.param("jnp.sin(x).astype(jnp.float32)", "float32", id="astype"),
        pytest.param("jnp.sin(x).reshape(-1)", None, id="a method of an array"),
        pytest.param("jnp.sin(x).T", None, id="a transpose"),
        pytest.param("jnp.sin(x) + jnp.cos(x)", None, id="arithmetic of arrays"),
        pytest.param("2 * jnp.sin(x)", None, id="arithmetic with a number"),
        pytest.param("jnp.float32(1) * jnp.float32(2)", "float32", id="arithmetic of one dtype"),
        pytest.param("jnp.float32(1) * jnp.int32(2)", None, id="arithmetic of two dtypes"),
        pytest.param("jnp.int32(1) / jnp.int32(2)", None, id="a division, which gives another dtype"),
        pytest.param("jax.lax.stop_gradient(jnp.sin(x))", None, id="behind stop_gradient"),
    ],
)
def test_expressions_of_one_array_are_known(expression: str, dtype: str | None):
    assert shown(expression) == Argument("array", dtype)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("x", id="a name that nothing binds"),
        pytest.param("x.T", id="a transpose of anything, a sparse matrix perhaps"),
        pytest.param("x.sum()", id="a method of anything"),
        pytest.param("x.astype(jnp.float32)", id="astype of anything"),
        pytest.param("x + y", id="arithmetic of anything"),
        pytest.param("x * 2", id="arithmetic of anything with a number"),
        pytest.param("-x", id="a negation of anything"),
        pytest.param("x @ jnp.ones(3)", id="a product with an array"),
        pytest.param("x < y", id="a comparison"),
        pytest.param("x[0]", id="an item"),
        pytest.param("(x, y)", id="a tuple"),
        pytest.param("[1, 2]", id="a list"),
        pytest.param("{'a': 1}", id="a dict"),
        pytest.param("None", id="None"),
        pytest.param("'a'", id="a string"),
        pytest.param("f(x)", id="a call"),
        pytest.param("jnp.split(x, 2)", id="a function that gives a list"),
        pytest.param("jnp.where(x)", id="where of a condition alone"),
        pytest.param("jnp.meshgrid(x, y)", id="meshgrid"),
        pytest.param("jnp.gradient(x)", id="a gradient, one array an axis"),
        pytest.param("jnp.average(x, returned=True)", id="a function that is asked for more"),
        pytest.param("jnp.linspace(0, 1, retstep=True)", id="another one"),
        pytest.param("jnp.linalg.eigh(x)", id="a decomposition"),
        pytest.param("jax.tree.map(f, x)", id="a tree map"),
        pytest.param("scipy.sparse.eye(3)", id="a sparse matrix"),
        pytest.param("jax.lax.stop_gradient(x)", id="anything behind stop_gradient"),
    ],
)
def test_everything_else_may_be_a_pytree(expression: str):
    assert shown(expression).form == "any"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        pytest.param("a = jnp.float32(1)", Argument("array", "float32"), id="its only assignment"),
        pytest.param("b = jnp.sin(x)\na = b", Argument("array"), id="a chain"),
        pytest.param("a = jnp.sin(x)\na = (1, 2)", Argument(), id="assigned twice"),
        pytest.param("a = b\nb = a", Argument(), id="in a circle"),
        pytest.param("a += jnp.sin(x)", Argument(), id="an augmented assignment"),
        pytest.param("a, b = jnp.sin(x)", Argument(), id="unpacked"),
        pytest.param("for a in jnp.sin(x): pass", Argument(), id="a loop variable"),
    ],
)
def test_names_are_followed(before: str, wanted: Argument):
    assert shown("a", before) == wanted


# What functions of JAX can be called with at all; nothing is said of what they mean.
ARRAY = jnp.arange(1.0, 5.0)
SQUARE = jnp.eye(3) + 0.5
WHOLE = jnp.arange(3)
CALLS = [
    *[(SQUARE,), (ARRAY,), (ARRAY, ARRAY), (SQUARE, SQUARE), (WHOLE,), (3,), ([ARRAY, ARRAY],), (ARRAY, 2)],
    *[(3, 3), ("i,i", ARRAY, ARRAY), ((2, 2),), (ARRAY > 1, ARRAY, ARRAY), (0.0, 2.0), (ARRAY, ARRAY, 2)],
]
FLAGS = {"returned", "retstep", "full", "cov", "return_index", "return_inverse", "return_indices", "sparse"}
# Dtypes of fewer than eight bits crash XLA's CPU compiler in some calls, and the last two write files.
LEFT_OUT = {"int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn", "save", "savez"}
MODULES = [jnp, jax.nn, jax.scipy.special]


def functions(module: types.ModuleType) -> list[str]:
    names = {n for n in set(dir(module)) - LEFT_OUT if not n.startswith("_")}
    return sorted(n for n in names if callable(f := getattr(module, n)) and not is_exception(f))


def is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def flags_of(function: Callable[..., object]) -> list[str | None]:
    try:
        return [None, *sorted(FLAGS & set(inspect.signature(function).parameters))]
    except ValueError:
        return [None]


def gives_one_array(
    function: Callable[..., object], call: tuple[object, ...], flag: str | None
) -> bool | None:
    """Whether a call gives a single array or number; None if it cannot be made."""
    made = functools.partial(function, *call, **({flag: True} if flag else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for evaluate in (
            jax.eval_shape,
            lambda thunk: thunk(),
        ):  # some functions need values, not shapes alone
            try:
                result = evaluate(made)
            except Exception:  # noqa: BLE001  # most functions take few of the calls
                continue
            kinds = jax.ShapeDtypeStruct | jax.Array | np.ndarray | np.generic | bool | int | float | complex
            return isinstance(result, kinds)
    return None


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_what_is_taken_for_one_array_is_one_whatever_the_arguments(module: types.ModuleType):
    tried = 0
    wrong = set()
    for name in functions(module):
        function = getattr(module, name)
        for flag in flags_of(function):
            keywords = f", {flag}=True" if flag else ""
            if shown(f"{module.__name__}.{name}(x{keywords})").form != "array":
                continue
            answers = [gives_one_array(function, call, flag) for call in CALLS]
            tried += sum(answer is not None for answer in answers)
            if False in answers:
                wrong.add((name, flag))
    assert tried > 50
    assert not wrong


@pytest.mark.parametrize(
    ("expression", "key"),
    [
        ("key", True),
        ("rng", True),
        ("subkey", True),
        ("my_key", True),
        ("key2", True),
        ("state.rng", True),
        ("keys[0]", True),
        ("jax.random.key(0)", True),
        ("jax.random.split(k)[0]", True),
        ("monkey", False),
        ("keyboard", False),
        ("x", False),
        ("jnp.sin(x)", False),
        ("jax.random.key_data(key)", False),
        ("jax.random.normal(key)", False),
        ("k = jax.random.key(0)\nk", True),
        ("rng = jax.random.normal(k)\nrng", False),
        ("key = jnp.array([0, 1])\nkey", False),
        ("key = make()\nkey", True),
    ],
)
def test_random_keys_are_suspected(expression: str, key: bool):
    module = read(ast.parse(f"{HEADER}{expression}"))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert may_be_key(statement.value, module) is key


@pytest.mark.parametrize(
    ("value", "key"), [("jax.random.key(0)", True), ("load()", True), ("jax.random.key_data(k)", False)]
)
def test_what_a_name_holds_outweighs_the_name(value: str, key: bool):
    module = read(ast.parse(f"{HEADER}key = {value}\nkey"))
    statement = module.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert may_be_key(statement.value, module) is key


# ------------------------------------------------------------------------------- parameters


def parameters(text: str) -> dict[str, Supplied]:
    """What all call sites of the module, which share a callback, supply."""
    module = read(ast.parse(HEADER + text))
    sites = [site for site in find(module)[0] if isinstance(site, CallSite)]
    callbacks = frozenset(site.callback for site in sites)
    calls = []
    for site in sites:
        found = resolve(site.callback, module, callbacks, Overrides(module))
        assert isinstance(found, Resolved)
        calls.append((site, found))
    return supplied(calls[0][1].function, calls, module)


@pytest.mark.parametrize(
    ("signature", "call", "names"),
    [
        pytest.param("x, y", "f, S, a, b", "x y", id="by position"),
        pytest.param("x, y", "f, S, a, y=b", "x y", id="by keyword"),
        pytest.param("x, y=1", "f, S, a", "x", id="a default that is left"),
        pytest.param("x, y=1", "f, S, a, b", "x y", id="a default that is supplied"),
        pytest.param("x, *, y", "f, S, a, y=b", "x y", id="keyword-only"),
        pytest.param("x, /, y", "f, S, a, b", "x y", id="positional-only"),
        pytest.param("x, *rest", "f, S, a", "x", id="no star arguments"),
        pytest.param("x, *rest", "f, S, a, b, c", "x rest", id="star arguments"),
        pytest.param("x, **rest", "f, S, a, y=b", "x rest", id="double-star arguments"),
        pytest.param("x, **rest", "f, S, a", "x", id="no double-star arguments"),
        pytest.param("", "f, S", "", id="none"),
        pytest.param("a, x", "functools.partial(f, 1), S, a", "x", id="what a partial binds is not supplied"),
        pytest.param("x, k", "functools.partial(f, k=1), S, a", "x", id="nor what it binds by keyword"),
        pytest.param("x, y, z", "f, S, a, *bs", "x y z", id="a star may supply the rest"),
        pytest.param("x, y, *z", "f, S, *bs", "x y z", id="a star may supply everything"),
    ],
)
def test_supplied_parameters(signature: str, call: str, names: str):
    found = parameters(f"def f({signature}): return 0\njax.pure_callback({call})")
    assert " ".join(found) == names
    assert all(one.always for one in found.values())


def test_a_star_may_or_may_not_reach_a_parameter_with_a_default():
    found = parameters("def f(x, y=1): return 0\njax.pure_callback(f, S, *a)")
    assert [found[name].always for name in "xy"] == [True, False]


def test_two_sites_are_taken_together():
    text = (
        "def f(x, y=1): return 0\njax.pure_callback(f, S, jnp.sin(a), b)\njax.pure_callback(f, S, jnp.cos(a))"
    )
    found = parameters(text)
    assert found["x"] == Supplied(Argument("array"), True)
    assert found["y"] == Supplied(Argument(), False)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("jnp.sin(a)", "b", Argument()),
        ("jnp.float32(1)", "jnp.float32(2)", Argument("array", "float32")),
        ("jnp.float32(1)", "jnp.int32(2)", Argument("array")),
    ],
)
def test_only_what_every_site_shows_is_known(first: str, second: str, wanted: Argument):
    text = f"def f(x): return 0\njax.pure_callback(f, S, {first})\njax.pure_callback(f, S, {second})"
    assert parameters(text)["x"].argument == wanted


def test_a_partial_of_pure_callback_itself_supplies_everything_later():
    found = parameters("def f(x, y, k=1): return 0\ng = functools.partial(jax.pure_callback, f, S)")
    assert {name: one.always for name, one in found.items()} == {"x": True, "y": True, "k": False}


@pytest.mark.parametrize(
    ("signature", "call"),
    [
        pytest.param("x", "f, S, a, b", id="too many"),
        pytest.param("x", "f, S, a, k=b", id="an unknown keyword"),
        pytest.param("x, /", "f, S, x=a", id="a keyword for a positional-only parameter"),
    ],
)
def test_arguments_that_do_not_match_are_an_error(signature: str, call: str):
    with pytest.raises(Blurred):
        parameters(f"def f({signature}): return 0\njax.pure_callback({call})")
