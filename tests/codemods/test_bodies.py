"""What a callback's body does with its arguments, row by row.

An obstacle that is missing here is a wrong result in someone's program, so most rows say what must be one.
"""

from __future__ import annotations

import ast
import textwrap

import jax.numpy as jnp
import numpy as np
import pytest

from codemods.bodies import Argument, BodyReport, Use, analyse
from codemods.names import FunctionNode, Module, read

HEADER = """\
import collections, contextlib, copy, functools, itertools, logging, math, operator, threading, warnings
import numpy as np
import scipy.linalg
import scipy.special
import jax
import jax.numpy as jnp
from jax import lax
"""
ANY, ARRAY, F32, I32 = Argument(), Argument("array"), Argument("array", "float32"), Argument("array", "int32")
C64, BF16, BOOL, TREE = (
    Argument("array", "complex64"),
    Argument("array", "bfloat16"),
    Argument("array", "bool"),
    Argument("tree"),
)


def callback(text: str) -> tuple[FunctionNode, Module]:
    """The function `f` of a module, or a function of `x` and `y` whose body is given."""
    text = textwrap.dedent(text)
    if "def f(" not in text and "f = lambda" not in text:
        text = "def f(x, y=None):\n" + textwrap.indent(text, "    ")
    module = read(ast.parse(HEADER + text))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef) and node.name == "f":
            return node, module
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "f":
            assert isinstance(node.value, ast.Lambda)
            return node.value, module
    raise AssertionError(text)


def report(text: str, accept: frozenset[str] = frozenset(), **arguments: Argument) -> BodyReport:
    function, module = callback(text)
    return analyse(function, arguments or {"x": ANY}, module, accept)


def obstacle(text: str, **arguments: Argument) -> str | None:
    found = report(text, **arguments).obstacle
    return found and found.code


def usage(text: str, name: str = "x", **arguments: Argument) -> str:
    """The kinds of use of one parameter, with `escape` and `write`, as words in a fixed order."""
    found = report(text, **arguments)
    assert found.obstacle is None, found.obstacle
    used = found.usages[name]
    words = [use.name.lower() for use in sorted(used.uses)]
    words += ["escape"] if used.escape is not None else []
    words += ["write"] if used.write is not None else []
    return " ".join(words)


def row(name: str, text: str, *rest: object) -> object:
    return pytest.param(text, *rest, id=name)


# ------------------------------------------------------------------------------- the callback uses JAX


@pytest.mark.parametrize(
    "text",
    [
        row("a jnp function", "return jnp.sin(x)"),
        row("a jnp function on a converted argument", "return jnp.sin(np.asarray(x))"),
        row("a jnp function on nothing of ours", "return np.asarray(x) + np.asarray(jnp.zeros(3))"),
        row("lax", "return lax.add(x, x)"),
        row("a transform", "return jax.jit(g)(x)"),
        row("jax as a value", "g(jax)\nreturn np.sin(x)"),
        row("jnp as a value", "q = jnp\nreturn np.sin(x)"),
        row("an import in the body", "import jax.numpy as q\nreturn q.sin(x)"),
        row("a from import in the body", "from jax.numpy import sin\nreturn sin(x)"),
        row("in a nested function", "def g(v):\n    return jnp.sin(v)\nreturn np.asarray(g(x))"),
        row("in a lambda", "g = lambda v: jnp.sin(v)\nreturn np.asarray(g(x))"),
        row("in a default", "def g(v=jnp.ones(3)):\n    return v\nreturn np.sin(x)"),
        row("in a comprehension", "return np.array([jnp.sin(v) for v in x])"),
        row("in a condition", "if jnp.any(np.asarray(x)):\n    return 1\nreturn 0"),
        row("in an f-string", "print(f'{jnp.pi + jnp.sin(1)}')\nreturn np.sin(x)"),
        row("in a helper in sight", "def h(v):\n    return jnp.sin(v)\ndef f(x):\n    return h(x)"),
        row(
            "in a helper of a helper",
            "def g(v):\n    return jnp.sin(v)\ndef h(v):\n    return g(v)\ndef f(x):\n    return h(x)",
        ),
        row(
            "in a method of self",
            "class C:\n    def h(self, v):\n        return jnp.sin(v)\n    def f(self, x):\n"
            "        return self.h(x)",
        ),
        row("by a star import", "from jax.numpy import *\ndef f(x):\n    return sin(x)"),
        row("a star import hides a builtin", "from jax.numpy import *\ndef f(x):\n    return sum(x)"),
        row(
            "where jax may be missing",
            "try:\n    import jax as j\nexcept ImportError:\n    j = None\ndef f(x):\n"
            "    return j.numpy.sin(x)",
        ),
        row("in a decorator of a nested function", "@jax.jit\ndef g(v):\n    return v\nreturn np.sin(x)"),
        row("in a with", "with jax.default_device(None):\n    return np.sin(x)"),
        row("in a lambda callback", "f = lambda x: jnp.sin(x)"),
        row("at", "return x.at[0].set(1)"),
        row("an attribute of JAX's arrays", "return x.sharding"),
        row("waiting", "return x.block_until_ready()"),
    ],
)
def test_code_of_jax_is_an_obstacle(text: str):
    assert obstacle(text) == "BC103"


@pytest.mark.parametrize(
    "text",
    [
        row("a dtype", "return np.asarray(x, dtype=jnp.float32)"),
        row("a dtype in astype", "return np.asarray(x).astype(jnp.int32)"),
        row("pi", "return np.sin(np.asarray(x) * jnp.pi)"),
        row("newaxis", "return np.asarray(x)[jnp.newaxis]"),
        row(
            "a local of that name", "def f(x, jnp=None):\n    return np.sin(x) if jnp is None else np.cos(x)"
        ),
        row(
            "a helper that is not called", "def h(v):\n    return jnp.sin(v)\ndef f(x):\n    return np.sin(x)"
        ),
    ],
)
def test_types_and_constants_of_jax_are_none(text: str):
    assert obstacle(text) is None


# ------------------------------------------------------------------------------- arithmetic that differs


