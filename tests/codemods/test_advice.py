"""What a note on an argument advises, and that a callback is rewritten once that is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codemods import cli

PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np
from lib import solve


def _host({parameters}):
{advised}    return {value}


def run(a, b, c):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32), {arguments})
"""


def site_of(text: str, folder: Path, *options: str) -> dict[str, str]:
    path = folder / "program.py"
    path.write_text(text)
    result = CliRunner().invoke(cli.migrate, [str(path), "--format", "json", *options])
    (site,) = json.loads(result.stdout)["files"][0]["sites"]
    return site


@pytest.mark.parametrize(
    ("parameters", "value", "arguments", "advice", "advised"),
    [
        pytest.param(
            "x", "x // 2", "a", "Convert it with `np.asarray(x)` first", "x = np.asarray(x)", id="one"
        ),
        pytest.param(
            "x, y, z",
            "np.sum(z) + x // 2 * y",
            "a, b, c",
            "Convert `x`, `y` and `z` with `np.asarray` first",
            "x, y, z = np.asarray(x), np.asarray(y), np.asarray(z)",
            id="all at once, in the order of the parameters",
        ),
        pytest.param(
            "x, y",
            "np.sum(x) + np.sin(y)",
            "a, b",
            "Convert it with `np.asarray(x)` first",
            "x = np.asarray(x)",
            id="those that are in the way alone",
        ),
        pytest.param(
            "p",
            "p['w'] // 2",
            "{'w': a}",
            "Convert the arrays in `p` with `jax.tree.map(np.asarray, p)` first",
            "p = jax.tree.map(np.asarray, p)",
            id="a dict",
        ),
        pytest.param(
            "pair",
            "solve(pair)",
            "(a, b)",
            "Convert the arrays in `pair` with `jax.tree.map(np.asarray, pair)` first",
            "pair = jax.tree.map(np.asarray, pair)",
            id="a tuple",
        ),
        pytest.param(
            "x, p",
            "x // p[0]",
            "a, (b, c)",
            "Convert it with `np.asarray(x)` and the arrays in `p` with `jax.tree.map(np.asarray, p)` first",
            "x, p = np.asarray(x), jax.tree.map(np.asarray, p)",
            id="an array and a tuple",
        ),
        pytest.param(
            "x, y",
            "solve(y, x)",
            "a, b",
            "Convert `x` and `y` with `np.asarray` first",
            "x, y = np.asarray(x), np.asarray(y)",
            id="two that are handed on at once",
        ),
        pytest.param(
            "x", "solve(x)", "a", "Convert it with `np.asarray(x)` first", "x = np.asarray(x)", id="handed on"
        ),
    ],
)
def test_following_the_advice_is_enough(
    parameters: str, value: str, arguments: str, advice: str, advised: str, tmp_path: Path
):
    def text(line: str) -> str:
        return PROGRAM.format(parameters=parameters, value=value, arguments=arguments, advised=line)

    site = site_of(text(""), tmp_path)
    assert site["status"] == "adapted"
    assert site["message"].endswith(f" {advice}, or pass `--arrays numpy`.")
    assert site_of(text(f"    {advised}\n"), tmp_path)["status"] == "rewritten"
    assert site_of(text(""), tmp_path, "--arrays", "numpy")["status"] == "rewritten"


def test_what_converting_would_not_help_is_named_first(tmp_path: Path):
    text = PROGRAM.format(parameters="x", value="jnp.sin(x // 2)", arguments="a", advised="")
    site = site_of(text, tmp_path)
    assert site["code"] == "BC103"
    assert "np.asarray" not in site["message"]
    assert site_of(text, tmp_path, "--arrays", "numpy")["code"] == "BC103"


def test_a_library_function_that_jax_cannot_adapt_is_to_be_called_in_a_function(tmp_path: Path):
    text = PROGRAM.format(parameters="x", value="np.linalg.inv(x)", arguments="a", advised="")
    direct = text.replace("pure_callback(_host", "pure_callback(np.linalg.inv")
    site = site_of(direct, tmp_path, "--target", "jax")
    assert (site["status"], site["code"]) == ("refused", "BC207")
    assert " Call it in a function of your own, or use `--target bufcb`" in site["message"]
    assert site_of(text, tmp_path, "--target", "jax")["status"] == "rewritten"


