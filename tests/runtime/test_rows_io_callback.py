"""What the migration writes for an unordered `io_callback` does what `io_callback` does, and as often."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

import bufcb

X = jnp.arange(1.0, 5.0)
S = jnp.float32(3)
Call = Callable[..., Any]
Scenario = Callable[[Call], Any]


def migrated(callback: Call, spec: Any, *args: Any, sharding: Any = None) -> Any:
    """What `io_callback(callback, spec, *args)` becomes."""
    adapted = bufcb.adapt(callback, arrays="jax")
    options: dict[str, Any] = {"has_side_effect": True, "vmap_method": "sequential", "sharding": sharding}
    return bufcb.buffer_callback(adapted, spec, **options)(*args)


def outcome(scenario: Scenario, api: Call) -> tuple[Any, list[Any]]:
    """The result or the type of the error, and what the callbacks saw, in sorted order."""
    seen: list[Any] = []

    def call(spec: Any, *args: Any) -> Any:
        def host(*values: Any) -> Any:
            seen.append([(type(v).__name__, str(v.dtype), v.tolist()) for v in values])
            return [np.full(leaf.shape, 2, leaf.dtype) for leaf in jax.tree.leaves(spec)]

        return api(host, spec, *args)

    try:
        result = jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), scenario(call))
    except Exception as error:  # noqa: BLE001 - any error is an outcome
        result = type(error).__name__
    jax.effects_barrier()
    return result, sorted(seen)


def like(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def note(call: Call, *args: Any) -> None:
    assert call(None, *(lax.stop_gradient(arg) for arg in args)) is None


def noting(call: Call, function: Call = jnp.square) -> Call:
    """`function`, with a callback that has no results and no part in derivatives."""

    def both(x: Any) -> Any:
        note(call, x)
        return function(x)

    return both


SCENARIOS: dict[str, Scenario] = {
    "eager": lambda call: call(like(X), X),
    "eager without results": lambda call: call(None, X),
    "an empty list of results": lambda call: call([], X),
    "several results": lambda call: call({"a": like(X), "b": (like(S),)}, X),
    "without arguments": lambda call: jax.jit(lambda: call(like(S)))(),
    "Python numbers, None and trees": lambda call: call(like(S), 1, 2.5, True, None, {"k": (X, 1j)}),
    "unused results": lambda call: jax.jit(lambda x: (call(like(x), x), x)[1])(X),
    "equal calls": lambda call: jax.jit(lambda x: call(like(x), x) + call(like(x), x))(X),
    "called three times": lambda call: [jax.jit(noting(call))(X) for _ in range(3)],
    "compiled ahead": lambda call: jax.jit(noting(call)).lower(S).compile()(S),
    "vmap": lambda call: jax.vmap(lambda x: call(like(x), x))(X),
    "vmap along another axis": lambda call: jax.vmap(lambda x: call(like(x), x), in_axes=1)(jnp.ones((2, 3))),
    "vmap of one of two arguments": lambda call: jax.vmap(lambda x: call(like(x), x, S))(X),
    "vmap of no argument": lambda call: jax.vmap(lambda x: x + call(like(S), S))(X),
    "vmap without results": lambda call: jax.vmap(noting(call))(X),
    "vmap of vmap": lambda call: jax.vmap(jax.vmap(lambda x: call(like(x), x)))(X.reshape(2, 2)),
    "vmap of scan": lambda call: jax.vmap(lambda x: lax.scan(lambda c, _: (noting(call)(c), c), x, X))(X),
    "scan": lambda call: lax.scan(lambda c, x: (c + call(like(x), x), c), S, X),
    "fori_loop": lambda call: lax.fori_loop(0, 3, lambda i, c: noting(call)(c), S),
    "while_loop": lambda call: lax.while_loop(lambda c: c < 99, noting(call), S),
    "vmap of a while_loop that all leave at once": lambda call: jax.vmap(
        lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, noting(call)(c[1])), (0, x))
    )(X),
    "vmap of a while_loop that each leaves alone": lambda call: jax.vmap(
        lambda x: lax.while_loop(lambda c: c < 99, noting(call), x)
    )(X),
    "cond": lambda call: [lax.cond(x > 2, noting(call), jnp.sin, x) for x in (S, -S)],
    "vmap of a cond": lambda call: jax.vmap(lambda x: lax.cond(x > 2, noting(call), jnp.sin, x))(X),
    "vmap of a switch": lambda call: jax.vmap(
        lambda i: lax.switch(i, [lambda: call(like(S)), lambda: S])
    )(jnp.arange(2)),
    "grad of a result": lambda call: jax.grad(lambda x: call(like(x), x))(S),
    "jvp of a result": lambda call: jax.jvp(lambda x: call(like(x), x), (S,), (S,)),
    "grad": lambda call: jax.grad(noting(call))(S),
    "jit of grad of jit": lambda call: jax.jit(jax.value_and_grad(jax.jit(noting(call))))(S),
    "hessian": lambda call: jax.hessian(jax.jit(noting(call)))(S),
    "linearize": lambda call: jax.linearize(jax.jit(noting(call)), S)[1](S),
    "grad of cond": lambda call: jax.grad(lambda x: lax.cond(x > 2, noting(call), jnp.sin, x))(S),
    "checkpoint": lambda call: jax.jit(jax.checkpoint(noting(call)))(S),
    "a 64-bit spec": lambda call: call(jax.ShapeDtypeStruct((), np.float64), S),
    "a typed key": lambda call: call(like(S), jax.random.key(0)),
    "bfloat16 and int4": lambda call: call(like(S), jnp.ones(2, jnp.bfloat16), jnp.arange(3, dtype=jnp.int4)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_results_and_the_same_calls(name: str) -> None:
    assert outcome(SCENARIOS[name], migrated) == outcome(SCENARIOS[name], io_callback)


@pytest.mark.parametrize("value", [2, 2.5, np.zeros(2), None, (1.0, 2.0), np.float64(2), "text"], ids=repr)
@pytest.mark.parametrize("spec", [None, [], like(S), (like(S),)], ids=repr)
def test_results_by_the_same_rules(spec: Any, value: Any) -> None:
    def result(api: Call) -> Any:
        try:
            return jax.tree.map(float, jax.block_until_ready(api(lambda x: value, spec, S)))
        except Exception as error:  # noqa: BLE001
            return type(error).__name__

    assert result(migrated) == result(io_callback)


def test_what_raises_raises_alike() -> None:
    def host(x: Any) -> None:
        raise KeyError("no such state")

    def run(api: Call) -> None:
        function = noting(lambda spec, *args: api(host, spec, *args))
        jax.block_until_ready(jax.jit(function)(S))
        jax.effects_barrier()

    for api in (io_callback, migrated):
        with pytest.raises(jax.errors.JaxRuntimeError, match="no such state"):
            run(api)


LOOPS: dict[str, Scenario] = {
    "scan": lambda call: jax.grad(lambda x: lax.scan(lambda c, _: (noting(call)(c), c), x, X)[0])(S / 3),
    "fori_loop": lambda call: jax.grad(lambda x: lax.fori_loop(0, 4, lambda _, c: noting(call)(c), x))(S / 3),
    "checkpoint": lambda call: jax.grad(jax.checkpoint(noting(call)))(S),
}


@pytest.mark.parametrize("name", LOOPS)
def test_it_runs_where_jax_drops_or_refuses_an_io_callback(name: str) -> None:
    result, seen = outcome(LOOPS[name], migrated)
    assert len(seen) == (1 if name == "checkpoint" else 4)
    assert result == outcome(lambda call: LOOPS[name](lambda *_: None), migrated)[0]


def test_once_for_all_devices_and_once_in_each_shard(script: Any) -> None:
    process = script(
        """
        import bufcb, jax, jax.numpy as jnp, numpy as np
        from jax.experimental import io_callback
        from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding

        mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("d")))
        spec = jax.ShapeDtypeStruct
        placed = {"sharding": SingleDeviceSharding(jax.devices()[2])}

        def migrated(f, spec, *args, **options):
            adapted = bufcb.adapt(f, arrays="jax")
            call = bufcb.buffer_callback(
                adapted, spec, has_side_effect=True, vmap_method="sequential", **options
            )
            return call(*args)

        for api in (io_callback, migrated):
            seen = []

            def host(x):
                seen.append(np.asarray(x).tolist())
                return np.asarray(x) * 2

            def drop(x):
                host(x)

            def double(x):
                return api(host, spec(x.shape, x.dtype), x)

            def note(x, **options):
                api(drop, None, x, **options)
                return x

            shards = jax.shard_map(double, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
            for f in (double, note, lambda x: note(x, **placed), shards):
                print(np.asarray(jax.jit(f)(x)).tolist(), end=" ")
                jax.effects_barrier()
                print(sorted(seen))
                seen.clear()
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    whole, doubled = [0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, 6.0]
    expected = [f"{doubled} {[whole]}", *[f"{whole} {[whole]}"] * 2, f"{doubled} {[[x] for x in whole]}"]
    assert lines == expected * 2
