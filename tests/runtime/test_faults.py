"""What goes wrong in a callback: the caller sees it, the interpreter goes on, and nothing hangs."""

import functools
import gc
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import bufcb
from bufcb import buffers

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
FAILURES = (
    jax.errors.JaxRuntimeError,
    ValueError,
)  # JAX's fast path for functions called before raises the latter

Script = Callable[..., "subprocess.CompletedProcess[str]"]


class Trouble(Exception):
    """An error of the user's."""


def fail() -> None:
    raise Trouble("no such luck, 17")


FAIL_LINE = fail.__code__.co_firstlineno + 1


def buffered(x: Any, **options: Any) -> Any:
    return bufcb.buffer_callback(lambda ctx, out, x: fail(), F4, **options)(x)


def adapted(x: Any, **options: Any) -> Any:
    return bufcb.buffer_callback(bufcb.adapt(lambda x: fail()), F4, **options)(x)


def adapted_jax(x: Any, **options: Any) -> Any:
    return bufcb.buffer_callback(bufcb.adapt(lambda x: fail(), arrays="jax"), F4, **options)(x)


def same_name(x: Any, **options: Any) -> Any:
    return bufcb.pure_callback(lambda x: fail(), F4, x, **options)


Call = Callable[..., Any]
PATHS: dict[str, Callable[[Call], Any]] = {
    "eager": lambda call: call(jnp.ones(4)),
    "jit": lambda call: jax.jit(call)(jnp.ones(4)),
    "vmap in turn": lambda call: jax.jit(jax.vmap(functools.partial(call, vmap_method="sequential")))(
        jnp.ones((2, 4))
    ),
    "scan": lambda call: jax.jit(lambda x: lax.scan(lambda c, _: (call(c), None), x, length=2)[0])(
        jnp.ones(4)
    ),
    "while_loop": lambda call: jax.jit(lambda x: lax.while_loop(lambda v: v[0] < 2, call, x))(jnp.ones(4)),
    "cond": lambda call: jax.jit(lambda x: lax.cond(x[0] > 0, call, lambda v: v, x))(jnp.ones(4)),
    "sharding=": lambda call: jax.jit(
        functools.partial(call, sharding=jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    )(jnp.ones(4)),
    "ahead of time": lambda call: jax.jit(call).lower(jnp.ones(4)).compile()(jnp.ones(4)),
    "in another's callback": lambda call: jax.jit(
        bufcb.buffer_callback(lambda ctx, out, x: jax.block_until_ready(call(np.array(x))), F4)
    )(jnp.ones(4)),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("call", [buffered, adapted, adapted_jax, same_name])
def test_type_message_and_place_are_in_the_text(path: str, call: Call) -> None:
    with pytest.raises(FAILURES, match="Trouble: no such luck, 17") as seen:
        jax.block_until_ready(PATHS[path](call))
    assert re.search(rf"test_faults\.py\", line {FAIL_LINE}, in fail", str(seen.value))


@pytest.mark.parametrize("effect", [False, True])
def test_side_effects_that_fail_are_told_by_the_barrier(effect: bool) -> None:
    call = bufcb.buffer_callback(lambda ctx, out, x: fail(), F4, has_side_effect=effect)

    def run_and_wait() -> None:
        jax.block_until_ready(jax.jit(call)(jnp.ones(4)))
        jax.effects_barrier()

    with pytest.raises(FAILURES, match="Trouble: no such luck, 17"):
        run_and_wait()
    jax.block_until_ready(jax.jit(lambda x: x + 1)(jnp.ones(4)))


@pytest.mark.parametrize("make", ["jit", "eager", "ahead of time"])
def test_failing_after_successes_and_recovering(make: str) -> None:
    calls: list[float] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        calls.append(float(x[0]))
        if x[0] == 3:
            fail()
        out[...] = np.asarray(x) + 1

    call = bufcb.buffer_callback(into, F4)
    function = {
        "jit": lambda: jax.jit(call),
        "eager": lambda: call,
        "ahead of time": lambda: jax.jit(call).lower(jnp.ones(4)).compile(),
    }[make]()
    for value in (1, 2, 3, 3, 4, 3, 5):
        x = jnp.full(4, float(value))
        if value == 3:
            with pytest.raises(FAILURES, match="Trouble"):
                jax.block_until_ready(function(x))
        else:
            np.testing.assert_array_equal(function(x), np.full(4, value + 1))
    assert calls == [1, 2, 3, 3, 4, 3, 5]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def many_lines() -> None:
    raise Trouble("first\nsecond\n\x00third")


def chained() -> None:
    try:
        fail()
    except Trouble as error:
        raise LookupError("because of that") from error


def group() -> None:
    raise ExceptionGroup("several", [Trouble("one"), LookupError("two")])


def unprintable() -> None:
    raise Unprintable


def surrogates() -> None:
    raise Trouble("lone surrogate \udc80")


def keyboard_interrupt() -> None:
    raise KeyboardInterrupt("pressed")


def system_exit() -> None:
    raise SystemExit(3)


def generator_exit() -> None:
    raise GeneratorExit("closed")


def recursion() -> None:
    recursion()


def out_of_memory() -> None:
    raise MemoryError("no more")


RAISED = {
    many_lines: "Trouble: first",
    chained: "LookupError: because of that",
    group: "several",
    unprintable: "Unprintable: its text cannot be read, since that raises RuntimeError",
    surrogates: r"Trouble: lone surrogate \\udc80",
    keyboard_interrupt: "KeyboardInterrupt: pressed",
    system_exit: "SystemExit: 3",
    generator_exit: "GeneratorExit: closed",
    recursion: "RecursionError",
    out_of_memory: "MemoryError: no more",
}


@pytest.mark.parametrize("raises", RAISED, ids=lambda function: function.__name__)
def test_whatever_is_raised_is_an_error_of_the_computation(raises: Callable[[], None]) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        raises()

    with pytest.raises(FAILURES, match=RAISED[raises]):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(into, F4))(jnp.ones(4)))


