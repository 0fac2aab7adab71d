"""One file through every step: read, find, plan, rewrite, check."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from codemods import apis, gradients, lineage, names, nesting, patches, scaffolds, sites
from codemods.apis import Api
from codemods.callbacks import Planner
from codemods.definitions import Definitions
from codemods.exports import Exports
from codemods.gradients import Verdict
from codemods.model import Diagnostic, FileResult, Gradient, Hop, Note, Options, SiteResult, Status
from codemods.names import Module
from codemods.overrides import Overrides
from codemods.plans import ModulePlan, SitePlan
from codemods.project import Project
from codemods.reflection import Reflection
from codemods.resolve import settle_vectorized
from codemods.rewrite import NoPlace, rewrite
from codemods.selection import Selection
from codemods.source import Position, SourceError, SourceFile
from codemods.stars import bind_stars
from codemods.suppressions import Suppressions

_PLACES: Final = 3  # that a note names
_BY_HAND: Final = "Migrate these calls by hand."


def migrate(source: SourceFile, project: Project, options: Options, left: Collection[int] = ()) -> FileResult:
    """Migrates one file, but for the call sites whose indices are `left`.

    Raises:
      SourceError: it cannot be parsed, analysed or written in its encoding.
    """
    if not source.may_call(options.apis):
        notes = Selection(options).admitted(source.unread(options.apis))
        return FileResult(source.path, source.data, source.data, notes=tuple(notes))
    try:
        return _migrate(source, project, options, left)
    except RecursionError:
        _, line = nesting.deepest(source.tree)
        raise source.error(line, "is nested too deeply to be analysed; split this up") from None


def _migrate(source: SourceFile, project: Project, options: Options, left: Collection[int]) -> FileResult:
    module = names.read(source.tree)
    definitions = Definitions(project)
    bind_stars(module, source.path, definitions)
    wanted = apis.named(options.apis)
    found, mentions = sites.find(module, options.assume_jax, Exports(project, source.path), wanted)
    overridden = Overrides(module, source.path, project)
    found = settle_vectorized(
        found, module, overridden, lambda origins: definitions.follow(origins, source.path)
    )
    suppressions = Suppressions(source)
    replaced = dict(_replaced(module, wanted, options))
    planner = Planner(source, module, project, options, replaced)
    verdicts = _verdicts(source, module, project, found, options)
    selection = Selection(options)

    def admits(site: sites.Site, diagnostic: Diagnostic) -> bool:
        covered = suppressions.covers_code(site.node, diagnostic.code)
        return selection.admits(diagnostic.code) and not covered

    while True:
        plan = planner.plan(found, suppressions, frozenset(found[index] for index in left))
        plan, said = scaffolds.add(plan, planner.context, verdicts, planner.resolved, admits)
        after, plan, error = _rewritten(source, module, plan, options, project)
        if not planner.silence(plan, suppressions):
            break
    units = _units(plan)
    results = tuple(
        dataclasses.replace(
            _result(source, site, unit, selection, verdicts[site.site]),
            definition=lineage.definition(site.site, plan, source, module, planner.resolved),
        )
        for site, unit in zip(plan.sites, units, strict=True)
    )
    notes = [_mention(source, mention) for mention in mentions]
    for api in wanted:
        notes += _bypassed(api, source, project, results)
    are_taken = functools.cache(lambda: gradients.are_taken(project, options.gradient_transform))
    notes += _of_gradients(results, plan, verdicts, said, suppressions, are_taken)
    unused = Diagnostic("BC005", "This comment suppresses nothing.", "Remove it.")
    notes += [_note(source, line, column, unused) for line, column in suppressions.unused()]
    notes += [_note_at(source, node, diagnostic) for node, diagnostic in plan.remarks]
    notes += source.unread(options.apis)
    notes = selection.admitted(notes)
    notes.sort(key=lambda note: (note.cell or 0, note.line, note.column))
    successors = tuple(lineage.successors(plan, source, planner.resolved))
    return FileResult(source.path, source.data, after, results, tuple(notes), error, successors)


def _rewritten(
    source: SourceFile, module: Module, plan: ModulePlan, options: Options, project: Project
) -> tuple[bytes, ModulePlan, str | None]:
    """The new bytes, the plan as carried out, and our own failure if the output does not parse."""
    if not plan:
        return source.data, plan, None
    if (line := _too_deep(source, plan)) is not None:
        return source.data, _refused(plan, _of_depth(line)), None

    def is_kept(name: str) -> bool:
        return name in _imported(module) and (
            Reflection(module).lists(module.root) is not None
            or _runs_project_code(name, module, Exports(project, source.path))
            or project.reexported(name, source.path)
        )

    try:
        changes = rewrite(source, module, plan, options, is_kept)
    except NoPlace as error:
        return source.data, _refused(plan, Diagnostic("BC204", str(error), _BY_HAND)), None
    except RecursionError:
        _, line = max(map(nesting.deepest, _parsed_again(plan)), default=(0, 1))
        return source.data, _refused(plan, _of_depth(line)), None
    after = source.changed(changes)
    try:
        source.check(changes)
    except SourceError as error:
        reason = f"the migrated text does not parse ({error.reason}); please report this"
        return (
            source.data,
            _refused(
                plan, Diagnostic("BC205", "The migrated text does not parse, which is our defect.", _BY_HAND)
            ),
            str(SourceError(source.path, error.line, reason, error.cell)),
        )
    return after, plan, None


def _parsed_again(plan: ModulePlan) -> Iterator[ast.stmt | ast.expr]:
    """The calls and functions that the rewrite hands to LibCST."""
    for site in plan.sites:
        if site.status in (Status.REWRITTEN, Status.ADAPTED) and isinstance(site.site, sites.CallSite):
            yield site.site.call
    yield from (function.function for function in plan.functions)


def _too_deep(source: SourceFile, plan: ModulePlan) -> int | None:
    """The line of the first nesting that LibCST may not survive."""
    lines = (nesting.too_deep(source, node) for node in _parsed_again(plan))
    return min((line for line in lines if line is not None), default=None)


def _of_depth(line: int) -> Diagnostic:
    reason = f"Line {line}, which must change or stands in a function that must, is nested too deeply."
    return Diagnostic("BC209", reason, "Split it into several statements, then migrate this file.")


def _imported(module: Module) -> set[str]:
    return {name for name, found in module.root.bindings.items() if any(b.origin for b in found)}


def _runs_project_code(name: str, module: Module, exports: Exports) -> bool:
    """Whether a statement that imports `name` alone may be there for what the module does when imported."""
    return any(
        isinstance(statement := module.parents[binding.node], ast.ImportFrom)
        and len(statement.names) == 1
        and exports.acts_when_imported("." * statement.level + (statement.module or ""))
        for binding in module.root.bindings[name]
        if binding.origin is not None
    )


def _replaced(module: Module, wanted: Sequence[Api], options: Options) -> Iterator[tuple[Api, Diagnostic]]:
    """The APIs that a file replaces in JAX itself, where its own calls look for them."""
    for api in wanted:
        found = [patch for patch in patches.find(module, api, options.assume_jax) if patch.module == "jax"]
        if found:
            line = found[0].line
            reason = f"This file replaces `{api.path}` (line {line}), which migrated calls would not see."
            yield api, Diagnostic("BC206", reason, f"{sites.patch_instead(api)}, then migrate this file.")


def _bypassed(api: Api, source: SourceFile, project: Project, results: tuple[SiteResult, ...]) -> list[Note]:
    """A note at the first migrated call that names the places in other files that replace what it called."""
    migrated = [
        result
        for result in results
        if result.api == api.name and result.status in (Status.REWRITTEN, Status.ADAPTED)
    ]
    places = (
        [f"{_shown(file)}:{place}" for file, place in project.patches(source.path, api)] if migrated else []
    )
    if not places:
        return []
    more = len(places) - _PLACES
    verb = "replaces" if len(places) == 1 else "replace"
    shown = ", ".join(places[:_PLACES]) + (f" and {more} more" if more > 0 else "")
    diagnostic = Diagnostic(
        "BC006",
        f"{shown} {verb} `{api.name}`, where migrated calls no longer pass.",
        "Replace `bufcb.buffer_callback` there instead.",
    )
    first = migrated[0]
    return [Note(first.line, first.column, diagnostic, first.cell)]


def _shown(file: str) -> str:
    """A path as short as it can be written from here."""
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):  # the current folder is gone, or on another drive
        return file
    return file if relative.startswith(os.pardir) else relative


def _refused(plan: ModulePlan, diagnostic: Diagnostic) -> ModulePlan:
    """The same sites, all left as they are."""
    left = tuple(
        SitePlan(site.site, Status.REFUSED, diagnostic)
        if site.status in (Status.REWRITTEN, Status.ADAPTED)
        else site
        for site in plan.sites
    )
    return dataclasses.replace(plan, sites=left, functions=(), siblings=(), remarks=())


def _units(plan: ModulePlan) -> list[int | None]:
    """For each call site the index of the first with the same callback; None for one that is out of sight."""
    first: dict[ast.AST, int] = {}
    definitions = [plan.callbacks.get(site.site) for site in plan.sites]
    return [first.setdefault(node, index) if node else None for index, node in enumerate(definitions)]


def _verdicts(
    source: SourceFile, module: Module, project: Project, found: Sequence[sites.Site], options: Options
) -> dict[sites.Site, Verdict]:
    """What is known of the gradients of each call site, with places as the user knows them."""
    verdicts = gradients.verdicts(module, source.path, project, found, options)
    return {
        site: dataclasses.replace(verdict, hops=tuple(hop_in(source, hop) for hop in verdict.hops))
        for site, verdict in verdicts.items()
    }


def hop_in(source: SourceFile, hop: Hop) -> Hop:
    """A hop with its place as the user knows it, if it is in this file."""
    if hop.path != source.path:
        return hop
    place = source.position(hop.line, 1)
    return dataclasses.replace(hop, line=place.line, cell=place.cell)


def _of_gradients(
    results: Sequence[SiteResult],
    plan: ModulePlan,
    verdicts: Mapping[sites.Site, Verdict],
    said: Mapping[sites.Site, Diagnostic],
    suppressions: Suppressions,
    are_taken: Callable[[], bool],
) -> Iterator[Note]:
    """A note for each migrated call that is differentiated without having a derivative, or may be.

    In a project that differentiates nothing, as `are_taken` says, what others may do is not worth a note on
    each call.
    """
    for result, site in zip(results, plan.sites, strict=True):
        verdict = verdicts[site.site]
        diagnostic = said.get(site.site, verdict.diagnostic)
        if diagnostic is None or site.status not in (Status.REWRITTEN, Status.ADAPTED):
            continue
        if verdict.gradient is Gradient.UNKNOWN and not are_taken():
            continue
        if not suppressions.covers_code(site.site.node, diagnostic.code):
            yield Note(result.line, result.column, diagnostic, result.cell, verdict.hops)


def _result(
    source: SourceFile, plan: SitePlan, unit: int | None, selection: Selection, verdict: Verdict
) -> SiteResult:
    site = plan.site
    node = site.call if isinstance(site, sites.CallSite) else site.node
    if isinstance(site, sites.ValueUse | sites.Unresolved):
        parent = site.call if isinstance(site, sites.ValueUse) else None
        node = parent or node
    start = _position(source, node.lineno, source.start(node))
    end = _position(source, node.end_lineno or node.lineno, source.end(node))
    # Of an outcome that is not admitted nothing is left but a site that is skipped without a word.
    is_said = plan.diagnostic is not None and selection.admits(plan.diagnostic.code)
    return SiteResult(
        start.line,
        start.column,
        end.line,
        _callback(site),
        plan.status,
        _reworded(source, plan.diagnostic) if plan.diagnostic and is_said else None,
        Gradient.SCAFFOLDED if plan.scaffold else verdict.gradient,
        unit=unit,
        api=site.api.name,
        end_column=end.column,
        cell=start.cell,
        gradient_path=verdict.hops,
    )


def _position(source: SourceFile, line: int, offset: int) -> Position:
    return source.position(line, offset - source.line_start(line) + 1)


def _reworded(source: SourceFile, diagnostic: Diagnostic) -> Diagnostic:
    return dataclasses.replace(diagnostic, reason=source.reworded(diagnostic.reason))


def _callback(site: sites.Site) -> str:
    if isinstance(site, sites.CallSite):
        if isinstance(site.callback, ast.Lambda):
            return "<lambda>"
        text = ast.unparse(site.callback)
        return text if len(text) <= 60 else text[:57] + "..."
    return ast.unparse(site.node)


def _note(source: SourceFile, line: int, column: int, diagnostic: Diagnostic) -> Note:
    place = source.position(line, column)
    return Note(place.line, place.column, _reworded(source, diagnostic), place.cell)


def _note_at(source: SourceFile, node: ast.expr | ast.stmt, diagnostic: Diagnostic) -> Note:
    return _note(source, node.lineno, source.start(node) - source.line_start(node.lineno) + 1, diagnostic)


def _mention(source: SourceFile, mention: sites.Mention) -> Note:
    node = mention.node
    reason = f"The string `{node.value!s}` may be looked up at run time, where migrated calls no longer pass."
    way_out = "Name `bufcb.buffer_callback` instead, if it is."
    return _note_at(source, node, Diagnostic("BC006", reason, way_out))
