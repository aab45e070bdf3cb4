"""Identities: names as they are, or tokens that only holders of a licensed file can resolve.

The key of a lineage is derived from the bytes of a file that every holder of the release has and nobody else. It is
never derived from a digest: manifests publish the digests of their sources. No salt is offered that the manifest
itself would hold, since names such as ``SN001`` are then guessed at once.
"""

from __future__ import annotations

import hmac
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError, listing
from ..tabular import map_values, pc
from .build import assignments_entry, environment, expand_rows, shown_rows
from .digest import canonical_rows
from .model import Manifest

__all__ = ["Key", "fingerprints", "keyed_manifest", "open_key", "release_key", "resolved_manifest", "tokens"]

_DOMAIN = b"protoctl/v1/key-from-release"
_LEAST_BYTES = 1024
_LEAST_COMPRESSED = 256
_SAMPLE = 1 << 20


class Key:
    """The key of a lineage: turns names into tokens. It is never written anywhere, and never shown.

    Parameters
    ----------
    secret : bytes
        32 bytes.
    lineage : str
        The name that all versions of a manifest share.
    source : str
        Name of the file that it was derived from.
    bits : {96, 128}
        Length of a token.
    """

    def __init__(self, secret: bytes, lineage: str, source: str, bits: int = 128) -> None:
        self._secret = secret
        self.lineage = lineage
        self.source = source
        self.bits = bits

    def __repr__(self) -> str:
        return f"Key(lineage={self.lineage!r}, source={self.source!r}, bits={self.bits})"

    @property
    def check(self) -> str:
        """What tells a holder early that the file is the right one; it gives nothing away of the key."""
        return f"sha256:{hmac.digest(self._secret, b'check', 'sha256').hex()}"

    def token(self, kind: str, name: str) -> str:
        """Return the token of an item or a subject, in hexadecimal.

        Parameters
        ----------
        kind : {"item", "subject"}
            Tokens of the two kinds cannot be compared.
        name : str
            The name in canonical form.
        """
        return hmac.digest(self._secret, f"{kind}\0{name}".encode(), "sha256")[: self.bits // 8].hex()

    def sealed(self, digest: str) -> str:
        """Return a digest that only a holder can recompute, so that it confirms no guess."""
        return f"sha256:{hmac.digest(self._secret, f'digest{chr(0)}{digest}'.encode(), 'sha256').hex()}"


def release_key(file: Path, lineage: str, *, bits: int = 128) -> Key:
    """Derive the key of a lineage from a file of the release.

    Parameters
    ----------
    file : pathlib.Path
        A file that every holder has and nobody can guess: the list of labels, not the text of the licence.
    lineage : str
        The manifest's name. Another lineage has another key, so two manifests of a dataset cannot be joined.
    bits : {96, 128}
        Length of a token.

    Raises
    ------
    InputError
        If there is no such file, or it holds too little that could not be guessed.
    """
    if not file.is_file():
        raise InputError(f"{file}: there is no such file", hint="name a file of the release, such as its label list")
    data = file.read_bytes()
    if len(data) < _LEAST_BYTES or len(zlib.compress(data[:_SAMPLE])) < _LEAST_COMPRESSED:
        raise InputError(
            f"{file.name} holds {len(data):,} bytes that could be guessed, too little to derive a key from",
            hint="name the release's label file, which nobody without the licence has",
        )
    root = hmac.digest(_DOMAIN, data, "sha256")
    return Key(hmac.digest(root, f"lineage\0{lineage}".encode(), "sha256"), lineage, file.name, bits)


def open_key(manifest: Manifest, file: Path) -> Key:
    """Derive the key of a keyed manifest, and see that the file is the one it was made with.

    Raises
    ------
    InputError
        If the manifest is not keyed, or the file is another one.
    """
    identity = manifest.document["assignments"]["identity"]
    if identity["mode"] != "keyed":
        raise InputError(f"{manifest.title} holds names, not tokens", hint="there is nothing to resolve")
    key = release_key(file, identity["lineage"], bits=identity["bits"])
    if not hmac.compare_digest(key.check, identity["key_check"]):
        release = manifest.document["dataset"].get("release", "")
        raise InputError(
            f"{file.name} is not the file that the tokens of {manifest.title} were made with",
            hint=f"that one is called {identity['key_from']}" + (f" in the release {release}" if release else ""),
        )
    return key


def tokens(column: Any, kind: str, key: Key) -> Any:
    """Return the tokens of a column; several people joined by ``|`` each get one, sorted; null stays null."""
    if kind == "item":
        return map_values(column, lambda name: key.token("item", name))
    return map_values(
        column, lambda names: "|".join(sorted(key.token("subject", name) for name in names.split("|"))) or None
    )


def keyed_manifest(manifest: Manifest, key: Key, *, subjects: str = "listed") -> Manifest:
    """Return the manifest with tokens for names.

    Parameters
    ----------
    manifest : Manifest
        With names.
    key : Key
        Of the manifest's lineage.
    subjects : {"listed", "omitted"}
        Whether the subjects' tokens are listed. How many items each subject has can give a person away in video
        data: then leave them out.

    Returns
    -------
    manifest : Manifest
        Warnings and notes of the reading, which may hold names, are left out; digests of items are sealed.
    """
    if manifest.keyed:
        raise InputError(f"{manifest.title} is keyed already", hint="take the manifest with names")
    if manifest.level == "subject" and subjects == "omitted":
        raise InputError("a manifest of subjects cannot leave its subjects out", hint="list them")
    columns: dict[str, Any] = {}
    for name in manifest.assignments.column_names:
        column = manifest.assignments[name]
        if name == "subject" and subjects == "omitted":
            column = pa.nulls(len(column), pa.string())
        elif name != "split":
            column = tokens(column, name, key)
        columns[name] = column
    rows = canonical_rows(pa.table(columns))
    identity: dict[str, Any] = {
        "mode": "keyed",
        "bits": key.bits,
        "lineage": key.lineage,
        "key_from": key.source,
        "key_check": key.check,
        "subjects": subjects,
    }
    document = dict(manifest.document)
    document["dataset"] = {**document["dataset"], "items_digest": key.sealed(document["dataset"]["items_digest"])}
    document["assignments"] = assignments_entry(rows, identity)
    reading = {name: value for name, value in document.get("reading", {}).items() if name in ("rows_read", "left_out")}
    document |= {"reading": reading, "environment": environment()}
    document["derived_from"] = [_sealed_parent(parent, key) for parent in document.get("derived_from", [])]
    return Manifest(document, shown_rows(rows))


def _sealed_parent(parent: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """Seal the digest of an earlier version's names, from which a single name that left could be guessed."""
    return {**parent, "assignments_digest": key.sealed(parent["assignments_digest"])}


def resolved_manifest(manifest: Manifest, key: Key, items: Iterable[str], subjects: Iterable[str] = ()) -> pa.Table:
    """Return the rows of a keyed manifest with names.

    Parameters
    ----------
    manifest : Manifest
        With tokens.
    key : Key
        From `open_key`.
    items, subjects : iterable of str
        The names that the holder has; they may be more than the manifest lists.

    Returns
    -------
    assignments : pyarrow.Table
        As `Manifest.assignments`.

    Raises
    ------
    InputError
        If a token belongs to none of the names.
    """
    names = {"item": dict[str, str](), "subject": dict[str, str]()}
    names["item"] = {key.token("item", name): name for name in items}
    names["subject"] = {key.token("subject", name): name for name in _people(subjects)}
    columns: dict[str, Any] = {}
    for column in manifest.assignments.column_names:
        if column == "split":
            columns[column] = manifest.assignments[column]
            continue
        known = names[column]
        values: Any = manifest.assignments[column]
        if column == "item":
            columns[column] = map_values(values, known.get)
        else:
            columns[column] = map_values(values, lambda text, known=known: _resolved_people(text, known))
        lost = pc.and_(pc.is_valid(values), pc.is_null(columns[column]))
        if pc.any(lost).as_py():
            some = values.filter(lost).slice(0, 3).to_pylist()
            raise InputError(
                f"{int(pc.sum(lost).as_py()):,} {column}s of {manifest.title} are none of the names at hand "
                f"(tokens {listing(some)})",
                hint="name the whole release with --root, the one that the manifest was made from",
            )
    return shown_rows(canonical_rows(pa.table(columns)))


def _people(subjects: Iterable[str]) -> set[str]:
    return {person for several in subjects for person in several.split("|")}


def _resolved_people(text: str, known: Mapping[str, str]) -> str | None:
    people = [known.get(token) for token in text.split("|")]
    return None if None in people else "|".join(sorted(filter(None, people)))


def fingerprints(assignments: pa.Table) -> tuple[int, int]:
    """Return how many subjects have a number of items that nobody else has, and how many subjects there are.

    A number of frames that is unique tells who a token is, to anybody who counts the frames.
    """
    if "item" not in assignments.column_names:
        return 0, expand_rows(assignments).num_rows
    counts = pc.value_counts(assignments["subject"].drop_null()).field("counts")
    again = pc.value_counts(counts)
    return int(pc.sum(pc.equal(again.field("counts"), 1)).as_py() or 0), len(counts)
