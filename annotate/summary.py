"""What a person reads in the terminal: sheets of text that fit eighty columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import listing
from .aggregation import Aggregation, ControlResult
from .agreement import Agreement, Coefficient
from .consensus import LABEL_STATUSES

__all__ = ["Sheet", "aggregation_sheets", "agreement_sheets", "undefined_lines"]

_MOST_PAIRS = 30
_MOST_ANNOTATORS = 30


@dataclass(frozen=True)
class Sheet:
    """A table to show.

    Parameters
    ----------
    title : str
        What it shows.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells.
    text_columns : int
        Columns from the left that hold text and may fold; the others hold figures.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1


def _sheet(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Sheet:
    return Sheet(title, tuple(columns), tuple(tuple(row) for row in rows))


def _figure(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(found: Coefficient) -> str:
    return "-" if found.low is None or found.high is None else f"{found.low:.3f} to {found.high:.3f}"


def agreement_sheets(agreement: Agreement) -> list[Sheet]:
    """Return the sheets of an agreement: coefficients, categories, pairs.

    Parameters
    ----------
    agreement : Agreement
        As measured.

    Returns
    -------
    sheets : list of Sheet
    """
    title = (
        f"{agreement.control} on {agreement.scale}: {agreement.votes:,} votes ({agreement.doubtful:,} doubtful) of "
        f"{agreement.annotators or 'unknown'} annotators on {agreement.units:,} units"
    )
    rows = [(each.name, _figure(each.value), _interval(each)) for each in agreement.coefficients]
    kappas = [
        (each.category, f"{each.votes:,}", _figure(each.kappa.value), _interval(each.kappa))
        for each in agreement.categories
    ]
    sheets = [
        _sheet(title, ("coefficient", "value", "95 % interval"), rows),
        _sheet("by category", ("category", "votes", "kappa", "95 % interval"), kappas),
    ]
    shown = agreement.pairs[:_MOST_PAIRS]
    if shown:
        ways = [each.name.removeprefix("Cohen kappa").removeprefix(", ") or "kappa" for each in shown[0].kappas]
        pairs = [
            (" - ".join(each.annotators), f"{each.units:,}", *(_figure(kappa.value) for kappa in each.kappas))
            for each in shown
        ]
        more = len(agreement.pairs) - len(shown)
        beyond = f" (and {more:,} more: --json has all)" if more else ""
        sheets.append(_sheet(f"Cohen's kappa by pair{beyond}", ("annotators", "shared", *ways), pairs))
    return sheets


def undefined_lines(agreement: Agreement) -> list[str]:
    """Return why coefficients have no value or no interval, one line a reason."""
    reasons: dict[str, list[str]] = {}
    for each in agreement.coefficients:
        if each.reason:
            reasons.setdefault(each.reason, []).append(each.name)
    return [f"{listing(names, most=3)}: {reason}" for reason, names in reasons.items()] + list(agreement.notes)


def aggregation_sheets(aggregation: Aggregation) -> list[Sheet]:
    """Return the sheets of an aggregation, control by control.

    Parameters
    ----------
    aggregation : Aggregation
        As computed.

    Returns
    -------
    sheets : list of Sheet
    """
    return [sheet for result in aggregation.results for sheet in _control_sheets(result)]


def _control_sheets(result: ControlResult) -> list[Sheet]:
    return [
        _label_sheet(result),
        *agreement_sheets(result.agreement)[:1],
        *_annotator_sheets(result),
        *_fewer_sheets(result),
        *_policy_sheets(result),
    ]


def _label_sheet(result: ControlResult) -> Sheet:
    labels, ledger = result.labels, result.votes.ledger
    title = f"{labels.control}: {len(labels):,} units" + (f"; {ledger}" if ledger else "")
    rows: list[tuple[str, str, str]] = []
    for place, status in enumerate(LABEL_STATUSES):
        own = labels.status == place
        if own.any():
            stability = labels.stability[own]
            known = stability[~np.isnan(stability)]
            rows.append((status, f"{int(own.sum()):,}", _figure(float(known.mean()) if len(known) else None)))
    for place, category in enumerate(labels.scale.categories):
        own = labels.label == place
        stability = labels.stability[own]
        known = stability[~np.isnan(stability)]
        rows.append((f"  {category}", f"{int(own.sum()):,}", _figure(float(known.mean()) if len(known) else None)))
    rows.append(("  no label", f"{int((labels.label < 0).sum()):,}", "-"))
    return _sheet(title, ("status, then label", "units", "mean stability"), rows)


def _annotator_sheets(result: ControlResult) -> list[Sheet]:
    shown = result.annotators[:_MOST_ANNOTATORS]
    if not shown:
        return []
    rows = [
        (
            each.annotator,
            f"{each.votes:,}",
            f"{each.doubtful / each.votes:.1%}",
            "-" if each.bias is None else f"{each.bias:+.2f}",
            _figure(each.agreement, 2),
            _figure(each.same, 2),
            _figure(each.alpha_without),
        )
        for each in shown
    ]
    more = len(result.annotators) - len(shown)
    title = "annotators" + (f" (and {more:,} more: annotators.csv has all)" if more else "")
    columns = ("annotator", "votes", "doubt", "bias", "agrees", "=label", "alpha without")
    return [_sheet(title, columns, rows)]


def _fewer_sheets(result: ControlResult) -> list[Sheet]:
    if not result.fewer:
        return []
    rows = [
        (f"{each['votes']}", f"{each['units']:,}", f"{each['same']:.1%}", f"{each['tied']:.1%}")
        for each in result.fewer
    ]
    return [_sheet("had there been fewer votes a unit", ("votes", "units", "same label", "tie"), rows)]


def _policy_sheets(result: ControlResult) -> list[Sheet]:
    rows = [
        (each.policy, f"{each.changed:,}", f"{each.gained:,}", f"{each.lost:,}")
        for each in (*result.changes, *_bucket_rows(result))
    ]
    columns = ("policy", "changed", "gained", "lost")
    sheets = [_sheet("labels that another policy would change", columns, rows)]
    touched = [(each.policy, _most_first(each.by_category)) for each in result.changes if each.by_category]
    if touched:
        title = "labels that it would change or take away, by category"
        sheets.append(Sheet(title, ("policy", "labels, most first"), tuple(touched), 2))
    return sheets


def _most_first(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{category} {count:,}" for category, count in ranked)


@dataclass(frozen=True)
class _BucketRow:
    policy: str
    changed: int
    gained: int
    lost: int


def _bucket_rows(result: ControlResult) -> list[_BucketRow]:
    return [
        _BucketRow(f"{each.name}: merged before voting", each.changed, each.gained, each.lost)
        for each in result.buckets
    ]
