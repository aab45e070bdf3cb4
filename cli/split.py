"""`protoctl split`: a dataset and a protocol become a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import as_json, force, names, out_folder, seed
from .terminal import progress_bar, show_json, show_line, show_messages, show_table

if TYPE_CHECKING:
    from ..catalog import Items
    from ..manifests import Manifest
    from ..partition import Balance, Partition

__all__ = ["split"]


@click.command()
@click.argument("dataset")
@click.option("--protocol", required=True, help="Name of a protocol, or the path of a YAML file.")
@click.option("--root", type=click.Path(path_type=Path), help="Where the dataset's files lie.")
@click.option(
    "--attributes",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE[,OPTIONS]",
    help="A table that adds attributes by item or subject; may be given several times. A model's predictions: "
    "FILE,automatic,confidence=COLUMN,at-least=0.8.",
)
@click.option("--task", help="Which labels of the dataset (protoctl datasets NAME lists them).")
@click.option("--stratify", callback=names, help="Columns to balance instead of the protocol's: age,gender.")
@click.option("--require", callback=names, help="Columns in which an item must have a value: age,gender.")
@click.option("--unit", type=click.Choice(["subject", "group", "item"]), help="What stays whole.")
@click.option("--item", "item_column", help="Of a table: the column that names items.")
@click.option("--subject", "subject_column", help="Of a table: the column that names subjects.")
@click.option("--label", "label_column", help="Of a table: the column of the label.")
@click.option(
    "--missing-subject",
    type=click.Choice(["own", "drop"]),
    help="Of a table: items without a subject are each a unit of their own, or left out.",
)
@seed
@click.option("--method", help="A baseline for comparison: random, iterative, group-kfold or shuffle.")
@click.option("--folds", type=click.IntRange(2), help="Make this many folds of equal size instead of the splits.")
@click.option("--keep", type=click.Path(path_type=Path), help="A manifest whose assignments stay as they are.")
@click.option("--prove", is_flag=True, help="Look for a proof that no partition is better, or for a better bound.")
@click.option(
    "--accept-terms",
    metavar="WHY",
    help="Why a split to train on is made of a dataset whose terms allow evaluation only; the manifest records it.",
)
@click.option("--strict", is_flag=True, help="Refuse (exit 4) what cannot be met, instead of doing what can be.")
@out_folder
@force
@as_json
def split(dataset: str, protocol: str, as_json: bool, out: Path | None, force: bool, **options: Any) -> None:
    """Partition a DATASET (a name, or a table of items) by a protocol, and write its manifest.

    Where a dataset's files are not at hand, a replica with its published counts takes their place, and all that
    comes of it says so.

    \b
    Examples:
      protoctl split affectnet --protocol fair-55-15-30
      protoctl split utkface --root utkface_names.txt --protocol fair-55-15-30
      protoctl split items.csv --protocol mine.yaml --subject person --seed 7
    """
    from ..manifests import build_manifest, refuse_folder, write_manifest
    from ..partition import balance_of

    rules = _rules(protocol, options)
    items = _items(dataset, options, quiet=as_json)
    folder = out or Path(f"{items.dataset}{'-replica' if items.replica else ''}-{rules.name}")
    show_messages("note", refuse_folder(folder, force=force))
    partition = _partition(items, rules, options, quiet=as_json)
    balance = balance_of(partition)
    manifest = build_manifest(partition, balance)
    show_messages("warning", write_manifest(folder, manifest, force=force))
    if as_json:
        show_json({"folder": str(folder), **manifest.document})
        return
    _show(partition, balance, folder)


def _rules(protocol: str, options: dict[str, Any]) -> Any:
    from ..protocols import load_protocol, override

    return override(
        load_protocol(protocol), stratify=options["stratify"], require=options["require"], unit=options["unit"]
    )


def _items(dataset: str, options: dict[str, Any], *, quiet: bool) -> Items:
    from ..catalog import load_items

    columns = {role: options[f"{role}_column"] for role in ("item", "subject", "label") if options[f"{role}_column"]}
    with progress_bar(quiet=quiet) as progress:
        items = load_items(
            dataset,
            root=options["root"],
            task=options["task"],
            attributes=options["attributes"],
            columns=columns,
            missing_subject=options["missing_subject"],
            progress=progress,
        )
    notes = list(items.report.notes)
    if items.replica:
        show_line(f"{click.style('replica', bold=True)}: {notes.pop(0)}", err=True)
    show_messages("warning", items.report.warnings)
    show_messages("note", notes)
    return items


def _partition(items: Items, rules: Any, options: dict[str, Any], *, quiet: bool) -> Partition:
    from ..manifests import read_manifest
    from ..partition import apply_protocol

    keep = _kept(read_manifest(options["keep"]), items) if options["keep"] else None
    with progress_bar(quiet=quiet) as progress:
        return apply_protocol(
            items,
            rules,
            seed=options["seed"],
            method=options["method"],
            folds=options["folds"],
            keep=keep,
            prove=options["prove"],
            strict=options["strict"],
            accept_terms=options["accept_terms"],
            progress=progress,
        )


def _kept(manifest: Manifest, items: Items) -> dict[str, str]:
    """Return the split that a manifest gives each item: by its own row, or by its subject's."""
    key = manifest.level
    rows = manifest.assignments
    split = dict(zip(rows[key].to_pylist(), rows["split"].to_pylist(), strict=True))
    pairs = zip(items.table["item"].to_pylist(), items.table[key].to_pylist(), strict=True)
    return {item: split[name] for item, name in pairs if name in split}


def _show(partition: Partition, balance: Balance, folder: Path) -> None:
    from .balances import balance_lines, balance_rows

    show_messages("warning", partition.warnings)
    show_messages("note", partition.notes)
    show_messages("note", [f"left out: {count:,} items, {reason}" for reason, count in partition.left_out.items()])
    items = partition.items
    kind = " (replica)" if items.replica else ""
    click.echo(f"{items.dataset}{kind} by {partition.protocol.name}, seed {partition.solver.seed}")
    if partition.drawn:
        from .subsets import show_subset

        show_subset(partition.drawn)
    if len(partition.splits) > 1:
        columns, rows = balance_rows(balance)
        show_table(columns, rows, text_columns=2)
        for line in balance_lines(balance):
            show_line(line)
    click.echo(f"written: {folder}/manifest.json, assignments.csv, README.md")
