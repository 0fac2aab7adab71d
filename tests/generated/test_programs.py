"""Generated programs print the same before and after the migration, and change no more than they must."""

import collections
from collections.abc import Iterator

import hypothesis
import pytest
from callbacks import CALLS, FORMS
from checks import Checker
from examples import Settings
from placements import PLACEMENTS
from programs import Program, programs
from worker import Worker


@pytest.fixture
def checker(tmp_path) -> Iterator[Checker]:
    worker = Worker("run")
    yield Checker(tmp_path, worker)
    worker.close()


def test_generated_programs_print_the_same(checker: Checker, generated: Settings):
    """Each is migrated twice, compiled, compared line by line, and run in both forms."""
    outcomes: collections.Counter[str] = collections.Counter()
    seen: set[str] = set()
    rewritten: set[str] = set()  # seen in a program that has a callback which is rewritten

    @generated(500)
    @hypothesis.given(programs())
    def check(program: Program) -> None:
        others = {name: text.encode() for name, text in program.others.items()}
        outcome = checker.check(program.data, others, program.options, program.names)
        assert outcome is not None, "The program raises as it is."
        outcomes.update({"programs": 1, "raising": "raises" in outcome.printed})
        outcomes.update(outcome.statuses)
        seen.update(program.features)
        if "rewritten" in outcome.statuses:
            rewritten.update(program.features)

    check()
    print(dict(outcomes))
    assert outcomes["rewritten"] > outcomes["adapted"] / 2
    assert outcomes["raising"] < outcomes["programs"] / 10
    if generated.are_default:
        kinds = {*FORMS, *PLACEMENTS, *CALLS}
        assert kinds <= seen and len(kinds - rewritten) <= len(kinds) / 10
