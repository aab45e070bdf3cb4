"""A protocol applied to items: who takes part, in what form, balanced on which columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ..catalog import Items
from ..catalog.items import label_kind
from ..errors import InputError, Problems, ProtocolError, listing, unknown
from ..protocols import Protocol, active, cut_years, merged_races, merged_skin, region, scaled
from ..scales import age_groups
from ..tabular import pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..catalog.cards import Card

__all__ = ["Prepared", "Stratum", "hidden_rows", "in_form", "prepare"]

_UNIT_RANGE = (Decimal(-1), Decimal(1))
_PLANE = "valence_arousal"


@dataclass(frozen=True)
class Stratum:
    """A column that is balanced.

    Parameters
    ----------
    attribute : str
        What reports call it.
    column : str
        The column of the table.
    kind : {"category", "binary"}
        Every value is a category; or only ``1`` counts, and null is unknown.
    """

    attribute: str
    column: str
    kind: Literal["category", "binary"]


@dataclass(frozen=True)
class Prepared:
    """Items in the protocol's form.

    Parameters
    ----------
    items : Items
        The items that take part.
    strata : tuple of Stratum
        The columns to balance.
    unit : str
        What stays whole: ``subject``, ``group`` or ``item``.
    hidden : ndarray of bool, shape (n_items,), or None
        Rows that are partitioned with the rest and then left out (a task that is another one's partition without
        some categories).
    left_out : mapping of str to int
        Items left out, by reason.
    warnings, notes : tuple of str
        What is odd; what the user should know.
    """

    items: Items
    strata: tuple[Stratum, ...]
    unit: str
    hidden: NDArray[np.bool_] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def prepare(items: Items, protocol: Protocol) -> Prepared:
    """Apply a protocol's ``select`` and ``form`` to items, and find the columns that its ``split`` balances.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        The rules.

    Returns
    -------
    prepared : Prepared

    Raises
    ------
    ProtocolError
        If the protocol asks for a column that the data lack, and the dataset's card does not say that it never
        has it.
    InputError
        If a value has no place in the form, or no item is left.
    """
    stratify = protocol.split.stratify if protocol.split else ()
    kept, columns, left_out, notes = in_form(items, protocol, stratify, "$.split.stratify")
    kept, strata = _strata(kept, columns, protocol)
    warnings: list[str] = []
    for stratum in strata:
        lacking = int(kept.table[stratum.column].null_count)
        if lacking == len(kept):
            raise ProtocolError(
                f"no item has a value in column {stratum.column!r}, which the protocol balances",
                hint="join values with --attributes FILE, or name other columns with --stratify",
            )
        if lacking and stratum.kind == "category":
            notes.append(f"{lacking:,} items have no {stratum.attribute}: they are spread evenly over the splits")
    unit = protocol.split.unit if protocol.split else "item"
    return Prepared(kept, strata, unit, hidden_rows(kept), left_out, tuple(warnings), tuple(notes))


def in_form(
    items: Items, protocol: Protocol, names: tuple[str, ...], place: str
) -> tuple[Items, tuple[str, ...], dict[str, int], list[str]]:
    """Apply a protocol's ``select`` and ``form``, and find the columns that some of its names stand for.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        The rules.
    names : tuple of str
        Names of columns; ``label`` stands for the labels of the task.
    place : str
        Where the names stand in the protocol, for messages.

    Returns
    -------
    kept : Items
        The items that take part, in the protocol's form.
    columns : tuple of str
        The columns of the table that `names` stand for; what the dataset never has is left out.
    left_out : dict of str to int
        Items that were left out, by reason.
    notes : list of str
        What was done.

    Raises
    ------
    ProtocolError
        If the data lack a column, and the dataset's card does not say that it never has it.
    InputError
        If a value has no place in the form, or no item is left.
    """
    notes: list[str] = []
    columns = _columns(items, names, place, notes)
    required = _columns(items, protocol.select.require, "$.select.require", notes)
    formed, form_notes = _formed(items, protocol)
    kept, left_out = _selected(formed, protocol, required)
    notes += form_notes
    if len(kept) == 0:
        reasons = listing([f"{count:,} {reason}" for reason, count in left_out.items()])
        raise InputError(f"{items.dataset}: the protocol leaves no item ({reasons})", hint="see its 'select' section")
    return kept, columns, left_out, notes


def _columns(items: Items, names: tuple[str, ...], place: str, notes: list[str]) -> tuple[str, ...]:
    """Return the table's columns that a protocol's names stand for; note what the dataset never has."""
    card = items.card
    never = card.never if card else ()
    have = [name for name in items.table.column_names if name not in ("item", "subject", "annotation", *items.labels)]
    problems = Problems()
    found: list[str] = []
    for position, name in enumerate(names):
        if name == "label" and items.labels:
            found += items.labels
        elif name in items.table.column_names:
            found.append(name)
        elif name in never and card:
            note = f"{card.title} has no {'affect label' if name == 'label' else name}: left out of the protocol"
            notes += [note] if note not in notes else []
        else:
            message, hint = unknown("column", name, ["label", *have] if items.labels else have)
            problems.add(f"{place}[{position}]", message, hint=f"{hint}{_remedy(name, card, place)}")
    problems.refuse(ProtocolError, f"the protocol asks for what {items.dataset!r} lacks")
    return tuple(dict.fromkeys(found))


def _remedy(name: str, card: Card | None, place: str) -> str:
    if name == "label":
        return "; name the label's column with --label"
    if place.startswith("$.subset"):
        return "; join it with --attributes FILE, or write a protocol without it"
    joined = "; join it with --attributes FILE, or name other columns with --stratify"
    return joined if card else "; name other columns with --stratify, or join it with --attributes FILE"


def _replaced(items: Items, columns: Mapping[str, Any]) -> Items:
    """Return the items with some columns of their table replaced or added."""
    table: Any = items.table
    for name, column in columns.items():
        where = table.column_names.index(name) if name in table.column_names else table.num_columns
        table = (
            table.set_column(where, name, column) if where < table.num_columns else table.append_column(name, column)
        )
    return replace(items, table=table)


def _formed(items: Items, protocol: Protocol) -> tuple[Items, list[str]]:
    """Bring labels and ages into the protocol's form."""
    form, table = protocol.form, items.table
    notes: list[str] = []
    columns: dict[str, Any] = {}
    units = [name for name in items.labels if label_kind(name) == "binary"]
    if units and form.active_above is not None:
        occurrence = all(set(pc.unique(table[name]).to_pylist()) <= {"0", "1", None} for name in units)
        for name in units:
            columns[name] = active(table[name], name, form.active_above, occurrence=occurrence)
        if not occurrence:
            notes.append(f"an action unit is active where its intensity is above {form.active_above}")
    for name in items.labels:
        if label_kind(name) == "continuous" and form.valence_arousal is not None:
            columns[name] = scaled(table[name], name, _range(items), form.valence_arousal)
    if form.age and "age" in table.column_names and _are_years(items):
        own = items.card.attributes["age"] if items.card and "age" in items.card.attributes else None
        if own is None or not own.keep:
            columns["age"], between = cut_years(table["age"], "age", age_groups(form.age))
            if between:
                notes.append(f"{between:,} ages lie in none of the groups '{form.age}': missing")
    if form.skin_type and "skin_type" in table.column_names:
        columns["skin_type"] = merged_skin(table["skin_type"], "skin_type", form.skin_type)
    if form.race and "race" in table.column_names:
        columns["race"], left = merged_races(table["race"], form.race)
        notes.append(f"races are merged into {form.race}, as the protocol asks")
        notes += [
            f"{count:,} items of race {race} have no place among {form.race}: missing" for race, count in left.items()
        ]
    return _replaced(items, columns), notes


