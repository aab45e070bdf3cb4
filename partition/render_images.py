"""Corruptions of images, by the library imagecorruptions-imaug (the extra ``render``).

It is the kept successor of imagecorruptions (Michaelis et al. 2019), which carried the corruptions of ImageNet-C
(Hendrycks and Dietterich, ICLR 2019) to images of any size. Against ImageNet-C's published code these differ:
motion-blur and snow have the library's own motion blur in place of ImageMagick's; zoom-blur crops each side by itself;
fog takes a map as large as the image and frost a picture scaled to it, one of six and not of five; elastic-transform
moves pixels by other amounts and has no affine part. All are made at the image's own size and not of a crop of 224
pixels, and are written without loss (PNG) and not as JPEG of quality 85.
"""

from __future__ import annotations

import contextlib
import io
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .rendering import Made, copied, fault_of, written
from .variants import ItemPlan, Variant

__all__ = ["image_versions", "render_image"]

_LIBRARY = "imagecorruptions-imaug"
_LIBRARIES = (_LIBRARY, "numpy", "scipy", "scikit-image", "opencv-python", "pillow")
_SMALLEST = 32
# The library leaves these two unseeded unless a seed is passed; the others take NumPy's global stream.
_SEEDED = ("glass-blur", "impulse-noise")


def image_versions() -> dict[str, str]:
    """Return the versions of the libraries that the pictures depend on.

    Raises
    ------
    InputError
        If the extra is not installed.
    """
    try:
        metadata.version(_LIBRARY)
    except metadata.PackageNotFoundError:
        raise InputError(
            f"rendering images needs {_LIBRARY}, which is not installed",
            hint='python -m pip install "protoctl[render]"',
        ) from None
    found: dict[str, str] = {}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def render_image(plan: ItemPlan, source: Path, to: Path) -> list[Made]:
    """Make the variants of one image.

    Parameters
    ----------
    plan : ItemPlan
        The variants that are wanted.
    source : pathlib.Path
        The image.
    to : pathlib.Path
        Folder to write to.

    Returns
    -------
    made : list of Made
        One a variant; a fault of one does not stop the others.
    """
    picture = read_picture(source)
    made: list[Made] = []
    for variant in plan.variants:
        try:
            if variant.corruption:
                made.append(written(variant, _png(corrupted(picture, variant)), to))
            else:
                made.append(copied(variant, source, to))
        except Exception as error:
            # A full disk, or a fault of the library with this picture: the item's other variants may still do.
            made.append(Made(variant, fault=fault_of(error)))
    return made


def read_picture(source: Path) -> Any:
    """Read an image upright, in three colours of eight bits.

    Returns
    -------
    picture : ndarray of uint8, shape (height, width, 3)

    Raises
    ------
    InputError
        If the file is no whole image.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(source) as image:
            if image.mode.startswith(("I", "F")):
                raise InputError(f"is an image of mode {image.mode}, and eight bits a colour are wanted")
            # Services turn a picture as its EXIF says, and a corrupted copy carries no EXIF.
            upright: Any = ImageOps.exif_transpose(image)
            return np.asarray(upright.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"is no image that can be read whole ({error})") from None


def corrupted(picture: Any, variant: Variant) -> Any:
    """Corrupt a picture; the same variant gives the same pixels.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
        At least 32 pixels a side.
    variant : Variant
        Corruption, severity, seed.

    Returns
    -------
    picture : ndarray of uint8, shape (height, width, 3)
    """
    if min(picture.shape[:2]) < _SMALLEST:
        raise InputError(f"is {picture.shape[1]} x {picture.shape[0]} pixels, and {_SMALLEST} a side are needed")
    library = _library()
    more = {"seed": variant.seed} if variant.corruption in _SEEDED else {}
    # The library draws from NumPy's global stream, which is given back as it was.
    state: Any = np.random.get_state()
    try:
        np.random.seed(variant.seed)
        # The library prints where a blur does not fit; what a run prints belongs to the command.
        with contextlib.redirect_stdout(io.StringIO()):
            return library.corrupt(
                picture, severity=variant.severity, corruption_name=variant.corruption.replace("-", "_"), **more
            )
    finally:
        np.random.set_state(state)


def _library() -> Any:
    import multiprocessing

    import imagecorruptions  # pyright: ignore[reportMissingImports]

    if multiprocessing.parent_process() is not None:
        # One of several processes: OpenCV's own threads would only fight over the processors.
        import cv2  # pyright: ignore[reportMissingImports]

        cv2.setNumThreads(1)
    return imagecorruptions


def _png(picture: Any) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    return stream.getvalue()
