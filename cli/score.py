"""`protoctl score`: predictions become scores by subgroup, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .options import as_json, names, seed
from .terminal import progress_bar, show_json, show_line, show_messages, show_table

if TYPE_CHECKING:
    from ..audit import Gap, Score, Scores, Truth
    from ..catalog import Items
    from ..manifests import Manifest
    from ..tabular import TextTable

__all__ = ["score"]


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path), required=False)
@click.argument("predictions", type=click.Path(path_type=Path), required=False)
@click.option("--dataset", help="Dataset (or table) of the labels; by default the predictions' own, or the manifest's.")
@click.option("--root", type=click.Path(path_type=Path), help="Where the dataset's files lie.")
@click.option(
    "--attributes",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A table that adds attributes by item or subject; may be given several times.",
)
@click.option("--split", default="test", show_default=True, help="The split to score; 'all' for every item.")
@click.option(
    "--rendered",
    type=click.Path(path_type=Path),
    help="Of services' JSON answers: the folder that the images were rendered to.",
)
@click.option("--by", callback=names, help="Attributes whose subgroups are scored (all): age,gender.")
@click.option("--intersect", multiple=True, help="A pair to cross: skin_type,lighting.")
@click.option("--interaction", multiple=True, help="Of odds ratios: a product too: skin_type,lighting.")
@click.option("--as-number", multiple=True, help="Of odds ratios: an attribute that enters per ten years: age.")
@click.option("--skip", callback=names, help="Count and leave out instead of refusing: missing,unknown,invalid.")
@click.option("--replicates", type=click.IntRange(2), default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--explain", is_flag=True, help="Say which columns PREDICTIONS has.")
@seed
@as_json
def score(manifest: Path | None, predictions: Path | None, explain: bool, as_json: bool, **options: Any) -> None:
    """Score PREDICTIONS (CSV, Parquet or JSON lines) by subgroup, on a split of MANIFEST.

    Of corruptions they may be a folder of services' JSON answers, one a file, whose faces are counted.

    The manifest's protocol says which scores. Intervals are bootstraps over subjects; a subgroup of fewer than 30
    subjects is marked small. Whatever is left out is counted.

    \b
    Examples:
      protoctl score --explain
      protoctl score affectnet-replica-fair-55-15-30 predictions.csv --by age,gender
      protoctl score m predictions.parquet --intersect skin_type,lighting --json > scores.json
    """
    from ..audit import COLUMNS

    if explain:
        if as_json:
            show_json(dict(COLUMNS))
            return
        show_table(["column", "what it holds"], list(COLUMNS.items()), text_columns=2)
        return
    if manifest is None or predictions is None:
        raise click.UsageError("MANIFEST and PREDICTIONS are wanted (--explain says which columns the latter has).")
    found = _scored(manifest, predictions, options, quiet=as_json)
    if as_json:
        show_json(found.to_json())
        return
    _show(found)


def _scored(manifest: Path, path: Path, options: dict[str, Any], *, quiet: bool) -> Scores:
    from ..audit import protocol_of_document, score_predictions, truth_of_items
    from ..manifests import read_manifest

    record = read_manifest(manifest)
    if record.keyed:
        raise InputError(
            f"{record.title} holds tokens instead of names",
            hint="protoctl resolve makes the manifest with names, from the licensed file",
        )
    table = _predictions(path, options["rendered"])
    if len(record.splits) == 1 and options["split"] not in ("all", *record.splits):
        options["split"] = record.splits[0]
    rules = protocol_of_document(record.document["protocol"]["document"])
    if not rules.score:
        raise InputError(f"protocol {rules.name} of {record.title} names no scores", hint="add a 'score' section to it")
    with progress_bar(quiet=quiet) as progress:
        items = _items(record, table, options, progress)
        truth: Truth = truth_of_items(
            items, rules, _splits(record, items), None if options["split"] == "all" else options["split"]
        )
        return score_predictions(
            table,
            truth,
            rules.score,
            seed=options["seed"],
            replicates=options["replicates"],
            by=options["by"],
            intersect=[_pair(text) for text in options["intersect"]],
            skip=_skip(options["skip"] or ()),
            as_numbers=options["as_number"],
            interactions=[_pair(text) for text in options["interaction"]],
            progress=progress,
        )


def _predictions(path: Path, rendered: Path | None) -> TextTable:
    """Read a table of predictions; or count the faces in services' answers."""
    from ..audit.face_counts import read_face_counts
    from ..tabular import read_table

    if path.is_dir() or path.suffix.lower() == ".json":
        return read_face_counts(path, rendered=rendered)
    table = read_table(path)
    names = {name.lower() for name in table.table.column_names}
    return read_face_counts(path) if "faces" in names and "item" not in names else table


