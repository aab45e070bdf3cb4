"""The items' own files: the same file, or nearly the same image, in two splits."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..digests import digest_file
from ..errors import InputError
from ..tabular import pc
from .dhash import Hash, hash_image, near_pairs
from .model import Finding, finding_of

if TYPE_CHECKING:
    from .model import Thresholds

__all__ = ["FileFacts", "leaks_in_files", "read_files"]

Progress = Callable[[int, int | None, str], None]

_IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm")
_BATCH = 256
_VERSION = "protoctl-files/1"
_COLUMNS = ("path", "bytes", "changed", "digest", "coarse", "mirrored", "fine", "fine_mirrored", "plain")
_KINDS = (pa.string(), pa.int64(), pa.int64(), pa.string(), *[pa.binary()] * 4, pa.bool_())


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file's content.

    Parameters
    ----------
    bytes : int
        Its size.
    changed : int
        When it was last written, in nanoseconds, by the file system.
    digest : str
        Of its bytes.
    hash : Hash or None
        None where it is no image that can be decoded.
    """

    bytes: int
    changed: int
    digest: str
    hash: Hash | None


def _facts(path: Path) -> FileFacts:
    stat = path.stat()
    hashed = hash_image(path) if path.suffix.lower() in _IMAGES else None
    return FileFacts(stat.st_size, stat.st_mtime_ns, digest_file(path), hashed)


def read_files(
    root: Path, names: Sequence[str], *, cache: Path | None = None, progress: Progress | None = None
) -> dict[str, FileFacts]:
    """Read the digest and hash of files, those that have not changed since the last time from a cache.

    Parameters
    ----------
    root : pathlib.Path
        Folder that the names start from.
    names : sequence of str
        POSIX paths; those that are absent or lead out of the folder are left out of the result.
    cache : pathlib.Path, optional
        A Parquet file to take from and to write to. A file counts as unchanged where size and time of change are
        what they were.
    progress : callable, optional
        Called with files done, files in all, and what is being done.

    Returns
    -------
    facts : dict of str to FileFacts

    Raises
    ------
    InputError
        If `root` is no folder, or holds none of the files.
    """
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder", hint="name the folder that the items' names start from")
    inside = os.path.realpath(root) + os.sep
    known = _cached(cache) if cache is not None else {}
    held: dict[str, FileFacts] = {}
    todo: list[str] = []
    for name in names:
        path = root / name
        if not path.is_file() or not os.path.realpath(path).startswith(inside):
            continue
        stat, facts = path.stat(), known.get(name)
        if facts is not None and (facts.bytes, facts.changed) == (stat.st_size, stat.st_mtime_ns):
            held[name] = facts
        else:
            todo.append(name)
    if not held and not todo:
        example = f", such as {names[0]}" if names else ""
        raise InputError(f"{root} holds none of the {len(names):,} items{example}", hint="check --root")
    held.update(_read(root, todo, progress))
    if cache is not None and todo:
        _store(cache, known | held)
    return held


def _read(root: Path, names: Sequence[str], progress: Progress | None) -> Iterator[tuple[str, FileFacts]]:
    """Read files in batches, several at a time: decoding and digests leave the interpreter free."""
    with warnings.catch_warnings(), ThreadPoolExecutor() as pool:
        # A broken image is counted; what else Pillow has to say of it is of no use here, but a bomb is not decoded.
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*decompression bomb.*")
        for low in range(0, len(names), _BATCH):
            batch = names[low : low + _BATCH]
            yield from zip(batch, pool.map(lambda name: _facts(root / name), batch), strict=True)
            if progress is not None:
                progress(min(low + _BATCH, len(names)), len(names), "reading files")


