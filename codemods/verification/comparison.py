"""Compares what callbacks gave in two runs.

Calls are matched by callback and arguments, whatever their order and number: XLA may call a pure callback
twice where once would do. What counts is that a callback gave the same results for the same arguments, and
that it was called with the same ones.
"""

from __future__ import annotations

import dataclasses
import enum
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from codemods.verification import arrays
from codemods.verification.names import Key
from codemods.verification.printed import lasting
from codemods.verification.recordings import Arguments, Calls, Recording, Result

# Fewer times than this say nothing about how long a call takes.
_ENOUGH_TIMES: Final = 10
_EXAMPLES: Final = 3


class Verdict(enum.StrEnum):
    """What two runs show of a callback."""

    SAME = "same"
    DIFFERENT = "different"  # other results for the same arguments
    OTHER_CALLS = "other calls"  # called with other arguments
    VARIES = "varies"  # not even two runs of the original agree


# Other results come first: they may be why callbacks behind them were called with other arguments.
_ORDER: Final = (Verdict.DIFFERENT, Verdict.OTHER_CALLS, Verdict.VARIES, Verdict.SAME)


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """The median seconds of a call, and the number of calls that it is taken from."""

    median: float
    count: int
    quartiles: tuple[float, float]

    @classmethod
    def of(cls, seconds: list[float]) -> Times | None:
        if not seconds:
            return None
        low, _, high = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else seconds * 3
        return cls(statistics.median(seconds), len(seconds), (low, high))


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """What two runs show of one callback.

    Attributes:
      name: its qualified name before the migration; the one of the run after it where there is no other.
      new_name: what it is called after it, if that is something else.
      before, after: how many calls there were.
      compared: how many different arguments both runs called it with.
      difference: the largest difference between numbers of the results; None where no arrays were kept.
      examples: some calls that differ, in words.
      messages: some calls that raise with another text, in words; the verdict goes without them.
      changes: how shapes and dtypes of results, or of arguments, changed.
      times: those before and after; None where nothing was called.
    """

    key: Key
    name: str
    new_name: str | None
    verdict: Verdict
    before: int
    after: int
    compared: int
    difference: float | None
    examples: tuple[str, ...]
    messages: tuple[str, ...]
    changes: tuple[str, ...]
    times: tuple[Times | None, Times | None]

    @property
    def ratio(self) -> float | None:
        """How many times as long a call took before; None where too few calls tell."""
        before, after = self.times
        if before is None or after is None or not self.has_enough_times:
            return None
        return before.median / after.median if after.median else None

    @property
    def has_enough_times(self) -> bool:
        return all(times is not None and times.count >= _ENOUGH_TIMES for times in self.times)

    @property
    def is_clear(self) -> bool:
        """Whether most calls of the one run took longer than most of the other."""
        before, after = self.times
        if before is None or after is None or not self.has_enough_times:
            return False
        return before.quartiles[0] > after.quartiles[1] or after.quartiles[0] > before.quartiles[1]


def compare(before: Recording, after: Recording) -> tuple[Row, ...]:
    """A row for each callback of either run; those that differ come first."""
    keys = sorted(before.callbacks.keys() | after.callbacks.keys())
    rows = [_row(key, before, after) for key in keys]
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.verdict)))


def without_varying(rows: Iterable[Row], before: Recording, again: Recording) -> tuple[Row, ...]:
    """The rows, with those that differ between two runs of the original as well marked as such."""
    repeated = {row.key: row for row in compare(before, again)}
    return tuple(_settled(row, repeated.get(row.key)) for row in rows)


def _settled(row: Row, repeated: Row | None) -> Row:
    if repeated is None:  # neither run of the original called it
        return row
    varies = repeated.verdict is not Verdict.SAME
    if varies and row.verdict is not Verdict.SAME:
        row = dataclasses.replace(row, verdict=Verdict.VARIES)
    return dataclasses.replace(row, messages=()) if varies or repeated.messages else row