@pytest.mark.parametrize(
    "text",
    [
        row("a sum", "return np.sum(x)"),
        row("a mean", "return np.mean(x, axis=0)"),
        row("a sort by the argument's own method", "return np.argsort(x)"),
        row("a method", "return x.sum()"),
        row("a method that NumPy calls by name", "return np.clip(x, 0, 1)"),
        row("a matrix product", "return x @ x"),
        row("a division", "return x / 2"),
        row("a floor division", "return x // 2"),
        row("a remainder", "return x % 2"),
        row("a power", "return x ** 2"),
        row("a shift", "return x << 1"),
        row("a bitwise operation", "return x & 1"),
        row("two arguments of unknown dtypes", "return x + y"),
        row("an argument and an unknown value", "return x + SCALE"),
        row("an argument and an array", "return x * np.ones(3)"),
        row("an argument and a large integer", "return x + 128"),
        row("an argument and a negative number", "return x + -1"),
        row("a float beside an unknown dtype", "return x * 2.5"),
        row("an integer beside an unknown dtype, which may be bool", "return x * 2"),
        row("a negation of an unknown dtype", "return -x"),
        row("an inversion of an unknown dtype", "return ~x"),
        row("a comparison of two", "return x < y"),
        row("a comparison with an unknown value", "return x == LIMIT"),
        row("a comparison with a large number", "return x > 1000"),
        row("a comparison with a float", "return x > 0.5"),
        row("a comparison with None by value", "return x == None"),
        row("membership", "return 1.5 in x"),
        row("an index of a number", "return x[1]"),
        row("an index of a variable", "return x[i]"),
        row("an index of an argument", "return TABLE[x]"),
        row("an index by a mask", "return x[np.asarray(x) > 0]"),
        row("an index past the last by a tuple", "return x[0, 1]"),
        row("an index of minus two", "return x[-2]"),
        row("a slice to an argument", "return x[:y]"),
        row("astype", "return x.astype(np.int32)"),
        row("round", "return round(x)"),
        row("abs", "return abs(x)"),
        row("sum", "return sum(x)"),
        row("divmod", "return divmod(x, 2)"),
        row("pow", "return pow(x, 2)"),
        row("repr", "return len(repr(x))"),
        row("repr in an f-string", "return len(f'{x!r}')"),
        row("the text of an unknown structure", "print(x)\nreturn 0"),
        row("percent formatting", "return len('%s' % x)"),
        row("max of two", "return max(x, y)"),
        row("min with a number", "return min(x, 0.5)"),
        row("sorted of two", "return sorted([x, y])"),
        row("a set", "return len(set(x))"),
        row("a clean array's method that is given one", "return np.ones(3).dot(x)"),
        row("an augmented assignment of one to a number", "t = 0\nt += x\nreturn t"),
        row("another function of numpy", "return np.apply_over_axes(np.asarray, x, 0)"),
        row("a reduction of a ufunc", "return np.add.reduce(x)"),
        row("numpy's random numbers", "return np.random.normal(x)"),
        row("a star import of numpy hides a builtin", "from numpy import *\ndef f(x):\n    return sum(x)"),
        row("a lambda callback", "f = lambda x: np.sum(x)"),
    ],
)
def test_arithmetic_that_jax_does_otherwise_is_an_obstacle(text: str):
    assert obstacle(text, x=ANY, y=ANY) == "BC104"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        row("two floats of one dtype", "return x + y", {"x": F32, "y": F32}),
        row("a product of one dtype", "return x * y", {"x": I32, "y": I32}),
        row("an integer constant", "return 3 - x * 2", {"x": I32}),
        row("a float constant", "return 0.5 * x + 1", {"x": F32}),
        row("one and the same name", "return x + x", {"x": ARRAY}),
        row("a negation", "return -x", {"x": F32}),
        row("an inversion", "return ~x", {"x": I32}),
        row("a comparison with zero of any dtype", "return x > 0", {"x": ARRAY}),
        row("a comparison with a float", "return x <= 0.5", {"x": F32}),
        row("a chained comparison", "return 0 < x < y", {"x": F32, "y": F32}),
        row("a sum of complex numbers", "return x + y", {"x": C64, "y": C64}),
        row("identity", "return 0 if x is None else 1", {"x": ANY}),
        row("not", "return not x", {"x": ANY}),
        row("truth", "if x:\n    return 1\nreturn 0", {"x": ANY}),
        row("and, or", "return x and 1 or y", {"x": ANY, "y": ANY}),
        row("an index of zero", "return x[0]", {"x": ANY}),
        row("the last", "return x[-1]", {"x": ANY}),
        row("a slice", "return x[1:n:-1]", {"x": ANY}),
        row("an ellipsis and a new axis", "return x[..., None]", {"x": ANY}),
        row("numpy's new axis", "return x[np.newaxis, :, 0]", {"x": ANY}),
        row("a key", "return x['a']", {"x": ANY}),
        row("the transpose", "return x.T", {"x": ANY}),
        row("real and imaginary parts", "return x.real, x.imag", {"x": ANY}),
        row("a reshape", "return x.reshape(-1).copy()", {"x": ANY}),
        row("numpy's reshape", "return np.reshape(x, (2, 2))", {"x": ANY}),
        row("astype to its own dtype", "return x.astype(np.float32)", {"x": F32}),
        row("astype by a string", "return x.astype('float32')", {"x": F32}),
        row("a ufunc", "return np.exp(x) + np.float32(1)", {"x": ANY}),
        row("elements of one array in order", "return sorted(x)", {"x": ARRAY}),
        row("the largest element of one array", "return max(x)", {"x": ARRAY}),
        row("the text of one array", "print(x)\nreturn 0", {"x": ARRAY}),
        row("one array in an f-string", "return len(f'{x} {x!s} {x:.3f}')", {"x": ARRAY}),
    ],
)
def test_arithmetic_that_agrees_is_none(text: str, arguments: dict[str, Argument]):
    assert obstacle(text, **arguments) is None


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        row("different dtypes", "return x + y", {"x": F32, "y": I32}),
        row("one dtype unknown", "return x + y", {"x": F32, "y": ARRAY}),
        row("a comparison with one dtype unknown", "return x == y", {"x": F32, "y": ARRAY}),
        row("a comparison of different dtypes", "return x < y", {"x": F32, "y": I32}),
        row("a product of complex numbers", "return x * y", {"x": C64, "y": C64}),
        row("a complex number squared", "return x * x", {"x": C64}),
        row("a float beside integers", "return x * 0.5", {"x": I32}),
        row("a float beside bfloat16", "return x * 0.5", {"x": BF16}),
        row("a comparison of bfloat16 with a float", "return x < 0.1", {"x": BF16}),
        row("a float beside complex numbers", "return x * 0.5", {"x": C64}),
        row("an integer beside bool", "return x + 1", {"x": BOOL}),
        row("True", "return x + True", {"x": F32}),
        row("a product of what a product gives", "return (x * x) * x ** 2", {"x": F32}),
        row("a comparison's result in arithmetic", "return (x > 0) + 1", {"x": F32}),
        row("astype to another dtype", "return x.astype(np.int32)", {"x": F32}),
        row("the largest of two arrays", "return max(x, y)", {"x": F32, "y": I32}),
        row("a tuple is repeated, an array multiplied", "return x * 2", {"x": ANY}),
    ],
)
def test_arithmetic_of_known_dtypes_that_differs_is_an_obstacle(text: str, arguments: dict[str, Argument]):
    assert obstacle(text, **arguments) == "BC104"


# ------------------------------------------------------------------------------- writes


@pytest.mark.parametrize(
    "text",
    [
        row("an augmented assignment", "x += 1\nreturn x"),
        row("an augmented assignment to a view", "a = np.asarray(x)\na += 1\nreturn a"),
        row("an augmented assignment to a row", "a = np.asarray(x)[0]\na *= 2\nreturn a"),
        row("an augmented assignment to another name of it", "a = x\na -= 1\nreturn a"),
        row("an augmented assignment in a loop", "for v in x:\n    v += 1\nreturn x"),
        row("an item", "x[0] = 1\nreturn x"),
        row("an item's augmented assignment", "x[0] += 1\nreturn x"),
        row("a deletion", "del x[0]\nreturn x"),
        row("an attribute", "x.shape = (3,)\nreturn x"),
        row("filling", "x.fill(0)\nreturn x"),
        row("numpy's fill of a part", "x.reshape(-1)[...] = 0\nreturn x"),
        row("through a tuple target", "x[0], n = 1, 2\nreturn x"),
        row("through a loop's target", "for x[0] in range(3):\n    pass\nreturn x"),
        row("in a helper in sight", "def h(v):\n    v[0] = 1\ndef f(x):\n    h(x)\n    return x"),
        row("a dict that is an argument", "x['a'] = 1\nreturn x['a']"),
        row("a function of BLAS, which asks nobody", "return scipy.linalg.blas.saxpy(x, x)"),
        row("a function of LAPACK", "return scipy.linalg.lapack.sgesv(A, x)"),
        row("scipy overwriting", "return scipy.linalg.solve(A, x, overwrite_b=True)"),
    ],
)
def test_writing_into_an_argument_is_an_obstacle(text: str):
    assert obstacle(text) == "BC105"


