"""The commands `bufcb-migrate` and `bufcb-lint`.

Whatever takes time to import is imported where it is needed: `--help` loads click and little else, and a
run that finds no candidate file loads no parser.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from codemods.model import AuditOptions, Options
from codemods.options import (
    EXIT_FAILED,
    Command,
    Failure,
    audit_selection,
    format_option,
    help_options,
    html_option,
    input_options,
    jobs_option,
    migration_options,
    option,
    output_file,
    transform_option,
    verify_options,
)

if TYPE_CHECKING:
    from codemods.inputs import Inputs
    from codemods.report.run import Run
    from codemods.verification import Proof, Settings

Format = Literal["text", "json", "sarif", "github"]

EXIT_WORK_LEFT: Final = 1
EXIT_DIFFERENT: Final = 1
EXIT_INTERRUPTED: Final = 130


@dataclasses.dataclass(frozen=True, slots=True)
class _Task:
    """What `bufcb-migrate` is asked for."""

    inputs: Inputs
    options: Options
    write: bool
    check: bool
    interactive: bool
    form: Format
    patch: Path | None
    html: Path | None
    jobs: int


@click.command(
    cls=Command,
    epilog="Exit status: 0 done; 1 with --check, when a file would change, and with --verify, when results "
    "differ; 2 when something could not be processed, while the rest was, or the command of --verify could "
    "not be run. Options can be set in [tool.bufcb] of pyproject.toml.",
)
@input_options
@option("--write/--no-write", default=False, group="What to do", help="Apply the changes to the files.")
@option(
    "--check/--no-check",
    default=False,
    group="What to do",
    help="Write nothing, and exit with status 1 when a file would change.",
)
@option(
    "--interactive",
    is_flag=True,
    settable=False,
    group="What to do",
    help="Show the changes call site by call site, ask about each, and apply those that are taken.",
)
@jobs_option
@format_option
@option(
    "--patch",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=output_file,
    settable=False,
    group="Output",
    help="Write the changes of all files to FILE as well, for git apply anywhere in the repository.",
)
@html_option
@verify_options
@migration_options
@help_options
@click.pass_context
def migrate(
    ctx: click.Context,
    /,
    inputs: Inputs,
    write: bool,
    check: bool,
    interactive: bool,
    form: Format,
    patch: Path | None,
    html: Path | None,
    jobs: int,
    verify: str | None,
    verify_limit: int,
    verify_timeout: int,
    **options: Any,
) -> None:
    """Migrate jax.pure_callback to bufcb.buffer_callback.

    Each PATH is a Python file or a folder to search, or - for code on standard input. Without --write,
    the changes are printed as a unified diff and no file is touched. Every call site ends as rewritten
    (its callback writes its results in place), adapted (its callback is kept behind an adapter), refused
    (left alone, with the reason and the way out) or skipped (as a comment "# bufcb: skip", --select or
    --ignore asks).
    """
    write, check = _mode(ctx, write, check, interactive)
    if verify is not None:
        check = _check_verify(ctx, inputs, check, interactive)
    if interactive:
        _check_terminal(ctx, inputs)
    task = _Task(inputs, Options(**options), write, check, interactive, form, patch, html, jobs)
    if verify is None:
        ctx.exit(_guarded(lambda: _migrate(task)))
    from codemods.verification import Settings

    settings = Settings(verify, verify_limit, verify_timeout or None)
    ctx.exit(_guarded(lambda: _verify(task, settings)))


@click.command(
    "lint",
    cls=Command,
    epilog="Exit status: 0 nothing found; 1 findings are left; 2 when something could not be processed, "
    "while the rest was. Options can be set in [tool.bufcb] of pyproject.toml.",
)
@input_options
@option(
    "--fix/--no-fix",
    default=False,
    group="What to do",
    help="Fix what can safely be fixed, and report the rest.",
)
@option(
    "--diff",
    is_flag=True,
    settable=False,
    group="What to do",
    help="Write nothing, and print what --fix would change.",
)
@jobs_option
@format_option
@html_option
@transform_option
@audit_selection
@help_options
@click.pass_context
def lint(
    ctx: click.Context,
    /,
    inputs: Inputs,
    fix: bool,
    diff: bool,
    form: Format,
    html: Path | None,
    jobs: int,
    gradient_transform: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Audit code that uses buffer callbacks, of JAX or of bufcb.

    Each PATH is a Python file or a folder to search, or - for code on standard input. Each finding has a
    code, which --explain explains. A comment "# bufcb: skip", or "# bufcb: skip[CODE]", on its line, on the
    callback's header or on the call leaves it out.
    """
    if diff and form != "text":
        raise click.UsageError("--diff prints changes, and so takes --format text alone.", ctx)
    options = AuditOptions(fix and not diff, diff, select, ignore, gradient_transform)
    ctx.exit(_guarded(lambda: _lint(inputs, options, form, html, jobs)))


