"""The command. Each verb lives in a module that is imported when the verb is used."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from ..errors import ProtoctlError

__all__ = ["VERBS", "command", "main"]

VERBS: dict[str, tuple[str, str, str]] = {
    "split": ("split", "split", "Partition a dataset by a protocol, and write the manifest."),
    "aggregate": ("annotation", "aggregate", "Turn annotators' votes into labels."),
    "agreement": ("annotation", "agreement", "Measure how far annotators agree, with intervals."),
    "annotate": ("annotation", "annotate", "Set up a Label Studio project, and fetch what it holds."),
    "audit": ("audit", "audit", "Show the balance of a partition, and what is wrong with it."),
    "score": ("score", "score", "Score predictions by subgroup, with intervals."),
    "verify": ("manifests", "verify", "Check a manifest against its rows, its files and its solver."),
    "diff": ("manifests", "diff", "Compare two manifests: who moved, and which version follows."),
    "extend": ("manifests", "extend", "Add new items to a manifest without moving an old one."),
    "withdraw": ("manifests", "withdraw", "Take items or subjects out of a manifest; nobody else moves."),
    "publish": ("manifests", "publish", "Write the folder to put beside a dataset, or on a hub."),
    "resolve": ("manifests", "resolve", "Read a keyed manifest with the licensed file at hand."),
    "render": ("render", "render", "Render the variants that a protocol plans: corruptions, clips, degradations."),
    "datasets": ("lists", "datasets", "List the datasets known by name, or show one."),
    "protocols": ("lists", "protocols", "List the protocols that come with protoctl, or show one."),
}
"""Verb: module in this folder, name in the module, one line of help."""


class _Verbs(click.Group):
    """A group whose commands are imported when they are used, so that ``--help`` comes in a blink."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, name, _ = VERBS[cmd_name]
        return getattr(import_module(f"{__name__}.{module}"), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from ..errors import unknown

            message, hint = unknown("command", args[0], list(VERBS))
            raise click.UsageError(f"{message}.\n{hint}.", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        # click itself would end with exit code 1 where the reader has closed the pipe.
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _closed_pipe()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, text) for verb, (_, _, text) in VERBS.items()])


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .. import __version__

        click.echo(f"protoctl {__version__}")
        ctx.exit()


@click.group(cls=_Verbs, name="protoctl", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def command() -> None:
    """Annotate, partition, publish and audit datasets of faces and affect.

    \b
    From a dataset to a verified manifest:
      protoctl split affectnet --protocol fair-55-15-30
      protoctl audit affectnet-replica-fair-55-15-30

    Exit codes: 0 done; 1 a fault of protoctl; 2 wrong usage; 3 input refused; 4 the protocol cannot be met;
    5 an audit or a verification failed; 6 a server could not be reached; 130 interrupted.
    """


def _complain(message: str, hint: str | None) -> None:
    from .terminal import show_line

    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
    if hint:
        show_line(f"{click.style('hint', bold=True)}: {hint}", err=True)


def _closed_pipe() -> NoReturn:
    """End quietly where the reader has closed the pipe (``| head``)."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    sys.exit(0)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code: the one place where errors become messages."""
    try:
        result: Any = command.main(args=args, prog_name="protoctl", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(result if isinstance(result, int) else 0)
    except click.exceptions.Abort:
        _complain("interrupted: nothing half-written is left", None)
        sys.exit(130)
    except KeyboardInterrupt:
        _complain("interrupted: nothing half-written is left", None)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ProtoctlError as error:
        _complain(error.message, error.hint)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _closed_pipe()
