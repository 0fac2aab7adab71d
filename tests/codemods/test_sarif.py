"""SARIF logs: their form as the standard has it, and what they say."""

from __future__ import annotations

import base64
import functools
import json
import os
import re
import shutil
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from codemods import cli, engine, running
from codemods.diagnostics import CODES, LINT_CODES, PLAIN
from codemods.inputs import Inputs
from codemods.model import Diagnostic, FileResult, Hop, Note, Options, SiteResult, Status
from codemods.progress import Progress
from codemods.report.run import Run
from codemods.report.sarif import to_sarif
from codemods.source import Change

TESTDATA = Path(__file__).parents[2] / "testdata"

# ------------------------------------------------------------------------------- the form

# The properties that logs have, with what the schema asks of each: a type, a pattern, the values that there
# are, or a form of its own. One that is not listed is an error, and those marked with `!` are required.
Form = dict[str, Any]
TEXT: Form = {"!text": str}
LOCATION: Form = {"uri": str, "uriBaseId": str, "index": int}
POSITION = 1, None
REGION: Form = {
    "startLine": POSITION, "startColumn": POSITION, "endLine": POSITION, "endColumn": POSITION,
    "byteOffset": (0, None), "byteLength": (0, None),
}  # fmt: skip
PLACE: Form = {
    "physicalLocation": {"!artifactLocation": LOCATION, "region": REGION},
    "logicalLocations": [{"name": str}],
}
LEVEL = {"none", "note", "warning", "error"}
RULE: Form = {
    "!id": str,
    "shortDescription": TEXT,
    "fullDescription": TEXT,
    "help": {"!text": str, "markdown": str},
    "defaultConfiguration": {"level": LEVEL},
}
REPLACEMENT: Form = {"!deletedRegion": REGION, "insertedContent": {"text": str, "binary": str}}
RESULT: Form = {
    "ruleId": str,
    "ruleIndex": (0, None),
    "level": LEVEL,
    "kind": {"notApplicable"},
    "!message": TEXT,
    "locations": [PLACE],
    "codeFlows": [{"!threadFlows": [{"!locations": [{"location": {**PLACE, "message": TEXT}}]}]}],
    "suppressions": [{"!kind": {"inSource", "external"}}],
    "partialFingerprints": {re.compile(r"[^/]+/v\d+"): str},
    "fixes": [
        {
            "description": TEXT,
            "!artifactChanges": [{"!artifactLocation": LOCATION, "!replacements": [REPLACEMENT]}],
        }
    ],
    "properties": {re.compile("status|callback|gradient"): str},
}
RUN: Form = {
    "!tool": {"!driver": {"!name": str, "version": str, "rules": [RULE], "notifications": [RULE]}},
    "invocations": [
        {
            "!executionSuccessful": bool,
            "toolExecutionNotifications": [
                {
                    "descriptor": {"id": str, "index": int},
                    "level": LEVEL,
                    "!message": TEXT,
                    "locations": [PLACE],
                }
            ],
        }
    ],
    "originalUriBaseIds": {re.compile(".*"): LOCATION},
    "artifacts": [
        {
            "location": LOCATION,
            "roles": [{"analysisTarget"}],
            "length": (0, None),
            "hashes": {re.compile("sha-256"): re.compile("[0-9a-f]{64}")},
            "encoding": str,
        }
    ],
    "results": [RESULT],
    "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
    "newlineSequences": [str],
    "defaultEncoding": str,
    "defaultSourceLanguage": str,
}
LOG: Form = {"$schema": str, "!version": {"2.1.0"}, "!runs": [RUN]}


def check_form(value: Any, form: Any, where: str = "$") -> None:
    match form:
        case [item]:
            assert isinstance(value, list), where
            for index, element in enumerate(value):
                check_form(element, item, f"{where}[{index}]")
        case dict():
            assert isinstance(value, dict), where
            names = {name.lstrip("!") for name in form if isinstance(name, str)}
            required = {name[1:] for name in form if isinstance(name, str) and name.startswith("!")}
            assert required <= set(value), where
            patterns = {name: inner for name, inner in form.items() if isinstance(name, re.Pattern)}
            for name, inner in value.items():
                known = [patterns[pattern] for pattern in patterns if pattern.fullmatch(name)]
                known += [form.get(name, form.get(f"!{name}"))] if name in names else []
                assert known, f"{where}.{name} is not in the schema"
                check_form(inner, known[0], f"{where}.{name}")
        case (least, _):
            assert isinstance(value, int) and not isinstance(value, bool) and value >= least, where
        case set():
            assert value in form, where
        case re.Pattern():
            assert isinstance(value, str) and form.fullmatch(value), where
        case _:
            assert type(value) is form, where


