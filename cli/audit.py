"""`protoctl audit`: what is known of a partition's balance, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import AuditError, InputError
from .options import as_json
from .terminal import show_json, show_line, show_messages, show_table

if TYPE_CHECKING:
    from ..audit import Audit

__all__ = ["audit"]


@click.command()
@click.argument("partition", type=click.Path(path_type=Path))
@click.option("--protocol", help="The protocol that a table with a split column is held against.")
@click.option("--item", "item_column", help="Of a table: the column that names items.")
@click.option("--subject", "subject_column", help="Of a table: the column that names subjects.")
@click.option("--label", "label_column", help="Of a table: the column of the label.")
@click.option("--split", "split_column", help="Of a table: the column that names the split.")
@as_json
def audit(partition: Path, protocol: str | None, as_json: bool, **columns: str | None) -> None:
    """Show the balance of a PARTITION (a manifest, or a table with a split column), and what is wrong with it.

    It says what was looked at, what was found, and what was not looked at. Exit code 5 where something is not as
    the protocol asks.

    \b
    Examples:
      protoctl audit affectnet-replica-fair-55-15-30
      protoctl audit items.csv --protocol fair-55-15-30 --split fold
    """
    result = _audited(partition, protocol, columns)
    if as_json:
        show_json(result.to_json())
    else:
        _show(result)
    if result.failed:
        raise AuditError(
            f"{len(result.failed)} of {len(result.findings)} checks fail: "
            + "; ".join(f"{finding.check} ({finding.found})" for finding in result.failed)
        )


def _audited(path: Path, protocol: str | None, columns: dict[str, str | None]) -> Audit:
    from ..audit import audit_assignments, audit_partition
    from ..manifests import read_manifest
    from ..partition import balance_of, given_partition

    if path.is_dir() or path.name == "manifest.json":
        manifest = read_manifest(path)
        name = f"{manifest.name} {manifest.document['version']}"
        return audit_assignments(name, manifest.assignments, manifest.balance, replica=manifest.replica)
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder", hint="check the path")
    if protocol is None:
        raise InputError(
            f"{path} is no manifest, and no protocol is named to hold it against",
            hint="name a manifest's folder, or add --protocol fair-55-15-30",
        )
    from ..catalog import load_items
    from ..protocols import load_protocol

    roles: dict[str, Any] = {name.removesuffix("_column"): column for name, column in columns.items() if column}
    given = given_partition(load_items(str(path), columns=roles), load_protocol(protocol))
    return audit_partition(given, balance_of(given))


def _show(result: Audit) -> None:
    from .balances import balance_lines, balance_rows

    if result.replica:
        show_messages("note", ["the rows of this partition are a replica: drawn from published counts"])
    click.echo(result.name + (" (replica)" if result.replica else ""))
    columns, rows = balance_rows(result.balance)
    show_table(columns, rows, text_columns=2)
    for line in balance_lines(result.balance):
        show_line(line)
    click.echo("")
    for finding in result.findings:
        show_line(f"{finding.verdict:5}  {finding.check}: {finding.found}")
    for what in result.unseen:
        show_line(f"unseen {what}")
