"""Which call sites sit under grad: what the analysis says, and what JAX does when the program runs.

The programs stand in `gradients/*.md`, each under a heading that ends in what is expected: `none`,
`protected`, `unknown`, or the modes in which its call site is differentiated.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import json
import os
import re
import sys
import types
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from click.testing import CliRunner, Result

from codemods import cli, engine, gradients, names, sites
from codemods import project as projects_module
from codemods.gradients import Mode, calls, reach, table, values
from codemods.gradients.interpreter import Interpreter
from codemods.gradients.table import Applied
from codemods.model import Gradient, Hop, Options, Status
from codemods.project import Project
from codemods.report.run import Run
from codemods.report.text import diagnostics
from codemods.source import SourceFile

FOLDER = Path(__file__).parent / "gradients"
RAISED = (
    "do not support (JVP|transpose)|^(pure|buffer)_callback$|unexpected tracer|process_primitive"  # of jet
)

ERRORS = (ValueError, KeyError, jax.errors.UnexpectedTracerError, AttributeError)

LIBRARIES = {
    "equinox": "import equinox as eqx",
    "flax": "from flax import linen as nn, nnx",
    "haiku": "import haiku as hk",
    "optax": "import optax",
    "jaxopt": "import jaxopt",
    "optimistix": "import optimistix as optx",
    "lineax": "import lineax as lx",
    "diffrax": "import diffrax",
    "numpyro": "import numpyro\nimport numpyro.distributions as dist",
    "blackjax": "import blackjax",
}


@dataclasses.dataclass(frozen=True)
class Example:
    name: str
    expected: str
    blocks: tuple[str, ...]


def read(file: str) -> tuple[str, list[Example]]:
    """The block in front of the first heading, and what stands under each heading."""
    intro, *sections = re.split(r"^## ", (FOLDER / file).read_text(), flags=re.MULTILINE)
    examples = []
    for section in sections:
        name, expected = section.partition("\n")[0].split(" → ")
        examples.append(Example(name, expected, tuple(blocks(section))))
    return blocks(intro)[0], examples


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def program(*parts: str) -> str:
    """A program whose `main` returns the last line."""
    text = "\n\n".join(parts)
    *_, last = ast.parse(text).body
    lines = text.split("\n")
    main = "\n".join(("def main():", *(f"    {line}" for line in lines[last.lineno - 1 :])))
    main = main.replace("    ", "    return ", 1)
    return "\n".join((*lines[: last.lineno - 1], main, "", "if __name__ == '__main__':", "    main()", ""))


def asked(**options: object) -> Options:
    """Options that ask for the analysis, unless they say otherwise."""
    return Options(**{"gradients": "auto", **options})


def verdicts(folder: Path, name: str, text: str | None = None, **options: object) -> list[gradients.Verdict]:
    path = folder / name
    if text is not None:
        path.write_text(text)
    module = names.read(SourceFile.from_bytes(path, path.read_bytes()).tree)
    found, _ = sites.find(module)
    return list(gradients.verdicts(module, path, Project((folder,)), found, asked(**options)).values())


def summary(verdict: gradients.Verdict) -> str:
    if verdict.gradient is Gradient.UNPROTECTED:
        return " ".join(sorted(verdict.modes))
    return verdict.gradient.value


def run(text: str, expected: str) -> None:
    """Runs a program, which raises JAX's error if its call site is said to be differentiated."""
    namespace = {"__name__": __name__}
    exec(compile(text, "program.py", "exec", dont_inherit=True), namespace)
    if expected in ("none", "protected"):
        namespace["main"]()
    else:
        with pytest.raises(ERRORS, match=RAISED):
            namespace["main"]()


def programs() -> list[object]:
    found = []
    for file in ("transforms.md", "left_alone.md", "rules.md"):
        intro, examples = read(file)
        found += [
            pytest.param(program(intro, *each.blocks), each.expected, id=f"{file}: {each.name}")
            for each in examples
        ]
    return found


