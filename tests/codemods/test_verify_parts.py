"""The parts of `--verify`: names, copies of a project, differences of numbers, comparison, tables."""

import dataclasses
import math
import os
import stat
import struct
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from codemods import running
from codemods.inputs import Inputs
from codemods.model import FileResult, Options, Place, Successor
from codemods.progress import Progress
from codemods.report import proof as report
from codemods.verification import Proof, arrays
from codemods.verification.comparison import Verdict, compare, without_varying
from codemods.verification.errors import VerificationError
from codemods.verification.names import Key, Names, key_of
from codemods.verification.printed import Change, first_change, last_change
from codemods.verification.processes import Ended
from codemods.verification.recordings import Arguments, Calls, Recording, Result
from codemods.verification.startup import Redirection
from codemods.verification.trees import Tree, remove, write

# Names.


def renamed(tmp_path: Path, **files: str) -> dict[tuple[str, str, int], tuple[str, str, int]]:
    """What becomes of the functions of migrated files: (file, name, line) after it, and before."""
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    run = running.analyse(Inputs((tmp_path,)), Options(), 1, Progress(None))
    changed = [file for file in run.files if file.changed]
    found = Names(changed, lambda path: os.path.relpath(path, tmp_path))
    return {
        (after.path, after.name, after.line): (before.path, before.name, before.line)
        for after, before in found._originals.items()
    }


HEADER = "import jax\nimport numpy as np\n"


def test_a_function_is_known_by_its_old_line(tmp_path):
    source = (
        HEADER
        + "\ndef _f(x):\n    return np.sin(np.asarray(x))\n\ny = jax.jit(jax.pure_callback(_f, s, x))\n"
    )
    assert renamed(tmp_path, a=source) == {("a.py", "_f", 5): ("a.py", "_f", 4)}


def test_a_lambda_that_becomes_a_def_is_known_by_its_place(tmp_path):
    source = HEADER + (
        "def g(x, s):\n"
        "    other = lambda x: x\n"
        "    return [jax.pure_callback(lambda x: np.sort(x), s, x), jax.pure_callback(\n"
        "        lambda x: np.flip(x), s, x)], other\n"
    )
    found = renamed(tmp_path, a=source)
    names = {name: before for (_, name, _), before in found.items()}
    assert names["_sort"] == ("a.py", "<lambda>", 5)
    assert names["_flip"] == ("a.py", "<lambda>", 6)
    assert names["<lambda>"] == ("a.py", "<lambda>", 4)
    assert names["g"] == ("a.py", "g", 3)


def test_a_lambda_inside_one_that_becomes_a_def_is_found():
    before = b"y = call(lambda x: sort(x, lambda v: -v), s, x)\nf = lambda x: x\n"
    after = (
        b"def _sort(ctx, out, x):\n    out[...] = sort(x, lambda v: -v)\n\ny = call(_sort)\nf = lambda x: x\n"
    )
    successor = Successor("_sort", Place(Path("a.py"), 1, 9), "<lambda>")
    names = Names([FileResult(Path("a.py"), before, after, successors=(successor,))], str)
    assert names.original(Key("a.py", 1, "_sort")) == Key("a.py", 1, "<lambda>")
    assert names.original(Key("a.py", 2, "<lambda>")) == Key("a.py", 1, "<lambda>")
    assert names.original(Key("a.py", 5, "<lambda>")) == Key("a.py", 2, "<lambda>")
    assert names.original(Key("b.py", 5, "<lambda>")) == Key("b.py", 5, "<lambda>")


def test_a_lambda_that_leaves_another_one_is_found(tmp_path):
    source = HEADER + (
        "def main(s):\n"
        "    for k in range(3):\n"
        "        f = lambda v: jax.pure_callback(lambda a: np.multiply(np.asarray(a), k), s, v)\n"
        "    return f\n"
    )
    found = renamed(tmp_path, a=source)
    assert {(name, before) for (_, name, _), before in found.items()} == {
        ("main", ("a.py", "main", 3)),
        ("<lambda>", ("a.py", "<lambda>", 5)),
        ("_multiply", ("a.py", "<lambda>", 5)),
    }


