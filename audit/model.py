"""What an audit is: findings, each with its number and verdict, and the figures that they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError, unknown

if TYPE_CHECKING:
    from ..partition import Balance
    from .drift import Drift
    from .planes import Plane

__all__ = ["ALLOWED", "Audit", "Finding", "Thresholds", "finding_of"]

Verdict = Literal["holds", "fails", "noted"]

ALLOWED = ("empty", "automatic", "near", "names")
"""What thresholds may allow: empty categories, automatic labels, near-duplicates, names of augmented copies."""

_SHOWN = 5
_KEPT = 100


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    check : str
        What was looked at, such as ``subjects in two splits``.
    found : str
        What was found, with its number.
    count : int
        How often.
    verdict : {"holds", "fails", "noted"}
        Whether it is as the protocol or a threshold asks; ``noted`` where neither asks anything.
    places : tuple of str
        The first hundred of them, in words; none where there is nothing to point at.
    """

    check: str
    found: str
    count: int
    verdict: Verdict
    places: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON; ``places`` only where there are any."""
        held: dict[str, Any] = {
            "check": self.check,
            "found": self.found,
            "count": self.count,
            "verdict": self.verdict,
        }
        return held | ({"places": list(self.places)} if self.places else {})


def finding_of(check: str, places: Iterable[str], *, of: str = "", allowed: bool = False) -> Finding:
    """Return the finding that names places, which fails where there is one.

    Parameters
    ----------
    check : str
        What was looked at.
    places : iterable of str
        What was found.
    of : str
        Out of how many, said after the count.
    allowed : bool
        Whether places are noted rather than failures.

    Examples
    --------
    >>> finding_of("the same file in two splits", ["a.jpg (train) and b.jpg (test)"]).found
    '1: a.jpg (train) and b.jpg (test)'
    """
    named = sorted(places)
    found = f"{len(named):,}{of}"
    if named:
        found += ": " + "; ".join(named[:_SHOWN]) + (" ..." if len(named) > _SHOWN else "")
    verdict: Verdict = "holds" if not named else "noted" if allowed else "fails"
    return Finding(check, found, len(named), verdict, tuple(named[:_KEPT]))


@dataclass(frozen=True)
class Thresholds:
    """Past what an audit fails, beside what the protocol asks.

    Parameters
    ----------
    points : float or None
        Largest deviation of any counted category's share from its target, in percentage points.
    items : float or None
        Largest deviation of any category, the total included, in items.
    variation : float or None
        Largest total variation of any attribute between two splits, in [0, 1].
    allow : tuple of str
        Of `ALLOWED`: what is noted rather than a failure.

    Raises
    ------
    InputError
        If a threshold is below 0, or `allow` names something else.
    """

    points: float | None = None
    items: float | None = None
    variation: float | None = None
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("points", "items", "variation"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"threshold {name}: {value} is not 0 or more", hint="leave it out to ask nothing")
        for name in self.allow:
            if name not in ALLOWED:
                message, hint = unknown("finding to allow", name, ALLOWED)
                raise InputError(message, hint=hint)


@dataclass(frozen=True)
class Audit:
    """What an audit says of a partition.

    Parameters
    ----------
    name : str
        What was audited.
    replica : bool
        Whether its rows are drawn.
    balance : Balance
        Counts and deviations.
    findings : tuple of Finding
        What was looked at.
    unseen : tuple of str
        What was not looked at, and why.
    drift : tuple of Drift
        By attribute.
    intersections : mapping of str to Balance
        Counts of joint categories, by the names of their attributes.
    compared : mapping of str to Balance
        Other partitions of the same items, and this one first.
    planes : tuple of Plane
        Valence and arousal of each split.
    facts : mapping of str to str
        What was audited, in words: digests, protocol, seed.
    """

    name: str
    replica: bool
    balance: Balance
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    drift: tuple[Drift, ...] = ()
    intersections: Mapping[str, Balance] = field(default_factory=dict[str, "Balance"])
    compared: Mapping[str, Balance] = field(default_factory=dict[str, "Balance"])
    planes: tuple[Plane, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that are not as the protocol or a threshold asks."""
        return tuple(finding for finding in self.findings if finding.verdict == "fails")

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON; what was not asked for is left out."""
        held: dict[str, Any] = {
            "name": self.name,
            "replica": self.replica,
            "facts": dict(self.facts),
            "balance": self.balance.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "not_looked_at": list(self.unseen),
            "drift": [each.to_json() for each in self.drift],
        }
        if self.intersections:
            held["intersections"] = {name: balance.to_json() for name, balance in self.intersections.items()}
        if self.compared:
            held["compared"] = {name: balance.to_json() for name, balance in self.compared.items()}
        if self.planes:
            held["planes"] = [plane.to_json() for plane in self.planes]
        return held
