"""Programs that differentiate calls of `pure_callback`, each a form that a scaffold must cope with.

Each is run with `HEADER` in front. It defines `loss(*ARGUMENTS)`, a scalar, and `gradients()`, whose flat
result is that of `loss` by every float among `ARGUMENTS`. Before migration that raises.
"""

from __future__ import annotations

HEADER = """\
import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special


"""

# The callback of these has no derivative in the table.
UNKNOWN = {
    "complex numbers in reverse mode": """
def _host(x, z):
    return np.fft.fft(np.asarray(z) ** 2 * np.asarray(x) + 1j * np.asarray(x))

def loss(x):
    z = x * (1 + 0.5j)
    return jnp.sum(jnp.abs(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), x, z)))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "complex numbers in forward mode": """
def _host(z):
    return np.fft.fft(np.unique(np.asarray(z)) ** 2)

def loss(x):
    z = x * (1 + 0.5j)
    return jnp.sum(jnp.abs(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)))

def gradients():
    return jax.jacfwd(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "reverse mode": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "forward mode": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.jacfwd(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "both modes": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    forward = jax.jvp(loss, ARGUMENTS, (jnp.ones(3),))[1]
    backward = jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward.sum(), rtol=1e-2)
    return backward

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "spec of the enclosing function": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    y = jax.pure_callback(_host, spec, z)
    return jnp.sum(y * y)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "nested callback": """
def make(scale):
    def loss(z):
        def host(z):
            return scipy.special.ber(np.asarray(z)) * z * scale

        return jnp.sum(jax.pure_callback(host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

    return loss

loss = make(3)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "method": """
class Model:
    def __init__(self, power):
        self.power = power

    def _host(self, z, w):
        return np.asarray(z) ** self.power * scipy.special.ber(w)

    def __call__(self, z, w):
        spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
        return jnp.sum(jax.pure_callback(self._host, spec, z, w))

loss = Model(3)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.5, 0.1]))
""",
    "keyword arguments": """
def _host(a, *, weight):
    return np.unwrap(np.asarray(a)) ** 3 * weight

def loss(a, b):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a, weight=b * 2))

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.5, 0.1]))
""",
    "pytree argument and several outputs": """
def _host(params, x):
    w, b = np.asarray(params["w"]), np.asarray(params["b"])
    return {"y": scipy.special.ber(w * np.asarray(x) + b), "norm": np.asarray((w**2).sum(), w.dtype)}

def loss(params, x):
    leaf = jax.ShapeDtypeStruct(x.shape, x.dtype)
    spec = {"y": leaf, "norm": jax.ShapeDtypeStruct((), x.dtype)}
    found = jax.pure_callback(_host, spec, params, x)
    return jnp.sum(found["y"]) + 2 * found["norm"]

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = ({"w": jnp.array([0.3, 1.2]), "b": jnp.array([1.0, -0.4])}, jnp.array([0.5, 0.1]))
""",
    "tuple of outputs, one of integers": """
def _host(x):
    x = np.asarray(x)
    return x**3, np.argsort(x).astype(np.int32)

def loss(x):
    spec = (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(x.shape, jnp.int32))
    cubes, order = jax.pure_callback(_host, spec, x)
    return jnp.sum(cubes[order] * jnp.arange(1.0, 4.0))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.9, -1.2, 0.5]),)
""",
    "integer and boolean arguments": """
def _host(x, n, flag):
    return np.asarray(x) ** np.asarray(n) * np.where(flag, 2, 1)

def loss(x, n, flag):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, n, flag))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.9, 1.2]), jnp.array([2, 3]), True)
""",
    "random key": """
def _host(x, data):
    scale = np.random.default_rng(np.asarray(data)).uniform(1, 2)
    return (np.asarray(x) ** 2 * scale).astype(x.dtype)

def loss(x, key):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, x, jax.random.key_data(key)))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.9, 1.2]), jax.random.key(3))
""",
    "under vmap": """
