"""The result rules of `jax.pure_callback`, compared side by side with all of `bufcb` that keeps them."""

import collections
import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bufcb

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
I4 = jax.ShapeDtypeStruct((4,), jnp.int32)
SCALAR = jax.ShapeDtypeStruct((), jnp.float32)
EMPTY = jax.ShapeDtypeStruct((0, 3), jnp.float32)

Function = Callable[..., Any]


def by_adapt(function: Function, spec: Any, x: Any) -> Any:
    return bufcb.buffer_callback(bufcb.adapt(function), spec)(x)


def by_adapt_jax(function: Function, spec: Any, x: Any) -> Any:
    return bufcb.buffer_callback(bufcb.adapt(function, arrays="jax"), spec)(x)


def by_pure_callback(function: Function, spec: Any, x: Any) -> Any:
    return bufcb.pure_callback(function, spec, x)


def by_store(function: Function, spec: Any, x: Any) -> Any:
    def into(ctx: Any, out: Any, x: Any) -> None:
        bufcb.store(out, function(x))

    return bufcb.buffer_callback(into, spec)(x)


def by_write(function: Function, spec: Any, x: Any) -> Any:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = function(x)

    return bufcb.buffer_callback(into, spec)(x)


EVERY_WAY = (by_adapt, by_adapt_jax, by_pure_callback, by_store)
each_way = pytest.mark.parametrize("way", EVERY_WAY)
each_mode = pytest.mark.parametrize("mode", [lambda call: call, jax.jit], ids=["eager", "jit"])

# Ends where pure_callback's text ends: what bufcb adds (the callback, the leaf) comes after it.
ERROR_LINE = re.compile(
    r"Mismatched number of outputs from callback\. Expected: \d+, Actual: \d+"
    r"|Incorrect output shape for return value #\d+: Expected: \(.*?\), Actual: \(.*?\)"
    r"|Incorrect output dtype for return value #\d+: Expected: \w+, Actual: \w+"
    r"|Dtype .+? is not a valid JAX array type\. Only arrays of numeric types are supported by JAX\."
)


def outcome(call: Function, x: Any) -> tuple[str, Any]:
    """What a call comes to: its results, or its error's class and the sentence that says why."""
    try:
        results = jax.block_until_ready(call(x))
    except Exception as error:  # noqa: BLE001
        reason = ERROR_LINE.search(str(error))
        return "error", (type(error), reason and reason[0])
    leaves, structure = jax.tree.flatten(results)
    return "results", (structure, [(leaf.shape, leaf.dtype, np.asarray(leaf).tobytes()) for leaf in leaves])


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Wrapped:
    """An object that NumPy can convert and JAX does not know."""

    values: list[float]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype or np.float32)


