"""Derivatives for calls that are differentiated: programs that raise before, and run after."""

from __future__ import annotations

import functools
import io
import json
import re
import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pyflakes.api
import pyflakes.reporter
import pytest
import scipy.special

from codemods import engine
from codemods.model import FileResult, Gradient, Options
from codemods.project import Project
from codemods.source import SourceFile

_PROGRAMS = runpy.run_path(str(Path(__file__).with_name("scaffold_programs.py")))
HEADER, KNOWN, UNKNOWN, PROTECTED = (_PROGRAMS[name] for name in ("HEADER", "KNOWN", "UNKNOWN", "PROTECTED"))
PROGRAMS = {
    **{f"unknown: {n}": t for n, t in UNKNOWN.items()},
    **{f"known: {n}": t for n, t in KNOWN.items()},
}
APIS = ("pure_callback", "io_callback")
TOLERANCES = {False: 1e-3, True: 1e-6}
each_program = pytest.mark.parametrize("name", PROGRAMS)
each_precision = pytest.mark.parametrize("x64", TOLERANCES, ids=["float32", "float64"])


def migrate(text: str, folder: Path, **options: object) -> FileResult:
    path = folder / "program.py"
    path.write_text(text)
    asked = Options(**{"apis": APIS, "gradients": "auto", **options})
    return engine.migrate(SourceFile.from_bytes(path, text.encode()), Project.of([path]), asked)


@pytest.fixture
def migrated(tmp_path):
    """`migrated(name, vjp=…)`: the text of a migrated program, each of whose sites got a scaffold."""

    def run(name: str, **options: object) -> str:
        result = migrate(HEADER + PROGRAMS[name], tmp_path, **options)
        assert result.error is None
        assert {site.gradient for site in result.sites} == {Gradient.SCAFFOLDED}
        return result.after.decode()

    return run


def run(text: str, call: str) -> object:
    """What an expression gives in the namespace of a program."""
    namespace = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), namespace)
    return eval(call, namespace)


def gradients(text: str, *, x64: bool) -> np.ndarray:
    with jax.enable_x64(x64):
        return flat(run(text, "gradients()"))


def flat(tree: object) -> np.ndarray:
    """The floats of a pytree, one behind the other."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree) if is_float(leaf)]
    return np.concatenate([np.ravel(leaf) for leaf in leaves]).astype(float)


def is_float(leaf: object) -> bool:
    dtype = leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype
    return jax.numpy.issubdtype(dtype, np.floating)


@functools.cache
def differences(text: str) -> np.ndarray:
    """The gradient of a program's `loss`, from its values alone, in double precision."""
    with jax.enable_x64(True):
        loss, arguments = run(text, "(loss, ARGUMENTS)")
        leaves, tree = jax.tree.flatten(arguments)
        slopes = []
        for index, leaf in enumerate(leaves):
            if not is_float(leaf):
                continue
            for element in np.ndindex(np.shape(leaf)):
                ends = []
                for step in (1e-6, -1e-6):
                    moved = np.array(leaf)
                    moved[element] += step
                    given = [*leaves[:index], jax.numpy.asarray(moved), *leaves[index + 1 :]]
                    ends.append(float(loss(*jax.tree.unflatten(tree, given))))
                slopes.append((ends[0] - ends[1]) / 2e-6)
        return np.array(slopes)


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


def new_findings(before: str, after: str) -> set[str]:
    found = []
    for text in (before, after):
        stream = io.StringIO()
        pyflakes.api.check(text, "program.py", pyflakes.reporter.Reporter(stream, stream))
        found.append({re.sub(r"^.*?:\d+:\d+:? ", "", line) for line in stream.getvalue().splitlines()})
    return found[1] - found[0]


# ----------------------------------------------------------------------------- every program


@each_program
def test_a_program_raises_before(name):
    with pytest.raises(ValueError, match="callbacks do not support JVP"):
        gradients(HEADER + PROGRAMS[name], x64=False)


@each_precision
@pytest.mark.parametrize("name", [f"known: {name}" for name in KNOWN])
def test_known_derivatives_agree_with_finite_differences(name, x64, migrated):
    assert_close(gradients(migrated(name), x64=x64), differences(HEADER + PROGRAMS[name]), TOLERANCES[x64])


@pytest.mark.parametrize("name", [f"unknown: {name}" for name in UNKNOWN])
def test_finite_differences_agree_with_those_of_the_whole_loss(name, migrated):
    """Those of the runtime, whose accuracy in each precision its own tests show."""
    found = gradients(migrated(name, vjp="finite-difference"), x64=False)
    assert_close(found, differences(HEADER + PROGRAMS[name]), TOLERANCES[False])


