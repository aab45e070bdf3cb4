"""The age group of a video, from the ages that a model gives its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..scales import AgeGroups, age_groups
from .frames import median_by_video

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["age_of_videos"]


def age_of_videos(
    videos: NDArray[np.int64], years: NDArray[np.float64], groups: AgeGroups | None = None
) -> NDArray[np.int64]:
    """Return the age group of each video: that of the median over its frames.

    Parameters
    ----------
    videos : ndarray of int, shape (n_frames,)
        Position of the video, from 0 on.
    years : ndarray of float, shape (n_frames,)
        The age that a model estimates; NaN where it found no face.
    groups : AgeGroups, optional
        By default 18-30, 31-45, 46-85.

    Returns
    -------
    codes : ndarray of int, shape (n_videos,)
        Position of the group; -1 where no frame has an age, or no group holds it (whole years, rounded down).

    References
    ----------
    Hazirbas et al. (2021), doi:10.1109/TBIOM.2021.3132237.

    Examples
    --------
    >>> age_of_videos(np.array([0, 0, 0, 1]), np.array([29.0, 33.0, 60.0, 90.0])).tolist()
    [1, -1]
    """
    wanted = groups or age_groups("casual-conversations")
    place = {name: at for at, name in enumerate(wanted.categories)}
    medians = median_by_video(videos, years).tolist()
    found = [None if np.isnan(value) else wanted.of(int(np.floor(value))) for value in medians]
    return np.array([-1 if name is None else place[name] for name in found], np.int64)
