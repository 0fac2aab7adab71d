"""Every dtype that JAX has goes in and comes out, as an array of any shape, with its values in order."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import bufcb

NARROW = [name for name in ("int2", "uint2", "int4", "uint4", "float4_e2m1fn") if hasattr(jnp, name)]
NAMES = [
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32)),
    "float16",
    "bfloat16",
    "float32",
    "complex64",
    *(
        name
        for name in (
            "float8_e3m4",
            "float8_e4m3",
            "float8_e4m3b11fnuz",
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
        )
        if hasattr(jnp, name)
    ),
    *NARROW,
]
WIDE = ["int64", "uint64", "float64", "complex128"]
SHAPES = [(), (1,), (3,), (3, 5), (2, 1, 3), (0,), (2, 0)]


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values that every dtype can tell apart from its neighbours, as far as it has so many."""
    dtype = dtype_of(name)
    count = int(np.prod(shape))
    numbers = (np.arange(count) * 7 + 1) % 2 if name == "bool" else 2.0 ** (np.arange(count) % 2)
    return numbers.astype(np.float32).astype(dtype).reshape(shape)


def bits(x: Any) -> tuple[Any, Any, bytes]:
    array = np.asarray(x)
    return array.shape, array.dtype, array.tobytes()


def reverse_into(ctx: Any, out: Any, x: Any) -> None:
    """Writes the values back to front, so that order and position both count."""
    assert isinstance(x, bufcb.Buffer)
    assert out.dtype == x.dtype
    assert out.shape == x.shape
    view = np.asarray(x)
    np.asarray(out)[...] = view.reshape(-1)[::-1].reshape(view.shape)


def reversed_values(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1)[::-1].reshape(x.shape)


@pytest.mark.parametrize(
    ("name", "shape"),
    # How elements are packed depends on the shape, for those that are packed.
    [(name, shape) for name in NAMES for shape in (SHAPES if name in (*NARROW, "float32") else [(), (3, 5)])],
)
def test_round_trip(name: str, shape: tuple[int, ...]) -> None:
    x = values(name, shape)
    call = bufcb.buffer_callback(reverse_into, jax.ShapeDtypeStruct(shape, x.dtype))
    for run in (call, jax.jit(call)):
        result = run(jnp.asarray(x))
        assert isinstance(result, jax.Array)
        assert bits(result) == bits(reversed_values(x))


@pytest.mark.parametrize("name", WIDE)
def test_wide_round_trip(name: str) -> None:
    with jax.enable_x64(True):
        x = values(name, (3, 5))
        call = bufcb.buffer_callback(reverse_into, jax.ShapeDtypeStruct(x.shape, x.dtype))
        assert bits(jax.jit(call)(jnp.asarray(x))) == bits(reversed_values(x))


def test_compiled_with_x64_runs_without() -> None:
    """The mode is part of the compiled call, not of the thread that runs it."""
    with jax.enable_x64(True):
        x = jnp.arange(3, dtype=jnp.float64)

        def into(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x) / 3

        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        compiled = jax.jit(bufcb.buffer_callback(into, spec)).lower(x).compile()
    np.testing.assert_array_equal(compiled(x), np.arange(3) / 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_adapted_as_under_pure_callback(name: str, arrays: Any) -> None:
    x = values(name, (3, 3))
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    seen: list[Any] = []

    def host(x: Any) -> Any:
        seen.append(bits(x))
        return np.asarray(x)[::-1]

    expected = bits(jax.jit(lambda x: jax.pure_callback(host, spec, x))(jnp.asarray(x)))
    adapted = bufcb.adapt(host, arrays=arrays)
    assert bits(jax.jit(bufcb.buffer_callback(adapted, spec))(jnp.asarray(x))) == expected
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["float32", "bool", *NARROW])
def test_alias_of_every_width(name: str) -> None:
    x = values(name, (5,))

    def into(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        view[0], view[1] = view[1].copy(), view[0].copy()

    call = bufcb.buffer_callback(into, jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})
    expected = x.copy()
    expected[[0, 1]] = x[[1, 0]]
    argument = jnp.asarray(x)
    assert bits(jax.jit(call)(argument)) == bits(expected)
    assert bits(argument) == bits(x)


@pytest.mark.parametrize("name", NARROW)
def test_narrow_under_vmap_and_loop(name: str) -> None:
    x = values(name, (4, 3))
    row = jax.ShapeDtypeStruct((3,), x.dtype)
    for method in ("sequential", "broadcast_all"):

        def into(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(out)[...] = np.asarray(x)[..., ::-1]

        call = bufcb.buffer_callback(into, row, vmap_method=method)
        assert bits(jax.jit(jax.vmap(call))(jnp.asarray(x))) == bits(x[:, ::-1])


DLPACK = ["bool", "int8", "uint16", "int32", "float16", "float32", "complex64"]


@pytest.mark.parametrize("name", DLPACK)
def test_dlpack_of_an_input(name: str) -> None:
    x = values(name, (3, 5))
    seen: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        seen.append(np.from_dlpack(x).copy())
        np.asarray(out)[...] = 0

    jax.block_until_ready(bufcb.buffer_callback(into, jax.ShapeDtypeStruct(x.shape, x.dtype))(jnp.asarray(x)))
    assert bits(seen[0]) == bits(x)


@pytest.mark.parametrize("layout", ["transposed", "sliced", "reversed"])
def test_arguments_arrive_in_row_major_order(layout: str) -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = {"transposed": whole.T, "sliced": whole[::2, 1::2], "reversed": whole[::-1]}[layout]
    seen: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        seen.append((np.asarray(x).flags.c_contiguous, bits(x)))
        np.asarray(out)[...] = np.asarray(x)

    call = bufcb.buffer_callback(into, jax.ShapeDtypeStruct(x.shape, x.dtype))
    for argument in (x, jnp.asarray(x)):
        assert bits(jax.block_until_ready(call(argument))) == bits(x)
    transposed_inside = jax.jit(
        lambda y: bufcb.buffer_callback(into, jax.ShapeDtypeStruct(x.shape, x.dtype))(jnp.transpose(y))
    )
    assert bits(jax.block_until_ready(transposed_inside(jnp.asarray(x.T)))) == bits(x)
    assert seen == [(True, bits(x))] * 3


@pytest.mark.parametrize(
    "argument", [3, 2.5, True, 1j, np.float32(2), np.int8(3), np.arange(3, dtype=np.int64)]
)
def test_arguments_that_are_not_jax_arrays(argument: Any) -> None:
    expected: list[Any] = []
    seen: list[Any] = []

    def host(x: Any) -> Any:
        expected.append(bits(x))
        return np.float32(0)

    def into(ctx: Any, out: Any, x: Any) -> None:
        seen.append(bits(x))
        np.asarray(out)[...] = 0

    spec = jax.ShapeDtypeStruct((), jnp.float32)
    jax.block_until_ready(jax.pure_callback(host, spec, argument))
    jax.block_until_ready(bufcb.buffer_callback(into, spec)(argument))
    assert seen == expected
