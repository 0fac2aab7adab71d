"""One file through every step: read, find, plan, rewrite, check."""

from __future__ import annotations

import ast
import dataclasses

from codemods import names, sites
from codemods.callbacks import Planner
from codemods.model import Diagnostic, FileResult, Note, Options, SiteResult, Status
from codemods.names import Module
from codemods.plans import ModulePlan, SitePlan
from codemods.project import Project
from codemods.rewrite import NoPlace, rewrite
from codemods.source import SourceError, SourceFile, parse
from codemods.suppressions import Suppressions


def migrate(source: SourceFile, project: Project, options: Options) -> FileResult:
    """Migrates one file; raises `SourceError` when it cannot be parsed or written in its encoding."""
    module = names.read(source.tree)
    found, mentions = sites.find(module, options.assume_jax)
    suppressions = Suppressions(source)
    plan = Planner(source, module, project, options).plan(found, suppressions)
    after, plan, error = _rewritten(source, module, plan, options, project)
    results = tuple(_result(source, site) for site in plan.sites)
    notes = [_mention(source, mention) for mention in mentions]
    notes += [
        Note(line, column, Diagnostic("BC005", "This comment suppresses nothing.", "Remove it."))
        for line, column in suppressions.unused()
    ]
    notes.sort(key=lambda note: (note.line, note.column))
    return FileResult(source.path, source.data, after, results, tuple(notes), error)


def _rewritten(
    source: SourceFile, module: Module, plan: ModulePlan, options: Options, project: Project
) -> tuple[bytes, ModulePlan, str | None]:
    """The new bytes, the plan as carried out, and our own failure if the output does not parse."""
    if not plan:
        return source.data, plan, None
    kept = frozenset(name for name in _imported(module) if project.reexported(name, source.path))
    try:
        text = rewrite(source, module, plan, options, kept)
    except NoPlace as error:
        return source.data, _refused(plan, str(error)), None
    try:
        parse(source.path, text)
    except SourceError as error:
        where = f"{source.path}:{error.line}"
        reason = f"{where}: the migrated text does not parse ({error.reason}); please report this"
        return (
            source.data,
            _refused(plan, "The migrated text does not parse, which is a defect of bufcb-migrate."),
            reason,
        )
    return source.encode(text), plan, None


def _imported(module: Module) -> set[str]:
    return {name for name, found in module.root.bindings.items() if any(b.origin for b in found)}


def _refused(plan: ModulePlan, reason: str) -> ModulePlan:
    """The same sites, all left as they are."""
    diagnostic = Diagnostic("BC204", reason, "Migrate these calls by hand.")
    left = tuple(
        SitePlan(site.site, Status.REFUSED, diagnostic)
        if site.status in (Status.REWRITTEN, Status.ADAPTED)
        else site
        for site in plan.sites
    )
    return dataclasses.replace(plan, sites=left, functions=(), siblings=())


def _result(source: SourceFile, plan: SitePlan) -> SiteResult:
    site = plan.site
    node = site.call if isinstance(site, sites.CallSite) else site.node
    if isinstance(site, sites.ValueUse | sites.Unresolved):
        parent = site.call if isinstance(site, sites.ValueUse) else None
        node = parent or node
    column = source.start(node) - source.line_start(node.lineno) + 1
    end = node.end_lineno or node.lineno
    return SiteResult(node.lineno, column, end, _callback(site), plan.status, plan.diagnostic)


def _callback(site: sites.Site) -> str:
    if isinstance(site, sites.CallSite):
        if isinstance(site.callback, ast.Lambda):
            return "<lambda>"
        text = ast.unparse(site.callback)
        return text if len(text) <= 60 else text[:57] + "..."
    return ast.unparse(site.node)


def _mention(source: SourceFile, mention: sites.Mention) -> Note:
    node = mention.node
    column = source.start(node) - source.line_start(node.lineno) + 1
    reason = f"The string `{node.value!s}` may be looked up at run time, where migrated calls no longer pass."
    return Note(
        node.lineno, column, Diagnostic("BC006", reason, "Name `bufcb.buffer_callback` instead, if it is.")
    )
