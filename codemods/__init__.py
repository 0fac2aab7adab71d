"""Codemods that migrate `jax.pure_callback` call sites to `bufcb.buffer_callback`."""
