"""Peak memory of one large call in a process of its own: ``python -m benchmarks.memory NAME SIZE``.

Prints the bytes by which the process's peak resident memory grew over what it held when the call began:
one output of `SIZE` float32 is 4 * SIZE bytes, and every further copy another 4 * SIZE.
"""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

from benchmarks.callbacks import INCREMENTS


def growth(name: str, size: int) -> int:
    """Bytes by which a fresh process's peak grows in one call of the increment `name` on `size` floats."""
    command = [sys.executable, "-m", "benchmarks.memory", name, str(size)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak() -> int:
    """Peak resident bytes of this process so far.

    Linux hands a parent's `ru_maxrss` on to its children; there the memory map's own high-water mark is read.
    """
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(name: str, size: int) -> None:
    """Warms up on a small array, holds the large input, then calls once."""
    call = INCREMENTS[name]
    jax.block_until_ready(jax.jit(call)(jnp.ones(8)))
    x = jax.block_until_ready(jnp.ones(size))
    compiled = jax.jit(call).lower(x).compile()
    before = peak()
    jax.block_until_ready(compiled(x))
    print(peak() - before)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
