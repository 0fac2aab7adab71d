import jax
import jax.numpy as jnp


def _forgets(x):
    float(x)


def main():
    try:
        print(jax.pure_callback(_forgets, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1)))
    except Exception as error:
        print("Mismatched number of outputs from callback" in str(error))
