"""Which call sites sit under grad: what the analysis says, and what JAX does when the program runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods import gradients, names, sites
from codemods.model import Gradient, Options
from codemods.project import Project
from codemods.source import SourceFile

HEADER = """
import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import linear_call
from jax.experimental import sparse
from jax.experimental.jet import jet
from jax.experimental.ode import odeint
import jax.scipy.optimize
from jax.scipy.sparse.linalg import bicgstab, cg, gmres
from jax.test_util import check_grads

X = jnp.float32(0.5)
ROW = jnp.ones(2)


def call(x):
    return jax.pure_callback(
        lambda a: 2 * np.asarray(a), jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential"
    )

"""

# What differentiates `call`, in which modes, as an expression that raises when it runs.
DIFFERENTIATED = {
    "grad": ("jax.grad(call)(X)", "reverse"),
    "value_and_grad": ("jax.value_and_grad(call)(X)", "reverse"),
    "value_and_grad has_aux": ("jax.value_and_grad(lambda x: (call(x), x), has_aux=True)(X)", "reverse"),
    "vjp": ("jax.vjp(call, X)", "reverse"),
    "jacrev": ("jax.jacrev(call)(X)", "reverse"),
    "jacobian": ("jax.jacobian(call)(X)", "reverse"),
    "jacfwd": ("jax.jacfwd(call)(X)", "forward"),
    "jvp": ("jax.jvp(call, (X,), (X,))", "forward"),
    "jvp with lists": ("jax.jvp(lambda a, b: a + call(b), [X, X], [X, X])", "forward"),
    "linearize": ("jax.linearize(call, X)", "forward"),
    "hessian": ("jax.hessian(call)(X)", "forward reverse"),
    "linear_transpose": ("jax.linear_transpose(call, X)(X)", "transpose"),
    "jet": ("jet(call, (X,), ((X,),))", "forward"),
    "check_grads": ("check_grads(call, (X,), 1)", "forward reverse"),
    "check_grads of one mode": ("check_grads(call, (X,), 1, modes=['rev'])", "reverse"),
    "check_grads of the other mode": ("check_grads(call, (X,), order=1, modes=('fwd',))", "forward"),
    "sparse grad": ("sparse.grad(call)(X)", "reverse"),
    "sparse value_and_grad": ("sparse.value_and_grad(call)(X)", "reverse"),
    "sparse jacfwd": ("sparse.jacfwd(call)(X)", "forward"),
    "sparse jacrev": ("sparse.jacrev(call)(X)", "reverse"),
    "minimize": (
        "jax.scipy.optimize.minimize(lambda z: call(z).sum(), ROW, method='BFGS')",
        "reverse",
    ),
    "bicgstab": ("bicgstab(call, ROW)", "transpose"),
    "gmres": ("gmres(call, ROW)", "transpose"),
    "fwd_and_bwd": ("jax.fwd_and_bwd(call, argnums=0)[0](X)", "reverse"),
    # Ways to the function.
    "through jit": ("jax.grad(jax.jit(call))(X)", "reverse"),
    "inside jit": ("jax.jit(jax.grad(call))(X)", "reverse"),
    "through jit with options": ("jax.grad(jax.jit(inline=True)(call) if False else jax.jit(call))(X)", "reverse"),
    "through vmap": ("jax.vmap(jax.grad(call))(ROW)", "reverse"),
    "inside vmap": ("jax.grad(lambda x: jax.vmap(call)(x).sum())(ROW)", "reverse"),
    "through checkpoint": ("jax.grad(jax.checkpoint(call))(X)", "reverse"),
    "through a partial": ("jax.grad(functools.partial(lambda f, x: f(x), call))(X)", "reverse"),
    "through partial by keyword": ("jax.grad(functools.partial(lambda x, f: f(x), f=call))(X)", "reverse"),
    "through a lambda": ("jax.grad(lambda x: call(x) * x)(X)", "reverse"),
    "in a scan": ("jax.grad(lambda x: lax.scan(lambda c, _: (call(c), c), x, None, 2)[0])(X)", "reverse"),
    "over a scan": ("jax.grad(lambda x: lax.scan(lambda c, y: (c, call(y)), 0, x)[1].sum())(ROW)", "reverse"),
    "in a scan's closure": (
        "jax.grad(lambda x: lax.scan(lambda c, y: (c, call(x) * y), 0, ROW)[1].sum())(X)",
        "reverse",
    ),
    "in a cond": ("jax.grad(lambda x: lax.cond(x > 0, call, lambda y: y, x))(X)", "reverse"),
    "in a cond's closure": ("jax.grad(lambda x: lax.cond(x > 0, lambda: call(x), lambda: x))(X)", "reverse"),
    "in a switch": ("jax.grad(lambda x: lax.switch(0, [call, jnp.sin], x))(X)", "reverse"),
    "in a while_loop": (
        "jax.jvp(lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, call(c[1])), (0, x)), "
        "(X,), (X,))",
        "forward",
    ),
    "in a fori_loop": ("jax.grad(lambda x: lax.fori_loop(0, 2, lambda i, c: call(c), x))(X)", "reverse"),
    "in a lax.map": ("jax.grad(lambda x: lax.map(call, x).sum())(ROW)", "reverse"),
    "in a tree.map": ("jax.grad(lambda t: jax.tree.map(call, t)['w'])({'w': X})", "reverse"),
    "in an associative_scan": (
        "jax.grad(lambda x: lax.associative_scan(lambda a, b: a + call(b), x).sum())(ROW)",
        "reverse",
    ),
    "in odeint": (
        "jax.grad(lambda x: odeint(lambda y, t: call(y), x, jnp.array([0.0, 1.0]))[1])(X)",
        "reverse",
    ),
    "in a comprehension": ("jax.grad(lambda x: sum([call(x * i) for i in range(2)]))(X)", "reverse"),
    "from a dict": ("jax.grad(lambda x: {'f': call}['f'](x))(X)", "reverse"),
    "from a list in a loop": ("jax.grad(lambda x: sum(f(x) for f in [jnp.sin, call]))(X)", "reverse"),
    "second argument by argnums": ("jax.grad(lambda a, b: a * call(b), argnums=1)(X, X)", "reverse"),
    "all arguments by argnums": ("jax.grad(lambda a, b: a * call(b), argnums=(0, 1))(X, X)", "reverse"),
    "last argument by argnums": ("jax.grad(lambda a, b: a * call(b), -1)(X, X)", "reverse"),
    "a leaf of a dict": ("jax.grad(lambda p, z: call(p['w'] * z))({'w': X}, X)", "reverse"),
    "grad of grad": ("jax.grad(jax.grad(lambda x: call(x) * x))(X)", "reverse"),
    "jvp of grad": ("jax.jvp(jax.grad(call), (X,), (X,))", "forward reverse"),
    "outer variable under another grad": (
        "jax.grad(lambda y: jax.grad(lambda x: x * call(y))(X))(X)",
        "reverse",
    ),
    "times zero": ("jax.grad(lambda x: call(x * 0))(X)", "reverse"),
    "cast to another float": ("jax.grad(lambda x: call(x.astype(jnp.float16)).astype(jnp.float32))(X)", "reverse"),
    "getattr on jax": ("getattr(jax, 'grad')(call)(X)", "reverse"),
    "custom_root's function": (
        "jax.grad(lambda a: lax.custom_root(lambda z: z - call(a), X, lambda f, x: x, lambda g, y: y / g(1.0)))(X)",
        "reverse",
    ),
    "custom_root's tangent_solve": (
        "jax.grad(lambda a: lax.custom_root(lambda z: z - a, X, lambda f, x: x, lambda g, y: call(y)))(X)",
        "transpose",
    ),
    "matrix of a solve by its closure": (
        "jax.grad(lambda x: lax.custom_linear_solve(lambda z: call(x) * z, 1.0 + 0 * x, lambda m, b: b, "
        "lambda m, b: b, symmetric=True))(X)",
        "reverse",
    ),
    "matrix of a solve that is transposed": (
        "lax.custom_linear_solve(call, X, lambda m, b: b, lambda m, b: b)",
        "transpose",
    ),
}

# Programs that run, since no differentiated value reaches the call.
LEFT_ALONE = {
    "no transform": ("call(X)", "none"),
    "jit": ("jax.jit(call)(X)", "none"),
    "vmap of a scan": ("jax.vmap(lambda x: lax.scan(lambda c, _: (call(c), c), x, None, 2)[0])(ROW)", "none"),
    "stop_gradient": ("jax.grad(lambda x: x * call(lax.stop_gradient(x)))(X)", "protected"),
    "stop_gradient of a tree": (
        "jax.grad(lambda t: t['a'] * call(lax.stop_gradient(t)['a']))({'a': X})",
        "protected",
    ),
    "argnums of another argument": ("jax.grad(lambda a, b: a * call(b))(X, X)", "protected"),
    "argnums by number": ("jax.grad(lambda a, b: call(a) * b, argnums=1)(X, X)", "protected"),
    "constant": ("jax.grad(lambda x: x * call(jnp.ones(())))(X)", "protected"),
    "integer": ("jax.grad(lambda x: x * call(jnp.int32(1)))(X)", "protected"),
    "shape": ("jax.grad(lambda x: x.sum() * call(jnp.zeros(x.shape)).sum())(ROW)", "protected"),
    "cast to an integer": ("jax.grad(lambda x: call(x.astype(int)).astype(float) + x)(X)", "protected"),
    "cast by asarray": (
        "jax.grad(lambda x: call(jnp.asarray(x, dtype=jnp.int32)).astype(float) + x)(X)",
        "protected",
    ),
    "comparison": ("jax.grad(lambda x: x * call((x > 0) * 1.0))(X)", "protected"),
    "choice between constants": ("jax.grad(lambda x: x * call(jnp.where(x > 0, 1.0, 2.0)))(X)", "protected"),
    "integer division": ("jax.grad(lambda x: call(x // 2) + x)(X)", "protected"),
    "argmax": ("jax.grad(lambda x: call(jnp.argmax(x)) * x.sum())(ROW)", "protected"),
    "argsort as a method": ("jax.grad(lambda x: call(x.argsort()).sum() * x.sum())(ROW)", "protected"),
    "floor": ("jax.grad(lambda x: call(jnp.floor(x)) * x)(X)", "protected"),
    "zeros_like": ("jax.grad(lambda x: call(jnp.zeros_like(x)) * x)(X)", "protected"),
    "random": ("jax.grad(lambda x: x * call(jax.random.normal(jax.random.key(0))))(X)", "protected"),
    "eval_shape": ("jax.grad(lambda x: x * jax.eval_shape(call, x).ndim)(X)", "protected"),
    "another leaf of a scan's carry": (
        "jax.grad(lambda x: lax.scan(lambda c, _: ((c[0] * 2, c[1] + call(c[1])), None), (x, jnp.ones(())), "
        "None, 3)[0][0])(X)",
        "protected",
    ),
    "another leaf of what is scanned": (
        "jax.grad(lambda x: lax.scan(lambda c, ab: (c, ab[0] * call(ab[1])), 0, (x, ROW))[1].sum())(ROW)",
        "protected",
    ),
    "another leaf of what is mapped": (
        "jax.grad(lambda x: lax.map(lambda ab: ab[0] * call(ab[1]), (x, ROW)).sum())(ROW)",
        "protected",
    ),
    "another leaf of what is mapped by vmap": (
        "jax.grad(lambda x: jax.vmap(lambda a, b: a * call(b))(x, ROW).sum())(ROW)",
        "protected",
    ),
    "another operand of a cond": (
        "jax.grad(lambda x: lax.cond(x > 0, lambda a, b: a * call(b), lambda a, b: a, x, jnp.ones(())))(X)",
        "protected",
    ),
    "another leaf of a while_loop": (
        "jax.jvp(lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2, call(c[2])), "
        "(0, x, jnp.ones(())))[1], (X,), (X,))",
        "protected",
    ),
    "another argument under checkpoint": (
        "jax.grad(jax.checkpoint(lambda x, y: call(y) * x))(X, X)",
        "protected",
    ),
    "another argument under jit": ("jax.grad(jax.jit(lambda x, y: call(y) + x))(X, X)", "protected"),
    "beside a grad": ("jax.grad(jnp.sin)(X) + call(X)", "none"),
    "result of a grad": ("call(jax.grad(jnp.sin)(X))", "none"),
    "gradient handed over": ("jax.vjp(jnp.sin, X)[1](call(X))", "none"),
    "custom_linear_solve": (
        "jax.grad(lambda b: lax.custom_linear_solve(lambda z: 2 * z, b, lambda m, b: call(b), "
        "lambda m, b: call(b)))(X)",
        "protected",
    ),
    "symmetric matrix": (
        "jax.grad(lambda x: lax.custom_linear_solve(call, x, lambda m, b: b, lambda m, b: b, symmetric=True))(X)",
        "protected",
    ),
    "cg": ("jax.grad(lambda b: cg(call, b)[0].sum())(ROW)", "protected"),
    "custom_root's solve": (
        "jax.grad(lambda a: lax.custom_root(lambda z: z - a, X, lambda f, x: call(x), lambda g, y: y / g(1.0)))(X)",
        "protected",
    ),
    "linear_call": (
        "jax.grad(lambda x: linear_call(lambda r, l: call(l), lambda r, c: call(c), (), x))(X)",
        "protected",
    ),
    "odeint without grad": ("odeint(lambda y, t: call(y), X, jnp.array([0.0, 1.0]))", "none"),
    "host code": ("jax.grad(lambda x: (jax.debug.callback(lambda y: call(X), x), x)[1])(X)", "none"),
}

VJP = """
@jax.custom_vjp
def f(x):
    return call(x)

