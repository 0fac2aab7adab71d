"""Every entry of `hostlib`'s tables, tried on the installed libraries.

The analysis takes the tables at their word: what it calls fresh, viewing or neutral must be so, bit by bit,
for a `jax.Array`, which the original program passes, and for a read-only `np.ndarray`, as the
migrated program does.
"""

from __future__ import annotations

import ast
import builtins
import collections
import importlib
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import scipy.linalg
import scipy.special

from codemods import hostlib

Call = tuple[tuple[Any, ...], dict[str, Any]]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Samples hold infinities and NaNs on purpose, so NumPy's and SciPy's warnings say nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ------------------------------------------------------------------------------- samples


def numbers(dtype: str, size: int = 12) -> np.ndarray:
    """Both signs, both zeros, extremes and, where the dtype has them, infinities and NaN."""
    rng = np.random.default_rng(7)
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return rng.random(size) > 0.5
    if np.issubdtype(kind, np.integer):
        info = np.iinfo(kind)
        found = rng.integers(info.min, info.max, size, dtype=kind, endpoint=True)
        found[:4] = [0, 1, info.max, info.min]
        return found
    found = rng.normal(size=size) * np.exp(rng.normal(size=size))
    found[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    if np.issubdtype(kind, np.complexfloating):
        parts = np.empty(size, kind)
        parts.real, parts.imag = found, found[::-1]
        return parts
    return found.astype(kind)


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


F = np.array([3.0, -1.5, 2.0, 0.25, -0.0, 0.0, 7.5, -4.0], np.float32)
G = np.array([0.5, 2.5, -3.0, 1.0, 4.0, 0.125, -2.0, 6.0], np.float32)
UP = np.array([0.1, 0.5, 1.25, 2.0, 3.5, 4.0, 6.0, 9.0], np.float32)
J = np.array([5, -2, 0, 5, 7, 1, -2, 3], np.int32)
N = np.array([0, 3, 1, 1, 2, 5, 3, 0], np.int32)
B = np.array([True, False, True, True, False, False, True, False])
C = (F + 1j * G).astype(np.complex64)
NAN = np.where(B, F, np.float32(np.nan))
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]], np.float32)
R = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, 1.5]], np.float32)
MI = (M + 1j * M).astype(np.complex64)
V = np.array([1.0, -2.0, 0.5], np.float32)
W = np.array([0.5, 1.0, 4.0], np.float32)
ZERO_D = np.array(2.5, np.float32)
NUMBERS = (F, J, B, C, R, ZERO_D)

