"""What all readers share: places, codes, missing tokens, duplicates, sources and the report.

A reader is a module with one function ``read(reading: Reading) -> Items``. It finds its files below
``reading.root``, turns each column from text into categories with `Reading.coded`, and ends with
`Reading.finish`, which refuses everything that was found wrong at once.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa

from ..digests import digest_file
from ..errors import InputError, Problems, listing
from ..tabular import TextTable, map_values, pc
from .cards import Card
from .items import Items, ReadReport, Source, checked_items

__all__ = ["Places", "Progress", "Reading", "find_below"]

Progress = Callable[[int, int | None, str], None]
Role = Literal["items", "labels", "subjects", "attributes", "archive", "other"]

_MOST_EXAMPLES = 3
_REPORT_EVERY = 2048
_MOST_FOUND = 12


class Places(Sequence[str]):
    """Where each row stands, worked out only for the rows that a message names.

    Parameters
    ----------
    at : callable
        Gives the place of a row as it was read.
    rows : sequence of int
        Which of the rows as read these are.

    Examples
    --------
    >>> places = Places(lambda row: f"list.txt:{row + 1}", range(4)).only([True, False, True, True])
    >>> places[1], len(places)
    ('list.txt:3', 3)
    """

    def __init__(self, at: Callable[[int], str], rows: Sequence[int]) -> None:
        self._at = at
        self._rows = rows

    @classmethod
    def of_tables(cls, tables: Sequence[TextTable]) -> Places:
        """Return the places of the rows of tables that were put one under the other."""
        ends = np.cumsum([table.table.num_rows for table in tables])

        def at(row: int) -> str:
            which = int(np.searchsorted(ends, row, side="right"))
            return tables[which].place(row - (int(ends[which - 1]) if which else 0))

        return cls(at, range(int(ends[-1]) if len(ends) else 0))

    @property
    def rows(self) -> Sequence[int]:
        """Where the rows stood as they were read, from 0."""
        return self._rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Places: ...
    def __getitem__(self, index: int | slice) -> str | Places:
        if isinstance(index, slice):
            return Places(self._at, self._rows[index])
        return self._at(int(self._rows[index]))

    def only(self, keep: Any) -> Places:
        """Return the places of the rows that a mask keeps."""
        return Places(self._at, np.asarray(self._rows)[np.asarray(keep, np.bool_)].tolist())


def find_below(root: Path, *parts: str) -> Path | None:
    """Return the first entry below a folder whose path matches patterns, case aside, or None.

    Parameters
    ----------
    root : pathlib.Path
        A folder.
    *parts : str
        A pattern (``*`` and ``?``) for each step of the path.
    """
    if not parts:
        return root
    if not root.is_dir():
        return None
    exact = root / parts[0]
    if "*" not in parts[0] and "?" not in parts[0] and exact.exists():
        return find_below(exact, *parts[1:])
    pattern = parts[0].lower()
    for entry in sorted(os.listdir(root)):
        if fnmatch(entry.lower(), pattern):
            found = find_below(root / entry, *parts[1:])
            if found is not None:
                return found
    return None


class Reading:
    """Gathers what one reader sees, and ends in `Items`.

    Parameters
    ----------
    card : Card
        The dataset.
    root : pathlib.Path
        The file or folder that the user named.
    task : str or None
        A task of the card.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.
    """

    def __init__(
        self, card: Card | None, root: Path, task: str | None = None, progress: Progress | None = None
    ) -> None:
        self.card = card
        self.root = root
        self.task = task
        self.progress = progress
        self.problems = Problems()
        self.rows_read = 0
        self.skipped: Counter[str] = Counter()
        self.missing: dict[str, Counter[str]] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.sources: list[Source] = []

    @property
    def title(self) -> str:
        """What to call the dataset in messages."""
        return self.card.title if self.card else self.root.name

    def relative(self, path: Path) -> str:
        """Return a path as messages and manifests name it: from the root down."""
        base = self.root if self.root.is_dir() else self.root.parent
        return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name

    def source(self, path: Path, role: Role, rows: int | None = None) -> None:
        """Note a file that was read, with its digest."""
        self.sources.append(Source(self.relative(path), role, digest_file(path), path.stat().st_size, rows))

    def table(self, table: TextTable, role: Role) -> None:
        """Note a table that was read, and its rows."""
        self.source(table.path, role, table.table.num_rows)
        self.rows_read += table.table.num_rows

    def unknown_layout(self, looked_for: Iterable[str] = ()) -> InputError:
        """Return the refusal of a root that holds nothing this reader knows."""
        wanted = list(looked_for) or list(self.card.layouts if self.card else ())
        if self.root.is_dir():
            names = sorted(os.listdir(self.root))
            found = listing(names, most=_MOST_FOUND) if names else "an empty folder"
        else:
            found = f"a file named {self.root.name}"
        return InputError(
            f"{self.title}: {self.root} holds no layout that is known. Looked for: {'; '.join(wanted)}. Found: {found}",
            hint="name with --root the folder that holds these files, or pass your own list as a plain table: "
            "protoctl split items.csv (columns item, subject, label, age, gender, race as far as there are any)",
        )

    def coded(
        self,
        column: Any,
        name: str,
        codes: Mapping[str, str] | Callable[[str], str | None],
        places: Places,
        *,
        missing: Collection[str] = ("",),
        hint: str | None = None,
    ) -> Any:
        """Turn raw text into categories; count what means missing, and note every value that means nothing.

        Parameters
        ----------
        column : pyarrow.ChunkedArray of string
            Raw values without outer blanks; null counts as the token ``null``.
        name : str
            The column's name in reports.
        codes : mapping or callable
            The category of a raw value; None (or no entry) where there is none.
        places : Places
            Of the rows.
        missing : collection of str
            Raw tokens that mean missing.
        hint : str, optional
            What to do about values that mean nothing.

        Returns
        -------
        column : pyarrow.ChunkedArray of string
        """
        given = codes.get if isinstance(codes, Mapping) else codes
        meaning: dict[str, str | None] = {}
        for entry in pc.value_counts(column).to_pylist():
            raw, count = entry["values"], entry["counts"]
            if raw is None or raw in missing:
                self.count_missing(name, "null" if raw is None else raw, count)
                continue
            meaning[raw] = given(raw)
            if meaning[raw] is None:
                row = pc.index(column, pa.scalar(raw, pa.string())).as_py()
                times = f" ({count:,} rows, this is the first)" if count > 1 else ""
                self.problems.add(
                    f"{places[row]}, column {name}",
                    f"{raw!r} is none of the known values{times}",
                    hint=hint or self._known_values(codes, missing),
                )
        return map_values(column, lambda raw: meaning.get(raw))

    def _known_values(self, codes: object, missing: Collection[str]) -> str | None:
        if not isinstance(codes, Mapping):
            return None
        tokens = [repr(token) for token in missing]
        known = listing([str(code) for code in codes], most=20)
        return f"known: {known}; missing: {listing(tokens)}" if tokens else f"known: {known}"

    def blanked(self, column: Any, name: str, missing: Collection[str]) -> Any:
        """Return a column as it stands, tokens that mean missing made null and counted."""
        absent = pc.or_(pc.is_null(column), pc.is_in(column, value_set=pa.array(list(missing), pa.string())))
        if not pc.any(absent).as_py():
            return column
        for entry in pc.value_counts(column.filter(absent)).to_pylist():
            self.count_missing(name, "null" if entry["values"] is None else entry["values"], entry["counts"])
        return pc.if_else(absent, pa.scalar(None, pa.string()), column)

    def count_missing(self, column: str, token: str, count: int = 1) -> None:
        """Count a raw token that means missing."""
        self.missing.setdefault(column, Counter())[token] += count

    def small_files(self, folder: Path, names: Sequence[str], role: Role, what: str) -> Iterator[bytes | None]:
        """Give the bytes of many small files of a folder, None where one is absent; note one source for all.

        The source's digest is over each name and its bytes, in the order of `names`, which should be sorted.
        """
        digest = hashlib.sha256()
        size = found = 0
        prefix = str(folder) + os.sep
        for place, name in enumerate(names):
            if self.progress and place % _REPORT_EVERY == 0:
                self.progress(place, len(names), what)
            try:
                handle = os.open(prefix + name, os.O_RDONLY)
            except FileNotFoundError:
                yield None
                continue
            try:
                data = os.read(handle, 1 << 20)
            finally:
                os.close(handle)
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
            size += len(data)
            found += 1
            yield data
        if self.progress:
            self.progress(len(names), len(names), what)
        self.sources.append(Source(self.relative(folder), role, f"sha256:{digest.hexdigest()}", size, found))

    def report(self) -> ReadReport:
        """Return what was seen so far."""
        return ReadReport(
            rows_read=self.rows_read,
            skipped=dict(self.skipped),
            missing={column: dict(counts) for column, counts in self.missing.items() if counts},
            warnings=tuple(self.warnings),
            notes=tuple(self.notes),
        )

    def finish(
        self,
        columns: Mapping[str, Any],
        places: Places,
        *,
        labels: Sequence[str] = (),
        attributes: Sequence[str] = (),
        dataset: str | None = None,
    ) -> Items:
        """Refuse what was found wrong; drop identical rows; return the items.

        Parameters
        ----------
        columns : mapping of str to pyarrow array
            The columns of `Items`.
        places : Places
            Of the rows.
        labels, attributes : sequence of str
            Which columns are labels of the task, and which are attributes.
        dataset : str, optional
            The dataset's name, where there is no card.

        Raises
        ------
        InputError
            With every problem and its place.
        """
        self.problems.refuse(InputError, f"{self.title} is refused")
        table = pa.table({name: _strings(column) for name, column in columns.items()})
        table, places = self.distinct_rows(table, places)
        items = Items(
            dataset=self.card.name if self.card else dataset or self.root.stem,
            table=table,
            labels=tuple(labels),
            attributes=tuple(attributes),
            task=self.task,
            sources=tuple(self.sources),
            report=self.report(),
            card=self.card,
        )
        return checked_items(items, places=places)

    def distinct_rows(self, table: pa.Table, places: Places, *, what: str = "item") -> tuple[pa.Table, Places]:
        """Keep the first of identical rows; refuse those that share a key and differ.

        Parameters
        ----------
        table : pyarrow.Table
            Its column ``item`` holds the key.
        places : Places
            Of the rows.
        what : str
            What the key names, for messages.
        """
        column: Any = table["item"]
        if len(column) == 0 or pc.count_distinct(column, mode="all").as_py() == len(column):
            return table, places
        counts = pc.value_counts(column)
        twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
        rows = np.flatnonzero(pc.is_in(column, value_set=twice).to_numpy())
        records = table.take(pa.array(rows)).to_pylist()
        first: dict[str, tuple[int, dict[str, str | None]]] = {}
        keep = np.ones(len(table), np.bool_)
        examples: list[str] = []
        for row, record in zip(rows.tolist(), records, strict=True):
            at, earlier = first.setdefault(record["item"], (row, record))
            if at == row:
                continue
            keep[row] = False
            other = [name for name in record if record[name] != earlier[name]]
            if not other:
                examples.append(f"{record['item']!r} ({places[at]} and {places[row]})")
                continue
            says = ", ".join(f"{name} {record[name]!r} and not {earlier[name]!r}" for name in other)
            self.problems.add(
                places[row],
                f"{what} {record['item']!r} stands already at {places[at]}: here with {says}",
                hint="keep one of the two rows",
            )
        self.problems.refuse(InputError, f"{self.title} is refused")
        if examples:
            self.skipped[f"row that repeats an earlier one of its {what}"] += len(examples)
            shown = listing(examples, most=_MOST_EXAMPLES)
            self.warnings.append(f"rows that repeat an earlier one, left out: {len(examples):,} ({shown})")
        return table.filter(pa.array(keep)), places.only(keep)


def _strings(column: Any) -> Any:
    """Return a column as one chunked array of strings."""
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return column if column.type == pa.string() else column.cast(pa.string())
