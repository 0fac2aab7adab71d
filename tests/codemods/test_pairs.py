"""The pairs in `testdata/`: each folder is a rule, its `before.py` becomes its `after.py` byte for byte.

So does a `before.ipynb`, whose code cells are run as one program, without what only IPython understands.

A pair may have an `options.toml`:

  options   command-line options of `bufcb-migrate`
  exit      the exit status, 0 if it says nothing
  sites     `[status, code]` of each call site in order; `["rewritten", ""]` each if it says nothing
  notes     the codes of the notes in order
  findings  Pyflakes' messages that are new in `after.py`, each with its reason in a comment
  printed   what `after.py` prints, where `before.py` raises, or needs an older JAX than is supported

Further `.py` files of a folder are the rest of the project, to which the migrated file is `program.py`.
"""

import ast
import collections
import dataclasses
import difflib
import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pyflakes.api
import pyflakes.reporter
import pytest
from click.testing import CliRunner

from codemods import cli, diagnostics, engine
from codemods.source import Change

ROOT = Path(__file__).parents[2]
TESTDATA = ROOT / "testdata"
HARNESS = Path(__file__).with_name("harness.py")
# Every pair must also print the same when it is migrated with these on top of its own options.
OTHER_OPTIONS = [("--target", "jax", "--fuse"), ("--arrays", "jax")]
KEYS = {"options", "exit", "sites", "notes", "findings", "printed"}


