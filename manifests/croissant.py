"""Croissant 1.1: the description of a published manifest that machines read, and what the specification asks of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..digests import digest_file
from ..errors import Problems

if TYPE_CHECKING:
    from .model import Manifest

__all__ = ["croissant_document", "croissant_problems"]

_ROWS = "assignments.parquet"
_MEANINGS = {"training": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}
_MEDIA = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".bib": "application/x-bibtex",
}
_TERMS = (
    "citeAs",
    "column",
    "containedIn",
    "dataBiases",
    "dataCollection",
    "equivalentProperty",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isArray",
    "arrayShape",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
)


def _context() -> dict[str, Any]:
    """Return the JSON-LD context that the specification prints."""
    context: dict[str, Any] = {term: f"cr:{term}" for term in _TERMS}
    context |= {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "prov": "http://www.w3.org/ns/prov#",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
    }
    return dict(sorted(context.items()))


def croissant_document(
    manifest: Manifest, folder: Path, *, license: str, url: str, authors: Sequence[str], citation: str
) -> dict[str, Any]:
    """Describe a published folder.

    Parameters
    ----------
    manifest : Manifest
        As it is published.
    folder : pathlib.Path
        With all files but this one; their sizes and digests are stated. The rows are read from
        ``assignments.parquet``: readers of CSV take ``00012`` for 12 and ``NA`` for nothing.
    license, url : str
        Terms and address of the manifest.
    authors : sequence of str
        Who made it; may be empty.
    citation : str
        BibTeX.
    """
    document = manifest.document
    files = sorted(path for path in folder.iterdir() if path.suffix in _MEDIA and path.name != "croissant.json")
    people: list[Any] = [{"@type": "sc:Person", "name": name} for name in authors]
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": manifest.name,
        "description": document.get("description")
        or f"Which split each {manifest.level} of {_dataset_name(document)} goes to. No images or videos.",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "url": url,
        "license": license,
        **({"creator": people} if people else {}),
        "datePublished": document["created"][:10],
        "version": manifest.version,
        "citeAs": citation,
        **_provenance(manifest),
        **_responsible(manifest),
        "distribution": [_file(path) for path in files],
        "recordSet": [_split_set(manifest), _assignment_set(manifest)],
    }


def _dataset_name(document: Mapping[str, Any]) -> str:
    return document["dataset"].get("title") or document["dataset"]["name"]


def _file(path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": _MEDIA[path.suffix],
        "contentSize": f"{path.stat().st_size} B",
        "sha256": digest_file(path).removeprefix("sha256:"),
    }


def _provenance(manifest: Manifest) -> dict[str, Any]:
    document = manifest.document
    sources = [{"@id": document["dataset"].get("url") or f"urn:dataset:{document['dataset']['name']}"}]
    sources += [{"@id": f"urn:protoctl:{each['name']}:{each['version']}"} for each in document.get("derived_from", [])]
    return {"prov:wasDerivedFrom": sources if len(sources) > 1 else sources[0]}


def _responsible(manifest: Manifest) -> dict[str, Any]:
    """Return the fields on responsible use that are known to be true."""
    document = manifest.document
    protocol, solver = document["protocol"], document["solver"]
    personal = (
        "Tokens that holders of the dataset can resolve; no age, gender or race of a person"
        if manifest.keyed
        else "Names of items and subjects as the dataset has them; no age, gender or race of a person"
    )
    return {
        "rai:dataManipulationProtocol": (
            f"Protocol {protocol['name']} {protocol['version']} ({protocol['digest']}); "
            f"solver {solver['name']} {solver['version']}, seed {solver['seed']}; assignments {manifest.digest}"
        ),
        "rai:personalSensitiveInformation": [personal],
        "rai:dataReleaseMaintenancePlan": [
            "Semantic versioning of the rows: what is moved, withdrawn or added to a split for evaluation is a major "
            "step; later versions leave every other item in its split"
        ],
    }


def _field(record_set: str, name: str, data_type: Any, description: str, **more: Any) -> dict[str, Any]:
    identity = f"{record_set}/{name}"
    return {"@type": "cr:Field", "@id": identity, "name": identity, "description": description} | {
        "dataType": data_type,
        **more,
    }


def _split_set(manifest: Manifest) -> dict[str, Any]:
    roles = {split["name"]: split["role"] for split in manifest.document["protocol"]["splits"]}
    known = all(role in _MEANINGS for role in roles.values())
    fields = [_field("splits", "name", "sc:Text", "Name of the split.")]
    if known:
        fields.append(_field("splits", "url", ["sc:URL", "cr:Split"], "What it is for."))
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The splits.",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": fields,
        "data": [
            {"splits/name": name} | ({"splits/url": _MEANINGS[role]} if known else {}) for name, role in roles.items()
        ],
    }


def _assignment_set(manifest: Manifest) -> dict[str, Any]:
    texts = {
        "item": "The item.",
        "subject": "The person whom it shows; several are joined by |.",
        "split": "The split that it goes to.",
    }
    fields: list[dict[str, Any]] = []
    for column in manifest.assignments.column_names:
        more: dict[str, Any] = {"source": {"fileObject": {"@id": _ROWS}, "extract": {"column": column}}}
        if column == "split":
            more["references"] = {"field": {"@id": "splits/name"}}
        fields.append(_field("assignments", column, "sc:Text", texts[column], **more))
    return {
        "@type": "cr:RecordSet",
        "@id": "assignments",
        "name": "assignments",
        "description": f"One row for each {manifest.level}.",
        "key": {"@id": f"assignments/{manifest.level}"},
        "field": fields,
    }


def croissant_problems(document: Mapping[str, Any], folder: Path, manifest: Manifest) -> Problems:
    """Check what the specification demands and the reference validator lets pass.

    Split names are among those enumerated, keys are unique, files are there with the size and digest stated, columns
    exist, what is referred to exists.
    """
    problems = Problems()
    identities = Counter(_identities(document))
    for identity, count in identities.items():
        if count > 1:
            problems.add(identity, f"stands {count} times as an @id")
    for at, entry in enumerate(document["distribution"]):
        file = folder / entry["contentUrl"]
        if not file.is_file():
            problems.add(f"$.distribution[{at}]", f"{entry['contentUrl']} is absent")
        elif digest_file(file) != f"sha256:{entry['sha256']}" or f"{file.stat().st_size} B" != entry["contentSize"]:
            problems.add(f"$.distribution[{at}]", f"{entry['contentUrl']} has another size or digest")
    sets = {each["@id"]: each for each in document["recordSet"]}
    names = [row["splits/name"] for row in sets["splits"]["data"]]
    if len(names) != len(set(names)):
        problems.add("$.recordSet[0].data", "a split stands twice")
    for name in sorted(set(manifest.assignments["split"].unique().to_pylist()) - set(names)):
        problems.add("assignments", f"split {name!r} is not among those enumerated")
    keys = manifest.assignments[manifest.level]
    if len(keys.unique()) < len(keys):
        problems.add("assignments", f"the key {manifest.level} is not unique")
    for field in sets["assignments"]["field"]:
        column = field["source"]["extract"]["column"]
        if column not in manifest.assignments.column_names:
            problems.add(field["@id"], f"there is no column {column!r}")
        for target in (field["source"]["fileObject"], field.get("references", {}).get("field")):
            if target is not None and target["@id"] not in identities:
                problems.add(field["@id"], f"refers to {target['@id']!r}, which is not there")
    return problems


def _identities(document: Mapping[str, Any]) -> list[str]:
    found = [entry["@id"] for entry in document["distribution"]]
    for record_set in document["recordSet"]:
        found += [record_set["@id"], *(field["@id"] for field in record_set["field"])]
    return found
