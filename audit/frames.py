"""From frames to videos: which count, when a video is fake, its age and its gender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..digests import keyed_order
from ..errors import InputError
from .deepfake import ALPHA, log_wp

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Thresholds", "fake_shares", "median_by_video", "most_frequent", "tune_thresholds"]

GRID = tuple(round(step / 10, 1) for step in range(1, 10))


@dataclass(frozen=True)
class Thresholds:
    """When a frame is fake, and when a video is.

    Parameters
    ----------
    frame : float
        A frame is fake where its probability is above it.
    video : float
        A video is fake where the share of its fake frames is at least it.
    log_precision : float
        The mean log weighted precision over the held-out folds.
    reached : bool
        Whether the wanted recall was reached in every fold.
    """

    frame: float
    video: float
    log_precision: float
    reached: bool


def fake_shares(
    videos: NDArray[np.int64], probabilities: NDArray[np.float64], counted: NDArray[np.bool_], threshold: float
) -> NDArray[np.float64]:
    """Return the share of each video's counted frames above a threshold.

    Parameters
    ----------
    videos : ndarray of int, shape (n_frames,)
        Position of the video, from 0 on.
    probabilities : ndarray of float, shape (n_frames,)
        Probability of a fake.
    counted : ndarray of bool, shape (n_frames,)
        Whether a face was found.
    threshold : float
        A frame is fake above it.

    Returns
    -------
    shares : ndarray of shape (n_videos,)
        NaN where no frame of the video counts.

    Examples
    --------
    >>> probabilities = np.array([0.9, 0.2, 0.9, 0.9])
    >>> fake_shares(np.array([0, 0, 0, 1]), probabilities, np.array([True, True, False, False]), 0.5).tolist()
    [0.5, nan]
    """
    total = int(videos.max(initial=-1)) + 1
    frames = np.bincount(videos[counted], minlength=total)
    above = np.bincount(videos[counted & (probabilities > threshold)], minlength=total)
    return np.where(frames > 0, above / np.maximum(frames, 1), np.nan)


def tune_thresholds(
    videos: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    counted: NDArray[np.bool_],
    fake: NDArray[np.bool_],
    subjects: Sequence[str],
    *,
    seed: int,
    recall: float = 0.5,
    folds: int = 5,
    alpha: float = ALPHA,
) -> Thresholds:
    """Choose both thresholds together on the train split, by cross-validation over subjects.

    Parameters
    ----------
    videos, probabilities, counted : ndarray, shape (n_frames,)
        As for `fake_shares`; of the train split and never of test.
    fake : ndarray of bool, shape (n_videos,)
        The truth.
    subjects : sequence of str, shape (n_videos,)
        Whose each video is; a subject lies in one fold whole.
    seed : int
        Of the folds.
    recall : float
        The wanted recall.

    Returns
    -------
    thresholds : Thresholds
        The pair with the highest mean log weighted precision over folds among those that reach the recall in all
        of them; if none does, the pair with the highest recall. Of equal pairs the lowest.

    Raises
    ------
    InputError
        If there are fewer subjects than folds, or no fake.
    """
    names = sorted(set(subjects))
    if len(names) < folds or not bool(fake.any()):
        raise InputError(
            f"{len(names)} subjects with {int(fake.sum())} fakes are too few to tune thresholds in {folds} folds",
            hint="give predictions of the whole train split, or set the thresholds yourself",
        )
    place = {names[row]: rank % folds for rank, row in enumerate(keyed_order(names, seed, "audit/folds").tolist())}
    fold = np.array([place[subject] for subject in subjects])
    best = ((False, -1.0, -np.inf), Thresholds(GRID[0], GRID[0], -np.inf, False))
    for frame in GRID:
        shares = fake_shares(videos, probabilities, counted, frame)
        for video in GRID:
            predicted = np.nan_to_num(shares, nan=-1.0) >= video
            reached, precision, least = _over_folds(fake, predicted, fold, recall, alpha)
            key = (reached, precision if reached else least, precision)
            if key > best[0]:
                best = (key, Thresholds(frame, video, precision, reached))
    return best[1]


def _over_folds(
    fake: NDArray[np.bool_], predicted: NDArray[np.bool_], fold: NDArray[np.int64], recall: float, alpha: float
) -> tuple[bool, float, float]:
    """Return whether each fold reaches the recall, the mean log precision, and the least recall."""
    recalls: list[float] = []
    precisions: list[float] = []
    for part in range(int(fold.max()) + 1):
        here = fold == part
        fakes = int((fake & here).sum())
        if fakes == 0:
            continue
        hits = int((fake & predicted & here).sum())
        recalls.append(hits / fakes)
        precisions.append(float(log_wp(hits, int((~fake & predicted & here).sum()), alpha)))
    return min(recalls) >= recall, float(np.mean(precisions)), min(recalls)


def median_by_video(videos: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each video's values; NaN where it has none.

    Examples
    --------
    >>> median_by_video(np.array([0, 0, 0, 1]), np.array([20.0, 50.0, 30.0, np.nan])).tolist()
    [30.0, nan]
    """
    total = int(videos.max(initial=-1)) + 1
    out = np.full(total, np.nan)
    known = ~np.isnan(values)
    order = np.lexsort((values[known], videos[known]))
    sorted_videos, sorted_values = videos[known][order], values[known][order]
    counts = np.bincount(sorted_videos, minlength=total)
    starts = np.cumsum(counts) - counts
    has = counts > 0
    low, high = (starts + (counts - 1) // 2)[has], (starts + counts // 2)[has]
    out[has] = (sorted_values[low] + sorted_values[high]) / 2
    return out


def most_frequent(
    videos: NDArray[np.int64], codes: NDArray[np.int64], categories: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the most frequent category of each video's frames, and where there is a tie.

    Parameters
    ----------
    videos : ndarray of int, shape (n_frames,)
        Position of the video.
    codes : ndarray of int, shape (n_frames,)
        Category, -1 where the frame has none.
    categories : int
        How many there are.

    Returns
    -------
    code : ndarray of int, shape (n_videos,)
        -1 where no frame has one, or where two are equally frequent.
    tie : ndarray of bool, shape (n_videos,)

    Examples
    --------
    >>> code, tie = most_frequent(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 0, 0, 1]), 2)
    >>> code.tolist(), tie.tolist()
    ([1, -1], [False, True])
    """
    total = int(videos.max(initial=-1)) + 1
    known = codes >= 0
    flat = np.bincount(videos[known] * categories + codes[known], minlength=total * categories)
    counts = flat.reshape(total, categories)
    most = counts.max(axis=1, initial=0)
    tie = (most > 0) & ((counts == most[:, None]).sum(axis=1) > 1)
    return np.where((most == 0) | tie, -1, counts.argmax(axis=1)), tie
