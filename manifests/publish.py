"""The folder to put beside a dataset or on a hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..digests import digest_file
from ..errors import AuditError, InputError, unknown
from ..tabular import pc
from .croissant import croissant_document, croissant_problems
from .digest import Rows
from .files import dump_document, write_files
from .folders import fill_folder
from .hub import front_matter, hub_names
from .keys import Key, fingerprints, keyed_manifest, tokens
from .readme import bibtex, render_readme
from .suppression import suppressed_balance
from .verify import verify_folder

if TYPE_CHECKING:
    from ..catalog import Items
    from .model import Manifest

__all__ = ["Published", "publish_manifest"]

_LOADER_NAMES = {"label": "expression"}
_PERSONAL = ("age", "gender", "race")


@dataclass(frozen=True)
class Published:
    """What was published.

    Parameters
    ----------
    manifest : Manifest
        As it stands in the folder.
    files : tuple of str
        Names of the files.
    notes : tuple of str
        What was renamed, suppressed or left out, and what somebody should weigh.
    """

    manifest: Manifest
    files: tuple[str, ...]
    notes: tuple[str, ...]


def publish_manifest(
    manifest: Manifest,
    to: str | Path,
    *,
    license: str | None = None,
    url: str | None = None,
    authors: Sequence[str] = (),
    identities: str | None = None,
    key: Key | None = None,
    subjects: str = "listed",
    suppress_below: int | None = None,
    round_to: int | None = None,
    items: Items | None = None,
    force: bool = False,
) -> Published:
    """Write the folder to publish: manifest, rows, a file a split, Croissant, a card for the hub, BibTeX, checksums.

    Parameters
    ----------
    manifest : Manifest
        As `read_manifest` gave it.
    to : str or pathlib.Path
        A folder that does not exist yet.
    license : str, optional
        Terms of the manifest itself (``CC-BY-4.0``); by default those that it states.
    url : str, optional
        Where it will be found; by default the dataset's address.
    authors : sequence of str
        Who made it.
    identities : {"plain", "keyed"}, optional
        By default plain, which is refused for a dataset that may not be passed on.
    key : Key, optional
        From `release_key`, for ``keyed``.
    subjects : {"listed", "omitted"}
        Whether a keyed manifest lists the subjects' tokens.
    suppress_below, round_to : int, optional
        Counts below the one are left out of the balance table, others rounded to the other; 10 and 5 where keyed.
    items : Items, optional
        The dataset, to write labels and attributes into ``train.csv`` and the others, as the loaders of
        Hu et al. (FG 2024) read them. Without it they list names only.
    force : bool
        Replace a folder that was published before.

    Returns
    -------
    published : Published

    Raises
    ------
    InputError
        If it is a replica, or licensed and not keyed, or no licence is named.
    AuditError
        If it does not pass `verify_folder`.
    """
    _refuse(manifest, identities, key)
    terms = license or manifest.document.get("license")
    if not terms:
        raise InputError(f"{manifest.title} names no licence of its own", hint="add --license CC-BY-4.0, or another")
    table = _labels(manifest, items)
    notes: list[str] = []
    if identities == "keyed" and key is not None:
        if table is not None and manifest.document["dataset"]["licensed"]:
            raise InputError(
                "labels and attributes of a licensed dataset are not published beside tokens",
                hint="leave the dataset out: the files then list tokens only",
            )
        notes += _fingerprints(manifest, subjects)
        table = None if table is None else _keyed_labels(table, key)
        manifest = keyed_manifest(manifest, key, subjects=subjects)
        suppress_below, round_to = suppress_below or 10, round_to or 5
    document: dict[str, Any] = {**manifest.document, "license": terms}
    if authors:
        document["authors"] = [{"name": name} for name in authors]
    if suppress_below or round_to:
        if "as_of" not in document["balance"] and "suppress_below" not in document["balance"]:
            document["balance"] = suppressed_balance(
                document["balance"], suppress_below=suppress_below or 0, round_to=round_to or 1
            )
        if "subset" in document:
            crossed = ("counts", "alternate")
            document["subset"] = {key: each for key, each in document["subset"].items() if key not in crossed}
        notes.append("small counts are left out of the balance table, and the others rounded")
    manifest = replace(manifest, document=document, folder=None)
    address = url or document["dataset"].get("url") or f"urn:protoctl:{manifest.name}:{manifest.version}"
    done: list[Manifest] = []

    def fill(folder: Path) -> None:
        done.append(_fill(folder, manifest, table, terms, address))

    notes += fill_folder(Path(to), fill, force=force)
    notes += hub_names(manifest.splits)[1]
    names = tuple(sorted(path.name for path in Path(to).iterdir()))
    return Published(replace(done[0], folder=Path(to)), names, tuple(notes))


def _refuse(manifest: Manifest, identities: str | None, key: Key | None) -> None:
    if identities not in (None, "plain", "keyed"):
        message, hint = unknown("kind of identities", identities, ("plain", "keyed"))
        raise InputError(message, hint=hint)
    if manifest.replica:
        raise InputError(
            f"{manifest.title} is a replica: its rows are drawn, and nobody can use them",
            hint="make it again from the dataset's own files, with --root",
        )
    if manifest.folder is None:
        raise InputError(f"{manifest.title} was not read from a folder", hint="write it, and read it back")
    found = verify_folder(manifest.folder)
    if not found.passed:
        raise AuditError(
            f"{manifest.title} does not verify: {found.faults[0]}"
            + (f", and {len(found.faults) - 1:,} more" if len(found.faults) > 1 else ""),
            hint=f"protoctl verify {manifest.folder} names all",
        )
    if identities == "keyed" and key is None:
        raise InputError("no file is named to derive the key from", hint="add --key-file: the release's label list")
    if manifest.document["dataset"]["licensed"] and not manifest.keyed and identities is None:
        title = manifest.document["dataset"].get("title") or manifest.document["dataset"]["name"]
        raise InputError(
            f"{title} may not be passed on, its lists of names included ({manifest.document['dataset']['license']})",
            hint="publish tokens: --identities keyed --key-file FILE; or, if you may, --identities plain",
        )


def _fingerprints(manifest: Manifest, subjects: str) -> list[str]:
    unique, people = fingerprints(manifest.assignments)
    if subjects == "omitted" or people == 0 or unique * 10 < people:
        return []
    return [
        f"{unique:,} of {people:,} subjects have a number of items that nobody else has, which tells who a token is: "
        "leave subjects out with --subjects omitted"
    ]


def _labels(manifest: Manifest, items: Items | None) -> pa.Table | None:
    """Return names, splits, labels and attributes in the loaders' layout, or None where no items are given."""
    if items is None:
        return None
    here: Any = items.table
    column = manifest.level
    if manifest.keyed or column not in here.column_names:
        raise InputError(f"{manifest.title} cannot be joined to {items.dataset}", hint="leave the dataset out")
    split = manifest.assignments["split"].take(
        pc.index_in(here[column].cast(pa.string()), manifest.assignments[column].combine_chunks())
    )
    taken = pc.is_valid(split)
    personal = [name for name in _PERSONAL if name in here.column_names]
    order = [*items.labels, *personal]
    if manifest.document["dataset"]["name"] == "raf-db":
        order = [*(name for name in ("gender", "race", "age") if name in personal), *items.labels]
    columns: dict[str, Any] = {"name": here["item"]}
    for name in order:
        values = here[name].cast(pa.string())
        unknown_value = "-1" if name.startswith("AU") else ""
        columns[_LOADER_NAMES.get(name, name)] = pc.fill_null(values, unknown_value)
    columns["split"] = split
    table = pa.table(columns).filter(taken)
    stated = {name: counts["items"] for name, counts in manifest.document["counts"].items()}
    found = {each["values"]: each["counts"] for each in pc.value_counts(table["split"]).to_pylist()}
    for name, count in stated.items():
        if count is not None and found.get(name, 0) != count:
            raise InputError(
                f"{items.dataset} has {found.get(name, 0):,} items of {name}, the manifest {count:,}",
                hint="give the dataset that the manifest was made from",
            )
    return table.sort_by("name")


