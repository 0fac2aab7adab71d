"""Where `bufcb.buffer_callback` differs from JAX's own `buffer_callback`, each difference shown on both.

A row's check passes on `bufcb` and fails on JAX's own, in the way that the row says. When JAX mends one of
them, the second test of that row fails and says so.
"""

import contextlib
import dataclasses
import functools
import subprocess
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.buffer_callback import buffer_callback as upstream_buffer_callback

import bufcb

Script = Callable[..., "subprocess.CompletedProcess[str]"]
BufferCallback = Callable[..., Callable[..., Any]]
Check = Callable[[BufferCallback], None]

VECTOR = jax.ShapeDtypeStruct((4,), jnp.float32)
NOT_RAISED = (pytest.fail.Exception, "DID NOT RAISE")


@dataclasses.dataclass(frozen=True)
class Row:
    """One difference: the check, and how it fails on JAX's own implementation."""

    name: str
    check: Check
    upstream_error: type[BaseException]
    upstream_text: str


ROWS: list[Row] = []


def row(name: str, error: type[BaseException], text: str) -> Callable[[Check], Check]:
    """Registers a check under `name` with the error and text that JAX's own implementation fails it by."""

    def register(check: Check) -> Check:
        ROWS.append(Row(name, check, error, text))
        return check

    return register


def copy_into(ctx: Any, out: Any, x: Any) -> None:
    np.asarray(out)[...] = np.asarray(x)


def nothing(ctx: Any, out: Any, *args: Any, **kwargs: Any) -> None:
    pass


def run(call: Callable[..., Any], *args: Any) -> Any:
    """Calls and waits, so that an error of the callback is raised here."""
    return jax.block_until_ready(call(*args))