NUMPY_SAMPLES: dict[str, list[Call]] = {
    "allclose": [call(F, G), call(F, F, UP[:1], UP[:1])],
    "angle": [call(C), call(F), call(C, deg=True)],
    "append": [call(F, G), call(F, J), call(R, R, axis=0), call(F, ZERO_D)],
    "array_equal": [call(F, F), call(F, G), call(NAN, NAN, equal_nan=True)],
    "average": [call(F), call(R, axis=0), call(F, weights=UP), call(J), call(R, axis=1, weights=V)],
    "bincount": [call(N), call(N, weights=UP), call(N, minlength=9)],
    "block": [call([F, G]), call([[R], [R]]), call(F)],
    "column_stack": [call([F, G]), call((F, J))],
    "concat": [call([F, G]), call((F, J)), call([R, R], axis=1)],
    "concatenate": [call([F, G]), call((F, J, B)), call([R, R], axis=None)],
    "convolve": [call(F, V), call(F, V, "valid"), call(J, N)],
    "copy": [call(F), call(R, order="F"), call(ZERO_D)],
    "corrcoef": [call(R), call(F, G)],
    "correlate": [call(F, V), call(C, V, "full")],
    "count_nonzero": [call(F), call(R, axis=0), call(B)],
    "cov": [call(R), call(F, G), call(R, rowvar=False, bias=True)],
    "cross": [call(V, W), call(R, V)],
    "dot": [call(F, G), call(R, M), call(R, V), call(F, ZERO_D), call(J, F)],
    "dstack": [call([F, G]), call([R, R])],
    "ediff1d": [call(F), call(F, to_end=V, to_begin=W)],
    "flatnonzero": [call(F), call(R), call(B)],
    "full_like": [call(F, 3), call(J, ZERO_D), call(R, V), call(F, 1, dtype=np.int8)],
    "geomspace": [call(ZERO_D, 9.0, 5), call(UP, UP + 1, 4)],
    "gradient": [call(F), call(F, UP), call(M), call(M, V, W), call(M, axis=0)],
    "histogram": [call(F), call(F, 4), call(F, UP), call(F, 3, weights=UP), call(J, 4, density=True)],
    "histogram2d": [call(F, G), call(F, G, [V[[1, 2, 0]], W])],
    "hstack": [call([F, G]), call((R, R))],
    "i0": [call(F), call(UP), call(ZERO_D)],
    "inner": [call(F, G), call(R, M), call(F, ZERO_D)],
    "insert": [call(F, 2, ZERO_D), call(F, N, G), call(R, 1, V, axis=0), call(F, [1, 3], G[:2])],
    "interp": [call(F, UP, G), call(ZERO_D, UP, G), call(F, UP, C), call(F, UP, G, period=3.0)],
    "intersect1d": [call(J, N), call(F, G), call(J, N, return_indices=True)],
    "isclose": [call(F, G), call(F, G, ZERO_D, UP), call(NAN, NAN, equal_nan=True), call(F, 0.25)],
    "isin": [call(J, N), call(F, [2.0, 0.25]), call(F, G, invert=True)],
    "isneginf": [call(F), call(numbers("float32"))],
    "isposinf": [call(F), call(numbers("float32"))],
    "kron": [call(V, W), call(R, M), call(F, ZERO_D)],
    "lexsort": [call((F, J)), call(R)],
    "linspace": [call(ZERO_D, 9.0, 5), call(V, W, 4), call(V, W, 4, axis=1, retstep=True), call(V, W, 1)],
    "logspace": [call(ZERO_D, 3.0, 5), call(V, W, 4, base=2.0)],
    "median": [call(F), call(R, axis=0), call(NAN), call(J), call(R, axis=(0, 1), keepdims=True)],
    "nan_to_num": [call(NAN), call(numbers("float32")), call(F, nan=1.0), call(J), call(C)],
    "nanargmax": [call(NAN), call(R, axis=0), call(J)],
    "nanargmin": [call(NAN), call(R, axis=0), call(J)],
    "nancumprod": [call(NAN), call(R, axis=0), call(J)],
    "nancumsum": [call(NAN), call(R, axis=0), call(J)],
    "nanmean": [call(NAN), call(R, axis=0), call(J), call(R, axis=1, keepdims=True)],
    "nanmedian": [call(NAN), call(R, axis=0), call(J), call(ZERO_D)],
    "nanpercentile": [call(NAN, 30), call(R, V[1:2] + 40, axis=0), call(J, 50)],
    "nanprod": [call(NAN), call(R, axis=0), call(J)],
    "nanquantile": [call(NAN, 0.3), call(R, UP[:2], axis=0), call(J, 0.5)],
    "nanstd": [call(NAN), call(R, axis=0), call(J), call(F, ddof=1)],
    "nansum": [call(NAN), call(R, axis=0), call(J)],
    "nanvar": [call(NAN), call(R, axis=0), call(J), call(F, ddof=1)],
    "ones_like": [call(F), call(J), call(R, dtype=np.float64), call(C, shape=(2,))],
    "outer": [call(F, G), call(F, J), call(R, V)],
    "pad": [
        call(F, 2),
        call(R, ((1, 0), (0, 2)), "edge"),
        call(F, N[1:3], "reflect"),
        call(F, 1, constant_values=ZERO_D),
    ],
    "partition": [call(F, 3), call(R, 1, axis=1), call(J, (1, 4))],
    "percentile": [call(F, 30), call(R, UP * 10, axis=0), call(J, 50), call(NAN, 20, method="nearest")],
    "poly": [call(V), call(M), call(C[:3])],
    "polyadd": [call(V, W), call(F, V), call(V, ZERO_D)],
    "polyder": [call(F), call(F, 2), call(F, 0)],
    "polyfit": [call(UP, G, 2), call(UP, G, 1, w=UP)],
    "polymul": [call(V, W), call(F, V)],
    "polysub": [call(V, W), call(F, V)],
    "polyval": [call(V, F), call(V, R), call(V, ZERO_D), call(J, F)],
    "quantile": [call(F, 0.3), call(R, UP[:2], axis=0), call(J, 0.5), call(NAN, 0.2, method="lower")],
    "roll": [call(F, 2), call(R, 1, axis=0), call(F, 0), call(R, (1, 2), axis=(0, 1))],
    "roots": [call(V), call(F[:4])],
    "select": [call([B, ~B], [F, G]), call([F > 0], [F], 7.0), call([B, ~B], [F, J], ZERO_D)],
    "setdiff1d": [call(J, N), call(F, G), call(J, N, assume_unique=True)],
    "setxor1d": [call(J, N), call(F, G)],
    "sinc": [call(F), call(C), call(J)],
    "sort": [call(F), call(R, axis=0), call(J), call(NAN), call(C), call(F, kind="stable")],
    "sort_complex": [call(F), call(C), call(J)],
    "stack": [call([F, G]), call((F, J), axis=1), call(R)],
    "tensordot": [call(R, M, 1), call(R, R, ((0, 1), (0, 1))), call(V, W, 0)],
    "tile": [call(F, 2), call(R, (2, 1)), call(F, 1), call(V, N[:2])],
    "trapezoid": [call(F), call(F, UP), call(R, axis=0), call(R, V)],
    "tril": [call(M), call(R, -1), call(V)],
    "triu": [call(M), call(R, 1), call(V)],
    "union1d": [call(J, N), call(F, G)],
    "unique": [call(F), call(J), call(NAN), call(R, axis=0), call(J, return_index=True, return_counts=True)],
    "unwrap": [call(F), call(UP * 3), call(R, axis=0), call(J, period=4)],
    "vander": [call(V), call(V, 2, increasing=True), call(J, 3)],
    "vdot": [call(C, C), call(F, G), call(R, R)],
    "vstack": [call([F, G]), call((V, R))],
    "where": [call(B, F, G), call(F > 0, F, 0), call(B, F, J), call(B), call(R > 0)],
    "zeros_like": [call(F), call(J), call(R, dtype=np.float64), call(C, shape=(2,))],
    "empty_like": [call(F[:0]), call(R[:0])],
    # Viewing.
    "asarray_chkfinite": [call(F), call(J, dtype=np.float64), call(ZERO_D)],
    "atleast_1d": [call(F), call(ZERO_D), call(ZERO_D, R)],
    "atleast_2d": [call(F), call(ZERO_D), call(ZERO_D, R)],
    "atleast_3d": [call(F), call(ZERO_D), call(ZERO_D, R)],
    "broadcast_arrays": [call(F, ZERO_D), call(R, V), call(V, W[:, None])],
    "broadcast_to": [call(V, (2, 3)), call(ZERO_D, (4,))],
    "diag": [call(V), call(M), call(M, 1)],
    "diagonal": [call(M), call(R, 1), call(R, 0, 1, 0)],
    "einsum": [
        call("i,i", F, G),
        call("ij,jk->ik", R, M),
        call("ii->i", M),
        call("ij->ji", R),
        call("ij,jk,k->i", R, M, V, optimize=True),
    ],
    "expand_dims": [call(F, 0), call(R, (0, 3))],
    "fliplr": [call(R), call(M)],
    "flipud": [call(F), call(R)],
    "ravel": [call(R), call(F), call(R, "F"), call(ZERO_D)],
    "real_if_close": [call(C), call(C.real + 0j), call(F)],
    "rot90": [call(R), call(M, 2), call(R, -1, (1, 0))],
    # Neutral.
    "flip": [call(F), call(R, 1), call(R, (0, 1))],
    "moveaxis": [call(R, 0, 1), call(R[None], (0, 1), (2, 0))],
    "permute_dims": [call(R), call(R, (1, 0)), call(R[None], (2, 0, 1))],
    "reshape": [call(R, (3, 2)), call(R, -1), call(R, (3, 2), "F"), call(F, (2, 2, 2))],
    "squeeze": [call(R[None]), call(R[None], 0), call(F), call(F[None, :, None], axis=(0, 2))],
    "swapaxes": [call(R, 0, 1), call(R[None], 0, -1)],
    "transpose": [call(R), call(R, (1, 0)), call(F), call(R[None], (2, 0, 1))],
    # Inquiries.
    "shape": [call(F), call(R), call(ZERO_D), call(F[:0])],
    "ndim": [call(F), call(R), call(ZERO_D)],
    "size": [call(F), call(R), call(R, 1), call(ZERO_D)],
    # Converting.
    "asarray": [call(F), call(J, np.float64), call(F, dtype=np.int8), call(R, order="F"), call([F, G])],
    "array": [call(F), call(J, np.float64), call(F, copy=None), call(R, ndmin=3), call([F, G])],
    "ascontiguousarray": [call(F), call(R.T), call(J, np.float64)],
    "asfortranarray": [call(F), call(R), call(J, np.float64)],
    # numpy.linalg
    "linalg.cholesky": [call(M), call(np.stack([M, M])), call(M, upper=True)],
    "linalg.cond": [call(M), call(M, 1)],
    "linalg.det": [call(M), call(np.stack([M, -M]))],
    "linalg.eig": [call(M), call(M + np.triu(M))],
    "linalg.eigh": [call(M), call(M, "U")],
    "linalg.eigvals": [call(M), call(M + np.triu(M))],
    "linalg.eigvalsh": [call(M)],
    "linalg.inv": [call(M), call(np.stack([M, -M]))],
    "linalg.lstsq": [call(M, V), call(R.T, V), call(M, V, UP[0:1].reshape(()))],
    "linalg.matrix_norm": [call(R), call(R, ord=1, keepdims=True)],
    "linalg.matrix_power": [call(M, 3), call(M, -1), call(M, 0), call(M, 1)],
    "linalg.matrix_rank": [call(M), call(R), call(M, ZERO_D)],
    "linalg.multi_dot": [call([R, M]), call([R, M, V]), call([R, M, M, V])],
    "linalg.norm": [
        call(F),
        call(R),
        call(R, axis=1),
        call(F, 1),
        call(R, "fro"),
        call(F, np.inf),
        call(C),
        call(J),
    ],
    "linalg.pinv": [call(R), call(M)],
    "linalg.qr": [call(M), call(R, "r")],
    "linalg.slogdet": [call(M), call(-M)],
    "linalg.solve": [call(M, V), call(M, R.T)],
    "linalg.svd": [call(R), call(M, full_matrices=False), call(R, compute_uv=False)],
    "linalg.svdvals": [call(R)],
    "linalg.vector_norm": [call(F), call(R, axis=1), call(F, ord=3)],
    # numpy.fft
    **{f"fft.{name}": [call(F), call(C), call(R), call(F, 5)] for name in ("fft", "ifft", "hfft", "irfft")},
    **{f"fft.{name}": [call(F), call(R), call(F, 5)] for name in ("rfft", "ihfft")},
    **{f"fft.{name}": [call(R), call(MI), call(MI, axes=())] for name in ("fft2", "ifft2")},
    "fft.irfft2": [call(R), call(MI)],
    **{
        f"fft.{name}": [call(R), call(MI), call(R, axes=(0,)), call(MI, axes=())]
        for name in ("fftn", "ifftn")
    },
    "fft.irfftn": [call(R), call(C), call(MI, axes=(0,))],
    "fft.rfft2": [call(R), call(M)],
    "fft.rfftn": [call(R), call(M), call(M, axes=(0,))],
    "fft.fftshift": [call(F), call(R), call(R, axes=0)],
    "fft.ifftshift": [call(F), call(R), call(R, axes=0)],
}


