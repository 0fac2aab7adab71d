"""Notebooks: bytes that stay, cells that are read as one module, and places as the user sees them."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from codemods import cli
from codemods.engine import migrate
from codemods.model import LARGEST_NOTEBOOK, FileResult, Options
from codemods.notebooks import Notebook
from codemods.notebooks.document import Document
from codemods.project import Project
from codemods.source import Change, SourceError, SourceFile

PATH = Path("n.ipynb")
HEADER = "import jax\nimport numpy as np"
SPEC = "jax.ShapeDtypeStruct((2,), 'float32')"
HOST = "def _host(x):\n    return np.sort(np.asarray(x))"
CALL = f"y = jax.pure_callback(_host, {SPEC}, x)"
CALLED = f"y = bufcb.buffer_callback(_host, {SPEC})(x)"


def code(source: str | list[str], **more: object) -> dict:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines, **more}


def text(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": [source]}


def notebook(*cells: dict | str, metadata: dict | None = None, **style: object) -> bytes:
    written = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    whole = {"cells": written, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, **{"indent": 1, **style}).encode("utf-8", "surrogatepass")


def read(*cells: dict | str, **style: object) -> Notebook:
    return Notebook.from_bytes(PATH, notebook(*cells, **style))


def run(*cells: dict | str, options: Options | None = None, project: Project | None = None) -> FileResult:
    return migrate(read(*cells), project or Project(()), options or Options())


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data.decode("utf-8-sig"))["cells"]]


def migrated(*cells: dict | str, **settings: Options) -> list[str]:
    result = run(*cells, **settings)
    assert result.error is None
    return sources(result.after)


def outcome(*cells: dict | str) -> list[tuple[str, str | None]]:
    return [(site.status.value, site.diagnostic and site.diagnostic.code) for site in run(*cells).sites]


# ------------------------------------------------------------------------------- the JSON


SOURCES = st.text("a é\u2028😀\n\r\t\\\"'/", max_size=12)
STYLES = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 4, "\t"]),
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" ,  ", " : ")]),
    }
)
ANY_CELLS = st.lists(
    st.one_of(
        SOURCES.map(code),
        SOURCES.map(lambda source: code(source) | {"source": source}),
        st.lists(SOURCES, max_size=4).map(code),  # strings that are no lines
        SOURCES.map(text),
    ),
    max_size=4,
)


@st.composite
def changes_of(draw: st.DrawFn, length: int) -> list[Change]:
    points = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
    pairs = zip(points[::2], points[1::2], strict=False)
    return [Change(start, end, draw(SOURCES)) for start, end in pairs]


@given(ANY_CELLS, STYLES)
def test_cells_are_found_in_any_layout(cells, style):
    document = Document.read(notebook(*cells, **style).decode())
    found = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell.text for cell in document.cells] == ["".join(cell["source"]) for cell in found]
    spans = [json.loads(document.text[cell.start : cell.end]) for cell in document.cells]
    assert spans == [cell["source"] for cell in found]


@given(ANY_CELLS, STYLES)
def test_without_a_change_every_byte_stays(cells, style):
    document = Document.read(notebook(*cells, **style).decode())
    assert document.changed({cell: [] for cell in document.cells if cell.tokens}) == document.text


@given(ANY_CELLS, STYLES, st.data())
def test_a_change_of_a_cell_is_that_of_its_text(cells, style, data):
    document = Document.read(notebook(*cells, **style).decode())
    wanted, by_cell = [*cells], {}
    for cell in document.cells:
        changes = by_cell[cell] = data.draw(changes_of(len(cell.text)))
        parts, position = [], 0
        for change in changes:
            parts += [cell.text[position : change.start], change.text]
            position = change.end
        new = "".join([*parts, cell.text[position:]])
        if changes and not cell.text.endswith(("\n", "\r")):
            new = new.rstrip("\r\n")
        if changes and not cell.text.startswith(("\n", "\r")):
            new = new.lstrip("\r\n")
        wanted[cell.number - 1] = new
    after = document.changed(by_cell)
    assert sources(after.encode()) == [
        each if isinstance(each, str) else "".join(each["source"]) for each in wanted
    ]
    again = Document.read(after)
    assert [cell.is_list for cell in again.cells] == [cell.is_list for cell in document.cells]
    assert outside(again) == outside(document)


def outside(document: Document) -> list[str]:
    """What is not the source of a code cell."""
    edges = [0, *(edge for cell in document.cells for edge in (cell.start, cell.end)), len(document.text)]
    return [document.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


@given(st.lists(st.sampled_from(["a\n", "b = 1\n", "\n", "é\n"]), min_size=1, max_size=5), STYLES, st.data())
def test_lines_that_stay_keep_their_strings(lines, style, data):
    document = Document.read(notebook(code(lines), **style).decode())
    (cell,) = document.cells
    at = data.draw(st.integers(0, len(lines)))
    offset = len("".join(lines[:at]))
    after = Document.read(document.changed({cell: [Change(offset, offset, "new\n")]}))
    wanted = [token.value for token in cell.tokens]
    wanted.insert(at, "new\n")
    assert [token.value for token in after.cells[0].tokens] == wanted


def changed(raw: str, *changes: Change) -> str:
    """The text of a cell's source once it is changed."""
    whole = f'{{"cells": [{{"cell_type": "code", "source": {raw}}}]}}'
    document = Document.read(whole)
    after = document.changed({document.cells[0]: changes})
    head, tail = whole[: document.cells[0].start], whole[document.cells[0].end :]
    assert after.startswith(head) and after.endswith(tail)
    return after[len(head) : len(after) - len(tail)]