@pytest.mark.parametrize(("text", "expected"), programs())
def test_verdict_agrees_with_what_jax_does(text, expected, tmp_path):
    (verdict, *_) = verdicts(tmp_path, "program.py", text)
    assert summary(verdict) == expected
    run(text, expected)


def outcome(text: str) -> object:
    """What `main` returns, or JAX's error on what has no derivative."""
    namespace = {"__name__": __name__}
    exec(compile(text, "program.py", "exec", dont_inherit=True), namespace)
    try:
        return jax.tree.leaves(
            jax.tree.map(lambda x: x if callable(x) else np.asarray(x), namespace["main"]())
        )
    except ERRORS as error:
        return error


@pytest.mark.parametrize(("text", "expected"), programs())
def test_migrated_program_does_the_same(text, expected, tmp_path):
    """Without a rule from the migration, a call has the derivatives that it had, or none."""
    path = tmp_path / "program.py"
    source = SourceFile.from_bytes(path, text.encode())
    result = engine.migrate(source, Project(()), Options(gradients="never"))
    assert all(site.status in (Status.REWRITTEN, Status.ADAPTED) for site in result.sites)
    before, after = outcome(text), outcome(result.after.decode())
    if expected in ("none", "protected"):
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)
    else:
        assert re.search(RAISED, str(before).strip("'"))
        assert re.search(RAISED, str(after).strip("'"))
        assert "Pure callbacks" not in str(after)


def library_programs() -> list[object]:
    intro, examples = read("libraries.md")
    found = []
    for each in examples:
        library = re.search(r"\((\w+)\)$", each.name).group(1)
        text = program(intro, LIBRARIES[library], *each.blocks)
        found.append(pytest.param(library, text, each.expected, id=each.name))
    return found


@pytest.mark.parametrize(("library", "text", "expected"), library_programs())
def test_verdict_knows_other_libraries(library, text, expected, tmp_path):
    (verdict,) = verdicts(tmp_path, "program.py", text)
    assert summary(verdict) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("library", "text", "expected"), library_programs())
def test_verdict_agrees_with_what_other_libraries_do(library, text, expected):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: the tests need JAX alone, the analysis knows more")
    run(text, expected)


def projects() -> list[object]:
    intro, examples = read("projects.md")
    return [pytest.param((intro, *each.blocks), each.expected, id=each.name) for each in examples]


@pytest.mark.parametrize(("files", "expected"), projects())
def test_verdict_looks_at_the_whole_project(files, expected, tmp_path):
    texts = dict(text.removeprefix("# ").split("\n", 1) for text in files)
    if any(name.endswith("/ops.py") for name in texts):
        del texts["ops.py"]
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (verdict,) = verdicts(tmp_path, next(name for name in texts if name.endswith("ops.py")))
    assert summary(verdict) == expected


LAYER = """
import jax

def main(x):
    return jax.grad(Layer{0}().slope)(x)

class Layer{0}:
    def call(self, x):
        return jax.pure_callback(abs, x, x)

    def slope(self, x):
        return jax.grad(self.call)(x)

if __name__ == "__main__":
    main({0}.0)
"""


def test_modules_that_spell_the_same_names_are_not_read_for_each_other(tmp_path, monkeypatch):
    """Else the time for a project grows with the square of its size."""
    for number in range(20):
        (tmp_path / f"layer{number}.py").write_text(LAYER.format(number))
    read = []
    monkeypatch.setattr(Project, "module", lambda self, file: read.append(file))
    (verdict,) = verdicts(tmp_path, "layer7.py")
    assert summary(verdict) == "reverse"
    assert not read


