"""Which functions `bufcb-lint` looks into: every form in which a buffer call may be handed its callback."""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import pytest

from codemods.lint import engine
from codemods.model import AuditOptions
from codemods.project import Project
from codemods.source import SourceFile

HEAD = "import functools\nimport bufcb\nimport numpy as np\nfrom mine import S, x, choice\n"
# Where there is no project around it.
OUTSIDE = Path(tempfile.gettempdir(), "bufcb_lint_callbacks", "example.py")


def lines_found(path: Path, text: str) -> list[int]:
    source = SourceFile.from_bytes(path, text.encode())
    notes = engine.lint(source, Project.of([path]), AuditOptions(select=("BCL001",))).notes
    return [note.line for note in notes]


# Every line that is marked returns what a buffer call's callback must not return, and no other one does.
FORMS = {
    "a function": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "a partial of the call": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        call = functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
        call(cb)(x)
    """,
    "a partial of the call with all it needs": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        call = functools.partial(bufcb.buffer_callback, cb, S)
        call(vmap_method="sequential")(x)
    """,
    "a partial of a partial of the call": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        call = functools.partial(functools.partial(bufcb.buffer_callback, vmap_method="sequential"), cb)
        call(S)(x)
    """,
    "a partial of another function": """
        def cb(ctx, out, x):
            return np.sin(x)
        call = functools.partial(choice, result_shape_dtypes=S)
        call(cb)(x)
    """,
    "a decorator": """
        @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
        def run(ctx, out, x):
            return np.sin(x)  # found
        run(x)
    """,
    "a decorator by name below another one": """
        wrapped = functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
        @choice
        @wrapped
        def run(ctx, out, x):
            return np.sin(x)  # found
    """,
    "a decorator above another one": """
        @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
        @choice
        def run(ctx, out, x):
            return np.sin(x)
    """,
    "elements of a table": """
        def sin(ctx, out, x):
            return np.sin(x)  # found
        def cos(ctx, out, x):
            return np.cos(x)  # found
        TABLE = {"sin": sin, "cos": cos}
        def run(name, x):
            return bufcb.buffer_callback(TABLE[name], S)(x)
    """,
    "one element of a table": """
        TABLE = {
            "sin": lambda ctx, out, x: np.sin(x),  # found
            "cos": lambda ctx, out, x: np.cos(x),
        }
        bufcb.buffer_callback(TABLE["sin"], S)(x)
    """,
    "an element of a table that changes": """
        TABLE = {"sin": lambda ctx, out, x: np.sin(x)}
        TABLE["sin"] = choice
        bufcb.buffer_callback(TABLE["sin"], S)(x)
    """,
    "a keyword": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        bufcb.buffer_callback(result_shape_dtypes=S, callback=cb)(x)
    """,
    "a call by another name": """
        call = bufcb.buffer_callback
        def cb(ctx, out, x):
            return np.sin(x)  # found
        call(cb, S)(x)
    """,
    "a nested function": """
        def run(x):
            def cb(ctx, out, x):
                return np.sin(x)  # found
            return bufcb.buffer_callback(cb, S)(x)
    """,
    "a lambda in a variable": """
        cb = lambda ctx, out, x: np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
        print(cb)
    """,
    "a method of self": """
        class Host:
            def cb(self, ctx, out, x):
                return np.sin(x)  # found
            def run(self, x):
                return bufcb.buffer_callback(self.cb, S)(x)
    """,
    "a method of an object made once": """
        class Host:
            def cb(self, ctx, out, x):
                return np.sin(x)  # found
        host = Host()
        bufcb.buffer_callback(host.cb, S)(x)
    """,
    "a method of an object made in place": """
        class Host:
            def cb(self, ctx, out, x):
                return np.sin(x)  # found
        bufcb.buffer_callback(Host().cb, S)(x)
    """,
    "a method of an object that self holds": """
        class Host:
            def cb(self, ctx, out, x):
                return np.sin(x)  # found
        class Layer:
            def __init__(self):
                self.host = Host()
            def __call__(self, x):
                return bufcb.buffer_callback(self.host.cb, S)(x)
    """,
    "a method of a base class": """
        class Base:
            def cb(self, ctx, out, x):
                return np.sin(x)  # found
        class Host(Base):
            def run(self, x):
                return bufcb.buffer_callback(super().cb, S)(x)
    """,
    "a static method and a class method": """
        class Host:
            @staticmethod
            def cb(ctx, out, x):
                return np.sin(x)  # found
            @classmethod
            def of_class(cls, ctx, out, x):
                return np.cos(x)  # found
        bufcb.buffer_callback(Host.cb, S)(x)
        bufcb.buffer_callback(Host.of_class, S)(x)
    """,
    "an object that is called": """
        class Host:
            def __call__(self, ctx, out, x):
                return np.sin(x)  # found
        host = Host()
        bufcb.buffer_callback(host, S)(x)
    """,
    "an object that is made in place and called": """
        class Host:
            def __call__(self, ctx, out, x):
                return np.sin(x)  # found
        bufcb.buffer_callback(Host(), S)(x)
    """,
    "a partial": """
        def cb(scale, ctx, out, x):
            return np.sin(x) * scale  # found
        bufcb.buffer_callback(functools.partial(cb, 2), S)(x)
    """,
    "a partial in a variable that others use": """
        def cb(scale, ctx, out, x):
            return np.sin(x) * scale  # found
        double = functools.partial(cb, 2)
        bufcb.buffer_callback(double, S)(x)
        print(double)
    """,
    "a partial of a method": """
        class Host:
            def cb(self, scale, ctx, out, x):
                return np.sin(x) * scale  # found
            def run(self, x):
                return bufcb.buffer_callback(functools.partial(self.cb, 2), S)(x)
    """,
    "another name": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        host = cb
        bufcb.buffer_callback(host, S)(x)
        print(host)
    """,
    "what a factory makes": """
        def make(scale):
            def cb(ctx, out, x):
                return np.sin(x) * scale  # found
            return cb
        bufcb.buffer_callback(make(2), S)(x)
        FACTORIES = [make]
    """,
    "one of two by a condition": """
        def sin(ctx, out, x):
            return np.sin(x)  # found
        def cos(ctx, out, x):
            return np.cos(x)  # found
        bufcb.buffer_callback(sin if choice else cos, S)(x)
    """,
    "definitions in the branches of a condition": """
        if choice:
            def cb(ctx, out, x):
                return np.sin(x)  # found
        else:
            def cb(ctx, out, x):
                return np.cos(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "a definition that a branch replaces": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        if choice:
            def cb(ctx, out, x):
                return np.cos(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "a definition where the import fails": """
        try:
            from fast import cb
        except ImportError:
            def cb(ctx, out, x):
                return np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "definitions one after the other": """
        def cb(ctx, out, x):
            return np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
        def cb(ctx, out, x):
            return np.cos(x)
        def cb(ctx, out, x):
            return np.tan(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "the last definition, in a function that is called later": """
        def cb(ctx, out, x):
            return np.sin(x)
        def run(x):
            return bufcb.buffer_callback(cb, S)(x)
        def cb(ctx, out, x):
            return np.cos(x)  # found
    """,
    "a definition of the last run of a loop": """
        cb = None
        for scale in (1, 2):
            if cb is not None:
                bufcb.buffer_callback(cb, S)(x)
            def cb(ctx, out, x):
                return np.sin(x)  # found
    """,
    "a decorator that hands everything on": """
        def named(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper
        @named
        def cb(ctx, out, x):
            return np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "overloads beside the definition": """
        import typing
        @typing.overload
        def cb(ctx, out, x: int): ...
        @typing.overload
        def cb(ctx, out, x: float): ...
        def cb(ctx, out, x):
            return np.sin(x)  # found
        bufcb.buffer_callback(cb, S)(x)
    """,
    "a method that another class overrides": """
        class Host:
            def cb(self, ctx, out, x):
                return np.sin(x)
            def run(self, x):
                return bufcb.buffer_callback(self.cb, S)(x)
        class Other(Host):
            def cb(self, ctx, out, x):
                out[...] = np.sin(x)
    """,
    "a decorator that stores what is returned": """
        def storing(function):
            def wrapper(ctx, out, *args):
                bufcb.store(out, function(*args))
            return wrapper
        @storing
        def cb(x):
            return np.sin(x)
        bufcb.buffer_callback(cb, S)(x)
    """,
    "an unknown decorator": """
        from elsewhere import storing
        @storing
        def cb(ctx, out, x):
            return np.sin(x)
        bufcb.buffer_callback(cb, S)(x)
    """,
    "a parameter": """
        def cb(ctx, out, x):
            return np.sin(x)
        def run(cb, x):
            return bufcb.buffer_callback(cb, S)(x)
    """,
    "a variable that is bound to something else by then": """
        def cb(ctx, out, x):
            return np.sin(x)
        cb = wrap(cb)
        bufcb.buffer_callback(cb, S)(x)
    """,
    "what bufcb adapts": """
        def cb(x):
            return np.sin(x)
        bufcb.buffer_callback(bufcb.adapt(cb), S)(x)
    """,
    "another library's function of that name": """
        from other import buffer_callback
        def cb(ctx, out, x):
            return np.sin(x)
        buffer_callback(cb, S)(x)
    """,
}


@pytest.mark.parametrize("form", FORMS)
def test_the_callback_is_found(form: str):
    text = HEAD + textwrap.dedent(FORMS[form])
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# found")]
    assert lines_found(OUTSIDE, text) == marked


MODULES = {
    "from hosts import cb": "cb",
    "import hosts": "hosts.cb",
    "import hosts as h": "h.cb",
    "from hosts import cb as callback": "callback",
    "from package import cb": "cb",
    "from hosts import *": "cb",
    "from hosts import cb\nimport functools": "functools.partial(cb)",
    "import functools\nfrom hosts import cb\nheld = functools.partial(cb)\nprint(held)": "held",
}


@pytest.mark.parametrize("imports", MODULES)
def test_the_callback_of_another_module_is_found(imports: str, tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "hosts.py").write_text("import numpy as np\n\n\ndef cb(ctx, out, x):\n    return np.sin(x)\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from hosts import cb\n")
    text = (
        f"import bufcb\n{imports}\nfrom mine import S, x\nbufcb.buffer_callback({MODULES[imports]}, S)(x)\n"
    )
    assert lines_found(tmp_path / "program.py", text) == [text.count("\n")]


HOSTS = """\
import numpy as np


class Host:
    def cb(self, ctx, out, x):
        return np.sin(x)

    @staticmethod
    def static(ctx, out, x):
        return np.sin(x)

    def __call__(self, ctx, out, x):
        return np.sin(x)


class Replaced:
    def __init__(self):
        self.run = lambda ctx, out, x: np.copyto(out, x)

    def run(self, ctx, out, x):
        return np.sin(x)


class Quiet(Host):
    def cb(self, ctx, out, x):
        out[...] = np.sin(x)


def make(scale):
    def cb(ctx, out, x):
        return scale * np.sin(x)

    return cb


def either(scale):
    if scale:
        return make(scale)
    return lambda ctx, out, x: np.copyto(out, x)
"""


@pytest.mark.parametrize(
    ("expression", "is_found"),
    [
        ("hosts.Host().cb", True),
        ("Host().cb", True),
        ("host.cb", True),
        ("Host.static", True),
        ("host.static", True),
        ("host", True),
        ("make(2)", True),
        ("made", True),
        ("functools.partial(Host.cb, host)", False),
        ("hosts.Quiet().cb", False),
        ("hosts.Missing().cb", False),
        ("hosts.either(2)", False),
        ("hosts.Replaced().run", False),
    ],
)
def test_classes_and_factories_of_other_modules_are_followed(expression: str, is_found: bool, tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from .hosts import Host, make\n")
    (tmp_path / "package" / "hosts.py").write_text(HOSTS)
    text = (
        "import functools\nimport bufcb\nfrom package import Host, hosts, make\nfrom mine import S, x\n"
        "host = Host()\nmade = make(2)\n"
    )
    text += f"bufcb.buffer_callback({expression}, S)(x)\n"
    assert lines_found(tmp_path / "program.py", text) == [text.count("\n")] * is_found


@pytest.mark.parametrize(
    ("body", "is_found"),
    [("return jnp.sin(value)", True), ("return inner(value)", True), ("return np.sin(value)", False)],
)
def test_jax_is_found_in_functions_of_other_modules(body: str, is_found: bool, tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "helpers.py").write_text(
        "import jax.numpy as jnp\nimport numpy as np\nfrom more import inner\n"
        f"def helper(value):\n    {body}\n"
    )
    (tmp_path / "more.py").write_text("import jax\n@jax.jit\ndef inner(value):\n    return value\n")
    text = (
        "import bufcb\nimport helpers\nfrom mine import S, x\ndef cb(ctx, out, x):\n"
        "    out[...] = helpers.helper(x)\nbufcb.buffer_callback(cb, S)(x)\n"
    )
    source = SourceFile.from_bytes(tmp_path / "program.py", text.encode())
    notes = engine.lint(source, Project.of([source.path]), AuditOptions(select=("BCL008",))).notes
    assert [note.line for note in notes] == [5] * is_found


VIEWS = (
    "import numpy as np\nfrom jax.experimental.buffer_callback import buffer_callback\n\n\n"
    "def cb(ctx, out, x):\n    np.asarray(out)[...] = 1\n\n\n"
    "def run(x, spec):\n    return buffer_callback(cb, spec)(x)\n"
)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            'import jax\nfrom ops import run\n\nrun(jax.devices("gpu")[0])\n',
            "Line 4 of program.py asks for a GPU",
        ),
        (
            'import ops\nimport jax\n\njax.config.update("jax_platforms", "cuda")\nops.run\n',
            "Line 4 of program.py",
        ),
        ('import jax\nfrom ops import run\n\nrun(jax.devices("cpu")[0])\n', None),
        ('import jax\n\njax.devices("gpu")\n', None),
    ],
)
def test_a_module_that_takes_the_call_may_ask_for_a_gpu(program: str, expected: str | None, tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "program.py").write_text(program)
    path = tmp_path / "ops.py"
    path.write_text(VIEWS)
    source = SourceFile.from_bytes(path, VIEWS.encode())
    found = [n.diagnostic.reason for n in engine.lint(source, Project.of([path]), AuditOptions()).notes]
    assert len(found) == (expected is not None)
    assert expected is None or found[0].startswith(expected)
