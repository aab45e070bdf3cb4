"""How fast large trees are read: AffectNet's small files, against what reading their bytes takes.

Run ``python benchmarks/readers.py [FILES]``. It writes a tree of so many annotation files (300,000 by default) into a
temporary folder, and prints the reader's time as a multiple of that of a bare loop over the same files, and of numpy's
own loader on a part of them.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import protoctl
from protoctl.catalog import load_items

_PER_LOAD = 20_000


def _write(root: Path, files: int) -> Path:
    """Write annotation files of expressions, as the release of 2021 holds them."""
    folder = root / "train_set" / "annotations"
    folder.mkdir(parents=True)
    contents: list[bytes] = []
    for code in range(8):
        stream = io.BytesIO()
        np.save(stream, np.array(str(code)))
        contents.append(stream.getvalue())
    for number in range(files):
        (folder / f"{number}_exp.npy").write_bytes(contents[number % 8])
    return folder


def _bare(folder: Path) -> float:
    start = time.perf_counter()
    for name in sorted(os.listdir(folder)):
        handle = os.open(folder / name, os.O_RDONLY)
        os.read(handle, 1 << 12)
        os.close(handle)
    return time.perf_counter() - start


def _numpy(folder: Path, most: int) -> float:
    start = time.perf_counter()
    for name in sorted(os.listdir(folder))[:most]:
        np.load(folder / name)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
    shown: list[int] = []
    print(f"protoctl: {protoctl.__file__}")
    with tempfile.TemporaryDirectory() as name:
        folder = _write(Path(name), files)
        bare = min(_bare(folder) for _ in range(2))
        start = time.perf_counter()
        items = load_items("affectnet", root=name, progress=lambda done, total, what: shown.append(done))
        reader = time.perf_counter() - start
        some = min(files, _PER_LOAD)
        loader = _numpy(folder, some) * files / some
    print(f"items {len(items):,}, progress shown {len(shown):,} times")
    print(f"reader / bare loop over the bytes: {reader / bare:.2f}")
    print(f"reader / numpy.load (from {some:,} files): {reader / loader:.2f}")


if __name__ == "__main__":
    main()
