"""`protoctl verify`, `diff`, `extend`, `withdraw`, `publish` and `resolve`: what is done with a manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import AuditError, InputError
from .differences import show_difference
from .options import as_json, force, out_folder
from .terminal import progress_bar, show_json, show_messages

if TYPE_CHECKING:
    from ..catalog import Items
    from ..manifests import Difference, Key, Manifest
    from ..protocols import Protocol

__all__ = ["diff", "extend", "publish", "resolve", "verify", "withdraw"]

_Command = Callable[..., Any]
_PATH = click.Path(path_type=Path)


def _dataset(function: _Command) -> _Command:
    """Add the options that say where the dataset of a manifest lies."""
    for option in (
        click.option("--label", "label_column", help="Of a table: the column of the label."),
        click.option("--subject", "subject_column", help="Of a table: the column that names subjects."),
        click.option("--item", "item_column", help="Of a table: the column that names items."),
        click.option(
            "--missing-subject",
            type=click.Choice(["own", "drop"]),
            help="Of a table: items without a subject are each a unit of their own, or left out.",
        ),
        click.option("--attributes", multiple=True, type=_PATH, help="A table that adds attributes, as split had it."),
        click.option("--root", type=_PATH, help="Where the dataset's files lie; or the table that was split."),
    ):
        function = option(function)
    return function


def _key_file(function: _Command) -> _Command:
    return click.option(
        "--key-file", type=_PATH, help="Of a licensed release: the file that its tokens are derived from."
    )(function)


def _items(manifest: Manifest, options: dict[str, Any], *, quiet: bool, table: Path | None = None) -> Items:
    """Load the dataset that a manifest is of."""
    from ..catalog import find_card, load_items, replica_items

    stated = manifest.document["dataset"]
    card = find_card(stated["name"])
    if manifest.replica and options["root"] is None and table is None:
        return replica_items(stated["name"], stated.get("task"))
    columns = {role: options[f"{role}_column"] for role in ("item", "subject", "label") if options[f"{role}_column"]}
    plain = table or (options["root"] if card is None else None)
    if card is None and plain is None:
        raise InputError(
            f"{manifest.title} is of the table {stated['name']!r}, which is not named", hint="name it with --root FILE"
        )
    with progress_bar(quiet=quiet) as progress:
        items = load_items(
            str(plain) if plain is not None else stated["name"],
            root=None if plain is not None else options["root"],
            task=stated.get("task") if plain is None else None,
            attributes=options["attributes"],
            columns=columns or None,
            missing_subject=options["missing_subject"],
            progress=progress,
        )
    if items.replica and not manifest.replica:
        raise InputError(
            f"no files of {stated['name']} were found, and {manifest.title} is of the dataset itself",
            hint="name their place with --root",
        )
    return items


def _protocol(manifest: Manifest, named: str | None) -> Protocol:
    from ..protocols import load_protocol

    return load_protocol(named or manifest.document["protocol"]["name"])


def _key(manifest: Manifest, file: Path | None) -> Key | None:
    from ..manifests import open_key

    return open_key(manifest, file) if file is not None and manifest.keyed else None


@click.command()
@click.argument("manifest", type=_PATH)
@_dataset
@click.option("--recompute", is_flag=True, help="Partition the dataset again, and compare.")
@click.option("--protocol", help="The protocol's file, where it does not come with protoctl.")
@_key_file
@as_json
def verify(
    manifest: Path, recompute: bool, protocol: str | None, key_file: Path | None, as_json: bool, **options: Any
) -> None:
    """Check a MANIFEST: its schema, digests, rows and counts; its files on disk; its solver.

    Without options levels 1 and 2, for which the folder is enough; with --root the files on disk; with --recompute
    the rows against a partition computed anew. Every finding is named, and exit code 5 says that there are some.

    \b
    Examples:
      protoctl verify affectnet-replica-fair-55-15-30 --recompute
      protoctl verify utkface-fair-55-15-30 --root UTKFace
    """
    from ..manifests import verify_folder, verify_recomputed, verify_root

    found = verify_folder(manifest)
    key = _key(found.manifest, key_file) if found.manifest else None
    if options["root"] is not None:
        verify_root(found, options["root"], key=key)
    if recompute and found.manifest is not None:
        items = _items(found.manifest, options, quiet=as_json)
        with progress_bar(quiet=as_json) as progress:
            verify_recomputed(found, items, _protocol(found.manifest, protocol), key=key, progress=progress)
    if as_json:
        show_json(found.to_json())
    else:
        for fault in found.faults:
            click.echo(f"level {fault.level}  {fault}")
        for what in found.checked:
            click.echo(f"checked  {what}")
        for what in found.unseen:
            click.echo(f"unseen   {what}")
    if not found.passed:
        raise AuditError(f"{manifest} does not verify: {len(found.faults):,} findings")
    if not as_json and found.manifest is not None:
        click.echo(f"{found.manifest.title} holds: {found.manifest.digest}")


@click.command()
@click.argument("earlier", type=_PATH)
@click.argument("later", type=_PATH)
@click.option("--item", "item_column", help="Of a table: the column that names items.")
@click.option("--subject", "subject_column", help="Of a table: the column that names subjects.")
@click.option("--split", "split_column", help="Of a table: the column that names the split.")
@as_json
def diff(earlier: Path, later: Path, as_json: bool, **columns: str | None) -> None:
    """Compare two manifests, or existing splits: who was added, withdrawn, moved, and which version follows.

    EARLIER and LATER are manifests; or folders with train.csv and test.csv or with a card of the Hugging Face hub;
    or tables with a column split. Exit code 5 where the later manifest's version is smaller than its rows demand.

    \b
    Examples:
      protoctl diff people-1.0.0 people-2.0.0
      protoctl diff their-release my-manifest
    """
    from ..manifests import compare_manifests, open_manifest

    roles = {name.removesuffix("_column"): column for name, column in columns.items() if column}
    one, other = open_manifest(earlier, roles), open_manifest(later, roles)
    difference = compare_manifests(one, other)
    if as_json:
        show_json(difference.to_json())
    else:
        show_difference(difference, one, other)
    if one.name == other.name and one.document["solver"]["mode"] != "imported":
        _refuse_small(difference, other)


def _refuse_small(difference: Difference, later: Manifest) -> None:
    from ..manifests import refuse_version

    try:
        refuse_version(difference, later.version)
    except InputError as error:
        raise AuditError(error.message, hint=error.hint) from None


@click.command()
@click.argument("manifest", type=_PATH)
@click.argument("table", type=_PATH, required=False)
@_dataset
@click.option("--protocol", help="The protocol's file, where it does not come with protoctl.")
@click.option("--seed", type=int, help="By default the one of the manifest.")
@click.option("--as-version", "version", help="Its version; by default the smallest that the rows demand.")
@click.option("--supersede", is_flag=True, help="Mark the earlier manifest as superseded.")
@_key_file
@out_folder
@force
@as_json
def extend(
    manifest: Path,
    table: Path | None,
    protocol: str | None,
    seed: int | None,
    version: str | None,
    supersede: bool,
    key_file: Path | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Add the new items of a dataset to a MANIFEST; what it has stays where it is.

    The dataset is read again, old items and new ones: with --root, or from a TABLE. New items of a known subject
    follow it; the others go where they balance the splits best.

    \b
    Examples:
      protoctl extend people-fair-55-15-30 people-2.csv
      protoctl extend utkface-fair-55-15-30 --root UTKFace --out utkface-2
    """
    from ..manifests import extended_manifest, read_manifest

    earlier = read_manifest(manifest)
    items = _items(earlier, options, quiet=as_json, table=table)
    with progress_bar(quiet=as_json) as progress:
        later = extended_manifest(
            earlier,
            items,
            _protocol(earlier, protocol),
            seed=seed,
            version=version,
            key=_key(earlier, key_file),
            progress=progress,
        )
    _written(earlier, later, out, force=force, supersede=supersede, as_json=as_json)