def _host(row):
    return np.unique(np.asarray(row)) ** 2

def loss(x):
    rows = jax.vmap(
        lambda row: jax.pure_callback(
            _host, jax.ShapeDtypeStruct(row.shape, row.dtype), row, vmap_method="sequential"
        )
    )(x)
    return jnp.sum(rows * jnp.arange(1.0, 7.0).reshape(2, 3))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.9, 1.2, 0.1], [0.2, -0.4, 0.7]]),)
""",
    "spec of a lambda's variable": """
def _host(row):
    return np.unique(np.asarray(row)) ** 2

def loss(x):
    rows = jax.vmap(
        lambda row: jax.pure_callback(
            _host, jax.ShapeDtypeStruct(row.shape, row.dtype), row * 2, vmap_method="sequential"
        )
    )(x)
    return jnp.sum(rows * jnp.arange(1.0, 7.0).reshape(2, 3))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.9, 1.2, 0.1], [0.2, -0.4, 0.7]]),)
""",
    "under scan and jit": """
def _host(carry, x):
    return scipy.special.ber(np.asarray(carry) + np.asarray(x))

def _step(carry, x):
    carry = jax.pure_callback(_host, jax.ShapeDtypeStruct(carry.shape, carry.dtype), carry, x)
    return carry, carry * x

@jax.jit
def loss(start, xs):
    last, ys = jax.lax.scan(_step, start, xs)
    return last + ys.sum()

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array(0.4), jnp.array([0.9, 1.2, 0.1]))
""",
    "two calls share a scaffold": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z, w):
    first = jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    second = jax.pure_callback(_host, jax.ShapeDtypeStruct(w.shape, w.dtype), w)
    return jnp.sum(first) * jnp.sum(second)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.5, 0.1, 0.2]))
""",
    "two calls whose specs differ": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    first = jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    second = jax.pure_callback(_host, jax.ShapeDtypeStruct((2,), z.dtype), first)
    return jnp.sum(first) * jnp.sum(second)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "two calls with one spec of the function": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    first = jax.pure_callback(_host, spec, z)
    if z.shape:
        first = first + jax.pure_callback(_host, spec, first)
    return jnp.sum(first)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "lambda": """
def loss(z):
    y = jax.pure_callback(lambda a: np.unique(a) ** 3, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return jnp.sum(y * jnp.arange(1.0, 4.0))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.2]),)
""",
    "lambdas in a loop": """
def loss(z):
    for n in (2, 3):
        z = jax.pure_callback(lambda a, n=n: np.asarray(a) ** n, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return jnp.sum(z)

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "functions in a loop": """
def loss(z):
    for scale in (2, 3):

        def host(a, scale=scale):
            return scipy.special.ber(np.asarray(a) * scale) * scale

        z = jax.pure_callback(host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return jnp.sum(z)

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "partials in a comprehension": """
def _host(power, z):
    return np.asarray(z) ** power * 2

def loss(z):
    ys = [
        jax.pure_callback(functools.partial(_host, power), jax.ShapeDtypeStruct(z.shape, z.dtype), z)
        for power in (2, 3)
    ]
    return jnp.sum(ys[0] * ys[1])

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "sizes in a loop": """
def _host(z):
    return np.unwrap(np.asarray(z)) ** 2

def loss(z):
    total = 0
    for size in (2, 3):
        part = z[:size]
        total = total + jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct((size,), z.dtype), part))
    return total

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, 0.5]),)
""",
    "star arguments": """
def _host(*arrays):
    return np.prod([np.asarray(a) for a in arrays], axis=0)

def product(*arrays):
    spec = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
    return jax.pure_callback(_host, spec, *arrays)

def loss(a, b):
    return jnp.sum(product(a, b, a))

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.9, 0.2]))
""",
    "public callback with other uses": """
def host(z):
    return scipy.special.ber(z) * np.asarray(z)

