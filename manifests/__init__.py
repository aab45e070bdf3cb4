"""The written record of a partition: build, write, read back, digest."""

from .build import build_manifest
from .digest import CANONICAL, assignment_digest, canonical_rows
from .files import read_manifest, write_manifest
from .folders import refuse_folder
from .model import FORMAT, Manifest

__all__ = [
    "CANONICAL",
    "FORMAT",
    "Manifest",
    "assignment_digest",
    "build_manifest",
    "canonical_rows",
    "read_manifest",
    "refuse_folder",
    "write_manifest",
]
