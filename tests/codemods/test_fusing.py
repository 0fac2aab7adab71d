"""`--fuse`: which ufuncs compute straight into their outputs, what that looks like, and how strict it is."""

from __future__ import annotations

import itertools
import textwrap
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from codemods import hostlib
from codemods.engine import migrate
from codemods.model import Options, Status
from codemods.project import Project
from codemods.source import SourceFile

HEADER = "import functools\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n"
LIKE_X = "jax.ShapeDtypeStruct(x.shape, x.dtype)"
LIKE_Y = "jax.ShapeDtypeStruct(y.shape, y.dtype)"
CALL = f"def run(x, y):\n    return jax.pure_callback(_host, {LIKE_X}, x)\n"


def migrated(text: str, **options: Any) -> str:
    path = Path("program.py")
    source = SourceFile.from_bytes(path, (HEADER + textwrap.dedent(text)).encode())
    result = migrate(source, Project(()), Options(fuse=True, gradients="never", **options))
    assert result.error is None
    assert {site.status for site in result.sites} == {Status.REWRITTEN}, result.sites
    return result.after.decode()


def fused(text: str, **options: Any) -> list[str]:
    """The outputs that ufuncs compute into, in order."""
    found = migrated(text, **options).split("out=np.asarray(")[1:]
    return [each.partition(")")[0] for each in found]


# ------------------------------------------------------------------------------- the callback


def host(body: str, parameter: str = "a") -> str:
    return f"def _host({parameter}):\n{textwrap.indent(body, '    ')}\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return np.sin(a)", id="a ufunc of an argument"),
        pytest.param("return (np.sin(a))", id="in parentheses"),
        pytest.param("return np.sin(np.exp(a))", id="of another ufunc's result"),
        pytest.param("return np.sin(np.asarray(a))", id="of a conversion"),
        pytest.param("a = np.asarray(a)\nreturn np.sin(a)", id="of an argument that is converted"),
        pytest.param("a, n = np.asarray(a), 1\nreturn np.sin(a)", id="of one that is converted among others"),
        pytest.param("b = np.array(a)\nreturn np.sin(b)", id="of a copy in another variable"),
        pytest.param("b = np.exp(a)\nc = np.cos(b)\nreturn np.add(b, c)", id="of variables"),
        pytest.param("return np.multiply(a, a)", id="of an argument with itself"),
        pytest.param("return np.multiply(a, 2.0)", id="with a number"),
        pytest.param("return np.power(-2, a)", id="with a number in front"),
        pytest.param("for _ in range(2):\n    return np.sin(a)\nreturn np.cos(a)", id="in a loop"),
        pytest.param("with LOCK:\n    return np.sin(a)", id="in a lock"),
    ],
)
def test_ufuncs_of_the_argument_compute_into_the_output(body: str):
    text = "import threading\nLOCK = threading.Lock()\n" + host(body) + CALL
    assert set(fused(text)) == {"out"}
    assert "out[...]" not in migrated(text)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return np.cumsum(np.asarray(a))", id="no ufunc"),
        pytest.param("return np.isfinite(a)", id="a ufunc of another dtype"),
        pytest.param("return np.float_power(a, 2)", id="one that widens"),
        pytest.param("return np.matmul(a, a)", id="one of another shape"),
        pytest.param("return np.divmod(a, a)[0]", id="one of two results"),
        pytest.param("return np.add.reduce(np.asarray(a))", id="a method of a ufunc"),
        pytest.param("return np.sin(a, dtype=np.float32)", id="a keyword"),
        pytest.param("return np.sin(a, where=True)", id="a condition"),
        pytest.param("return np.sin(np.cos(a, dtype=np.float32))", id="a keyword of an operand"),
        pytest.param("return np.sin(a, None)", id="an output by position"),
        pytest.param("return np.sin(*[np.asarray(a)])", id="a star"),
        pytest.param("return np.sin(np.asarray(a)[0])", id="an item"),
        pytest.param("return np.sin(np.asarray(a, np.float64))", id="a conversion to a dtype"),
        pytest.param("return np.sin(np.asarray(a).T)", id="a transpose"),
        pytest.param("return np.sin(1.0)", id="a number alone"),
        pytest.param("return np.add(a, True)", id="a truth value"),
        pytest.param("return np.add(a, np.float64(1))", id="a scalar of NumPy"),
        pytest.param("return np.add(a, BIAS)", id="a constant of the module"),
        pytest.param("return np.add(a, np.ones(3, np.float32))", id="an array that may be smaller or larger"),
        pytest.param("return np.sin(a) if BIAS else np.cos(a)", id="a choice"),
        pytest.param("return -np.sin(a)", id="an operator"),
        pytest.param("return np.sin(a).astype(np.float32)", id="a cast"),
        pytest.param("r = np.sin(a)\nreturn r", id="a result that has a name"),
        pytest.param(
            "if BIAS:\n    a = np.ones(1)\nreturn np.sin(a)", id="an argument bound to something else"
        ),
        pytest.param("b = np.asarray(a)\nb = b[:1]\nreturn np.sin(b)", id="a variable that is bound twice"),
        pytest.param("b = np.exp(a)\nb.shape = (1, -1)\nreturn np.sin(b)", id="a shape that is set"),
        pytest.param("b = np.exp(a)\nc = b\nc.shape = (1, -1)\nreturn np.sin(b)", id="by another name"),
        pytest.param("b = np.exp(a)\nb.resize(1)\nreturn np.sin(b)", id="an array that is resized"),
        pytest.param("b = c = np.exp(a)\nreturn np.sin(b)", id="two names for one array"),
        pytest.param("for b in [np.exp(a)]:\n    pass\nreturn np.sin(b)", id="a loop variable"),
        pytest.param("global b\nb = np.exp(a)\nreturn np.sin(b)", id="a variable of the module"),
    ],
)
def test_other_results_are_written_as_they_are(body: str):
    text = "BIAS = 1.0\n" + host(body) + CALL
    assert fused(text) == []


