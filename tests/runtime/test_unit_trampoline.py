"""The generated function that XLA calls, on buffers in host memory: `bufcb.trampoline`."""

import collections
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import tree_structure

import bufcb
from bufcb import trampoline
from bufcb.buffers import Buffer, HostArray, HostContext, OutputError

F4 = np.dtype(np.float32)
SPEC = jax.ShapeDtypeStruct((4,), jnp.float32)
Pair = collections.namedtuple("Pair", "left right")


def plan(function: Any, args: Any = (), kwargs: Any = None, out: Any = 0, **options: Any) -> trampoline.Plan:
    """A plan for float32 arrays, whose structures are those of the given placeholders."""
    in_tree, out_tree = tree_structure((tuple(args), kwargs or {})), tree_structure(out)
    fields: dict[str, Any] = {
        "in_dtypes": (F4,) * in_tree.num_leaves,
        "out_shapes": ((4,),) * out_tree.num_leaves,
        "out_dtypes": (F4,) * out_tree.num_leaves,
        "aliases": (),
        "repeatable": True,
        "retain": "raise",
        "x64": False,
        "checked": False,
    }
    return trampoline.Plan("buffer_callback", function, in_tree, out_tree, **{**fields, **options})


def run(planned: trampoline.Plan) -> list[np.ndarray]:
    """Call the trampoline with inputs full of 0, 1, 2 … and return its outputs."""
    inputs = [HostArray.input_of(np.full(4, i, np.float32)) for i, _ in enumerate(planned.in_dtypes)]
    outputs = [HostArray.copy_of(np.full(4, -1, np.float32)) for _ in planned.out_dtypes]
    assert trampoline.build(planned)(HostContext(), *inputs, *outputs) == ()
    return [output.view(np.ndarray) for output in outputs]


def first_elements(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: int(leaf[0]), tree)


@pytest.mark.parametrize(
    "args",
    [
        (),
        (0,),
        ((0,), [1, 2]),
        ({"b": 1, "a": 0}, None, ()),
        ({"a": {"b": [0, (1, 2)]}},),
        ({2: 1, 1: 0, 3: None},),
        ({(1, "x"): 0},),
        (Pair(0, (1,)), 2),
        (collections.OrderedDict(z=0, a=1),),
    ],
    ids=repr,
)
def test_structures(args: Any) -> None:
    seen: list[Any] = []

    def callback(ctx: Any, out: Any, *args: Any) -> None:
        seen.append(first_elements(args))
        assert all(type(leaf) is Buffer for leaf in jax.tree.leaves(args))

    run(plan(callback, args, out=()))
    assert seen == [args]


def test_keywords_that_are_no_names() -> None:
    seen: list[Any] = []
    run(
        plan(
            lambda ctx, out, **kwargs: seen.append(first_elements(kwargs)),
            (),
            {"a b": 1, "class": 2, "x": 3},
            (),
        )
    )
    assert seen == [{"a b": 0, "class": 1, "x": 2}]


@pytest.mark.parametrize(
    "out", [0, (0,), (0, 1), [0, {"a": 1}], {"b": 1, "a": 0}, Pair(0, 1), (None, 0)], ids=repr
)
def test_outputs_are_handed_out_in_their_structure(out: Any) -> None:
    def callback(ctx: Any, outputs: Any) -> None:
        assert tree_structure(outputs) == tree_structure(out)
        for i, leaf in enumerate(jax.tree.leaves(outputs)):
            leaf[...] = np.full(4, i, np.float32)

    assert [int(array[0]) for array in run(plan(callback, out=out))] == list(range(len(jax.tree.leaves(out))))


def test_containers_are_new_on_every_call() -> None:
    seen: list[Any] = []

    def callback(ctx: Any, out: Any, items: list[Any]) -> None:
        seen.append(len(items))
        items.clear()

    planned = plan(callback, ([0, 1],), out=())
    run(planned)
    run(planned)
    assert seen == [2, 2]


def test_copies_are_written_back_and_may_be_kept() -> None:
    kept: list[Any] = []

    def callback(ctx: Any, out: Any, x: Any) -> None:
        kept.extend((out, x))
        out[...] = np.asarray(x) + 5

    assert run(plan(callback, (0,), retain="copy"))[0].tolist() == [5] * 4
    assert not kept[1].writeable
    assert [array.tolist() for array in kept] == [[5] * 4, [0] * 4]


