"""Python's naming rules, one by one; then all of them at once against the interpreter's own symbol tables."""

from __future__ import annotations

import ast
import importlib.util
import symtable
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codemods.names import BindingKind, Module, Scope, ScopeKind, is_private, parameters, read

needs_312 = pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")


def module(text: str) -> Module:
    return read(ast.parse(text))


def reads(found: Module, name: str) -> list[ast.Name]:
    """The reads of a name, in order of position."""
    return sorted(found.uses.get(name, []), key=lambda use: (use.lineno, use.col_offset))


def home_of(text: str, name: str = "v", index: int = -1) -> str:
    """Where a read of a name, the last by default, finds it: `module`, a function's name, or `none`."""
    found = module(text)
    use = reads(found, name)[index]
    home = found.home(name, found.scopes[use])
    if home is None:
        return "none"
    return getattr(home.node, "name", home.kind.value)


def origin_of(text: str, expression: str) -> str | None:
    """What an expression at the end of the text stands for."""
    found = module(f"{text}\n{expression}")
    statement = found.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    return found.origin(statement.value)


def bound_in(text: str, name: str = "v") -> list[str]:
    """The scopes that bind a name, as `home_of` names them."""
    found = module(text)
    scopes = {found.root, *found.opened.values()}
    return sorted(getattr(s.node, "name", s.kind.value) for s in scopes if name in s.bindings)


# ------------------------------------------------------------------------------- where a read finds its name


@pytest.mark.parametrize(
    ("text", "home"),
    [
        pytest.param("v = 1\nv", "module", id="a module's own name"),
        pytest.param("v", "none", id="a name that nothing binds"),
        pytest.param("def f():\n  v = 1\n  v", "f", id="a local"),
        pytest.param("v = 1\ndef f():\n  v", "module", id="a global read in a function"),
        pytest.param("def f():\n  v\n  v = 1", "f", id="bound later in the function, so local throughout"),
        pytest.param(
            "v = 1\ndef f():\n  v\n  if 0:\n    v = 1", "f", id="bound in a branch, so local throughout"
        ),
        pytest.param("def f(v):\n  v", "f", id="a parameter"),
        pytest.param("def f(v, /):\n  v", "f", id="a positional-only parameter"),
        pytest.param("def f(*v):\n  v", "f", id="a starred parameter"),
        pytest.param("def f(*, v):\n  v", "f", id="a keyword-only parameter"),
        pytest.param("def f(**v):\n  v", "f", id="a double-starred parameter"),
        pytest.param("def f(v):\n  def g():\n    v", "f", id="a nested function reads its enclosing one"),
        pytest.param("def f(v):\n  def g():\n    def h():\n      v", "f", id="two levels up"),
        pytest.param("def f(v):\n  def g(v):\n    v", "g", id="the innermost function wins"),
        pytest.param("v = 1\nlambda: v", "module", id="a lambda reads a global"),
        pytest.param("lambda v: v", "lambda", id="a lambda's parameter"),
        pytest.param("lambda v: lambda: v", "lambda", id="a lambda in a lambda"),
        pytest.param("class C:\n  v = 1\n  v", "C", id="a class body reads its own names"),
        pytest.param(
            "class C:\n  v = 1\n  def f(self):\n    v", "none", id="a method does not see the class's names"
        ),
        pytest.param(
            "v = 0\nclass C:\n  v = 1\n  def f(self):\n    v", "module", id="a method sees past the class"
        ),
        pytest.param("class C:\n  v = 1\n  f = lambda: v", "none", id="nor does a lambda in a class body"),
        pytest.param("class C:\n  v = 1\n  class D:\n    v", "none", id="nor does a class in a class"),
        pytest.param(
            "class C:\n  v = 1\n  w = [v for _ in 'a']", "none", id="nor does a comprehension's element"
        ),
        pytest.param("class C:\n  v = 1\n  w = [_ for _ in v]", "C", id="but its first iterable does"),
        pytest.param(
            "class C:\n  v = 1\n  w = [1 for _ in 'a' for _ in v]", "none", id="the second iterable does not"
        ),
        pytest.param("class C:\n  v = 1\n  w = [1 for _ in 'a' if v]", "none", id="nor does a condition"),
        pytest.param("def f(v):\n  class C:\n    v", "f", id="a class body reads its enclosing function"),
        pytest.param(
            "def f(v):\n  class C:\n    def g(self):\n      v", "f", id="a method reads past its class"
        ),
        pytest.param(
            "class C:\n  v = 1\n  def f(self, w=v): pass", "C", id="a default is evaluated in the class body"
        ),
        pytest.param("class C:\n  v = 1\n  @v\n  def f(self): pass", "C", id="so is a decorator"),
        pytest.param("class C:\n  v = 1\n  def f(self, w: v): pass", "C", id="so is an annotation"),
        pytest.param("class C:\n  v = 1\n  def f(self) -> v: pass", "C", id="so is a return annotation"),
        pytest.param("v = 1\ndef f(v=v): pass", "module", id="a default does not see the parameter"),
        pytest.param("v = 1\ndef f(v: v): pass", "module", id="an annotation does not see the parameter"),
        pytest.param("v = 1\n@v\ndef f(v): pass", "module", id="a decorator does not see the parameter"),
        pytest.param("v = 1\nlambda v=v: 0", "module", id="a lambda's default does not see the parameter"),
        pytest.param("v = 1\ndef f(*, v=v): pass", "module", id="a keyword-only default does not either"),
        pytest.param("v = 1\nclass v(v): pass", "module", id="a base class is evaluated outside"),
        pytest.param("def f(v):\n  class C(metaclass=v): pass", "f", id="so is a class keyword"),
        pytest.param("def f(v):\n  @v\n  class C: pass", "f", id="so is a class decorator"),
    ],
)
def test_a_read_finds_its_name_where_python_does(text: str, home: str):
    assert home_of(text) == home


