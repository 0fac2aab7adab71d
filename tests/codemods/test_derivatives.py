"""The table of derivatives: each entry against the host function that it stands for."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from codemods.scaffolds.derivatives import DERIVATIVES, KEYWORDS, Formula, Slopes, Twin

rng = np.random.default_rng(0)
SQUARE = rng.normal(size=(3, 3))
POSITIVE = SQUARE @ SQUARE.T + 3 * np.eye(3)
UPPER = np.triu(POSITIVE)
CUBE = rng.normal(size=(2, 3, 4))
GAPS = np.array([0.3, np.nan, 0.7, 1.2])
ROW, OTHER = rng.normal(size=3), rng.normal(size=3)


def between(low: float, high: float) -> np.ndarray:
    return rng.uniform(low, high, (4,))


# The arguments of the functions that do not take any numbers between 0.2 and 0.8.
OF_LAST_NAME = {
    **dict.fromkeys(["inv", "det", "cholesky", "eigvalsh", "expm"], (POSITIVE,)),
    **dict.fromkeys(["norm", "pinv", "trace"], (SQUARE,)),
    **dict.fromkeys(["matmul", "dot", "kron", "block_diag"], (SQUARE, POSITIVE)),
    **dict.fromkeys(["vdot", "inner", "outer", "cross", "toeplitz"], (ROW, OTHER)),
    "solve": (POSITIVE, ROW),
    "solve_triangular": (UPPER, ROW),
    **dict.fromkeys(["acosh", "arccosh"], (between(1.2, 2),)),
    **dict.fromkeys(["diag", "diagonal", "tril", "triu", "flip", "fliplr", "flipud", "rot90"], (SQUARE,)),
    **dict.fromkeys(["svdvals", "slogdet", "lu", "fft2", "ifft2", "rfft2", "irfft2"], (POSITIVE,)),
    **dict.fromkeys(["convolve", "correlate", "polyval", "trapezoid", "vecdot", "fftconvolve"], (ROW, OTHER)),
    **dict.fromkeys(["convolve2d", "correlate2d"], (SQUARE, POSITIVE)),
    **dict.fromkeys(["nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nancumsum", "nancumprod"], (GAPS,)),
    **dict.fromkeys(["concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"], ([ROW, OTHER],)),
    "tensordot": (SQUARE, POSITIVE, 1),
    "multi_dot": ([SQUARE, POSITIVE, OTHER],),
    "nan_to_num": (GAPS,),
    "interp": (np.array([-1.0, 0.5, 1.2, 2.7]), np.array([0.0, 1.0, 2.0]), OTHER),
    "clip": (np.array([-1.0, 0.5, 2.0]), np.array([-0.5, 0.0, 0.5]), np.array([0.0, 1.0, 1.5])),
    "reshape": (SQUARE, (9, -1)),
    "transpose": (CUBE, (2, 0, 1)),
    **dict.fromkeys(["swapaxes", "moveaxis"], (CUBE, 0, 2)),
    **dict.fromkeys(["roll", "tile", "repeat", "pad", "expand_dims"], (ROW, 1)),
    "broadcast_to": (ROW, (2, 3)),
    "quantile": (ROW, 0.3),
    "percentile": (ROW, 30),
    "einsum": ("ij,jk->ki", SQUARE, POSITIVE),
    "matrix_power": (SQUARE, -2),
    "multigammaln": (between(2, 3), 2),
    "polygamma": (1, between(0.5, 2)),
    "zeta": (between(2, 3), between(0.5, 2)),
    "kn": (np.array([1, 2, 0, 1]), between(0.5, 2)),
    "expn": (np.array([1, 2, 3, 2]), between(0.5, 2)),
    **dict.fromkeys(["betainc", "betaincinv"], (between(1, 2), between(1, 2), between(0.2, 0.8))),
    "gammaincinv": (between(1, 2), between(0.2, 0.8)),
    "hyp2f1": (between(1, 2), between(1, 2), between(2, 3), between(0.2, 0.8)),
    "jn": (np.array([1, 2, 0, 1]), between(0.5, 2)),
    **{
        name: (between(1, 2), between(0.5, 2))
        for name in "gammainc gammaincc poch jv yv iv kv beta betaln kl_div rel_entr xlogy xlog1py".split()
    },
    **dict.fromkeys(["boxcox", "hyp0f1"], (between(1, 2), between(0.5, 2))),
}

OF_KEYWORDS = [
    ("numpy.sum", (SQUARE,), {"axis": 0}),
    ("numpy.sum", (SQUARE,), {"axis": (0, 1), "keepdims": True}),
    ("numpy.mean", (SQUARE,), {"axis": -1}),
    ("numpy.prod", (SQUARE,), {"axis": 1}),
    ("numpy.cumsum", (SQUARE,), {"axis": 1}),
    ("numpy.trace", (SQUARE,), {"offset": 1}),
    ("numpy.trace", (rng.normal(size=(2, 3, 3)),), {"axis1": 1, "axis2": 2}),
    ("numpy.linalg.norm", (SQUARE,), {"ord": 1, "axis": 1}),
    ("numpy.linalg.norm", (SQUARE,), {"ord": "nuc"}),
    ("numpy.linalg.norm", (SQUARE,), {"axis": 0, "keepdims": True}),
    ("numpy.cross", (rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": -1}),
    ("numpy.std", (SQUARE,), {"axis": 0, "ddof": 1}),
    ("numpy.median", (SQUARE,), {"axis": 1, "keepdims": True}),
    ("numpy.sort", (SQUARE,), {"axis": 0}),
    ("numpy.roll", (SQUARE,), {"shift": 2, "axis": 1}),
    ("numpy.triu", (SQUARE,), {"k": 1}),
    ("numpy.transpose", (CUBE,), {"axes": (1, 2, 0)}),
    ("numpy.tensordot", (CUBE, CUBE), {"axes": ((0, 1), (0, 1))}),
    ("numpy.convolve", (ROW, OTHER), {"mode": "same"}),
    ("numpy.correlate", (between(1, 2), OTHER), {"mode": "full"}),
    ("numpy.diff", (SQUARE,), {"n": 2, "axis": 0}),
    ("numpy.fft.irfft", (SQUARE,), {"n": 7, "axis": 0, "norm": "ortho"}),
    ("numpy.fft.rfftn", (CUBE,), {"axes": (0, 2), "norm": "forward"}),
    ("scipy.fft.dct", (SQUARE,), {"type": 2, "norm": "ortho"}),
    ("scipy.signal.convolve", (SQUARE, POSITIVE), {"mode": "same"}),
    ("scipy.special.logsumexp", (SQUARE,), {"axis": 0, "keepdims": True}),
    ("scipy.special.softmax", (SQUARE,), {"axis": 1}),
    ("scipy.special.log_softmax", (SQUARE,), {"axis": 0}),
    ("scipy.linalg.solve_triangular", (UPPER.T, ROW), {"lower": True}),
    ("scipy.linalg.solve_triangular", (UPPER, ROW), {"trans": 1}),
    ("scipy.linalg.solve_triangular", (UPPER, ROW), {"unit_diagonal": True}),
]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def member(origin: str) -> Callable:
    module, _, name = origin.rpartition(".")
    return getattr(importlib.import_module(module), name)


def arguments(origin: str, known: object) -> tuple[np.ndarray, ...]:
    name = origin.rpartition(".")[2]
    if name in OF_LAST_NAME:
        return OF_LAST_NAME[name]
    count = known.arrays if isinstance(known, Twin) else len(getattr(known, "texts", "1"))
    return tuple(between(0.2, 0.8) for _ in range(count))


def as_jax(origin: str, keywords: dict | None = None) -> Callable:
    """The function of JAX's that a twin or a formula is."""
    known = DERIVATIVES[origin]
    if isinstance(known, Twin):
        function = member(known.origin)
        return lambda *given: function(*given, **(keywords or {}))
    assert isinstance(known, Formula)
    text = known.text.format("x", jnp="jnp")
    return eval(f"lambda x: {text}", {"jnp": jnp})


