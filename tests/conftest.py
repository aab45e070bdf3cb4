"""Where the tests find the material that is not part of the project, and how they run the command."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--rewrite", action="store_true", help="write README's output and the golden files anew")


@pytest.fixture
def rewrite(request) -> bool:
    """Whether this run writes what is expected anew, for somebody to read the difference."""
    return request.config.getoption("--rewrite")


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


@dataclass(frozen=True)
class Run:
    """What a run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def protoctl(capfd, monkeypatch):
    """Run the command in this process: ``protoctl("split", "affectnet")`` gives its exit code and what it printed."""
    from protoctl.cli import main

    def run(*args) -> Run:
        with pytest.raises(SystemExit) as caught:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return Run(int(caught.value.code or 0), out, err)

    monkeypatch.delenv("PROTOCTL_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return run


@pytest.fixture
def in_empty_folder(tmp_path, monkeypatch) -> Path:
    """Change to an empty folder for the time of the test, and return it."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
