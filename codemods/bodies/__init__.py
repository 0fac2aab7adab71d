"""Follows a callback's arguments through its body: is NumPy's answer JAX's, and may a view be handed out?"""

from codemods.bodies.interpreter import Argument, BodyReport, Usage, analyse
from codemods.bodies.values import Obstacle, Use

__all__ = ["Argument", "BodyReport", "Obstacle", "Usage", "Use", "analyse"]
