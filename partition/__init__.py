"""Units, profiles, the solvers, bounds and balance."""

from .apply import apply_protocol
from .assign import METHODS
from .balance import Balance, Row, balance_from_counts, balance_of
from .baselines import BASELINES, compare
from .drawn import Cell, CrossTable, Drawn
from .given import given_partition
from .model import Partition, Solver
from .prepare import Prepared, Stratum, prepare
from .profile import Category
from .sklearn_splitter import ProtocolSplit
from .split import split_items, split_table
from .subsets import Sample, draw_subset

__all__ = [
    "BASELINES",
    "METHODS",
    "Balance",
    "Category",
    "Cell",
    "CrossTable",
    "Drawn",
    "Partition",
    "Prepared",
    "ProtocolSplit",
    "Row",
    "Sample",
    "Solver",
    "Stratum",
    "apply_protocol",
    "balance_from_counts",
    "balance_of",
    "compare",
    "draw_subset",
    "given_partition",
    "prepare",
    "split_items",
    "split_table",
]