RETURNED: dict[str, tuple[Any, Function]] = {
    "exact": (F4, lambda x: np.asarray(x) * 2),
    "jax array": (F4, lambda x: jnp.asarray(np.array(x)) * 2),
    "float64 for float32": (F4, lambda x: np.asarray(x, dtype=np.float64) * 2),
    "float16 for float32": (F4, lambda x: np.asarray(x, dtype=np.float16)),
    "int64 for int32": (I4, lambda x: np.arange(4, dtype=np.int64)),
    "uint64 for int32": (I4, lambda x: np.arange(4, dtype=np.uint64)),
    "int for float": (F4, lambda x: np.arange(4, dtype=np.int32)),
    "bool for float": (F4, lambda x: np.ones(4, dtype=bool)),
    "complex128 for complex64": (jax.ShapeDtypeStruct((4,), jnp.complex64), lambda x: np.ones(4) * 1j),
    "python float": (SCALAR, lambda x: 1.5),
    "python int for float": (SCALAR, lambda x: 1),
    "python int for int": (jax.ShapeDtypeStruct((), jnp.int32), lambda x: 7),
    "python bool": (jax.ShapeDtypeStruct((), jnp.bool_), lambda x: True),
    "python complex": (jax.ShapeDtypeStruct((), jnp.complex64), lambda x: 1j),
    "numpy scalar": (SCALAR, lambda x: np.float64(2.5)),
    "scalar for vector": (F4, lambda x: np.float32(1)),
    "vector for scalar": (SCALAR, lambda x: np.ones(4, np.float32)),
    "one element for scalar": (SCALAR, lambda x: np.ones(1, np.float32)),
    "wrong length": (F4, lambda x: np.ones(3, np.float32)),
    "broadcastable": (F4, lambda x: np.ones(1, np.float32)),
    "row for vector": (F4, lambda x: np.ones((1, 4), np.float32)),
    "wrong shape and dtype": (F4, lambda x: np.ones(3, np.int8)),
    "list for array": (F4, lambda x: [1.0, 2.0, 3.0, 4.0]),
    "list of one array": (F4, lambda x: [np.ones(4, np.float32)]),
    "tuple of one array": (F4, lambda x: (np.ones(4, np.float32),)),
    "nothing": (F4, lambda x: None),
    "nothing for no output": ((), lambda x: None),
    "empty list for no output": ((), lambda x: []),
    "value for no output": ((), lambda x: 1.0),
    "pair": ((F4, I4), lambda x: (np.asarray(x), np.arange(4, dtype=np.int32))),
    "list for a pair": ((F4, I4), lambda x: [np.asarray(x), np.arange(4, dtype=np.int32)]),
    "pair in the wrong order": ((F4, I4), lambda x: (np.arange(4, dtype=np.int32), np.asarray(x))),
    "second of the wrong shape": ((F4, I4), lambda x: (np.asarray(x), np.arange(3, dtype=np.int32))),
    "one for a pair": ((F4, F4), lambda x: np.ones((2, 4), np.float32)),
    "three for a pair": ((F4, F4), lambda x: (x, x, x)),
    "dict": ({"b": F4, "a": I4}, lambda x: {"a": np.arange(4, dtype=np.int32), "b": np.asarray(x)}),
    "dict for a pair": ((I4, F4), lambda x: {"b": np.asarray(x), "a": np.arange(4, dtype=np.int32)}),
    "namedtuple for a pair": ((F4, F4), lambda x: Pair(np.asarray(x), np.asarray(x) + 1)),
    "nested": (({"a": [F4]}, None, SCALAR), lambda x: ({"a": [np.asarray(x)]}, None, 2.0)),
    "flat for nested": (({"a": [F4]}, None, SCALAR), lambda x: [np.asarray(x), 2.0]),
    "pair with None": ((F4, F4), lambda x: (np.asarray(x), None)),
    "zero size": (EMPTY, lambda x: np.zeros((0, 3), np.float32)),
    "other zero size": (EMPTY, lambda x: np.zeros((3, 0), np.float32)),
    "object with __array__": (F4, lambda x: Wrapped([1, 2, 3, 4])),
    "fortran order": (
        jax.ShapeDtypeStruct((2, 3), jnp.float32),
        lambda x: np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    ),
    "reversed view": (F4, lambda x: np.asarray(x)[::-1]),
    "its argument": (F4, lambda x: x),
    "view of its argument": (SCALAR, lambda x: np.asarray(x)[1]),
    "big endian": (F4, lambda x: np.arange(4, dtype=">f4")),
    "bfloat16": (
        jax.ShapeDtypeStruct((4,), jnp.bfloat16),
        lambda x: np.asarray(x).astype(jnp.bfloat16),
    ),
    "masked array": (F4, lambda x: np.ma.masked_array(np.asarray(x), mask=[0, 1, 0, 1])),
    "text": (F4, lambda x: "text"),
    "object array": (F4, lambda x: np.array([1, "a", None, 2], dtype=object)),
    "structured array": (F4, lambda x: np.zeros(4, [("a", np.float32)])),
    "raw bytes": (F4, lambda x: np.zeros(4, "V4")),
    "long double": (F4, lambda x: np.ones(4, np.longdouble)),
    "complex long double": (F4, lambda x: np.ones(4, np.clongdouble)),
}


