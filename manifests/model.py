"""What a manifest is: a document, the rows it speaks of, and the checks that it passes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import InputError, Problems, unknown
from ..partition.balance import Balance, balance_from_counts
from ..partition.profile import Category
from ..tabular import pc

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMAT", "Manifest", "document_problems", "refuse_format"]

FORMAT = "protoctl-manifest/1"
"""What the key ``format`` says in the manifests that this version writes; it reads no other."""

_MOST_CHARACTERS = 160


@dataclass(frozen=True)
class Manifest:
    """The written record of a partition.

    Parameters
    ----------
    document : mapping
        What ``manifest.json`` holds; its shape is ``manifest-1.schema.json``.
    assignments : pyarrow.Table
        Columns ``item``, ``subject`` (null where unknown) and ``split``, or ``subject`` and ``split`` where a row
        is a subject; text, sorted by the bytes of the first column.
    folder : pathlib.Path or None
        Where it was read from or written to.

    Raises
    ------
    InputError
        If the document is not of the format, with every place; if the columns are others than it says.
    """

    document: Mapping[str, Any]
    assignments: pa.Table
    folder: Path | None = None

    def __post_init__(self) -> None:
        where = self.folder.name if self.folder else "the manifest"
        refuse_format(self.document, where)
        document_problems(self.document).refuse(InputError, f"{where}: manifest.json is refused")
        wanted = list(self.document["assignments"]["columns"])
        if self.assignments.column_names != wanted:
            raise InputError(
                f"{where}: the assignments have the columns {', '.join(self.assignments.column_names)}, "
                f"and manifest.json says {', '.join(wanted)}",
                hint="protoctl verify says what else differs",
            )

    @property
    def name(self) -> str:
        """Its name, which stays over all versions."""
        return self.document["name"]

    @property
    def version(self) -> str:
        """Its version, by Semantic Versioning of the rows."""
        return self.document["version"]

    @property
    def title(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"

    @property
    def replica(self) -> bool:
        """Whether its rows were drawn from published counts."""
        return self.document["replica"]

    @property
    def digest(self) -> str:
        """The digest of the assignment."""
        return self.document["assignments"]["digest"]

    @property
    def level(self) -> str:
        """What a row is: ``item`` or ``subject``."""
        return self.document["assignments"]["level"]

    @property
    def keyed(self) -> bool:
        """Whether its ids are tokens that only holders of a licensed file can resolve."""
        return self.document["assignments"]["identity"]["mode"] == "keyed"

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in the protocol's order."""
        return tuple(split["name"] for split in self.document["protocol"]["splits"])

    @property
    def balance(self) -> Balance:
        """The balance that the document states; categories with a suppressed count are left out."""
        data = self.document["balance"]
        rows = [row for row in data["categories"] if None not in (*row["items"], *row["units"])]
        if not rows or rows[0]["role"] != "total":
            counts = [self.document["counts"][name] for name in data["splits"]]
            total = {"attribute": "", "value": "", "role": "total"}
            rows.insert(
                0, total | {"items": [c["items"] or 0 for c in counts], "units": [c["subjects"] for c in counts]}
            )
        return balance_from_counts(
            data["splits"],
            data["ratios"],
            [Category(row["attribute"], row["value"], row["role"]) for row in rows],
            [row["items"] for row in rows],
            [row["units"] for row in rows],
            unit=data["unit"],
            bound=data.get("bound"),
            mean_bound=data.get("mean_bound_pp"),
            proven=bool(data.get("proven")),
        )

    def splits_by_item(self) -> dict[str, str]:
        """Return the split of every item, by name.

        Raises
        ------
        InputError
            If the rows are subjects, so that the items are not known without the dataset.
        """
        if self.level == "subject":
            raise InputError(
                f"{self.title} lists subjects and not items",
                hint="protoctl extend MANIFEST --root PATH finds the items",
            )
        return dict(zip(self.assignments["item"].to_pylist(), self.assignments["split"].to_pylist(), strict=True))

    def frame(self, split: str | None = None) -> pd.DataFrame:
        """Return the rows of a split, or all, as a pandas DataFrame.

        Parameters
        ----------
        split : str, optional
            Name of a split; all rows by default.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``item``, ``subject`` (None where unknown) and ``split``, or ``subject`` and ``split``.

        Raises
        ------
        InputError
            If there is no such split, with the close match.
        """
        if split is None:
            return self.assignments.to_pandas()
        if split not in self.splits:
            message, hint = unknown("split", split, self.splits)
            raise InputError(f"{self.title}: {message}", hint=hint)
        return self.assignments.filter(pc.equal(self.assignments["split"], split)).to_pandas()


def refuse_format(document: Any, where: str) -> None:
    """Refuse a document of another format, and say which version would read it.

    Raises
    ------
    InputError
        If ``format`` is absent, unknown, or newer than this version.
    """
    value = document.get("format") if isinstance(document, Mapping) else None
    if value == FORMAT:
        return
    found = re.fullmatch(r"protoctl-manifest/(\d+)", value) if isinstance(value, str) else None
    if found is None:
        raise InputError(
            f"{where} is no manifest: its format is {value!r}, and {FORMAT!r} is wanted",
            hint="name the folder that protoctl split wrote, or its manifest.json",
        )
    from .. import __version__

    environment = document.get("environment")
    writer = environment.get("protoctl") if isinstance(environment, Mapping) else None
    newer = f"protoctl {writer} wrote it, and that version" if writer else "a later version of protoctl"
    raise InputError(
        f"{where} is of format {value}, and protoctl {__version__} reads up to {FORMAT}",
        hint=f"{newer} reads it: python -m pip install --upgrade protoctl",
    )


@cache
def _validator() -> Any:
    import jsonschema

    text = (resources.files(__package__ or "protoctl.manifests") / "manifest-1.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def document_problems(document: Any) -> Problems:
    """Return every place at which a document breaks the schema of the format.

    Examples
    --------
    >>> [str(problem) for problem in document_problems({"format": "protoctl-manifest/1"}).found][0]
    "$: 'assignments' is a required property"
    """
    problems = Problems()
    errors = sorted(_validator().iter_errors(document), key=lambda error: (error.json_path, error.message))
    for error in errors:
        if error.validator == "additionalProperties" and error.validator_value is False:
            known = list(error.schema["properties"])
            for key in sorted(key for key in error.instance if key not in known and not key.startswith("x-")):
                message, hint = unknown("key", key, known)
                problems.add(error.json_path, message, hint=f"{hint}; keys of your own begin with x-")
            continue
        message = error.message
        if len(message) > _MOST_CHARACTERS:
            message = f"{message[:60]} ... {message[-90:]}"
        problems.add(error.json_path, message)
    return problems
