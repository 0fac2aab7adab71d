"""Callbacks on a GPU that is simulated: `bufcb.DeviceBuffer`, and all that happens around a call."""

import copy
import gc
import logging
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st
from jax.tree_util import tree_structure
from simulated_gpu import ORDINAL, XLA_STREAM, Context, Gpu, GpuArray, Raw, SimulatedDriver

import bufcb
from bufcb import buffers, device_trampoline, dlpack, trampoline
from bufcb.buffers import OutputError
from bufcb.device import DeviceBuffer
from bufcb.drivers import DriverError
from bufcb.pinned import Pool

X = np.arange(1, 5, dtype=np.float32)
Y = X * 10
LEGACY = 1


class Machine:
    """A simulated GPU on which callbacks are run; `gpu.log` says what they made the driver do."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.gpu = Gpu()
        self.driver = SimulatedDriver(self.gpu)
        self.pool = Pool(self.driver, limit)

    def run(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Any] = (X,),
        outputs: Sequence[Any] = (np.full_like(X, -1),),
        *,
        recordable: bool = False,
        **options: Any,
    ) -> list[np.ndarray]:
        """Call a callback as XLA does; return what is in its outputs when XLA goes on."""
        inputs, outputs = list(map(np.asarray, inputs)), list(map(np.asarray, outputs))
        fields: dict[str, Any] = {
            "api": "buffer_callback",
            "aliases": (),
            "repeatable": True,
            "retain": "raise",
            "x64": False,
            "checked": False,
            "in_tree": tree_structure((tuple(inputs), {})),
            "out_tree": tree_structure(outputs[0] if len(outputs) == 1 else tuple(outputs)),
        }
        plan = trampoline.Plan(
            function=function,
            in_dtypes=tuple(x.dtype for x in inputs),
            out_shapes=tuple(x.shape for x in outputs),
            out_dtypes=tuple(x.dtype for x in outputs),
            **{**fields, **options},
        )
        call = device_trampoline.build(plan, lambda: (self.driver, self.pool), recordable=recordable)
        raw_inputs = [Raw(self.gpu, widened(x)) for x in inputs]
        raw_outputs = [Raw(self.gpu, widened(x), writeable=True) for x in outputs]
        self.gpu.log.clear()
        try:
            assert call(Context(), *raw_inputs, *raw_outputs) == ()
        finally:
            if XLA_STREAM not in self.gpu.recording:
                self.gpu.finish(XLA_STREAM)
            assert not self.gpu.current
            assert [raw.values.tobytes() for raw in raw_inputs] == [x.tobytes() for x in inputs]
        return [output.values for output in raw_outputs]

    def copies(self) -> list[str]:
        return self.gpu.called("to_host", "to_device", "within")


def widened(x: np.ndarray) -> np.ndarray:
    """What arrives in the place of a 2- or 4-bit array."""
    return x.view(np.uint8) if buffers.is_sub_byte(x.dtype) else x


@pytest.fixture
def machine() -> Machine:
    return Machine()


# What NumPy sees.


def test_a_numpy_callback(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x) + 1

    assert machine.run(into)[0].tolist() == (X + 1).tolist()
    assert machine.copies() == ["to_host", "to_device"]


def test_an_input_is_copied_once(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
        assert np.shares_memory(np.asarray(x), np.asarray(x))
        out[...] = np.asarray(x) + x + x[...] + x.sum()

    assert machine.run(into, (X, Y))[0].tolist() == (3 * X + X.sum()).tolist()
    assert machine.copies() == ["to_host", "to_device"]  # y was not asked for


def test_what_is_not_asked_for_is_not_copied(machine: Machine) -> None:
    assert machine.run(lambda ctx, out, x: None)[0].tolist() == [-1] * 4
    assert machine.gpu.log == []


def test_an_output_that_is_only_written_is_not_read(machine: Machine) -> None:
    def into(ctx: Any, out: Any) -> None:
        np.asarray(out)[...] = 7

    assert machine.run(into, ())[0].tolist() == [7] * 4
    assert machine.copies() == ["to_device"]


WRITES: list[Callable[[Any, Any], Any]] = [
    lambda out, v: out.__setitem__(..., v),
    lambda out, v: out.__setitem__(slice(None), v),
    lambda out, v: np.asarray(out).__setitem__(..., v),
    bufcb.store,
    np.copyto,
    lambda out, v: np.add(v, 0, out=out),
    lambda out, v: np.add(v, 0, out=np.asarray(out)),
    lambda out, v: [out.fill(0), out.__iadd__(v)],
    lambda out, v: [out.__setitem__(i, x) for i, x in enumerate(v)],
    lambda out, v: np.multiply.outer(v, np.ones(()), out=out),
    lambda out, v: np.put(out, range(4), v),
    lambda out, v: np.take(v, range(4), out=np.asarray(out)),
    lambda out, v: [out.fill(0), np.add.at(out, range(4), v)],
    lambda out, v: setattr(out, "flat", v),
    lambda out, v: setattr(out, "real", v),
    lambda out, v: out.flat.__setitem__(slice(None), v),
    lambda out, v: [np.copyto(out, v), out.sort()],
]


@pytest.mark.parametrize("i", range(len(WRITES)))
@pytest.mark.parametrize("of", ["array", "input"])
def test_ways_to_write(i: int, of: str, machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        WRITES[i](out, np.array(x) if of == "array" else x)

    assert machine.run(into)[0].tolist() == X.tolist()


def test_in_place_operators_keep_the_output(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        same = out
        same += x
        assert same is out
        assert np.subtract(out, 1, out=out) is out
        quotient, rest = np.divmod(x, 2, out=(out, np.empty(4, np.float32)))
        assert quotient is out and isinstance(rest, np.ndarray)

    assert machine.run(into)[0].tolist() == (X // 2).tolist()


DERIVED: list[Callable[[Any], Any]] = [
    lambda x: x + 1,
    lambda x: 1 - x,
    lambda x: x + x,
    lambda x: -x,
    lambda x: x @ x.T,
    lambda x: x[0],
    lambda x: x[0, 1],
    lambda x: x[:, ::2],
    lambda x: x[x > 1],
    lambda x: x.T,
    lambda x: x.imag,
    lambda x: x.flat[1:3],
    abs,
    lambda x: divmod(x, 2),
    lambda x: x == x,
    lambda x: x**2,
    lambda x: list(reversed(x)),
    lambda x: x.sum(),
    lambda x: x.mean(axis=0),
    lambda x: x.reshape(-1),
    lambda x: x.astype(np.float64),
    list,
    np.sin,
    lambda x: np.dot(x, x.T),
    lambda x: np.concatenate([x, x]),
    lambda x: np.stack((x, x)),
    lambda x: np.einsum("ij->j", x),
    lambda x: np.linalg.norm(x, axis=0),
    lambda x: np.where(x > 0, x, 0),
    np.sum,
    np.add.reduce,
    lambda x: np.maximum(x, x, where=x > 1, out=np.zeros((2, 2), np.float32)),
    lambda x: x.tolist(),
    lambda x: x.flags.writeable is not None,
    lambda x: (x.shape, x.dtype, x.ndim, x.size, x.nbytes, len(x), x.itemsize, x.strides),
    lambda x: 2.0 in x,
    str,
    lambda x: f"{x} {x!s} {x[0, 0]:.2f}",
    copy.copy,
    copy.deepcopy,
    lambda x: pickle.loads(pickle.dumps(x)),
    np.array,
    np.asarray,
    lambda x: np.asarray(x, dtype=np.float64),
    lambda x: np.array(x, dtype=np.int32, copy=True),
    bufcb.to_numpy,
    lambda x: bufcb.to_numpy({"x": [x, None]}, copy=True)["x"][0],
]


@pytest.mark.parametrize("i", range(len(DERIVED)))
def test_what_is_derived_is_as_from_an_array(i: int, machine: Machine) -> None:
    values = np.arange(4, dtype=np.float32).reshape(2, 2)
    seen: list[Any] = []

    def look(ctx: Any, out: Any, x: Any) -> None:
        derived = DERIVED[i](x)
        assert not isinstance(derived, DeviceBuffer)
        seen.append(copy.deepcopy(derived))

    machine.run(look, (values,), ())
    expected = DERIVED[i](values)
    assert type(seen[0]) is type(expected)
    assert repr(seen[0]) == repr(expected)


@pytest.mark.parametrize(
    "convert", [int, float, complex, bool, lambda x: format(x, ".2f"), lambda x: [5, 6, 7][x]]
)
def test_scalars(convert: Any, machine: Machine) -> None:
    value = np.int32(2)
    seen: list[Any] = []
    machine.run(lambda ctx, out, x: seen.append(convert(x)), (value,), ())
    assert seen == [convert(np.asarray(value))]


@pytest.mark.parametrize("kind", ["input", "output"])
def test_attributes(kind: str, machine: Machine) -> None:
    def look(ctx: Any, out: Any, x: Any) -> None:
        buffer = x if kind == "input" else out
        assert type(buffer).__name__ == "DeviceBuffer"
        assert isinstance(buffer, bufcb.DeviceBuffer)
        assert buffer.writeable is (kind == "output")
        assert (buffer.shape, buffer.ndim, buffer.size, buffer.nbytes, len(buffer)) == ((2, 3), 2, 6, 12, 2)
        assert buffer.dtype == np.float16
        assert repr(buffer) == f"<DeviceBuffer: {kind} of shape (2, 3) and dtype float16>"
        for name in ("device", "to_device", "nonsense", "__array_interface__", "__array_struct__"):
            assert not hasattr(buffer, name)
        with pytest.raises(TypeError):
            hash(buffer)

    values = np.zeros((2, 3), np.float16)
    machine.run(look, (values,), (values,))
    assert machine.gpu.log == []


def test_length_of_a_scalar(machine: Machine) -> None:
    def look(ctx: Any, out: Any, x: Any) -> None:
        with pytest.raises(TypeError, match=r"len\(\) of unsized object"):
            len(x)

    machine.run(look, (np.float32(1),), ())


def test_the_array_protocol(machine: Machine) -> None:
    def look(ctx: Any, out: Any, x: Any) -> None:
        assert np.shares_memory(np.asarray(x), np.array(x, copy=None))
        assert np.array(x, copy=False).tolist() == X.tolist()
        owned = np.array(x)
        assert owned.flags.writeable and not np.shares_memory(owned, np.asarray(x))
        with pytest.raises(ValueError, match="copy"):
            np.array(x, dtype=np.int8, copy=False)

    machine.run(look, (X,), ())


def test_inputs_are_read_only(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        for view in (np.asarray(x), x[1:], x.view(np.int32), bufcb.to_numpy(x)):
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.setflags(write=True)
            with pytest.raises(ValueError, match="read-only"):
                view[...] = 0
        with pytest.raises(ValueError, match="read-only"):
            x[...] = np.zeros(4, np.float32)
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            x += 1
        with pytest.raises(ValueError, match="output array is read-only"):
            np.add(1, 1, out=x)
        with pytest.raises(TypeError, match=r"bufcb\.store writes into outputs"):
            bufcb.store(x, X)

    machine.run(into)


DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.float16, np.float32, np.complex64, jnp.bfloat16]
FLOAT8 = [jnp.float8_e5m2, jnp.float8_e4m3fn]


@pytest.mark.parametrize("dtype", [*DTYPES, *FLOAT8])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_every_dtype_and_shape(dtype: Any, shape: tuple[int, ...], machine: Machine) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)

    def into(ctx: Any, out: Any, x: Any) -> None:
        assert x.dtype == np.asarray(x).dtype == values.dtype
        np.asarray(out)[...] = np.asarray(x).reshape(-1)[::-1].reshape(shape)

    (result,) = machine.run(into, (values,), (np.zeros(shape, dtype),))
    assert result.tobytes() == values.reshape(-1)[::-1].tobytes()


def test_narrow_types_arrive_widened(machine: Machine) -> None:
    values = np.array([1, -2, 3], jnp.int4)

    def into(ctx: Any, out: Any, x: Any) -> None:
        assert x.dtype == jnp.int4
        out[...] = np.asarray(x)[::-1]
        with pytest.raises(BufferError, match="int4"):
            x.__dlpack__()

    assert machine.run(into, (values,), (np.zeros(3, jnp.int4),))[0].view(jnp.int4).tolist() == [3, -2, 1]


# Strict writes.


@pytest.mark.parametrize(
    ("value", "x64", "error"),
    [
        (np.ones(4, np.float32), False, None),
        (np.ones(4, np.float64), False, None),
        (np.ones(4, np.float64), True, "return value #0: Expected: float32, Actual: float64"),
        (np.ones(3, np.float32), False, r"return value #0: Expected: \(4,\), Actual: \(3,\)"),
        (np.ones(4, np.int32), False, "return value #0: Expected: float32, Actual: int32"),
        (1.0, False, r"return value #0: Expected: \(4,\), Actual: \(\)"),
        ([1.0, 2.0], False, r"Mismatched number of outputs from callback\. Expected: 1, Actual: 2"),
    ],
)
@pytest.mark.parametrize("how", ["assign", "store", "adapt"])
def test_strict_writes(value: Any, x64: bool, error: str | None, how: str, machine: Machine) -> None:
    def into(ctx: Any, out: Any) -> None:
        if how == "assign":
            out[...] = value
        else:
            bufcb.store(out, value)

    function = bufcb.adapt(lambda: value) if how == "adapt" else into
    if error is None:
        assert machine.run(function, (), x64=x64)[0].tolist() == [1] * 4
    else:
        with pytest.raises(OutputError, match=error) as seen:
            machine.run(function, (), x64=x64)
        assert "Callback `test_strict_writes" in str(seen.value)


def test_the_leaf_is_named(machine: Machine) -> None:
    def into(ctx: Any, out: Any) -> None:
        out[1][...] = np.ones(3, np.float32)

    with pytest.raises(OutputError, match=r"return value #1: .*\n.*output `out\[1\]`"):
        machine.run(into, (), (X, X))


def test_nothing_is_written_if_one_leaf_does_not_match(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        with pytest.raises(OutputError, match="return value #1"):
            bufcb.store(out, (x, np.ones(3, np.float32)))

    assert machine.run(into, (X,), (Y, Y))[0].tolist() == Y.tolist()


def test_what_is_no_number(machine: Machine) -> None:
    def into(ctx: Any, out: Any) -> None:
        out[...] = np.array(["a"] * 4)

    with pytest.raises(TypeError, match="not a valid JAX array type"):
        machine.run(into, ())


def test_an_input_written_into_an_output_stays_on_the_gpu(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = x

    assert machine.run(into)[0].tolist() == X.tolist()
    assert machine.copies() == ["within"]


def test_an_output_written_into_another_stays_on_the_gpu(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[0][...] = np.asarray(x)
        GpuArray.of(out[0])
        out[1][...] = out[0]

    assert machine.run(into, (X,), (Y, Y))[1].tolist() == X.tolist()
    assert machine.copies() == ["to_host", "to_device", "within"]


def test_outputs_that_are_swapped(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
        assert not np.asarray(out[0]).any() or True
        bufcb.store(out, (x, y))
        bufcb.store(out, (out[1], out[0]))

    def on_gpu(ctx: Any, out: Any, x: Any, y: Any) -> None:
        bufcb.store(out, (x, y))
        bufcb.store(out, (out[1], out[0]))

    for function in (into, on_gpu):
        assert [r.tolist() for r in machine.run(function, (X, Y), (X, X))] == [Y.tolist(), X.tolist()]


def test_an_output_that_lies_on_both_sides(machine: Machine) -> None:
    """Written on the GPU after it was asked for as an array, which stays as good as the memory on CPU."""

    def into(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        out[...] = x
        assert view.tolist() == X.tolist()
        view += 1

    assert machine.run(into)[0].tolist() == (X + 1).tolist()


def test_written_on_the_gpu_and_then_looked_at(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = x
        np.asarray(out)[1:] += 1

    assert machine.run(into)[0].tolist() == [1, 3, 4, 5]


# Aliases.


def test_an_aliased_output_holds_its_input(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        assert np.asarray(out).tolist() == X.tolist()
        out += 1

    assert machine.run(into, (X,), (X,), aliases=((0, 0),), repeatable=False)[0].tolist() == (X + 1).tolist()


def test_an_aliased_output_that_is_overwritten_is_not_read(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.zeros(4, np.float32)

    machine.run(into, (X,), (X,), aliases=((0, 0),), repeatable=False)
    assert machine.copies() == ["to_device"]


# GPU libraries.


def test_the_cuda_array_interface(machine: Machine) -> None:
    def look(ctx: Any, out: Any, x: Any) -> None:
        interface = x.__cuda_array_interface__
        address, read_only = interface.pop("data")
        assert read_only is True
        assert machine.gpu.has(address)
        assert interface == {
            "shape": (4,),
            "typestr": "<f4",
            "strides": None,
            "version": 3,
            "stream": XLA_STREAM,
        }
        assert out.__cuda_array_interface__["data"][1] is False

    machine.run(look)
    assert machine.copies() == []


@pytest.mark.parametrize(
    ("dtype", "typestr"),
    [
        (np.bool_, "|b1"),
        (np.int8, "|i1"),
        (np.complex64, "<c8"),
        (jnp.bfloat16, "<V2"),
        (jnp.float8_e5m2, "|V1"),
    ],
)
def test_typestr(dtype: Any, typestr: str, machine: Machine) -> None:
    seen: list[str] = []
    machine.run(
        lambda ctx, out, x: seen.append(x.__cuda_array_interface__["typestr"]), (np.zeros(2, dtype),), ()
    )
    assert seen == [typestr]


def test_arrays_without_elements_lie_nowhere(machine: Machine) -> None:
    seen: list[Any] = []
    machine.run(lambda ctx, out, x: seen.append(x.__cuda_array_interface__["data"]), (np.zeros((2, 0)),), ())
    assert seen == [(0, True)]


def test_a_library_writes_an_output(machine: Machine) -> None:
    """On the default stream, which nobody waits for: XLA's stream has to."""

    def into(ctx: Any, out: Any, x: Any) -> None:
        GpuArray.of(x)
        GpuArray.of(out).assign(machine.gpu, Y)

    assert machine.run(into)[0].tolist() == Y.tolist()
    assert machine.copies() == []
    assert "synchronize" not in machine.gpu.log


