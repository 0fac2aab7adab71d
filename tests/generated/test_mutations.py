"""The programs of `testdata/`, changed at random, print the same before and after the migration."""

import collections
import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from checks import Checker, decoded, normal
from examples import Settings
from hypothesis import strategies as st
from mutations import MUTATIONS, mutated
from worker import ROOT, Worker

from codemods.model import Options


@dataclasses.dataclass(frozen=True)
class Original:
    """A program with the modules beside it, its path relative to theirs."""

    name: str
    text: str
    others: dict[str, bytes]


def originals(folder: Path) -> list[Original]:
    """Those of `testdata/`, which run as they are, or each `*.py` of another folder that has a `main()`."""
    if folder != ROOT / "testdata":
        return [
            Original(path.stem, normal(decoded(path.read_bytes())), {})
            for path in sorted(folder.glob("*.py"))
        ]
    found = []
    for path in sorted(folder.glob("*/before.py")):
        settings = path.with_name("options.toml")
        if settings.exists() and tomllib.loads(settings.read_text()).keys() & {"options", "printed", "exit"}:
            continue  # is not about the plain command, or does not run
        others = {
            str(other.relative_to(path.parent)): other.read_bytes()
            for other in path.parent.rglob("*.py")
            if other.name not in ("before.py", "after.py")
        }
        found.append(Original(path.parent.name, normal(decoded(path.read_bytes())), others))
    return found


@pytest.fixture
def checker(tmp_path) -> Iterator[Checker]:
    worker = Worker("run")
    yield Checker(tmp_path, worker)
    worker.close()


def test_changed_programs_print_the_same(
    checker: Checker, generated: Settings, request: pytest.FixtureRequest
):
    """As in `test_programs`, but lines are not compared: nobody knows which are those of callbacks."""
    found = originals(request.config.getoption("--examples-from") or ROOT / "testdata")
    outcomes: collections.Counter[str] = collections.Counter()
    seen: set[str] = set()

    @generated(120)
    @hypothesis.given(st.data(), st.sampled_from(found))
    def check(data: st.DataObject, original: Original) -> None:
        changed, features = data.draw(mutated(original.text))
        hypothesis.note(f"--- {original.name}\n{changed.decode(errors='replace')}")
        options = Options(fuse=data.draw(st.booleans()))
        outcome = checker.check(changed, original.others, options, names=None)
        outcomes.update({"programs": 1, "do not run": outcome is None})
        if outcome is not None:  # not every change leaves a program that runs
            outcomes.update(outcome.statuses)
            seen.update(features)

    check()
    print(dict(outcomes))
    assert outcomes["do not run"] < outcomes["programs"] / 3
    if generated.are_default:
        assert seen >= {*MUTATIONS}
