"""What must hold of any program and what it becomes."""

import ast
import collections
import dataclasses
import io
import re
import shutil
import tempfile
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyflakes.api
import pyflakes.reporter
from worker import Worker

from codemods.analysis import on_deep_stack
from codemods.engine import migrate
from codemods.model import FileResult, Options
from codemods.project import Project
from codemods.source import SourceFile

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a program, and what it prints."""

    result: FileResult
    printed: str

    @property
    def statuses(self) -> list[str]:
        return [str(site.status) for site in self.result.sites]


@dataclasses.dataclass(frozen=True)
class Checker:
    """Migrates programs in a folder and compares what a worker says that they print."""

    folder: Path
    worker: Worker

    def check(
        self, data: bytes, others: Mapping[str, bytes], options: Options, names: Iterable[str] | None
    ) -> Outcome | None:
        """Checks everything of a program, or is None for one that raises as it is.

        `names` are those of its callbacks and what is made of them; without them lines are not compared.

        Raises:
          AssertionError: the program is migrated wrongly.
        """
        before = self._lay_out(data, others)
        result = migrated(before / "program.py", options)
        after = self._lay_out(result.after, others)
        try:
            assert result.error is None, result.error
            printed = self.worker(before)
            if "Traceback" in printed:
                return None
            again = migrated(after / "program.py", options)
            assert again.after == result.after, f"A second run changes it:\n{difference(again)}"
            check_text(result)
            if names is not None:
                check_lines(result, frozenset(names))
            new = self.worker(after)
            assert new == printed, f"It prints\n{new}\nand not\n{printed}\n{difference(result)}"
        finally:
            shutil.rmtree(before)
            shutil.rmtree(after)
        return Outcome(result, printed)

    def _lay_out(self, data: bytes, others: Mapping[str, bytes]) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for name, text in {"pyproject.toml": b"", **others, "program.py": data}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text)
        return folder


def migrated(path: Path, options: Options) -> FileResult:
    source = SourceFile.from_bytes(path, path.read_bytes())
    return on_deep_stack(lambda: migrate(source, Project.of([path]), options))


def check_text(result: FileResult) -> None:
    """Raises `AssertionError` unless the new text is Python, names what is there, and has all comments."""
    before, after = decoded(result.before), decoded(result.after)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(result.after, "program.py", "exec")
    new = findings(after) - findings(before)
    undefined = [message for message in new if "undefined" in message or "redefinition" in message]
    assert not undefined, f"{undefined}\n{difference(result)}"
    lost = lasting_comments(before) - comments(after)
    assert not lost, f"Lost comments: {lost}\n{difference(result)}"


def check_lines(result: FileResult, names: frozenset[str]) -> None:
    """Raises `AssertionError` if a line changes outside of calls, callbacks and imports."""
    before, after = decoded(result.before), decoded(result.after)
    touched = set(touched_lines(ast.parse(normal(before)), result, names))
    rest = iter(lines_of(after))
    for number, line in enumerate(lines_of(before), 1):
        if number not in touched and line.strip():
            assert any(other.rstrip("\r\n") == line.rstrip("\r\n") for other in rest), (
                f"Line {number} is gone: {line!r}\n{difference(result)}"
            )


def touched_lines(tree: ast.Module, result: FileResult, names: frozenset[str]) -> Iterator[int]:
    """The lines that a migration may change, of the functions called `names` among others."""
    calls = [range(site.line, site.end_line + 1) for site in result.sites]
    for lines in calls:
        yield from lines
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (is_touched(node, calls, names) or chooses_an_import(node)):
            yield from lines_of_statement(node)
        elif isinstance(node, ast.FunctionDef) and node.name in {*names, "__call__"}:
            yield from range(node.lineno, node.body[0].lineno + 1)
            yield from range(node.body[0].end_lineno or 0, (node.body[0].end_lineno or 0) + 1)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) or is_conversion(inner):
                    yield from lines_of_statement(inner)


def is_touched(node: ast.stmt, calls: list[range], names: frozenset[str]) -> bool:
    """Whether a simple statement is an import, holds a call, or makes the callback with a lambda."""
    if hasattr(node, "body"):
        return False
    if isinstance(node, _IMPORTS):
        return True
    lines = range(node.lineno, (node.end_lineno or 0) + 1)
    if any(set(lines) & set(call) for call in calls):
        return True
    return any(isinstance(inner, ast.Lambda) for inner in ast.walk(node)) or (
        isinstance(node, ast.Assign)
        and any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))
    )


def chooses_an_import(node: ast.stmt) -> bool:
    """Whether a statement holds nothing but imports, of which one is taken, and what stands for them."""
    if not isinstance(node, ast.If | ast.Try):
        return False
    inner = [n for n in ast.walk(node) if isinstance(n, ast.stmt) and n is not node]
    return all(isinstance(n, (*_IMPORTS, ast.Assign)) for n in inner) and any(
        isinstance(n, ast.ImportFrom) for n in inner
    )


def is_conversion(node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    value = node.value.elts[0] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
    return isinstance(value, ast.Call) and getattr(value.func, "attr", "") in ("asarray", "array")


def lines_of_statement(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def decoded(data: bytes) -> str:
    unix = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(unix).readline)
    return data.decode(encoding)


def normal(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)


def lines_of(text: str) -> list[str]:
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


def findings(text: str) -> "collections.Counter[str]":
    """Pyflakes' messages without their places."""
    stream = io.StringIO()
    pyflakes.api.check(normal(text), "program.py", pyflakes.reporter.Reporter(stream, stream))
    messages = [line.partition(" ")[2] for line in stream.getvalue().splitlines()]
    return collections.Counter(re.sub(r" from line \d+$", "", message) for message in messages)


def comments(text: str) -> "collections.Counter[str]":
    """How often each comment occurs."""
    tokens = tokenize.generate_tokens(io.StringIO(normal(text)).readline)
    return collections.Counter(token.string.strip() for token in tokens if token.type == tokenize.COMMENT)


def lasting_comments(text: str) -> "collections.Counter[str]":
    """As `comments`, but for those of imports, which go with them, and of types, which change."""
    text = normal(text)
    imports = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and (isinstance(node, _IMPORTS) or chooses_an_import(node))
        for line in lines_of_statement(node)
    }
    return collections.Counter(
        token.string.strip()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and token.start[0] not in imports and "->" not in token.string
    )


def difference(result: FileResult) -> str:
    from codemods.report import diff

    return diff.unified_diff(result).decode(errors="replace")
