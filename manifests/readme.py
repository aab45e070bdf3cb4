"""A manifest's README: what it holds, how balanced it is, how to check it and how to cite it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .digest import CANONICAL

if TYPE_CHECKING:
    from .model import Manifest

__all__ = ["bibtex", "render_readme", "shell_line"]

_MOST_WARNINGS = 20


def shell_line(columns: Sequence[str]) -> str:
    r"""Return the line of shell that recomputes the digest of ``assignments.csv``.

    Examples
    --------
    >>> shell_line(("subject", "split")).startswith(r"(printf 'protoctl:assignments:v1\nsubject\tsplit\n'; tail")
    True
    """
    header = "\\t".join(columns)
    rows = "tail -n +2 assignments.csv | tr , '\\t' | LC_ALL=C sort"
    return f"(printf '{CANONICAL}\\n{header}\\n'; {rows}) | sha256sum"


def bibtex(manifest: Manifest) -> str:
    """Return the BibTeX entry under which a manifest is cited: name, version and 12 digits of its digest."""
    document = manifest.document
    authors = " and ".join(author["name"] for author in document.get("authors", []))
    protocol = document["protocol"]
    lines = [
        f"@misc{{{manifest.name}-{manifest.version},",
        f"  title = {{{_tex(document.get('title') or _title(manifest))}}},",
        *([f"  author = {{{_tex(authors)}}},"] if authors else []),
        f"  year = {{{document['created'][:4]}}},",
        f"  version = {{{manifest.version}}},",
        f"  note = {{Manifest {_tex(manifest.title)}, protocol {_tex(protocol['name'])} {protocol['version']}, "
        f"assignments sha256 {manifest.digest[7:19]}}},",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _tex(text: str) -> str:
    for mark in "\\{}":
        text = text.replace(mark, "")
    for mark in "&%#_$":
        text = text.replace(mark, f"\\{mark}")
    return text


def _title(manifest: Manifest) -> str:
    dataset = manifest.document["dataset"]
    kind = "the replica of " if manifest.replica else ""
    return f"Partition of {kind}{dataset.get('title') or dataset['name']} by {manifest.document['protocol']['name']}"


def render_readme(manifest: Manifest) -> str:
    """Return the text of a manifest's ``README.md``.

    Parameters
    ----------
    manifest : Manifest
        With its digests and counts.
    """
    document = manifest.document
    parts = [
        f"# {document.get('title') or _title(manifest)}",
        _what(manifest),
        "## Splits",
        _sizes(manifest),
        *_subset(document),
        "## Balance",
        _balance(manifest),
        *_notes(document),
        "## Check it",
        _check(manifest),
        "## Use it",
        _use(manifest),
        "## Cite it",
        f"`{manifest.title}`, assignments `sha256:{manifest.digest[7:19]}`\n\n"
        + "\n".join(f"    {line}" for line in bibtex(manifest).splitlines()),
    ]
    return "\n\n".join(parts) + "\n"


def _what(manifest: Manifest) -> str:
    document = manifest.document
    dataset, protocol, solver = document["dataset"], document["protocol"], document["solver"]
    lines: list[str] = []
    if manifest.replica:
        lines.append(
            "**The rows are a replica: they were drawn from published counts and are not the dataset's own. "
            "Nothing can be trained or reported on them.**\n"
        )
    if document["status"] == "superseded":
        lines.append(f"**Superseded by {document.get('superseded_by', 'a later version')}.**\n")
    lines.append(
        f"`{manifest.title}` says which split each {manifest.level} of {dataset.get('title') or dataset['name']} "
        f"goes to: {document['assignments']['rows']:,} rows in `assignments.csv`, by protocol "
        f"{protocol['name']} {protocol['version']}"
        + (f" ({protocol['source']})" if protocol.get("source") else "")
        + f". Solver {solver['name']} {solver['version']}, seed {solver['seed']}, {_how(solver['mode'])}."
    )
    if dataset.get("license"):
        lines.append(f"\nTerms of the dataset: {dataset['license']}.")
    if dataset.get("accepted_terms"):
        lines.append(
            f"\n**The terms allow evaluation only. A split to train on was made since: {dataset['accepted_terms']}.**"
        )
    if manifest.keyed:
        identity = document["assignments"]["identity"]
        lines.append(
            f"\nThe ids are tokens. Whoever holds the release finds the names with its file `{identity['key_from']}`: "
            "`protoctl resolve`. They are still personal data to whoever can do so."
        )
    return "\n".join(lines)


def _how(mode: str) -> str:
    return {
        "fresh": "made afresh",
        "extended": "items added to an earlier version, whose items stayed where they were",
        "withdrawn": "items taken out of an earlier version, whose others stayed where they were",
        "imported": "taken over from elsewhere",
    }[mode]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    marks = [":--" if at < text_columns else "--:" for at in range(len(columns))]
    lines = [columns, marks, *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sizes(manifest: Manifest) -> str:
    document = manifest.document
    ratios = document["protocol"]["ratios"]
    whole, total = sum(ratios.values()), sum(count["items"] or 0 for count in document["counts"].values())
    rows: list[list[str]] = []
    for name in manifest.splits:
        count = document["counts"][name]
        known = count["items"] is not None and None not in [each["items"] for each in document["counts"].values()]
        share = f"{100 * count['items'] / total:.2f}" if total and known else "-"
        items = "-" if count["items"] is None else f"{count['items']:,}"
        subjects = f"{count['subjects']:,}" if count["subjects"] else "-"
        rows.append([name, items, subjects, share, f"{100 * ratios[name] / whole:.4g}"])
    return _table(["split", "items", "subjects", "% of items", "target %"], rows, 1)


def _subset(document: Any) -> list[str]:
    """Return what a subset was drawn from: its cells, and the attribute taken in turn."""
    subset = document.get("subset")
    if subset is None:
        return []
    text = (
        f"{subset['items']:,} of {subset['items_before']:,} items, drawn per {', '.join(subset['per'])} by a keyed "
        f"digest of their names; {subset['cells_reduced']:,} of {subset['cells']:,} cells hold more than they give."
    )
    counts = [[*cell["values"], f"{cell['before']:,}", f"{cell['after']:,}"] for cell in subset.get("counts", [])]
    if counts:
        text += "\n\n" + _table([*subset["per"], "before", "after"], counts, len(subset["per"]))
    alternate = subset.get("alternate")
    if alternate:
        rows = [
            [entry["value"], f"{entry['before']:,}", f"{entry['after']:,}", f"{entry['cells_without']:,}"]
            for entry in alternate["categories"]
        ]
        text += "\n\n" + _table([alternate["attribute"], "before", "after", "cells without it"], rows, 1)
        for by in alternate["by"]:
            rows = [[row["value"], *(_shares(row["before"])), *(_shares(row["after"]))] for row in by["rows"]]
            columns = [f"{name}, {when}" for when in ("before", "after") for name in by["columns"]]
            text += "\n\n" + _table([by["attribute"], *columns], rows, 1)
    return ["## Subset", text]


def _shares(counts: Sequence[int]) -> list[str]:
    whole = sum(counts)
    return [f"{count:,} ({100 * count / whole:.1f} %)" if whole else "0" for count in counts]


def _balance(manifest: Manifest) -> str:
    data = manifest.document["balance"]
    balance = manifest.balance
    rows: list[list[str]] = []
    for row in balance.rows:
        if row.role in ("total", "known"):
            continue
        value = {"active": "active", "missing": "(missing)"}.get(row.role, row.value)
        cells = [f"{count:,} ({100 * share:.2f})" for count, share in zip(row.items, row.shares, strict=True)]
        rows.append([row.attribute, value, *cells])
    if not rows:
        return "Nothing was balanced but the sizes." + _hidden(data)
    one = len(balance.splits) == 1
    if one:
        rows = [[row.attribute, {"missing": "(missing)"}.get(row.role, row.value), f"{row.total:,}"]
                for row in balance.rows if row.role not in ("total", "known")]  # fmt: skip
    text = "" if one else "Items, and in brackets the percentage of the category's items.\n\n"
    text += _table(["attribute", "category", *balance.splits], rows, 2) + "\n"
    if balance.worst is not None and "round_to" not in data and not one:
        worst, at = balance.worst
        text += (
            f"\nMean deviation {balance.mean:.3g} points, worst {balance.worst_points:.3g} points "
            f"({worst.name} in {balance.splits[at]})."
        )
        if balance.proven:
            text += " No partition of these units has a smaller sum of deviations (proven)."
        elif balance.mean_bound is not None:
            text += f" No partition of these units can have a mean below {balance.mean_bound:.3g} points."
    return text.rstrip("\n") + _hidden(data)


def _hidden(data: dict[str, Any]) -> str:
    text = ""
    if "as_of" in data:
        text += f"\n\nThe counts are those of {data['as_of']}: they stay as they were over small changes."
    if "suppress_below" in data:
        text += f"\n\nCategories with a count below {data['suppress_below']} in a split are left out"
        text += f", counts are rounded to {data['round_to']}." if "round_to" in data else "."
    return text


def _notes(document: Any) -> list[str]:
    reading = document.get("reading", {})
    lines = [f"- left out: {count:,} items, {reason}" for reason, count in reading.get("left_out", {}).items()]
    lines += [
        f"- skipped while reading: {count:,} rows, {reason}" for reason, count in reading.get("skipped", {}).items()
    ]
    warnings = reading.get("warnings", [])
    lines += [f"- {text}" for text in (*warnings[:_MOST_WARNINGS], *reading.get("notes", []))]
    if len(warnings) > _MOST_WARNINGS:
        lines.append(f"- and {len(warnings) - _MOST_WARNINGS:,} more warnings, in `manifest.json`")
    return ["## What to know", "\n".join(lines)] if lines else []


def _check(manifest: Manifest) -> str:
    entry = manifest.document["assignments"]
    text = "The digest of the assignment does not depend on the order of rows or on the format of the file:\n\n"
    text += f"    {manifest.digest}\n\n"
    if not entry.get("quoted"):
        text += "Without any program of ours, in this folder:\n\n"
        text += f"    {shell_line(entry['columns'])}\n\n"
    return text + "And whatever else can be checked, with `python -m pip install protoctl`:\n\n    protoctl verify ."


def _use(manifest: Manifest) -> str:
    lines = ["import protoctl", "", f'rows = protoctl.read_manifest(".").frame("{manifest.splits[0]}")']
    return "\n".join(f"    {line}".rstrip() for line in lines)
