import jax
import jax.numpy as jnp
from scipy import special


def run(x, np):
    def host(v):
        return special.erf(v)

    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * np


def main():
    print(run(jnp.arange(3.0), 2).tolist())
