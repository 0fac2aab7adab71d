"""`--verify`: a command of the user's tells whether callbacks give what they gave."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from codemods import cli, running, verification
from codemods.inputs import Inputs
from codemods.model import Options
from codemods.progress import Progress
from codemods.report.proof import to_text
from codemods.verification import Settings, VerificationError
from codemods.verification.comparison import Verdict

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "testdata" / "demo"
PYTHON = sys.executable


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A function that makes a project of files, and goes there."""

    def make(**files: str) -> Path:
        folder = tmp_path / "project"
        folder.mkdir()
        for name, text in {"pyproject": "[project]\nname = 'p'\nversion = '1'\n", **files}.items():
            suffix = ".toml" if name == "pyproject" else ".py"
            (folder / (name + suffix)).write_text(textwrap.dedent(text))
        monkeypatch.chdir(folder)
        return folder

    return make


def analysed(*paths: str, **options):
    return running.analyse(Inputs(tuple(map(Path, paths))), Options(**options), 1, Progress(None))


def verify(run, command, **settings):
    return verification.verify(run, Settings(command, **settings), say=lambda text: None)


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything about the files of a folder that a user would notice."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
    return found


def migrate(*arguments: str):
    return CliRunner().invoke(cli.migrate, arguments)


# Wrong rewrites.

PLANTED = """
    import jax
    import jax.numpy as jnp
    import numpy as np

    kept, cached = [], {}


    def _extremes(x):
        x = np.asarray(x)
        return x.min(), x.max()

    def _capped(x):
        x = np.asarray(x)
        if x.max() > 1:
            return np.minimum(x, np.float32(1))
        return np.negative(x)

    def _remembered(x):
        kept.append(x)
        return np.negative(np.asarray(x))

    def _centred(x):
        x = np.asarray(x)
        return np.subtract(x, x.mean(dtype=x.dtype))

    def _halved(x):
        return np.divide(np.asarray(x), np.float32(3))

    def _squared(x):
        return np.square(np.asarray(x))

    def _difference(x, y):
        return np.subtract(np.asarray(x), np.asarray(y))

    def _summed(x):
        return np.cumsum(np.asarray(x), dtype=np.float32)

    def _flipped(x):
        x = np.asarray(x)
        if x[0] > 0:
            return np.flip(x)
        return np.multiply(x, np.float32(-7))

    def _doubled(x):
        return np.multiply(np.asarray(x), np.float32(2))

    def _checked(x):
        x = np.asarray(x)
        if x[0] < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    def _partly(x):
        return np.sinh(np.asarray(x))

    def scaled_by(factor):
        def _scaled(x):
            return np.multiply(np.asarray(x), np.float32(factor))

        return lambda x: jax.pure_callback(_scaled, like(x), x)

    class Shift:
        def __init__(self, by):
            self.by = by

        def _shifted(self, x):
            return np.add(np.asarray(x), np.float32(self.by))

        def __call__(self, x):
            return jax.pure_callback(self._shifted, like(x), x)

    def _rounded(x):
        return np.sqrt(np.abs(np.asarray(x)))

    def _vanishing(x):
        return np.multiply(np.asarray(x), np.float32(0))

    def _unknown(x):
        return np.full(np.shape(x), np.nan, np.float32)

    def _outer(x):
        return np.multiply.outer(np.asarray(x), np.arange(5, dtype=np.float32))

    def _batched(x):
        x = np.asarray(x)
        return np.flip(x) if x.ndim == 1 else np.negative(x)

    def _uncalled(x):
        return np.log(np.abs(np.asarray(x)))

    def _with_default(x, power=2):
        return np.power(np.asarray(x), np.float32(power))

    def _honest(x):
        return np.exp(np.asarray(x))


    def like(x):
        return jax.ShapeDtypeStruct(x.shape, x.dtype)

    def extremes(x):
        one = jax.ShapeDtypeStruct((), x.dtype)
        return jax.pure_callback(_extremes, (one, one), x)

    def capped(x):
        return jax.pure_callback(_capped, like(x), x)

    def remembered(x):
        return jax.pure_callback(_remembered, like(x), x)

    def centred(x):
        return jax.pure_callback(_centred, like(x), x, vmap_method="sequential")

    def halved(x):
        return jax.pure_callback(_halved, jax.ShapeDtypeStruct(x.shape, jnp.float32), x)

    def squared(x):
        return jax.pure_callback(_squared, like(x), x)

    def difference(x, y):
        return jax.pure_callback(_difference, like(x), x, y)

    def summed(x):
        return jax.pure_callback(_summed, like(x), x)

    def flipped(x):
        return jax.pure_callback(_flipped, like(x), x)

    def doubled(x):
        return jax.pure_callback(_doubled, like(x), x)

    def checked(x):
        return jax.pure_callback(_checked, like(x), x)

    def partly(x):
        return jax.pure_callback(_partly, like(x), x)

    def rounded(x):
        return jax.pure_callback(_rounded, like(x), x)

    def vanishing(x):
        return jax.pure_callback(_vanishing, like(x), x)

    def unknown(x):
        return jax.pure_callback(_unknown, like(x), x)

    def outer(x):
        return jax.pure_callback(_outer, jax.ShapeDtypeStruct((5, 5), x.dtype), x)

    def batched(x):
        return jax.pure_callback(_batched, like(x), x, vmap_method="expand_dims")

    def uncalled(x):
        return jax.pure_callback(_uncalled, like(x), x)

    def with_default(x):
        return jax.pure_callback(_with_default, like(x), x)

    def honest(x):
        return jax.pure_callback(_honest, like(x), x, vmap_method="expand_dims")


    x = jnp.linspace(0.5, 2.5, 5)
    calls = [extremes, capped, remembered, halved, squared, lambda x: difference(x, x * x), summed]
    calls += [partly, scaled_by(2.0), scaled_by(3.0), Shift(1.0), Shift(2.0), rounded, vanishing]
    calls += [unknown, outer, uncalled, with_default, lambda x: jax.vmap(batched)(jnp.stack([x, x + 1]))]
    calls += [flipped, doubled, checked, jax.jit(honest), jax.vmap(honest)]
    for call in [*calls, lambda x: jax.vmap(centred)(jnp.stack([x, -x]))]:
        for argument in (x, x / 4, -x):
            try:
                jax.block_until_ready(call(argument))
            except Exception:
                pass
"""