def test_a_kept_exception_is_no_matter_of_arrays(tmp_path: Path):
    body = "    try:\n        x = np.exp(x)\n    except ValueError as error:\n        solve.last = error\n"
    text = PROGRAM.format(parameters="x", value="np.sin(x)", arguments="a", advised=body)
    for options in ((), ("--arrays", "numpy")):
        site = site_of(text, tmp_path, *options)
        assert (site["status"], site["code"]) == ("adapted", "BC112")
        assert "error.with_traceback(None)" in site["message"]


# ------------------------------------------------------------------------------- places in other files

CALLER = """\
import jax
import numpy as np
from far import _host
def run(x):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""


def reported(folder: Path, files: dict[str, str], *options: str) -> dict[str, Any]:
    """The report on `program.py`, which is in a project with the other files."""
    for name, text in {"pyproject.toml": "", **files}.items():
        (folder / name).write_text(text)
    command = [str(folder / "program.py"), "--format", "json", *options]
    result = CliRunner().invoke(cli.migrate, command)
    assert result.exit_code == 0, result.stderr
    (report,) = json.loads(result.stdout)["files"]
    return report


@pytest.mark.parametrize("above", [0, 50])
def test_a_copy_for_an_imported_callback_is_noted_at_the_call(above: int, tmp_path: Path):
    far = (
        "import numpy as np\nimport solver\n"
        + "\n" * above
        + "def _host(x):\n    return solver.run(np.asarray(x))\n"
    )
    report = reported(tmp_path, {"far.py": far, "program.py": CALLER})
    (note,) = report["notes"]
    assert (note["code"], note["line"], note["column"]) == ("BC002", 5, 12)
    assert f"`x` is copied, since it may outlive the call (line {above + 4} of far.py)." in note["message"]
    assert report["sites"][0]["status"] == "rewritten"


def test_what_is_in_the_way_in_another_file_has_its_place_in_the_sentence(tmp_path: Path):
    far = "import numpy as np\n\n\ndef _host(x):\n    return np.sort(x // 2)\n"
    (site,) = reported(tmp_path, {"far.py": far, "program.py": CALLER})["sites"]
    assert "NumPy's answer may differ (line 5 of far.py). Convert it" in site["message"]


def test_the_file_that_replaces_a_callback_is_named(tmp_path: Path):
    program = CALLER.replace("from far import _host\n", "def _host(x):\n    return np.sort(np.asarray(x))\n")
    test = "import program\ndef test(monkeypatch):\n    monkeypatch.setattr(program, '_host', abs)\n"
    (site,) = reported(tmp_path, {"program.py": program, "test_program.py": test})["sites"]
    assert (site["status"], site["code"]) == ("adapted", "BC114")
    assert site["message"].startswith("`_host` may be replaced in test_program.py, as `mock.patch` does.")


def test_an_index_may_be_computed_by_either(tmp_path: Path):
    program = "import jax\nimport numpy as np\nTABLE = np.arange(9)\ndef run(i):\n"
    program += "    return jax.pure_callback(lambda i: TABLE[i], jax.ShapeDtypeStruct((), int), i)\n"
    (site,) = reported(tmp_path, {"program.py": program})["sites"]
    assert site["code"] == "BC104"
    assert site["message"].startswith("`TABLE[i]`, with `i` in its index, may be computed by JAX")


def test_a_sibling_is_not_said_to_be_there_before_it_is(tmp_path: Path):
    program = CALLER.replace(
        "from far import _host", "def _host(x):\n    return np.sort(np.asarray(x))\n_host(1)"
    )
    (tmp_path / "program.py").write_text(program)
    result = CliRunner().invoke(cli.migrate, [str(tmp_path / "program.py")])
    assert "`_host` has other users, so `_host_into` is added beside it." in result.output