@pytest.mark.parametrize(
    ("raw", "change", "wanted"),
    [
        pytest.param(r'"a\u00e9\/b"', Change(0, 1, "x"), r'"x\u00e9\/b"', id="escapes stay"),
        pytest.param(
            r'"\u00e9a"', Change(1, 2, "ü😀"), r'"\u00e9\u00fc\ud83d\ude00"', id="new ones as in the cell"
        ),
        pytest.param('"éa"', Change(1, 2, "ü😀"), '"éü😀"', id="no new ones"),
        pytest.param(r'"\ud83d\ude00a"', Change(1, 2, "b"), r'"\ud83d\ude00b"', id="a pair is one character"),
        pytest.param(r'"\\u00e9a"', Change(6, 7, "ü"), r'"\\u00e9ü"', id="a backslash is no escape"),
        pytest.param('["a"]', Change(0, 0, "b\n"), '["b\\n", "a"]', id="one string"),
        pytest.param('["a"]', Change(2, 2, "b\n"), '["a\\n", "b"]', id="behind the end"),
        pytest.param('["a\\n"]', Change(2, 2, "b\n"), '["a\\n", "b\\n"]', id="in front of the end"),
        pytest.param('["a\\n",\n  "b"]', Change(2, 4, ""), '["a"]', id="the last line goes"),
        pytest.param('["a\\n",\n  "b"]', Change(0, 4, ""), "[]", id="all goes"),
        pytest.param(
            '[\n  "a\\n",\n\n  "b"\n ]', Change(2, 3, "c"), '[\n  "a\\n",\n\n  "c"\n ]', id="white space"
        ),
        pytest.param(
            '[\n  "a"\n ]', Change(2, 2, "b\n"), '[\n  "a\\n",\n  "b"\n ]', id="new lines like the first"
        ),
        pytest.param(
            '["a", "b\\nc"]', Change(0, 1, "x\ny"), '["x\\n", "y", "b\\nc"]', id="strings that are no lines"
        ),
        pytest.param('["a\\n", "b"]', Change(1, 2, ""), '["ab"]', id="a line ending goes"),
        pytest.param('["a\\n", "\\n", "b"]', Change(2, 3, ""), '["a\\n", "b"]', id="a blank line goes"),
    ],
)
def test_a_change_keeps_the_form(raw, change, wanted):
    assert changed(raw, change) == wanted


def test_the_whole_file_keeps_its_mark_and_its_line_endings():
    before = b"\xef\xbb\xbf" + notebook(HEADER, HOST, CALL, indent=2).replace(b"\n", b"\r\n")
    result = migrate(Notebook.from_bytes(PATH, before), Project(()), Options())
    assert result.changed and result.before == before
    assert result.after.startswith(b"\xef\xbb\xbf{\r\n") and b"\n" not in result.after.replace(b"\r\n", b"")


