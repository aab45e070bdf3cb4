"""Robustness of face detectors: how often a corruption changes what is found, and the odds of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, Problems, unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CORRUPTIONS", "OddsRatio", "SEVERITIES", "check_combinations", "mrce", "odds", "odds_ratios", "rce"]

CORRUPTIONS = (
    "gaussian-noise",
    "shot-noise",
    "impulse-noise",
    "defocus-blur",
    "glass-blur",
    "motion-blur",
    "zoom-blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic-transform",
    "pixelate",
    "jpeg-compression",
)
"""The fifteen corruptions of Hendrycks and Dietterich (2019), by their names in Dooley et al. (2022)."""

SEVERITIES = (1, 2, 3, 4, 5)


def rce(clean: NDArray[np.int64], corrupted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 where the number of faces found differs from that of the clean image, else 0.

    Examples
    --------
    >>> rce(np.array([1, 1, 2]), np.array([1, 0, 3])).tolist()
    [0, 1, 1]
    """
    return (clean != corrupted).astype(np.int64)


def check_combinations(
    images: Sequence[str],
    corruptions: Sequence[str],
    severities: Sequence[int],
    wanted: tuple[Sequence[str], Sequence[int]] = (CORRUPTIONS, SEVERITIES),
) -> None:
    """Refuse rows that lack a combination of image, corruption and severity, or have one twice.

    Raises
    ------
    InputError
        With every combination that is missing, double or unknown.

    Examples
    --------
    >>> check_combinations(["a.jpg"], ["fog"], [1], (["fog", "snow"], [1]))
    Traceback (most recent call last):
    ...
    protoctl.errors.InputError: the corrupted images are refused: a.jpg: has no row of snow at severity 1
    """
    problems = Problems()
    names, levels = wanted
    seen: dict[tuple[str, str, int], int] = {}
    for key in zip(images, corruptions, severities, strict=True):
        seen[key] = seen.get(key, 0) + 1
    for (image, corruption, severity), count in sorted(seen.items()):
        if corruption not in names:
            message, hint = unknown("corruption", corruption, list(names))
            problems.add(image, message, hint=hint)
        elif severity not in levels:
            problems.add(image, f"severity {severity} of {corruption} is none of {', '.join(map(str, levels))}")
        elif count > 1:
            problems.add(image, f"{corruption} at severity {severity} stands {count} times")
    hint = "score what is complete: name its corruptions and severities; a mean over fewer is another number"
    for image in sorted(set(images)):
        for corruption in names:
            for severity in levels:
                if (image, corruption, severity) not in seen:
                    problems.add(image, f"has no row of {corruption} at severity {severity}", hint=hint)
    problems.refuse(InputError, "the corrupted images are refused")


def mrce(errors: NDArray[np.int64]) -> float:
    """Return the mean of `rce` over all rows asked for, which `check_combinations` found complete.

    Examples
    --------
    >>> mrce(np.array([0, 1, 1, 0]))
    0.5
    """
    return float(np.mean(errors))


def odds(rate: float) -> float:
    """Return the odds of a rate.

    Examples
    --------
    Dooley et al. (2022) print 0.14, 0.27 and 0.30, and odds ratios of the rounded odds.

    >>> [round(odds(rate), 3) for rate in (0.12, 0.21, 0.23)]
    [0.136, 0.266, 0.299]
    >>> [round(odds(rate) / odds(0.12), 2) for rate in (0.21, 0.23)]
    [1.95, 2.19]
    """
    return rate / (1 - rate)


@dataclass(frozen=True)
class OddsRatio:
    """One coefficient of the logistic regression, as a ratio of odds.

    Parameters
    ----------
    term : str
        ``gender=male``, ``age (per 10 years)``, ``gender=male x lighting=dark``.
    reference : str or None
        The category that it is against; None for a number.
    ratio : float
        exp(coefficient).
    z, p : float
        Wald statistic and its two-sided p, rows taken as independent, as the paper does.
    low, high : float
        95 % interval of the ratio, rows taken as independent.
    cluster_z, cluster_p, cluster_low, cluster_high : float
        The same with cluster-robust errors: rows of one subject (or image) are alike.
    """

    term: str
    reference: str | None
    ratio: float
    z: float
    p: float
    low: float
    high: float
    cluster_z: float
    cluster_p: float
    cluster_low: float
    cluster_high: float