def _mode(ctx: click.Context, write: bool, check: bool, interactive: bool) -> tuple[bool, bool]:
    """Settles `--write`, `--check` and `--interactive`: what the command line says outweighs the settings."""

    def is_given(name: str) -> bool:
        return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE

    if interactive:
        if is_given("check") and check:
            raise click.UsageError("--interactive and --check exclude each other.", ctx)
        if is_given("write") and not write:
            raise click.UsageError("--interactive writes what is taken, and so excludes --no-write.", ctx)
        return True, False
    if not (write and check):
        return write, check
    write, check = is_given("write"), is_given("check")
    if write == check:
        raise click.UsageError("--write and --check exclude each other.", ctx)
    return write, check


def _check_verify(ctx: click.Context, inputs: Inputs, check: bool, interactive: bool) -> bool:
    """Settles `--check` beside `--verify`, which outweighs the settings: their exit statuses clash."""
    if inputs.code is not None:
        raise click.UsageError("--verify needs files, not code from standard input.", ctx)
    if interactive:
        raise click.UsageError("--verify and --interactive exclude each other.", ctx)
    if check and ctx.get_parameter_source("check") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--verify and --check exclude each other.", ctx)
    return False


def _guarded(command: Callable[[], int]) -> int:
    """The exit status of `command`; an interrupt ends it quietly."""
    from codemods.console import OutputError

    try:
        return command()
    except OutputError as error:
        raise Failure(str(error)) from None
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _check_terminal(ctx: click.Context, inputs: Inputs) -> None:
    from codemods import console

    if inputs.code is not None:
        raise click.UsageError("--interactive reads answers, not code, from standard input.", ctx)
    if not console.is_terminal():
        raise Failure("--interactive needs a terminal, to show changes on and to read answers from")


def _analysed(inputs: Inputs, options: Options | AuditOptions, jobs: int) -> Run:
    from codemods import running
    from codemods.progress import Progress

    with Progress.on(sys.stderr) as progress:
        return running.analyse(inputs, options, jobs, progress)


def _migrate(task: _Task) -> int:
    from codemods import running

    _check_outputs(task.patch, task.html)
    if task.interactive:
        run = running.choose(task.inputs, task.options)
    else:
        run = _analysed(task.inputs, task.options, task.jobs)
    if task.inputs.code is not None:
        run = dataclasses.replace(run, written=task.write)  # what came by standard input goes to its output
    elif task.write and not task.interactive:
        run = running.write(run)
    is_complete = _save_outputs(task.patch, task.html, run)  # before the report, whose reader may go away
    _report(run, task.form, migrated=task.inputs.code if task.write else None)
    if run.failed or not is_complete:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if task.check and run.changed else 0


def _verify(task: _Task, settings: Settings) -> int:
    """Shows the changes, and what a command shows of them; with `--write`, applies what that proves."""
    from codemods import console, running
    from codemods.report import proof as report

    _check_outputs(task.patch, task.html)
    run = _analysed(task.inputs, task.options, task.jobs)
    is_complete = _save_outputs(task.patch, task.html, run)
    if task.form != "json":
        _report(run, task.form, migrated=None)
    proof, error = _proven(run, settings) if run.changed else (None, "")
    is_same = proof is not None and proof.is_same
    if task.write and is_same:
        run = running.write(run)
    if task.form == "json":
        from codemods.report import as_json

        console.write(as_json.to_json(run, {"verification": report.to_object(proof, error)}) + "\n")
    console.say(*report.to_text(proof, error), *report.of_writing(run, asked=task.write))
    if run.failed or not is_complete or error:
        return EXIT_FAILED
    return 0 if is_same or not run.changed else EXIT_DIFFERENT


