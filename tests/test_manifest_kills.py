"""Killed at any moment, a run leaves the former manifest, the new one, or the former one as .bak, and it is said."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from protoctl.manifests import read_manifest, refuse_folder

FAIR = ("--protocol", "fair-55-15-30")

# Runs a command again and again in a fork of its own, which kills itself when the n-th event that touches the output
# folder, or what stands beside it, is about to happen; n grows until the command gets through.
LOOP = """
import json, os, shutil, signal, sys
import jsonschema, pyarrow.csv, pyarrow.parquet, rich.console, rich.table, yaml
import protoctl.cli.manifests, protoctl.cli.split, protoctl.manifests, protoctl.partition.search
from protoctl.cli import main

command, base, work = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree", "tempfile.mkdtemp"}

def armed(moment):
    left = [moment]
    begins = tuple(f"{work}/{moment}/{name}" for name in ("out", ".out", "new", ".new"))
    def hook(event, args):
        reads = event == "open" and args[1] in ("r", "rb")
        if event in EVENTS and not reads and any(isinstance(each, str) and each.startswith(begins) for each in args):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

def child(folder, moment):
    os.chdir(folder)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    armed(moment)
    try:
        main(command)
    except SystemExit as end:
        os._exit(end.code or 0)
    os._exit(99)

for moment in range(1, 400):
    folder = os.path.join(work, str(moment))
    shutil.copytree(base, folder)
    process = os.fork()
    if process == 0:
        child(folder, moment)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        print(moment, os.waitstatus_to_exitcode(status))
        break
"""


def people(subjects):
    count = subjects * 4
    return pd.DataFrame(
        {
            "item": [f"{n % subjects:02d}/{n // subjects}.jpg" for n in range(count)],
            "subject": [f"P{n % subjects:02d}" for n in range(count)],
            "label": [["Anger", "Fear"][n // subjects % 2] for n in range(count)],
        }
    )


COMMANDS = {
    "split": ("split", "people.csv", *FAIR, "--stratify", "label", "--seed", "1", "--out", "out", "--force"),
    "extend": ("extend", "first", "more.csv", "--out", "out", "--force"),
    "publish": ("publish", "first", "--to", "out", "--license", "CC0-1.0", "--force"),
    "nothing before": ("split", "people.csv", *FAIR, "--stratify", "label", "--out", "new"),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    people(8).to_csv(folder / "people.csv", index=False)
    people(10).to_csv(folder / "more.csv", index=False)
    for name, seed in (("first", "0"), ("out", "2")):
        subprocess.run(
            [sys.executable, "-m", "protoctl", *COMMANDS["nothing before"][:-1], name, "--seed", seed],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return folder


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_every_moment(tmp_path, base, name):
    work = tmp_path / "work"
    work.mkdir()
    command = COMMANDS[name]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOP, json.dumps(command), str(base), str(work)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
    )
    moments, code = map(int, done.stdout.split())
    assert code == 0
    assert moments > 9
    out = "new" if name == "nothing before" else "out"
    former = None if name == "nothing before" else (base / "out" / "manifest.json").read_bytes()
    new = (work / str(moments) / out / "manifest.json").read_bytes()
    seen = set()
    for moment in range(1, moments + 1):
        folder = work / str(moment)
        place, backup = folder / out, folder / f"{out}.bak"
        where = place if place.exists() else backup
        if where.exists():
            read_manifest(where)
            document = (where / "manifest.json").read_bytes()
            assert document in (former, new)
            seen.add((where.name, "new" if document == new else "former"))
        else:
            assert former is None
            seen.add((out, "absent"))
        left = [*hidden(folder), *(["bak"] if backup.exists() else [])]
        notes = refuse_folder(place, force=True)
        assert bool(notes) == bool(left), (left, notes)
        assert hidden(folder) == []
        assert not backup.exists()
        assert place.exists() == (former is not None or ("new" in place.name and where.exists()))
        if where == backup and former is not None:
            assert f"the former one was in {backup.name}" in notes[0]
            assert (place / "manifest.json").read_bytes() == former
    expected = {("new", "absent"), ("new", "new")}
    if former is not None:
        expected = {("out", "former"), ("out.bak", "former"), ("out", "new")}
    assert seen == expected


def test_the_next_run_says_which(protoctl, base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(8).to_csv("people.csv", index=False)
    assert protoctl(*COMMANDS["split"]).code == 0
    os.rename("out", "out.bak")
    (tmp_path / ".out.replacing").write_text("sha256:" + "0" * 64)
    run = protoctl(*COMMANDS["split"])
    assert run.code == 0
    assert "an earlier run was interrupted: the former one was in out.bak, and is in out again" in run.err
    (tmp_path / ".out.x.partial").mkdir()
    run = protoctl(*COMMANDS["split"][:-1])
    assert run.code == 3
    assert "out exists already; an earlier run was interrupted while it wrote" in run.err
