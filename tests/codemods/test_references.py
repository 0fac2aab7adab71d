"""Projects of several files: who else uses, overrides, patches or hands on what a migrated file calls.

Each project is migrated as a whole by the command; what its programs print before and after is compared.
"""

import dataclasses
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli

ROOT = Path(__file__).parents[2]
HARNESS = Path(__file__).with_name("harness.py")

# Before 0.10, JAX raises where a program gives `vectorized=`.
TAKES_VECTORIZED = [int(n) for n in importlib.metadata.version("jax").split(".")[:2]] >= [0, 10]
JAX = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"
SPEC = "jax.ShapeDtypeStruct((3,), jnp.float32)"
BASE = f"""{JAX}
class M:
    def _host(self, x):
        return np.sin(x)

    def go(self, x):
        return jax.pure_callback(self._host, {SPEC}, x)
"""
HELPED = f"""{JAX}
class M:
    def _kernel(self, x):
        return np.sin(x)

    def _host(self, x):
        return self._kernel(x)

    def go(self, x):
        return jax.pure_callback(self._host, {SPEC}, x)
"""
CORE = f"""{JAX}
def _host(x):
    return np.sin(x)


def go(x):
    return jax.pure_callback(_host, {SPEC}, x)
"""
REWRITTEN, ADAPTED = ("rewritten", None), ("adapted", "BC114")
SIBLING = ("rewritten", "BC001")
PATCHED = ("adapted", "BC114")


@dataclasses.dataclass(frozen=True, eq=False)
class Project:
    """Files by path, `[status, code]` of the sites of some, notes of some, and whether `main()` runs."""

    files: dict[str, str]
    sites: dict[str, list[tuple[str, str | None]]]
    notes: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    runs: bool = True
    options: tuple[str, ...] = ()


def overriding(text: str, *expected: tuple[str, str | None], base: str = BASE, **more: str) -> Project:
    """`base.py` with class `M`, and a program that derives `N` from it; `more` are other modules."""
    program = f"{JAX}{textwrap.dedent(text)}\ndef main():\n    print(N().go(jnp.arange(3.0)).tolist())\n"
    files = {"base.py": base, "program.py": program} | {f"{name}.py": body for name, body in more.items()}
    return Project(files, {"base.py": list(expected)})


def calling(text: str, *expected: tuple[str, str | None], runs: bool = True, **more: str) -> Project:
    """A program with one or more call sites in `text`, which makes `y`; `more` are other modules."""
    body = textwrap.indent(textwrap.dedent(text).strip(), "    ")
    head, _, tail = body.rpartition("    ---\n")
    program = f"{JAX}{textwrap.dedent(head)}\n\ndef main():\n    x = jnp.arange(3.0)\n{tail}\n"
    files = {"program.py": program + "    print(y.tolist())\n"}
    files |= {f"{name}.py": body for name, body in more.items()}
    return Project(files, {"program.py": list(expected)}, runs=runs)


def using(text: str, *expected: tuple[str, str | None], path: str, **more: str) -> Project:
    """`core.py` with a call site of `_host`, and a file at `path` that mentions it."""
    program = f"{JAX}import core\n\ndef main():\n    print(core.go(jnp.arange(3.0)).tolist())\n"
    return Project(
        {"core.py": CORE, "program.py": program, path: textwrap.dedent(text), **more},
        {"core.py": list(expected)},
    )


def patching(text: str) -> Project:
    """`core.py` with a call site, and a file of tests that patches `jax.pure_callback` and has one itself."""
    tests = f"{JAX}{textwrap.dedent(text)}\n\ndef run(x):\n"
    tests += f"    return jax.pure_callback(np.sin, {SPEC}, x)\n"
    files = {"core.py": CORE, "test_core.py": tests}
    notes = {"core.py": ["BC006"]}
    return Project(files, {"core.py": [REWRITTEN], "test_core.py": []}, notes, runs=False)


def method(
    body: str,
    first: tuple[str, str | None],
    more: str,
    *rest: tuple[str, str | None],
    header: str = "",
    before: str = "",
    decorator: str = "",
    after: str = "",
    made: str = "M()",
) -> Project:
    """A program whose class `M` calls back its own `_host`, has `body` as well, and adds `more` up."""
    program = f"{JAX}{before}{decorator}"
    program += "@deco\n" if decorator or "deco" in before.partition("\n")[0] else ""
    program += f"class M({header}):{BASE.partition('class M:')[2]}{textwrap.indent(body, '    ')}\n{after}\n"
    program += f"def main():\n    x = jnp.arange(3.0)\n    print(({made}.go(x) + {more}).tolist())\n"
    return Project({"program.py": program}, {"program.py": [first, *rest]})


WRAPS_ALL = """
def deco(cls):
    for name, found in list(vars(cls).items()):
        if name.startswith("_h"):
            setattr(cls, name, lambda self, x, found=found: found(self, x) / 2)
    return cls
"""
CALL = f"y = pc(np.sin, {SPEC}, x)"
OUR_CALL = f"y = pc(_host, {SPEC}, x)"
HOST = "def _host(v):\n    return np.sin(v)\n"

