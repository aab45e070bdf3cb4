"""What to take from an export: which controls, on which scales, with which doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import VotesError
from ..scales import Scale
from .scale_files import load_scale

__all__ = ["Question", "doubt_weights", "parse_questions"]


@dataclass(frozen=True)
class Question:
    """One thing to take from an export.

    Parameters
    ----------
    scale : Scale or None
        The categories; None takes those seen.
    control : str or None
        The control that holds them; None finds it.
    doubt_control : str or None
        The control that holds the doubt; None finds it.
    """

    scale: Scale | None
    control: str | None = None
    doubt_control: str | None = None


def parse_questions(scale: str, controls: Sequence[str] = (), doubts: Sequence[str] = ()) -> tuple[Question, ...]:
    """Read questions from words.

    Parameters
    ----------
    scale : str
        A scale's name or file, for every control that names none.
    controls : sequence of str
        ``NAME`` or ``NAME=SCALE``; none lets the control be found.
    doubts : sequence of str
        ``NAME`` for every control, or ``CONTROL=NAME``.

    Returns
    -------
    questions : tuple of Question

    Raises
    ------
    VotesError
        If a scale is unknown, a control is named twice, or a doubt belongs to none.

    Examples
    --------
    >>> asked = parse_questions("fitzpatrick", ["skin_type", "sex=gender"])
    >>> [(each.control, each.scale.name) for each in asked]
    [('skin_type', 'fitzpatrick'), ('sex', 'gender')]
    """
    named = [word.partition("=") for word in controls] or [("", "", "")]
    names = [name for name, _, _ in named]
    if len(set(names)) < len(names):
        raise VotesError(f"a control is named twice: {', '.join(names)}", hint="name each control once")
    own = {control: doubt for control, mark, doubt in (word.partition("=") for word in doubts) if mark}
    shared = [word for word in doubts if "=" not in word]
    stray = sorted(set(own) - set(names))
    if stray or len(shared) > 1:
        wrong = f"control {stray[0]!r}, which is not asked for" if stray else "every control, twice"
        raise VotesError(f"a doubt is named for {wrong}", hint="say --doubt-control NAME, or CONTROL=NAME for each")
    every = shared[0] if shared else None
    return tuple(
        Question(load_scale(special or scale), name or None, own.get(name, every)) for name, _, special in named
    )


def doubt_weights(text: str) -> tuple[int, int]:
    """Read the weight of a doubtful vote as whole numbers: of a confident vote, and of a doubtful one.

    Examples
    --------
    >>> doubt_weights("0.5"), doubt_weights("1/3"), doubt_weights("0")
    ((2, 1), (3, 1), (1, 0))
    """
    try:
        weight = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise VotesError(f"{text!r} is no weight", hint="such as 1/2, 0.5, 0 or 1") from None
    if not 0 <= weight <= 1:
        raise VotesError(f"a doubtful vote cannot weigh {text}", hint="from 0 (not at all) to 1 (in full)")
    return weight.denominator, weight.numerator