def test_a_value_kept_behind_a_block_is_not_fused():
    body = "try:\n    return np.sin(a)\nexcept ValueError:\n    raise TypeError from None"
    assert "result = np.sin(a)" in migrated(host(body) + CALL)


def test_an_array_that_may_have_ways_of_its_own_is_not_fused():
    """A class that is a pytree of arrays may know ufuncs, but not `out=`."""
    body = host("return np.add(a, 1)\n")
    assert fused(body + CALL) == ["out"]  # which `np.asarray` makes an array
    assert fused(body + CALL, target="jax") == []  # which maps over what may be a pytree
    assert fused(body + CALL.replace(", x)", ", jnp.asarray(x))"), target="jax") == ["out"]
    converted = host("if a is None:\n    a = np.asarray(a)\nreturn np.add(a, 1)\n")
    assert fused(converted + CALL, target="jax") == []
    assert fused(host("a = np.asarray(a)\nreturn np.add(a, 1)\n") + CALL, target="jax") == ["out"]


# ------------------------------------------------------------------------------- the call sites

SIN = host("return np.sin(a)")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)", id="a spec"),
        pytest.param(
            "jax.pure_callback(_host, jax.ShapeDtypeStruct(dtype=x.dtype, shape=x.shape), x)", id="by keyword"
        ),
        pytest.param(
            "jax.pure_callback(_host, jax.ShapeDtypeStruct(jnp.shape(x), x.dtype), x)",
            id="a function's shape",
        ),
        pytest.param("jax.pure_callback(_host, jnp.zeros_like(x), x)", id="an array like it"),
        pytest.param("jax.pure_callback(_host, jax.core.ShapedArray(x.shape, x.dtype), x)", id="an aval"),
        pytest.param("jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), a=x)", id="a keyword"),
        pytest.param(
            "jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), jnp.asarray(x))", id="converted"
        ),
        pytest.param(
            "jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), jax.lax.stop_gradient(x))",
            id="behind stop_gradient",
        ),
        pytest.param(
            "[jax.pure_callback(_host, jax.ShapeDtypeStruct(v.shape, v.dtype), v) for v in x]",
            id="a variable of a comprehension",
        ),
    ],
)
def test_a_spec_like_the_argument_proves_its_shape_and_dtype(call: str):
    assert fused(SIN + f"def run(x, y):\n    return {call}\n") == ["out"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"spec = {LIKE_X}\ncall(_host, spec, x)", id="the spec"),
        pytest.param(
            "s, d = x.shape, x.dtype\ncall(_host, SDS(x.shape, x.dtype), x)", id="that are not used"
        ),
        pytest.param("s = x.shape\nd = x.dtype\ncall(_host, SDS(s, d), x)", id="shape and dtype"),
        pytest.param("z = y * 2\nspec = SDS(z.shape, z.dtype)\ncall(_host, spec, z)", id="the argument"),
        pytest.param(f"spec = {LIKE_X}\ndef inner():\n    call(_host, spec, x)", id="of a function around"),
        pytest.param("z = jnp.zeros(3)\ncall(_host, z, z)", id="an example array"),
        pytest.param(f"for _ in y:\n    spec = {LIKE_X}\n    call(_host, spec, x)", id="in a loop"),
    ],
)
def test_variables_of_a_spec_are_followed(body: str):
    body = body.replace("call(", "jax.pure_callback(").replace("SDS", "jax.ShapeDtypeStruct")
    assert fused(SIN + f"def run(x, y):\n{textwrap.indent(body, '    ')}\n") == ["out"]


