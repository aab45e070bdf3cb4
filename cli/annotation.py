"""`protoctl aggregate`, `protoctl agreement` and `protoctl annotate`: from votes to labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from .options import as_json, force, names, out_folder, seed
from .terminal import progress_bar, show_json, show_line, show_messages, show_table

__all__ = ["aggregate", "agreement", "annotate"]

_Command = Callable[..., Any]
_FORMATS = ("auto", "json", "json-min", "csv", "long", "wide", "counts")


def _reading(function: _Command) -> _Command:
    """Add what `aggregate` and `agreement` share: which files, and how annotations become votes."""
    options = (
        click.argument("exports", metavar="EXPORT...", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--scale", required=True, help="fitzpatrick, monk, gender, ..., nominal, or a YAML file."),
        click.option(
            "--control", "controls", metavar="NAME[=SCALE]", multiple=True, help="Control to read; may be repeated."
        ),
        click.option(
            "--doubt-control", "doubts", metavar="[CONTROL=]NAME", multiple=True, help="Control that holds the doubt."
        ),
        click.option("--doubt-weight", default="1/2", show_default=True, help="Weight of a doubtful vote, 0 to 1."),
        click.option(
            "--config", type=click.Path(path_type=Path), help="Labelling configuration (XML): aliases of choices."
        ),
        click.option("--format", "format_", type=click.Choice(_FORMATS), default="auto", show_default=True),
        click.option(
            "--unit", default="task", show_default=True, help="What a label belongs to: task, or a field of its data."
        ),
        click.option(
            "--ground-truth",
            type=click.Choice(["auto", "vote", "gold", "exclude"]),
            default="auto",
            show_default=True,
            help="What becomes of annotations flagged as ground truth.",
        ),
        click.option(
            "--duplicates",
            type=click.Choice(["last", "first", "refuse"]),
            default="last",
            show_default=True,
            help="Which vote counts where an annotator voted twice.",
        ),
        click.option(
            "--invalid",
            type=click.Choice(["refuse", "count"]),
            default="refuse",
            show_default=True,
            help="What becomes of values outside the scale.",
        ),
        click.option(
            "--replicates",
            type=click.IntRange(min=0),
            default=1000,
            show_default=True,
            help="Bootstrap replicates; 0 gives no intervals.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _settling(ground_truth: str, duplicates: str, invalid: str, doubt_weight: str) -> Any:
    from ..annotate import Settling, doubt_weights

    choices: dict[str, Any] = {"ground_truth": ground_truth, "duplicates": duplicates, "invalid": invalid}
    return Settling(**choices, weights=doubt_weights(doubt_weight))


def _annotations(exports: Sequence[Path], questions: Sequence[Any], unit: str, format_: Any) -> Any:
    from ..annotate import read_annotations

    return read_annotations(exports, scale=questions[0].scale, unit=unit, format=format_)


def _config(path: Path | None) -> Any:
    from ..annotate import read_config

    return read_config(path) if path else {}


def _show_sheets(sheets: Sequence[Any]) -> None:
    for sheet in sheets:
        show_line(sheet.title)
        show_table(sheet.columns, sheet.rows, text_columns=sheet.text_columns)
        click.echo()


@click.command()
@_reading
@click.option("--rule", type=click.Choice(["mode", "agree"]), default="mode", show_default=True)
@click.option(
    "--ties",
    callback=names,
    help="Tie rules in turn: nearest-mean, nearest-median, adjudicated, random, lowest, highest.",
)
@click.option("--minimum", type=click.IntRange(min=1), default=1, show_default=True, help="Votes that a label needs.")
@click.option(
    "--review", type=click.Path(path_type=Path, dir_okay=False), help="Write the units that need a look to this file."
)
@click.option(
    "--stable",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="Stability below which a label is written for review.",
)
@click.option("--decisions", type=click.Path(path_type=Path), help="A review file with its decisions filled in.")
@out_folder
@force
@seed
@as_json
def aggregate(
    exports: tuple[Path, ...],
    scale: str,
    controls: tuple[str, ...],
    doubts: tuple[str, ...],
    doubt_weight: str,
    config: Path | None,
    format_: str,
    unit: str,
    ground_truth: str,
    duplicates: str,
    invalid: str,
    replicates: int,
    rule: Any,
    ties: Any,
    minimum: int,
    review: Path | None,
    stable: float,
    decisions: Path | None,
    out: Path | None,
    force: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Turn annotators' votes into labels.

    EXPORT is a Label Studio export (JSON, snapshot, JSON_MIN, CSV, TSV) or a table: one row a vote, one column an
    annotator, or one column a category. Ties stay ties unless --ties says how to settle them.

    \b
    Examples:
      protoctl aggregate project.json --scale fitzpatrick --unit subject_id
      protoctl aggregate pairs.csv --scale gender --rule agree --review look.csv
    """
    from ..annotate import (
        Consensus,
        aggregation_sheets,
        output_folder,
        parse_questions,
        refuse_existing,
        review_rows,
        undefined_lines,
        write_aggregation,
        write_review,
    )
    from ..annotate import aggregate as aggregate_annotations

    folder = output_folder(exports, out)
    for path in (folder, review):
        if path:
            refuse_existing(path, force=force)
    questions = parse_questions(scale, controls, doubts)
    with progress_bar(quiet=as_json) as progress:
        found = aggregate_annotations(
            _annotations(exports, questions, unit, format_),
            questions,
            config=_config(config),
            settling=_settling(ground_truth, duplicates, invalid, doubt_weight),
            consensus=Consensus(rule, ties or (), minimum),
            decisions=decisions,
            seed=seed,
            replicates=replicates,
            progress=progress,
        )
    write_aggregation(folder, found, force=force)
    if review:
        rows = [row for each in found.results for row in review_rows(each.votes, each.labels, stable=stable)]
        write_review(review, rows, found.results[0].labels.unit_kind, force=force)
        show_line(f"{len(rows):,} units to review: {review}", err=True)
    for result in found.results:
        show_messages("warning", [*result.votes.warnings, *result.labels.warnings])
        show_messages("note", [*result.votes.notes, *undefined_lines(result.agreement)])
    if as_json:
        show_json(found.document())
    else:
        _show_sheets(aggregation_sheets(found))
    show_line(f"written: {folder}{'/' if not str(folder).endswith('/') else ''}", err=True)