def slopes_of(known: Slopes) -> list[Callable | None]:
    """The slopes as functions of the arguments and the result, with the host's functions called back."""

    def compiled(text: str) -> Callable:
        expression = re.sub(r"\{host:([\w.]+)\}\(", r"call_host(member('\1'), result, ", text)
        expression = re.sub(r"\{jax:([\w.]+)\}", r"member('\1')", expression)
        operands = [f"given[{index}]" for index in range(len(known.texts))]
        expression = expression.format(*operands, result="result", jnp="jnp")
        names = {"member": member, "call_host": call_host, "jnp": jnp}
        return eval(f"lambda result, *given: {expression}", names)

    return [compiled(text) if text is not None else None for text in known.texts]


def call_host(function: Callable, like: jax.Array, *given: jax.Array) -> jax.Array:
    spec = jax.ShapeDtypeStruct(like.shape, like.dtype)

    def in_its_dtype(*arrays: np.ndarray) -> np.ndarray:
        return function(*arrays).astype(like.dtype)

    return jax.pure_callback(in_its_dtype, spec, *given, vmap_method="expand_dims")


def assert_gradients_agree(host: Callable, function: Callable, given: tuple[np.ndarray, ...]) -> None:
    """Compares JAX's gradient of a weighted sum of the results with the host's central differences."""
    weights = [weight(leaf) for leaf in jax.tree.leaves(host(*given))]
    floats = [index for index, each in enumerate(given) if each.dtype.kind == "f"]

    def weighted(results: object) -> object:
        leaves = jax.tree.leaves(results)
        return sum((w * leaf).sum().real for w, leaf in zip(weights, leaves, strict=True))

    found = jax.grad(lambda *g: weighted(function(*g)), argnums=floats)(*map(jnp.asarray, given))
    for index, gradient in zip(floats, found, strict=True):
        expected = np.empty_like(given[index])
        for element in np.ndindex(expected.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = given[index].copy()
                moved[element] += step
                ends.append(weighted(host(*given[:index], moved, *given[index + 1 :])))
            expected[element] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def weight(leaf: object) -> np.ndarray:
    shape = np.shape(leaf)
    return rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.iscomplexobj(leaf) else 0)


