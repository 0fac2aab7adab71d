"""Buffers in host memory, without XLA: `bufcb.buffers`."""

import copy
import gc
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from bufcb import buffers
from bufcb.buffers import Buffer, HostArray, Output, OutputError


def raw(values: Any, dtype: Any = np.float32) -> np.ndarray:
    """The plain array that a trampoline holds."""
    return HostArray.copy_of(np.asarray(values, dtype)).__array__()


def as_input(values: Any, dtype: Any = np.float32, x64: bool = False) -> Buffer:
    array = HostArray.input_of(np.asarray(values, dtype)).__array__()
    return buffers.hand_out(array, buffers.input_class(x64))


def as_output(shape: Any, dtype: Any = np.float32, index: int = 0, x64: bool = False) -> Output:
    array = raw(np.zeros(shape), dtype)
    return buffers.hand_out(array, buffers.output_class(index, x64, array.shape, array.dtype))


DERIVED: list[Callable[[Any], Any]] = [
    lambda x: x[1:],
    lambda x: x[None],
    lambda x: x[...],
    lambda x: x[[0, 1]],
    lambda x: x + 1,
    lambda x: x @ x.T,
    lambda x: x.copy(),
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.real,
    lambda x: x.imag,
    lambda x: x.reshape(-1),
    lambda x: x.ravel(),
    lambda x: x.flatten(),
    lambda x: x.astype(np.float64),
    lambda x: x.view(np.int32),
    lambda x: x.squeeze(),
    lambda x: x.transpose(1, 0),
    lambda x: x.swapaxes(0, 1),
    lambda x: x.take([0]),
    lambda x: x.sum(axis=0),
    lambda x: x.cumsum(),
    lambda x: x.argsort(),
    lambda x: x.dot(x.T),
    lambda x: x.diagonal(),
    lambda x: x.repeat(2),
    lambda x: x.clip(0, 1),
    lambda x: x.flat[1:3],
    lambda x: next(iter(x)),
    np.sin,
    lambda x: np.dot(x, x.T),
    lambda x: np.concatenate([x, x]),
    lambda x: np.stack((x, x)),
    np.zeros_like,
    lambda x: np.linalg.norm(x, axis=0),
    lambda x: np.broadcast_to(x, (2, *x.shape), subok=True),
    lambda x: np.where(x > 0, x, 0),
    lambda x: np.einsum("ij->j", x),
    copy.copy,
    copy.deepcopy,
    lambda x: pickle.loads(pickle.dumps(x)),
    np.array,
    np.asarray,
    lambda x: np.asarray(x, dtype=np.float64),
]


KEPT_SUBCLASSES: list[Callable[[Any], Any]] = [
    lambda x: np.array(x, subok=True),
    lambda x: np.array(x, subok=True, dtype=np.float64),
    lambda x: np.lib.stride_tricks.as_strided(x, subok=True),
    np.ndarray.copy,
    lambda x: np.ndarray.__getitem__(x, 0),
]


@pytest.mark.parametrize("i", range(len(KEPT_SUBCLASSES)))
@pytest.mark.parametrize("kind", ["input", "output"])
def test_what_numpy_derives_with_subclasses_is_no_buffer(i: int, kind: str) -> None:
    buffer: Any = as_input(np.ones((2, 2))) if kind == "input" else as_output((2, 2))
    derived, expected = KEPT_SUBCLASSES[i](buffer), KEPT_SUBCLASSES[i](np.array(buffer))
    assert isinstance(derived, np.ndarray)
    assert not isinstance(derived, Buffer)
    assert repr(derived) == repr(expected)
    assert type(derived + 1) is type(derived * derived) is np.ndarray
    assert type(derived.sum()) is type(expected.sum())
    assert type(pickle.loads(pickle.dumps(derived))) is np.ndarray
    if derived.flags.writeable:
        derived[...] = [0]  # not strict
        assert not derived.any()


@pytest.mark.parametrize("i", range(len(DERIVED)))
@pytest.mark.parametrize("kind", ["input", "output"])
def test_derived_arrays_are_plain(i: int, kind: str) -> None:
    values = np.arange(4, dtype=np.float32).reshape(2, 2) - 1
    if kind == "input":
        buffer: Buffer = as_input(values)
    else:
        buffer = as_output(values.shape)
        buffer[...] = values
    derived, expected = DERIVED[i](buffer), DERIVED[i](values)
    assert type(derived) is np.ndarray
    assert derived.dtype == expected.dtype
    np.testing.assert_array_equal(derived, expected)


@pytest.mark.parametrize(
    "reduce", [np.sum, lambda x: x.sum(), lambda x: x.mean(), lambda x: x.max(), lambda x: x[0]]
)
def test_scalars_are_numpy_scalars(reduce: Any) -> None:
    assert type(reduce(as_input([1.0, 2.0]))) is np.float32


def test_inputs_cannot_be_made_writable() -> None:
    x = as_input([1.0, 2.0])
    assert not x.writeable
    for view in (x, np.asarray(x), x[1:], x.view()):
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.setflags(write=True)
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0


def test_in_place_operators_keep_the_output() -> None:
    out = as_output(2)
    same = out
    same += 3
    assert same is out
    assert np.add(1, 1, out=out) is out
    assert out.tolist() == [2, 2]


def test_foreign_consumers_of_read_only_inputs() -> None:
    x = as_input([1.0, 2.0])
    assert "dltensor" in repr(x.__dlpack__())
    assert not np.from_dlpack(x).flags.writeable
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    assert x.__dlpack_device__() == (1, 0)