def test_only_cells_that_change_are_written():
    odd = code("z = 1") | {"outputs": [{"text": ["é\u2028", 1e400, 1.0, -0.0]}], "source": ["z", " = ", "1"]}
    before = notebook(HEADER, odd, HOST, CALL, text("pure_callback"), ensure_ascii=False)
    after = migrate(Notebook.from_bytes(PATH, before), Project(()), Options()).after
    same = [a == b for a, b in zip(sources(before), sources(after), strict=True)]
    assert same == [False, True, False, False, True]
    assert json.dumps(odd, ensure_ascii=False, indent=1).replace("\n", "\n  ").encode() in after


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            b'{\n "cells": [\n  {"x" 1}\n ]\n}', "n.ipynb:3: is not valid JSON: Expecting ':'", id="colon"
        ),
        pytest.param(b'{\n "cells": [,]}', "n.ipynb:2: is not valid JSON: Expecting value", id="value"),
        pytest.param(b'{"cells": [1 2]}', "n.ipynb:1: is not valid JSON: Expecting ','", id="element"),
        pytest.param(b'{"cells": [] "x": 1}', "n.ipynb:1: is not valid JSON: Expecting ','", id="member"),
        pytest.param(
            b'{"cells": [],}', "n.ipynb:1: is not valid JSON: Expecting property", id="trailing comma"
        ),
        pytest.param(b'{"cells": []} x', "n.ipynb:1: is not valid JSON: Extra data", id="extra data"),
        pytest.param(b'{"cells": [', "n.ipynb:1: is not valid JSON: Expecting value", id="cut off"),
        pytest.param(b"", "n.ipynb:1: is not valid JSON: Expecting value", id="empty"),
        pytest.param(b'{\n"cells": "\xff"}', "n.ipynb:2: is not valid utf-8", id="no text"),
        pytest.param(b"[]", "n.ipynb: is not a notebook: it holds no object", id="array"),
        pytest.param(b"{}", "n.ipynb: is not a notebook: it has no cells", id="no cells"),
        pytest.param(
            b'{"worksheets": [{"cells": []}], "nbformat": 3}', "n.ipynb: is a notebook of an old", id="3"
        ),
        pytest.param(
            b'{"cells": [\n{"cell_type": "code", "source": 1}]}',
            "n.ipynb:2: is not a notebook: the source of cell 1 is no text",
            id="no source",
        ),
        pytest.param(b'{"cells": [' + b"[" * 10**6, "n.ipynb: is nested too deeply", id="nesting"),
        pytest.param(b" " * (LARGEST_NOTEBOOK + 1), "n.ipynb: is too large", id="size"),
    ],
)
def test_what_is_no_notebook_is_one_clear_error(data, message):
    with pytest.raises(SourceError, match=f"^{re.escape(message)}"):
        SourceFile.from_bytes(PATH, data)


def test_of_a_key_that_stands_twice_the_last_counts():
    document = Document.read('{"cells": [{"source": "a", "cell_type": "code", "source": "b"}], "cells": []}')
    assert document.cells == ()
    document = Document.read('{"cells": [{"source": "a", "cell_type": "code", "source": "b"}]}')
    assert [cell.text for cell in document.cells] == ["b"]


@pytest.mark.parametrize(
    ("metadata", "is_read"),
    [
        ({}, True),
        ({"kernelspec": {"name": "python3", "display_name": "Python 3"}}, True),
        ({"language_info": {"name": "python"}, "kernelspec": {"language": "python"}}, True),
        ({"language_info": {"name": "ipython3"}}, True),
        ({"kernelspec": {"language": "R"}}, False),
        ({"kernelspec": {"language": "sage"}, "language_info": {"name": "python"}}, False),
        ({"language_info": {"name": "julia"}}, False),
        ({"language_info": None, "kernelspec": []}, True),
    ],
)
def test_notebooks_of_other_languages_are_left_alone(metadata, is_read):
    found = Notebook.from_bytes(PATH, notebook("x = 1", metadata=metadata))
    assert [part.cell.text for part in found.parts] == ["x = 1"] * is_read


def test_cells_of_other_languages_are_left_alone():
    polyglot = code("let x = 1;", metadata={"vscode": {"languageId": "javascript"}})
    assert [part.cell.number for part in read(polyglot, "x = 1").parts] == [2]


# ------------------------------------------------------------------------------- commands


