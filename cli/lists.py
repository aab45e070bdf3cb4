"""`protoctl datasets` and `protoctl protocols`: what is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from .options import as_json
from .terminal import progress_bar, show_json, show_table

__all__ = ["datasets", "protocols"]


@click.command()
@click.argument("name", required=False)
@as_json
def protocols(name: str | None, as_json: bool) -> None:
    """List the protocols that come with protoctl, or show one (or a file of your own).

    \b
    Example:
      protoctl protocols fair-55-15-30
    """
    from ..protocols import load_protocol, protocol_names

    found = [load_protocol(each) for each in ((name,) if name else protocol_names())]
    shown = [{"digest": each.digest, "source": each.source, **each.document} for each in found]
    if as_json:
        show_json(shown[0] if name else shown)
    elif name:
        click.echo(_yaml(shown[0]))
    else:
        show_table(
            ["protocol", "version", "source"],
            [(each.name, each.version, each.source) for each in found],
            text_columns=3,
            whole_columns=2,
        )


def _yaml(document: Mapping[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=78).rstrip()


@click.command()
@click.argument("name", required=False)
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="Where the dataset's files lie: the counts found are set beside the published ones.",
)
@click.option("--task", help="The task whose labels are counted.")
@as_json
def datasets(name: str | None, root: Path | None, task: str | None, as_json: bool) -> None:
    """List the datasets known by name, or show one: what it holds, how to obtain it, whose an item is.

    \b
    Examples:
      protoctl datasets
      protoctl datasets utkface --root utkface_names.txt
    """
    from ..catalog import card_names, load_card

    if name is None:
        cards = [load_card(each) for each in card_names()]
        if as_json:
            show_json([card.document for card in cards])
            return
        show_table(
            ["dataset", "an item is", "tasks", "subject"],
            [(card.name, card.unit, ", ".join(card.tasks) or "-", "yes" if card.subject else "no") for card in cards],
            text_columns=4,
            whole_columns=1,
        )
        return
    card = load_card(name)
    counts = _reconciled(name, root, task)
    if as_json:
        show_json({**card.document, "reconciliation": counts})
        return
    click.echo(_yaml(card.document))
    if counts:
        show_table(["count", "found", "published"], [tuple(str(cell) for cell in row) for row in counts])


def _reconciled(name: str, root: Path | None, task: str | None) -> list[tuple[str, int, int]]:
    """Return the counts found in the files beside the published ones; nothing where no files are named."""
    from ..catalog import load_items, reconcile

    if root is None:
        return []
    with progress_bar() as progress:
        items = load_items(name, root=root, task=task, progress=progress)
    return reconcile(items)
