"""Units, profiles, the solvers, bounds and balance."""

from .assign import METHODS
from .balance import Balance, Row, balance_from_counts, balance_of
from .baselines import BASELINES, compare
from .given import given_partition
from .model import Partition, Solver
from .prepare import Prepared, Stratum, prepare
from .profile import Category
from .sklearn_splitter import ProtocolSplit
from .split import split_items, split_table

__all__ = [
    "BASELINES",
    "METHODS",
    "Balance",
    "Category",
    "Partition",
    "Prepared",
    "ProtocolSplit",
    "Row",
    "Solver",
    "Stratum",
    "balance_from_counts",
    "balance_of",
    "compare",
    "given_partition",
    "prepare",
    "split_items",
    "split_table",
]