@pytest.mark.parametrize(
    ("text", "home"),
    [
        pytest.param("[v for v in 'a']", "comprehension", id="a list comprehension"),
        pytest.param("{v for v in 'a'}", "comprehension", id="a set comprehension"),
        pytest.param("{v: 0 for v in 'a'}", "comprehension", id="a dict comprehension's key"),
        pytest.param("{0: v for v in 'a'}", "comprehension", id="a dict comprehension's value"),
        pytest.param("(v for v in 'a')", "comprehension", id="a generator"),
        pytest.param("[0 for v in 'a' if v]", "comprehension", id="its condition"),
        pytest.param("[0 for v in 'a' for _ in v]", "comprehension", id="its second iterable"),
        pytest.param("v = 'a'\n[0 for v in v]", "module", id="the first iterable is evaluated outside"),
        pytest.param("[v for v in 'a']\nv", "none", id="the variable ends with the comprehension"),
        pytest.param(
            "def f(v):\n  return [[v for _ in 'a'] for _ in 'b']", "f", id="nested ones look outwards"
        ),
        pytest.param("[lambda: v for v in 'a']", "comprehension", id="a lambda in one"),
        pytest.param("[w for (v, *w) in ['a'] if v]", "comprehension", id="unpacked variables"),
    ],
)
def test_comprehensions_have_a_scope_of_their_own(text: str, home: str):
    assert home_of(text) == home


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        pytest.param("(v := 1)", ["module"], id="at module level"),
        pytest.param("def f():\n  (v := 1)", ["f"], id="in a function"),
        pytest.param("[(v := 1) for _ in 'a']", ["module"], id="in a comprehension it binds outside"),
        pytest.param(
            "def f():\n  [[(v := 1) for _ in 'a'] for _ in 'b']", ["f"], id="in nested ones, outside of all"
        ),
        pytest.param("lambda: (v := 1)", ["lambda"], id="in a lambda"),
        pytest.param("lambda: [(v := 1) for _ in 'a']", ["lambda"], id="in a comprehension of a lambda"),
        pytest.param("def f():\n  global v\n  [(v := 1) for _ in 'a']", ["module"], id="a global one"),
        pytest.param("def f(w=(v := 1)): pass", ["module"], id="in a default"),
        pytest.param("@(v := print)\ndef f(): pass", ["module"], id="in a decorator"),
    ],
)
def test_a_walrus_binds_in_the_function_around_any_comprehension(text: str, scopes: list[str]):
    assert bound_in(text) == scopes


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("v = 1", id="an assignment"),
        pytest.param("v = w = 1", id="a chained assignment"),
        pytest.param("v, w = 1, 2", id="a tuple target"),
        pytest.param("[v, w] = 1, 2", id="a list target"),
        pytest.param("w, *v = 1, 2", id="a starred target"),
        pytest.param("(w, (v, u)), t = x", id="a nested target"),
        pytest.param("v += 1", id="an augmented assignment"),
        pytest.param("v: int = 1", id="an annotated assignment"),
        pytest.param("for v in x: pass", id="a for loop"),
        pytest.param("for w, v in x: pass", id="a for loop's tuple"),
        pytest.param("async def f():\n  async for v in x: pass", id="an async for loop"),
        pytest.param("with x as v: pass", id="a with"),
        pytest.param("with x as (w, v): pass", id="a with's tuple"),
        pytest.param("async def f():\n  async with x as v: pass", id="an async with"),
        pytest.param("try: pass\nexcept E as v: pass", id="an except"),
        pytest.param("try: pass\nexcept* E as v: pass", id="an except group"),
        pytest.param("import v", id="an import"),
        pytest.param("import v.w", id="an import of a submodule"),
        pytest.param("import w.u as v", id="an import with another name"),
        pytest.param("from w import v", id="a from import"),
        pytest.param("from w import u as v", id="a from import with another name"),
        pytest.param("def v(): pass", id="a function"),
        pytest.param("async def v(): pass", id="a coroutine function"),
        pytest.param("class v: pass", id="a class"),
        pytest.param("del v", id="a deletion, which makes it local as well"),
        pytest.param("match x:\n  case v: pass", id="a capture pattern"),
        pytest.param("match x:\n  case int() as v: pass", id="an as pattern"),
        pytest.param("match x:\n  case [_, *v]: pass", id="a star pattern"),
        pytest.param("match x:\n  case {'a': 1, **v}: pass", id="a mapping's rest"),
        pytest.param("match x:\n  case C(a=[v]): pass", id="a class pattern's part"),
        pytest.param("match x:\n  case (1 as v) | (2 as v): pass", id="an or pattern"),
    ],
)
def test_every_binding_statement_binds(text: str):
    assert len(bound_in(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("v: int", id="an annotation alone"),
        pytest.param("w.v = 1", id="an attribute"),
        pytest.param("v[0] = 1", id="an item of it"),
        pytest.param("f(v=1)", id="a keyword of a call"),
        pytest.param("import w.v", id="a submodule's last name"),
        pytest.param("import v as w", id="what is imported under another name"),
        pytest.param("from v import w", id="the module of a from import"),
        pytest.param("match x:\n  case _: pass", id="the wildcard"),
        pytest.param("match x:\n  case v.w: pass", id="a value pattern"),
        pytest.param("global v", id="a global declaration alone"),
        pytest.param("for w.v in x: pass", id="an attribute as a loop's target"),
        pytest.param("class w:\n  pass\n'v'", id="a string"),
    ],
)
def test_what_does_not_bind_does_not(text: str):
    assert bound_in(text) == []


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        pytest.param("def f():\n  global v\n  v = 1", ["module"], id="global before the binding"),
        pytest.param("def f():\n  global v\n  def v(): pass", ["module"], id="a global function"),
        pytest.param("def f():\n  global v\n  import v", ["module"], id="a global import"),
        pytest.param("def f():\n  global v\n  for v in x: pass", ["module"], id="a global loop variable"),
        pytest.param("class C:\n  global v\n  v = 1", ["module"], id="in a class body"),
        pytest.param("v = 0\ndef f():\n  global v\n  v = 1", ["module"], id="bound at module level as well"),
        pytest.param("def f():\n  v = 0\n  def g():\n    nonlocal v\n    v = 1", ["f"], id="nonlocal"),
        pytest.param(
            "def f():\n  def g():\n    nonlocal v\n    v = 1\n  v = 0",
            ["f"],
            id="nonlocal of a later binding",
        ),
        pytest.param(
            "def f(v):\n  def g():\n    def h():\n      nonlocal v\n      v = 1", ["f"], id="nonlocal, two up"
        ),
        pytest.param(
            "def f(v):\n  class C:\n    nonlocal v\n    v = 1", ["f"], id="nonlocal in a class body"
        ),
        pytest.param(
            "def f(v):\n  class C:\n    v = 2\n    def g(self):\n      nonlocal v\n      v = 1",
            ["C", "f"],
            id="nonlocal skips a class",
        ),
        pytest.param(
            "def f():\n  global v\n  def g():\n    v = 1", ["g"], id="global is not inherited by bindings"
        ),
    ],
)
def test_global_and_nonlocal_move_the_binding(text: str, scopes: list[str]):
    assert bound_in(text) == scopes