@pytest.mark.parametrize("name", [f"unknown: {name}" for name in UNKNOWN])
def test_a_rule_to_be_filled_in_raises_and_names_itself_and_where_gradients_come_from(name, migrated):
    text = migrated(name)
    with pytest.raises(NotImplementedError) as error:
        gradients(text, x64=False)
    rule, what, transform, line = re.fullmatch(
        r"(\w+): fill in the (cotangents? of .+|tangent of the result), then delete this line\. "
        r"Gradients reach it from ([\w.]+) \(program\.py:(\d+)\)\.",
        str(error.value),
    ).groups()
    assert f"def {rule}(" in text
    assert transform in text.splitlines()[int(line) - 1]
    assert what


@pytest.mark.parametrize("name", [f"unknown: {name}" for name in UNKNOWN])
def test_zeros_run_and_stand_under_a_warning(name, migrated):
    text = migrated(name, vjp="zeros")
    assert "# WARNING: " in text
    assert np.isfinite(gradients(text, x64=False)).all()


@each_program
@pytest.mark.parametrize("vjp", ["raise", "zeros", "finite-difference"])
def test_scaffolds_are_clean_and_stay_as_they_are(name, vjp, migrated, tmp_path):
    text = migrated(name, vjp=vjp)
    assert new_findings(HEADER + PROGRAMS[name], text) == set()
    assert migrate(text, tmp_path, vjp=vjp).after.decode() == text


@each_program
def test_values_stay_the_same(name, migrated):
    texts = [HEADER + PROGRAMS[name], migrated(name)]
    before, after = (flat(run(text, "loss(*ARGUMENTS)")) for text in texts)
    assert before.tolist() == after.tolist()


def is_for_jax(name: str) -> bool:
    """Whether JAX has what the program needs: it has nothing to adapt a callback with."""
    return name not in {
        "unknown: adapted callback",
        "unknown: callback is a parameter",
        "unknown: keyword arguments",
        "unknown: nested callback",
        "known: expression of JAX's arithmetic",
        "known: expression of several arguments",
        "known: library function",
        "known: library function with keywords bound",
    }


@pytest.mark.parametrize("name", [name for name in PROGRAMS if is_for_jax(name)])
def test_jax_as_the_target(name, migrated):
    text = migrated(name, target="jax", vjp="finite-difference")
    assert "bufcb" not in text
    assert new_findings(HEADER + PROGRAMS[name], text) == set()
    if name.startswith("unknown") or "_call_host" in text:  # else it is what the runtime would run
        assert_close(gradients(text, x64=True), differences(HEADER + PROGRAMS[name]), TOLERANCES[True])


# ----------------------------------------------------------------------------- numbers and higher orders


@pytest.mark.parametrize("body", ["np.sin(z)", "scipy.special.j0(z)", "np.asarray(z) ** 2 * 3"])
@pytest.mark.parametrize(
    ("spec", "z", "argument"),
    [
        ("jax.ShapeDtypeStruct(z.shape, z.dtype)", "z", "0.7"),
        ("jax.ShapeDtypeStruct((), z.dtype)", "z", "0.7"),
        ("z", "z", "0.7"),
        ("jax.ShapeDtypeStruct(z['w'].shape, z['w'].dtype)", "z['w']", "{'w': 0.7}"),
    ],
)
def test_a_python_number_has_a_derivative_as_well(spec, z, argument, body, tmp_path):
    """It is a tracer with a shape before, and a custom function is given the number itself."""
    text = f"""{HEADER}
def _host(z):
    return {body}

def loss(z):
    return jax.pure_callback(_host, {spec}, {z}) ** 2

def gradients():
    forward = jax.jvp(loss, ({argument},), ({argument.replace("0.7", "1.0")},))[1]
    return jax.grad(loss)({argument}), forward
"""
    with pytest.raises(ValueError, match="callbacks do not support JVP"):
        gradients(text, x64=False)
    result = migrate(text, tmp_path, vjp="finite-difference")
    assert [site.gradient for site in result.sites] == [Gradient.SCAFFOLDED]
    expected = {
        "np.sin(z)": np.sin(1.4),
        "scipy.special.j0(z)": 2 * scipy.special.j0(0.7) * -scipy.special.j1(0.7),
        "np.asarray(z) ** 2 * 3": 36 * 0.7**3,
    }[body]
    assert_close(gradients(result.after.decode(), x64=True), np.array([expected, expected]), 1e-6)


HIGHER_ORDERS = {
    "jax.hessian": "jax.hessian(loss)(z)",
    "reverse mode": "jax.jacrev(jax.grad(loss))(z)",
    "forward mode": "jax.jacfwd(jax.jacfwd(loss))(z)",
}