def python(cell: str) -> str:
    """The Python of one cell, with commands as `_`; the line behind it as well, if that binds names."""
    found = read(cell)
    lines = found.text.removesuffix("\n").split("\n")
    boundary = lines.pop()
    assert max(found.boundaries) == len(lines) + 1
    ast.parse(found.text)
    shown = re.sub(r"__ipython_\d+__", "_", "\n".join(lines))
    names = "" if boundary == "pass" else f" -> {boundary.partition(')')[0]})"
    return shown + re.sub(r"__ipython_\d+__", "_", names)


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        # Lines.
        ("%matplotlib inline", "_()"),
        ("%pip install jax {version} $extra", "_('version', 'extra')"),
        ("!ls {folder} | grep 'x", "_('folder')"),
        ("!!ls", "_()"),
        ("if x:\n    !ls\n    %cd ..\n", "if x:\n    _()\n    _()\n"),
        ("!ls \\\n  -l\ny = 1", "_()\ny = 1"),
        ("%psource host", "_('host')"),
        ("%load_ext autoreload", "_()"),
        ("%unknown host(x) -o z", "_('host', 'x', 'z') -> (host, x, z,)"),
        ("%unknown module.host", "_('module', 'host') -> (module,)"),
        # Assignments.
        ("files = !ls *.py", "files = _()"),
        ("files=!ls\nx != y", "files=_()\nx != y"),
        ("a, b = %unknown c", "a, b = _('c') -> (c,)"),
        ("x = %env HOME", "x = _()"),
        ("f(a=%b)", None),
        ("x = a if b else %c", None),
        # Help.
        ("jax.pure_callback?", "_('jax', 'pure_callback')"),
        ("host??", "_('host')"),
        ("?host", "_('host')"),
        ("for f in g:\n    f.h?\n", "for f in g:\n    _('f', 'h')\n"),
        ("x = 'why?'", "x = 'why?'"),
        ("x = 1  # why?", "x = 1  # why?"),
        ("%time?", "_()"),
        ("%%time?", "_()"),
        # Automatic calls.
        ("/f x", "_('f', 'x')"),
        (",f x y", "_('f', 'x', 'y')"),
        (";f x", "_('f', 'x')"),
        ("pip install jax", "_()"),
        ("cd ..", "_()"),
        # Magics that run Python.
        ("%time y = f(x)", "_(); y = f(x)"),
        ("  %time f(x)", None),
        ("if a:\n    %time f(x)", "if a:\n    _(); f(x)"),
        ("%timeit -n 10 -r3 f(x)", "if _(): f(x)"),
        ("%timeit import jax", "if _(): import jax"),
        ("%lprun -f host main(host)", "_('host'); main(host)"),
        ("%prun -s cumulative -q f(x)  # all", "_('cumulative'); f(x)  # all"),
        ("%time f(x, \\\n  y)", "_(); f(x, \\\n  y)"),
        ("%time f(x,\n  y)", None),
        ("%timeit for i in x: f(i)", "_('for', 'i', 'in', 'x', 'f') -> (i, x, f,)"),
        ("%time", "_()"),
        # Files.
        ("%run helpers.py -x 1", "_('helpers', 'py'); from helpers import *"),
        ("%run -i ./lib/more.ipynb", "_('lib', 'more', 'ipynb'); from lib.more import *"),
        ("%run ../../up/in.py", "_('up', 'in', 'py')"),
        ("%run ../../up/one.py", "_('up', 'one', 'py'); from ...up.one import *"),
        ("%run 'a b.py'", "_('a', 'b', 'py')"),
        ("%run -m pkg.mod", "_('pkg', 'mod'); from pkg.mod import *"),
        ("%pylab inline", "_('inline'); from pylab import *"),
        # Cells.
        ("%%time\ny = f(x)", "_()\ny = f(x)"),
        ("\n# why\n%%capture out --no-stderr\ny = 1", "\n# why\n_('out')\ny = 1 -> (out,)"),
        ("%%capture\n%%time\n!ls\ny = 1", "_()\n_()\n_()\ny = 1"),
        ("%%bash --out listing\nls $x", "_('listing') -> (listing,)"),
        ("%%writefile host.py\nimport jax", "_('host', 'py')"),
        ("%%html\n<b>x = 1</b>", "_()"),
        ("%%!\nls", "_()"),
        ("%%unknown a\nb = c.d", "_('a', 'b', 'c', 'd') -> (a, b, c,)"),
        ("x = 1\n%%time\ny = 1", "x = 1\n_()\ny = 1"),
        # Not commands.
        ("x = (a\n% b)", "x = (a\n% b)"),
        ("x = a \\\n% b", "x = a \\\n% b"),
        ('x = """\n%time\n!ls\nwhy?\n"""', 'x = """\n%time\n!ls\nwhy?\n"""'),
        ("x = '\\\n%time'", "x = '\\\n%time'"),
        ("x = r'\\\\'\n%pwd", "x = r'\\\\'\n_()"),
        ("x = '''a\\''' b'''\n!ls", "x = '''a\\''' b'''\n_()"),
        ("f'{x!r}'\nx = f'%{y}'", "f'{x!r}'\nx = f'%{y}'"),
        ("x %= 2; y = x % 2", "x %= 2; y = x % 2"),
        ("x == y; f(a != b)", "x == y; f(a != b)"),
        ("if (x := 1) and {1: [2, '(']}:\n    pass\n!ls", "if (x := 1) and {1: [2, '(']}:\n    pass\n_()"),
        # Code that is no module's, and none.
        ("await f()\nasync for x in y: pass", "await f()\nasync for x in y: pass"),
        ("return 1", "return 1"),
        ("    x = 1\n    y = 2", "if _:\n    x = 1\n    y = 2"),
        ("  # why\n", "  # why\n"),
        ("", ""),
        ("loss = 0.5, step = 3", "_('loss', 'step') -> (loss, step,)"),
        ("def f(x:\n    return y = 1", "_('def', 'f', 'x', 'return', 'y') -> (f, y,)"),
    ],
)  # fmt: skip
def test_commands_are_told_from_python(cell, wanted):
    if wanted is None:
        wanted = python(cell)
        assert wanted.startswith(("_(", "if _:"))
    assert python(cell).rstrip("\n") == wanted.rstrip("\n")


