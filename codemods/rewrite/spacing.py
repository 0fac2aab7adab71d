"""Where a new definition goes, and how many blank lines it gets: as many as formatters ask for, no more."""

from __future__ import annotations

import ast

from codemods.names import Module
from codemods.source import SourceFile


class Spacing:
    """Blank lines around the definitions that one file gets."""

    def __init__(self, source: SourceFile, module: Module) -> None:
        self._source, self._module = source, module
        self._spaced: set[int] = set()

    def above(self, statement: ast.stmt) -> tuple[int, str, str]:
        """The offset above a statement and its comments, and the gaps around what goes there."""
        line = self._first_line(statement)
        offset, wanted = self._source.line_start(line), self.wanted(statement)
        before = ""
        if not self._opens_block(statement):
            before = self._missing(offset, self._blank_above(line), wanted)
        self._spaced.add(offset)
        return offset, before, "\n" * wanted

    def below(self, statement: ast.stmt) -> tuple[int, str, str]:
        """The offset below a definition, and the gaps around another one that goes there."""
        line = self._last_line(statement)
        wanted = self.wanted(statement)
        return self._source.line_end(line), "\n" * wanted, self.behind(statement)

    def behind(self, statement: ast.stmt) -> str:
        """The blank lines missing between a definition and what follows it in its block."""
        line = self._last_line(statement)
        block = self._module.block(statement)
        if statement is block[-1] or self._blank_below(line) or line + 1 in self._source.boundaries:
            return ""
        return self._missing(self._source.line_end(line), 0, self.wanted(statement))

    def _missing(self, offset: int, present: int, wanted: int) -> str:
        if offset in self._spaced:
            return ""
        self._spaced.add(offset)
        return "\n" * max(0, wanted - present)

    def wanted(self, statement: ast.stmt) -> int:
        """How many blank lines stand between a definition and its neighbours."""
        return 2 if isinstance(self._module.parents[statement], ast.Module) else 1

    def _opens_block(self, statement: ast.stmt) -> bool:
        block = self._module.block(statement)
        index = block.index(statement)
        return index == 0 or block[index - 1].lineno in self._source.boundaries

    def _first_line(self, statement: ast.stmt) -> int:
        """The first line of a statement, its decorators and the comments right above it."""
        line: int = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        indent = self._source.indentation(line)
        while line > 2 and self._source.line_text(line - 1).startswith(f"{indent}#"):
            line -= 1
        return line

    def _last_line(self, statement: ast.stmt) -> int:
        """The last line of a statement and of the comments below it that are indented more than it is."""
        line = last = statement.end_lineno or statement.lineno
        indent = self._source.indentation(statement.lineno)
        while line < len(self._source.line_starts):
            line += 1
            text = self._source.line_text(line)
            own = self._source.indentation(line)
            if text.strip() and not (text.lstrip().startswith("#") and len(own) > len(indent)):
                break
            last = line if text.strip() else last
        return last

    def _blank_above(self, line: int) -> int:
        found = 0
        while line - found > 1 and not self._source.line_text(line - found - 1).strip():
            found += 1
        return found

    def _blank_below(self, line: int) -> bool:
        return line < len(self._source.line_starts) and not self._source.line_text(line + 1).strip()
