"""The rules of `bufcb-lint`: what they flag fails, what they leave alone runs, fixes are right."""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from codemods.diagnostics import LINT_CODES
from codemods.engine import migrate
from codemods.lint import engine
from codemods.lint.fixes import FIXES
from codemods.lint.registry import RULES
from codemods.model import AuditOptions, FileResult, Options
from codemods.project import Project
from codemods.source import SourceFile

ROOT = Path(__file__).parents[2]

# Where there is no project around it.
OUTSIDE = Path(tempfile.gettempdir(), "bufcb_lint_snippets", "example.py")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


snippets = load(Path(__file__).with_name("lint_snippets.py"))
FLAGGED: dict[str, dict[str, str]] = snippets.FLAGGED
NEAR_MISSES: dict[str, dict[str, str]] = snippets.NEAR_MISSES
# Without a GPU there is nothing to see of these; a hang is not waited for.
NOT_RUN = {"BCL008", "BCL010", "BCL011"}


def each(table: dict[str, dict[str, str]], but: frozenset[str] | set[str] = frozenset()) -> list[object]:
    return [
        pytest.param(code, sentence, id=f"{code}: {sentence}")
        for code, found in table.items()
        if code not in but
        for sentence in found
    ]


def audit(text: str, **options: object) -> FileResult:
    source = SourceFile.from_bytes(OUTSIDE, text.encode())
    return engine.lint(source, Project.of([OUTSIDE]), AuditOptions(**options))


def codes(text: str) -> list[str]:
    return [note.diagnostic.code for note in audit(text).notes]


# ------------------------------------------------------------------------------- what each rule finds


def test_every_rule_has_its_code_and_enough_snippets():
    assert sorted(RULES) == sorted(FLAGGED) == sorted(NEAR_MISSES)
    assert {*RULES, "BCL000"} == set(LINT_CODES)
    assert all(len(table[code]) >= 6 for table in (FLAGGED, NEAR_MISSES) for code in RULES)


@pytest.mark.parametrize(("code", "sentence"), each(FLAGGED))
def test_is_flagged(code: str, sentence: str):
    assert set(codes(FLAGGED[code][sentence])) == {code}


@pytest.mark.parametrize(("code", "sentence"), each(NEAR_MISSES))
def test_is_not_flagged(code: str, sentence: str):
    assert codes(NEAR_MISSES[code][sentence]) == []


# ------------------------------------------------------------------------------- what really happens

RUNNER = """
import contextlib, json, sys

import jax
import numpy as np

import bufcb


def outcome(text):
    names = {}
    try:
        # An output that nobody looks at may stay as it is.
        with contextlib.nullcontext() if "has_side_effect" in text else bufcb.checked():
            exec(compile(text, "example.py", "exec"), names)
            jax.block_until_ready(names.get("y"))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    if "x" in names and not np.array_equal(names["x"], np.arange(3.0)):
        return "the caller's array has changed"
    return None


print(json.dumps({name: outcome(text) for name, text in json.load(sys.stdin).items()}))
"""