def test_a_sibling_is_known_by_what_it_calls(tmp_path):
    helpers = HEADER + "\n\ndef smooth(x):\n    return np.sin(np.asarray(x))\n"
    source = HEADER + (
        "from helpers import smooth\n"
        "class Model:\n"
        "    @staticmethod\n"
        "    def public(x):\n"
        "        return np.cos(np.asarray(x))\n"
        "    def run(self, x, s):\n"
        "        return jax.pure_callback(Model.public, s, x) + jax.pure_callback(smooth, s, x)\n"
    )
    found = renamed(tmp_path, a=source, helpers=helpers, pyproject="")
    names = {(path, name): before for (path, name, _), before in found.items()}
    assert names["a.py", "_public_into"] == ("a.py", "public", 5)  # the line of its decorator
    assert names["a.py", "_smooth_into"] == ("helpers.py", "smooth", 5)
    assert names["a.py", "public"] == ("a.py", "public", 5)


def test_functions_of_one_name_are_told_apart(tmp_path):
    source = HEADER + (
        "if flag:\n"
        "    def _f(x):\n"
        "        return np.sin(np.asarray(x))\n"
        "else:\n"
        "    def _f(x):\n"
        "        return np.cos(np.asarray(x))\n"
        "y = jax.pure_callback(_f, s, x)\n"
    )
    found = renamed(tmp_path, a=source)
    assert [before for _, before in sorted(found.items())] == [("a.py", "_f", 4), ("a.py", "_f", 7)]


def test_a_notebooks_callbacks_are_known_by_name(tmp_path):
    import json

    lines = [*HEADER.splitlines(keepends=True), "y = jax.pure_callback(lambda x: np.sort(x), s, x)"]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": lines}
    document = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "a.ipynb").write_text(json.dumps(document))
    assert renamed(tmp_path) == {("", "_sort", 0): ("", "<lambda>", 0)}


def test_a_key_is_relative_to_the_copy_of_the_project(tmp_path):
    file = tmp_path / "a.py"
    file.touch()

    def key(path: str | None, line: int | None = 7) -> Key:
        return key_of({"file": path, "line": line, "name": "f.<locals>.g"}, str(tmp_path))

    assert key(str(file)) == Key("a.py", 7, "g")
    assert key(os.__file__) == Key(os.path.realpath(os.__file__), 7, "g")
    assert key("/tmp/ipykernel_1/123.py") == Key("", 0, "g")
    assert key("<string>") == Key("", 0, "g")
    assert key(None, None) == Key("", 0, "f.<locals>.g")


# Copies.


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    for folder in ("src", ".git", "src/__pycache__", "env/lib", "node_modules", "locked"):
        (root / folder).mkdir(parents=True)
    for file in (
        "src/a.py",
        ".git/config",
        "src/__pycache__/a.pyc",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "locked/b",
    ):
        (root / file).write_text(file)
    (root / "src" / "a.py").chmod(0o555)
    (root / "locked").chmod(0o555)
    os.utime(root / "src" / "a.py", (1, 1))
    (tmp_path / "outside").write_text("outside")
    (root / "inner").symlink_to("src/a.py")
    (root / "absolute").symlink_to(root / "src")
    (root / "outer").symlink_to("../outside")
    (root / "broken").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    yield root
    (root / "locked").chmod(0o755)


def test_a_copy_has_what_a_command_needs(tree, tmp_path):
    found = Tree.of(str(tree), str(tmp_path / "scratch"))
    assert found.linked == ("env", "node_modules")
    copy = tmp_path / "copy"
    found.copy(str(copy))
    names = {str(path.relative_to(copy)) for path in copy.rglob("*")}
    assert names == {
        "src", "src/a.py", "env", "node_modules", "locked", "locked/b", "inner", "absolute", "outer", "broken"
    } | {name for name in names if name.startswith(("env/", "absolute/"))}  # fmt: skip
    status = (copy / "src" / "a.py").stat()
    assert stat.S_IMODE(status.st_mode) == 0o555
    assert status.st_mtime == 1
    assert os.readlink(copy / "env") == str(tree / "env")
    assert os.readlink(copy / "inner") == "src/a.py"
    assert os.readlink(copy / "absolute") == str(copy / "src")
    assert (copy / "outer").read_text() == "outside"
    assert os.readlink(copy / "broken") == "nowhere"
    write(str(copy / "src" / "a.py"), b"src/a.py", b"new", Path("a.py"))
    assert (copy / "src" / "a.py").read_text() == "new"
    assert (tree / "src" / "a.py").read_text() == "src/a.py"
    (copy / "locked").chmod(0o500)
    remove(str(copy))
    assert not copy.exists()
    assert (tree / "env" / "lib" / "x.py").exists()


