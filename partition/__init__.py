"""Units, profiles, the solvers, bounds and balance."""

from .balance import Balance, Row, balance_from_counts, balance_of
from .given import given_partition
from .model import Partition, Solver
from .prepare import Prepared, Stratum, prepare
from .profile import Category
from .split import METHODS, split_items, split_table

__all__ = [
    "METHODS",
    "Balance",
    "Category",
    "Partition",
    "Prepared",
    "Row",
    "Solver",
    "Stratum",
    "balance_from_counts",
    "balance_of",
    "given_partition",
    "prepare",
    "split_items",
    "split_table",
]