def outcomes(programs: dict[str, str]) -> dict[str, str | None]:
    """How each program fails under the checks of `bufcb`, in a fresh process; None for one that does not."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return json.loads(process.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def run() -> dict[str, str | None]:
    programs = {}
    for table in (FLAGGED, NEAR_MISSES):
        for code, found in table.items():
            if code in NOT_RUN and table is FLAGGED:
                continue
            for sentence, text in found.items():
                unnoticed = table is FLAGGED and code in ("BCL002", "BCL003", "BCL004")
                name = f"{table is FLAGGED} {code} {sentence}"
                # What goes unnoticed with JAX's own is seen by bufcb.
                programs[name] = text.replace("theirs.", "bufcb.") if unnoticed else text
    return outcomes(programs)


@pytest.mark.parametrize(("code", "sentence"), each(FLAGGED, NOT_RUN))
def test_what_is_flagged_fails(code: str, sentence: str, run: dict[str, str | None]):
    assert run[f"True {code} {sentence}"] is not None


@pytest.mark.parametrize(("code", "sentence"), each(NEAR_MISSES))
def test_what_is_not_flagged_runs(code: str, sentence: str, run: dict[str, str | None]):
    assert run[f"False {code} {sentence}"] is None


# ------------------------------------------------------------------------------- fixes

FIXABLE = [
    (code, sentence)
    for code in FLAGGED
    for sentence, text in FLAGGED[code].items()
    if any(note.fixable for note in audit(text).notes)
]


def test_every_fix_has_snippets():
    found = collections.Counter(code for code, _ in FIXABLE)
    assert found.keys() == FIXES.keys()
    assert min(found.values()) >= 5


@pytest.mark.parametrize(("code", "sentence"), FIXABLE)
def test_a_fix_leaves_nothing_to_fix(code: str, sentence: str):
    fixed = audit(FLAGGED[code][sentence], fix=True)
    assert fixed.changed and fixed.notes == ()
    again = audit(fixed.after.decode(), fix=True)
    assert not again.changed and again.notes == ()


@pytest.fixture(scope="module")
def run_fixed() -> dict[str, str | None]:
    return outcomes({f"{c} {s}": audit(FLAGGED[c][s], fix=True).after.decode() for c, s in FIXABLE})


@pytest.mark.parametrize(("code", "sentence"), FIXABLE)
def test_what_is_fixed_runs(code: str, sentence: str, run_fixed: dict[str, str | None]):
    assert run_fixed[f"{code} {sentence}"] is None


CALL = "y = {}.buffer_callback(cb, jax.ShapeDtypeStruct((3,), jnp.float32))(x)\n"
OURS, THEIRS = (
    "import bufcb\nimport jax\n",
    "import jax\nfrom jax.experimental import buffer_callback as theirs\n",
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "def cb(ctx, out, x):\n    return np.asarray(x) * 2  # twice\n",
            "def cb(ctx, out, x):\n    out[...] = np.asarray(x) * 2\n    return  # twice\n",
            id="a returned value is written",
        ),
        pytest.param(
            "def cb(ctx, out, x):\n    out[...] = np.asarray(x)\n    return out\n",
            "def cb(ctx, out, x):\n    out[...] = np.asarray(x)\n    return\n",
            id="a returned output is not",
        ),
        pytest.param(
            "def cb(ctx, out, x):\n    x = np.asarray(x)\n    if x.any():\n        return np.sin(x)\n"
            "    return np.cos(x)\n",
            "def cb(ctx, out, x):\n    x = np.asarray(x)\n    if x.any():\n        out[...] = np.sin(x)\n"
            "        return\n    out[...] = np.cos(x)\n    return\n",
            id="every return is written",
        ),
    ],
)
def test_the_fix_of_a_returned_value_is_that_of_the_migration(before: str, after: str):
    head = OURS + "import jax.numpy as jnp\nimport numpy as np\n"
    fixed = audit(head + before + CALL.format("bufcb"), fix=True)
    assert fixed.after.decode() == head + after + CALL.format("bufcb")


# Bodies that a migration neither converts the argument of nor keeps from being rewritten.
BODIES = {
    "an expression": "return np.sin(np.asarray(v))",
    "a comment behind it": "return np.sin(np.asarray(v))  # of the angle",
    "branches": """
        w = np.asarray(v)
        if w.any():
            # the usual case
            return np.sin(w)
        elif w.size > 9:
            return np.cos(w)
        return w
    """,
    "an early return in a loop": """
        w = np.array(v)
        for _ in range(9):
            w = np.sqrt(w)
            if w.max() < 2:
                return w
        return w
    """,
    "several lines": """
        return np.where(
            np.asarray(v) > 0,  # above
            np.asarray(v),
            0,
        )
    """,
    "a return in try and finally": """
        try:
            w = np.linalg.norm(np.asarray(v))
            return np.full(3, w, np.float32)
        finally:
            print("done")
    """,
    "a match": """
        w = np.asarray(v)
        match w.ndim:
            case 1:
                return w
            case _:
                return w.ravel()
    """,
    "a nested function with a return of its own": """
        def double(value):
            return value * 2
        return double(np.asarray(v))
    """,
    "a conditional expression": "return np.sin(np.asarray(v)) if SMALL else np.cos(np.asarray(v))",
    "a docstring": """
        '''Double it.'''
        return np.asarray(v) * 2
    """,
    "a lock": """
        with LOCK:
            return np.asarray(v) * 2
    """,
    "a value that nobody knows": "return SOLVER.solve(np.array(v))",
}


@pytest.mark.parametrize("body", BODIES)
def test_what_is_fixed_is_what_the_migration_writes(body: str):
    """The same function, with the parameters of a buffer callback and without."""
    head = (
        "import threading\nimport bufcb\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n"
        "from mine import SMALL, SOLVER, v\n\nLOCK = threading.Lock()\n"
        "S = jax.ShapeDtypeStruct((3,), np.float32)\n\n\n"
    )
    text = textwrap.indent(textwrap.dedent(BODIES[body]).strip("\n"), "    ") + "\n"
    call = "\n\ny = {}\n"
    before = head + f"def _cb(v):\n{text}" + call.format("jax.pure_callback(_cb, S, jnp.sin(v))")
    leftover = (
        head + f"def _cb(ctx, out, v):\n{text}" + call.format("bufcb.buffer_callback(_cb, S)(jnp.sin(v))")
    )
    migrated = migrate(SourceFile.from_bytes(OUTSIDE, before.encode()), Project.of([OUTSIDE]), Options())
    assert b"bufcb.buffer_callback(_cb, S)" in migrated.after
    assert audit(leftover, fix=True).after == migrated.after


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("(S, S)", "np.sin(np.asarray(v)), np.cos(np.asarray(v))"),
        ("[S, S]", "[np.sin(np.asarray(v)), np.cos(np.asarray(v))]"),
        ('{"lo": S, "hi": S}', '{"lo": np.sin(np.asarray(v)), "hi": np.cos(np.asarray(v))}'),
        ("(S, S)", "SOLVER.solve(np.array(v))"),
        ("mine.spec()", "SOLVER.solve(np.array(v))"),
    ],
)
def test_what_is_fixed_writes_the_leaves_that_the_migration_writes(spec: str, value: str):
    head = (
        "import bufcb\nimport jax\nimport jax.numpy as jnp\nimport mine\nimport numpy as np\n"
        "from mine import SOLVER, v\n\nS = jax.ShapeDtypeStruct((3,), np.float32)\n\n\n"
    )
    before = head + f"def _cb(v):\n    return {value}\n\n\ny = jax.pure_callback(_cb, {spec}, jnp.sin(v))\n"
    call = f"bufcb.buffer_callback(_cb, {spec})(jnp.sin(v))"
    leftover = head + f"def _cb(ctx, out, v):\n    return {value}\n\n\ny = {call}\n"
    migrated = migrate(SourceFile.from_bytes(OUTSIDE, before.encode()), Project.of([OUTSIDE]), Options())
    assert audit(leftover, fix=True).after == migrated.after


def test_a_callback_of_jax_is_fixed_for_jax():
    head = THEIRS + "import jax.numpy as jnp\nimport numpy as np\n"
    before = "def cb(ctx, out, x):\n    return np.sin(np.asarray(x))\n"
    fixed = audit(head + before + CALL.format("theirs"), fix=True).after.decode()
    assert "    _store_results(out, np.sin(np.asarray(x)))\n    return\n" in fixed
    assert "bufcb" not in fixed
    assert outcomes({"fixed": fixed.replace("(x)\n", "(jnp.zeros(3))\n")}) == {"fixed": None}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "def cb(ctx, out, x):\n    out[...] = np.asarray(x)\n    return np.asarray(x) * 2\n",
            id="both writes and returns",
        ),
        pytest.param(
            "def cb(ctx, out, x):\n    out = np.asarray(x) * 2\n    return out\n",
            id="returns what has the output's name",
        ),
        pytest.param(
            "def cb(ctx, out, x):\n    return np.asarray(x) * 2\ncb(None, None, 1.0)\n",
            id="is called directly as well",
        ),
    ],
)
def test_what_may_mean_something_else_is_not_fixed(text: str):
    text = OURS + "import jax.numpy as jnp\nimport numpy as np\n" + text + CALL.format("bufcb")
    result = audit(text, fix=True)
    assert not result.changed
    assert "BCL001" in [note.diagnostic.code for note in result.notes]


# ------------------------------------------------------------------------------- what the migration emits

# It fails before the migration, for the reason that is found behind it.
WRITES = {"write_into_a_view_fails_as_before": {"BCL005"}}
# The migration itself says that these calls are differentiated and get no derivative: no place for one, or a
# comment that wants none.
DIFFERENTIATED = {
    "differentiated_call_without_a_place_for_a_derivative": {"BCL007"},
    "skip_comment_on_a_derivative": {"BCL007"},
}
AS_BEFORE = WRITES | DIFFERENTIATED
# The comment is about a derivative that is yet to be filled in.
DIFFERENCES = {name: codes for name, codes in AS_BEFORE.items() if name != "skip_comment_on_a_derivative"}
# What these keep is copied, unless `--views` vouches that nothing keeps it: which is not so.
KEPT_ALL_THE_SAME = AS_BEFORE | {
    "captured_by_a_function_that_may_outlive_the_call": {"BCL004"},
    "converted_later_and_kept_is_copied_where_it_converts": {"BCL004"},
    "own_conversion_becomes_a_copy": {"BCL004"},
    "view_added_to_an_outer_list": {"BCL004"},
    "view_is_asked_for_its_flags_and_kept": {"BCL004"},
    "view_is_written_into_and_kept": {"BCL004", "BCL005"},
}
# With JAX's own buffer callback, which hands out writable views, the migration keeps the callback as it is.
OPTIONS = {
    "--vjp zeros": (Options(vjp="zeros", gradients="auto"), AS_BEFORE),
    "--vjp finite-difference": (Options(vjp="finite-difference", gradients="auto"), DIFFERENCES),
    "--target jax --fuse": (Options("jax", fuse=True, gradients="auto"), DIFFERENTIATED),
    "--arrays jax": (Options(arrays="jax", gradients="auto"), DIFFERENTIATED),
    "--arrays numpy": (Options(arrays="numpy", gradients="auto"), AS_BEFORE),
    "--views": (Options(views=True, gradients="auto"), KEPT_ALL_THE_SAME),
    "--public --fuse": (Options(public=True, fuse=True, gradients="auto"), AS_BEFORE),
    "--from io_callback": (Options(apis=("pure_callback", "io_callback"), gradients="auto"), AS_BEFORE),
    "--default-vmap-method sequential": (
        Options(default_vmap_method="sequential", gradients="auto"),
        AS_BEFORE,
    ),
}
FOLDERS = sorted(path.parent for path in (ROOT / "testdata").glob("*/before.*"))


def found_behind_migrations(which: str, options: Options | None, folder: Path) -> dict[str, set[str]]:
    """The codes found in each pair's program, migrated with `options` if given, within its own project."""
    found = {}
    for pair in FOLDERS:
        (original,) = pair.glob(f"{which}.*")
        place = folder / pair.name
        shutil.copytree(pair, place, ignore=shutil.ignore_patterns("before.*", "after.*"))
        program = place / f"program{original.suffix}"
        program.write_bytes(original.read_bytes())
        project = Project.of([program])
        if options is not None:
            migrated = migrate(SourceFile.from_bytes(program, program.read_bytes()), project, options)
            program.write_bytes(migrated.after)
        source = SourceFile.from_bytes(program, program.read_bytes())
        if notes := engine.lint(source, Project.of([program]), AuditOptions()).notes:
            found[pair.name] = {note.diagnostic.code for note in notes}
    return found


def test_nothing_is_found_in_the_pairs(tmp_path: Path):
    assert len(FOLDERS) > 350
    assert found_behind_migrations("after", None, tmp_path) == AS_BEFORE


@pytest.mark.parametrize("name", OPTIONS)
def test_nothing_is_found_in_what_is_migrated_with_other_options(name: str, tmp_path: Path):
    options, known = OPTIONS[name]
    assert found_behind_migrations("before", options, tmp_path) == known