def test_too_many_modules_with_a_name_leave_what_the_module_itself_shows(tmp_path, monkeypatch):
    monkeypatch.setattr(reach, "_MOST_FILES", 3)
    monkeypatch.setattr(values, "_MOST_WORK", 100)
    user = "import jax\nimport ops\n\n" + "jax.jit(ops.Layer().apply)(jax.grad(abs)(2.0))\n" * 20
    for number in range(8):
        (tmp_path / f"user{number}.py").write_text(user)
    shown = """class Layer:
    def apply(self, x):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), "float32"), x)


def call(x):
    return Layer().apply(x)


print(jax.grad(call)(2.0))
"""
    (verdict,) = verdicts(tmp_path, "ops.py", "import jax\nimport numpy as np\n\n\n" + shown)
    assert summary(verdict) == "reverse"


def test_what_one_search_may_read_is_remembered_for_the_next():
    """Else each migrated file parses the same modules again."""
    assert projects_module._REMEMBERED >= reach._MOST_BYTES


def test_what_does_not_matter_is_searched_through_once(tmp_path, monkeypatch):
    """Else the time for a program grows with the square of what its objects hold."""
    searched = []
    next_to = calls._next_to
    monkeypatch.setattr(calls, "_next_to", lambda each: searched.append(each) or next_to(each))
    interpreter = Interpreter(Project.of([tmp_path]), table.TRANSFORMS, {})
    held = interpreter.heap.container(0, {})
    for number in range(1, 50):
        held = interpreter.heap.container(number, {0: held})
    (outermost,) = held
    while not interpreter.matters(outermost) and outermost.content:
        (outermost,) = outermost.content[0]
    assert len(searched) == 50


CALL = "import jax\n\ndef _call(x):\n    return jax.pure_callback(abs, x, x)\n"
# What such a model differentiates are the parameters that it asks its library for.
CALL_OF_PARAMETERS = (
    "import jax\n\ndef _call(*_):\n    x = {}.get()\n    return jax.pure_callback(abs, x, x)\n"
)


def use(name: str, row: table.Transform) -> str:
    """A program that applies a transform to `_call`."""
    position, keyword = row.function
    function = name.replace(".()", ".make()")
    given = [*["None"] * position, "_call"] if position >= 0 else [f"{keyword}=_call"]
    given += [f"solver={each}" for each in sorted(row.given)[:1]]
    arguments = {Applied.TO_REST: ["1.0"], Applied.TO_TUPLE: ["(1.0,)", "(1.0,)"]}.get(row.applied, [])
    call = f"{function}({', '.join(given + arguments)})"
    return call + ("(1.0)" if row.applied is Applied.LATER else "")


def program_of_rows(name: str, rows: Sequence[table.Transform]) -> str:
    library = name.partition(".")[0]
    call = CALL_OF_PARAMETERS.format(library) if any(row.parameters for row in rows) else CALL
    return "\n".join([f"import {library}", call, *(f"print({use(name, row)})" for row in rows)])


@pytest.mark.parametrize("name", sorted(table.TRANSFORMS))
def test_each_row_differentiates(name, tmp_path):
    rows = table.TRANSFORMS[name]
    (verdict,) = verdicts(tmp_path, "program.py", program_of_rows(name, rows))
    assert verdict.gradient is Gradient.UNPROTECTED
    assert verdict.modes == {mode for row in rows for mode in row.modes}


# ----------------------------------------------------------------------------- with derivatives


def with_derivatives(text: str, folder: Path, **options: object) -> tuple[str, set[Gradient]]:
    """A program whose differentiated calls have got derivatives, and what is said of its calls."""
    path = folder / "program.py"
    path.write_text(text)
    source = SourceFile.from_bytes(path, text.encode())
    result = engine.migrate(source, Project((folder,)), asked(vjp="finite-difference", **options))
    return result.after.decode(), {site.gradient for site in result.sites}