@click.command()
@_reading
@seed
@as_json
def agreement(
    exports: tuple[Path, ...],
    scale: str,
    controls: tuple[str, ...],
    doubts: tuple[str, ...],
    doubt_weight: str,
    config: Path | None,
    format_: str,
    unit: str,
    ground_truth: str,
    duplicates: str,
    invalid: str,
    replicates: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how far annotators agree, with intervals.

    \b
    Example:
      protoctl agreement project.json --scale fitzpatrick
    """
    from ..annotate import agreement_sheets, measure_agreement, parse_questions, settle, undefined_lines

    questions = parse_questions(scale, controls, doubts)
    annotations = _annotations(exports, questions, unit, format_)
    settling = _settling(ground_truth, duplicates, invalid, doubt_weight)
    known = _config(config)
    found = [
        settle(
            annotations,
            each.scale,
            control=each.control,
            doubt_control=each.doubt_control,
            config=known,
            settling=settling,
        )
        for each in questions
    ]
    measured = [measure_agreement(votes, seed=seed, replicates=replicates) for votes in found]
    for votes, result in zip(found, measured, strict=True):
        show_messages("warning", votes.warnings)
        show_messages("note", [str(votes.ledger), *votes.notes, *undefined_lines(result)])
    if as_json:
        show_json({"controls": [result.document() for result in measured]})
    else:
        _show_sheets([sheet for result in measured for sheet in agreement_sheets(result)])


@click.group()
def annotate() -> None:
    """Set up a Label Studio project, and fetch what it holds.

    Address and key are taken from LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or from --url and --key.
    """


def _server(function: _Command) -> _Command:
    """Add the address and the key of the server."""
    function = click.option("--key", help="Access token; better set LABEL_STUDIO_API_KEY.")(function)
    return click.option("--url", help="Address of the server; by default LABEL_STUDIO_URL.")(function)


@annotate.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--title", required=True, help="Name of the project.")
@click.option("--scale", required=True, help="fitzpatrick, monk, gender, ..., or a YAML file.")
@click.option(
    "--control", "controls", metavar="NAME[=SCALE]", multiple=True, help="Control to set up; may be repeated."
)
@click.option("--frames", type=click.IntRange(min=1), default=1, show_default=True, help="Images a subject.")
@click.option("--show", type=click.Choice(["image", "video"]), default="image", show_default=True)
@click.option("--prefix", default="", help="Put before each item, to make an address of it.")
@_server
@seed
@as_json
def create(
    table: Path,
    title: str,
    scale: str,
    controls: tuple[str, ...],
    frames: int,
    show: str,
    prefix: str,
    url: str | None,
    key: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Set up a project with one task a subject.

    TABLE has the columns item and subject, and optionally video, from which frames are then taken in turn.

    \b
    Example:
      protoctl annotate create frames.csv --title "Skin types" --scale fitzpatrick --frames 5
    """
    from ..annotate import connect, create_project, labelling_config, parse_questions, sampled_tasks

    config = labelling_config(parse_questions(scale, controls), show=show, frames=frames)
    tasks = sampled_tasks(table, frames=frames, show=show, prefix=prefix, seed=seed)
    with connect(url, key) as client, progress_bar(quiet=as_json) as progress:
        project = create_project(client, title, config, tasks, progress=progress)
    if as_json:
        show_json(project.document())
    else:
        show_line(f"project {project.number}: {project.title}, {project.tasks:,} tasks")


@annotate.command()
@click.argument("project", type=int)
@out_folder
@force
@_server
@as_json
def pull(project: int, out: Path | None, force: bool, url: str | None, key: str | None, as_json: bool) -> None:
    """Fetch a project's raw export and its labelling configuration.

    \b
    Examples:
      protoctl annotate pull 7 --out skin
      protoctl aggregate skin/export.json --config skin/label_config.xml --scale fitzpatrick
    """
    from ..annotate import connect, pull_project

    folder = out or Path(f"project-{project}")
    with connect(url, key) as client:
        found = pull_project(client, project, folder, force=force)
    if as_json:
        show_json(found.document())
    else:
        show_line(f"project {found.number}: {found.title}, {found.tasks:,} tasks: {folder}/export.json")
