"""`--select` and `--ignore`: which outcomes are wanted, and what becomes of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codemods import cli, engine
from codemods.diagnostics import CODES, PLAIN, near
from codemods.engine import migrate
from codemods.model import FileResult, Options
from codemods.project import Project
from codemods.rewrite import NoPlace
from codemods.selection import Selection
from codemods.source import Change, SourceFile

# ------------------------------------------------------------------------------- which codes


@pytest.mark.parametrize(
    ("select", "ignore", "admitted", "rejected"),
    [
        pytest.param("", "", "BC000 BC001 BC104 BC201", "", id="everything by default"),
        pytest.param("BC104", "", "BC104", "BC000 BC001 BC105 BC201", id="one code"),
        pytest.param("BC1", "", "BC104 BC119", "BC000 BC001 BC201", id="a beginning"),
        pytest.param("BC1 BC201", "", "BC104 BC201", "BC000 BC202", id="several"),
        pytest.param("", "BC104", "BC000 BC105 BC201", "BC104", id="all but one"),
        pytest.param("", "BC", "", "BC000 BC001 BC104 BC201", id="all but all"),
        pytest.param("BC1", "BC104", "BC105", "BC104 BC000", id="the longer of the two: ignore"),
        pytest.param("BC104", "BC1", "BC104", "BC105 BC000", id="the longer of the two: select"),
        pytest.param("BC BC104", "BC10", "BC104 BC000 BC110", "BC105", id="the longest of three"),
        pytest.param("BC104", "BC104", "", "BC104 BC105", id="of equals, ignore"),
        pytest.param("ALL", "BC1", "BC000 BC201", "BC104", id="ALL is the shortest beginning"),
        pytest.param("BC1", "ALL", "BC104", "BC000 BC201", id="ALL is ignored, but for what is selected"),
        pytest.param("ALL", "ALL", "", "BC000 BC104", id="ALL of both"),
        pytest.param("BC000", "", "BC000", "BC001 BC104", id="plain rewrites alone"),
        pytest.param("BC0", "", "BC000 BC001", "BC104", id="plain rewrites are among notes"),
    ],
)
def test_the_longest_beginning_decides(select: str, ignore: str, admitted: str, rejected: str):
    selection = Selection(Options(select=tuple(select.split()), ignore=tuple(ignore.split())))
    assert {code for code in admitted.split() if selection.admits(code)} == set(admitted.split())
    assert {code for code in rejected.split() if selection.admits(code)} == set()


# ------------------------------------------------------------------------------- what becomes of call sites

PROGRAM = """\
import jax
import numpy as np


def _sort(x):
    return np.sort(np.asarray(x))


def _halve(x):
    return x // 2


y = jax.pure_callback(_sort, S, x)
y = jax.pure_callback(_halve, S, y)
y = ops.pure_callback(_halve, S, y)
"""


def run(text: str, select: str = "", ignore: str = "", **options: object) -> FileResult:
    source = SourceFile.from_bytes(Path("m.py"), text.encode())
    chosen = Options(select=tuple(select.split()), ignore=tuple(ignore.split()), **options)  # type: ignore[arg-type]
    return migrate(source, Project.of([]), chosen)


def outcomes(result: FileResult) -> list[tuple[str, str]]:
    return [(str(s.status), s.diagnostic.code if s.diagnostic else "") for s in result.sites]


def notes(result: FileResult) -> list[str]:
    return [note.diagnostic.code for note in result.notes]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ("", "", [("rewritten", ""), ("adapted", "BC104"), ("refused", "BC201")]),
        ("", "BC104", [("rewritten", ""), ("skipped", "BC010"), ("refused", "BC201")]),
        ("", "BC000", [("skipped", "BC010"), ("adapted", "BC104"), ("refused", "BC201")]),
        ("", "BC201", [("rewritten", ""), ("adapted", "BC104"), ("skipped", "BC010")]),
        ("", "BC104 BC010", [("rewritten", ""), ("skipped", ""), ("refused", "BC201")]),
        ("BC000", "", [("rewritten", ""), ("skipped", ""), ("skipped", "")]),
        ("BC1", "", [("skipped", ""), ("adapted", "BC104"), ("skipped", "")]),
        ("BC1 BC010", "", [("skipped", "BC010"), ("adapted", "BC104"), ("skipped", "BC010")]),
        ("BC1", "BC104", [("skipped", ""), ("skipped", ""), ("skipped", "")]),
    ],
)
def test_an_outcome_that_is_not_wanted_leaves_its_call_alone(
    select: str, ignore: str, expected: list[tuple[str, str]]
):
    result = run(PROGRAM, select, ignore)
    assert outcomes(result) == expected
    changed = [status in ("rewritten", "adapted") for status, _ in expected]
    before, after = PROGRAM.splitlines()[-3:], result.after.decode().splitlines()[-3:]
    assert [a != b for a, b in zip(before, after, strict=True)] == changed
    assert result.changed == any(changed)


def test_the_reason_names_the_code_and_the_option():
    ignored = run(PROGRAM, ignore="BC104").sites[1].diagnostic
    assert ignored is not None
    assert ignored.message == "Left alone, since its outcome, BC104, is ignored."
    left_out = run(PROGRAM, select="BC000 BC010").sites[1].diagnostic
    assert left_out is not None
    assert left_out.message == "Left alone, since its outcome, BC104, is not selected."


SHARED = """\
import jax
import numpy as np