@pytest.mark.parametrize("order", HIGHER_ORDERS)
@pytest.mark.parametrize(
    ("argument", "body"),
    [
        ("z", "np.sin(z)"),
        ("z", "scipy.special.j0(z)"),
        ("z", "scipy.special.jv(2, z)"),
        ("z", "scipy.special.kv(-0.5, z)"),
        ("z", "scipy.special.k1(np.asarray(z, np.float64)).astype(z.dtype)"),
        ("np.array([1, 2]), z", "scipy.special.iv(n, z)"),
        ("1, z", "scipy.special.yv(n, z)"),
    ],
)
def test_known_derivatives_have_derivatives(order, argument, body, tmp_path):
    parameters = "n, z" if "," in argument else "z"
    text = f"""{HEADER}
def _host({parameters}):
    return {body}

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), {argument}) ** 2)

def gradients(z=Z):
    return {HIGHER_ORDERS[order]}
""".replace("=Z", "=jnp.array([0.3, 0.6])")
    with pytest.raises(ValueError, match="callbacks do not support JVP"):
        gradients(text, x64=False)
    result = migrate(text, tmp_path)
    assert codes(result)[-1] == "BC304"
    after = result.after.decode()
    assert new_findings(text, after) == set()
    for x64, tolerance in ((False, 1e-3), (True, 1e-6)):
        with jax.enable_x64(x64):
            found = flat(run(after, "gradients()"))
        with jax.enable_x64(True):
            first, z = run(after, "jax.grad(loss), jnp.array([0.3, 0.6])")
            columns = [(first(z + step) - first(z - step)) / 2e-6 for step in 1e-6 * np.eye(2)]
        assert_close(found, np.ravel(columns), tolerance)


@pytest.mark.parametrize("transform", ["jax.grad(loss)", "jax.jacfwd(jax.grad(loss))"])
def test_a_derivative_is_known_as_often_as_it_is_taken(transform, tmp_path):
    text = f"""{HEADER}
def loss(z):
    return jnp.sum(jax.pure_callback(scipy.special.ellipk, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

print({transform}(jnp.zeros(2)))
"""
    result = migrate(text, tmp_path)
    assert codes(result)[-1] == ("BC304" if transform == "jax.grad(loss)" else "BC303")


# ----------------------------------------------------------------------------- no scaffold


@pytest.mark.parametrize("name", PROTECTED)
def test_what_differentiates_already_stays_as_it_is(name, tmp_path):
    text = HEADER + PROTECTED[name]
    result = migrate(text, tmp_path, vjp="zeros")
    after = result.after.decode()
    assert "pure_callback" in text and "pure_callback" not in after
    assert after.count("custom_") == text.count("custom_")
    assert Gradient.SCAFFOLDED not in {site.gradient for site in result.sites}
    assert gradients(after, x64=False).tolist() == gradients(text, x64=False).tolist()


START = """\
import jax
import jax.numpy as jnp
import numpy as np


def _host(z, *more):
    return np.unwrap(np.sin(np.asarray(z))) * 2


"""

NO_PLACE = {
    "a star and keywords": (
        """
def loss(z, *more, w):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z, *more, w=w).sum()
""",
        "the call has a star and keywords",
    ),
    "a partial": (
        """
import functools

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    call = functools.partial(jax.pure_callback, _host, spec)
    return call(z).sum()
""",
        "its arguments are given elsewhere",
    ),
    "side effects": (
        """
from jax.experimental import io_callback

def loss(z):
    return io_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z).sum()
""",
        "it has side effects, which a rule may repeat",
    ),
    "a walrus in the spec": (
        """
def loss(z):
    return jax.pure_callback(_host, (spec := jax.ShapeDtypeStruct(z.shape, z.dtype)), z).sum() * spec.size
""",
        "its callback or spec binds a name",
    ),
    "a spec of a variable that is an array or not": (
        """
def loss(z):
    for example in (z, jax.ShapeDtypeStruct(z.shape, z.dtype)):
        z = jax.pure_callback(_host, like(example), z)
    return z.sum()

def like(example):
    return jax.ShapeDtypeStruct(example.shape, example.dtype)
""",
        "whether `example` is an array cannot be seen",
    ),
    "a spec made by code that acts": (
        """
made = []

def spec_of(z):
    made.append(z.shape)
    return jax.ShapeDtypeStruct(z.shape, z.dtype)

def loss(z):
    return jax.pure_callback(_host, spec_of(z), z).sum()
""",
        "`spec_of` may do more than compute",
    ),
    "an argument that may change the spec": (
        """
class Shapes:
    def next(self):
        return 1

def loss(z):
    shapes = Shapes()
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jax.pure_callback(_host, shapes.spec, z + shapes.next()).sum()
""",
        "`z + shapes.next()` would be evaluated before `shapes.spec`",
    ),
    "an attribute that is set beside it": (
        """
class Model:
    def loss(self, z):
        for self.size in (2, 3):
            part = z[: self.size]
            z = z + jax.pure_callback(_host, jax.ShapeDtypeStruct((self.size,), z.dtype), part).sum()
        return z.sum()

loss = Model().loss
""",
        "`self.size` is set in the function around it",
    ),
    "a lambda over a variable of a comprehension": (
        """
def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return sum(jax.pure_callback(lambda a: a * n, spec, z).sum() for n in (2, 3))
""",
        "`n`, which the callback reads, is bound again",
    ),
    "a lambda over the object of a method on one line": (
        """
class Model:
    rate = 2.0
    def loss(self, z): return jax.pure_callback(lambda a: self.rate * a.sum(), jnp.float32(0), z)

loss = Model().loss
""",
        "it reads `self` of `loss`, whose body stands on the line of its `def`",
    ),
    "a method of an object of a method on one line": (
        """
class Model:
    def loss(self, z): return jax.pure_callback(self.host, jnp.float32(0), z)
    def host(self, a): return np.asarray(a).sum()

loss = Model().loss
""",
        "it reads `self` of `loss`, whose body stands on the line of its `def`",
    ),
}