def test_a_dtype_that_the_argument_shows_is_known():
    text = (
        SIN + "def run(x):\n    z = jnp.sin(x).astype({})\n"
        "    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, jnp.float32), z)\n"
    )
    assert fused(text.format("jnp.float32")) == ["out"]
    assert fused(text.format("jnp.float16")) == fused(text.format("jnp.float64")) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("call(_host, SDS(y.shape, y.dtype), x)", id="a spec like another array"),
        pytest.param("call(_host, SDS(x.shape, y.dtype), x)", id="another array's dtype"),
        pytest.param("call(_host, SDS(y.shape, x.dtype), x)", id="another array's shape"),
        pytest.param("call(_host, SDS(x.shape[1:], x.dtype), x)", id="a part of the shape"),
        pytest.param("call(_host, SDS((3,), jnp.float32), x)", id="a literal"),
        pytest.param("call(_host, SDS(x.shape, x.dtype), x[:1])", id="a part of the argument"),
        pytest.param("call(_host, SDS(x.shape, x.dtype), x + y)", id="a sum, which may be larger"),
        pytest.param("call(_host, SDS(x.shape, x.dtype), jnp.asarray(x, jnp.float16))", id="a cast"),
        pytest.param("call(_host, SDS(x.shape, x.dtype), *[x])", id="a star"),
        pytest.param("call(_host, SDS(x.shape, x.dtype, sharding=y), x)", id="a keyword more"),
        pytest.param("call(_host, jnp.zeros_like(x, shape=y), x)", id="an array of another shape"),
        pytest.param("call(_host, jnp.zeros(3), x)", id="an example array"),
        pytest.param("call(_host, x, x)", id="a spec that may be a pytree"),
        pytest.param("call(_host, SPEC, x)", id="a spec of the module"),
        pytest.param("p = functools.partial(call, _host, SDS(x.shape, x.dtype))\np(x)", id="a partial"),
        pytest.param("spec = SDS(x.shape, x.dtype)\nx = x[:1]\ncall(_host, spec, x)", id="an older x"),
        pytest.param("spec = SDS(x.shape, x.dtype)\nx += y\ncall(_host, spec, x)", id="an x that grew"),
        pytest.param(
            "for z in y:\n    if x is y:\n        spec = SDS(z.shape, z.dtype)\n    call(_host, spec, z)",
            id="a spec of an earlier round",
        ),
        pytest.param(
            "while y:\n    z = f(y)\n    if x:\n        s = z.shape\n    call(_host, SDS(s, z.dtype), z)",
            id="a shape of an earlier round",
        ),
        pytest.param(
            "global spec\nif x is y:\n    spec = SDS(x.shape, x.dtype)\ncall(_host, spec, x)",
            id="a spec of an earlier call",
        ),
        pytest.param(
            "spec = SDS(x.shape, x.dtype)\ndef inner(x):\n    call(_host, spec, x)", id="another one's x"
        ),
        pytest.param(
            "call(_host, SDS(x.shape, x.dtype), x)\ncall(_host, SDS(y.shape, x.dtype), y)",
            id="one of two call sites",
        ),
    ],
)
def test_other_specs_prove_nothing(body: str):
    body = body.replace("call", "jax.pure_callback").replace("SDS", "jax.ShapeDtypeStruct")
    text = "SPEC = jax.ShapeDtypeStruct((3,), jnp.float32)\n" + SIN
    assert fused(text + f"def run(x, y):\n{textwrap.indent(body, '    ')}\n") == []


def test_both_operands_must_be_shown():
    text = host("return np.add(a, b)", "a, b") + "def run(x, y):\n"
    call = "    return jax.pure_callback(_host, {}, {})\n"
    assert fused(text + call.format(LIKE_X, "x, y")) == []
    assert fused(text + call.format(LIKE_X, "x, x")) == ["out"]
    assert fused(text + call.format(LIKE_X, "x, jnp.asarray(x)")) == ["out"]
    assert fused(text + call.format(LIKE_X, "x, jnp.sin(x)")) == []  # of floats, if x is of integers