def run_with_derivatives(text: str, expected: str, folder: Path) -> None:
    """Runs a migrated program: no call raises for want of a derivative, and none got one without need."""
    after, found = with_derivatives(text, folder)
    if {"reverse", "forward"} & set(expected.split()):
        assert found == {Gradient.SCAFFOLDED}
        run(after, "none")
    else:
        assert Gradient.SCAFFOLDED not in found
        assert after.count("jax.custom_") == text.count("jax.custom_")
        run(after, expected)


@pytest.mark.parametrize(("text", "expected"), programs())
def test_a_program_runs_once_its_calls_have_derivatives(text, expected, tmp_path):
    run_with_derivatives(text, expected, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("library", "text", "expected"), library_programs())
def test_a_program_of_another_library_runs_once_its_calls_have_derivatives(library, text, expected, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: the tests need JAX alone, the analysis knows more")
    run_with_derivatives(text, expected, tmp_path)


def differentiated(row: table.Transform, library: types.ModuleType, values: dict) -> object:
    """What a transform does with the function that it is given, as its row says."""
    position, keyword = row.function
    function = values.get(keyword, values.get(position))
    if row.parameters:
        called = function

        def function(parameter):
            library.get = lambda: parameter
            return called()

    for mode in reversed(row.modes):
        function = DIFFERENTIATED[mode](function)
    if row.applied is Applied.LATER:
        return function
    rest = values.get(position + 1)
    return function(*rest) if row.applied is Applied.TO_TUPLE else function(1.0)


DIFFERENTIATED = {
    Mode.REVERSE: jax.grad,
    Mode.FORWARD: lambda function: lambda x: jax.jvp(function, (x,), (1.0,))[1],
    Mode.TRANSPOSE: lambda function: lambda x: jax.linear_transpose(function, x)(1.0),
}


def stand_in(name: str) -> types.ModuleType:
    """A library with one transform in it, which differentiates as the rows of the table say."""
    package, *inner, last = name.split(".")
    library = types.ModuleType(package)
    owner: object = library
    for part in inner:
        child = types.SimpleNamespace()
        setattr(owner, "make" if part == "()" else part, (lambda made=child: made) if part == "()" else child)
        owner = child

    def transform(*args, **kwargs):
        values = {**dict(enumerate(args)), **kwargs}
        for row in table.TRANSFORMS[name]:
            position, keyword = row.function
            if keyword in values or values.get(position) is not None:
                result = differentiated(row, library, values)
        return result

    setattr(owner, last, transform)
    for solver in {each for row in table.TRANSFORMS[name] for each in row.given}:
        setattr(library, solver.partition(".")[2].removesuffix("()"), lambda: None)
    return library


OF_OTHERS = sorted(name for name in table.TRANSFORMS if not name.startswith("jax."))
ROWS_OF_OTHERS = [(name, row) for name in OF_OTHERS for row in range(len(table.TRANSFORMS[name]))]


@pytest.mark.parametrize(("name", "row"), ROWS_OF_OTHERS)
def test_what_another_library_differentiates_raises_before_and_runs_after(name, row, tmp_path, monkeypatch):
    """With a stand-in for the library, which does with the function what the table says of the true one."""
    monkeypatch.setitem(sys.modules, name.partition(".")[0], stand_in(name))
    text = program_of_rows(name, [table.TRANSFORMS[name][row]])
    with pytest.raises(ValueError, match=RAISED):
        exec(compile(text, "program.py", "exec"), {"__name__": "program"})
    after, found = with_derivatives(text, tmp_path)
    assert found == {Gradient.SCAFFOLDED}
    exec(compile(after, "program.py", "exec"), {"__name__": "program"})


def test_every_transform_of_jax_stands_in_a_program():
    intro, examples = read("transforms.md")
    text = "\n".join((intro, *(block for each in examples for block in each.blocks)))
    names = {name.rpartition(".")[2] for name in table.TRANSFORMS if name not in OF_OTHERS}
    assert {name for name in names if not re.search(rf"\b{name}\(", text)} == set()


def stopped(function, arguments):
    """A function of a float that goes through `function` on its way to a callback."""

    def loss(x):
        given = [
            x * argument if jnp.issubdtype(argument.dtype, jnp.floating) else argument
            for argument in arguments
        ]
        result = jnp.sum(jnp.asarray(function(*given))).astype(jnp.float32)
        spec = jax.ShapeDtypeStruct((), jnp.float32)
        return x + jax.pure_callback(lambda a: a, spec, result)

    return loss


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    sorted(n for n in table.STOPS - {"jax.numpy.result_type"} if n.startswith(("jax.numpy.", "jax.lax."))),
)
def test_no_tangent_passes_what_stops_them(name):
    owner = jnp if name.startswith("jax.numpy.") else jax.lax
    function = getattr(owner, name.rpartition(".")[2], None)
    if function is None:
        pytest.skip(f"{name} is gone from this JAX")
    scalar, row, number = jnp.float32(0.5), jnp.ones(2), jnp.int32(1)
    ways = [(scalar,), (scalar, scalar), (row,), (row, row), (number,), (number, number), (row, 0, jnp.int32)]
    for arguments in ways:
        arrays = [each for each in arguments if isinstance(each, jax.Array)]
        others = arguments[len(arrays) :]
        try:
            function(*arguments)
        except (TypeError, ValueError):
            continue
        jax.grad(stopped(lambda *given, others=others: function(*given, *others), arrays))(1.0)
        return
    pytest.fail(f"{name} takes none of the arguments that were tried")