def test_adapted_functions_that_return_their_argument() -> None:
    assert run(plan(bufcb.adapt(lambda x: x), (0,)))[0].tolist() == [0] * 4
    assert run(plan(bufcb.adapt(lambda x, y: (y, x)), (0, 1), out=(0, 1)))[1].tolist() == [0] * 4


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_adapted_functions_get_the_structure_of_the_call(arrays: Any) -> None:
    kind = np.ndarray if arrays == "numpy" else jax.Array

    def function(tree: Any, *, scale: Any) -> Any:
        assert all(isinstance(leaf, kind) and not isinstance(leaf, Buffer) for leaf in (*tree["a"], scale))
        return [np.asarray(tree["a"][1]) + np.asarray(scale)]

    results = run(plan(bufcb.adapt(function, arrays=arrays), ({"a": (0, 1)},), {"scale": 2}))
    assert results[0].tolist() == [3] * 4


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_adapted_functions_called_by_other_callbacks(arrays: Any) -> None:
    def callback(ctx: Any, out: Any, x: Any, **kwargs: Any) -> None:
        bufcb.adapt(lambda x, y: np.asarray(x) + np.asarray(y) + 1, arrays=arrays)(ctx, out, x, y=kwargs["y"])

    assert run(plan(callback, (0,), {"y": 1}))[0].tolist() == [2] * 4


@pytest.mark.parametrize("size", [3, 100_000])
def test_jax_arrays_are_copies(size: int) -> None:
    kept: list[Any] = []
    spec = jax.ShapeDtypeStruct((size,), jnp.float32)
    x = jnp.arange(size, dtype=jnp.float32)
    result = bufcb.pure_callback(lambda v: kept.append(v) or v, spec, x)
    np.testing.assert_array_equal(result, x)
    for _ in range(5):
        jax.block_until_ready(jax.jit(lambda v: v * 2 - 7)(x))
    np.testing.assert_array_equal(kept[0], x)


def test_an_output_error_names_callback_and_leaf() -> None:
    def into(ctx: Any, out: Any) -> None:
        out["b"][...] = np.ones(3, np.float32)

    with pytest.raises(OutputError) as seen:
        run(plan(into, out={"a": 0, "b": 1}))
    assert seen.value.index == 1
    assert "into" in str(seen.value)
    assert "`out['b']`" in str(seen.value)


def test_an_output_error_may_be_caught_by_the_callback() -> None:
    def into(ctx: Any, out: Any) -> None:
        with pytest.raises(RuntimeError):
            out[...] = 1.0
        out[...] = np.zeros(4, np.float32)

    assert run(plan(into))[0].tolist() == [0] * 4


def test_a_traceback_keeps_none_of_the_raw_buffers() -> None:
    """XLA's wrappers are valid during the call only: reading a stale one crashes."""

    def into(ctx: Any, out: Any, x: Any) -> None:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError) as seen:
        run(plan(into, (0,)))
    frame = seen.traceback[-2].frame
    assert frame.code.name == "trampoline"
    assert [frame.f_locals[name] for name in ("ctx", "a0", "b0")] == [None] * 3


def test_kept_exceptions_do_not_spoil_later_calls() -> None:
    error = ZeroDivisionError("kept with its traceback, hence with the callback's arguments")

    def fail(ctx: Any, out: Any, *args: Any) -> None:
        raise error

    def into(ctx: Any, out: Any, *args: Any) -> None:
        out[...] = np.full(4, len(args), np.float32)

    for count in range(3):
        with pytest.raises(jax.errors.JaxRuntimeError, match="ZeroDivisionError"):
            jax.block_until_ready(jax.jit(bufcb.buffer_callback(fail, SPEC))(*[jnp.ones(4)] * count))
        frame = error.__traceback__
        while frame is not None and frame.tb_frame.f_code.co_name != "trampoline":
            frame = frame.tb_next
        assert frame is not None
        assert all(frame.tb_frame.f_locals[f"r{i}"].base is None for i in range(count))
        assert frame.tb_frame.f_locals["w0"].base is None
    for count in (0, 1, 2, 0):
        result = bufcb.buffer_callback(into, SPEC)(*[jnp.ones(4)] * count)
        assert result.tolist() == [count] * 4
