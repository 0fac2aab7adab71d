"""The examples of the pages in `codemods/pages/`, and what becomes of them.

`python3 tests/codemods/page_examples.py` writes into each page what the command says by now, and what becomes
of the file; the prose is for people to keep true.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from click.testing import CliRunner, Result

from codemods import cli, engine
from codemods.diagnostics import CODES, LINT_CODES, PLAIN
from codemods.source import Change

FOLDER = Path(__file__).parents[2] / "codemods" / "pages"
ALL = [PLAIN, *CODES, *LINT_CODES]
COMMANDS = {"bufcb-migrate": (cli.migrate, "--write"), "bufcb-lint": (cli.lint, "--fix")}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SUFFIXES = {"python": ".py", "json": ".ipynb"}
# A page has no room for what is nested so deeply, and no program is known whose migrated text does not parse.
SHORTENED = {"BC209": ("1.0 + 1.0 + 1.0", " + ".join(["1.0"] * 1001))}
DEFECTS = {"BC205": (Change(0, 0, "y = = 2\n"),)}


def read(code: str) -> str:
    return (FOLDER / f"{code}.md").read_text("utf-8")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the command of a page says, and what becomes of its last file."""

    result: Result
    said: str
    after: str


def files_of(page: str) -> dict[str, str]:
    """The files of an example, by name: that of its first line if that is a comment, or `example`."""
    before, _, _ = page.partition("```console\n")
    blocks = [(kind, text) for kind, text in BLOCK.findall(before) if kind in SUFFIXES]
    return {re.match(r"# (\w+\.py)\n|", text)[1] or f"example{SUFFIXES[kind]}": text for kind, text in blocks}


def command_of(page: str) -> tuple[str, list[str]]:
    (console,) = [text for kind, text in BLOCK.findall(page) if kind == "console"]
    program, *arguments = shlex.split(console.partition("\n")[0].removeprefix("$ "))
    assert program in COMMANDS
    return program, arguments


def run(code: str, page: str) -> Outcome:
    """Runs the command of a page on its files, without and with the option that changes them."""
    shown, full = SHORTENED.get(code, ("", ""))
    with _in_empty_folder(), _with_defect(code):
        for name, text in files_of(page).items():
            Path(name).write_text(text.replace(shown, full) if full else text)
        program, arguments = command_of(page)
        command, write = COMMANDS[program]
        result = CliRunner().invoke(command, arguments, prog_name=program)
        written = CliRunner().invoke(command, [*arguments, write])
        after = Path(name).read_text()
    is_fixed = program == "bufcb-lint" and after != text
    assert written.exit_code == (0 if is_fixed else result.exit_code)
    *remarks, conclusion = result.stderr.splitlines(keepends=True)
    if program == "bufcb-lint":
        remarks = result.stdout.splitlines(keepends=True)
    # The report shows the beginning of a line that is too long.
    said = "".join(line for line in remarks if not full or full[:60] not in line) or conclusion
    return Outcome(result, said, after.replace(full, shown) if full else after)


def refreshed(code: str, page: str) -> str:
    """The page with what its command says and makes by now."""
    outcome = run(code, page)
    head, console, rest = page.partition("```console\n")
    command, _, rest = rest.partition("\n")
    _, fence, rest = rest.partition("```\n")
    *_, last = files_of(page).values()
    unchanged = outcome.after == last
    shows = BLOCK.search(rest)
    assert unchanged == (shows is None), "the page says of the wrong file that it stays as it is"
    if shows:
        rest = f"{rest[: shows.start()]}```python\n{outcome.after}```{rest[shows.end() :]}"
    return f"{head}{console}{command}\n{outcome.said}{fence}{rest}"


@contextlib.contextmanager
def _in_empty_folder() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _with_defect(code: str) -> contextlib.AbstractContextManager[object]:
    if code in DEFECTS:
        return mock.patch.object(engine, "rewrite", return_value=DEFECTS[code])
    return contextlib.nullcontext()


def main() -> None:
    for code in ALL:
        (FOLDER / f"{code}.md").write_text(refreshed(code, read(code)), "utf-8")


if __name__ == "__main__":
    main()