"""
JVP = """
@jax.custom_jvp
def f(x):
    return call(x)

"""
# Functions with rules of their own, what is done with them, and what becomes of the call in `call`.
RULES = {
    "custom_vjp": (VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))", "jax.grad(f)(X)", "protected"),
    "custom_vjp, second order": (
        VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))",
        "jax.grad(jax.grad(lambda x: f(x) * x))(X)",
        "protected",
    ),
    "custom_vjp whose fwd calls": (
        VJP + "f.defvjp(lambda x: (call(x), x), lambda x, ct: (call(ct) + call(x),))",
        "jax.grad(f)(X)",
        "protected",
    ),
    "custom_vjp whose fwd calls, second order": (
        VJP + "f.defvjp(lambda x: (call(x), x), lambda x, ct: (ct,))",
        "jax.grad(jax.grad(f))(X)",
        "reverse",
    ),
    "custom_vjp whose bwd calls on residuals, second order": (
        VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * call(x),))",
        "jax.grad(jax.grad(f))(X)",
        "reverse",
    ),
    "custom_vjp, grad of the pullback": (
        VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (call(ct),))",
        "jax.grad(lambda c: jax.vjp(f, X)[1](c)[0])(X)",
        "reverse",
    ),
    "custom_vjp with static arguments": (
        """
