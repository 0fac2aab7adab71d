"""`bufcb.testing`: what `assert_same_results` compares, and aliases in `dry_run`."""

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb
from bufcb.testing import assert_same_results, dry_run

SPEC = jax.ShapeDtypeStruct((2, 3), jnp.float32)
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def original(x: Any) -> Any:
    return np.sin(x)


def migrated(ctx: Any, out: Any, x: Any) -> None:
    out[...] = np.sin(np.asarray(x))


def wrong(ctx: Any, out: Any, x: Any) -> None:
    out[...] = np.sin(np.asarray(x))
    np.asarray(out)[1, 2] += 1


def test_same_results() -> None:
    assert_same_results(original, migrated, SPEC, X)
    assert_same_results(original, migrated, SPEC, x=X)


def test_the_first_difference_is_named() -> None:
    with pytest.raises(AssertionError, match=r"(?s)wrong.*original.*first at index \(1, 2\)"):
        assert_same_results(original, wrong, SPEC, X)


def test_the_leaf_is_named() -> None:
    def pair(x: Any) -> Any:
        return {"a": x, "b": x + 1}

    def into(ctx: Any, out: Any, x: Any) -> None:
        bufcb.store(out, {"a": np.asarray(x), "b": np.asarray(x) + 2})

    with pytest.raises(AssertionError, match=r"out\['b'\]"):
        assert_same_results(pair, into, {"a": SPEC, "b": SPEC}, X)


@pytest.mark.parametrize(("left", "right"), [(0.0, -0.0), (np.float32("nan"), np.float32("-nan"))])
def test_bits_count(left: float, right: float) -> None:
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    right = np.copysign(np.float32(right), np.float32(-1))
    left = np.copysign(np.float32(left), np.float32(1))
    with pytest.raises(AssertionError):
        assert_same_results(lambda: left, bufcb.adapt(lambda: right), spec)
    assert_same_results(lambda: left, bufcb.adapt(lambda: left), spec)


def test_originals_get_jax_arrays_and_adapted_ones_what_they_ask_for() -> None:
    kinds: list[bool] = []

    def host(x: Any) -> Any:
        kinds.append(isinstance(x, jax.Array))
        return np.sin(x)

    assert_same_results(host, bufcb.adapt(host), SPEC, X)
    assert kinds == [True, False]


def test_an_aliased_output_holds_the_input() -> None:
    def add_one(ctx: Any, out: Any, y: Any, x: Any) -> None:
        view = np.asarray(out)
        view += 1

    result = dry_run(add_one, SPEC, np.zeros(2), X, input_output_aliases={1: 0})
    np.testing.assert_array_equal(result, X + 1)
    with pytest.raises(ValueError, match="outside the range"):
        dry_run(add_one, SPEC, np.zeros(2), X, input_output_aliases={2: 0})


def test_64_bit_types_follow_the_x64_mode() -> None:
    wide = jax.ShapeDtypeStruct((), np.float64)
    with pytest.raises(ValueError, match="64-bit"):
        dry_run(bufcb.adapt(lambda x: x), wide, 1.0)
    with jax.enable_x64(True):
        assert dry_run(bufcb.adapt(lambda x: x / 3), wide, 1.0) == np.float64(1) / 3


def test_random_keys_arrive_as_their_data() -> None:
    key = jax.random.key(3)
    draw = bufcb.adapt(lambda key: jax.random.normal(key, (2, 3)), arrays="jax")
    np.testing.assert_array_equal(dry_run(draw, SPEC, key), jax.random.normal(key, (2, 3)))
    data = bufcb.adapt(lambda key: key)
    spec = jax.ShapeDtypeStruct((2,), np.uint32)
    np.testing.assert_array_equal(dry_run(data, spec, key), jax.random.key_data(key))


def test_the_package_imports_it_when_it_is_asked_for() -> None:
    program = (
        "import sys, bufcb\n"
        "assert 'bufcb.testing' not in sys.modules and 'testing' in dir(bufcb)\n"
        "assert bufcb.testing.dry_run is sys.modules['bufcb.testing'].dry_run\n"
        "bufcb.tests\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.stderr.splitlines()[-1] == "AttributeError: module 'bufcb' has no attribute 'tests'"
