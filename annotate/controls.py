"""Which control holds the category, which one the doubt: from the labelling configuration, or from what was said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import VotesError, closest, listing
from ..scales import Scale
from ..tabular import pc, read_text
from .votes import Annotations, ControlColumn

__all__ = ["ConfigControl", "doubt_of", "find_control", "find_doubt", "read_config", "resolve"]

_DOUBT_NAME = re.compile(r"uncertain|unsure|not.?sure|not.?confident|doubt|confident\b|\bsure\b", re.IGNORECASE)
_NEGATIVE_NAME = re.compile(r"uncertain|unsure|not.?sure|not.?confident|doubt", re.IGNORECASE)
_DOUBT_VALUE = re.compile(r"not |un|doubt|low", re.IGNORECASE)
_YES = ("1", "yes", "true", "y", "t")
_NO = ("0", "no", "false", "n", "f")


@dataclass(frozen=True)
class ConfigControl:
    """A control as the labelling configuration declares it.

    Parameters
    ----------
    tag : str
        ``Choices``, ``Rating``, ...
    choices : mapping of str to str
        Alias (or the value where it has none) by value.
    """

    tag: str
    choices: Mapping[str, str]


def read_config(path: Path) -> dict[str, ConfigControl]:
    """Read a labelling configuration (XML) of Label Studio.

    Parameters
    ----------
    path : pathlib.Path
        As ``annotate pull`` keeps it, or as copied from the project's settings.

    Returns
    -------
    controls : dict of str to ConfigControl

    Raises
    ------
    VotesError
        If it is no XML, or declares no control.
    """
    return parse_config(read_text(path), str(path))


def parse_config(text: str, where: str) -> dict[str, ConfigControl]:
    """Read a labelling configuration from its text; `where` names it in messages.

    Examples
    --------
    >>> text = '<View><Choices name="t" toName="i"><Choice value="Type I" alias="1"/></Choices></View>'
    >>> dict(parse_config(text, "config")["t"].choices)
    {'Type I': '1'}
    """
    from xml.etree import ElementTree

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise VotesError(f"{where} declares a document type, which a labelling configuration never does")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - document types, the danger of XML, are refused above
    except ElementTree.ParseError as error:
        raise VotesError(f"{where} is not XML: {error}", hint="copy the project's labelling configuration") from None
    found: dict[str, ConfigControl] = {}
    for element in root.iter():
        if element.get("name") and element.get("toName"):
            choices = {
                value: each.get("alias") or value for each in element.iter("Choice") if (value := each.get("value"))
            }
            found[element.get("name", "")] = ConfigControl(element.tag, choices)
    if not found:
        raise VotesError(f"{where} declares no control", hint="a control has both name= and toName=")
    return found


def resolve(text: str, scale: Scale, declared: ConfigControl | None) -> str | None:
    """Return the category that a value stands for, directly or through the choice's alias, either way round."""
    category = scale.category(text)
    if category is not None or declared is None:
        return category
    for value, alias in declared.choices.items():
        if text in (value, alias):
            return scale.category(alias) or scale.category(value)
    return None


def _values(column: ControlColumn) -> list[tuple[str, int]]:
    counted = pc.value_counts(column.texts.drop_null())
    return [(each["values"], each["counts"]) for each in counted.to_pylist()]


def _fits(column: ControlColumn, scale: Scale, declared: ConfigControl | None) -> bool:
    """Return whether at least half of what a control holds is on the scale."""
    values = _values(column)
    on = sum(count for value, count in values if value in scale.missing or resolve(value, scale, declared))
    return bool(values) and 2 * on >= sum(count for _, count in values)


def _seen(annotations: Annotations) -> str:
    names = [f"{name} ({column.kind})" for name, column in annotations.controls.items()]
    return f"controls seen: {listing(names)}" if names else "no annotation holds any value"


def find_control(
    annotations: Annotations, scale: Scale | None, asked: str | None, config: Mapping[str, ConfigControl]
) -> str:
    """Return the control that holds the category.

    Parameters
    ----------
    annotations : Annotations
        As read.
    scale : Scale or None
        The categories; None where they are still to be seen.
    asked : str or None
        The control's name, if the user gave it.
    config : mapping of str to ConfigControl
        From the labelling configuration, or empty.

    Raises
    ------
    VotesError
        If the asked control is absent, or none or several could be meant; the message lists those seen.
    """
    where = ", ".join(annotations.sources)
    if asked is not None:
        if asked in annotations.controls or asked in config:
            return asked
        near = closest(asked, list(annotations.controls))
        raise VotesError(
            f"{where}: no annotation has a control {asked!r}; {_seen(annotations)}",
            hint=f"did you mean {near!r}?" if near else "name one of them with --control",
        )
    fitting = [
        name
        for name, column in annotations.controls.items()
        if not _DOUBT_NAME.search(name) and (scale is None or _fits(column, scale, config.get(name)))
    ]
    first = [name for name in fitting if annotations.controls[name].kind in ("choices", "cell")] or fitting
    if len(first) == 1:
        return first[0]
    on = f" on the scale {scale.name}" if scale else ""
    found = f"several controls hold values{on}: {', '.join(first)}" if first else f"no control holds values{on}"
    raise VotesError(f"{where}: {found}; {_seen(annotations)}", hint="name the right one with --control")


def find_doubt(
    annotations: Annotations, control: str, asked: str | None, config: Mapping[str, ConfigControl]
) -> str | None:
    """Return the control that holds the doubt, or None where votes carry none.

    A control of several that doubt is the one named for `control` (``age_uncertain`` beside ``age``).

    Raises
    ------
    VotesError
        If the asked control is absent, or several could be meant.
    """
    if asked is not None:
        if asked in annotations.controls:
            return asked
        if asked in config:
            return None
        near = closest(asked, list(annotations.controls))
        raise VotesError(
            f"{', '.join(annotations.sources)}: no annotation has a control {asked!r}; {_seen(annotations)}",
            hint=f"did you mean {near!r}?" if near else "where nobody doubted, leave --doubt-control out",
        )
    doubting = [
        name
        for name, column in annotations.controls.items()
        if name != control and column.kind in ("choices", "cell") and _doubts(name, column)
    ]
    own = [name for name in doubting if control in name] or [name for name in doubting if not _other(name, annotations)]
    if len(own) > 1:
        raise VotesError(
            f"{', '.join(annotations.sources)}: several controls hold a doubt: {', '.join(own)}",
            hint="name the right one with --doubt-control",
        )
    return own[0] if own else None


def _other(name: str, annotations: Annotations) -> bool:
    """Return whether a doubt is named for some other control."""
    return any(other in name for other in annotations.controls if other != name)


def _doubts(name: str, column: ControlColumn) -> bool:
    values = [value for value, _ in _values(column)]
    return bool(values) and all(doubt_of(name, value) is not None for value in values)


def doubt_of(control: str, value: str) -> bool | None:
    """Return whether a value of the doubt control means doubt; None where it cannot be told.

    Examples
    --------
    >>> doubt_of("uncertain", "Not confident"), doubt_of("confident", "no"), doubt_of("unsure", "0")
    (True, True, False)
    >>> doubt_of("skin_type", "III") is None
    True
    """
    text = value.strip().casefold()
    negative = bool(_NEGATIVE_NAME.search(control))
    if text in ("confident", "sure", "certain"):
        return False
    if _DOUBT_NAME.search(control) and text in _YES + _NO:
        return negative if text in _YES else not negative
    if _DOUBT_VALUE.match(text) and re.search(r"confident|sure|certain|doubt|confidence", text):
        return True
    return None