assert host(0.0) == 0

def loss(z):
    return jnp.sum(jax.pure_callback(host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "adapted callback": """
def _host(z):
    return z.at[0].set(2.0) * z

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "callback is a parameter": """
def on_host(f, z):
    return jax.pure_callback(f, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

def loss(z):
    return jnp.sum(on_host(np.square, z)) + jnp.sum(on_host(lambda a: np.unwrap(np.asarray(a)) ** 3, z))

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "arguments that are expressions": """
def _host(left, right):
    return np.unwrap(np.asarray(left)) ** 2 * np.asarray(right)

def loss(params, x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, jnp.sin(x), params["w"] * 2))

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = ({"w": jnp.array([0.3, 1.2])}, jnp.array([0.5, 0.1]))
""",
    "variable bound again": """
def _host(z):
    return scipy.special.ber(np.asarray(z)) * 2

def loss(z):
    z = z * 2
    z = jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z + 1)
    return jnp.sum(z)

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "size that is an argument as well": """
def _host(z, size):
    return np.resize(np.asarray(z), int(size)) ** 2

@functools.partial(jax.jit, static_argnums=1)
def loss(z, size):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct((size,), z.dtype), z, size))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), 5)
""",
    "long call with comments": """
def _host(z, w):
    return scipy.special.ber(z) * np.asarray(w)

def loss(z, w):
    y = jax.pure_callback(
        _host,  # on the host
        jax.ShapeDtypeStruct(z.shape, z.dtype),
        z,  # angles
        # how much of each
        jnp.exp(w),
        vmap_method="sequential",
    )  # done
    return jnp.sum(y)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.5, 0.1]))
""",
    "under checkpoint and cond": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def _call(z):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

def loss(z):
    return jax.lax.cond(z[0] > 0, lambda z: jnp.sum(jax.checkpoint(_call)(z)), jnp.sum, z)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "JAX is imported in the function": """
def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    import jax as J

    return jnp.sum(J.pure_callback(_host, J.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "names from JAX alone": """
from jax import ShapeDtypeStruct, grad, pure_callback

def _host(z):
    return scipy.special.ber(z) * np.asarray(z)

def loss(z):
    return jnp.sum(pure_callback(_host, ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "parameters named as the rule's variables": """
def _host(cotangent, residuals, spec, result):
    return scipy.special.ber(cotangent) * np.asarray(residuals) + np.asarray(spec) * np.asarray(result)

def loss(cotangent, residuals, spec, result):
    y = jax.pure_callback(
        _host,
        jax.ShapeDtypeStruct(spec.shape, spec.dtype),
        cotangent,
        residuals,
        spec,
        result,
    )
    return jnp.sum(y)

def gradients():
    return jax.grad(loss, argnums=(0, 1, 2, 3))(*ARGUMENTS)

ARGUMENTS = tuple(jnp.array([0.3, 1.2]) * n for n in (1, 2, 3, 4))
""",
    "call inside the arguments of another": """
def _inner(z):
    return scipy.special.ber(z) * np.asarray(z)

def _outer(z):
    return np.unwrap(np.asarray(z)) ** 3

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_outer, spec, 1 + jax.pure_callback(_inner, spec, z)))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
}

