"""One file through every rule, and through the fixes as long as there are any."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from typing import Final

from codemods import names, nesting
from codemods.engine import hop_in
from codemods.lint import callbacks, calls, fixes, rules
from codemods.lint.registry import RULES, Finding, Subject
from codemods.model import AuditOptions, Diagnostic, FileResult, Note
from codemods.project import Project
from codemods.selection import Selection
from codemods.source import SourceFile
from codemods.suppressions import Suppressions

__all__ = ["lint", "rules"]

_ROUNDS: Final = 10
_SIGNATURE: Final = "BCL006"
_UNUSED: Final = Diagnostic("BCL000", "This comment suppresses nothing.", "Remove it.")


def lint(source: SourceFile, project: Project, options: AuditOptions) -> FileResult:
    """Audits one file. `after` is what `options` ask for.

    Raises:
      SourceError: it cannot be parsed, analysed or written in its encoding.
    """
    if not source.may_call(options.words):
        return FileResult(source.path, source.data, source.data)
    try:
        return _lint(source, project, options)
    except RecursionError:
        _, line = nesting.deepest(source.tree)
        raise source.error(line, "is nested too deeply to be analysed; split this up") from None


def _lint(source: SourceFile, project: Project, options: AuditOptions) -> FileResult:
    first = audit = _Audit(source, project, options)
    for _ in range(_ROUNDS if options.fix or options.diff else 0):
        changes = fixes.apply(audit.subject, audit.found)
        if not changes:
            break
        fixed = audit.subject.source
        fixed.check(changes)
        audit = _Audit(SourceFile.from_bytes(source.path, fixed.changed(changes)), project, options)
    told = audit if options.fix else first
    return FileResult(source.path, source.data, audit.subject.source.data, notes=told.notes())


class _Audit:
    """What all rules find in one text."""

    def __init__(self, source: SourceFile, project: Project, options: AuditOptions) -> None:
        module = names.read(source.tree)
        made = calls.find(module)
        handed_over = tuple(callbacks.find(made, source, module, project))
        self.subject = Subject(source, module, project, options, tuple(made), handed_over)
        self._suppressions = Suppressions(source)
        self._selection = Selection(options)
        self.found = self._find()

    def _find(self) -> Mapping[str, Sequence[Finding]]:
        """The findings of each rule that are asked for. Every rule runs, to see which comments are of use."""
        found = {code: list(rule.check(self.subject)) for code, rule in RULES.items()}
        # What takes other parameters than it is given cannot be judged by what becomes of them.
        unfit = {id(finding.callback) for finding in found[_SIGNATURE]}
        heard = {
            code: [
                each
                for each in findings
                if (code == _SIGNATURE or id(each.callback) not in unfit)
                and not self._is_silenced(each, code)
            ]
            for code, findings in found.items()
        }
        return {code: found for code, found in heard.items() if self._selection.admits(code)}

    def _is_silenced(self, finding: Finding, code: str) -> bool:
        """Whether a comment says so: on the finding's lines, on the callback's header, or on a call of it."""
        suppressions, callback = self._suppressions, finding.callback
        nodes: list[ast.AST] = [] if callback is not None and callback.home is not None else [finding.node]
        silenced = False
        if callback is not None:
            nodes += [call.call for call, _ in callback.calls]
            if callback.home is None:
                silenced = suppressions.covers_definition(callback.function, code)
                silenced = suppressions.covers_definition(callback.function) or silenced
        for node in nodes:
            if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "body"):
                silenced = suppressions.covers(node) or silenced
                silenced = suppressions.covers_code(node, code) or silenced
        return silenced

    def notes(self) -> tuple[Note, ...]:
        notes = [
            _note(self.subject, code, each) for code, findings in self.found.items() for each in findings
        ]
        if self._selection.admits(_UNUSED.code):
            for line, column in self._suppressions.unused(of_lint=True):
                place = self.subject.source.position(line, column)
                notes.append(Note(place.line, place.column, _UNUSED, place.cell))
        return tuple(
            sorted(
                set(notes), key=lambda note: (note.cell or 0, note.line, note.column, note.diagnostic.code)
            )
        )


def _note(subject: Subject, code: str, finding: Finding) -> Note:
    """A finding where it stands; for a callback of another module, at the call that hands it over."""
    node, reason, source = finding.node, finding.reason, subject.source
    callback = finding.callback
    is_elsewhere = callback is not None and callback.home is not None and not finding.is_of_call
    if is_elsewhere:
        assert callback is not None and callback.home is not None
        line = getattr(node, "lineno", callback.function.lineno)
        reason = f"{reason} ({os.path.basename(callback.home.file)}, line {line})"
        node = callback.calls[0][0].call
    assert isinstance(node, ast.expr | ast.stmt)
    place = source.position(node.lineno, source.start(node) - source.line_start(node.lineno) + 1)
    if not is_elsewhere:
        reason = source.reworded(reason)
    diagnostic = Diagnostic(code, reason, finding.way_out)
    hops = tuple(hop_in(source, hop) for hop in finding.hops)
    return Note(place.line, place.column, diagnostic, place.cell, hops, finding.fixable)
