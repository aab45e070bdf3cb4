"""How long manifests of 290,580 rows take, how small they are in git, and what growing costs in balance.

    python benchmarks/manifests.py [speed] [git] [growth]

Times are of this machine; the limits beside them are what the project promises on two cores.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import protoctl
from protoctl.catalog import Items, replica_items
from protoctl.digests import SplitMix64
from protoctl.manifests import (
    build_manifest,
    extended_manifest,
    keyed_manifest,
    read_manifest,
    release_key,
    verify_folder,
    withdrawn_manifest,
    write_manifest,
)
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol

RULES = load_protocol("fair-55-15-30")
RELEASES = 10


def say(what, value, unit, limit=None):
    print(f"{what}: {value:.2f} {unit}" + (f" (at most {limit})" if limit else ""))


def timed(function):
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def speed(folder):
    """Write, read and verify the replica of AffectNet."""
    partition = split_items(replica_items("affectnet"), RULES)
    balance = balance_of(partition)
    rows = partition.table().num_rows
    made, manifest = timed(lambda: build_manifest(partition, balance))
    wrote, _ = timed(lambda: write_manifest(folder / "out", manifest))
    say(f"{rows:,} rows built and written", made + wrote, "s", 2)
    say("read back", timed(lambda: read_manifest(folder / "out"))[0], "s")
    seconds, found = timed(lambda: verify_folder(folder / "out"))
    say("verify, levels 1 and 2", seconds, "s", 3)
    print(f"findings: {len(found.faults)}")
    command = [sys.executable, "-m", "protoctl", "verify", "out"]
    done, _ = timed(lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True))
    say("protoctl verify, the whole process", done, "s", 3)
    (folder / "labels.csv").write_bytes(SplitMix64(1, "benchmarks/labels").words(4096).tobytes())
    key = release_key(folder / "labels.csv", manifest.name)
    say("tokens for every name", timed(lambda: keyed_manifest(manifest, key))[0], "s")


def git(folder):
    """Ten releases of a keyed manifest in one repository: rows leave, rows come, some are moved."""
    partition = split_items(replica_items("affectnet"), RULES)
    balance = balance_of(partition)
    (folder / "labels.csv").write_bytes(SplitMix64(1, "benchmarks/labels").words(4096).tobytes())
    manifest = build_manifest(partition, balance)
    key = release_key(folder / "labels.csv", manifest.name)
    manifest = keyed_manifest(manifest, key)
    random = SplitMix64(2, "benchmarks/releases")
    repository = folder / "repository"
    repository.mkdir()
    run = ["git", "-C", str(repository), "-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org"]
    subprocess.run([*run, "init", "-q"], check=True)
    for release in range(RELEASES):
        write_manifest(folder / f"release-{release}", manifest)
        for path in (folder / f"release-{release}").iterdir():
            path.replace(repository / path.name)
        subprocess.run([*run, "add", "-A"], check=True)
        subprocess.run([*run, "commit", "-q", "-m", f"Release {release}"], check=True)
        manifest = next_release(manifest, random, key, release)
    subprocess.run([*run, "gc", "-q", "--aggressive"], check=True, capture_output=True)
    packs = sum(path.stat().st_size for path in (repository / ".git" / "objects" / "pack").iterdir())
    say(f"{RELEASES} releases of a keyed manifest in git", packs / 1e6, "MB", 15)


def next_release(manifest, random, key, release):
    """Fifty rows leave; every third release 2,000 come, one moves 300."""
    names = manifest.frame()["item"].tolist()
    leaving = sorted({names[random.below(len(names))] for _ in range(50)})
    manifest = withdrawn_manifest(manifest, leaving, reason="other")
    table = manifest.assignments
    if release % 3 == 0:
        tokens = [key.token("item", f"new/{release}/{n}.jpg") for n in range(2000)]
        more = pa.table({"item": tokens, "subject": pa.nulls(2000, pa.string()), "split": ["train"] * 2000})
        table = pa.concat_tables([table, more])
    if release == 4:
        split = table["split"].to_pylist()
        split[::1000] = ["test"] * len(split[::1000])
        table = table.set_column(2, "split", pa.array(split))
    return replace(manifest, assignments=table)


def crowd(subjects):
    """Subjects of 1 to 15 items."""
    draw = SplitMix64(1, "tests/crowd")
    rows = {name: [] for name in ("item", "subject", "label", "age", "gender", "race")}
    for subject in range(subjects):
        age = ["20-29", "30-39", "40-49", "50-59"][draw.below(4)]
        gender, race = ["Female", "Male"][draw.below(2)], ["Asian", "Black", "White", "White"][draw.below(4)]
        for item in range(1 + draw.below(15)):
            label = ["Anger", "Fear", "Neutral"][draw.below(3)]
            row = (f"{subject:05d}/{item:02d}.jpg", f"S{subject:05d}", label, age, gender, race)
            for name, value in zip(rows, row, strict=True):
                rows[name].append(value)
    return Items("crowd", pa.table(rows), labels=("label",), attributes=("age", "gender", "race"))


def mean_deviation(manifest, items):
    """Mean deviation in points of the categories with 50 items or more."""
    frame = items.table.to_pandas().merge(manifest.frame()[["item", "split"]], on="item")
    off = []
    for column in ("label", "age", "gender", "race"):
        counts = frame.groupby([column, "split"]).size().unstack(fill_value=0)[["train", "valid", "test"]]
        counts = counts[counts.sum(axis=1) >= 50].to_numpy()
        off += list(np.abs(counts / counts.sum(axis=1)[:, None] - [0.55, 0.15, 0.30]).ravel())
    return 100 * float(np.mean(off))


def growth(_):
    """A tenth more subjects, two in a hundred fewer, over 20 seeds: who moved, and what it costs in balance."""
    print("subjects  moved  fresh  grown (mean, worst of 20)  shrunk (mean, worst), against a fresh partition of each")
    for subjects in (27, 96, 600, 5000):
        everybody = crowd(round(subjects * 1.1))
        table = everybody.table
        some = replace(everybody, table=table.filter(pc.less(table["subject"], f"S{subjects:05d}")))
        leaving = [f"S{at:05d}" for at in range(0, subjects, 50)]
        rest = replace(everybody, table=table.filter(pc.invert(pc.is_in(table["subject"], pa.array(leaving)))))
        moved, fresh, grown, shrunk = 0, [], [], []
        for seed in range(20):
            partition = split_items(some, RULES, seed=seed)
            first = build_manifest(partition, balance_of(partition))
            second = extended_manifest(first, everybody, RULES)
            third = withdrawn_manifest(second, leaving, reason="other", by="subject")
            old, new = first.splits_by_item(), third.splits_by_item()
            moved += sum(new.get(item, split) != split for item, split in old.items())
            fresh.append(balance_of(split_items(everybody, RULES, seed=seed)).mean)
            grown.append(mean_deviation(second, everybody) - fresh[-1])
            shrunk.append(mean_deviation(third, rest) - balance_of(split_items(rest, RULES, seed=seed)).mean)
        print(
            f"{subjects:8}  {moved:5}  {np.mean(fresh):5.2f}  {np.mean(grown):+5.2f}, {max(grown):+5.2f} points"
            f"          {np.mean(shrunk):+5.2f}, {max(shrunk):+5.2f} points (at most 2)",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["speed", "git", "growth"])
    print(f"protoctl {protoctl.__version__}")
    for part in parser.parse_args().parts:
        with tempfile.TemporaryDirectory() as name:
            {"speed": speed, "git": git, "growth": growth}[part](Path(name))


if __name__ == "__main__":
    main()