def _row(key: Key, before: Recording, after: Recording) -> Row:
    one, other = before.callbacks.get(key, Calls()), after.callbacks.get(key, Calls())
    both = [arguments for arguments in one.results if arguments in other.results]
    differing = [arguments for arguments in both if not _agree(arguments, one, other)]
    alone = list(_alone(one, other, after)), list(_alone(other, one, before))
    examples, difference = _examples(differing, one, other)
    if differing:
        verdict = Verdict.DIFFERENT
    else:
        verdict = Verdict.OTHER_CALLS if any(alone) else Verdict.SAME
        examples = [*_examples_alone(alone[0], "before"), *_examples_alone(alone[1], "after")]
        examples += _how_close(alone, one, other)
    return Row(
        key,
        one.name or other.name,
        other.name if one.name and other.name and one.name != other.name else None,
        verdict,
        one.total,
        other.total,
        len(both),
        difference,
        tuple(dict.fromkeys(examples))[:_EXAMPLES],
        tuple(dict.fromkeys(_other_messages(one, other)))[:_EXAMPLES],
        tuple(dict.fromkeys([*_result_changes(differing, one, other), *_argument_changes(one, other)])),
        (Times.of(one.seconds), Times.of(other.seconds)),
    )


def _agree(arguments: Arguments, one: Calls, other: Calls) -> bool:
    """Whether a callback gave the same; one with side effects must have been called as often as well."""
    left, right = one.results[arguments], other.results[arguments]
    if "io_callback" in one.apis and one.is_complete and other.is_complete:
        return left == right
    return left.keys() == right.keys() and _mixed_up(arguments, one, other) is None


def _mixed_up(arguments: Arguments, one: Calls, other: Calls) -> tuple[Result, Result] | None:
    """Two results that changed places, say those of two closures; None where nothing shows that.

    Only what both runs bound tells: it is looked at when a call is compiled, and may have changed by then.
    """
    left, right = one.bound.get(arguments, set()), other.bound.get(arguments, set())
    if left == right or {bound for bound, _ in left} != {bound for bound, _ in right}:
        return None
    bound = min(bound for bound, _ in left ^ right)
    mine, theirs = ({result for name, result in results if name == bound} for results in (left, right))
    return min(mine - theirs or mine, key=repr), min(theirs - mine or theirs, key=repr)


def _alone(one: Calls, other: Calls, others: Recording) -> Iterator[Arguments]:
    """What one run called a callback with and the other did not, unless that just was not recorded."""
    if others.is_full:
        return
    for arguments in one.results:
        if arguments not in other.results and (other.is_complete or arguments in one.sampled):
            yield arguments


# Examples.


def _examples(differing: list[Arguments], one: Calls, other: Calls) -> tuple[list[str], float | None]:
    """Calls with the same arguments and other results, and the largest difference among all of them."""
    examples: list[str] = []
    largest: float | None = None if differing else 0.0
    budget = arrays.Budget()
    for arguments in differing:
        for left, right in _pairs(arguments, one, other):
            found = _difference(arguments, left, right, one, other, budget)
            if found is None:
                text = _outcomes(left, right)
            else:
                text = found.text
                largest = found.size if largest is None else arrays.larger(largest, found.size)
            examples.append(f"called with {arrays.shown(arguments.avals)}: {text}")
    return examples, largest


def _pairs(arguments: Arguments, one: Calls, other: Calls) -> Iterator[tuple[Result | None, Result | None]]:
    """The results of either run that the other one has not, as they came."""
    left, right = one.results[arguments], other.results[arguments]
    mine = [result for result in left if result not in right] or list(left)[:1]
    theirs = [result for result in right if result not in left] or list(right)[:1]
    if left.keys() == right.keys():  # called another number of times, if not mixed up
        yield _mixed_up(arguments, one, other) or (None, None)
        return
    for index in range(max(len(mine), len(theirs))):
        yield mine[min(index, len(mine) - 1)], theirs[min(index, len(theirs) - 1)]