def test_a_copy_does_not_copy_itself(tmp_path):
    root, scratch = tmp_path / "root", tmp_path / "root" / "scratch"
    scratch.mkdir(parents=True)
    (root / "a").write_text("a")
    found = Tree.of(str(root), str(scratch))
    found.copy(str(scratch / "copy"))
    assert [path.name for path in (scratch / "copy").iterdir()] == ["a"]


def test_a_copy_needs_room(tree, tmp_path):
    found = dataclasses.replace(Tree.of(str(tree), ""), size=1 << 60)
    with pytest.raises(VerificationError, match="set TMPDIR"):
        found.copy(str(tmp_path / "copy"))


def test_a_file_that_changed_is_not_migrated(tmp_path):
    (tmp_path / "a").write_text("newer")
    with pytest.raises(VerificationError, match="shown was changed in the meantime"):
        write(str(tmp_path / "a"), b"older", b"migrated", Path("shown"))
    with pytest.raises(VerificationError, match="shown is not in the copy"):
        write(str(tmp_path / "b"), b"older", b"migrated", Path("shown"))
    assert (tmp_path / "a").read_text() == "newer"


def test_paths_are_redirected_unless_they_are_linked_to(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source / "a", source / "env" / "lib", source / "gone", target / "a", target / "env"):
        folder.mkdir(parents=True)
    redirected = Redirection(str(source), str(target), ["env"])
    assert redirected(str(source / "a")) == str(target / "a")
    assert redirected(str(source)) == os.path.join(str(target), ".")
    for path in (str(source / "gone"), str(source / "env" / "lib"), str(tmp_path), f"{source}2", ""):
        assert redirected(path) == path
    assert redirected.paths(f"{source}/a{os.pathsep}/x") == f"{target}/a{os.pathsep}/x"


# Numbers.


@pytest.mark.parametrize(
    ("dtype", "before", "after", "size", "text"),
    [
        ("float32", struct.pack("<2f", 1, 2), struct.pack("<2f", 1, 2.5), 0.5, "[1]: 2 before, 2.5 after"),
        (
            "float64",
            struct.pack("<d", 0.1),
            struct.pack("<d", 0.3),
            0.3 - 0.1,
            "[0]: 0.10000000000000001 before",
        ),
        ("float16", struct.pack("<e", 1), struct.pack("<e", 2), 1, "[0]: 1 before, 2 after"),
        ("bfloat16", b"\x80\x3f", b"\x00\x40", 1, "[0]: 1 before, 2 after"),
        ("int8", b"\x01", b"\xff", 2, "[0]: 1 before, -1 after"),
        ("uint64", b"\x00" * 8, b"\xff" * 8, 2**64 - 1, "18446744073709551615 after"),
        ("int4", b"\x07", b"\x0f", 8, "[0]: 7 before, -1 after"),
        ("bool", b"\x00", b"\x01", 1, "[0]: False before, True after"),
        ("complex64", struct.pack("<2f", 1, 1), struct.pack("<2f", 4, 5), 5, "[0]: 1+1j before, 4+5j after"),
        ("float32", struct.pack("<f", 0.0), struct.pack("<f", -0.0), 0, "[0]: 0 before, -0 after"),
        ("float32", struct.pack("<f", math.nan), b"\x01\x00\xc0\x7f", 0, "[0]: nan, in its bits alone"),
        ("float32", struct.pack("<f", 1), struct.pack("<f", math.nan), math.nan, "[0]: 1 before, nan after"),
        ("float8_e4m3fn", b"\x01", b"\x02", math.nan, "[0]: bits 01 before, 02 after"),
    ],
)
def test_the_size_of_a_difference(dtype, before, after, size, text):
    count = len(before) // max(arrays.itemsize(dtype), 1)
    found = arrays.difference(((dtype, (count,)),), before, after, arrays.Budget())
    assert found.size == pytest.approx(size, nan_ok=True)
    assert text in found.text


def test_the_first_difference_of_several_outputs_is_shown():
    avals = (("int32", (2, 3)), ("float32", ()))
    before, after = bytes(28), bytes(16) + b"\x01" + bytes(11)
    found = arrays.difference(avals, before, after, arrays.Budget())
    assert found == arrays.Difference(1, "output 0 differs first at index [1, 1]: 0 before, 1 after")
    assert arrays.difference(avals, before, before, arrays.Budget()) is None


def test_only_so_much_is_looked_at():
    count = 2_000_001
    before, after = bytes(count), b"\x01" + bytes(count - 1)
    assert arrays.difference((("int8", (count,)),), before, after, arrays.Budget()) is None