@given(st.text("%!?x= \n\\'\"()#", max_size=30))
def test_any_text_is_covered_by_its_pieces(cell):
    (part,) = read(cell).parts
    edges = [(piece.start, piece.end) for piece in part.code.pieces]
    assert [edge for pair in edges for edge in pair] == sorted(edge for pair in edges for edge in pair)
    assert [a for a, _ in edges[1:]] == [b for _, b in edges[:-1]]
    assert not edges or (edges[0][0], edges[-1][1]) == (0, len(cell))


def test_no_name_of_the_notebook_stands_for_a_command():
    found = read("__ipython_1__ = 1", "!ls")
    assert (
        "__ipython__1__" not in found.text.replace("__ipython__2__", "") and "__ipython_1__ = 1" in found.text
    )


# ------------------------------------------------------------------------------- cells as one module


def test_a_cell_uses_what_the_cells_above_define():
    assert migrated(HEADER, HOST, CALL) == [
        "import bufcb\nimport jax\nimport numpy as np",
        "def _host(ctx, out, x):\n    out[...] = np.sort(np.asarray(x))\n    return",
        CALLED,
    ]


def test_an_import_goes_behind_the_last_one_of_its_cell():
    first = migrated(
        "import numpy as np\nfrom jax import pure_callback", f"y = pure_callback(np.sin, {SPEC}, x)"
    )
    assert first[0] == "import bufcb\nimport numpy as np"
    alone = migrated(
        "from jax import pure_callback", "import numpy as np", f"y = pure_callback(np.sin, {SPEC}, x)"
    )
    assert alone == [
        "import bufcb",
        "import numpy as np",
        f"y = bufcb.buffer_callback(bufcb.adapt(np.sin), {SPEC})(x)",
    ]


def test_an_import_behind_the_last_line_gets_a_line_of_its_own():
    options = Options(target="jax")
    cells = migrated("import jax", "import numpy as np", HOST, CALL, options=options)
    assert cells[0].startswith("import jax\nfrom jax.experimental.buffer_callback import buffer_callback")
    assert not cells[0].endswith("\n")
    assert cells[1] == "import numpy as np"


def test_a_cell_that_keeps_its_last_line_ending_keeps_it():
    assert migrated(f"{HEADER}\n", f"{HOST}\n\n", f"{CALL}\n")[1:] == [
        "def _host(ctx, out, x):\n    out[...] = np.sort(np.asarray(x))\n    return\n\n",
        f"{CALLED}\n",
    ]


def test_definitions_get_no_blank_lines_at_the_ends_of_cells():
    call = f"y = jax.pure_callback(lambda a: np.sort(np.asarray(a)), {SPEC}, x)"
    (_, hoisted) = migrated(HEADER, call)
    assert hoisted.startswith("def _sort(ctx, out, a):\n") and "    return\n\n\ny = " in hoisted
    (_, public, _) = migrated(
        HEADER, HOST.replace("_host", "host"), f"print(host(1))\n{CALL}".replace("_host", "host")
    )
    assert public.endswith("    return") and "\n\n\ndef _host_into(" in public


def test_windows_line_endings_of_a_cell_stay():
    cells = migrated(HEADER.replace("\n", "\r\n"), HOST.replace("\n", "\r\n"), CALL)
    assert cells[0] == "import bufcb\r\nimport jax\r\nimport numpy as np"
    assert cells[1] == "def _host(ctx, out, x):\r\n    out[...] = np.sort(np.asarray(x))\r\n    return"


def test_a_public_function_of_a_notebook_is_not_imported_by_others():
    cells = (HEADER, HOST.replace("_host", "host"), CALL.replace("_host", "host"))
    assert "def host(ctx, out, x):" in migrated(*cells)[1]
    for exported in ("#| export", "# export", "#|exporti", "#| export core.utils"):
        assert "def _host_into(" in migrated(cells[0], f"{exported}\n{cells[1]}", cells[2])[1]
    assert "def host(ctx, out, x):" in migrated(cells[0], f"# export the data\n{cells[1]}", cells[2])[1]


TESTDATA = Path(__file__).parents[2] / "testdata"


@pytest.mark.parametrize("seed", range(2))
def test_a_module_cut_into_cells_becomes_the_same(seed):
    """But for where imports go: a cell ends a block of them."""
    random = Random(seed)
    different, compared = [], 0
    for path in sorted(TESTDATA.glob("*/before.py")):
        module = "\n".join(path.read_text("utf-8-sig", errors="replace").splitlines())
        if "\ufffd" in module or "\f" in module:
            continue
        cells = cut(module, random)
        (whole, sites), (parts, cell_sites) = (
            outcome_of(SourceFile.from_bytes(Path(name), data))
            for name, data in (("m.py", module.encode()), ("m.ipynb", notebook(*cells)))
        )
        assert "%%time" not in map(str.strip, sources(parts)), path  # which needs a body
        bodies = (each.removeprefix("%%time\n") for each in sources(parts))
        joined = "\n".join(body for body in bodies if body != "pass")
        compared += 1
        if (statements(whole.decode()), sites) != (statements(joined), cell_sites):
            different.append(path.parent.name)
        changed = [a for a, b in zip(sources(parts), cells, strict=True) if a != b]
        assert not [cell for cell in changed if cell != cell.strip("\n")], path
    assert different == [] and compared > 300