def test_a_place_that_has_no_text() -> None:
    """A file's name may have bytes that are no UTF-8; Python shows them as lone surrogates."""
    namespace: dict[str, Any] = {}
    source = "def fails(ctx, out, x):\n    raise LookupError('no such luck')\n"
    exec(compile(source, "caf\udce9.py", "exec"), namespace)
    with pytest.raises(FAILURES, match=r"LookupError: no such luck\n  in fails \(caf\\udce9\.py:2\)"):
        jax.block_until_ready(jax.jit(bufcb.buffer_callback(namespace["fails"], F4))(jnp.ones(4)))


class TestInterrupt:
    """Ctrl-C, in a process of its own."""

    def interrupted(self, source: str) -> tuple[int, str, float]:
        """Interrupt a program when it prints "ready"; return its status, output and time to end."""
        with subprocess.Popen(
            [sys.executable, "-u", "-c", textwrap.dedent(source)],
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            printed = ""
            for line in process.stdout:
                printed += line
                if line == "ready\n":
                    break
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                printed += process.communicate(timeout=60)[0]
            finally:
                process.kill()
            return process.returncode, printed, time.monotonic() - start

    def test_during_a_callback(self) -> None:
        status, printed, seconds = self.interrupted("""
            import time
            import jax, jax.numpy as jnp, numpy as np, bufcb

            sleeps = [True]

            def slow(ctx, out, x):
                if sleeps:
                    print("ready")
                    for _ in range(3000):
                        time.sleep(0.01)
                out[...] = np.asarray(x)

            function = jax.jit(bufcb.buffer_callback(slow, jax.ShapeDtypeStruct((4,), jnp.float32)))
            try:
                jax.block_until_ready(function(jnp.ones(4)))
            except BaseException as error:
                print("KeyboardInterrupt" in type(error).__name__ + str(error), "slow" in str(error))
            sleeps.clear()
            print(function(jnp.ones(4)))
        """)
        assert status == 0, printed
        assert "True True" in printed
        assert "[1. 1. 1. 1.]" in printed
        assert seconds < 20

    def test_between_callbacks_of_a_loop(self) -> None:
        status, printed, seconds = self.interrupted("""
            import jax, jax.numpy as jnp, numpy as np, bufcb

            calls = []

            def step(ctx, out, x):
                calls.append(None)
                if len(calls) == 2000:
                    print("ready")
                out[...] = np.asarray(x) + 1

            call = bufcb.buffer_callback(step, jax.ShapeDtypeStruct((4,), jnp.float32))
            function = jax.jit(lambda n, x: jax.lax.fori_loop(0, n, lambda _, v: call(v), x))
            try:
                jax.block_until_ready(function(50_000_000, jnp.ones(4)))
            except BaseException as error:
                print("interrupted", "KeyboardInterrupt" in type(error).__name__ + str(error))
            print(function(3, jnp.ones(4)))
        """)
        assert status == 0, printed
        assert "interrupted True" in printed
        assert "[4. 4. 4. 4.]" in printed
        assert seconds < 20


class TestCallingBack:
    """A callback that calls JAX, or another callback."""

    def test_jax_in_a_buffer_callback(self) -> None:
        inner = jax.jit(lambda x: jnp.sin(x) * 2)

        def into(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(inner(np.array(x)) + jnp.ones(4))

        function = jax.jit(bufcb.buffer_callback(into, F4))
        for _ in range(20):
            np.testing.assert_allclose(function(jnp.ones(4)), np.full(4, np.sin(1) * 2 + 1), rtol=1e-6)

    @pytest.mark.parametrize("depth", [1, 2, 8])
    def test_recursion_into_other_buffer_callbacks(self, depth: int) -> None:
        def nested(level: int) -> Callable[[Any], Any]:
            def into(ctx: Any, out: Any, x: Any) -> None:
                below = np.asarray(x) if level == 0 else np.asarray(nested(level - 1)(np.array(x)))
                out[...] = below + 1

            return jax.jit(bufcb.buffer_callback(into, F4))

        np.testing.assert_array_equal(nested(depth)(jnp.ones(4)), np.full(4, depth + 2))

    def test_a_callback_that_calls_itself(self) -> None:
        def factorial(ctx: Any, out: Any, n: Any) -> None:
            value = float(n)
            below = 1.0 if value <= 1 else float(function(np.float32(value - 1)))
            out[...] = np.float32(value * below)

        function = jax.jit(bufcb.buffer_callback(factorial, SCALAR))
        assert float(function(np.float32(1))) == 1  # JAX refuses to begin a function anew in its first call
        assert float(function(np.float32(6))) == 720

    def test_a_callback_that_traces_itself_under_transforms(self) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            double = bufcb.buffer_callback(
                bufcb.adapt(lambda x: np.asarray(x) * 2), SCALAR, vmap_method="sequential"
            )
            out[...] = np.asarray(jax.vmap(double)(np.array(x)))

        np.testing.assert_array_equal(jax.jit(bufcb.buffer_callback(into, F4))(jnp.ones(4)), np.full(4, 2))

    def test_a_failure_in_the_inner_call_is_told_by_the_outer(self) -> None:
        def outer(ctx: Any, out: Any, x: Any) -> None:
            jax.block_until_ready(jax.jit(buffered)(np.array(x)))

        with pytest.raises(FAILURES, match="Trouble: no such luck, 17") as seen:
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(outer, F4))(jnp.ones(4)))
        assert "in outer" in str(seen.value)

    def test_a_failure_in_the_inner_call_may_be_caught(self) -> None:
        def outer(ctx: Any, out: Any, x: Any) -> None:
            with pytest.raises(FAILURES, match="Trouble"):
                jax.block_until_ready(jax.jit(buffered)(np.array(x)))
            out[...] = np.asarray(x)

        function = jax.jit(bufcb.buffer_callback(outer, F4))
        for _ in range(3):
            np.testing.assert_array_equal(function(jnp.ones(4)), np.ones(4))


