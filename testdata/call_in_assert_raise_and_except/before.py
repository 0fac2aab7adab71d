import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.float32)


def _total(x):
    return np.float32(np.asarray(x).sum())


def check(x):
    assert jax.pure_callback(_total, S, x) >= 0, jax.pure_callback(_total, S, x)
    try:
        raise ValueError(float(jax.pure_callback(_total, S, x)))
    except (ValueError if jax.pure_callback(_total, S, x) < 9 else KeyError) as error:
        return error.args


def main():
    print(check(jnp.ones(2)))
