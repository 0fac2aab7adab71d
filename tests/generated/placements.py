"""How a function that calls back is run, and how it spells `jax.pure_callback`: tables of templates."""

# For each way to run `{run}` an expression over its arguments, also stacked along a new axis, and twice so.
PLACEMENTS = {
    "eager": "{run}({args})",
    "jit": "jax.jit({run})({args})",
    "vmap": "jax.vmap({run})({stacked})",
    "jit of vmap": "jax.jit(jax.vmap({run}))({stacked})",
    "vmap of vmap": "jax.vmap(jax.vmap({run}))({twice})",
    "vmap of jit": "jax.vmap(jax.jit({run}), axis_size=2)({stacked})",
    "scan": "lax.scan(lambda c, _: (c + 1, {run}({args})), 0, None, length=2)",
    "scan over arguments": "lax.scan(lambda c, xs: (c, {run}(*xs)), 0, ({stacked},))",
    "map": "lax.map(lambda xs: {run}(*xs), ({stacked},))",
    "cond": "lax.cond(A[0] > 0, {run}, lambda *a: {run}(*a), {args})",
    "switch": "lax.switch(1, [{run}, {run}], {args})",
    "fori": "lax.fori_loop(0, 2, lambda _, c: {run}({args}), {run}({args}))",
    "while": "lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, {run}({args})), (0, {run}({args})))",
    "checkpoint": "jax.checkpoint({run})({args})",
    "comprehension": "[{run}({args}) for _ in range(2)]",
    "stopped gradient": "jax.grad(lambda *a: total({run}(*lax.stop_gradient(a))) + total(a))({args})",
    "custom_vjp": "jax.grad(lambda *a: total({rule}(*a)))({args})",
    "custom_jvp": "jax.jvp({rule}, ({args},), jax.tree.map(jnp.ones_like, ({args},)))",
    "vjp": "jax.vjp({rule}, {args})[0]",
}
_VJP = """\
@jax.custom_vjp
def {rule}({parameters}):
    return {run}({parameters})


{rule}.defvjp(
    lambda {parameters}: ({rule}({parameters}), ({parameters},)),
    lambda residuals, cotangent: jax.tree.map(jnp.ones_like, residuals),
)
"""
_JVP = """\
@jax.custom_jvp
def {rule}({parameters}):
    return {run}({parameters})


@{rule}.defjvp
def {rule}_jvp(primals, tangents):
    result = {rule}(*primals)
    return result, jax.tree.map(tangent_of, result)
"""
# The hand-written rule that a placement takes.
RULES = {"custom_vjp": _VJP, "custom_jvp": _JVP, "vjp": _VJP}
METHODS = ("sequential", "expand_dims", "broadcast_all", "legacy_vectorized")

HELPERS = "from jax import pure_callback as call_back\n"  # the text of `helpers.py`
# What the program calls, with the import or definition that this takes.
GUARDED = "try:\n    from jax import pure_callback\nexcept ImportError:\n    pure_callback = None"
PLAIN_SPELLINGS = (
    ("jax.pure_callback", ""),
    ("jax.pure_callback", ""),
    ("pure_callback", "from jax import pure_callback"),
    ("pc", "from jax import pure_callback as pc"),
    ("_jx.pure_callback", "import jax as _jx"),
    ("pure_callback", "from jax import (\n    device_get,  # é\n    pure_callback,\n    typeof,\n)"),
)
SPELLINGS = (
    *PLAIN_SPELLINGS * 3,
    ("pure_callback", GUARDED),
    ('getattr(jax, "pure_callback")', ""),
    ("call_back", "call_back = jax.pure_callback"),
    ("Api.pure_callback", "class Api:\n    pure_callback = staticmethod(jax.pure_callback)"),
    ("helpers.call_back", "import helpers"),
    ("call_back", "from helpers import call_back"),
)

HEAD = """\
ARRAY = jax.ShapeDtypeStruct((3,), jnp.float32)
NUMBER = jax.ShapeDtypeStruct((), jnp.float32)
LOCK = threading.RLock()
STATE, KEPT, COUNT = {}, {}, 0
Pair = collections.namedtuple("Pair", "first second")
A = jnp.array([0.5, -1.25, 2.0])
B = jnp.array([0.0, 0.75, -0.5])
N = jnp.float32(1.5)
I = jnp.array([7, -2, 2**31 - 1])


def _helper(a, scale=2.0):
    return np.multiply(a, np.float32(scale))


def _same(a):
    return a


def _doubled(a):
    a *= 2
    return a


SCRATCH = np.zeros(3, np.float32)


def _scratch(a):
    SCRATCH[:] = a
    return SCRATCH


@contextlib.contextmanager
def _afterwards(a):
    yield a
    a += 1


def through(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def total(tree):
    return sum(jnp.sum(jnp.asarray(leaf, jnp.float32)) for leaf in jax.tree.leaves(tree)) + jnp.float32(0)


def tangent_of(value):
    if value.dtype == jnp.float32:
        return jnp.ones_like(value)
    return np.zeros(value.shape, jax.dtypes.float0)


def show(label, make):
    try:
        value = make()
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(value)]
    except Exception:
        print(label, "raises")
    else:
        print(label, jax.tree.structure(value), [(v.dtype.name, v.shape, v.tobytes().hex()) for v in leaves])
"""
