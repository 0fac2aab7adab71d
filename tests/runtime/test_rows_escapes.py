"""References to buffers that outlive the call: every kind is found, and garbage is not mistaken for one."""

import functools
import gc
import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb

F8 = jax.ShapeDtypeStruct((8,), jnp.float32)

Keep = Callable[[Any], Any]


def call(callback: Callable[..., None], *args: Any, spec: Any = F8, jit: bool = True, **options: Any) -> Any:
    function = bufcb.buffer_callback(callback, spec, **options)
    return jax.block_until_ready((jax.jit(function) if jit else function)(*args))


def captured(buffer: Any) -> Callable[[], Any]:
    return lambda: buffer


class Holder:
    """Something with an attribute."""

    buffer: Any = None


def held(buffer: Any) -> Holder:
    holder = Holder()
    holder.buffer = buffer
    return holder


def generator(buffer: Any) -> Any:
    def produce() -> Any:
        yield 1
        yield buffer

    started = produce()
    next(started)
    return started


KEEPS: dict[str, Keep] = {
    "the buffer itself": lambda x: x,
    "view": np.asarray,
    "slice": lambda x: x[2:5],
    "slice of the view": lambda x: np.asarray(x)[::2],
    "reshaped": lambda x: np.asarray(x).reshape(2, 4),
    "transposed": lambda x: x.reshape(2, 4).T,
    "other dtype": lambda x: np.asarray(x).view(np.int32),
    "memoryview": memoryview,
    "memoryview of the view": lambda x: memoryview(np.asarray(x)),
    "closure": captured,
    "partial": lambda x: functools.partial(np.add, np.asarray(x)),
    "attribute": held,
    "nested containers": lambda x: {"key": [(np.asarray(x),)]},
    "suspended generator": generator,
    "dlpack capsule": lambda x: x.__dlpack__(),
    "numpy from dlpack": np.from_dlpack,
    "jax from dlpack": jax.dlpack.from_dlpack,
    "broadcast": lambda x: np.broadcast_to(x, (3, 8)),
    "iterator": lambda x: np.nditer(np.asarray(x)),
    "flat iterator": lambda x: np.asarray(x).flat,
    "ctypes": lambda x: np.asarray(x).ctypes,
    "array interface holder": lambda x: np.lib.stride_tricks.as_strided(np.asarray(x), (4,), (8,)),
    "recarray": lambda x: np.asarray(x).view(np.recarray),
    "frombuffer": lambda x: np.frombuffer(x, np.uint8),
    "memmap-like subclass": lambda x: np.asarray(x).view(np.matrix),
}


@pytest.mark.parametrize(
    ("kind", "jit"), [*((kind, True) for kind in KEEPS), ("view", False), ("jax from dlpack", False)]
)
def test_kept_input_is_an_error(kind: str, jit: bool) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, first: Any, second: Any) -> None:
        np.asarray(out)[...] = 0
        kept.append(KEEPS[kind](second))

    with pytest.raises(jax.errors.JaxRuntimeError) as seen:
        call(keep, jnp.ones(8), jnp.zeros(8), jit=jit)
    message = str(seen.value)
    assert "keep" in message
    assert "second" in message
    assert "np.array(" in message
    assert kept


@pytest.mark.parametrize("kind", [kind for kind in KEEPS if "from dlpack" not in kind])
def test_kept_output_is_an_error(kind: str) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = 0
        kept.append(KEEPS[kind](out))

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"\bout\b"):
        call(keep, jnp.ones(8))
    assert kept


def test_the_leaf_of_a_pytree_is_named() -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, parameters: Any) -> None:
        kept.append(np.asarray(parameters["layers"][1]))
        np.asarray(out)[...] = 0

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"parameters\['layers'\]\[1\]"):
        call(keep, {"bias": jnp.ones(8), "layers": [jnp.ones(8), jnp.zeros(8)]})


def test_the_keyword_argument_is_named() -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, *, weights: Any) -> None:
        kept.append(np.asarray(weights))
        np.asarray(out)[...] = 0

    with pytest.raises(jax.errors.JaxRuntimeError, match="weights"):
        jax.block_until_ready(jax.jit(lambda x: bufcb.buffer_callback(keep, F8)(weights=x))(jnp.ones(8)))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,)])
def test_small_arrays_are_watched_as_well(shape: tuple[int, ...]) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(np.asarray(x))

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"np\.array\("):
        call(keep, jnp.ones(shape))