# ------------------------------------------------------------------------------- comparing


def leaves(value: Any) -> list[Any]:
    """The arrays and scalars of a result: tuples, named ones included, and lists are opened."""
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [value]


def mapped(change: Callable[[np.ndarray], Any], value: Any) -> Any:
    """`value` with every array changed; tuples and lists are opened."""
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, tuple | list):
        return type(value)(mapped(change, item) for item in value)
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    return value


def as_jax(value: np.ndarray) -> jax.Array:
    return jnp.asarray(value)


def as_view(value: np.ndarray) -> np.ndarray:
    """What the migrated callback passes: a read-only array with the dtype that JAX gives it."""
    found = np.array(value, jax.dtypes.canonicalize_dtype(value.dtype))
    found.setflags(write=False)
    return found


def outcome(function: Callable[..., Any], sample: Call) -> Any:
    """A function's result, or the exception that it raises."""
    args, kwargs = sample
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  # what is compared is whether it raises
        return error


def both(function: Callable[..., Any], sample: Call) -> tuple[Any, Any, Call, Call]:
    """The results on JAX arrays and on NumPy views, and the arguments that gave them."""
    original, migrated = mapped(as_jax, sample), mapped(as_view, sample)
    return outcome(function, original), outcome(function, migrated), original, migrated


def same_bits(first: Any, second: Any) -> bool:
    """Whether two results have the same leaves, by type of element, shape and bits."""
    ours, theirs = leaves(first), leaves(second)
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        left, right = np.asarray(one), np.asarray(other)
        if (left.dtype, left.shape, left.tobytes()) != (right.dtype, right.shape, right.tobytes()):
            return False
    return True


