"""From a name or a path to items: the dataset's files, its replica, or a plain table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from ..errors import InputError, closest, listing
from ..tabular import SUFFIXES
from .cards import Card, card_names, find_card, load_card
from .items import Items
from .reading import Progress, Reading
from .reconcile import reconcile
from .replicas import has_replica, replica_items

__all__ = ["DATA_VARIABLE", "load_items"]

DATA_VARIABLE = "PROTOCTL_DATA"
"""Environment variable that names a folder with one entry a dataset (``affectnet``, ``utkface``, ...)."""

_MOST_DIFFERENCES = 3


def load_items(
    name_or_path: str | Path,
    *,
    root: str | Path | None = None,
    task: str | None = None,
    attributes: Sequence[str | Path] = (),
    columns: Mapping[str, str | Sequence[str]] | None = None,
    missing_subject: str | None = None,
    progress: Progress | None = None,
) -> Items:
    """Load the items of a dataset, or of a plain table.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A dataset's name in any usual spelling (``raf-db``, ``RAF_DB``), or the path of a table.
    root : str or pathlib.Path, optional
        Where the dataset's files lie; by default the dataset's entry in the folder that the environment variable
        ``PROTOCTL_DATA`` names. Where there is neither, the replica, for a dataset that has one.
    task : str, optional
        Which labels: a task of the dataset's card; for a plain table ``expression``, ``au`` or ``va``.
    attributes : sequence of str or pathlib.Path, optional
        Tables of attributes to join by ``item`` or ``subject``; what may stand after the path says `join_attributes`.
    columns : mapping, optional
        For a plain table: the column that holds ``item``, ``subject``, ``label`` (or ``labels``), ``split``,
        ``annotation``, ``attributes``; and ``missing``, further tokens that mean missing.
    missing_subject : {"own"}, optional
        For a plain table: an item whose subject is missing is a unit of its own.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.

    Returns
    -------
    items : Items

    Raises
    ------
    InputError
        If there is no such dataset, no such file, or no data and no replica; or if the files are refused.
    """
    name = str(name_or_path)
    card = find_card(name)
    if card is None:
        items = _plain(name, root, task, columns, missing_subject)
    else:
        if columns or missing_subject:
            raise InputError(
                f"{card.title} is read by its own reader, so its columns cannot be named",
                hint="leave the options for columns out, or give the path of a table",
            )
        items = _dataset(card, root, card.task(task), progress)
    if attributes:
        from .attributes import join_attributes

        for path in attributes:
            items = join_attributes(items, path)
    return items


def _dataset(card: Card, root: str | Path | None, task: str | None, progress: Progress | None) -> Items:
    """Read a dataset's files, or take its replica where none are named."""
    place, why = _root(card, root)
    if place is None:
        if not has_replica(card):
            raise InputError(
                f"no files of {card.title} are named ({why})",
                hint=f"to obtain it: {card.obtain}; then name its place with --root PATH",
            )
        items = replica_items(card.name, task)
        notes = (*items.report.notes, f"the dataset's own files are read with --root PATH ({why})")
        return replace(items, report=replace(items.report, notes=notes))
    if card.reader is None:
        raise InputError(
            f"{card.title}: its release files cannot be read yet",
            hint="pass a plain table (protoctl split items.csv), or leave --root out for the replica",
        )
    from .fair_consistent import is_release

    reader = "fair_consistent" if is_release(place, card) else card.reader
    items: Items = import_module(f".{reader}", __package__).read(Reading(card, place, task, progress))
    notes = (*items.report.notes, *_reconciliation(items))
    if card.evaluation_only:
        notes += (f"the terms of {card.title} allow evaluation only: no model may be trained on any split",)
    return replace(items, report=replace(items.report, notes=notes))


def _root(card: Card, root: str | Path | None) -> tuple[Path | None, str]:
    """Return where a dataset's files lie, or None and why not."""
    if root is not None:
        place = Path(root).expanduser()
        if not place.exists():
            raise InputError(f"{place}: there is no such file or folder", hint=_neighbour(place, "check --root"))
        return place, ""
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        return None, f"no --root, and {DATA_VARIABLE} is not set"
    folder = Path(base).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"{DATA_VARIABLE} names {folder}, which is no folder", hint="correct or unset the variable, or use --root"
        )
    for entry in sorted(os.listdir(folder)):
        found = find_card(Path(entry).stem if (folder / entry).is_file() else entry)
        if found is not None and found.name == card.name:
            return folder / entry, ""
    return None, f"no --root, and the folder that {DATA_VARIABLE} names has no entry {card.name}"


def _plain(
    name: str,
    root: str | Path | None,
    task: str | None,
    columns: Mapping[str, str | Sequence[str]] | None,
    missing_subject: str | None,
) -> Items:
    """Read a plain table; refuse what is neither a dataset nor a file."""
    path = Path(name).expanduser()
    if path.is_dir():
        near = closest(path.name, card_names())
        raise InputError(
            f"{path} is a folder, and a dataset's name or a table is wanted",
            hint=f"name the dataset and give the folder with --root: protoctl split {near or 'NAME'} --root {path}",
        )
    if not path.exists():
        if path.suffix.lower() not in (*SUFFIXES, ".gz") and path.parent == Path():
            load_card(name)
        raise InputError(f"{path}: there is no such file", hint=_neighbour(path, "check the path"))
    if root is not None:
        raise InputError(
            f"--root belongs to a dataset's name, and {path} is a table",
            hint=f"leave --root out, or name one of: {listing(card_names())}",
        )
    from .plain import read_plain

    return read_plain(path, task=task, columns=columns, missing_subject=missing_subject)


def _neighbour(path: Path, otherwise: str) -> str:
    """Return a hint that names the entry beside, or the dataset, that a wrong path is most like."""
    near = closest(path.name, os.listdir(path.parent)) if path.parent.is_dir() else None
    if near:
        return f"did you mean {path.parent / near}?"
    dataset = closest(path.stem, card_names())
    return f"did you mean the dataset {dataset!r}? Its files are named with --root" if dataset else otherwise


def _reconciliation(items: Items) -> tuple[str, ...]:
    """Return a note on published counts that the files do not show; never a failure."""
    counts = reconcile(items)
    other = [(what, found, published) for what, found, published in counts if found != published]
    if not counts:
        return ()
    if not other:
        return (f"all {len(counts):,} published counts agree",)
    shown = listing([f"{what} {found:,} where {published:,} are published" for what, found, published in other[:3]])
    more = f" and {len(other) - _MOST_DIFFERENCES:,} more" if len(other) > _MOST_DIFFERENCES else ""
    return (f"{len(other):,} of {len(counts):,} published counts differ: {shown}{more}",)