PROJECTS = {
    # Methods that other files override.
    "overridden in a derived class of another file": overriding(
        """
        from base import M
        class N(M):
            def _host(self, x):
                return np.cos(x.at[0].set(0.0))
        """,
        ADAPTED,
    ),
    "overridden in a class of a class of another file": overriding(
        """
        from middle import Middle
        class N(Middle):
            def _host(self, x):
                return np.cos(x.at[0].set(0.0))
        """,
        ADAPTED,
        middle="from base import M\n\n\nclass Middle(M):\n    pass\n",
    ),
    "overridden under another name of the base": overriding(
        """
        from base import M as Parent
        class N(Parent):
            def _host(self, x):
                return np.cos(x)
        """,
        ADAPTED,
    ),
    "overridden under a name that another module gives to the base": overriding(
        """
        from names import Parent
        class N(Parent):
            def _host(self, x):
                return np.cos(x)
        """,
        ADAPTED,
        names="import base\n\nParent = base.M\n",
    ),
    "overridden through the module": overriding(
        """
        import base
        class N(base.M):
            def _host(self, x):
                return np.cos(x)
        """,
        ADAPTED,
    ),
    "overridden behind a star import": overriding(
        """
        from base import *
        class N(M):
            def _host(self, x):
                return np.cos(x)
        """,
        ADAPTED,
    ),
    "overridden by an assignment in the class": overriding(
        """
        from base import M
        class N(M):
            _host = staticmethod(lambda x: np.cos(x))
        """,
        ADAPTED,
    ),
    "overridden in an instance": overriding(
        """
        from base import M
        class N(M):
            def __init__(self):
                self._host = lambda x: np.cos(x.at[0].set(0.0))
        """,
        ADAPTED,
    ),
    "assigned from outside": overriding(
        """
        from base import M as N
        N._host = lambda self, x: np.cos(x.at[0].set(0.0))
        """,
        ADAPTED,
    ),
    "overridden in a class that is made a base beside it": overriding(
        """
        from base import M
        class Mixin:
            def _host(self, x):
                return np.cos(x.at[0].set(0.0))
        class N(Mixin, M):
            pass
        """,
        ADAPTED,
    ),
    "overridden in a class with a base that cannot be seen": overriding(
        """
        import base
        def parent():
            return base.M
        class N(parent()):
            def _host(self, x):
                return np.cos(x)
        """,
        ADAPTED,
    ),
    "overridden in a file that does not parse": Project(
        {"base.py": BASE, "broken.py": "class N(M):\n    def _host(self, x)\n        return x\n"},
        {"base.py": [SIBLING]},
        runs=False,
    ),
    "a class without bases defines the name": overriding(
        """
        from base import M as N
        class Other:
            def _host(self, x):
                return x
        """,
        REWRITTEN,
    ),
    "a class of a library's defines the name": overriding(
        """
        import collections
        from base import M as N
        class Other(collections.UserDict):
            def _host(self, x):
                return x
        """,
        REWRITTEN,
    ),
    "a class of a project's other class defines the name": overriding(
        """
        from base import M as N
        from others import Other
        class Another(Other):
            def _host(self, x):
                return x
        """,
        REWRITTEN,
        others="import abc\n\n\nclass Other(abc.ABC):\n    pass\n",
    ),
    "another class of the same name defines the name": overriding(
        """
        from base import M as N
        class M(Exception):
            def _host(self, x):
                return x
        class Another(M):
            def _host(self, x):
                return x
        """,
        REWRITTEN,
    ),
    "the base of the class defines the name": overriding(
        """
        from base import M
        class N(M):
            pass
        """,
        REWRITTEN,
        base=BASE.replace("class M:", "from above import Above\n\n\nclass M(Above):"),
        above="class Above:\n    def _host(self, x):\n        return x\n",
    ),
    "a helper is overridden in another file": overriding(
        """
        from base import M
        class N(M):
            def _kernel(self, x):
                return np.cos(x.at[0].set(0.0))
        """,
        ("adapted", "BC111"),
        base=HELPED,
    ),
    "a helper that nothing overrides is followed": overriding(
        """
        from base import M
        class N(M):
            pass
        """,
        REWRITTEN,
        base=HELPED,
    ),
    "a helper is assigned in the class itself": overriding(
        """
        from base import M as N
        """,
        ("adapted", "BC111"),
        base=HELPED.replace(
            "class M:\n",
            "class M:\n    def __init__(self):\n"
            "        self._kernel = lambda x: np.cos(x.at[0].set(0.0))\n\n",
        ),
    ),
    "a public method is overridden in another file": overriding(
        """
        from base import M
        class N(M):
            def host(self, x):
                return np.cos(x.at[0].set(0.0))
        """,
        ADAPTED,
        base=BASE.replace("_host", "host"),
    ),
    "the class body reads the method": overriding(
        """
        from base import M
        class N(M):
            def go(self, x):
                return super().go(x) + self.table["host"](self, np.ones(3, np.float32))
        """,
        SIBLING,
        base=BASE.replace("    def go", '    table = {"host": _host}\n\n    def go'),
    ),
    # Other uses.
    "used in a folder called env": using(
        "from core import _host\n\nREAD = _host\n", SIBLING, path="env/world.py"
    ),
    "used in a package called build": using(
        "from core import _host\n\nREAD = _host\n", SIBLING, path="build/tool.py", **{"build/__init__.py": ""}
    ),
    "left unused in build products": using(
        "from core import _host\n\nREAD = _host\n", REWRITTEN, path="build/tool.py"
    ),
    "declared in a stub": using("def _host(x): ...\n", SIBLING, path="core.pyi"),
    "used in a notebook": using(
        json.dumps(
            {
                "cells": [
                    {"cell_type": "markdown", "source": ["# Try"]},
                    {"cell_type": "code", "source": ["%matplotlib inline\n", "from core import _host"]},
                ]
            }
        ),
        SIBLING,
        path="try.ipynb",
    ),
    "named in a notebook's text alone": using(
        json.dumps({"cells": [{"cell_type": "markdown", "source": ["from core import _host"]}]}),
        REWRITTEN,
        path="try.ipynb",
    ),
    "used in a notebook that cannot be read": using("{_host", SIBLING, path="try.ipynb"),
    "patched by its dotted name": using(
        "from unittest import mock\n\nPATCH = mock.patch('core._host', abs)\n", PATCHED, path="test_core.py"
    ),
    "patched by its name in an f-string": using(
        "from unittest import mock\nimport core\n\nPATCH = mock.patch(f'{core.__name__}._host', abs)\n",
        PATCHED,
        path="test_core.py",
    ),
    "imported by code in a string": using(
        "CODE = '''\nfrom core import _host\n_host(1.0)\n'''\n", SIBLING, path="test_core.py"
    ),
    "run by a docstring's example": using(
        '"""Sine.\n\n>>> import core\n>>> f = core._host\n"""\n', SIBLING, path="notes.py"
    ),
    "named in prose": using(
        '"""What _host does, and core._host(x)."""\n\nERROR = "cannot go on in _host"\n',
        REWRITTEN,
        path="notes.py",
    ),
    "another method of the same name": using(
        "class Other:\n    def _host(self):\n        return 1\n", REWRITTEN, path="others.py"
    ),
    # What modules hand on.
    "handed on by a module of the project": calling(
        f"{HOST}from compat import pure_callback as pc\n---\n{OUR_CALL}",
        REWRITTEN,
        compat="from jax import pure_callback\n",
    ),
    "handed on under a condition": calling(
        f"{HOST}from compat import pure_callback as pc\n---\n{OUR_CALL}",
        REWRITTEN,
        compat=(
            "try:\n    from jax import pure_callback\n"
            "except ImportError:\n    from jax.experimental import pure_callback\n"
        ),
    ),
    "handed on as an attribute": calling(
        f"{HOST}import compat\n---\n{OUR_CALL.replace('pc(', 'compat.pure_callback(')}",
        REWRITTEN,
        compat="from jax import pure_callback\n",
    ),
    "handed on with the whole of jax": calling(
        f"{HOST}from compat import jax as J\n---\n{OUR_CALL.replace('pc(', 'J.pure_callback(')}",
        REWRITTEN,
        compat="import jax\n",
    ),
    "handed on by a star import": calling(
        f"{HOST}from compat import *\n---\n{OUR_CALL.replace('pc(', 'pure_callback(')}",
        REWRITTEN,
        compat="from jax import pure_callback\n",
    ),
    "handed on from a package": calling(
        f"{HOST}from tools.compat import pure_callback as pc\n---\n{OUR_CALL}",
        REWRITTEN,
        **{"tools/compat": "from jax import pure_callback\n"},
    ),
    "handed on by a package": calling(
        f"{HOST}from tools2 import pure_callback as pc\n---\n{OUR_CALL}",
        REWRITTEN,
        **{"tools2/__init__": "from jax import pure_callback\n"},
    ),
    "handed on over two steps": calling(
        f"{HOST}from compat import pure_callback as pc\n---\n{OUR_CALL}",
        REWRITTEN,
        compat="from older import pure_callback\n",
        older="from jax import pure_callback\n",
    ),
    "handed on under a name of its own": calling(
        f"{HOST}from compat import call as pc\n---\n{OUR_CALL}",
        compat="import jax\n\ncall = jax.pure_callback\n",
    ),
    "handed on in a circle": calling(
        f"from compat import pure_callback as pc\n---\n{CALL}",
        ("refused", "BC203"),
        runs=False,
        compat="from older import pure_callback\n",
        older="from compat import pure_callback\n",
    ),
    "handed on or replaced": calling(
        f"from compat import pure_callback as pc\n---\n{CALL}",
        ("refused", "BC203"),
        compat=(
            "try:\n    from jax import pure_callback\n"
            "except ImportError:\n    def pure_callback(f, spec, *args):\n        return f(*args)\n"
        ),
    ),
    "handed on and rebound": calling(
        f"from compat import pure_callback as pc\n---\n{CALL}",
        ("refused", "BC203"),
        compat="from jax import pure_callback\n\npure_callback = pure_callback\n",
    ),
    "handed on by one of two": calling(
        f"try:\n    from compat import pure_callback as pc\nexcept ImportError:\n    from nowhere import "
        f"pure_callback as pc\n---\n{CALL}",
        ("refused", "BC203"),
        compat="from jax import pure_callback\n",
    ),
    "defined by a module of the project": calling(
        f"from compat import pure_callback as pc\n---\n{CALL}",
        ("skipped", "BC003"),
        compat="def pure_callback(f, spec, *args):\n    return f(*args)\n",
    ),
    "a library's": calling(
        f"from catalyst import pure_callback as pc\n---\n{CALL}", ("skipped", "BC003"), runs=False
    ),
    "a relative import of what is not there": calling(
        f"from .compat import pure_callback as pc\n---\n{CALL}", ("refused", "BC201"), runs=False
    ),
    "bufcb's own": calling(f"import bufcb\n---\n{CALL.replace('pc(', 'bufcb.pure_callback(')}"),
    "bufcb's own under another name": calling(f"from bufcb import pure_callback as pc\n---\n{CALL}"),
    # `vectorized=`.
    "vectorized is an argument of a callback in sight": calling(
        "def _host(v, *, vectorized):\n    return np.multiply(v, np.asarray(vectorized))\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x, vectorized=x)",
        REWRITTEN,
        runs=TAKES_VECTORIZED,
    ),
    "vectorized goes to keywords of any name": calling(
        "def _host(v, **more):\n    return np.multiply(v, np.asarray(more['vectorized']))\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x, vectorized=x)",
        REWRITTEN,
        runs=TAKES_VECTORIZED,
    ),
    "vectorized is an argument beside vmap_method": calling(
        "def host(f):\n    return f\n---\n"
        f"y = jax.pure_callback(host(lambda v, vectorized: np.multiply(v, vectorized)), {SPEC}, x, "
        'vmap_method="sequential", vectorized=x)',
        ("adapted", "BC101"),
        runs=TAKES_VECTORIZED,
    ),
    "vectorized of a renamed call is an argument": calling(
        "def _host(v, vectorized):\n    return np.multiply(v, vectorized)\nMORE = {}\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x, vectorized=x, **MORE)",
        ("adapted", "BC110"),
        runs=TAKES_VECTORIZED,
    ),
    "vectorized in a partial is an argument": calling(
        "def _host(v, vectorized):\n    return np.multiply(v, vectorized)\nimport functools\n---\n"
        f"y = functools.partial(jax.pure_callback, _host, {SPEC}, vectorized=x)(x)",
        ("adapted", "BC110"),
        runs=TAKES_VECTORIZED,
    ),
    "vectorized of a callback out of sight": calling(
        "def host(f):\n    return f\n---\n"
        f"y = jax.pure_callback(host(lambda v, vectorized: np.multiply(v, vectorized)), {SPEC}, x, "
        "vectorized=x)",
        ("refused", "BC208"),
        runs=TAKES_VECTORIZED,
    ),
    "vectorized and vmap_method are both options": calling(
        f"{HOST}---\ny = jax.pure_callback(_host, {SPEC}, x, vmap_method=None, vectorized=True)",
        ("refused", "BC202"),
        runs=False,
    ),
    # Comments.
    "skipped at the definition": calling(
        f"def _host(v):  # bufcb: skip\n    return np.sin(v)\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x)\ny += jax.pure_callback(_host, {SPEC}, y)",
        ("skipped", "BC004"),
        ("skipped", "BC004"),
    ),
    "skipped by its code at the call": calling(
        "def _host(v):\n    return np.asarray(v // 2)\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x)  # bufcb: skip[BC104]",
        ("skipped", "BC004"),
    ),
    "skipped by its code at the definition": calling(
        "def _host(v):  # bufcb: skip[BC104, BC111]\n    return np.asarray(v // 2)\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x)",
        ("skipped", "BC004"),
    ),
    "one of two skipped by its code, so that the other gets a sibling": calling(
        f"def host(v):\n    return np.sin(v)\n---\n"
        f"y = jax.pure_callback(host, {SPEC}, x)  # bufcb: skip[BC001]\n"
        f"y += jax.pure_callback(host, {SPEC}, y)",
        ("skipped", "BC004"),
        SIBLING,
    ),
    "skipped by a code that it has not": calling(
        f"def _host(v):\n    return np.sin(v)\n---\n"
        f"y = jax.pure_callback(_host, {SPEC}, x)  # bufcb: skip[BC104]",
        REWRITTEN,
    ),
    "skipped at a method that is overridden": Project(
        {
            "base.py": BASE.replace(
                "x):\n        return np.sin", "x):  # bufcb: skip\n        return np.sin"
            ),
            "derived.py": "from base import M\n\n\nclass N(M):\n    def _host(self, x):\n        return x\n",
        },
        {"base.py": [("skipped", "BC004")]},
        runs=False,
    ),
    "skipped at the lambda": calling(
        f"host = lambda v: np.sin(v)  # bufcb: skip\n---\ny = jax.pure_callback(host, {SPEC}, x)",
        ("skipped", "BC004"),
    ),
}
SINE = "import numpy as np\n\n\ndef sine(v):\n    return np.sin(v)\n"
CALLS_SINE = f"---\ny = jax.pure_callback(sine, {SPEC}, x)"
OPAQUE, DECORATED = ("adapted", "BC101"), ("adapted", "BC107")
OPS = f"{JAX}{{}}\n\ndef go(x):\n    return jax.pure_callback(sine, {SPEC}, x)\n"
GO = f"{JAX}{{}}\n\ndef main():\n    print(go(jnp.arange(3.0)).tolist())\n"
PROJECTS |= {
    # Callbacks that other modules of the project define.
    "imported callback": calling(f"from kernels import sine\n{CALLS_SINE}", SIBLING, kernels=SINE),
    "imported under another name": calling(
        f"from kernels import sine as wave\n{CALLS_SINE.replace('(sine', '(wave')}", SIBLING, kernels=SINE
    ),
    "attribute of an imported module": calling(
        f"import kernels\n{CALLS_SINE.replace('(sine', '(kernels.sine')}", SIBLING, kernels=SINE
    ),
    "attribute of a module in a package": calling(
        f"import tools.kernels\n{CALLS_SINE.replace('(sine', '(tools.kernels.sine')}",
        SIBLING,
        **{"tools/__init__": "", "tools/kernels": SINE},
    ),
    "callback of a namespace package": calling(
        f"from tools.kernels import sine\n{CALLS_SINE}", SIBLING, **{"tools/kernels": SINE}
    ),
    "callback re-exported by its package": calling(
        f"from tools import sine\n{CALLS_SINE}",
        SIBLING,
        **{"tools/__init__": "from .kernels import sine\n", "tools/kernels": SINE},
    ),
    "callback re-exported under the name of its module": calling(
        f"from tools import sine\n{CALLS_SINE}",
        SIBLING,
        **{"tools/__init__": "from .sine import sine\n", "tools/sine": SINE},
    ),
    "callback re-exported over three steps": calling(
        f"from api import wave\n{CALLS_SINE.replace('(sine', '(wave')}",
        SIBLING,
        **{
            "api": "import tools as t\n\nwave = t.wave\n",
            "tools/__init__": "from tools.low import *\n",
            "tools/low/__init__": "from ..kernels import sine as wave\n",
            "tools/kernels": SINE,
        },
    ),
    "callback imported by a star": calling(
        f"from numpy.linalg import *\nfrom kernels import *\n{CALLS_SINE}", OPAQUE, kernels=SINE
    ),
    "callback imported by one of two stars": calling(
        f"from others import *\nfrom kernels import *\n{CALLS_SINE}", SIBLING, kernels=SINE, others="N = 1\n"
    ),
    "callback imported by a star from `__all__`": calling(
        f"from kernels import *\n{CALLS_SINE.replace('(sine', '(_sine')}",
        SIBLING,
        kernels=f"{SINE.replace('sine', '_sine')}\n__all__ = ['_sine']\n",
    ),
    "callback of the parent package": Project(
        {
            "tools/__init__.py": "",
            "tools/kernels.py": SINE,
            "tools/deep/__init__.py": "",
            "tools/deep/ops.py": OPS.format("from ..kernels import sine\n"),
            "program.py": GO.format("from tools.deep.ops import go\n"),
        },
        {"tools/deep/ops.py": [SIBLING]},
    ),
    "callback beside a module of the package": Project(
        {
            "tools/__init__.py": "from .ops import go\n",
            "tools/kernels.py": SINE,
            "tools/ops.py": OPS.format("from . import kernels\n").replace("(sine", "(kernels.sine"),
            "program.py": GO.format("from tools import go\n"),
        },
        {"tools/ops.py": [SIBLING]},
    ),
    "callback in a `src` layout": Project(
        {
            "src/tools/__init__.py": "",
            "src/tools/kernels.py": SINE,
            "src/tools/ops.py": OPS.format("from tools.kernels import sine\n"),
            "program.py": GO.format(
                "import os\nimport sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'src'))\n"
                "from tools.ops import go\n"
            ),
        },
        {"src/tools/ops.py": [SIBLING]},
    ),
    "callback imported in a circle": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        OPAQUE,
        runs=False,
        kernels="from others import sine\n",
        others="from kernels import sine\n",
    ),
    "modules that import each other": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        SIBLING,
        kernels=f"import others\n{SINE}",
        others="import kernels\n\nsine = None\n",
    ),
    "callback of a module that is not there": calling(
        f"from nowhere import sine\n{CALLS_SINE}", OPAQUE, runs=False
    ),
    "callback of a module without that name": calling(
        f"from kernels import sine\n{CALLS_SINE}", OPAQUE, runs=False, kernels="N = 1\n"
    ),
    "callback of a module that cannot be parsed": calling(
        f"from kernels import sine\n{CALLS_SINE}", OPAQUE, runs=False, kernels=f"{SINE}\ndef broken(:\n"
    ),
    "callback assigned to another name": calling(
        f"from kernels import wave\n{CALLS_SINE.replace('(sine', '(wave')}",
        SIBLING,
        kernels=f"{SINE}\nwave = sine\n",
    ),
    "imported lambda": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        SIBLING,
        kernels="import numpy as np\n\nsine = lambda v: np.sin(v)\n",
    ),
    "callback of one of two modules": calling(
        "try:\n    from nowhere import sine\nexcept ImportError:\n    from kernels import sine\n"
        + CALLS_SINE,
        OPAQUE,
        kernels=SINE,
    ),
    "imported callback with two definitions": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        OPAQUE,
        kernels=f"{SINE}\nif np.pi > 4:\n    def sine(v):\n        return np.cos(v)\n",
    ),
    "imported callback that is rebound elsewhere": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        OPAQUE,
        kernels=f"{SINE}\ndef fast():\n    global sine\n    sine = np.cos\n",
    ),
    "imported class": calling(
        f"from kernels import Sine\n{CALLS_SINE.replace('(sine', '(Sine')}",
        OPAQUE,
        kernels="import numpy as np\n\nclass Sine:\n    def __new__(cls, v):\n        return np.sin(v)\n",
    ),
    "imported callback with a decorator": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        DECORATED,
        kernels=SINE.replace("def", "def keep(f):\n    return [f][0]\n\n@keep\ndef", 1),
    ),
    "imported callback with a decorator that hands all on": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        SIBLING,
        kernels=SINE.replace("def", "def keep(f):\n    return f\n\n@keep\ndef", 1),
    ),
    "imported callback with an imported decorator that hands all on": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        SIBLING,
        kernels=SINE.replace("def", "from tools import keep\n\n@keep\ndef", 1),
        tools="def keep(f):\n    def inner(*args):\n        return f(*args)\n    return inner\n",
    ),
    "imported callback that uses JAX": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        ("adapted", "BC103"),
        kernels="import jax.numpy as jnp\n\n\ndef sine(v):\n    return jnp.sin(v)\n",
    ),
    "imported coroutine": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        ("adapted", "BC109"),
        runs=False,
        kernels=SINE.replace("def", "async def"),
    ),
    "callback imported inside the function": calling(
        f"---\nfrom kernels import sine\n{CALLS_SINE.removeprefix('---')}", OPAQUE, kernels=SINE
    ),
    "library function handed on by the project": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        ("adapted", "BC102"),
        kernels="from numpy import sin as sine\n",
    ),
    "partial of an imported callback": calling(
        f"import functools\nfrom kernels import scaled\n---\n"
        f"y = jax.pure_callback(functools.partial(scaled, np.float32(2)), {SPEC}, x)",
        SIBLING,
        kernels="import numpy as np\n\n\ndef scaled(k, v):\n    return k * np.sin(v)\n",
    ),
    "two calls of an imported callback": calling(
        f"from kernels import sine\n\ndef go(x):\n    return jax.pure_callback(sine, {SPEC}, x)\n"
        f"{CALLS_SINE} + go(x)",
        SIBLING,
        SIBLING,
        kernels=SINE,
    ),
    "imported callback whose parameter has its name": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        ("adapted", "BC115"),
        kernels=SINE.replace("(v)", "(sine)"),
    ),
    "imported callback that is skipped where it is defined": calling(
        f"from kernels import sine\n{CALLS_SINE}",
        ("skipped", "BC004"),
        kernels=SINE.replace("(v):", "(v):  # bufcb: skip", 1),
    ),
    "imported callback with a default": calling(
        f"from kernels import scaled\n---\ny = jax.pure_callback(scaled, {SPEC}, x)",
        SIBLING,
        kernels="import numpy as np\n\n\ndef scaled(v, k=2):\n    return np.sin(v)\n",
    ),
    "imported callback of keywords alone": calling(
        f"from kernels import scaled\n---\ny = jax.pure_callback(scaled, {SPEC}, v=x)",
        SIBLING,
        kernels="import numpy as np\n\n\ndef scaled(*, v):\n    return np.sin(v)\n",
    ),
    # Names that are computed, listed, or bound once more.
    "imported again by a star, with another body": calling(
        f"{HOST}from other import *\n---\ny = jax.pure_callback(_host, {SPEC}, x)",
        ADAPTED,
        other="__all__ = ['_host']\ndef _host(v):\n    return v.at[0].set(3.0)\n",
    ),
    "numpy becomes jax.numpy by a star": calling(
        "def _host(v):\n    return np.asarray(v)[7:] + np.asarray(v)[jnp.array([9])]\n"
        "from other import *\n"
        "---\ny = jax.pure_callback(_host, jax.ShapeDtypeStruct((0,), jnp.float32), x)",
        ("adapted", "BC103"),
        other="import jax.numpy as np\n",
    ),
    "numpy stays numpy through a star": calling(
        f"from other import *\n{HOST}---\ny = jax.pure_callback(_host, {SPEC}, x)",
        REWRITTEN,
        other="import numpy as np\n",
    ),
    "pure_callback is another one by a star": calling(
        f"from jax import pure_callback\nfrom other import *\n{HOST}---\ny = pure_callback(_host, {SPEC}, x)",
        ("refused", "BC203"),
        other="def pure_callback(f, spec, x):\n    return f(x) + 100\n",
    ),
    "method by a computed name": method(
        "def direct(self, x):\n    return getattr(self, '_ho' + 'st')(x)", SIBLING, "M().direct(x)"
    ),
    "method by a formatted name": method(
        "def direct(self, x):\n    name = '_%s' % 'host'\n    return getattr(self, name)(x)",
        SIBLING,
        "M().direct(x)",
    ),
    "another method by a computed name": method(
        "def direct(self, x):\n    return getattr(self, f'_go_{x.ndim}')(x)\n"
        "def _go_1(self, x):\n    return x",
        REWRITTEN,
        "M().direct(x)",
    ),
    "methods listed by dir": method(
        "def all(self, x):\n    return [getattr(self, n)(x) for n in dir(self) if n.startswith('_h')][0]",
        ("adapted", "BC118"),
        "M().all(x)",
    ),
    "an object's own names say nothing of methods": method(
        "def state(self):\n    return sorted(vars(self))", REWRITTEN, "x + len(M().state())"
    ),
    "function by a computed name": calling(
        f"{HOST}---\ny = jax.pure_callback(_host, {SPEC}, x) + globals()['_ho' + 'st'](x)", SIBLING
    ),
    "functions listed by globals": calling(
        f"{HOST}---\nlisted = [f for n, f in globals().items() if n.startswith('_h')]\n"
        f"y = jax.pure_callback(_host, {SPEC}, x) + sum(f(x) for f in listed)",
        ("adapted", "BC118"),
    ),
    "one global by its name": calling(
        f"{HOST}---\ny = jax.pure_callback(_host, {SPEC}, x) * ('np' in globals())", REWRITTEN
    ),
    "locals around a lambda": calling(
        f"---\ny = jax.pure_callback(lambda v: np.sin(v), {SPEC}, x) + len(locals())", ("adapted", "BC118")
    ),
    "sibling would call a deleted name": calling(
        f"{HOST}f = jax.jit(lambda x: jax.pure_callback(_host, {SPEC}, x))\n"
        "f(jnp.arange(3.0))\nkept = _host\ndel _host\n---\ny = f(x) + kept(x)",
        ("adapted", "BC115"),
    ),
    "one of two definitions is skipped where it is": calling(
        "if len(JAX := 'jax') > 2:\n    def _host(v):\n        return np.sin(v)\nelse:\n"
        "    def _host(v):  # bufcb: skip\n        return np.cos(v)\n"
        f"---\ny = jax.pure_callback(_host, {SPEC}, x)",
        ("skipped", "BC004"),
    ),
    # What handles a class.
    "its own __setattr__ changes what it stores": method(
        "def __init__(self):\n    self._held = lambda x: np.sin(x)\n"
        "def __setattr__(self, name, v):\n    object.__setattr__(self, name, lambda x: v(x) / 2)\n"
        f"def held(self, x):\n    return jax.pure_callback(self._held, {SPEC}, x)",
        REWRITTEN,
        "M().held(x)",
        ("adapted", "BC101"),
    ),
    "class decorator that wraps what it finds": method("", ("adapted", "BC107"), "x", decorator=WRAPS_ALL),
    "class decorator that makes objects": method(
        "", ("adapted", "BC107"), "x", decorator="def deco(cls):\n    return lambda: cls()\n"
    ),
    "class decorator that registers": method(
        "", REWRITTEN, "x", decorator="KNOWN = {}\ndef deco(c):\n    KNOWN[c.__name__] = c\n    return c\n"
    ),
    "metaclass that wraps what it finds": method(
        "",
        ("adapted", "BC107"),
        "x",
        header="metaclass=Meta",
        before=f"{WRAPS_ALL}class Meta(type):\n    def __init__(cls, *args):\n        deco(cls)\n",
    ),
    "base that wraps what it finds": method(
        "",
        ("adapted", "BC107"),
        "x",
        header="Base",
        before="class Base:\n    def __init_subclass__(cls):\n"
        "        for n in [n for n in vars(cls) if n.startswith('_h')]:\n            f = getattr(cls, n)\n"
        "            setattr(cls, n, lambda self, x: f(self, x) / 2)\n",
    ),
    "its own __getattribute__": method(
        "def __getattribute__(self, name):\n    found = object.__getattribute__(self, name)\n"
        "    return (lambda x: found(x) / 2) if name.startswith('_h') else found",
        ("adapted", "BC107"),
        "x",
    ),
    "protocol that would ask for a sibling": method(
        "def host(self, x):\n    return np.sin(x)\n"
        f"def run(self, x):\n    return jax.pure_callback(self.host, {SPEC}, x)",
        REWRITTEN,
        "x + isinstance(Like(), M)",
        ("adapted", "BC115"),
        header="Protocol",
        before="from typing import Protocol, runtime_checkable as deco\n"
        "class Like:\n    _host = host = run = go = None\n",
        decorator="",
        made="type('C', (M,), {})()",
    ),
    "static method of a class that is renamed": method(
        "@staticmethod\ndef host(x):\n    return np.sin(x)\n"
        f"def run(self, x):\n    return jax.pure_callback(self.host, {SPEC}, x)",
        REWRITTEN,
        "Kept().run(x)",
        ("adapted", "BC115"),
        after="Kept, made, M = M, M(), None\n",
        made="made",
    ),
    "replaced in a class made by type": method(
        "", ADAPTED, "N().go(x)", after="N = type('N', (M,), {'_host': lambda self, x: x.at[0].set(3.0)})\n"
    ),
    "replaced by an update of its names": method(
        "def __init__(self, **kw):\n    vars(self).update(kw)",
        ADAPTED,
        "M(_host=lambda x: x.at[0].set(3.0)).go(x)",
    ),
    "replaced in a loop over names": method(
        "",
        ADAPTED,
        "made.go(x)",
        after="made = M()\nfor name in ('_host',):\n    setattr(made, name, lambda x: x.at[0].set(3.0))\n",
    ),
    "other names set in a loop": method(
        "def __init__(self, **kw):\n    for k, v in kw.items():\n        setattr(self, k, v)",
        REWRITTEN,
        "x * M(scale=3).scale",
    ),
}
PATCHES = {
    "assignment": "def count(): ...\njax.pure_callback = count",
    "assignment of a tuple": "old, jax.pure_callback = jax.pure_callback, None",
    "deletion": "del jax.pure_callback",
    "setattr": "setattr(jax, 'pure_callback', None)",
    "monkeypatch": "def test(monkeypatch):\n    monkeypatch.setattr(jax, 'pure_callback', None)",
    "monkeypatch by name": "def test(monkeypatch):\n    monkeypatch.setattr('jax.pure_callback', None)",
    "monkeypatch of a dict": (
        "def test(monkeypatch):\n    monkeypatch.setitem(jax.__dict__, 'pure_callback', None)"
    ),
    "mock.patch": "from unittest import mock\nWITH = mock.patch('jax.pure_callback')",
    "a decorator": "from unittest.mock import patch\n@patch('jax.pure_callback')\ndef test(fake): ...",
    "mock.patch.object": "from unittest import mock\nWITH = mock.patch.object(jax, 'pure_callback')",
    "mock.patch.multiple": "from unittest import mock\nW = mock.patch.multiple(jax, pure_callback=None)",
    "mocker.spy": "def test(mocker):\n    mocker.spy(jax, 'pure_callback')",
    "under another name": "import jax as J\nJ.pure_callback = None",
    "vars": "vars(jax)['pure_callback'] = None",
    "its dict": "jax.__dict__['pure_callback'] = None",
    "a deletion from its dict": "del jax.__dict__['pure_callback']",
    "an update of its dict": "jax.__dict__.update(pure_callback=None)",
    "an update of vars by a dict": "vars(jax).update({'pure_callback': None})",
    "mock.patch.dict": "from unittest.mock import patch\n"
    "W = patch.dict(jax.__dict__, {'pure_callback': None})",
    "its own __setattr__": "jax.__setattr__('pure_callback', None)",
    "that of object": "object.__setattr__(jax, 'pure_callback', None)",
    "sys.modules": "import sys\nsys.modules['jax'].pure_callback = None",
    "importlib": "import importlib\nimportlib.import_module('jax').pure_callback = None",
}