def has_jax(value: Any) -> bool:
    return any(isinstance(leaf, jax.Array) for leaf in leaves(value))


def memory_shared(result: Any, sample: Call) -> bool:
    arrays = [np.asarray(leaf) for leaf in leaves(list(sample)) if isinstance(leaf, np.ndarray | jax.Array)]
    results = [leaf for leaf in leaves(result) if isinstance(leaf, np.ndarray | jax.Array)]
    return any(np.shares_memory(np.asarray(leaf), array) for leaf in results for array in arrays)


def function_named(name: str) -> Callable[..., Any]:
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert callable(found)
    return found


def samples_of(names: frozenset[str]) -> list[tuple[str, Call]]:
    """One entry a sample; a name without one fails by its key."""
    return [(name, sample) for name in sorted(names) for sample in NUMPY_SAMPLES[name.removeprefix("numpy.")]]


def identifiers(table: list[tuple[str, Call]]) -> list[str]:
    seen: dict[str, int] = {}
    ids = []
    for name, _ in table:
        seen[name] = seen.get(name, 0) + 1
        ids.append(f"{name}-{seen[name]}")
    return ids


# ------------------------------------------------------------------------------- the tables are covered


def test_every_entry_of_the_numpy_tables_has_a_sample():
    tables = (
        (hostlib.FRESH - hostlib.UFUNCS)
        | hostlib.VIEWING
        | hostlib.NEUTRAL
        | hostlib.INQUIRIES
        | hostlib.CONVERTING
    )
    assert {name.removeprefix("numpy.") for name in tables} == set(NUMPY_SAMPLES)


def test_every_entry_is_a_callable_of_the_installed_library():
    tables = hostlib.FRESH | hostlib.VIEWING | hostlib.NEUTRAL | hostlib.INQUIRIES | hostlib.CONVERTING
    for name in tables | hostlib.SCALAR_TYPES | hostlib.MATH_ON_FLOATS | hostlib.TAKES_FUNCTION:
        function_named(name)


def test_no_function_is_in_two_tables():
    tables = [
        hostlib.FRESH,
        hostlib.VIEWING,
        hostlib.NEUTRAL,
        hostlib.INQUIRIES,
        hostlib.CONVERTING,
        hostlib.SCALAR_TYPES,
    ]
    for index, table in enumerate(tables):
        for other in tables[index + 1 :]:
            assert not table & other


def test_the_ufunc_table_holds_every_ufunc_of_numpy_that_the_installed_release_has():
    known = {f"numpy.{name}" for name in np.__all__ if isinstance(getattr(np, name), np.ufunc)}
    newer = {"numpy.matvec", "numpy.vecmat"}  # of NumPy 2.2; 2.0 is the oldest supported
    dates = {"numpy.isnat"}  # which JAX has none of
    assert known - newer - dates == hostlib.UFUNCS


# ------------------------------------------------------------------------------- fresh results

FRESH_SAMPLES = samples_of(hostlib.FRESH - hostlib.UFUNCS)


@pytest.mark.parametrize(("name", "sample"), FRESH_SAMPLES, ids=identifiers(FRESH_SAMPLES))
def test_fresh_results_are_numpys_equal_and_share_no_memory(name: str, sample: Call):
    original, migrated, jax_arguments, arguments = both(function_named(name), sample)
    assert not isinstance(migrated, Exception), migrated
    assert not has_jax(original)
    assert same_bits(original, migrated)
    assert not memory_shared(original, jax_arguments)
    assert not memory_shared(migrated, arguments)


OTHER_DTYPES = ["bool", "int32", "float16", "bfloat16", "complex64"]


@pytest.mark.parametrize("name", sorted(hostlib.FRESH - hostlib.UFUNCS))
def test_fresh_results_are_equal_for_other_dtypes_as_well(name: str):
    function = function_named(name)
    for dtype in OTHER_DTYPES:
        for sample in NUMPY_SAMPLES[name.removeprefix("numpy.")]:
            cast = mapped(lambda a, dtype=dtype: a.astype(dtype) if a.dtype == np.float32 else a, sample)
            original, migrated, _, arguments = both(function, cast)
            if isinstance(migrated, Exception):
                assert isinstance(original, Exception), dtype
                continue
            assert not has_jax(original)
            assert same_bits(original, migrated), dtype
            assert not memory_shared(migrated, arguments), dtype


UFUNC_DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "complex64",
]


def ufunc_samples(function: np.ufunc) -> Iterator[Call]:
    """Arrays of each dtype, of mixed ones, and an array beside a Python number."""
    square = function.signature is not None
    for dtype in UFUNC_DTYPES:
        first = numbers(dtype, 16)
        second = numbers(dtype, 16)[::-1].copy()
        if square and function is np.matmul:
            first, second = first.reshape(4, 4), second.reshape(4, 4)
        yield call(*[first, second][: function.nin])
        if function.nin == 2 and not square:
            yield call(first, 2)
            yield call(first, np.arange(16, dtype=np.int32) % 7)
            yield call(first, ZERO_D)


@pytest.mark.parametrize("name", sorted(hostlib.UFUNCS))
def test_ufuncs_are_numpys_equal_and_fresh_for_every_dtype(name: str):
    function = function_named(name)
    assert isinstance(function, np.ufunc)
    succeeded = 0
    for sample in ufunc_samples(function):
        original, migrated, jax_arguments, arguments = both(function, sample)
        if isinstance(migrated, Exception):
            assert type(original) is type(migrated)
            continue
        succeeded += 1
        assert not has_jax(original)
        assert same_bits(original, migrated), sample
        assert not memory_shared(original, jax_arguments)
        assert not memory_shared(migrated, arguments)
    assert succeeded


# ------------------------------------------------------------------------------- viewing, neutral, converting

VIEWING_SAMPLES = samples_of(hostlib.VIEWING | hostlib.CONVERTING)


