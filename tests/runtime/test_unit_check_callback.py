"""`bufcb.testing.check_callback`, the tolerance of `assert_same_results`, and the fixture for pytest."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb
from bufcb.testing import assert_same_results, check_callback

SPEC = jax.ShapeDtypeStruct((3,), jnp.float32)
MATRIX = jax.ShapeDtypeStruct((2, 3), jnp.float32)
X = np.array([3.0, 1.0, 2.0], np.float32)
Y = np.arange(6, dtype=np.float32).reshape(2, 3)
METHODS = [None, "sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]


def square(ctx: Any, out: Any, x: Any) -> None:
    out[...] = np.square(x)


def combine(ctx: Any, out: Any, a: Any, *, b: Any) -> None:
    bufcb.store(out, {"sum": np.add(a, b), "mean": np.mean(np.add(a, b), axis=-1, dtype=np.float32)})


@pytest.mark.parametrize("vmap_method", METHODS)
def test_a_good_callback_passes(vmap_method: str | None) -> None:
    check_callback(square, SPEC, X, vmap_method=vmap_method)


@pytest.mark.parametrize("vmap_method", ["expand_dims", "broadcast_all"])
def test_several_arguments_and_outputs_pass(vmap_method: str) -> None:
    spec = {"sum": SPEC, "mean": jax.ShapeDtypeStruct((), jnp.float32)}
    check_callback(combine, spec, X, b=2.0, vmap_method="sequential")
    check_callback(combine, spec, X, b=X, vmap_method=vmap_method)


def test_arguments_of_every_kind_pass() -> None:
    def pick(ctx: Any, out: Any, tree: Any, index: Any, flag: Any) -> None:
        out[...] = np.take(tree["x"], int(index)) if flag else np.float32(0)

    spec = jax.ShapeDtypeStruct((), jnp.float32)
    check_callback(pick, spec, {"x": X, "unused": jnp.ones(2, jnp.bfloat16)}, 1, True)
    check_callback(lambda ctx, out: out.fill(1), SPEC, vmap_method="broadcast_all")
    key = bufcb.adapt(np.asarray)
    check_callback(key, jax.ShapeDtypeStruct((2,), jnp.uint32), jax.random.key(1))


def test_an_alias_passes() -> None:
    def add_one(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        view += 1

    check_callback(add_one, SPEC, X, input_output_aliases={0: 0}, vmap_method="expand_dims")


def test_results_that_depend_on_earlier_calls_are_found() -> None:
    cache: dict[int, Any] = {}

    def stale(ctx: Any, out: Any, x: Any) -> None:
        out[...] = cache.setdefault(0, np.square(x))
        cache[0] = np.square(x)

    with pytest.raises(
        AssertionError, match=r"(?s)stale.*called again after a call with other arguments.*\(0,\)"
    ):
        check_callback(stale, SPEC, X)


def test_results_that_vary_are_found() -> None:
    counts = iter(range(100))

    def counting(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.full(3, next(counts), np.float32)

    with pytest.raises(AssertionError, match=r"counting.*called twice with the same arguments.*`out`"):
        check_callback(counting, SPEC, X)


def test_a_batch_that_is_mixed_up_is_found() -> None:
    def centred(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.subtract(x, np.mean(x, dtype=np.float32))

    check_callback(centred, SPEC, X, vmap_method="sequential")
    message = r"centred.*of all arguments, as by vmap_method='expand_dims': element 0, gives another result"
    with pytest.raises(AssertionError, match=message):
        check_callback(centred, SPEC, X, vmap_method="expand_dims")


def test_an_argument_without_a_batch_axis_is_tried() -> None:
    def add(ctx: Any, out: Any, x: Any, y: Any) -> None:
        out[...] = np.add(x, np.reshape(y, x.shape))

    with pytest.raises(ValueError, match="reshape") as caught:
        check_callback(add, SPEC, X, X, vmap_method="expand_dims")
    assert any("alone, as by vmap_method='expand_dims'" in note for note in caught.value.__notes__)
    check_callback(add, SPEC, X, X, vmap_method="broadcast_all")


def test_the_tolerance_is_for_batches() -> None:
    def rounded(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.multiply(x, np.float32(1 + 1e-4 * (np.ndim(x) - 1)))

    check_callback(rounded, SPEC, X, vmap_method="expand_dims", rtol=1e-3)
    with pytest.raises(AssertionError, match="element 0"):
        check_callback(rounded, SPEC, X, vmap_method="expand_dims")


def test_memory_order_matters_unless_it_is_said_not_to() -> None:
    def raw(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x).ravel(order="K").reshape(2, 3)

    with pytest.raises(AssertionError, match=r"raw.*column-major arguments \(see `any_order`\)"):
        check_callback(raw, MATRIX, Y)
    check_callback(raw, MATRIX, Y, any_order=False)


@pytest.mark.parametrize(
    ("callback", "error", "message"),
    [
        (lambda ctx, out, x: None, RuntimeError, "did not write its output"),
        (lambda ctx, out, x: x.sort(), ValueError, "read-only"),
        (lambda ctx, out, x: bufcb.store(out, np.float64(1)), RuntimeError, "Incorrect output shape"),
        (lambda ctx, out, x: bufcb.store(out, np.int32([1, 2, 3])), RuntimeError, "Incorrect output dtype"),
    ],
)
def test_what_a_dry_run_finds_is_found(callback: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        check_callback(callback, SPEC, X)
    assert "check_callback: in a first call" in caught.value.__notes__


def test_arguments_that_the_callback_refuses_are_not_made_up() -> None:
    def picky(ctx: Any, out: Any, x: Any) -> None:
        if not np.all(np.asarray(x) % 1 == 0):
            raise ValueError("whole numbers only")
        out[...] = np.square(x)

    check_callback(picky, SPEC, X, vmap_method="expand_dims")


def test_an_unknown_vmap_method_is_refused() -> None:
    with pytest.raises(ValueError, match="vmap_method must be on of the allowed methods"):
        check_callback(square, SPEC, X, vmap_method="all")


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32, jnp.complex64])
def test_same_results_up_to_a_tolerance(dtype: Any) -> None:
    spec = jax.ShapeDtypeStruct((3,), dtype)
    x, step = X.astype(dtype), np.asarray(0.0625, dtype)
    nearly = bufcb.adapt(lambda x: x + step)
    with pytest.raises(AssertionError, match=r"first at index \(0,\)"):
        assert_same_results(lambda x: x, nearly, spec, x)
    assert_same_results(lambda x: x, nearly, spec, x, rtol=0.1)
    assert_same_results(lambda x: x, nearly, spec, x, atol=0.07)
    with pytest.raises(AssertionError):
        assert_same_results(lambda x: x, nearly, spec, x, atol=0.05)


def test_a_tolerance_is_for_floats() -> None:
    spec = jax.ShapeDtypeStruct((3,), jnp.int32)
    with pytest.raises(AssertionError):
        assert_same_results(lambda x: x, bufcb.adapt(lambda x: x + 1), spec, np.arange(3), atol=2)


PLUGIN_TESTS = """
import jax, jax.numpy as jnp, numpy as np, pytest, bufcb

def call():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    return bufcb.buffer_callback(lambda ctx, out: None, spec)().block_until_ready()

@pytest.mark.usefixtures("bufcb_checked")
def test_checked():
    with pytest.raises(Exception, match="did not write its output"):
        call()

def test_unchecked():
    call()
"""


def test_the_fixture_checks(tmp_path: Path) -> None:
    (tmp_path / "test_plugin.py").write_text(PLUGIN_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "bufcb.pytest_plugin", "test_plugin.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    process = subprocess.run(
        command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert "2 passed" in process.stdout, process.stdout + process.stderr
