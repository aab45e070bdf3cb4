"""Where the tests find the material that is not part of the project."""

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"


def _material(name: str) -> Path:
    folder = Path(os.environ.get("PROTOCTL_SHARED", _SHARED)) / name
    if not folder.is_dir():
        reason = f"needs the folder {name} of real or drawn data beside the checkout"
        if os.environ.get("PROTOCTL_REQUIRE_REAL") == "1":
            pytest.fail(f"{reason}, and PROTOCTL_REQUIRE_REAL=1 demands it")
        pytest.skip(reason)
    return folder.resolve()


@pytest.fixture(scope="session")
def real() -> Path:
    """Return the folder of real label files and exports."""
    return _material("real")


@pytest.fixture(scope="session")
def bench() -> Path:
    """Return the folder of the partitioner's benchmark data."""
    return _material("bench")


@pytest.fixture(scope="session")
def published() -> Path:
    """Return the folder of published tables and reference values."""
    return _material("published")
