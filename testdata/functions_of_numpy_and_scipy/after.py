import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special


def main():
    m = jnp.array([[2.0, 0.0], [0.0, 4.0]])
    spec = jax.ShapeDtypeStruct(m.shape, m.dtype)
    print(bufcb.buffer_callback(bufcb.adapt(np.linalg.inv), spec)(m).tolist())
    print(bufcb.buffer_callback(bufcb.adapt(scipy.linalg.expm), spec)(jnp.zeros((2, 2))).tolist())
    print(np.round(bufcb.buffer_callback(bufcb.adapt(scipy.special.gamma), spec)(m + 1), 3).tolist())
    print(bufcb.buffer_callback(bufcb.adapt(np.vectorize(lambda v: v / 2, otypes=[np.float32])), spec)(m).tolist())
    print(bufcb.buffer_callback(bufcb.adapt(np.cumsum, arrays="jax"), jax.ShapeDtypeStruct((4,), m.dtype))(m).tolist())
