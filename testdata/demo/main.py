"""Strikes a drum, listens to it, and prints what was heard."""

import jax
import jax.numpy as jnp
import numpy as np

from drum.membrane import tension, worst_tensions
from drum.modes import compliance, modes, stiffness_matrix
from drum.sensors import Microphone, spectrum
from drum.special import j0, jn


def show(name, values):
    rounded = np.round(np.ravel(values), 3) + 0.0  # no "-0.000"
    print(f"{name}:", " ".join(f"{value:.3f}" for value in rounded))


def strike(humidity, times):
    """The sound of the drum's centre after a blow, at the given times."""
    frequencies, shapes = modes(stiffness_matrix(16, tension(humidity)))
    amplitudes = shapes[8] / frequencies
    return jnp.cos(times[:, None] * frequencies) @ amplitudes


def main():
    radius = jnp.linspace(0.0, 4.0, 5)
    show("profile", jax.jit(j0)(radius))
    show("slope", jax.vmap(jax.grad(j0))(radius))
    show("orders", jn(jnp.arange(4), jnp.float32(2.0)))

    humidity = jnp.linspace(0.3, 0.8, 16)
    show("tension", jax.vmap(tension)(humidity)[:4])
    show("loosest", worst_tensions(humidity, 3))

    stiffness = stiffness_matrix(4, tension(humidity)[:4])
    show("compliance", jnp.diag(compliance(stiffness)))

    sound = jax.jit(strike)(humidity, jnp.linspace(0.0, 4.0, 256))
    recorded = Microphone(gain=4.0, threshold=1.0).record(sound)
    show("recorded", recorded[:6])
    heard = spectrum(recorded)
    print("peak:", int(heard["peak"]))
    show("power", heard["power"])

    # Many readings in one loop: the cost of a call is what matters here.
    total = jax.lax.fori_loop(0, 100, lambda _, total: total + j0(total / 100.0), jnp.float32(0.0))
    show("total", total)


if __name__ == "__main__":
    main()
