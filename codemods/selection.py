"""Which outcomes of call sites the user wants: `--select` and `--ignore`."""

from __future__ import annotations

from collections.abc import Iterable

from codemods.diagnostics import CODES, EVERY, LINT_CODES, PLAIN
from codemods.model import AuditOptions, Note, Options


class Selection:
    """The codes that are wanted, told by the longest prefix that fits; of two equals, `--ignore` decides."""

    def __init__(self, options: Options | AuditOptions) -> None:
        # The settings of a project are those of both commands, of whose codes each takes its own.
        own = LINT_CODES if isinstance(options, AuditOptions) else (PLAIN, *CODES)
        self._select = _for(own, options.select) or (EVERY,)
        self._ignore = _for(own, options.ignore)

    def admits(self, code: str) -> bool:
        return _fit(code, self._select) > _fit(code, self._ignore)

    def admitted(self, notes: Iterable[Note]) -> list[Note]:
        return [note for note in notes if self.admits(note.diagnostic.code)]

    def why_not(self, code: str) -> str:
        """The end of a sentence about a code that is not admitted."""
        return "is ignored" if _fit(code, self._ignore) >= 0 else "is not selected"


def _for(codes: Iterable[str], prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes that one of `codes` has."""
    known = tuple(codes)
    return tuple(p for p in prefixes if p == EVERY or any(code.startswith(p) for code in known))


def _fit(code: str, prefixes: Iterable[str]) -> int:
    """The length of the longest prefix of `code`; -1 where none is one."""
    plain = ("" if prefix == EVERY else prefix for prefix in prefixes)
    return max((len(prefix) for prefix in plain if code.startswith(prefix)), default=-1)