def test_zero_copy_jax_array_of_a_view() -> None:
    """`jnp.asarray` shares memory that is aligned as XLA wants it, and a buffer's is."""
    kept: list[Any] = []
    size = 1 << 16

    def keep(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(x)
        kept.append(jax.device_put(view, may_alias=True))
        shared.append(kept[-1].unsafe_buffer_pointer() == view.ctypes.data)
        np.asarray(out)[...] = 0

    shared: list[bool] = []
    spec = jax.ShapeDtypeStruct((size,), jnp.float32)
    try:
        call(keep, jnp.ones(size), spec=spec)
    except jax.errors.JaxRuntimeError:
        caught = True
    else:
        caught = False
    assert caught == shared[0]  # an error if and only if memory is shared


def test_jnp_asarray_of_a_view() -> None:
    kept: list[Any] = []
    shared: list[bool] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(jnp.asarray(np.asarray(x)))
        shared.append(kept[-1].unsafe_buffer_pointer() == np.asarray(x).ctypes.data)
        np.asarray(out)[...] = 0

    try:
        call(keep, jnp.ones(8))
    except jax.errors.JaxRuntimeError:
        caught = True
    else:
        caught = False
    assert caught or not shared[0]


def test_copies_may_be_kept() -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.extend([np.array(x), x.copy(), x + 1, x.sum(), x.tolist(), float(x[0]), x.astype(np.int8)])
        kept.append(bufcb.to_numpy(x, copy=True))
        np.asarray(out)[...] = 0

    call(keep, jnp.ones(8))
    assert not any(isinstance(item, bufcb.Buffer) for item in kept)
    np.testing.assert_array_equal(kept[0], np.ones(8))


@pytest.mark.parametrize(
    "derive",
    [
        lambda x: x + 1,
        np.sin,
        lambda x: x > 0,
        lambda x: -x,
        lambda x: x @ x,
        lambda x: x.sum(),
        lambda x: x.mean(axis=0),
        np.cumsum,
        lambda x: np.concatenate([x, x]),
        lambda x: np.where(x > 0, x, 0),
        np.sort,
        lambda x: x.copy(),
        lambda x: x.astype(np.float64),
        np.array,
        lambda x: np.stack([x]),
        lambda x: np.einsum("i,i->", x, x),
        lambda x: np.divmod(x, 2)[0],
        np.add.reduce,
        lambda x: np.add.outer(x, x),
        lambda x: x.round(),
        lambda x: np.clip(x, 0, 1),
        lambda x: x[[1, 2]],
        lambda x: x[x > 0],
        lambda x: x[0],
    ],
)
def test_nothing_derived_is_a_buffer(derive: Keep) -> None:
    seen: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        seen.append(derive(x))
        np.asarray(out)[...] = 0

    call(into, jnp.ones(8))
    assert type(seen[0]) is type(derive(np.ones(8, np.float32)))


class TestRetain:
    """`retain="copy"` hands out copies of inputs and checks nothing."""

    def test_copy_hands_out_owned_arrays(self) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            kept.append(x)
            np.asarray(out)[...] = np.asarray(x)

        function = jax.jit(lambda x: bufcb.buffer_callback(keep, F8, retain="copy")(x * 2))
        for step in range(4):
            jax.block_until_ready(function(jnp.full(8, float(step))))
        assert [np.asarray(x).tolist() for x in kept] == [[2.0 * step] * 8 for step in range(4)]

    def test_copy_under_vmap_and_loops(self) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            kept.append(x)
            np.asarray(out)[...] = np.asarray(x)

        scalar = jax.ShapeDtypeStruct((), jnp.float32)
        function = bufcb.buffer_callback(keep, scalar, retain="copy", vmap_method="sequential")
        jax.block_until_ready(jax.jit(jax.vmap(function))(jnp.arange(8, dtype=jnp.float32)))
        assert [float(x) for x in kept] == list(range(8))

    def test_raise_is_the_default(self) -> None:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            kept.append(x)

        with pytest.raises(jax.errors.JaxRuntimeError, match=r'retain="copy"'):
            call(keep, jnp.ones(8))

    def test_other_values_are_refused(self) -> None:
        with pytest.raises(ValueError, match="retain"):
            call(lambda ctx, out, x: None, jnp.ones(8), retain="keep")


def recursive_closure(x: Any) -> float:
    """Leaves a cycle behind: one cell of the inner function holds itself, the other the array."""

    def descend(depth: int) -> float:
        return float(x[0]) if depth == 0 else descend(depth - 1)

    return descend(3)


def self_reference(x: Any) -> float:
    holder = Holder()
    holder.buffer = holder, np.asarray(x)
    return 1.0


def exception_cycle(x: Any) -> float:
    view = np.asarray(x)
    try:
        raise LookupError("kept in its own traceback")
    except LookupError as error:
        kept = error
    return float(view[0]) + len(str(kept)) * 0


def solve_ivp(x: Any) -> float:
    from scipy.integrate import solve_ivp

    y0 = np.asarray(x)
    return float(solve_ivp(lambda t, y: -y * y0, (0.0, 0.1), y0).y[0, -1])


def fsolve(x: Any) -> float:
    from scipy.optimize import fsolve

    view = np.asarray(x)
    return float(fsolve(lambda y: y - view, view)[0])


def minimize(x: Any) -> float:
    from scipy.optimize import minimize

    view = np.asarray(x)
    return float(minimize(lambda y: float(np.sum((y - view) ** 2)), np.zeros(8)).x[0])


def quad(x: Any) -> float:
    from scipy.integrate import quad

    view = np.asarray(x)
    return quad(lambda t: float(view[0]) * t, 0.0, 1.0)[0]


inner = jax.jit(lambda x: jnp.sin(x) * 2)


def nested_jit(x: Any) -> float:
    return float(inner(np.asarray(x))[0])


def nested_jnp(x: Any) -> float:
    return float(jnp.sum(jnp.asarray(np.asarray(x))))


def grad_inside(x: Any) -> float:
    return float(jax.grad(lambda y: jnp.sum(y**2))(jnp.asarray(np.asarray(x)))[0])


CYCLES = [
    recursive_closure,
    self_reference,
    exception_cycle,
    solve_ivp,
    fsolve,
    minimize,
    quad,
    nested_jit,
    nested_jnp,
    grad_inside,
]


@pytest.mark.parametrize("body", CYCLES)
def test_garbage_is_no_escape(body: Callable[[Any], float]) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = body(x)

    function = jax.jit(bufcb.buffer_callback(into, F8))
    for _ in range(5):
        jax.block_until_ready(function(jnp.ones(8)))


@pytest.mark.parametrize("body", [recursive_closure, solve_ivp, fsolve, nested_jit])
def test_common_garbage_needs_no_full_collection(body: Callable[[Any], float]) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = body(x)

    function = jax.jit(bufcb.buffer_callback(into, F8))
    jax.block_until_ready(function(jnp.ones(8)))
    full: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            full.append(1)

    gc.callbacks.append(count)
    try:
        for _ in range(20):
            jax.block_until_ready(function(jnp.ones(8)))
    finally:
        gc.callbacks.remove(count)
    assert len(full) <= 2  # the interpreter's own, at most


def test_garbage_with_the_collector_disabled() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = self_reference(x)

    gc.disable()
    try:
        for _ in range(3):
            call(into, jnp.ones(8))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_old_garbage_is_found_in_the_end() -> None:
    """A cycle that an explicit collection moved to an older generation while it was still reachable."""

    def into(ctx: Any, out: Any, x: Any) -> None:
        holder = Holder()
        holder.buffer = holder, np.asarray(x)
        for _ in range(3):
            gc.collect(1)
        np.asarray(out)[...] = 0

    call(into, jnp.ones(8))


def test_a_failing_callback_reports_its_own_error() -> None:
    """The traceback holds the frame and with it the arguments, which is no escape to report."""
    kept: list[BaseException] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(x)
        try:
            raise KeyError(f"failed for {view.shape}")
        except KeyError as error:
            kept.append(error)
            raise

    with pytest.raises(jax.errors.JaxRuntimeError, match="failed for") as seen:
        call(into, jnp.ones(8))
    assert "np.array(" not in str(seen.value)


def test_references_dropped_by_another_thread_before_return() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        thread = threading.Thread(target=lambda: np.asarray(x).sum())
        thread.start()
        thread.join()
        np.asarray(out)[...] = 0

    for _ in range(5):
        call(into, jnp.ones(8))


def test_the_error_does_not_spoil_the_next_call() -> None:
    kept: list[Any] = []
    keep_now = [True]

    def into(ctx: Any, out: Any, x: Any) -> None:
        if keep_now[0]:
            kept.append(np.asarray(x))
        np.asarray(out)[...] = np.asarray(x)

    function = jax.jit(bufcb.buffer_callback(into, F8))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"np\.array\("):
        jax.block_until_ready(function(jnp.ones(8)))
    kept.clear()
    keep_now[0] = False
    np.testing.assert_array_equal(function(jnp.full(8, 3.0)), np.full(8, 3.0))