@pytest.mark.parametrize(
    ("text", "home"),
    [
        pytest.param(
            "v = 0\ndef f(v):\n  def g():\n    global v\n    v", "module", id="global skips the functions"
        ),
        pytest.param(
            "def f(v):\n  def g():\n    global v\n    v", "none", id="global of a name that the module lacks"
        ),
        pytest.param("v = 0\ndef f():\n  v\n  global_ = 1", "module", id="a name like the keyword"),
        pytest.param("def f(v):\n  def g():\n    nonlocal v\n    v", "f", id="nonlocal"),
        pytest.param(
            "def f():\n  global v\n  v = 1\ndef g():\n  v", "module", id="a global made by another function"
        ),
        pytest.param(
            "v = 0\ndef f():\n  v = 1\n  def g():\n    global v\n    def h():\n      v",
            "module",
            id="a nested read follows the declaration around it",
        ),
    ],
)
def test_declarations_move_reads(text: str, home: str):
    assert home_of(text) == home


def test_every_parameter_is_bound_once_and_listed_in_order():
    found = module("def f(a, /, b, *c, d, **e): pass")
    function = found.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [p.arg for p in parameters(function.args)] == ["a", "b", "c", "d", "e"]
    scope = found.opened[function]
    assert {name: [b.kind for b in bound] for name, bound in scope.bindings.items()} == {
        name: [BindingKind.PARAMETER] for name in "abcde"
    }


