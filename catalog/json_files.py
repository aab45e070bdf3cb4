"""JSON files of releases, read so that nothing in them is lost unseen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, listing
from ..tabular import read_text

__all__ = ["entries", "read_json", "text_of"]


def read_json(path: Path, *, decimals: bool = False) -> Any:
    """Read a JSON file, and refuse an object in which a key stands twice: the first would be lost unseen.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    decimals : bool
        Whether numbers come back as they are written, as text.

    Raises
    ------
    InputError
        If the file is not JSON, or holds a key twice in one object.
    """
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            twice.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return found

    numbers: dict[str, Any] = {"parse_float": str, "parse_int": str} if decimals else {}
    try:
        document = json.loads(read_text(path), object_pairs_hook=unique, **numbers)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}: is not JSON ({error.msg})", hint="check that the file was copied whole"
        ) from None
    if twice:
        raise InputError(f"{path}: keys stand twice in one object: {listing(twice)}", hint="keep one of each")
    return document


def entries(path: Path, *, keyed_by: str, hint: str | None = None) -> dict[str, Any]:
    """Read a JSON file that is an object.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    keyed_by : str
        What its keys are, for the message.
    hint : str, optional
        What to do where it is no object.

    Raises
    ------
    InputError
        If it is no object.
    """
    document = read_json(path)
    if not isinstance(document, Mapping):
        raise InputError(
            f"{path} holds a {type(document).__name__}, and an object keyed by {keyed_by} is wanted", hint=hint
        )
    return dict(cast("Mapping[str, Any]", document))


def text_of(value: object) -> str:
    """Return a value of a JSON file as text: numbers are met where text is documented, null is empty.

    Examples
    --------
    >>> text_of(34), text_of(" N/A "), text_of(None), text_of(True)
    ('34', 'N/A', '', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip()