@functools.cache
def under_pure_callback(case: str, jit: bool) -> tuple[str, Any]:
    """What `jax.pure_callback` makes of a case."""
    spec, function = RETURNED[case]
    mode = jax.jit if jit else lambda call: call
    return outcome(mode(lambda x: jax.pure_callback(function, spec, x)), jnp.arange(4, dtype=jnp.float32))


@each_way
@pytest.mark.parametrize("case", RETURNED)
def test_as_under_pure_callback(case: str, way: Function) -> None:
    spec, function = RETURNED[case]
    x = jnp.arange(4, dtype=jnp.float32)
    assert outcome(jax.jit(lambda x: way(function, spec, x)), x) == under_pure_callback(case, True)


@pytest.mark.parametrize("case", RETURNED)
def test_as_under_pure_callback_without_jit(case: str) -> None:
    spec, function = RETURNED[case]
    x = jnp.arange(4, dtype=jnp.float32)
    assert outcome(lambda x: by_pure_callback(function, spec, x), x) == under_pure_callback(case, False)


SINGLE = [case for case, (spec, _) in RETURNED.items() if isinstance(spec, jax.ShapeDtypeStruct)]


@pytest.mark.parametrize("case", SINGLE)
def test_a_strict_write_is_as_under_pure_callback(case: str) -> None:
    spec, function = RETURNED[case]
    x = jnp.arange(4, dtype=jnp.float32)
    assert outcome(lambda x: by_write(function, spec, x), x) == under_pure_callback(case, False)


LONGER_THAN_DOUBLE = [
    kind
    for kind, double in ((np.longdouble, np.float64), (np.clongdouble, np.complex128))
    if np.dtype(kind) != double
]


def test_rejected_values_name_class_and_sentence() -> None:
    """The comparisons above are about something: these sentences do occur."""
    rejected = [
        outcome(lambda x, spec=spec, f=f: jax.pure_callback(f, spec, x), jnp.arange(4, dtype=jnp.float32))
        for spec, f in RETURNED.values()
    ]
    sentences = {value[1] for kind, value in rejected if kind == "error" and value[1]}
    assert {re.split(r"[.:]| #", sentence)[0] for sentence in sentences} == {
        "Mismatched number of outputs from callback",
        "Incorrect output shape for return value",
        "Incorrect output dtype for return value",
        "Dtype <U4 is not a valid JAX array type",
        "Dtype >f4 is not a valid JAX array type",
        "Dtype object is not a valid JAX array type",
        "Dtype [('a', '<f4')] is not a valid JAX array type",
        "Dtype |V4 is not a valid JAX array type",
        *(f"Dtype {np.dtype(kind)} is not a valid JAX array type" for kind in LONGER_THAN_DOUBLE),
    }


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("way", [*EVERY_WAY, by_write])
def test_64_bit_results_follow_the_mode_at_bind(enabled: bool, way: Function) -> None:
    with jax.enable_x64(enabled):
        spec = jax.ShapeDtypeStruct((4,), jnp.float64 if enabled else jnp.float32)
        result = jax.jit(lambda x: way(lambda x: np.arange(4, dtype=np.float64) / 3, spec, x))(jnp.ones(4))
        assert result.dtype == spec.dtype
        np.testing.assert_array_equal(result, (np.arange(4) / 3).astype(spec.dtype))


@pytest.mark.parametrize("way", [*EVERY_WAY, by_write])
def test_float64_for_float32_is_an_error_with_x64(way: Function) -> None:
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output dtype"):
        jax.block_until_ready(jax.jit(lambda x: way(lambda x: np.ones(4), F4, x))(jnp.ones(4, jnp.float32)))


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (("text",), {}),
        ((object(),), {}),
        ((), {"label": "text"}),
        ((), {"vmap_method": "vectorised"}),
    ],
)
def test_bad_calls_raise_what_pure_callback_raises(arguments: Any, keywords: Any) -> None:
    def host(*args: Any, **kwargs: Any) -> Any:
        return np.ones(4, np.float32)

    with pytest.raises(Exception) as expected:  # noqa: PT011
        jax.block_until_ready(jax.pure_callback(host, F4, *arguments, **keywords))
    with pytest.raises(type(expected.value)):
        jax.block_until_ready(bufcb.pure_callback(host, F4, *arguments, **keywords))