def _items(record: Manifest, table: TextTable, options: dict[str, Any], progress: Any) -> Items:
    """Return where labels and attributes come from: a dataset, or the predictions' own columns."""
    from ..audit import items_of_columns
    from ..catalog import card_names, load_items
    from ..catalog.items import label_kind

    own = any(name == "label" or label_kind(name) != "category" for name in table.table.column_names)
    stated = record.document["dataset"]
    name = options["dataset"] or stated["name"]
    if not options["dataset"] and (own or stated["name"] not in card_names()):
        also = record.assignments["item"].to_pylist() if record.level == "item" else ()
        items = items_of_columns(table, options["by"] or (), also)
        if options["attributes"] or options["root"]:
            raise InputError(
                f"{table.path.name} holds its own labels, so --root and --attributes are not used",
                hint="name the dataset with --dataset to take them from there",
            )
        return items
    task = stated.get("task") if not options["dataset"] or options["dataset"] == stated["name"] else None
    return load_items(name, root=options["root"], task=task, attributes=options["attributes"], progress=progress)


def _splits(record: Manifest, items: Items) -> dict[str, str]:
    """Return the split of each item: by its own row, or by its subject's."""
    key, rows = record.level, record.assignments
    split = dict(zip(rows[key].to_pylist(), rows["split"].to_pylist(), strict=True))
    if key == "item":
        return split
    pairs = zip(items.table["item"].to_pylist(), items.table[key].to_pylist(), strict=True)
    return {item: split[name] for item, name in pairs if name in split}


def _pair(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) != 2 or parts[0] == parts[1]:
        raise InputError(f"--intersect {text!r} is no pair of attributes", hint="write it like skin_type,lighting")
    return parts[0], parts[1]


def _skip(given: Sequence[str]) -> Any:
    from ..errors import unknown

    for name in given:
        if name not in ("missing", "unknown", "invalid"):
            message, hint = unknown("reason to skip", name, ["missing", "unknown", "invalid"])
            raise InputError(f"--skip: {message}", hint=hint)
    return tuple(given)


def _show(found: Scores) -> None:
    show_messages("note", found.notes)
    for name, counts in found.counts.items():
        show_messages("warning", [f"{name}: {count:,} items {reason}" for reason, count in counts.items()])
    several = len({row.model for row in found.rows}) > 1
    tables: dict[tuple[str, str, str], list[Score]] = {}
    for row in found.rows:
        tables.setdefault((row.task, row.score, row.model), []).append(row)
    for (task, name, model), rows in tables.items():
        title = f"{task}: {name}{f' of {model}' if model else ''}"
        columns = ["subgroup", "value", "95 % interval", "items", "subjects", ""]
        show_table(columns, [_row(row) for row in rows], title=title)
        for note in dict.fromkeys(row.note for row in rows if row.note):
            show_line(f"* {note}")
        click.echo("")
    for gap in found.gaps:
        show_line(_gap_line(gap, several))
    if found.odds_ratios:
        click.echo("")
        rows = [
            (r.term, r.reference or "", f"{r.ratio:.3g}", f"{r.cluster_low:.3g} to {r.cluster_high:.3g}",
             f"{r.p:.2g}", f"{r.cluster_p:.2g}")
            for r in found.odds_ratios
        ]  # fmt: skip
        show_table(["odds ratio", "against", "value", "95 % by subject", "p", "p by subject"], rows, text_columns=2)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _row(row: Score) -> tuple[str, ...]:
    place = ", ".join(row.subgroup) or (f"over {' x '.join(row.attributes)}" if row.attributes else "all")
    marks = ["small"] if row.small else []
    if row.base is not None:
        marks.append(f"base {row.base:.4f}")
    if row.chance is not None:
        marks.append(f"chance {row.chance:.4f}")
    if row.note:
        marks.append("*")
    interval = "-" if row.low is None else f"{_figure(row.low)} to {_figure(row.high)}"
    return place, _figure(row.value), interval, f"{row.items:,}", f"{row.subjects:,}", " ".join(marks)


def _gap_line(gap: Gap, several: bool) -> str:
    model = f"{gap.model} " if several else ""
    inside = f" within {gap.within[1]}" if gap.within else ""
    ends = "" if gap.low is None else f" (95 %: {_figure(gap.low)} to {_figure(gap.high)})"
    chance = "" if gap.chance is None else f"; chance alone gives {gap.chance:.4f}, up to {_figure(gap.chance_high)}"
    small = "; small" if gap.small else ""
    return (
        f"{model}{gap.score} by {' x '.join(gap.attributes)}{inside}: {', '.join(gap.best)} is better than "
        f"{', '.join(gap.worst)} by {gap.value:.4f}{ends}{chance}{small}"
    )
