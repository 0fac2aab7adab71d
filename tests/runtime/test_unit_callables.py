"""Callbacks compared, named and called: `bufcb.callables`."""

import copy
import dataclasses
import enum
import functools
import pickle
from typing import Any

import jax
import numpy as np
import pytest

import bufcb.testing
from bufcb.callables import Callback, argument_names, check_signature, describe
from bufcb.keys import callable_key
from bufcb.recording import identity


def scale(factor: Any, ctx: Any, out: Any, x: Any) -> None:
    raise NotImplementedError("never called")


class Solver:
    def solve(self, ctx: Any, out: Any, x: Any) -> None:
        raise NotImplementedError("never called")

    def __call__(self, ctx: Any, out: Any, x: Any) -> None:
        raise NotImplementedError("never called")


class Unhashable(Solver):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Options:
    width: int
    note: str = dataclasses.field(default="", compare=False)

    def __call__(self, x: Any) -> Any:
        return x * self.width, self.note


PARTS = [1, 1.0, True, "1", b"1", None, 0.0, -0.0, 1j, (1,), (1.0,), (True,), np.float32(0), np.float32(-0.0)]
PARTS += [np.int8(1), Colour.RED, Options(1), frozenset({1}), frozenset({1.0}), np.dtype("f4"), len, abs]


@pytest.mark.parametrize("i", range(len(PARTS)))
def test_partials_differ_if_their_arguments_do(i: int) -> None:
    keys = [callable_key(functools.partial(scale, part)) for part in PARTS]
    assert [key == keys[i] for key in keys] == [j == i for j in range(len(PARTS))]


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_equal_partials_have_equal_keys(part: Any) -> None:
    first, second = (callable_key(functools.partial(scale, part, extra=part)) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


def test_partials_of_unhashable_arguments_are_equal_to_themselves_only() -> None:
    first, second = (functools.partial(scale, [1]) for _ in range(2))
    assert callable_key(first) == callable_key(first)
    assert callable_key(first) != callable_key(second)


def test_what_an_equality_leaves_out_tells_partials_apart() -> None:
    first, second = Options(1, "a"), Options(1, "b")
    assert first == second
    assert callable_key(functools.partial(scale, first)) == callable_key(functools.partial(scale, first))
    assert callable_key(functools.partial(scale, first)) != callable_key(functools.partial(scale, second))
    assert callable_key(functools.partial(first)) != callable_key(functools.partial(second))
    assert callable_key(functools.partial(scale, (first,))) != callable_key(
        functools.partial(scale, (second,))
    )


def test_unhashable_callables_go_by_identity() -> None:
    first, second = Unhashable(), Unhashable()
    assert callable_key(first) == callable_key(first)
    assert hash(callable_key(first)) == hash(callable_key(first))
    assert callable_key(first) != callable_key(second)


def test_bound_methods_are_equal_by_object() -> None:
    solver = Solver()
    assert Callback.of(solver.solve) == Callback.of(solver.solve)
    assert Callback.of(solver.solve) != Callback.of(Solver().solve)


def test_adapted_functions_are_equal_if_their_functions_are() -> None:
    assert bufcb.adapt(np.sin) == bufcb.adapt(np.sin)
    assert hash(bufcb.adapt(np.sin)) == hash(bufcb.adapt(np.sin))
    assert bufcb.adapt(np.sin) != bufcb.adapt(np.cos)
    assert bufcb.adapt(np.sin) != bufcb.adapt(np.sin, arrays="jax")
    solver = Unhashable()
    assert bufcb.adapt(solver) == bufcb.adapt(solver)
    assert bufcb.adapt(solver) != bufcb.adapt(Unhashable())


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (scale, "`scale` ("),
        (functools.partial(scale, 2), "`scale` ("),
        (Solver().solve, "`Solver.solve` ("),
        (Solver(), "`Solver` ("),
        (bufcb.adapt(scale), "`scale` ("),
        (bufcb.adapt(functools.partial(scale, 2), arrays="jax"), "`scale` ("),
    ],
)
def test_names_and_places(function: Any, name: str) -> None:
    text = describe(function)
    assert text.startswith(name)
    assert __file__ in text
    assert text.endswith(")")


def test_names_without_a_place() -> None:
    assert describe(np.sin) == "`sin`"
    assert describe(len) == "`len`"


class Evasive:
    """An object that answers no question about itself."""

    def __call__(self, ctx: Any, out: Any, x: Any) -> None:
        out[...] = x

    def __getattr__(self, name: str) -> Any:
        raise LookupError(name)


def wrapping_itself() -> Any:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = x

    into.__wrapped__ = into  # type: ignore[attr-defined]
    return into


@pytest.mark.parametrize(
    ("make", "name"), [(wrapping_itself, "wrapping_itself.<locals>.into"), (Evasive, "Evasive")]
)
def test_a_callback_that_is_hard_to_ask_is_named_and_called(make: Any, name: str) -> None:
    callback, spec = make(), jax.ShapeDtypeStruct((), np.float32)
    assert describe(callback).startswith(f"`{name}` ({__file__}:")
    assert identity(callback)["name"].startswith(name)
    assert bufcb.buffer_callback(callback, spec)(np.float32(2)) == 2


def test_a_callback_that_wraps_itself_is_named_in_errors() -> None:
    with pytest.raises(TypeError, match=r"callback `wrapping_itself\.<locals>\.into` "):
        check_signature(wrapping_itself(), (1, 2), {})


def test_a_wrapper_goes_by_its_own_parameters() -> None:
    def host(x: Any) -> Any:
        raise NotImplementedError("never called")

    @functools.wraps(host)
    def into(ctx: Any, out: Any, x: Any) -> None:
        raise NotImplementedError("never called")

    check_signature(into, (1,), {})
    with pytest.raises(TypeError, match="host"):
        check_signature(host, (1,), {})


def test_callables_without_a_signature_pass() -> None:
    check_signature(np.frombuffer, (1,), {})
    check_signature(type, (1,), {})


def test_argument_names() -> None:
    def into(ctx: Any, out: Any, x: Any, *rest: Any, scale: Any) -> None:
        raise NotImplementedError("never called")

    names = argument_names(into, ({"a": 1, "b": [2, 3]}, 4), {"scale": (5,)})
    assert names == [
        "argument `x['a']` (args[0]['a'])",
        "argument `x['b'][0]` (args[0]['b'][0])",
        "argument `x['b'][1]` (args[0]['b'][1])",
        "argument (args[1])",
        "argument `scale[0]`",
    ]
    assert argument_names(bufcb.adapt(lambda x: x), (1,), {}) == ["argument `x` (args[0])"]
    assert argument_names(bufcb.adapt(np.sin), (1,), {})[0].endswith("(args[0])")


def test_a_changed_copy_is_of_the_function_that_it_has() -> None:
    adapted = bufcb.adapt(np.sin)
    changed = dataclasses.replace(adapted, function=np.cos)  # type: ignore[type-var]
    assert changed == bufcb.adapt(np.cos)
    assert changed != adapted


class Shift:
    """A callable that cannot be hashed, whose state a copy has for itself."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.by = [1]

    def __call__(self, x: Any) -> Any:
        return x + self.by[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shift)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("make", [Shift, lambda: functools.partial(Shift())])
def test_a_copy_of_what_cannot_be_hashed_is_another(copied: Any, make: Any) -> None:
    adapted = bufcb.adapt(make())
    other = copied(adapted)
    assert other != adapted
    assert copy.copy(other) == other
    assert bufcb.testing.dry_run(other, jax.ShapeDtypeStruct((), np.int32), np.int32(1)) == 2
