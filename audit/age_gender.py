"""Age and gender of a video, from what a model says of its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..scales import AgeGroups, age_groups
from .frames import median_by_video, most_frequent

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["age_of_videos", "gender_of_videos"]


def age_of_videos(
    videos: NDArray[np.int64], years: NDArray[np.float64], groups: AgeGroups | None = None
) -> NDArray[np.int64]:
    """Return the age group of each video: that of the median over its frames.

    Parameters
    ----------
    videos : ndarray of int, shape (n_frames,)
        Position of the video.
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
    names = list(wanted.categories)
    found = [
        None if np.isnan(value) else wanted.of(int(np.floor(value)))
        for value in median_by_video(videos, years).tolist()
    ]
    return np.array([-1 if name is None else names.index(name) for name in found], np.int64)


def gender_of_videos(
    videos: NDArray[np.int64], codes: NDArray[np.int64], categories: int
) -> tuple[NDArray[np.int64], int]:
    """Return the most frequent gender of each video's frames, -1 where there is none or a tie, and the ties.

    Examples
    --------
    >>> codes, ties = gender_of_videos(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    >>> codes.tolist(), ties
    ([-1, 1], 1)
    """
    code, tie = most_frequent(videos, codes, categories)
    return code, int(tie.sum())