def test_a_library_sees_what_xla_computed(machine: Machine) -> None:
    seen: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        machine.gpu.copy(XLA_STREAM, x.__cuda_array_interface__["data"][0], source, 4)  # still under way
        host = np.zeros(4, np.float32)
        machine.gpu.copy(LEGACY, host.ctypes.data, GpuArray.of(x).address, 16)
        machine.gpu.finish(LEGACY)
        seen.append(host.tolist())
        machine.gpu.copy(XLA_STREAM, GpuArray.of(x).address, machine.gpu.put(X), 16)

    source = machine.gpu.put(np.float32([99]))
    machine.run(into)
    assert seen == [[99, 2, 3, 4]]


def test_both_libraries_and_numpy_write(machine: Machine) -> None:
    """NumPy's values are on the GPU before a library gets there, and the library's when NumPy looks again."""

    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x) * 2
        host = np.zeros(4, np.float32)
        array = GpuArray.of(out)
        machine.gpu.copy(LEGACY, host.ctypes.data, array.address, 16)
        machine.gpu.finish(LEGACY)
        assert host.tolist() == (X * 2).tolist()
        array.assign(machine.gpu, Y)
        assert np.asarray(out).tolist() == Y.tolist()
        assert not np.asarray(out).flags.writeable
        assert np.array(out).flags.writeable
        out[0] = 5
        out += 1

    assert machine.run(into)[0].tolist() == [6, 21, 31, 41]


