"""The options of the commands, and how `[tool.bufcb]` sets them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from codemods import apis
from codemods.diagnostics import CODES, EVERY, LINT_CODES, PLAIN, near

if TYPE_CHECKING:
    from codemods.inputs import Inputs
    from codemods.settings import Settings

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT_FAILED: Final = 2
_STANDARD_INPUT: Final = "-"
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

    def format_message(self) -> str:
        from codemods import console

        return console.one_line(self.message)


class Option(click.Option):
    """An option that is listed under a heading of its own in the help text.

    Attributes:
      settable: whether it is a key of `[tool.bufcb]` as well: not one that is about a single run.
    """

    def __init__(self, *args: Any, group: str, settable: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group, self.settable = group, settable


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
    """A path that is looked at later, so that each has an error of its own; `-` is kept as a string."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":  # to `Path` the current folder, to a shell a variable that is not set
            self.fail("An empty path does not exist.", param, ctx)
        if value == _STANDARD_INPUT:  # `./-` is a file
            return value
        return super().convert(value, param, ctx)


def option(*names: str, group: str, **kwargs: Any) -> Callable[[Function], Function]:
    return click.option(*names, cls=Option, group=group, **kwargs)


def _transforms(_ctx: click.Context, _parameter: click.Parameter, rows: tuple[str, ...]) -> tuple[str, ...]:
    if rows:
        from codemods.gradients.table import extended

        try:
            extended(rows)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return rows