def test_pure_callback_has_the_signature_of_jax() -> None:
    import inspect

    def shape(function: Function) -> list[tuple[str, Any, Any]]:
        parameters = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in parameters]

    assert shape(bufcb.pure_callback) == shape(jax.pure_callback)


def test_pure_callback_passes_jax_arrays() -> None:
    seen: list[bool] = []

    def host(x: Any) -> Any:
        seen.append(isinstance(x, jax.Array))
        return x.at[0].set(9.0)

    result = jax.jit(lambda x: bufcb.pure_callback(host, F4, x))(jnp.zeros(4))
    np.testing.assert_array_equal(result, [9, 0, 0, 0])
    assert seen == [True]


def test_adapt_passes_plain_read_only_arrays() -> None:
    seen: list[tuple[type, bool]] = []

    def host(x: Any) -> Any:
        seen.append((type(x), x.flags.writeable))
        return x + 1

    jax.block_until_ready(by_adapt(host, F4, jnp.zeros(4)))
    assert seen == [(np.ndarray, False)]


def test_adapted_jax_arrays_may_be_kept() -> None:
    kept: list[Any] = []

    def host(x: Any) -> Any:
        kept.append(x)
        return x

    for step in range(3):
        jax.block_until_ready(jax.jit(lambda x: by_adapt_jax(host, F4, x * 2))(jnp.full(4, float(step))))
    assert [float(x[0]) for x in kept] == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda call: call,
        jax.jit,
        lambda call: lambda key: jax.vmap(call)(jax.random.split(key)),
        lambda call: lambda key: call(jax.random.split(key)),
    ],
    ids=["eager", "jit", "vmap", "an array of keys"],
)
def test_typed_keys_reach_an_adapted_callback_as_their_data(wrap: Any, impl: str) -> None:
    def adapted(arrays: Any) -> Any:
        def call(host: Any, spec: Any, key: Any, vmap_method: str) -> Any:
            return bufcb.buffer_callback(bufcb.adapt(host, arrays), spec, vmap_method=vmap_method)(key)

        return call

    def seen_by(call: Any) -> list[Any]:
        seen = []

        def host(key: Any) -> Any:
            seen.append((str(key.dtype), np.asarray(key).tolist()))
            return np.float32(1)

        def with_key(key: Any) -> Any:
            return call(host, jax.ShapeDtypeStruct((), jnp.float32), key, vmap_method="sequential")

        jax.block_until_ready(wrap(with_key)(jax.random.key(3, impl=impl)))
        return seen

    expected = seen_by(jax.pure_callback)
    assert expected and expected[0][0] == "uint32"
    for call in (adapted("numpy"), adapted("jax"), bufcb.pure_callback):
        assert seen_by(call) == expected


class TestAdaptIdentity:
    """Adapted callbacks compare by what they adapt, so that eager calls do not compile again."""

    def test_equal_for_the_same_function(self) -> None:
        assert bufcb.adapt(np.sin) == bufcb.adapt(np.sin)
        assert hash(bufcb.adapt(np.sin)) == hash(bufcb.adapt(np.sin))

    def test_unequal_for_another_function_or_arrays(self) -> None:
        assert bufcb.adapt(np.sin) != bufcb.adapt(np.cos)
        assert bufcb.adapt(np.sin) != bufcb.adapt(np.sin, arrays="jax")

    def test_partials_compare_by_their_parts(self) -> None:
        import functools

        def adapted(*args: Any, **kwargs: Any) -> Any:
            return bufcb.adapt(functools.partial(np.add, *args, **kwargs))

        assert adapted(1) == adapted(1)
        assert hash(adapted(1)) == hash(adapted(1))
        assert adapted(1) != adapted(2)
        assert adapted(1, dtype="f4") != adapted(1)

    def test_partials_of_unhashable_parts_still_work(self) -> None:
        import functools

        adapted = bufcb.adapt(functools.partial(np.add, [1.0, 2.0, 3.0, 4.0], dtype=np.float32))
        np.testing.assert_array_equal(bufcb.buffer_callback(adapted, F4)(jnp.ones(4)), [2, 3, 4, 5])

    def test_one_and_true_are_different_parts(self) -> None:
        """`1 == True == 1.0`, but a function may tell them apart."""
        import functools

        def kind(value: Any, x: Any) -> Any:
            return np.full(4, {bool: 1, int: 2, float: 3}[type(value)], np.float32)

        def run(value: Any) -> Any:
            return bufcb.buffer_callback(bufcb.adapt(functools.partial(kind, value)), F4)(jnp.ones(4))[0]

        assert [float(run(value)) for value in (1, True, 1.0)] == [2, 1, 3]

    def test_invalid_arrays(self) -> None:
        with pytest.raises(ValueError, match="arrays"):
            bufcb.adapt(np.sin, arrays="torch")  # type: ignore[arg-type]


