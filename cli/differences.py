"""A difference between two manifests as a table and sentences for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .terminal import show_table

if TYPE_CHECKING:
    from ..manifests import Difference, Manifest

__all__ = ["show_difference"]


def show_difference(difference: Difference, earlier: Manifest, later: Manifest) -> None:
    """Print who was added, withdrawn and moved, what that does to the balance, and which version follows."""
    click.echo(f"{difference.earlier} -> {difference.later}, by {difference.level}")
    names = list(dict.fromkeys((*earlier.splits, *later.splits)))
    rows = [
        (what, *(f"{counts.get(name, 0):,}" for name in names))
        for what, counts in (
            ("added", difference.added),
            ("withdrawn", difference.withdrawn),
            *((f"moved from {name}", {b: n for (a, b), n in difference.moved.items() if a == name}) for name in names),
        )
        if counts
    ]
    if rows:
        show_table(["", *names], rows)
    click.echo(f"the same: {difference.kept:,}")
    if difference.categories:
        show_table(
            ["attribute", "category", *(f"{name} items" for name in names)],
            [
                (
                    attribute,
                    value,
                    *(f"{a:,} > {b:,}" if a != b else f"{a:,}" for a, b in zip(before, after, strict=True)),
                )
                for attribute, value, before, after in difference.categories
            ],
            text_columns=2,
        )
    for name, pair in (("mean", difference.mean), ("worst", difference.worst)):
        if pair:
            click.echo(f"{name} deviation: {pair[0]:.3g} -> {pair[1]:.3g} points")
    click.echo(f"scores: {difference.scores}")
    click.echo(f"version: {difference.bump} ({', '.join(difference.reasons)}); at least {difference.least}")
