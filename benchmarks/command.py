"""The whole command on the 290,580-row replica of AffectNet, against reading its items with pandas.

    python benchmarks/command.py [--runs 5]

Prints the median of the ratios of runs that alternate, so that a noisy machine disturbs both sides alike, and the
peak memory of the command.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import protoctl
from protoctl.catalog import replica_items

READ = "import sys, pandas; pandas.read_csv(sys.argv[1], dtype=str)"
COMMAND = [sys.executable, "-m", "protoctl"]


def seconds(arguments, folder):
    start = time.perf_counter()
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def peak_megabytes(arguments, folder):
    """Peak resident memory of one run, taken by a process of its own."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(f"protoctl {protoctl.__version__}")
    split = [*COMMAND, "split", "affectnet", "--protocol", "fair-55-15-30", "--force"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        import pyarrow.csv

        pyarrow.csv.write_csv(replica_items("affectnet").table, folder / "items.csv")
        read = [sys.executable, "-c", READ, "items.csv"]
        pairs = [(seconds(split, folder), seconds(read, folder)) for _ in range(runs)]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        print(f"split affectnet / pandas reads the items: {ratio:.2f} (at most 5)")
        print(f"peak memory of split affectnet: {peak_megabytes(split, folder):.0f} MB (at most 500)")
        shown = [*COMMAND, "--help"]
        clicked = [sys.executable, "-c", "import click"]
        pairs = [(seconds(shown, folder), seconds(clicked, folder)) for _ in range(2 * runs)]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        print(f"protoctl --help / import click: {ratio:.2f} (at most 3)")


if __name__ == "__main__":
    main()
