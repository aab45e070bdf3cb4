"""`protoctl audit`: what is known of a partition's balance, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import AuditError, InputError
from .options import as_json, force, seed
from .terminal import progress_bar, show_json, show_line, show_messages, show_table

if TYPE_CHECKING:
    from ..audit import Audit, Finding, Thresholds
    from ..catalog import Items
    from ..manifests import Manifest
    from ..partition import Balance, Partition
    from ..protocols import Protocol

__all__ = ["audit"]

_FOLDER = click.Path(path_type=Path, file_okay=False)
_NUMBER = click.FloatRange(min=0)
# The protocol of the paper whose partitions are known.
_PUBLISHED_BY = "fair-55-15-30"


@click.command()
@click.argument("partition", type=click.Path(path_type=Path), required=False)
@click.option("--protocol", help="The protocol that a split without a manifest is held against.")
@click.option("--published", metavar="DATABASE", help="Audit the published partitions of a dataset instead.")
@click.option(
    "--items", "items_path", type=click.Path(path_type=Path), help="Of a manifest or a dataset: its label files."
)
@click.option("--item", "item_column", help="Of a table: the column that names items.")
@click.option("--subject", "subject_column", help="Of a table: the column that names subjects.")
@click.option("--label", "label_column", help="Of a table: the column of the label.")
@click.option("--split", "split_column", help="Of a table: the column that names the split.")
@click.option("--root", type=_FOLDER, help="Where the items' own files lie: compare their bytes and their looks.")
@click.option("--cache/--no-cache", default=True, help="Remember files that have not changed.  [default: cache]")
@click.option("--linked", multiple=True, help="A column whose equal values must stay in one split; again for more.")
@click.option("--intersections", multiple=True, help="Count joint categories: age,gender; again for more.")
@click.option("--max-points", type=_NUMBER, help="Fail where a share is further from its target, in points.")
@click.option("--max-items", type=_NUMBER, help="Fail where a count is further from its target, in items.")
@click.option("--max-drift", type=_NUMBER, help="Fail where two splits' total variation is larger.")
@click.option("--allow-empty", is_flag=True, help="Note empty categories, and do not fail.")
@click.option("--allow-automatic", is_flag=True, help="Note automatic labels in valid or test, and do not fail.")
@click.option("--allow-near", is_flag=True, help="Note near-duplicates, and do not fail.")
@click.option("--allow-names", is_flag=True, help="Note names of augmented copies, and do not fail.")
@click.option("--compare", is_flag=True, help="Show the original split, random, iterative and ours beside it.")
@seed
@click.option("--report", type=_FOLDER, help="Folder to write report.html and report.json to; it must not exist.")
@click.option("--scores", type=click.Path(path_type=Path, dir_okay=False), help="JSON of protoctl score, to report.")
@force
@as_json
def audit(
    partition: Path | None,
    published: str | None,
    as_json: bool,
    report: Path | None,
    scores: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Show the balance of a PARTITION, and what is wrong with it.

    PARTITION is a manifest; a table with a split column; or a folder with train.csv and test.csv, or with a card of
    the Hugging Face hub. It says what was looked at, what was found, and what was not looked at. Exit code 5 where
    something is not as the protocol or an option asks.

    \b
    Examples:
      protoctl audit affectnet-replica-fair-55-15-30
      protoctl audit items.csv --protocol fair-55-15-30 --split fold --compare
      protoctl audit mine --root images --max-points 1 --report report
      protoctl audit dfdc-preview --items dataset.json --protocol dfdc-preview
      protoctl audit --published EmotioNet
    """
    if (partition is None) == (published is None):
        raise click.UsageError("Name a PARTITION, or a dataset with --published (and not both).")
    if partition is None:
        from .published import audit_published

        audit_published(str(published), options["protocol"] or _PUBLISHED_BY, options["seed"], as_json=as_json)
        return
    if report is not None:
        from ..manifests import refuse_folder

        refuse_folder(report, force=force)
    held = _scores(scores)
    result = _audited(partition, options, quiet=as_json)
    if report is not None:
        _write(report, result, held, force=force)
    if as_json:
        show_json(result.to_json())
    else:
        _show(result)
        if report is not None:
            click.echo(f"written: {report}/report.html, report.json")
    if result.failed:
        raise AuditError(
            f"{len(result.failed)} of {len(result.findings)} checks fail: "
            + "; ".join(f"{finding.check} ({finding.found})" for finding in result.failed)
        )


