"""The sound of a circular drum: a small simulation in JAX that leans on host code."""