@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def f(g, x):
    return g(x)

def fwd(g, x):
    return f(g, x), x

def bwd(g, x, ct):
    return (ct * g(x),)

f.defvjp(fwd, bwd)
""",
        "jax.grad(f, argnums=1)(call, X)",
        "protected",
    ),
    "custom_vjp with static arguments by keyword": (
        """
def primal(n, x):
    return call(x) * n

f = jax.custom_vjp(primal, nondiff_argnums=(0,))
f.defvjp(lambda n, x: (f(n, x), x), lambda n, x, ct: (ct * n,))
""",
        "jax.grad(lambda x: f(2, x))(X)",
        "protected",
    ),
    "custom_vjp is called, and so is its inside": (
        VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))",
        "jax.grad(lambda x: f(x) + call(x))(X)",
        "reverse",
    ),
    "custom_vjp without grad": (
        VJP + "f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))",
        "f(X)",
        "protected",
    ),
    "custom_vjp under linear_transpose": (
        JVP + "f.defjvp(lambda p, t: (f(*p), t[0]))",
        "jax.linear_transpose(f, X)(X)",
        "transpose",
    ),
    "custom_jvp": (JVP + "f.defjvp(lambda p, t: (f(*p), t[0]))", "jax.grad(f)(X)", "protected"),
    "custom_jvp as decorator": (
        JVP
        + "@f.defjvp\ndef rule(primals, tangents):\n    (x,), (t,) = primals, tangents\n    return f(x), call(x) * t",
        "jax.jvp(f, (X,), (X,))",
        "protected",
    ),
    "custom_jvp, hessian": (
        JVP + "f.defjvp(lambda p, t: (f(*p), t[0] * p[0]))",
        "jax.hessian(f)(X)",
        "protected",
    ),
    "custom_jvp whose rule calls on primals, second order": (
        JVP + "f.defjvp(lambda p, t: (f(*p), t[0] * call(p[0])))",
        "jax.hessian(f)(X)",
        "forward",
    ),
    "custom_jvp whose rule calls on tangents, forward": (
        JVP + "f.defjvp(lambda p, t: (f(*p), call(t[0])))",
        "jax.jvp(f, (X,), (X,))",
        "protected",
    ),
    "custom_jvp whose rule calls on tangents, reverse": (
        JVP + "f.defjvp(lambda p, t: (f(*p), call(t[0])))",
        "jax.grad(f)(X)",
        "transpose",
    ),
    "defjvps": (
        JVP + "f.defjvps(lambda t, ans, x: t * call(x))",
        "jax.grad(f)(X)",
        "protected",
    ),
    "defjvps on tangents": (
        JVP + "f.defjvps(lambda t, ans, x: call(t))",
        "jax.grad(f)(X)",
        "transpose",
    ),
    "custom_gradient": (
        "@jax.custom_gradient\ndef f(x):\n    return call(x), lambda ct: (ct * call(x),)",
        "jax.grad(f)(X)",
        "protected",
    ),
    "custom_gradient, second order": (
        "@jax.custom_gradient\ndef f(x):\n    return call(x), lambda ct: (ct * call(x),)",
        "jax.grad(jax.grad(f))(X)",
        "reverse",
    ),
    "rebound to its stopped value": (
        "def f(x, y):\n    x = lax.stop_gradient(x)\n    return y * call(x)",
        "jax.grad(f, argnums=(0, 1))(X, X)",
        "protected",
    ),
    "stopped on one branch only": (
        "def f(x, stop=False):\n    if stop:\n        x = lax.stop_gradient(x)\n    return call(x)",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "accumulated in a loop": (
        "def f(x):\n    y = jnp.zeros(())\n    for _ in range(2):\n        y = y + x\n    return call(y)",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "second in a chain of calls": (
        "def f(x):\n    return call(jnp.sin(call(x)))",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "tuple of which another part is differentiated": (
        "def f(pair):\n    a, b = pair\n    return a * call(b)\n\ndef g(x):\n    return f((x, jnp.ones(())))",
        "jax.grad(g)(X)",
        "protected",
    ),
    "method": (
        "class Net:\n    def __init__(self, w):\n        self.w = w\n\n"
        "    def __call__(self, x):\n        return self._inner(x * self.w)\n\n"
        "    def _inner(self, x):\n        return call(x)",
        "jax.grad(Net(X))(X)",
        "reverse",
    ),
    "method of a base class": (
        "class Base:\n    def loss(self, x):\n        return self.hook(x)\n\n"
        "class Net(Base):\n    def hook(self, x):\n        return call(x)",
        "jax.grad(Net().loss)(X)",
        "reverse",
    ),
    "super": (
        "class Base:\n    def loss(self, x):\n        return call(x)\n\n"
        "class Net(Base):\n    def loss(self, x):\n        return super().loss(x) * 2",
        "jax.grad(Net().loss)(X)",
        "reverse",
    ),
    "attribute that is not differentiated": (
        "class Net:\n    def __init__(self, w):\n        self.w = w\n\n"
        "    def __call__(self, x):\n        return call(self.w) * x",
        "jax.grad(Net(X))(X)",
        "protected",
    ),
    "static method": (
        "class Net:\n    @staticmethod\n    def f(x):\n        return call(x)",
        "jax.grad(Net.f)(X)",
        "reverse",
    ),
    "class method": (
        "class Net:\n    @classmethod\n    def f(cls, x):\n        return call(x)",
        "jax.grad(Net.f)(X)",
        "reverse",
    ),
    "dataclass field": (
        "import dataclasses\n\n@dataclasses.dataclass\nclass Net:\n    f: object\n\n"
        "    def loss(self, x):\n        return self.f(x)",
        "jax.grad(Net(call).loss)(X)",
        "reverse",
    ),
    "returned function": (
        "def make(scale):\n    def inner(x):\n        return call(x * scale)\n    return inner",
        "jax.grad(make(2.0))(X)",
        "reverse",
    ),
    "function passed on": ("def apply(f, x):\n    return f(x)", "jax.grad(lambda x: apply(call, x))(X)", "reverse"),
    "function passed on beside one that is differentiated": (
        "def apply(f, x):\n    return f(x)",
        "jax.grad(lambda x: apply(jnp.sin, x) + apply(call, jnp.ones(())))(X)",
        "protected",
    ),
    "decorated by a wrapper in sight": (
        "def twice(f):\n    @functools.wraps(f)\n    def wrapper(*args, **kwargs):\n"
        "        return f(*args, **kwargs) * 2\n    return wrapper\n\n"
        "@twice\ndef f(x):\n    return call(x)",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "decorated by a transform": ("@jax.grad\ndef f(x):\n    return call(x)", "f(X)", "reverse"),
    "transform bound by partial": (
        "@functools.partial(jax.value_and_grad, argnums=1)\ndef f(a, b):\n    return a * call(b)",
        "f(X, X)",
        "reverse",
    ),
    "transform under another name": ("gradient = jax.grad", "gradient(call)(X)", "reverse"),
    "transform as a default": (
        "def train(f, transform=jax.grad):\n    return transform(f)(X)",
        "train(call)",
        "reverse",
    ),
    "recursion": (
        "def f(x, n):\n    return call(x) if n == 0 else f(x * 2, n - 1)",
        "jax.grad(f)(X, 3)",
        "reverse",
    ),
    "derivatives of rising order": (
        "def nth(f, n):\n    return f if n == 0 else nth(jax.grad(f), n - 1)",
        "nth(call, 2)(X)",
        "reverse",
    ),
    "integer result": (
        "def order(x):\n    return jax.pure_callback(lambda a: np.int32(a > 0), "
        "jax.ShapeDtypeStruct((), jnp.int32), lax.stop_gradient(x))",
        "jax.grad(lambda x: x * call(order(x)))(X)",
        "protected",
    ),
    "closure over a stopped value": (
        "def f(x):\n    y = x\n    y = lax.stop_gradient(y)\n    def inner():\n        return call(y)\n"
        "    return inner() * x",
        "jax.grad(f)(X)",
        "protected",
    ),
    "closure over what is assigned below": (
        "def f(x):\n    y = jnp.ones(())\n    def inner():\n        return call(y)\n    y = x\n    return inner() * x",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "keyword arguments": (
        "def f(x, **options):\n    return g(x, **options)\n\ndef g(x, scale, shift=0.0):\n    return x * call(shift)",
        "jax.grad(lambda x: f(x, scale=x, shift=jnp.ones(())))(X)",
        "protected",
    ),
    "keyword arguments that are differentiated": (
        "def f(x, **options):\n    return g(x, **options)\n\ndef g(x, scale, shift=0.0):\n    return x * call(scale)",
        "jax.grad(lambda x: f(x, scale=x, shift=jnp.ones(())))(X)",
        "reverse",
    ),
    "generator": (
        "def parts(x):\n    yield x\n    yield call(x)",
        "jax.grad(lambda x: sum(parts(x)))(X)",
        "reverse",
    ),
    "try": (
        "def f(x):\n    try:\n        return call(x)\n    finally:\n        pass",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "match": (
        "def f(x, kind='a'):\n    match kind:\n        case 'a':\n            return call(x)\n        case _:\n"
        "            return x",
        "jax.grad(f)(X)",
        "reverse",
    ),
    "unpacked arguments": ("def f(*xs):\n    return xs[0] * call(xs[1])", "jax.grad(f)(X, X)", "protected"),
    "unpacked arguments that are differentiated": (
        "def f(*xs):\n    return xs[0] * call(xs[1])",
        "jax.grad(f, 1)(*(X, X))",
        "reverse",
    ),
}


# Programs of other libraries: the library, definitions, an expression, and what becomes of the call in `call`.
LIBRARIES = {
    "filter_grad": ("equinox", "", "eqx.filter_grad(call)(X)", "reverse"),
    "filter_grad as a decorator with options": (
        "equinox",
        "@eqx.filter_value_and_grad(has_aux=True)\ndef loss(x):\n    return call(x), x",
        "loss(X)",
        "reverse",
    ),
    "filter_grad of the first argument only": (
        "equinox",
        "",
        "eqx.filter_grad(lambda a, b: a * call(b))(X, X)",
        "protected",
    ),
    "filter_jacrev": ("equinox", "", "eqx.filter_jacrev(call)(X)", "reverse"),
    "filter_jacfwd": ("equinox", "", "eqx.filter_jacfwd(call)(X)", "forward"),
    "filter_hessian": ("equinox", "", "eqx.filter_hessian(call)(X)", "forward reverse"),
    "filter_vjp": ("equinox", "", "eqx.filter_vjp(call, X)", "reverse"),
    "filter_jvp": ("equinox", "", "eqx.filter_jvp(call, (X,), (X,))", "forward"),
    "filter_jit": ("equinox", "", "eqx.filter_grad(eqx.filter_jit(call))(X)", "reverse"),
    "an equinox module": (
        "equinox",
        "class Net(eqx.Module):\n    w: jax.Array\n\n    def __call__(self, x):\n        return call(self.w * x)",
        "eqx.filter_grad(lambda net, x: net(x))(Net(X), X)",
        "reverse",
    ),
    "an equinox module's other argument": (
        "equinox",
        "class Net(eqx.Module):\n    w: jax.Array\n\n    def __call__(self, x):\n        return self.w * call(x)",
        "eqx.filter_grad(lambda net, x: net(x))(Net(X), X)",
        "protected",
    ),
    "a loss with the leaves of an equinox module": (
        "equinox",
        "class Net(eqx.Module):\n    w: jax.Array\n\n    def __call__(self, x):\n        return self.w * call(x)\n\n"
        "def loss(net, x):\n    return net(x) + sum(jnp.sum(p) for p in jax.tree.leaves(net))",
        "eqx.filter_grad(loss)(Net(X), X)",
        "protected",
    ),
    "filter_custom_vjp": (
        "equinox",
        "@eqx.filter_custom_vjp\ndef f(x):\n    return call(x)\n\n"
        "@f.def_fwd\ndef fwd(perturbed, x):\n    return call(x), None\n\n"
        "@f.def_bwd\ndef bwd(residuals, ct, perturbed, x):\n    return call(ct)",
        "jax.grad(f)(X)",
        "protected",
    ),
    "filter_custom_jvp": (
        "equinox",
        "@eqx.filter_custom_jvp\ndef f(x):\n    return call(x)\n\n"
        "@f.def_jvp\ndef rule(primals, tangents):\n    return f(*primals), tangents[0]",
        "jax.grad(f)(X)",
        "protected",
    ),
    "nondifferentiable": (
        "equinox",
        "",
        "eqx.filter_grad(lambda x: x * call(eqx.internal.nondifferentiable(jnp.ones(()))))(X)",
        "protected",
    ),
    "nnx.grad": (
        "flax",
        "class Net(nnx.Module):\n    def __init__(self):\n        self.w = nnx.Param(X)\n\n"
        "    def __call__(self, x):\n        return call(self.w[...] * x)",
        "nnx.grad(lambda net, x: net(x))(Net(), X)",
        "reverse",
    ),
    "nnx.value_and_grad by argnums": (
        "flax",
        "",
        "nnx.value_and_grad(lambda a, b: a * call(b), argnums=1)(X, X)",
        "reverse",
    ),
    "partition and combine": (
        "equinox",
        "class Net(eqx.Module):\n    w: jax.Array\n\n    def __call__(self, x):\n        return call(self.w * x)\n\n"
        "moving, static = eqx.partition(Net(X), eqx.is_array)",
        "jax.grad(lambda moving, x: eqx.combine(moving, static)(x))(moving, X)",
        "reverse",
    ),
    "split and merge": (
        "flax",
        "class Net(nnx.Module):\n    def __init__(self):\n        self.w = nnx.Param(X)\n\n"
        "    def __call__(self, x):\n        return call(self.w[...] * x)\n\n"
        "graph, state = nnx.split(Net())",
        "jax.grad(lambda state, x: nnx.merge(graph, state)(x))(state, X)",
        "reverse",
    ),
    "TrainState": (
        "flax",
        "from flax.training.train_state import TrainState\n\n"
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        return call(self.param('w', lambda key: X) * x)\n\n"
        "import optax\n\n"
        "state = TrainState.create(apply_fn=Net().apply, params={'params': {'w': X}}, tx=optax.sgd(0.1))",
        "jax.grad(lambda p: state.apply_fn(p, X))(state.params)",
        "reverse",
    ),
    "nnx.vjp": ("flax", "", "nnx.vjp(call, X, graph=False)", "reverse"),
    "nnx.jvp": ("flax", "", "nnx.jvp(call, (X,), (X,), graph=False)", "forward"),
    "nnx.custom_vjp": (
        "flax",
        "@nnx.custom_vjp\ndef f(x):\n    return call(x)\n\n"
        "f.defvjp(lambda x: (call(x), x), lambda x, ct: (ct[1] * x,))",
        "jax.grad(f)(X)",
        "protected",
    ),
    "linen": (
        "flax",
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        w = self.param('w', lambda key: X)\n        return call(w * x)",
        "jax.grad(lambda p: Net().apply(p, X))({'params': {'w': X}})",
        "reverse",
    ),
    "linen's layers": (
        "flax",
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return call(nn.Dense(1)(x)).sum()",
        "jax.grad(lambda p: Net().apply(p, ROW))(Net().init(jax.random.key(0), ROW))",
        "reverse",
    ),
    "linen's input": (
        "flax",
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(1)(call(x)).sum()",
        "jax.grad(lambda p: Net().apply(p, ROW))(Net().init(jax.random.key(0), ROW))",
        "protected",
    ),
    "haiku": (
        "haiku",
        "def net(x):\n    w = hk.get_parameter('w', (), init=jnp.ones)\n    return call(w * x)\n\n"
        "model = hk.without_apply_rng(hk.transform(net))",
        "jax.grad(model.apply)(model.init(jax.random.key(0), X), X)",
        "reverse",
    ),
    "haiku's input": (
        "haiku",
        "def net(x):\n    w = hk.get_parameter('w', (), init=jnp.ones)\n    return w * call(x)\n\n"
        "model = hk.without_apply_rng(hk.transform(net))",
        "jax.grad(model.apply)(model.init(jax.random.key(0), X), X)",
        "protected",
    ),
    "haiku.grad": (
        "haiku",
        "def net(x):\n    return hk.grad(call)(x)\n\nmodel = hk.transform(net)",
        "model.apply({}, None, X)",
        "reverse",
    ),
    "optax.lbfgs": (
        "optax",
        "opt = optax.lbfgs()",
        "opt.update(ROW, opt.init(ROW), ROW, value=jnp.ones(()), grad=ROW, value_fn=lambda x: call(x).sum())",
        "reverse",
    ),
    "optax.value_and_grad_from_state": (
        "optax",
        "opt = optax.lbfgs()",
        "optax.value_and_grad_from_state(lambda x: call(x).sum())(ROW, state=opt.init(ROW))",
        "reverse",
    ),
    "optax beside a callback": (
        "optax",
        "opt = optax.sgd(0.1)",
        "opt.update(call(ROW), opt.init(ROW), ROW)",
        "none",
    ),
    "jaxopt": ("jaxopt", "", "jaxopt.LBFGS(fun=lambda x: call(x).sum(), maxiter=2).run(ROW)", "reverse"),
    "jaxopt with a gradient of its own": (
        "jaxopt",
        "",
        "jaxopt.GradientDescent(fun=lambda x: (call(x).sum(), 2 * x), value_and_grad=True, maxiter=1, "
        "implicit_diff=False, stepsize=0.1).init_state(ROW)",
        "none",
    ),
    "jaxopt.GaussNewton": ("jaxopt", "", "jaxopt.GaussNewton(call, maxiter=2).run(ROW)", "forward reverse"),
    "optimistix.minimise": (
        "optimistix",
        "",
        "optx.minimise(lambda y, args: call(y).sum(), optx.BFGS(1e-3, 1e-3), ROW)",
        "reverse",
    ),
    "optimistix.least_squares": (
        "optimistix",
        "",
        "optx.least_squares(lambda y, args: call(y), optx.LevenbergMarquardt(1e-3, 1e-3), ROW)",
        "forward reverse",
    ),
    "optimistix.root_find": (
        "optimistix",
        "",
        "optx.root_find(lambda y, args: call(y) - args, optx.Newton(1e-3, 1e-3), ROW, ROW)",
        "forward",
    ),
    "lineax.JacobianLinearOperator": (
        "lineax",
        "",
        "lx.JacobianLinearOperator(lambda y, args: call(y), ROW).as_matrix()",
        "forward reverse",
    ),
    "diffrax": (
        "diffrax",
        "def solve(y):\n    term = diffrax.ODETerm(lambda t, y, args: call(y))\n"
        "    return diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, y).ys[0]",
        "solve(X)",
        "none",
    ),
    "diffrax under grad": (
        "diffrax",
        "def solve(y):\n    term = diffrax.ODETerm(lambda t, y, args: call(y))\n"
        "    return diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.5, y).ys[0]",
        "jax.grad(solve)(X)",
        "reverse",
    ),
    "diffrax with an implicit solver": (
        "diffrax",
        "def solve(y):\n    term = diffrax.ODETerm(lambda t, y, args: call(y))\n"
        "    control = diffrax.PIDController(1e-3, 1e-3)\n"
        "    return diffrax.diffeqsolve(term, diffrax.Kvaerno3(), 0.0, 1.0, 0.5, y, stepsize_controller=control).ys",
        "solve(X)",
        "forward",
    ),
    "numpyro.infer.NUTS": (
        "numpyro",
        "def model():\n    z = numpyro.sample('z', dist.Normal(0.0, 1.0))\n    numpyro.factor('f', call(z))",
        "numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=1, num_samples=1, progress_bar=False)"
        ".run(jax.random.key(0))",
        "reverse",
    ),
    "numpyro's data": (
        "numpyro",
        "def model(x):\n    z = numpyro.sample('z', dist.Normal(0.0, 1.0))\n    numpyro.factor('f', z * call(x))",
        "numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=1, num_samples=1, progress_bar=False)"
        ".run(jax.random.key(0), X)",
        "protected",
    ),
    "numpyro.infer.SVI": (
        "numpyro",
        "def model():\n    z = numpyro.sample('z', dist.Normal(0.0, 1.0))\n    numpyro.factor('f', call(z))\n\n"
        "def guide():\n    numpyro.sample('z', dist.Normal(numpyro.param('m', 0.0), 1.0))\n\n"
        "svi = numpyro.infer.SVI(model, guide, numpyro.optim.Adam(0.1), numpyro.infer.Trace_ELBO())",
        "svi.run(jax.random.key(0), 1, progress_bar=False)",
        "reverse",
    ),
    "blackjax.nuts": (
        "blackjax",
        "sampler = blackjax.nuts(lambda x: call(x).sum(), step_size=0.1, inverse_mass_matrix=jnp.ones(2))",
        "sampler.init(ROW)",
        "reverse",
    ),
    "blackjax.rmh": (
        "blackjax",
        "sampler = blackjax.rmh(lambda x: call(x).sum(), lambda key, x: x)",
        "sampler.step(jax.random.key(0), sampler.init(ROW))",
        "none",
    ),
}
IMPORTS = {
    "equinox": "import equinox as eqx",
    "flax": "from flax import linen as nn, nnx",
    "haiku": "import haiku as hk",
    "optax": "import optax",
    "jaxopt": "import jaxopt",
    "optimistix": "import optimistix as optx",
    "lineax": "import lineax as lx",
    "diffrax": "import diffrax",
    "numpyro": "import numpyro\nimport numpyro.distributions as dist",
    "blackjax": "import blackjax",
}


def _program(definitions: str, expression: str) -> str:
    main = f"def main():\n    return {expression}\n\n\nif __name__ == '__main__':\n    print(main())\n"
    return f"{HEADER}\n{definitions}\n\n\n{main}"


def _verdicts(text: str, folder: Path, name: str = "program.py", project: Path | None = None, **options):
    path = folder / name
    path.write_text(text)
    module = names.read(SourceFile.from_bytes(path, path.read_bytes()).tree)
    found, _ = sites.find(module)
    return list(gradients.verdicts(module, path, Project((project or folder,)), found, Options(**options)).values())


def _summary(verdict) -> str:
    if verdict.gradient is Gradient.UNPROTECTED:
        return " ".join(sorted(verdict.modes))
    return verdict.gradient.value


def _run(text: str, expected: str) -> None:
    """Runs a program, which raises JAX's error if a call is said to be differentiated."""
    namespace = {"__name__": __name__}
    exec(compile(text, "program.py", "exec", dont_inherit=True), namespace)
    if expected in ("none", "protected"):
        namespace["main"]()
    else:
        with pytest.raises((ValueError, KeyError), match="do not support (JVP|transpose)|pure_callback"):
            namespace["main"]()