def _range(items: Items) -> tuple[Decimal, Decimal]:
    task = items.card.tasks.get(items.task or "") if items.card else None
    ends = task.range if task else None
    return (Decimal(ends[0]), Decimal(ends[1])) if ends else _UNIT_RANGE


def _are_years(items: Items) -> bool:
    """Tell whether the age column holds years: the card says so, or every value is a whole number."""
    if items.card and "age" in items.card.attributes:
        return items.card.attributes["age"].years
    values = [value for value in pc.unique(items.table["age"]).to_pylist() if value is not None]
    return bool(values) and all(re.fullmatch(r"\d{1,3}(\.0+)?", value) for value in values)


def _selected(items: Items, protocol: Protocol, required: tuple[str, ...]) -> tuple[Items, dict[str, int]]:
    """Keep the items that the protocol selects; count the others by their first reason."""
    table: Any = items.table
    left_out: dict[str, int] = {}
    keep = np.ones(len(items), np.bool_)

    def drop(where: NDArray[np.bool_], reason: str) -> None:
        count = int((where & keep).sum())
        if count:
            left_out[reason] = count
        keep[where] = False

    wanted = protocol.select.annotation
    if wanted != "any" and items.labels and "annotation" in table.column_names:
        other = pc.not_equal(pc.fill_null(table["annotation"], wanted), wanted).to_numpy()
        drop(other, f"labels are not {wanted}")
    units = [name for name in required if label_kind(name) == "binary"]
    if units:
        unknown_all = np.logical_and.reduce([pc.is_null(table[name]).to_numpy() for name in units])
        drop(unknown_all, "no action unit is known")
    for name in required:
        if name not in units:
            drop(pc.is_null(table[name]).to_numpy(), f"no {name}")
    for name, values in protocol.select.where.items():
        if name not in table.column_names:
            message, hint = unknown("column", name, table.column_names)
            raise ProtocolError(f"$.select.where.{name}: {message}", hint=hint)
        allowed = pa.array(values, pa.string())
        drop(~pc.fill_null(pc.is_in(table[name], allowed), False).to_numpy(), f"{name} is none of {listing(values)}")
    return (items if keep.all() else replace(items, table=table.filter(pa.array(keep)))), left_out