@pytest.mark.parametrize(
    "text",
    [
        row("an own copy", "a = np.array(x)\na += 1\nreturn a"),
        row("a fresh result", "a = np.sin(x)\na *= 2\nreturn a"),
        row("a fresh result's item", "a = np.sin(x)\na[0] = 2\nreturn a"),
        row("a copy by its method", "a = np.asarray(x).copy()\na[...] = 0\nreturn a"),
        row("a local of the same name", "x = np.array(x)\nx += 1\nreturn x"),
        row("a number", "n = 0\nfor v in np.asarray(x):\n    n += 1\nreturn n"),
        row("a number read from it", "n = float(x)\nn += 1\nreturn n"),
        row("a converted one onto a number", "n = 0\nn += np.asarray(x)\nreturn n"),
        row("its size", "n = x.size\nn -= 1\nreturn n"),
        row("a list of them", "a = [x]\na += [x]\nreturn a"),
    ],
)
def test_writing_into_ones_own_is_none(text: str):
    assert obstacle(text) is None


@pytest.mark.parametrize(
    "text",
    [
        row("an item of a view", "a = np.asarray(x)\na[0] = 1\nreturn a"),
        row("sorting a view", "a = np.asarray(x)\na.sort()\nreturn a"),
        row("a ufunc's out", "a = np.asarray(x)\nnp.sin(a, out=a)\nreturn a"),
        row("nan_to_num without a copy", "return np.nan_to_num(np.asarray(x), copy=False)"),
        row("scipy overwriting", "return scipy.linalg.solve(A, np.asarray(x), overwrite_b=True)"),
        row("a median overwriting", "return np.median(np.asarray(x), overwrite_input=True)"),
        row("a function of BLAS", "return scipy.linalg.blas.sscal(2.0, np.asarray(x))"),
        row("a ufunc's third argument", "a = np.asarray(x)\nnp.add(a, 1, a)\nreturn a"),
        row("a ufunc's at", "a = np.asarray(x)\nnp.add.at(a, 0, 1)\nreturn a"),
        row("a method's out", "a = np.asarray(x)\na.clip(0, 1, out=a)\nreturn a"),
        row("the out of another's method", "a = np.asarray(x)\nnp.ones(2).cumsum(out=a)\nreturn a"),
        row("swapping bytes in place", "a = np.asarray(x)\na.byteswap(inplace=True)\nreturn a"),
        row("copyto", "a = np.asarray(x)\nnp.copyto(a, 1)\nreturn a"),
        row("put", "a = np.asarray(x)\nnp.put(a, 0, 1)\nreturn a"),
        row("putmask", "a = np.asarray(x)\nnp.putmask(a, a > 0, 1)\nreturn a"),
        row("place", "a = np.asarray(x)\nnp.place(a, a > 0, 1)\nreturn a"),
        row("filling a diagonal", "a = np.asarray(x)\nnp.fill_diagonal(a, 1)\nreturn a"),
        row("shuffling", "a = np.asarray(x)\nnp.random.shuffle(a)\nreturn a"),
        row("setting flags", "a = np.asarray(x)\na.setflags(write=True)\nreturn a"),
        row("asking for flags", "a = np.asarray(x)\nreturn a * a.flags.writeable"),
        row("asking for the base", "return np.float32(np.asarray(x).base is None)"),
    ],
)
def test_writing_into_a_view_is_noted(text: str):
    found = report(text)
    assert (found.obstacle and found.obstacle.code == "BC105") or found.usages["x"].write is not None


# ------------------------------------------------------------------------------ code out of sight, keepers


@pytest.mark.parametrize(
    "text",
    [
        row("an unknown function", "return g(x)"),
        row("by keyword", "return g(v=x)"),
        row("starred", "return g(*x)"),
        row("double-starred", "return g(**x)"),
        row("in a list", "return g([x])"),
        row("in a dict in a tuple", "return g(({'a': x},))"),
        row("an unknown method", "return solver.run(x)"),
        row(
            "a method of self that is not in sight",
            "class C:\n    def f(self, x):\n        return self.run(x)",
        ),
        row("a function of another library", "return copy.deepcopy(x)"),
        row("an element", "return g(x[0])"),
        row("what a comprehension makes", "return g([v for v in x])"),
        row("a partial", "return functools.partial(np.sum, x)()"),
        row("reduce", "return functools.reduce(operator.add, x)"),
        row("itertools", "return list(itertools.chain(x, x))"),
        row("a parameter", "def f(x, g=None):\n    return g(x)"),
        row("a global variable", "G = make()\ndef f(x):\n    return G(x)"),
        row("another name of a function", "s = np.sum\nreturn s(x)"),
        row("a function in a table", "T = {'s': np.sum}\ndef f(x):\n    return T['s'](x)"),
        row("a function by getattr", "return getattr(np, 'sum')(x)"),
        row("a result's call", "return g()(x)"),
        row(
            "a class in sight",
            "class P:\n    def __init__(self, v):\n        self.v = v.sum()\ndef f(x):\n    return P(x)",
        ),
        row("a decorated function in sight", "@g\ndef h(v):\n    return v\ndef f(x):\n    return h(x)"),
        row(
            "a function with two definitions",
            "def h(v):\n    return v\ndef h(v):\n    return v.sum()\ndef f(x):\n    return h(x)",
        ),
        row("a generator method's send", "return g.send(x)"),
        row("formatting by a method", "return len('{}'.format(x))"),
        row("joining", "return len(','.join(x))"),
        row("map with a function", "return list(map(g, x))"),
        row("filter", "return list(filter(None, x))"),
        row("an exception's argument", "raise ValueError(x)"),
        row("recursion without end in sight", "def f(x):\n    return f(x)"),
        row("numpy's vectorize", "return np.vectorize(g)(x)"),
        row("numpy's apply_along_axis", "return np.apply_along_axis(g, 0, x)"),
        row("math's functions that take several", "return math.fsum(x)"),
        row(
            "an overridden method",
            "class C:\n    def h(self, v):\n        return v\n    def f(self, x):\n"
            "        return self.h(x)\nclass D(C):\n    def h(self, v):\n        return v.sum()",
        ),
        row("setattr", "setattr(K, 'v', x)\nreturn 0"),
        row("logging", "logging.info('%s', x)\nreturn 0"),
        row("a warning", "warnings.warn(x)\nreturn 0"),
        row("a thread", "threading.Thread(target=g, args=(x,)).start()\nreturn 0"),
        row("an argument that is called", "return x()"),
        row(
            "through a base class out of sight",
            "class C(B):\n    def f(self, x):\n        return self.h(x)",
        ),
    ],
)
def test_handing_an_argument_to_code_out_of_sight_is_an_obstacle(text: str):
    assert obstacle(text) == "BC111"


