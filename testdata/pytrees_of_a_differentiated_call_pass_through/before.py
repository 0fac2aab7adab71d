import jax
import jax.numpy as jnp
import numpy as np


def _layer(params, x):
    hidden = np.tanh(np.asarray(params["w"]) * np.asarray(x))
    return {"y": hidden + np.asarray(params["b"]), "norm": np.sum(hidden**2)}


def layer(params, x):
    spec = {"y": jax.ShapeDtypeStruct(x.shape, x.dtype), "norm": jax.ShapeDtypeStruct((), x.dtype)}
    return jax.pure_callback(_layer, spec, params, x)


def loss(params, x):
    found = layer(params, x)
    return jnp.sum(found["y"]) + found["norm"]


gradient = jax.grad(loss)


def main():
    print(loss({"w": jnp.ones(2), "b": jnp.zeros(2)}, jnp.arange(2.0)))