def _difference(
    arguments: Arguments,
    left: Result | None,
    right: Result | None,
    one: Calls,
    other: Calls,
    budget: arrays.Budget,
) -> arrays.Difference | None:
    """How far two results are apart; None where that is not known, or is no matter of numbers."""
    if left is None or right is None or left.raised or right.raised or left.avals != right.avals:
        return None
    before, after = one.kept.get((arguments, left)), other.kept.get((arguments, right))
    if before is None or after is None:
        return None
    (_, mine), (_, theirs) = before.read(arguments, left), after.read(arguments, right)
    return arrays.difference(left.avals, mine, theirs, budget)


def _outcomes(left: Result | None, right: Result | None) -> str:
    if left is None or right is None:
        return "it was called another number of times"
    if left.raised or right.raised:
        return f"{_ended(left)} before, {_ended(right)} after"
    if left.avals != right.avals:
        return f"gave {arrays.shown(left.avals)} before, {arrays.shown(right.avals)} after"
    return "gave another result, which was not kept"


def _ended(result: Result) -> str:
    return f"raised {result.raised}" if result.raised else "returned"


def _examples_alone(alone: list[Arguments], when: str) -> Iterator[str]:
    """What a callback was called with in one run alone, by shapes and dtypes."""
    for avals, count in Counter(arguments.avals for arguments in alone).items():
        yield f"called with {arrays.shown(avals)} only {when} the migration ({count} different arguments)"


def _how_close(alone: tuple[list[Arguments], list[Arguments]], one: Calls, other: Calls) -> Iterator[str]:
    """How far arguments of the one run alone are from those of the other, where each may stand for one.

    XLA may compile the code around a call in another way, so that arguments differ in their last bits.
    """
    left, right = alone
    if not left or [arguments.avals for arguments in left] != [arguments.avals for arguments in right]:
        return
    largest, budget = 0.0, arrays.Budget()
    for before, after in zip(left, right, strict=True):
        given = _given(before, one), _given(after, other)
        if given[0] is None or given[1] is None:
            return
        found = arrays.difference(before.avals, given[0], given[1], budget)
        if found is None:
            return
        largest = arrays.larger(largest, found.size)
    yield f"taken in order, these arguments differ by at most {largest:.3g}"


def _given(arguments: Arguments, calls: Calls) -> bytes | None:
    """The bytes of arguments, where they were kept."""
    for result in calls.results[arguments]:
        if (kept := calls.kept.get((arguments, result))) is not None:
            return kept.read(arguments, result)[0]
    return None


def _other_messages(one: Calls, other: Calls) -> Iterator[str]:
    """Exceptions of the same kind, for the same arguments, with one text before and another one after."""
    for (arguments, result), texts in one.texts.items():
        left, right = ({lasting(text) for text in found} for found in (texts, other.texts[arguments, result]))
        if len(left) == len(right) == 1 and left != right:
            before, after = min(texts), min(other.texts[arguments, result])
            shown = arrays.shown(arguments.avals)
            yield f"called with {shown}: raises {result.raised} with another text, {before!r} → {after!r}"


# Shapes and dtypes.


def _result_changes(differing: list[Arguments], one: Calls, other: Calls) -> Iterator[str]:
    for arguments in differing:
        for left, right in _pairs(arguments, one, other):
            if left and right and not left.raised and not right.raised and left.avals != right.avals:
                yield f"{arrays.shown(left.avals)} → {arrays.shown(right.avals)}"


def _argument_changes(one: Calls, other: Calls) -> Iterator[str]:
    """Shapes and dtypes of arguments, where a callback was called with none of the other run's."""
    left, right = ({arguments.avals for arguments in calls.results} for calls in (one, other))
    if left and right and left.isdisjoint(right):
        yield f"called with {arrays.shown(min(left))} → {arrays.shown(min(right))}"
