"""Scales from files: the ones that come with the package, and a person's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import Problems, VotesError, unknown
from ..scales import FITZPATRICK, Scale

__all__ = ["load_scale", "parse_scale", "scale_names"]

_FOLDER = Path(__file__).parent / "scales"
_KEYS = ("name", "source", "ordered", "categories", "aliases", "buckets", "missing")


def scale_names() -> tuple[str, ...]:
    """Return the names of the scales that come with the package.

    Examples
    --------
    >>> "fitzpatrick" in scale_names(), "monk" in scale_names()
    (True, True)
    """
    return tuple(sorted({FITZPATRICK.name, *(path.stem for path in _FOLDER.glob("*.yaml"))}))


def load_scale(name: str) -> Scale | None:
    """Return a scale by its name or from a YAML file; ``nominal`` gives None: the categories are those seen.

    Parameters
    ----------
    name : str
        ``fitzpatrick``, ``monk``, ..., ``nominal``, or the path of a file.

    Returns
    -------
    scale : Scale or None

    Raises
    ------
    VotesError
        If there is no such scale, or the file breaks its rules.

    Examples
    --------
    >>> load_scale("monk").categories[-1]
    '10'
    """
    if name == FITZPATRICK.name:
        return FITZPATRICK
    if name == "nominal":
        return None
    path = Path(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        path = _FOLDER / f"{name}.yaml"
        if name not in scale_names():
            message, hint = unknown("scale", name, [*scale_names(), "nominal"])
            raise VotesError(message, hint=f"{hint}; or the path of a YAML file")
    return parse_scale(_document(path), str(path))


def _document(path: Path) -> Any:
    import yaml

    from ..tabular import read_text

    try:
        return yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise VotesError(f"{path} is not YAML: {' '.join(str(error).split())}") from None


def parse_scale(document: Any, where: str) -> Scale:
    """Make a scale from what a YAML file holds, or refuse with every problem and its path.

    Parameters
    ----------
    document : mapping
        ``name``, ``ordered`` (default false), ``categories`` (list), ``aliases`` (category by spelling),
        ``buckets`` (name to category to bucket), ``missing`` (values that are no vote), ``source``.
    where : str
        The file, for messages.

    Returns
    -------
    scale : Scale

    Examples
    --------
    >>> parse_scale({"name": "gender", "categories": ["Female", "Male"], "missing": ["Unsure"]}, "x").missing
    ('Unsure',)
    """
    problems = Problems()
    if not isinstance(document, Mapping):
        raise VotesError(f"{where}: a scale is a mapping with name and categories", hint=f"keys: {', '.join(_KEYS)}")
    for key in document:
        if key not in _KEYS:
            message, hint = unknown("key", str(key), _KEYS)
            problems.add(f"$.{key}", message, hint=hint)
    listed = document.get("categories")
    categories = tuple(str(each) for each in listed) if isinstance(listed, list) else ()
    if len(categories) < 2 or len({each.casefold() for each in categories}) < len(categories):
        problems.add("$.categories", "a list of two categories or more is wanted, each once")
    ordered = document.get("ordered", False)
    if not isinstance(ordered, bool):
        problems.add("$.ordered", f"{ordered!r} is neither true nor false")
    aliases = _texts(document, "aliases", problems)
    for spelling, category in aliases.items():
        _known(f"$.aliases.{spelling}", category, categories, problems)
    buckets = _buckets(document, categories, problems)
    missing = document.get("missing", [])
    if not isinstance(missing, list):
        problems.add("$.missing", "a list is wanted")
        missing = []
    problems.refuse(VotesError, f"scale {where} is refused")
    name = str(document.get("name") or Path(where).stem)
    return Scale(name, categories, bool(ordered), aliases, buckets, tuple(str(each) for each in missing))


def _known(place: str, category: str, categories: tuple[str, ...], problems: Problems) -> None:
    if category not in categories:
        message, hint = unknown("category", category, categories)
        problems.add(place, message, hint=hint)


def _texts(document: Mapping[str, Any], key: str, problems: Problems) -> dict[str, str]:
    held = document.get(key) or {}
    if not isinstance(held, Mapping):
        problems.add(f"$.{key}", "a mapping is wanted")
        return {}
    return {str(name): str(value) for name, value in held.items()}


def _buckets(
    document: Mapping[str, Any], categories: tuple[str, ...], problems: Problems
) -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    held = document.get("buckets") or {}
    if not isinstance(held, Mapping):
        problems.add("$.buckets", "a mapping of mappings is wanted")
        return found
    for name in held:
        merge = _texts(held, str(name), problems)
        for category in merge:
            _known(f"$.buckets.{name}.{category}", category, categories, problems)
        for category in categories:
            if category not in merge:
                problems.add(f"$.buckets.{name}", f"{category} has no bucket", hint="give every category a bucket")
        found[str(name)] = merge
    return found
