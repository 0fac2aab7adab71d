"""One door to the host for the rest of the package."""

import jax


def on_host(function, spec, *args):
    """Runs `function` on the host, as often as XLA likes."""
    return jax.pure_callback(function, spec, *args, vmap_method="sequential")