def migrate(folder: Path, *options: str) -> dict[str, dict]:
    """The JSON report of each file, by its path in the project."""
    result = CliRunner().invoke(cli.migrate, [str(folder), "--write", "--format", "json", *options])
    report = json.loads(result.stdout)
    return {Path(file["path"]).relative_to(folder).as_posix(): file for file in report["files"]}


def lay_out(project: Project, folder: Path) -> Path:
    for path, text in {"pyproject.toml": "", **project.files}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The report of each project's files, its folder as it was and its folder as it is migrated."""
    root = tmp_path_factory.mktemp("projects")
    found = {}
    for number, (name, project) in enumerate(PROJECTS.items()):
        before, after = (lay_out(project, root / which / str(number)) for which in ("before", "after"))
        found[name] = migrate(after, *project.options), before, after
    return found


@pytest.fixture(scope="module")
def printed(results):
    """What every program that runs prints, by its folder."""
    folders = [str(f) for name, (_, *both) in results.items() if PROJECTS[name].runs for f in both]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, str(HARNESS), *folders], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(process.stdout)


def outcomes(file: dict) -> list[tuple[str, str | None]]:
    return [(site["status"], site["code"]) for site in file.get("sites", [])]


@pytest.mark.parametrize("name", PROJECTS)
def test_every_use_of_the_project_counts(name, results):
    report, before, after = results[name]
    for path, expected in PROJECTS[name].sites.items():
        assert outcomes(report.get(path, {})) == expected
        if all(status in ("refused", "skipped") for status, _ in expected):
            assert (after / path).read_text() == (before / path).read_text()