@pytest.mark.parametrize(("name", "sample"), VIEWING_SAMPLES, ids=identifiers(VIEWING_SAMPLES))
def test_viewing_and_converting_results_are_numpys_and_equal(name: str, sample: Call):
    original, migrated, _, _ = both(function_named(name), sample)
    assert not isinstance(migrated, Exception), migrated
    assert not has_jax(original)
    assert same_bits(original, migrated)


@pytest.mark.parametrize("name", sorted(hostlib.VIEWING))
def test_each_viewing_function_shares_memory_for_some_sample(name: str):
    results = [both(function_named(name), sample) for sample in NUMPY_SAMPLES[name.removeprefix("numpy.")]]
    assert any(memory_shared(o, jax_args) or memory_shared(m, args) for o, m, jax_args, args in results)


NEUTRAL_SAMPLES = samples_of(hostlib.NEUTRAL)


@pytest.mark.parametrize(("name", "sample"), NEUTRAL_SAMPLES, ids=identifiers(NEUTRAL_SAMPLES))
def test_neutral_results_have_equal_bits_whoever_computes(name: str, sample: Call):
    original, migrated, _, _ = both(function_named(name), sample)
    assert not isinstance(migrated, Exception), migrated
    assert not isinstance(original, Exception), original
    assert same_bits(original, migrated)


INQUIRY_SAMPLES = samples_of(hostlib.INQUIRIES)


@pytest.mark.parametrize(("name", "sample"), INQUIRY_SAMPLES, ids=identifiers(INQUIRY_SAMPLES))
def test_inquiries_answer_alike_with_plain_integers(name: str, sample: Call):
    original, migrated, _, _ = both(function_named(name), sample)
    assert original == migrated
    assert all(type(leaf) is int for leaf in leaves(migrated))


def test_array_copies_and_asarray_does_not():
    view = as_view(F)
    assert not np.shares_memory(np.array(view), view)
    assert np.shares_memory(np.asarray(view), view)


@pytest.mark.parametrize("name", sorted(hostlib.SCALAR_TYPES))
def test_scalar_types_convert_to_numpy_with_equal_bits(name: str):
    function = function_named(name)
    for value in (F, J, B, R, ZERO_D, np.array(3, np.int32), numbers("float16")):
        original, migrated, _, _ = both(function, call(value))
        assert not isinstance(migrated, Exception)
        assert not has_jax(original)
        assert same_bits(original, migrated)


def test_scalar_types_may_return_their_argument_itself():
    view = as_view(F)
    assert np.shares_memory(np.float32(view), view)


def test_functions_of_several_arrays_are_known_ones_and_have_a_sample_of_several():
    assert hostlib.SEVERAL_ARRAYS <= hostlib.FRESH | hostlib.VIEWING
    for name in hostlib.SEVERAL_ARRAYS:
        samples = NUMPY_SAMPLES[name.removeprefix("numpy.")]
        assert any(
            len([leaf for leaf in leaves(list(args)) if isinstance(leaf, np.ndarray)]) > 1
            for args, _ in samples
        )


# Functions that ask their argument, called on NumPy's arrays: each with what may make it return its argument.
MAKER_SAMPLES: dict[str, list[Call]] = {
    **{name: [call(3), call((2, 3))] for name in ("zeros", "ones", "empty")},
    **{name: [call(3)] for name in ("arange", "eye", "identity", "tri")},
    "full": [call(3, ZERO_D), call((2, 8), F)],
    "linspace": [call(0, 1, 3), call(V, W, 1)],
    **{
        name: [call(F), call(R, axis=()), call(J), call(ZERO_D)]
        for name in ("sum", "prod", "max", "min", "amax", "amin")
    },
    **{name: [call(F), call(R, axis=()), call(J)] for name in ("mean", "std", "var", "any", "all")},
    **{
        name: [call(F), call(F[:1]), call(J)] for name in ("cumsum", "cumprod", "argmax", "argmin", "argsort")
    },
    "searchsorted": [call(UP, F), call(UP, ZERO_D)],
    "clip": [call(F, 0, 1), call(F, None, 99), call(J, -99, 99)],
    **{name: [call(F), call(F, 9), call(J), call(J, 2)] for name in ("round", "around")},
    "take": [call(F, [0, 1]), call(F, np.arange(8)), call(F, 0)],
    "repeat": [call(F, 1), call(F, 2)],
    "choose": [call([0], [F[:1]]), call(N[:2] % 2, [F[:2], G[:2]])],
    "compress": [call([True] * 8, F), call([True], R, axis=0)],
    "digitize": [call(F, UP), call(J, UP)],
    "trace": [call(M), call(np.stack([M, M]))],
    "take_along_axis": [call(F, np.arange(8), 0)],
}


def test_every_maker_has_a_sample():
    assert {f"numpy.{name}" for name in MAKER_SAMPLES} == hostlib.ARRAY_MAKERS
    assert hostlib.FRESH_MAKERS <= hostlib.ARRAY_MAKERS


@pytest.mark.parametrize("name", sorted(MAKER_SAMPLES))
def test_makers_share_no_memory_with_numpys_arrays(name: str):
    for sample in MAKER_SAMPLES[name]:
        arguments = mapped(as_view, sample)
        result = outcome(function_named(f"numpy.{name}"), arguments)
        assert not isinstance(result, Exception), result
        assert not memory_shared(result, arguments)


# ------------------------------------------------------------------------------- SciPy


@pytest.mark.parametrize("module", hostlib.WRITING_MODULES)
def test_writing_modules_are_not_safe(module: str):
    assert hostlib.is_safe("scipy.linalg.inv") and hostlib.is_safe("scipy.special.jv")
    assert not hostlib.is_safe(f"{module}anything")
    importlib.import_module(module.removesuffix("."))


def test_blas_writes_through_a_read_only_array():
    """The reason for the table."""
    view = as_view(np.ones(3, np.float32))
    scipy.linalg.blas.sscal(3.0, view)
    assert (view == 3).all()


