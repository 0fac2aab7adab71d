"""What a module of the project hands on under a name that another one imports."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from codemods.definitions import Definitions, Library, Unseen
from codemods.project import Project


@dataclasses.dataclass(frozen=True, slots=True)
class Export:
    """What a dotted name stands for in a module of the project.

    Attributes:
      origins: the dotted names of other modules; empty where that cannot be told.
      is_defined: whether it is a function or class that the module defines.
    """

    origins: frozenset[str] = frozenset()
    is_defined: bool = False


class Exports:
    """Follows the imports of one file into the project's own modules."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project, self._path = project, path
        self._definitions = Definitions(project)

    def __call__(self, origin: str) -> Export | None:
        """What `origin` stands for; None where no module of the project has that name."""
        found = self._definitions.follow({origin}, self._path)
        if isinstance(found, Library):
            return None if found.origins == {origin} else Export(found.origins)
        if isinstance(found, Unseen) and not found.is_defined:
            return None if self._is_relative_and_missing(origin) else Export()
        return Export(is_defined=True)

    def _is_relative_and_missing(self, origin: str) -> bool:
        """Whether a relative import finds no module, as in a package of which only a part is at hand."""
        dots = origin[: len(origin) - len(origin.lstrip("."))]
        parts = origin.lstrip(".").split(".")
        return bool(dots) and not any(
            self._project.module_files(dots + ".".join(parts[:length]), self._path)
            for length in range(len(parts))
        )

    def acts_when_imported(self, dotted: str) -> bool:
        """Whether a module of the project may do more than define names when it is imported."""
        modules = [self._project.module(file) for file in self._project.module_files(dotted, self._path)]
        return any(module is None or any(map(self._acts, _statements(module.tree))) for module in modules)

    def _acts(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return False
            case ast.Assign(targets=targets):
                return not all(isinstance(target, ast.Name) for target in targets)
            case ast.AnnAssign(target=target):
                return not isinstance(target, ast.Name)
            case ast.Import(names=aliases):
                return any(self._project.has_module(alias.name.partition(".")[0]) for alias in aliases)
            case ast.ImportFrom(level=level, module=module):
                return level > 0 or self._project.has_module((module or "").partition(".")[0])
        return not isinstance(statement, ast.Pass | ast.Try | ast.If)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, those inside `if` and `try` as well."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            waiting += [*statement.body, *statement.orelse]
        if isinstance(statement, ast.Try):
            waiting += [*statement.finalbody, *(s for handler in statement.handlers for s in handler.body)]
