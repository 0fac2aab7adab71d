"""`# bufcb: skip` and `# bufcb: skip[CODE, …]` comments."""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import tokenize
from typing import Final

from codemods.source import SourceFile

_COMMENT: Final = re.compile(r"#\s*bufcb:\s*skip(?:\[(?P<codes>[^\]]*)\])?")


@dataclasses.dataclass(eq=False, slots=True)
class _Comment:
    """One comment; it `is_alone` if nothing stands behind it that says something else."""

    line: int
    column: int
    codes: frozenset[str]
    is_alone: bool
    used: bool = False


class Suppressions:
    """The suppression comments of one file, and which of them were of use."""

    def __init__(self, source: SourceFile) -> None:
        self._comments = {comment.line: comment for comment in _comments(source)}
        self._is_audited = "buffer_callback" in source.text

    def covers(self, node: ast.expr | ast.stmt) -> bool:
        """Whether a plain `skip` stands on one of the node's lines."""
        return self._find(node.lineno, node.end_lineno or node.lineno)

    def covers_definition(self, function: ast.FunctionDef | ast.Lambda, code: str | None = None) -> bool:
        """Whether a plain `skip`, or one of `code`, stands on a definition's header or a lambda's lines."""
        if isinstance(function, ast.Lambda):
            return self._find(function.lineno, function.end_lineno or function.lineno, code)
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        return self._find(first, max(first, function.body[0].lineno - 1, function.lineno), code)

    def covers_code(self, node: ast.expr | ast.stmt, code: str) -> bool:
        """Whether `skip[CODE]` stands on one of the node's lines."""
        return self._find(node.lineno, node.end_lineno or node.lineno, code)

    def _find(self, first: int, last: int, code: str | None = None) -> bool:
        """Whether a comment without codes, or with `code`, stands on one of the lines; it is of use then."""
        found = False
        for line in range(first, last + 1):
            comment = self._comments.get(line)
            if comment and (code in comment.codes if code else not comment.codes):
                comment.used = found = True
        return found

    def unused(self, *, of_lint: bool = False) -> list[tuple[int, int]]:
        """Line and column of each comment that suppressed nothing.

        The audit answers for the comments that name its codes, the migration for all others; but one without
        codes may as well be for the audit, where that has something to look at.
        """

        def is_own(comment: _Comment) -> bool:
            if comment.codes:
                return any(code.startswith("BCL") for code in comment.codes) is of_lint
            return not of_lint and not self._is_audited

        return [
            (comment.line, comment.column)
            for comment in self._comments.values()
            if not comment.used and is_own(comment)
        ]

    def is_removable(self, line: int) -> bool:
        """Whether the comment of a line can be cut off without losing anything else."""
        return self._comments[line].is_alone


def _comments(source: SourceFile) -> list[_Comment]:
    if "bufcb:" not in source.text:
        return []
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
        if token.type == tokenize.COMMENT and (match := _COMMENT.search(token.string)):
            codes = frozenset(c.strip() for c in (match["codes"] or "").split(",") if c.strip())
            column = token.start[1] + match.start() + 1
            is_alone = not token.string[match.end() :].strip()
            found.append(_Comment(token.start[0], column, codes, is_alone))
    return found
