"""What may be called, how often it is, from which threads, and what an error says."""

import dataclasses
import functools
import pickle
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable

import bufcb

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)

compilations: list[None] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, **_: (
        compilations.append(None) if event.endswith("backend_compile_duration") else None
    )
)


def fill(out: Any, value: Any) -> None:
    np.asarray(out)[...] = value


def place(function: Callable[..., Any]) -> str:
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


class Scaler:
    """Callbacks in every position that a class has."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def method(self, ctx: Any, out: Any, x: Any) -> None:
        fill(out, np.asarray(x) * self.factor)

    @classmethod
    def class_method(cls, ctx: Any, out: Any, x: Any) -> None:
        fill(out, np.asarray(x) * 2)

    @staticmethod
    def static_method(ctx: Any, out: Any, x: Any) -> None:
        fill(out, np.asarray(x) * 2)

    def __call__(self, ctx: Any, out: Any, x: Any) -> None:
        fill(out, np.asarray(x) * self.factor)


@dataclasses.dataclass
class ComparedScaler(Scaler):
    """Compares by value, so it has no hash."""

    factor: float


def scaled(factor: float, ctx: Any, out: Any, x: Any, *, shift: float = 0.0) -> None:
    fill(out, np.asarray(x) * factor + shift)


def decorated(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        return function(*args, **kwargs)

    return wrapper


CALLABLES = {
    "bound method": Scaler(2.0).method,
    "class method": Scaler.class_method,
    "static method": Scaler.static_method,
    "callable object": Scaler(2.0),
    "unhashable object": ComparedScaler(2.0),
    "method of an unhashable object": ComparedScaler(2.0).method,
    "partial": functools.partial(scaled, 2.0),
    "partial with a keyword": functools.partial(scaled, 1.0, shift=1.0),
    "partial of a partial": functools.partial(functools.partial(scaled, 2.0), shift=0.0),
    "partial with an unhashable argument": functools.partial(scaled, np.full(4, 2.0, np.float32)),
    "partial of a method": functools.partial(Scaler(2.0).method),
    "lambda": lambda ctx, out, x: fill(out, np.asarray(x) * 2),
    "wrapped": decorated(Scaler.static_method),
    "other parameter names": lambda c, o, value: fill(o, np.asarray(value) * 2),
    "star": lambda *args: fill(args[1], np.asarray(args[2]) * 2),
    "defaults": lambda ctx, out, x, factor=2.0: fill(out, np.asarray(x) * factor),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_every_kind_of_callable(kind: str) -> None:
    call = bufcb.buffer_callback(CALLABLES[kind], F4)
    for run in (call, jax.jit(call)):
        np.testing.assert_array_equal(run(jnp.ones(4)), np.full(4, 2.0))


def test_an_unhashable_callable_keeps_its_own_state() -> None:
    first, second = ComparedScaler(1.0), ComparedScaler(1.0)
    calls = [jax.jit(bufcb.buffer_callback(scaler, F4)) for scaler in (first, second)]
    for call in calls:
        jax.block_until_ready(call(jnp.ones(4)))
    second.factor = 5.0
    assert [float(call(jnp.ones(4))[0]) for call in calls] == [1.0, 5.0]


def test_equal_callables_that_are_not_the_same_state() -> None:
    """Bound methods of equal objects compare by their object's identity, not its value."""

    class Adder:
        def __init__(self, step: float) -> None:
            self.step = step

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Adder)

        def __hash__(self) -> int:
            return 0

        def into(self, ctx: Any, out: Any, x: Any) -> None:
            fill(out, np.asarray(x) + self.step)

    results = [bufcb.buffer_callback(Adder(step).into, F4)(jnp.zeros(4))[0] for step in (1.0, 2.0)]
    assert [float(result) for result in results] == [1.0, 2.0]


