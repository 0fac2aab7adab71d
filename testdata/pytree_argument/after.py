import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _predict(ctx, out, params, x):
    params = bufcb.to_numpy(params)
    x = np.asarray(x)
    hidden = np.tanh(np.dot(x, params["in"]["w"]) + np.asarray(params["in"]["b"]))
    out[...] = np.dot(hidden, params["out"])
    return


def predict(params, x):
    return bufcb.buffer_callback(
        _predict, jax.ShapeDtypeStruct((x.shape[0], 1), x.dtype)
    )(params, x)


def main():
    params = {"in": {"w": jnp.eye(2), "b": jnp.zeros(2)}, "out": jnp.ones((2, 1))}
    print(np.round(predict(params, jnp.array([[0.5, 1.0]])), 4).tolist())
