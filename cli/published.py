"""`protoctl audit --published`: the partitions of the affect paper, held against a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import AuditError
from .terminal import progress_bar, show_json, show_line, show_messages, show_table

if TYPE_CHECKING:
    from ..partition import Balance, Published

__all__ = ["audit_published"]


def audit_published(name: str, protocol: str, seed: int, *, as_json: bool) -> None:
    """Show a dataset's published partitions beside ours of its replica, and what their numbers say of themselves.

    Raises
    ------
    AuditError
        If something is not as the protocol asks or as a table must be.
    """
    from ..partition import published_balances
    from ..protocols import load_protocol

    rules = load_protocol(protocol)
    with progress_bar(quiet=as_json) as progress:
        result = published_balances(name, rules, seed=seed, progress=progress)
    if as_json:
        show_json(result.to_json())
    else:
        _show(result)
    if result.failed:
        raise AuditError(
            f"{len(result.failed)} of {len(result.findings)} checks fail: "
            + "; ".join(f"{finding.check} ({finding.partition}: {finding.count})" for finding in result.failed)
        )


def _show(result: Published) -> None:
    from .balances import balance_rows

    click.echo(f"{result.title}: the published new partition, held against {result.protocol}")
    columns, rows = balance_rows(result.balances["new"])
    show_table(columns, rows, text_columns=2)
    click.echo("")
    show_table(
        ["partition", "worst, points", "mean, points", "size, points", "empty pairs"],
        [_figures(name, balance) for name, balance in result.balances.items()],
        text_columns=1,
    )
    click.echo("")
    for finding in result.findings:
        show_line(f"{finding.verdict:5}  {finding.partition}: {finding.check}: {finding.found}")
    show_messages("note", result.notes)


def _figures(name: str, balance: Balance) -> tuple[str, ...]:
    figures = (balance.worst_points, balance.mean, balance.size)
    return name, *(f"{figure:.2f}" for figure in figures), str(len(balance.all_empty))