@needs_312
@pytest.mark.parametrize(
    ("text", "home"),
    [
        pytest.param(
            "def f[v](x: v): pass", "f: type parameters", id="an annotation reads a function's type parameter"
        ),
        pytest.param("def f[v](x) -> v: pass", "f: type parameters", id="so does a return annotation"),
        pytest.param("def f[v]():\n  v", "f: type parameters", id="so does the body"),
        pytest.param("v = 1\ndef f[v](x=v): pass", "module: module", id="a default does not"),
        pytest.param("v = 1\n@v\ndef f[v](): pass", "module: module", id="a decorator does not"),
        pytest.param("class C[v](v): pass", "C: type parameters", id="a base class does"),
        pytest.param(
            "class C[v]:\n  def g(self): v",
            "C: type parameters",
            id="a method does, unlike a class's own name",
        ),
        pytest.param(
            "class C[v]:\n  def g(self, x: v): pass", "C: type parameters", id="a method's annotation does"
        ),
        pytest.param("type T[v] = v", "T: type parameters", id="a type alias's value does"),
        pytest.param(
            "def f[w: v](): pass\nv = 1", "module: module", id="a bound is read in the type parameters' scope"
        ),
        pytest.param("def f[v](v): v", "f: function", id="a parameter hides the type parameter"),
    ],
)
def test_type_parameters_have_a_scope_between(text: str, home: str):
    found = module(text)
    use = reads(found, "v")[-1]
    scope = found.home("v", found.scopes[use])
    assert scope is not None
    name = getattr(scope.node, "name", "module")
    assert (name.id if isinstance(name, ast.Name) else name, scope.kind.value) == tuple(home.split(": "))