def cut(module: str, random: Random) -> list[str]:
    """The statements of a module, some together in a cell, some timed."""
    lines, cuts, last = module.split("\n"), [0], 0
    for statement in ast.parse(module).body:
        first = (
            min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))]) - 1
        )
        while first > last and lines[first - 1].startswith("#"):
            first -= 1
        if first >= last > 0 and random.random() < 0.7:
            cuts.append(first)
        last = statement.end_lineno
    cells = ["\n".join(lines[start:end]).strip("\n") for start, end in pairwise([*cuts, len(lines)])]
    return [f"%%time\n{cell}" if random.random() < 0.2 else cell for cell in cells]


def outcome_of(source: SourceFile) -> tuple[bytes, list[tuple[str, str | None]]]:
    # What others may differentiate differs: they import a module, and no notebook.
    result = migrate(source, Project(()), Options(public=True, gradients="never"))
    return result.after, [
        (site.status.value, site.diagnostic and site.diagnostic.code) for site in result.sites
    ]


def statements(module: str) -> tuple[list[str], list[str]]:
    body = ast.parse(module).body
    imports = [ast.unparse(each) for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    return sorted(imports), [ast.unparse(each) for each in body if ast.unparse(each) not in imports]


@pytest.mark.parametrize(
    "use",
    [
        "%timeit _host(x)",
        "%%time\n_host(x)",
        "_host?",
        "%unknown _host",
        "!echo {_host(x)}",
        "z = %unknown _host",
        "%%unknown\n_host(x)",
        "%lprun -f _host f()",
        "print '%s' % _host(x)\n(",
    ],
)
def test_what_a_command_uses_is_used(use):
    cells = migrated(HEADER, HOST, use, CALL)
    assert cells[1].startswith(HOST) and cells[2] == use


@pytest.mark.parametrize(
    "binding",
    [
        "_host = !ls",
        "%%capture _host\nprint()",
        "%unknown _host",
        "_host = %unknown",
        "%%bash --out _host\nls",
    ],
)
def test_what_a_command_binds_is_bound(binding):
    assert outcome(HEADER, HOST, binding, CALL) == [("adapted", "BC114")]


def test_a_name_bound_in_two_cells_is_bound_twice():
    assert outcome(HEADER, HOST, CALL, HOST, "_host(1)") == [("adapted", "BC114")]


def test_python_in_magics_is_migrated():
    cells = migrated(HEADER, HOST, f"%time {CALL}", f"%%timeit\n{CALL}")
    assert cells[2:] == [f"%time {CALLED}", f"%%timeit\n{CALLED}"]


def test_a_command_stays_on_its_line():
    long, longer = (f"a_name_of_some_length_{'x' * 60} = {each}" for each in (CALL[4:], CALLED[4:]))
    assert migrated(HEADER, HOST, f"%timeit -n 3 {long}")[2] == f"%timeit -n 3 {longer}"
    hoisted = migrated(HEADER, f"%time {long.replace('_host', 'lambda v: np.sort(np.asarray(v))')}")[1]
    assert hoisted.startswith("def _sort(ctx, out, v):\n")
    assert hoisted.endswith(f"\n\n\n%time {longer.replace('_host', '_sort')}")


def test_a_command_over_several_lines_keeps_them():
    call = f"%time jax.pure_callback(_host, \\\n  {SPEC}, \\\n  x)"
    cell = migrated(HEADER, HOST, call)[2]
    assert cell.startswith("%time bufcb.buffer_callback(_host, ") and all(
        line.endswith("\\") for line in cell.split("\n")[:-1]
    )


def test_a_command_that_is_torn_apart_is_our_failure():
    found = read("%time f(x)")
    offset = found.text.index("(x)") + 1
    found.check([Change(offset, offset + 1, "y")])
    for wrong in ("\ny", "y)\n%time g("):
        with pytest.raises(SourceError, match=r"^n\.ipynb:cell 1:1: a command of IPython is changed"):
            found.check([Change(offset, offset + 1, wrong)])


def test_what_stands_for_a_command_does_not_change():
    found = read("!ls", "x = 1\n%time f(x)")
    start = found.text.index("f(x)")
    for change in (Change(1, 2, "y"), Change(start - 1, start + 1, "g"), Change(1, 1, "y")):
        with pytest.raises(SourceError, match="a command of IPython stands in code that must change"):
            found.changed([change])


def test_an_import_that_a_timed_cell_forgets_is_no_place_for_another():
    first, second, *_ = migrated(f"%%timeit\n{HEADER}", HEADER, HOST, CALL)
    assert first == f"%%timeit\n{HEADER}"
    assert second == f"import bufcb\n{HEADER}"


def test_an_import_in_a_timed_line_is_no_place_for_another():
    first, second, *_ = migrated("%timeit import jax", HEADER, HOST, CALL)
    assert (first, second) == ("%timeit import jax", f"import bufcb\n{HEADER}")


def test_commands_inside_of_a_function_that_changes_stay():
    body = "def _host(x):\n    !date {x}\n    return np.sort(np.asarray(x))"
    assert migrated(HEADER, body, CALL)[1] == (
        "def _host(ctx, out, x):\n    !date {x}\n    out[...] = np.sort(np.asarray(x))\n    return"
    )


def test_shell_text_is_no_call_site():
    for cell in (
        "%%bash\npython -c 'jax.pure_callback(f)'",
        "!grep 'pure_callback(' *",
        "%%html\npure_callback()",
    ):
        result = run(HEADER, cell)
        assert (result.sites, result.notes, result.changed) == ((), (), False)


@pytest.mark.parametrize("command", ["%%writefile m.py", "%%python", "%%unknown"])
def test_python_that_is_not_read_is_noted(command):
    (note,) = run(HEADER, f"{command}\nimport jax\n x = jax.pure_callback(f)").notes
    assert (note.cell, note.line, note.column, note.diagnostic.code) == (2, 3, 10, "BC011")
    assert f"`{command.split()[0]}`" in note.diagnostic.reason


def test_a_cell_that_cannot_be_parsed_does_not_stop_the_others():
    assert migrated(HEADER, HOST, "epoch 1: loss = 0.5", CALL)[2:] == ["epoch 1: loss = 0.5", CALLED]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            "x = 1\njax.pure_callback(_host, s, x",
            r"n\.ipynb:cell 3:2: cannot be parsed: '\(' was never closed",
        ),
        ("x = 1\ny = = jax.pure_callback", r"n\.ipynb:cell 3:2: cannot be parsed: invalid syntax"),
        ("'''pure_callback", r"n\.ipynb:cell 3:1: cannot be parsed: unterminated triple-quoted string"),
        ("print 'pure_callback'\nx", r"n\.ipynb:cell 3:1: cannot be parsed: .*; this looks like Python 2"),
        ("def pure_callback(x):", r"n\.ipynb:cell 3:\d: cannot be parsed: expected an indented block"),
        ("x = pure_callback + \\", r"n\.ipynb:cell 3:1: cannot be parsed: "),
    ],
)
def test_a_cell_with_the_word_that_cannot_be_parsed_is_an_error(cell, message):
    with pytest.raises(SourceError, match=f"^{message}"):
        run(HEADER, text("-"), cell, CALL)