def _keyed_labels(table: pa.Table, key: Key) -> pa.Table:
    return table.set_column(0, "name", tokens(table["name"], "item", key)).sort_by("name")


def _fill(folder: Path, manifest: Manifest, labels: pa.Table | None, terms: str, url: str) -> Manifest:
    manifest = write_files(folder, manifest, parquet=True)
    files: dict[str, Path] = {}
    rows: dict[str, int] = {}
    first = "name" if manifest.level == "item" else "subject"
    table: Any = labels
    if table is None:
        table = manifest.assignments.select([manifest.level, "split"]).rename_columns([first, "split"])
    columns: list[str] = [name for name in table.column_names if name != "split"]
    for split in manifest.splits:
        part = table.filter(pc.equal(table["split"], split)).select(columns)
        files[split] = folder / f"{split}.csv"
        rows[split] = part.num_rows
        _write_csv(files[split], part)
    readme = front_matter(manifest, files, rows, columns, terms) + "\n" + render_readme(manifest)
    (folder / "README.md").write_text(readme, "utf-8", newline="\n")
    citation = bibtex(manifest)
    (folder / "citation.bib").write_text(citation, "utf-8", newline="\n")
    authors = [author["name"] for author in manifest.document.get("authors", [])]
    document = croissant_document(manifest, folder, license=terms, url=url, authors=authors, citation=citation)
    croissant_problems(document, folder, manifest).refuse(AuditError, "croissant.json would not be right")
    (folder / "croissant.json").write_text(dump_document(document), "utf-8", newline="\n")
    _write_sums(folder)
    return manifest


def _write_csv(path: Path, table: pa.Table) -> None:
    from .build import csv_pieces

    plain: Mapping[str, Any] = {name: table[name].cast(pa.large_string()) for name in table.column_names}
    with path.open("wb") as stream:
        if table.num_rows == 0:
            stream.write((",".join(table.column_names) + "\n").encode())
            return
        for piece in csv_pieces(Rows(pa.table(dict(plain)), None), quoted=True):
            stream.write(piece)


def _write_sums(folder: Path) -> None:
    """Write ``SHA256SUMS``, which ``sha256sum -c`` reads."""
    lines = [
        f"{digest_file(path).removeprefix('sha256:')}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8", newline="\n")