class TestArguments:
    """Structures of arguments and results."""

    def test_keywords_and_defaults(self) -> None:
        def into(ctx: Any, out: Any, x: Any, *, y: Any, z: Any = None) -> None:
            fill(out, np.asarray(x) - np.asarray(y) + (0 if z is None else np.asarray(z)))

        call = bufcb.buffer_callback(into, F4)
        np.testing.assert_array_equal(call(jnp.full(4, 5.0), y=jnp.ones(4)), np.full(4, 4.0))
        np.testing.assert_array_equal(call(y=jnp.ones(4), x=jnp.full(4, 5.0)), np.full(4, 4.0))
        np.testing.assert_array_equal(jax.jit(call)(jnp.full(4, 5.0), z=1.0, y=jnp.ones(4)), np.full(4, 5.0))

    @pytest.mark.parametrize("name", ["ctx", "out"])
    def test_keywords_that_clash_are_rejected_at_the_call(self, name: str) -> None:
        def into(ctx: Any, out: Any, **kwargs: Any) -> None:
            raise NotImplementedError("never called")

        with pytest.raises(TypeError, match=name) as seen:
            jax.make_jaxpr(lambda x: bufcb.buffer_callback(into, F4)(**{name: x}))(jnp.ones(4))
        assert "into" in str(seen.value)

    @pytest.mark.parametrize("name", ["ctx", "out"])
    def test_keywords_of_those_names_reach_positional_only_callbacks(self, name: str) -> None:
        def into(context: Any, result: Any, /, **kwargs: Any) -> None:
            fill(result, np.asarray(kwargs[name]))

        call = bufcb.buffer_callback(into, F4)
        np.testing.assert_array_equal(call(**{name: jnp.ones(4)}), np.ones(4))

    def test_structures(self) -> None:
        structures: list[Any] = []

        def into(ctx: Any, out: Any, tree: Any, empty: Any, nothing: Any, *rest: Any) -> None:
            structures.append(jax.tree.structure((tree, empty, nothing, rest)))
            structures.append(jax.tree.structure(out))
            for leaf in jax.tree.leaves(out):
                fill(leaf, 1)

        arguments = ({"b": [jnp.ones(2), None], "a": (jnp.ones(3),)}, (), None, jnp.ones(()), [jnp.ones(1)])
        spec = {"y": (SCALAR, None), "x": [F4, {}]}
        result = jax.jit(bufcb.buffer_callback(into, spec))(*arguments)
        assert structures[0] == jax.tree.structure((*arguments[:3], arguments[3:]))
        assert structures[1] == jax.tree.structure(spec) == jax.tree.structure(result)

    def test_custom_nodes(self) -> None:
        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class State:
            position: Any
            velocity: Any

        def into(ctx: Any, out: Any, state: Any) -> None:
            fill(out.position, np.asarray(state.position) + np.asarray(state.velocity))
            fill(out.velocity, np.asarray(state.velocity))

        moved = jax.jit(bufcb.buffer_callback(into, State(F4, F4)))(State(jnp.zeros(4), jnp.ones(4)))
        assert isinstance(moved, State)
        np.testing.assert_array_equal(moved.position, np.ones(4))

    def test_no_arguments_and_no_results(self) -> None:
        calls: list[Any] = []

        def into(ctx: Any, out: Any) -> None:
            calls.append(out)

        assert jax.jit(bufcb.buffer_callback(into, (), has_side_effect=True))() == ()
        jax.effects_barrier()
        assert calls == [()]

    @pytest.mark.parametrize("spec", [(F4,), [F4], {"y": F4}, (F4, F4)])
    def test_containers_of_results(self, spec: Any) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            assert type(out) is type(spec)
            for leaf in jax.tree.leaves(out):
                fill(leaf, np.asarray(x))

        result = jax.jit(bufcb.buffer_callback(into, spec))(jnp.ones(4))
        assert jax.tree.structure(result) == jax.tree.structure(spec)

    def test_an_array_as_spec(self) -> None:
        call = bufcb.buffer_callback(lambda ctx, out, x: fill(out, np.asarray(x)), np.zeros(4, np.float32))
        np.testing.assert_array_equal(call(jnp.ones(4)), np.ones(4))

    @pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0, 2), (1, 1)])
    def test_zero_size_and_zero_dimensions(self, shape: tuple[int, ...]) -> None:
        seen: list[Any] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            first, total = out
            seen.append((x.shape, first.shape, x.size, x.nbytes, x.ndim))
            first[...] = np.asarray(x)
            total[...] = np.float32(x.sum())

        spec = (jax.ShapeDtypeStruct(shape, jnp.float32), SCALAR)
        first, total = jax.jit(bufcb.buffer_callback(into, spec))(jnp.ones(shape))
        size = int(np.prod(shape))
        np.testing.assert_array_equal(first, np.ones(shape))
        assert float(total) == size
        assert seen == [(shape, shape, size, 4 * size, len(shape))]

    @pytest.mark.parametrize("effect", [False, True])
    def test_nothing_but_zero_size_outputs(self, effect: bool) -> None:
        """XLA has nothing to compute: the callback runs for its effect only, as under `jax.pure_callback`."""
        calls: list[None] = []
        spec = jax.ShapeDtypeStruct((0, 3), jnp.float32)
        call = bufcb.buffer_callback(lambda ctx, out, x: calls.append(None), spec, has_side_effect=effect)
        assert jax.block_until_ready(jax.jit(call)(jnp.ones(3))).shape == (0, 3)
        jax.effects_barrier()
        assert len(calls) == int(effect)
        jax.block_until_ready(jax.pure_callback(lambda x: calls.append(None), spec, jnp.ones(3)))
        assert len(calls) == int(effect)

    def test_context(self) -> None:
        stages: list[Any] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            stages.append(ctx.stage)
            fill(out, 0)

        jax.block_until_ready(bufcb.buffer_callback(into, F4)(jnp.ones(4)))
        assert stages == [bufcb.ExecutionStage.EXECUTE]


