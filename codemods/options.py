"""The options of the commands, and how `[tool.bufcb]` sets them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from codemods.settings import Settings

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT_FAILED: Final = 2
VMAP_METHODS: Final = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


class Failure(click.ClickException):
    """The whole run failed."""

    exit_code = EXIT_FAILED


class Option(click.Option):
    """An option that is listed under a heading of its own in the help text."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class Command(click.Command):
    """A command whose help text groups its options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        # Click's own options, which have no group, come last.
        for parameter in sorted(self.get_params(ctx), key=lambda parameter: not hasattr(parameter, "group")):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", "Other"), []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class _Path(click.Path):
    """A path that is looked at later, so that each has an error of its own."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":  # to `Path` the current folder, to a shell a variable that is not set
            self.fail("An empty path does not exist.", param, ctx)
        return super().convert(value, param, ctx)


def option(*names: str, group: str, **kwargs: Any) -> Callable[[Function], Function]:
    return click.option(*names, cls=Option, group=group, **kwargs)


def _dotted(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not all(part.isidentifier() for part in value.split(".")):
            raise click.BadParameter(f"{value!r} is not a dotted name.")
    return values


def _apply_settings(ctx: click.Context, _parameter: click.Parameter, paths: tuple[Path, ...]) -> Any:
    """Makes the settings of the project at `paths` the defaults of the options."""
    from codemods import settings

    try:
        if not all(map(os.path.isabs, paths)):
            os.getcwd()
    except OSError as error:
        raise Failure(f"the current folder cannot be used: {error.strerror}") from None
    try:
        found = settings.find(paths)
        if found is not None:
            ctx.default_map = {
                _settable(found, key).human_readable_name: _checked(found, key, value)
                for key, value in found.values.items()
            }
    except settings.SettingsError as error:
        raise Failure(str(error)) from None
    return paths


def _settable(found: Settings, key: str) -> click.Option:
    """The option of `bufcb-migrate` that `key` sets. All have the same name in `bufcb-lint`."""
    from codemods.cli import migrate
    from codemods.settings import SettingsError

    options = {each.opts[0].removeprefix("--"): each for each in migrate.params if isinstance(each, Option)}
    if key in options:
        return options[key]
    raise SettingsError(
        f"{found.path}: [tool.bufcb] {key}: no such option; there are {', '.join(sorted(options))}"
    )


def _checked(found: Settings, key: str, value: object) -> object:
    """The value as it is, if it has the type that its option takes."""
    from codemods.settings import SettingsError

    given = _settable(found, key)
    if given.is_flag:
        valid, expected = isinstance(value, bool), "true or false"
    elif given.multiple:
        valid = isinstance(value, list) and all(isinstance(item, str) for item in value)
        expected = "a list of strings"
    elif isinstance(given.type, click.Choice):
        valid, expected = value in given.type.choices, f"one of {', '.join(given.type.choices)}"
    else:
        valid, expected = isinstance(value, str), "a string"
    if valid:
        return value
    raise SettingsError(f"{found.path}: [tool.bufcb] {key}: expected {expected}, found {value!r}")


def paths_argument(function: Function) -> Function:
    # Eager, so that the settings of the paths are known when the options ask for their defaults.
    return click.argument(
        "paths",
        metavar="PATH...",
        nargs=-1,
        required=True,
        type=_Path(),
        is_eager=True,
        callback=_apply_settings,
    )(function)


def format_option(function: Function) -> Function:
    return option(
        "--format",
        "form",
        type=click.Choice(("text", "json")),
        default="text",
        show_default=True,
        group="Output",
        help="How to report: for people, or as one JSON object on standard output.",
    )(function)


def migration_options(function: Function) -> Function:
    """The options that decide what the migrated code looks like; the fields of `Options`."""
    group = "Migrated code"
    for decorate in reversed(
        (
            option(
                "--target",
                type=click.Choice(("bufcb", "jax")),
                default="bufcb",
                show_default=True,
                group=group,
                help="The library that the migrated code imports: bufcb, or JAX's own buffer callback.",
            ),
            option(
                "--arrays",
                type=click.Choice(("auto", "numpy", "jax")),
                default="auto",
                show_default=True,
                group=group,
                help="What a callback gets. auto: NumPy arrays where NumPy provably gives the results that "
                "JAX gave, else JAX arrays. numpy: NumPy arrays, accepting NumPy's arithmetic. jax: JAX "
                "arrays, and every callback's body stays as it is.",
            ),
            option(
                "--views/--no-views",
                default=False,
                group=group,
                help="Hand out views of arguments that may outlive the call, where a copy would be made.",
            ),
            option(
                "--public/--no-public",
                default=False,
                group=group,
                help="Rewrite public functions in place, where a private sibling would be added.",
            ),
            option(
                "--default-vmap-method",
                metavar="METHOD",
                type=click.Choice(VMAP_METHODS),
                group=group,
                help=f"The vmap_method to write into call sites that give none: {', '.join(VMAP_METHODS)}.",
            ),
            option(
                "--assume-jax",
                metavar="NAME",
                multiple=True,
                callback=_dotted,
                group=group,
                help="A dotted name that stands for the jax module, such as self._jax. May be repeated.",
            ),
        )
    ):
        function = decorate(function)
    return function


def help_options(function: Function) -> Function:
    version = click.version_option(package_name="bufcb", message="%(prog)s %(version)s")
    return version(click.help_option("--help", "-h")(function))