@pytest.mark.parametrize("i", range(len(WRITES)))
def test_ways_to_write_what_a_library_was_handed(i: int, machine: Machine) -> None:
    """Each either works, or is refused as a write into a read-only array."""
    refused: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        GpuArray.of(out).assign(machine.gpu, Y)
        try:
            WRITES[i](out, np.array(x))
        except ValueError as error:
            refused.append(str(error))

    (result,) = machine.run(into)
    if refused:
        assert "read-only" in refused[0]
        assert result.tolist() == Y.tolist()
    else:
        assert result.tolist() == X.tolist()


def test_an_array_in_use_cannot_be_handed_to_a_library(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        view = np.asarray(out)
        for share in (lambda: out.__cuda_array_interface__, out.__dlpack__):
            with pytest.raises(RuntimeError, match="in use as a NumPy array"):
                share()
        view[...] = 3
        del view
        GpuArray.of(out)

    assert machine.run(into)[0].tolist() == [3] * 4


class TestValuesOfLibraries:
    def write(self, machine: Machine, value: Any, **options: Any) -> list[Any]:
        def into(ctx: Any, out: Any, x: Any) -> None:
            out[...] = value() if callable(value) else value

        result: list[Any] = machine.run(into, **options)[0].tolist()
        return result

    def test_are_copied_within_the_gpu(self, machine: Machine) -> None:
        assert self.write(machine, GpuArray.put(machine.gpu, Y)) == Y.tolist()
        assert machine.copies() == ["within"]

    def test_are_waited_for(self, machine: Machine) -> None:
        for stream in (LEGACY, 0x99):
            value = GpuArray.put(machine.gpu, X * 0, stream=None if stream == LEGACY else stream)
            value.assign(machine.gpu, Y, stream)
            assert self.write(machine, value) == Y.tolist()

    def test_live_until_they_are_copied(self, machine: Machine) -> None:
        alive: list[bool] = []

        class Watched(GpuArray):
            def __del__(self) -> None:
                alive.append("synchronize" in machine.gpu.log)

        array = GpuArray.put(machine.gpu, Y)
        assert self.write(machine, lambda: Watched(array.__cuda_array_interface__)) == Y.tolist()
        gc.collect()
        assert alive == [True]

    def test_of_64_bits_are_narrowed(self, machine: Machine) -> None:
        assert self.write(machine, GpuArray.put(machine.gpu, Y.astype(np.float64))) == Y.tolist()

    def test_of_64_bits_with_x64(self, machine: Machine) -> None:
        with pytest.raises(OutputError, match="Expected: float32, Actual: float64"):
            self.write(machine, GpuArray.put(machine.gpu, Y.astype(np.float64)), x64=True)

    @pytest.mark.parametrize(
        ("values", "error"),
        [
            (np.zeros(3, np.float32), r"Incorrect output shape .*Expected: \(4,\), Actual: \(3,\)"),
            (np.zeros(4, np.int32), "Incorrect output dtype .*Expected: float32, Actual: int32"),
            (np.zeros((4, 1), np.float64), "Incorrect output shape"),
        ],
    )
    def test_that_do_not_fit(self, values: Any, error: str, machine: Machine) -> None:
        with pytest.raises(OutputError, match=error):
            self.write(machine, GpuArray.put(machine.gpu, values))

    def test_in_another_order(self, machine: Machine) -> None:
        with pytest.raises(TypeError, match="must be contiguous"):
            self.write(machine, GpuArray.put(machine.gpu, Y, strides=(8,)))

    @pytest.mark.parametrize("strides", [(16, 4), (99, 4)])
    def test_in_c_order_with_strides(self, strides: Any, machine: Machine) -> None:
        value = GpuArray.put(machine.gpu, X.reshape(1, 4), strides=strides)
        assert self.write(machine, value, outputs=(np.zeros((1, 4), np.float32),)) == [X.tolist()]

    def test_without_elements(self, machine: Machine) -> None:
        value = GpuArray.put(machine.gpu, np.zeros((0, 4), np.float32), strides=(99, 99))
        assert self.write(machine, value, outputs=(np.zeros((0, 4), np.float32),)) == []

    def test_of_bfloat16(self, machine: Machine) -> None:
        values = Y.astype(jnp.bfloat16)
        assert (
            self.write(machine, GpuArray.put(machine.gpu, values), outputs=(values * 0,)) == values.tolist()
        )

    def test_of_a_type_that_the_interface_does_not_tell(self, machine: Machine) -> None:
        values = Y.astype(jnp.float8_e4m3fn)
        with pytest.raises(TypeError, match=r"Dtype \|V1 is not a valid JAX array type"):
            self.write(machine, GpuArray.put(machine.gpu, values), outputs=(values * 0,))

    def test_in_the_memory_of_another_output(self, machine: Machine) -> None:
        def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
            bufcb.store(out, (x, y))
            bufcb.store(out, (GpuArray.of(out[1]), GpuArray.of(out[0])))

        results = machine.run(into, (X, Y), (X, X))
        assert [result.tolist() for result in results] == [Y.tolist(), X.tolist()]

    def test_arithmetic_with_them_is_left_to_the_library(self, machine: Machine) -> None:
        class Foreign:
            def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
                return "the library's"

        def look(ctx: Any, out: Any, x: Any) -> None:
            assert x + Foreign() == Foreign() + x == np.add(x, Foreign()) == "the library's"

        machine.run(look, (X,), ())


class Imported:
    """What a consumer reads from a DLPack capsule; a capsule that it consumes is released by `close`."""

    def __init__(self, capsule: Any) -> None:
        self.versioned = "dltensor_versioned" in repr(capsule)
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        pointer = dlpack._pointer(capsule, name)
        self.managed = dlpack._Versioned.from_address(pointer) if self.versioned else None
        self.tensor = self.managed.tensor if self.managed else dlpack._Tensor.from_address(pointer)
        self.capsule = capsule

    def fields(self) -> tuple[Any, ...]:
        tensor = self.tensor
        dtype = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
        return tensor.shape[: tensor.ndim], dtype, (tensor.device.kind, tensor.device.ordinal)


class TestDlpack:
    @pytest.mark.parametrize(
        ("dtype", "code"),
        [
            *((np.bool_, 6), (np.int32, 0), (np.uint8, 1), (np.float16, 2), (np.complex64, 5)),
            *((jnp.bfloat16, 4), (np.float64, 2), (np.complex128, 5)),
        ],
    )
    @pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
    def test_says_where_and_what_it_is(self, dtype: Any, code: int, version: Any, machine: Machine) -> None:
        def look(ctx: Any, out: Any, x: Any) -> None:
            for buffer in (x, out):
                seen = Imported(buffer.__dlpack__(max_version=version))
                bits = np.dtype(dtype).itemsize * 8 if dtype is not np.bool_ else seen.tensor.dtype.bits
                assert seen.fields() == ([2, 3], (code, bits, 1), (2, ORDINAL))
                assert seen.tensor.data == buffer.__cuda_array_interface__["data"][0]
                assert seen.versioned is (version is not None and version >= (1, 0))
                if seen.managed is not None:
                    assert seen.managed.flags == (0 if buffer is out else 1)
            assert x.__dlpack_device__() == (2, ORDINAL)

        values = np.zeros((2, 3), dtype)
        machine.run(look, (values,), (values,))

    def test_without_versions(self, monkeypatch: pytest.MonkeyPatch, machine: Machine) -> None:
        """As before NumPy 2.1."""
        monkeypatch.setattr(dlpack, "_NUMPY_HAS_VERSIONS", False)

        def look(ctx: Any, out: Any, x: Any) -> None:
            seen = Imported(x.__dlpack__(max_version=(1, 0)))
            assert not seen.versioned
            assert seen.fields() == ([4], (2, 32, 1), (2, ORDINAL))

        machine.run(look, (X,), ())

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
    def test_shapes(self, shape: tuple[int, ...], machine: Machine) -> None:
        seen: list[Any] = []
        machine.run(
            lambda ctx, out, x: seen.append(Imported(x.__dlpack__()).fields()[0]),
            (np.zeros(shape, np.int8),),
            (),
        )
        assert seen == [list(shape)]

    @pytest.mark.parametrize("stream", [None, LEGACY, 0x99])
    def test_streams_wait_for_each_other(self, stream: int | None, machine: Machine) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            machine.gpu.copy(XLA_STREAM, scratch, source, 16)  # still under way
            imported = Imported(out.__dlpack__(stream=stream))
            machine.gpu.copy(stream or LEGACY, imported.tensor.data, scratch, 16)

        source, scratch = machine.gpu.put(Y), machine.gpu.put(X)
        assert machine.run(into)[0].tolist() == Y.tolist()
        assert "synchronize" not in machine.gpu.log

    @pytest.mark.parametrize("stream", [-1, XLA_STREAM])
    def test_streams_that_need_not(self, stream: int, machine: Machine) -> None:
        machine.run(lambda ctx, out, x: [x.__dlpack__(stream=stream), None][1])
        assert machine.gpu.log == []

    def test_a_stream_is_waited_for_once(self, machine: Machine) -> None:
        machine.run(lambda ctx, out, x: [x.__dlpack__(stream=9), out.__dlpack__(stream=9), None][2])
        assert machine.gpu.log == ["order", "order", "order"]

    def test_a_copy_on_the_host(self, machine: Machine) -> None:
        def look(ctx: Any, out: Any, x: Any) -> None:
            for options in ({}, {"copy": True}, {"max_version": (1, 0)}):
                array = np.from_dlpack(Exporter(x.__dlpack__(dl_device=(dlpack.CPU, 0), **options)))
                assert array.tolist() == X.tolist()
            with pytest.raises(BufferError, match="without a copy"):
                x.__dlpack__(dl_device=(dlpack.CPU, 0), copy=False)
            with pytest.raises(BufferError, match="no streams"):
                x.__dlpack__(dl_device=(dlpack.CPU, 0), stream=1)
            with pytest.raises(BufferError, match=r"to the device \(7, 0\)"):
                x.__dlpack__(dl_device=(7, 0))
            with pytest.raises(BufferError, match="cannot be copied on its GPU"):
                x.__dlpack__(copy=True)
            assert Imported(x.__dlpack__(dl_device=(2, ORDINAL), copy=False)).fields()[2] == (2, ORDINAL)

        class Exporter:
            def __init__(self, capsule: Any) -> None:
                self.capsule = capsule

            def __dlpack__(self, **_: Any) -> Any:
                return self.capsule

            def __dlpack_device__(self) -> tuple[int, int]:
                return dlpack.CPU, 0

        machine.run(look, (X,), ())


# After the call.

KEPT: list[Callable[[Any], Any]] = [
    lambda x: x,
    np.asarray,
    lambda x: x[1:][::2],
    lambda x: x.reshape(2, 2),
    lambda x: memoryview(np.asarray(x)),
    lambda x: bufcb.to_numpy([x]),
    GpuArray.of,
    lambda x: x.__dlpack__(),
    lambda x: x.__dlpack__(max_version=(1, 0)),
    lambda x: x.ctypes,
]


@pytest.mark.parametrize("i", range(len(KEPT)))
@pytest.mark.parametrize("kind", ["x", "out"])
def test_what_is_kept_is_an_error(i: int, kind: str, machine: Machine) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any) -> None:
        kept.append(KEPT[i](x if kind == "x" else out))

    with pytest.raises(
        RuntimeError, match=rf"something still refers to its .*\b{kind}\b.*np\.array\(x\)"
    ) as seen:
        machine.run(keep)
    assert "keep" in str(seen.value)
    kept.clear()
    machine.run(lambda ctx, out, x: None)


