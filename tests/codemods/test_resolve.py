"""Which function a callback expression means."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.names import Module, read
from codemods.overrides import Overrides
from codemods.resolve import Opaque, Resolved, resolve, settle_vectorized
from codemods.sites import CallSite, Unresolved, ValueUse, find

HEADER = """\
import functools
from functools import partial
import jax
import numpy as np
import scipy.linalg
import scipy.special
import scipy.optimize
from . import helpers
from .helpers import imported
"""


def sites_of(text: str) -> tuple[list[CallSite], Module]:
    module = read(ast.parse(HEADER + textwrap.dedent(text)))
    return [site for site in find(module)[0] if isinstance(site, CallSite)], module


def resolved(text: str) -> Resolved | Opaque:
    """The callback of the first call site of `jax.pure_callback`."""
    sites, module = sites_of(text)
    callbacks = frozenset(site.callback for site in sites)
    return resolve(sites[0].callback, module, callbacks, Overrides(module))


def call(callback: str) -> str:
    return f"jax.pure_callback({callback}, S, x)"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(f"def f(x): return x\n{call('f')}", 10, id="a function"),
        pytest.param(f"{call('f')}\ndef f(x): return x", 11, id="a function that is defined later"),
        pytest.param(f"def g():\n    def f(x): return x\n    {call('f')}", 11, id="a nested function"),
        pytest.param(
            f"def f(x): return x\ndef g():\n    def f(x): return x\n    {call('f')}",
            12,
            id="the nearest of that name",
        ),
        pytest.param(
            "def f(x): return x\nclass C:\n    def f(self, x): return x\n    def g(self):\n"
            f"        {call('f')}",
            10,
            id="not the method of that name",
        ),
        pytest.param(call("lambda x: x"), 10, id="a lambda"),
        pytest.param(f"f = lambda x: x\n{call('f')}", 10, id="a lambda by name"),
        pytest.param(f"f = lambda x: x\n{call('f')}\n{call('f')}", 10, id="a lambda by name, twice"),
        pytest.param(
            f"class C:\n    def f(self, x): return x\n    def g(self): {call('self.f')}", 11, id="a method"
        ),
        pytest.param(
            f"class C:\n    @staticmethod\n    def f(x): return x\n    def g(self): {call('self.f')}",
            12,
            id="a static method by self",
        ),
        pytest.param(
            f"class C:\n    @staticmethod\n    def f(x): return x\n{call('C.f')}",
            12,
            id="a static method by its class",
        ),
        pytest.param(
            f"class C:\n    @classmethod\n    def f(cls, x): return x\n{call('C.f')}",
            12,
            id="a class method by its class",
        ),
        pytest.param(
            f"class C:\n    def f(this, x): return x\n    def g(this): {call('this.f')}",
            11,
            id="self under another name",
        ),
        pytest.param(f"def f(a, x): return x\n{call('functools.partial(f, 1)')}", 10, id="a partial"),
        pytest.param(f"def f(a, x): return x\n{call('partial(f, 1)')}", 10, id="a partial by name"),
        pytest.param(
            f"def f(a, x): return x\np = partial(f, 1)\n{call('p')}", 10, id="a partial by its variable"
        ),
        pytest.param(
            f"class C:\n    def f(self, a, x): return x\n    def g(self): {call('partial(self.f, 1)')}",
            11,
            id="a partial of a method",
        ),
        pytest.param(call("partial(lambda a, x: x, 1)"), 10, id="a partial of a lambda"),
        pytest.param(f"def f(x): return x\ng = f\n{call('g')}", 10, id="a variable that holds it"),
        pytest.param(f"def f(x): return x\ng: object = f\n{call('g')}", 10, id="an annotated variable"),
        pytest.param(f"def f(x): return x\ng = f\nh = g\n{call('h')}", 10, id="a variable of a variable"),
        pytest.param(
            "class C:\n    def f(self, x): return x\n    def g(self):\n        h = self.f\n"
            f"        {call('h')}",
            11,
            id="a variable that holds a method",
        ),
        pytest.param(
            "class C:\n    def __init__(self):\n        self.f = lambda x: x\n"
            f"    def g(self): {call('self.f')}",
            12,
            id="an attribute of self that holds it",
        ),
        pytest.param(
            f"class B:\n    def f(self, x): return x\nclass C(B):\n    def g(self): {call('self.f')}",
            11,
            id="a method of the base class",
        ),
        pytest.param(
            f"class B:\n    def f(self, x): return x\nclass C(B):\n    def g(self): {call('super().f')}",
            11,
            id="a method by super()",
        ),
        pytest.param(
            f"class C:\n    def f(x): return x\n{call('C.f')}", 11, id="a function in a class, by the class"
        ),
        pytest.param(
            f"class C:\n    def f(self, x): return x\nc = C()\n{call('c.f')}",
            11,
            id="a method of an object that is made once",
        ),
        pytest.param(f"def f(x): return x\ndef f(x): return 1\n{call('f')}", 10, id="the first of two"),
        pytest.param(
            "from typing import overload\n@overload\ndef f(x: int): ...\ndef f(x): return x\n" + call("f"),
            13,
            id="an overloaded function",
        ),
        pytest.param(
            f"def make(n):\n    def f(x): return x\n    return f\n{call('make(1)')}",
            11,
            id="what a factory makes",
        ),
        pytest.param(
            f"def make(n):\n    return lambda x: x\n{call('make(1)')}", 11, id="a lambda of a factory"
        ),
        pytest.param(
            "@functools.cache\ndef make(n):\n    def f(x): return x\n    g = f\n    return g\n"
            + call("make(1)"),
            12,
            id="what a factory with a cache holds in a variable",
        ),
        pytest.param(
            f"def make(n):\n    def f(x): return x\n    return f\ng = make(1)\n{call('g')}",
            11,
            id="what a factory made earlier",
        ),
    ],
)
def test_a_definition_in_sight_is_found(text: str, line: int):
    found = resolved(text)
    assert isinstance(found, Resolved), found
    assert found.function.lineno == line


@pytest.mark.parametrize(
    ("text", "positional", "keywords", "implicit"),
    [
        pytest.param(f"def f(x): return x\n{call('f')}", 0, set(), 0, id="nothing"),
        pytest.param(
            f"def f(a, b, x, c): return x\n{call('partial(f, 1, 2, c=3)')}", 2, {"c"}, 0, id="a partial"
        ),
        pytest.param(
            f"class C:\n    def f(self, x): return x\n    def g(self): {call('self.f')}",
            0,
            set(),
            1,
            id="self",
        ),
        pytest.param(
            f"class C:\n    @classmethod\n    def f(cls, x): return x\n    def g(self): {call('self.f')}",
            0,
            set(),
            1,
            id="cls",
        ),
        pytest.param(
            f"class C:\n    @staticmethod\n    def f(x): return x\n    def g(self): {call('self.f')}",
            0,
            set(),
            0,
            id="nothing for a static method",
        ),
        pytest.param(
            f"class C:\n    def f(self, a, x): return x\n    def g(self): {call('partial(self.f, 1)')}",
            1,
            set(),
            1,
            id="self and a partial",
        ),
        pytest.param(
            f"def f(a, b, x, c, d): pass\n{call('partial(partial(f, 1, c=2), 3, d=4)')}",
            2,
            {"c", "d"},
            0,
            id="a partial of a partial",
        ),
        pytest.param(
            f"def f(a, b, x): pass\ng = partial(f, 1)\n{call('partial(g, 2)')}",
            2,
            set(),
            0,
            id="a partial of a variable that holds one",
        ),
        pytest.param(
            f"class C:\n    def f(x): return x\n{call('C.f')}", 0, set(), 0, id="nothing through the class"
        ),
        pytest.param(
            f"class C:\n    def f(x): return x\n    @classmethod\n    def g(cls): {call('cls.f')}",
            0,
            set(),
            0,
            id="nothing through cls",
        ),
        pytest.param(
            f"class C:\n    def f(self, x): return x\nc = C()\n{call('c.f')}",
            0,
            set(),
            1,
            id="self of an object",
        ),
    ],
)
def test_what_is_bound_is_known(text: str, positional: int, keywords: set[str], implicit: int):
    found = resolved(text)
    assert isinstance(found, Resolved)
    assert (found.bound.positional, set(found.bound.keywords), found.implicit) == (
        positional,
        keywords,
        implicit,
    )


def test_the_reference_is_what_stands_for_the_function():
    found = resolved(f"def f(a, x): return x\n{call('partial(f, 1)')}")
    assert isinstance(found, Resolved) and ast.unparse(found.reference) == "f"
    found = resolved(f"class C:\n    def f(self, x): return x\n    def g(self): {call('self.f')}")
    assert isinstance(found, Resolved) and ast.unparse(found.reference) == "self.f"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(call("f"), "BC101", id="a name from nowhere"),
        pytest.param(f"def g(f):\n    {call('f')}", "BC101", id="a parameter"),
        pytest.param(f"f = make()\n{call('f')}", "BC101", id="a variable"),
        pytest.param(f"f, g = fs\n{call('f')}", "BC101", id="an unpacked variable"),
        pytest.param(f"for f in fs: {call('f')}", "BC101", id="a loop variable"),
        pytest.param(f"class f: pass\n{call('f')}", "BC101", id="a class"),
        pytest.param(call("make()"), "BC101", id="a factory's result"),
        pytest.param(call("fs[0]"), "BC101", id="an item"),
        pytest.param(call("f if a else g"), "BC101", id="a choice"),
        pytest.param(call("a.b.f"), "BC101", id="an attribute of an attribute"),
        pytest.param(call("a.f"), "BC101", id="an attribute of something"),
        pytest.param(call("imported"), "BC101", id="imported from the project"),
        pytest.param(call("helpers.f"), "BC101", id="of a module of the project"),
        pytest.param(f"f = lambda x: x\ng(f)\n{call('f')}", "BC101", id="a lambda that is used otherwise"),
        pytest.param(call("partial(*fs)"), "BC101", id="a partial of a star"),
        pytest.param(f"def f(x): pass\n{call('partial(f, *a)')}", "BC101", id="a partial that binds a star"),
        pytest.param(
            f"def f(x): pass\n{call('partial(f, **k)')}", "BC101", id="a partial that binds double stars"
        ),
        pytest.param(
            f"class C:\n    f = g\n    def h(self): {call('self.f')}", "BC101", id="a class's attribute"
        ),
        pytest.param(
            f"class C:\n    @property\n    def q(self): pass\n    def g(self): {call('self.f')}",
            "BC101",
            id="a method that the class lacks",
        ),
        pytest.param(
            "class C:\n    def f(self, x): return x\n    def g(self):\n        self.f = h\n"
            f"        {call('self.f')}",
            "BC101",
            id="a method that is replaced",
        ),
        pytest.param(
            "class C:\n    def f(self, x): return x\n    def f(self, x): return 1\n"
            f"    def g(self): {call('self.f')}",
            "BC101",
            id="two methods of that name",
        ),
        pytest.param(
            f"class C:\n    def f(x): return x\n    y = {call('f')}", "BC101", id="in the body of its class"
        ),
        pytest.param(call("np.linalg.inv"), "BC102", id="a function of NumPy"),
        pytest.param(call("np.sum"), "BC102", id="a function of NumPy that asks its argument"),
        pytest.param(call("scipy.optimize.root"), "BC102", id="a function of SciPy"),
        pytest.param(call("np.vectorize(f)"), "BC102", id="a vectorized function"),
        pytest.param(f"async def f(x): return x\n{call('f')}", "BC109", id="a coroutine function"),
        pytest.param(
            f"if a:\n    def f(x): return x\nelse:\n    f = None\n{call('f')}",
            "BC114",
            id="a conditional definition",
        ),
        pytest.param(
            f"def f(x): return x\nf = jit(f)\n{call('f')}", "BC114", id="a definition that is wrapped"
        ),
        pytest.param(
            f"class C:\n    def f(self, x): return x\n    def g(self): {call('self.f')}\nclass D(C):\n"
            "    def f(self, x): return 1",
            "BC114",
            id="an overridden method",
        ),
        pytest.param(
            "class B:\n    def f(self, x): return x\nclass C(B):\n    def f(self, x): return 1\n"
            f"    def g(self): {call('super().f')}",
            "BC114",
            id="a method by super() that is overridden",
        ),
        pytest.param(
            f"class C(Unseen):\n    def g(self): {call('self.f')}",
            "BC101",
            id="a method of a base out of sight",
        ),
        pytest.param(
            f"class B:\n    def f(self, x): return x\nclass C(Unseen, B):\n    def g(self): {call('self.f')}",
            "BC101",
            id="a base out of sight comes first",
        ),
        pytest.param(
            "class C:\n    def __init__(self):\n        self.f = lambda x: x\n        self.f(1)\n"
            f"    def g(self): {call('self.f')}",
            "BC101",
            id="an attribute that is called as well",
        ),
        pytest.param(
            f"class C:\n    def __init__(self, f):\n        self.f = f\n    def g(self): {call('self.f')}",
            "BC101",
            id="an attribute that holds a parameter",
        ),
        pytest.param(
            "class C:\n    f = None\n    def __init__(self):\n        self.f = lambda x: x\n"
            f"    def g(self): {call('self.f')}",
            "BC101",
            id="an attribute with a default",
        ),
        pytest.param(
            f"def f(x): return x\ng = f\ng(1)\n{call('g')}", "BC101", id="a variable used otherwise"
        ),
        pytest.param(f"f = g\ng = f\n{call('f')}", "BC101", id="variables in a circle"),
        pytest.param(
            f"def f(x): return x\nclass C:\n    g = f\n    y = {call('g')}\nC.g(1)",
            "BC101",
            id="a variable of a class that is an attribute as well",
        ),
        pytest.param(
            f"def make(n):\n    def f(x): return x\n    return f\nmake(1)(2)\n{call('make(1)')}",
            "BC101",
            id="a factory that others call",
        ),
        pytest.param(
            f"def make(n):\n    if n: return g\n    return lambda x: x\n{call('make(1)')}",
            "BC101",
            id="a factory of several functions",
        ),
        pytest.param(
            f"@trace\ndef make(n):\n    return lambda x: x\n{call('make(1)')}",
            "BC101",
            id="a decorated factory",
        ),
        pytest.param(
            f"def make(n):\n    return n\n{call('make(abs)')}", "BC101", id="what a factory is given"
        ),
    ],
)
def test_what_is_not_in_sight_has_a_reason(text: str, code: str):
    found = resolved(text)
    assert isinstance(found, Opaque), found
    assert found.code == code
    assert found.reason.endswith(".")


@pytest.mark.parametrize(
    ("callback", "arrays"),
    [
        ("np.linalg.inv", "numpy"),
        ("np.sin", "numpy"),
        ("np.asarray", "numpy"),
        ("np.ravel", "numpy"),
        ("scipy.special.jv", "numpy"),
        ("scipy.linalg.expm", "numpy"),
        ("np.vectorize(f)", "numpy"),
        ("partial(np.linalg.inv)", "numpy"),
        ("partial(np.clip, a_min=0)", "jax"),
        ("partial(np.linalg.norm, axis=0)", "jax"),
        ("np.sum", "jax"),
        ("np.apply_along_axis", "jax"),
        ("np.random.normal", "jax"),
        ("scipy.optimize.root", "jax"),
        ("scipy.linalg.blas.sscal", "jax"),
        ("scipy.linalg.lapack.sgesv", "jax"),
        ("imported", "jax"),
        ("unknown", "jax"),
    ],
)
def test_only_functions_that_convert_and_keep_nothing_get_numpys_arrays(callback: str, arrays: str):
    found = resolved(call(callback))
    assert isinstance(found, Opaque) and found.arrays == arrays


# ------------------------------------------------------------------------------- vectorized=


def settled(text: str) -> CallSite | ValueUse | Unresolved:
    module = read(ast.parse(HEADER + text))
    (site,) = settle_vectorized(find(module)[0], module, Overrides(module))
    return site


def test_vectorized_is_the_old_option_of_a_callback_that_does_not_take_it():
    site = settled("def f(x): return x\njax.pure_callback(f, S, x, vectorized=True)")
    assert isinstance(site, CallSite)
    assert [option.arg for option in site.options] == ["vectorized"] and not site.keywords


@pytest.mark.parametrize("definition", ["def f(x, vectorized): return x", "def f(x, **k): return x"])
def test_vectorized_is_an_argument_of_a_callback_that_takes_it(definition: str):
    site = settled(f"{definition}\njax.pure_callback(f, S, x, vectorized=True)")
    assert isinstance(site, CallSite)
    assert not site.options and [keyword.arg for keyword in site.keywords] == ["vectorized"]


def test_vectorized_of_a_callback_out_of_sight_is_refused():
    site = settled("jax.pure_callback(f, S, x, vectorized=True)")
    assert isinstance(site, Unresolved) and site.code == "BC208"


def test_vectorized_beside_vmap_method_raises_today():
    site = settled(
        "def f(x): return x\njax.pure_callback(f, S, x, vectorized=True, vmap_method='sequential')"
    )
    assert isinstance(site, Unresolved) and site.code == "BC202"


def test_vectorized_of_a_library_function_is_the_old_option():
    site = settled("jax.pure_callback(np.linalg.inv, S, x, vectorized=True)")
    assert isinstance(site, CallSite) and [option.arg for option in site.options] == ["vectorized"]
