"""A face detector that needs no service: the cascade of local binary patterns that scikit-image brings.

It stands in for a service in tests and in the README; it finds upright frontal faces and is no measure of anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..tabular import TextTable, read_table
from .face_counts import face_table

__all__ = ["SERVICE", "count_faces", "faces_in"]

SERVICE = "lbp-cascade"
"""What the detector is called in tables."""

_LEAST, _GROWTH = 24, 1.2


def faces_in(file: Path, *, least: int = 60) -> int:
    """Count the faces that the cascade finds in an image.

    Parameters
    ----------
    file : pathlib.Path
        The image.
    least : int
        Pixels of the smallest face, 24 or more.

    Returns
    -------
    faces : int

    Raises
    ------
    InputError
        If scikit-image is not installed.
    """
    from PIL import Image, ImageOps

    with Image.open(file) as image:
        upright: Any = ImageOps.exif_transpose(image)
        picture = np.asarray(upright.convert("RGB"))
    size = max(least, _LEAST)
    found = _cascade().detect_multi_scale(
        img=picture, scale_factor=_GROWTH, step_ratio=1, min_size=(size, size), max_size=picture.shape[:2]
    )
    return len(found)


def _cascade() -> Any:
    try:
        from skimage.data import lbp_frontal_face_cascade_filename  # pyright: ignore[reportMissingImports]
        from skimage.feature import Cascade  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            "the local detector needs scikit-image, which is not installed",
            hint='python -m pip install "protoctl[render]"',
        ) from None
    return Cascade(lbp_frontal_face_cascade_filename())


def count_faces(rendered: Path, *, least: int = 60) -> TextTable:
    """Count the faces in every file that was rendered.

    Parameters
    ----------
    rendered : pathlib.Path
        The folder that was rendered to, with its ``rendered.csv``.
    least : int
        Pixels of the smallest face.

    Returns
    -------
    counts : TextTable
        As `face_counts.read_face_counts` gives it; the service is `SERVICE`.
    """
    table = read_table(rendered / "rendered.csv")
    table.require(["path", "item", "corruption", "severity"])
    columns = [table.table[name].to_pylist() for name in ("path", "item", "corruption", "severity")]
    rows = [
        (item, corruption or "clean", severity, SERVICE, faces_in(rendered / path, least=least))
        for path, item, corruption, severity in zip(*columns, strict=True)
    ]
    return face_table(rows, rendered)