@needs_312
def test_type_parameters_end_with_their_definition():
    assert home_of("def f[v](): pass\nv") == "none"
    assert home_of("class C[v]: pass\nv") == "none"
    assert home_of("type T[v] = v\nv") == "none"


@needs_312
def test_a_type_alias_binds_its_name():
    assert bound_in("type v = int") == ["module"]


@needs_312
def test_star_and_double_star_type_parameters_are_bound():
    text = "def f[*v, **w](*args: *v, **kwargs: w.kwargs): pass"
    found = module(text)
    for name in ("v", "w"):
        home = found.home(name, found.scopes[reads(found, name)[0]])
        assert home is not None and home.kind is ScopeKind.TYPE_PARAMETERS


# ------------------------------------------------------------------------------- imports


@pytest.mark.parametrize(
    ("text", "expression", "origin"),
    [
        pytest.param("import jax", "jax.pure_callback", "jax.pure_callback", id="a plain import"),
        pytest.param("import jax as J", "J.pure_callback", "jax.pure_callback", id="an alias"),
        pytest.param(
            "import jax.numpy", "jax.numpy.sin", "jax.numpy.sin", id="a submodule binds its package"
        ),
        pytest.param(
            "import jax.numpy", "jax.lax", "jax.lax", id="a submodule's siblings are reached as well"
        ),
        pytest.param("import jax.numpy as jnp", "jnp.sin", "jax.numpy.sin", id="an aliased submodule"),
        pytest.param("from jax import numpy", "numpy.sin", "jax.numpy.sin", id="a from import of a module"),
        pytest.param(
            "from jax import pure_callback as pc", "pc", "jax.pure_callback", id="a from import renamed"
        ),
        pytest.param("from . import a", "a.b", ".a.b", id="a relative import"),
        pytest.param("from .. import a", "a", "..a", id="a relative import, two up"),
        pytest.param("from .m import a", "a", ".m.a", id="a relative import of a module"),
        pytest.param("from ...m.n import a", "a", "...m.n.a", id="a relative import, three up"),
        pytest.param("from jax import *", "pure_callback", "jax.pure_callback", id="a star import"),
        pytest.param(
            "from jax import *", "numpy.sin", "jax.numpy.sin", id="an attribute of a star import's name"
        ),
        pytest.param(
            "from jax import *\npure_callback = 1", "pure_callback", None, id="a binding hides a star import"
        ),
        pytest.param("import jax\njax = 1", "jax.numpy", None, id="a name bound otherwise as well"),
        pytest.param("import jax\ndef jax(): pass", "jax.numpy", None, id="a function of that name as well"),
        pytest.param(
            "try:\n  import jax\nexcept ImportError:\n  jax = None",
            "jax.lax",
            "jax.lax",
            id="None where it is missing",
        ),
        pytest.param(
            "if x:\n  import jax as j\nelse:\n  j = None", "j.lax", "jax.lax", id="None in the other branch"
        ),
        pytest.param(
            "if x:\n  import jax as j\nelse:\n  j = 0",
            "j.lax",
            None,
            id="another constant in the other branch",
        ),
        pytest.param(
            "if x:\n  import jax as j\nelse:\n  import torch as j", "j.lax", None, id="two libraries"
        ),
        pytest.param(
            "if x:\n  import jax\nelse:\n  import jax", "jax.lax", "jax.lax", id="one library, twice"
        ),
        pytest.param("", "jax.lax", None, id="no import"),
        pytest.param("import jax", "jax.lax()", None, id="a call"),
        pytest.param("import jax", "jax[0].lax", None, id="an item"),
        pytest.param("import jax", "f().lax", None, id="an attribute of a call"),
        pytest.param("for jax in x: pass", "jax.lax", None, id="a loop variable"),
        pytest.param("from a import *\nfrom b import *", "c", None, id="two star imports leave it open"),
    ],
)
def test_imports_say_what_an_expression_stands_for(text: str, expression: str, origin: str | None):
    assert origin_of(text, expression) == origin