def test_the_way_from_the_transform_to_the_call_is_a_traceback(tmp_path):
    (tmp_path / "train.py").write_text(
        "import jax\nfrom model import loss\n\n\ndef fit(w, x):\n    step = jax.value_and_grad(loss)\n"
        "    return step(w, x)\n"
    )
    (tmp_path / "model.py").write_text(
        "import jax\nfrom jax import lax\nfrom ops import Solver\n\n\ndef loss(w, x):\n"
        "    return lax.cond(x > 0, lambda: Solver().run(w), lambda: w)\n"
    )
    text = (
        "import jax\n\n\nclass Solver:\n    def run(self, x):\n        return self._host(x)\n\n"
        "    def _host(self, x):\n        y = x * 2\n        return jax.pure_callback(abs, x, y)\n"
    )
    (verdict,) = verdicts(tmp_path, "ops.py", text)
    shown = [(hop.path.name, hop.line, hop.name) for hop in verdict.hops]
    assert shown == [
        ("train.py", 6, "jax.value_and_grad(loss)"),
        ("model.py", 7, "loss"),
        ("model.py", 7, "loss.<lambda>"),
        ("ops.py", 6, "Solver.run"),
        ("ops.py", 10, "Solver._host"),
    ]


def test_the_way_to_an_unknown_call_starts_at_the_public_function(tmp_path):
    text = (
        "import jax\n\ndef f(x):\n    return _g(x)\n\ndef _g(x):\n    return jax.pure_callback(abs, x, x)\n"
    )
    (verdict,) = verdicts(tmp_path, "ops.py", text)
    assert [(hop.line, hop.name) for hop in verdict.hops] == [(3, "f"), (4, "f"), (7, "_g")]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("jax.pure_callback(abs, x, x, 1.0, y)", {0}),
        ("jax.pure_callback(abs, x, y, x, key=x)", {1, "key"}),
        ("jax.pure_callback(abs, x, (y, x))", {0}),
        ("jax.pure_callback(abs, x, *(y, x))", {1}),
        ("jax.pure_callback(abs, x, *[x] * 2)", {"*"}),
        ("jax.pure_callback(abs, x, **{'key': x})", {"key"}),
        ("jax.pure_callback(callback=abs, result_shape_dtypes=x, x=x, vmap_method=x)", {"x"}),
        ("functools.partial(jax.pure_callback, abs, x)(y, x)", {1}),
    ],
)
def test_the_arguments_that_are_differentiated(call, arguments, tmp_path):
    text = (
        f"import functools\nimport jax\n\ndef f(x, y):\n    return {call}\n\nprint(jax.grad(f)(1.0, 1.0))\n"
    )
    (verdict,) = verdicts(tmp_path, "ops.py", text)
    assert verdict.arguments == arguments