def _proven(run: Run, settings: Settings) -> tuple[Proof | None, str]:
    """What the command shows, or why it shows nothing."""
    from codemods import console, verification

    try:
        return verification.verify(run, settings, lambda text: console.say(console.one_line(text))), ""
    except verification.VerificationError as error:
        return None, str(error)


def _check_outputs(patch: Path | None, html: Path | None) -> None:
    """Fails, before anything is done, if it is plain by now that an output file cannot be written."""
    if patch is None and html is None:
        return
    from codemods import writing
    from codemods.report import html as as_html
    from codemods.report import patch as as_patch
    from codemods.source import SourceError

    try:
        for path, start in ((patch, as_patch.START), (html, as_html.START)):
            if path is not None:
                writing.check_output(path, start)
    except SourceError as error:
        raise Failure(str(error)) from None


def _save_outputs(patch: Path | None, html: Path | None, run: Run) -> bool:
    """Writes the patch and the page; False, after saying why, where one fails: the rest goes on."""
    is_complete = True
    if patch is not None:
        from codemods.report.patch import git_patch

        is_complete &= _save(patch, git_patch(run.files))
    if html is not None:
        from codemods.report.html import to_html

        is_complete &= _save(html, to_html(run))
    return is_complete


def _save(path: Path, data: bytes) -> bool:
    from codemods import console, writing

    try:
        writing.save(path, data)
    except OSError as error:
        console.say(f"error: {path}: cannot be written: {error.strerror or error}")
        return False
    return True


def _report(run: Run, form: Format, migrated: bytes | None) -> None:
    """Reports on a run. Code that is `migrated` takes standard output, and every report standard error."""
    from codemods import console
    from codemods.report import text

    if migrated is not None:
        console.write(run.files[0].after if run.files else migrated)
    if form != "text":
        _write_document(run, form, text.conclusion(run), aside=migrated is not None)
        return
    if not run.written:
        _write_diffs(run)
    console.say(*text.diagnostics(run), *text.changes(run), text.conclusion(run))


def _write_document(run: Run, form: Format, summary: str, *, aside: bool = False) -> None:
    """Writes the run for other tools. What people want to know as well goes to standard error.

    Where standard output is taken, the document goes `aside`, to standard error, and is alone there.
    """
    from codemods import console
    from codemods.report import text

    document = _document(run, form)
    if aside:
        console.say(*document.split("\n")[:-1])
        return
    console.write(document)
    if form == "sarif":
        console.say(*text.failures(run))
    if form != "json":
        console.say(summary)


def _document(run: Run, form: Format) -> str:
    if form == "json":
        from codemods.report import as_json

        return as_json.to_json(run) + "\n"
    if form == "sarif":
        from codemods.report import sarif

        return sarif.to_sarif(run) + "\n"
    from codemods.report import github

    return github.to_commands(run)


def _lint(inputs: Inputs, options: AuditOptions, form: Format, html: Path | None, jobs: int) -> int:
    from codemods import console, running
    from codemods.report import text

    _check_outputs(None, html)
    run = _analysed(inputs, options, jobs)
    if options.fix:
        run = dataclasses.replace(run, written=True) if inputs.code is not None else running.write(run)
    left = run.settled if options.fix else run
    is_complete = _save_outputs(None, html, left)  # before the report, whose reader may go away
    is_taken = options.diff
    if options.fix and inputs.code is not None:
        is_taken = True
        console.write(run.files[0].after if run.files else inputs.code)
    if options.diff:
        _write_diffs(run)
    if form != "text":
        _write_document(run if form == "json" else left, form, text.verdict(run), aside=is_taken)
    else:
        _write_findings(left, aside=is_taken)
        console.say(*text.failures(run), *text.changes(run), text.verdict(run))
    if run.failed or not is_complete:
        return EXIT_FAILED
    return EXIT_WORK_LEFT if any(run.notes) else 0


def _write_findings(run: Run, *, aside: bool) -> None:
    """Writes the findings to standard output, or `aside`, to standard error, where that is taken."""
    from codemods import console
    from codemods.report import text

    if aside:
        console.say(*text.remarks(run))
    else:
        console.write("".join(f"{finding}\n" for finding in text.remarks(run)))


def _write_diffs(run: Run) -> None:
    from codemods import console
    from codemods.report import diff

    colour, terminal = console.has_colour(sys.stdout), console.is_shown()
    for file in run.files:
        console.write(diff.unified_diff(file, colour=colour, terminal=terminal))