@pytest.mark.parametrize(
    "text",
    [
        row("an attribute of self", "class C:\n    def f(self, x):\n        self.last = x\n        return 0"),
        row("an attribute of anything", "K.last = x\nreturn 0"),
        row("a global", "global G\nG = x\nreturn 0"),
        row("a global list", "G.append(x)\nreturn 0"),
        row("a global dict", "G['a'] = x\nreturn 0"),
        row("a global dict's default", "G.setdefault('a', []).append(x)\nreturn 0"),
        row("a global by a walrus", "global G\n(G := x)\nreturn 0"),
        row("a global by a loop", "global G\nfor G in x:\n    pass\nreturn 0"),
        row("in a tuple", "K.last = (x, 1)\nreturn 0"),
        row("an element", "K.last = x[0]\nreturn 0"),
        row("a reshaped one", "K.last = x.reshape(-1)\nreturn 0"),
        row("a function's default", "def g(v=x):\n    return v\nreturn 0"),
        row("a lambda's default", "g = lambda v=x: v\nreturn 0"),
        row("a class's attribute", "class C:\n    v = x\nreturn 0"),
        row("an instance of a class in the body", "class C: pass\nc = C()\nc.v = x\nreturn 0"),
        row(
            "a helper's mutable default",
            "def h(v, seen=[]):\n    seen.append(v)\ndef f(x):\n    h(x)\n    return 0",
        ),
        row("a deque", "G = collections.deque()\ndef f(x):\n    G.append(x)\n    return 0"),
        row("an array of objects", "G = np.empty(3, dtype=object)\ndef f(x):\n    G[0] = x\n    return 0"),
        row("a list that is known outside", "a = []\nK.rows = a\na.append(x)\nreturn 0"),
        row("an assertion's message", "assert y, x\nreturn 0"),
    ],
)
def test_keeping_an_argument_is_an_obstacle(text: str):
    assert obstacle(text) == "BC112"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        row("isinstance", "return isinstance(x, np.ndarray)", "BC113"),
        row("type", "return type(x) is tuple", "BC113"),
        row("hasattr", "return hasattr(x, 'at')", "BC113"),
        row("getattr", "return getattr(x, 'sum')()", "BC113"),
        row("callable", "return callable(x)", "BC113"),
        row("hash", "return hash(x)", "BC113"),
        row("match", "match x:\n    case [a, b]:\n        return a\nreturn x", "BC113"),
        row(
            "match of a tuple that holds one",
            "match (x, 1):\n    case (a, 1):\n        return np.sum(a)",
            "BC113",
        ),
        row("locals", "return len(locals())", "BC118"),
        row("vars", "return len(vars())", "BC118"),
        row("eval", "return eval('x')", "BC118"),
        row("exec", "exec('y = x')\nreturn 0", "BC118"),
        row("dir", "return len(dir())", "BC118"),
    ],
)
def test_asking_for_types_and_for_ones_own_names_is_an_obstacle(text: str, code: str):
    assert obstacle(text) == code


# ------------------------------------------------------------------------------ arguments are followed