# Whether an argument goes on to have the output's shape if it is not batched and another one is.
METHODS = {
    "": True,
    ", vmap_method=None": True,
    ', vmap_method="sequential"': True,
    ', vmap_method="sequential_unrolled"': True,
    ', vmap_method="broadcast_all"': True,
    ", vectorized=False": True,
    ', vmap_method="expand_dims"': False,
    ', vmap_method="legacy_vectorized"': False,
    ", vmap_method=METHOD": False,
    ", vectorized=True": False,
    ", vectorized=METHOD": False,
}


@pytest.mark.parametrize("option", METHODS)
def test_vmap_may_leave_an_argument_without_the_axis_of_the_output(option: str):
    text = "METHOD = 'expand_dims'\n" + host("return np.multiply(a, 2.0)", "a, b=0")
    call = f"def run(x, y):\n    return jax.pure_callback(_host, {LIKE_X}, {{}}{option})\n"
    assert fused(text + call.format("x, y")) == (["out"] if METHODS[option] else [])
    for alone in ("x", "x, 3.0", "x, x", "x, b=x"):
        assert fused(text + call.format(alone)) == ["out"]


def test_the_default_vmap_method_counts():
    text = host("return np.sin(a)", "a, b") + CALL.replace(", x)", ", x, y)")
    assert fused(text) == fused(text, default_vmap_method="broadcast_all") == ["out"]
    assert fused(text, default_vmap_method="expand_dims") == []
    text = text.replace("jax.pure_callback", "jax.experimental.io_callback")
    assert fused(text, default_vmap_method="expand_dims", apis=("io_callback",)) == ["out"]


# ------------------------------------------------------------------------------- the text


@pytest.mark.parametrize(
    ("returned", "written"),
    [
        pytest.param("np.sin(a)", 'np.sin(a, out=np.asarray(out), casting="no")', id="one operand"),
        pytest.param(
            "np.add(a, a)  # twice",
            'np.add(a, a, out=np.asarray(out), casting="no")\nreturn  # twice',
            id="a comment behind it",
        ),
        pytest.param(
            "np.sin(\n    a,  # radians\n)",
            'np.sin(\n    a,  # radians\n    out=np.asarray(out),\n    casting="no",\n)',
            id="an argument a line",
        ),
        pytest.param(
            "np.sin(\n    a\n)",
            'np.sin(\n    a, out=np.asarray(out), casting="no"\n)',
            id="on one line inside",
        ),
        pytest.param(
            "np.sin(\n    a,\n    # the end\n)",
            'np.sin(\n    a,\n    out=np.asarray(out),\n    casting="no",\n    # the end\n)',
            id="a comment at the end",
        ),
        pytest.param(
            "np.add(a,\n              a)",
            'np.add(a,\n       a, out=np.asarray(out), casting="no")',
            id="aligned",
        ),
        pytest.param("np.sin(a,)", 'np.sin(a, out=np.asarray(out), casting="no",)', id="a comma"),
        pytest.param("(np.sin(a))", 'np.sin(a, out=np.asarray(out), casting="no")', id="parentheses"),
        pytest.param(
            "(\n    # smooth\n    np.sin(a)\n)",
            '(\n    # smooth\n    np.sin(a, out=np.asarray(out), casting="no")\n)',
            id="parentheses with a comment",
        ),
        pytest.param(
            "np.logaddexp(np.tanh(np.asarray(a)), np.subtract(np.asarray(a), 10.0))",
            "np.logaddexp(\n    np.tanh(np.asarray(a)), np.subtract(np.asarray(a), 10.0), "
            'out=np.asarray(out), casting="no"\n)',
            id="too long for one line",
        ),
    ],
)
def test_the_call_keeps_its_layout(returned: str, written: str):
    text = migrated(host(f"a = np.asarray(a)\nreturn {returned}") + CALL)
    written += "" if "return" in written else "\nreturn"
    assert textwrap.indent(f"a = np.asarray(a)\n{written}\n", "    ") in text


def test_each_leaf_has_a_write_of_its_own():
    spec = f"({LIKE_X}, {LIKE_X}, {LIKE_X})"
    text = host("return np.sin(a), np.isfinite(a), np.cos(a)") + CALL.replace(LIKE_X, spec)
    assert """
    np.sin(a, out=np.asarray(out[0]), casting="no")
    out[1][...] = np.isfinite(a)
    np.cos(a, out=np.asarray(out[2]), casting="no")
    return
""" in migrated(text)
    other = text.replace(spec, f"({LIKE_Y}, {LIKE_X}, {LIKE_X})")
    assert fused(other) == ["out[2]"]
    assert fused(text, target="jax") == []
    assert fused(text.replace(", x)\n", ", jnp.asarray(x))\n"), target="jax") == ["out[0]", "out[2]"]


