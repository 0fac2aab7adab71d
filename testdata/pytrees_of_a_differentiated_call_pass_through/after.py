import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _layer(ctx, out, params, x):
    params = bufcb.to_numpy(params)
    hidden = np.tanh(np.asarray(params["w"]) * np.asarray(x))
    bufcb.store(out, {"y": hidden + np.asarray(params["b"]), "norm": np.sum(hidden**2)})
    return


def layer(params, x):
    spec = {"y": jax.ShapeDtypeStruct(x.shape, x.dtype), "norm": jax.ShapeDtypeStruct((), x.dtype)}

    @jax.custom_vjp
    def _layer_call(params, x):
        return bufcb.buffer_callback(_layer, spec)(params, x)

    def _layer_fwd(params, x):
        return _layer_call(params, x), (params, x)

    def _layer_bwd(residuals, cotangent):
        params, x = residuals
        raise NotImplementedError(
            "_layer_bwd: fill in the cotangents of params and x, then delete this line. "
            "Gradients reach it from jax.grad (program.py:42)."
        )
        return jax.tree.map(jnp.zeros_like, params), jnp.zeros_like(x)

    _layer_call.defvjp(_layer_fwd, _layer_bwd)

    return _layer_call(params, x)


def loss(params, x):
    found = layer(params, x)
    return jnp.sum(found["y"]) + found["norm"]


gradient = jax.grad(loss)


def main():
    print(loss({"w": jnp.ones(2), "b": jnp.zeros(2)}, jnp.arange(2.0)))