@row("1-inputs-are-read-only", *NOT_RAISED)
def inputs_are_read_only(buffer_callback: BufferCallback) -> None:
    def increment(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(x)
        view += 1
        np.asarray(out)[...] = view

    x = jnp.arange(4, dtype=jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="read-only"):
        run(buffer_callback(increment, VECTOR), x)
    np.testing.assert_array_equal(x, [0, 1, 2, 3])


@row("1-the-caller's-array-stays", AssertionError, "Mismatched elements: 4 / 4")
def callers_array_stays(buffer_callback: BufferCallback) -> None:
    def increment(ctx: Any, out: Any, x: Any) -> None:
        with contextlib.suppress(ValueError):
            np.asarray(x)[...] += 1
        np.asarray(out)[...] = 0

    x = jnp.arange(4, dtype=jnp.float32)
    run(jax.jit(buffer_callback(increment, VECTOR)), x)
    np.testing.assert_array_equal(x, [0, 1, 2, 3])


@row("2-a-kept-view-is-an-error", *NOT_RAISED)
def kept_view_is_an_error(buffer_callback: BufferCallback) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(np.asarray(x))
        np.asarray(out)[...] = 0

    with pytest.raises(jax.errors.JaxRuntimeError, match=r"\bx\b[^$]*np\.array\(x\)"):
        run(jax.jit(buffer_callback(keep, VECTOR)), jnp.ones(4))


@row("4-aliases-count-flattened-inputs", ValueError, r"input index 1 outside the range \[0, 1\)")
def aliases_count_flattened_inputs(buffer_callback: BufferCallback) -> None:
    def add_first(ctx: Any, out: Any, pair: Any) -> None:
        np.asarray(out)[...] += np.asarray(pair[0])  # starts from the aliased pair[1]

    call = buffer_callback(add_first, VECTOR, input_output_aliases={1: 0})
    result = run(call, (jnp.ones(4), jnp.full(4, 10.0)))
    np.testing.assert_array_equal(result, np.full(4, 11.0))


@row("4-negative-input-index", AssertionError, "Regex pattern did not match")
def negative_input_index(buffer_callback: BufferCallback) -> None:
    call = buffer_callback(copy_into, VECTOR, input_output_aliases={-1: 0})
    with pytest.raises(ValueError, match=r"input index -1 outside the range \[0, 1\)"):
        run(jax.jit(call), jnp.ones(4))


@row("4-negative-output-index", *NOT_RAISED)
def negative_output_index(buffer_callback: BufferCallback) -> None:
    call = buffer_callback(copy_into, VECTOR, input_output_aliases={0: -1})
    with pytest.raises(ValueError, match=r"output index -1 outside the range \[0, 1\)"):
        run(jax.jit(call), jnp.ones(4))


def unbatched_aliased_operand(buffer_callback: BufferCallback, vmap_method: str) -> None:
    def add_second(ctx: Any, out: Any, x: Any, y: Any) -> None:
        np.asarray(out)[...] += np.asarray(y)  # starts from the aliased x

    call = buffer_callback(add_second, VECTOR, input_output_aliases={0: 0}, vmap_method=vmap_method)
    x, y = jnp.full(4, 10.0), jnp.arange(12.0).reshape(3, 4)
    result = run(jax.vmap(call, in_axes=(None, 0)), x, y)
    np.testing.assert_array_equal(result, x + y)


@row("5-unbatched-aliased-operand-expand-dims", ValueError, "shapes mismatch in the output_operand_alias")
def unbatched_aliased_operand_expand_dims(buffer_callback: BufferCallback) -> None:
    unbatched_aliased_operand(buffer_callback, "expand_dims")


@row("5-unbatched-aliased-operand-legacy", ValueError, "shapes mismatch in the output_operand_alias")
def unbatched_aliased_operand_legacy(buffer_callback: BufferCallback) -> None:
    unbatched_aliased_operand(buffer_callback, "legacy_vectorized")


@row("6-vmap-method-is-checked-at-the-call", *NOT_RAISED)
def vmap_method_is_checked_at_the_call(buffer_callback: BufferCallback) -> None:
    with pytest.raises(ValueError, match="vmap_method must be on of") as expected:
        jax.pure_callback(np.copy, VECTOR, jnp.ones(4), vmap_method="vectorised")
    with pytest.raises(ValueError, match="vmap_method must be on of") as seen:
        buffer_callback(copy_into, VECTOR, vmap_method="vectorised")(jnp.ones(4))
    assert str(seen.value).startswith(str(expected.value))


@row("7-64-bit-spec", *NOT_RAISED)
def wide_spec_without_x64(buffer_callback: BufferCallback) -> None:
    wide = jax.ShapeDtypeStruct((4,), np.float64)
    with pytest.raises(ValueError, match="64-bit") as expected:
        jax.pure_callback(np.copy, wide, jnp.ones(4))
    with pytest.raises(ValueError, match="64-bit") as seen:
        buffer_callback(nothing, wide)(jnp.ones(4))
    assert str(seen.value).startswith(str(expected.value))


@row("8-typed-key", *NOT_RAISED)
def typed_key(buffer_callback: BufferCallback) -> None:
    with pytest.raises(TypeError, match=r"jax\.random\.key_data"):
        run(buffer_callback(nothing, VECTOR), jax.random.key(0))


@row("9-np-array-copies", jax.errors.JaxRuntimeError, "__array__ with copy=True is not supported")
def np_array_copies(buffer_callback: BufferCallback) -> None:
    def doubled(ctx: Any, out: Any, x: Any) -> None:
        copied = np.array(x)
        assert copied.flags.owndata
        assert copied.flags.writeable
        copied *= 2
        np.asarray(out)[...] = copied

    x = jnp.arange(4, dtype=jnp.float32)
    np.testing.assert_array_equal(run(buffer_callback(doubled, VECTOR), x), [0, 2, 4, 6])
    np.testing.assert_array_equal(x, [0, 1, 2, 3])


@row("9-np-asarray-converts", jax.errors.JaxRuntimeError, "__array__")
def np_asarray_converts(buffer_callback: BufferCallback) -> None:
    def halved(ctx: Any, out: Any, x: Any) -> None:
        wide = np.asarray(x, dtype=np.float64)
        assert wide.dtype == np.float64
        np.asarray(out)[...] = wide / 2

    result = run(buffer_callback(halved, VECTOR), jnp.arange(4, dtype=jnp.float32))
    np.testing.assert_array_equal(result, [0, 0.5, 1, 1.5])


@row("9-array-protocol-refuses-a-needed-copy", jax.errors.JaxRuntimeError, "__array__")
def array_protocol_refuses_a_needed_copy(buffer_callback: BufferCallback) -> None:
    def viewed(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = np.array(x, copy=False)
        with pytest.raises(ValueError, match="copy"):
            np.array(x, dtype=np.float64, copy=False)
        assert np.array(x, dtype=np.float64, copy=True).sum() == 4

    np.testing.assert_array_equal(run(buffer_callback(viewed, VECTOR), jnp.ones(4)), np.ones(4))


class Unhashable:
    """A callable with state that compares by value and so has no hash."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable) and self.factor == other.factor

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = np.asarray(x) * self.factor


@row("10-unhashable-callable", TypeError, "unhashable type")
def unhashable_callable(buffer_callback: BufferCallback) -> None:
    result = run(buffer_callback(Unhashable(3.0), VECTOR), jnp.ones(4))
    np.testing.assert_array_equal(result, np.full(4, 3.0))


@row("10-unhashable-callable-in-jit", TypeError, "not hashable")
def unhashable_callable_in_jit(buffer_callback: BufferCallback) -> None:
    result = run(jax.jit(buffer_callback(Unhashable(3.0), VECTOR)), jnp.ones(4))
    np.testing.assert_array_equal(result, np.full(4, 3.0))


def returns_a_value(ctx: Any, out: Any, x: Any) -> float:
    return 1.0


def place(function: Callable[..., Any]) -> str:
    """`file.py:line` of a function, as an error names it."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


@row("13-errors-name-the-callback", AssertionError, "assert .returns_a_value")
def errors_name_the_callback(buffer_callback: BufferCallback) -> None:
    with pytest.raises(jax.errors.JaxRuntimeError) as seen:
        run(buffer_callback(returns_a_value, VECTOR), jnp.ones(4))
    message = str(seen.value).partition("buffer_callback callback must not return any values.")[2]
    assert "returns_a_value" in message
    assert place(returns_a_value) in message


@row("13-missing-parameters-are-found-at-the-call", *NOT_RAISED)
def missing_parameters(buffer_callback: BufferCallback) -> None:
    def takes_one(ctx: Any, out: Any, x: Any) -> None:
        raise NotImplementedError("never called")

    with pytest.raises(TypeError, match="takes_one") as seen:
        jax.make_jaxpr(buffer_callback(takes_one, VECTOR))(jnp.ones(4), jnp.ones(4))
    assert place(takes_one) in str(seen.value)


@row("13-argument-that-is-no-array", AssertionError, "Regex pattern did not match")
def argument_that_is_no_array(buffer_callback: BufferCallback) -> None:
    with pytest.raises(TypeError, match="nothing"):
        buffer_callback(nothing, VECTOR)(jnp.ones(4), label="text")


@row("13-spec-that-is-no-spec", AttributeError, "has no attribute 'shape'")
def spec_that_is_no_spec(buffer_callback: BufferCallback) -> None:
    with pytest.raises((TypeError, ValueError), match="nothing"):
        buffer_callback(nothing, {"y": 3})(jnp.ones(4))


@row("14-side-effect-under-checkpoint", NotImplementedError, "Effects not supported")
def side_effect_under_checkpoint(buffer_callback: BufferCallback) -> None:
    calls: list[None] = []

    def double(ctx: Any, out: Any, x: Any) -> None:
        calls.append(None)
        np.asarray(out)[...] = np.asarray(x) * 2

    effectful = buffer_callback(double, VECTOR, has_side_effect=True)

    def loss(x: jax.Array) -> jax.Array:
        return jnp.sum(jax.lax.stop_gradient(effectful(jax.lax.stop_gradient(x))) * x)

    gradient = run(jax.grad(jax.checkpoint(loss)), jnp.arange(4, dtype=jnp.float32))
    np.testing.assert_array_equal(gradient, [0, 2, 4, 6])
    assert calls


SUB_BYTE = [name for name in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn") if hasattr(jnp, name)]


def sub_byte(buffer_callback: BufferCallback, name: str) -> None:
    values = [0, 1, 0, 1, 1, 1, 0, 0, 1]  # an odd number, and values that every one of these types has
    x = jnp.asarray(values, dtype=getattr(jnp, name))
    seen: list[list[float]] = []

    def record(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(x)
        seen.append([float(value) for value in view])
        np.asarray(out)[...] = view[::-1]

    result = run(jax.jit(buffer_callback(record, jax.ShapeDtypeStruct(x.shape, x.dtype))), x)
    assert seen == [values]
    assert result.dtype == x.dtype
    assert [float(value) for value in result] == values[::-1]


ROWS.extend(
    Row(f"16-{name}-is-widened", functools.partial(sub_byte, name=name), AssertionError, "assert .*== ")
    for name in SUB_BYTE
)

each_row = pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)


@each_row
def test_holds(case: Row) -> None:
    case.check(bufcb.buffer_callback)


@each_row
def test_fails_upstream(case: Row) -> None:
    with pytest.raises(case.upstream_error, match=case.upstream_text):
        case.check(upstream_buffer_callback)


OURS = "from bufcb import buffer_callback\n"
UPSTREAM = "from jax.experimental.buffer_callback import buffer_callback\n"

KEPT = """
import jax, jax.numpy as jnp, numpy as np
size = 1 << 24
kept = []
def keep(ctx, out, x):
    kept.append(np.asarray(x))
    np.asarray(out)[...] = 0
call = buffer_callback(keep, jax.ShapeDtypeStruct((size,), jnp.float32))
try:
    jax.block_until_ready(jax.jit(lambda x: call(x * 2) + 1)(jnp.ones(size)))
except Exception as error:
    print("error:", error)
else:
    other = jax.block_until_ready(jnp.full(size, 7.0))
    print("kept values unchanged:", bool(np.all(kept[0] == 2)))
"""


def test_row_2_reading_a_kept_view(script: Script) -> None:
    done = script(OURS + KEPT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("error:")
    assert "np.array(x)" in done.stdout


def test_row_2_reading_a_kept_view_fails_upstream(script: Script) -> None:
    done = script(UPSTREAM + KEPT)
    assert done.returncode < 0 or "unchanged: False" in done.stdout  # a crash, or other values


UNWRITTEN = """
import jax, jax.numpy as jnp, numpy as np
def forget(ctx, out, x):
    pass
spec = jax.ShapeDtypeStruct((4,), jnp.float32)
try:
    jax.block_until_ready(buffer_callback(forget, spec)(jnp.ones(4)))
except Exception as error:
    print("error:", error)
else:
    print("no error")
"""


def test_row_3_unwritten_output_in_checked_mode(script: Script) -> None:
    done = script(OURS + UNWRITTEN, BUFCB_CHECKED="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("error:")
    assert "forget" in done.stdout


def test_row_3_unwritten_output_fails_upstream(script: Script) -> None:
    assert script(UPSTREAM + UNWRITTEN, BUFCB_CHECKED="1").stdout.strip() == "no error"


def test_row_3_is_off_by_default(script: Script) -> None:
    assert script(OURS + UNWRITTEN, BUFCB_CHECKED="").stdout.strip() == "no error"
