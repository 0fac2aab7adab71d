import jax
import jax.numpy as jnp
from kernels import triple


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(triple, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