@pytest.mark.parametrize("name", NO_PLACE)
def test_a_call_that_cannot_move_is_migrated_as_it_is_with_a_note(name, tmp_path):
    program, why = NO_PLACE[name]
    text = f"{START}{program}\n\ndef gradients():\n    return jax.grad(loss)(jnp.ones(3))\n"
    result = migrate(text, tmp_path)
    (note,) = [note for note in result.notes if note.diagnostic.code == "BC305"]
    assert note.diagnostic.reason.endswith(f"and gets no derivative, since {why}.")
    assert note.hops
    (site,) = result.sites
    assert site.gradient is Gradient.UNPROTECTED
    assert "custom_" not in result.after.decode()
    assert "jax.pure_callback" not in result.after.decode()
    assert "io_callback(" not in result.after.decode()


# ----------------------------------------------------------------------------- options and reports

SMOOTH = f"""{START}
def loss(z):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z).sum()


gradient = jax.grad(loss)
"""
KNOWN_SMOOTH = SMOOTH.replace("np.unwrap(np.sin(np.asarray(z))) * 2", "np.sin(z)")


def codes(result: FileResult) -> list[str]:
    return [note.diagnostic.code for note in result.notes]


def test_known_is_known_or_else_raises(tmp_path):
    for vjp in ("known", "raise"):
        assert migrate(SMOOTH, tmp_path, vjp=vjp).after == migrate(SMOOTH, tmp_path).after
        assert "jnp.sin" in migrate(KNOWN_SMOOTH, tmp_path, vjp=vjp).after.decode()


@pytest.mark.parametrize("vjp", ["raise", "zeros", "finite-difference", "known"])
def test_a_known_derivative_comes_first(vjp, tmp_path):
    result = migrate(KNOWN_SMOOTH, tmp_path, vjp=vjp)
    assert codes(result) == ["BC304"]
    assert "whose derivative is that of `numpy.sin`." in result.notes[0].diagnostic.reason
    assert "_, pullback = jax.vjp(jnp.sin, z)" in result.after.decode()


@pytest.mark.parametrize(
    ("ignored", "text", "code"),
    [("BC303", SMOOTH, "BC301"), ("BC304", KNOWN_SMOOTH, "BC301"), ("BC3", SMOOTH, None)],
)
def test_a_derivative_that_is_ignored_is_not_added(ignored, text, code, tmp_path):
    result = migrate(text, tmp_path, ignore=(ignored,))
    assert codes(result) == ([code] if code else [])
    assert [site.gradient for site in result.sites] == [Gradient.UNPROTECTED]
    assert b"custom_" not in result.after and b"bufcb.buffer_callback" in result.after


def test_gradients_that_are_never_looked_at_give_none(tmp_path):
    result = migrate(SMOOTH, tmp_path, gradients="never")
    assert codes(result) == [] and b"custom_" not in result.after


def test_what_may_be_differentiated_gets_a_derivative_by_choice(tmp_path):
    text = SMOOTH.replace("gradient = jax.grad(loss)\n", "def step(f):\n    return jax.grad(f)\n")
    assert codes(migrate(text, tmp_path)) == ["BC302"]
    result = migrate(text, tmp_path, gradients="always")
    assert codes(result) == ["BC303"]
    assert result.notes[0].diagnostic.reason.startswith("Code out of sight may differentiate the call: it is")
    assert "Gradients may reach it from loss (program.py:" in result.after.decode()


