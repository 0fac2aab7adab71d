"""Who else uses a name, over projects of several files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods.project import Project
from codemods.uses import everything, read_uses


def project(root: Path, files: dict[str, str | bytes], *given: str) -> Project:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Project.of([root / name for name in given or ("m.py",)])


def used(root: Path, other: str | bytes, name: str = "_host", file: str = "other.py") -> bool:
    """Whether `name` of `m.py` counts as used when another file holds the given text."""
    found = project(root, {"pyproject.toml": "", "m.py": "def _host(x): return x", file: other})
    return found.used_elsewhere(name, root / "m.py")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("from m import _host", id="imported"),
        pytest.param("from m import _host as h", id="imported under another name"),
        pytest.param("from .m import (\n    a,\n    _host,\n)", id="imported over several lines"),
        pytest.param("def f():\n    from m import _host", id="imported in a function"),
        pytest.param("import m\nm._host(1)", id="an attribute"),
        pytest.param("import m\nm._host = g", id="assigned"),
        pytest.param("self._host", id="an attribute of anything"),
        pytest.param("getattr(m, '_host')", id="a string"),
        pytest.param("mock.patch('m._host')", id="a dotted string"),
        pytest.param("monkeypatch.setattr(m, '_host', g)", id="patched"),
        pytest.param("__all__ = ['_host']", id="in __all__"),
        pytest.param("def broken(:\n    _host", id="a file that cannot be parsed"),
        pytest.param(b"# coding: nonsense\n_host", id="a file that cannot be decoded"),
    ],
)
def test_a_name_is_used_by_another_file(tmp_path: Path, other: str | bytes):
    assert used(tmp_path, other)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("def g(): pass", id="nothing of the name"),
        pytest.param("def _host(x): return x\n_host(1)", id="a name of its own"),
        pytest.param("_host_2 = m.a_host", id="longer names"),
        pytest.param("# _host is called from jit", id="a comment"),
        pytest.param("import m", id="an import of the module alone"),
        pytest.param("from m import g", id="another name of the module"),
    ],
)
def test_a_name_is_not_used(tmp_path: Path, other: str):
    assert not used(tmp_path, other)


def test_a_star_import_takes_public_names_alone(tmp_path: Path):
    found = project(
        tmp_path,
        {
            "pyproject.toml": "",
            "m.py": "def host(x): return x\ndef _host(x): return x",
            "other.py": "from m import *\nhost(1)",
        },
    )
    assert found.used_elsewhere("host", tmp_path / "m.py")
    assert not found.used_elsewhere("_host", tmp_path / "m.py")


@pytest.mark.parametrize(
    "file", ["sub/other.py", "tests/test_m.py", "other.pyw", "stubs/m.pyi", "nb.ipynb", "a b/ü.py"]
)
def test_every_python_file_of_the_project_is_looked_at(tmp_path: Path, file: str):
    text = "from m import _host"
    notebook = '{"cells": [{"cell_type": "code", "source": ["%%time\\n", "from m import _host"]}]}'
    assert used(tmp_path, notebook if file.endswith("ipynb") else text, file=file)


@pytest.mark.parametrize(
    "file",
    [
        ".venv/lib/other.py",
        "node_modules/other.py",
        "__pycache__/other.py",
        "build/other.py",
        "other.txt",
        "site-packages/a.py",
    ],
)
def test_what_is_not_the_projects_is_not(tmp_path: Path, file: str):
    assert not used(tmp_path, "from m import _host", file=file)


def test_the_file_itself_does_not_count_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = "def _host(x): return x\nself._host\ngetattr(m, '_host')"
    found = project(tmp_path, {"pyproject.toml": "", "m.py": text, "sub/other.py": ""})
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "m.py", Path("m.py"), Path("sub/../m.py")):
        assert not found.used_elsewhere("_host", path)


def test_a_relative_path_is_the_file_that_it_leads_to_by_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = "def _host(x): return x\nm._host = print"
    found = project(tmp_path, {"pyproject.toml": "", "a/m.py": text, "b/m.py": text}, "a/m.py", "b/m.py")
    for folder, other in (("a", "b"), ("b", "a")):
        monkeypatch.chdir(tmp_path / folder)
        assert [file for file, _ in found.others("_host", Path("m.py"))] == [str(tmp_path / other / "m.py")]
        assert found.replaced("_host", Path("m.py")) == str(tmp_path / other / "m.py")


@pytest.mark.parametrize(
    ("method", "is_replaced"),
    [
        pytest.param("def set(self, m): self._host = print", False, id="on the object itself"),
        pytest.param(
            "@staticmethod\n    def set(m): m._host = print", True, id="on a static method's argument"
        ),
    ],
)
def test_what_a_class_assigns_replaces_a_function(tmp_path: Path, method: str, is_replaced: bool):
    other = f"class Fake:\n    {method}\n"
    found = project(tmp_path, {"pyproject.toml": "", "m.py": "def _host(x): return x", "other.py": other})
    assert (found.replaced("_host", tmp_path / "m.py") is not None) is is_replaced


def test_a_link_to_the_file_does_not_count(tmp_path: Path):
    found = project(tmp_path, {"pyproject.toml": "", "m.py": "getattr(m, '_host')"})
    (tmp_path / "link.py").symlink_to(tmp_path / "m.py")
    assert not found.used_elsewhere("_host", tmp_path / "m.py")


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", "setup.cfg", ".git/HEAD"])
def test_the_project_reaches_up_to_its_project_file(tmp_path: Path, marker: str):
    files = {
        f"repo/{marker}": "",
        "repo/src/pkg/m.py": "",
        "repo/tests/test_m.py": "from pkg.m import _host",
        "elsewhere.py": "from pkg.m import _other",
    }
    found = project(tmp_path, files, "repo/src/pkg/m.py")
    path = tmp_path / "repo/src/pkg/m.py"
    assert found.used_elsewhere("_host", path)
    assert not found.used_elsewhere("_other", path)


def test_without_a_project_file_a_script_is_alone_with_its_folder(tmp_path: Path):
    files = {
        "home/m.py": "",
        "home/beside.py": "from m import _a",
        "home/sub/below.py": "from m import _b",
        "above.py": "from m import _c",
    }
    found = project(tmp_path, files, "home/m.py")
    assert [found.used_elsewhere(name, tmp_path / "home/m.py") for name in ("_a", "_b", "_c")] == [
        True,
        False,
        False,
    ]


def test_without_a_project_file_a_package_is_whole_whichever_part_is_given(tmp_path: Path):
    files = {"home/pkg/__init__.py": "", "home/pkg/sub/__init__.py": "", "home/pkg/sub/m.py": ""}
    files |= {
        "home/pkg/below/other.py": "from ..sub.m import _a",
        "home/beside.py": "from pkg.sub.m import _b",
    }
    files |= {"home/folder/far.py": "from pkg.sub.m import _c"}
    for given in ("home/pkg/sub/m.py", "home/pkg/sub", "home/pkg"):
        found = project(tmp_path, files, given)
        used = [found.used_elsewhere(name, tmp_path / "home/pkg/sub/m.py") for name in ("_a", "_b", "_c")]
        assert used == [True, True, False]


@pytest.mark.parametrize(
    ("other", "used"),
    [("from m import _host", True), ("import a.m\na.m._host(1)", True), ("self._host", False)],
)
def test_other_projects_of_a_repository_use_what_they_take_from_the_module(tmp_path, other: str, used: bool):
    files = {"repo/.git/HEAD": "", "repo/a/pyproject.toml": "", "repo/a/m.py": "", "repo/b/setup.py": ""}
    found = project(tmp_path, files | {"repo/b/other.py": other}, "repo/a/m.py")
    assert found.used_elsewhere("_host", tmp_path / "repo/a/m.py") is used


def test_a_repository_that_ignores_the_file_is_not_its_project(tmp_path: Path):
    files = {"home/.git/HEAD": "", "home/.gitignore": "*\n", "home/a/pyproject.toml": "", "home/a/m.py": ""}
    files |= {"home/a/other.py": "from m import _host", "home/far.py": "from m import _other"}
    found = project(tmp_path, files, "home/a/m.py")
    assert found.used_elsewhere("_host", tmp_path / "home/a/m.py")
    assert not found.used_elsewhere("_other", tmp_path / "home/a/m.py")


def test_without_a_project_file_a_folder_is_the_project(tmp_path: Path):
    files = {"home/m.py": "", "home/sub/below.py": "from m import _b", "above.py": "from m import _c"}
    found = project(tmp_path, files, "home")
    assert [found.used_elsewhere(name, tmp_path / "home/m.py") for name in ("_b", "_c")] == [True, False]


def test_a_project_of_nothing_uses_nothing():
    assert not Project.of([]).used_elsewhere("_host", Path("m.py"))


# ------------------------------------------------------------------------------- what is handed on


@pytest.mark.parametrize(
    ("other", "handed_on"),
    [
        pytest.param("from m import jax", True, id="taken by name"),
        pytest.param("from .m import jax", True, id="taken by a relative import"),
        pytest.param("from pkg.m import jax as j", True, id="taken from a package's module"),
        pytest.param("from m import *", True, id="taken with everything"),
        pytest.param("import m\nm.jax.jit", True, id="an attribute of the module"),
        pytest.param("import pkg.m\npkg.m.jax.jit", True, id="an attribute of a package's module"),
        pytest.param("from n import jax", False, id="taken from another module"),
        pytest.param("import jax", False, id="imported from its source"),
        pytest.param("n.jax", False, id="an attribute of something else"),
        pytest.param("import m", False, id="the module alone"),
        pytest.param("def broken(:\n    from m import jax", True, id="a file that cannot be parsed"),
    ],
)
def test_what_another_file_takes_from_a_module_is_kept(tmp_path: Path, other: str, handed_on: bool):
    found = project(tmp_path, {"pyproject.toml": "", "m.py": "import jax", "other.py": other})
    assert found.reexported("jax", tmp_path / "m.py") is handed_on


def test_a_packages_own_names_are_taken_by_its_name(tmp_path: Path):
    files = {"pyproject.toml": "", "pkg/__init__.py": "import jax", "other.py": "from pkg import jax"}
    found = project(tmp_path, files, "pkg/__init__.py")
    assert found.reexported("jax", tmp_path / "pkg/__init__.py")


def test_a_package_takes_from_its_module(tmp_path: Path):
    files = {"pyproject.toml": "", "pkg/__init__.py": "from .m import solve", "pkg/m.py": ""}
    found = project(tmp_path, files, "pkg/m.py")
    assert found.reexported("solve", tmp_path / "pkg/m.py")
    assert found.used_elsewhere("solve", tmp_path / "pkg/m.py")


# ------------------------------------------------------------------------------- modules by name


@pytest.mark.parametrize(
    ("dotted", "file"),
    [
        ("compat", "compat.py"),
        ("pkg.deep", "pkg/deep.py"),
        ("pkg", "pkg/__init__.py"),
        (".compat", "compat.py"),
        (".pkg.deep", "pkg/deep.py"),
        ("numpy", None),
        ("pkg.nothing", None),
        ("..compat", None),
    ],
)
def test_modules_are_found_by_their_dotted_name(tmp_path: Path, dotted: str, file: str | None):
    files = {"pyproject.toml": "", "m.py": "", "compat.py": "", "pkg/__init__.py": "", "pkg/deep.py": ""}
    found = project(tmp_path, files).module_files(dotted, tmp_path / "m.py")
    assert found == ([str((tmp_path / file).resolve())] if file else [])


def test_modules_under_src_are_found(tmp_path: Path):
    files = {"pyproject.toml": "", "tests/test_m.py": "", "src/pkg/__init__.py": "", "src/pkg/m.py": ""}
    found = project(tmp_path, files, "tests/test_m.py").module_files("pkg.m", tmp_path / "tests/test_m.py")
    assert found == [str((tmp_path / "src/pkg/m.py").resolve())]


@pytest.mark.parametrize(
    ("files", "is_module"),
    [
        pytest.param({"pyproject.toml": "", "m.py": "x = full"}, False, id="a project that is not imported"),
        pytest.param({"pyproject.toml": "", "m.py": "import numpy\rimport os, full.n"}, True, id="imported"),
        pytest.param({"pyproject.toml": "", "m.py": "if x: from full import n"}, True, id="taken from"),
        pytest.param({"pyproject.toml": "", "m.py": "patch('full.n.f')"}, True, id="a string"),
        pytest.param({"pyproject.toml": "", "m.py": "open('full.py')"}, False, id="a file's name"),
        pytest.param({"pyproject.toml": "", "__init__.py": "", "m.py": ""}, True, id="a package"),
        pytest.param({"m.py": ""}, True, id="a folder"),
    ],
)
def test_the_folder_of_a_project_is_a_module_where_it_is_imported(
    tmp_path: Path, files: dict[str, str], is_module: bool
):
    folder = tmp_path / "full"
    folder.mkdir()
    found = project(folder, files)
    assert found.has_module("full") is is_module
    assert found.has_module("m")


def test_a_module_that_cannot_be_read_is_none(tmp_path: Path):
    found = project(tmp_path, {"pyproject.toml": "", "m.py": "", "broken.py": "def f(:"})
    assert found.module(str(tmp_path / "broken.py")) is None
    assert found.module(str(tmp_path / "missing.py")) is None
    assert found.module(str(tmp_path / "m.py")) is not None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from m import f as g\nfrom . import h", id="imports"),
        pytest.param("import m\nm.f(x.y.z).w = 1", id="attributes"),
        pytest.param("patch('m.f')\nimport_module('a.b')", id="dotted strings"),
        pytest.param('def f():\n    """\n    >>> import m\n    >>> m.f.g()\n    """', id="an example"),
        pytest.param("class A(m.B):\n    def f(self):\n        return self.g", id="a class"),
    ],
)
def test_a_file_mentions_all_that_it_takes_or_reads(text: str):
    """What it does not mention need not be looked for in anything else."""
    for uses in (read_uses(ast.parse(text)), everything(text.encode())):
        names = {name for _, name in uses.taken} | uses.bases.keys() | uses.spelled | uses.declared
        assert names and all(name == "*" or uses.mentions(name) for name in names)
    assert not uses.mentions("another")
