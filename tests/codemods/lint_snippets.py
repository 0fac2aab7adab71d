"""Programs that the rules of `bufcb-lint` must flag, and near misses that they must not, by code.

Each follows `PREAMBLE`, and does what it is about when it is run.
"""

from __future__ import annotations

import textwrap

PREAMBLE = """\
import functools
import logging

import bufcb
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import buffer_callback as theirs

S = jax.ShapeDtypeStruct((3,), jnp.float32)
x = jnp.arange(3.0)
"""

_CALL = "y = bufcb.buffer_callback(cb, S)(x)"


def _program(text: str, call: str = _CALL) -> str:
    text = textwrap.dedent(text).strip("\n") + "\n"
    is_called = "buffer_callback(" in text or "\ny = " in text
    return PREAMBLE + text + ("" if is_called else call + "\n")


_FLAGGED: dict[str, dict[str, str]] = {
    "BCL001": {
        "returns an expression": """
            def cb(ctx, out, x):
                return np.asarray(x) * 2
        """,
        "returns a value on one of its paths": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() > 0:
                    return np.sin(x)
                return np.cos(x)
        """,
        "returns the output that it has written": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                return out
        """,
        "a lambda has a value": """
            y = bufcb.buffer_callback(lambda ctx, out, x: np.sin(x), S)(x)
        """,
        "returns what a function in sight returns": """
            def double(x):
                return np.asarray(x) * 2

            def cb(ctx, out, x):
                return double(x)
        """,
        "returns a number from JAX's own callback": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)
                return 0

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "returns what nobody knows, and never writes": """
            import copy

            def cb(ctx, out, x):
                return copy.copy(np.asarray(x))
        """,
        "returns a local name that holds a value": """
            def cb(ctx, out, x):
                result = np.asarray(x) + 1
                return result
        """,
        "is a generator": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                yield
        """,
        "is a coroutine function": """
            async def cb(ctx, out, x):
                out[...] = np.asarray(x)
        """,
        "is decorated with a partial of the call": """
            @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
            def run(ctx, out, x):
                out[...] = np.asarray(x)
                return out

            y = run(x)
        """,
        "is handed to a partial of the call": """
            call = functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)

            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                return out

            y = call(cb)(x)
        """,
        "is taken from a table": """
            TABLE = {"sin": lambda ctx, out, x: np.sin(x)}
            y = bufcb.buffer_callback(TABLE["sin"], S)(x)
        """,
        "returns a value, where the import falls back on the other library": """
            try:
                from bufcb import buffer_callback
            except ImportError:
                from jax.experimental.buffer_callback import buffer_callback

            def cb(ctx, out, x):
                return np.asarray(x) * 2

            y = buffer_callback(cb, S)(x)
        """,
    },
    "BCL002": {
        "writes under a condition alone": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() > 100:
                    out[...] = x
        """,
        "returns early without a write": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() < 100:
                    return
                out[...] = x
        """,
        "never writes": """
            def cb(ctx, out, x):
                np.sin(np.asarray(x))
        """,
        "asks for the shape alone": """
            def cb(ctx, out, x):
                assert out.shape == (3,)
        """,
        "never writes, at the one stage that it asks for": """
            def cb(ctx, out, x):
                if ctx.stage != bufcb.ExecutionStage.EXECUTE:
                    return
                np.asarray(x)
        """,
        "leaves one of two outputs out": """
            def cb(ctx, out, x):
                out[0][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "leaves one output of a dict out": """
            def cb(ctx, out, x):
                out["lo"][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, {"lo": S, "hi": S})(x)
        """,
        "unpacks two outputs and writes one": """
            def cb(ctx, out, x):
                a, b = out
                a[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "swallows an error before the write": """
            def cb(ctx, out, x):
                try:
                    out[...] = np.linalg.inv(np.asarray(x))
                except np.linalg.LinAlgError:
                    logging.info("singular")
        """,
        "leaves an output unwritten beside one that is aliased": """
            def cb(ctx, outs, x):
                first, second = outs
                first[...] = np.asarray(x) + 1

            y = bufcb.buffer_callback(cb, (S, S), input_output_aliases={0: 0})(x)
        """,
        "writes into a copy of the output": """
            def cb(ctx, out, x):
                copy = np.array(out)
                copy[...] = np.asarray(x)
        """,
        "writes into an array like the output": """
            def cb(ctx, out, x):
                result = np.zeros_like(out)
                result[...] = np.asarray(x)
        """,
        "leaves an output of a dict unwritten beside one that is aliased": """
            def cb(ctx, outs, x):
                outs["z"][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, {"z": S, "a": S}, input_output_aliases={0: 1})(x)
        """,
        "hands the output to a function that looks at it": """
            def _check(array):
                assert array.shape == (3,)

            def cb(ctx, out, x):
                _check(out)
        """,
        "hands the output to a method that reads it": """
            class Host:
                def _measure(self, before, array):
                    return self._size(np.asarray(array)) - before

                def _size(self, array):
                    return array.nbytes

                def cb(self, ctx, out, x):
                    self._measure(0, array=out)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "writes in a loop over what a mask picks": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                for value in x[x > 100]:
                    out[:] = value
        """,
        "writes in a loop over what a condition picks": """
            def cb(ctx, out, x):
                big = [value for value in np.asarray(x) if value > 100]
                for index, value in enumerate(big):
                    out[index] = value
                return
        """,
        "writes in a loop over what is not zero": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                for index in np.flatnonzero(x > 100):
                    out[:] = x[index]
        """,
        "never looks at the arguments among which the output is": """
            def cb(ctx, *outs, x):
                np.asarray(x)

            y = bufcb.buffer_callback(cb, S)(x=x)
        """,
        "never writes the second of its arguments": """
            def cb(*args):
                np.asarray(args[2])
        """,
    },
    "BCL003": {
        "assigns to the output's name": """
            def cb(ctx, out, x):
                out = np.asarray(x) * 2
        """,
        "assigns to it with an annotation": """
            def cb(ctx, out, x):
                out: np.ndarray = np.sin(np.asarray(x))
        """,
        "assigns to it in JAX's own callback": """
            def cb(ctx, result, x):
                result = np.asarray(x) + 1

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "assigns to it in a branch": """
            def cb(ctx, out, x):
                if np.asarray(x).sum() < 100:
                    out = np.asarray(x)
                else:
                    out[...] = np.asarray(x)
        """,
        "assigns to it on two ways": """
            def cb(ctx, out, x):
                if np.asarray(x).sum() < 100:
                    out = np.asarray(x)
                else:
                    out = -np.asarray(x)
        """,
        "assigns to it in JAX's own callback that returns early": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() < 100:
                    out = x
                    return
                np.asarray(out)[...] = x

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "assigns to it and reads it later": """
            def cb(ctx, out, x):
                out = np.asarray(x) * 2
                out += 1
        """,
        "unpacks into the output's name": """
            def cb(ctx, out, x):
                out, shift = np.modf(np.asarray(x))
        """,
        "replaces an entry of the dict of outputs": """
            def cb(ctx, out, x):
                out["lo"] = np.asarray(x)

            y = bufcb.buffer_callback(cb, {"lo": S})(x)
        """,
        "replaces an entry of the list of outputs": """
            def cb(ctx, out, x):
                out[0] = np.asarray(x)

            y = bufcb.buffer_callback(cb, [S])(x)
        """,
        "rebinds what it has unpacked": """
            def cb(ctx, outs, x):
                first, second = outs
                first = np.asarray(x)
                second = np.asarray(x) + 1

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "rebinds a view of the output": """
            def cb(ctx, out, x):
                view = np.asarray(out)
                view = np.asarray(x) + 1
        """,
        "adds to the output, which makes a new array": """
            def cb(ctx, out, x):
                out = out + np.asarray(x)
        """,
        "makes a copy under the output's name": """
            def cb(ctx, out, x):
                out = np.array(out)
                out[...] = np.asarray(x)
        """,
        "binds the name in an expression": """
            def cb(ctx, out, x):
                if (out := np.asarray(x)).sum() > 0:
                    print(out)
        """,
        "loops with the name of the output": """
            def cb(ctx, out, x):
                for out in np.asarray(x):
                    print(out)
        """,
    },
    "BCL004": {
        "appends a view to a list of the module": """
            HISTORY = []

            def cb(ctx, out, x):
                x = np.asarray(x)
                HISTORY.append(x)
                out[...] = x
        """,
        "keeps the input itself in an attribute": """
            class Host:
                def cb(self, ctx, out, x):
                    self.last = x
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "keeps a view in a global name": """
            last = None

            def cb(ctx, out, x):
                global last
                last = np.asarray(x)
                out[...] = last
        """,
        "puts a slice into a dict": """
            CACHE = {}

            def cb(ctx, out, x):
                x = np.asarray(x)
                CACHE["head"] = x[:2]
                out[...] = x
        """,
        "extends a list by views": """
            LOG = []

            def cb(ctx, out, x):
                x = np.asarray(x)
                LOG.extend([x, -x])
                out[...] = x
        """,
        "keeps the output": """
            KEPT = []

            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                KEPT.append(out)
        """,
        "keeps a tuple with a view in it": """
            LOG = []

            def cb(ctx, out, x):
                x = np.asarray(x)
                LOG.append(("input", x.T))
                out[...] = x
        """,
        "keeps a view in a name of the enclosing function": """
            def make():
                seen = None

                def cb(ctx, out, x):
                    nonlocal seen
                    seen = np.asarray(x).reshape(3, 1)
                    out[...] = np.asarray(x)

                return bufcb.buffer_callback(cb, S)(x), seen

            y = make()
        """,
        "appends to a list of an object": """
            class Host:
                def __init__(self):
                    self.seen = []

                def cb(self, ctx, out, x):
                    self.seen.append(np.asarray(x))
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "extends a global list in place": """
            KEPT = []

            def cb(ctx, out, x):
                global KEPT
                KEPT += [np.asarray(x)]
                out[...] = np.asarray(x)
        """,
        "sets an attribute by its name": """
            def cb(ctx, out, x):
                setattr(cb, "last", np.asarray(x))
                out[...] = np.asarray(x)
        """,
        "keeps all inputs together": """
            KEPT = []

            def cb(ctx, out, *xs):
                KEPT.append(xs)
                out[...] = np.asarray(xs[0])
        """,
        "appends in a lambda": """
            KEPT = []
            write = lambda ctx, out, x: (np.copyto(out, x), KEPT.append(np.asarray(x)))[1]
            y = bufcb.buffer_callback(write, S)(x)
        """,
        "keeps a memoryview": """
            KEPT = []

            def cb(ctx, out, x):
                KEPT.append(memoryview(np.asarray(x)))
                out[...] = np.asarray(x)
        """,
        "keeps one of several outputs": """
            KEPT = []

            def cb(ctx, outs, x):
                first, second = outs
                first[...] = second[...] = np.asarray(x)
                KEPT.append(second)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "keeps a nested function that reads a view": """
            LATER = []

            def cb(ctx, out, x):
                x = np.asarray(x)

                def total():
                    return x.sum()

                LATER.append(total)
                out[...] = x
        """,
        "keeps a lambda that reads the output": """
            LATER = {}

            def cb(ctx, out, x):
                LATER["sum"] = lambda: out.sum()
                out[...] = np.asarray(x)
        """,
        "keeps a partial that holds a view": """
            LATER = []

            def cb(ctx, out, x):
                LATER.append(functools.partial(np.add, 1, np.asarray(x)))
                out[...] = np.asarray(x)
        """,
        "keeps a lambda by whose default it is held": """
            class Host:
                def cb(self, ctx, out, x):
                    self.later = lambda a, x=x: a + x
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "hands a view to a function that keeps it": """
            SEEN = []

            def _remember(name, array):
                SEEN.append((name, array))

            def cb(ctx, out, x):
                x = np.asarray(x)
                _remember("x", x)
                out[...] = x
        """,
        "hands a view to a method that keeps it": """
            import threading

            class Host:
                def __init__(self):
                    self.lock, self.last = threading.Lock(), None

                def _remember(self, array):
                    with self.lock:
                        self.last = array

                def cb(self, ctx, out, x):
                    self._remember(array=np.asarray(x))
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "keeps a view, where the import falls back on the other library": """
            try:
                import bufcb as lib
            except ImportError:
                from jax.experimental import buffer_callback as lib

            KEPT = []

            def cb(ctx, out, x):
                view = np.asarray(x)
                KEPT.append(view)
                np.asarray(out)[...] = view

            y = lib.buffer_callback(cb, S)(x)
        """,
    },
    "BCL005": {
        "adds to a view in place": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x += 1
                out[...] = x
        """,
        "assigns to an element of a view": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x[0] = 5
                out[...] = x
        """,
        "adds to the buffer of JAX's own": """
            def cb(ctx, out, x):
                view = np.asarray(x)
                view *= 2
                np.asarray(out)[...] = view

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "sorts in place": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x.sort()
                out[...] = x
        """,
        "gives an input as where to write": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                np.sin(x, out=x)
                out[...] = x
        """,
        "copies into an input": """
            def cb(ctx, out, x):
                np.copyto(np.asarray(x), 0)
                out[...] = np.asarray(x)
        """,
        "writes through a slice": """
            def cb(ctx, out, x):
                head = np.asarray(x)[:2]
                head[...] = 0
                out[...] = np.asarray(x)
        """,
        "writes in a loop": """
            def cb(ctx, out, x):
                values = np.asarray(x)
                for index in range(3):
                    values[index] += index
                out[...] = values
        """,
        "writes into the buffer as handed in": """
            def cb(ctx, out, x):
                x[...] = 0
                out[...] = np.asarray(x)
        """,
        "adds a number to an argument of its caller": """
            def cb(ctx, out, x):
                x += 1
                out[...] = x

            def run(x):
                return bufcb.buffer_callback(cb, S)(x)

            y = run(x)
        """,
        "writes an element of what its spec is made with": """
            def run(x):
                def cb(ctx, out, x):
                    x[0] = 1
                    out[...] = 2

                return bufcb.buffer_callback(cb, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

            y = run(x)
        """,
        "writes an element of what it sums": """
            def cb(ctx, out, x):
                x[0] = 1
                out[...] = x.sum()

            def run(x):
                return bufcb.buffer_callback(cb, S)(x)

            y = run(x)
        """,
        "writes an element of what it hands out": """
            def cb(ctx, out, x):
                x[0] = 1
                out[...] = x

            def run(x):
                return bufcb.buffer_callback(cb, S)(x)

            y = run(x)
        """,
        "writes an element of a buffer of JAX's own": """
            def cb(ctx, out, x):
                x[0] = x.shape[0]
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "shuffles in place": """
            def cb(ctx, out, x):
                generator = np.random.default_rng(0)
                x = np.asarray(x)
                generator.shuffle(x)
                out[...] = x
        """,
        "asks for its input to be writable": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x.setflags(write=True)
                out[...] = x
        """,
        "sets the flag of its input": """
            def cb(ctx, out, x):
                x.flags.writeable = True
                out[...] = x
        """,
        "hands a view to a function that writes into it": """
            def _double(array):
                array *= 2

            def cb(ctx, out, x):
                _double(np.asarray(x))
                out[...] = x
        """,
        "hands a view of JAX's own to a function that writes into it": """
            def _clear(first, rest):
                rest[1:] = 0

            def cb(ctx, out, x):
                _clear(0, rest=np.asarray(x))
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
    },
    "BCL006": {
        "takes neither context nor output": """
            def cb(x):
                pass
        """,
        "takes no output": """
            def cb(ctx, x):
                pass
        """,
        "takes one argument too few": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S)(x, x)
        """,
        "takes one argument too many": """
            def cb(ctx, out, x, scale):
                out[...] = np.asarray(x) * scale
        """,
        "takes no such keyword": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S)(x, scale=x)
        """,
        "has a keyword of its own that nobody gives": """
            def cb(ctx, out, x, *, scale):
                out[...] = np.asarray(x) * scale
        """,
        "a lambda takes the arguments alone": """
            y = theirs.buffer_callback(lambda x: None, S)(x)
        """,
        "a partial binds the context": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(functools.partial(cb, None), S)(x)
        """,
        "is given its arguments as pure_callback is": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, x)
        """,
        "JAX's own is given arguments behind the spec": """
            def cb(ctx, out, x, scale):
                np.asarray(out)[...] = np.asarray(x) * scale

            y = theirs.buffer_callback(cb, S, x, 2.0)
        """,
        "is given an argument twice": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S)(x, x=x)
        """,
    },
    "BCL007": {
        "jax.grad of the function that makes the call": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(x):
                return jnp.sum(bufcb.buffer_callback(cb, S)(x))

            y = jax.grad(loss)(x)
        """,
        "jax.grad two functions further up": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def host(x):
                return bufcb.buffer_callback(cb, S)(x)

            def loss(x):
                return jnp.sum(host(x) ** 2)

            y = jax.value_and_grad(loss)(x)
        """,
        "forward mode": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def f(x):
                return bufcb.buffer_callback(cb, S)(x)

            y = jax.jvp(f, (x,), (x,))
        """,
        "a call that a name holds": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            call = bufcb.buffer_callback(cb, S)

            def loss(x):
                return call(x).sum()

            y = jax.grad(loss)(x)
        """,
        "JAX's own, in a jitted function": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.sin(np.asarray(x))

            @jax.jit
            def loss(x):
                return jnp.sum(theirs.buffer_callback(cb, S)(x))

            y = jax.grad(loss)(x)
        """,
        "a Jacobian of a lambda": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            y = jax.jacrev(lambda x: bufcb.buffer_callback(cb, S)(x) * 2)(x)
        """,
        "a derivative that an object holds": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            class Training:
                def __init__(self):
                    self.gradient = jax.value_and_grad(lambda x: jnp.sum(bufcb.buffer_callback(cb, S)(x)))

            y = Training().gradient(x)
        """,
        "a derivative by an argument whose number a name holds": """
            WHICH = {"argnums": 1}

            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(scale, x):
                return jnp.sum(scale * bufcb.buffer_callback(cb, S)(x))

            gradients = [jax.jit(jax.grad(loss, **WHICH))]
            y = gradients[0](2.0, x)
        """,
        "the outputs are integers, and the argument is differentiated": """
            INTEGERS = jax.ShapeDtypeStruct((3,), jnp.int32)

            def cb(ctx, out, x):
                out[...] = np.asarray(x).astype(np.int32)

            y = jax.grad(lambda x: jnp.sum(x * bufcb.buffer_callback(cb, INTEGERS)(x)))(x)
        """,
        "the gradient stops behind it": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            y = jax.grad(lambda x: jnp.sum(x * jax.lax.stop_gradient(bufcb.buffer_callback(cb, S)(x))))(x)
        """,
        "it is the body of a scan": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(x):
                def step(carry, _):
                    return bufcb.buffer_callback(cb, S)(carry), None

                return jnp.sum(jax.lax.scan(step, x, None, length=2)[0])

            y = jax.grad(loss)(x)
        """,
        "one of two calls is protected": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(x):
                safe = bufcb.buffer_callback(cb, S)(jax.lax.stop_gradient(x))
                return jnp.sum(safe + bufcb.buffer_callback(cb, S)(x))

            y = jax.grad(loss)(x)
        """,
        "a callback that a partial of the call decorates": """
            @jax.jit
            @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
            def sin(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            y = jax.grad(lambda x: sin(x).sum())(x)
        """,
        "a callback that a function decorates": """
            def logged(function):
                @functools.wraps(function)
                def wrapper(ctx, out, *args):
                    logging.debug("called")
                    return function(ctx, out, *args)

                return wrapper

            @logged
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            y = jax.grad(lambda x: bufcb.buffer_callback(cb, S)(x).sum())(x)
        """,
    },
    "BCL008": {
        "calls jax.numpy": """
            def cb(ctx, out, x):
                out[...] = np.asarray(jnp.sin(np.asarray(x)))
        """,
        "calls a jitted function": """
            @jax.jit
            def double(x):
                return x * 2

            def cb(ctx, out, x):
                out[...] = np.asarray(double(np.asarray(x)))
        """,
        "calls a function that calls jax.lax": """
            def total(x):
                return jax.lax.cumsum(x)

            def cb(ctx, out, x):
                out[...] = np.asarray(total(np.asarray(x)))
        """,
        "calls a function made by jax.jit": """
            double = jax.jit(lambda x: x * 2)

            def cb(ctx, out, x):
                out[...] = np.asarray(double(np.asarray(x)))
        """,
        "makes a JAX array of its input": """
            def cb(ctx, out, x):
                host = jnp.asarray(np.asarray(x))
                out[...] = np.asarray(host)
        """,
        "draws random numbers with JAX": """
            def cb(ctx, out, x):
                key = jax.random.key(0)
                out[...] = np.asarray(x)
        """,
        "computes a gradient": """
            def cb(ctx, out, x):
                out[...] = np.asarray(jax.vmap(jax.grad(abs))(np.asarray(x)))
        """,
        "calls a method that computes with JAX": """
            class Host:
                def helper(self, value):
                    return jnp.sin(value)

                def _cb(self, ctx, out, x):
                    out[...] = np.asarray(self.helper(np.asarray(x)))

                def run(self, x):
                    return bufcb.buffer_callback(self._cb, S)(x)

            y = Host().run(x)
        """,
        "calls a jitted method": """
            class Host:
                @functools.partial(jax.jit, static_argnums=0)
                def helper(self, value):
                    return value + 1

                def _cb(self, ctx, out, x):
                    out[...] = np.asarray(self.helper(np.asarray(x)))

                def run(self, x):
                    return bufcb.buffer_callback(self._cb, S)(x)

            y = Host().run(x)
        """,
    },
    "BCL009": {
        "copies with np.array": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.array(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "converts with a dtype": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x, dtype=np.float64)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for the dtype that it has": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x, np.float32)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies on the right of its own name": """
            def cb(ctx, out, x):
                x = np.array(x)
                x += 1
                np.asarray(out)[...] = x

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for a copy with an option": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x, copy=True)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "converts with ascontiguousarray": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.ascontiguousarray(x, dtype=np.float64)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies in one branch": """
            def cb(ctx, out, x):
                view = np.asarray(x)
                if view.sum() > 0:
                    view = np.array(x)
                np.asarray(out)[...] = view

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes an output by its items": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes an output by a slice": """
            def cb(ctx, out, x):
                out[:] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes several outputs by their items": """
            def cb(ctx, outs, x):
                first, second = outs
                first[...] = np.asarray(x)
                second[:] = 0

            y = theirs.buffer_callback(cb, (S, S))(x)
        """,
        "writes an output by its place": """
            def cb(ctx, outs, x):
                np.asarray(outs[0])[...] = np.asarray(x)
                outs[1][...] = 1

            y = theirs.buffer_callback(cb, (S, S))(x)
        """,
        "writes each of the outputs in a loop": """
            def cb(ctx, outs, x):
                for each in outs:
                    each[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, (S, S))(x)
        """,
        "writes the output of a dict": """
            def cb(ctx, outs, x):
                outs["y"][...] = np.asarray(x)

            y = theirs.buffer_callback(cb, {"y": S})(x)
        """,
        "writes an output whose spec it does not know": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            def run(spec, x):
                return theirs.buffer_callback(cb, spec)(x)

            y = run(S, x)
        """,
        "takes an element": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = x[0]

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "adds a number": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = x + 1

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "multiplies by a number": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = 2 * x

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "adds two buffers": """
            def cb(ctx, out, x, y):
                np.asarray(out)[...] = x + y

            y = theirs.buffer_callback(cb, S)(x, x)
        """,
        "negates an argument of its caller": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = -x

            def run(x):
                return theirs.buffer_callback(cb, S)(x)

            y = run(x)
        """,
        "sums with a method": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = x.sum()

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for its size": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = x.size

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for its length": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = len(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "iterates over it": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = [each for each in x]

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "compares with a number": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = x > 0

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "makes a number of it": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = float(x)

            y = theirs.buffer_callback(cb, S)(jnp.sum(x))
        """,
        "fills an output": """
            def cb(ctx, out, x):
                out.fill(0)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies into an output": """
            def cb(ctx, out, x):
                np.copyto(out, np.asarray(x))

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "hands over an output to write into": """
            def cb(ctx, out, x):
                np.sin(np.asarray(x), out=out)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies with np.copy": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.copy(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "adds to an output in place": """
            def cb(ctx, out, x):
                out += 1

            y = theirs.buffer_callback(cb, S, input_output_aliases={0: 0})(x)
        """,
    },
    "BCL010": {
        "the module puts its arrays on a GPU": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = 1.0

            def f(x):
                return theirs.buffer_callback(cb, S)(jax.device_put(x, jax.devices("gpu")[0]))
        """,
        "the module asks for CUDA devices": """
            GPUS = jax.devices("cuda")

            def cb(ctx, out, x):
                view = np.asarray(x)
                out.copy_from(view)

            call = theirs.buffer_callback(cb, S)
        """,
        "the module is configured for CUDA": """
            jax.config.update("jax_platforms", "cuda")

            def cb(ctx, out, x):
                np.frombuffer(x)
                use(out)

            call = theirs.buffer_callback(cb, S)
        """,
        "the function is compiled for a GPU": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = 0

            f = jax.jit(lambda x: theirs.buffer_callback(cb, S)(x), backend="gpu")
        """,
        "the local devices are ROCm's": """
            GPUS = jax.local_devices(backend="rocm")

            def cb(ctx, out, x):
                with LOCK:
                    np.asarray(out)[...] = 0

            call = theirs.buffer_callback(cb, S)
        """,
        "the environment names a platform": """
            import os

            os.environ["JAX_PLATFORMS"] = "cuda,rocm"

            def cb(ctx, out, x):
                np.asarray(out)[...] = 1

            call = theirs.buffer_callback(cb, S)
        """,
        "the environment gets a default": """
            import os

            os.environ.setdefault("JAX_PLATFORM_NAME", "gpu")

            def cb(ctx, out, x):
                np.asarray(out)[...] = 1

            call = theirs.buffer_callback(cb, S)
        """,
        "a lambda views its output": """
            GPU = jax.devices("gpu")[0]
            call = theirs.buffer_callback(lambda ctx, out, x: np.copyto(np.asarray(out), 1), S)
        """,
    },
    "BCL011": {
        "prints": """
            def cb(ctx, out, x):
                print("called")
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "counts its calls": """
            count = 0

            def cb(ctx, out, x):
                global count
                count += 1
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "appends to a list of the module": """
            CALLS = []

            def cb(ctx, out, x):
                CALLS.append("cb")
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "logs": """
            def cb(ctx, out, x):
                logging.info("called")
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S, command_buffer_compatible=True)
        """,
        "changes its object": """
            class Host:
                def cb(self, ctx, out, x):
                    self.calls = 1
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S, command_buffer_compatible=True)(x)
        """,
        "draws random numbers": """
            def cb(ctx, out, x):
                out[...] = np.random.normal(size=3).astype(np.float32)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "fills a table": """
            TABLE = {}

            def cb(ctx, out, x):
                TABLE["calls"] = 1
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "writes to the log of the module": """
            log = logging.getLogger(__name__)

            def cb(ctx, out, x):
                log.info("called")
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "reads the clock": """
            import time

            def cb(ctx, out, x):
                out[...] = np.full(3, time.time(), np.float32)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "calls a function that prints": """
            def note():
                print("called")

            def cb(ctx, out, x):
                note()
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "prints in a function of its own": """
            def cb(ctx, out, x):
                def note():
                    print("called")

                note()
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "is decorated with a partial that asks for it": """
            @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S, command_buffer_compatible=True)
            def run(ctx, out, x):
                print("called")
                out[...] = np.asarray(x)

            y = run(x)
        """,
    },
    "BCL012": {
        "there is no such output": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={0: 1})(x)
        """,
        "there is no such input": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={1: 0})(jnp.sin(x))
        """,
        "counts inputs from the end": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={-1: 0})(x)
        """,
        "counts outputs from the end": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={0: -1})(x)
        """,
        "counts the outputs from 1": """
            def cb(ctx, out, x):
                bufcb.store(out, (np.asarray(x), np.asarray(x)))

            y = bufcb.buffer_callback(cb, (S, S), input_output_aliases={0: 2})(x)
        """,
        "aliases one output twice": """
            def cb(ctx, out, x, y):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={0: 0, 1: 0})(x, x)
        """,
        "is out of range for JAX's own": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S, input_output_aliases={0: 5})(x)
        """,
        "aliases by a variable": """
            ALIASES = {2: 0}

            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases=ALIASES)(x)
        """,
        "counts the leaves of a tuple": """
            def cb(ctx, out, pair):
                out[...] = np.asarray(pair[0])

            y = bufcb.buffer_callback(cb, S, input_output_aliases={2: 0})((x, x))
        """,
        "takes the index of a leaf from JAX's own, which counts arguments": """
            def cb(ctx, out, pair):
                np.asarray(out)[...] = np.asarray(pair[0])

            y = theirs.buffer_callback(cb, S, input_output_aliases={1: 0})((x, x))
        """,
        "binds the aliases in a partial": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = functools.partial(bufcb.buffer_callback, input_output_aliases={3: 0})(cb, S)(x)
        """,
    },
}