def test_a_note_has_the_way_to_the_call(tmp_path):
    (note,) = migrate(SMOOTH, tmp_path).notes
    assert [(hop.line, hop.name) for hop in note.hops] == [(15, "jax.grad(loss)"), (12, "loss")]


def test_a_root_in_another_file_is_named_with_its_line_there(tmp_path):
    text = SMOOTH.replace("gradient = jax.grad(loss)\n", "")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text("import jax\nimport program\n\nstep = jax.grad(program.loss)\n")
    after = migrate(text, tmp_path).after.decode()
    assert 'Gradients reach it from jax.grad (train.py:4)."' in after


def test_calls_that_are_not_differentiated_stay_calls(tmp_path):
    text = (
        SMOOTH
        + "\n\ndef _plain(z):\n    return jax.pure_callback(_host, z, z)\n\n\nprint(_plain(jnp.ones(2)))\n"
    )
    result = migrate(text, tmp_path)
    assert [site.gradient for site in result.sites] == [Gradient.SCAFFOLDED, Gradient.NONE]
    assert "return bufcb.buffer_callback(_host, z)(z)" in result.after.decode()


def test_names_that_are_taken_get_a_number(tmp_path):
    after = migrate(SMOOTH + "\n\ndef _host_bwd():\n    pass\n", tmp_path).after.decode()
    assert "_host_2_call.defvjp(_host_2_fwd, _host_2_bwd)" in after


def test_a_derivative_that_is_ignored_takes_no_name(tmp_path):
    text = KNOWN_SMOOTH.replace("_host", "_sin").partition("\n\n\n")[2]
    after = migrate(SMOOTH + text.replace("loss", "other"), tmp_path, ignore=("BC303",)).after.decode()
    assert "_host_call" not in after and "_sin_call.defvjp(_sin_fwd, _sin_bwd)" in after


def test_a_derivative_of_the_users_own_needs_no_name(tmp_path):
    call = "jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)"
    own = f"""
@jax.custom_vjp
def own(z):
    return {call}

own.defvjp(lambda z: (own(z), z), lambda z, cotangent: (cotangent * z,))

def other(z):
    return {call.replace("z.shape", "(3,)")}.sum()

jax.grad(other)(jnp.ones(3))
"""
    after = migrate(SMOOTH + own, tmp_path).after.decode()
    assert "return own(z).sum()" in after and "_host_call.defvjp(_host_fwd, _host_bwd)" in after


def test_lines_that_end_otherwise_keep_their_endings(tmp_path):
    before = migrate(SMOOTH, tmp_path).after
    after = migrate(SMOOTH.replace("\n", "\r\n"), tmp_path).after
    assert after == before.replace(b"\n", b"\r\n")


def test_tabs_stay_tabs(tmp_path):
    after = migrate(SMOOTH.replace("    ", "\t"), tmp_path).after.decode()
    assert '\n\t(z,) = residuals\n\traise NotImplementedError(\n\t\t"_host_bwd: ' in after


def test_functools_is_imported_among_pythons_own_modules(tmp_path):
    text = f"""import os
{SMOOTH}
""".replace(
        "    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z).sum()\n",
        "    for n in (1, 2):\n"
        "        z = z[:n]\n"
        "        z = jax.pure_callback(_host, jax.ShapeDtypeStruct((n,), z.dtype), z)\n"
        "    return z.sum()\n",
    )
    after = migrate(text, tmp_path).after.decode()
    assert after.startswith("import functools\nimport os\nimport bufcb\nimport jax\n")
    assert "@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))" in after


def test_a_notebook_gets_its_derivative_in_the_cell_of_the_callback(tmp_path):
    cells = SMOOTH.split("\n\n\n")
    document = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
            for cell in cells
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "model.ipynb"
    source = SourceFile.from_bytes(path, json.dumps(document).encode())
    result = engine.migrate(source, Project.of([path]), Options(gradients="auto"))
    assert codes(result) == ["BC303"]
    after = ["".join(cell["source"]) for cell in json.loads(result.after)["cells"]]
    assert [index for index, cell in enumerate(after) if "_host_call.defvjp(" in cell] == [1]
    assert "Gradients reach it from jax.grad (model.ipynb, cell 4)." in after[1]


ORDER = """\
import jax
import jax.numpy as jnp
import scipy.special


def _bessel(order, z):
    return scipy.special.jv(order, z)


def loss(order, z):
    return jnp.sum(jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), order, z))


"""


