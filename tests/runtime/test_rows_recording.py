"""`BUFCB_RECORD`: which calls are recorded, and what is written of them, in processes of their own."""

from collections.abc import Mapping

import pytest

import bufcb.recording
from codemods.verification import recordings
from codemods.verification.names import Key
from codemods.verification.recordings import Calls, Recording

PRELUDE = """
import functools, os, sys, threading
import jax, jax.numpy as jnp, numpy as np
from jax import pure_callback
from jax.experimental import io_callback
from jax.experimental.buffer_callback import buffer_callback
import bufcb

def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)

def negate(x):
    return np.negative(np.asarray(x))

def negate_into(ctx, out, x):
    np.asarray(out)[...] = np.negative(np.asarray(x))

x = jnp.arange(3.0)
"""


def key_of(signature: Mapping[str, object]) -> Key:
    line = signature["line"]
    return Key(str(signature["file"] or ""), line if isinstance(line, int) else 0, str(signature["name"]))


@pytest.fixture
def record(script, tmp_path):
    """Runs source with a recording, and reads it."""

    def run(source: str, status: int = 0, **environment: str) -> Recording:
        folder = tmp_path / "recording"
        process = script(PRELUDE + source, BUFCB_RECORD=str(folder), **environment)
        assert process.returncode == status, process.stderr
        return recordings.read(folder, key_of)

    return run


def by_name(recording: Recording) -> dict[str, Calls]:
    assert not recording.faults
    return {key.name: calls for key, calls in recording.callbacks.items()}


def test_the_reader_knows_the_format_of_the_writer() -> None:
    writer, reader = bufcb.recording, recordings
    for ours, theirs in (
        (writer.HEADER, reader._HEADER),
        (writer.RECORD, reader._RECORD),
        (writer.COUNT, reader._COUNT),
        (writer.CALL, reader._CALL),
        (writer.PLACE, reader._PLACE),
        (writer.FAILED, reader._FAILED),
    ):
        assert ours.format == theirs.format
    assert writer.MAGIC == reader._MAGIC
    assert (writer.LOG, writer.ARRAYS, writer.FAULT) == (".calls", ".arrays", ".fault")


SPELLINGS = """
calls = [
    lambda x: jax.pure_callback(negate, like(x), x),
    lambda x: pure_callback(negate, like(x), x),
    lambda x: io_callback(negate, like(x), x),
    lambda x: buffer_callback(negate_into, like(x))(x),
    lambda x: bufcb.buffer_callback(negate_into, like(x))(x),
    lambda x: bufcb.pure_callback(negate, like(x), x),
    lambda x: bufcb.buffer_callback(bufcb.adapt(negate), like(x))(x),
]
for number, call in enumerate(calls):
    for transformed in (call, jax.jit(call), lambda x: jax.lax.fori_loop(0, 2, lambda _, x: call(x), x)):
        transformed(x + number).block_until_ready()
"""


def test_every_callback_is_recorded_alike(record) -> None:
    """By every API, eagerly, compiled and in a loop, with the same digests."""
    found = by_name(record(SPELLINGS))
    assert found["negate"].apis == {"pure_callback", "io_callback", "buffer_callback"}
    assert found["negate_into"].apis == {"buffer_callback", "jax.buffer_callback"}
    assert found["negate"].total == 5 * 4
    assert found["negate_into"].total == 2 * 4
    # Each starts from other numbers, and has what it gave negated.
    assert len(found["negate"].results) == 5 * 2
    assert len(found["negate_into"].results) == 2 * 2
    assert all(len(results) == 1 for calls in found.values() for results in calls.results.values())


def test_arrays_are_kept_as_they_were(record) -> None:
    source = "bufcb.buffer_callback(negate_into, like(x))(x).block_until_ready()"
    (calls,) = record(source).callbacks.values()
    ((key, kept),) = calls.kept.items()
    given, written = kept.read(*key)
    assert memoryview(given).cast("f").tolist() == [0, 1, 2]
    assert memoryview(written).cast("f").tolist() == [0, -1, -2]
    assert key[0].avals == key[1].avals == (("float32", (3,)),)


def test_names_lead_to_the_users_own_function(record) -> None:
    source = """
class Model:
    def method(self, x):
        return negate(x)

    def __call__(self, x):
        return negate(x)

def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def outer():
    return lambda x: negate(x)

@wrapped
def decorated(x):
    return negate(x)

def bound(n, x):
    return negate(x)

callbacks = [Model().method, Model(), decorated, outer(), functools.partial(functools.partial(bound), 1)]
for callback in [*callbacks, np.negative, np.linalg.inv]:
    pure_callback(callback, like(x) if callback is not np.linalg.inv else like(jnp.eye(2)),
                  x if callback is not np.linalg.inv else jnp.eye(2)).block_until_ready()
"""
    names = ["Model.method", "Model.__call__", "decorated", "outer.<locals>.<lambda>", "bound"]
    assert set(by_name(record(source))) == {*names, "numpy.negative", "inv"}