@pytest.mark.parametrize("name", [name for name, project in PROJECTS.items() if project.runs])
def test_the_program_prints_what_it_did(name, results, printed):
    _, before, after = results[name]
    if "program.py" in PROJECTS[name].files:
        assert printed[str(before)].startswith("[")
        assert printed[str(after)] == printed[str(before)]


@pytest.mark.parametrize("name", PROJECTS)
def test_a_file_becomes_the_same_whatever_else_is_given(name, results, tmp_path):
    _, before, after = results[name]
    for number, path in enumerate(PROJECTS[name].sites):
        folder = shutil.copytree(before, tmp_path / str(number))
        CliRunner().invoke(cli.migrate, [str(folder / path), "--write", *PROJECTS[name].options])
        for file in folder.rglob("*.py"):
            given = file == folder / path
            expected = (after if given else before) / file.relative_to(folder)
            assert file.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("name", PROJECTS)
def test_a_second_run_changes_nothing(name, results):
    _, _, after = results[name]
    assert not any(file["changed"] for file in migrate(after, *PROJECTS[name].options).values())


# ------------------------------------------------------------------------------- patches


@pytest.mark.parametrize("text", PATCHES.values(), ids=PATCHES)
def test_a_file_that_patches_jax_is_left_alone_and_named_elsewhere(text, tmp_path):
    project = patching(text)
    report = migrate(lay_out(project, tmp_path))
    assert set(outcomes(report["test_core.py"])) == {("refused", "BC206")}
    assert (tmp_path / "test_core.py").read_text() == project.files["test_core.py"]
    assert outcomes(report["core.py"]) == [REWRITTEN]
    (note,) = report["core.py"]["notes"]
    lines = project.files["test_core.py"].splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "pure_callback" in line)
    assert note["code"] == "BC006" and f"test_core.py:{number} replaces " in note["message"]