@pytest.mark.parametrize("transform", ["grad", "jacfwd"])
def test_an_argument_without_a_known_derivative_raises_only_where_it_is_differentiated(transform, tmp_path):
    text = f"{ORDER}def gradient(argument, *given):\n    return jax.{transform}(loss, argument)(*given)\n"
    result = migrate(text, tmp_path)
    assert codes(result) == ["BC304"]
    gradient = run(result.after.decode(), "gradient")
    z = jnp.array([0.8, 3.0])
    for order in (2, 2.0, np.float32(2), np.int32(2), jnp.array([2, 2]), jnp.array([2.0, 2.0])):
        np.testing.assert_allclose(gradient(1, order, z), scipy.special.jvp(2, z), rtol=1e-5)
        np.testing.assert_allclose(jax.jit(gradient, static_argnums=0)(1, order, z), gradient(1, order, z))
    rule = {"grad": "_bessel_fwd", "jacfwd": "_bessel_jvp"}[transform]
    for argument in (0, (0, 1)):
        with pytest.raises(NotImplementedError) as error:
            gradient(argument, jnp.array([2.0, 2.0]), z)
        assert str(error.value) == (
            f"{rule}: the derivative of scipy.special.jv in order is not known. "
            f"Gradients reach it from jax.{transform} (program.py:{result.after.decode().count(chr(10))})."
        )


def test_an_integer_argument_is_differentiated_nowhere(tmp_path):
    result = migrate(f"{ORDER}gradient = jax.grad(loss, argnums=(0, 1), allow_int=True)\n", tmp_path)
    gradient = run(result.after.decode(), "gradient")
    order, z = gradient(jnp.array([2, 3]), jnp.array([0.8, 3.0]))
    assert order.dtype == jax.dtypes.float0
    np.testing.assert_allclose(z, scipy.special.jvp([2, 3], [0.8, 3.0]), rtol=1e-5)


@pytest.mark.parametrize(
    ("order", "asks"), [("2", False), ("jnp.arange(2, dtype=int)", False), ("order", True)]
)
def test_a_rule_asks_nothing_where_an_argument_surely_has_no_derivative(order, asks, tmp_path):
    text = ORDER.replace("z.dtype), order, z", f"z.dtype), {order}, z")
    after = migrate(f"{text}gradient = jax.grad(loss, argnums=1)\n", tmp_path).after.decode()
    assert "(jv_below - jv_above) / 2" in after
    assert ("symbolic_zeros" in after) == asks


def test_a_call_none_of_whose_arguments_has_a_known_derivative_has_none(tmp_path):
    text = ORDER.replace("jv(order, z)", "jv(z, 2.0)")
    result = migrate(f"{text}gradient = jax.grad(loss, argnums=1)\n", tmp_path)
    assert codes(result) == ["BC303"]


def test_what_is_not_the_hosts_is_no_part_of_a_tangent(tmp_path):
    text = ORDER
    for call in ("_bessel(order, z)", "loss(order, z)", "z.dtype), order, z)"):
        text = text.replace(call, f"{call.removesuffix(')')}, more)")
    assert codes(migrate(f"{text}gradient = jax.grad(loss, argnums=1)\n", tmp_path)) == ["BC304"]
    assert codes(migrate(f"{text}gradient = jax.jacfwd(loss, argnums=1)\n", tmp_path)) == ["BC303"]


def test_a_call_of_the_host_gives_the_dtype_of_the_result(tmp_path):
    """A constant is no array that decides on it, and neither is an argument that is cast."""
    text = ORDER.replace("jv(order, z)", "jv(order, z).astype(z.dtype)")
    constant = ORDER.replace("jv(order, z)", "jv(2, z)")
    with jax.enable_x64(True):
        z = jnp.array([0.8, 3.0], jnp.float32)
        for program in (text, constant):
            after = migrate(f"{program}gradient = jax.grad(loss, argnums=1)\n", tmp_path).after.decode()
            for order in (2, jnp.array([2, 2]), jnp.array([2.0, 2.0])):
                found = run(after, "gradient")(order, z)
                assert found.dtype == jnp.float32
                np.testing.assert_allclose(found, scipy.special.jvp(2, z), rtol=1e-5)


def _of_closure(body: str) -> str:
    return f"""
def loss(z, factors=(1.0, 2.0)):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    results = []
{body}
    return sum(jnp.sum(result**2) for result in results)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)
"""