def _scores(path: Path | None) -> Any:
    if path is None:
        return None
    import json

    from ..tabular import read_text

    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}", hint="protoctl score ... --json > scores.json") from error


def _write(folder: Path, result: Audit, scores: Any, *, force: bool) -> None:
    from ..audit import report
    from ..manifests.folders import fill_folder

    pages = report(result, scores)

    def fill(place: Path) -> None:
        for name, text in pages.items():
            (place / name).write_text(text, "utf-8", newline="\n")

    show_messages("note", fill_folder(folder, fill, force=force))


def _limits(options: dict[str, Any]) -> Thresholds:
    from ..audit import Thresholds

    allowed = tuple(name for name in ("empty", "automatic", "near", "names") if options[f"allow_{name}"])
    return Thresholds(options["max_points"], options["max_items"], options["max_drift"], allowed)


def _audited(path: Path, options: dict[str, Any], *, quiet: bool) -> Audit:
    if (path / "manifest.json").exists() or path.name == "manifest.json":
        return _audited_manifest(path, options, quiet=quiet)
    from ..catalog import find_card

    if not path.exists() and find_card(str(path)) is None:
        raise InputError(f"{path}: there is no such file or folder", hint="check the path, or name a dataset")
    if options["protocol"] is None:
        raise InputError(
            f"{path} is no manifest, and no protocol is named to hold it against",
            hint="name a manifest's folder, or add --protocol fair-55-15-30",
        )
    from ..partition import balance_of, given_partition
    from ..protocols import load_protocol

    items, rules = _split_items(path, _roles(options), options["items_path"]), load_protocol(options["protocol"])
    given = given_partition(items, rules)
    facts = {"read from": ", ".join(f"{source.path} ({source.digest})" for source in items.sources)}
    return _audited_items(given, balance_of(given), items, rules, facts, options, quiet=quiet)


def _roles(options: dict[str, Any]) -> dict[str, str]:
    held = {role: options[f"{role}_column"] for role in ("item", "subject", "label", "split")}
    return {role: column for role, column in held.items() if column}


def _split_items(path: Path, roles: dict[str, str], root: Path | None) -> Items:
    """Read a split that exists: of a table, of a folder, of a card, or the one that a dataset is released with."""
    from ..catalog import load_items, release_items
    from ..manifests import imported_items

    if not path.exists():
        return load_items(str(path), root=root)
    released = None if roles else release_items(path)
    if released is not None:
        return released
    if path.is_dir() or path.name == "README.md":
        return imported_items(path, roles)
    items = load_items(str(path), columns=roles)
    return items if "split_released" in items.table.column_names else imported_items(path, roles)


def _audited_items(
    given: Partition,
    balance: Balance,
    items: Items,
    rules: Protocol,
    facts: dict[str, str],
    options: dict[str, Any],
    *,
    quiet: bool,
) -> Audit:
    """Audit a partition whose items are at hand."""
    from ..audit import audit_partition, side_by_side

    compared, planes = None, ()
    if options["compare"]:
        with progress_bar(quiet=quiet) as progress:
            compared, planes = side_by_side(given, items, rules, seed=options["seed"], progress=progress)
    limits = _limits(options)
    return audit_partition(
        given,
        balance,
        items=items,
        thresholds=limits,
        linked=options["linked"],
        intersections=_intersections(options),
        files=_files(given.table(), limits, options, quiet=quiet),
        compared=compared,
        planes=planes,
        facts={"protocol": f"{rules.name} {rules.version} ({rules.digest})", **facts},
    )


def _intersections(options: dict[str, Any]) -> list[tuple[str, ...]]:
    return [tuple(name.strip() for name in each.split(",") if name.strip()) for each in options["intersections"]]


def _files(
    rows: Any, limits: Thresholds, options: dict[str, Any], *, quiet: bool
) -> tuple[tuple[Finding, ...], tuple[str, ...]] | None:
    """Look at the items' own files, where a folder is named."""
    root: Path | None = options["root"]
    if root is None:
        return None
    from ..audit import leaks_in_files

    if "item" not in rows.column_names:
        raise InputError("the rows are subjects, so their files are not known", hint="add --items, or leave --root out")
    with progress_bar(quiet=quiet) as progress:
        cache = _cache(root) if options["cache"] else None
        return leaks_in_files(root, rows, limits, cache=cache, progress=progress)


