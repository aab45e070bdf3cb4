"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["as_json", "force", "names", "out_folder", "seed"]

_Command = Callable[..., Any]


def names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Turn ``age,gender`` into a tuple of names."""
    if value is None:
        return None
    return tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))


def as_json(function: _Command) -> _Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(function)


def seed(function: _Command) -> _Command:
    """Add ``--seed``."""
    return click.option(
        "--seed", type=int, default=0, show_default=True, help="One seed gives one result, on any machine."
    )(function)


def force(function: _Command) -> _Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace an output folder that exists.")(function)


def out_folder(function: _Command) -> _Command:
    """Add ``--out``."""
    return click.option(
        "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write; it must not exist."
    )(function)