OWN = "import jax, mylib\n\ndef _call(x):\n    return jax.pure_callback(abs, x, x)\n\n"


@pytest.mark.parametrize(
    ("row", "call", "expected"),
    [
        ("mylib.grad=jax.grad", "mylib.grad(_call)(1.0)", "reverse"),
        ("mylib.push=jax.jvp", "mylib.push(_call, (1.0,), (1.0,))", "forward"),
        ("mylib.fit", "mylib.fit(1, _call)", "reverse"),
        ("mylib.grad=jax.grad", "mylib.grad(lambda a, b: a * _call(b))(1.0, 1.0)", "protected"),
    ],
)
def test_transforms_can_be_added(row, call, expected, tmp_path):
    (verdict,) = verdicts(tmp_path, "ops.py", f"{OWN}print({call})\n", gradient_transform=(row,))
    assert summary(verdict) == expected
    (verdict,) = verdicts(tmp_path, "ops.py", f"{OWN}print({call})\n")
    assert summary(verdict) == "unknown"


def test_a_transform_that_is_like_an_unknown_one_is_an_error():
    with pytest.raises(ValueError, match=r"'jax\.nope' is no known transform"):
        table.extended(["mylib.grad=jax.nope"])


def test_always_takes_the_unknown_for_differentiated(tmp_path):
    constant = "def g():\n    jax.pure_callback(abs, 1, 1)\n"
    text = f"import jax\n\ndef f(x):\n    return jax.pure_callback(abs, x, x)\n\n{constant}"
    unknown, plain = verdicts(tmp_path, "ops.py", text, gradients="always")
    assert summary(unknown) == "reverse"
    assert unknown.assumed
    assert unknown.arguments == {0}
    assert summary(plain) == "protected"


def test_never_analyses_nothing(tmp_path):
    text = "import jax\n\nprint(jax.grad(lambda x: jax.pure_callback(abs, x, x))(1.0))\n"
    (verdict,) = verdicts(tmp_path, "ops.py", text, gradients="never")
    assert (verdict.gradient, verdict.hops) == (Gradient.UNKNOWN, ())


ENDLESS = "\n".join(
    f"def f{i}(x, g):\n    return f{i + 1}(x, lambda y: g(f{i + 1}(y, g)))\n" for i in range(60)
)


def test_a_program_without_end_is_unknown(tmp_path):
    last = "def f60(x, g):\n    return jax.pure_callback(abs, x, g(1.0))\n"
    (verdict,) = verdicts(tmp_path, "ops.py", f"import jax\n\n{ENDLESS}\n{last}\nf0(1.0, abs)\n")
    assert summary(verdict) == "unknown"


def test_what_was_found_before_the_end_counts(tmp_path):
    last = "def f60(x, g):\n    return jax.pure_callback(abs, x, x)\n\nprint(jax.grad(f60)(1.0, abs))\n"
    (verdict,) = verdicts(tmp_path, "ops.py", f"import jax\n\n{last}\n{ENDLESS}\nf0(1.0, abs)\n")
    assert summary(verdict) == "reverse"


TRAINED = (
    "import jax\n\n\ndef _host(x):\n    return x\n\n\n"
    "def _f(x):\n    return jax.pure_callback(_host, x, x)\n\n\n"
    "print(jax.grad(_f)(1.0))\n"
)


def migrated(text: str, **options: object):
    source = SourceFile.from_bytes(Path("ops.py"), text.encode())
    return engine.migrate(source, Project(()), asked(**options))