@pytest.mark.parametrize("kind", ["one function", "a function each", "compiled in each", "eager"])
def test_eight_threads_at_once(kind: str) -> None:
    together = threading.Barrier(8, timeout=60)
    lock, calls = threading.Lock(), []

    def into(ctx: Any, out: Any, x: Any) -> None:
        with lock:
            calls.append(None)
        out[...] = np.asarray(x) + 1

    def make() -> Callable[[Any], Any]:
        if kind == "eager":
            return bufcb.buffer_callback(into, F4)
        own = functools.partial(into) if kind == "compiled in each" else into
        return jax.jit(bufcb.buffer_callback(own, F4))

    shared = make()

    def work(thread: int) -> bool:
        function = shared if kind == "one function" else make()
        together.wait()
        values = [float(thread * 100 + i) for i in range(25)]
        return all(np.asarray(function(jnp.full(4, v))).tolist() == [v + 1] * 4 for v in values)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [True] * 8
    assert len(calls) == 200


def test_eight_threads_of_which_some_fail() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        if x[0] % 2:
            raise Trouble(f"odd: {float(x[0])}")
        out[...] = np.asarray(x)

    function = jax.jit(bufcb.buffer_callback(into, F4))

    def work(value: int) -> str:
        try:
            result = np.asarray(function(jnp.full(4, float(value))))
        except FAILURES as error:
            return "failed" if f"Trouble: odd: {float(value)}" in str(error) else str(error)
        return "right" if result.tolist() == [value] * 4 else "wrong"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(80))) == ["right", "failed"] * 40