def test_many_patches_are_one_note(tmp_path):
    project = patching("jax.pure_callback = None\n" * 5)
    (note,) = migrate(lay_out(project, tmp_path))["core.py"]["notes"]
    assert (
        note["message"].count("test_core.py:") == 3
        and " and 2 more replace `pure_callback`" in note["message"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "READ = getattr(jax, 'pure_callback', None)",
        "HAS = hasattr(jax, 'pure_callback')",
        "TEXT = 'jax.pure_callback'",
        "class K: ...\nK.pure_callback = None",
        "import other\nother.pure_callback = None",
        "def test(mocker):\n    mocker.patch('other.pure_callback')",
    ],
)
def test_what_only_looks_or_patches_something_else_is_no_patch_of_jax(text, tmp_path):
    report = migrate(lay_out(patching(text), tmp_path))
    assert ("refused", "BC206") not in outcomes(report["test_core.py"])[1:]
    assert outcomes(report["test_core.py"])[-1][0] == "adapted"
    assert report["core.py"]["notes"] == []


def test_a_patch_of_a_modules_own_name_is_named_in_that_module(tmp_path):
    core = CORE.replace("jax.pure_callback", "pure_callback").replace(
        JAX, f"{JAX}from jax import pure_callback\n"
    )
    tests = "from unittest import mock\n\nPATCH = mock.patch('core.pure_callback')\n"
    folder = lay_out(Project({"core.py": core, "test_core.py": tests}, {}), tmp_path)
    report = migrate(folder)
    assert [note["code"] for note in report["core.py"]["notes"]] == ["BC006"]
    assert "from jax import pure_callback" in (folder / "core.py").read_text()  # the patch needs the name


