"""The plan carried out: files written whole or not at all, resumed where it stopped, many at a time.

It stands in this room since it does what the plan beside it says, item by item, and knows nothing of manifests.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..digests import digest_bytes, digest_file
from ..errors import InputError, ProtoctlError
from .variants import ItemPlan, Variant

__all__ = [
    "FAILURES",
    "TABLE",
    "Failure",
    "Made",
    "Rendered",
    "Renderer",
    "copied",
    "fault_of",
    "part_of",
    "put",
    "render_plans",
    "written",
]

TABLE = "rendered.csv"
"""What was rendered: one row a file."""

FAILURES = "failed.csv"
"""What could not be rendered, and why."""

_STATE = "render.json"
_FORMAT = "protoctl-render/1"
_COLUMNS = ("path", "item", "variant", "corruption", "severity", "digest", "bytes")
_AHEAD = 4

Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True)
class Made:
    """One variant, made or not.

    Parameters
    ----------
    variant : Variant
        Which.
    digest : str
        Of the file's bytes; empty where it could not be made.
    bytes : int
        The file's size.
    new : bool
        Whether it was written now, and not there already.
    fault : str
        Why it could not be made; empty where it was.
    """

    variant: Variant
    digest: str = ""
    bytes: int = 0
    new: bool = False
    fault: str = ""


Renderer = Callable[[ItemPlan, Path, Path], list[Made]]
"""Makes an item's variants: the plan, the folder of the items, the folder to write to."""


@dataclass(frozen=True)
class Failure:
    """An item (`variant` is empty), or a variant of it, that could not be made."""

    item: str
    variant: str
    fault: str


@dataclass(frozen=True)
class Rendered:
    """What a run rendered.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files lie, with ``rendered.csv``.
    items : int
        Items of the plan.
    written, present : int
        Files written now; files that were there.
    failures : tuple of Failure
        What could not be made; the rest is there. At most the first thousand.
    failed : int
        How many failures there are: an item of which nothing could be made is one.
    """

    folder: Path
    items: int
    written: int
    present: int
    failures: tuple[Failure, ...]
    failed: int

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "folder": str(self.folder),
            "items": self.items,
            "written": self.written,
            "present": self.present,
            "failed": self.failed,
            "failures": [dict(vars(failure)) for failure in self.failures],
        }