@pytest.mark.parametrize("cells", [("x = 1", text("pure_callback")), ("%%bash\npure_callback", "def (")])
def test_the_word_outside_of_code_is_nothing(cells):
    result = run(*cells)
    assert (result.sites, result.notes, result.error, result.changed) == ((), (), None, False)


# ------------------------------------------------------------------------------- the project around


def test_a_function_that_another_notebook_runs_is_used(tmp_path):
    lib, main = tmp_path / "lib.ipynb", tmp_path / "main.ipynb"
    lib.write_bytes(notebook(HEADER, HOST, CALL))
    main.write_bytes(notebook("%run lib.ipynb", "_host(1)"))
    result = migrate(SourceFile.from_bytes(lib, lib.read_bytes()), Project((tmp_path,)), Options())
    assert sources(result.after)[1].startswith(HOST)
    main.write_bytes(notebook("%cd lib.ipynb", "_host(1)"))
    result = migrate(SourceFile.from_bytes(lib, lib.read_bytes()), Project((tmp_path,)), Options())
    assert sources(result.after)[1].startswith("def _host(ctx, out, x):")


def test_a_name_that_a_notebook_escapes_is_used(tmp_path):
    module = tmp_path / "m.py"
    module.write_text(f"{HEADER}\n\n\n{HOST}\n\n\n{CALL}\n".replace("_host", "_größe"))
    other = tmp_path / "n.ipynb"
    for cell, is_used in (("import m\nm._größe(1)", True), ("import m\nm.größe(1)", False)):
        other.write_bytes(notebook(cell, ensure_ascii=True))
        result = migrate(SourceFile.from_bytes(module, module.read_bytes()), Project((tmp_path,)), Options())
        assert ("def _größe(x)" in result.after.decode()) == is_used