def check_rules(log: dict[str, Any], contents: Callable[[str], bytes]) -> None:
    """What the standard's text asks for beyond the schema; `contents` reads a file that a log names."""
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    failed = any(n["level"] == "error" for n in run["invocations"][0]["toolExecutionNotifications"])
    assert run["invocations"][0]["executionSuccessful"] is not failed
    for base in run["originalUriBaseIds"].values():
        assert re.fullmatch(r"file:///[^?#]*/", base["uri"]) and "/../" not in base["uri"]
    artifacts = [artifact["location"] for artifact in run["artifacts"]]
    for location in artifacts:
        check_location(location, run)
    seen = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert (result["level"] == "none") == (result.get("kind", "fail") != "fail")
        assert isinstance(result["suppressions"], list)  # of all results or of none
        assert "{" not in re.sub(r"\{\{|\}\}", "", result["message"]["text"])  # which no argument would fill
        assert not re.search(r"\]\(", result["message"]["text"])  # which would be a link
        (place,) = result["locations"]
        check_place(place["physicalLocation"], artifacts, contents)
        index = place["physicalLocation"]["artifactLocation"]["index"]
        (fingerprint,) = result["partialFingerprints"].values()
        assert (index, result["ruleId"], fingerprint) not in seen
        seen.add((index, result["ruleId"], fingerprint))


def check_location(location: dict[str, Any], run: dict[str, Any]) -> None:
    uri = location["uri"]
    assert re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri)
    parts = urllib.parse.urlsplit(uri)
    assert not parts.query and not parts.fragment
    if parts.scheme:
        assert parts.scheme == "file" and uri.startswith("file:///") and "uriBaseId" not in location
    else:
        assert location["uriBaseId"] in run["originalUriBaseIds"] and not uri.startswith("/")
    assert ".." not in parts.path.split("/")


def check_place(place: dict[str, Any], artifacts: list, contents: Callable[[str], bytes]) -> None:
    location = place["artifactLocation"]
    assert {k: v for k, v in location.items() if k != "index"} == artifacts[location["index"]]
    lines = lines_of(contents(location["uri"]).decode("utf-8-sig", "replace"))
    if region := place.get("region"):
        start, end = (region["startLine"], region["startColumn"]), None
        assert 1 <= start[0] <= len(lines) and start[1] <= len(lines[start[0] - 1]) + 1
        if "endColumn" in region:
            end = region["endLine"], region["endColumn"]
            assert start < end and end[0] <= len(lines) and end[1] <= len(lines[end[0] - 1]) + 1


