import logging

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

_logger = logging.getLogger(__name__)
_losses = []


def _show(ctx, out, step, loss):
    step, loss = int(step), np.asarray(loss)
    print(f"step {step}: loss {loss:.2f}", loss)


def _log(loss):
    _logger.info("loss %s", loss)


def _keep(loss):
    _losses.append(loss)


@jax.jit
def f(x):
    bufcb.buffer_callback(_show, None, has_side_effect=True, vmap_method="sequential")(1, x)
    bufcb.buffer_callback(
        bufcb.adapt(_log, arrays="jax"), None, has_side_effect=True, vmap_method="sequential"
    )(x)
    bufcb.buffer_callback(
        bufcb.adapt(_keep, arrays="jax"), None, has_side_effect=True, vmap_method="sequential"
    )(x)
    return 2 * x


def main():
    print(f(jnp.float32(2.5)))
    jax.effects_barrier()
    print(_losses)
