"""Files made to take for ever: what would grow without bound is cut short, and the answer is the safe one.

Each of them took minutes, or the age of the universe, before there was a bound. The limit of a test is far
above what it takes, for machines that are busy.
"""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codemods import cli, console, discovery
from codemods.model import FileResult
from codemods.notebooks import ipython
from codemods.notebooks.document import Document
from codemods.report import diff, text
from codemods.report.run import Run

HEAD = "import functools\nimport jax\nimport numpy as np\n"
CALLBACK = "\ndef _f(x):\n    return np.sin(np.asarray(x))\n"
LIMIT = 60


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").touch()
    return tmp_path


def call(callback: str) -> str:
    spec = "jax.ShapeDtypeStruct(x.shape, x.dtype)"
    return f"\ndef run(x):\n    return jax.pure_callback({callback}, {spec}, x)\n"


def outcomes(path: str) -> list[tuple[str, str | None]]:
    """Status and code of each call site in a file of the current folder, by a process that may be ended."""
    done = subprocess.run(
        [sys.executable, "-m", "codemods", ".", "--format", "json", "--jobs", "1"],
        capture_output=True,
        check=False,
        timeout=LIMIT,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])},
    )
    (file,) = (f for f in json.loads(done.stdout)["files"] if f["path"] == path)
    assert file["error"] is None, file["error"]
    return [(site["status"], site["code"]) for site in file["sites"]]


def notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "source": s, "metadata": {}, "outputs": []} for s in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


# ---------------------------------------------------------------------------------------- modules


def test_modules_that_take_everything_from_each_other():
    for i in range(14):
        stars = "".join(f"from m{j} import *\n" for j in range(14) if j != i)
        Path(f"m{i}.py").write_text(stars)
    Path("a.py").write_text("from m0 import *\n" + HEAD + call("somewhere"))
    assert outcomes("a.py") == [("adapted", "BC101")]


def test_two_ways_to_each_module():
    for side, i in itertools.product("ab", range(40)):
        imports = f"try:\n    from a{i + 1} import f\nexcept ImportError:\n    from b{i + 1} import f\n"
        Path(f"{side}{i}.py").write_text(imports)
    Path("z.py").write_text(HEAD + "from a0 import f\n" + call("f"))
    assert outcomes("z.py") == [("adapted", "BC101")]


def test_a_chain_of_imports_longer_than_the_stack():
    for i in range(3000):
        Path(f"m{i}.py").write_text(f"from m{i + 1} import _f\n")
    Path("m3000.py").write_text(HEAD + CALLBACK)
    Path("a.py").write_text(HEAD + "from m0 import _f\n" + call("_f"))
    assert outcomes("a.py") == [("adapted", "BC101")]