# What each callback's migrated text has, and what takes its place.
WRONG = {
    "_extremes": ("(x.min(), x.max())", "(x.max(), x.min())"),
    "_capped": ("    if x.max() > 1:\n        out[...] = np.minimum(x, np.float32(1))\n        return\n", ""),
    "_remembered": ("bufcb.to_numpy(x, copy=True)", "bufcb.to_numpy(x)"),
    "_centred": ('like(x), vmap_method="sequential"', 'like(x), vmap_method="expand_dims"'),
    "_halved": (
        "np.divide(np.asarray(x), np.float32(3))",
        "np.divide(np.asarray(x), np.float32(3)).astype(np.float16)",
    ),
    "_squared": ("np.square(np.asarray(x))", "cached.setdefault(0, np.square(np.asarray(x)))"),
    "_difference": ("like(x))(x, y)", "like(x))(y, x)"),
    "_summed": (
        "np.cumsum(np.asarray(x), dtype=np.float32)",
        "np.roll(np.cumsum(np.asarray(x), dtype=np.float32), 1)",
    ),
    "_flipped": ("out[...] = np.multiply(x, np.float32(-7))\n", "pass\n"),
    "_doubled": (
        "out[...] = np.multiply(np.asarray(x), np.float32(2))",
        "out[...] = np.multiply(np.asarray(x), np.float32(2))\n    out[...] = np.array(out) + np.asarray(x)",
    ),
    "_checked": ('raise ValueError("negative")', "pass"),
    # What is not written may hold the right values all the same, from the call before.
    "_partly": (
        "out[...] = np.sinh(np.asarray(x))",
        "cached[len(cached)] = 0\n    k = 5 - len(cached) % 2\n    out[:k] = np.sinh(np.asarray(x)[:k])",
    ),
    # The results of each are those of the other one.
    "_scaled": ("np.float32(factor)", "np.float32(5 - factor)"),
    "_shifted": ("np.float32(self.by)", "np.float32(3 - self.by)"),
    "_rounded": (
        "np.sqrt(np.abs(np.asarray(x)))",
        "np.nextafter(np.sqrt(np.abs(np.asarray(x))), np.float32(9))",
    ),
    "_vanishing": (
        "np.multiply(np.asarray(x), np.float32(0))",
        "np.multiply(np.asarray(x), np.float32(-0.0))",
    ),
    "_unknown": ("np.full(np.shape(x), np.nan, np.float32)", "-np.full(np.shape(x), np.nan, np.float32)"),
    "_outer": ("np.arange(5, dtype=np.float32))", "np.arange(5, dtype=np.float32)).T"),
    "_batched": ("x.ndim == 1", "x.size == 10"),
    "_uncalled": ("bufcb.buffer_callback(_uncalled, like(x))(x)", "jnp.log(jnp.abs(x))"),
    "_with_default": ("power=2", "power=3"),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The proof of a migration with a wrong rewrite of each callback but one, and whether files changed."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "pyproject.toml").write_text("")
    (folder / "model.py").write_text(textwrap.dedent(PLANTED))
    before = snapshot(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_PLATFORMS", "cpu")
        patch.chdir(folder)
        run = analysed("model.py", arrays="numpy")
        text = run.files[0].after.decode()
        for right, wrong in WRONG.values():
            assert text.count(right) == 1, (right, text)
            text = text.replace(right, wrong)
        text = text.replace(
            "jax.ShapeDtypeStruct(x.shape, jnp.float32)", "jax.ShapeDtypeStruct(x.shape, jnp.float16)"
        )
        run = dataclasses.replace(run, files=(dataclasses.replace(run.files[0], after=text.encode()),))
        proof = verify(run, f"{PYTHON} model.py")
    return proof, snapshot(folder) == before


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_found(planted, name):
    proof, _ = planted
    (row,) = [row for row in proof.rows if row.name.rpartition(".")[2] == name]
    expected = Verdict.OTHER_CALLS if name in ("_centred", "_difference", "_uncalled") else Verdict.DIFFERENT
    assert row.verdict is expected, list(to_text(proof, ""))
    assert row.examples
    shown = list(to_text(proof, ""))
    assert any(line.endswith((f" {name}:", f".{name}:")) for line in shown)
    assert name in shown[-1] or " more" in shown[-1]
    assert not proof.is_same


def test_among_wrong_rewrites_a_right_one_is_the_same(planted):
    proof, _ = planted
    assert {row.name for row in proof.rows if row.verdict is Verdict.SAME} == {"_honest"}


def test_what_differs_is_shown(planted):
    proof, _ = planted
    rows = {row.name: row for row in proof.rows}
    assert rows["_doubled"].difference == 2.5
    assert rows["_rounded"].difference == pytest.approx(1.2e-7, rel=0.1)
    assert rows["_vanishing"].difference == 0
    assert rows["scaled_by.<locals>._scaled"].difference == 2.5
    assert rows["Shift._shifted"].difference == 1
    assert rows["_halved"].changes == ("f32[5] → f16[5]",)
    assert rows["_difference"].examples[2] == "taken in order, these arguments differ by at most 8.75"
    assert rows["_centred"].changes == ("called with f32[5] → f32[2,5]",)
    assert "raised ValueError before, returned after" in rows["_checked"].examples[0]
    assert "returned before, raised RuntimeError after" in rows["_remembered"].examples[0]
    text = rows["_extremes"].examples[0]
    assert text == "called with f32[5]: output 0 differs first at index []: 0.5 before, 2.5 after"


def test_the_users_files_stay_untouched(planted):
    _, is_untouched = planted
    assert is_untouched


# Right ones.


def test_the_demo_gives_the_same(tmp_path, monkeypatch):
    folder = Path(shutil.copytree(DEMO, tmp_path / "demo", ignore=shutil.ignore_patterns("__pycache__")))
    before = snapshot(folder)
    monkeypatch.chdir(folder)
    result = migrate(".", "--verify", f"{PYTHON} main.py", "--format", "json")
    assert result.exit_code == 0, result.stderr
    proof = json.loads(result.stdout)["verification"]
    assert proof["error"] is None and proof["same"] and proof["complete"]
    assert proof["before"]["exit_status"] == proof["after"]["exit_status"] == 0
    assert proof["again"] is None
    assert {row["status"] for row in proof["callbacks"]} == {"same"}
    assert {row["difference"] for row in proof["callbacks"]} == {0}
    names = {(row["path"], row["name"].rpartition(">.")[2], row["new_name"]) for row in proof["callbacks"]}
    assert ("drum/special.py", "_j0_host", None) in names
    assert ("drum/membrane.py", "<lambda>", "worst_tensions.<locals>._sort") in names
    assert len(names) == 9
    assert proof["not_called"] == []
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Verified: 9 callbacks give the same, bit for bit, in 1")
    assert snapshot(folder) == before


CALLBACKS = """
    import functools
    import os
    import sys

    import jax
    import jax.numpy as jnp
    import numpy as np

    from helpers import shared


    def made(factor):
        def scaled(x):
            return np.multiply(np.asarray(x), np.float32(factor))

        return lambda x: jax.pure_callback(scaled, like(x), x, vmap_method="broadcast_all")

    def like(x):
        return jax.ShapeDtypeStruct(x.shape, x.dtype)

    def public(x):
        return np.sin(np.asarray(x))

    class Model:
        def __init__(self, shift):
            self.shift = shift

        def _shifted(self, x):
            return np.add(np.asarray(x), np.float32(self.shift))

        def __call__(self, x):
            return jax.pure_callback(self._shifted, like(x), x, vmap_method="sequential")

    def bound(power, x):
        return np.power(np.asarray(x), np.float32(power))

    def calls(x):
        y = jax.pure_callback(public, like(x), x) + made(2.0)(x) + jax.jit(made(3.0))(x)
        z = jax.pure_callback(lambda a: np.exp(np.asarray(a)), like(x), x)
        w = jax.pure_callback(lambda a: {"b": np.flip(np.asarray(a))}, {"b": like(x)}, x)["b"]
        v = jax.pure_callback(functools.partial(bound, 3), like(x), x)
        return y + z + w + v + Model(1.0)(x) + jax.pure_callback(shared, like(x), x)

    x = jnp.linspace(0.0, 1.0, 4)
    print(calls(x), jax.vmap(Model(2.0))(jnp.stack([x, x + 1])), public(x))
"""
HELPERS = """
    import numpy as np

    def shared(x):
        return np.cos(np.asarray(x))
"""


def test_callbacks_of_every_kind_are_matched(project):
    """Closures, lambdas, siblings, methods, partials and other modules: by where the original is."""
    project(model=CALLBACKS, helpers=HELPERS)
    run = analysed(".")
    proof = verify(run, f"{PYTHON} model.py")
    assert proof.is_same, list(to_text(proof, ""))
    assert [(row.key.path, row.key.name, row.before, row.after) for row in proof.rows] == [
        ("helpers.py", "shared", 1, 1),
        ("model.py", "scaled", 2, 2),
        ("model.py", "public", 1, 1),
        ("model.py", "_shifted", 3, 3),
        ("model.py", "bound", 1, 1),
        ("model.py", "<lambda>", 1, 1),
        ("model.py", "<lambda>", 1, 1),
    ]
    renamed = {row.name.rpartition(".")[2]: (row.new_name or "").rpartition(".")[2] for row in proof.rows}
    assert (renamed["public"], renamed["scaled"], renamed["bound"]) == ("_public_into", "", "_bound_into")
    assert not proof.not_called


SMALL = """
    import jax
    import jax.numpy as jnp
    import numpy as np

    def _twice(x):
        return np.multiply(np.asarray(x), np.float32(2))

    def twice(x):
        return jax.pure_callback(_twice, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    def _thrice(x):
        return np.multiply(np.asarray(x), np.float32(3))

    def thrice(x):
        return jax.pure_callback(_thrice, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""


def test_a_command_that_fails_in_both_runs_gives_the_same(project):
    """What it prints, and what it fails with, is told where that differs."""
    strict = """
    def _strict(x):
        raise ValueError(os.environ["STATE"])

    def strict(x):
        return jax.pure_callback(_strict, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    """
    main = """
        import contextlib, os, sys, jax, jax.numpy as jnp, model
        os.environ["STATE"] = "new" if "bufcb" in open(model.__file__).read() else "old"
        print(model.twice(jnp.ones(2)))
        with contextlib.suppress(RuntimeError):
            jax.block_until_ready(model.strict(jnp.ones(2)))
        print(os.environ["STATE"])
        sys.exit("failed: " + os.environ["STATE"])
    """
    project(model="    import os\n" + SMALL + strict, main=main)
    result = migrate("model.py", "--verify", f"{PYTHON} main.py")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("--- a/model.py")
    conclusion = "2 callbacks give the same, bit for bit, in 2 calls; the command's exit status is 1"
    assert result.stderr.splitlines()[-6:] == [
        "model.py:19 _strict:",
        "    called with f32[2]: raises ValueError with another text, 'old' → 'new'",
        "Not called by the command, so not verified: model.py:13 _thrice.",
        "What the command prints differs, first in line 2: 'old' → 'new'.",
        "Both runs fail, but with other messages: 'failed: old' → 'failed: new'.",
        f"Verified: {conclusion}, before and after.",
    ]


def test_another_exit_status_is_a_difference(project):
    main = """
        import sys, model, jax.numpy as jnp
        print(model.twice(jnp.ones(2)))
        sys.exit("buffer_callback" in open(model.__file__).read())
    """
    project(model=SMALL, main=main)
    result = migrate("model.py", "--verify", f"{PYTHON} main.py", "--write")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-2:] == [
        "Different: the command's exit status is 0 before and 1 after.",
        "Nothing was written.",
    ]
    assert "bufcb" not in Path("model.py").read_text()


def test_what_is_proven_is_written(project):
    project(model=SMALL, main="import model, jax.numpy as jnp\nprint(model.twice(jnp.ones(2)))")
    result = migrate("model.py", "--verify", f"{PYTHON} main.py", "--write")
    assert result.exit_code == 0, result.stderr
    assert "bufcb.buffer_callback" in Path("model.py").read_text()
    assert result.stderr.splitlines()[-1] == "rewrote model.py"


def test_a_callback_that_varies_by_itself_is_no_proof(project):
    main = """
        import jax, jax.numpy as jnp, numpy as np, os, model

        def _noisy(x):
            return np.frombuffer(os.urandom(4), np.uint32)

        def noisy(x):
            return jax.pure_callback(_noisy, jax.ShapeDtypeStruct((1,), jnp.uint32), x)

        print(noisy(jnp.ones(2)), model.twice(jnp.ones(2)))
    """
    project(model=SMALL, main=main)
    result = migrate(".", "--verify", f"{PYTHON} main.py", "--format", "json")
    assert result.exit_code == 1
    proof = json.loads(result.stdout)["verification"]
    assert {row["name"]: row["status"] for row in proof["callbacks"]} == {
        "_noisy": "varies",
        "_twice": "same",
    }
    assert proof["again"]["exit_status"] == 0
    assert not proof["same"]
    assert result.stderr.splitlines()[-1].startswith(
        "Not shown to be the same: the command gives other results each time that it is run;"
    )


PROCESSES = """
    import multiprocessing, os, sys

    def work(number):
        import model, jax.numpy as jnp
        model.twice(jnp.full(3, float(number))).block_until_ready()
        if number % 2:
            os._exit(0)

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        workers = [context.Process(target=work, args=(number,)) for number in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_calls_of_several_processes_are_put_together(project, method):
    """Also of those that end without a word."""
    project(model=SMALL, main=PROCESSES)
    proof = verify(analysed("model.py"), f"{PYTHON} main.py {method}")
    assert proof.is_same
    (row,) = proof.rows
    assert (row.before, row.after, row.compared) == (3, 3, 3)


def test_pytest_is_a_command(project):
    test = """
        import jax.numpy as jnp, model, pytest

        @pytest.mark.parametrize("number", [1.0, 2.0])
        def test_twice(number):
            assert model.twice(jnp.float32(number)) == 2 * number

        def test_wrong():
            assert model.twice(jnp.float32(3.0)) == 7
    """
    project(model=SMALL, test_model=test)
    proof = verify(analysed("model.py"), f"{PYTHON} -m pytest -q")
    assert proof.is_same
    assert proof.before.status == proof.after.status == 1
    assert [row.compared for row in proof.rows] == [3]


def test_what_found_no_room_is_not_verified(project):
    main = """
        import jax, jax.numpy as jnp, model
        jax.lax.fori_loop(0, 6000, lambda _, x: model.twice(x), jnp.float32(1)).block_until_ready()
        model.thrice(jnp.ones(2))
    """
    project(model=SMALL, main=main)
    proof = verify(analysed("model.py"), f"{PYTHON} main.py", limit=1)
    assert not proof.is_same
    assert [missed.name for missed in proof.not_called] == ["_thrice"]
    *_, missed, _, last = to_text(proof, "")
    assert missed == "Not called by the command, or not recorded, so not verified: model.py:12 _thrice."
    assert last.startswith(
        "Not shown to be the same: some callbacks found no room, which --verify-limit gives;"
    )


def test_io_callbacks_must_be_called_as_often(project):
    model = """
        import jax, jax.numpy as jnp, numpy as np
        from jax.experimental import io_callback

        def _log(x):
            return np.negative(np.asarray(x))

        def log(x):
            return io_callback(_log, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

        for _ in range(TIMES):
            log(jnp.ones(2))
    """
    project(model=model.replace("TIMES", "2 if 'bufcb' in globals() else 3"))
    proof = verify(analysed("model.py", apis=("io_callback",)), f"{PYTHON} model.py")
    assert [row.examples for row in proof.rows] == [
        ("called with f32[2]: it was called another number of times",)
    ]
    assert [row.verdict for row in proof.rows] == [Verdict.DIFFERENT]
    assert [(row.before, row.after) for row in proof.rows] == [(3, 2)]


def test_code_for_jax_itself_is_verified(project):
    project(model=SMALL, main="import model, jax.numpy as jnp\nprint(model.twice(jnp.ones(2)))")
    proof = verify(analysed("model.py", target="jax"), f"{PYTHON} main.py")
    assert proof.is_same
    assert [(row.name, row.before, row.after) for row in proof.rows] == [("_twice", 1, 1)]


# Commands that show nothing.


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        ("no-such-program", {}, "`no-such-program` cannot be run (exit status 127)"),
        (
            "echo hello",
            {},
            "`echo hello` calls no callback, or runs a Python that ignores PYTHONPATH",
        ),
        ("sleep 60", {"timeout": 0.3}, "`sleep 60` takes more than 0.3 s"),
    ],
)
def test_a_command_that_shows_nothing_says_why(project, command, settings, message):
    project(model=SMALL)
    with pytest.raises(VerificationError) as caught:
        verify(analysed("model.py"), command, **settings)
    assert str(caught.value).startswith(message)


def test_a_command_that_shows_nothing_is_exit_status_2(project):
    project(model=SMALL)
    result = migrate("model.py", "--verify", "true", "--format", "json")
    assert result.exit_code == 2
    message = (
        "`true` calls no callback, or runs a Python that ignores PYTHONPATH, or has another one: "
        "what sets it must add to it, PYTHONPATH=src:$PYTHONPATH"
    )
    assert json.loads(result.stdout)["verification"] == {"error": message}
    assert result.stderr.splitlines()[-1] == f"error: --verify: {message}"


def test_a_command_that_runs_the_original_is_found_out(project):
    folder = project(model=SMALL, main="import model, jax.numpy as jnp\nprint(model.twice(jnp.ones(2)))")
    with pytest.raises(VerificationError, match=r"runs .*model.py and not its copy"):
        verify(analysed("model.py"), f"{PYTHON} {folder}/main.py")


def test_the_original_is_found_out_beside_linked_code(project):
    """Callbacks of a virtual environment are called where they are."""
    folder = project(model=SMALL)
    packages = folder / "env" / "lib"
    packages.mkdir(parents=True)
    (folder / "env" / "pyvenv.cfg").write_text("")
    (packages / "installed.py").write_text(textwrap.dedent(SMALL))
    (folder / "main.py").write_text(
        "import sys, jax.numpy as jnp\n"
        f"sys.path[:0] = ['env/lib', {str(folder)!r}]\n"
        "import installed, model\n"
        "installed.twice(jnp.ones(2)), model.twice(jnp.ones(2))\n"
    )
    with pytest.raises(VerificationError, match=r"runs .*model.py and not its copy"):
        verify(analysed("model.py"), f"{PYTHON} main.py")


def test_files_outside_the_project_are_refused(project, tmp_path):
    project(model="")
    other = tmp_path / "other.py"
    other.write_text(textwrap.dedent(SMALL))
    with pytest.raises(VerificationError, match=r"other\.py is not in .*project"):
        verify(analysed(str(other)), "true")


def test_where_nothing_changes_nothing_is_run(project):
    folder = project(model="x = 1\n")
    result = migrate("model.py", "--verify", f"touch {folder}/ran")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "Nothing would change, so that there is nothing to verify."
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "--verify needs files"),
        (["model.py", "--interactive"], "exclude each other"),
        (["model.py", "--check"], "--verify and --check exclude each other"),
        (["model.py", "--verify", " "], "Name a command"),
    ],
)
def test_what_makes_no_sense_is_refused(project, arguments, message):
    project(model=SMALL)
    result = migrate("--verify", "true", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


# Installed code, and what runs when Python starts.


def test_an_editable_install_is_taken_from_the_copy(project, tmp_path, monkeypatch):
    """Both as a path in a `.pth` file and as a finder of modules; a user's `sitecustomize` still runs."""
    folder = project()
    for place in ("by_path/one", "by_finder/other"):
        (folder / place).mkdir(parents=True)
        (folder / place / "__init__.py").write_text(textwrap.dedent(SMALL))
    (folder / "main.py").write_text(
        "import one, other, jax.numpy as jnp, sitecustomize\n"
        "assert sitecustomize.mine\n"
        "one.twice(jnp.ones(2)), other.thrice(jnp.ones(2))\n"
    )
    environment = tmp_path / "env"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "sitecustomize.py").write_text("mine = True\n")
    (packages / "a_one.pth").write_text(f"{folder}/by_path\n")
    (packages / "b_other.pth").write_text("import editable_other\n")
    (packages / "c_jax.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    (packages / "editable_other.py").write_text(
        textwrap.dedent(f"""
            import importlib.util, sys

            class Finder:
                @staticmethod
                def find_spec(name, path=None, target=None):
                    if name == "other":
                        return importlib.util.spec_from_file_location(
                            name, "{folder}/by_finder/other/__init__.py",
                            submodule_search_locations=["{folder}/by_finder/other"])

            sys.meta_path.append(Finder)
        """)
    )
    proof = verify(analysed("."), f"{environment}/bin/python main.py")
    assert proof.is_same
    assert {row.key.path for row in proof.rows} == {"by_path/one/__init__.py", "by_finder/other/__init__.py"}