# The derivative of these is known, so that nothing is left to fill in.
KNOWN = {
    "twin in reverse mode": """
def _host(z):
    return np.sin(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "twin in forward mode": """
def _host(z):
    return np.sin(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.jacfwd(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "twin twice": """
def _host(z):
    return np.sin(z)

def on_host(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jax.pure_callback(_host, spec, z, vmap_method="sequential")

def loss(z):
    return jnp.sum(on_host(z) ** 2)

def gradients():
    (z,) = ARGUMENTS
    assert jnp.allclose(jnp.diag(jax.hessian(loss)(z)), 2 * jnp.cos(2 * z))
    assert jnp.allclose(jax.vmap(jax.grad(jax.grad(on_host)))(z), -jnp.sin(z))
    return jax.grad(loss)(z)

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "linear system": """
def _solve(a, b):
    return np.linalg.solve(np.asarray(a), np.asarray(b))

def loss(a, b):
    return jnp.sum(jax.pure_callback(_solve, jax.ShapeDtypeStruct(b.shape, b.dtype), a, b) ** 2)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([[2.0, 0.3], [0.1, 1.5]]), jnp.array([0.5, -0.2]))
""",
    "library function": """
def loss(a):
    inverse = jax.pure_callback(np.linalg.inv, jax.ShapeDtypeStruct(a.shape, a.dtype), a)
    return jnp.sum(inverse**2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[2.0, 0.3], [0.1, 1.5]]),)
""",
    "library function with keywords bound": """
def loss(a):
    rows = jax.pure_callback(
        functools.partial(np.prod, axis=1), jax.ShapeDtypeStruct(a.shape[:1], a.dtype), a
    )
    return jnp.sum(rows**2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[2.0, 0.3], [0.1, 1.5]]),)
""",
    "reduction with keywords": """
def _host(a):
    a = np.asarray(a)
    return np.cumsum(a, axis=1)

def loss(a):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[2.0, 0.3], [0.1, 1.5]]),)
""",
    "constant among the operands": """
def _host(a):
    return np.power(np.asarray(a), 3)

def loss(a):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([2.0, -0.3]),)
""",
    "casts": """
def _host(a):
    wide = np.asarray(a, dtype=np.float64)
    return scipy.special.expit(wide).astype(a.dtype)

def loss(a):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([2.0, -0.3]),)
""",
    "operands in another order": """
def _host(a, b):
    return np.arctan2(np.asarray(b), np.asarray(a))

def loss(a, b):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a, b) ** 2)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([2.0, -0.3]), jnp.array([0.5, 0.7]))
""",
    "operand that is broadcast": """
def _host(a, b):
    return np.multiply(np.asarray(a), np.asarray(b))

def loss(a, b):
    spec = jax.ShapeDtypeStruct((3, 2), a.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, a, b) ** 2)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([2.0, -0.3]), jnp.array([[0.5], [0.7], [0.1]]))
""",
    "lower half of a matrix": """
def _host(a):
    return np.linalg.cholesky(a)

def loss(a):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a) ** 3)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[2.0, 0.3], [0.3, 1.5]]),)
""",
    "slope": """
def _bessel(z):
    return scipy.special.j0(z)

def loss(params, z):
    return jnp.sum(params * jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]), jnp.array([0.8, 3.0]))
""",
    "slope in forward mode": """
