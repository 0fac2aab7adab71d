"""A process that does work for a test, and may crash or hang without the test doing so.

As a script it reads one folder a line and answers each with one line of JSON: `run` with what the folder's
program prints, `migrate` with what the command says of the folder, and how many seconds it computes.
"""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HARNESS = ROOT / "tests" / "codemods"
FRESH_AFTER = 250  # folders: a process keeps what it compiles
MEMORY = 4 << 30  # bytes of address space that `migrate` may take


class Worker:
    """Has folders looked at, one after another, by one process, which is started anew where it has to be.

    Attributes:
      work: `run` or `migrate`.
      limit: the seconds that a folder may take.
    """

    def __init__(self, work: str, limit: float = 60) -> None:
        self._work, self._limit = work, limit
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    def __call__(self, folder: Path) -> Any:
        """What is said of a folder: by `run`, what the `main()` of its `program.py` prints, or the traceback.

        Raises:
          AssertionError: the process crashes, or takes longer than the limit.
        """
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{folder}\n".encode())
        process.stdin.flush()
        try:
            return json.loads(self._line(process))
        except ValueError:
            status = process.poll()
            self.close()
            verb = f"crashes with status {status}" if status else "hangs"
            raise AssertionError(f"The process {verb}.") from None

    def _line(self, process: "subprocess.Popen[bytes]") -> bytes:
        assert process.stdout is not None
        end, line = time.monotonic() + self._limit, b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n") and selector.select(end - time.monotonic()):
                more = os.read(process.stdout.fileno(), 65536)
                if not more:
                    process.wait()
                    return b""
                line += more
        return line if line.endswith(b"\n") else b""

    def _running(self) -> "subprocess.Popen[bytes]":
        self._count += 1
        if self._process is None or self._count > FRESH_AFTER:
            self.close()
            environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
            environment |= {"PYTHONDONTWRITEBYTECODE": "1", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__, self._work],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        return self._process

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self._count = None, 0


def printed(folder: Path) -> str:
    sys.path.insert(0, str(HARNESS))
    from harness import printed_by

    return printed_by(folder)


def migrated(folder: Path) -> dict[str, Any]:
    from click.testing import CliRunner

    from codemods import cli

    start = time.process_time()
    result = CliRunner().invoke(cli.migrate, [str(folder), "--format", "json", "--jobs", "1", "--write"])
    seconds = time.process_time() - start
    return {"exit": result.exit_code, "report": result.stdout, "errors": result.stderr, "seconds": seconds}


def serve(work: Callable[[Path], Any]) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints past Python is no answer
    for line in sys.stdin:
        print(json.dumps(work(Path(line.rstrip("\n")))), file=answers, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "migrate":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        serve(migrated)
    else:
        serve(printed)