def special_arguments(function: np.ufunc) -> Iterator[Call]:
    if function.__name__.startswith(("obl_", "pro_")):  # spheroidal: endless for some arguments in float32
        yield call(*[N[:2] * 0, N[:2] * 0 + 1, N[1:3], N[1:3] * 0, N[1:3]][: function.nin])
        return
    pool = [np.abs(G), UP, np.abs(F) + 1, UP + 0.5, np.abs(G) + 1, UP, np.abs(F)]
    yield call(*pool[: function.nin])
    yield call(*[np.abs(J[:4]) + 1 for _ in range(function.nin)])
    yield call(*[pool[0].astype(np.complex64), *pool[1:]][: function.nin])
    yield call(*[value[0] * np.ones((), np.float32) for value in pool[: function.nin]])


SPECIAL_UFUNCS = [n for n in scipy.special.__all__ if isinstance(getattr(scipy.special, n), np.ufunc)]


@pytest.mark.parametrize("name", SPECIAL_UFUNCS)
def test_ufuncs_of_scipy_special_are_numpys_equal_and_fresh(name: str):
    function = getattr(scipy.special, name)
    succeeded = 0
    for sample in special_arguments(function):
        original, migrated, jax_arguments, arguments = both(function, sample)
        if isinstance(migrated, Exception):
            assert type(original) is type(migrated)
            continue
        succeeded += 1
        assert not has_jax(original)
        assert same_bits(original, migrated)
        assert not memory_shared(original, jax_arguments)
        assert not memory_shared(migrated, arguments)
    assert succeeded


ONE, TWO = np.array(1, np.int32), np.array(2, np.int32)
SPECIAL_SAMPLES: list[tuple[str, Call]] = [
    ("comb", call(np.abs(J), N)),
    ("comb", call(np.abs(J), 2, repetition=True)),
    ("diric", call(F, 3)),
    ("ellip_harm", call(5.0, 8.0, 1, 1, UP[2])),
    ("factorial", call(N)),
    ("factorial", call(N, exact=True)),
    ("factorial2", call(N)),
    ("h1vp", call(1, UP)),
    ("ivp", call(1, UP)),
    ("jvp", call(1, UP, 2)),
    ("kvp", call(1, UP)),
    ("lambertw", call(UP)),
    ("log_softmax", call(F)),
    ("log_softmax", call(R, axis=1)),
    ("logsumexp", call(F)),
    ("logsumexp", call(R, axis=0, b=V)),
    ("multigammaln", call(UP + 3, 2)),
    ("perm", call(np.abs(J), N)),
    ("polygamma", call(ONE, UP)),
    ("polygamma", call(2, R * R + 1)),
    ("sinc", call(F)),
    ("softmax", call(F)),
    ("softmax", call(R, axis=0)),
    ("spherical_in", call(1, UP)),
    ("spherical_jn", call(2, UP)),
    ("spherical_jn", call(2, UP, derivative=True)),
    ("spherical_kn", call(1, UP)),
    ("spherical_yn", call(1, UP)),
    ("stirling2", call(np.abs(J), N)),
    ("yvp", call(1, UP)),
    ("zeta", call(UP + 1)),
    ("zeta", call(UP + 1, UP)),
]


@pytest.mark.parametrize(("name", "sample"), SPECIAL_SAMPLES, ids=identifiers(SPECIAL_SAMPLES))
def test_functions_of_scipy_special_are_numpys_equal_and_fresh(name: str, sample: Call):
    original, migrated, jax_arguments, arguments = both(getattr(scipy.special, name), sample)
    assert not isinstance(migrated, Exception), migrated
    assert not isinstance(original, Exception), original
    assert not has_jax(original)
    assert same_bits(original, migrated)
    assert not memory_shared(original, jax_arguments)
    assert not memory_shared(migrated, arguments)


LINALG_SAMPLES: list[tuple[str, Call]] = [
    ("block_diag", call(M, R)),
    ("cho_factor", call(M)),
    ("cho_solve", call((M, True), V)),
    ("cholesky", call(M)),
    ("circulant", call(V)),
    ("companion", call(V)),
    ("cosm", call(M)),
    ("det", call(M)),
    ("eig", call(M)),
    ("eigh", call(M)),
    ("eigh_tridiagonal", call(V, W[:2])),
    ("eigvals", call(M)),
    ("eigvalsh", call(M)),
    ("expm", call(M)),
    ("expm", call(np.stack([M, -M]))),
    ("fractional_matrix_power", call(M, 0.5)),
    ("hankel", call(V, W)),
    ("hessenberg", call(M)),
    ("inv", call(M)),
    ("khatri_rao", call(R, R)),
    ("ldl", call(M)),
    ("logm", call(M)),
    ("lstsq", call(M, V)),
    ("lu", call(M)),
    ("lu_factor", call(M)),
    ("lu_solve", call((M, N[:3] % 3), V)),
    ("norm", call(F)),
    ("norm", call(R, "fro")),
    ("null_space", call(R)),
    ("orth", call(R)),
    ("pinv", call(R)),
    ("polar", call(M)),
    ("qr", call(M)),
    ("qr", call(R, mode="economic", pivoting=True)),
    ("rq", call(M)),
    ("schur", call(M)),
    ("sinm", call(M)),
    ("solve", call(M, V)),
    ("solve", call(M, V, assume_a="pos")),
    ("solve_banded", call((1, 1), M, V)),
    ("solve_sylvester", call(M, M, M)),
    ("solve_toeplitz", call(V, W)),
    ("solve_triangular", call(M, V, lower=True)),
    ("sqrtm", call(M)),
    ("subspace_angles", call(R.T, R.T[::-1].copy())),
    ("svd", call(R)),
    ("svdvals", call(R)),
    ("tanhm", call(M)),
    ("toeplitz", call(V, W)),
]