def test_a_dict_goes_by_its_keys():
    spec = f'{{"s": {LIKE_X}, "c": {LIKE_Y}}}'
    text = host('return {"c": np.cos(a), "s": np.sin(a)}') + CALL.replace(LIKE_X, spec)
    assert fused(text) == ['out["s"]']


def test_a_lambda_is_fused():
    text = f"def run(x):\n    return jax.pure_callback(lambda a: np.sin(a), {LIKE_X}, x)\n"
    assert 'np.sin(a, out=np.asarray(out), casting="no")\n        return\n' in migrated(text)


def test_nothing_is_generated_that_is_not_used():
    text = host("a = np.asarray(a)\nreturn np.sin(a)") + CALL
    assert "def _to_numpy" in migrated(text, target="jax")
    assert "def _store_results" not in migrated(text, target="jax")
    both = host("a = np.asarray(a)\nif a.size:\n    return np.sin(a)\nreturn np.sort(a)") + CALL
    assert "def _store_results" in migrated(both, target="jax")


def test_numpy_gets_a_name_where_it_has_none():
    text = "from numpy import asarray, sin\ndef _host(a):\n    return sin(asarray(a))\n" + CALL
    path = Path("program.py")
    source = SourceFile.from_bytes(path, f"import jax\n{text}".encode())
    after = migrate(source, Project(()), Options(fuse=True)).after.decode()
    assert "import numpy as np\n" in after
    assert 'sin(asarray(a), out=np.asarray(out), casting="no")' in after


def test_a_sibling_and_an_unasked_run_fuse_nothing():
    assert fused(SIN.replace("_host", "host") + CALL.replace("_host", "host")) == []
    assert fused(SIN.replace("_host", "host") + CALL.replace("_host", "host"), public=True) == ["out"]
    path = Path("program.py")
    source = SourceFile.from_bytes(path, (HEADER + SIN + CALL).encode())
    assert "out[...] = np.sin(a)" in migrate(source, Project(()), Options()).after.decode()


# ------------------------------------------------------------------------------- as strict

DTYPES = [
    *map(np.dtype, "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()),
    *map(np.dtype, ("complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.int2, ml_dtypes.uint2)),
    *map(np.dtype, (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)),
    *map(np.dtype, (ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3b11fnuz)),
]
NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
NUMBERS = (2, -1, 300, 1 << 40, 2.0, 1e300, 1j)


def result_of(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """What a ufunc gives; None if it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **keywords)
        except (TypeError, ValueError, OverflowError):
            return None


def check_strict(
    function: Any, arguments: tuple[Any, ...], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    """The ufunc writes what the strict write would, with 64 bits or without, or raises as that would."""
    value, out = result_of(function, *arguments), np.zeros(shape, dtype)
    written = result_of(function, *arguments, out=out, casting="no")
    for is_wide in (True, False):
        if dtype.name in NARROWED and not is_wide:
            continue
        given = None if value is None else value.dtype.name
        is_accepted = dtype.name == (given if is_wide or given is None else NARROWED.get(given, given))
        assert is_accepted == (written is not None), (function, dtype, arguments, is_wide)
    if written is not None:
        assert out.tobytes() == np.asarray(value).tobytes()


@pytest.mark.parametrize("name", sorted(hostlib.ELEMENTWISE))
def test_a_ufunc_is_as_strict_as_the_write_for_every_dtype(name: str):
    function = getattr(np, name.removeprefix("numpy."))
    assert function.nin == (2 if name in hostlib.BINARY else 1) and function.nout == 1
    assert function.signature is None
    for dtype, shape in itertools.product(DTYPES, ((3,), ())):
        x = np.full(shape, 1, dtype)
        if function.nin == 1:
            check_strict(function, (x,), dtype, shape)
            continue
        check_strict(function, (x, x), dtype, shape)
        for number in NUMBERS:
            check_strict(function, (x, number), dtype, shape)
            check_strict(function, (number, x), dtype, shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_so_are_ufuncs_of_ufuncs(dtype: np.dtype[Any]):
    unary = [getattr(np, n.removeprefix("numpy.")) for n in sorted(hostlib.ELEMENTWISE - hostlib.BINARY)]
    x = np.full(2, 1, dtype)
    made = {value.dtype: value for inner in unary if (value := result_of(inner, x)) is not None}
    made |= {v.dtype: v for n in NUMBERS if (v := result_of(np.add, x, n)) is not None}
    for outer, operand in itertools.product(unary, made.values()):
        check_strict(outer, (operand,), dtype, (2,))
