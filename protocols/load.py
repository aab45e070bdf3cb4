"""Protocol files: found by name or path, read safely, checked as a whole, every problem with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from importlib import resources
from math import gcd
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, Problems, ProtocolError, unknown
from ..scales import AGE_GROUPS, FITZPATRICK, RACE_MERGES
from ..tabular import read_text
from .checked import Section
from .model import Form, Protocol, Select, Split, Subset, Unit
from .variants import Variants, parse_variants

__all__ = ["SCORES", "load_protocol", "override", "parse_protocol", "protocol_names"]

_NAME = r"[a-z0-9][a-z0-9._-]{0,99}"
_SPLIT = r"[a-z0-9][a-z0-9_-]*"
_SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?"
_YAML_SUFFIXES = (".yaml", ".yml")

SCORES: Mapping[str, tuple[str, ...]] = {
    "expression": ("f1_macro", "balanced_accuracy", "f1_by_group", "statistical_parity"),
    "action_unit": ("f1_au", "demographic_parity_difference"),
    "valence_arousal": ("ccc", "ccc_by_group", "pcc", "mse", "rmse"),
    "deepfake": ("log_wp_at_recall", "log_loss", "fn_share", "fn_intersection", "roc"),
    "age": ("accuracy",),
    "gender": ("accuracy",),
    "corruption": ("rce", "mrce", "odds_ratio"),
}
"""Scores that a protocol may ask for, by task."""


def protocol_names() -> tuple[str, ...]:
    """Return the names of the protocols that come with the package."""
    files = resources.files(__package__ or "protoctl.protocols").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def load_protocol(name_or_path: str) -> Protocol:
    """Load a protocol by the name of one that comes with the package, or from a file.

    Parameters
    ----------
    name_or_path : str
        A name such as ``fair-55-15-30``, or a path that ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    ProtocolError
        If no such protocol exists, or the file breaks a rule; every problem is named with its place.
    InputError
        If the file cannot be read.

    Examples
    --------
    >>> dict(load_protocol("fair-55-15-30").split.ratios)
    {'train': 55, 'valid': 15, 'test': 30}
    """
    if name_or_path in protocol_names():
        text = (resources.files(__package__ or "protoctl.protocols") / f"{name_or_path}.yaml").read_text("utf-8")
        return parse_protocol(text, name_or_path)
    path = Path(name_or_path)
    if path.suffix.lower() in _YAML_SUFFIXES or path.exists():
        return parse_protocol(read_text(path), path.name)
    message, hint = unknown("protocol", name_or_path, protocol_names())
    raise ProtocolError(message, hint=f"{hint}; or give the path of a .yaml file")


def parse_protocol(text: str, where: str) -> Protocol:
    """Parse the text of a protocol file.

    Parameters
    ----------
    text : str
        YAML.
    where : str
        What to call the file in messages.
    """
    document = _safe_yaml(text, where)
    problems = Problems()
    root = Section(document, "$", problems)
    protocol = _protocol(root)
    problems.refuse(ProtocolError, f"protocol {where} is refused")
    return replace(protocol, document=_canonical(protocol))


def _safe_yaml(text: str, where: str) -> Any:
    """Parse YAML without building objects, and refuse a key that stands twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = loader.construct_object(key_node, deep=True)
            if isinstance(key, list | dict):
                raise yaml.constructor.ConstructorError(None, None, "a key is a list", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return dict(loader.construct_mapping(node, deep=True))

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 (a subclass of SafeLoader)
    except yaml.constructor.ConstructorError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        hint = "a protocol holds texts, numbers, lists and mappings only; remove the tag"
        tagged = "tag" in str(error.problem)
        raise ProtocolError(f"{where}:{line}: {error.problem}", hint=hint if tagged else None) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ProtocolError(f"{where}:{line}: is not YAML ({error.problem})") from None
    except yaml.YAMLError as error:
        raise ProtocolError(f"{where} is not YAML ({error})") from None


def _protocol(root: Section) -> Protocol:
    name = root.text("name", pattern=_NAME, like="fair-55-15-30")
    version = root.text("version", pattern=_SEMVER, like="1.0.0")
    source = root.text("source")
    root.text("description")
    subset = _subset(root.section("subset")) if "subset" in root else None
    split = _split(root.section("split")) if "split" in root else None
    for section in ("subset", "split", "variants"):
        root.take(section)
    protocol = Protocol(
        name=name,
        version=version,
        source=source,
        select=_select(root.section("select")),
        form=_form(root.section("form")),
        subset=subset,
        split=split,
        variants=parse_variants(root.section("variants")) if "variants" in root else Variants(),
        score=_score(root.section("score")),
        document={},
    )
    if subset is None and split is None:
        root.problems.add("$", "has neither 'split' nor 'subset', so it gives no partition")
    degrade = protocol.variants.degrade
    if degrade and split and degrade.split not in split.ratios:
        message, hint = unknown("split", degrade.split, list(split.ratios))
        root.problems.add("$.variants.degrade.split", message, hint=hint)
    root.end()
    return protocol


def _select(section: Section) -> Select:
    annotation = section.choice("annotation", ("manual", "automatic", "any"), "any")
    require = section.names("require")
    wanted = section.section("where")
    where = {column: wanted.names(column) for column in wanted.every_key()}
    section.end()
    return Select(cast("Any", annotation), require, where)


def _form(section: Section) -> Form:
    action_unit = section.section("action_unit")
    active_above = action_unit.integer("active_above", least=0)
    action_unit.end()
    bounds = section.take("valence_arousal")
    valence_arousal: tuple[Decimal, Decimal] | None = None
    if bounds is not None:
        pair = cast("list[object]", bounds) if isinstance(bounds, list) else []
        ends = [section.decimal("valence_arousal", end) for end in pair]
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
            valence_arousal = (ends[0], ends[1])
        else:
            section.complain("valence_arousal", f"{bounds!r} is not a range", hint="write it like [-1, 1]")
    age = section.take("age")
    if age is not None and age not in AGE_GROUPS:
        message, hint = unknown("age grouping", str(age), list(AGE_GROUPS))
        section.complain("age", message, hint=hint)
    skin_type = section.take("skin_type")
    if skin_type is not None and skin_type not in FITZPATRICK.buckets:
        message, hint = unknown("merge of skin types", str(skin_type), list(FITZPATRICK.buckets))
        section.complain("skin_type", message, hint=hint)
    race = section.take("race")
    if race is not None and race not in RACE_MERGES:
        message, hint = unknown("merge of races", str(race), list(RACE_MERGES))
        section.complain("race", message, hint=hint)
    section.end()
    return Form(active_above, valence_arousal, age, skin_type, race)


def _subset(section: Section) -> Subset:
    subset = Subset(
        name=section.text("name", pattern=_SPLIT, like="mini"),
        per=section.names("per"),
        at_most=section.integer("at_most", least=1),
        total=section.integer("total", least=1),
        also=section.names("also"),
        alternate=section.text("alternate") or None,
        missing=cast("Any", section.choice("missing", ("cell", "leave-out"), "cell")),
        by=section.names("by"),
    )
    if not ("at_most" in section or "total" in section) or ("at_most" in section and "total" in section):
        section.problems.add(
            section.place, "needs one of 'at_most' and 'total'", hint="at_most is of a cell, total of all cells"
        )
    if not subset.per:
        section.complain("per", "names no column", hint="write it like [age, gender], or [subject]")
    if subset.alternate is not None and "total" in section:
        section.complain("alternate", "goes with 'at_most'", hint="leave one of 'alternate' and 'total' out")
    if subset.alternate in subset.per:
        section.complain("alternate", f"{subset.alternate!r} stands in 'per' too", hint="leave it out of 'per'")
    for place, name in enumerate(subset.also):
        if name in subset.per:
            section.problems.add(f"{section.at('also')}[{place}]", f"{name!r} stands in 'per' too")
    section.end()
    return subset


def _split(section: Section) -> Split:
    ratios = _ratios(section)
    unit = section.choice("unit", ("subject", "group", "item"), "subject")
    stratify = section.names("stratify", ("label",))
    widths = section.section("regions")
    regions: dict[str, Decimal] = {}
    for column in ("valence", "arousal"):
        width = widths.number(column)
        if width is not None and width <= 0:
            widths.complain(column, f"{width} is not above 0")
        elif width is not None:
            regions[column] = width
    widths.end()
    cover = section.integer("cover", least=0, default=1)
    weighing = section.section("weights")
    weights: dict[str, int] = {}
    for column in weighing.every_key():
        weight = weighing.integer(column, least=1)
        if column not in stratify:
            message, hint = unknown("stratified column", column, stratify)
            weighing.complain(column, message, hint=hint)
        elif weight is not None:
            weights[column] = weight
    section.end()
    return Split(ratios, cast("Any", unit), stratify, regions, 1 if cover is None else cover, weights)


def _ratios(section: Section) -> dict[str, int]:
    if "ratios" not in section:
        section.complain("ratios", "is missing", hint="write it like {train: 55, valid: 15, test: 30}")
    given = section.section("ratios")
    ratios: dict[str, int] = {}
    names = given.every_key()
    for name in names:
        value = given.take(name)
        if isinstance(value, bool) or not isinstance(value, int):
            given.complain(name, f"{value!r} is not an integer", hint="only proportions count: 55, 15, 30 and no %")
        elif value <= 0:
            given.complain(name, f"{value} is not above 0", hint="leave out a split that should hold nothing")
        elif value > 10_000:
            given.complain(name, f"{value} is above 10,000", hint="only proportions count: 55, 15, 30")
        else:
            ratios[name] = value
        if not _fits(name):
            given.complain(name, "is no name of a split", hint="lower-case letters, digits, '_' and '-'")
    if len(names) == 1:
        section.complain("ratios", "has one split, and a partition has two or more")
    return ratios


def _fits(name: str) -> bool:
    return re.fullmatch(_SPLIT, name) is not None


def _score(section: Section) -> Mapping[str, Any]:
    score: dict[str, Any] = {}
    for task, known in SCORES.items():
        names = section.names(task)
        for place, name in enumerate(names):
            if name not in known:
                message, hint = unknown("score", name, known)
                section.problems.add(f"{section.at(task)}[{place}]", message, hint=hint)
        if names:
            score[task] = list(names)
    section.end()
    return score


def _canonical(protocol: Protocol) -> dict[str, Any]:
    """Return what the digest is over: defaults filled in, ratios in lowest terms and in order."""
    document: dict[str, Any] = {
        "name": protocol.name,
        "version": protocol.version,
        "select": {
            "annotation": protocol.select.annotation,
            "require": sorted(protocol.select.require),
            "where": {column: sorted(values) for column, values in protocol.select.where.items()},
        },
        "form": {
            "active_above": protocol.form.active_above,
            "valence_arousal": [_plain_number(end) for end in protocol.form.valence_arousal or ()],
            "age": protocol.form.age,
        },
        "variants": dict(protocol.variants.document),
        "score": dict(protocol.score),
    }
    if protocol.form.skin_type:
        document["form"]["skin_type"] = protocol.form.skin_type
    if protocol.form.race:
        document["form"]["race"] = protocol.form.race
    if protocol.subset:
        lists = {key: list(getattr(protocol.subset, key)) for key in ("per", "also", "by")}
        document["subset"] = vars(protocol.subset) | lists
    if protocol.split:
        split = protocol.split
        divisor = reduce(gcd, split.ratios.values())
        document["split"] = {
            "ratios": [[name, ratio // divisor] for name, ratio in split.ratios.items()],
            "unit": split.unit,
            "stratify": list(split.stratify),
            "regions": {column: _plain_number(width) for column, width in split.regions.items()},
            "cover": split.cover,
            "weights": {column: weight for column, weight in split.weights.items() if weight != 1},
        }
    return document


def _plain_number(number: Decimal) -> str:
    """Write a decimal in its shortest form: 0.20 and 0.2 are one number."""
    return format(number.normalize(), "f")


def override(
    protocol: Protocol,
    *,
    stratify: tuple[str, ...] | None = None,
    require: tuple[str, ...] | None = None,
    unit: Unit | None = None,
) -> Protocol:
    """Return the protocol with its stratified columns or unit replaced, or more columns required, for one run.

    The digest stays that of the file; what was replaced stands in ``overrides`` and goes into the manifest.

    Raises
    ------
    InputError
        If `stratify` or `unit` is asked of a protocol that makes no split.
    """
    overrides: dict[str, Any] = dict(protocol.overrides)
    select, split = protocol.select, protocol.split
    if require is not None:
        select = replace(select, require=tuple(dict.fromkeys((*select.require, *require))))
        overrides["require"] = list(require)
    if split is None and (stratify is not None or unit is not None):
        raise InputError(
            f"protocol {protocol.name} makes no split, so there is nothing to stratify or to keep whole",
            hint="leave --stratify and --unit out",
        )
    if split and stratify is not None:
        weights = {column: weight for column, weight in split.weights.items() if column in stratify}
        split = replace(split, stratify=stratify, weights=weights)
        overrides["stratify"] = list(stratify)
    if split and unit is not None:
        split = replace(split, unit=unit)
        overrides["unit"] = unit
    return replace(protocol, select=select, split=split, overrides=overrides)