PROGRAMS = {
    **{f"{name} [transform]": ("", *row) for name, row in DIFFERENTIATED.items()},
    **{f"{name} [left alone]": ("", *row) for name, row in LEFT_ALONE.items()},
    **{f"{name} [rules]": row for name, row in RULES.items()},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_verdict_agrees_with_what_jax_does(name, tmp_path):
    definitions, expression, expected = PROGRAMS[name]
    text = _program(definitions, expression)
    verdict = _verdicts(text, tmp_path)[0]
    assert _summary(verdict) == expected

    _run(text, expected)


@pytest.mark.parametrize("name", LIBRARIES)
def test_verdict_knows_other_libraries(name, tmp_path):
    library, definitions, expression, expected = LIBRARIES[name]
    verdict = _verdicts(_program(f"{IMPORTS[library]}\n\n{definitions}", expression), tmp_path)[0]
    assert _summary(verdict) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LIBRARIES)
def test_verdict_agrees_with_what_other_libraries_do(name):
    library, definitions, expression, expected = LIBRARIES[name]
    pytest.importorskip(library, reason="tests need JAX alone; the analysis knows more")
    _run(_program(f"{IMPORTS[library]}\n\n{definitions}", expression), expected)


# Verdicts that depend on who may call: files of a project, and what is said of each call site of `ops.py`.
OPS = """
import jax

def call(x):
    return jax.pure_callback(lambda a: a, x, x)
"""
PROJECTS = {
    "a public function": ({"ops.py": OPS}, "unknown"),
    "a private function that nothing calls": ({"ops.py": OPS.replace("call(", "_call(")}, "unknown"),
    "a program of its own": ({"ops.py": OPS + "\nprint(call(1.0))"}, "none"),
    "a main guard": (
        {"ops.py": OPS + "\ndef main():\n    call(1.0)\n\nif __name__ == '__main__':\n    main()\n"},
        "none",
    ),
    "a main guard in a module that another one imports": (
        {
            "ops.py": OPS + "\ndef main():\n    call(1.0)\n\nif __name__ == '__main__':\n    main()\n",
            "other.py": "import ops\n",
        },
        "unknown",
    ),
    "a grad in another module": (
        {"ops.py": OPS, "train.py": "import jax\nfrom ops import call\n\ndef train(x):\n    return jax.grad(call)(x)\n"},
        "reverse",
    ),
    "a grad in another module, by attribute": (
        {"ops.py": OPS, "train.py": "import jax\nimport ops\n\nstep = jax.jvp(ops.call, (1.0,), (1.0,))\n"},
        "forward",
    ),
    "a grad in another module, under another name": (
        {"ops.py": OPS, "train.py": "import jax\nfrom ops import call as c\n\nprint(jax.grad(lambda x: c(x))(1.0))\n"},
        "reverse",
    ),
    "a grad two modules away": (
        {
            "ops.py": OPS,
            "model.py": "from ops import call\n\ndef loss(w, x):\n    return call(w * x)\n",
            "train.py": "import jax, model\n\ndef train(w, x):\n    return jax.value_and_grad(model.loss)(w, x)\n",
        },
        "reverse",
    ),
    "a grad of a function that a package hands on": (
        {
            "lib/__init__.py": "from .ops import call\n",
            "lib/ops.py": OPS,
            "train.py": "import jax\nfrom lib import call\n\nprint(jax.grad(call)(1.0))\n",
        },
        "reverse",
    ),
    "a grad after a star import": (
        {"ops.py": OPS, "train.py": "import jax\nfrom ops import *\n\nprint(jax.grad(call)(1.0))\n"},
        "reverse",
    ),
    "stopped in a helper of another module": (
        {
            "ops.py": "from util import detach\n" + OPS.replace("a, x, x)", "a, x, detach(x))"),
            "util.py": "from jax import lax\n\ndef detach(x):\n    return lax.stop_gradient(x)\n",
            "train.py": "import jax\nfrom ops import call\n\nprint(jax.grad(lambda x: x * call(x))(1.0))\n",
        },
        "protected",
    ),
    "a transform handed on by a module of the project": (
        {
            "compat.py": "from jax import grad as gradient\n",
            "ops.py": OPS,
            "train.py": "from compat import gradient\nfrom ops import call\n\nprint(gradient(call)(1.0))\n",
        },
        "reverse",
    ),
    "a wrapper of grad in the project": (
        {
            "util.py": "import jax\n\ndef my_grad(f):\n    return jax.jit(jax.grad(f))\n",
            "ops.py": OPS,
            "train.py": "from util import my_grad\nfrom ops import call\n\nprint(my_grad(call)(1.0))\n",
        },
        "reverse",
    ),
    "modules that import each other": (
        {
            "ops.py": "import jax, train\n" + OPS,
            "train.py": "import jax, ops\n\ndef fit(x):\n    return jax.grad(ops.call)(x)\n",
        },
        "reverse",
    ),
    "a test": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "test_ops.py": "from ops import _call\n\ndef test_call():\n    assert _call(1.0)\n",
        },
        "none",
    ),
    "a test that differentiates": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "test_ops.py": "import jax\nfrom ops import _call\n\ndef test_call():\n    assert jax.grad(_call)(1.0)\n",
        },
        "reverse",
    ),
    "a private function handed to code out of sight": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "import somewhere\nfrom ops import _call\n\nsomewhere.register(_call)\n",
        },
        "unknown",
    ),
    "a private function decorated out of sight": (
        {
            "ops.py": "import somewhere\n\n" + OPS.replace("def call(", "@somewhere.wrap\ndef _call("),
            "main.py": "from ops import _call\n\n_call(1.0)\n",
        },
        "unknown",
    ),
    "a private function named in a string": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "import ops\n\ngetattr(ops, '_call')(1.0)\n",
        },
        "unknown",
    ),
    "a private function in a file that cannot be parsed": (
        {
            "ops.py": OPS.replace("call(", "_call(") + "\n_call(1.0)\n",
            "broken.py": "from ops import _call\n\n_call(((\n",
        },
        "unknown",
    ),
    "a private function that only a private one calls": (
        {"ops.py": OPS.replace("call(", "_call(") + "\ndef _run(x):\n    return _call(x)\n\n_run(1.0)\n"},
        "none",
    ),
    "a public method": (
        {"ops.py": "import jax\n\nclass A:\n    def f(self, x):\n        return jax.pure_callback(abs, x, x)\n"},
        "unknown",
    ),
    "a public custom_vjp": (
        {
            "ops.py": OPS.replace("def call", "@jax.custom_vjp\ndef call")
            + "\ncall.defvjp(lambda x: (call(x), x), lambda x, ct: (ct,))\n"
        },
        "protected",
    ),
    "a public function with a stopped argument": (
        {"ops.py": OPS.replace("a, x, x)", "a, x, jax.lax.stop_gradient(x))")},
        "protected",
    ),
    "a public function without arguments": (
        {"ops.py": "import jax\n\ndef f():\n    return jax.pure_callback(abs, 1.0, 1.0)\n"},
        "protected",
    ),
    "a table of functions": (
        {
            "ops.py": OPS + "\nTABLE = {'call': call}\n",
            "train.py": "import jax, ops\n\ndef fit(name, x):\n    return jax.grad(ops.TABLE[name])(x)\n",
        },
        "reverse",
    ),
    "an object of another module": (
        {
            "ops.py": "import jax\n\nclass A:\n    def _f(self, x):\n        return jax.pure_callback(abs, x, x)\n\n"
            "    def loss(self, x):\n        return self._f(x)\n",
            "train.py": "import jax\nfrom ops import A\n\na = A()\nprint(jax.grad(a.loss)(1.0))\n",
        },
        "reverse",
    ),
    "a list that a function fills": (
        {
            "ops.py": "import jax\nfrom hooks import register\n\n@register\ndef _call(x):\n"
            "    return jax.pure_callback(abs, x, x)\n",
            "hooks.py": "HOOKS = []\n\ndef register(f):\n    HOOKS.append(f)\n    return f\n",
            "train.py": "import jax\nfrom hooks import HOOKS\n\nfor hook in HOOKS:\n    print(jax.grad(hook)(1.0))\n",
        },
        "reverse",
    ),
    "a list that is filled beside it": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "hooks.py": "from ops import _call\n\nHOOKS = []\nHOOKS.append(_call)\n",
            "train.py": "import jax, hooks\n\ndef fit(x):\n    return [jax.grad(hook)(x) for hook in hooks.HOOKS]\n",
        },
        "reverse",
    ),
    "an attribute that is read elsewhere": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "from ops import _call\nfrom trainer import Trainer\n\nTrainer(_call).fit(1.0)\n",
            "trainer.py": "import jax\n\nclass Trainer:\n    def __init__(self, loss):\n        self.loss = loss\n\n"
            "    def fit(self, x):\n        return jax.grad(self.loss)(x)\n",
        },
        "reverse",
    ),
    "an attribute that code out of sight may use": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "from ops import _call\nfrom trainer import Trainer\n\ntrainer = Trainer(_call)\n",
            "trainer.py": "import jax\n\nclass Trainer:\n    def __init__(self, loss):\n        self.loss = loss\n\n"
            "    def fit(self, x):\n        return jax.grad(self.loss)(x)\n",
        },
        "reverse",
    ),
    "a module imported by its name": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "import importlib, jax\n\nops = importlib.import_module('ops')\nprint(jax.grad(ops._call)(1.0))\n",
        },
        "reverse",
    ),
    "a module imported by a name out of sight": (
        {
            "ops.py": OPS.replace("call(", "_call(") + "\n_call(1.0)\n",
            "main.py": "import importlib, jax, sys\n\nops = importlib.import_module(sys.argv[1])\n"
            "print(jax.grad(ops._call)(1.0))\n",
        },
        "unknown",
    ),
    "a program that looks up its functions": (
        {"ops.py": OPS + "\nimport sys\n\nprint(globals()[sys.argv[1]](1.0), call(1.0))\n"},
        "unknown",
    ),
    "a parametrized test": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "test_ops.py": "import jax, pytest\nfrom ops import _call\n\n@pytest.mark.parametrize('f', [_call, abs])\n"
            "def test_grad(f):\n    assert jax.grad(f)(1.0)\n",
        },
        "reverse",
    ),
    "a namespace": (
        {
            "ops.py": OPS.replace("call(", "_call("),
            "main.py": "import jax, types\nfrom ops import _call\n\nspace = types.SimpleNamespace(loss=_call)\n"
            "print(jax.grad(space.loss)(1.0))\n",
        },
        "reverse",
    ),
    "a module in a package with a main guard": (
        {
            "lib/__init__.py": "",
            "lib/ops.py": OPS + "\nif __name__ == '__main__':\n    call(1.0)\n",
        },
        "unknown",
    ),
    "a module that calls a function when it is imported": (
        {"ops.py": OPS + "\nTABLE = call(1.0)\n"},
        "unknown",
    ),
    "an attribute that is delegated": (
        {
            "ops.py": "import jax\n\nclass _Net:\n    def loss(self, x):\n        return jax.pure_callback(abs, x, x)\n\n"
            "class Wrapper:\n    def __init__(self, inner):\n        self.inner = inner\n\n"
            "    def __getattr__(self, name):\n        return getattr(self.inner, name)\n\n"
            "print(jax.grad(Wrapper(_Net()).loss)(1.0))\n",
        },
        "reverse",
    ),
    "an object that is a parameter": (
        {
            "ops.py": "import jax\n\nclass A:\n    def _f(self, x):\n        return jax.pure_callback(abs, x, x)\n",
            "train.py": "import jax\n\ndef fit(model, x):\n    return jax.grad(lambda y: model._f(y))(x)\n",
        },
        "reverse",
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_verdict_looks_at_the_whole_project(name, tmp_path):
    files, expected = PROJECTS[name]
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    file = next(file for file in files if file.endswith("ops.py"))
    (verdict,) = _verdicts(files[file], (tmp_path / file).parent, "ops.py", tmp_path)
    assert _summary(verdict) == expected
