"""Several processes: two of `jax.distributed`, and one after another on one persistent compilation cache."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("in_two_processes.py")
Script = Callable[..., "subprocess.CompletedProcess[str]"]


def start(port: int, index: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(port), str(index)],
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_both() -> list[dict[str, Any]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [start(port, index) for index in range(2)]
    try:
        printed = [process.communicate(timeout=180) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    for process, (_, errors) in zip(processes, printed, strict=True):
        assert process.returncode == 0, errors[-3000:]
    return [json.loads(output.splitlines()[-1]) for output, _ in printed]


@pytest.fixture(scope="module")
def both() -> list[dict[str, Any]]:
    """What each process has to tell."""
    return run_both()


WHOLE = [0.0, 1.0, 2.0, 3.0]
PARTS = [[[0.0], [1.0]], [[2.0], [3.0]]]
# The values of each process's two shards, and the arguments of the callbacks that ran there.
EXPECTED: dict[str, list[tuple[Any, Any]]] = {
    "local": [([[20.0, 20.0]], [[10.0, 10.0]]), ([[22.0, 22.0]], [[11.0, 11.0]])],
    "sharded": [([[1.0], [3.0]], [WHOLE]), ([[5.0], [7.0]], [])],
    "unused": [([[1.0], [2.0]], []), ([[3.0], [4.0]], [])],
    "shard_map": [([[0.0], [2.0]], PARTS[0]), ([[4.0], [6.0]], PARTS[1])],
    "collective": [([[12.0], [13.0]], PARTS[0]), ([[14.0], [15.0]], PARTS[1])],
    "on the last device": [([[1.0], [3.0]], []), ([[5.0], [7.0]], [WHOLE])],
    "loop": [
        ([[0.0], [8.0]], [WHOLE, [0.0, 2.0, 4.0, 6.0], [0.0, 4.0, 8.0, 12.0]]),
        ([[16.0], [24.0]], []),
    ],
}


@pytest.mark.parametrize("way", ["pure_callback", "buffer_callback", "effect", "adapt"])
@pytest.mark.parametrize("program", EXPECTED)
def test_values_and_which_process_ran_what(program: str, way: str, both: list[dict[str, Any]]) -> None:
    expected = EXPECTED[program]
    if (program, way) == ("unused", "effect"):
        expected = [(expected[0][0], [WHOLE]), expected[1]]  # once, in the first process
    seen = [told[f"{program}: {way}"] for told in both]
    assert seen == [{"values": values, "calls": calls} for values, calls in expected]


def test_each_process_has_two_devices(both: list[dict[str, Any]]) -> None:
    assert [told["devices"] for told in both] == [[0, 0, 1, 1]] * 2


CACHED = """
    import jax, jax.numpy as jnp, numpy as np, bufcb

    jax.config.update("jax_compilation_cache_dir", FOLDER)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    spec = jax.ShapeDtypeStruct((4,), jnp.float32)
    filler = [object() for _ in range(COUNT)]  # so that addresses differ from those of the other process

    def into(ctx, out, x):
        out[...] = np.asarray(x) * FACTOR

    def host(x):
        return np.asarray(x) + FACTOR

    compiled = jax.jit(bufcb.buffer_callback(into, spec))
    effect = jax.jit(bufcb.buffer_callback(into, spec, has_side_effect=True))
    adapted = jax.jit(lambda x: bufcb.pure_callback(host, spec, x) * 10)
    plain = jax.jit(lambda x: jnp.sin(x) * 2)
    for function in (compiled, effect, adapted):
        print([float(value) for value in function(jnp.ones(4))])
    plain(jnp.ones(4)).block_until_ready()
"""


@pytest.mark.parametrize("devices", ["1", "4"])
def test_the_persistent_compilation_cache(devices: str, script: Script, tmp_path: Path) -> None:
    """What is cached would call a function of another process, so JAX must not cache it."""
    flags = f"--xla_force_host_platform_device_count={devices}"
    for factor, count in ((3, 10), (3, 100_000), (5, 77)):
        source = (
            CACHED.replace("FOLDER", repr(str(tmp_path)))
            .replace("FACTOR", str(factor))
            .replace("COUNT", str(count))
        )
        done = script(source, XLA_FLAGS=flags)
        assert done.returncode == 0, done.stderr
        expected = [[factor] * 4, [factor] * 4, [(1 + factor) * 10] * 4]
        assert [json.loads(line) for line in done.stdout.splitlines()] == expected
    cached = [path.name for path in tmp_path.iterdir()]
    assert cached, "the cache is not in use"