# ------------------------------------------------------------------------------- imports


@pytest.mark.parametrize(
    ("compat", "kept"),
    [
        ("from jax import pure_callback\n", False),
        ('"""Text."""\nfrom jax import pure_callback\nLEVEL = 1\ndef f(): ...\n', False),
        ("import jax\nfrom jax import pure_callback\njax.config.update('jax_enable_x64', False)\n", True),
        ("from jax import pure_callback\nfrom other import setup\n", True),
    ],
)
def test_an_import_that_may_be_there_for_its_effect_stays(compat, kept, tmp_path):
    program = f"{JAX}from compat import pure_callback\n\ny = pure_callback(np.sin, {SPEC}, jnp.ones(3))\n"
    files = {"compat.py": compat, "program.py": program, "other.py": "def setup(): ...\n"}
    report = migrate(lay_out(Project(files, {}), tmp_path))
    assert outcomes(report["program.py"]) == [("adapted", "BC102")]
    assert ("from compat import" in (tmp_path / "program.py").read_text()) is kept


# ------------------------------------------------------------------------------- wording


@pytest.mark.parametrize(
    ("callback", "kind"),
    [
        ("np.sin if x.size else np.cos", "a conditional expression"),
        ("TABLE['host']", "an element of a container"),
        ("make()", "the result of a call"),
        ("one or other", "a choice by `and` or `or`"),
        ("(f := make())", "an assignment expression"),
        ("make().host", "an attribute of an expression"),
        ("None", "a constant"),
    ],
)
def test_a_callback_out_of_sight_is_named_by_its_kind(callback, kind, tmp_path):
    text = f"{JAX}\ndef run(x, one, other):\n    return jax.pure_callback({callback}, {SPEC}, x)\n"
    report = migrate(lay_out(Project({"program.py": text}, {}), tmp_path))
    (site,) = report["program.py"]["sites"]
    assert site["code"] == "BC101" and f"The callback is {kind}: " in site["message"]