def test_paths_in_the_environment_lead_to_the_copy(project, monkeypatch):
    folder = project()
    (folder / "src").mkdir()
    (folder / "src" / "model.py").write_text(textwrap.dedent(SMALL))
    (folder / "work").mkdir()
    (folder / "work" / "main.py").write_text("import model, jax.numpy as jnp\nmodel.twice(jnp.ones(2))\n")
    monkeypatch.setenv("PYTHONPATH", f"{folder}/src")
    monkeypatch.chdir(folder / "work")
    proof = verify(analysed("../src"), f"{PYTHON} main.py")
    assert proof.is_same
    assert [row.key.path for row in proof.rows] == ["src/model.py"]


def test_a_command_may_set_the_path_itself(project):
    folder = project()
    (folder / "src").mkdir()
    (folder / "src" / "model.py").write_text(textwrap.dedent(SMALL))
    (folder / "main.py").write_text("import model, jax.numpy as jnp\nmodel.twice(jnp.ones(2))\n")
    proof = verify(analysed("."), f"PYTHONPATH='src' {PYTHON} main.py")
    assert proof.is_same
    assert [(row.before, row.after) for row in proof.rows] == [(1, 1)]


def test_a_script_that_sets_the_path_anew_is_told_so(project):
    """The original would record nothing, and the migrated copy something."""
    folder = project(model=SMALL, main="import model, jax.numpy as jnp\nmodel.twice(jnp.ones(2))\n")
    (folder / "run.sh").write_text(f"PYTHONPATH={ROOT} {PYTHON} main.py\n")
    with pytest.raises(VerificationError, match=r"another one: what sets it must add to it, PYTHONPATH=src:"):
        verify(analysed("model.py"), "sh run.sh")