def _cached(cache: Path) -> dict[str, FileFacts]:
    """Read the cache; what is no cache of this version counts as empty."""
    import pyarrow.parquet as pq

    try:
        table: Any = pq.read_table(cache)
    except (OSError, pa.ArrowException):
        return {}
    if (table.schema.metadata or {}).get(b"version") != _VERSION.encode() or tuple(table.column_names) != _COLUMNS:
        return {}
    found: dict[str, FileFacts] = {}
    for path, size, changed, digest, *rest in zip(*(table[name].to_pylist() for name in _COLUMNS), strict=True):
        found[path] = FileFacts(size, changed, digest, None if rest[0] is None else Hash(*rest))
    return found


def _store(cache: Path, held: Mapping[str, FileFacts]) -> None:
    """Write the cache beside, and move it into place; a cache that cannot be written is none."""
    import pyarrow.parquet as pq

    rows = [
        (name, one.bytes, one.changed, one.digest, *(vars(one.hash).values() if one.hash else (None,) * 5))
        for name, one in sorted(held.items())
    ]
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), _KINDS, strict=True)]
    table: Any = pa.table(dict(zip(_COLUMNS, columns, strict=True)))
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache.parent, delete=False) as stream:
            pq.write_table(table.replace_schema_metadata({"version": _VERSION}), stream)
        os.replace(stream.name, cache)
    except OSError:
        return


def leaks_in_files(
    root: Path,
    assignments: pa.Table,
    thresholds: Thresholds,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Look for the same file and for near-duplicate images in two splits.

    Parameters
    ----------
    root : pathlib.Path
        Folder that the items' names start from.
    assignments : pyarrow.Table
        Columns ``item`` and ``split``.
    thresholds : Thresholds
        What is allowed.
    cache, progress
        See `read_files`.

    Returns
    -------
    findings : tuple of Finding
    unseen : tuple of str
        What could not be looked at, with its number.
    """
    rows = assignments.filter(pc.is_valid(assignments["split"])).sort_by("item")
    split: dict[str, str] = dict(zip(rows["item"].to_pylist(), rows["split"].to_pylist(), strict=True))
    facts = read_files(root, list(split), cache=cache, progress=progress)
    same = _same(facts, split)
    images = {name: one.hash for name, one in facts.items() if one.hash is not None}
    findings = [
        finding_of("the same file in two splits", same, of=f" among {len(facts):,} files"),
        finding_of(
            "near-duplicate images in two splits",
            _near(images, facts, split),
            of=f" pairs among {len(images):,} images",
            allowed="near" in thresholds.allow,
        ),
    ]
    plain = sum(image.plain for image in images.values())
    lost = (
        ("files that are absent", len(split) - len(facts)),
        ("near-duplicates of files that are no image", len(facts) - len(images)),
        ("near-duplicates of images of one shade", plain),
    )
    unseen = [f"{what}: {count:,}" for what, count in lost if count]
    unseen.append("images that were turned, cropped or recoloured: the perceptual hash does not find them")
    return tuple(findings), tuple(unseen)


def _same(facts: Mapping[str, FileFacts], split: Mapping[str, str]) -> list[str]:
    """Name the files of equal digests in two splits, one a split."""
    held: dict[str, dict[str, str]] = {}
    for name in sorted(facts):
        held.setdefault(facts[name].digest, {}).setdefault(split[name], name)
    return [
        " and ".join(sorted(f"{name} ({where})" for where, name in places.items()))
        for places in held.values()
        if len(places) > 1
    ]


def _near(images: Mapping[str, Hash], facts: Mapping[str, FileFacts], split: Mapping[str, str]) -> list[str]:
    """Name the near pairs of different bytes in two splits."""
    names = sorted(images)
    codes = {name: at for at, name in enumerate(dict.fromkeys(split.values()))}
    groups = np.array([codes[split[name]] for name in names], np.int64)
    return [
        f"{names[one]} ({split[names[one]]}) and {names[other]} ({split[names[other]]})"
        + (", mirrored" if mirrored else "")
        for one, other, mirrored in near_pairs([images[name] for name in names], groups)
        if facts[names[one]].digest != facts[names[other]].digest
    ]
