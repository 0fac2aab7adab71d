import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def _bessel(ctx, out, order, z):
    order, z = np.asarray(order), np.asarray(z)
    out[...] = scipy.special.jv(order, z)
    return


@jax.custom_vjp
def _bessel_call(order, z):
    z = jnp.asarray(z)
    return bufcb.buffer_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype))(order, z)


def _bessel_fwd(order, z):
    if order.perturbed:
        raise NotImplementedError(
            "_bessel_fwd: the derivative of scipy.special.jv in order is not known. "
            "Gradients reach it from jax.value_and_grad (program.py:49)."
        )
    order, z = order.value, z.value
    return _bessel_call(order, z), (order, z)


def _bessel_bwd(residuals, cotangent):
    order, z = residuals
    spec = jax.ShapeDtypeStruct(cotangent.shape, cotangent.dtype)
    jv_below = bufcb.pure_callback(scipy.special.jv, spec, order - 1, z, vmap_method="sequential")
    jv_above = bufcb.pure_callback(scipy.special.jv, spec, order + 1, z, vmap_method="sequential")
    slope = (jv_below - jv_above) / 2
    # A sum over the axes along which an argument was broadcast is part of this.
    _, pullback = jax.vjp(lambda z: (slope * z).astype(cotangent.dtype), z)
    (z_cotangent,) = pullback(cotangent)
    return None, z_cotangent


_bessel_call.defvjp(_bessel_fwd, _bessel_bwd, symbolic_zeros=True)


def loss(order, z):
    return jnp.sum(_bessel_call(order, z))


step = jax.value_and_grad(loss, argnums=1)


def main():
    value, gradient = step(jnp.array([0.5, 2.0]), jnp.array([1.0, 2.0]))
    print(np.round(value, 4), np.round(gradient, 4))
