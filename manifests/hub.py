"""The card by which the Hugging Face hub and its ``datasets`` library know a published manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Manifest

__all__ = ["front_matter", "hub_name", "hub_names"]

_NAME = re.compile(r"\w+(\.\w+)*")
_LICENSES = {
    "apache-2.0",
    "cc-by-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-4.0",
    "cc-by-nd-4.0",
    "cc-by-sa-4.0",
    "cc0-1.0",
    "mit",
    "odc-by",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def hub_name(split: str) -> str:
    """Return a split's name as the hub allows it: letters, digits and ``_``.

    Examples
    --------
    >>> hub_name("fold-1"), hub_name("valid")
    ('fold_1', 'valid')
    """
    return split if _NAME.fullmatch(split) else re.sub(r"\W+", "_", split).strip("_") or "split"


def hub_names(splits: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the hub's name of each split, all different, and what was renamed."""
    names: dict[str, str] = {}
    for split in splits:
        name = hub_name(split)
        while name in names.values():
            name += "_"
        names[split] = name
    notes = tuple(
        f"split {split!r} is called {name!r} on the hub, which allows letters, digits and _ only"
        for split, name in names.items()
        if split != name
    )
    return names, notes


def front_matter(
    manifest: Manifest, files: Mapping[str, Path], rows: Mapping[str, int], columns: Sequence[str], license: str
) -> str:
    """Return the block of YAML that opens the card.

    Parameters
    ----------
    manifest : Manifest
        As it is published.
    files : mapping of str to pathlib.Path
        The CSV file of each split.
    rows : mapping of str to int
        Its number of rows.
    columns : sequence of str
        The columns of those files. All are text, and ``NA`` is a name: the card says so.
    license : str
        Terms of the manifest.
    """
    import yaml

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    names, _ = hub_names(tuple(files))
    sizes = {split: path.stat().st_size for split, path in files.items()}
    total = sum(rows.values())
    known = license.lower() in _LICENSES
    # The configuration needs them as well: without, a column of digits is read as numbers before it becomes text.
    features = [{"name": column, "dtype": "string"} for column in columns]
    terms: dict[str, Any] = {"license": license.lower()} if known else {"license": "other", "license_name": license}
    data = {
        **terms,
        "pretty_name": manifest.name,
        "size_categories": [next((text for most, text in _SIZES if total < most), "n>1M")],
        "tags": ["protoctl", "dataset-split"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": names[split], "path": path.name} for split, path in files.items()],
                "keep_default_na": False,
                "features": features,
            }
        ],
        "dataset_info": {
            "config_name": "default",
            "features": features,
            "splits": [
                {"name": names[split], "num_bytes": sizes[split], "num_examples": rows[split]} for split in files
            ],
            "download_size": sum(sizes.values()),
            "dataset_size": sum(sizes.values()),
        },
    }
    return f"---\n{yaml.dump(data, Dumper=Plain, sort_keys=False, allow_unicode=True, width=100)}---\n"
