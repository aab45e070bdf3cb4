"""Difference hashes of images, and pairs of images whose hashes are near.

An image is reduced to grey squares, and a bit says whether a square is brighter than its left neighbour: 8 x 8 bits
find candidates, 16 x 16 bits confirm them. Scaling, compression and a little noise change few bits; turning and
cropping change many, and are not found. A mirrored image is, since its bits are computed too.

References
----------
Krawetz (2013), "Kind of Like That", The Hacker Factor Blog, where it is dHash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["COARSE_BITS", "FINE_BITS", "Hash", "bits", "hash_image", "near_pairs"]

COARSE_BITS = 3
"""Of 64 bits, that may differ between near-duplicates; with 3, one of four words of 16 bits is equal."""

FINE_BITS = 20
"""Of 256 bits, that may differ between near-duplicates."""

_PLAIN = 8
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Hash:
    """The hashes of one image, as it is and mirrored.

    Parameters
    ----------
    coarse, mirrored : bytes
        8 bytes each.
    fine, fine_mirrored : bytes
        32 bytes each.
    plain : bool
        Whether its grey values hardly differ, so that the bits are noise.
    """

    coarse: bytes
    mirrored: bytes
    fine: bytes
    fine_mirrored: bytes
    plain: bool


def bits(grey: NDArray[np.uint8]) -> bytes:
    """Return whether each square is brighter than its left neighbour, packed.

    Parameters
    ----------
    grey : ndarray of uint8, shape (n, n + 1)
        Rows of an image.

    Examples
    --------
    >>> bits(np.array([[0, 9, 3, 3, 4, 4, 4, 4, 4]] * 8, np.uint8)).hex()
    '9090909090909090'
    """
    return np.packbits(grey[:, 1:] > grey[:, :-1]).tobytes()


def hash_image(path: Path) -> Hash | None:
    """Return the hashes of an image file; None where it holds no image that can be decoded.

    Parameters
    ----------
    path : pathlib.Path
        Of the file.

    Raises
    ------
    InputError
        If Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError(
            "near-duplicates need Pillow, which is not installed", hint="pip install 'protoctl[images]'"
        ) from error
    try:
        with Image.open(path) as image:
            # JPEG decodes at a fraction of its size, which is several times faster.
            image.draft("L", (136, 128))
            grey = image.convert("L")
            coarse = np.asarray(grey.resize((9, 8), Image.Resampling.BOX), np.uint8)
            fine = np.asarray(grey.resize((17, 16), Image.Resampling.BOX), np.uint8)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None
    plain = int(fine.max()) - int(fine.min()) < _PLAIN
    return Hash(bits(coarse), bits(coarse[:, ::-1]), bits(fine), bits(fine[:, ::-1]), plain)


def _words(data: list[bytes], width: int) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(data), np.uint64).reshape(-1, width)


def _distance(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.bitwise_count(one ^ other).sum(axis=1).astype(np.int64)


def _neighbours(keys: NDArray[np.uint16]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give all pairs of rows with an equal key, in blocks."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    open_rows = np.arange(len(keys))
    step = 1
    while len(open_rows):
        open_rows = open_rows[open_rows + step < len(keys)]
        open_rows = open_rows[ordered[open_rows] == ordered[open_rows + step]]
        for low in range(0, len(open_rows), _BLOCK):
            rows = open_rows[low : low + _BLOCK]
            yield order[rows], order[rows + step]
        step += 1


def near_pairs(hashes: list[Hash], groups: NDArray[Any]) -> list[tuple[int, int, bool]]:
    """Return the pairs of images that are near and of different groups.

    Parameters
    ----------
    hashes : list of Hash
        Of the images; plain ones have no pair.
    groups : ndarray of int, shape (n_images,)
        Pairs within a group are left out.

    Returns
    -------
    pairs : list of (int, int, bool)
        Positions, the smaller first, and whether one is near the other only when mirrored; sorted.
    """
    told = np.array([at for at, each in enumerate(hashes) if not each.plain], np.int64)
    if len(told) < 2:
        return []
    coarse = _words([hashes[at].coarse for at in told] + [hashes[at].mirrored for at in told], 1)
    fine = _words([hashes[at].fine for at in told] + [hashes[at].fine_mirrored for at in told], 4)
    image = np.concatenate([told, told])
    turned = np.arange(len(image)) >= len(told)
    found: dict[tuple[int, int], bool] = {}
    for band in range(4):
        for one, other in _neighbours(coarse.view(np.uint16)[:, band]):
            # A mirrored image against a mirrored one says what the images themselves say.
            apart = (groups[image[one]] != groups[image[other]]) & ~(turned[one] & turned[other])
            one, other = one[apart], other[apart]
            near = _distance(coarse[one], coarse[other]) <= COARSE_BITS
            one, other = one[near], other[near]
            near = _distance(fine[one], fine[other]) <= FINE_BITS
            for a, b in zip(one[near].tolist(), other[near].tolist(), strict=True):
                pair = (min(int(image[a]), int(image[b])), max(int(image[a]), int(image[b])))
                found[pair] = found.get(pair, True) and bool(turned[a] or turned[b])
    return sorted((*pair, mirrored) for pair, mirrored in found.items())