LOST = [
    row("another name", "y = x\nreturn np.sum(y)"),
    row("a chained assignment", "a = b = x\nreturn np.sum(a)"),
    row("an annotated assignment", "a: object = x\nreturn np.sum(a)"),
    row("a walrus", "return np.sum(a) if (a := x) is not None else 0"),
    row("a walrus in a comprehension", "any((a := v) is None for v in x)\nreturn np.sum(a)"),
    row("a swap", "a, b = x, 0\na, b = b, a\nreturn np.sum(b)"),
    row("a starred target", "a, *b = 1, x\nreturn np.sum(b[0])"),
    row("a nested target", "(a, (b, c)), d = (1, (x, 2)), 3\nreturn np.sum(b)"),
    row("a list target", "[a, b] = [x, 1]\nreturn np.sum(a)"),
    row("unpacking the argument", "a, b = x\nreturn np.sum(a)"),
    row("a loop over it", "for v in x:\n    r = np.sum(v)\nreturn r"),
    row("a loop over a list of it", "for v in [x]:\n    r = np.sum(v)\nreturn r"),
    row("enumerate", "for i, v in enumerate(x):\n    r = np.sum(v)\nreturn r"),
    row("zip", "for a, b in zip(range(3), x):\n    r = np.sum(b)\nreturn r"),
    row("reversed", "for v in reversed(x):\n    r = np.sum(v)\nreturn r"),
    row("next and iter", "return np.sum(next(iter(x)))"),
    row("next's default", "return np.sum(next(iter([]), x))"),
    row("list", "return np.sum(list(x)[0])"),
    row("tuple", "return np.sum(tuple(x)[0])"),
    row("dict", "return np.sum(dict(a=x)['a'])"),
    row("dict of pairs", "return np.sum(dict([('a', x)])['a'])"),
    row("dict of a dict", "return np.sum(dict({'a': x})['a'])"),
    row("max by a key", "return np.sum(max([x], key=len))"),
    row("items", "for k, v in x.items():\n    r = np.sum(v)\nreturn r"),
    row("values", "return [np.sum(v) for v in x.values()]"),
    row("a dict's get", "return np.sum({'a': x}.get('a'))"),
    row("a dict's get, its default", "return np.sum({}.get('a', x))"),
    row("a dict's pop", "a = {'a': x}\nreturn np.sum(a.pop('a'))"),
    row("a dict's values", "return [np.sum(v) for v in {'a': x}.values()]"),
    row("a dict's items", "return [np.sum(v) for k, v in {'a': x}.items()]"),
    row("a dict's setdefault", "a = {}\nreturn np.sum(a.setdefault('a', x))"),
    row("a dict's update", "a = {}\na.update(b=x)\nreturn np.sum(a['b'])"),
    row("a dict's update by a dict", "a = {}\na.update({'b': x})\nreturn np.sum(a['b'])"),
    row("a dict's union", "a = {} | {'b': x}\nreturn np.sum(a['b'])"),
    row("a dict display's stars", "a = {**{'b': x}}\nreturn np.sum(a['b'])"),
    row("a dict comprehension", "a = {k: x for k in 'ab'}\nreturn np.sum(a['a'])"),
    row("a list display's star", "a = [*[x]]\nreturn np.sum(a[0])"),
    row("a list's item", "a = [0]\na[0] = x\nreturn np.sum(a[0])"),
    row("a list's slice", "a = [0]\na[:] = [x]\nreturn np.sum(a[0])"),
    row("a list's item in a tuple target", "a = [0, 0]\na[0], b = x, 1\nreturn np.sum(a[0])"),
    row("a list's item as a loop's target", "a = [0]\nfor a[0] in x:\n    pass\nreturn np.sum(a[0])"),
    row("append", "a = []\na.append(x)\nreturn np.sum(a[0])"),
    row("extend", "a = []\na.extend([x])\nreturn np.sum(a[0])"),
    row("insert", "a = []\na.insert(0, x)\nreturn np.sum(a[0])"),
    row("a list's pop", "a = [x]\nreturn np.sum(a.pop())"),
    row("a list's copy", "a = [x]\nreturn np.sum(a.copy()[0])"),
    row("a list's sum", "a = [] + [x]\nreturn np.sum(a[0])"),
    row("a list's product", "a = [x] * 2\nreturn np.sum(a[0])"),
    row("a list's slice", "a = [1, x][1:]\nreturn np.sum(a[0])"),
    row("append through another name", "a = []\nb = a\nb.append(x)\nreturn np.sum(a[0])"),
    row("a dict through another name", "a = {}\nb = a\nb['k'] = x\nreturn np.sum(a['k'])"),
    row("an augmented list through another name", "a = []\nb = a\na += [x]\nreturn np.sum(b[0])"),
    row("a list in a list", "a = []\nw = [a]\na.append(x)\nreturn np.sum(w[0][0])"),
    row("a list in a tuple", "a = []\nw = (a, 1)\nw[0].append(x)\nreturn np.sum(a[0])"),
    row("one of two lists", "a = []\nb = a if y else []\nb.append(x)\nreturn np.sum(a[0])"),
    row("a list in a dict", "a = {'b': []}\na['b'].append(x)\nreturn np.sum(a['b'][0])"),
    row("a default dict's way", "a = {}\na.setdefault('b', []).append(x)\nreturn np.sum(a['b'][0])"),
    row("append by its bound method", "a = []\np = a.append\np(x)\nreturn np.sum(a[0])"),
    row("append in a comprehension", "a = []\n[a.append(v) for v in x]\nreturn np.sum(a[0])"),
    row("append in a branch", "a = []\nif y:\n    a.append(x)\nreturn np.sum(a[0])"),
    row(
        "append in a helper",
        "def push(a, v):\n    a.append(v)\ndef f(x):\n    a = []\n    push(a, x)\n    return np.sum(a[0])",
    ),
    row(
        "append in a nested function", "a = []\ndef visit(v):\n    a.append(v)\nvisit(x)\nreturn np.sum(a[0])"
    ),
    row(
        "append of what a nested function captures",
        "a = []\ndef visit():\n    a.append(x)\nvisit()\nreturn np.sum(a[0])",
    ),
    row(
        "an item in a nested function",
        "a = {}\ndef visit(v):\n    a['k'] = v\nvisit(x)\nreturn np.sum(a['k'])",
    ),
    row("nonlocal", "a = 0\ndef g():\n    nonlocal a\n    a = x\ng()\nreturn np.sum(a)"),
    row(
        "nonlocal by a loop",
        "a = 0\ndef g():\n    nonlocal a\n    for a in x:\n        pass\ng()\nreturn np.sum(a)",
    ),
    row("a branch", "a = 0\nif y:\n    a = x\nreturn np.sum(a)"),
    row("the other branch", "if y:\n    a = 0\nelse:\n    a = x\nreturn np.sum(a)"),
    row("an elif", "a = 0\nif y:\n    pass\nelif z:\n    a = x\nreturn np.sum(a)"),
    row("a conditional expression", "a = x if y else 0\nreturn np.sum(a)"),
    row("or", "a = None or x\nreturn np.sum(a)"),
    row("a try's body", "a = 0\ntry:\n    a = x\n    g()\nexcept Exception:\n    pass\nreturn np.sum(a)"),
    row("a try's handler", "try:\n    g()\n    a = 0\nexcept Exception:\n    a = x\nreturn np.sum(a)"),
    row(
        "in a handler, what the body had bound",
        "a = 0\ntry:\n    a = x\n    g()\n    a = 0\nexcept Exception:\n    return np.sum(a)\nreturn 0",
    ),
    row(
        "in a finally, what the body had bound",
        "a = 0\ntry:\n    a = x\n    g()\n    a = 0\nfinally:\n    K.s = np.sum(a)\nreturn 0",
    ),
    row("a try's else", "try:\n    g()\nexcept Exception:\n    a = 0\nelse:\n    a = x\nreturn np.sum(a)"),
    row("a finally", "try:\n    g()\nfinally:\n    a = x\nreturn np.sum(a)"),
    row("a with", "with contextlib.nullcontext():\n    a = x\nreturn np.sum(a)"),
    row("a loop's later pass", "a = 0\nfor _ in range(2):\n    r = np.sum(a)\n    a = x\nreturn r"),
    row(
        "a loop's fifth pass",
        "a = b = c = d = e = 0\nfor _ in range(9):\n    e = d\n    d = c\n    c = b\n    b = a\n"
        "    a = x\nreturn np.sum(e)",
    ),
    row(
        "a loop left by break",
        "a = 0\nwhile True:\n    a = x\n    if g():\n        break\n    a = 0\nreturn np.sum(a)",
    ),
    row(
        "a loop's continue",
        "a = 0\nfor _ in range(3):\n    a = x\n    if g():\n        continue\n    a = 0\nreturn np.sum(a)",
    ),
    row("a loop's else", "for _ in range(3):\n    pass\nelse:\n    a = x\nreturn np.sum(a)"),
    row("a while's condition", "a = 0\nwhile np.sum(a) < 3:\n    a = x\nreturn 0"),
    row("after a deletion elsewhere", "a = x\nb = a\ndel a\nreturn np.sum(b)"),
    row("a comprehension's element", "return np.array([np.sum(v) for v in x])"),
    row("a comprehension's condition", "return len([v for v in x if np.sum(v) > 0])"),
    row("a nested comprehension", "return [[np.sum(v) for v in w] for w in x]"),
    row("a comprehension's list", "a = [v for v in x]\nreturn np.sum(a[0])"),
    row("a generator's elements", "a = (v for v in x)\nreturn [np.sum(v) for v in a]"),
    row("a nested function's parameter", "def g(v):\n    return np.sum(v)\nreturn g(x)"),
    row("a nested function's default order", "def g(a, b=0):\n    return np.sum(b)\nreturn g(1, b=x)"),
    row("a nested function's star", "def g(*a):\n    return np.sum(a[0])\nreturn g(x)"),
    row("a nested function's double star", "def g(**a):\n    return np.sum(a['k'])\nreturn g(k=x)"),
    row("a nested function's keyword-only parameter", "def g(*, k):\n    return np.sum(k)\nreturn g(k=x)"),
    row("a starred call", "def g(a, b):\n    return np.sum(b)\nreturn g(*[x, x])"),
    row("a double-starred call", "def g(a, b):\n    return np.sum(b)\nreturn g(**{'a': 1, 'b': x})"),
    row("what a nested function captures", "def g():\n    return np.sum(x)\nreturn g()"),
    row("what it captures later", "def g():\n    return np.sum(a)\na = x\nreturn g()"),
    row(
        "two levels of capture",
        "def g():\n    def h():\n        return np.sum(x)\n    return h\nreturn g()()",
    ),
    row("a nested function's result", "def g(v):\n    return v\nreturn np.sum(g(x))"),
    row("a nested generator function", "def g():\n    yield x\nreturn np.sum(next(g()))"),
    row("a nested generator in a loop", "def g():\n    yield from x\nreturn [np.sum(v) for v in g()]"),
    row("a lambda's parameter", "return (lambda v: np.sum(v))(x)"),
    row("a lambda's capture", "g = lambda: np.sum(x)\nreturn g()"),
    row("a key function", "return sorted(x, key=lambda v: v.sum())"),
    row("a nested class's method", "class C:\n    def m(self):\n        return np.sum(x)\nreturn C().m()"),
    row("a name that a class body binds as well", "a = x\nclass C:\n    a = 0\nreturn np.sum(a)"),
    row("a helper", "def h(v):\n    return np.sum(v)\ndef f(x):\n    return h(x)"),
    row("a helper's result", "def h(v):\n    return v\ndef f(x):\n    return np.sum(h(x))"),
    row("a helper's tuple", "def h(v):\n    return 1, v\ndef f(x):\n    a, b = h(x)\n    return np.sum(b)"),
    row("a helper's second use", "def h(v):\n    return v\ndef f(x):\n    a = h(1)\n    return np.sum(h(x))"),
    row("a helper that binds a global lambda", "h = lambda v: np.sum(v)\ndef f(x):\n    return h(x)"),
    row(
        "a helper's nested function",
        "def h(v):\n    def g():\n        return np.sum(v)\n    return g()\ndef f(x):\n    return h(x)",
    ),
    row(
        "a helper that returns a function",
        "def h(v):\n    return lambda: np.sum(v)\ndef f(x):\n    return h(x)()",
    ),
    row(
        "a method of self",
        "class C:\n    def h(self, v):\n        return np.sum(v)\n    def f(self, x):\n"
        "        return self.h(x)",
    ),
    row(
        "a method's keyword",
        "class C:\n    def h(self, a, v=1):\n        return np.sum(v)\n    def f(self, x):\n"
        "        return self.h(1, v=x)",
    ),
    row(
        "recursion that does something",
        "def f(x, n=3):\n    def walk(v, n):\n"
        "        return np.sum(v) if n == 0 else walk(v, n - 1)\n    return walk(x, n)",
    ),
    row("an import in the body", "import numpy as q\nreturn q.sum(x)"),
    row("a method by another name", "s = x.sum\nreturn s()"),
    row("a part of a part", "return np.sum(x['a']['b'])"),
    row("a transposed part", "return np.sum(x.T[0].reshape(-1))"),
    row("a neutral function's result", "return np.sum(np.reshape(x, -1))"),
    row("arithmetic's result", "return np.sum(x - x)"),
    row("global statements elsewhere", "def g():\n    global a\n    a = 1\na = x\nreturn np.sum(a)"),
]