def test_arrays_are_shown_as_jax_shows_them():
    avals = (("float32", (2, 3)), ("int32", ()), ("bool", (1,)), ("bfloat16", ()), ("float8_e4m3fn", ()))
    assert arrays.shown(avals) == "f32[2,3], s32[], bool[1], bf16[], float8_e4m3fn[]"
    assert arrays.shown(()) == "nothing"


# Comparison.

A, B = Arguments((), b"a"), Arguments((), b"b")
ONE, TWO = Result((), b"1"), Result((), b"2")
KEY = Key("a.py", 1, "f")


def recording(*given: tuple[Arguments, Result], total: int | None = None, full=False, **fields) -> Recording:
    calls = Calls(name="f", total=len(given) if total is None else total, **fields)
    for arguments, result in given:
        calls.results[arguments][result] += 1
    return Recording({KEY: calls} if given or total else {}, full, (), started=True, unhooked=False)


def verdict(before: Recording, after: Recording) -> Verdict:
    (row,) = compare(before, after)
    return row.verdict


def test_order_and_number_of_calls_do_not_matter():
    assert verdict(recording((A, ONE), (B, TWO), (A, ONE)), recording((B, TWO), (A, ONE))) is Verdict.SAME


def test_other_results_for_the_same_arguments_are_a_difference():
    assert verdict(recording((A, ONE)), recording((A, TWO))) is Verdict.DIFFERENT
    assert verdict(recording((A, ONE)), recording((A, ONE), (A, TWO))) is Verdict.DIFFERENT
    assert verdict(recording((A, ONE)), recording((A, Result(raised="ValueError")))) is Verdict.DIFFERENT


def test_results_of_two_closures_that_change_places_are_a_difference():
    def run(*bound: tuple[str, Result]) -> Recording:
        return recording((A, ONE), (A, TWO), bound={A: set(bound)})

    assert verdict(run(("x", ONE), ("y", TWO)), run(("x", TWO), ("y", ONE))) is Verdict.DIFFERENT
    assert verdict(run(("x", ONE), ("y", TWO)), run(("y", TWO), ("x", ONE))) is Verdict.SAME
    # What is bound may have changed until the call was compiled.
    assert verdict(run(("x", ONE), ("y", TWO)), run(("x", TWO), ("z", ONE))) is Verdict.SAME


def test_calls_of_one_run_alone_are_a_difference():
    assert verdict(recording((A, ONE), (B, TWO)), recording((A, ONE))) is Verdict.OTHER_CALLS
    assert verdict(recording((A, ONE)), recording()) is Verdict.OTHER_CALLS
    assert verdict(recording(), recording((A, ONE))) is Verdict.OTHER_CALLS


def test_calls_that_may_just_not_have_been_recorded_are_none():
    assert verdict(recording((A, ONE), (B, ONE)), recording((A, ONE), total=9)) is Verdict.SAME
    sampled = recording((A, ONE), (B, ONE), sampled={B})
    assert verdict(sampled, recording((A, ONE), total=9)) is Verdict.OTHER_CALLS
    assert verdict(sampled, recording((A, ONE), total=9, full=True)) is Verdict.SAME
    assert verdict(recording((A, ONE)), recording(full=True)) is Verdict.SAME


def test_side_effects_must_happen_as_often():
    before = recording((A, ONE), (A, ONE), apis={"io_callback"})
    assert verdict(before, recording((A, ONE))) is Verdict.DIFFERENT
    assert verdict(before, recording((A, ONE), (A, ONE))) is Verdict.SAME


def test_what_varies_by_itself_is_marked():
    before, after, again = recording((A, ONE)), recording((A, TWO)), recording((A, Result((), b"3")))
    (row,) = without_varying(compare(before, after), before, again)
    assert row.verdict is Verdict.VARIES
    (row,) = without_varying(compare(before, after), before, before)
    assert row.verdict is Verdict.DIFFERENT


FAILED = Result(raised="ValueError")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("too small", "too small", False),
        ("too small", "too large", True),
        ("<f at 0x7f01a2b3c4d5>", "<f at 0x7f9900000000>", False),
    ],
)
def test_another_text_of_an_exception_is_told_and_no_difference(before, after, told):
    one, other = (recording((A, FAILED), texts={(A, FAILED): {text}}) for text in (before, after))
    (row,) = compare(one, other)
    assert row.verdict is Verdict.SAME
    text = f"called with nothing: raises ValueError with another text, {before!r} → {after!r}"
    assert row.messages == ((text,) if told else ())
    (row,) = without_varying([row], one, other)  # as if the original did so as well
    assert row.messages == ()