_NEAR_MISSES: dict[str, dict[str, str]] = {
    "BCL001": {
        "returns nothing": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                return
        """,
        "returns None": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                return None
        """,
        "a lambda works in place": """
            y = bufcb.buffer_callback(lambda ctx, out, x: np.copyto(np.asarray(out), np.asarray(x)), S)(x)
        """,
        "returns what a function without a result returns": """
            def fill(out, x):
                out[...] = np.asarray(x)

            def cb(ctx, out, x):
                return fill(out, x)
        """,
        "a function inside of it returns a value": """
            def cb(ctx, out, x):
                def double(v):
                    return v * 2

                out[...] = double(np.asarray(x))
        """,
        "the adapted callback returns a value": """
            def cb(x):
                return x * 2

            y = bufcb.buffer_callback(bufcb.adapt(cb), S)(x)
        """,
        "a decorator stores what it returns": """
            def storing(f):
                def cb(ctx, out, *args):
                    bufcb.store(out, f(*args))

                return cb

            @storing
            def cb(x):
                return np.asarray(x)
        """,
        "has no output, and returns what nobody knows": """
            import warnings

            def cb(ctx, out, x):
                return warnings.filterwarnings("ignore")

            y = bufcb.buffer_callback(cb, (), has_side_effect=True)(x)
        """,
        "stores and returns what storing returns": """
            def cb(ctx, out, x):
                return bufcb.store(out, np.asarray(x))
        """,
        "is decorated with a partial of the call, and returns nothing": """
            @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
            def run(ctx, out, x):
                out[...] = np.asarray(x)

            y = run(x)
            assert run(x) is not None
        """,
        "stands in a table that others read": """
            TABLE = {"size": lambda ctx, out, x: np.size(x), "cb": lambda ctx, out, x: np.copyto(out, x)}
            assert TABLE["size"](None, None, [1]) == 1
            y = bufcb.buffer_callback(TABLE["cb"], S)(x)
        """,
        "writes, where the import falls back on the other library": """
            try:
                import bufcb as lib
            except ImportError:
                from jax.experimental import buffer_callback as lib

            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x) * 2

            y = lib.buffer_callback(cb, S)(x)
        """,
        "is of a third library, where that is installed": """
            try:
                from buffers_of_mine import buffer_callback
            except ImportError:
                def buffer_callback(callback, spec):
                    return lambda x: jax.pure_callback(lambda x: callback(None, None, x), spec, x)

            def cb(ctx, out, x):
                return np.asarray(x)

            y = buffer_callback(cb, S)(x)
        """,
    },
    "BCL002": {
        "writes on both branches": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() > 100:
                    out[...] = x
                else:
                    out[...] = -x
        """,
        "raises where it does not write": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() > 100:
                    raise ValueError("too large")
                out[...] = x
        """,
        "writes an alias in place": """
            def cb(ctx, out, x):
                pass

            y = bufcb.buffer_callback(cb, S, input_output_aliases={0: 0})(x)
        """,
        "hands the output to a function": """
            def fill(out, x):
                out[...] = x

            def cb(ctx, out, x):
                fill(out, np.asarray(x))
        """,
        "writes before a condition": """
            def cb(ctx, out, x):
                out[...] = np.zeros(3, np.float32)
                x = np.asarray(x)
                if x.sum() > 100:
                    return
                np.asarray(out)[:] = x
        """,
        "has a ufunc write": """
            def cb(ctx, out, x):
                np.sin(np.asarray(x), out=np.asarray(out), casting="no")
        """,
        "writes every output of a tuple": """
            def cb(ctx, out, x):
                a, b = out
                a[...] = np.asarray(x)
                b[...] = -np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "leaves at other stages of the execution": """
            def cb(ctx, out, x):
                if ctx.stage != theirs.ExecutionStage.EXECUTE:
                    return
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes at one stage of the execution": """
            def cb(ctx, out, x):
                if ctx.stage == theirs.ExecutionStage.EXECUTE:
                    np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes in code that is text": """
            def cb(ctx, out, x):
                exec("out[...] = np.asarray(x)", globals(), locals())
        """,
        "writes in a loop over the outputs": """
            def cb(ctx, out, x):
                for each in out:
                    each[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "writes under a test and under its negation": """
            def cb(ctx, out, x):
                small = np.asarray(x).sum() < 100
                if small:
                    out[...] = np.asarray(x)
                logging.debug("written or not")
                if not small:
                    out[...] = -np.asarray(x)
        """,
        "has an effect and a dummy output that is never looked at": """
            def cb(ctx, out, x):
                logging.info("%s", np.asarray(x))

            bufcb.buffer_callback(cb, S, has_side_effect=True)(x)
        """,
        "fails through a function that always raises": """
            def fail():
                raise ValueError("too large")

            def cb(ctx, out, x):
                if np.asarray(x).sum() > 100:
                    fail()
                else:
                    out[...] = np.asarray(x)
        """,
        "leaves the aliased one of two outputs as it is": """
            def cb(ctx, outs, x):
                first, second = outs
                second[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S), input_output_aliases={0: 0})(x)
        """,
        "leaves the aliased output of a dict as it is": """
            def cb(ctx, outs, x):
                outs["z"][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, {"z": S, "a": S}, input_output_aliases={0: 0})(x)
        """,
        "aliases by what it does not see": """
            ALIASES = {0: 1}

            def cb(ctx, outs, x):
                first, second = outs
                first[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S), input_output_aliases=ALIASES)(x)
        """,
        "copies the list of outputs, and writes those": """
            def cb(ctx, outs, x):
                for each in outs.copy():
                    each[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, [S, S])(x)
        """,
        "adds to the tuple of outputs, and writes those": """
            def cb(ctx, outs, x):
                for each in outs + (np.empty(3),):
                    each[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "hands the output to a function that writes it": """
            def _fill(array, value):
                array[...] = value

            def cb(ctx, out, x):
                _fill(out, np.asarray(x))
        """,
        "hands the output to a function that hands it to one that writes": """
            def _copy(value, to):
                np.copyto(to, value)

            def _fill(array, value):
                assert array.shape == value.shape
                _copy(value, to=np.asarray(array))

            def cb(ctx, out, x):
                _fill(out, np.asarray(x))
        """,
        "writes what a function gives for the output": """
            def _view(array):
                return np.asarray(array)

            def cb(ctx, out, x):
                _view(out)[...] = np.asarray(x)
        """,
        "writes in a loop over its elements": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                for index in range(out.shape[0]):
                    out[index] = x[index]
        """,
        "writes in a loop over what it is given": """
            def cb(ctx, out, x):
                for index, value in enumerate(np.asarray(x)):
                    out[index] = value
        """,
        "writes zeros before a loop over what a mask picks": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                out[:] = 0
                for value in x[x > 100]:
                    out[:] = value
        """,
        "writes behind a loop that finds nothing": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                for value in x[x > 100]:
                    out[:] = value
                    break
                else:
                    out[...] = x
        """,
        "asks first whether a mask picks something": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if not (x > 1).any():
                    raise ValueError("nothing to do")
                for value in x[x > 1]:
                    out[:] = value
        """,
        "looks at what a condition has picked": """
            def cb(ctx, out, x):
                picked = [value for value in np.asarray(x) if value > 1]
                assert picked
                for value in picked:
                    out[:] = value
        """,
        "is ready for a loop over nothing": """
            def cb(ctx, out, x):
                picked = [value for value in np.asarray(x) if value > 100]
                for value in picked:
                    out[:] = value
                if not picked:
                    out[...] = np.asarray(x)
        """,
        "writes the first of its arguments": """
            def cb(ctx, *outs, x):
                outs[0][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S)(x=x)
        """,
        "unpacks its arguments": """
            def cb(*args):
                _, out, x = args
                out[...] = np.asarray(x)
        """,
        "hands on its arguments": """
            def write(ctx, out, x):
                out[...] = np.asarray(x)

            def cb(ctx, *rest):
                write(ctx, *rest)
        """,
    },
    "BCL003": {
        "gives a view of the output its name": """
            def cb(ctx, out, x):
                out = np.asarray(out)
                out[...] = np.asarray(x)
        """,
        "uses the name again once the output is written": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                out = 1
        """,
        "keeps the output under another name first": """
            def cb(ctx, out, x):
                buffer = np.asarray(out)
                out = np.asarray(x) * 2
                buffer[...] = out
        """,
        "assigns to elements": """
            def cb(ctx, out, x):
                np.asarray(out)[:] = 0
                out[0] = 1
        """,
        "a function inside of it has a name like it": """
            def cb(ctx, out, x):
                def double(v):
                    out = v * 2
                    return out

                out[...] = double(np.asarray(x))
        """,
        "adds to the output in place": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                out += 1
        """,
        "writes into an entry of the dict of outputs": """
            def cb(ctx, out, x):
                out["lo"][...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, {"lo": S})(x)
        """,
        "swaps what it has unpacked": """
            def cb(ctx, outs, x):
                first, second = outs
                first, second = second, first
                first[...] = np.asarray(x)
                second[...] = np.zeros(3)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "views what it has unpacked": """
            def cb(ctx, outs, x):
                first, second = outs
                first, second = np.asarray(first), np.asarray(second)
                first[...] = np.asarray(x)
                second[...] = np.zeros(3)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "uses a name again that it has written through": """
            def cb(ctx, outs, x):
                first, second = outs
                first[...] = np.asarray(x)
                second[...] = np.zeros(3)
                first = 3
                print(first)

            y = bufcb.buffer_callback(cb, (S, S))(x)
        """,
        "loops over a view of the output": """
            def cb(ctx, out, x):
                for out in [np.asarray(out)]:
                    out[...] = np.asarray(x)
        """,
        "writes in a loop, and uses the name again in the next run": """
            def cb(ctx, out, x):
                view = np.asarray(out)
                for index in range(2):
                    if index:
                        view = np.asarray(x)
                    else:
                        view[...] = np.asarray(x)
        """,
    },
    "BCL004": {
        "hands it to a function that keeps it if it is asked to": """
            KEPT = []

            def seen(value, keep=False):
                done = KEPT.append(value) if keep else None
                return done

            def cb(ctx, out, x):
                seen(np.asarray(x))
                out[...] = x
        """,
        "keeps a copy": """
            HISTORY = []

            def cb(ctx, out, x):
                HISTORY.append(np.array(x))
                out[...] = np.asarray(x)
        """,
        "keeps a number": """
            SUMS = []

            def cb(ctx, out, x):
                x = np.asarray(x)
                SUMS.append(float(x.sum()))
                out[...] = x
        """,
        "extends a list by numbers": """
            VALUES = []

            def cb(ctx, out, x):
                VALUES.extend(np.asarray(x))
                out[...] = np.asarray(x)
        """,
        "asks for copies": """
            HISTORY = []

            def cb(ctx, out, x):
                HISTORY.append(x)
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, retain="copy")(x)
        """,
        "appends to a list of its own": """
            def cb(ctx, out, x):
                parts = []
                parts.append(np.asarray(x))
                out[...] = np.concatenate(parts)
        """,
        "takes it out again": """
            STACK = []

            def cb(ctx, out, x):
                STACK.append(np.asarray(x))
                out[...] = STACK.pop()
        """,
        "keeps it for as long as it runs": """
            class Host:
                def cb(self, ctx, out, x):
                    self.current = np.asarray(x)
                    out[...] = self.current * 2
                    self.current = None

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "keeps a new array under the argument's name": """
            HISTORY = []

            def cb(ctx, out, x):
                x = np.asarray(x) * 1
                HISTORY.append(x)
                out[...] = x
        """,
        "hands it to an object that copies": """
            class Recorder:
                def append(self, value):
                    self.last = np.array(value)

            RECORDER = Recorder()

            def cb(ctx, out, x):
                RECORDER.append(np.asarray(x))
                out[...] = np.asarray(x)
        """,
        "extends a global list with copies": """
            KEPT = []

            def cb(ctx, out, x):
                global KEPT
                KEPT += [np.array(x)]
                out[...] = np.asarray(x)
        """,
        "keeps how many inputs there were": """
            KEPT = []

            def cb(ctx, out, *xs):
                KEPT.append(len(xs))
                out[...] = np.asarray(xs[0])
        """,
        "keeps the keys of the outputs": """
            KEPT = []

            def cb(ctx, outs, x):
                outs["a"][...] = outs["b"][...] = np.asarray(x)
                KEPT.extend(outs)

            y = bufcb.buffer_callback(cb, {"a": S, "b": S})(x)
        """,
        "keeps no function that reads a view": """
            LATER = []

            def cb(ctx, out, x):
                x = np.asarray(x)

                def total():
                    return x.sum()

                LATER.append(total())
                out[...] = x
        """,
        "keeps a function whose variable is a copy by then": """
            LATER = []

            def cb(ctx, out, x):
                LATER.append(lambda: x.sum())
                x = np.array(x)
                out[...] = x
        """,
        "keeps a function with a variable of its own": """
            LATER = []

            def cb(ctx, out, x):
                LATER.append(lambda x: x.sum())
                out[...] = np.asarray(x)
        """,
        "hands a view to a function that keeps a copy": """
            SEEN = []

            def _remember(array):
                array = np.array(array)
                SEEN.append(array)

            def cb(ctx, out, x):
                _remember(np.asarray(x))
                out[...] = np.asarray(x)
        """,
        "hands a view to a function that keeps it if it is asked to": """
            SEEN = []

            def _remember(array, keep=False):
                if not keep:
                    return
                SEEN.append(array)

            def cb(ctx, out, x):
                _remember(np.asarray(x))
                out[...] = np.asarray(x)
        """,
        "hands a view to a method that derived classes replace": """
            class Host:
                def __init__(self):
                    self.seen = []

                def _remember(self, array):
                    self.seen.append(array)

                def cb(self, ctx, out, x):
                    self._remember(np.asarray(x))
                    out[...] = np.asarray(x)

            class Forgetful(Host):
                def _remember(self, array):
                    pass

            y = bufcb.buffer_callback(Forgetful().cb, S)(x)
        """,
        "keeps a function whose default is taken from the view": """
            LATER = []

            def cb(ctx, out, x):
                x = np.asarray(x)

                def size(count=x.size):
                    return count

                LATER.append((size, lambda shape=x.shape: shape))
                out[...] = x
        """,
        "hands a view to a function of its own that adds it to a list of its own": """
            def cb(ctx, out, x):
                parts = []

                def add(array):
                    parts.append(array)

                add(np.asarray(x))
                out[...] = np.concatenate(parts)
        """,
    },
    "BCL005": {
        "hands it to a function that writes if it is asked to": """
            def changed(value, fill=False):
                done = fill and value.fill(1)
                done = value.fill(1) if fill else done
                return [value.fill(1) for _ in range(done)]

            def cb(ctx, out, x):
                changed(np.asarray(x))
                out[...] = x
        """,
        "adds to a copy": """
            def cb(ctx, out, x):
                x = np.array(x)
                x += 1
                out[...] = x
        """,
        "copies before it writes": """
            def cb(ctx, out, x):
                view = np.asarray(x)
                y = view.copy()
                y[0] = 5
                out[...] = y
        """,
        "writes into a sorted copy": """
            def cb(ctx, out, x):
                x = np.sort(np.asarray(x))
                x[0] = 5
                out[...] = x
        """,
        "changes a pytree of inputs, not the arrays in it": """
            def cb(ctx, out, tree):
                tree["y"] = np.asarray(tree["x"]) * 2
                out[...] = tree["y"]

            y = bufcb.buffer_callback(cb, S)({"x": x})
        """,
        "writes into the output": """
            def cb(ctx, out, x):
                view = np.asarray(out)
                view[...] = np.asarray(x)
                view += 1
        """,
        "copies on one branch, and writes there": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                if x.sum() > 0:
                    x = x.copy()
                    x[0] = 1
                out[...] = x
        """,
        "computes a new array under the same name": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x = x + 1
                x *= 2
                out[...] = x
        """,
        "picks elements with an index array and writes there": """
            def cb(ctx, out, x):
                picked = np.asarray(x)[[0, 1, 2]]
                picked[0] = 7
                out[...] = picked
        """,
        "changes the list that its caller may have given": """
            def cb(ctx, out, xs):
                xs[0] = np.asarray(xs[0]) * 2
                out[...] = xs[0]

            def run(xs):
                return bufcb.buffer_callback(cb, S)(xs)

            y = run([x])
        """,
        "repeats and extends a list": """
            def cb(ctx, out, xs):
                xs *= 2
                xs += [1]
                out[...] = xs[0]

            def run(xs):
                return bufcb.buffer_callback(cb, S)(xs)

            y = run([x])
        """,
        "counts on from a default": """
            def cb(ctx, out, x, count=1):
                count += 1
                out[...] = np.asarray(x) * np.float32(count)
        """,
        "looks at whether it is a list": """
            def cb(ctx, out, x):
                if isinstance(x, list):
                    x[0] = np.asarray(x[0]) + 1
                    x = x[0]
                else:
                    x = x + 1
                out[...] = x

            def run(xs):
                return bufcb.buffer_callback(cb, S)(xs)

            y = run([x])
        """,
        "adds an array to a buffer of JAX's own, which makes a new one": """
            def cb(ctx, out, x):
                x += np.ones(3, np.float32)
                x += 1
                np.asarray(out)[...] = x

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "shuffles a copy": """
            def cb(ctx, out, x):
                generator = np.random.default_rng(0)
                x = np.array(x)
                generator.shuffle(x)
                out[...] = x
        """,
        "asks for a copy to be writable": """
            def cb(ctx, out, x):
                x = np.array(x)
                x.setflags(write=True)
                x += 1
                out[...] = x
        """,
        "asks for its input to be read-only": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                x.setflags(write=False)
                out[...] = x
        """,
        "is ready for an input that cannot be made writable": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                try:
                    x.flags.writeable = True
                except ValueError:
                    x = x.copy()
                out[...] = x
        """,
        "asks for its output to be writable": """
            def cb(ctx, out, x):
                out.setflags(write=True)
                out[...] = np.asarray(x)
        """,
        "hands a view to a function that writes into a copy": """
            def _double(array):
                array = array.copy()
                array *= 2
                return array

            def cb(ctx, out, x):
                out[...] = _double(np.asarray(x))
        """,
        "hands the output to a function that writes into it": """
            def _fill(array, value):
                array[...] = value

            def cb(ctx, out, x):
                _fill(out, np.asarray(x))
        """,
        "hands a view to a function that writes if it is asked to": """
            def _double(array, in_place=False):
                if in_place:
                    array *= 2
                return array * 2

            def cb(ctx, out, x):
                out[...] = _double(np.asarray(x))
        """,
    },
    "BCL006": {
        "takes what it is given": """
            def cb(ctx, out, x, y):
                out[...] = np.asarray(x) + np.asarray(y)

            y = bufcb.buffer_callback(cb, S)(x, x)
        """,
        "takes anything": """
            def cb(*args):
                args[1][...] = np.asarray(args[2])
        """,
        "has a default for what is not given": """
            def cb(ctx, out, x, scale=1):
                out[...] = np.asarray(x) * scale
        """,
        "is a method": """
            class Host:
                def cb(self, ctx, out, x):
                    out[...] = np.asarray(x)

            host = Host()
            y = bufcb.buffer_callback(host.cb, S)(x)
        """,
        "a partial binds what comes first": """
            def cb(scale, ctx, out, x):
                out[...] = np.asarray(x) * np.float32(scale)

            y = bufcb.buffer_callback(functools.partial(cb, 2), S)(x)
        """,
        "a partial binds a keyword": """
            def cb(ctx, out, x, *, scale):
                out[...] = np.asarray(x) * np.float32(scale)

            y = bufcb.buffer_callback(functools.partial(cb, scale=2), S)(x)
        """,
        "takes keywords": """
            def cb(ctx, out, **named):
                out[...] = np.asarray(named["x"])

            y = bufcb.buffer_callback(cb, S)(x=x)
        """,
        "the spec and every option have their names": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, result_shape_dtypes=S, vmap_method="sequential")(x)
        """,
        "is given a star": """
            def cb(ctx, out, x, y):
                out[...] = np.asarray(x)

            both = (x, x)
            y = bufcb.buffer_callback(cb, S)(*both)
        """,
    },
    "BCL007": {
        "nothing differentiates": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))
        """,
        "it has a rule": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            @jax.custom_vjp
            def sin(x):
                return bufcb.buffer_callback(cb, S)(x)

            sin.defvjp(lambda x: (sin(x), x), lambda x, ct: (ct * jnp.cos(x),))
            y = jax.grad(lambda x: jnp.sum(sin(x)))(x)
        """,
        "the gradient stops in front of it": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(x):
                return jnp.sum(x * bufcb.buffer_callback(cb, S)(jax.lax.stop_gradient(x)))

            y = jax.grad(loss)(x)
        """,
        "another argument is differentiated": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(scale, x):
                return jnp.sum(scale * bufcb.buffer_callback(cb, S)(x))

            y = jax.grad(loss)(2.0, x)
        """,
        "another function is differentiated": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def host(x):
                return bufcb.buffer_callback(cb, S)(x)

            y = jax.grad(lambda x: jnp.sum(x**2))(host(x))
        """,
        "a name holds the number of another argument": """
            WHICH = 0

            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            gradient = jax.grad(lambda a, x: jnp.sum(a * bufcb.buffer_callback(cb, S)(x)), argnums=WHICH)
            y = gradient(2.0, x)
        """,
        "what is no tracer": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def sin(x):
                if isinstance(x, jax.core.Tracer):
                    return jnp.sin(x)
                return bufcb.buffer_callback(cb, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

            y = jax.grad(lambda x: sin(x).sum())(x), sin(x)
        """,
        "it has a forward rule": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            @jax.custom_jvp
            def sin(x):
                return bufcb.buffer_callback(cb, S)(x)

            @sin.defjvp
            def sin_jvp(primals, tangents):
                return sin(*primals), jnp.cos(primals[0]) * tangents[0]

            y = jax.grad(lambda x: jnp.sum(sin(x)))(x)
        """,
        "its argument is of integers": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x).astype(np.float32)

            def loss(x):
                order, cells = jnp.argsort(x), jnp.floor(x).astype(jnp.int32)
                return jnp.sum(x * bufcb.buffer_callback(cb, S)(order) * bufcb.buffer_callback(cb, S)(cells))

            y = jax.grad(loss)(x)
        """,
        "it takes what the scan does not differentiate": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            def loss(x):
                def step(carry, _):
                    return carry + bufcb.buffer_callback(cb, S)(jnp.ones(3)), None

                return jnp.sum(jax.lax.scan(step, x, None, length=2)[0])

            y = jax.grad(loss)(x)
        """,
        "it stands in a rule": """
            def cb(ctx, out, x):
                out[...] = np.cos(np.asarray(x))

            @jax.custom_vjp
            def sin(x):
                return jnp.sin(x)

            def backward(x, cotangent):
                return (cotangent * bufcb.buffer_callback(cb, S)(x),)

            sin.defvjp(lambda x: (jnp.sin(x), x), backward)
            y = jax.grad(lambda x: jnp.sum(sin(x)))(x)
        """,
        "a partial of the call decorates it, and the gradient stops in front of it": """
            @functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)
            def sin(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            y = jax.grad(lambda x: jnp.sum(x * sin(jax.lax.stop_gradient(x))))(x)
        """,
        "a partial of the call decorates another one too, which is differentiated by its own rule": """
            buffered = functools.partial(bufcb.buffer_callback, result_shape_dtypes=S)

            @buffered
            def sin(ctx, out, x):
                out[...] = np.sin(np.asarray(x))

            @jax.custom_jvp
            def call(x):
                return sin(x)

            call.defjvp(lambda primals, tangents: (call(*primals), jnp.cos(primals[0]) * tangents[0]))
            y = jax.grad(lambda x: call(x).sum())(x)
        """,
    },
    "BCL008": {
        "uses NumPy alone": """
            def cb(ctx, out, x):
                out[...] = np.sin(np.asarray(x))
        """,
        "asks jax.numpy for a dtype": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x).astype(jnp.dtype("float32"))
        """,
        "asks JAX for the limits of a type": """
            def cb(ctx, out, x):
                out[...] = np.minimum(np.asarray(x), np.float32(jnp.finfo(jnp.float32).max))
        """,
        "maps over a pytree": """
            def cb(ctx, out, x):
                (view,) = jax.tree.map(np.asarray, (x,))
                out[...] = view
        """,
        "calls a function that uses NumPy alone": """
            def double(x):
                return np.multiply(x, np.float32(2))

            def cb(ctx, out, x):
                out[...] = double(np.asarray(x))
        """,
        "JAX runs outside of the callback": """
            scale = np.asarray(jnp.sin(1.0))

            def cb(ctx, out, x):
                out[...] = np.asarray(x) * scale

            y = jnp.sum(bufcb.buffer_callback(cb, S)(jnp.sin(x)))
        """,
        "JAX runs in a function of the module that it does not call": """
            @jax.jit
            def double(x):
                return x * 2

            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = double(bufcb.buffer_callback(cb, S)(x))
        """,
        "takes a view of its input for JAX": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)
                assert jnp.from_dlpack(x).shape == (3,)
        """,
        "what JAX compiles has the callback as its argument": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = jax.jit(bufcb.buffer_callback(cb, S))(x)
        """,
        "bufcb adapts it": """
            def double(x):
                return jnp.multiply(x, 2)

            y = bufcb.buffer_callback(bufcb.adapt(double, arrays="jax"), S)(x)
        """,
        "another library's name is like JAX's": """
            class jnp:
                sin = staticmethod(np.sin)

            def cb(ctx, out, x):
                out[...] = jnp.sin(np.asarray(x))
        """,
        "calls a method that a subclass replaces": """
            class Host:
                def helper(self, value):
                    return jnp.sin(value)

                def _cb(self, ctx, out, x):
                    out[...] = self.helper(np.asarray(x))

                def run(self, x):
                    return bufcb.buffer_callback(self._cb, S)(x)

            class Quiet(Host):
                def helper(self, value):
                    return np.sin(value)

            y = Quiet().run(x)
        """,
        "calls a method that computes with NumPy": """
            class Host:
                def helper(self, value):
                    return np.sin(value)

                def _cb(self, ctx, out, x):
                    out[...] = self.helper(np.asarray(x))

                def run(self, x):
                    return bufcb.buffer_callback(self._cb, S)(x)

            y = Host().run(x)
        """,
    },
    "BCL009": {
        "takes a view and copies that": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.array(np.asarray(x))

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies a buffer of bufcb": """
            def cb(ctx, out, x):
                out[...] = np.array(x)
        """,
        "converts a buffer of bufcb": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x, dtype=np.float64).astype(np.float32)
        """,
        "copies a view of the same name": """
            def cb(ctx, out, x):
                x = np.asarray(x)
                np.asarray(out)[...] = np.array(x, dtype=np.float32)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for no copy": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.array(x, copy=False)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "names no dtype": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x, dtype=None)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "makes it contiguous, which it is": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.ascontiguousarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "copies a local array": """
            def cb(ctx, out, x):
                grid = np.arange(3.0)
                np.asarray(out)[...] = np.array(grid, dtype=np.float32)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "asks for shape, dtype and dimensions": """
            def cb(ctx, out, x):
                assert x.dtype == out.dtype and x.ndim == 1 and out.writeable
                np.asarray(out)[...] = x.shape[0]

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "views before it computes": """
            def cb(ctx, out, x):
                out, x = np.asarray(out), np.asarray(x)
                out[...] = x + 1
                out[0] = x.sum() + len(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "lets NumPy's functions view it": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.sin(x) + np.sum(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "adds an array, which views it": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.ones(3) + x + np.float32(1) + np.ones(3) * x

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "counts the outputs": """
            def cb(ctx, outs, x):
                for each in outs:
                    np.asarray(each)[...] = len(outs)

            y = theirs.buffer_callback(cb, (S, S))(x)
        """,
        "takes a pytree apart": """
            def cb(ctx, out, tree):
                np.asarray(out)[...] = np.asarray(tree[0]) * len(tree)

            def run(tree):
                return theirs.buffer_callback(cb, S)(tree)

            y = run([x])
        """,
        "takes the inputs apart": """
            def cb(ctx, out, *xs):
                np.asarray(out)[...] = np.asarray(xs[0]) * len(xs)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "does arithmetic with a default": """
            def cb(ctx, out, x, scale=2):
                np.asarray(out)[...] = np.asarray(x) * (scale + 1)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "is ready for the error": """
            def cb(ctx, out, x):
                try:
                    out[...] = np.asarray(x)
                except TypeError:
                    np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "looks at what it is given": """
            def cb(ctx, out, x):
                if hasattr(out, "__setitem__"):
                    out[...] = np.asarray(x)
                else:
                    np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "views on the way where there is none": """
            def cb(ctx, out, x):
                if not isinstance(x, np.ndarray):
                    x = np.asarray(x)
                np.asarray(out)[...] = x + 1

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "writes a list of outputs, none of which it knows": """
            def cb(ctx, outs, x):
                outs[:] = map(np.asarray, outs)
                for each in outs:
                    each[...] = np.asarray(x)

            def run(spec, x):
                return theirs.buffer_callback(cb, spec)(x)

            y = run([S], x)
        """,
    },
    "BCL010": {
        "the module does not ask for a GPU": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "the module asks for the CPU": """
            CPU = jax.devices("cpu")[0]

            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(jax.device_put(x, CPU))
        """,
        "the module asks which platform it is on": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            if jax.default_backend() == "gpu":
                jax.devices("gpu")
            y = theirs.buffer_callback(cb, S)(x)
        """,
        "the buffers are those of bufcb": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            def f():
                return jax.devices("gpu")

            y = bufcb.buffer_callback(cb, S)(x)
        """,
        "the callback takes CuPy's view": """
            def f(x):
                import cupy

                def cb(ctx, out, x):
                    cupy.asarray(out)[...] = cupy.asarray(x)

                return theirs.buffer_callback(cb, S)(jax.device_put(x, jax.devices("gpu")[0]))
        """,
        "the callback asks where the buffer is": """
            def cb(ctx, out, x):
                if hasattr(x, "__cuda_array_interface__"):
                    raise NotImplementedError
                else:
                    np.asarray(out)[...] = np.asarray(x)

            def f(x):
                return theirs.buffer_callback(cb, S)(jax.device_put(x, jax.devices("gpu")[0]))
        """,
        "the module asks whether there is a GPU": """
            try:
                DEVICE = jax.devices("gpu")[0]
            except RuntimeError:
                DEVICE = jax.devices()[0]

            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(jax.device_put(x, DEVICE))
        """,
        "the environment asks for the CPU first": """
            import os

            os.environ["JAX_PLATFORMS"] = "cpu,cuda"

            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            y = theirs.buffer_callback(cb, S)(x)
        """,
        "a word of another meaning is gpu": """
            def cb(ctx, out, x):
                np.asarray(out)[...] = np.asarray(x)

            logging.info("gpu")
            y = theirs.buffer_callback(cb, S)(x)
        """,
    },
    "BCL011": {
        "computes alone": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "prints, and is not said to fit": """
            def cb(ctx, out, x):
                print("called")
                out[...] = np.asarray(x)
        """,
        "prints, and is said not to fit": """
            def cb(ctx, out, x):
                print("called")
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=False)(x)
        """,
        "appends to a list of its own": """
            def cb(ctx, out, x):
                parts = []
                parts.append(np.asarray(x))
                out[...] = np.concatenate(parts)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "reads what is outside": """
            TABLE = {"scale": np.float32(2)}

            def cb(ctx, out, x):
                out[...] = np.asarray(x) * TABLE["scale"]

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "draws from a generator of its own": """
            def cb(ctx, out, x):
                rng = np.random.default_rng(0)
                out[...] = rng.normal(size=3).astype(np.float32)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "reads a global name": """
            scale = np.float32(2)

            def cb(ctx, out, x):
                global scale
                out[...] = np.asarray(x) * scale

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "defines a function that prints, and never uses it": """
            def cb(ctx, out, x):
                def note():
                    print("called")

                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "calls a function that fills a list of its own": """
            def doubled(values):
                found = []
                for each in values:
                    found.append(each * 2)
                return found

            def cb(ctx, out, x):
                out[...] = np.array(doubled(np.asarray(x)))

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
        "makes text of values": """
            import json

            def cb(ctx, out, x):
                json.dumps(np.asarray(x).tolist())
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, command_buffer_compatible=True)(x)
        """,
    },
    "BCL012": {
        "aliases the only output": """
            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={0: 0})(x)
        """,
        "counts the leaves of a pytree of inputs": """
            def cb(ctx, out, tree):
                out[...] = np.asarray(tree["b"])

            y = bufcb.buffer_callback(cb, S, input_output_aliases={1: 0})({"a": x, "b": x})
        """,
        "counts the leaves of a pytree of outputs": """
            def cb(ctx, out, x):
                bufcb.store(out, {"a": np.asarray(x), "b": np.asarray(x)})

            y = bufcb.buffer_callback(cb, {"a": S, "b": S}, input_output_aliases={0: 1})(x)
        """,
        "aliases the second of two arguments": """
            def cb(ctx, out, x, y):
                out[...] = np.asarray(y)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={1: 0})(jnp.sin(x), jnp.cos(x))
        """,
        "the spec is out of sight": """
            def specs():
                return [S, S, S]

            def cb(ctx, out, x):
                bufcb.store(out, [np.asarray(x)] * 3)

            y = bufcb.buffer_callback(cb, specs(), input_output_aliases={0: 2})(x)
        """,
        "the aliases are computed": """
            aliases = {0: 0}

            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases=aliases)(x)
        """,
        "arguments come with a star": """
            both = (x, x)

            def cb(ctx, out, x, y):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases={1: 0})(*both)
        """,
        "aliases a leaf of a tuple": """
            def cb(ctx, out, pair):
                out[...] = np.asarray(pair[0])

            y = bufcb.buffer_callback(cb, S, input_output_aliases={1: 0})((x, x))
        """,
        "changes the variable before it is used": """
            ALIASES = {2: 0}
            ALIASES.clear()

            def cb(ctx, out, x):
                out[...] = np.asarray(x)

            y = bufcb.buffer_callback(cb, S, input_output_aliases=ALIASES)(x)
        """,
    },
}

FLAGGED = {c: {s: _program(t) for s, t in each.items()} for c, each in _FLAGGED.items()}
NEAR_MISSES = {c: {s: _program(t) for s, t in each.items()} for c, each in _NEAR_MISSES.items()}