def odds_ratios(
    errors: NDArray[np.int64],
    columns: Mapping[str, Sequence[str]],
    clusters: Sequence[str],
    *,
    numbers: Mapping[str, Sequence[float]] | None = None,
    references: Mapping[str, str] | None = None,
    interactions: Sequence[tuple[str, str]] = (),
) -> tuple[OddsRatio, ...]:
    """Regress errors on attributes, corruption and service, and give odds ratios with both kinds of errors.

    Parameters
    ----------
    errors : ndarray of int, shape (n_rows,)
        `rce`.
    columns : mapping of str to sequence of str, shape (n_rows,)
        Categories; each column is coded against its reference.
    clusters : sequence of str, shape (n_rows,)
        Subject (or image) of each row.
    numbers : mapping of str to sequence of float, optional
        Columns that enter as numbers; the ratio is that of ten (years).
    references : mapping of str to str, optional
        Category that the others are against; by default the first in order of names.
    interactions : sequence of (str, str)
        Products of two columns.

    Returns
    -------
    ratios : tuple of OddsRatio

    Raises
    ------
    InputError
        If a column or reference is unknown, or the rows cannot tell the terms apart.

    References
    ----------
    Dooley et al. (2022), whose errors take the 75 rows of one image as independent; Liang and Zeger (1986),
    doi:10.1093/biomet/73.1.13, for those by cluster.
    """
    coded: dict[str, dict[str, NDArray[np.float64]]] = {}
    against: dict[str, str | None] = {}
    for name, values in columns.items():
        coded[name], against[name] = _coded(name, values, (references or {}).get(name))
    for name, values in (numbers or {}).items():
        coded[name] = {f"{name} (per 10 years)": np.asarray(values, np.float64) / 10}
        against[name] = None
    terms = {term: (column, against[name]) for name, part in coded.items() for term, column in part.items()}
    for first, second in interactions:
        for name in (first, second):
            if name not in coded:
                message, hint = unknown("column", name, list(coded))
                raise InputError(message, hint=hint)
        for left, a in coded[first].items():
            for right, b in coded[second].items():
                terms[f"{left} x {right}"] = (a * b, None)
    return _fitted(errors, terms, clusters)


def _coded(name: str, values: Sequence[str], reference: str | None) -> tuple[dict[str, NDArray[np.float64]], str]:
    categories = sorted(set(values))
    base = reference or categories[0]
    if base not in categories:
        message, hint = unknown(f"category of {name}", base, categories)
        raise InputError(message, hint=hint)
    held = np.asarray(values, object)
    return {f"{name}={each}": (held == each).astype(np.float64) for each in categories if each != base}, base


def _fitted(
    errors: NDArray[np.int64],
    terms: Mapping[str, tuple[NDArray[np.float64], str | None]],
    clusters: Sequence[str],
) -> tuple[OddsRatio, ...]:
    from statsmodels.discrete.discrete_model import Logit

    design = np.column_stack([np.ones(len(errors)), *(column for column, _ in terms.values())])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError(
            f"the {design.shape[1] - 1} terms cannot be told apart on these {len(errors):,} rows",
            hint="leave out an interaction, or a column that another one determines",
        )
    groups = np.unique(np.asarray(clusters, object).astype(str), return_inverse=True)[1].reshape(-1)
    model: Any = Logit(errors, design)
    plain = _converged(model.fit, disp=0, method="newton", maxiter=100)
    if not np.isfinite(plain.bse).all():
        raise _no_solution()
    # Where clusters all agree their variance is nought, and rounding may take its root from it: undefined, then.
    robust = _converged(
        model.fit, disp=0, method="newton", maxiter=100, cov_type="cluster", cov_kwds={"groups": groups}
    )
    with np.errstate(invalid="ignore"):
        robust_z, robust_p, robust_ends = robust.tvalues, robust.pvalues, np.exp(robust.conf_int())
    ends = np.exp(plain.conf_int())
    return tuple(
        OddsRatio(
            term,
            reference,
            float(np.exp(plain.params[at])),
            float(plain.tvalues[at]),
            float(plain.pvalues[at]),
            float(ends[at][0]),
            float(ends[at][1]),
            float(robust_z[at]),
            float(robust_p[at]),
            float(robust_ends[at][0]),
            float(robust_ends[at][1]),
        )
        for at, (term, (_, reference)) in enumerate(terms.items(), start=1)
    )


def _no_solution() -> InputError:
    return InputError(
        "the logistic regression has no finite solution: some category has only errors, or none",
        hint="merge or leave out the category (rce by subgroup shows which)",
    )


def _converged(fit: Any, **options: Any) -> Any:
    """Fit, and refuse where a category has only errors or none, so that no finite ratio exists."""
    import warnings

    from numpy.linalg import LinAlgError
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = fit(**options)
        except (LinAlgError, PerfectSeparationError):
            raise _no_solution() from None
    if not found.mle_retvals["converged"]:
        raise _no_solution()
    return found
