"""README tells the truth: its commands are run, and print what it shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed(command, folder):
    """Return what a shell command prints to stdout."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "SOURCE_DATE_EPOCH": "1700000000", "NO_COLOR": "1"}
    environment.pop("PROTOCTL_DATA", None)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"$ {command}\n{done.stderr}"
    return done.stdout


def rerun(block, folder):
    """Return a block with the output that its commands print now."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{printed(command[2:], folder)}" for command in commands)


@pytest.fixture
def beside_the_examples(tmp_path):
    """Return a folder that holds the examples, as a checkout does."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_readme_starts_with_the_two_commands():
    commands = [line.strip() for line in README.read_text().splitlines() if line.startswith("    ")][:2]
    assert commands == [
        "python -m pip install . && protoctl split affectnet --protocol fair-55-15-30",
        "python -m pip install '.[test]' && python -m pytest",
    ]


def test_commands_print_what_readme_shows(beside_the_examples, rewrite):
    text = README.read_text()
    now = BLOCK.sub(lambda found: f"```console\n{rerun(found[1], beside_the_examples)}```", text)
    if rewrite:
        README.write_text(now)
    assert now.count("$ protoctl ") >= 6
    assert now == README.read_text()


def test_the_python_of_readme_runs(beside_the_examples, protoctl, monkeypatch):
    monkeypatch.chdir(beside_the_examples)
    table = "examples/faces/items.csv"
    assert protoctl("split", table, "--protocol", "fair-55-15-30", "--stratify", "label", "--out", "faces").code == 0
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    names = {}
    exec(code, names)
    assert names["assignments"].num_rows == 290_580
    assert set(names["train"]["split"]) == {"train"}
