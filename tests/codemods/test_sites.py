"""Call sites in every spelling, and what is another thing of the same name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods import sites
from codemods.exports import Exports
from codemods.names import read
from codemods.project import Project
from codemods.sites import CallSite, Site, Unresolved, ValueUse


def find(text: str, *assume_jax: str) -> list[Site]:
    return sites.find(read(ast.parse(text)), assume_jax)[0]


def only(text: str, *assume_jax: str) -> Site:
    (site,) = find(text, *assume_jax)
    return site


def shown(site: Site) -> str:
    """Callback, spec, options and arguments of a call site, in one line."""
    assert isinstance(site, CallSite), site
    options = ", ".join(ast.unparse(option) for option in site.options)
    arguments = ", ".join(ast.unparse(part) for part in (*site.args, *site.keywords))
    return f"{ast.unparse(site.callback)} | {ast.unparse(site.spec)} | {options} | {arguments}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import jax\njax.pure_callback(f, S, x)", id="jax.pure_callback"),
        pytest.param("import jax as J\nJ.pure_callback(f, S, x)", id="jax under another name"),
        pytest.param("import jax.numpy\njax.pure_callback(f, S, x)", id="jax by a submodule's import"),
        pytest.param("from jax import pure_callback\npure_callback(f, S, x)", id="imported by name"),
        pytest.param("from jax import pure_callback as pc\npc(f, S, x)", id="imported under another name"),
        pytest.param("from jax.experimental import pure_callback\npure_callback(f, S, x)", id="its old home"),
        pytest.param("import jax.experimental as e\ne.pure_callback(f, S, x)", id="its old home as a module"),
        pytest.param(
            "from jax import experimental\nexperimental.pure_callback(f, S, x)", id="its old home by name"
        ),
        pytest.param("import jax\njax.experimental.pure_callback(f, S, x)", id="its old home by attributes"),
        pytest.param("from jax import *\npure_callback(f, S, x)", id="a star import"),
        pytest.param(
            "def g():\n    import jax\n    jax.pure_callback(f, S, x)", id="an import in a function"
        ),
        pytest.param(
            "try:\n    import jax\nexcept ImportError:\n    jax = None\njax.pure_callback(f, S, x)",
            id="a guarded import",
        ),
        pytest.param(
            "if a:\n    from jax import pure_callback\nelse:\n"
            "    from jax.experimental import pure_callback\npure_callback(f, S, x)",
            id="one of two homes",
        ),
        pytest.param("import jax\ngetattr(jax, 'pure_callback')(f, S, x)", id="getattr"),
        pytest.param("import jax\nclass C:\n    y = jax.pure_callback(f, S, x)", id="in a class body"),
        pytest.param("import jax\n[jax.pure_callback(f, S, x) for x in y]", id="in a comprehension"),
        pytest.param("import jax\n@jax.pure_callback(f, S, x)\ndef g(): pass", id="as a decorator"),
        pytest.param("import jax\nf'{jax.pure_callback(f, S, x)}'", id="in an f-string"),
        pytest.param("import jax\n(y := jax.pure_callback(f, S, x))", id="in a walrus"),
    ],
)
def test_every_spelling_is_found(text: str):
    assert shown(only(text)) == "f | S |  | x"


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("pure_callback(f, S)", "f | S |  | "),
        ("pure_callback(f, S, x, y)", "f | S |  | x, y"),
        ("pure_callback(f, S, x, k=y)", "f | S |  | x, k=y"),
        ("pure_callback(f, result_shape_dtypes=S, x=x)", "f | S |  | x=x"),
        ("pure_callback(callback=f, result_shape_dtypes=S)", "f | S |  | "),
        ("pure_callback(result_shape_dtypes=S, callback=f, k=x)", "f | S |  | k=x"),
        ("pure_callback(f, S, *xs)", "f | S |  | *xs"),
        ("pure_callback(f, S, x, *xs, y)", "f | S |  | x, *xs, y"),
        ("pure_callback(f, S, x, vmap_method='sequential')", "f | S | vmap_method='sequential' | x"),
        (
            "pure_callback(f, S, x, vectorized=True, sharding=s, k=1)",
            "f | S | vectorized=True, sharding=s | x, k=1",
        ),
        ("pure_callback(lambda x: x, (S, S), x)", "lambda x: x | (S, S) |  | x"),
        ("functools.partial(pure_callback, f, S)", "f | S |  | "),
        (
            "functools.partial(pure_callback, f, S, vmap_method='expand_dims')",
            "f | S | vmap_method='expand_dims' | ",
        ),
        ("functools.partial(pure_callback, f, result_shape_dtypes=S)", "f | S |  | "),
        ("functools.partial(pure_callback, callback=f, result_shape_dtypes=S)", "f | S |  | "),
        ("jax.tree_util.Partial(pure_callback, f, S)", "f | S |  | "),
    ],
)
def test_arguments_are_told_apart(call: str, wanted: str):
    site = only(f"import functools, jax\nfrom jax import pure_callback\n{call}")
    assert shown(site) == wanted
    assert isinstance(site, CallSite) and site.is_partial is ("artial(" in call)


@pytest.mark.parametrize(
    ("text", "has_call"),
    [
        pytest.param("g(pure_callback)", False, id="an argument"),
        pytest.param("pc = pure_callback", False, id="assigned"),
        pytest.param("[pure_callback]", False, id="in a list"),
        pytest.param("{'a': pure_callback}", False, id="in a dict"),
        pytest.param("def g(pc=pure_callback): pass", False, id="a default"),
        pytest.param("lambda *a: (pure_callback if a else g)(*a)", False, id="in a choice"),
        pytest.param("pure_callback.__doc__", False, id="its attribute"),
        pytest.param("getattr(jax, 'pure_callback')", False, id="getattr's value"),
        pytest.param("pure_callback(*a)", True, id="a star that carries the callback"),
        pytest.param("pure_callback(f, *a)", True, id="a star that carries the spec"),
        pytest.param("pure_callback(*a, result_shape_dtypes=S)", True, id="a star beside a keyword"),
        pytest.param("pure_callback(f, S, x, **k)", True, id="double stars"),
        pytest.param("pure_callback(**k)", True, id="nothing but double stars"),
        pytest.param("functools.partial(pure_callback)", True, id="a partial of nothing"),
        pytest.param("functools.partial(pure_callback, f)", True, id="a partial of the callback"),
        pytest.param(
            "functools.partial(pure_callback, vmap_method='sequential')", True, id="a partial of an option"
        ),
        pytest.param("functools.partial(pure_callback, f, S, x)", True, id="a partial of an argument"),
        pytest.param("functools.partial(pure_callback, f, S, k=x)", True, id="a partial of a keyword"),
        pytest.param("functools.partial(pure_callback, f, S, **k)", True, id="a partial of double stars"),
    ],
)
def test_what_cannot_be_told_apart_is_a_value(text: str, has_call: bool):
    site = only(f"import functools, jax\nfrom jax import pure_callback\n{text}")
    assert isinstance(site, ValueUse)
    assert (site.call is not None) is has_call
    assert site.why


def test_a_partial_under_another_name_is_a_value():
    assert isinstance(only("import jax\npartial(jax.pure_callback, f, S)"), ValueUse)
    assert isinstance(
        only("import jax\nfrom functools import partial\npartial(jax.pure_callback, f, S)"), CallSite
    )


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("jax.pure_callback()", id="no argument"),
        pytest.param("jax.pure_callback(f)", id="no spec"),
        pytest.param("jax.pure_callback(result_shape_dtypes=S)", id="no callback"),
        pytest.param("jax.pure_callback(f, S, callback=g)", id="the callback twice"),
        pytest.param("jax.pure_callback(f, S, result_shape_dtypes=S)", id="the spec twice"),
    ],
)
def test_a_call_that_raises_today_is_refused(call: str):
    site = only(f"import jax\n{call}")
    assert isinstance(site, Unresolved) and site.code == "BC202"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("import catalyst\ncatalyst.pure_callback(f, float)(x)", "BC003", id="another library's"),
        pytest.param(
            "from catalyst import pure_callback\npure_callback(f, S)", "BC003", id="another library's by name"
        ),
        pytest.param("def pure_callback(f): pass\npure_callback(f)", "BC003", id="an own function"),
        pytest.param(
            "class C:\n    def pure_callback(self): pass\nc = C()\nc.pure_callback()",
            "BC003",
            id="an own method",
        ),
        pytest.param(
            "class C:\n    def pure_callback(self): pass\n    def g(self):\n        self.pure_callback()",
            "BC003",
            id="an own method by self",
        ),
        pytest.param("self._jax.pure_callback(f, S, x)", "BC201", id="an unknown object's"),
        pytest.param("def g(jax):\n    jax.pure_callback(f, S, x)", "BC201", id="a parameter's"),
        pytest.param("pure_callback(f, S, x)", "BC201", id="a name from nowhere"),
        pytest.param(
            "from . import compat\ncompat.pure_callback(f, S, x)",
            "BC201",
            id="a module's that is not in sight",
        ),
        pytest.param(
            "from .compat import pure_callback\npure_callback(f, S, x)",
            "BC201",
            id="a name from a module that is not in sight",
        ),
        pytest.param(
            "import jax\njax = g()\njax.pure_callback(f, S, x)",
            "BC201",
            id="a name that is jax or something else",
        ),
        pytest.param(
            "if a:\n    from jax import pure_callback\nelse:\n    def pure_callback(*a): pass\n"
            "pure_callback(f, S, x)",
            "BC201",
            id="JAX's or an own one",
        ),
        pytest.param("import jax\njax.pure_callback = g", "BC206", id="replaced"),
        pytest.param("import jax\ndel jax.pure_callback", "BC206", id="deleted"),
    ],
)
def test_what_is_another_thing_is_said_so(text: str, code: str):
    site = only(text)
    assert isinstance(site, Unresolved) and site.code == code
    assert site.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import jax\njax.pure_callbacks(f, S, x)", id="a longer name"),
        pytest.param("import jax\njax.io_callback(f, S, x)", id="another callback"),
        pytest.param("import jax\n'jax.pure_callback'", id="a string in a line of its own"),
        pytest.param("import bufcb\nbufcb.pure_callback(f, S, x)", id="what a migration writes"),
        pytest.param("from bufcb import pure_callback\npure_callback(f, S, x)", id="the same by name"),
        pytest.param("from jax import pure_callback", id="an import alone"),
        pytest.param("f(pure_callback=1)", id="a keyword of that name"),
    ],
)
def test_what_is_none_is_not_found(text: str):
    assert find(text) == []


def test_an_expression_can_be_declared_to_be_jax():
    assert shown(only("self._jax.pure_callback(f, S, x)", "self._jax")) == "f | S |  | x"
    assert isinstance(only("self._jax.pure_callback(f, S, x)", "self.jax"), Unresolved)
    assert shown(only("getattr(self._jax, 'pure_callback')(f, S, x)", "self._jax")) == "f | S |  | x"


def test_sites_come_in_order_of_position():
    text = "import jax\ny = jax.pure_callback(f, S, jax.pure_callback(g, S, x))\njax.pure_callback(h, S)"
    assert [shown(site)[0] for site in find(text)] == ["f", "g", "h"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("patch('jax.pure_callback')", 1, id="an argument"),
        pytest.param("patch(target='jax.pure_callback')", 1, id="a keyword"),
        pytest.param("patch('jax.experimental.pure_callback')", 1, id="its old home"),
        pytest.param("patch('mymodule.jax.pure_callback')", 1, id="looked up in another module"),
        pytest.param("'jax.pure_callback'", 0, id="a line of its own"),
        pytest.param("print('do not use jax.pure_callback here')", 0, id="text"),
        pytest.param("patch('pure_callback')", 0, id="the bare name"),
        pytest.param("x = 'jax.pure_callback'", 0, id="assigned"),
    ],
)
def test_strings_that_may_be_looked_up_are_mentioned(text: str, count: int):
    assert len(sites.find(read(ast.parse(text)))[1]) == count


# ------------------------------------------------------------------------------- through the project


def through(tmp_path: Path, text: str, **modules: str) -> Site:
    """The site of `main.py` in a project with other modules."""
    (tmp_path / "pyproject.toml").touch()
    for name, content in modules.items():
        path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    main = tmp_path / "main.py"
    main.write_text(text)
    (site,), _ = sites.find(read(ast.parse(text)), (), Exports(Project.of([main]), main))
    return site


def test_a_reexport_of_jaxs_is_a_call_site(tmp_path: Path):
    site = through(
        tmp_path,
        "from compat import pure_callback\npure_callback(f, S, x)",
        compat="from jax import pure_callback",
    )
    assert shown(site) == "f | S |  | x"


def test_a_reexport_under_another_name_is_a_call_site(tmp_path: Path):
    text = "import compat\ncompat.pure_callback(f, S, x)"
    assert isinstance(through(tmp_path, text, compat="import jax\nfrom jax import pure_callback"), CallSite)


def test_a_function_of_the_project_is_left_alone(tmp_path: Path):
    site = through(
        tmp_path,
        "from compat import pure_callback\npure_callback(f, S, x)",
        compat="def pure_callback(*a): pass",
    )
    assert isinstance(site, Unresolved) and site.code == "BC003"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("pure_callback = make()", id="assigned"),
        pytest.param(
            "if a:\n    from jax import pure_callback\nelse:\n    pure_callback = g", id="one of two"
        ),
        pytest.param("def broken(:", id="that cannot be parsed"),
    ],
)
def test_what_may_be_anything_in_the_project_is_refused(tmp_path: Path, content: str):
    site = through(tmp_path, "from compat import pure_callback\npure_callback(f, S, x)", compat=content)
    assert isinstance(site, Unresolved) and site.code == "BC203"


def test_relative_imports_are_followed(tmp_path: Path):
    text = "from .compat import pure_callback\npure_callback(f, S, x)"
    assert isinstance(through(tmp_path, text, compat="from jax import pure_callback"), CallSite)