BOUND_ANEW = {
    "a lambda reads the variable of a loop": """\
    for factor in factors:
        results.append(jax.pure_callback(lambda z: np.asarray(z) * np.float32(factor), spec, z))
""",
    "a function reads a variable that a loop binds": """\
    for index in range(2):
        factor = np.float32(factors[index])
        def _scale(z):
            return np.asarray(z) * factor
        results.append(jax.pure_callback(_scale, spec, z))
""",
    "a function reads a variable that is bound again after the call": """\
    factor = np.float32(3)
    def _scale(z):
        return np.asarray(z) * factor
    results.append(jax.pure_callback(_scale, spec, z))
    factor = np.float32(1)
""",
    "a function calls one that reads such a variable": """\
    for factor in factors:
        def _factor():
            return np.float32(factor)
        def _scale(z):
            return np.asarray(z) * _factor()
        results.append(jax.pure_callback(_scale, spec, z))
""",
}
SETTLED = {
    "a default keeps the value": """\
    for factor in factors:
        def _scale(z, factor=np.float32(factor)):
            return np.asarray(z) * factor
        results.append(jax.pure_callback(_scale, spec, z))
""",
    "the loop is over before the call": """\
    factor = np.float32(1)
    for each in factors:
        factor = factor * np.float32(each)
    def _scale(z):
        return np.asarray(z) * factor
    results.append(jax.pure_callback(_scale, spec, z))
""",
    "either branch binds it": """\
    if len(factors) > 1:
        factor = np.float32(2)
    else:
        factor = np.float32(1)
    def _scale(z):
        return np.asarray(z) * factor
    results.append(jax.pure_callback(_scale, spec, z))
""",
}


@pytest.mark.parametrize("name", BOUND_ANEW)
def test_what_computes_something_else_later_is_not_called_later(name, tmp_path):
    """Finite differences call back after the loop, when the variable has its last value."""
    text = HEADER + _of_closure(BOUND_ANEW[name])
    result = migrate(text, tmp_path, vjp="finite-difference")
    assert "a parameter's default would keep it" in str(result.notes)
    migrated = result.after.decode()
    np.testing.assert_array_equal(run(migrated, "loss(*ARGUMENTS)"), run(text, "loss(*ARGUMENTS)"))
    with pytest.raises(NotImplementedError, match="fill in"):
        run(migrated, "gradients()")


@pytest.mark.parametrize("name", SETTLED)
def test_what_computes_the_same_later_has_finite_differences(name, tmp_path):
    text = HEADER + _of_closure(SETTLED[name])
    found = gradients(migrate(text, tmp_path, vjp="finite-difference").after.decode(), x64=False)
    np.testing.assert_allclose(found, differences(text), rtol=1e-2)


def with_body(body: str, *, spec: str = "jax.ShapeDtypeStruct(z.shape, z.dtype)", option: str = "") -> str:
    """A program whose callback has a body, which may use `z`, `n` and `LIMIT`."""
    return f"""\
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

LIMIT = 3.0
CHANGED = 1.0
CHANGED = 2.0
TABLE = np.ones(3)


def _host(z, n=2):
    z = np.asarray(z)
    {body}


def loss(z):
    return jnp.sum(jax.pure_callback(_host, {spec}, z{option}))


gradient = jax.grad(loss)
"""


@pytest.mark.parametrize(
    "body",
    {
        "a branch": "return np.sin(z) * 2 if n else z",
        "a comparison": "return np.where(z > 0, z, 0)",
        "a statement that branches": "if n:\n        return z\n    return z * 2",
        "a loop": "for _ in range(3):\n        z = z * 2\n    return z",
        "a write in place": "w = np.exp(z)\n    w[0] = 1\n    return w",
        "an augmented assignment": "w = np.exp(z)\n    w *= 2\n    return w",
        "a call for what it does": "w = np.exp(z)\n    w.sort()\n    return w",
        "an output argument": "w = np.exp(z)\n    np.sin(z, out=w)\n    return w",
        "double precision": "return np.log(np.sum(np.exp(z.astype(np.float64)))) * z",
        "double precision by name": "return np.sin(z.astype('float64')) * 2",
        "an integer type": "return (z * 2).astype(np.int32) * z",
        "a dtype": "return np.sum(z, dtype=np.float64) * z",
        "a function that is not known": "return np.sin(z) * np.random.random()",
        "a function that JAX has not": "return 2 * scipy.special.j0(z)",
        "integer division": "return z // 2 + z",
        "a remainder": "return z % 2 + z",
        "a number that is bound again": "return CHANGED * z",
        "an array of the module": "return TABLE * z",
        "a builtin": "return max(z, LIMIT) * 2",
        "an attribute": "return z.real.imag * 2",
        "an index that is no constant": "return z[z.argmax()] * z",
        "a list for an index": "return z[[0, 1]] * 2",
        "a tuple that is asked for as an array": "return z, z * 2",
        "a list": "return [z * 2, z]",
        "a star": "return np.concatenate([*z]) * 2",
        "a constant": "return LIMIT",
        "a name of its own": "return w * z",
        "a text": "return 'z'",
        "another axis of a keyword": "return np.sum(z, where=True) * z",
        "an element too many": "sign, logdet, more = np.linalg.slogdet(z)\n    return sign * z",
        "arithmetic on a tuple": "return np.linalg.slogdet(z) * z",
    }.items(),
    ids=lambda item: item[0],
)
def test_a_body_that_may_mean_something_else_to_jax_is_to_be_filled_in(body, tmp_path):
    assert codes(migrate(with_body(body[1]), tmp_path)) == ["BC303"]