@pytest.mark.parametrize("file", ["setup.ipynb", "setup.py"])
def test_what_a_notebook_runs_is_looked_into(tmp_path, file):
    source = f"{HEADER}\n{HOST}"
    (tmp_path / file).write_bytes(source.encode() if file.endswith("py") else notebook(source))
    main = tmp_path / "main.ipynb"
    main.write_bytes(notebook(f"%run {file}", CALL))
    result = migrate(SourceFile.from_bytes(main, main.read_bytes()), Project((tmp_path,)), Options())
    assert [(site.status.value, site.diagnostic.code) for site in result.sites] == [("adapted", "BC101")]
    assert "bufcb.buffer_callback(" in sources(result.after)[1]


def test_what_a_notebook_runs_out_of_sight_may_be_anything():
    assert outcome("%run ../elsewhere.py", CALL) == [("refused", "BC201")]
    assert outcome("%run elsewhere.py", CALL) == [("refused", "BC201")]


def test_a_patch_in_a_notebook_is_named_by_its_cell(tmp_path):
    module = tmp_path / "m.py"
    module.write_text(f"{HEADER}\n{HOST}\n{CALL}\n")
    (tmp_path / "n.ipynb").write_bytes(notebook(text("-"), "import jax\njax.pure_callback = None"))
    result = migrate(SourceFile.from_bytes(module, module.read_bytes()), Project((tmp_path,)), Options())
    (note,) = result.notes
    assert "n.ipynb:cell 2:2 replaces" in note.diagnostic.reason


# ------------------------------------------------------------------------------- what the user sees


def test_places_are_those_of_the_cell():
    cells = (text("-"), HEADER, HOST, f"\nif True:\n    %time {CALL}", "z = (jax.\n  pure_callback)")
    first, second = run(*cells).sites
    assert (first.cell, first.line, first.column, first.end_line) == (4, 3, 15, 3)
    assert (second.cell, second.line, second.column, second.end_line) == (5, 1, 6, 2)


def test_a_message_names_lines_of_cells():
    body = "def _host(x):\n    y = 1\n    return x[y] // 2"
    (site,) = run(HEADER, text("-"), body, CALL).sites
    assert site.diagnostic is not None and "(line 3 of cell 3)" in site.diagnostic.reason


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("It is so (line 1).", "It is so (line 1 of cell 1)."),
        ("Line 4 is deep", "Line 1 of cell 3 is deep"),
        ("(lines 1, 2, 4)", "(lines 1, 2 of cell 1, line 1 of cell 3)"),
        ("(line 12 of helpers.py)", "(line 12 of helpers.py)"),
        ("an online 1", "an online 1"),
    ],
)
def test_lines_in_messages_are_those_of_cells(message, wanted):
    assert read("a = 1\nb = 2", text("-"), "c = 3").reworded(message) == wanted


def test_an_unused_suppression_is_noted_in_its_cell():
    (note,) = run(HEADER, "jax.pure_callback", "x = 1\ny = 2  # bufcb: skip").notes
    assert (note.cell, note.line, note.column, note.diagnostic.code) == (3, 2, 8, "BC005")


def test_a_suppression_is_heeded():
    assert outcome(HEADER, HOST, f"{CALL}  # bufcb: skip") == [("skipped", "BC004")]


def test_the_commands_show_places_in_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PATH.write_bytes(notebook(HEADER, "def _host(x):\n    return x[0] // 2", f"if True:\n    {CALL}"))
    result = CliRunner().invoke(cli.migrate, ["."])
    assert result.exit_code == 0
    assert result.stderr.startswith("n.ipynb:cell 3:2:9: BC104 ")
    assert f"\n    {CALL}\n" in result.stderr
    assert "--- a/n.ipynb\n+++ b/n.ipynb\n" in result.stdout
    report = json.loads(CliRunner().invoke(cli.migrate, [".", "--format", "json"]).stdout)
    (site,) = report["files"][0]["sites"]
    assert (site["cell"], site["line"], site["column"]) == (3, 2, 9)
    assert CliRunner().invoke(cli.migrate, [".", "--write"]).exit_code == 0
    assert sources(PATH.read_bytes())[0].startswith("import bufcb\n")
    assert CliRunner().invoke(cli.migrate, [".", "--check"]).exit_code == 0


def test_a_broken_notebook_does_not_stop_the_rest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_text('{"pure_callback')
    Path("b.ipynb").write_bytes(notebook(HEADER, HOST, CALL))
    result = CliRunner().invoke(cli.migrate, [".", "--write"])
    assert result.exit_code == cli.EXIT_FAILED
    assert "error: a.ipynb:1: is not valid JSON" in result.stderr
    assert sources(Path("b.ipynb").read_bytes())[2] == CALLED