@pytest.mark.parametrize("text", LOST)
def test_an_argument_is_followed_through(text: str):
    """Each sums an argument up, which JAX does in its own order, at the end of some way through the body."""
    assert obstacle(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        row("bound anew", "x = np.array(x)\nreturn np.sum(x)"),
        row("bound anew by asarray", "x = np.asarray(x)\nreturn np.sum(x)"),
        row(
            "bound anew in both branches",
            "if y:\n    x = np.array(x)\nelse:\n    x = np.asarray(x)\nreturn np.sum(x)",
        ),
        row("converted into a list", "a = [np.asarray(v) for v in x]\nreturn np.sum(a[0])"),
        row("converted by map", "a, b = map(np.asarray, x)\nreturn np.sum(a)"),
        row(
            "converted in a helper", "def h(v):\n    return np.asarray(v)\ndef f(x):\n    return np.sum(h(x))"
        ),
        row("a branch that returns first", "a = 0\nif y:\n    a = x\n    return a\nreturn np.sum(a)"),
        row("a branch that raises first", "a = 0\nif y:\n    a = x\n    raise ValueError\nreturn np.sum(a)"),
        row("a comprehension's variable", "a = 0\n[a for a in x]\nreturn np.sum(a)"),
        row("a parameter of a nested function", "def g(x):\n    return np.sum(x)\nreturn g(1)"),
        row("a lambda's parameter", "g = lambda x: np.sum(x)\nreturn g(1)"),
        row("an unsupplied parameter", "def f(x, scale=2.0):\n    return np.sin(x) * np.sum(scale)"),
        row("a deleted name", "a = x\ndel a\na = 0\nreturn np.sum(a)"),
        row("dict keys", "return sorted(x.keys())"),
        row("its shape", "return np.sum(x.shape)"),
        row("its tolist", "return np.sum(x.tolist())"),
        row("numbers read from it", "return np.sum([float(v) for v in x])"),
    ],
)
def test_what_is_no_argument_any_more_is_not(text: str):
    assert obstacle(text) is None


# ------------------------------------------------------------------------------- kinds of use, escapes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        row("not used", "return 0", ""),
        row("returned as it is", "return x", "inquiry"),
        row("asked for its shape", "return x.shape[0] * x.ndim", "inquiry"),
        row("asked for its length", "return len(x)", "inquiry"),
        row("asked by numpy", "return np.shape(x)", "inquiry"),
        row("converted by asarray", "return np.asarray(x)", "converted"),
        row("converted by array", "return np.array(x)", "converted"),
        row("converted to a number", "return float(x)", "converted"),
        row("converted by math", "return math.sqrt(x)", "converted"),
        row("converted element by element", "return [float(v) for v in x]", "piece_converted"),
        row("converted by map", "a, b = map(np.asarray, x)\nreturn a", "piece_converted"),
        row("handed to a ufunc", "return np.sin(x)", "numpy"),
        row("handed to numpy.linalg", "return np.linalg.inv(x)", "numpy"),
        row("handed to scipy", "return scipy.special.j0(x)", "numpy"),
        row("handed to a viewing function", "return np.atleast_1d(x)", "numpy"),
        row("stored into an own array", "a = np.zeros(3)\na[0] = x\nreturn a", "numpy"),
        row("stored into everything", "BUF[...] = x\nreturn 0", "numpy"),
        row("its method", "return x.reshape(-1)", "other"),
        row("its index", "return x[0]", "inquiry other"),
        row("iterated over", "for v in x:\n    pass\nreturn 0", ""),
        row("its truth", "return 1 if x else 0", "other"),
        row(
            "several kinds",
            "n = len(x)\nreturn np.sin(x) + float(x[0])",
            "inquiry piece_converted numpy other",
        ),
        row("through a name", "a = x\nreturn np.sin(a)", "numpy"),
        row("through a tuple", "a, b = x\nreturn np.sin(a)", "other"),
        row("through a helper", "def h(v):\n    return np.sin(v)\ndef f(x):\n    return h(x)", "numpy"),
        row("after its conversion", "x = np.asarray(x)\nreturn x[1] / 2 + x.sum()", "converted"),
    ],
)
def test_uses_are_sorted_by_what_they_need(text: str, words: str):
    assert usage(text) == words