def test_failures_are_recorded_by_their_kind(record) -> None:
    """What `pure_callback` finds wrong with results is what a strict write finds wrong."""
    source = """
def fails(x):
    raise KeyError("no")

def wide(x):
    return np.zeros(4, np.float32)

def wide_into(ctx, out, x):
    out[...] = np.zeros(4, np.float32)

def keeps_into(ctx, out, x):
    out[...] = np.asarray(x)
    kept.append(x)

kept = []
for call in (lambda x: pure_callback(fails, like(x), x), lambda x: pure_callback(wide, like(x), x),
             lambda x: bufcb.buffer_callback(bufcb.adapt(fails), like(x))(x),
             lambda x: bufcb.buffer_callback(wide_into, like(x))(x),
             lambda x: bufcb.buffer_callback(keeps_into, like(x))(x)):
    try:
        call(x).block_until_ready()
    except Exception:
        continue
    raise SystemExit("nothing was raised")
"""
    found = by_name(record(source))
    raised = {
        name: {
            result.raised: count for results in calls.results.values() for result, count in results.items()
        }
        for name, calls in found.items()
    }
    error = {"RuntimeError": 1}
    assert raised == {"fails": {"KeyError": 2}, "wide": error, "wide_into": error, "keeps_into": error}
    assert {calls.total for calls in found.values()} == {1, 2}
    # The text of the user's own exception is the same by either API; what JAX finds wrong has none here.
    assert list(found["fails"].texts.values()) == [{"'no'"}]
    assert not found["wide"].texts