class TestLifetime:
    """Compiled code keeps its callback, and nothing else does."""

    def compiled(self, factor: float) -> tuple[Any, "weakref.ref[Any]"]:
        def into(ctx: Any, out: Any, x: Any) -> None:
            out[...] = np.asarray(x) * np.float32(factor)

        return jax.jit(bufcb.buffer_callback(into, F4)).lower(jnp.ones(4)).compile(), weakref.ref(into)

    def test_a_callback_that_only_compiled_code_holds(self) -> None:
        held = [self.compiled(factor) for factor in (2.0, 3.0, 5.0)]
        for _ in range(3):
            gc.collect()
            for (compiled, _), factor in zip(held, (2, 3, 5), strict=True):
                np.testing.assert_array_equal(compiled(jnp.ones(4)), np.full(4, factor))

    def test_collected_while_a_loop_runs(self) -> None:
        def start() -> Any:
            def into(ctx: Any, out: Any, x: Any) -> None:
                gc.collect(0)
                out[...] = np.asarray(x) + 1

            call = bufcb.buffer_callback(into, F4)
            return jax.jit(lambda x: lax.fori_loop(0, 200, lambda _, v: call(v), x))(jnp.zeros(4))

        result = start()
        gc.collect()
        np.testing.assert_array_equal(result, np.full(4, 200))

    def test_it_is_released_with_the_compiled_code(self) -> None:
        compiled, callback = self.compiled(2.0)
        jax.block_until_ready(compiled(jnp.ones(4)))
        assert callback() is not None
        del compiled
        jax.clear_caches()
        for _ in range(3):
            gc.collect()
        assert callback() is None


SOAK = """
    import sys
    from benchmarks.soak import growth
    for kind in ("eager", "jit"):
        print(kind, growth(kind, 5_000, 20_000))
"""


def test_memory_does_not_grow_with_calls(script: Script) -> None:
    """A bounded `python -m benchmarks.soak`; a leak of one small object a call would be 1 MB and more."""
    done = script(SOAK)
    assert done.returncode == 0, done.stderr
    grown = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    assert set(grown) == {"eager", "jit"}
    assert max(grown.values()) < 1_000_000, grown


class TestEarlierBuffers:
    """A buffer kept from an earlier call, which `retain="raise"` refuses, is never a way to crash."""

    def keep_all(self, **options: Any) -> tuple[Any, list[Any]]:
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            kept.append((ctx, out, x))
            out[...] = np.asarray(x)

        return jax.jit(bufcb.buffer_callback(keep, F4, **options)), kept

    def test_reading_and_writing_copies_of_earlier_calls(self) -> None:
        function, kept = self.keep_all(retain="copy")
        for value in (1.0, 2.0, 3.0):
            jax.block_until_ready(function(jnp.full(4, value)))
        assert [float(x[0]) for _, _, x in kept] == [1, 2, 3]
        result = function(jnp.full(4, 4.0))
        kept[-1][1][...] = np.zeros(4, np.float32)  # the copy of an output, whose results are out already
        np.testing.assert_array_equal(result, np.full(4, 4))

    def test_the_error_comes_each_time_and_later_calls_are_right(self) -> None:
        function, kept = self.keep_all()
        for _ in range(5):
            with pytest.raises(FAILURES, match=r"np\.array\(x\)"):
                jax.block_until_ready(function(jnp.ones(4)))
        other = jax.jit(bufcb.buffer_callback(lambda ctx, out, x: np.copyto(out, x), F4))
        np.testing.assert_array_equal(other(jnp.full(4, 3.0)), np.full(4, 3))
        assert len(kept) == 5

    def test_the_context_of_an_earlier_call(self, script: Script) -> None:
        """XLA's context is valid during the call only."""
        done = script("""
            import jax, jax.numpy as jnp, numpy as np, bufcb
            kept = []
            def keep(ctx, out, x):
                kept.append(ctx)
                out[...] = np.asarray(x)
            function = jax.jit(bufcb.buffer_callback(keep, jax.ShapeDtypeStruct((4,), jnp.float32)))
            for value in (1.0, 2.0):
                print(float(function(jnp.full(4, value))[0]))
            print(len(kept))
        """)
        assert (done.returncode, done.stdout.split()) == (0, ["1.0", "2.0", "2"]), done.stderr


class TestFreeThreaded:
    """Without the GIL, reference counts do not tell whether a buffer was kept: callbacks work on copies."""

    def test_copies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(buffers, "FREE_THREADED", True)
        kept: list[Any] = []

        def keep(ctx: Any, out: Any, x: Any) -> None:
            kept.append(x)
            out[...] = np.asarray(x) + 1

        function = jax.jit(bufcb.buffer_callback(keep, F4))
        for value in (1.0, 2.0, 3.0):
            np.testing.assert_array_equal(function(jnp.full(4, value)), np.full(4, value + 1))
        assert [np.asarray(x).tolist() for x in kept] == [[value] * 4 for value in (1, 2, 3)]

    def test_aliases(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(buffers, "FREE_THREADED", True)

        def add(ctx: Any, out: Any, x: Any) -> None:
            out += 1

        call = bufcb.buffer_callback(add, F4, input_output_aliases={0: 0})
        function = jax.jit(lambda x: lax.fori_loop(0, 5, lambda _, v: call(v), x))
        np.testing.assert_array_equal(function(jnp.zeros(4)), np.full(4, 5))

    def test_it_is_detected(self) -> None:
        assert buffers.FREE_THREADED is not getattr(sys, "_is_gil_enabled", lambda: True)()