def _dotted(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not all(part.isidentifier() for part in value.split(".")):
            raise click.BadParameter(f"{value!r} is not a dotted name.")
    return values


def _some(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise click.BadParameter("Name at least one.")
    return values


def _codes(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The codes and their beginnings in lists with commas, in capitals.

    The settings are those of both commands, of whose codes each takes its own.
    """
    found = [code.strip().upper() for value in values for code in value.split(",")]
    own, others = ((PLAIN, *CODES), tuple(LINT_CODES))
    if ctx.command.name == "lint":
        own, others = others, own
    assert parameter.name is not None
    is_setting = ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.DEFAULT_MAP
    for code in found:
        if code == EVERY or _begins(code, own) or (is_setting and _begins(code, others)):
            continue
        if _begins(code, others):
            other = "bufcb-migrate" if ctx.command.name == "lint" else "bufcb-lint"
            raise click.BadParameter(f"{code!r} is for the codes of {other}.")
        raise click.BadParameter(f"{code!r} is neither a code nor the beginning of one{near(code)}")
    return tuple(found)


def _begins(code: str, known: tuple[str, ...]) -> bool:
    return bool(code) and any(each.startswith(code) for each in known)


def _noted(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Keeps the value of an option that says what to look at, for `_inputs`."""
    ctx.meta[f"{__name__}.{parameter.name}"] = value
    return value


def _shard(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    from codemods.inputs import Shard

    try:
        return _noted(ctx, parameter, Shard.parse(value) if value is not None else None)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from None


def _inputs(ctx: click.Context, parameter: click.Parameter, given: tuple[Path | str, ...]) -> Inputs:
    """What to look at, all told. Its settings become the defaults of the other options."""
    from codemods.inputs import UNNAMED, Inputs

    listed, name, shard = (
        ctx.meta.get(f"{__name__}.{option}") for option in ("files_from", "stdin_filename", "shard")
    )
    if not given and listed is None:
        raise click.MissingParameter(ctx=ctx, param=parameter)
    if _STANDARD_INPUT not in given:
        if name is not None:
            raise click.UsageError("--stdin-filename needs - as the only PATH.", ctx)
        paths = (*(path for path in given if isinstance(path, Path)), *_listed(listed))
        _apply_settings(ctx, paths)
        return Inputs(paths, shard=shard)
    if len(given) > 1 or listed is not None or shard is not None:
        raise click.UsageError("- is the only PATH, and takes neither --files-from nor --shard.", ctx)
    paths = (name or UNNAMED,)
    _apply_settings(ctx, paths)
    return Inputs(paths, code=_read(None, as_code=True))


def _listed(file: str | None) -> list[Path]:
    from codemods.inputs import read_list

    return [] if file is None else read_list(_read(file if file != _STANDARD_INPUT else None))


def _read(file: str | None, *, as_code: bool = False) -> bytes:
    """The content of `file`, or standard input's for None."""
    from codemods.inputs import read_code, read_paths

    try:
        return read_code() if as_code else read_paths(file)
    except OSError as error:
        shown = "standard input" if file is None else file
        raise Failure(f"{shown} cannot be read: {error.strerror or error}") from None


def output_file(_ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuses `-`, since standard output has what the command prints."""
    if path == Path("-"):
        raise click.BadParameter("standard output has the changes; name a file.", param=parameter)
    return path


def _apply_settings(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Makes the settings of the project at `paths` the defaults of the options."""
    from codemods import settings

    try:
        if not paths or not all(map(os.path.isabs, paths)):
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


def _settable(found: Settings, key: str) -> click.Option:
    """The option that `key` sets; one that both commands have is the same in both."""
    from codemods.cli import lint, migrate
    from codemods.settings import SettingsError

    options = {
        each.opts[0].removeprefix("--"): each
        for each in (*lint.params, *migrate.params)
        if isinstance(each, Option) and each.settable
    }
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
        choices = given.type.choices if isinstance(given.type, click.Choice) else None
        valid = isinstance(value, list) and all(
            isinstance(item, str) and (choices is None or item in choices) for item in value
        )
        expected = f"a list of {'strings' if choices is None else ' and '.join(choices)}"
    elif isinstance(given.type, click.Choice):
        valid, expected = value in given.type.choices, f"one of {', '.join(given.type.choices)}"
    elif isinstance(given.type, click.IntRange):
        valid, expected = type(value) is int and value >= 0, "a number, 0 or more"
    else:
        valid, expected = isinstance(value, str), "a string"
    if valid:
        return value
    raise SettingsError(f"{found.path}: [tool.bufcb] {key}: expected {expected}, found {value!r}")


def input_options(function: Function) -> Function:
    """The paths, and the options that say what else to look at, or how much of it; as `inputs`."""
    group = "What to look at"
    # Eager, so that the settings of the paths are known when the other options ask for their defaults. The
    # argument comes last, whatever the order on the command line.
    shared: dict[str, Any] = {
        "is_eager": True,
        "expose_value": False,
        "settable": False,
        "group": group,
    }
    for decorate in (
        click.argument(
            "inputs",
            metavar="PATH...",
            nargs=-1,
            required=False,
            type=_Path(),
            is_eager=True,
            callback=_inputs,
        ),
        option(
            "--shard",
            metavar="K/N",
            callback=_shard,
            help="Look at the K-th of N shares of the files. The path of a file in its project decides which "
            "share it belongs to, so that N runs that are given the same paths cover every file once.",
            **shared,
        ),
        option(
            "--stdin-filename",
            metavar="NAME",
            type=click.Path(path_type=Path, readable=False, dir_okay=False),
            callback=_noted,
            help="The name of the code on standard input, which - as PATH asks for. Its settings and its "
            "project are those of a file of that name.",
            **shared,
        ),
        option(
            "--files-from",
            metavar="FILE",
            callback=_noted,
            help="Read paths from a file, or from standard input with -. Each ends in a line ending, or in a "
            "null byte as with git ls-files -z.",
            **shared,
        ),
    ):
        function = decorate(function)
    return function


def format_option(function: Function) -> Function:
    return option(
        "--format",
        "form",
        type=click.Choice(("text", "json", "sarif", "github")),
        default="text",
        show_default=True,
        group="Output",
        help="How to report: for people, as one JSON object, as a SARIF 2.1.0 log, or as workflow commands "
        "that GitHub turns into annotations. All but text leave standard output to the document.",
    )(function)


def jobs_option(function: Function) -> Function:
    return option(
        "--jobs",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        group="What to do",
        help="Analyse files in N processes. 0, the default, takes as many as there are processors, if there "
        "is enough to do for them. The result is always the same.",
    )(function)


def transform_option(function: Function) -> Function:
    return option(
        "--gradient-transform",
        metavar="NAME[=KNOWN]",
        multiple=True,
        callback=_transforms,
        group="Gradients",
        help="A dotted name that differentiates the functions that it is given, in reverse mode, or as a "
        "known transform does: mylib.grad=jax.grad. May be repeated.",
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
                "--fuse/--no-fuse",
                default=False,
                group=group,
                help="Have a ufunc such as np.sin compute straight into its output, where shape and dtype "
                "are known to be equal: one array less, which counts where arrays are large.",
            ),
            option(
                "--default-vmap-method",
                metavar="METHOD",
                type=click.Choice(VMAP_METHODS),
                group=group,
                help=f"The vmap_method to write into call sites that give none: {', '.join(VMAP_METHODS)}.",
            ),
            option(
                "--from",
                "apis",
                type=click.Choice([api.name for api in apis.APIS]),
                multiple=True,
                default=apis.DEFAULT,
                show_default=True,
                callback=_some,
                group="Which call sites",
                help="The API to migrate. May be repeated, for both. Calls of io_callback become calls with "
                "has_side_effect=True; ordered ones are left alone.",
            ),
            option(
                "--assume-jax",
                metavar="NAME",
                multiple=True,
                callback=_dotted,
                group=group,
                help="A dotted name that stands for the jax module, such as self._jax. May be repeated.",
            ),
            option(
                "--gradients",
                type=click.Choice(("auto", "always", "never")),
                default="auto",
                show_default=True,
                group="Gradients",
                help="Which calls count as differentiated. auto: those that a transform such as jax.grad "
                "reaches, as far as the project shows. always: those that code out of sight may reach, too. "
                "never: none; nothing is analysed.",
            ),
            transform_option,
            option(
                "--select",
                metavar="CODE",
                multiple=True,
                callback=_codes,
                group="Which call sites",
                help="Migrate only call sites whose outcome has this code, and show only such notes. "
                "BC1 stands for all codes that begin so, ALL for every code, and BC000 for a rewrite "
                "with nothing to say. May be repeated, or be a list with commas.",
            ),
            option(
                "--ignore",
                metavar="CODE",
                multiple=True,
                callback=_codes,
                group="Which call sites",
                help="Leave such call sites alone, and show no such notes. Where both options name a code, "
                "the longer beginning decides, and --ignore where they are equal.",
            ),
            option(
                "--vjp",
                type=click.Choice(("raise", "zeros", "finite-difference", "known")),
                default="raise",
                show_default=True,
                group="Gradients",
                help="The derivative of a differentiated call whose callback is no plain call of a function "
                "with a known one. raise, known: a rule that raises, to be filled in. zeros: no gradient. "
                "finite-difference: central differences, two calls for every element of the arguments.",
            ),
        )
    ):
        function = decorate(function)
    return function


def audit_selection(function: Function) -> Function:
    """Which findings to report."""
    group = "Which findings"
    for decorate in (
        option(
            "--ignore",
            metavar="CODE",
            multiple=True,
            callback=_codes,
            group=group,
            help="Leave such findings out. Where both options name a code, the longer beginning decides, and "
            "--ignore where they are equal.",
        ),
        option(
            "--select",
            metavar="CODE",
            multiple=True,
            callback=_codes,
            group=group,
            help="Report, and fix, only findings with this code. BCL01 stands for all codes that begin so, "
            "ALL for every code. May be repeated, or be a list with commas.",
        ),
    ):
        function = decorate(function)
    return function


def html_option(function: Function) -> Function:
    return option(
        "--html",
        metavar="FILE",
        type=click.Path(path_type=Path),
        callback=output_file,
        settable=False,
        group="Output",
        help="Write a page to FILE as well, on which to read the changes and remarks in a browser.",
    )(function)


def verify_options(function: Function) -> Function:
    group = "Proof"
    for decorate in (
        option(
            "--verify-timeout",
            metavar="SECONDS",
            type=click.IntRange(min=0),
            default=0,
            group=group,
            help="How long each run of the command may take. 0, the default, is for ever.",
        ),
        option(
            "--verify-limit",
            metavar="MB",
            type=click.IntRange(min=1),
            default=256,
            show_default=True,
            group=group,
            help="How much may be recorded in each run of the command.",
        ),
        option(
            "--verify",
            metavar="COMMAND",
            callback=_command,
            settable=False,
            group=group,
            help="Run a shell command, such as 'pytest -q', in a copy of the project and in a migrated copy, "
            "and compare what callbacks give. With --write, changes are applied only if nothing differs.",
        ),
    ):
        function = decorate(function)
    return function


def _command(_ctx: click.Context, _parameter: click.Parameter, command: str | None) -> str | None:
    if command is not None and not command.strip():
        raise click.BadParameter("Name a command.")
    return command


def _explain(ctx: click.Context, _parameter: click.Parameter, code: str | None) -> None:
    """Prints what a code means, and ends the run."""
    if code is None:
        return
    from codemods import console, pages

    try:
        text = pages.explain(code)
    except KeyError:
        message = f"{code!r} is neither a code nor the beginning of one{near(code.upper())}"
        raise click.BadParameter(message) from None
    console.write(pages.coloured(text) if console.has_colour(sys.stdout) else text)
    ctx.exit()


def help_options(function: Function) -> Function:
    # Eager, so that it needs no path.
    function = click.option(
        "--explain",
        metavar="CODE",
        is_eager=True,
        expose_value=False,
        callback=_explain,
        help="Say what a code means, why it is so and what to do, and exit. BC1 stands for all codes that "
        "begin so, and ALL for every code.",
    )(function)
    version = click.version_option(package_name="bufcb", message="%(prog)s %(version)s")
    return version(click.help_option("--help", "-h")(function))
