"""What a callback is told that writes into one of its inputs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb
import bufcb.testing

SPEC = jax.ShapeDtypeStruct((3,), jnp.float32)
ARGUMENTS = (jnp.arange(3, dtype=jnp.float32), {"scale": jnp.ones(3), "shift": jnp.zeros(3)})
X = "argument `x` (args[0])"
SCALE, SHIFT = (f"argument `w['{name}']` (args[1]['{name}'])" for name in ("scale", "shift"))

Call = Callable[..., Any]
CASES: list[tuple[Call, str]] = []


def case(*names: str) -> Callable[[Call], Call]:
    """Adds a callback that writes into inputs of these names."""

    def add(callback: Call) -> Call:
        CASES.append((callback, " or ".join(names)))
        return callback

    return add


def fill(array: Any, value: Any) -> None:
    array[...] = value


@case(X)
def an_element(ctx: Any, out: Any, x: Any, w: Any) -> None:
    x[0] = w["scale"][0]


@case(X)
def in_place_arithmetic(ctx: Any, out: Any, x: Any, w: Any) -> None:
    x = np.asarray(x)
    x += np.asarray(w["scale"])


@case(SHIFT)
def a_view_in_another_function(ctx: Any, out: Any, x: Any, w: Any) -> None:
    part = np.asarray(w["shift"])[1:]
    fill(part, x[0])


@case(X)
def the_output_of_a_function(ctx: Any, out: Any, x: Any, w: Any) -> None:
    np.add(w["scale"], 1, out=np.asarray(x))


@case(X)
def a_method(ctx: Any, out: Any, x: Any, w: Any) -> None:
    np.asarray(x).sort()


@case(X)
def a_flag(ctx: Any, out: Any, x: Any, w: Any) -> None:
    np.asarray(x).setflags(write=True)


@case(X)
def a_memoryview(ctx: Any, out: Any, x: Any, w: Any) -> None:
    memoryview(np.asarray(x))[0] = 1.0


@case(X, SHIFT)
def one_of_two(ctx: Any, out: Any, x: Any, w: Any) -> None:
    shift = w["shift"]
    np.put(np.asarray(x), [0], np.asarray(shift))


@case(X)
def a_function_that_writes_into_its_first_argument(ctx: Any, out: Any, x: Any, w: Any) -> None:
    shift = w["shift"]
    np.copyto(np.asarray(x), np.asarray(shift))


@case(SCALE, SHIFT)
def one_of_a_dict(ctx: Any, out: Any, x: Any, w: Any) -> None:
    w["scale"][0] = 1


@case(X, SCALE, SHIFT)
def code_without_a_source(ctx: Any, out: Any, x: Any, w: Any) -> None:
    exec("x[0] = 1")


def error_of(call: Call, *arguments: Any) -> str:
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError, TypeError)) as caught:
        jax.block_until_ready(call(*arguments))
    return str(caught.value)


def remedy(callback: Call, names: str) -> str:
    place = f"`{callback.__qualname__}` ({__file__}:{callback.__code__.co_firstlineno})"
    return (
        f"Inputs of callback {place} are read-only, since they belong to the caller. "
        f"{names}, copy it first: `x = np.array(x)`."
    )


@pytest.mark.parametrize(("callback", "names"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_error_names_the_argument_and_the_remedy(callback: Call, names: str) -> None:
    text = error_of(bufcb.buffer_callback(callback, SPEC), *ARGUMENTS)
    assert remedy(callback, f"To change its {names}") in text.splitlines()


WAYS: dict[str, Call] = {
    "jit": lambda callback: jax.jit(bufcb.buffer_callback(callback, SPEC)),
    "copies": lambda callback: bufcb.buffer_callback(callback, SPEC, retain="copy"),
    "host path": lambda callback: bufcb.buffer_callback(
        callback, SPEC, sharding=jax.sharding.SingleDeviceSharding(jax.devices()[0])
    ),
    "dry run": lambda callback: lambda *args: bufcb.testing.dry_run(callback, SPEC, *args),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_does_so_on_every_path(way: str) -> None:
    text = error_of(WAYS[way](in_place_arithmetic), *ARGUMENTS)
    assert remedy(in_place_arithmetic, f"To change its {X}") in text.splitlines()


def test_adapted_functions_are_told_as_well() -> None:
    def sort(x: Any) -> Any:
        x.sort()

    text = error_of(bufcb.buffer_callback(bufcb.adapt(sort), SPEC), ARGUMENTS[0])
    assert remedy(sort, f"To change its {X}") in text.splitlines()


def test_small_types_are_told_as_well() -> None:
    def write(ctx: Any, out: Any, x: Any) -> None:
        x[0] = 1

    text = error_of(bufcb.buffer_callback(write, SPEC), jnp.zeros(3, jnp.int4))
    assert remedy(write, f"To change its {X}") in text.splitlines()


@jax.tree_util.register_pytree_node_class
class Strict:
    """A node that takes nothing but arrays."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        return (self.array,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Any]) -> Any:
        children[0].shape  # noqa: B018
        return cls(*children)


def test_an_argument_that_cannot_be_named_leaves_the_error() -> None:
    def write(ctx: Any, out: Any, x: Any) -> None:
        array = x.array
        array[0] = 1

    text = error_of(bufcb.buffer_callback(write, SPEC), Strict(ARGUMENTS[0]))
    assert remedy(write, "If this is one of them") in text.splitlines()


def test_of_another_read_only_array_nothing_is_claimed() -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.broadcast_to(np.float32(0), (3,))[0] = 1

    text = error_of(bufcb.buffer_callback(into, SPEC), ARGUMENTS[0])
    assert remedy(into, "If this is one of them") in text.splitlines()


@pytest.mark.parametrize(
    "error", [ValueError("the file is read-only"), OSError("array is read-only"), ValueError()]
)
def test_other_errors_stay_as_they_are(error: Exception) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        raise error

    assert "Inputs of callback" not in error_of(bufcb.buffer_callback(into, SPEC), ARGUMENTS[0])
    with pytest.raises(type(error)) as caught:
        bufcb.testing.dry_run(into, SPEC, ARGUMENTS[0])
    assert caught.value is error