def _written(
    earlier: Manifest, later: Manifest, out: Path | None, *, force: bool, supersede: bool, as_json: bool
) -> None:
    """Write the next version, mark the earlier one, and show what differs."""
    from ..manifests import compare_manifests, mark_superseded, write_manifest

    folder = out or Path(f"{later.name}-{later.version}")
    show_messages("note", write_manifest(folder, later, force=force))
    if supersede and earlier.folder is not None:
        mark_superseded(earlier.folder, later)
        show_messages("note", [f"{earlier.title} is marked as superseded by {later.title}"])
    if as_json:
        show_json({"folder": str(folder), **later.document})
        return
    show_difference(compare_manifests(earlier, later), earlier, later)
    click.echo(f"written: {folder}/manifest.json, assignments.csv, README.md")


@click.command()
@click.argument("manifest", type=_PATH)
@click.argument("names", type=_PATH)
@click.option("--by", type=click.Choice(["item", "subject"]), default="item", show_default=True, help="What leaves.")
@click.option(
    "--reason",
    type=click.Choice(["data-subject-request", "licence", "duplicate", "corrupt", "label-error", "other"]),
    required=True,
    help="Why; it is published.",
)
@click.option("--as-version", "version", help="Its version; by default the smallest that the rows demand.")
@click.option("--keep-status", is_flag=True, help="Do not mark the earlier manifest as superseded.")
@_key_file
@out_folder
@force
@as_json
def withdraw(
    manifest: Path,
    names: Path,
    by: str,
    reason: str,
    version: str | None,
    keep_status: bool,
    key_file: Path | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Take items or subjects out of a MANIFEST; nobody else moves.

    NAMES is a file with one name a line; it is not published, and neither is the number below 10. The balance table
    stays as it was, so that two of them do not tell who left. Whoever has both versions with plain names can still
    compare them: for data of persons use keyed identities, and take the old version down.

    \b
    Example:
      protoctl withdraw people-1.0.0 leaving.txt --by subject --reason data-subject-request
    """
    from ..manifests import read_manifest, withdrawn_manifest
    from ..tabular import read_text

    earlier = read_manifest(manifest)
    lines = [line.strip() for line in read_text(names).splitlines() if line.strip()]
    later = withdrawn_manifest(earlier, lines, reason=reason, by=by, version=version, key=_key(earlier, key_file))
    _written(earlier, later, out, force=force, supersede=not keep_status, as_json=as_json)


@click.command()
@click.argument("manifest", type=_PATH)
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write.")
@click.option("--license", "license_name", help="Terms of the manifest itself: CC-BY-4.0.")
@click.option("--url", help="Where it will be found.")
@click.option("--author", "authors", multiple=True, help="Who made it; may be given several times.")
@click.option("--identities", type=click.Choice(["plain", "keyed"]), help="Names, or tokens for licensed data.")
@click.option(
    "--subjects",
    type=click.Choice(["listed", "omitted"]),
    default="listed",
    show_default=True,
    help="Whether tokens of subjects are listed.",
)
@click.option("--suppress-below", type=click.IntRange(1), help="Leave smaller counts out of the balance table.")
@click.option("--round-to", type=click.IntRange(1), help="Round the other counts.")
@click.option("--with-labels", is_flag=True, help="Read the dataset, and write its labels beside the names.")
@_dataset
@_key_file
@force
@as_json
def publish(
    manifest: Path,
    to: Path,
    license_name: str | None,
    url: str | None,
    authors: tuple[str, ...],
    identities: str | None,
    subjects: str,
    suppress_below: int | None,
    round_to: int | None,
    with_labels: bool,
    key_file: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write the folder to put beside a dataset, or on a hub.

    It holds the manifest, a file a split, a description in Croissant 1.1, a card for the Hugging Face hub, BibTeX
    and checksums. A replica is refused, and so is a manifest that does not verify, or plain names of a dataset whose
    lists may not be passed on.

    \b
    Examples:
      protoctl publish utkface-fair-55-15-30 --to public --license CC-BY-4.0
      protoctl publish gft-fair-55-15-30 --to public --license CC0-1.0 --identities keyed --key-file labels.csv
    """
    from ..manifests import publish_manifest, read_manifest, release_key

    read = read_manifest(manifest)
    items = _items(read, options, quiet=as_json) if with_labels else None
    key = release_key(key_file, read.name) if identities == "keyed" and key_file is not None else None
    done = publish_manifest(
        read,
        to,
        license=license_name,
        url=url,
        authors=authors,
        identities=identities,
        key=key,
        subjects=subjects,
        suppress_below=suppress_below,
        round_to=round_to,
        items=items,
        force=force,
    )
    show_messages("note", done.notes)
    if as_json:
        show_json({"folder": str(to), "files": list(done.files), "notes": list(done.notes), **done.manifest.document})
        return
    click.echo(f"{done.manifest.title} ({done.manifest.digest[:19]}): {to}")
    for name in done.files:
        click.echo(f"  {name}")


@click.command()
@click.argument("manifest", type=_PATH)
@_dataset
@click.option("--key-file", type=_PATH, required=True, help="The file of the release that manifest.json names.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="CSV file to write; otherwise stdout.")
@force
def resolve(manifest: Path, key_file: Path, out: Path | None, force: bool, **options: Any) -> None:
    """Read a keyed MANIFEST with the licensed release at hand: names for tokens.

    \b
    Example:
      protoctl resolve gft-public --key-file GFT/labels.csv --root GFT --out gft.csv
    """
    from ..manifests import open_key, read_manifest, resolved_manifest

    read = read_manifest(manifest)
    key = open_key(read, key_file)
    if out is not None and out.exists() and not force:
        raise InputError(f"{out} exists already", hint="add --force to replace it")
    table = _items(read, options, quiet=False).table
    subjects = table["subject"].drop_null().unique().to_pylist() if "subject" in table.column_names else []
    rows = resolved_manifest(read, key, table["item"].to_pylist(), subjects)
    text = _csv(rows.to_pydict())
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}", hint="choose another --out") from error
    click.echo(f"written: {out}, {rows.num_rows:,} rows with names: keep it to yourself")


def _csv(columns: dict[str, list[str | None]]) -> str:
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()