@dataclasses.dataclass(frozen=True, eq=False)
class Pair:
    folder: Path
    settings: dict

    @classmethod
    def read(cls, folder: Path) -> "Pair":
        path = folder / "options.toml"
        return cls(folder, tomllib.loads(path.read_text()) if path.exists() else {})

    @property
    def suffix(self) -> str:
        return ".ipynb" if (self.folder / "before.ipynb").exists() else ".py"

    @property
    def before(self) -> bytes:
        return (self.folder / f"before{self.suffix}").read_bytes()

    @property
    def after(self) -> bytes:
        return (self.folder / f"after{self.suffix}").read_bytes()

    def code(self, program: bytes) -> bytes:
        """The Python of a program."""
        return program if self.suffix == ".py" else "\n".join(cells_of(program)).encode()

    def line(self, site: dict, line: int, program: bytes) -> int:
        """The line of the Python of a program that a site's line is."""
        above = cells_of(program)[: site["cell"] - 1] if site["cell"] else []
        return line + sum(cell.count("\n") + 1 for cell in above)

    def lay_out(self, folder: Path, program: bytes) -> Path:
        """Writes a program and the rest of its project into an empty folder."""
        folder.mkdir(parents=True)
        for other in self.folder.rglob("*.py"):
            if other.name not in ("before.py", "after.py"):
                copy = folder / other.relative_to(self.folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(other, copy)
        path = folder / f"program{self.suffix}"
        path.write_bytes(program)
        return path

    def lay_out_code(self, folder: Path, program: bytes) -> Path:
        """The same, so that it can be run: a notebook prints on its own, and has no `main()`."""
        if self.suffix == ".py":
            return self.lay_out(folder, program)
        path = self.lay_out(folder, program).with_suffix(".py")
        path.write_bytes(self.code(program) + b"\n\ndef main():\n    pass\n")
        return path


def cells_of(notebook: bytes) -> list[str]:
    """The Python of each cell, with as many lines; empty lines for other cells."""
    cells = json.loads(notebook)["cells"]
    return [as_python(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def as_python(kind: str, text: str) -> str:
    if kind != "code" or re.match(r"%%(?!time\b|capture\b)", text):
        return re.sub(".+", "", text)
    text = re.sub(r"^( *)%(?:time|timeit) (?!-)", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"^(\w+ = )[%!].*", r"\1None", text, flags=re.MULTILINE)
    return re.sub(r"^( *)(?:[%!?].*|.*\?)$", r"\1pass", text, flags=re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Migrated:
    """What became of a program: the command's exit status, its JSON for the file, the new bytes."""

    exit: int
    report: dict
    data: bytes


FOLDERS = sorted(f for f in TESTDATA.iterdir() if f.is_dir() and f.name != "demo")
PAIRS = [Pair.read(folder) for folder in FOLDERS]
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.folder.name.replace("_", " "))


@functools.cache
def migrated(pair: Pair, which: str, folder: Path, *more: str) -> Migrated:
    program = pair.lay_out(folder / pair.folder.name / "_".join((which, *more)), getattr(pair, which))
    arguments = [str(program), "--write", "--format", "json", *pair.settings.get("options", []), *more]
    result = CliRunner().invoke(cli.migrate, arguments)
    files = json.loads(result.stdout)["files"]
    report = next((file for file in files if Path(file["path"]).name == program.name), {})
    return Migrated(result.exit_code, report, program.read_bytes())


@pytest.fixture(scope="module")
def migrate(tmp_path_factory):
    """`migrate(pair, "before", *options)`: each text is migrated once for all tests."""
    folder = tmp_path_factory.mktemp("migrated")
    return lambda pair, which, *more: migrated(pair, which, folder, *more)


@pytest.fixture(scope="module")
def printed(tmp_path_factory, migrate):
    """What `main()` of every program prints, by pair and `before`, `after` or other options."""
    folder = tmp_path_factory.mktemp("programs")
    texts = {(pair, "after"): pair.after for pair in PAIRS}
    texts |= {(pair, "before"): pair.before for pair in PAIRS if "printed" not in pair.settings}
    texts |= {(pair, more): migrate(pair, "before", *more).data for more in OTHER_OPTIONS for pair in PAIRS}
    different = {(pair, text) for (pair, _), text in texts.items()}  # most options leave most texts alone
    programs = {key: key[0].lay_out_code(folder / str(n), key[1]).parent for n, key in enumerate(different)}
    found = run(list(programs.values()), folder)
    return {key: found[str(programs[key[0], text])] for key, text in texts.items()}


def run(programs: list[Path], folder: Path) -> dict[str, str]:
    """What each program prints, by its path; one process runs them all."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(HARNESS), *map(str, programs)]
    with open(folder / "progress", "w+") as progress:
        try:
            process = subprocess.run(
                command, check=False, stdout=subprocess.PIPE, stderr=progress, env=environment, timeout=300
            )
        except subprocess.TimeoutExpired:
            progress.seek(0)
            pytest.fail(f"A program hangs: {progress.read()[-500:]}")
        progress.seek(0)
        assert process.returncode == 0, f"A program crashes: {progress.read()[-2000:]}"
    return json.loads(process.stdout)


# ---------------------------------------------------------------------------------------- every pair


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_folder_holds_a_whole_pair(folder):
    names = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert {"before.py", "after.py"} <= names or {"before.ipynb", "after.ipynb"} <= names
    assert Pair.read(folder).settings.keys() <= KEYS


@each_pair
def test_before_becomes_after(pair, migrate):
    # Latin-1 maps bytes to characters one to one, and pytest shows how two strings differ.
    assert migrate(pair, "before").data.decode("latin-1") == pair.after.decode("latin-1")


@each_pair
def test_after_stays_as_it_is(pair, migrate):
    assert migrate(pair, "after").data == pair.after


@each_pair
def test_sites_and_notes_are_reported(pair, migrate):
    result = migrate(pair, "before")
    sites = [[site["status"], site["code"] or ""] for site in result.report["sites"]]
    assert sites == pair.settings.get("sites", [["rewritten", ""]] * len(sites))
    assert sites or "sites" in pair.settings
    assert [note["code"] for note in result.report["notes"]] == pair.settings.get("notes", [])
    assert result.exit == pair.settings.get("exit", 0)
    assert result.report["changed"] == (pair.before != pair.after)


@each_pair
def test_no_call_of_a_migrated_site_is_left(pair, migrate):
    """What the second run still finds is what the first one left alone."""
    left = [s for s in migrate(pair, "before").report["sites"] if s["status"] in ("refused", "skipped")]
    again = [
        s for s in migrate(pair, "after").report.get("sites", []) if s["callback"] != "bufcb.pure_callback"
    ]
    assert [(s["status"], s["code"]) for s in again] == [(s["status"], s["code"]) for s in left]


@each_pair
def test_after_has_no_new_finding(pair):
    new = findings(pair.code(pair.after)) - findings(pair.code(pair.before))
    assert sorted(new.elements()) == pair.settings.get("findings", [])


def findings(text: bytes) -> collections.Counter:
    """Pyflakes' messages without their places; a text that does not compile is a finding as well."""
    stream = io.StringIO()
    pyflakes.api.check(text, "program.py", pyflakes.reporter.Reporter(stream, stream))
    messages = [line.partition(" ")[2] for line in stream.getvalue().splitlines()]
    return collections.Counter(re.sub(r" from line \d+$", "", message) for message in messages)


@each_pair
def test_comments_survive(pair):
    """All but those of a dropped import, and type comments, whose result becomes `None`."""
    lost = comments(pair.code(pair.before)) - comments(pair.code(pair.after))
    assert [comment for comment in lost if not re.match(r"# type: \(.*\) ->", comment)] == []


def comments(text: bytes) -> collections.Counter:
    """How often each comment occurs outside of imports."""
    imports = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    tokens = tokenize.tokenize(io.BytesIO(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline)
    return collections.Counter(
        token.string for token in tokens if token.type == tokenize.COMMENT and token.start[0] not in imports
    )


@each_pair
def test_only_lines_that_must_change_change(pair, migrate):
    before, after = pair.code(pair.before), pair.code(pair.after)
    sites = [
        {**site, **{key: pair.line(site, site[key], pair.before) for key in ("line", "end_line")}}
        for site in migrate(pair, "before").report["sites"]
    ]
    lines, allowed = before.splitlines(keepends=True), may_change(before, sites)
    matcher = difflib.SequenceMatcher(None, lines, after.splitlines(keepends=True), autojunk=False)
    changed = {
        line + 1
        for tag, first, last, _, _ in matcher.get_opcodes()
        if tag in ("replace", "delete")
        for line in range(first, last)
        if lines[line].strip()
    }
    assert changed <= allowed, [lines[line - 1] for line in sorted(changed - allowed)]


def may_change(text: bytes, sites: list[dict]) -> set[int]:
    """The lines of imports, of calls, of lambdas, and of the callbacks' headers, returns and conversions."""
    allowed = {line for site in sites for line in range(site["line"], site["end_line"] + 1)}
    tree = ast.parse(text)
    names = {word for site in sites for word in re.findall(r"\w+", site["callback"])}
    for _ in range(3):  # a callback may be held by a variable or an attribute, or returned by a function
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and set().union(*map(names_in, node.targets)) & names:
                names |= names_in(node.value)
            elif isinstance(node, ast.FunctionDef) and node.name in names:
                returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
                names |= {value.id for value in returned if isinstance(value, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Lambda) or chooses_an_import(node):
            allowed.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            allowed.update(range(node.lineno, node.body[0].lineno))
            allowed.update(
                line
                for inner in ast.walk(node)
                if isinstance(inner, ast.Return) or (isinstance(inner, ast.Assign) and is_conversion(inner))
                for line in range(inner.lineno, inner.end_lineno + 1)
            )
    return allowed


def chooses_an_import(node: ast.AST) -> bool:
    """Whether a statement holds nothing but imports of which one is taken."""
    blocks = (
        [*getattr(node, "body", []), *getattr(node, "orelse", [])]
        if isinstance(node, ast.If | ast.Try)
        else []
    )
    blocks += [s for handler in getattr(node, "handlers", []) for s in handler.body]
    return bool(blocks) and all(isinstance(s, ast.Import | ast.ImportFrom) for s in blocks)


def names_in(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def is_conversion(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "asarray"


@each_pair
def test_after_prints_what_before_prints(pair, printed):
    expected = pair.settings.get("printed") or printed[pair, "before"]
    assert "Traceback" not in expected and expected.strip()
    assert printed[pair, "after"] == expected


@pytest.mark.parametrize("more", OTHER_OPTIONS, ids=" ".join)
@each_pair
def test_other_options_change_nothing_that_is_printed(pair, more, migrate, printed):
    text = migrate(pair, "before", *more).data
    assert printed[pair, more] == printed[pair, "after"]
    new = findings(pair.code(text)) - findings(pair.code(pair.before))
    undefined = {message for message in new if "undefined" in message}
    assert not undefined


# ---------------------------------------------------------------------------------------- all pairs


def emitted_codes() -> set[str]:
    """The codes that stand in the migration's sources, beside their table."""
    return {
        node.value
        for path in (ROOT / "codemods").rglob("*.py")
        if path.name != "diagnostics.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in diagnostics.CODES
    }


def test_text_that_does_not_parse_is_our_failure(tmp_path, monkeypatch):
    """BC205: the file is left alone, the site is refused, and the run fails."""
    pair = next(pair for pair in PAIRS if pair.folder.name == "lambda_in_a_call")
    monkeypatch.setattr(engine, "rewrite", lambda *_: (Change(0, 0, "def broken(:\n"),))
    result = migrated.__wrapped__(pair, "before", tmp_path)
    assert (result.exit, result.data) == (cli.EXIT_FAILED, pair.before)
    assert [(site["status"], site["code"]) for site in result.report["sites"]] == [("refused", "BC205")]
    assert "please report" in result.report["error"]


def test_every_code_is_met():
    met = {"BC205"} | {code for pair in PAIRS for _, code in pair.settings.get("sites", [])}
    met |= {code for pair in PAIRS for code in pair.settings.get("notes", [])}
    others = [path.read_text() for path in HARNESS.parent.glob("test_*.py") if path != Path(__file__)]
    met |= {code for text in others for code in re.findall(r"BC\d{3}", text)}
    assert emitted_codes() - met == set()