def put(path: Path, data: bytes) -> None:
    """Write a file whole: under another name first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(path)
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def part_of(path: Path) -> Path:
    """Return the name under which a file is written until it is whole."""
    return path.with_name(f".{path.name}.part")


def copied(variant: Variant, source: Path, to: Path) -> Made:
    """Copy an item as it is."""
    path = to / variant.path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(path)
    try:
        shutil.copyfile(source, part)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return Made(variant, digest_file(path), path.stat().st_size, new=True)


def fault_of(error: BaseException) -> str:
    """Return why something failed, in words."""
    if isinstance(error, ProtoctlError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{error}" or type(error).__name__


def render_plans(
    plans: Iterator[ItemPlan],
    renderer: Renderer,
    root: Path,
    to: Path,
    *,
    state: Mapping[str, Any],
    jobs: int = 1,
    total: int | None = None,
    progress: Progress | None = None,
) -> Rendered:
    """Carry out a plan.

    Parameters
    ----------
    plans : iterator of ItemPlan
        As `plan_variants` gives it.
    renderer : callable
        Makes an item's variants; a function of a module, for other processes to import.
    root : pathlib.Path
        Folder that the items' names start from.
    to : pathlib.Path
        Folder to write to. What is there already is kept; a folder that was begun with another `state` is refused.
    state : mapping
        What the files depend on: manifest, plan, seed, versions.
    jobs : int
        Processes.
    total : int, optional
        Items in all, for progress.
    progress : callable, optional
        Called with items done, items in all, and what is done.

    Returns
    -------
    rendered : Rendered
        ``rendered.csv`` has a row for each file, in the plan's order; ``failed.csv`` what could not be made.

    Raises
    ------
    InputError
        If `root` is no folder; if `to` holds variants of something else; if the tables cannot be written.
    """
    if not root.is_dir():
        raise InputError(f"{root} is no folder", hint="name the folder that the items' names start from with --root")
    _begin(to, state)
    counts = {"items": 0, "written": 0, "present": 0, "failed": 0}
    failures: list[Failure] = []
    try:
        with _table(to / TABLE, _COLUMNS) as rows, _table(to / FAILURES, ("item", "variant", "fault")) as faults:
            for plan, made in _run(plans, renderer, root, to, jobs):
                counts["items"] += 1
                for each in made:
                    if not each.fault:
                        counts["written" if each.new else "present"] += 1
                        rows.writerow(_row(each))
                found = _failures(plan, made)
                for failure in found:
                    faults.writerow((failure.item, failure.variant, failure.fault))
                counts["failed"] += len(found)
                failures += found[: max(0, 1000 - len(failures))]
                if progress:
                    progress(counts["items"], total, "rendering")
    except OSError as error:
        raise InputError(
            f"{to}: its tables cannot be written: {fault_of(error)}",
            hint="make room, and run the same command again: what is there is kept",
        ) from error
    if not counts["failed"]:
        (to / FAILURES).unlink(missing_ok=True)
    return Rendered(to, counts["items"], counts["written"], counts["present"], tuple(failures), counts["failed"])


def _failures(plan: ItemPlan, made: list[Made]) -> list[Failure]:
    """Name what could not be made of an item: the item once, where all of it failed for one reason."""
    faults = [each for each in made if each.fault]
    reasons = {each.fault for each in faults}
    if plan.fault or (len(faults) == len(made) and len(reasons) == 1):
        return [Failure(plan.item, "", plan.fault or faults[0].fault)]
    return [Failure(plan.item, each.variant.variant, each.fault) for each in faults]


def _row(made: Made) -> tuple[str, ...]:
    variant = made.variant
    severity = "" if variant.severity is None else str(variant.severity)
    return (variant.path, variant.item, variant.variant, variant.corruption, severity, made.digest, str(made.bytes))


@contextmanager
def _table(path: Path, columns: tuple[str, ...]) -> Generator[Any]:
    """Open a table that takes its name when it is whole."""
    part = part_of(path)
    try:
        stream: IO[str]
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            yield writer
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _begin(to: Path, state: Mapping[str, Any]) -> None:
    """Note what the files depend on; refuse a folder that holds something else."""
    document = {"format": _FORMAT, **state}
    file = to / _STATE
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if file.is_file():
        try:
            before = json.loads(file.read_text("utf-8"))
        except ValueError:
            before = {}
        if before != json.loads(text):
            keys = [key for key in {**document, **before} if before.get(key) != document.get(key)]
            raise InputError(
                f"{to} holds variants that were rendered otherwise (other: {', '.join(sorted(keys))})",
                hint="write to another folder with --to, or go on with what render.json there says",
            )
        return
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise InputError(f"{to} exists and holds no variants", hint="name a new or an empty folder with --to")
    try:
        put(file, text.encode())
    except OSError as error:
        raise InputError(f"{to} cannot be written: {fault_of(error)}", hint="name another folder with --to") from error


def _run(
    plans: Iterator[ItemPlan], renderer: Renderer, root: Path, to: Path, jobs: int
) -> Iterator[tuple[ItemPlan, list[Made]]]:
    """Give each item's plan and what came of it, in order; some items ahead are under way."""
    if jobs == 1:
        for plan in plans:
            yield plan, [] if plan.fault else render_item(renderer, plan, root, to)
        return
    import multiprocessing

    # Processes that start afresh: threads of libraries do not survive a fork.
    context = multiprocessing.get_context("spawn")
    waiting: deque[tuple[ItemPlan, Future[list[Made]] | None]] = deque()
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        try:
            for plan in plans:
                waiting.append((plan, None if plan.fault else pool.submit(render_item, renderer, plan, root, to)))
                if len(waiting) >= jobs * _AHEAD:
                    yield _first(waiting)
            while waiting:
                yield _first(waiting)
        except BrokenProcessPool:
            raise InputError(
                "a process of the renderer was ended by the system, which most often means too little memory",
                hint="run the same command again with fewer --jobs: what is there is kept",
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _first(waiting: deque[tuple[ItemPlan, Future[list[Made]] | None]]) -> tuple[ItemPlan, list[Made]]:
    plan, future = waiting.popleft()
    return plan, future.result() if future else []


def render_item(renderer: Renderer, plan: ItemPlan, root: Path, to: Path) -> list[Made]:
    """Make what is not there yet of an item; whatever goes wrong with it is its own fault."""
    there: dict[str, Made] = {}
    for variant in plan.variants:
        path = to / variant.path
        if path.is_file():
            there[variant.path] = Made(variant, digest_file(path), path.stat().st_size)
    rest = tuple(variant for variant in plan.variants if variant.path not in there)
    made: dict[str, Made] = {}
    if rest:
        source = root / plan.item
        try:
            if not source.is_file():
                raise InputError("there is no such file below --root")
            made = {each.variant.path: each for each in renderer(ItemPlan(plan.item, rest), source, to)}
        except Exception as error:
            # One bad item among millions must not end the run; it is named in failed.csv.
            made = {variant.path: Made(variant, fault=fault_of(error)) for variant in rest}
    return [there.get(variant.path) or made[variant.path] for variant in plan.variants]


def written(variant: Variant, data: bytes, to: Path) -> Made:
    """Write a variant's bytes."""
    put(to / variant.path, data)
    return Made(variant, digest_bytes(data), len(data), new=True)
