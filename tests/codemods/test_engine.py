"""One file through every step, and what happens where a step cannot be taken."""

from __future__ import annotations

import ast
import codecs
import sys
from pathlib import Path

import pytest

from codemods import engine
from codemods.diagnostics import CODES
from codemods.engine import migrate
from codemods.model import FileResult, Options, Status
from codemods.project import Project
from codemods.rewrite import NoPlace
from codemods.source import Change, SourceError, SourceFile

PROGRAM = """\
import jax
import numpy as np


def _host(x):
    return np.sin(x)


y = jax.pure_callback(_host, S, x)
"""
ADAPTED = "import jax\ny = jax.pure_callback(host, S, x)\n"


def run(text: str | bytes, **options: object) -> FileResult:
    data = text.encode() if isinstance(text, str) else text
    source = SourceFile.from_bytes(Path("m.py"), data)
    return migrate(source, Project.of([]), Options(**options))  # type: ignore[arg-type]


def statuses(result: FileResult) -> list[str]:
    return [str(site.status) for site in result.sites]


# ------------------------------------------------------------------------------- the way through


def test_a_call_is_rewritten_and_said_so():
    result = run(PROGRAM)
    assert result.changed and result.error is None
    (site,) = result.sites
    assert (site.line, site.column, site.end_line, site.callback) == (9, 5, 9, "_host")
    assert site.status is Status.REWRITTEN
    text = result.after.decode()
    assert "def _host(ctx, out, x):" in text and "bufcb.buffer_callback(_host, S)(x)" in text


def test_a_file_without_a_call_comes_back_as_it_is():
    data = b"import jax\r\nx = 1  \r\n"
    result = run(data)
    assert not result.changed and result.after is result.before
    assert result.sites == () and result.notes == () and result.error is None


def test_a_second_run_changes_nothing():
    once = run(PROGRAM).after
    twice = run(once)
    assert not twice.changed and twice.sites == ()


@pytest.mark.parametrize("text", [PROGRAM, ADAPTED])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_line_endings_and_the_mark_survive(text: str, newline: str, bom: bytes):
    result = run(bom + text.replace("\n", newline).encode())
    assert result.after.startswith(bom) and not result.after.removeprefix(bom).startswith(codecs.BOM_UTF8)
    after = result.after.removeprefix(bom).decode()
    assert newline in after
    assert not set("\r\n") & set(after.replace(newline, ""))
    ast.parse(after)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "iso-8859-15"])
def test_a_file_keeps_its_encoding(encoding: str):
    data = f"# coding: {encoding}\nname = 'é'\n{ADAPTED}".encode(encoding)
    result = run(data)
    assert result.changed
    assert "name = 'é'" in result.after.decode(encoding)


def test_columns_count_characters_and_lines_are_those_of_the_original():
    result = run("import jax\nz = 'é日', jax.pure_callback(\n    host,\n    S,\n)\n")
    (site,) = result.sites
    assert (site.line, site.column, site.end_line) == (2, 11, 5)


def test_sites_come_in_order_of_position():
    text = (
        "import jax\ny = jax.pure_callback(f, S, jax.pure_callback(g, S, x))\n"
        "jax.pure_callback(lambda a: h(a), S, x)\n"
    )
    assert [site.callback for site in run(text).sites] == ["f", "g", "<lambda>"]


def test_a_long_callback_is_shown_in_short():
    callback = "make(" + ", ".join("argument" for _ in range(20)) + ")"
    (site,) = run(f"import jax\njax.pure_callback({callback}, S, x)\n").sites
    assert len(site.callback) == 60 and site.callback.endswith("...")


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        pytest.param(ADAPTED, "adapted", "BC101", id="adapted"),
        pytest.param("import jax\nf(jax.pure_callback)\n", "adapted", "BC110", id="a value"),
        pytest.param("import jax\njax.pure_callback(f)\n", "refused", "BC202", id="incomplete"),
        pytest.param("a.pure_callback(f, S, x)\n", "refused", "BC201", id="of an unknown object"),
        pytest.param("import q\nq.pure_callback(f, S, x)\n", "skipped", "BC003", id="of another library"),
        pytest.param(
            "import jax\njax.pure_callback(f, S, x)  # bufcb: skip\n", "skipped", "BC004", id="suppressed"
        ),
        pytest.param("import jax\njax.pure_callback = f\n", "refused", "BC206", id="replaced"),
    ],
)
def test_every_outcome_has_a_code_that_is_documented(text: str, status: str, code: str):
    (site,) = run(text).sites
    assert str(site.status) == status
    assert site.diagnostic is not None and site.diagnostic.code == code
    assert code in CODES


def test_only_what_is_migrated_changes_the_file():
    for text in ("import jax\njax.pure_callback(f)\n", "import q\nq.pure_callback(f, S, x)\n"):
        assert not run(text).changed
    assert run(ADAPTED).changed


# ------------------------------------------------------------------------------- notes


def test_an_unused_suppression_is_noted():
    result = run("import jax\nx = 1  # bufcb: skip\n")
    (note,) = result.notes
    assert (note.line, note.column, note.diagnostic.code) == (2, 8, "BC005")


def test_a_suppression_that_was_of_use_is_not_noted():
    assert run("import jax\njax.pure_callback(f, S, x)  # bufcb: skip\n").notes == ()


def test_a_string_that_is_looked_up_is_noted():
    result = run("import jax\ng('é', 'jax.pure_callback')\n")
    (note,) = result.notes
    assert (note.line, note.column, note.diagnostic.code) == (2, 8, "BC006")


def test_notes_come_in_order_of_position():
    text = "import jax\nx = 1  # bufcb: skip\ng('jax.pure_callback')\ny = 2  # bufcb: skip\n"
    assert [(note.line, note.diagnostic.code) for note in run(text).notes] == [
        (2, "BC005"),
        (3, "BC006"),
        (4, "BC005"),
    ]


