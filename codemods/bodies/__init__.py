"""Follows a callback's arguments through its body: where NumPy may differ from JAX, and what outlives it."""

from codemods.bodies.interpreter import Argument, BodyReport, Usage, analyse
from codemods.bodies.values import Obstacle, Use

__all__ = ["Argument", "BodyReport", "Obstacle", "Usage", "Use", "analyse"]