def of_arrays(function: Callable, given: tuple) -> tuple[Callable, tuple[np.ndarray, ...]]:
    """The function of nothing but the arrays among its arguments, and those."""
    leaves, tree = jax.tree.flatten(given)
    arrays = [index for index, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)]

    def called(*moved: object) -> object:
        replaced = dict(zip(arrays, moved, strict=True))
        return function(*jax.tree.unflatten(tree, [replaced.get(i, leaf) for i, leaf in enumerate(leaves)]))

    return called, tuple(leaves[index] for index in arrays)


TWINS = [origin for origin, known in DERIVATIVES.items() if not isinstance(known, Slopes)]
SLOPES = [origin for origin, known in DERIVATIVES.items() if isinstance(known, Slopes)]


@pytest.mark.parametrize("origin", TWINS)
def test_a_twin_has_the_values_and_the_derivative_of_the_host_function(origin):
    known, given = DERIVATIVES[origin], arguments(origin, DERIVATIVES[origin])
    function, arrays = of_arrays(as_jax(origin), given)
    host, _ = of_arrays(member(origin), given)
    expected, found = host(*arrays), function(*map(jnp.asarray, arrays))
    results = known.results if isinstance(known, Twin) else ()
    assert isinstance(expected, tuple if results else np.ndarray | np.floating)
    assert len(jax.tree.leaves(expected)) == len(jax.tree.leaves(found)) == len(results or (1,))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-10)
    if not np.isnan(np.concatenate(list(map(np.ravel, arrays)))).any():
        check_grads(function, tuple(map(jnp.asarray, arrays)), order=1, modes=["fwd"])
    assert_gradients_agree(host, function, arrays)  # in reverse mode


@pytest.mark.parametrize(
    ("origin", "given", "keywords"), OF_KEYWORDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_keywords_mean_the_same_to_a_twin(origin, given, keywords):
    host, function = member(origin), as_jax(origin, keywords)

    def with_keywords(*g: np.ndarray) -> object:
        return host(*g, **keywords)

    found, expected = function(*map(jnp.asarray, given)), with_keywords(*given)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)
    assert_gradients_agree(with_keywords, function, given)


def test_a_slope_that_is_not_known_leaves_but_one_that_is():
    """A forward rule that asks whether the others are differentiated takes one tangent for granted."""
    for origin in SLOPES:
        texts = DERIVATIVES[origin].texts
        assert None not in texts or sum(text is not None for text in texts) == 1


def test_each_keyword_is_tried():
    assert {name for _, _, keywords in OF_KEYWORDS for name in keywords} == KEYWORDS


@pytest.mark.parametrize("origin", SLOPES)
def test_slopes_are_the_derivative_of_the_host_function(origin):
    host, known = member(origin), DERIVATIVES[origin]
    given = arguments(origin, known)
    slopes = slopes_of(known)
    moving = [index for index, slope in enumerate(slopes) if slope is not None]

    @jax.custom_jvp
    def function(*given: jax.Array) -> jax.Array:
        spec = jax.ShapeDtypeStruct(given[-1].shape, given[-1].dtype)
        return jax.pure_callback(host, spec, *given, vmap_method="expand_dims")

    @function.defjvp
    def rule(primals, tangents):
        result = function(*primals)
        return result, sum(slopes[index](result, *primals) * tangents[index] for index in moving)

    def moved(*arrays: jax.Array) -> jax.Array:
        replaced = dict(zip(moving, arrays, strict=True))
        return function(*(replaced.get(i, jnp.asarray(each)) for i, each in enumerate(given)))

    at = tuple(given[index] for index in moving)
    check_grads(moved, tuple(map(jnp.asarray, at)), order=1, modes=["fwd"])

    def with_others(*arrays: np.ndarray) -> object:
        replaced = dict(zip(moving, arrays, strict=True))
        return host(*(replaced.get(index, each) for index, each in enumerate(given)))

    assert_gradients_agree(with_others, moved, at)


@pytest.mark.parametrize("origin", [each for each in SLOPES if len(DERIVATIVES[each].texts) == 1])
def test_a_slope_is_as_smooth_near_zero_as_its_function(origin):
    host, (slope,) = member(origin), slopes_of(DERIVATIVES[origin])
    ends = host(np.array([-1e-5, 1e-5]))
    if not np.isfinite(host(np.array([0.0, *ends, 1e-9]))).all() or not np.isfinite(ends).all():
        return  # it has no value at zero, or none beside it
    expected = (ends[1] - ends[0]) / 2e-5
    for dtype, near, tolerance in ((np.float64, 1e-9, 1e-6), (np.float32, 1e-6, 1e-5)):
        given = np.array([0, near, -near], dtype)
        found = slope(jnp.asarray(host(given)), jnp.asarray(given))
        np.testing.assert_allclose(found, np.full(3, expected), rtol=tolerance, atol=2 * near)
