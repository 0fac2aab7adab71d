"""The first module of every Python process that a verified command starts, in the place of `sitecustomize`.

It is run from a folder of its own on `PYTHONPATH`, which has `bufcb` and a file of settings beside it. It has
packages that are installed in editable mode imported from the copy of the project, records callbacks once JAX
is imported, and then runs the `sitecustomize` whose place it takes. Needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Redirection:
    """Maps what is in one folder, but not in some folders in there, to the same place in another one."""

    def __init__(self, source: str, target: str, left: Sequence[str]) -> None:
        self._source, self._target = source, target
        self._left = [os.path.join(source, folder) for folder in left]

    def __call__(self, path: str) -> str:
        real = os.path.realpath(path) if path else path
        if not _is_in(real, self._source) or any(_is_in(real, folder) for folder in self._left):
            return path
        mapped = os.path.join(self._target, os.path.relpath(real, self._source))
        return mapped if os.path.exists(mapped) else path

    def paths(self, text: str) -> str:
        """A list of paths as environment variables have them."""
        return os.pathsep.join(map(self, text.split(os.pathsep)))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


class _Redirected:
    """A finder of modules, such as that of an editable install, with what it finds in the copy's place."""

    def __init__(self, finder: Any, redirection: Redirection) -> None:
        self._finder, self._redirection = finder, redirection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)

    def __eq__(self, other: object) -> bool:  # by which who added a finder removes it
        return self is other or self._finder is other

    def __hash__(self) -> int:
        return hash(self._finder)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec: importlib.machinery.ModuleSpec | None = self._finder.find_spec(name, path, target)
        if spec is None or not spec.origin or not spec.has_location:
            return spec
        origin = self._redirection(spec.origin)
        if origin == spec.origin:
            return spec
        folders = spec.submodule_search_locations
        places = None if folders is None else list(map(self._redirection, folders))
        return importlib.util.spec_from_file_location(name, origin, submodule_search_locations=places)


class _OnceImported:
    """A finder that runs something when `name` has been imported, and goes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            _record()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _record() -> None:
    """Start to record, which `bufcb` does when it is imported; say in the recording if that fails."""
    _note("started", "")
    try:
        importlib.import_module("bufcb")
    except Exception as error:  # noqa: BLE001 - it is the command's own program that must go on
        _note("fault", f"{type(error).__name__}: {error}\n")


def _note(kind: str, text: str) -> None:
    path = os.path.join(os.environ.get("BUFCB_RECORD", ""), f"{os.getpid()}.{kind}")
    with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as file:
        file.write(text)


def _start() -> None:
    with open(os.path.join(_FOLDER, "settings.json"), encoding="utf-8") as file:
        settings = json.load(file)
    redirection = Redirection(settings["source"], settings["target"], settings["left"])
    sys.path[:] = map(redirection, sys.path)
    usual = (
        importlib.machinery.BuiltinImporter,
        importlib.machinery.FrozenImporter,
        importlib.machinery.PathFinder,
    )
    sys.meta_path[:] = [
        finder if finder in usual else _Redirected(finder, redirection) for finder in sys.meta_path
    ]
    sys.meta_path.insert(0, _OnceImported("jax"))


def _run_hidden() -> None:
    """Run the `sitecustomize` that this one hides, under its own name."""
    rest = [path for path in sys.path if os.path.abspath(path) != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    sys.modules["_bufcb_startup"] = sys.modules[__name__]  # by which a recording knows that this was run
    _start()
    _run_hidden()