def _cache(root: Path) -> Path:
    """Name the file that remembers a folder's files, in the user's folder of caches."""
    import os

    from ..digests import digest_bytes

    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "protoctl" / f"files-{digest_bytes(os.fsencode(root.resolve()))[7:31]}.parquet"


def _audited_manifest(path: Path, options: dict[str, Any], *, quiet: bool) -> Audit:
    from ..audit import audit_assignments
    from ..manifests import read_manifest

    manifest = read_manifest(path)
    stated = manifest.document["protocol"]
    solver = manifest.document["solver"]
    facts = {
        "manifest": f"{manifest.title}, {manifest.document['status']}",
        "assignment": manifest.digest,
        "solver": f"{solver['name']} {solver['version']}, seed {solver['seed']}",
    }
    limits = _limits(options)
    wanted = options["compare"] or options["linked"] or options["intersections"]
    if options["items_path"] is None and not wanted:
        return audit_assignments(
            f"{manifest.name} {manifest.version}",
            manifest.assignments,
            manifest.balance,
            replica=manifest.replica,
            thresholds=limits,
            files=_files(manifest.assignments, limits, options, quiet=quiet),
            facts={"protocol": f"{stated['name']} {stated['version']} ({stated['digest']})", **facts},
        )
    from dataclasses import replace

    from ..manifests.lineage import ruled
    from ..partition import given_partition
    from ..protocols import load_protocol

    items = _items_of(manifest, options)
    rules = ruled(manifest, load_protocol(options["protocol"] or stated["name"]))
    given = given_partition(_placed(manifest, items), rules)
    audited = _audited_items(given, manifest.balance, items, rules, facts, options, quiet=quiet)
    return replace(audited, name=f"{manifest.name} {manifest.version}")


def _items_of(manifest: Manifest, options: dict[str, Any]) -> Items:
    """Read the dataset that a manifest is of."""
    from ..catalog import find_card, load_items, replica_items

    if manifest.keyed:
        raise InputError(
            f"{manifest.title} lists tokens, so its items are not known", hint="audit what protoctl resolve writes"
        )
    place: Path | None = options["items_path"]
    stated = manifest.document["dataset"]
    if manifest.replica and place is None:
        return replica_items(stated["name"], stated.get("task"))
    if place is None:
        raise InputError(f"{manifest.title} states counts and not items, which this needs", hint="add --items PATH")
    if find_card(stated["name"]) is None:
        return load_items(str(place), columns=_roles(options))
    return load_items(stated["name"], root=place, task=stated.get("task"))


def _placed(manifest: Manifest, items: Items) -> Items:
    """Return the items with the splits that a manifest gives them."""
    from dataclasses import replace

    import pyarrow as pa

    key = manifest.level
    rows = manifest.assignments
    split = dict(zip(rows[key].to_pylist(), rows["split"].to_pylist(), strict=True))
    column: Any = pa.array([split.get(name) for name in items.table[key].to_pylist()], pa.string())
    table = items.table
    if "split_released" in table.column_names:
        table = table.drop_columns(["split_released"])
    return replace(items, table=table.append_column("split_released", column))


def _show(result: Audit) -> None:
    from .balances import balance_lines, balance_rows

    if result.replica:
        show_messages("note", ["the rows of this partition are a replica: drawn from published counts"])
    click.echo(result.name + (" (replica)" if result.replica else ""))
    columns, rows = balance_rows(result.balance)
    show_table(columns, rows, text_columns=2)
    for line in balance_lines(result.balance):
        show_line(line)
    for crossed in result.intersections.values():
        click.echo("")
        columns, rows = balance_rows(crossed)
        # The attribute is the same in every row, and long.
        show_table([crossed.rows[-1].attribute, *columns[2:]], [row[1:] for row in rows])
    if result.compared:
        click.echo("")
        _show_compared(result)
    click.echo("")
    for finding in result.findings:
        show_line(f"{finding.verdict:5}  {finding.check}: {finding.found}")
    for what in result.unseen:
        show_line(f"unseen {what}")


def _show_compared(result: Audit) -> None:
    show_table(
        ["partition", "mean", "worst", "items off", "size", "empty"],
        [
            (
                name,
                f"{balance.mean:.3g}",
                f"{balance.worst_points:.2f}",
                f"{balance.worst_items:.2f}",
                f"{balance.size:.3g}",
                f"{len(balance.empty)}",
            )
            for name, balance in result.compared.items()
        ],
    )
    show_line("mean, worst and size in points")
