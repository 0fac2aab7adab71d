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
    "arccosh": (between(1.2, 2),),
    "jn": (np.array([1, 2, 0, 1]), between(0.5, 2)),
    **{
        name: (between(1, 2), between(0.5, 2))
        for name in "gammainc gammaincc poch jv yv iv kv beta betaln kl_div rel_entr xlogy xlog1py".split()
    },
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
        expression = expression.format("given[0]", "given[-1]", result="result", jnp="jnp")
        names = {"member": member, "call_host": call_host, "jnp": jnp}
        return eval(f"lambda result, *given: {expression}", names)

    return [compiled(text) if text is not None else None for text in known.texts]


def call_host(function: Callable, like: jax.Array, *given: jax.Array) -> jax.Array:
    spec = jax.ShapeDtypeStruct(like.shape, like.dtype)
    return jax.pure_callback(function, spec, *given, vmap_method="expand_dims")


def assert_gradients_agree(host: Callable, function: Callable, given: tuple[np.ndarray, ...]) -> None:
    """Compares JAX's gradient of a weighted sum of the results with the host's central differences."""
    weights = [rng.normal(size=np.shape(leaf)) for leaf in jax.tree.leaves(host(*given))]
    floats = [index for index, each in enumerate(given) if each.dtype.kind == "f"]

    def weighted(results: object) -> object:
        return sum((w * leaf).sum() for w, leaf in zip(weights, jax.tree.leaves(results), strict=True))

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


TWINS = [origin for origin, known in DERIVATIVES.items() if not isinstance(known, Slopes)]
SLOPES = [origin for origin, known in DERIVATIVES.items() if isinstance(known, Slopes)]


@pytest.mark.parametrize("origin", TWINS)
def test_a_twin_has_the_values_and_the_derivative_of_the_host_function(origin):
    host, function = member(origin), as_jax(origin)
    given = arguments(origin, DERIVATIVES[origin])
    expected = host(*given)
    assert isinstance(expected, np.ndarray | np.floating)  # one array, whatever the keywords
    np.testing.assert_allclose(function(*map(jnp.asarray, given)), expected, rtol=1e-6, atol=1e-10)
    check_grads(function, tuple(map(jnp.asarray, given)), order=1)
    assert_gradients_agree(host, function, given)


@pytest.mark.parametrize(
    ("origin", "given", "keywords"), OF_KEYWORDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_keywords_mean_the_same_to_a_twin(origin, given, keywords):
    host, function = member(origin), as_jax(origin, keywords)

    def with_keywords(*g: np.ndarray) -> object:
        return host(*g, **keywords)

    np.testing.assert_allclose(function(*map(jnp.asarray, given)), with_keywords(*given), rtol=1e-6)
    assert_gradients_agree(with_keywords, function, given)


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
    check_grads(moved, tuple(map(jnp.asarray, at)), order=1)

    def with_others(*arrays: np.ndarray) -> object:
        replaced = dict(zip(moving, arrays, strict=True))
        return host(*(replaced.get(index, each) for index, each in enumerate(given)))

    assert_gradients_agree(with_others, moved, at)
