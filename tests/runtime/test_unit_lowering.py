"""The host path: on several devices, and with `sharding=`."""

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb

SPEC = jax.ShapeDtypeStruct((4,), jnp.float32)

FOUR_DEVICES = """
    import threading
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding
    import bufcb

    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("d")))
    lock, seen = threading.Lock(), []

    def spec(v):
        return jax.ShapeDtypeStruct(v.shape, v.dtype)

    def host(ctx, out, v):
        assert isinstance(v, bufcb.Buffer) and isinstance(ctx, bufcb.ExecutionContext)
        with lock:
            seen.append(v.shape)
        out[...] = np.asarray(v) - np.asarray(v).mean()
"""

PROGRAMS = {
    "once for sharded inputs": """
        r = jax.jit(lambda v: bufcb.buffer_callback(host, spec(v))(v * 1))(x)
        print(r.tolist() == (np.arange(8) - 3.5).tolist(), seen)
    """,
    "per shard in shard_map": """
        call = jax.shard_map(lambda v: bufcb.buffer_callback(host, spec(v))(v), mesh=mesh, in_specs=P("d"),
                             out_specs=P("d"))
        print(jax.jit(call)(x).tolist() == [-0.5, 0.5] * 4, seen == [(2,)] * 4)
    """,
    "aliased outputs hold the input": """
        def add(ctx, out, v):
            out += 1
        call = bufcb.buffer_callback(add, spec(x), input_output_aliases={0: 0})
        print(jax.jit(lambda v: call(v * 1))(x).tolist() == (np.arange(8) + 1.0).tolist(), True)
    """,
    "side effects run if unused": """
        call = bufcb.buffer_callback(host, spec(x), has_side_effect=True)
        jax.block_until_ready(jax.jit(lambda v: (call(v), v + 1)[1])(x))
        jax.effects_barrier()
        print(len(seen) == 1, seen)
    """,
    "pure ones do not": """
        call = bufcb.buffer_callback(host, spec(x))
        jax.block_until_ready(jax.jit(lambda v: (call(v), v + 1)[1])(x))
        print(seen == [], seen)
    """,
    "on the device asked for": """
        device = jax.devices()[2]
        call = bufcb.buffer_callback(host, spec(x), sharding=SingleDeviceSharding(device))
        print(jax.jit(call)(x).tolist() == (np.arange(8) - 3.5).tolist(), seen)
    """,
    "errors come through": """
        def fail(ctx, out, v):
            out[...] = np.ones(3, np.float32)
        try:
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(fail, spec(x)))(x))
        except Exception as error:
            print("Incorrect output shape for return value #0" in str(error), "fail" in str(error))
    """,
    "kept views are an error": """
        kept = []
        def keep(ctx, out, v):
            out[...] = v
            kept.append(np.asarray(v))
        try:
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(keep, spec(x)))(x))
        except Exception as error:
            print("np.array(x)" in str(error), kept[0].tolist() == list(range(8)))
    """,
}
EXPECTED = {"once for sharded inputs": "True [(8,)]", "side effects run if unused": "True [(8,)]"}
EXPECTED |= {"pure ones do not": "True []", "on the device asked for": "True [(8,)]"}


def _separately(programs: dict[str, str]) -> str:
    """Source that runs each program in a namespace of its own and prints its last line, or its error."""
    return textwrap.dedent(FOUR_DEVICES) + textwrap.dedent(f"""
        import contextlib, io, json, traceback

        common, results = dict(globals()), {{}}
        for name, source in { ({name: textwrap.dedent(text) for name, text in programs.items()})!r}.items():
            printed = io.StringIO()
            seen.clear()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(source, dict(common))
                results[name] = printed.getvalue().strip()
            except BaseException:
                results[name] = traceback.format_exc()
        print(json.dumps(results))
    """)


@pytest.fixture(scope="module")
def on_four_devices() -> dict[str, str]:
    """What each program prints; one process for all, since a process takes seconds to start."""
    done = subprocess.run(
        [sys.executable, "-c", _separately(PROGRAMS)],
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return printed


@pytest.mark.parametrize("program", PROGRAMS)
def test_four_devices(program: str, on_four_devices: dict[str, str]) -> None:
    assert on_four_devices[program] == EXPECTED.get(program, "True True")


def test_arguments_on_two_meshes() -> None:
    """The lowering is not told the devices, or JAX would refuse programs of several meshes."""
    meshes = [
        jax.make_mesh((1, 1), tuple(names), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        for names in ("ab", "xy")
    ]
    x, y = (
        jax.device_put(jnp.ones((2, 4)), jax.NamedSharding(mesh, jax.P(*mesh.axis_names))) for mesh in meshes
    )
    call = bufcb.buffer_callback(bufcb.adapt(np.negative), jax.ShapeDtypeStruct(x.shape, x.dtype))
    np.testing.assert_array_equal(jax.jit(lambda x, y: call(x + y))(x, y), np.full((2, 4), -2))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int4, jnp.bool_])
def test_sharding_on_one_device(dtype: Any) -> None:
    device = jax.devices()[0]
    x = jnp.array([1, 0, 1, 1], dtype)

    def reverse(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x)[::-1]

    call = bufcb.buffer_callback(
        reverse, jax.ShapeDtypeStruct(x.shape, dtype), sharding=jax.sharding.SingleDeviceSharding(device)
    )
    for run in (call, jax.jit(call)):
        assert run(x).tolist() == x[::-1].tolist()


def test_sharding_inside_shard_map_is_refused() -> None:
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    call = bufcb.buffer_callback(
        bufcb.adapt(np.sin), SPEC, sharding=jax.sharding.SingleDeviceSharding(jax.devices()[0])
    )
    spec = jax.sharding.PartitionSpec("d")
    with pytest.raises(NotImplementedError, match="do not support specifying sharding"):
        jax.jit(jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec))(jnp.ones(4))
