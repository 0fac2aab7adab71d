"""The commands `bufcb-migrate` and `bufcb-lint`.

Whatever takes time to import is imported where it is needed: `--help` loads click and little else, and a
run that finds no candidate file loads no parser.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import click

from codemods.model import FileResult, Options, Status

if TYPE_CHECKING:
    from codemods.discovery import Candidate
    from codemods.report import Run
    from codemods.settings import Settings
    from codemods.source import SourceFile

Migrate = Callable[["SourceFile"], FileResult]
Format = Literal["text", "json"]
Function = TypeVar("Function", bound=Callable[..., Any])

Result = TypeVar("Result")

EXIT_WORK_LEFT: Final = 1
EXIT_FAILED: Final = 2
EXIT_INTERRUPTED: Final = 130

# More than what `nesting.LIMIT` levels take, of which each is up to a dozen frames.
_STACK_FRAMES: Final = 20_000
_STACK_BYTES: Final = 256 * 2**20

VMAP_METHODS: Final = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


# ---------------------------------------------------------------------------------------- options


class _Failure(click.ClickException):
    """The whole run failed."""

    exit_code = EXIT_FAILED


class _Option(click.Option):
    """An option that is listed under a heading of its own in the help text."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class _Command(click.Command):
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


def _option(*names: str, group: str, **kwargs: Any) -> Callable[[Function], Function]:
    return click.option(*names, cls=_Option, group=group, **kwargs)


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
        raise _Failure(f"the current folder cannot be used: {error.strerror}") from None
    try:
        found = settings.find(paths)
        if found is not None:
            ctx.default_map = {
                _settable(found, key).human_readable_name: _checked(found, key, value)
                for key, value in found.values.items()
            }
    except settings.SettingsError as error:
        raise _Failure(str(error)) from None
    return paths


def _settable(found: Settings, key: str) -> click.Option:
    """The option of `bufcb-migrate` that `key` sets. All have the same name in `bufcb-lint`."""
    from codemods.settings import SettingsError

    options = {
        option.opts[0].removeprefix("--"): option for option in migrate.params if isinstance(option, _Option)
    }
    if key in options:
        return options[key]
    raise SettingsError(
        f"{found.path}: [tool.bufcb] {key}: no such option; there are {', '.join(sorted(options))}"
    )


def _checked(found: Settings, key: str, value: object) -> object:
    """The value as it is, if it has the type that its option takes."""
    from codemods.settings import SettingsError

    option = _settable(found, key)
    if option.is_flag:
        valid, expected = isinstance(value, bool), "true or false"
    elif option.multiple:
        valid = isinstance(value, list) and all(isinstance(item, str) for item in value)
        expected = "a list of strings"
    elif isinstance(option.type, click.Choice):
        valid, expected = value in option.type.choices, f"one of {', '.join(option.type.choices)}"
    else:
        valid, expected = isinstance(value, str), "a string"
    if valid:
        return value
    raise SettingsError(f"{found.path}: [tool.bufcb] {key}: expected {expected}, found {value!r}")


def _paths_argument(function: Function) -> Function:
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


def _format_option(function: Function) -> Function:
    return _option(
        "--format",
        "form",
        type=click.Choice(("text", "json")),
        default="text",
        show_default=True,
        group="Output",
        help="How to report: for people, or as one JSON object on standard output.",
    )(function)


