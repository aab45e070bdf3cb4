"""Units, profiles, the solvers, bounds and balance."""

from .model import Partition, Solver

__all__ = ["Partition", "Solver"]
