"""Predictions of fakes as sums and ranks: log precision, log-loss, ROC, false negatives and whom they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .deepfake import (
    RECALLS,
    cross_entropy,
    false_negatives,
    log_wp,
    log_wp_at_recall,
    missed_by_all,
    roc_area,
    share_beside_base,
)
from .estimates import Ranks, Sums
from .frames import fake_shares, tune_thresholds
from .predictions import Matched, Skip, Truth, match_predictions, numbers
from .score_tasks import Part, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tabular import TextTable

__all__ = ["detection_parts"]

_Array = Any
_UNSURE = 0.5


def detection_parts(
    table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip], seed: int
) -> list[Part]:
    """Return the parts of deepfake detection, model by model, and of the fakes that every model misses."""
    values = truth.column("label")
    strange = sorted({value for value in values if value is not None} - {"real", "fake"})
    if strange:
        raise InputError(
            f"the labels hold {strange[0]!r}, and detection knows real and fake",
            hint="leave the column probability out to score another task",
        )
    fake = np.array([value == "fake" for value in values], np.bool_)
    known = np.array([value is not None for value in values], np.bool_)
    framed = "frame" in table.table.column_names
    splits = set(truth.column("split")) if "split" in truth.table.column_names else set[str | None]()
    also = ("train",) if framed and truth.split and truth.split != "train" and "train" in splits else ()
    out: list[Part] = []
    missed: dict[str, tuple[_Array, _Array]] = {}
    for matched in match_predictions(table, truth, keys=("frame",) if framed else (), skip=skip, also=also):
        said = numbers(table, matched, "probability", bounds=(0, 1), skip=skip, empty=framed)
        if framed:
            matched, said, decided, notes = _videos(matched, said, fake, truth, bool(also), seed)
        else:
            keep = ~np.isnan(said)
            matched, said = matched.kept(keep, "with an invalid prediction"), said[keep]
            decided, notes = said >= _UNSURE, (f"false negatives: fakes below the probability {_UNSURE}",)
        keep = known[matched.at]
        matched, said, decided = matched.kept(keep, "without a label"), said[keep], decided[keep]
        missed[matched.model] = (matched.at, decided)
        out += _parts(matched, fake[matched.at], said, decided, scores, notes, framed)
    if "fn_intersection" in scores and len(missed) > 1:
        out.append(_intersection(missed, fake))
    return out


def _videos(
    matched: Matched, said: _Array, fake: _Array, truth: Truth, tuned: bool, seed: int
) -> tuple[Matched, _Array, _Array, tuple[str, ...]]:
    """Bring frames together: the video's mean probability, whether it is taken for a fake, and notes."""
    where, video = np.unique(matched.at, return_inverse=True)
    video = video.reshape(-1)
    counted = ~np.isnan(said)
    held = np.bincount(video[counted], minlength=len(where))
    total = np.bincount(video[counted], said[counted], minlength=len(where))
    mean = np.where(held > 0, total / np.maximum(held, 1), _UNSURE)
    frame = share = _UNSURE
    notes = ("no predictions of the split train: both thresholds are 0.5",)
    inside = truth.in_split("train")[where] if tuned else np.zeros(len(where), np.bool_)
    if bool(inside.any()):
        units = truth.column("subject" if truth.has("subject") else "item")
        names = truth.column("item")
        subjects = [str(units[at] or names[at]) for at in where[inside].tolist()]
        rows = inside[video]
        place = np.cumsum(inside) - 1
        best = tune_thresholds(
            place[video[rows]], np.nan_to_num(said[rows]), counted[rows], fake[where[inside]], subjects, seed=seed
        )
        frame, share = best.frame, best.video
        notes = (f"thresholds tuned on {int(inside.sum()):,} videos of train: frame {frame:g}, video {share:g}",)
        if not best.reached:
            notes += ("no pair of thresholds reached the recall 0.5 in every fold",)
    shares = np.nan_to_num(fake_shares(video, np.nan_to_num(said), counted, frame), nan=-1.0)
    blind = int((held == 0).sum())
    if blind:
        notes += (f"{blind:,} videos without a counted frame: probability 0.5, taken for real",)
    keep = truth.in_split(truth.split)[where]
    out = replace(matched, rows=where[keep], at=where[keep])
    return out, mean[keep], (shares >= share)[keep], notes


