"""Verification against what only a holder of the dataset has: its files on disk, its items, the named solver."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.items import normal_item
from ..digests import digest_file
from ..errors import ProtoctlError
from .build import build_manifest
from .keys import Key, keyed_manifest
from .lineage import ruled
from .verify import UNCOUNTED, Verification

if TYPE_CHECKING:
    from ..catalog import Items
    from ..protocols import Protocol
    from .model import Manifest

__all__ = ["verify_recomputed", "verify_root"]

_MOST = 50

Progress = Callable[[int, int | None, str], None]


def verify_root(found: Verification, root: Path, *, key: Key | None = None) -> None:
    """Verify level 3: each item is a file below `root`, no file is extra, and the sources are the ones read.

    Parameters
    ----------
    found : Verification
        Of levels 1 and 2; faults are added.
    root : pathlib.Path
        Folder that the items' names start from, or the one file that items were read from.
    key : Key, optional
        For a manifest with tokens.
    """
    manifest = found.manifest
    if manifest is None:
        found.unseen.append("the files on disk: the rows could not be read")
        return
    _sources(found, manifest, root)
    if not root.is_dir():
        found.unseen.append("the items' own files: --root names no folder")
        return
    if manifest.level == "subject":
        found.unseen.append("the items' own files: the rows are subjects")
        return
    if manifest.keyed and key is None:
        found.unseen.append("the items' own files: the rows are tokens, and --key-file names no file")
        return
    _present(found, manifest, root, key)


def _sources(found: Verification, manifest: Manifest, root: Path) -> None:
    """Compare the files that items were read from."""
    if manifest.replica:
        found.unseen.append("the files that items were read from: a replica has none")
        return
    for source in manifest.document["dataset"]["sources"]:
        file = root / source["path"] if root.is_dir() else root
        if not root.is_dir() and file.name != Path(source["path"]).name:
            continue
        if not file.is_file():
            found.unseen.append(f"source {source['path']}: it is not below --root")
        elif digest_file(file) != source["digest"]:
            found.add(3, source["path"], "is not the file that items were read from: its digest differs")
        else:
            found.checked.append(f"source {source['path']}")


def _walk(root: Path) -> Iterable[tuple[str, bool]]:
    """Give each file below a folder, as a POSIX path, and whether it is a symbolic link that leads outside."""
    inside = str(root.resolve()) + os.sep
    for folder, folders, files in os.walk(root):
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*files, *linked):
            path = os.path.join(folder, name)
            outside = os.path.islink(path) and not os.path.realpath(path).startswith(inside)
            yield Path(path).relative_to(root).as_posix(), outside


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _present(found: Verification, manifest: Manifest, root: Path, key: Key | None) -> None:
    """Look for items that are absent, files that are extra, and names that differ in case or Unicode form."""
    raw = dict(_walk(root))
    names = {normal_item(name): name for name in raw}
    stated: list[str] = manifest.assignments["item"].to_pylist()
    ids = {key.token("item", name): name for name in names} if key is not None else {name: name for name in names}
    alike: dict[str, str] = {}
    for name in names:
        alike.setdefault(_folded(name), name)
    absent: list[str] = []
    for item in stated:
        name = ids.get(item)
        if name is None:
            near = alike.get(_folded(item))
            if near is None:
                absent.append(item)
            else:
                found.add(3, item, f"is {near!r} on disk: the names differ in case")
        elif names[name] != name:
            found.add(3, item, "has its name in another Unicode form or with other separators on disk")
        if name is not None and raw[names[name]]:
            found.add(3, item, "is a symbolic link that leads out of the folder")
    _capped(found, absent, "is absent")
    listed = set(stated)
    endings = {Path(ids[item]).suffix.lower() for item in stated if item in ids}
    skipped = {source["path"] for source in manifest.document["dataset"]["sources"]}
    near = set[str]() if manifest.keyed else {_folded(item) for item in stated}
    extra = [
        name
        for token, name in ids.items()
        if token not in listed
        and name not in skipped
        and Path(name).suffix.lower() in endings
        and _folded(name) not in near
    ]
    _capped(found, extra, "is on disk and not in the manifest")
    found.checked.append(f"{len(stated):,} items against {len(names):,} files")
    found.unseen.append("the content of the items' files: the manifest holds no digest of each")


def _capped(found: Verification, names: list[str], message: str) -> None:
    names.sort()
    for name in names[:_MOST]:
        found.add(3, name, message)
    if len(names) > _MOST:
        found.add(3, names[_MOST], f"{message}, as {len(names) - _MOST:,} more from here on")


def verify_recomputed(
    found: Verification, items: Items, protocol: Protocol, *, key: Key | None = None, progress: Progress | None = None
) -> None:
    """Verify level 4: the same items, the named solver and the seed give the same rows and counts.

    Parameters
    ----------
    found : Verification
        Of levels 1 and 2; faults are added.
    items : Items
        The dataset, as it was when the manifest was made.
    protocol : Protocol
        The manifest's own.
    key : Key, optional
        For a manifest with tokens.
    progress : callable, optional
        Called with steps done, steps in all or None, and what is being done.
    """
    from ..partition import METHODS, apply_protocol, balance_of

    manifest = found.manifest
    if manifest is None:
        found.unseen.append("the recomputation: the rows could not be read")
        return
    solver, stated = manifest.document["solver"], manifest.document["protocol"]
    if solver["mode"] != "fresh":
        found.unseen.append(f"the recomputation: the rows are {solver['mode']}, and depend on earlier versions")
        return
    if manifest.keyed and key is None:
        found.unseen.append("the recomputation: the rows are tokens, and --key-file names no file")
        return
    try:
        rules = ruled(manifest, protocol)
        folds = len(manifest.splits) if rules.split and manifest.splits != rules.split.names else None
        method = solver["name"] if solver["name"] in METHODS else None
        partition = apply_protocol(
            items,
            rules,
            seed=solver["seed"],
            method=method,
            folds=folds,
            accept_terms=manifest.document["dataset"].get("accepted_terms"),
            progress=progress,
        )
        balance = balance_of(partition)
        again = build_manifest(partition, balance, quoted=bool(manifest.document["assignments"].get("quoted")))
    except ProtoctlError as error:
        found.add(4, "recomputation", error.message)
        return
    if manifest.keyed and key is not None:
        again = keyed_manifest(again, key, subjects=manifest.document["assignments"]["identity"]["subjects"])
    _compare(found, manifest, again, stated["name"])


def _compare(found: Verification, manifest: Manifest, again: Manifest, protocol: str) -> None:
    document, new = manifest.document, again.document
    same_items = document["dataset"]["items_digest"] == new["dataset"]["items_digest"]
    if not same_items:
        found.add(4, "manifest.json $.dataset.items_digest", "is not that of the items at hand: they are others")
    if manifest.digest != again.digest:
        solver, here = document["solver"], new["solver"]
        why = "from the same items" if same_items else "from other items"
        if (solver["name"], solver["version"]) != (here["name"], here["version"]):
            why += f", by solver {here['name']} {here['version']} and not {solver['name']} {solver['version']}"
        found.add(4, "assignments.csv", f"{protocol} gives other rows {why}")
    found.unseen = [text for text in found.unseen if text != UNCOUNTED]
    if "suppress_below" not in document["balance"]:
        stated, counted = (each["balance"]["categories"] for each in (document, new))
        for number, row in enumerate(stated):
            other = counted[number] if number < len(counted) else {}
            if any(row[key] != other.get(key) for key in ("attribute", "value", "role", "items", "units")):
                found.add(
                    4,
                    f"manifest.json $.balance.categories[{number}]",
                    f"says {row['items']}, and the items give {other.get('items')}",
                )
    found.checked.append("the rows and counts against a partition computed anew")
