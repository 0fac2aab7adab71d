"""The commands `bufcb-migrate` and `bufcb-lint`.

Whatever takes time to import is imported where it is needed: `--help` loads click and little else, and a
run that finds no candidate file loads no parser.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import click

from codemods.model import Options, Status
from codemods.options import (
    EXIT_FAILED,
    Command,
    Failure,
    format_option,
    help_options,
    migration_options,
    option,
    paths_argument,
)

Format = Literal["text", "json"]

EXIT_WORK_LEFT: Final = 1
EXIT_INTERRUPTED: Final = 130


@click.command(
    cls=Command,
    epilog="Exit status: 0 done; 1 with --check, when a file would change; 2 when something could not be "
    "processed, while the rest was. Every option can be set in [tool.bufcb] of pyproject.toml.",
)
@paths_argument
@option("--write/--no-write", default=False, group="What to do", help="Apply the changes to the files.")
@option(
    "--check/--no-check",
    default=False,
    group="What to do",
    help="Write nothing, and exit with status 1 when a file would change.",
)
@format_option
@migration_options
@help_options
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
    cls=Command,
    epilog="Exit status: 0 nothing found; 1 something is left to migrate; 2 when something could not be "
    "processed, while the rest was. Every option can be set in [tool.bufcb] of pyproject.toml.",
)
@paths_argument
@format_option
@migration_options
@help_options
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
        raise Failure(str(error)) from None
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _migrate(paths: Sequence[Path], options: Options, write: bool, check: bool, form: Format) -> int:
    from codemods import console, running
    from codemods.report import as_json, diff, text

    run = running.analyse(paths, options)
    if write:
        run = running.write(run)
    if form == "json":
        console.write(as_json.to_json(run) + "\n")
    else:
        if not write:
            colour = console.has_colour(sys.stdout)
            for file in run.files:
                console.write(diff.unified_diff(file, colour=colour))
        console.say(*text.diagnostics(run), *text.changes(run), text.conclusion(run))
    if run.failed:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if check and run.changed else 0


def _lint(paths: Sequence[Path], options: Options, form: Format) -> int:
    from codemods import console, running
    from codemods.report import as_json, text

    run = running.analyse(paths, options)
    if form == "json":
        console.write(as_json.to_json(run) + "\n")
    else:
        console.write("".join(f"{finding}\n" for finding in text.findings(run)))
        console.say(*text.failures(run), text.verdict(run))
    if run.failed:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if any(site.status is not Status.SKIPPED for site in run.sites) else 0
