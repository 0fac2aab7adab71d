"""Asks about each change, one call site after the other, with everything that belongs to it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from codemods import console
from codemods.model import FileResult, SiteResult, Status
from codemods.report.run import source_of

Again = Callable[[frozenset[int]], FileResult]
"""Migrates the same file anew, but for the call sites of these indices."""

_ANSWERS: Final = {
    "y": "take this change",
    "n": "leave this as it is",
    "q": "quit: write what was taken of this file, and look at no other",
    "a": "take this change and all that follow in this file",
    "d": "leave this and all that follows in this file",
    "?": "print this help",
}


class Quit(Exception):
    """No other file is to be looked at; `result` is what was taken of the present one."""

    def __init__(self, result: FileResult) -> None:
        super().__init__()
        self.result = result


@dataclasses.dataclass(frozen=True, slots=True)
class Proposal:
    """A change to decide on.

    Attributes:
      sites: the call sites that it is about, as they are after it.
      before: the file with what was taken so far.
      after: the file with this as well.
      number: which of the `count` changes of the file this is, from 1.
    """

    sites: tuple[SiteResult, ...]
    before: FileResult
    after: FileResult
    number: int
    count: int


def choose(whole: FileResult, again: Again) -> FileResult:
    """Asks about the changes of a file, and returns its outcome with those that were taken.

    Call sites that share a callback are one change. Each is shown as it is when what was taken so far is
    all there is: together the changes that are taken make up the outcome, and nothing else does. What is
    left is left as `# bufcb: skip` would leave it, and the rest decided on anew.

    Raises:
      Quit: the user has had enough.
      KeyboardInterrupt: the user has thought better of it.
    """
    units = _units(whole)
    if not units:
        return whole
    every = frozenset().union(*units)
    taken: frozenset[int] = frozenset()
    result = again(every)
    for number, unit in enumerate(units, 1):
        proposed = again(every - taken - unit)
        if _failed(proposed) or proposed.after == result.after:  # by itself it is no change
            continue
        sites = tuple(proposed.sites[index] for index in sorted(unit))
        answer = _ask(Proposal(sites, result, proposed, number, len(units)))
        if answer == "a":
            rest = again(every - taken.union(*units[number - 1 :]))
            return proposed if _failed(rest) else rest
        if answer == "d":
            return result
        if answer == "q":
            raise Quit(result)
        if answer == "y":
            taken, result = taken | unit, proposed
    return result


def _failed(file: FileResult) -> bool:
    """Whether the migrated text does not parse, which is said at once: the rest goes on."""
    if file.error is not None:
        console.say(f"error: {file.error}")
    return file.error is not None


def _units(file: FileResult) -> list[frozenset[int]]:
    """The indices of the call sites that change, those of one callback together."""
    units: dict[int, set[int]] = {}
    for index, site in enumerate(file.sites):
        if site.status in (Status.REWRITTEN, Status.ADAPTED):
            units.setdefault(index if site.unit is None else site.unit, set()).add(index)
    return [frozenset(unit) for unit in units.values()]


def _ask(proposal: Proposal) -> str:
    """One of the answers but `?`; the end of the input is to quit."""
    colour = console.has_colour(sys.stderr)
    console.show(_shown(proposal, colour))
    while True:
        console.show(console.bold("Take this change [y,n,q,a,d,?]?", colour) + " ")
        line = sys.stdin.readline()
        if not line:
            console.show("\n")
            return "q"
        answer = line.strip().lower()
        if answer in _ANSWERS and answer != "?":
            return answer
        console.show("".join(f"{letter} - {meaning}\n" for letter, meaning in _ANSWERS.items()))


def _shown(proposal: Proposal, colour: bool) -> str:
    """The call sites, what became of them and why, and the change to the file."""
    head = [_heading(site, proposal, colour) for site in proposal.sites]
    return "".join(head) + "".join(_change(proposal, colour))


def _heading(site: SiteResult, proposal: Proposal, colour: bool) -> str:
    path = console.one_line(str(proposal.after.path))
    cell = f"cell {site.cell}:" if site.cell is not None else ""
    place = f"{path}:{cell}{site.line}:{site.column}"
    callback = console.plain(" ".join(site.callback.split()))
    title = f"({proposal.number}/{proposal.count}) {place}: `{callback}` is {site.status}"
    reason = f"\n    {site.diagnostic.code} {site.diagnostic.message}" if site.diagnostic else ""
    return f"{console.bold(title, colour)}{console.plain(reason)}\n"


def _change(proposal: Proposal, colour: bool) -> Iterator[str]:
    """The rows of the change, without the names of the file."""
    from codemods.report.diff import changed_rows, coloured

    before, after = proposal.before.after, proposal.after.after
    for row in _decoded(changed_rows(before, after, "")[2:], proposal.after):
        yield coloured(row.encode(), 2).decode() if colour else row


def _decoded(rows: Iterable[bytes], file: FileResult) -> Iterator[str]:
    """Rows as a terminal can show them."""
    source = source_of(file)
    encoding = source.encoding if source is not None else "utf-8"
    for row in rows:
        text = row.decode(encoding, "replace").encode("utf-8", "replace").decode()
        yield console.plain(text.removesuffix("\n").removesuffix("\r").replace("\r\n", "\n")) + "\n"