def test_an_aliased_input_is_recorded_as_it_was(record) -> None:
    source = """
def add_one(ctx, out, x):
    view = np.asarray(out)
    view += 1
bufcb.buffer_callback(add_one, like(x), input_output_aliases={0: 0})(x).block_until_ready()
buffer_callback(add_one, like(x), input_output_aliases={0: 0})(x).block_until_ready()
"""
    (calls,) = record(source).callbacks.values()
    assert calls.total == 2
    ((key, kept),) = calls.kept.items()
    given, written = (memoryview(data).cast("f").tolist() for data in kept.read(*key))
    assert (given, written) == ([0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize(
    "dtype", ["int4", "uint2", "bfloat16", "float8_e4m3fn", "bool", "complex64", "uint8"]
)
def test_types_of_every_width_have_one_digest(record, dtype) -> None:
    source = f"""
x = jnp.asarray([1, -1, 0, 1]).astype(jnp.{dtype}).reshape(2, 2)
pure_callback(lambda x: np.asarray(x).T, like(x), x).block_until_ready()
bufcb.buffer_callback(lambda ctx, out, x: bufcb.store(out, np.asarray(x).T), like(x))(x).block_until_ready()
"""
    one, other = record(source).callbacks.values()
    assert one.results == other.results
    assert len(one.results) == 1


def test_64_bit_results_are_recorded_as_jax_takes_them(record) -> None:
    source = """
pure_callback(lambda x: np.asarray(x, np.float64), like(x), x).block_until_ready()
bufcb.buffer_callback(lambda ctx, out, x: bufcb.store(out, np.asarray(x, np.float64)), like(x))(x)
jax.effects_barrier()
"""
    one, other = record(source).callbacks.values()
    assert one.results == other.results
    assert all(result.raised is None for results in one.results.values() for result in results)


def test_what_a_process_wrote_survives_its_end(record) -> None:
    source = """
import warnings; warnings.simplefilter("ignore")
pure_callback(negate, like(x), x).block_until_ready()
(recorder,) = bufcb.recording._by_signature.values()
child = os.fork()
if not child:  # where JAX itself may hang
    recorder.done([np.ones(3, np.float32)], [np.zeros(3, np.float32)], 0.0)
    os.kill(os.getpid(), 9)
os.waitpid(child, 0)
os._exit(7)
"""
    (calls,) = record(source, status=7).callbacks.values()
    assert calls.total == 2
    assert len(calls.results) == 2
    assert calls.is_complete


def test_threads_share_a_log(record) -> None:
    source = """
def work(start):
    call = jax.jit(lambda x: bufcb.buffer_callback(negate_into, like(x))(x))
    for number in range(100):
        call(x + start + number).block_until_ready()

threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    (calls,) = record(source).callbacks.values()
    assert calls.total == 400
    assert len(calls.results) == 400
    assert calls.is_complete


def test_many_calls_are_sampled_by_what_they_are_called_with(record, tmp_path) -> None:
    source = """
def run(start):
    call = bufcb.buffer_callback(negate_into, like(x))
    jax.lax.fori_loop(0, 12_000, lambda i, y: y + call(x + i + start), x).block_until_ready()

run(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
run(20_000.0)
"""
    (calls,) = record(source).callbacks.values()
    assert calls.total == 24_000
    assert not calls.is_complete
    recorded = sum(results.total() for results in calls.results.values())
    assert 10_000 + 14_000 / 64 * 0.8 < recorded < 10_000 + 14_000 / 64 * 1.2
    assert len(calls.sampled) == pytest.approx(24_000 / 64, rel=0.2)
    assert 200 <= len(calls.kept) < 400


def test_a_recording_keeps_within_its_limit(record, tmp_path) -> None:
    source = """
big = jnp.zeros(50_000)
call = jax.jit(lambda x: bufcb.buffer_callback(negate_into, like(x))(x))
for number in range(20):
    call(big + number).block_until_ready()
def work(x):
    jax.lax.fori_loop(0, 9_000, lambda i, y: bufcb.buffer_callback(negate_into, like(x))(y + i), x)
work(x)
jax.effects_barrier()
"""
    recording = record(source, BUFCB_RECORD_LIMIT="1000000")
    assert recording.is_full
    sizes = [path.stat().st_size for path in (tmp_path / "recording").iterdir()]
    assert sum(sizes) < 1_100_000
    (calls,) = recording.callbacks.values()
    assert calls.total == 9_020
    assert 0 < sum(arguments.avals[0][1] == (50_000,) for arguments, _ in calls.kept) < 20
    assert not calls.is_complete


def test_a_recording_that_fails_leaves_the_program_alone(script, tmp_path) -> None:
    (tmp_path / "file").touch()
    source = (
        PRELUDE + "print(bufcb.buffer_callback(negate_into, like(x))(x), pure_callback(negate, like(x), x))"
    )
    process = script(source, BUFCB_RECORD=str(tmp_path / "file" / "below"))
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == "[ 0. -1. -2.] [ 0. -1. -2.]\n".replace("[ 0.", "[-0.")


def test_without_being_asked_nothing_is_recorded(script, tmp_path) -> None:
    source = (
        PRELUDE
        + """
from jax._src import callback
assert callback.pure_callback_impl.__module__ == "jax._src.callback"
assert bufcb.recording.recorder("buffer_callback", negate_into, [], []) is None
"""
    )
    process = script(source, BUFCB_RECORD="")
    assert process.returncode == 0, process.stderr


def test_files_that_the_program_closes_are_not_written_to(record, tmp_path) -> None:
    """As daemons do; the numbers of closed files are those of the next that are opened."""
    source = f"""
call = jax.jit(lambda x: bufcb.buffer_callback(negate_into, like(x))(x))
call(x).block_until_ready()
os.closerange(3, 64)
files = [open({str(tmp_path)!r} + f"/{{i}}", "wb") for i in range(30)]
for number in range(1, 50):
    call(x + number).block_until_ready()
"""
    (calls,) = record(source).callbacks.values()
    assert len(calls.kept) == calls.total == 50
    assert {path.stat().st_size for path in tmp_path.iterdir() if path.is_file()} == {0}


def test_objects_that_answer_nothing_are_recorded(record) -> None:
    source = """
class Odd:
    def __getattr__(self, name):
        raise RuntimeError(name)

    def __call__(self, x):
        return negate(x)

pure_callback(Odd(), like(x), x).block_until_ready()
"""
    assert set(by_name(record(source))) <= {"Odd", "Odd.__call__"}


def test_what_a_callback_does_not_write_holds_no_old_result(record) -> None:
    """Else memory that was used before could make up for a write that is missing."""
    source = """
def halves(ctx, out, x):
    np.asarray(out)[:1] = 1

def rest(ctx, out, x):
    np.asarray(out)[1:] = 1

for call in (bufcb.buffer_callback(halves, like(x)), buffer_callback(rest, like(x))):
    jax.block_until_ready(call(x))
"""
    calls = by_name(record(source))
    canary, one = b"\xa5" * 4, b"\0\0\x80\x3f"
    for name, expected in (("halves", one + 2 * canary), ("rest", canary + 2 * one)):
        (((arguments, result), kept),) = calls[name].kept.items()
        assert kept.read(arguments, result)[1] == expected


def test_what_is_bound_to_a_callback_tells_it_from_others(record) -> None:
    source = """
def scaled_by(factor):
    return lambda x: np.asarray(x) * np.float32(factor)

def keyword(x, *, power):
    return np.asarray(x) ** np.float32(power)

class Shift:
    def __init__(self, by):
        self.by, self.other = by, jax
    def shifted(self, x):
        return np.asarray(x) + self.by

for number in (1, 2, 2):
    array = np.full(3, number, np.float32)
    callbacks = scaled_by(number), functools.partial(keyword, power=(number, number)[1]), Shift(array).shifted
    for callback in (*callbacks, negate):
        jax.block_until_ready(jax.pure_callback(callback, like(x), x))
        jax.block_until_ready(bufcb.buffer_callback(bufcb.adapt(callback), like(x))(x))
"""
    calls = by_name(record(source))
    for name in ("scaled_by.<locals>.<lambda>", "keyword", "Shift.shifted"):
        (bound,) = calls[name].bound.values()
        # The same of both APIs, so that a run before a migration has them as well as one after it.
        assert len({text for text, _ in bound}) == len(bound) == 2
    assert not calls["negate"].bound
