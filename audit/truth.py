"""The truth that predictions are held against: a dataset in the protocol's form, or the predictions' own columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..catalog import Items
from ..catalog.items import label_kind, normal_item
from ..errors import InputError, Problems, listing
from ..partition.prepare import in_form
from ..protocols import Form, Protocol, Select
from ..protocols.variants import Variants
from ..scales import AGE_GROUPS, FITZPATRICK
from .predictions import Truth

if TYPE_CHECKING:
    from ..tabular import TextTable

__all__ = ["ATTRIBUTES", "items_of_columns", "protocol_of_document", "truth_of_items"]

ATTRIBUTES = ("age", "gender", "race", "skin_type", "lighting")
"""Columns of predictions that are attributes without being named."""

_TOLD = ("item", "frame", "model", "corruption", "severity", "faces", "probability")


def protocol_of_document(document: Mapping[str, Any]) -> Protocol:
    """Return what scoring needs of the protocol that a manifest records: selection, form, scores.

    Examples
    --------
    >>> protocol_of_document({"name": "mine", "form": {"age": "nine"}, "score": {"age": ["accuracy"]}}).form.age
    'nine'
    """
    select, form = document.get("select", {}), document.get("form", {})
    ends = form.get("valence_arousal") or ()
    return Protocol(
        name=document.get("name", "imported"),
        version=document.get("version", "1.0.0"),
        source="",
        select=Select(
            select.get("annotation", "any"),
            (),
            {column: tuple(values) for column, values in select.get("where", {}).items()},
        ),
        form=Form(
            form.get("active_above"),
            (Decimal(ends[0]), Decimal(ends[1])) if len(ends) == 2 else None,
            form.get("age"),
            form.get("skin_type"),
        ),
        subset=None,
        split=None,
        variants=Variants(),
        score=dict(document.get("score", {})),
        document=dict(document),
    )


def items_of_columns(predictions: TextTable, attributes: Sequence[str] = (), also: Iterable[str] = ()) -> Items:
    """Take labels, subjects and attributes from the predictions' own table.

    Parameters
    ----------
    predictions : TextTable
        One row an item, or several of one item that agree.
    attributes : sequence of str
        Further columns that are attributes, besides `ATTRIBUTES`.
    also : iterable of str
        Items that must be there, with no values where the table has no row of them.

    Raises
    ------
    InputError
        If a column is missing, or rows of one item disagree.
    """
    predictions.require(["item", *attributes])
    names = [name for name in predictions.table.column_names if name not in _TOLD and not name.startswith("predicted")]
    columns = {name: [value or None for value in predictions.table[name].to_pylist()] for name in names}
    items = [normal_item(value or "") for value in predictions.table["item"].to_pylist()]
    first: dict[str, int] = {}
    problems = Problems()
    for row, item in enumerate(items):
        earlier = first.setdefault(item, row)
        for name in names if earlier != row else ():
            if columns[name][row] != columns[name][earlier]:
                problems.add(
                    predictions.place(row, name),
                    f"{item} has {columns[name][row]!r}, and {columns[name][earlier]!r} before",
                    hint="an item has one truth; correct the table, or name the dataset with --dataset",
                )
    problems.refuse(InputError, "the truth in the predictions is refused")
    kept = sorted({*first, *also})
    table = pa.table(
        {"item": pa.array(kept, pa.string())}
        | {
            name: pa.array([values[first[item]] if item in first else None for item in kept], pa.string())
            for name, values in columns.items()
        }
    )
    labels = tuple(n for n in names if n == "label" or label_kind(n) != "category")
    wanted = tuple(name for name in names if name in (*ATTRIBUTES, *attributes))
    return Items(predictions.path.name, table, labels, wanted)


def truth_of_items(items: Items, protocol: Protocol, splits: Mapping[str, str], split: str | None) -> Truth:
    """Bring items into the protocol's form, and keep those that a partition assigns.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        Whose form labels and attributes take.
    splits : mapping of str to str
        The split of each item of the partition.
    split : str or None
        The split to score; None for all.

    Returns
    -------
    truth : Truth

    Raises
    ------
    InputError
        If an item of the split is not among the items.
    """
    kept, _, _, notes = in_form(items, protocol, (), "$.score")
    names: list[str] = kept.table["item"].to_pylist()
    have = set(names)
    lacking = sorted(item for item, name in splits.items() if split in (None, name) and item not in have)
    if lacking:
        raise InputError(
            f"{items.dataset} lacks {len(lacking):,} items of the manifest: {listing(lacking, most=5)}",
            hint="name the dataset that the manifest is of, with --dataset and --root",
        )
    inside = [row for row, name in enumerate(names) if name in splits]
    table = kept.table.take(pa.array(inside, pa.int64()))
    column = pa.array([splits[names[row]] for row in inside], pa.string())
    table = table.drop_columns(["split"]) if "split" in table.column_names else table
    table = table.append_column("split", column)
    if items.replica:
        notes = [f"{items.dataset}: the labels and attributes are a replica, drawn from published counts", *notes]
    card = items.card
    categories = {name: _categories(name, table, items, protocol) for name in ("label", *kept.attributes)}
    unscored = {name: attribute.unscored for name, attribute in card.attributes.items()} if card else {}
    return Truth(
        table,
        {name: values for name, values in categories.items() if values},
        {name: values for name, values in unscored.items() if values},
        kept.attributes,
        split,
        tuple(notes),
    )


def _categories(name: str, table: pa.Table, items: Items, protocol: Protocol) -> tuple[str, ...]:
    """Return the categories of a column in their own order, where somebody gives one."""
    if name not in table.column_names:
        return ()
    held: set[str] = {value for value in table[name].unique().to_pylist() if value is not None}
    offered: list[tuple[str, ...]] = []
    if items.card and name == "label" and items.task:
        task = items.card.tasks[items.task]
        offered.append(tuple(category for category in task.categories if category not in task.without))
    elif items.card and name in items.card.attributes:
        offered.append(items.card.attributes[name].categories)
    if name == "age":
        groups = [AGE_GROUPS[protocol.form.age]] if protocol.form.age else list(AGE_GROUPS.values())
        offered += [group.categories for group in groups]
    if name == "skin_type":
        merges = FITZPATRICK.buckets.values()
        offered += [FITZPATRICK.categories, *(tuple(dict.fromkeys(merge.values())) for merge in merges)]
    return next((categories for categories in offered if held and held <= set(categories)), ())
