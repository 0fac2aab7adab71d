"""The migration as a codemod of LibCST: `python -m libcst.tool codemod -x codemods.PureToBuffer PATH`."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import libcst
from libcst.codemod import CodemodCommand, CodemodContext

from codemods import cli, discovery, engine
from codemods.inputs import UNNAMED
from codemods.model import Options
from codemods.project import Project
from codemods.report import text
from codemods.report.run import Run
from codemods.source import SourceFile


class PureToBuffer(CodemodCommand):
    """Migrates the call sites of one module, as `bufcb-migrate --write` does.

    Its arguments are the options of `bufcb-migrate` that say what the migrated code looks like. Those that
    are not given are taken from `[tool.bufcb]`, as there.
    """

    DESCRIPTION = "Migrate jax.pure_callback to bufcb.buffer_callback."

    def __init__(self, context: CodemodContext, **chosen: Any) -> None:
        super().__init__(context)
        self._chosen = chosen

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        for option in _migration_options():
            settings: dict[str, Any] = {"dest": option.name, "help": (option.help or "").replace("%", "%%")}
            if option.is_flag:
                settings["action"] = argparse.BooleanOptionalAction
            else:
                settings["metavar"] = option.metavar
                settings["action"] = "append" if option.multiple else "store"
                if isinstance(option.type, click.Choice):
                    settings["choices"] = option.type.choices
            arg_parser.add_argument(*option.opts, **settings)

    def transform_module_impl(self, tree: libcst.Module) -> libcst.Module:
        """The migrated module; every remark becomes a warning.

        Raises:
          SourceError: it cannot be analysed, or not be written in its encoding.
          ValueError: the migrated text does not parse, which is our own defect.
          click.ClickException: an option or setting is wrong.
        """
        path = Path(self.context.filename) if self.context.filename else UNNAMED
        data, options = tree.bytes, self._options(path)
        if not discovery.of_code(path, data, options.apis).candidates:
            return tree
        result = engine.migrate(SourceFile.from_bytes(path, data), _project(_place(path)), options)
        if result.error is not None:
            raise ValueError(result.error)
        for entry in text.diagnostics(Run((result,), 1)):
            self.warn(entry)
        return libcst.parse_module(result.after, tree.config_for_parsing) if result.changed else tree

    def _options(self, path: Path) -> Options:
        """The options as `bufcb-migrate` would take them, for the file `path`."""
        arguments = [*self._arguments(), "--", os.path.abspath(path)]
        given = cli.migrate.make_context("bufcb-migrate", arguments).params
        return Options(**{field.name: given[field.name] for field in dataclasses.fields(Options)})

    def _arguments(self) -> Iterator[str]:
        for option in _migration_options():
            value = self._chosen.get(option.name or "")
            if value is None:
                continue
            if option.is_flag:
                yield option.opts[0] if value else option.secondary_opts[0]
            else:
                for each in value if option.multiple else [value]:
                    yield from (option.opts[0], each)


def _migration_options() -> list[click.Option]:
    """The options of `bufcb-migrate` that are about the migrated code."""
    fields = {field.name for field in dataclasses.fields(Options)}
    return [each for each in cli.migrate.params if isinstance(each, click.Option) and each.name in fields]


def _place(path: Path) -> str:
    """The folder whose project `path` belongs to, written in one way for all of the project's files."""
    folder = os.path.dirname(os.path.abspath(path))
    return discovery.project_of(folder) or folder


@functools.lru_cache(maxsize=1)
def _project(place: str) -> Project:
    """The project at `place`: LibCST runs a codemod anew for each file."""
    return Project.of([Path(place)])