@pytest.mark.parametrize(
    "text",
    [
        row("handed to code out of sight", "return g(np.asarray(x))"),
        row("handed to a method", "return solver.run(np.asarray(x))"),
        row("kept in an attribute", "K.v = np.asarray(x)\nreturn 0"),
        row("kept in a global", "global G\nG = np.asarray(x)\nreturn 0"),
        row("kept in a list", "G.append(np.asarray(x))\nreturn 0"),
        row("kept in a list in a tuple", "K.v = ([np.asarray(x)],)\nreturn 0"),
        row("a list that is known outside", "a = []\nK.v = a\na.append(np.asarray(x))\nreturn 0"),
        row("a row", "K.v = np.asarray(x)[0]\nreturn 0"),
        row("rows", "K.v = list(np.asarray(x))\nreturn 0"),
        row("a transpose", "K.v = np.asarray(x).T\nreturn 0"),
        row("a reshape", "K.v = np.asarray(x).reshape(-1)\nreturn 0"),
        row("numpy's reshape", "K.v = np.reshape(np.asarray(x), -1)\nreturn 0"),
        row("a real part", "K.v = np.asarray(x).real\nreturn 0"),
        row("a conjugate", "K.v = np.asarray(x).conj()\nreturn 0"),
        row("memory", "K.v = np.asarray(x).data\nreturn 0"),
        row("the flat iterator", "K.v = np.asarray(x).flat\nreturn 0"),
        row("an astype that may not copy", "K.v = np.asarray(x).astype('f4', copy=False)\nreturn 0"),
        row("asarray of asarray", "K.v = np.asarray(np.asarray(x))\nreturn 0"),
        row("array without a copy", "K.v = np.array(x, copy=None)\nreturn 0"),
        row("a scalar type that may return its argument", "K.v = np.float32(x)\nreturn 0"),
        row("a viewing function", "K.v = np.atleast_1d(x)\nreturn 0"),
        row("bin edges", "K.v = np.histogram(DATA, np.asarray(x))[1]\nreturn 0"),
        row("a power that may be one", "K.v = np.linalg.matrix_power(x, n)\nreturn 0"),
        row("a nested list of views", "K.v = [v for v in np.asarray(x)]\nreturn 0"),
        row("an exception's argument", "raise ValueError(np.asarray(x))"),
        row("a default argument", "def g(v=np.asarray(x)):\n    return v\nreturn h(g)"),
        row(
            "a function that captures it and is handed on",
            "a = np.asarray(x)\ndef g():\n    return a\nreturn h(g)",
        ),
        row("a lambda that captures it and is handed on", "a = np.asarray(x)\nreturn h(lambda: a.sum())"),
        row("a lambda that captures it and is kept", "a = np.asarray(x)\nK.v = lambda: a.sum()\nreturn 0"),
        row("a lazy generator that is handed on", "a = np.asarray(x)\nreturn h(v for v in a)"),
        row("a class's attribute", "class C:\n    v = np.asarray(x)\nreturn 0"),
        row("a thread", "threading.Thread(target=g, args=(np.asarray(x),)).start()\nreturn 0"),
        row("logging", "logging.info('%s', np.asarray(x))\nreturn 0"),
        row("through a helper", "def h(v):\n    K.v = v\ndef f(x):\n    h(np.asarray(x))\n    return 0"),
        row("an out argument's result", "K.v = np.sin(1, out=np.asarray(x))\nreturn 0"),
        row("scipy.linalg's result", "K.v = scipy.linalg.expm(np.asarray(x))\nreturn 0"),
        row(
            "another numpy function's result",
            "K.v = np.lib.stride_tricks.as_strided(np.asarray(x))\nreturn 0",
        ),
        row("an array of objects", "K.v = np.array([np.asarray(x)], dtype=object)\nreturn 0"),
        row("a memoryview", "K.v = memoryview(np.asarray(x))\nreturn 0"),
        row("getattr", "K.v = getattr(np.asarray(x), 'T')\nreturn 0"),
        row("one of two", "K.v = np.asarray(x) if y else 0\nreturn 0"),
        row("or", "K.v = None or np.asarray(x)\nreturn 0"),
        row("an iterator", "K.v = iter(np.asarray(x))\nreturn 0"),
        row("a zip", "K.v = zip(np.asarray(x), '12')\nreturn 0"),
        row("a dict's values", "K.v = {'a': np.asarray(x)}.values()\nreturn 0"),
        row("the sum of two lists", "K.v = [np.asarray(x)] + [1]\nreturn 0"),
        row("a slice of a list", "K.v = [np.asarray(x), 1][:1]\nreturn 0"),
    ],
)
def test_a_view_that_may_outlive_the_call_is_noted(text: str):
    assert "escape" in usage(text).split()


@pytest.mark.parametrize(
    "text",
    [
        row("a copy", "K.v = np.array(x)\nreturn 0"),
        row("a copy by its method", "K.v = np.asarray(x).copy()\nreturn 0"),
        row("a fresh result", "K.v = np.sin(x)\nreturn 0"),
        row("arithmetic", "a = np.asarray(x)\nK.v = a + 1\nreturn 0"),
        row("a negation", "a = np.asarray(x)\nK.v = -a\nreturn 0"),
        row("a comparison", "a = np.asarray(x)\nK.v = a > 0\nreturn 0"),
        row("a reduction", "K.v = np.asarray(x).sum()\nreturn 0"),
        row("a number", "K.v = float(x)\nreturn 0"),
        row("a list of numbers", "K.v = np.asarray(x).tolist()\nreturn 0"),
        row("an item", "K.v = np.asarray(x).item()\nreturn 0"),
        row("a stack", "K.v = np.stack([x, x])\nreturn 0"),
        row("an astype", "K.v = np.asarray(x).astype(np.float32)\nreturn 0"),
        row("its shape", "K.v = x.shape\nreturn 0"),
        row("returned", "return np.asarray(x)"),
        row("returned in a tuple", "return np.asarray(x), np.asarray(x).T"),
        row("read by scipy.special", "K.v = scipy.special.j0(x)\nreturn 0"),
        row("summed by numpy", "K.v = np.sum(np.asarray(x))\nreturn 0"),
        row("stored into an own array", "a = np.zeros(3)\na[0] = x\nK.v = a\nreturn 0"),
        row("a list of copies", "K.v = [np.array(v) for v in x]\nreturn 0"),
        row("a local list", "a = [np.asarray(x)]\nreturn a[0].sum()"),
        row("printed", "print(np.asarray(x))\nreturn 0"),
        row("formatted", "K.v = f'{np.asarray(x)}'\nreturn 0"),
        row("truth", "K.v = bool(np.asarray(x).any())\nreturn 0"),
        row("a length", "K.v = len(np.asarray(x))\nreturn 0"),
        row("a known context", "with np.errstate(all='ignore'):\n    return np.log(x)"),
    ],
)
def test_what_shares_no_memory_does_not_escape(text: str):
    assert "escape" not in usage(text).split()


# ------------------------------------------------------------------------------- the rest of the report


@pytest.mark.parametrize(
    ("text", "falls"),
    [
        row("a return", "return x", False),
        row("nothing", "pass", True),
        row("a return in one branch", "if y:\n    return x", True),
        row("a return in both branches", "if y:\n    return x\nelse:\n    return 0", False),
        row("a raise", "raise ValueError", False),
        row("an endless loop", "while True:\n    pass", False),
        row("an endless loop with a break", "while 1:\n    break", True),
        row("an endless loop whose inner loop breaks", "while True:\n    for _ in y:\n        break", False),
        row("a loop that returns", "for v in x:\n    return v", True),
        row("a loop's else that returns", "for v in x:\n    pass\nelse:\n    return 0", False),
        row("a loop's else that a break passes by", "for v in x:\n    break\nelse:\n    return 0", True),
        row("a try that returns in every way", "try:\n    return x\nexcept E:\n    return 0", False),
        row("a handler that passes", "try:\n    return x\nexcept E:\n    pass", True),
        row("a finally that returns", "try:\n    pass\nfinally:\n    return 0", False),
        row("a try's else that returns", "try:\n    pass\nexcept E:\n    raise\nelse:\n    return 0", False),
        row("a with that returns", "with open('a'):\n    return x", False),
        row("a match without a default", "match y:\n    case 1:\n        return x", True),
        row(
            "a match with a default",
            "match y:\n    case 1:\n        return x\n    case _:\n        return 0",
            False,
        ),
        row("a nested return", "def g():\n    return x\ng()", True),
        row("a lambda", "f = lambda x: x", False),
    ],
)
def test_whether_control_reaches_the_end_of_the_body(text: str, falls: bool):
    assert report(text, x=ANY).falls_through is falls


def test_a_with_that_may_swallow_an_exception_falls_through():
    assert report("with contextlib.suppress(E):\n    return g()").falls_through
    assert report("with manager:\n    return g()").falls_through


