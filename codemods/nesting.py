"""How deeply an expression or a statement is nested, measured without recursion.

LibCST's parser is native code that recurses without a bound: where it runs out of stack, the process ends,
with all the files that were still to come. What it builds from a chain such as `a and b and c` or `"a" "b"`,
which `ast` keeps flat, is nested as deeply as the chain is long.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from typing import Final

from codemods.source import SourceFile
from codemods.trees import children

# Deeper than what people write. On a stack of 8 MB LibCST's parser crashes from about 4,000 on, and chains
# take it time that grows with the square of their length.
LIMIT: Final = 1000
_CONTINUES: Final = frozenset({tokenize.NL, tokenize.COMMENT})
_FSTRING_PARTS: Final = {
    getattr(tokenize, f"FSTRING_{name}", -1): name for name in ("START", "MIDDLE", "END")
}


def too_deep(source: SourceFile, node: ast.stmt | ast.expr) -> int | None:
    """The line of what is nested more than `LIMIT` levels deep in `node`; None where nothing is."""
    text = source.segment(node)
    if len(text) <= LIMIT:  # every level has a character of its own
        return None
    depth, line = deepest(node)
    if depth > LIMIT:
        return line
    return node.lineno if _row(text, isinstance(node, ast.expr)) > LIMIT else None


def deepest(node: ast.AST) -> tuple[int, int]:
    """Depth and line of the deepest part of `node`; strings that stand side by side count as one."""
    found = (0, 1)
    waiting = [(node, 0, getattr(node, "lineno", 1))]
    while waiting:
        inner, depth, line = waiting.pop()
        depth, line = depth + _levels(inner), getattr(inner, "lineno", line)
        if depth > found[0]:
            found = (depth, line)
        waiting += [(child, depth, line) for child in children(inner)]
    return found


def _levels(node: ast.AST) -> int:
    """For how many levels of LibCST's tree a node of `ast` stands."""
    match node:
        case ast.BoolOp(values=parts) | ast.MatchOr(patterns=parts):
            return len(parts)
        case ast.Compare(comparators=parts):
            return len(parts)
        case ast.alias(name=name) | ast.ImportFrom(module=str(name)):
            return name.count(".") + 1
    return 1


def _row(text: str, is_expression: bool) -> int:
    """How many string literals stand side by side in a text, at most."""
    at_most = (text.count('"') + text.count("'")) // 2
    if at_most <= LIMIT:
        return at_most
    whole = f"({text})" if is_expression else text
    try:
        return _longest_row(tokenize.generate_tokens(io.StringIO(whole).readline))
    except (tokenize.TokenError, SyntaxError):
        return at_most


def _longest_row(tokens: Iterable[tokenize.TokenInfo]) -> int:
    longest, rows = 0, [0]  # one row for each f-string around
    for token in tokens:
        part = _FSTRING_PARTS.get(token.type)
        if token.type == tokenize.STRING or part == "START":
            rows[-1] += 1
            longest = max(longest, rows[-1])
        elif part is None and token.type not in _CONTINUES:
            rows[-1] = 0
        if part == "START":
            rows.append(0)
        elif part == "END":
            rows.pop()
    return longest