# What is printed.


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("a\nb\n", "a\nb\n", None),
        ("a\nb\n", "a\nc\n", Change(2, "b", "c")),
        ("a\nb\n", "a\n", Change(2, "b", None)),
        ("", "a\n", Change(1, None, "a")),
        ("a\nb\nb\n", "b\na\nb\n", None),
        ("a\nb\nb\n", "b\na\na\n", Change(1, "a", "b")),
        ("=== 2 passed in 0.52s ===\n", "== 2 passed in 10.07s ==\n", None),
        ("=== 2 passed in 0.52s ===\n", "=== 3 passed in 0.52s ===\n", True),
        ("<f at 0x7f01a2b3c4d5>\n", "<f at 0x7f9900000000>\n", None),
        ("2026-01-02 10:11:12,5 done: 3.1 it/s\n", "2026-01-03 08:11:12,7 done: 2 it/s\n", None),
        ("loss 0.5\n", "loss 0.25\n", Change(1, "loss 0.5", "loss 0.25")),
        ("5 samples\n", "6 samples\n", Change(1, "5 samples", "6 samples")),
    ],
)
def test_lines_differ_but_for_their_order_and_for_times_and_addresses(tmp_path, before, after, change):
    paths = tmp_path / "before", tmp_path / "after"
    for path, text in zip(paths, (before, after), strict=True):
        path.write_text(text)
    found = first_change(*paths)
    assert bool(found) is change if change is True else found == change


def test_only_the_last_line_of_a_failure_is_compared():
    assert last_change("a\nValueError: x\n", "b\nc\nValueError: x\n") is None
    assert last_change("a\nValueError: x\n", "KeyError: x\n") == Change(2, "ValueError: x", "KeyError: x")
    assert last_change("", "KeyError: x\n") is None


def test_a_long_line_is_shown_where_it_differs():
    change = Change(3, "a" * 500 + "b" * 500, "a" * 500 + "c")
    *_, told, conclusion = shown([], [], printed=change)
    left, right = f"'…{'a' * 40}{'b' * 40}'", f"'…{'a' * 40}c'"
    assert told == f"What the command prints differs, first in line 3: {left} → {right}."
    assert conclusion.startswith("Verified")
    *_, told, _ = shown([], [], printed=Change(1, "a", None))
    assert told == "What the command prints differs, first in line 1: 'a' → nothing."


# Tables.


def shown(before: list[float], after: list[float], **fields) -> list[str]:
    rows = compare(recording((A, ONE), seconds=before), recording((A, ONE), seconds=after))
    ended = Ended(0, 1.0, "", "", Path())
    proof = Proof("true", os.getcwd(), ended, ended, None, rows, (), is_full=False, **fields)
    return list(report.to_text(proof, ""))


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([2e-4] * 10, [1e-5] * 10, "200 µs → 10 µs  20 times"),
        ([2e-4] * 9, [1e-5] * 10, "200 µs → 10 µs  n too small"),
        ([1e-3, 3e-3] * 5, [2e-3, 4e-3] * 5, "2 ms → 3 ms  not clear"),
        ([1.5] * 10, [3.0] * 10, "1.5 s → 3 s  0.5 times"),
    ],
)
def test_a_speed_up_is_shown_where_times_show_one(before, after, text):
    heading, row, conclusion = shown(before, after)
    assert heading.split("  ")[0] == "callback"
    assert row.endswith(text)
    assert conclusion.startswith("Verified: 1 callback gives the same")


def test_a_full_recording_is_mentioned():
    ended = Ended(0, 1.0, "", "", Path())
    rows = compare(recording((A, ONE)), recording((A, ONE)))
    proof = Proof("true", os.getcwd(), ended, ended, None, rows, (), is_full=True)
    assert any("--verify-limit" in line for line in report.to_text(proof, ""))
    assert report.to_object(proof, "")["complete"] is False


def test_numbers_that_json_has_not_are_left_out():
    rows = [
        dataclasses.replace(row, difference=math.nan)
        for row in compare(recording((A, ONE)), recording((A, TWO)))
    ]
    ended = Ended(1, 1.0, "", "", Path())
    document = report.to_object(
        Proof("true", os.getcwd(), ended, ended, None, tuple(rows), (), is_full=False), ""
    )
    assert document["callbacks"][0]["difference"] is None
    assert Counter(document["callbacks"][0]["calls"]) == Counter(before=1, after=1, compared=1)