def lines_of(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def applied(data: bytes, fix: dict[str, Any]) -> bytes:
    """The file with the replacements made, as a reader of the standard would."""
    (change,) = fix["artifactChanges"]
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    for replacement in reversed(change["replacements"]):
        region, content = replacement["deletedRegion"], replacement["insertedContent"]
        if "byteOffset" in region:
            start, end = region["byteOffset"], region["byteOffset"] + region["byteLength"]
            data = data[:start] + base64.b64decode(content["binary"]) + data[end:]
        else:
            text = data.removeprefix(bom).decode()
            starts = [0]
            for line in lines_of(text):
                starts.append(starts[-1] + len(line))
            start = starts[region["startLine"] - 1] + region["startColumn"] - 1
            end = starts[region["endLine"] - 1] + region["endColumn"] - 1
            assert 0 <= start <= end <= len(text)
            data = bom + (text[:start] + content["text"] + text[end:]).encode()
    return data


# ------------------------------------------------------------------------------- runs


def migrate(*arguments: str) -> Result:
    return CliRunner().invoke(cli.migrate, [*arguments, "--format", "sarif"], prog_name="bufcb-migrate")


def logged(result: Result) -> dict[str, Any]:
    log = json.loads(result.stdout)
    assert result.stdout.isascii()
    check_form(log, LOG)
    return log


def run_of(*files: FileResult, written: bool = False) -> dict[str, Any]:
    text = to_sarif(Run(files, len(files), written))
    log = json.loads(text)
    check_form(log, LOG)
    return log["runs"][0]


def file(
    before: str | bytes = "import jax\ny = jax.pure_callback(f, s, x)\n",
    after: str | bytes | None = None,
    path: str = "a.py",
    **fields: Any,
) -> FileResult:
    before = before.encode() if isinstance(before, str) else before
    after = before if after is None else after.encode() if isinstance(after, str) else after
    return FileResult(Path(path), before, after, **fields)


SITE = SiteResult(2, 5, 2, "f", Status.REWRITTEN, end_column=31)
PROGRAM = """\
import jax
import numpy as np


def _sort(x):
    return np.sort(np.asarray(x))


def _halve(x):
    return x // 2


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    y = jax.pure_callback(_sort, spec, x)
    y = jax.pure_callback(_halve, spec, y)
    y = ops.pure_callback(_halve, spec, y)
    return jax.pure_callback(_halve, spec, y)  # bufcb: skip


z = 1  # bufcb: skip
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_of_the_command_is_a_valid_log(folder: Path):
    (folder / "a.py").write_text(PROGRAM)
    (folder / "bad.py").write_text("x = 1\njax.pure_callback(\n")
    result = migrate(".")
    assert result.exit_code == 2
    log = logged(result)
    check_rules(log, lambda uri: (folder / uri).read_bytes())
    (run,) = log["runs"]
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["newlineSequences"] == ["\r\n", "\r", "\n"]
    found = [
        (r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["region"]) for r in run["results"]
    ]
    assert found == [
        ("BC000", "note", {"startLine": 15, "startColumn": 9, "endLine": 15, "endColumn": 42}),
        ("BC104", "note", {"startLine": 16, "startColumn": 9, "endLine": 16, "endColumn": 43}),
        ("BC201", "warning", {"startLine": 17, "startColumn": 9, "endLine": 17, "endColumn": 26}),
        ("BC004", "note", {"startLine": 18, "startColumn": 12, "endLine": 18, "endColumn": 46}),
        ("BC005", "note", {"startLine": 21, "startColumn": 8}),
    ]
    assert [r["suppressions"] for r in run["results"]] == [[], [], [], [{"kind": "inSource"}], []]
    assert [r["message"]["text"].partition(": ")[0] for r in run["results"]] == [
        "pure_callback of `_sort` can be rewritten.",
        "pure_callback of `_halve` can be adapted",
        "`ops.pure_callback` is left to migrate by hand",
        "pure_callback of `_halve` is left alone",
        "This comment suppresses nothing. Remove it.",
    ]
    assert run["results"][1]["properties"] == {
        "status": "adapted", "callback": "_halve", "gradient": "unknown",
    }  # fmt: skip


def test_the_summary_and_failures_go_to_standard_error(folder: Path):
    (folder / "a.py").write_text(PROGRAM)
    (folder / "bad.py").write_text("x = 1\njax.pure_callback(\n")
    lines = migrate(".").stderr.splitlines()
    assert lines[0].startswith("error: bad.py:2: cannot be parsed")
    assert lines[1].startswith("1 file would change, 4 call sites: ")


@pytest.mark.parametrize(("arguments", "status"), [((), 0), (("--check",), 1), (("--write",), 0)])
def test_exit_statuses_are_those_of_other_formats(folder: Path, arguments: tuple[str, ...], status: int):
    (folder / "a.py").write_text(PROGRAM)
    result = migrate("a.py", *arguments)
    assert result.exit_code == status
    assert ((folder / "a.py").read_text() != PROGRAM) == ("--write" in arguments)
    logged(result)


def test_lint_logs_its_findings_with_the_fix_at_the_first_that_it_is_for(folder: Path):
    text = "import bufcb\n\ny = bufcb.buffer_callback(lambda ctx, out, x: x, S)(x)\n"
    text += "z = bufcb.buffer_callback(lambda x: None, S)(x)\n"
    (folder / "a.py").write_text(text)
    result = CliRunner().invoke(cli.lint, ["a.py", "--format", "sarif"])
    assert result.exit_code == 1
    run = logged(result)["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(LINT_CODES)
    assert {rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]} == {"warning"}
    found = [(each["ruleId"], each["level"]) for each in run["results"]]
    assert found == [("BCL001", "warning"), ("BCL006", "warning")]
    assert result.stderr == "2 findings (1 file scanned). --fix takes care of 1.\n"


def test_a_run_that_finds_nothing_has_no_results():
    run = run_of()
    assert run["results"] == run["artifacts"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_every_code_is_a_rule_with_its_page():
    rules = run_of()["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [PLAIN, *CODES]
    for rule in rules:
        assert rule["shortDescription"]["text"] == CODES.get(rule["id"], "a plain rewrite")
        assert rule["help"]["text"] == rule["help"]["markdown"]
        assert rule["help"]["text"].startswith(f"# {rule['id']}: ")
        assert rule["defaultConfiguration"]["level"] == ("warning" if rule["id"][2] == "2" else "note")


@pytest.mark.parametrize(
    ("error", "message", "region"),
    [
        ("a.py:3: cannot be parsed: no", "cannot be parsed: no", {"startLine": 3}),
        ("a.py: does not exist", "does not exist", None),
        ("something else", "something else", None),
        ("a.py: internal error: {x}", "internal error: {{x}}", None),
    ],
)
def test_a_failure_is_a_notification(error: str, message: str, region: dict[str, int] | None):
    run = run_of(file(error=error))
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is False
    assert notification["level"] == "error"
    assert notification["message"]["text"] == message
    assert notification["descriptor"] == {"id": "failure", "index": 0}
    assert run["tool"]["driver"]["notifications"][0]["id"] == "failure"
    (location,) = notification["locations"]
    assert location["physicalLocation"].get("region") == region
    assert run["results"] == []


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        (SiteResult(2, 5, 2, "f", Status.REWRITTEN), ("BC000", "note", None)),
        (
            SiteResult(2, 5, 2, "f", Status.REWRITTEN, Diagnostic("BC001", "Added.")),
            ("BC001", "note", None),
        ),
        (SiteResult(2, 5, 2, "f", Status.ADAPTED, Diagnostic("BC103", "JAX.")), ("BC103", "note", None)),
        (SiteResult(2, 5, 2, "f", Status.REFUSED, Diagnostic("BC201", "?")), ("BC201", "warning", None)),
        (
            SiteResult(2, 5, 2, "f", Status.SKIPPED, Diagnostic("BC004", "Asked.")),
            ("BC004", "note", "inSource"),
        ),
        (
            SiteResult(2, 5, 2, "f", Status.SKIPPED, Diagnostic("BC010", "Ignored.")),
            ("BC010", "note", "external"),
        ),
        (SiteResult(2, 5, 2, "f", Status.SKIPPED, Diagnostic("BC003", "Other.")), ("BC003", "none", None)),
    ],
)
def test_the_level_and_the_suppression_of_a_result(site: SiteResult, expected: tuple[str, str, str | None]):
    (result,) = run_of(file(sites=(site,)))["results"]
    suppression = result["suppressions"][0]["kind"] if result["suppressions"] else None
    assert (result["ruleId"], result["level"], suppression) == expected
    assert result.get("kind") == ("notApplicable" if expected[1] == "none" else None)


def test_a_site_that_the_user_does_not_want_to_hear_of_is_no_result():
    assert run_of(file(sites=(SiteResult(2, 5, 2, "f", Status.SKIPPED),)))["results"] == []


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        pytest.param("{'a': f}['a']", "{{'a': f}}['a']", id="a placeholder"),
        pytest.param("fs[0](x)", "fs[0] (x)", id="a link"),
    ],
)
def test_code_in_a_message_is_not_taken_for(code: str, shown: str):
    site = SiteResult(2, 5, 2, "f", Status.ADAPTED, Diagnostic("BC101", f"The callback is `{code}`."))
    (result,) = run_of(file(sites=(site,)))["results"]
    assert result["message"]["text"].endswith(f"The callback is `{shown}`.")


def test_a_place_in_a_notebook_is_told_in_words():
    site = SiteResult(2, 5, 2, "f", Status.REWRITTEN, cell=3)
    (result,) = run_of(file("{}", path="a.ipynb", sites=(site,)))["results"]
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"name": "cell 3, line 2"}]


def test_the_way_to_a_differentiated_call_is_a_code_flow():
    hops = (Hop(Path("train.py"), 4, "jax.grad(loss)"), Hop(Path("n.ipynb"), 2, "loss", 3))
    note = Note(2, 5, Diagnostic("BC301", "It is differentiated."), hops=hops)
    (result,) = run_of(file(notes=(note,)))["results"]
    ((thread,),) = [flow["threadFlows"] for flow in result["codeFlows"]]
    first, second = [step["location"] for step in thread["locations"]]
    assert first["message"] == {"text": "jax.grad(loss)"}
    assert first["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
    assert first["physicalLocation"]["region"] == {"startLine": 4}
    assert second["message"] == {"text": "loss"}
    assert second["logicalLocations"] == [{"name": "cell 3, line 2"}]
    assert "region" not in second["physicalLocation"]


# ------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a.py", "a.py"),
        ("src/with space.py", "src/with%20space.py"),
        ("50%.py", "50%25.py"),
        ("a#b?.py", "a%23b%3F.py"),
        ("ä.py", "%C3%A4.py"),
        ("c:a.py", "c%3Aa.py"),
        ("caf\udce9.py", "caf%E9.py"),
    ],
)
def test_a_path_below_the_current_folder_is_relative_and_quoted(folder: Path, path: str, uri: str):
    for spelled in (path, f"./{path}", str(folder / path)):
        run = run_of(file(path=spelled, sites=(SITE,)))
        (result,) = run["results"]
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert location == {"uri": uri, "uriBaseId": "%SRCROOT%", "index": 0}
        check_location(run["artifacts"][0]["location"], run)
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": folder.as_uri() + "/"}}


def test_a_path_elsewhere_is_absolute_and_resolved(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "real" / "inner").mkdir(parents=True)
    (folder / "work").mkdir()
    (folder / "work" / "link").symlink_to(folder / "real" / "inner")
    monkeypatch.chdir(folder / "work")
    for path, expected in [
        ("../a b.py", folder / "a b.py"),
        ("link/../a.py", folder / "real" / "a.py"),  # not work/a.py
        ("/a.py", Path("/a.py")),
    ]:
        run = run_of(file(path=path))
        assert run["artifacts"][0]["location"] == {"uri": Path(os.path.realpath(expected)).as_uri()}
        check_location(run["artifacts"][0]["location"], run)


def test_columns_count_code_points(folder: Path):
    text = PROGRAM.replace("y = jax.pure_callback(_sort", "s = '😀ä'; y = jax.pure_callback(_sort")
    (folder / "a.py").write_text(text)
    (run,) = logged(migrate("a.py"))["runs"]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    line = text.splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "jax.pure_callback(_sort, spec, x)"


def test_an_artifact_tells_the_content_that_was_analysed():
    run = run_of(file("# coding: latin-1\n# ä\n".encode("latin-1")), file("x = 1\n", path="b.py"))
    first, second = run["artifacts"]
    assert (first["length"], first["encoding"]) == (22, "ISO-8859-1")
    assert first["hashes"]["sha-256"] != second["hashes"]["sha-256"]
    assert "encoding" not in second and run["defaultEncoding"] == "UTF-8"


# ------------------------------------------------------------------------------- fingerprints


def fingerprints(*sites: SiteResult, before: str) -> list[str]:
    results = run_of(file(before, sites=sites))["results"]
    return [result["partialFingerprints"]["callSiteText/v1"] for result in results]


def test_a_fingerprint_stays_when_a_call_moves_and_is_indented():
    before = fingerprints(SITE, before="import jax\ny = jax.pure_callback(f, s, x)\n")
    moved = SiteResult(4, 9, 4, "f", Status.REWRITTEN, end_column=35)
    text = "import jax\n\nif True:\n    y =  jax.pure_callback(f, s, x)\n"
    assert fingerprints(moved, before=text) == before
    assert fingerprints(SITE, before="import jax\ny = jax.pure_callback(g, s, x)\n") != before


def test_equal_calls_have_fingerprints_of_their_own():
    second = SiteResult(3, 5, 3, "f", Status.REWRITTEN, end_column=31)
    line = "y = jax.pure_callback(f, s, x)\n"
    one, two = fingerprints(SITE, second, before=f"import jax\n{line}{line}")
    assert one.removesuffix(":1") == two.removesuffix(":2")


# ------------------------------------------------------------------------------- fixes


def fixes_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [fix for result in run["results"] for fix in result.get("fixes", [])]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\r", "ä😀\n", "\x0c\n", "\n"]), max_size=8)


@given(before=LINES, after=LINES, end=st.sampled_from(["", "e"]), bom=st.booleans())
def test_a_fix_makes_the_change(before: list[str], after: list[str], end: str, bom: bool):
    start = "# pure_callback\n"
    mark = b"\xef\xbb\xbf" * bom
    old = mark + (start + "".join(before) + end).encode()
    new = mark + (start + "".join(after)).encode()
    site = SiteResult(1, 1, 1, "f", Status.REWRITTEN)
    fixes = fixes_of(run_of(file(old, new, sites=(site,))))
    assert len(fixes) == (old != new)
    for fix in fixes:
        assert applied(old, fix) == new


@given(before=st.binary(max_size=12), after=st.binary(max_size=12))
def test_a_fix_of_a_file_in_another_encoding_is_in_bytes(before: bytes, after: bytes):
    start = b"# coding: latin-1\n"
    old, new = start + before, start + after
    fixes = fixes_of(run_of(file(old, new, sites=(SiteResult(1, 1, 1, "f", Status.ADAPTED),))))
    assert len(fixes) == (old != new)
    for fix in fixes:
        assert "byteOffset" in fix["artifactChanges"][0]["replacements"][0]["deletedRegion"]
        assert applied(old, fix) == new


def test_the_fix_stands_once_at_the_first_call_that_changes():
    refused = SiteResult(1, 1, 1, "f", Status.REFUSED, Diagnostic("BC201", "?"))
    third = SiteResult(3, 1, 3, "f", Status.ADAPTED, Diagnostic("BC101", "?"))
    run = run_of(file("a\nb\nc\n", "a\nB\nC\n", sites=(refused, SITE, third)))
    assert ["fixes" in result for result in run["results"]] == [False, True, False]


def test_what_is_written_needs_no_fix():
    assert fixes_of(run_of(file("a\nb\n", "a\nB\n", sites=(SITE,)), written=True)) == []
    run = run_of(file("a\nb\n", "a\nB\n", sites=(SITE,)), written=True)
    assert run["results"][0]["message"]["text"] == "pure_callback of `f` is rewritten."


def test_the_fixes_of_all_pairs_are_their_migrations(tmp_path):
    """All of `testdata/`, each pair a project, in one valid log, whose fixes give the migrated bytes."""
    files: list[FileResult] = []
    for folder in sorted(shutil.copytree(TESTDATA, tmp_path / "testdata").iterdir()):
        files += running.analyse(Inputs((folder,)), Options(), 1, Progress(None)).files
    run = Run(tuple(files), len(files))
    log = json.loads(to_sarif(run))
    check_form(log, LOG)
    check_rules(log, functools.cache(read_uri))
    fixes = {fix["artifactChanges"][0]["artifactLocation"]["index"]: fix for fix in fixes_of(log["runs"][0])}
    changed = {index: each for index, each in enumerate(run.files) if each.changed}
    assert changed.keys() == fixes.keys() and len(fixes) > 200
    for index, each in changed.items():
        assert applied(each.before, fixes[index]) == each.after, each.path


def read_uri(uri: str) -> bytes:
    return Path(urllib.parse.unquote(uri.removeprefix("file://"))).read_bytes()


def test_a_defect_of_ours_is_a_failure_and_a_result(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "y = = 2\n"),))
    (folder / "a.py").write_text(PROGRAM)
    result = migrate("a.py")
    assert result.exit_code == 2
    (run,) = logged(result)["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [r["ruleId"] for r in run["results"]][:2] == ["BC205", "BC205"]
    assert fixes_of(run) == []


def test_notes_come_in_order_of_position():
    note = Note(1, 3, Diagnostic("BC005", "Remove it."))
    run = run_of(file(sites=(SITE,), notes=(note,)))
    assert [result["ruleId"] for result in run["results"]] == ["BC005", "BC000"]


def test_the_log_goes_to_standard_error_where_migrated_code_takes_standard_output(folder: Path):
    result = CliRunner().invoke(cli.migrate, ["-", "--write", "--format", "sarif"], input=PROGRAM)
    assert result.exit_code == 0
    assert result.stdout.startswith("import bufcb\n")
    log = json.loads(result.stderr)
    check_form(log, LOG)
    assert [r["ruleId"] for r in log["runs"][0]["results"]] == ["BC000", "BC104", "BC201", "BC004", "BC005"]