def test_what_is_derived_may_be_kept(machine: Machine) -> None:
    kept: list[Any] = []
    machine.run(lambda ctx, out, x: kept.extend((np.array(x), x + 1, x.sum(), repr(x))))
    assert kept[0].tolist() == X.tolist()


def test_cycles_are_no_error(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        cycle: list[Any] = [x, np.asarray(x), GpuArray.of(x)]
        cycle.append(cycle)

    machine.run(into)


def test_kept_copies(machine: Machine) -> None:
    """`retain="copy"`: arrays are the callback's own, and inputs can be read later; outputs if asked for."""
    kept: list[Any] = []

    def keep(ctx: Any, out: Any, x: Any, y: Any) -> None:
        out[...] = x
        kept.extend((np.asarray(x), x, y, np.asarray(out)))

    machine.run(keep, (X, Y), retain="copy")
    for _ in range(3):
        machine.run(lambda ctx, out, x: out.__setitem__(..., np.asarray(x) * 7))
    assert [np.asarray(array).tolist() for array in kept] == [X.tolist(), X.tolist(), Y.tolist(), X.tolist()]
    assert not np.asarray(kept[1]).flags.writeable
    assert repr(kept[1]).endswith("after its callback>")
    with pytest.raises(RuntimeError, match="used after its callback returned"):
        kept[1].__cuda_array_interface__  # noqa: B018


def test_without_the_gil_references_tell_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing is checked, and with `retain="copy"` every input is copied."""
    monkeypatch.setattr(buffers, "FREE_THREADED", True)
    kept: list[Any] = []
    machine.run(lambda ctx, out, x: kept.append(np.asarray(x)))
    assert kept[0].tolist() == X.tolist()
    machine.run(lambda ctx, out, x: None, retain="copy")
    assert machine.copies() == ["to_host"]


def test_inputs_that_nobody_kept_are_not_copied(machine: Machine) -> None:
    machine.run(lambda ctx, out, x: None, retain="copy")
    assert machine.copies() == []


def test_after_the_callback(machine: Machine) -> None:
    kept: list[Any] = []
    with pytest.raises(RuntimeError, match="still refers"):
        machine.run(lambda ctx, out, x: kept.extend((x, out)))
    x, out = kept
    for use in (
        lambda: np.asarray(x),
        x.__dlpack__,
        x.__dlpack_device__,
        lambda: x.__cuda_array_interface__,
        lambda: out.__setitem__(..., X),
        lambda: out.__setitem__(0, 1),
        lambda: bufcb.store(out, X),
    ):
        with pytest.raises(RuntimeError, match=r"used after its callback returned.*np\.array\(x\)"):
            use()
    assert x.shape == (4,)


def test_pinned_memory_is_used_again(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out[...] = np.asarray(x) + 1

    for i in range(50):
        assert machine.run(into, (X + i,))[0].tolist() == (X + i + 1).tolist()
    assert len(machine.gpu.pinned) == 2


def test_without_pinned_memory() -> None:
    machine = Machine(limit=0)
    assert (
        machine.run(lambda ctx, out, x: bufcb.store(out, np.asarray(x) + 1))[0].tolist() == (X + 1).tolist()
    )
    assert machine.copies() == ["to_host", "to_device"]


# Errors.


class TestErrors:
    def test_of_the_driver_name_the_callback(self, machine: Machine) -> None:
        def read_it(ctx: Any, out: Any, x: Any) -> None:
            np.asarray(x)

        machine.gpu.failures["to_host"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
        with pytest.raises(DriverError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS\nCallback `.*read_it` \(.*py:"):
            machine.run(read_it)

    def test_of_the_driver_when_outputs_are_copied(self, machine: Machine) -> None:
        machine.gpu.failures["to_device"] = "CUDA_ERROR_LAUNCH_FAILED"
        with pytest.raises(DriverError, match="CUDA_ERROR_LAUNCH_FAILED\nCallback"):
            machine.run(lambda ctx, out, x: bufcb.store(out, X))

    def test_of_the_callback(self, machine: Machine) -> None:
        def fail(ctx: Any, out: Any, x: Any) -> None:
            raise ZeroDivisionError("on purpose")

        with pytest.raises(ZeroDivisionError, match="on purpose"):
            machine.run(fail)

    def test_leave_nothing_of_xla_behind(self, machine: Machine) -> None:
        def fail(ctx: Any, out: Any, x: Any) -> None:
            out[...] = x
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError) as seen:
            machine.run(fail)
        ours = [entry.frame for entry in seen.traceback if str(entry.path).endswith("device_trampoline.py")]
        assert {frame.code.name for frame in ours} == {
            "device_trampoline",
            "_run",
            "once",
            "_once",
            "with_buffers",
        }
        for frame in ours:
            if frame.code.name != "with_buffers":
                assert not frame.f_locals.get("raw") and frame.f_locals.get("ctx") is None
            for name in ("inputs", "outputs"):
                for buffer in frame.f_locals.get(name, ()):
                    assert buffer._raw is None

    def test_wait_for_what_the_gpu_still_reads(self, machine: Machine) -> None:
        def fail(ctx: Any, out: Any, x: Any) -> None:
            GpuArray.of(out)
            out[...] = np.asarray(x)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            machine.run(fail)
        assert machine.gpu.log[-1] == "synchronize"

    def test_of_the_driver_do_not_hide_those_of_the_callback(self, machine: Machine) -> None:
        def fail(ctx: Any, out: Any, x: Any) -> None:
            out[...] = x
            machine.gpu.failures["synchronize"] = "CUDA_ERROR_LAUNCH_FAILED"
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            machine.run(fail)

    def test_returned_values(self, machine: Machine) -> None:
        with pytest.raises(ValueError, match="must not return any values"):
            machine.run(lambda ctx, out, x: x)

    def test_are_logged_for_pure_callback(self, machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.ERROR, "bufcb"), pytest.raises(ZeroDivisionError):
            machine.run(bufcb.adapt(lambda x: 1 // 0), api="pure_callback")
        assert [record.message for record in caplog.records] == ["jax.pure_callback failed"]


# Adapted functions.


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_adapted_functions(arrays: Any, machine: Machine) -> None:
    kind = np.ndarray if arrays == "numpy" else jax.Array

    def add(x: Any, y: Any) -> Any:
        assert isinstance(x, kind) and isinstance(y, kind)
        return [x + y, x - y]

    results = machine.run(bufcb.adapt(add, arrays=arrays), (X, Y), (X, X))
    assert [result.tolist() for result in results] == [(X + Y).tolist(), (X - Y).tolist()]


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
@pytest.mark.parametrize("x64", [False, True])
def test_adapted_functions_called_by_other_callbacks(arrays: Any, x64: bool, machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any, y: Any) -> None:
        bufcb.adapt(lambda x, y: np.asarray(x) + np.asarray(y), arrays=arrays)(ctx, out, x, y)

    assert machine.run(into, (X, Y), x64=x64)[0].tolist() == (X + Y).tolist()


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_adapted_functions_that_return_their_argument(arrays: Any, machine: Machine) -> None:
    assert machine.run(bufcb.adapt(lambda x: x, arrays=arrays))[0].tolist() == X.tolist()


def test_adapted_functions_without_outputs(machine: Machine) -> None:
    seen: list[Any] = []
    machine.run(bufcb.adapt(lambda x: seen.append(x.tolist())), (X,), ())
    assert seen == [X.tolist()]


# Checked mode.


class TestChecked:
    def test_written(self, machine: Machine) -> None:
        def into(ctx: Any, out: Any, x: Any) -> None:
            out[0][...] = np.asarray(x)
            GpuArray.of(out[1]).assign(machine.gpu, Y)

        results = machine.run(into, (X,), (X * 0, X * 0), checked=True)
        assert [result.tolist() for result in results] == [X.tolist(), Y.tolist()]

    def test_not_written(self, machine: Machine) -> None:
        def forget(ctx: Any, out: Any, x: Any) -> None:
            out[0][...] = x

        with pytest.raises(RuntimeError, match=r"forget.* did not write its output `out\[1\]`"):
            machine.run(forget, (X,), (X, X), checked=True)

    @pytest.mark.parametrize("how", ["numpy", "library"])
    def test_written_in_part(self, how: str, machine: Machine) -> None:
        def half(ctx: Any, out: Any, x: Any) -> None:
            if how == "numpy":
                np.asarray(out)[:2] = x[:2]
            else:
                machine.gpu.copy(LEGACY, GpuArray.of(out).address, machine.gpu.put(X[:2]), 8)

        with pytest.raises(
            RuntimeError, match=r"only in part: 2 of 4 elements are missing, the first at .*2,"
        ):
            machine.run(half, checked=True)

    def test_values_that_look_like_the_pattern(self, machine: Machine) -> None:
        value = np.full(16, buffers.CANARY, np.uint8).view(np.float32)

        def into(ctx: Any, out: Any) -> None:
            out[...] = value

        assert machine.run(into, (), checked=True)[0].tobytes() == value.tobytes()

    def test_callbacks_with_side_effects_are_called_once(self, machine: Machine) -> None:
        calls: list[Any] = []
        with pytest.raises(RuntimeError, match="did not write"):
            machine.run(lambda ctx, out, x: calls.append(1), checked=True, repeatable=False)
        assert calls == [1]

    def test_aliased_outputs_are_written_already(self, machine: Machine) -> None:
        (result,) = machine.run(
            lambda ctx, out, x: None, (X,), (X,), checked=True, aliases=((0, 0),), repeatable=False
        )
        assert result.tolist() == X.tolist()

    def test_outputs_without_elements(self, machine: Machine) -> None:
        assert machine.run(lambda ctx, out: None, (), (np.zeros(0),), checked=True)[0].shape == (0,)


# Command buffers.


class TestRecording:
    """XLA calls the callback while its stream records, and runs the recorded work later without it."""

    def record(self, machine: Machine, function: Any, **options: Any) -> None:
        machine.gpu.recording.add(XLA_STREAM)
        machine.run(function, recordable=True, **options)

    def test_libraries_use_the_stream_themselves(self, machine: Machine) -> None:
        streams: list[Any] = []

        def into(ctx: Any, out: Any, x: Any) -> None:
            streams.append(out.__cuda_array_interface__["stream"])
            streams.append(x.__cuda_array_interface__["stream"])
            x.__dlpack__(stream=9)

        self.record(machine, into)
        assert streams == [None, None]
        assert set(machine.gpu.log) == {"is_recording"}

    def test_an_input_may_be_copied_to_an_output(self, machine: Machine) -> None:
        self.record(machine, lambda ctx, out, x: out.__setitem__(..., x))
        assert machine.copies() == ["within"]
        assert "synchronize" not in machine.gpu.log

    @pytest.mark.parametrize(
        "use",
        [
            lambda out, x: np.asarray(x),
            lambda out, x: np.asarray(out),
            lambda out, x: out.__setitem__(..., X),
            lambda out, x: out.__setitem__(0, 1),
            lambda out, x: [out.__cuda_array_interface__, np.asarray(out)],
            lambda out, x: [out.__cuda_array_interface__, out.__setitem__(..., X)],
            lambda out, x: float(x[0]),
        ],
    )
    def test_there_are_no_values_for_numpy(self, use: Any, machine: Machine) -> None:
        with pytest.raises(
            RuntimeError, match=r"recorded in a command buffer.*command_buffer_compatible=True"
        ):
            self.record(machine, lambda ctx, out, x: [use(out, x), None][1])
        assert machine.copies() == []

    def test_arrays_of_libraries_may_be_gone(self, machine: Machine) -> None:
        value = GpuArray.put(machine.gpu, Y)
        with pytest.raises(RuntimeError, match="may be gone when it runs"):
            self.record(machine, lambda ctx, out, x: out.__setitem__(..., value))

    def test_checks_are_left_out(self, machine: Machine) -> None:
        self.record(machine, lambda ctx, out, x: None, checked=True)
        assert machine.copies() == []

    def test_kept_inputs_are_not_copied(self, machine: Machine) -> None:
        kept: list[Any] = []
        self.record(machine, lambda ctx, out, x: kept.append(x), retain="copy")
        with pytest.raises(RuntimeError, match="used after its callback returned"):
            np.asarray(kept[0])

    def test_kept_buffers_are_an_error_here_too(self, machine: Machine) -> None:
        kept: list[Any] = []
        with pytest.raises(RuntimeError, match="still refers"):
            self.record(machine, lambda ctx, out, x: kept.append(GpuArray.of(x)))

    def test_not_at_this_time(self, machine: Machine) -> None:
        """XLA runs such a call itself as well, say the first time."""
        assert machine.run(lambda ctx, out, x: bufcb.store(out, x + 1), recordable=True)[0].tolist() == [
            2,
            3,
            4,
            5,
        ]


# Anything goes, in any order.


class Session:
    """An output on the GPU, and `values`, which it has to hold, as if there were one memory only."""

    def __init__(self, machine: Machine, out: Any, x: Any) -> None:
        self.gpu, self.out, self.x = machine.gpu, out, x
        self.values = X.copy()
        self.held: Any = None
        self.array: GpuArray | None = None

    def do(self, step: str, index: int, number: int) -> None:
        getattr(self, step)(index, number)
        if self.is_held():
            assert self.held.tolist() == self.values.tolist()

    def is_held(self) -> bool:
        """Whether something may write into the copy on the host."""
        return self.held is not None and bool(self.held.flags.writeable)

    def assign(self, index: int, number: int) -> None:
        self.out[...] = np.full(4, number, np.float32)
        self.values[...] = number

    def assign_input(self, index: int, number: int) -> None:
        self.out[...] = self.x
        self.values[...] = X

    def assign_an_array_of_a_library(self, index: int, number: int) -> None:
        array = GpuArray.put(self.gpu, X * 0)
        array.assign(self.gpu, np.full(4, number, np.float32))
        self.out[...] = array
        self.values[...] = number

    def assign_item(self, index: int, number: int) -> None:
        self.out[index] = number
        self.values[index] = number

    def add(self, index: int, number: int) -> None:
        self.out += number
        self.values += number

    def write_view(self, index: int, number: int) -> None:
        view = np.asarray(self.out)
        if view.flags.writeable:
            view[index] = number
            self.values[index] = number

    def read(self, index: int, number: int) -> None:
        assert np.asarray(self.out).tolist() == self.values.tolist()

    def hold(self, index: int, number: int) -> None:
        self.held = np.asarray(self.out)

    def write_held(self, index: int, number: int) -> None:
        if self.is_held():
            self.held[index] = number
            self.values[index] = number

    def drop(self, index: int, number: int) -> None:
        self.held = None

    def library_writes(self, index: int, number: int) -> None:
        if (array := self.share()) is not None:
            array.assign(self.gpu, np.full(4, number, np.float32))
            self.values[...] = number

    def library_reads(self, index: int, number: int) -> None:
        if (array := self.share()) is not None:
            host = np.zeros(4, np.float32)
            self.gpu.copy(LEGACY, host.ctypes.data, array.address, 16)
            self.gpu.finish(LEGACY)
            assert host.tolist() == self.values.tolist()

    def forget_array(self, index: int, number: int) -> None:
        self.array = None

    def share(self) -> GpuArray | None:
        if self.is_held():
            with pytest.raises(RuntimeError, match="in use as a NumPy array"):
                GpuArray.of(self.out)
            return None
        if self.array is None:
            self.array = GpuArray.of(self.out)
        return self.array


NAMES = ["assign", "assign_input", "assign_an_array_of_a_library", "assign_item", "add", "write_view", "read"]
NAMES += ["hold", "write_held", "drop", "library_writes", "library_reads", "forget_array"]
STEPS = st.tuples(st.sampled_from(NAMES), st.integers(0, 3), st.integers(-9, 9))


@hypothesis.given(st.lists(STEPS, max_size=20))
@hypothesis.settings(max_examples=300, derandomize=True)
def test_host_and_gpu_are_one_memory(steps: Any) -> None:
    machine = Machine(limit=4096)
    expected: list[Any] = []

    def into(ctx: Any, out: Any, x: Any) -> None:
        session = Session(machine, out, x)
        for step in steps:
            session.do(*step)
        expected.append(session.values.tolist())

    result = machine.run(into, (X,), (X,), aliases=((0, 0),), repeatable=False)[0].tolist()
    assert [result] == expected


# The machine.


def test_a_platform_has_one_driver_and_one_pool(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_trampoline, "driver_of", {"cuda": machine.driver}.__getitem__)
    monkeypatch.setenv("BUFCB_PINNED_LIMIT", "8192")
    device_trampoline.machine_of.cache_clear()
    driver, pool = device_trampoline.machine_of("cuda")
    assert driver is machine.driver
    assert device_trampoline.machine_of("cuda")[1] is pool
    with driver.scope(XLA_STREAM, ORDINAL):
        held = [pool.array((1024,), X.dtype) for _ in range(3)]
    assert [array is not None for array in held] == [True, True, False]
    device_trampoline.machine_of.cache_clear()


# Threads.


def test_threads_of_a_callback_share_the_copy(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        sums: list[float] = []
        threads = [threading.Thread(target=lambda: sums.append(float(np.asarray(x).sum()))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sums == [X.sum()] * 8

    machine.run(into, (X,), ())
    assert machine.copies() == ["to_host"]


def test_capsules_that_nobody_consumes_are_freed(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        count = sys.getrefcount(x)
        for _ in range(100):
            x.__dlpack__()
            x.__dlpack__(max_version=(1, 0))
        assert sys.getrefcount(x) == count

    machine.run(into)


# What `BUFCB_RECORD` records.


class Record:
    """Takes the place of a recorder."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []

    def done(self, inputs: Any, outputs: Any, started: float) -> None:
        self.calls.append(([x.tolist() for x in inputs], [x.tolist() for x in outputs]))

    def failed(self, inputs: Any, error: BaseException, started: float) -> None:
        self.calls.append(([x.tolist() for x in inputs], type(error)))


@pytest.mark.parametrize("checked", [False, True])
def test_a_call_is_recorded_with_what_the_gpu_holds(machine: Machine, checked: bool) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        np.asarray(out)[...] = np.asarray(x) + 1

    record = Record()
    machine.run(into, recorder=record, checked=checked)
    assert record.calls == [([X.tolist()], [(X + 1).tolist()])]


def test_an_aliased_input_is_recorded_as_it_was(machine: Machine) -> None:
    def into(ctx: Any, out: Any, x: Any) -> None:
        out += 1

    record = Record()
    machine.run(into, (X,), (X,), recorder=record, aliases=((0, 0),), repeatable=False)
    assert record.calls == [([X.tolist()], [(X + 1).tolist()])]


def test_a_call_that_raises_is_recorded(machine: Machine) -> None:
    kept = []

    def fails(ctx: Any, out: Any, x: Any) -> None:
        raise KeyError

    def keeps(ctx: Any, out: Any, x: Any) -> None:
        kept.append(np.asarray(x))

    record = Record()
    for function, error in ((fails, KeyError), (keeps, RuntimeError)):
        with pytest.raises(error):
            machine.run(function, recorder=record)
    assert record.calls == [([X.tolist()], KeyError), ([X.tolist()], RuntimeError)]


def test_work_that_xla_records_has_no_values_to_record(machine: Machine) -> None:
    machine.gpu.recording.add(XLA_STREAM)
    record = Record()
    machine.run(lambda ctx, out, x: None, recordable=True, recorder=record)
    assert record.calls == []