class TestErrors:
    """Errors name the callback, where it stands, and the leaf."""

    @pytest.mark.parametrize("jit", [False, True])
    def test_returned_value(self, jit: bool) -> None:
        def returns(ctx: Any, out: Any, x: Any) -> Any:
            return np.asarray(x) + 1

        call = bufcb.buffer_callback(returns, F4)
        with pytest.raises(jax.errors.JaxRuntimeError) as seen:
            jax.block_until_ready((jax.jit(call) if jit else call)(jnp.ones(4)))
        detail = str(seen.value).partition("buffer_callback callback must not return any values.")[2]
        assert "returns" in detail
        assert place(returns) in detail

    @pytest.mark.parametrize("value", [0, False, (), [], "", np.float32(0)])
    def test_returned_values_that_are_falsy(self, value: Any) -> None:
        with pytest.raises(jax.errors.JaxRuntimeError, match="must not return any values"):
            jax.block_until_ready(bufcb.buffer_callback(lambda ctx, out: value, F4)())

    @pytest.mark.parametrize("jit", [False, True])
    @pytest.mark.parametrize("error", [KeyError("boom"), ZeroDivisionError("boom"), StopIteration("boom")])
    def test_exceptions_are_raised_as_under_pure_callback(self, error: Exception, jit: bool) -> None:
        def fails(*args: Any) -> Any:
            raise error

        def outcome(call: Callable[..., Any]) -> Any:
            with pytest.raises(Exception) as seen:  # noqa: PT011
                jax.block_until_ready((jax.jit(call) if jit else call)(jnp.ones(4)))
            last = [line for line in str(seen.value).splitlines() if "boom" in line]
            return type(seen.value), last[-1]

        expected = outcome(lambda x: jax.pure_callback(fails, F4, x))
        assert outcome(bufcb.buffer_callback(fails, F4)) == expected
        assert outcome(bufcb.buffer_callback(bufcb.adapt(fails), F4)) == expected
        assert outcome(lambda x: bufcb.pure_callback(fails, F4, x)) == expected

    def test_exceptions_after_a_call_that_went_well(self) -> None:
        """JAX's fast path for functions called before raises another class than the first call does."""

        def outcome(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
            fails: list[bool] = []

            def host(*args: Any) -> Any:
                if fails:
                    raise KeyError("boom")
                return np.ones(4, np.float32) if len(args) == 1 else None

            function = jax.jit(make(host))
            jax.block_until_ready(function(jnp.ones(4)))
            fails.append(True)
            with pytest.raises(Exception, match="boom") as seen:
                jax.block_until_ready(function(jnp.ones(4)))
            return type(seen.value)

        expected = outcome(lambda host: lambda x: jax.pure_callback(host, F4, x))
        assert outcome(lambda host: bufcb.buffer_callback(host, F4)) is expected
        assert outcome(lambda host: lambda x: bufcb.pure_callback(host, F4, x)) is expected

    @pytest.mark.parametrize(
        ("callback", "missing"),
        [
            (lambda: None, "no parameters"),
            (lambda ctx: None, "no out"),
            (lambda ctx, out: None, "too few"),
            (lambda ctx, out, x, y, z: None, "too many"),
            (lambda ctx, out, x, *, y: None, "a keyword"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_parameters_are_checked_at_the_call(self, callback: Any, missing: str) -> None:
        with pytest.raises(TypeError, match="<lambda>") as seen:
            jax.make_jaxpr(bufcb.buffer_callback(callback, F4))(jnp.ones(4), jnp.ones(4))
        assert place(callback) in str(seen.value)

    def test_callback_that_is_not_callable(self) -> None:
        with pytest.raises(TypeError, match="callable"):
            bufcb.buffer_callback(3, F4)(jnp.ones(4))  # type: ignore[arg-type]

    @pytest.mark.parametrize("argument", ["text", object(), np.array(["a"]), np.array([None])])
    def test_the_argument_that_is_no_array_is_named(self, argument: Any) -> None:
        def into(ctx: Any, out: Any, first: Any, options: Any) -> None:
            raise NotImplementedError("never called")

        with pytest.raises(TypeError, match=r"options\['label'\]") as seen:
            bufcb.buffer_callback(into, F4)(jnp.ones(4), {"label": argument})
        assert "into" in str(seen.value)

    @pytest.mark.parametrize("spec", [3, "float32", {"y": 3}, np.float32, [(4,)], object()])
    def test_specs_that_are_none(self, spec: Any) -> None:
        with pytest.raises((TypeError, ValueError), match=r"result_shape_dtypes"):
            bufcb.buffer_callback(lambda ctx, out: None, spec)()

    def test_key_spec(self) -> None:
        with pytest.raises((TypeError, ValueError), match="key"):
            bufcb.buffer_callback(lambda ctx, out: None, jax.eval_shape(lambda: jax.random.key(0)))()

    def test_wrong_leaf_is_named_in_a_strict_write(self) -> None:
        def into(ctx: Any, out: Any) -> None:
            out["b"][1][...] = np.ones(3, np.float32)

        text = "Incorrect output shape for return value #2: Expected: (4,), Actual: (3,)"
        with pytest.raises(jax.errors.JaxRuntimeError, match=re.escape(text)) as seen:
            jax.block_until_ready(bufcb.buffer_callback(into, {"a": F4, "b": [F4, F4]})())
        assert "into" in str(seen.value)


def count_calls(calls: list[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(None)
        return function(*args, **kwargs)

    return counted


def host(x: Any) -> Any:
    return np.asarray(x) * 2


def into(ctx: Any, out: Any, x: Any) -> None:
    out[...] = np.asarray(x) * 2


Programs = dict[str, Callable[[Callable[[Any], Any]], Any]]
PROGRAMS: Programs = {
    "eager": lambda call: call(jnp.float32(1)),
    "eager twice": lambda call: (call(jnp.float32(1)), call(jnp.float32(2))),
    "jit": lambda call: jax.jit(call)(jnp.float32(1)),
    "jit three times": lambda call: [jax.jit(call)(jnp.float32(i)) for i in range(3)],
    "unused": lambda call: jax.jit(lambda x: (call(x), x)[1])(jnp.float32(1)),
    "the same twice": lambda call: jax.jit(lambda x: call(x) + call(x))(jnp.float32(1)),
    "loop": lambda call: jax.jit(lambda x: jax.lax.fori_loop(0, 7, lambda i, y: call(y), x))(jnp.float32(1)),
    "scan": lambda call: jax.lax.scan(lambda c, x: (call(c), x), jnp.float32(1), jnp.arange(3)),
    "loop invariant": lambda call: jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, y: y + call(x), x))(
        jnp.float32(1)
    ),
    "constant": lambda call: jax.jit(lambda: call(jnp.float32(1)))(),
    "vmap": lambda call: jax.vmap(call)(jnp.arange(3.0)),
    "jit vmap": lambda call: jax.jit(jax.vmap(call))(jnp.arange(3.0)),
    "nested vmap": lambda call: jax.vmap(jax.vmap(call))(jnp.ones((2, 3))),
    "cond": lambda call: [jax.lax.cond(p, call, lambda x: x, jnp.float32(1)) for p in (True, False)],
    "vmapped cond": lambda call: jax.vmap(lambda p, x: jax.lax.cond(p, call, lambda x: x, x))(
        jnp.array([True, False]), jnp.arange(2.0)
    ),
    "checkpoint": lambda call: jax.grad(
        jax.checkpoint(lambda x: x * jax.lax.stop_gradient(call(jax.lax.stop_gradient(x))))
    )(jnp.float32(1)),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_many_calls_and_compilations_as_under_pure_callback(program: str) -> None:
    def measure(make: Callable[[list[Any]], Callable[[Any], Any]]) -> Any:
        calls: list[Any] = []
        call = make(calls)
        jax.block_until_ready(PROGRAMS[program](call))  # eager operations around the call compile here
        calls.clear()
        compilations.clear()
        leaves = jax.tree.leaves(jax.block_until_ready(PROGRAMS[program](call)))
        return len(calls), len(compilations), [np.asarray(leaf).tolist() for leaf in leaves]

    def pure(calls: list[Any]) -> Callable[[Any], Any]:
        counted = count_calls(calls, host)
        return lambda x: jax.pure_callback(counted, SCALAR, x, vmap_method="sequential")

    def same(calls: list[Any]) -> Callable[[Any], Any]:
        counted = count_calls(calls, host)
        return lambda x: bufcb.pure_callback(counted, SCALAR, x, vmap_method="sequential")

    def buffered(calls: list[Any]) -> Callable[[Any], Any]:
        counted = count_calls(calls, into)
        return bufcb.buffer_callback(counted, SCALAR, vmap_method="sequential")

    def adapted(calls: list[Any]) -> Callable[[Any], Any]:
        counted = count_calls(calls, host)
        return bufcb.buffer_callback(bufcb.adapt(counted), SCALAR, vmap_method="sequential")

    expected = measure(pure)
    assert {make.__name__: measure(make) for make in (same, buffered, adapted)} == dict.fromkeys(
        ("same", "buffered", "adapted"), expected
    )


def test_eager_calls_do_not_compile_again() -> None:
    x = jnp.ones(4)
    calls: dict[str, Callable[[], Any]] = {
        "function": lambda: bufcb.buffer_callback(into, F4)(x),
        "adapt": lambda: bufcb.buffer_callback(bufcb.adapt(host), F4)(x),
        "adapt jax": lambda: bufcb.buffer_callback(bufcb.adapt(host, arrays="jax"), F4)(x),
        "pure_callback": lambda: bufcb.pure_callback(host, F4, x),
        "bound method": lambda: bufcb.buffer_callback(SCALER.method, F4)(x),
        "unhashable": lambda: bufcb.buffer_callback(COMPARED, F4)(x),
        "adapted partial": lambda: bufcb.buffer_callback(bufcb.adapt(functools.partial(np.add, 1)), F4)(x),
    }
    for call in calls.values():
        jax.block_until_ready(call())
    counts = {}
    for name, call in calls.items():
        compilations.clear()
        for _ in range(3):
            jax.block_until_ready(call())
        counts[name] = len(compilations)
    assert counts == dict.fromkeys(calls, 0)


SCALER, COMPARED = Scaler(2.0), ComparedScaler(2.0)


class TestThreads:
    """One compiled callable, many threads."""

    def test_eight_threads_through_one_jitted_callable(self) -> None:
        function = jax.jit(bufcb.buffer_callback(into, F4))
        jax.block_until_ready(function(jnp.ones(4)))

        def work(seed: int) -> bool:
            return all(
                bool(np.all(np.asarray(function(jnp.full(4, float(seed * 100 + i)))) == 2 * (seed * 100 + i)))
                for i in range(40)
            )

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [True] * 8

    def test_calls_that_overlap(self) -> None:
        """Two callbacks wait for each other; were calls serialised by a lock, neither would return."""
        barrier = threading.Barrier(2, timeout=60)

        def meet(ctx: Any, out: Any, x: Any) -> None:
            view = np.asarray(x)
            barrier.wait()
            out[...] = view

        function = jax.jit(bufcb.buffer_callback(meet, F4)).lower(jnp.ones(4)).compile()
        with ThreadPoolExecutor(2) as pool:
            results = list(
                pool.map(lambda i: jax.block_until_ready(function(jnp.full(4, float(i)))), range(2))
            )
        np.testing.assert_array_equal(np.stack(results)[:, 0], [0, 1])

    def test_an_escape_in_one_thread_is_no_error_in_another(self) -> None:
        kept: list[Any] = []

        def keep_odd(ctx: Any, out: Any, x: Any) -> None:
            view = np.asarray(x)
            if int(view[0]) % 2:
                kept.append(view)
            out[...] = view

        function = jax.jit(bufcb.buffer_callback(keep_odd, F4))

        def work(i: int) -> str:
            try:
                jax.block_until_ready(function(jnp.full(4, float(i))))
            except (jax.errors.JaxRuntimeError, ValueError) as error:  # JAX's fast path raises the latter
                return "escape" if "np.array(" in str(error) else "other"
            return "fine"

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(40))) == ["fine", "escape"] * 20

    def test_reentrant(self) -> None:
        inner = jax.jit(bufcb.buffer_callback(into, F4))

        def outer(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(inner(np.array(x))) + 1

        function = jax.jit(bufcb.buffer_callback(outer, F4))
        np.testing.assert_array_equal(function(jnp.ones(4)), np.full(4, 3.0))


def test_a_failing_pure_callback_is_logged_as_by_jax(caplog: pytest.LogCaptureFixture) -> None:
    def fail(x: Any) -> Any:
        raise LookupError("no such entry")

    messages = []
    for pure_callback in (jax.pure_callback, bufcb.pure_callback):
        with pytest.raises(jax.errors.JaxRuntimeError, match="LookupError: no such entry"):
            jax.block_until_ready(pure_callback(fail, F4, jnp.ones(4)))
        messages.append([(record.levelname, record.getMessage()) for record in caplog.records])
        assert "LookupError: no such entry" in caplog.text
        caplog.clear()
    assert messages[0] == messages[1] == [("ERROR", "jax.pure_callback failed")]


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_a_numpy_argument_compiles_nothing_but_the_call(arrays: Any) -> None:
    call = bufcb.buffer_callback(bufcb.adapt(np.tanh, arrays), jax.ShapeDtypeStruct((3, 7), jnp.float32))
    compilations.clear()
    for _ in range(3):
        jax.block_until_ready(call(np.ones((3, 7), np.float32)))
    assert len(compilations) == 1


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
class TestTransferGuard:
    """Arrays are handed over as explicitly as `jax.pure_callback` hands them over."""

    def run(self, jit: bool, guard: str, call: Any, function: Any) -> Any:
        def program(x: Any) -> Any:
            return call(function, jax.ShapeDtypeStruct((3,), jnp.float32), x)

        x = jnp.arange(3, dtype=jnp.float32)
        program = jax.jit(program) if jit else program
        jax.block_until_ready(program(x))
        with jax.transfer_guard(guard):
            return jax.block_until_ready(program(x))

    def adapted(self, function: Any, spec: Any, x: Any) -> Any:
        return bufcb.buffer_callback(bufcb.adapt(function), spec)(x)

    @pytest.mark.parametrize("call", [jax.pure_callback, bufcb.pure_callback])
    def test_implicit_transfers_are_forbidden(self, jit: bool, call: Any) -> None:
        assert self.run(jit, "disallow", call, lambda x: np.asarray(x) * 2).tolist() == [0, 2, 4]

    @pytest.mark.parametrize("call", [jax.pure_callback, bufcb.pure_callback])
    def test_explicit_transfers_are_forbidden(self, jit: bool, call: Any) -> None:
        with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="Disallowed host-to-device"):
            self.run(jit, "disallow_explicit", call, lambda x: np.asarray(x) * 2)

    @pytest.mark.parametrize("call", [jax.pure_callback, bufcb.pure_callback])
    def test_the_callback_is_held_to_it(self, jit: bool, call: Any) -> None:
        with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="Disallowed host-to-device"):
            self.run(jit, "disallow", call, lambda x: jnp.asarray(np.asarray(x)))

    def test_numpy_arrays_are_no_transfer(self, jit: bool) -> None:
        result = self.run(jit, "disallow_explicit", self.adapted, lambda x: x * 2)
        assert result.tolist() == [0, 2, 4]


def test_who_pickles_a_compiled_computation_is_told_the_callback() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = x

    spec = jax.ShapeDtypeStruct((3,), jnp.float32)
    compiled = jax.jit(bufcb.buffer_callback(into, spec)).lower(spec).compile()
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"bufcb trampoline of `.*into` \("):
        serialize_executable.serialize(compiled)
