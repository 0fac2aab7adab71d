import jax
import jax.numpy as jnp
import numpy as np

host_sort = lambda s, x: jax.pure_callback(lambda v: np.sort(v)[: s.shape[0]], s, x)  # noqa: E731


def main():
    print(host_sort(jax.ShapeDtypeStruct((2,), jnp.float32), jnp.array([2.0, 1.0])).tolist())