def _bessel(z):
    return scipy.special.j1(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.jacfwd(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "slope in both modes": """
def _elliptic(m):
    return scipy.special.ellipk(np.asarray(m))

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_elliptic, spec, jnp.sin(z) / 2) ** 2)

def gradients():
    forward, backward = jax.jacfwd(loss)(*ARGUMENTS), jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward)
    return backward

ARGUMENTS = (jnp.array([0.8, 2.0]),)
""",
    "slope under vmap": """
def _bessel(z):
    return scipy.special.y0(z)

def on_host(z):
    return jax.pure_callback(
        _bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z, vmap_method="expand_dims"
    )

def loss(z):
    return jnp.sum(jax.vmap(on_host)(z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "slope with a constant": """
def _bessel(z):
    return scipy.special.jv(2, z)

def loss(z):
    return jnp.sum(jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "slope with an integer argument": """
def _bessel(order, z):
    return scipy.special.jn(order, z)

def loss(z):
    order = jnp.arange(3, dtype=jnp.int32)
    spec = jax.ShapeDtypeStruct((3, 1) + (2,), z.dtype)
    return jnp.sum(jax.pure_callback(_bessel, spec, order.reshape(3, 1, 1), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0]]),)
""",
    "argument without a known derivative": """
ORDERS = (0.5, 2.0)

def _bessel(order, z):
    return scipy.special.jv(order, z)

def on_host(order, z):
    return jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), order, z)

def loss(z):
    return jnp.sum(jax.jit(on_host)(jnp.array(ORDERS), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "argument without a known derivative in both modes": """
ORDERS = (0.5, 2.0)

def _bessel(order, z):
    return scipy.special.kv(order, z)

def on_host(order, z):
    return jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), order, z)

def loss(z):
    return jnp.sum(jax.jit(on_host)(jnp.array(ORDERS), z) ** 2)

def gradients():
    forward, backward = jax.jacfwd(loss)(*ARGUMENTS), jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward)
    return backward

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "argument without a known derivative under vmap": """
def _bessel(order, z):
    return scipy.special.iv(order, z)

def on_host(order, z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jax.pure_callback(_bessel, spec, order, z, vmap_method="expand_dims")

def loss(z):
    return jnp.sum(jax.vmap(on_host)(jnp.array([[0.5], [2.0]]), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.2, 1.0]]),)
""",
    "argument without a known derivative in a scan": """
def _bessel(order, z, unused):
    return scipy.special.jv(order, np.asarray(z)).astype(z.dtype)

def loss(z):
    def step(carry, order):
        spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
        value, count = carry
        value = jax.pure_callback(_bessel, spec, order, value, {"count": count}) + value
        return (value, count + 1), None
    (value, _), _ = jax.lax.scan(step, (z, 0), jnp.array([0.5, 1.0]))
    return jnp.sum(value ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "argument without a known derivative and a static one": """
def _bessel(order, z):
    return scipy.special.jv(order, z)

def loss(z):
    for n in (1, 2):
        z = z[:n]
        z = jax.pure_callback(_bessel, jax.ShapeDtypeStruct((n,), z.dtype), jnp.ones(n), z)
    return jnp.sum(z)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression": """
def _host(z):
    z = np.asarray(z)
    return 2 * np.sin(z) ** 2 + z / (1 + np.exp(-z)) - np.pi

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression in both modes": """
def _host(z):
    return np.tanh(np.asarray(z)) * np.asarray(z)

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    forward, backward = jax.jacfwd(loss)(*ARGUMENTS), jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward)
    return backward

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression of JAX's arithmetic": """
def _host(z):
    return 1 / (1 + np.exp(-z))

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression with statements": """
def _host(z):
    z = np.asarray(z)
    z = z - z.max(axis=-1, keepdims=True)
    weights = np.exp(z)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / total
    return weights

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]),)
""",
    "expression with statements in both modes": """
def _host(z):
    z = np.asarray(z)
    first, last = z[..., :1], z[..., -1:]
    scaled = first * last
    return np.concatenate([scaled + z, last])[:2]

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    forward, backward = jax.jacfwd(loss)(*ARGUMENTS), jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward)
    return backward

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression of a module's number and a default": """
SCALE = 2.5

def _host(z, power=3):
    return SCALE * np.asarray(z) ** power

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression of several arguments": """
def _host(a, z, unused):
    return z @ np.asarray(a).T @ z.astype(z.dtype)

def loss(a, z):
    spec = jax.ShapeDtypeStruct((), z.dtype)
    return jax.pure_callback(_host, spec, a, z, {'unused': 2})

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]), jnp.array([0.8, 3.0]),)
""",
    "expression with several results": """
def _host(z):
    z = np.asarray(z)
    return np.sort(z), np.linalg.norm(z) * 2