def test_two_origins_are_both_known():
    found = module("if x:\n  import jax as j\nelse:\n  import torch as j\nj.lax")
    statement = found.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert found.origins(statement.value) == {"jax.lax", "torch.lax"}


def test_an_import_in_a_function_is_seen_there_alone():
    found = module("def f():\n  import jax\n  jax.lax\njax.lax")
    inner, outer = reads(found, "jax")
    assert found.origin(inner) == "jax"
    assert found.origin(outer) is None


def test_an_import_in_a_class_body_is_not_seen_by_its_methods():
    found = module("class C:\n  import jax\n  jax.lax\n  def f(self):\n    jax.lax")
    body, method = reads(found, "jax")
    assert found.origin(body) == "jax"
    assert found.origin(method) is None


def test_a_parameter_hides_an_import():
    found = module("import jax\ndef f(jax):\n  jax.lax")
    assert found.origin(reads(found, "jax")[0]) is None


def test_a_star_import_does_not_answer_for_a_name_bound_here():
    found = module("from jax import *\ndef f(lax):\n  lax")
    assert found.origins(reads(found, "lax")[0]) == frozenset()


def test_names_of_star_imports_are_those_of_every_module():
    found = module("from a import *\nfrom .b import *\nc")
    assert found.star_imports == ("a", ".b")
    assert found.origins(reads(found, "c")[0]) == {"a.c", ".b.c"}


# ------------------------------------------------------------------------------- bindings and references


def test_sole_binding_is_none_for_two_and_for_none():
    found = module("a = 1\nb = 1\nb = 2\na; b; c")
    assert [found.sole_binding(reads(found, name)[0]) is not None for name in "abc"] == [True, False, False]


def test_bindings_know_what_is_assigned():
    found = module("a = 1\nb: int = 2\nc = d = 3\n(e := 4)\nf, g = 5, 6\nh += 7")
    values = {name: found.root.bindings[name][0].value for name in "abcdefgh"}
    assert {n: v.value for n, v in values.items() if isinstance(v, ast.Constant)} == {"a": 1, "b": 2}
    assert all(values[name] is None for name in "cdefgh")


def test_the_value_of_an_unpacking_is_not_taken_for_that_of_its_parts():
    found = module("(a,) = x\n[b] = x\nfor c in x: pass\nwith x as d: pass")
    assert all(found.root.bindings[name][0].value is None for name in "abcd")


def test_references_are_the_reads_of_one_binding_alone():
    found = module("v = 1\nv\ndef f():\n  v\ndef g(v):\n  v\nv")
    assert [use.lineno for use in sorted(found.references("v", found.root), key=lambda n: n.lineno)] == [
        2,
        4,
        7,
    ]
    function = found.tree.body[3]
    assert [use.lineno for use in found.references("v", found.opened[function])] == [6]


def test_attributes_are_known_whether_read_stored_or_deleted():
    found = module("a.v\na.v = 1\ndel a.v\na.v += 1")
    assert [type(node.ctx).__name__ for node in found.attributes["v"]] == ["Load", "Store", "Del", "Store"]


def test_all_names_hold_every_name_and_attribute():
    found = module(
        "import a.b as c\ndef d(e): f.g = h\nclass i: pass\nglobal j\ntry: pass\nexcept k as l: pass"
    )
    assert set("cdefghikl") | {"j"} <= found.all_names


def test_names_in_strings_are_whole_strings():
    found = module("__all__ = ['solve']\ntext = 'do not solve this'")
    assert found.names_in_strings("solve")
    assert not found.names_in_strings("this")


