"""One file through every rule, and through the fixes as long as there are any."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from typing import Final

from codemods import names, nesting
from codemods.engine import hop_in
from codemods.lint import callbacks, calls, fixes, rules
from codemods.lint.callbacks import Callback
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
        changes = fixes.apply(audit.subject, audit.found) or fixes.without(audit.subject, audit.removable())
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
        proper = [call for call in made if not call.surplus]
        handed_over = tuple(callbacks.find(proper, source, module, project))
        self.subject = Subject(source, module, project, options, tuple(made), handed_over)
        self._suppressions = Suppressions(source)
        self._selection = Selection(options)
        self.found = self._find()

    def _find(self) -> Mapping[str, Sequence[Finding]]:
        """The findings of each rule that are asked for. Every rule runs, to see which comments are of use."""
        found = {code: list(rule.check(self.subject)) for code, rule in RULES.items()}
        # What takes other parameters than it is given cannot be judged by what becomes of them.
        unfit = {id(each.callback) for each in found[_SIGNATURE] if each.callback is not None}
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
        """Whether a comment says so: on the finding's lines, on the callback's header, or on a call of it.

        Every comment that does is of use, so all of them are looked at.
        """
        callback, comments = finding.callback, self._suppressions
        calls: list[ast.AST] = [call.call for call, _ in callback.calls] if callback is not None else []
        if finding.is_of_call:
            calls.append(finding.node)
        silenced = [_covers(comments, node, code) for node in calls]
        if callback is not None:
            comments = self._comments_of(callback)
            silenced += [comments.covers_definition(callback.function, each) for each in (code, None)]
        if not finding.is_of_call:
            silenced.append(_covers(comments, finding.node, code))
        return any(silenced)

    def _comments_of(self, callback: Callback) -> Suppressions:
        """The comments of the file that defines a callback."""
        if callback.home is None:
            return self._suppressions
        source = self.subject.project.source(callback.home.file)
        return Suppressions(source) if source is not None else self._suppressions

    def _unused(self) -> list[tuple[int, int]]:
        """The comments of no use, but for those on functions that another file may hand over."""
        found = self._suppressions.unused(of_lint=True)
        return [(line, column) for line, column in found if not self._is_about_others(line)]

    def removable(self) -> list[tuple[int, int]]:
        """Line and column of the comments that a fix takes away."""
        if not self._selection.admits(_UNUSED.code):
            return []
        return [(line, column) for line, column in self._unused() if self._suppressions.is_removable(line)]

    def _is_about_others(self, line: int) -> bool:
        """Whether a line is one of a function that no buffer call of this file hands over, but others may."""
        subject, known = self.subject, {callback.function for callback in self.subject.callbacks}
        return any(
            isinstance(node, ast.FunctionDef)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
            and node not in known
            and subject.project.used_elsewhere(node.name, subject.source.path)
            for node in ast.walk(subject.module.tree)
        )

    def notes(self) -> tuple[Note, ...]:
        notes = [
            _note(self.subject, code, each) for code, findings in self.found.items() for each in findings
        ]
        if self._selection.admits(_UNUSED.code):
            for line, column in self._unused():
                place = self.subject.source.position(line, column)
                fixable = self._suppressions.is_removable(line)
                notes.append(Note(place.line, place.column, _UNUSED, place.cell, fixable=fixable))
        return tuple(
            sorted(
                set(notes), key=lambda note: (note.cell or 0, note.line, note.column, note.diagnostic.code)
            )
        )


def _covers(comments: Suppressions, node: ast.AST, code: str) -> bool:
    """Whether a comment stands on the lines of an expression or a simple statement."""
    if not isinstance(node, ast.expr | ast.stmt) or hasattr(node, "body"):
        return False
    found = [comments.covers(node), comments.covers_code(node, code)]
    return any(found)


def _note(subject: Subject, code: str, finding: Finding) -> Note:
    """A finding where it stands; for a callback of another module, at the call that hands it over."""
    node, source, callback = finding.node, subject.source, finding.callback
    if callback is not None and callback.home is not None and not finding.is_of_call:
        line = getattr(node, "lineno", callback.function.lineno)
        reason = f"{finding.reason} ({os.path.basename(callback.home.file)}, line {line})"
        node = callback.calls[0][0].call
    else:
        reason = source.reworded(finding.reason)
    assert isinstance(node, ast.expr | ast.stmt)
    place = source.position(node.lineno, source.start(node) - source.line_start(node.lineno) + 1)
    diagnostic = Diagnostic(code, reason, finding.way_out)
    hops = tuple(hop_in(source, hop) for hop in finding.hops)
    return Note(place.line, place.column, diagnostic, place.cell, hops, finding.is_fixable)