def _sort(x):
    return np.sort(np.asarray(x))


y = jax.pure_callback(_sort, S, x)
z = jax.pure_callback(_sort, S, x, sharding=d, **more)
"""


def test_the_rest_is_decided_anew_as_if_by_a_comment():
    """A call that is left alone is one more user of its callback, which therefore gets a sibling."""
    assert outcomes(run(SHARED)) == [("rewritten", "BC001"), ("adapted", "BC110")]
    by_option = run(SHARED.replace(", sharding=d, **more", ""), ignore="BC000")
    assert outcomes(by_option) == [("skipped", "BC010")] * 2
    one = "z = jax.pure_callback(_sort, S, x)"
    text = SHARED.replace(", sharding=d, **more", "")
    commented = run(text.replace(one, f"{one}  # bufcb: skip"))
    assert outcomes(commented) == [("rewritten", "BC001"), ("skipped", "BC004")]
    both = run(text.replace(one, f"{one}  # bufcb: skip"), ignore="BC001")
    assert outcomes(both) == [("skipped", "BC010"), ("skipped", "BC004")]
    assert not both.changed


def test_a_comment_that_says_the_same_is_of_use():
    text = PROGRAM.replace("_halve, S, y)\ny =", "_halve, S, y)  # bufcb: skip[BC104]\ny =")
    result = run(text, ignore="BC104")
    assert outcomes(result)[1] == ("skipped", "BC004")
    assert notes(result) == []


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ("", "", ["BC005", "BC006"]),
        ("", "BC005", ["BC006"]),
        ("", "BC0", []),
        ("BC1", "", []),
        ("BC006", "", ["BC006"]),
    ],
)
def test_notes_are_chosen_as_well(select: str, ignore: str, expected: list[str]):
    result = run('x = 1  # bufcb: skip\npatch("jax.pure_callback")\n', select, ignore)
    assert notes(result) == expected


def test_a_call_of_another_library_is_skipped_without_a_word():
    text = "from catalyst import pure_callback\npure_callback(f)\n"
    assert outcomes(run(text)) == [("skipped", "BC003")]
    assert outcomes(run(text, ignore="BC003")) == [("skipped", "")]


# Outcomes of a whole file, which are known only after its plan.

PATCHED = "import jax\nimport numpy as np\njax.pure_callback = fake\ny = jax.pure_callback(np.sin, S, x)\n"


def test_outcomes_of_a_whole_file_are_chosen_as_well():
    assert outcomes(run(PATCHED)) == [("refused", "BC206")] * 2
    assert outcomes(run(PATCHED, ignore="BC206")) == [("skipped", "BC010")] * 2
    commented = PATCHED.replace("S, x)", "S, x)  # bufcb: skip[BC206]")
    assert outcomes(run(commented)) == [("refused", "BC206"), ("skipped", "BC004")]
    assert notes(run(commented)) == []


def test_a_call_without_a_place_for_its_import_keeps_no_other_from_migrating():
    text = """\
try:
    import jax
    import numpy as np
except ImportError:
    jax = None


class Model:
    zeros = jax.pure_callback(np.sort, S, 1.0)  # bufcb: skip[BC204]

    def run(self, x):
        return jax.pure_callback(np.sort, S, x)