def _parts(
    matched: Matched,
    fake: NDArray[np.bool_],
    said: _Array,
    decided: _Array,
    scores: Sequence[str],
    notes: tuple[str, ...],
    framed: bool,
) -> list[Part]:
    losses, clipped = cross_entropy(fake, said)
    if clipped:
        notes += (f"log_loss: {clipped:,} probabilities of 0 or 1 were clipped at 1e-15",)
    ranked: dict[str, Any] = {}
    if "log_wp_at_recall" in scores:
        ranked |= {f"log_wp_at_recall {level}": _at_recall(level) for level in RECALLS}
    if "roc" in scores:
        ranked["roc_area"] = roc_area
    out: list[Part] = []
    if ranked:
        what = Ranks(fake, said, ranked)
        out.append(Part(matched.model, "deepfake", matched.at, what, matched.counts, notes))
    measures: dict[str, Any] = {}
    across: dict[str, Any] = {}
    if "log_loss" in scores:
        measures["log_loss"] = lambda sums: ratio(sums[..., [0, 1]])
    if "fn_share" in scores:
        measures["fn_rate"] = lambda sums: ratio(sums[..., [2, 3]])
        across["fn_share"] = lambda sums: share_beside_base(sums[..., 2], sums[..., 3])[..., 0]
        across["fn_share minus base"] = _excess
    if framed and "log_wp_at_recall" in scores:
        measures["log_wp"] = _at_thresholds
    stacked = np.stack(
        [losses, np.ones(len(fake)), false_negatives(fake, decided), fake, fake & decided, ~fake & decided], axis=1
    ).astype(np.float64)
    if measures:
        out.append(_of_stack(matched, stacked, measures, across, notes))
    return out


def _of_stack(
    matched: Matched, stacked: _Array, measures: dict[str, Any], across: dict[str, Any], notes: tuple[str, ...]
) -> Part:
    row, column = np.divmod(np.arange(stacked.size), stacked.shape[1])
    what = Sums(row, column, stacked.reshape(-1), (stacked.shape[1],), measures, {}, across)
    return Part(matched.model, "deepfake", matched.at, what, matched.counts, notes)


def _at_recall(level: float) -> Any:
    return lambda true, false: log_wp_at_recall(true, false, level)


def _at_thresholds(sums: _Array) -> _Array:
    return np.where(sums[..., 1] > 0, log_wp(sums[..., 4], sums[..., 5]), np.nan)


def _excess(sums: _Array) -> _Array:
    both = share_beside_base(sums[..., 2], sums[..., 3])
    return both[..., 0] - both[..., 1]


def _intersection(missed: dict[str, tuple[_Array, _Array]], fake: NDArray[np.bool_]) -> Part:
    """Return the part of the fakes that every model misses, over the items that all of them judged."""
    common = np.arange(len(fake))
    for at, _ in missed.values():
        common = np.intersect1d(common, at)
    said: dict[str, _Array] = {}
    for model, (at, decided) in missed.items():
        whole = np.zeros(len(fake), np.bool_)
        whole[at] = decided
        said[model] = whole[common]
    lost = missed_by_all(fake[common], said)
    stacked = np.stack([lost, fake[common]], axis=1).astype(np.float64)
    row, column = np.divmod(np.arange(stacked.size), 2)
    measures: dict[str, Any] = {"fn_intersection": ratio}
    across: dict[str, Any] = {
        "fn_intersection share": lambda sums: share_beside_base(sums[..., 0], sums[..., 1])[..., 0]
    }
    what = Sums(row, column, stacked.reshape(-1), (2,), measures, {}, across)
    notes = (f"{int(lost.sum()):,} of {int(fake[common].sum()):,} fakes are missed by all {len(missed)} models",)
    return Part(" & ".join(missed), "deepfake", common, what, {}, notes)
