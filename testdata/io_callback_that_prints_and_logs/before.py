import logging

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_logger = logging.getLogger(__name__)
_losses = []


def _show(step, loss):
    step, loss = int(step), np.asarray(loss)
    print(f"step {step}: loss {loss:.2f}", loss)


def _log(loss):
    _logger.info("loss %s", loss)


def _keep(loss):
    _losses.append(loss)


@jax.jit
def f(x):
    io_callback(_show, None, 1, x)
    io_callback(_log, None, x)
    io_callback(_keep, None, x)
    return 2 * x


def main():
    print(f(jnp.float32(2.5)))
    jax.effects_barrier()
    print(_losses)
