"""The example manifests verify, and their commands make them again."""

import importlib.util
import os
import re
import shutil
from pathlib import Path

import pytest

from protoctl.manifests import read_manifest, verify_folder

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "manifests"
NAMES = ("disfa-replica-fair-55-15-30", "raf-au-replica-fair-55-15-30")


def commands():
    """The commands that the examples' README shows for making them."""
    text = (EXAMPLES / "README.md").read_text("utf-8")
    return [line.split() for line in re.findall(r"^    protoctl (split .*)$", text, re.MULTILINE)]


@pytest.mark.parametrize("name", NAMES)
def test_the_command_makes_it_again(protoctl, in_empty_folder, monkeypatch, name):
    """Set PROTOCTL_REWRITE_EXAMPLES=1 to write the examples anew, and read the diff."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764460800")
    command = next(words for words in commands() if name.startswith(words[1]))
    assert protoctl(*command).code == 0
    made = in_empty_folder / name
    if os.environ.get("PROTOCTL_REWRITE_EXAMPLES") == "1":
        shutil.rmtree(EXAMPLES / name, ignore_errors=True)
        shutil.copytree(made, EXAMPLES / name)
    assert (made / "assignments.csv").read_bytes() == (EXAMPLES / name / "assignments.csv").read_bytes()
    kept, new = read_manifest(EXAMPLES / name).document, read_manifest(made).document
    for key in ("balance", "counts", "columns", "dataset", "protocol", "solver"):
        assert new[key] == kept[key], key


@pytest.mark.parametrize("name", NAMES)
def test_it_verifies(protoctl, name):
    assert verify_folder(EXAMPLES / name).faults == []
    run = protoctl("verify", EXAMPLES / name, "--recompute", "--json")
    assert run.code == 0, run.out
    assert run.json["passed"] is True
    assert "each category's count: that needs the dataset (--recompute)" not in run.json["not_looked_at"]


def test_the_subjects_of_disfa_are_27_rows():
    manifest = read_manifest(EXAMPLES / NAMES[0])
    assert manifest.level == "subject"
    assert manifest.assignments.num_rows == 27


@pytest.mark.parametrize("library", ["sklearn", "torch", "datasets"])
def test_the_examples_of_use_run(library):
    pytest.importorskip(library, reason=f"needs {library}")
    file = EXAMPLES / f"with_{'pytorch' if library == 'torch' else library}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.main(EXAMPLES / NAMES[1])
    counts = {name: each["items"] for name, each in read_manifest(EXAMPLES / NAMES[1]).document["counts"].items()}
    if library == "sklearn":
        assert found["fitted on"] == counts["train"] + counts["valid"]
        assert found["tested on"] == counts["test"]
    else:
        assert found == counts