# ------------------------------------------------------------------------------- what cannot be done


def test_a_file_that_cannot_be_parsed_is_an_error():
    with pytest.raises(SourceError, match=r"^m\.py:2: cannot be parsed"):
        run("import jax\njax.pure_callback(\n")


def test_a_result_that_the_encoding_cannot_take_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "x = '日'\n"),))
    with pytest.raises(SourceError, match=r"^m\.py: cannot be written in iso-8859-1"):
        run(f"# coding: latin-1\n{ADAPTED}")


def test_a_file_without_a_place_for_the_import_is_refused(monkeypatch: pytest.MonkeyPatch):
    def nowhere(*_: object) -> tuple[Change, ...]:
        raise NoPlace("There is no line of its own for the import.")

    monkeypatch.setattr(engine, "rewrite", nowhere)
    result = run(PROGRAM)
    assert not result.changed and result.error is None
    (site,) = result.sites
    assert site.status is Status.REFUSED
    assert site.diagnostic is not None and site.diagnostic.code == "BC204"
    assert "no line of its own" in site.diagnostic.message


def test_a_result_that_does_not_parse_is_our_defect_and_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "x = 1\ny = = 2\n"),))
    result = run(f"{PROGRAM}q.pure_callback(f)\n")
    assert result.after == result.before
    assert result.error is not None and result.error.startswith("m.py:2: ") and "report this" in result.error
    assert statuses(result) == ["refused", "refused"]
    assert result.sites[0].diagnostic is not None and result.sites[0].diagnostic.code == "BC205"
    assert result.sites[1].diagnostic is not None and result.sites[1].diagnostic.code == "BC201"


def test_what_was_skipped_stays_skipped_when_the_rest_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "y = = 2\n"),))
    assert statuses(run(f"{ADAPTED}jax.pure_callback(f, S, x)  # bufcb: skip\n")) == ["refused", "skipped"]


# ------------------------------------------------------------------------------- options


def test_arrays_jax_keeps_every_callback_as_it_is():
    result = run(PROGRAM, arrays="jax")
    (site,) = result.sites
    assert site.status is Status.ADAPTED and site.diagnostic is not None and site.diagnostic.code == "BC117"
    assert b'arrays="jax"' in result.after


def test_arrays_numpy_takes_numpys_arithmetic():
    text = PROGRAM.replace("np.sin(x)", "np.sum(x)")
    assert statuses(run(text)) == ["adapted"]
    result = run(text, arrays="numpy")
    assert statuses(result) == ["rewritten"]
    assert result.sites[0].diagnostic is not None and result.sites[0].diagnostic.code == "BC007"


def test_public_rewrites_a_public_function_in_place():
    text = PROGRAM.replace("_host", "host")
    assert b"_host_into" in run(text).after
    assert b"_host_into" not in run(text, public=True).after


def test_views_hand_out_views():
    text = PROGRAM.replace("np.sin(x)", "keep(np.asarray(x))")
    assert b"np.array(x)" in run(text).after
    assert b"np.array(x)" not in run(text, views=True).after


def test_a_default_vmap_method_is_written():
    assert b'vmap_method="sequential"' in run(PROGRAM, default_vmap_method="sequential").after


def test_an_expression_can_be_assumed_to_be_jax():
    text = "y = self._jax.pure_callback(host, S, x)\n"
    assert statuses(run(text)) == ["refused"]
    assert statuses(run(text, assume_jax=("self._jax",))) == ["adapted"]


@pytest.mark.parametrize(
    "options", [{}, {"target": "jax"}, {"arrays": "numpy"}, {"arrays": "jax"}, {"public": True}]
)
def test_the_result_parses_and_is_stable_under_every_option(options: dict[str, object]):
    for text in (PROGRAM, ADAPTED):
        once = run(text, **options).after
        ast.parse(once)
        assert run(once, **options).after == once


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_are_scopes_of_their_own():
    text = """\
import jax
import numpy as np

type Pair[T] = tuple[T, T]


def _sine[T](x: T) -> T:
    return np.sin(x)


class Scale[T]:
    def __init__(self, factor: T) -> None:
        self.factor = factor

    def _apply(self, x):
        return np.multiply(x, np.float32(self.factor))

    def __call__[U](self, x: U) -> U:
        np, spec = x, jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(self._apply, spec, _call(np))


def _call[np](x: np):
    return jax.pure_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
"""
    result = run(text)
    assert statuses(result) == ["rewritten", "rewritten"]
    assert [line for line in result.after.decode().splitlines() if line not in text.splitlines()] == [
        "import bufcb",
        "def _sine[T](ctx: bufcb.ExecutionContext, out: bufcb.Buffer, x: T) -> None:",
        "    x = np.asarray(x)",
        "    out[...] = np.sin(x)",
        "    return",
        "    def _apply(self, ctx, out, x):",
        "        x = np.asarray(x)",
        "        bufcb.store(out, np.multiply(x, np.float32(self.factor)))",
        "        return",
        "        return bufcb.buffer_callback(self._apply, spec)(_call(np))",
        "    return bufcb.buffer_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)",
    ]


@pytest.mark.parametrize("views", [False, True])
def test_helpers_have_no_place_where_jax_is_imported_in_functions_alone(views: bool):
    text = (
        "import numpy as np\n\n\ndef run(x, spec):\n    import jax\n\n"
        "    def host(v):\n        return np.square(v)\n\n"
        "    return jax.pure_callback(host, spec, x)\n"
    )
    result = run(text, target="jax", views=views)
    assert statuses(result) == ["refused"] and not result.changed
    assert result.sites[0].diagnostic.code == "BC204"
