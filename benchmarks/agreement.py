"""Votes to labels and agreement: against reading the export with json.load, and on a million units.

    python benchmarks/agreement.py EXPORT.json [--runs 5]

EXPORT.json is Label Studio's JSON of 3,011 tasks and 23,567 votes. Each run is a process of its own and the two sides
alternate, so that a noisy machine disturbs both alike; the median of the ratios is printed. `all of it` reads the
export, settles labels with their stability, measures every coefficient with 1,000 bootstrap replicates, reports on
annotators and tries other policies; time and peak memory include starting Python and importing the package.
"""

import argparse
import json
import statistics
import subprocess
import sys

import protoctl

LOAD = """
import json, sys, time
start = time.perf_counter()
json.load(open(sys.argv[1], encoding="utf-8"))
seconds = time.perf_counter() - start
"""
ALL = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from protoctl.annotate import aggregate, parse_questions, read_annotations
questions = parse_questions("fitzpatrick")
annotations = read_annotations([Path(sys.argv[1])], scale=questions[0].scale, unit="subject_id")
read = time.perf_counter() - start
found = aggregate(annotations, questions, replicates=1000).results[0]
seconds = time.perf_counter() - start
assert (len(found.votes), found.labels.counts()["tie"]) == (23_567, 233)
assert all(each.low < each.value < each.high for each in found.agreement.coefficients)
"""
MILLION = """
import time
import numpy as np
from protoctl.annotate import Votes, measure_agreement
from protoctl.digests import SplitMix64
from protoctl.scales import FITZPATRICK
units = 1_000_000
words = SplitMix64(0, "benchmark").words(7 * units)
true = words[:units] % np.uint64(6)
near = (words[units:4 * units] % np.uint64(3)).astype(np.int64).reshape(-1, 3) - 1
said = np.clip(true.astype(np.int64)[:, None] + near, 0, 5)
votes = Votes(
    "tone", FITZPATRICK, "item", tuple(f"{n:07d}" for n in range(units)), ("a", "b", "c"),
    np.repeat(np.arange(units), 3), np.tile(np.arange(3), units), said.reshape(-1),
    words[4 * units:] % np.uint64(8) == 0,
)
start = time.perf_counter()
found = measure_agreement(votes, replicates=1000)
seconds = time.perf_counter() - start
assert all(each.low < each.value < each.high for each in found.coefficients)
"""
REPORT = """
import json, resource
from protoctl import annotate
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "file": annotate.__file__}))
"""


def measured(code, *arguments):
    """Run code in a process of its own; it sets `seconds`."""
    done = subprocess.run([sys.executable, "-c", code + REPORT, *arguments], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["file"].startswith(str(protoctl.__path__[0])), f"measured another protoctl: {found['file']}"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    print(f"protoctl {protoctl.__version__}")
    ratios, peaks, times = [], [], []
    for _ in range(asked.runs):
        load, whole = measured(LOAD, asked.export), measured(ALL, asked.export)
        ratios.append(whole["seconds"] / load["seconds"])
        peaks.append(whole["peak"])
        times.append(whole["seconds"])
    print(
        f"all of it, 1,000 replicates: {statistics.median(ratios):.1f} times json.load "
        f"(from {min(ratios):.1f} to {max(ratios):.1f}; {statistics.median(times):.2f} s), peak {max(peaks):.0f} MB"
    )
    million = [measured(MILLION) for _ in range(max(1, asked.runs // 2))]
    seconds, peak = statistics.median(m["seconds"] for m in million), max(m["peak"] for m in million)
    print(f"a million units, three votes each, 1,000 replicates: {seconds:.1f} s, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
