"""Takes import statements and aliases out of the text, with the comments behind them on their lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Final

from codemods.names import Module
from codemods.rewrite.edits import Edits
from codemods.rewrite.unused import Import, Unused
from codemods.source import SourceFile

_BLANK: Final = " \t\f"


class Removal:
    """Removes imports from one file.

    Args:
      is_spaced: whether something is inserted at an offset, so that the blank lines there are wanted.
    """

    def __init__(
        self, source: SourceFile, module: Module, edits: Edits, is_spaced: Callable[[int], bool]
    ) -> None:
        self._source, self._module, self._edits, self._is_spaced = source, module, edits, is_spaced

    def remove(self, unused: Unused) -> None:
        inside = {node for choice in unused.choices for node in ast.walk(choice)}
        imports = {self._module.parents[alias] for alias in unused.aliases if alias not in inside}
        whole: set[ast.AST] = set(unused.choices)
        whole |= {s for s in imports if isinstance(s, Import) and all(a in unused.aliases for a in s.names)}
        for statement in sorted(imports | unused.choices, key=_position):
            assert isinstance(statement, ast.stmt)
            if statement not in whole:
                assert isinstance(statement, Import)
                self._aliases(statement, [a for a in statement.names if a in unused.aliases])
                continue
            block = self._module.block(statement)
            if statement is block[0] and self._empties(block, whole):
                self._edits.replace(self._source.start(statement), self._source.end(statement), "pass")
            else:
                opens = self._opens(statement, block, whole)
                self._statement(statement, opens=opens)

    def _empties(self, block: list[ast.stmt], whole: Collection[ast.AST]) -> bool:
        """Whether nothing remains of a block, and nothing new stands in it either."""
        if isinstance(self._module.parents[block[0]], ast.Module) or any(s not in whole for s in block):
            return False
        return not any(self._is_spaced(self._source.line_start(s.lineno)) for s in block)

    def _opens(self, statement: ast.stmt, block: list[ast.stmt], whole: Collection[ast.AST]) -> bool:
        """Whether what comes behind a statement opens its block from now on."""
        before = block[: block.index(statement) + 1]
        is_top = isinstance(self._module.parents[statement], ast.Module)
        is_new = any(self._is_spaced(self._source.line_start(s.lineno)) for s in before)
        return not is_top and not is_new and all(other in whole for other in before)

    def _statement(self, statement: ast.stmt, *, opens: bool) -> None:
        source = self._source
        start, end = source.start(statement), source.end(statement)
        first = source.line_start(statement.lineno)
        last = source.line_end(statement.end_lineno or statement.lineno)
        before, after = source.text[first:start], source.text[end:last]
        if after.lstrip(_BLANK).startswith(";"):
            rest = after[after.index(";") + 1 :]
            if rest.strip() and not (rest.lstrip(_BLANK).startswith("#") and before.strip(_BLANK)):
                self._edits.replace(start, last - len(rest.lstrip(_BLANK)), "")
                return
            end, after = last - len(rest), rest
        if before.strip(_BLANK):
            kept = source.text[:start].rstrip(_BLANK)
            self._edits.replace(len(kept.removesuffix(";")), end, "")
            return
        line = statement.end_lineno or statement.lineno
        while opens and line < len(source.line_starts) and not source.line_text(line + 1).strip():
            line += 1
        self._edits.replace(self._without_gap(statement, first), source.line_end(line), "")

    def _without_gap(self, statement: ast.stmt, first: int) -> int:
        """The start of the blank lines above a statement that stands between blank lines."""
        source = self._source
        line, last = statement.lineno, statement.end_lineno or statement.lineno
        is_blank_below = last < len(source.line_starts) and not source.line_text(last + 1).strip()
        if not is_blank_below:
            return first
        while line > 1 and not source.line_text(line - 1).strip():
            if self._is_spaced(source.line_start(line)):
                return first
            line -= 1
        return source.line_start(line) if not self._is_spaced(source.line_start(line)) else first

    # Aliases.

    def _aliases(self, statement: Import, doomed: Collection[ast.alias]) -> None:
        source = self._source
        text = source.segment(statement)
        in_parentheses = isinstance(statement, ast.ImportFrom) and text.rstrip().endswith(")")
        removed_end = 0
        for index, alias in enumerate(statement.names):
            if alias not in doomed:
                continue
            if in_parentheses and self._own_line(alias):
                continue
            start, end = source.start(alias), source.end(alias)
            later = [a for a in statement.names[index + 1 :] if a not in doomed]
            gap = source.text[end : source.start(statement.names[index + 1])] if later else ""
            if later and "#" not in gap:
                self._edits.replace(start, source.start(statement.names[index + 1]), "")
            elif later:
                line = source.text[source.line_start(alias.lineno) : start]
                blank = len(line) - len(line.rstrip(_BLANK)) if line.rstrip(_BLANK).endswith(",") else 0
                self._edits.replace(start - blank, end + gap.index(",") + 1, "")
            else:
                previous = statement.names[index - 1]
                self._last_alias(source.end(previous), start, end, removed_end)
            removed_end = end

    def _last_alias(self, previous_end: int, start: int, end: int, removed_end: int) -> None:
        """Removes an alias that none follows, and the comma in front of it."""
        between = self._source.text[previous_end:start]
        if "#" not in between:
            self._edits.replace(max(previous_end, removed_end), end, "")
        else:
            self._edits.replace(start, end, "")

    def _own_line(self, alias: ast.alias) -> bool:
        """Removes an alias that has its line to itself, if it does."""
        source = self._source
        first, last = source.line_start(alias.lineno), source.line_end(alias.end_lineno or alias.lineno)
        before = source.text[first : source.start(alias)]
        after = source.text[source.end(alias) : last].lstrip(_BLANK).removeprefix(",").strip(_BLANK + "\r\n")
        if before.strip(_BLANK) or (after and not after.startswith("#")):
            return False
        self._edits.replace(first, last, "")
        return True


def _position(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