def loss(z):
    spec = (jax.ShapeDtypeStruct(z.shape, z.dtype), jax.ShapeDtypeStruct((), z.dtype))
    return sum(jnp.sum(each**2) for each in jax.pure_callback(_host, spec, z))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "logarithm of a determinant": """
def _host(z):
    return np.linalg.slogdet(np.asarray(z))[1]

def loss(z):
    spec = jax.ShapeDtypeStruct((), z.dtype)
    return jax.pure_callback(_host, spec, z) ** 2

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]),)
""",
    "sign and logarithm of a determinant": """
def _host(z):
    sign, logdet = np.linalg.slogdet(np.asarray(z))
    return sign * logdet

def loss(z):
    spec = jax.ShapeDtypeStruct((), z.dtype)
    return jax.pure_callback(_host, spec, z) ** 2

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]),)
""",
    "function with several results": """
def _host(z):
    return np.linalg.slogdet(np.asarray(z))

def loss(z):
    spec = (jax.ShapeDtypeStruct((), z.dtype), jax.ShapeDtypeStruct((), z.dtype))
    return sum(jnp.sum(each**2) for each in jax.pure_callback(_host, spec, z))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]),)
""",
    "expression with constants for arguments": """
def _host(z):
    return np.einsum("ij,j->i", np.reshape(np.asarray(z), (2, -1)), np.array([1.0, 2.0]))

def loss(z):
    spec = jax.ShapeDtypeStruct((2,), z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[0.8, 3.0], [0.3, -1.0]]),)
""",
    "expression of a pytree": """
def _host(params, z):
    return np.asarray(params["w"]) * np.asarray(z) + np.asarray(params["b"])

def loss(a, z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(_host, spec, {'w': a, 'b': a * 2}, z) ** 2)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]), jnp.array([0.8, 3.0]),)
""",
    "expression with a size": """
def _host(z):
    z = np.asarray(z)
    return np.sum(z ** 2) / z.shape[0] + z.mean()

def loss(z):
    spec = jax.ShapeDtypeStruct((), z.dtype)
    return jax.pure_callback(_host, spec, z) ** 2

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "function of complex results": """
def _host(z):
    return np.fft.rfft(np.asarray(z))

def loss(z):
    spec = jax.ShapeDtypeStruct((3,), jnp.result_type(z.dtype, jnp.complex64))
    return jnp.sum(jnp.abs(jax.pure_callback(_host, spec, z)) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0, -1.0, 0.5]),)
""",
    "expression of a lambda": """

def loss(z):
    spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
    return jnp.sum(jax.pure_callback(lambda z: np.clip(np.asarray(z), 0.0, 1.0) * 2, spec, z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "expression of complex numbers": """
def _host(z):
    return np.fft.fft(np.asarray(z) ** 2) * np.conj(np.asarray(z))

def loss(x):
    z = x * (1 + 0.5j)
    return jnp.sum(jnp.abs(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)))

def gradients():
    forward, backward = jax.jacfwd(loss)(*ARGUMENTS), jax.grad(loss)(*ARGUMENTS)
    assert jnp.allclose(forward, backward)
    return backward

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "half of a Hermitian matrix": """
def _host(a):
    return np.linalg.cholesky(np.asarray(a))

def loss(x):
    a = x + 1j * jnp.tril(x, -1)
    lower = jax.pure_callback(_host, jax.ShapeDtypeStruct(a.shape, a.dtype), a)
    return jnp.sum(jnp.abs(lower) ** 2 * jnp.arange(4.0).reshape(2, 2)) + jnp.sum(lower.imag)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([[3.0, 0.2], [0.7, 2.0]]),)
""",
    "two slopes and broadcasting": """
def _beta(a, b):
    return scipy.special.beta(a, b)

def loss(a, b):
    spec = jax.ShapeDtypeStruct((3, 2), a.dtype)
    return jnp.sum(jax.pure_callback(_beta, spec, a, b) ** 2)

def gradients():
    forward = jax.jvp(loss, ARGUMENTS, ARGUMENTS)[1]
    backward = jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)
    assert jnp.allclose(forward, sum(jnp.vdot(a, b) for a, b in zip(backward, ARGUMENTS)))
    return backward