def test_a_command_that_calls_nothing_migrated_proves_nothing(project):
    """Such as one that imports a copy of the project that is installed."""
    folder = project(
        main="import other, jax.numpy as jnp\nother.twice(jnp.ones(2))\n", other=SMALL, model=SMALL
    )
    with pytest.raises(VerificationError, match=r"none of the callbacks .* such as _twice in model\.py"):
        verify(analysed("model.py"), f"{PYTHON} main.py")
    assert "bufcb" not in (folder / "model.py").read_text()


def test_a_recording_that_cannot_start_says_so(project):
    folder = project(model=SMALL, main="import jax")
    (folder / "bufcb").mkdir()  # what is imported in the place of the real one
    (folder / "bufcb" / "__init__.py").write_text("raise RuntimeError('another one')")
    with pytest.raises(VerificationError, match="could not be recorded: RuntimeError: another one"):
        verify(analysed("model.py"), f"{PYTHON} main.py")


# The end of it all.


def test_an_interrupt_ends_every_process(project, tmp_path):
    """The command's children as well, and nothing is left behind."""
    folder = project(model=SMALL)
    beat, scratch = tmp_path / "beat", tmp_path / "scratch"
    scratch.mkdir()
    child = f"import time\nwhile True:\n open({str(beat)!r}, 'w').write(str(time.time()))\n time.sleep(0.05)"
    (folder / "child.py").write_text(child)
    command = f"{PYTHON} child.py & {PYTHON} child.py"
    program = [PYTHON, "-m", "codemods", "model.py", "--verify", command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    until = time.monotonic() + 60
    while not beat.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    last = beat.read_text()
    time.sleep(0.3)
    assert beat.read_text() == last
    assert list(scratch.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell")
def test_processes_with_a_session_of_their_own_end_as_well(project, tmp_path):
    project(model=SMALL)
    noted = tmp_path / "number"
    command = (
        f"setsid sh -c 'echo $$ > {noted}; exec sleep 300' & while ! [ -s {noted} ]; do sleep 0.02; done"
    )
    with pytest.raises(VerificationError, match="calls no callback"):
        verify(analysed("model.py"), command)
    status = Path("/proc", noted.read_text().strip(), "stat")
    until = time.monotonic() + 10
    while status.exists() and status.read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.02)
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_limits_are_settings_and_the_command_is_not(project):
    settings = "[tool.bufcb]\nverify-timeout = 1\nverify-limit = 10\n"
    project(model=SMALL, pyproject=settings)
    result = migrate("model.py", "--verify", "sleep 60")
    assert result.exit_code == 2
    assert "`sleep 60` takes more than 1 s" in result.stderr
    Path("pyproject.toml").write_text("[tool.bufcb]\nverify = 'touch x'\n")
    result = migrate("model.py")
    assert result.exit_code == 2
    assert "verify: no such option" in result.stderr


def test_paths_are_those_from_the_current_folder(project, monkeypatch):
    folder = project(main="import model, jax.numpy as jnp\nprint(model.twice(jnp.ones(2)))")
    (folder / "src").mkdir()
    for name in ("main.py", "src/model.py"):
        (folder / name).write_text(textwrap.dedent(SMALL if "model" in name else (folder / name).read_text()))
    (folder / "src" / "main.py").write_text((folder / "main.py").read_text())
    monkeypatch.chdir(folder / "src")
    result = migrate(".", "--verify", f"{PYTHON} main.py", "--format", "json")
    assert result.exit_code == 0, result.stderr
    proof = json.loads(result.stdout)["verification"]
    assert [row["path"] for row in proof["callbacks"]] == ["model.py"]
    assert [missed["path"] for missed in proof["not_called"]] == ["model.py"]