def test_an_import_with_many_comments():
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/b.py").write_text("f = pure_callback = 1\nfrom . import (a, " + "# x " * 3000 + "\n)\n")
    Path("pkg/a.py").write_text(
        "from jax import pure_callback\ndef f(x):\n    return x\npure_callback(f, s, x)\n"
    )
    assert len(outcomes("pkg/a.py")) == 1


def test_a_line_of_annotations():
    Path("b.py").write_text("x" + "._f:" * 50_000 + "\n" + "pure_callback:" * 50_000)
    Path("a.py").write_text(HEAD + CALLBACK + call("_f"))
    assert outcomes("a.py")[0][0] == "rewritten"


# ---------------------------------------------------------------------------------------- callbacks


def test_classes_with_two_bases_each():
    classes = "class A0:\n    def m(self, x):\n        return np.asarray(x)\nclass B0:\n    pass\n"
    for i in range(1, 60):
        classes += f"class A{i}(A{i - 1}, B{i - 1}):\n    pass\nclass B{i}(A{i - 1}, B{i - 1}):\n    pass\n"
    last = "class D(A59):\n    def run(self, x):\n        return jax.pure_callback(self.m, x, x)\n"
    Path("a.py").write_text(HEAD + classes + last)
    assert outcomes("a.py") == [("adapted", "BC101")]


@pytest.mark.parametrize("count", [10, 1000])
@pytest.mark.parametrize(
    "link",
    ["_p{i} = functools.partial(_p{j})\n", "def _p{i}():\n    return _p{j}()\n"],
    ids=["partial", "factory"],
)
def test_a_callback_behind_many_names(link, count):
    first = "_p0 = functools.partial(_f)\n" if "partial" in link else "def _p0():\n    return _f\n"
    links = "".join(link.format(i=i, j=i - 1) for i in range(1, count))
    callback = f"_p{count - 1}" + ("()" if "def" in link else "")
    Path("a.py").write_text(HEAD + CALLBACK + first + links + call(callback))
    assert outcomes("a.py") == [("rewritten", None) if count == 10 else ("adapted", "BC101")]


def test_a_factory_that_returns_its_own_result():
    """Whether all it makes is called back depends on itself; it cannot be told, nor is it asked for ever."""
    factories = "def g():\n    return _f\ndef h(n):\n    if n:\n        return g()\n    return h(n - 1)\n"
    Path("a.py").write_text(HEAD + CALLBACK + factories + call("g()"))
    assert outcomes("a.py")[0][0] in ("rewritten", "adapted")


def test_nested_functions_that_are_called_twice():
    body = "".join("    " * (i + 1) + f"def g{i}(y{i}):\n" for i in range(16)) + "    " * 17 + "return x\n"
    body += "".join("    " * (i + 1) + f"return g{i}(g{i}(x))\n" for i in reversed(range(16)))
    Path("a.py").write_text(HEAD + "\ndef _f(x):\n    x = np.asarray(x)\n" + body + call("_f"))
    assert outcomes("a.py") == [("adapted", "BC111")]


@pytest.mark.parametrize(("count", "outcome"), [(40, ("rewritten", None)), (1000, ("adapted", "BC111"))])
def test_a_loop_that_takes_as_many_rounds_as_it_has_names(count, outcome):
    names = "".join(f"    v{i} = 0\n" for i in range(count + 1))
    shifts = "".join(f"        v{i} = v{i + 1}\n" for i in range(count))
    loop = f"    while x.sum():\n{shifts}        v{count} = x\n    return np.sin(v0)\n"
    Path("a.py").write_text(HEAD + "\ndef _f(x):\n    x = np.asarray(x)\n" + names + loop + call("_f"))
    assert outcomes("a.py") == [outcome]


def test_ten_thousand_arguments():
    Path("a.py").write_text(
        HEAD
        + "\ndef _f(*a):\n    return np.sin(np.asarray(a[0]))\n"
        + call("_f").replace("x)\n", "x, " * 10_000 + ")\n")
    )
    assert len(outcomes("a.py")) == 1


# ---------------------------------------------------------------------------------------- notebooks


def test_a_cell_that_starts_with_empty_lines_of_windows():
    code = ipython.read("\r\n" * 60 + "import jax\r\n", lambda: "_")
    assert [piece.python for piece in code.pieces] == [None]


def test_a_cell_magic_behind_empty_lines_of_windows():
    code = ipython.read("\r\n# now\r\n" * 60 + "%%time\r\nimport jax\r\n", lambda: "_")
    assert [piece.python is None for piece in code.pieces] == [True, False, True]


def test_a_number_longer_than_python_takes():
    assert Document.read('{"x": ' + "1" * 5000 + ', "cells": []}').cells == ()


def test_a_notebook_that_spells_the_names_made_up_for_commands():
    Path("n.ipynb").write_text(
        notebook("# __ipython" + "_" * 200_000 + "\n!ls\n" + HEAD + CALLBACK + call("_f"))
    )
    assert outcomes("n.ipynb")[0][0] == "rewritten"


def test_a_thousand_cells_with_call_sites():
    cells = [f"y{i} = jax.pure_callback(_f, x, x)\n!ls" for i in range(1000)]
    Path("n.ipynb").write_text(notebook(HEAD + CALLBACK, *cells))
    assert len(outcomes("n.ipynb")) == 1000


# ---------------------------------------------------------------------------------------- .gitignore


@pytest.mark.parametrize("line", ["*a" * 30 + "*b*.py", "**/a/" * 25 + "b*.py", "*[!b]" * 30 + "c*.py"])
def test_a_row_of_stars_in_gitignore(line):
    Path(".git").mkdir()
    Path(".gitignore").write_text(line + "\n")
    folder = Path("a/" * 40)
    folder.mkdir(parents=True)
    for place in (Path(), folder):
        (place / ("a" * 200 + ".py")).write_text(HEAD + CALLBACK + call("_f"))
    assert outcomes("a" * 200 + ".py")[0][0] == "rewritten"


def test_settings_without_end_are_not_read(folder):
    with open("pyproject.toml", "wb") as file:
        file.write(b"[tool.bufcb]\n")
        file.truncate(50_000_000)  # takes no room on most disks
    with pytest.raises(OSError, match="larger than 10 MB"):
        discovery.read_file("pyproject.toml")


# ---------------------------------------------------------------------------------------- output


def test_a_file_name_cannot_forge_a_line():
    path = Path("a\n::error::b.py")
    file = FileResult(path, b"", b"", error=f"{path}:1: cannot be parsed")
    assert list(text.failures(Run((file,), 1))) == ["error: a\\x0a::error::b.py:1: cannot be parsed"]


def test_a_source_line_commands_no_terminal():
    text_ = "x = 1  # \x1b]0;title\x07 \N{RIGHT-TO-LEFT OVERRIDE}\n"
    file = FileResult(Path("a.py"), text_.encode(), b"x = 2\r\n")
    raw, shown = diff.unified_diff(file), diff.unified_diff(file, terminal=True, colour=True)
    assert b"\x1b]0;title\x07" in raw and "\N{RIGHT-TO-LEFT OVERRIDE}".encode() in raw
    assert b"\\x1b]0;title\\x07 \\u202e" in shown and b"\x1b]" not in shown


def test_the_linter_commands_no_terminal(capsysbinary):
    Path("a.py").write_text(
        "import bufcb\nbufcb.buffer_callback(lambda x: x, s)  # \x1b[31m\N{RIGHT-TO-LEFT OVERRIDE}\n"
    )
    with pytest.raises(SystemExit):
        cli.lint(["a.py"])
    assert b"# \\x1b[31m\\u202e\n" in capsysbinary.readouterr().out


def test_settings_command_no_terminal(capsys):
    Path("pyproject.toml").write_text('[tool.bufcb]\n"x\\u001b[31m\\n::error::y" = 1\n')
    with pytest.raises(SystemExit):
        cli.migrate(["."])
    assert "x\\x1b[31m\\x0a::error::y: no such option" in capsys.readouterr().err


def test_one_line_is_plain():
    assert console.one_line("a\nb\u2028\t") == "a\\x0ab\\u2028\t"