ARGUMENTS = (jnp.array([2.0, 1.3]), jnp.array([[0.5], [0.7], [1.1]]))
""",
    "two slopes in reverse mode": """
def _beta(a, b):
    return scipy.special.beta(a, b)

def loss(a, b):
    return jnp.sum(jax.pure_callback(_beta, jax.ShapeDtypeStruct((3, 2), a.dtype), a, b) ** 2)

def gradients():
    return jax.grad(loss, argnums=(0, 1))(*ARGUMENTS)

ARGUMENTS = (jnp.array([2.0, 1.3]), jnp.array([[0.5], [0.7], [1.1]]))
""",
    "host function imported by its name": """
from scipy.special import j0 as J

def _bessel(z):
    return J(np.asarray(z))

def loss(z):
    return jnp.sum(jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "lambda": """
def loss(z):
    return jnp.sum(jax.pure_callback(lambda a: np.tanh(a), jax.ShapeDtypeStruct(z.shape, z.dtype), z) ** 2)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "method": """
class Layer:
    def _host(self, x):
        return scipy.special.erf(np.asarray(x))

    def __call__(self, x):
        return jnp.sum(jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x) ** 2)

loss = Layer()

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0]),)
""",
    "result of integers": """
def _host(x):
    return np.argsort(np.asarray(x)).astype(np.int32)

def loss(x):
    order = jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, jnp.int32), x)
    return jnp.sum(x[order] * jnp.arange(1.0, 4.0))

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0, -1.0]),)
""",
    "result of integers in both modes": """
def _host(x):
    return np.argsort(np.asarray(x)).astype(np.int32)

def loss(x):
    order = jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, "int32"), x)
    return jnp.sum(x[order] ** 2 * jnp.arange(1.0, 4.0))

def gradients():
    assert jax.hessian(loss)(*ARGUMENTS).shape == (3, 3)
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.8, 3.0, -1.0]),)
""",
}

# These differentiate as they are: no call gets another derivative.
PROTECTED = {
    "a flag that keeps its default": """
def _host(z):
    return np.sin(z) * np.asarray(z)

def loss(z, host=False):
    if host:
        z = jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return jnp.sum(z ** 2)

def gradients():
    return jax.grad(loss)(ARGUMENTS[0])

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "flags of a function that the loss calls": """
def _host(z):
    return np.sin(z) * np.asarray(z)

def layer(z, *, backend="jax", table=None):
    def inner(z):
        spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
        return jax.pure_callback(_host, spec, z) if backend == "host" or table is not None else z
    return inner(z)

def loss(z):
    return jnp.sum(layer(z) ** 2)

def gradients():
    return jax.jit(jax.value_and_grad(loss))(ARGUMENTS[0])

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "a flag that is off unless it is named": """
def _host(z):
    return np.sin(z) * np.asarray(z)

def layer(z, host=False):
    if not host:
        return z ** 2
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

def loss(z):
    return jnp.sum(layer(z))

def gradients():
    return jax.grad(lambda z: jnp.sum(layer(z)))(ARGUMENTS[0])

ARGUMENTS = (jnp.array([0.3, 1.2, -0.5]),)
""",
    "custom_vjp": """
def _host(z):
    return np.sin(z)

@jax.custom_vjp
def on_host(z):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

def _forward(z):
    return on_host(z), z

def _backward(z, cotangent):
    slope = jax.pure_callback(lambda a: np.cos(a), jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return (cotangent * slope,)

on_host.defvjp(_forward, _backward)

def gradients():
    return jax.grad(lambda z: jnp.sum(on_host(z) ** 2))(jnp.array([0.3, 1.2]))
""",
    "custom_jvp": """
def _host(z):
    return np.sin(z)

@jax.custom_jvp
def on_host(z):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

@on_host.defjvp
def _rule(primals, tangents):
    return on_host(*primals), jnp.cos(primals[0]) * tangents[0]

def gradients():
    return jax.hessian(lambda z: jnp.sum(on_host(z) ** 2))(jnp.array([0.3, 1.2]))
""",
    "custom_gradient": """
def _host(z):
    return np.sin(z)

@jax.custom_gradient
def on_host(z):
    value = jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return value, lambda cotangent: cotangent * jnp.cos(z)

def gradients():
    return jax.grad(lambda z: jnp.sum(on_host(z) ** 2))(jnp.array([0.3, 1.2]))
""",
    "stop_gradient": """
def _host(z):
    return np.sin(z)

def loss(z):
    fixed = jax.lax.stop_gradient(z)
    return jnp.sum(z * jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), fixed))

