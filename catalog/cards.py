"""Cards: what a dataset is, its tasks and attributes, whom it shows, and how it is obtained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, cast

from ..errors import InputError, Problems, unknown
from ..tabular import read_text

__all__ = ["AttributeCard", "Card", "TaskCard", "card_names", "find_card", "load_card", "parse_card", "safe_yaml"]


@dataclass(frozen=True)
class TaskCard:
    """A task of a dataset.

    Parameters
    ----------
    labels : tuple of str
        The label columns.
    categories : tuple of str
        Categories of the column ``label``; empty for action units and for valence and arousal.
    of : str or None
        The task whose partition this one uses.
    without : tuple of str
        Categories left out after partitioning (AffectNet's seven expressions lack Contempt).
    range : tuple of str or None
        Ends of the range of valence and arousal, as decimal text.
    form : str
        How the release writes the labels.
    """

    labels: tuple[str, ...]
    categories: tuple[str, ...] = ()
    of: str | None = None
    without: tuple[str, ...] = ()
    range: tuple[str, str] | None = None
    form: str = ""


@dataclass(frozen=True)
class AttributeCard:
    """An attribute that a release holds.

    Parameters
    ----------
    categories : tuple of str
        Its categories, in order; empty where values are years.
    years : bool
        Whether values are years, as integer text.
    keep : bool
        Whether a protocol's ``form.age`` leaves the dataset's own groups or years as they are.
    unscored : tuple of str
        Categories that no score uses.
    source : str
        Who said it.
    unknown : str
        What annotators answered where they could not tell; missing, but a cell of its own where a protocol caps cells.
    """

    categories: tuple[str, ...] = ()
    years: bool = False
    keep: bool = False
    unscored: tuple[str, ...] = ()
    source: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class Card:
    """What is known of a dataset.

    Parameters
    ----------
    name, title : str
        Name in commands; name for people.
    paper, url, license, obtain, release : str
        Where it is from, its terms, how it is obtained, which releases the reader knows.
    aliases : tuple of str
        Other names that users type.
    licensed : bool
        Whether it may not be passed on freely, lists of its items included.
    evaluation_only : bool
        Whether its terms forbid training on it.
    unit : str
        What an item is.
    rows : {"item", "subject"}
        What ``assignments.csv`` lists.
    subject : str or None
        What identity the release gives, and the trap in it; None where there is none.
    reader : str or None
        The module of this room that reads it; None where only a replica, or a plain table, can be read.
    tasks : mapping of str to TaskCard
        Tasks by name.
    default_task : str or None
        The task where none is asked for.
    attributes : mapping of str to AttributeCard
        Attributes of the release by column.
    never : tuple of str
        Columns among ``label``, ``age``, ``gender``, ``race`` and the like that the dataset never has.
    layouts : tuple of str
        What the reader looks for, one text a layout.
    published : mapping
        Published counts: by released split (``all`` for the whole), then ``items``, ``subjects`` or a column's
        categories.
    notes : tuple of str
        What a user should know.
    document : mapping
        The card's file as it stands.
    """

    name: str
    title: str
    paper: str
    url: str
    license: str
    obtain: str
    release: str
    licensed: bool
    evaluation_only: bool
    unit: str
    rows: Literal["item", "subject"]
    subject: str | None
    reader: str | None
    tasks: Mapping[str, TaskCard]
    default_task: str | None
    attributes: Mapping[str, AttributeCard]
    never: tuple[str, ...]
    layouts: tuple[str, ...]
    published: Mapping[str, Any]
    notes: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    def task(self, name: str | None) -> str | None:
        """Return the task of a name, the default one for None; refuse a name that the dataset has not.

        Raises
        ------
        InputError
            If the dataset has no such task.
        """
        if name is None:
            return self.default_task
        found = {_key(task): task for task in self.tasks}.get(_key(name))
        if found is None:
            message, hint = unknown("task", name, list(self.tasks))
            raise InputError(f"{self.title}: {message}", hint=hint)
        return found


# Every key of a card: its type, and whether it may be left out.
_TEXTS = ("name", "title", "paper", "url", "license", "obtain", "release", "unit", "rows")
_OPTIONAL_TEXTS = ("subject", "reader", "default_task")
_FLAGS = ("licensed", "evaluation_only")
_LISTS = ("aliases", "never", "layouts", "notes")
_MAPPINGS = ("tasks", "attributes", "published")
_TASK_KEYS = ("labels", "categories", "of", "without", "range", "form")
_ATTRIBUTE_KEYS = ("categories", "years", "keep", "unscored", "source", "unknown")


def _key(name: str) -> str:
    """Return what two spellings of a name share: ``RAF-DB``, ``raf_db`` and ``rafdb`` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def card_names() -> tuple[str, ...]:
    """Return the names of all cards, sorted."""
    files = (resources.files(__package__ or "protoctl.catalog") / "cards").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


@cache
def _spellings() -> Mapping[str, str]:
    found = {_key(name): name for name in card_names()}
    for name in card_names():
        found |= {_key(alias): name for alias in _load(name).aliases}
    return found


def find_card(name: str) -> Card | None:
    """Return the card of a name in any usual spelling, or None.

    Examples
    --------
    >>> card = find_card("raf_db")
    >>> card.name if card else None
    'raf-db'
    """
    return _load(_spellings()[_key(name)]) if _key(name) in _spellings() else None


def load_card(name: str) -> Card:
    """Return the card of a dataset; case, blanks, ``-`` and ``_`` in the name do not matter.

    Raises
    ------
    InputError
        If there is no such dataset; the hint has the close match.

    Examples
    --------
    >>> load_card("AffectNet").tasks["expression-7"].without
    ('Contempt',)
    """
    card = find_card(name)
    if card is None:
        message, hint = unknown("dataset", name, card_names())
        raise InputError(message, hint=f"{hint}; any other dataset goes in as a table: items.csv")
    return card


@cache
def _load(name: str) -> Card:
    file = resources.files(__package__ or "protoctl.catalog") / "cards" / f"{name}.yaml"
    with resources.as_file(file) as path:
        return parse_card(safe_yaml(path), path.name)


def safe_yaml(path: Path) -> Any:
    """Read a YAML file without building objects.

    Raises
    ------
    InputError
        If the file is absent, is not YAML, or holds a tag that would build an object.
    """
    import yaml

    try:
        return yaml.safe_load(read_text(path))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        tagged = isinstance(error, yaml.constructor.ConstructorError)
        hint = "write texts, lists and mappings only; remove the tag" if tagged else "check its indentation"
        raise InputError(f"{path}:{line}: is not plain YAML ({error.problem})", hint=hint) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML ({error})") from None


def parse_card(document: object, where: str) -> Card:
    """Check what a card's file holds, and return the card.

    Parameters
    ----------
    document : object
        The parsed YAML.
    where : str
        What to call the file in messages.
    """
    problems = Problems()
    values = _mapping(document, "$", problems)
    known = (*_TEXTS, *_OPTIONAL_TEXTS, *_FLAGS, *_LISTS, *_MAPPINGS)
    _known(values, known, "$", problems)
    for key in _TEXTS:
        if not isinstance(values.get(key), str):
            problems.add(f"$.{key}", f"{values.get(key)!r} is not a text")
    for key in _OPTIONAL_TEXTS:
        if not isinstance(values.get(key), str | None):
            problems.add(f"$.{key}", f"{values.get(key)!r} is not a text")
    for key in _FLAGS:
        if not isinstance(values.get(key), bool):
            problems.add(f"$.{key}", f"{values.get(key)!r} is neither true nor false")
    if values.get("rows") not in ("item", "subject"):
        problems.add("$.rows", f"{values.get('rows')!r} is neither item nor subject")
    lists = {key: _texts(values.get(key), f"$.{key}", problems) for key in _LISTS}
    tasks = _tasks(values.get("tasks"), problems)
    attributes = _attributes(values.get("attributes"), problems)
    published = _mapping(values.get("published"), "$.published", problems)
    if values.get("default_task") not in (None, *tasks):
        problems.add("$.default_task", f"{values.get('default_task')!r} is no task", hint=f"tasks: {list(tasks)}")
    problems.refuse(InputError, f"card {where} is refused")
    plain = {key: values.get(key) for key in (*_TEXTS, *_OPTIONAL_TEXTS, *_FLAGS)}
    return Card(
        **cast("dict[str, Any]", plain),
        **cast("dict[str, Any]", lists),
        tasks=tasks,
        attributes=attributes,
        published=published,
        document=values,
    )


def _mapping(value: object, place: str, problems: Problems) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.add(place, f"{value!r} is not a mapping")
        return {}
    return {str(key): each for key, each in cast("Mapping[Any, Any]", value).items()}


def _known(values: Mapping[str, Any], keys: Sequence[str], place: str, problems: Problems) -> None:
    for key in values:
        if key not in keys:
            message, hint = unknown("key", key, keys)
            problems.add(f"{place}.{key}", message, hint=hint)


def _texts(value: object, place: str, problems: Problems) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[object]", value)):
        problems.add(place, f"{value!r} is not a list of texts", hint="put numbers in quotes")
        return ()
    return tuple(cast("list[str]", value))


def _tasks(value: object, problems: Problems) -> dict[str, TaskCard]:
    tasks: dict[str, TaskCard] = {}
    for name, each in _mapping(value, "$.tasks", problems).items():
        place = f"$.tasks.{name}"
        given = _mapping(each, place, problems)
        _known(given, _TASK_KEYS, place, problems)
        ends = _texts(given.get("range"), f"{place}.range", problems)
        if len(ends) not in (0, 2):
            problems.add(f"{place}.range", f"{ends!r} is not a pair")
        tasks[name] = TaskCard(
            labels=_texts(given.get("labels"), f"{place}.labels", problems),
            categories=_texts(given.get("categories"), f"{place}.categories", problems),
            of=given.get("of"),
            without=_texts(given.get("without"), f"{place}.without", problems),
            range=(ends[0], ends[1]) if len(ends) == 2 else None,
            form=str(given.get("form", "")),
        )
    return tasks


def _attributes(value: object, problems: Problems) -> dict[str, AttributeCard]:
    attributes: dict[str, AttributeCard] = {}
    for name, each in _mapping(value, "$.attributes", problems).items():
        place = f"$.attributes.{name}"
        given = _mapping(each, place, problems)
        _known(given, _ATTRIBUTE_KEYS, place, problems)
        attributes[name] = AttributeCard(
            categories=_texts(given.get("categories"), f"{place}.categories", problems),
            years=bool(given.get("years", False)),
            keep=bool(given.get("keep", False)),
            unscored=_texts(given.get("unscored"), f"{place}.unscored", problems),
            source=str(given.get("source", "")),
            unknown=str(given.get("unknown", "")),
        )
    return attributes
