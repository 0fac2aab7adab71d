"""Solvers of the project; `relax` is the one that the model calls back."""

from .relaxation import relax

__all__ = ["relax"]