class TestStore:
    """`store` evaluates and checks everything before the first write."""

    def test_nothing_is_written_when_a_later_leaf_is_wrong(self) -> None:
        left: list[Any] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            for leaf in out:
                np.asarray(leaf)[...] = -1
            try:
                bufcb.store(out, (np.ones(4, np.float32), np.ones(3, np.int32)))
            except RuntimeError as error:
                left.append(str(error))
            left.extend(np.array(leaf).tolist() for leaf in out)

        jax.block_until_ready(bufcb.buffer_callback(into, (F4, I4))(jnp.ones(4)))
        text = "Incorrect output shape for return value #1: Expected: (4,), Actual: (3,)"
        assert left[0].startswith(text)
        assert left[1:] == [[-1.0] * 4, [-1] * 4]

    def test_values_that_read_the_aliased_outputs(self) -> None:
        """Each value is a view of the other output: writing one must not change the other."""

        def swap(ctx: Any, out: Any, pair: Any) -> None:
            first, second = out
            bufcb.store(out, (np.asarray(second), np.asarray(first)))

        call = bufcb.buffer_callback(swap, (F4, F4), input_output_aliases={0: 0, 1: 1})
        first, second = jax.block_until_ready(call((jnp.zeros(4), jnp.ones(4))))
        np.testing.assert_array_equal(first, np.ones(4))
        np.testing.assert_array_equal(second, np.zeros(4))

    def test_overlapping_view_of_its_own_output(self) -> None:
        def reverse(ctx: Any, out: Any, x: Any) -> None:
            bufcb.store(out, np.asarray(out)[::-1])

        call = bufcb.buffer_callback(reverse, F4, input_output_aliases={0: 0})
        np.testing.assert_array_equal(call(jnp.arange(4, dtype=jnp.float32)), [3, 2, 1, 0])

    def test_conversion_errors_come_before_the_first_write(self) -> None:
        left: list[Any] = []

        class Failing:
            def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
                raise LookupError("no values")

        def into(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(out[0])[...] = -1
            np.asarray(out[1])[...] = -1
            with pytest.raises(LookupError, match="no values"):
                bufcb.store(out, (np.ones(4, np.float32), Failing()))
            left.append(np.array(out[0]).tolist())

        jax.block_until_ready(bufcb.buffer_callback(into, (F4, F4))(jnp.ones(4)))
        assert left == [[-1.0] * 4]


class TestStrictWrite:
    """`out[...] =` is strict on an output as handed in; every other spelling is NumPy's."""

    def written(self, write: Function, spec: Any = F4) -> Any:
        def into(ctx: Any, out: Any) -> None:
            np.asarray(out)[...] = -1
            write(out)

        return np.asarray(jax.block_until_ready(bufcb.buffer_callback(into, spec)()))

    def test_broadcasting_is_refused(self) -> None:
        with pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output shape for return value #0"):
            self.written(lambda out: out.__setitem__(Ellipsis, 1.0))

    def test_truncation_is_refused(self) -> None:
        with pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output dtype for return value #0"):
            self.written(lambda out: out.__setitem__(Ellipsis, np.full(4, 1.5, np.float32)), I4)

    def test_slice_is_numpy(self) -> None:
        assert self.written(lambda out: out.__setitem__(slice(None), 1.5)).tolist() == [1.5] * 4

    def test_item_is_numpy(self) -> None:
        assert self.written(lambda out: out.__setitem__(0, 2)).tolist() == [2, -1, -1, -1]

    def test_part_with_ellipsis_is_numpy(self) -> None:
        assert self.written(lambda out: out[1:].__setitem__(Ellipsis, 5)).tolist() == [-1, 5, 5, 5]

    def test_array_view_is_numpy(self) -> None:
        assert self.written(lambda out: np.asarray(out).__setitem__(Ellipsis, 3)).tolist() == [3] * 4

    def test_copyto_fill_and_out_are_numpy(self) -> None:
        assert self.written(lambda out: np.copyto(out, 4)).tolist() == [4] * 4
        assert self.written(lambda out: out.fill(5)).tolist() == [5] * 4
        assert self.written(lambda out: np.add(1, 1, out=out)).tolist() == [2] * 4

    def test_in_place_operators(self) -> None:
        def add(out: Any) -> None:
            out += 3

        assert self.written(add).tolist() == [2] * 4

    def test_input_is_not_writable(self) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            x[...] = out

        with pytest.raises(jax.errors.JaxRuntimeError, match="read-only"):
            jax.block_until_ready(bufcb.buffer_callback(into, F4)(jnp.ones(4)))

    def test_writeable(self) -> None:
        seen: list[tuple[bool, bool]] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            seen.append((out.writeable, x.writeable))

        jax.block_until_ready(bufcb.buffer_callback(into, F4)(jnp.ones(4)))
        assert seen == [(True, False)]


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass
class Node:
    """A custom pytree node."""

    value: Any
    name: str = "node"

    def tree_flatten(self) -> tuple[tuple[Any], str]:
        return (self.value,), self.name

    @classmethod
    def tree_unflatten(cls, name: str, children: tuple[Any]) -> "Node":
        return cls(children[0], name)


class TestToNumpy:
    """`to_numpy` maps a pytree of buffers to plain arrays and leaves the rest alone."""

    def seen_by(self, body: Function, *args: Any) -> Any:
        seen: list[Any] = []

        def into(ctx: Any, out: Any, *args: Any) -> None:
            seen.append(body(*args))
            np.asarray(out)[...] = 0

        jax.block_until_ready(bufcb.buffer_callback(into, F4)(*args))
        return seen[0]

    def test_types_and_flags(self) -> None:
        def body(x: Any) -> Any:
            view = bufcb.to_numpy(x)
            copied = bufcb.to_numpy(x, copy=True)
            return [
                (type(a), a.flags.writeable, a.flags.owndata, np.shares_memory(a, np.asarray(x)))
                for a in (view, copied)
            ]

        view, copied = self.seen_by(body, jnp.ones(4))
        assert view == (np.ndarray, False, False, True)
        assert copied[0] is np.ndarray
        assert copied[1:] == (True, True, False)

    def test_pytrees(self) -> None:
        def body(tree: Any) -> Any:
            mapped = bufcb.to_numpy(tree, copy=True)
            assert all(type(leaf) is np.ndarray for leaf in jax.tree.leaves(mapped))
            return jax.tree.map(lambda leaf: float(leaf[0]), mapped)

        tree = {"a": Node(jnp.ones(2), "custom"), "b": (None, [jnp.zeros(1)])}
        assert self.seen_by(body, tree) == {"a": Node(1.0, "custom"), "b": (None, [0.0])}

    def test_other_leaves_are_untouched(self) -> None:
        marker = object()

        def body(x: Any) -> Any:
            return bufcb.to_numpy((None, 3, "text", marker, x))[:4]

        assert self.seen_by(body, jnp.ones(4)) == (None, 3, "text", marker)

    def test_outside_a_callback(self) -> None:
        x = np.arange(3)
        (seen, nothing) = bufcb.to_numpy((x, None))
        np.testing.assert_array_equal(seen, x)
        assert nothing is None
