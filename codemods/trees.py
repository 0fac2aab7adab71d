"""Walks `ast` trees several times as fast as `ast.walk`, which is most of what reading a file takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

# Fields that hold text, numbers, or nodes without a position: the kind of an operator or of a context.
_WITHOUT_NODES: Final = frozenset(
    {
        "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op", "ops",
        "rest", "simple", "str", "type_comment", "type_ignores",
    }
)  # fmt: skip

_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """For each type of node, the fields to look for nodes in."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = tuple(field for field in kind._fields if field not in _WITHOUT_NODES)
        return self[kind]


_FIELDS: Final = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below `node` that have a position, in the order of `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """`node` and all nodes below it that have a position, in the order of `ast.walk`."""
    found = [node]
    for outer in found:  # which goes on with what is appended
        for field in _FIELDS[type(outer)]:
            value = getattr(outer, field, None)
            if type(value) is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name stands anywhere in `node`, whatever it means there."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """A function body's nodes in source order, those of nested functions and classes left out."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _NESTED):
            stack.extend(reversed(children(node)))
