"""What the command draws: tables that fit the terminal, messages, progress, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import click

__all__ = ["progress_bar", "show_json", "show_line", "show_messages", "show_table"]

_MOST_MESSAGES = 12


def show_line(text: str, *, err: bool = False) -> None:
    """Print a sentence: wrapped with hanging lines on a terminal, whole where a program reads it."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        import shutil

        # Styles add bytes that take no place, so a styled line is wrapped a little early.
        text = click.wrap_text(text, width=shutil.get_terminal_size().columns, subsequent_indent="  ")
    click.echo(text, err=err)


def show_json(value: Any) -> None:
    """Print a result as JSON, indented, keys in their own order."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def show_messages(kind: str, messages: Sequence[str], *, most: int = _MOST_MESSAGES) -> None:
    """Print warnings or notes to stderr, one a line; beyond `most` they are counted."""
    style = {"warning": "yellow", "note": "cyan"}.get(kind)
    for message in messages[:most]:
        show_line(f"{click.style(kind, fg=style)}: {message}", err=True)
    if len(messages) > most:
        show_line(f"{click.style(kind, fg=style)}: ... and {len(messages) - most:,} more (--json has all)", err=True)


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    text_columns: int = 1,
    whole_columns: int = 0,
) -> None:
    """Print a table.

    The first `text_columns` are set left and may fold, but for the first `whole_columns` of them; the others are
    figures, set right.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_edge=False)
    for place, name in enumerate(columns):
        left = place < text_columns
        table.add_column(
            Text(name), justify="left" if left else "right", no_wrap=not left or place < whole_columns, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    click.echo("\n".join(lines))


@contextmanager
def progress_bar(*, quiet: bool = False) -> Generator[Callable[[int, int | None, str], None] | None]:
    """Give a function that draws progress on stderr; None where stderr is no terminal or `quiet` is set.

    It is called with what is done, what there is to do (None if unknown) and what is going on.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def report(done: int, total: int | None, what: str) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.update(tasks[what], completed=done, total=total)

    with bar:
        yield report