def test_a_number_of_the_module_is_read_where_it_is_in_sight(tmp_path):
    text = with_body("return LIMIT * z")
    assert codes(migrate(text, tmp_path)) == ["BC304"]
    shadowed = text.replace("def loss(z):", "def loss(z, LIMIT=1):")
    assert codes(migrate(shadowed, tmp_path)) == ["BC303"]


@pytest.mark.parametrize(
    ("body", "is_vectorized"),
    [
        ("return z / z.size", False),
        ("return z / z.shape[0]", False),
        ("return z * z.ndim", False),
        ("return z / z.sum()", False),
        ("return z / z.sum(axis=0)", False),
        ("return z.T * 2", False),
        ("return z[::-1] * 2", False),
        ("return np.flip(z) * 2", False),
        ("return np.cumsum(z) * 2", False),
        ("return np.sort(z, 0) * 2", False),
        ("return np.fft.irfft(np.fft.rfft(z, axis=0), axis=0) * 2", False),
        ("return z - scipy.special.logsumexp(z)", False),
        ("return z / z.sum(axis=-1, keepdims=True)", True),
        ("return z[..., ::-1] * 2", True),
        ("return np.cumsum(z, axis=-1) * 2", True),
        ("return np.sort(z) * np.sin(z) ** 2", True),
        ("return z - scipy.special.logsumexp(z, axis=-1, keepdims=True)", True),
    ],
)
def test_the_first_axes_of_a_vectorized_callback_are_those_of_a_batch(body, is_vectorized, tmp_path):
    assert codes(migrate(with_body(body), tmp_path)) == ["BC304"]
    for method, is_known in {
        "sequential": True,
        "expand_dims": is_vectorized,
        "broadcast_all": is_vectorized,
    }.items():
        text = with_body(body, option=f', vmap_method="{method}"')
        assert codes(migrate(text, tmp_path)) == ["BC304" if is_known else "BC303"]


def test_variables_keep_what_they_stand_for(tmp_path):
    """A name that is bound again is another variable where the first value is still used."""
    bodies = {
        "w = z * 2\n    v = w\n    w = np.sin(w)\n    return w * v": lambda z: np.sin(2 * z) * 2 * z,
        "a, b = z * 2, z + 1\n    a, b = b, a\n    a = a * 3\n    return a - b": lambda z: 3 * z + 3 - 2 * z,
        "a = z * 2\n    a, b = a + 1, a * a\n    return a * b": lambda z: (2 * z + 1) * 4 * z * z,
        "w = z\n    z = z * z\n    return w + z": lambda z: z + z * z,
        "unused = np.exp(z)\n    jnp = z * 2\n    return jnp * np.sin(jnp)": lambda z: 2 * z * np.sin(2 * z),
        "w: np.ndarray = np.exp(z)\n    return (w := w) if False else w": None,
    }
    z = np.array([0.3, 1.2])
    for body, function in bodies.items():
        result = migrate(with_body(body), tmp_path)
        assert codes(result) == ["BC304" if function else "BC303"]
        if function is not None:
            with jax.enable_x64(True):
                found = run(result.after.decode(), "gradient")(jnp.asarray(z))
            expected = (function(z + 1e-6) - function(z - 1e-6)) / 2e-6
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "value",
    [
        "z.copy().dot(z) * z",
        "np.float32(z) * z",
        "(z * z).astype('float32')",
        "np.linalg.cholesky(np.outer(z, z) + np.diag(z)) @ z",
    ],
)
def test_an_expression_has_the_derivative_of_its_value(value, tmp_path):
    result = migrate(with_body(f"return {value}"), tmp_path)
    assert codes(result) == ["BC304"]
    loss, gradient = run(result.after.decode(), "(loss, gradient)")
    z = jnp.array([0.6, 1.2])
    expected = [(loss(z + step) - loss(z - step)) / 2e-2 for step in 1e-2 * np.eye(2, dtype=np.float32)]
    np.testing.assert_allclose(gradient(z), expected, rtol=1e-2)
