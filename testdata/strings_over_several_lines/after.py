import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    def run(self, x):
        def host(ctx, out, v):
            v = np.asarray(v)
            text = """
no indent
   some"""
            if len(text) == 0:
                out[...] = np.negative(v)
                return
            out[...] = np.square(v) + np.float32(len("""
x"""))
            return

        return bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(A().run(jnp.arange(3.0)).tolist())