@pytest.mark.parametrize(("name", "sample"), LINALG_SAMPLES, ids=identifiers(LINALG_SAMPLES))
def test_functions_of_scipy_linalg_are_numpys_and_equal(name: str, sample: Call):
    original, migrated, _, _ = both(getattr(scipy.linalg, name), sample)
    assert not isinstance(migrated, Exception), migrated
    assert not isinstance(original, Exception), original
    assert not has_jax(original)
    assert same_bits(original, migrated)


# ------------------------------------------------------------------------------- attributes and methods

ARRAYS = [numbers(dtype) for dtype in UFUNC_DTYPES] + [R, M, ZERO_D, F[:0], R[None, :, None]]


@pytest.mark.parametrize("name", sorted(hostlib.ARRAY_INQUIRIES))
def test_inquiries_of_arrays_are_equal(name: str):
    for array in ARRAYS:
        assert getattr(as_jax(array), name) == getattr(as_view(array), name)


@pytest.mark.parametrize("name", sorted(hostlib.ARRAY_ATTRIBUTES))
def test_attributes_of_arrays_have_equal_bits(name: str):
    for array in ARRAYS:
        original, migrated = (
            outcome(lambda value: getattr(value, name), call(kind(array))) for kind in (as_jax, as_view)
        )
        if isinstance(original, Exception):
            assert isinstance(migrated, Exception)
        else:
            assert same_bits(original, migrated), array.dtype


METHOD_SAMPLES: dict[str, list[Call]] = {
    "reshape": [call(-1), call((1, -1)), call(-1, 1), call(-1, order="F")],
    "ravel": [call(), call("F")],
    "flatten": [call(), call("F")],
    "copy": [call()],
    "transpose": [call(), call((0,)), call(1, 0)],
    "squeeze": [call(), call(0), call(axis=-1)],
    "swapaxes": [call(0, 0), call(0, -1)],
    "item": [call(), call(0), call(0, 1)],
    "tolist": [call()],
}


def test_every_method_of_the_tables_has_a_sample():
    assert set(METHOD_SAMPLES) == hostlib.NEUTRAL_METHODS | hostlib.PYTHON_METHODS


def applied(name: str, sample: Call) -> Callable[[Any], Any]:
    return lambda array: getattr(array, name)(*sample[0], **sample[1])


@pytest.mark.parametrize("name", sorted(hostlib.NEUTRAL_METHODS))
def test_neutral_methods_have_equal_bits(name: str):
    succeeded = 0
    for sample in METHOD_SAMPLES[name]:
        for array in ARRAYS:
            original = outcome(applied(name, sample), call(as_jax(array)))
            if isinstance(original, Exception):
                continue  # what was an error may only become one of NumPy's
            migrated = outcome(applied(name, sample), call(as_view(array)))
            assert same_bits(original, migrated), (array.dtype, sample)
            succeeded += 1
    assert succeeded > len(METHOD_SAMPLES[name])


@pytest.mark.parametrize("name", sorted(hostlib.PYTHON_METHODS))
def test_python_methods_give_equal_objects(name: str):
    succeeded = 0
    for sample in METHOD_SAMPLES[name]:
        for array in ARRAYS:
            original = outcome(applied(name, sample), call(as_jax(array)))
            if isinstance(original, Exception):
                continue
            migrated = outcome(applied(name, sample), call(as_view(array)))
            assert repr(original) == repr(migrated)
            assert type(original) is type(migrated)
            succeeded += 1
    assert succeeded > len(UFUNC_DTYPES) - 1


WRITE_FILES = {"dump", "tofile"}  # to a name or to a file descriptor
# Arguments with which a method of `np.ndarray` can be called at all.
NDARRAY_ARGUMENTS: list[Call] = [
    call(),
    call(0),
    call(0, 1),
    call((3,)),
    call("float32"),
    call(np.float32),
    call("cpu"),
    call([True, False, True]),
]


def results_of_methods() -> Iterator[tuple[str, np.ndarray, Any]]:
    """Every public method of `np.ndarray` on several arrays, with all arguments that it accepts."""
    for name in dir(np.ndarray):
        if name in WRITE_FILES or (name.startswith("_") and name != "__array__"):
            continue
        for source in (F[:3], J[:3], C[:3], np.zeros((1, 3), np.float32), ZERO_D):
            for args, kwargs in NDARRAY_ARGUMENTS:
                array = source.copy()
                method = outcome(getattr, call(array, name))
                if callable(method):
                    yield name, array, outcome(method, (args, kwargs))


def test_methods_that_may_share_memory_are_known_to():
    viewing = {
        name
        for name, array, result in results_of_methods()
        if isinstance(result, np.ndarray) and (result is array or np.shares_memory(result, array))
    }
    # `astype(copy=False)` is looked for by its keyword.
    assert viewing - {"astype"} <= hostlib.VIEWING_METHODS


def test_methods_that_write_are_known_to():
    writing = set()
    for name in dir(np.ndarray):
        for args in ((), (0,), (0, 1), ((2, 2),), (F[:3], "float32"), (1, 0), (True,), (False,)):
            array = np.array([3, 1, 2, 1], np.int32)
            before = (array.copy(), array.flags.writeable)
            method = outcome(getattr, call(array, name))
            if name in WRITE_FILES or name.startswith("_") or not callable(method):
                continue
            outcome(method, (args, {}))
            if (
                array.shape != before[0].shape
                or (array != before[0]).any()
                or array.flags.writeable != before[1]
            ):
                writing.add(name)
    assert writing - {"byteswap"} <= hostlib.WRITING_METHODS  # `byteswap(True)`
    assert {"sort", "fill", "put", "partition", "setflags"} <= writing


def test_list_methods_keep_what_they_are_given():
    mark = object()
    kept = set()
    for empty in (list, dict, set, collections.deque):
        for name in dir(empty):
            if name.startswith("_"):
                continue
            for args in ((mark,), ([mark],), (0, mark), ({0: mark},), (mark, mark)):
                box = empty()
                outcome(getattr(box, name), (args, {}))
                values = list(box.values()) if isinstance(box, dict) else list(box)
                if any(value is mark for value in values):
                    kept.add(name)
    rare = {"extendleft", "symmetric_difference_update"}
    assert kept - rare <= hostlib.LIST_METHODS