def test_enclosing_functions_are_those_that_evaluate():
    found = module("def f(a=v):\n  lambda: v\n  [v for _ in v]\n@v\nclass C:\n  v")
    owners = [found.enclosing_function(use) for use in reads(found, "v")]
    assert [getattr(o, "name", type(o).__name__) for o in owners] == [
        "NoneType",
        "Lambda",
        "f",
        "f",
        "NoneType",
        "NoneType",
    ]


def test_enclosing_classes_are_those_in_whose_body_a_node_is_evaluated():
    found = module("class C:\n  v\n  def f(self, a=v):\n    v\n  [v for _ in v]")
    owners = [found.enclosing_class(use) for use in reads(found, "v")]
    assert [bool(owner) for owner in owners] == [True, True, False, False, True]


def test_statements_and_ancestors_lead_outwards():
    found = module("def f():\n  return g(v)")
    use = reads(found, "v")[0]
    assert [type(node).__name__ for node in found.ancestors(use)] == [
        "Call",
        "Return",
        "FunctionDef",
        "Module",
    ]
    assert isinstance(found.statement(use), ast.Return)


@pytest.mark.parametrize(
    ("name", "private"),
    [
        ("_f", True),
        ("__f", True),
        ("f", False),
        ("__init__", False),
        ("f_", False),
        ("_", True),
        ("__f_", True),
    ],
)
def test_private_names_start_with_an_underscore_and_are_no_dunders(name: str, private: bool):
    assert is_private(name) is private


# ------------------------------------------------------------------------------- every node is placed


SNIPPETS = """
import a.b as c, d
from .e import f as g
@h
def i(j: k = l, /, m=n, *o: p, q: r = s, **t: u) -> v:
    global w
    return lambda x, y=z: [aa for bb in cc if dd for ee in ff]
class A(B, metaclass=C):
    x: int = 1
    async def f(self):
        async with a as b:
            await c
        async for d in e:
            yield f
try:
    pass
except E as e:
    raise e from None
else:
    del a, b.c, d[e:f:g]
finally:
    x = y = {**z, 'k': (w := 1)}
match a:
    case {'x': [1, *r], **s} if t: pass
    case A(x=1) | None as u: pass
with a as (b, *c): f'{x!r:{y}}'
"""


def test_every_node_has_a_scope_and_a_parent():
    tree = ast.parse(SNIPPETS)
    found = read(tree)
    without = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Module)
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if not isinstance(child, without):
                assert found.parents[child] is parent
                assert child in found.scopes, ast.dump(child)


def test_a_sum_of_two_thousand_terms_does_not_exhaust_the_stack():
    found = module("v = 1\n" + " + ".join(["v"] * 2000))
    assert len(found.references("v", found.root)) == 2000


def test_an_elif_chain_of_five_hundred_arms_does_not_exhaust_the_stack():
    arms = "\n".join(f"elif v == {n}:\n    w = {n}" for n in range(500))
    found = module(f"v = 1\nif v:\n    pass\n{arms}")
    assert len(found.references("v", found.root)) == 501
    assert len(found.root.bindings["w"]) == 500


def test_a_long_chain_of_methods_does_not_exhaust_the_stack():
    found = module("v = 1\n(v" + "\n.m()" * 400 + ")")
    assert len(found.references("v", found.root)) == 1
    assert len(found.attributes["m"]) == 400


# ------------------------------------------------------------------------------- against Python itself

STDLIB = (
    "_pydecimal argparse ast collections contextlib dataclasses enum functools http.client inspect logging "
    "typing tokenize unittest.mock zipfile"
).split()
SCOPE_KINDS = {
    "function": {ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.COMPREHENSION},
    "class": {ScopeKind.CLASS},
}


def source_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def classification(found: Module, scope: Scope, name: str) -> str:
    """`local`, `free` or `global`, in the words of `symtable`."""
    home = found.home(name, scope)
    if home is scope:
        return "local"
    if home is None or home is found.root:
        return "global"
    return "free"


def symbol_classification(symbol: symtable.Symbol) -> str:
    if symbol.is_free():
        return "free"
    if symbol.is_global():
        return "global"
    return "local"


COMPREHENSION_NAMES = {"listcomp", "setcomp", "dictcomp", "genexpr", "lambda"}