@pytest.mark.parametrize(
    ("value", "form"),
    [
        row("a number", "1.5", "number"),
        row("arithmetic", "np.asarray(x) + 1", "array"),
        row("a comparison", "np.asarray(x) > 0", "array"),
        row("a ufunc", "np.sin(x)", "array"),
        row("an array method", "np.asarray(x).sum()", "array"),
        row("a conversion", "np.asarray(x)", "array"),
        row("a scalar type", "np.float32(x)", "array"),
        row("a builtin number", "float(x)", "number"),
        row("one array as it came", "x", "array"),
        row("a tuple", "(x, x)", "tree"),
        row("a list", "[1, 2]", "tree"),
        row("a dict", "{'a': 1}", "dict"),
        row("an unknown call", "g(1)", "any"),
        row("None", "None", "none"),
        row("a string", "'a'", "any"),
        row("one of two kinds", "1 if y else (1, 2)", "any"),
    ],
)
def test_the_form_of_what_is_returned(value: str, form: str):
    found = report(f"return {value}", x=ARRAY)
    assert [returned.form for returned in found.returns.values()] == [form]


def test_nested_returns_are_not_the_callbacks():
    found = report("def g():\n    return 1\ng()\nreturn x\nif y:\n    return 2")
    assert len(found.returns) == 1


def test_accepted_codes_are_recorded_and_the_analysis_goes_on():
    text = "a = np.sum(x)\nK.v = x\nreturn a"
    found = report(text, frozenset({"BC104", "BC112"}))
    assert found.obstacle is None
    assert [accepted.code for accepted in found.accepted] == ["BC104", "BC112"]
    assert found.usages["x"].escape is not None


def test_sorting_as_jax_does_is_no_arithmetic_that_one_may_accept():
    assert report("return x.sort()", frozenset({"BC104"})).obstacle.code == "BC103"
    assert report("return np.sort(x)", frozenset({"BC104"})).obstacle is None


def test_a_code_that_is_not_accepted_still_stops():
    found = report("a = np.sum(x)\nreturn jnp.sin(a)", frozenset({"BC104"}))
    assert found.obstacle is not None and found.obstacle.code == "BC103"


def test_obstacles_point_at_the_place_and_name_the_argument():
    found = report("n = len(x)\nreturn np.sum(x)").obstacle
    assert found is not None
    assert ast.unparse(found.node) == "np.sum(x)"
    assert "`x`" in found.reason and found.names == ("x",)


def test_arithmetic_that_moves_to_numpy_is_reported():
    assert report("return x + 1", x=F32).arithmetic is not None
    assert report("return np.asarray(x) + 1", x=F32).arithmetic is None


def test_own_conversions_are_recorded():
    found = report("a = np.asarray(x)\nb = np.array(x)\nreturn a + b")
    assert [ast.unparse(call) for call in found.usages["x"].conversions] == ["np.asarray(x)", "np.array(x)"]


def test_only_supplied_parameters_are_followed():
    found = report("def f(x, y):\n    return np.sin(x) + np.sum(y)", x=ANY)
    assert found.obstacle is None and set(found.usages) == {"x"}


def test_star_arguments_are_trees():
    assert obstacle("def f(*x):\n    return np.sin(x[0]) + np.asarray(x[1])", x=TREE) is None
    assert obstacle("def f(*x):\n    return np.sum(x[1])", x=TREE) == "BC104"
    assert obstacle("def f(**x):\n    return np.sin(x['a'])", x=TREE) is None
    assert obstacle("def f(**x):\n    return {k: np.sum(v) for k, v in x.items()}", x=TREE) == "BC104"


def test_deep_and_long_bodies_are_analysed():
    deep = "".join(f"{' ' * n}if y:\n" for n in range(60)) + " " * 60 + "return np.sin(x)"
    assert usage(deep) == "numpy"
    long = "a = 0\n" + "a = a + 1\n" * 3000 + "return np.sin(x)"
    assert usage(long) == "numpy"


def test_a_chain_of_helpers_beyond_the_limit_is_code_out_of_sight():
    helpers = "".join(f"def h{n}(v):\n    return h{n + 1}(v)\n" for n in range(40))
    assert obstacle(f"{helpers}def h40(v):\n    return np.sin(v)\ndef f(x):\n    return h0(x)") == "BC111"


def test_mutual_recursion_ends():
    text = """
        def g(v, n):
            return h(v, n)
        def h(v, n):
            return g(v, n - 1) if n else v
        def f(x):
            return g(x, 3)
    """
    assert obstacle(text) == "BC111"


def test_kinds_of_use_are_ordered_by_what_they_need():
    assert Use.INQUIRY < Use.CONVERTED < Use.PIECE_CONVERTED < Use.NUMPY < Use.OTHER


# ------------------------------------------------------------------------------- what both really answer

EXPRESSIONS = (
    "x + 1; 2 * x; x - 127; 5 - x; x * 0.5; 0.1 + x; x - 2.5; x + x; x - x; x * x; x + y; x * y; x - y; -x; "
    "~x; +x; x > 0; x == 1; 0 <= x; x < 7; x >= 127; x < 0.1; x != 0.5; x == x; x < y; x != y; 0 < x < y; "
    "x[0]; x[-1]; x[::2]; x[1:4]; x[..., None]; x.T; x.real; x.imag; x.reshape(-1, 1); x.copy(); "
    "not x[0]; max(x); sorted(x)"
).split("; ")
DTYPES = "bool int4 int8 uint32 int32 float16 bfloat16 float32 complex64".split()


def values(dtype: str, seed: int) -> np.ndarray:
    """Numbers of a dtype, extremes among them; no subnormal ones, which JAX flushes to zero."""
    rng = np.random.default_rng(seed)
    kind = jnp.dtype(dtype)
    if kind == np.bool_:
        return rng.random(64) > 0.5
    if jnp.issubdtype(kind, jnp.integer):
        info = jnp.iinfo(kind)
        return rng.integers(int(info.min), int(info.max), 64, endpoint=True).astype(kind)
    found = rng.normal(size=64) * 10.0 ** rng.integers(-2, 3, 64)
    if jnp.issubdtype(kind, jnp.complexfloating):
        return (found + 1j * found[::-1]).astype(kind)
    found[:3] = [np.inf, -np.inf, 0.0]
    return found.astype(kind)


def answers(expression: str, **arrays: object) -> object:
    """The bits of an expression's value, or None where it raises."""
    try:
        with np.errstate(all="ignore"):
            found = eval(expression, {}, arrays)
    except Exception:  # noqa: BLE001  # JAX and NumPy raise errors of many types
        return None
    parts = found if isinstance(found, list) else [found]
    return [(str(a.dtype), a.shape, a.tobytes()) for a in map(np.asarray, parts)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_accepted_arithmetic_has_the_same_bits(dtype: str, known: bool):
    """Whatever is no obstacle for arrays of a known dtype, or of any, gives what it gave."""
    given = Argument("array", dtype if known else None)
    x, y = values(dtype, 1), values(dtype, 2)
    accepted = 0
    for expression in EXPRESSIONS:
        if obstacle(f"return {expression}", x=given, y=given) is not None:
            continue
        accepted += 1
        original = answers(expression, x=jnp.asarray(x), y=jnp.asarray(y))
        if original is not None:
            assert answers(expression, x=x, y=y) == original, expression
    assert accepted > 15
