"""What a callback is called in both runs: by its place in the original."""

from __future__ import annotations

import ast
import dataclasses
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from codemods.discovery import NOTEBOOK
from codemods.lineage import first_line
from codemods.model import FileResult
from codemods.names import FunctionNode, own_name
from codemods.source import SourceFile


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Key:
    """What is the same of a callback before and after a migration.

    Attributes:
      path: the file, relative to the project if it belongs there; "" for code without a file.
      line: the line that Python knows the original by; 0 where there is none.
      name: the last part of the qualified name; all of it for what is not written in Python.
    """

    path: str
    line: int
    name: str


class Names:
    """Maps callbacks of the migrated project to those of the original one.

    Args:
      files: the files that were changed.
      relative: turns the path of a file into one that is relative to the project.
    """

    def __init__(self, files: Iterable[FileResult], relative: Callable[[str], str]) -> None:
        self._originals: dict[Key, Key] = {}
        for file in files:
            if str(file.path).endswith(NOTEBOOK):
                self._originals.update(_of_notebook(file))
            else:
                self._originals.update(_of_module(file, relative))

    def original(self, key: Key) -> Key:
        """The callback before the migration that is `key` after it."""
        return self._originals.get(key, key)


def _of_notebook(file: FileResult) -> Iterator[tuple[Key, Key]]:
    """By name alone, since IPython makes up files of its own."""
    for successor in file.successors:
        yield Key("", 0, successor.name), Key("", 0, successor.original_name)


def _of_module(file: FileResult, relative: Callable[[str], str]) -> Iterator[tuple[Key, Key]]:
    """Functions of the same qualified name are the same in the order in which they stand."""
    path = relative(str(file.path))
    renamed = {
        (successor.original.line, successor.original.column): successor.name for successor in file.successors
    }
    siblings = {
        successor.name: Key(
            relative(str(successor.original.path)), successor.original.line, successor.original_name
        )
        for successor in file.successors
        if successor.original.column is None
    }
    before = _by_name(SourceFile.from_bytes(file.path, file.before).tree, path, renamed)
    after = _by_name(SourceFile.from_bytes(file.path, file.after).tree, path, {})
    for name, keys in after.items():
        if name not in before and keys[0].name in siblings:
            yield from ((key, siblings[keys[0].name]) for key in keys)
        else:
            yield from zip(keys, before.get(name, ()), strict=False)


def _by_name(
    tree: ast.Module, path: str, renamed: Mapping[tuple[int, int | None], str]
) -> Mapping[str, list[Key]]:
    """The functions of a module by qualified name, lambdas that become a `def` by the name of that."""
    found: defaultdict[str, list[Key]] = defaultdict(list)
    for name, node in _functions(tree, renamed):
        found[name].append(Key(path, first_line(node), own_name(node)))
    return found


def _functions(
    tree: ast.Module, renamed: Mapping[tuple[int, int | None], str]
) -> Iterator[tuple[str, FunctionNode]]:
    """Each function with its qualified name, in the order in which they stand.

    A lambda that is renamed has the name of the `def` that it becomes, in front of the statement around it.
    """
    pending: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while pending:
        node, prefix, of_statement = pending.pop()
        if isinstance(node, ast.Lambda):
            given = renamed.get((node.lineno, node.col_offset))
            name = of_statement + given if given else f"{prefix}<lambda>"
            yield name, node
            prefix = f"{name}.<locals>."
            of_statement = prefix if given else of_statement
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
            prefix = of_statement = f"{prefix}{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            prefix = of_statement = f"{prefix}{node.name}."
        pending += ((child, prefix, of_statement) for child in reversed(list(ast.iter_child_nodes(node))))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def key_of(signature: Mapping[str, object], root: str) -> Key:
    """The key of a callback as a recording of a run in the folder `root` has it."""
    file, name, line = signature["file"], str(signature["name"]), signature["line"]
    if not isinstance(file, str) or not isinstance(line, int) or not os.path.isfile(file):
        return Key("", 0, _last(name) if file else name)
    real = os.path.realpath(file)
    if real.startswith(os.path.join(root, "")):
        return Key(os.path.relpath(real, root), line, _last(name))
    return Key(real, line, _last(name))
