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
from .published import Published, PublishedFinding, published_balances
from .render import render_variants
from .rendering import Rendered
from .sklearn_splitter import ProtocolSplit
from .split import split_items, split_table
from .subsets import Sample, draw_subset
from .variants import PLAN_COLUMNS, ItemPlan, Variant, plan_rows, plan_variants

__all__ = [
    "BASELINES",
    "METHODS",
    "PLAN_COLUMNS",
    "Balance",
    "Category",
    "Cell",
    "CrossTable",
    "Drawn",
    "ItemPlan",
    "Partition",
    "Prepared",
    "ProtocolSplit",
    "Published",
    "PublishedFinding",
    "Rendered",
    "Row",
    "Sample",
    "Solver",
    "Stratum",
    "Variant",
    "apply_protocol",
    "balance_from_counts",
    "balance_of",
    "compare",
    "draw_subset",
    "given_partition",
    "plan_rows",
    "plan_variants",
    "prepare",
    "published_balances",
    "render_variants",
    "split_items",
    "split_table",
]