"""
    assert outcomes(run(text)) == [("skipped", "BC004"), ("adapted", "BC102")]
    assert outcomes(run(text.replace("[BC204]", "[BC205]"))) == [("refused", "BC204")] * 2


def test_a_file_whose_every_outcome_is_ignored_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "y = = 2\n"),))
    assert run(SHARED).error is not None
    result = run(SHARED, ignore="BC205")
    assert result.error is None and not result.changed
    assert outcomes(result) == [("skipped", "BC010")] * 2


def test_deciding_anew_ends(monkeypatch: pytest.MonkeyPatch):
    """Each round leaves more calls alone, whatever becomes of the rest."""
    rounds = []

    def nowhere(*_: object) -> str:
        rounds.append(1)
        raise NoPlace("There is none.")

    monkeypatch.setattr(engine, "rewrite", nowhere)
    assert outcomes(run(PROGRAM, ignore="BC204 BC201")) == [("skipped", "BC010")] * 3
    assert len(rounds) == 1


# ------------------------------------------------------------------------------- the options


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PROGRAM)


def command(*arguments: str, which: object = cli.migrate) -> Result:
    return CliRunner().invoke(which, arguments, prog_name="bufcb-migrate")


def found(*arguments: str) -> list[tuple[str, str]]:
    result = command("a.py", "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    (file,) = json.loads(result.stdout)["files"]
    return [(site["status"], site["code"] or "") for site in file["sites"]]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ignore", "BC104", "--ignore", "BC201"],
        ["--ignore", "BC104,BC201"],
        ["--ignore", "bc104 , Bc201"],
        ["--ignore=BC1,BC2"],
        ["--select", "BC0", "--ignore", "BC001"],
        ["--select", "BC0", "--select", "BC1", "--ignore", "BC1"],
        ["--select", "all", "--ignore", "BC1,BC2"],
    ],
)
def test_codes_are_given_one_by_one_or_in_lists_and_in_any_case(arguments: list[str]):
    assert [status for status, _ in found(*arguments)] == ["rewritten", "skipped", "skipped"]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("BC140", "'BC140' is neither a code nor the beginning of one; did you mean BC"),
        ("BC9", "'BC9' is neither a code nor the beginning of one"),
        ("BC104,F401", "'F401' is neither a code nor the beginning of one."),
        ("BC1040", "'BC1040' is neither a code nor the beginning of one; did you mean BC104"),
        ("", "'' is neither a code nor the beginning of one."),
        ("BC104,", "'' is neither a code nor the beginning of one."),
        ("ALLES", "'ALLES' is neither a code nor the beginning of one; did you mean ALL?"),
    ],
)
def test_an_unknown_code_is_a_usage_error_with_those_that_look_like_it(option: str, value: str, message: str):
    result = command("a.py", option, value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{option}': {message}" in " ".join(result.stderr.split())


def test_near_names_no_more_than_three():
    assert near("BC1").count("BC") == 3
    assert near("AL") == "; did you mean ALL?"
    assert near("nothing like it") == "."


def test_settings_take_lists():
    Path("pyproject.toml").write_text('[tool.bufcb]\nselect = ["BC0", "BC1"]\nignore = ["BC104"]\n')
    assert found() == [("rewritten", ""), ("skipped", "BC010"), ("skipped", "BC010")]
    # The command line outweighs each of them.
    assert found("--ignore", "BC000")[:2] == [("skipped", "BC010"), ("adapted", "BC104")]
    assert [status for status, _ in found("--select", "BC2", "--ignore", "BC1")] == [
        "skipped",
        "skipped",
        "refused",
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"BC104"', "[tool.bufcb] select: expected a list of strings, found 'BC104'"),
        ('["F401"]', "'F401' is neither a code nor the beginning of one."),
    ],
)
def test_wrong_settings_end_the_run(value: str, message: str):
    Path("pyproject.toml").write_text(f"[tool.bufcb]\nselect = {value}\n")
    result = command("a.py")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_what_is_ignored_is_not_told_of_with_select():
    result = command("a.py", "--select", "BC000")
    assert "BC" not in result.stderr
    assert "3 call sites: 1 rewritten, 2 skipped" in result.stderr


def test_what_is_ignored_is_not_left_to_migrate():
    assert command("a.py", "--check", "--ignore", "BC000,BC1").exit_code == 0


def test_every_code_can_be_chosen():
    for code in (PLAIN, *CODES):
        assert command("a.py", "--select", code, "--ignore", code).exit_code == 0