def tables_of(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    return [table, *(inner for child in table.get_children() for inner in tables_of(child))]


def compare_with_symtable(text: str) -> int:
    """Every name of every function and class; returns how many were compared."""
    found = module(text)
    scopes: dict[tuple[str, int, str], list[Scope]] = {}
    for node, scope in found.opened.items():
        if isinstance(node, ast.Module):
            continue
        name = (
            getattr(node, "name", "lambda" if isinstance(node, ast.Lambda) else None)
            or {
                "ListComp": "listcomp",
                "SetComp": "setcomp",
                "DictComp": "dictcomp",
                "GeneratorExp": "genexpr",
            }[type(node).__name__]
        )
        scopes.setdefault((name, node.lineno, scope.kind.value), []).append(scope)
    compared = 0
    for table in tables_of(symtable.symtable(text, "module", "exec")):
        kind = str(getattr(table.get_type(), "value", table.get_type()))
        if kind not in SCOPE_KINDS:
            continue
        candidates = [
            scope
            for (name, line, _), group in scopes.items()
            for scope in group
            if name == table.get_name()
            and line in header_lines(table, scope)
            and scope.kind in SCOPE_KINDS[kind]
        ]
        if len(candidates) != 1:
            continue  # two lambdas on one line cannot be told apart by what `symtable` shows
        (scope,) = candidates
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if not symbol.is_referenced() and not symbol.is_assigned() and not symbol.is_parameter():
                continue
            if name.startswith((".", "__class", "__type_params__")) or is_mangled(name, found):
                continue
            if name in inlined_names(found, scope):
                continue
            assert classification(found, scope, name) == symbol_classification(symbol), (table, name)
            compared += 1
    return compared


def header_lines(table: symtable.SymbolTable, scope: Scope) -> set[int]:
    """`symtable` counts from the first decorator; `ast` from the `def`."""
    decorators = getattr(scope.node, "decorator_list", [])
    return (
        {table.get_lineno()}
        if not decorators
        else {scope.node.lineno}
        & {scope.node.lineno if table.get_lineno() in (scope.node.lineno, decorators[0].lineno) else 0}
    )


def inlined_names(found: Module, scope: Scope) -> set[str]:
    """The variables of comprehensions that Python 3.12 inlines: `symtable` shows them as the function's."""
    if sys.version_info < (3, 12):
        return set()
    inlined = [
        s for s in found.opened.values() if s.kind is ScopeKind.COMPREHENSION and scope in s.enclosing()
    ]
    return {name for inner in inlined for name in inner.bindings}


def is_mangled(name: str, found: Module) -> bool:
    return name not in found.all_names


@pytest.mark.parametrize("name", STDLIB)
def test_names_are_classified_as_python_does_in(name: str):
    assert compare_with_symtable(source_of(name)) > 100


PIECES: list[Callable[[str], str]] = [
    lambda inner: f"def f(v, *w):\n{indented(inner)}",
    lambda inner: f"def f():\n  v = 1\n{indented(inner)}",
    lambda inner: f"def f():\n  global v\n{indented(inner)}",
    lambda inner: f"class f:\n  v = 1\n{indented(inner)}",
    lambda inner: f"class f:\n{indented(inner)}",
    lambda inner: f"def f(a=[v for v in w]):\n{indented(inner)}",
    lambda inner: f"async def f(w):\n  for v in w: pass\n{indented(inner)}",
]
LEAVES = ["v\nw", "lambda: (v, w)", "[(v, w) for w in v]", "[(v := w) for a in v]", "v = w"]


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_nesting_of_scopes_is_classified_as_python_does(leaf: str):
    compared = 0
    for outer in PIECES:
        for inner in PIECES:
            for around in (lambda text: text, *PIECES[:4:3]):
                text = around(outer(inner(leaf)))
                try:
                    compile(text, "generated", "exec")
                except SyntaxError:
                    continue  # a walrus in a comprehension of a class body
                compared += compare_with_symtable(text)
    assert compared > 500
