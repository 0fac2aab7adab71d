"""What a module of the project hands on under a name that another one imports."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from codemods.names import BindingKind, Module
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
    """Follows the imports of one file, one step into the project's own modules."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project, self._path = project, path

    def __call__(self, origin: str) -> Export | None:
        """What `origin` stands for; None where no module of the project has that name."""
        dots = origin[: len(origin) - len(origin.lstrip("."))]
        parts = origin.lstrip(".").split(".")
        for length in range(len(parts) - 1, -1 if dots else 0, -1):
            files = self._project.module_files(dots + ".".join(parts[:length]), self._path)
            if files:
                found = {_export(self._project.module(file), parts[length:]) for file in files}
                return found.pop() if len(found) == 1 else Export()
        return None


def _export(module: Module | None, names: list[str]) -> Export:
    if module is None:
        return Export()
    first, suffix = names[0], "".join(f".{name}" for name in names[1:])
    found = module.root.bindings.get(first, [])
    if not found:
        stars = module.star_imports
        return Export(frozenset({f"{stars[0]}.{first}{suffix}"})) if len(stars) == 1 else Export()
    if not suffix and all(b.kind in (BindingKind.FUNCTION, BindingKind.CLASS) for b in found):
        return Export(is_defined=True)
    origins = {binding.origin for binding in found}
    if None in origins:
        return Export()
    return Export(frozenset(f"{origin}{suffix}" for origin in origins))
