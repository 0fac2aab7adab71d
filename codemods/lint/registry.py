"""The rules by their codes. A rule is one file in `rules/`, and registers itself when it is imported."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from codemods.diagnostics import LINT_CODES
from codemods.lint.callbacks import Callback
from codemods.lint.calls import BufferCall
from codemods.model import AuditOptions, Hop
from codemods.names import Module
from codemods.project import Project
from codemods.source import SourceFile


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Subject:
    """One file, as the rules see it."""

    source: SourceFile
    module: Module
    project: Project
    options: AuditOptions
    calls: tuple[BufferCall, ...]
    callbacks: tuple[Callback, ...]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Rewording:
    """A small replacement of text that fixes a finding.

    Attributes:
      text: what takes the place of `node`, with `{}` for the text of it.
      until: the last node to replace as well, if there are several.
    """

    node: ast.expr
    text: str
    until: ast.expr | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Finding:
    """What a rule has found.

    Attributes:
      node: where, in the file at hand or in that of `callback`.
      callback: the callback that it is about; None for a call or the file.
      is_rewritten: whether the fix of the rule takes care of it.
      rewording: the replacement that takes care of it.
      hops: the way to the place that it is about.
      is_of_call: whether it stands at the call even if the callback is another module's.
    """

    node: ast.AST
    reason: str
    way_out: str = ""
    callback: Callback | None = None
    is_rewritten: bool = False
    rewording: Rewording | None = None
    hops: tuple[Hop, ...] = ()
    is_of_call: bool = False

    @property
    def is_fixable(self) -> bool:
        return self.is_rewritten or self.rewording is not None


Check = Callable[[Subject], Iterator[Finding]]


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, whose title is in `diagnostics.LINT_CODES`, and what looks for it."""

    code: str
    check: Check


RULES: Final[dict[str, Rule]] = {}


def rule(code: str) -> Callable[[Check], Check]:
    """Registers a check under a code that no other rule has."""

    def register(check: Check) -> Check:
        assert code in LINT_CODES and code not in RULES, f"{code} is unknown or taken"
        RULES[code] = Rule(code, check)
        return check

    return register
