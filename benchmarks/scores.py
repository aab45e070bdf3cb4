"""Scores with intervals: 87,174 items, eight categories, three attributes, 1,000 replicates over subjects.

    python benchmarks/scores.py [--runs 3]

Once with every item a subject of its own (as in AffectNet), once with 12,000 subjects of several items each. Each run
is a process of its own; time and peak memory are those of scoring, joining included, and of the process.
"""

import argparse
import json
import statistics
import subprocess
import sys

import protoctl

CODE = """
import json, resource, sys, time
from pathlib import Path
import pyarrow as pa
import numpy as np
from protoctl import audit
from protoctl.audit.predictions import Truth
from protoctl.audit.scoring import score_predictions
from protoctl.digests import SplitMix64
from protoctl.tabular import TextTable
count, subjects = 87_174, int(sys.argv[1])
stream = SplitMix64(0, "benchmark")
names = ("Neutral", "Happiness", "Sadness", "Surprise", "Fear", "Disgust", "Anger", "Contempt")
def drawn(size):
    return (stream.words(count) % np.uint64(size)).astype(np.int64)
label = drawn(8)
said = np.where(drawn(10) < 6, label, drawn(8))
def text(codes, categories):
    return pa.array([categories[code] for code in codes.tolist()], pa.string())
items = pa.array([f"{n:06d}.jpg" for n in range(count)], pa.string())
columns = {
    "item": items,
    "label": text(label, names),
    "age": text(drawn(9), [f"{n}0-{n}9" for n in range(9)]),
    "gender": text(drawn(2), ("Female", "Male")),
    "race": text(drawn(5), ("Asian", "Black", "Indian", "Latino", "White")),
}
if subjects:
    columns["subject"] = text(drawn(subjects), [f"s{n:05d}" for n in range(subjects)])
truth = Truth(pa.table(columns), categories={"label": names}, attributes=("age", "gender", "race"))
table = TextTable(pa.table({"item": items, "predicted": text(said, names)}), Path("drawn.csv"), 2)
wanted = {"expression": ("f1_macro", "balanced_accuracy", "f1_by_group", "statistical_parity")}
start = time.perf_counter()
found = score_predictions(table, truth, wanted, seed=0, replicates=1000)
seconds = time.perf_counter() - start
assert len(found.rows) == 2 * 17 + 2 * 3 and len(found.gaps) == 6
assert all(row.low < row.value < row.high for row in found.rows)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "file": audit.__file__}))
"""


def measured(subjects):
    """Score in a process of its own."""
    done = subprocess.run([sys.executable, "-c", CODE, str(subjects)], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["file"].startswith(str(protoctl.__path__[0])), f"measured another protoctl: {found['file']}"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print(f"protoctl {protoctl.__version__}")
    for what, subjects in (("every item a subject", 0), ("12,000 subjects", 12_000)):
        runs = [measured(subjects) for _ in range(asked.runs)]
        seconds, peak = statistics.median(run["seconds"] for run in runs), max(run["peak"] for run in runs)
        print(
            f"87,174 items, 8 categories, 3 attributes, 1,000 replicates, {what}: {seconds:.1f} s, peak {peak:.0f} MB"
        )


if __name__ == "__main__":
    main()
