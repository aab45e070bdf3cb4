"""Text of a zero-dimensional ``.npy`` file.

AffectNet's release of 2021 has hundreds of thousands of files that hold one value each. Parsing their headers anew
takes longer than all the rest, so a header is parsed once and known again by its bytes; whatever is not a plain
text or number goes to numpy.
"""

from __future__ import annotations

import ast
import io
import re
from functools import lru_cache

import numpy as np

__all__ = ["scalar_text"]

_MAGIC = b"\x93NUMPY\x01\x00"
_PREFIX = len(_MAGIC) + 2
_SHAPES = ((), (1,))
_PLAIN = re.compile(r"[<>|=](?:U\d+|S\d+|[fiu][1248]|b1)")


def scalar_text(data: bytes) -> str:
    """Return the one value of an ``.npy`` file as text, without outer blanks.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    text : str
        A text as it stands; a number in the shortest form that gives it back.

    Raises
    ------
    ValueError
        If it is no such file, holds other than one value, or holds a Python object.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.save(stream, np.array("-0.6031"))
    >>> scalar_text(stream.getvalue())
    '-0.6031'
    """
    dtype, start = _header(data)
    if dtype is None or len(data) != start + dtype.itemsize:
        return _by_numpy(data)
    if dtype.kind == "U" and dtype.byteorder != ">":
        return data[start:].decode("utf-32-le").rstrip("\0").strip()
    return _text(np.frombuffer(data, dtype, 1, start)[0])


def _header(data: bytes) -> tuple[np.dtype[np.generic] | None, int]:
    """Return the type of a file's value and where it begins; None where numpy should look."""
    if not data.startswith(_MAGIC):
        return None, 0
    start = _PREFIX + int.from_bytes(data[len(_MAGIC) : _PREFIX], "little")
    return _parsed(data[_PREFIX:start]), start


@lru_cache(maxsize=256)
def _parsed(header: bytes) -> np.dtype[np.generic] | None:
    try:
        found = ast.literal_eval(header.decode("latin-1").strip())
        plain = found["shape"] in _SHAPES and _PLAIN.fullmatch(found["descr"])
        return np.dtype(found["descr"]) if plain else None
    except (KeyError, SyntaxError, TypeError, ValueError):
        return None


def _by_numpy(data: bytes) -> str:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (EOFError, OSError, SyntaxError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(array, np.ndarray) or array.size != 1:
        raise ValueError("holds other than one value")
    return _text(array.reshape(-1)[0])


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1").strip()
    return str(value).strip()