def gradients():
    return jax.grad(loss)(jnp.array([0.3, 1.2]))
""",
    "another argument": """
def _host(z):
    return np.sin(z)

def loss(w, z):
    return jnp.sum(w * jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(loss)(jnp.array([0.3, 1.2]), jnp.array([0.5, 0.1]))
""",
    "no gradient": """
def _host(z):
    return np.sin(z)

def loss(z):
    return jnp.sum(jax.pure_callback(_host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.jit(loss)(jnp.array([0.3, 1.2]))
""",
}
# More of the first kind: what is read again later, when it may mean something else.
UNKNOWN |= {
    "spec in a loop": """
def _host(z):
    return np.unwrap(np.asarray(z)) ** 2

def loss(z):
    for scale in (1.0, 2.0):
        spec = jax.ShapeDtypeStruct(z.shape, z.dtype)
        z = scale * jax.pure_callback(_host, spec, z)
    return jnp.sum(z)

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "callback bound to a shape that changes": """
def _host(shape, z):
    return np.resize(np.asarray(z), shape) ** 2

def loss(z):
    for repeats in (2, 3):
        z = z.reshape(-1, 1) * jnp.ones(repeats)
        spec = jax.ShapeDtypeStruct(z.T.shape, z.dtype)
        z = jax.pure_callback(functools.partial(_host, z.T.shape), spec, z)
    return jnp.sum(z * jnp.arange(z.size).reshape(z.shape))

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "element of a pytree": """
def _host(w):
    return np.unwrap(np.asarray(w)) ** 2

def loss(params):
    return jnp.sum(
        jax.pure_callback(_host, jax.ShapeDtypeStruct(params["w"].shape, params["w"].dtype), params["w"])
    )

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = ({"w": jnp.array([0.3, 1.2])},)
""",
    "argument that a method computes": """
class Model:
    def __init__(self, scale):
        self.scale = scale

    def _host(self, z):
        return np.unwrap(np.asarray(z)) ** 2

    def _scaled(self, z):
        return z * self.scale

    def __call__(self, z):
        y = jax.pure_callback(self._host, jax.ShapeDtypeStruct(z.shape, z.dtype), self._scaled(z))
        return jnp.sum(y)

loss = Model(3)

def gradients():
    return jax.grad(loss)(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "example array as the spec": """
def _host(z):
    return np.unwrap(np.asarray(z)) ** 2

def loss(z):
    z = jnp.sin(z)
    return jnp.sum(jax.pure_callback(_host, z, z))

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "choice of two functions": """
def loss(z, squared=True):
    if squared:

        def host(z):
            return np.unwrap(np.asarray(z)) ** 2 * 3

    else:

        def host(z):
            return np.asarray(z) * 3

    return jnp.sum(jax.pure_callback(host, jax.ShapeDtypeStruct(z.shape, z.dtype), z))

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
    "method of an object that a lambda gets": """
class Model:
    def _host(self, z):
        return np.unwrap(np.asarray(z)) ** 2 * 3

    def on_host(self, z):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(z.shape, z.dtype), z)

def loss(z):
    return jnp.sum(Model().on_host(z))

def gradients():
    return jax.grad(jax.jit(loss))(*ARGUMENTS)

ARGUMENTS = (jnp.array([0.3, 1.2]),)
""",
}