def test_a_note_and_the_result_say_how_a_call_is_differentiated():
    result = migrated(TRAINED, ignore=("BC303", "BC304"))  # so that it gets none
    (site,) = result.sites
    hops = (Hop(Path("ops.py"), 12, "jax.grad(_f)"), Hop(Path("ops.py"), 9, "_f"))
    assert (site.gradient, site.gradient_path) == (Gradient.UNPROTECTED, hops)
    (note,) = result.notes
    assert (note.line, note.column, note.diagnostic.code, note.hops) == (9, 12, "BC301", hops)
    assert "in reverse mode" in note.diagnostic.message
    assert "\n      ops.py:12: jax.grad(_f)\n      ops.py:9: _f" in "\n".join(diagnostics(Run((result,), 1)))


def test_a_class_body_on_the_way_has_its_own_name():
    call = "    class Held:\n        value = jax.pure_callback(_host, x, x)\n\n    return Held.value\n"
    (site,) = migrated(TRAINED.replace("    return jax.pure_callback(_host, x, x)\n", call)).sites
    assert [hop.name for hop in site.gradient_path] == ["jax.grad(_f)", "_f.Held"]


def test_a_comment_silences_the_note_alone():
    text = TRAINED.replace("_host, x, x)", "_host, x, x)  # bufcb: skip[BC301]")
    result = migrated(text, ignore=("BC303", "BC304"))
    assert [site.gradient for site in result.sites] == [Gradient.UNPROTECTED]
    assert result.changed
    assert result.notes == ()


@pytest.mark.parametrize(
    ("rest", "codes"),
    [
        ("import jax", []),
        ("import jax\n\nSTEP = jax.grad(lambda x: x)", ["BC302"]),
        ("import jax\n\nBACK = jax.linear_transpose(lambda x: x, 1.0)", ["BC302"]),
        ("import equinox\n\nROWS = equinox.filter_jacrev(lambda x: x)", ["BC302"]),
        ("import optax\n\nSTEP = optax.lbfgs()", ["BC302"]),
        ("from mine import slope\n\nSTEP = slope(lambda x: x)", ["BC302"]),
        ("def slope_of(upgrade):\n    return upgrade", []),
    ],
)
def test_a_public_call_gets_a_note_where_the_project_differentiates(rest, codes, tmp_path):
    text = "import jax\n\n\ndef f(x):\n    return jax.pure_callback(abs, x, x)\n"
    (tmp_path / "train.py").write_text(f"{rest}\n")
    source = SourceFile.from_bytes(tmp_path / "ops.py", text.encode())
    result = engine.migrate(source, Project((tmp_path,)), asked(gradient_transform=("mine.slope=jax.grad",)))
    assert [site.gradient for site in result.sites] == [Gradient.UNKNOWN]
    assert [note.diagnostic.code for note in result.notes] == codes


SPREAD = {
    "pyproject.toml": '[project]\nname = "x"\n\n[tool.bufcb]\ngradient-transform = ["mylib.fit=jax.grad"]\n',
    "src/solver/__init__.py": "",
    "src/solver/ops.py": (
        "import jax\n\n\ndef _host(x):\n    return x\n\n\n"
        "def call(x, **options):\n    return jax.pure_callback(_host, x, x, **options)\n"
    ),
    "src/solver/model.py": (
        "from .ops import call\n\n\nclass Model:\n    def loss(self, w):\n        return call(w)\n"
    ),
    "scripts/train.py": "import mylib\nfrom solver.model import Model\n\nstep = mylib.fit(Model().loss)\n",
}
WAY = [
    (f"scripts{os.sep}train.py", 4, "mylib.fit(Model().loss)"),
    (f"src{os.sep}solver{os.sep}model.py", 6, "Model.loss"),
    (f"src{os.sep}solver{os.sep}ops.py", 9, "call"),
]