def _strata(items: Items, columns: tuple[str, ...], protocol: Protocol) -> tuple[Items, tuple[Stratum, ...]]:
    """Make the strata; valence and arousal together become the regions of their plane."""
    strata: list[Stratum] = []
    regions = protocol.split.regions if protocol.split else {}
    continuous = [name for name in columns if label_kind(name) == "continuous"]
    if continuous:
        bounds = protocol.form.valence_arousal or _UNIT_RANGE
        cells: list[Any] = []
        for name in continuous:
            if name not in regions:
                raise ProtocolError(
                    f"$.split.regions: {name} is balanced, and no width of its regions is given",
                    hint="write regions: {valence: 0.2, arousal: 0.2}",
                )
            cells.append(
                pc.binary_join_element_wise(name[0], region(items.table[name], name, bounds, regions[name]), "")
            )
        plane = cells[0] if len(cells) == 1 else pc.binary_join_element_wise(*cells, " ")
        items = _replaced(items, {_PLANE: plane})
        strata.append(Stratum(_PLANE, _PLANE, "category"))
    for name in columns:
        if name not in continuous:
            binary = label_kind(name) == "binary"
            strata.append(Stratum(name, name, "binary" if binary else "category"))
    return items, tuple(strata)


def hidden_rows(items: Items) -> NDArray[np.bool_] | None:
    """Mark rows of categories that the task leaves out after partitioning (AffectNet's expression-7)."""
    task = items.card.tasks.get(items.task or "") if items.card else None
    if task is None or not task.without:
        return None
    return pc.fill_null(pc.is_in(items.table["label"], pa.array(task.without, pa.string())), False).to_numpy()
