import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Codec:
    @staticmethod
    def _shift(ctx, out, bits):
        out[...] = np.left_shift(np.asarray(bits), np.uint8(1))
        return

    @classmethod
    def shift(cls, bits):
        spec = jax.ShapeDtypeStruct(bits.shape, jnp.uint8)
        return bufcb.buffer_callback(cls._shift, spec)(bits)


def main():
    print(Codec.shift(jnp.array([1, 0, 0, 0, 0, 0, 1, 1], jnp.uint8)).tolist())