@pytest.fixture
def spread(tmp_path, monkeypatch) -> str:
    """A project with a transform of its own among its settings; the path of the call site."""
    for name, text in SPREAD.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return os.path.join("src", "solver", "ops.py")


def command(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.migrate, arguments)
    assert result.exit_code == 0, result.output
    return result


def test_every_report_has_the_way_through_the_project(spread):
    text = command(spread).stderr
    assert "".join(f"      {path}:{line}: {name}\n" for path, line, name in WAY) in text
    (file,) = json.loads(command(spread, "--format", "json").stdout)["files"]
    steps = [(step["path"], step["line"], step["name"]) for step in file["sites"][0]["gradient_path"]]
    assert (file["sites"][0]["gradient"], steps) == ("unprotected", WAY)
    results = json.loads(command(spread, "--format", "sarif").stdout)["runs"][0]["results"]
    (flow,) = [result["codeFlows"] for result in results if "codeFlows" in result]
    places = [step["location"] for step in flow[0]["threadFlows"][0]["locations"]]
    assert [
        (
            os.path.normpath(place["physicalLocation"]["artifactLocation"]["uri"]),
            place["physicalLocation"]["region"]["startLine"],
            place["message"]["text"],
        )
        for place in places
    ] == WAY
    command(spread, "--html", "page.html")
    page = Path("page.html").read_text()
    assert all(
        f'<span class="place">{path}:{line}</span> <code>{name}</code>' in page for path, line, name in WAY
    )


def test_a_transform_in_the_settings_counts_unless_gradients_are_not_asked_for(spread):
    Path("pyproject.toml").write_text(f'{SPREAD["pyproject.toml"]}gradients = "never"\n')
    (file,) = json.loads(command(spread, "--format", "json").stdout)["files"]
    assert (file["sites"][0]["gradient"], file["sites"][0]["gradient_path"]) == ("unknown", [])


NOTEBOOK = [
    "import jax\nimport numpy as np",
    (
        "def _host(x):\n    return np.sin(x)\n\n\ndef loss(w, **options):\n"
        "    return jax.pure_callback(_host, w, w, **options)"
    ),
    "jax.grad(loss)(1.0)",
]


def test_the_way_in_a_notebook_goes_from_cell_to_cell(tmp_path):
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in NOTEBOOK]
    path = tmp_path / "fit.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    source = SourceFile.from_bytes(path, path.read_bytes())
    (site,) = engine.migrate(source, Project((tmp_path,)), Options()).sites
    assert site.gradient is Gradient.UNPROTECTED
    assert site.gradient_path == (Hop(path, 1, "jax.grad(loss)", 3), Hop(path, 6, "loss", 2))


def test_the_way_from_a_notebook_to_a_module_starts_in_its_cell(tmp_path):
    cells = [
        {"cell_type": "code", "source": [text]} for text in ("import jax, ops", "jax.grad(ops.call)(1.0)")
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "fit.ipynb").write_text(json.dumps(notebook))
    text = "import jax\n\n\ndef call(x):\n    return jax.pure_callback(abs, x, x)\n"
    (verdict,) = verdicts(tmp_path, "ops.py", text)
    shown = [(hop.path.name, hop.cell, hop.line, hop.name) for hop in verdict.hops]
    assert shown == [("fit.ipynb", 2, 1, "jax.grad(ops.call)"), ("ops.py", None, 5, "call")]


def test_what_differentiates_is_found_among_very_many_files(tmp_path):
    for index in range(150):
        text = f"from ops import call\n\n\ndef f{index}(x):\n    return call(x)\n"
        (tmp_path / f"a{index}.py").write_text(text)
    (tmp_path / "train.py").write_text("import jax\nfrom ops import call\n\nprint(jax.grad(call)(1.0))\n")
    text = "import jax\n\n\ndef call(x):\n    return jax.pure_callback(abs, x, x)\n"
    (verdict,) = verdicts(tmp_path, "ops.py", text)
    assert summary(verdict) == "reverse"