def _migration_options(function: Function) -> Function:
    """The options that decide what the migrated code looks like; the fields of `Options`."""
    group = "Migrated code"
    for decorate in reversed(
        (
            _option(
                "--target",
                type=click.Choice(("bufcb", "jax")),
                default="bufcb",
                show_default=True,
                group=group,
                help="The library that the migrated code imports: bufcb, or JAX's own buffer callback.",
            ),
            _option(
                "--arrays",
                type=click.Choice(("auto", "numpy", "jax")),
                default="auto",
                show_default=True,
                group=group,
                help="What a callback gets. auto: NumPy arrays where NumPy provably gives the results that "
                "JAX gave, else JAX arrays. numpy: NumPy arrays, accepting NumPy's arithmetic. jax: JAX "
                "arrays, and every callback's body stays as it is.",
            ),
            _option(
                "--views/--no-views",
                default=False,
                group=group,
                help="Hand out views of arguments that may outlive the call, where a copy would be made.",
            ),
            _option(
                "--public/--no-public",
                default=False,
                group=group,
                help="Rewrite public functions in place, where a private sibling would be added.",
            ),
            _option(
                "--default-vmap-method",
                metavar="METHOD",
                type=click.Choice(VMAP_METHODS),
                group=group,
                help=f"The vmap_method to write into call sites that give none: {', '.join(VMAP_METHODS)}.",
            ),
            _option(
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


def _help_options(function: Function) -> Function:
    version = click.version_option(package_name="bufcb", message="%(prog)s %(version)s")
    return version(click.help_option("--help", "-h")(function))


# ---------------------------------------------------------------------------------------- commands


@click.command(
    cls=_Command,
    epilog="Exit status: 0 done; 1 with --check, when a file would change; 2 when something could not be "
    "processed, while the rest was. Every option can be set in [tool.bufcb] of pyproject.toml.",
)
@_paths_argument
@_option("--write/--no-write", default=False, group="What to do", help="Apply the changes to the files.")
@_option(
    "--check/--no-check",
    default=False,
    group="What to do",
    help="Write nothing, and exit with status 1 when a file would change.",
)
@_format_option
@_migration_options
@_help_options
@click.pass_context
def migrate(
    ctx: click.Context, /, paths: tuple[Path, ...], write: bool, check: bool, form: Format, **options: Any
) -> None:
    """Migrate jax.pure_callback to bufcb.buffer_callback.

    Each PATH is a Python file or a folder to search. Without --write, the changes are printed as a
    unified diff and no file is touched. Every call site ends as rewritten (its callback writes its
    results in place), adapted (its callback is kept behind an adapter), refused (left alone, with the
    reason and the way out) or skipped (marked with "# bufcb: skip").
    """
    write, check = _mode(ctx, write, check)
    ctx.exit(_guarded(lambda: _migrate(paths, Options(**options), write, check, form)))


@click.command(
    cls=_Command,
    epilog="Exit status: 0 nothing found; 1 something is left to migrate; 2 when something could not be "
    "processed, while the rest was. Every option can be set in [tool.bufcb] of pyproject.toml.",
)
@_paths_argument
@_format_option
@_migration_options
@_help_options
@click.pass_context
def lint(ctx: click.Context, /, paths: tuple[Path, ...], form: Format, **options: Any) -> None:
    """Report every call site of jax.pure_callback that is left to migrate.

    Each PATH is a Python file or a folder to search. The analysis is that of bufcb-migrate with the same
    options, and no file is touched. A call site marked with "# bufcb: skip" is not reported.
    """
    ctx.exit(_guarded(lambda: _lint(paths, Options(**options), form)))


def _mode(ctx: click.Context, write: bool, check: bool) -> tuple[bool, bool]:
    """Settles `--write` against `--check`: what the command line says outweighs the settings."""
    if not (write and check):
        return write, check
    given = click.core.ParameterSource.COMMANDLINE
    write, check = (ctx.get_parameter_source(name) is given for name in ("write", "check"))
    if write == check:
        raise click.UsageError("--write and --check exclude each other.", ctx)
    return write, check


def _guarded(command: Callable[[], int]) -> int:
    """The exit status of `command`; an interrupt ends it quietly."""
    from codemods.console import OutputError

    try:
        return command()
    except OutputError as error:
        raise _Failure(str(error)) from None
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _migrate(paths: Sequence[Path], options: Options, write: bool, check: bool, form: Format) -> int:
    from codemods import console, report

    run = _analyse(paths, options)
    if write:
        run = _write(run)
    if form == "json":
        console.write(report.to_json(run) + "\n")
    else:
        if not write:
            colour = console.has_colour(sys.stdout)
            for file in run.files:
                console.write(report.unified_diff(file, colour=colour))
        console.say(*report.diagnostics(run), *report.changes(run), report.conclusion(run))
    if run.failed:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if check and run.changed else 0


def _lint(paths: Sequence[Path], options: Options, form: Format) -> int:
    from codemods import console, report

    run = _analyse(paths, options)
    if form == "json":
        console.write(report.to_json(run) + "\n")
    else:
        console.write("".join(f"{finding}\n" for finding in report.findings(run)))
        console.say(*report.failures(run), report.verdict(run))
    if run.failed:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if any(site.status is not Status.SKIPPED for site in run.sites) else 0


# ---------------------------------------------------------------------------------------- work


def _analyse(paths: Sequence[Path], options: Options) -> Run:
    """Runs the migration over everything in `paths`, in memory."""
    from codemods import discovery, report

    found = discovery.discover(paths)
    files = list(found.failures)
    if found.candidates:
        engine = _engine(paths, options)
        files += _on_deep_stack(lambda: [_analyse_file(each, engine) for each in found.candidates])
    files.sort(key=lambda file: file.path.parts)
    return report.Run(tuple(files), found.scanned)


def _on_deep_stack(work: Callable[[], Result]) -> Result:
    """Runs `work`, which recurses as deeply as the code that it reads is nested, where there is room.

    A string of a few hundred pieces is nested too deeply for Python's usual limits. On a system that
    grants no such stack, `work` runs on the one that there is.
    """
    import threading

    results: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failures.append(error)

    frames = sys.getrecursionlimit()
    try:
        # A daemon, so that an interrupt does not wait for it: it writes nothing.
        thread = threading.Thread(target=run, daemon=True)
        before = threading.stack_size(_STACK_BYTES)
        try:
            sys.setrecursionlimit(max(frames, _STACK_FRAMES))
            thread.start()
        finally:
            threading.stack_size(before)
        while thread.is_alive():  # an interrupt that comes right before a wait does not end it
            thread.join(timeout=0.2)
    except (RuntimeError, ValueError):  # no thread of that size
        sys.setrecursionlimit(frames)
        return work()
    finally:
        sys.setrecursionlimit(frames)
    if failures:
        raise failures[0]
    return results[0]


def _engine(paths: Sequence[Path], options: Options) -> Migrate:
    """The migration of one file; loads the parsers."""
    from codemods import engine, project

    # Made for the first file, so that its failure is reported as a file's is.
    whole = functools.cache(lambda: project.Project.of(paths))
    return lambda source: engine.migrate(source, whole(), options)


def _analyse_file(candidate: Candidate, engine: Migrate) -> FileResult:
    """Migrates one file; whatever goes wrong ends up in the result, so that the next file has its turn."""
    from codemods.source import SourceError, SourceFile

    try:
        return engine(SourceFile.from_bytes(candidate.path, candidate.data))
    except SourceError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - one file's bad luck must not be the other files'
        reason = (
            f"{candidate.path}: internal error in bufcb-migrate: {type(error).__name__}: {error} "
            f"({_place(error)}); please report it"
        )
    return FileResult(candidate.path, candidate.data, candidate.data, error=reason)


def _place(error: Exception) -> str:
    """Where `error` was raised, for a report of our own bug."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}"


def _write(run: Run) -> Run:
    """Writes the changed files; one that cannot be written becomes a failure without call sites."""
    from codemods import writing
    from codemods.source import SourceError

    files = []
    for file in run.files:
        try:
            if file.changed:
                writing.replace(file.path, file.before, file.after)
            files.append(file)
        except SourceError as error:
            files.append(FileResult(file.path, file.before, file.before, error=str(error)))
    return dataclasses.replace(run, files=tuple(files), written=True)
