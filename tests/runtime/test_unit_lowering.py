"""The host path: on several devices, and with `sharding=`."""

from collections.abc import Callable
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


@pytest.mark.parametrize("program", PROGRAMS)
def test_four_devices(program: str, script: Callable[..., Any]) -> None:
    source = FOUR_DEVICES + PROGRAMS[program].replace("\n    ", "\n")
    done = script(source, XLA_FLAGS="--xla_force_host_platform_device_count=4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == EXPECTED.get(program, "True True")


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