def test_mapping_methods_are_those_of_a_dict_that_take_nothing_and_keep_it_as_it_is():
    for name in hostlib.MAPPING_METHODS:
        box = {"a": 1}
        assert list(getattr(box, name)())
        assert box == {"a": 1}


def test_attributes_of_jax_are_those_of_its_arrays_and_of_no_others():
    array = jnp.ones(1)
    common = {"device"}  # of the array API, which NumPy has come to follow; its value differs
    for name in hostlib.JAX_ATTRIBUTES:
        assert hasattr(array, name) or hasattr(type(array), name), name
        assert not hasattr(np.ndarray, name) or name in common


# ------------------------------------------------------------------------------- builtins and math


def test_math_functions_read_a_float_alike():
    two = {"math.atan2", "math.copysign", "math.fmod", "math.hypot", "math.pow"}
    for name in hostlib.MATH_ON_FLOATS:
        function = function_named(name)
        succeeded = 0
        for value in (0.5, -0.5, 3.25, 1.5, 0.0, -0.0, math.inf, math.nan):
            array = np.array(value, np.float32)
            rest = (3,) if name == "math.ldexp" else (ZERO_D,) if name in two else ()
            original, migrated, _, _ = both(function, call(array, *rest))
            assert repr(original) == repr(migrated)
            succeeded += not isinstance(original, Exception)
        assert succeeded, name


@pytest.mark.parametrize("name", sorted(hostlib.SCALAR_BUILTINS | {"len", "bool", "any", "all", "range"}))
def test_builtins_that_read_a_number_answer_alike(name: str):
    function = getattr(builtins, name)
    scalars = [
        np.array(v, d) for d in ("float32", "int32", "bool", "float16", "uint8") for v in (0, 1, 3, 7.5)
    ]
    vectors = [F, J, B, F[:0], R]
    succeeded = 0
    for array in [*scalars, *vectors]:
        original, migrated, _, _ = both(function, call(array))
        if isinstance(original, Exception):
            continue
        assert repr(original) == repr(migrated)
        assert type(original) is type(migrated)
        succeeded += 1
    assert succeeded


@pytest.mark.parametrize(
    "name", ["list", "tuple", "iter", "reversed", "enumerate", "zip", "sorted", "max", "min", "next"]
)
def test_builtins_that_unpack_one_array_give_equal_elements(name: str):
    function = getattr(builtins, name)
    for array in (F, J, N, UP, numbers("float16"), numbers("bfloat16"), numbers("uint8")):
        original, migrated = (
            function(iter(kind(array)) if name == "next" else kind(array)) for kind in (as_jax, as_view)
        )
        if name in ("iter", "reversed", "enumerate", "zip"):
            original, migrated = list(original), list(migrated)
        assert same_bits(original, migrated)


@pytest.mark.parametrize(
    "show", [str, "{}".format, lambda value: f"{value}"], ids=["str", "format", "f-string"]
)
def test_one_array_is_shown_alike(show: Callable[[Any], str]):
    for array in ARRAYS:
        assert show(as_jax(array)) == show(as_view(array))


def test_one_number_is_formatted_alike():
    for array in (ZERO_D, np.array(3, np.int32), np.array(1.5, np.float16), np.array(True)):
        for spec in (">8", ".3g", "+.2f"):
            original, migrated, _, _ = both(lambda value, spec=spec: format(value, spec), call(array))
            assert repr(original) == repr(migrated)


def test_a_method_called_on_a_jax_array_would_differ_so_the_tables_leave_it_out():
    """The reason for the tables: what NumPy hands to the argument's own method is computed by JAX."""
    assert isinstance(np.sum(as_jax(F)), jax.Array)
    for name in (
        "sum",
        "mean",
        "max",
        "argsort",
        "cumsum",
        "prod",
        "clip",
        "round",
        "any",
        "std",
        "take",
        "repeat",
    ):
        assert f"numpy.{name}" not in hostlib.FRESH | hostlib.VIEWING | hostlib.NEUTRAL


# ------------------------------------------------------------------------------- the rest


def test_jax_dtypes_are_types_and_constants_that_compute_nothing():
    for name in hostlib.JAX_DTYPES:
        value = getattr(jnp, name.removeprefix("jax.numpy."), None)
        assert not isinstance(value, jax.Array)
        if not isinstance(value, float | type(None)):
            assert jnp.dtype(value)


def test_dtype_names_of_jax_exist_in_every_supported_release():
    for name in hostlib.JAX_DTYPES - {"jax.numpy.float8_e4m3fn", "jax.numpy.float8_e5m2"}:
        assert hasattr(jnp, name.removeprefix("jax.numpy."))
    assert np.dtype(ml_dtypes.float8_e5m2) == jnp.dtype("float8_e5m2")


def test_maps_over_pytrees_are_jaxs_own():
    assert "jax.tree.map" in hostlib.TREE_MAPS
    for name in hostlib.TREE_MAPS - {"jax.tree_map"}:  # gone from newer releases
        assert function_named(name)(np.asarray, {"a": [as_jax(F)]})["a"][0].tolist() == F.tolist()


def test_plain_contexts_let_exceptions_pass_and_exist():
    for name in hostlib.PLAIN_CONTEXTS - {"open"}:
        function_named(name)
    with pytest.raises(ZeroDivisionError), np.errstate(all="ignore"), np.printoptions(precision=2):
        operator.truediv(1, 0)


def test_names_of_the_tables_are_dotted_identifiers():
    for table in (
        hostlib.FRESH,
        hostlib.VIEWING,
        hostlib.NEUTRAL,
        hostlib.MATH_ON_FLOATS,
        hostlib.SCALAR_TYPES,
    ):
        for name in table:
            assert all(part.isidentifier() for part in name.split("."))
            ast.parse(name, mode="eval")
