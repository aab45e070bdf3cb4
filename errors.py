"""What can go wrong, said so that the reader knows what to do next.

Every error that the library raises on purpose derives from `ProtoctlError`. Its message says what was found
and where; its hint says what to do. Readers gather every problem in `Problems` before they refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

__all__ = [
    "AuditError",
    "InfeasibleError",
    "InputError",
    "Problem",
    "Problems",
    "ProtoctlError",
    "ProtocolError",
    "ServerError",
    "VotesError",
    "closest",
    "listing",
    "unknown",
]


class ProtoctlError(Exception):
    """Base of all errors of the library.

    Parameters
    ----------
    message : str
        What was found, and where: file, line or row, column, value.
    hint : str, optional
        What to do next.
    """

    exit_code: int = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(ProtoctlError):
    """A file, a table or an option holds something that cannot be used (exit 3)."""


class VotesError(InputError):
    """Votes that cannot be read, settled or compared (exit 3)."""


class ProtocolError(InputError):
    """A protocol file that breaks its own rules, or asks for what the data lack (exit 3)."""


class InfeasibleError(ProtoctlError):
    """The protocol cannot be met on these data (exit 4)."""

    exit_code = 4


class AuditError(ProtoctlError):
    """An audit or a verification failed (exit 5)."""

    exit_code = 5


class ServerError(ProtoctlError):
    """A server could not be reached, or refused (exit 6)."""

    exit_code = 6


@dataclass(frozen=True)
class Problem:
    """One thing wrong at one place (`fold_2_data.txt:118`, `$.split.ratios.train`)."""

    place: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass
class Problems:
    """Gathers problems with their places, to refuse once and name them all.

    Examples
    --------
    >>> found = Problems()
    >>> found.add("$.split.ratios.train", "0 is not above 0", hint="leave the split out")
    >>> found.refuse(ProtocolError, "protocol 'mine' is refused")
    Traceback (most recent call last):
    ...
    protoctl.errors.ProtocolError: protocol 'mine' is refused: $.split.ratios.train: 0 is not above 0
    """

    found: list[Problem] = field(default_factory=list[Problem])

    def add(self, place: str, message: str, *, hint: str | None = None) -> None:
        """Note one problem."""
        self.found.append(Problem(place, message, hint))

    def __bool__(self) -> bool:
        return bool(self.found)

    def refuse(self, error: type[ProtoctlError], summary: str, *, most: int = 20) -> None:
        """Raise `error` if anything was found, naming the first `most` problems and counting the rest."""
        if not self.found:
            return
        hint = next((problem.hint for problem in self.found if problem.hint), None)
        if len(self.found) == 1:
            raise error(f"{summary}: {self.found[0]}", hint=hint)
        lines = [f"  {problem}" for problem in self.found[:most]]
        if len(self.found) > most:
            lines.append(f"  ... and {len(self.found) - most:,} more")
        raise error(f"{summary}, {len(self.found):,} problems:\n" + "\n".join(lines), hint=hint)


def closest(name: str, options: Iterable[str]) -> str | None:
    """Return the option most like `name`, or None where none is close."""
    lowered = {option.lower(): option for option in options}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def listing(names: Sequence[str], *, most: int = 12) -> str:
    """Join names for a message, cut after `most`.

    Examples
    --------
    >>> listing(["age", "gender"])
    'age, gender'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def unknown(kind: str, name: str, options: Sequence[str]) -> tuple[str, str]:
    """Message and hint for a name that is not among `options`.

    Examples
    --------
    >>> unknown("column", "rase", ["age", "race"])
    ("there is no column 'rase'", "did you mean 'race'? There are: age, race")
    """
    near = closest(name, options)
    have = f"There are: {listing(list(options))}" if options else "There are none"
    return f"there is no {kind} {name!r}", f"did you mean {near!r}? {have}" if near else have
