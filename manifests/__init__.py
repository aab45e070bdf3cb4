"""The written record of a partition: build, write, read, verify, compare, extend, withdraw, publish."""

from .build import build_manifest
from .difference import Difference, compare_manifests, refuse_version
from .digest import CANONICAL, assignment_digest, canonical_rows
from .disk import verify_recomputed, verify_root
from .files import read_manifest, write_manifest
from .folders import refuse_folder
from .imported import imported_items, imported_manifest, open_manifest, read_splits
from .keys import Key, keyed_manifest, open_key, release_key, resolved_manifest
from .lineage import REASONS, extended_manifest, mark_superseded, withdrawn_manifest
from .model import FORMAT, Manifest
from .publish import Published, publish_manifest
from .suppression import suppressed_balance
from .verify import Fault, Verification, verify_folder

__all__ = [
    "CANONICAL",
    "FORMAT",
    "REASONS",
    "Difference",
    "Fault",
    "Key",
    "Manifest",
    "Published",
    "Verification",
    "assignment_digest",
    "build_manifest",
    "canonical_rows",
    "compare_manifests",
    "extended_manifest",
    "imported_items",
    "imported_manifest",
    "keyed_manifest",
    "mark_superseded",
    "open_key",
    "open_manifest",
    "publish_manifest",
    "read_manifest",
    "read_splits",
    "refuse_folder",
    "refuse_version",
    "release_key",
    "resolved_manifest",
    "suppressed_balance",
    "verify_folder",
    "verify_recomputed",
    "verify_root",
    "withdrawn_manifest",
    "write_manifest",
]
