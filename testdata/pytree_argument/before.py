import jax
import jax.numpy as jnp
import numpy as np


def _predict(params, x):
    hidden = np.tanh(np.dot(x, params["in"]["w"]) + np.asarray(params["in"]["b"]))
    return np.dot(hidden, params["out"])


def predict(params, x):
    return jax.pure_callback(_predict, jax.ShapeDtypeStruct((x.shape[0], 1), x.dtype), params, x)


def main():
    params = {"in": {"w": jnp.eye(2), "b": jnp.zeros(2)}, "out": jnp.ones((2, 1))}
    print(np.round(predict(params, jnp.array([[0.5, 1.0]])), 4).tolist())