class TestWrite:
    def test_matching_values(self) -> None:
        outs = [as_output(2, index=0), as_output((), np.int32, index=1)]
        buffers.write(outs, [np.ones(2, np.float32), 3])
        assert outs[0].tolist() == [1, 1]
        assert int(outs[1]) == 3

    @pytest.mark.parametrize(
        ("dtype", "x64", "value", "error"),
        [
            (np.float32, False, 1.5, None),
            (
                np.float32,
                True,
                1.5,
                "Incorrect output dtype for return value #2: Expected: float32, Actual: float64",
            ),
            (np.float64, True, 1.5, None),
            (np.int32, False, np.int64(3), None),
            (np.int32, True, np.int64(3), "Expected: int32, Actual: int64"),
            (np.complex64, False, 1j, None),
            (np.bool_, False, True, None),
            (np.float32, False, 1, "Expected: float32, Actual: int32"),
            (np.float32, False, np.float16(1), "Expected: float32, Actual: float16"),
            (ml_dtypes.bfloat16, False, np.float32(1), "Expected: bfloat16, Actual: float32"),
        ],
    )
    def test_canonical_dtypes(self, dtype: Any, x64: bool, value: Any, error: str | None) -> None:
        out = as_output((), dtype, index=2, x64=x64)
        if error is None:
            out[...] = value
            assert out.item() == value
        else:
            with pytest.raises(OutputError, match=error.replace("(", r"\(")) as seen:
                out[...] = value
            assert seen.value.index == 2

    def test_nothing_is_written_if_one_leaf_does_not_match(self) -> None:
        outs = [as_output(2, index=0), as_output(2, index=1)]
        with pytest.raises(OutputError, match="return value #1"):
            buffers.write(outs, [np.ones(2, np.float32), np.ones(3, np.float32)])
        assert outs[0].tolist() == [0, 0]

    def test_values_that_lie_in_the_outputs(self) -> None:
        """As with an aliased output that is swapped with another."""
        outs = [as_output(2, index=0), as_output(2, index=1)]
        np.asarray(outs[0])[...] = 1
        np.asarray(outs[1])[...] = 2
        buffers.write(outs, [np.asarray(outs[1]), np.asarray(outs[0])])
        assert [out.tolist() for out in outs] == [[2, 2], [1, 1]]

    def test_a_list_is_not_an_array(self) -> None:
        with pytest.raises(OutputError, match=r"Expected: 1, Actual: 2"):
            as_output(2)[...] = [1.0, 2.0]


class TestReferences:
    def hold(self, keep: Callable[[np.ndarray], Any]) -> list[int]:
        first, second = raw(np.ones(4)), raw(np.ones(4))
        arrays = (first, second)
        kept = keep(second)
        found = buffers.still_referenced(arrays)
        del kept
        assert buffers.still_referenced(arrays) == []
        return found

    @pytest.mark.parametrize(
        "keep",
        [
            lambda r: r.view(Buffer),
            lambda r: np.asarray(r.view(Buffer)),
            lambda r: r.view(Buffer)[1:][::2],
            lambda r: memoryview(r.view(Buffer)),
            lambda r: r.view(Buffer).T.reshape(2, 2),
            lambda r: r.view(Buffer).__dlpack__(max_version=(1, 0)),
            lambda r: r.view(Buffer).flat,
            lambda r: r.view(Buffer).ctypes,
        ],
    )
    def test_every_kind_of_view_counts(self, keep: Any) -> None:
        assert self.hold(keep) == [1]

    def test_copies_do_not(self) -> None:
        assert self.hold(lambda r: np.array(r.view(Buffer))) == []

    def test_cycles_are_collected(self) -> None:
        array = raw(np.ones(4))
        gc.disable()
        try:
            cycle: list[Any] = [array.view(Buffer)]
            cycle.append(cycle)
            del cycle
            assert buffers.still_referenced((array,)) == []
        finally:
            gc.enable()

    def test_other_threads_get_a_moment(self) -> None:
        array = raw(np.ones(4))
        views = [array.view(Buffer)]
        started = threading.Event()

        def work() -> None:
            view = views.pop()
            started.set()
            time.sleep(0.02)
            del view

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        assert buffers.still_referenced((array,)) == []
        thread.join()


class TestCanary:
    @pytest.mark.parametrize(
        "dtype", [np.bool_, np.int8, np.uint16, np.float16, ml_dtypes.bfloat16, np.complex64]
    )
    def test_partly_written(self, dtype: Any) -> None:
        array = raw(np.zeros((2, 3)), dtype)

        def run() -> None:
            array[0] = 1

        buffers.fill_canary(array)
        run()
        mask = buffers.find_unwritten(array, run)
        assert mask is not None
        assert mask.tolist() == [False] * 3 + [True] * 3

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.float32])
    def test_values_that_look_like_the_pattern(self, dtype: Any) -> None:
        values = np.full(4 * np.dtype(dtype).itemsize, 0xA5, np.uint8).view(dtype)
        array = raw(np.zeros(4), dtype)

        def run() -> None:
            array[...] = values

        buffers.fill_canary(array)
        run()
        assert buffers.find_unwritten(array, run) is None

    def test_doubt_is_no_finding_if_the_callback_cannot_be_repeated(self) -> None:
        array = raw(np.zeros(8), np.uint8)
        buffers.fill_canary(array)
        array[1:] = 0xA5 - 1
        assert buffers.find_unwritten(array, None) is None
        buffers.fill_canary(array)
        assert buffers.find_unwritten(array, None) is not None

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
    def test_scalars_and_empty_arrays(self, shape: tuple[int, ...]) -> None:
        array = raw(np.zeros(shape))
        buffers.fill_canary(array)
        mask = buffers.find_unwritten(array, None)
        assert (mask is None) == (array.size == 0)
