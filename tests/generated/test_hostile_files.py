"""Files spoilt at random are one clear error at most, in bounded time and memory, and stop no other file."""

import ast
import collections
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from examples import Settings
from hostile import CHANGES, GOOD, Hostile, hostile_files
from worker import Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
SECONDS = 20  # of computing: far more than any of them takes on a machine that is busy


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("migrate", limit=120)
    yield worker
    worker.close()


def test_hostile_files_are_one_error_each(worker: Worker, generated: Settings, tmp_path: Path):
    outcomes: collections.Counter[str] = collections.Counter()
    kinds: set[str] = set()

    @generated(150)
    @hypothesis.given(hostile_files())
    def check(file: Hostile) -> None:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        for name, data in {"pyproject.toml": b"", "good.py": GOOD.encode(), "bad.py": file.data}.items():
            (folder / name).write_bytes(data)
        answer = worker(folder)
        found = {Path(f["path"]).name: f for f in json.loads(answer["report"])["files"]}
        try:
            check_file(found.get("bad.py"), folder / "bad.py", file.data)
            assert answer["seconds"] < SECONDS, answer
            good = found["good.py"]
            assert good["error"] is None and good["changed"], good
            assert answer["exit"] == (2 if found.get("bad.py", good)["error"] else 0), answer
            assert "Traceback" not in answer["errors"] + answer["report"], answer
        finally:
            shutil.rmtree(folder)
        outcomes[outcome(found.get("bad.py"))] += 1
        kinds.update(file.kinds)

    check()
    print(dict(outcomes))
    if generated.are_default:
        assert outcomes["error"] > 20 and outcomes["changed"] > 5 and kinds == {*CHANGES}


def outcome(report: dict[str, Any] | None) -> str:
    if report is None:
        return "passed over"
    return "error" if report["error"] else "changed" if report["changed"] else "left"


def check_file(report: dict[str, Any] | None, path: Path, data: bytes) -> None:
    """Raises `AssertionError` if the report on a file is no clear error, or what was written is no Python."""
    if outcome(report) != "changed":
        assert path.read_bytes() == data
        error = report["error"] if report else None
        assert error is None or (error.count("bad.py") == 1 and "internal error" not in error), error
        assert error is None or ("\n" not in error and len(error) < 500), error
        return
    if len(data) < 100_000:  # Python's parser takes its time
        with contextlib.suppress(RecursionError):  # `ast` has what is left of the stack for its nodes
            ast.parse(path.read_bytes())
