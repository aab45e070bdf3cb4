"""`protoctl render`: the variants that a protocol plans, of the files that a manifest lists."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import as_json, seed
from .terminal import progress_bar, show_json, show_line, show_messages

if TYPE_CHECKING:
    import pyarrow as pa

    from ..manifests import Manifest
    from ..partition import ItemPlan, Rendered
    from ..protocols import Variants

__all__ = ["render"]


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path))
@click.option("--root", type=click.Path(path_type=Path), help="Folder that the items' names start from.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to.")
@click.option("--protocol", help="Whose variants: a name or a YAML file. By default the manifest's own protocol.")
@click.option("--split", "splits", multiple=True, help="Only this split; may be given several times.")
@click.option("--plan", "plan_only", is_flag=True, help="Print the plan as CSV, and render nothing.")
@click.option("--jobs", type=click.IntRange(1), help="Processes at a time.  [default: as many as there are processors]")
@seed
@as_json
def render(
    manifest: Path,
    root: Path | None,
    to: Path | None,
    protocol: str | None,
    splits: tuple[str, ...],
    plan_only: bool,
    jobs: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Render the variants that a protocol plans: corruptions of images, clips and degradations of videos.

    What is there already is kept, so a run that was stopped goes on where it was. What cannot be read is named, and
    the rest goes on. Every file stands with its digest in rendered.csv.

    \b
    Examples:
      protoctl render adience-robustness-1500 --root Adience --to corrupted
      protoctl render adience-robustness-1500 --plan | head
    """
    from ..manifests import read_manifest

    found = read_manifest(manifest)
    variants = _variants(found, protocol)
    rows = _rows(found, splits)
    if plan_only:
        _print_plan(rows, variants, seed, root)
        return
    source, target = _folders(found, root, to)
    rendered = _rendered(found, variants, rows, source, target, seed, jobs or os.cpu_count() or 1, quiet=as_json)
    if as_json:
        show_json(rendered.to_json())
    else:
        show_line(
            f"{rendered.written:,} files written, {rendered.present:,} were there, of {rendered.items:,} items: "
            f"{target}/rendered.csv"
        )
    _complain(rendered)


def _variants(manifest: Manifest, protocol: str | None) -> Variants:
    """Return the variants of a protocol; by default of the one in the manifest, as it stands there."""
    from ..errors import InputError, Problems, ProtocolError
    from ..protocols import load_protocol, parse_variants
    from ..protocols.checked import Section

    if protocol is not None:
        variants = load_protocol(protocol).variants
    else:
        problems = Problems()
        document = manifest.document["protocol"].get("document", {}).get("variants", {})
        section = Section(document, "$.protocol.document.variants", problems)
        variants = parse_variants(section) if document else None
        problems.refuse(ProtocolError, f"{manifest.title}: its protocol is refused")
    if not variants:
        raise InputError(
            f"protocol {protocol or manifest.document['protocol']['name']} plans no variants",
            hint="name one that does with --protocol: robustness-1500, or dfdc-preview",
        )
    return variants


def _rows(manifest: Manifest, splits: tuple[str, ...]) -> pa.Table:
    """Return items and splits, those of some splits only where they are named."""
    from ..errors import InputError, unknown

    for name in splits:
        if name not in manifest.splits:
            message, hint = unknown("split", name, manifest.splits)
            raise InputError(f"{manifest.title}: {message}", hint=hint)
    if manifest.level == "subject":
        raise InputError(f"{manifest.title} lists subjects and not items", hint="split by a protocol that lists items")
    if manifest.keyed:
        raise InputError(f"{manifest.title} lists tokens and not names", hint="protoctl resolve gives the names")
    rows: Any = manifest.assignments
    if not splits:
        return rows
    import pyarrow as pa

    from ..tabular import pc

    return rows.filter(pc.is_in(rows["split"], pa.array(splits, pa.string())))


def _folders(manifest: Manifest, root: Path | None, to: Path | None) -> tuple[Path, Path]:
    from ..errors import InputError

    if manifest.replica:
        raise InputError(
            f"{manifest.title} is a replica, and there are no files of its items",
            hint="--plan prints what would be made",
        )
    if root is None or to is None:
        raise click.UsageError(f"Missing option '{'--root' if root is None else '--to'}'.")
    return root, to


def _print_plan(rows: pa.Table, variants: Variants, seed: int, root: Path | None) -> None:
    """Print the plan as CSV, row by row."""
    from ..partition import PLAN_COLUMNS, plan_rows, plan_variants
    from ..partition.render_videos import video_length

    folder = root or Path()
    length = (lambda item: video_length(folder / item)) if root is not None else None
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(PLAN_COLUMNS)
    faults: list[str] = []

    def planned() -> Iterator[ItemPlan]:
        for plan in plan_variants(rows, variants, seed=seed, length=length):
            if plan.fault:
                faults.append(f"{plan.item}: {plan.fault}")
            yield plan

    writer.writerows(plan_rows(planned()))
    show_messages("warning", faults)


def _rendered(
    manifest: Manifest, variants: Variants, rows: pa.Table, root: Path, to: Path, seed: int, jobs: int, *, quiet: bool
) -> Rendered:
    from ..partition import render_variants

    with progress_bar(quiet=quiet) as progress:
        return render_variants(
            rows,
            variants,
            root,
            to,
            seed=seed,
            jobs=jobs,
            state={"manifest": manifest.title, "assignments": manifest.digest},
            progress=progress,
        )


def _complain(rendered: Rendered) -> None:
    """Refuse, at the end, what could not be rendered."""
    from ..errors import InputError, listing

    if not rendered.failed:
        return
    places = [
        f"{failure.item}{f' ({failure.variant})' if failure.variant else ''}: {failure.fault}"
        for failure in rendered.failures
    ]
    raise InputError(
        f"{rendered.failed:,} could not be rendered: {listing(list(dict.fromkeys(places)), most=5)}",
        hint=f"{rendered.folder}/failed.csv names all; the rest is written, and the same command goes on from there",
    )
