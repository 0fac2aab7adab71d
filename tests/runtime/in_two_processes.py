"""One of two `jax.distributed` processes: ``python3 in_two_processes.py PORT INDEX``; prints a JSON object.

Each process has two of the four devices. For each program and each kind of call, the object has the values of
the shards that this process can see, and the arguments of the callbacks that ran here.
"""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

import bufcb

calls: list[list[float]] = []
lock = threading.Lock()


def host(x: Any) -> Any:
    with lock:
        calls.append(np.asarray(x).tolist())
    return np.asarray(x) * 2


def into(ctx: Any, out: Any, x: Any) -> None:
    out[...] = host(x)


def spec(x: Any) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


Call = Callable[..., Any]
WAYS: dict[str, Call] = {
    "pure_callback": lambda x, **options: jax.pure_callback(host, spec(x), x, **options),
    "buffer_callback": lambda x, **options: bufcb.buffer_callback(into, spec(x), **options)(x),
    "effect": lambda x, **options: bufcb.buffer_callback(into, spec(x), has_side_effect=True, **options)(x),
    "adapt": lambda x, **options: bufcb.buffer_callback(bufcb.adapt(host), spec(x), **options)(x),
}


def programs(mesh: jax.sharding.Mesh, x: jax.Array) -> dict[str, Callable[[Call], Any]]:
    shards = NamedSharding(mesh, P("d"))
    elsewhere = SingleDeviceSharding(jax.devices()[-1])

    def per_shard(function: Call) -> Any:
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=P("d")))(x)

    return {
        "local": lambda call: jax.jit(call)(jnp.full(2, 10.0 + jax.process_index())),
        "sharded": lambda call: jax.jit(lambda x: call(x) + 1, out_shardings=shards)(x),
        "unused": lambda call: jax.jit(lambda x: (call(x), x + 1)[1])(x),
        "shard_map": per_shard,
        "collective": lambda call: per_shard(lambda x: lax.psum(call(x), "d") + x),
        "on the last device": lambda call: jax.jit(
            lambda x: call(x, sharding=elsewhere) + 1, out_shardings=shards
        )(x),
        "loop": lambda call: jax.jit(
            lambda x: lax.fori_loop(0, 3, lambda _, v: call(v), x), out_shardings=shards
        )(x),
    }


def main(port: str, index: str) -> None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=int(index))
    mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
    whole = np.arange(4, dtype=np.float32)
    x = jax.make_array_from_callback((4,), NamedSharding(mesh, P("d")), lambda part: whole[part])
    outcome: dict[str, Any] = {"devices": [d.process_index for d in jax.devices()]}
    for name, program in programs(mesh, x).items():
        for way, call in WAYS.items():
            calls.clear()
            result = jax.block_until_ready(program(call))
            jax.effects_barrier()
            values = [shard.data.tolist() for shard in result.addressable_shards]
            outcome[f"{name}: {way}"] = {"values": values, "calls": sorted(calls)}
    print(json.dumps(outcome))
    jax.distributed.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
