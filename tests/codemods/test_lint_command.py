"""`bufcb-lint` around its rules: output, exit statuses, fixes on disk, suppressions, selection, inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli

HEAD = "import bufcb\nimport jax\nimport numpy as np\n\nS = jax.ShapeDtypeStruct((3,), np.float32)\n\n\n"
CALL = "\n\ny = bufcb.buffer_callback(cb, S)(np.ones(3))\n"
RETURNS = HEAD + "def cb(ctx, out, x):\n    return np.sin(x)\n" + CALL
FIXED = HEAD + "def cb(ctx, out, x):\n    out[...] = np.sin(x)\n    return\n" + CALL
KEEPS = HEAD + "KEPT = []\n\n\ndef cb(ctx, out, x):\n    out[...] = x\n    KEPT.append(x)\n" + CALL
CLEAN = FIXED
RETURNED = (
    "a.py:9:5: BCL001 `cb` returns a value, and a buffer callback must not return any. Write it into the "
    "output, then return nothing.\n    return np.sin(x)\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lint(*arguments: str, code: str | None = None) -> Result:
    return CliRunner().invoke(cli.lint, arguments, prog_name="bufcb-lint", input=code)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ------------------------------------------------------------------------------- findings


def test_findings_are_printed_with_their_places_and_nothing_is_written():
    file = write("a.py", RETURNS)
    result = lint("a.py")
    assert (result.exit_code, result.stdout) == (1, RETURNED)
    assert result.stderr == "1 finding (1 file scanned). --fix takes care of 1.\n"
    assert file.read_text() == RETURNS


def test_nothing_found_is_success():
    write("a.py", CLEAN)
    result = lint(".")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No findings (1 file scanned).\n"


def test_call_sites_of_pure_callback_are_no_findings():
    write("a.py", "import jax\ny = jax.pure_callback(f, s, x)\n")
    assert lint("a.py").exit_code == 0


def test_one_bad_file_fails_the_run_but_stops_nothing():
    write("a.py", RETURNS)
    write("bad.py", "buffer_callback(\n")
    result = lint(".")
    assert (result.exit_code, result.stdout) == (2, RETURNED)
    assert result.stderr.startswith("error: bad.py:1: cannot be parsed")


def test_json_has_the_findings_as_notes():
    write("a.py", RETURNS)
    result = lint("a.py", "--format", "json")
    assert (result.exit_code, result.stderr) == (1, "")
    document = json.loads(result.stdout)
    (file,) = document["files"]
    assert (file["path"], file["changed"], file["error"], file["sites"]) == ("a.py", False, None, [])
    (note,) = file["notes"]
    assert (note["line"], note["column"], note["code"]) == (9, 5, "BCL001")
    assert document["summary"] == {"scanned": 1, "changed": 0, "failed": 0, "findings": 1, "fixable": 1}


def test_the_page_shows_the_findings():
    write("a.py", RETURNS)
    assert lint("a.py", "--html", "page.html").exit_code == 1
    page = Path("page.html").read_text()
    assert "<title>bufcb-lint: 1 finding</title>" in page
    assert "BCL001" in page and "the callback returns a value" in page


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_result_does_not_depend_on_the_number_of_processes(jobs: str):
    for name in ("a.py", "b.py", "c.py"):
        write(name, RETURNS)
    result = lint(".", "--jobs", jobs)
    assert result.exit_code == 1
    assert result.stdout == "".join(RETURNED.replace("a.py", name) for name in ("a.py", "b.py", "c.py"))


def test_every_file_is_in_one_shard():
    for name in ("a.py", "b.py", "c.py", "d.py"):
        write(name, RETURNS)
    shards = [lint(".", "--shard", f"{k}/3").stdout for k in (1, 2, 3)]
    assert sorted("".join(shards).splitlines()) == sorted(lint(".").stdout.splitlines())


def test_a_list_of_paths_is_taken():
    write("a.py", RETURNS)
    write("b.py", RETURNS)
    assert lint("--files-from", "-", code="a.py\n").stdout == RETURNED


def test_a_callback_of_another_module_is_reported_at_the_call():
    write("pyproject.toml", "")
    write("hosts.py", "import numpy as np\n\n\ndef cb(ctx, out, x):\n    return np.sin(x)\n")
    write("a.py", "import bufcb\nfrom hosts import cb\n\ny = bufcb.buffer_callback(cb, S)(x)\n")
    result = lint("a.py")
    assert result.stdout.startswith("a.py:4:5: BCL001 `cb` returns a value")
    assert "(hosts.py, line 5)" in result.stdout
    assert "--fix" not in result.stderr


def test_cells_of_a_notebook_are_audited_and_fixed():
    def cell(source: str) -> dict[str, object]:
        return {
            "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source,
        }  # fmt: skip

    document = {
        "cells": [cell(HEAD), cell("def cb(ctx, out, x):\n    return np.sin(x)"), cell(CALL.strip())],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    file = write("a.ipynb", json.dumps(document))
    result = lint("a.ipynb")
    assert result.exit_code == 1
    assert result.stdout.startswith("a.ipynb:cell 2:2:5: BCL001 ")
    assert lint("a.ipynb", "--fix").exit_code == 0
    cells = json.loads(file.read_text())["cells"]
    assert cells[1]["source"] == "def cb(ctx, out, x):\n    out[...] = np.sin(x)\n    return"


# ------------------------------------------------------------------------------- fixes


def test_fix_writes_once_and_then_has_nothing_to_do():
    file = write("a.py", RETURNS)
    result = lint("a.py", "--fix")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "fixed a.py\n1 file fixed, no findings left (1 file scanned).\n"
    assert file.read_text() == FIXED
    assert lint("a.py", "--fix").stderr == "No findings (1 file scanned).\n"
    assert file.read_text() == FIXED


def test_fix_reports_what_is_left_where_it_is_by_then():
    text = RETURNS + KEEPS.replace(HEAD, "\n\n").replace("cb(", "keep(").replace("(cb,", "(keep,")
    file = write("a.py", text)
    result = lint("a.py", "--fix")
    assert result.exit_code == 1
    line = file.read_text().splitlines().index("    KEPT.append(x)") + 1
    assert result.stdout.startswith(f"a.py:{line}:5: BCL004 ")
    assert "BCL001" not in result.stdout
    assert "1 file fixed, 1 finding left" in result.stderr


def test_diff_shows_what_fix_would_change_and_writes_nothing():
    file = write("a.py", RETURNS)
    result = lint("a.py", "--diff")
    assert result.exit_code == 1
    assert "-    return np.sin(x)\n+    out[...] = np.sin(x)\n+    return\n" in result.stdout
    assert result.stderr.startswith(RETURNED)
    assert "1 file to fix" in result.stderr
    assert file.read_text() == RETURNS
    assert lint("a.py", "--diff", "--fix").stdout == result.stdout
    assert file.read_text() == RETURNS


def test_diff_takes_no_other_format():
    assert lint("a.py", "--diff", "--format", "json").exit_code == 2


def test_a_fix_keeps_line_endings_and_encoding():
    ending = "\r\n"
    text = ("# -*- coding: latin-1 -*-\n# \xe9\n" + RETURNS).replace("\n", ending)
    Path("a.py").write_bytes(text.encode("latin-1"))
    assert lint("a.py", "--fix").exit_code == 0
    expected = ("# -*- coding: latin-1 -*-\n# \xe9\n" + FIXED).replace("\n", ending)
    assert Path("a.py").read_bytes() == expected.encode("latin-1")


def test_a_file_that_cannot_be_written_is_a_failure():
    write("a.py", RETURNS).chmod(0o444)
    result = lint("a.py", "--fix")
    assert result.exit_code == 2
    assert "error: a.py: cannot be written: it is read-only" in result.stderr
    assert Path("a.py").read_text() == RETURNS


def test_fixed_code_from_standard_input_goes_to_standard_output():
    result = lint("-", "--fix", code=RETURNS)
    assert (result.exit_code, result.stdout) == (0, FIXED)
    assert lint("-", "--fix", code="x = 1\n").stdout == "x = 1\n"


# ------------------------------------------------------------------------------- suppressions


@pytest.mark.parametrize(
    "comment", ["# bufcb: skip", "# bufcb: skip[BCL001]", "# bufcb: skip[BCL004, BCL001]"]
)
@pytest.mark.parametrize(
    "line", ["    return np.sin(x)", "def cb(ctx, out, x):", "y = bufcb.buffer_callback(cb, S)(np.ones(3))"]
)
def test_a_comment_leaves_a_finding_out(comment: str, line: str):
    file = write("a.py", RETURNS.replace(line, f"{line}  {comment}"))
    before = file.read_text()
    result = lint("a.py", "--fix")
    assert (result.exit_code, result.stdout) == (0, "")
    assert file.read_text() == before


def test_a_comment_of_another_code_does_not_and_is_reported():
    write("a.py", RETURNS.replace("np.sin(x)", "np.sin(x)  # bufcb: skip[BCL004]"))
    result = lint("a.py")
    assert [line.split()[1] for line in result.stdout.splitlines()[::2]] == ["BCL001", "BCL000"]


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("    return  # bufcb: skip[BCL001]\n", "    return\n"),
        ("    return  # noqa: X1 # bufcb: skip[BCL001, BCL004]\n", "    return  # noqa: X1\n"),
        ("    # bufcb: skip[BCL001]\n    return\n", "    return\n"),
        ("    return\t#bufcb:skip[BCL001]   \n", "    return\n"),
        ("    return  # bufcb: skip[BCL001] as it was\n", None),
        ("    return  # bufcb: skip[BC104]\n", None),
        ("    return  # bufcb: skip\n", None),
    ],
)
def test_an_unused_comment_is_taken_away(line: str, fixed: str | None):
    file = write("a.py", CLEAN.replace("    return\n", line))
    result = lint("a.py", "--fix")
    assert file.read_text() == CLEAN.replace("    return\n", line if fixed is None else fixed)
    assert result.exit_code == (1 if "as it was" in line else 0)
    assert lint("a.py", "--fix").stdout == result.stdout


def test_an_unused_comment_is_reported():
    write("a.py", CLEAN.replace("return\n", "return  # bufcb: skip[BCL001]\n"))
    result = lint("a.py")
    assert result.exit_code == 1
    assert result.stdout.startswith("a.py:10:13: BCL000 This comment suppresses nothing. Remove it.\n")


@pytest.mark.parametrize("comment", ["# bufcb: skip", "# bufcb: skip[BCL001]"])
@pytest.mark.parametrize("line", ["    return np.sin(x)", "def cb(ctx, out, x):"])
def test_a_comment_where_another_module_defines_the_callback_leaves_a_finding_out(comment: str, line: str):
    write("pyproject.toml", "")
    text = "import bufcb\nimport numpy as np\n\n\ndef cb(ctx, out, x):\n    return np.sin(x)\n"
    write("hosts.py", text.replace(line, f"{line}  {comment}"))
    write("a.py", "import bufcb\nfrom hosts import cb\n\ny = bufcb.buffer_callback(cb, S)(x)\n")
    assert (lint("a.py").stdout, lint("hosts.py").stdout, lint(".").exit_code) == ("", "", 0)


def test_a_comment_on_a_function_that_nobody_hands_over_is_unused():
    write("pyproject.toml", "")
    write(
        "hosts.py", "import bufcb\n\nbufcb.buffer_callback\n\n\ndef cb(x):  # bufcb: skip[BCL001]\n    pass\n"
    )
    assert lint("hosts.py").stdout.startswith("hosts.py:6:13: BCL000 ")


def test_the_migration_leaves_comments_of_the_audit_alone():
    text = KEEPS.replace("append(x)", "append(x)  # bufcb: skip[BCL004]").replace(
        "import numpy", "import numpy"
    )
    write("a.py", text + "z = jax.pure_callback(np.sin, S, y)  # bufcb: skip\n")
    assert lint("a.py").exit_code == 0
    result = CliRunner().invoke(cli.migrate, ["a.py"])
    assert "BC005" not in result.stderr


# ------------------------------------------------------------------------------- selection and settings


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((), {"BCL001", "BCL004"}),
        (("--select", "BCL001"), {"BCL001"}),
        (("--ignore", "BCL004"), {"BCL001"}),
        (("--select", "bcl00", "--ignore", "BCL001"), {"BCL004"}),
        (("--ignore", "ALL"), set()),
    ],
)
def test_findings_are_chosen_by_code(arguments: tuple[str, ...], codes: set[str]):
    write("a.py", RETURNS)
    write("b.py", KEEPS)
    result = lint(".", *arguments)
    assert {line.split()[1] for line in result.stdout.splitlines()[::2]} == codes
    assert result.exit_code == bool(codes)


def test_what_is_not_selected_is_not_fixed():
    file = write("a.py", RETURNS)
    assert lint("a.py", "--fix", "--ignore", "BCL001").exit_code == 0
    assert file.read_text() == RETURNS


def test_settings_are_those_of_both_commands():
    write("pyproject.toml", '[tool.bufcb]\nignore = ["BC104", "BCL001"]\ntarget = "jax"\n')
    write("a.py", RETURNS)
    assert lint("a.py").exit_code == 0
    assert CliRunner().invoke(cli.migrate, ["a.py"]).exit_code == 0
    write("pyproject.toml", '[tool.bufcb]\nselect = ["BC1"]\n')
    assert lint("a.py").exit_code == 1
    write("pyproject.toml", "[tool.bufcb]\nfix = true\n")
    assert lint("a.py").exit_code == 0
    assert Path("a.py").read_text() == FIXED


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (cli.lint, "BC104", "'BC104' is for the codes of bufcb-migrate."),
        (cli.migrate, "BCL001", "'BCL001' is for the codes of bufcb-lint."),
        (cli.lint, "BCL999", "'BCL999' is neither a code nor the beginning of one; did you mean BCL"),
    ],
)
def test_a_code_of_the_other_command_is_a_usage_error(command: object, code: str, message: str):
    result = CliRunner().invoke(command, ["a.py", "--select", code])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_transforms_can_be_added():
    text = HEAD + "from mylib import train\n\n\ndef cb(ctx, out, x):\n    out[...] = np.sin(x)\n\n\n"
    text += "def loss(x):\n    return bufcb.buffer_callback(cb, S)(x).sum()\n\n\ntrain(loss)\n"
    write("a.py", text)
    assert lint("a.py").exit_code == 0
    result = lint("a.py", "--gradient-transform", "mylib.train=jax.grad")
    assert result.exit_code == 1
    assert "BCL007" in result.stdout and "train(loss)" in result.stdout
