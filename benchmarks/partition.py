"""Quality and speed of the partitioner beside its peers: python benchmarks/partition.py --help.

Every case runs in a process of its own, ours and the peers' alike, one after the other, so that the ratios of times
within a run hold although absolute times do not. Figures are computed here from the assignments alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

RATIOS = {"train": 55, "valid": 15, "test": 30}
SHARES = np.array([0.55, 0.15, 0.30])
NINE = (3, 10, 20, 30, 40, 50, 60, 70)
Case = tuple[pa.Table, list[str], list[str]]


def bench_table(folder: Path, name: str) -> Case:
    """Read one of the drawn tables: its rows, its categories' columns, its action units."""
    table = pq.read_table(folder / f"{name}.parquet")
    columns = [name for name in table.column_names if name not in ("item", "subject")]
    return table, [name for name in columns if name[:2] != "AU"], [name for name in columns if name[:2] == "AU"]


def utkface(names: Path) -> Case:
    """Read age, gender and race from UTKFace's file names; odd names are left to the reader's own tests."""
    rows: dict[str, tuple[str, str, str]] = {}
    for line in names.read_text(encoding="utf-8").splitlines():
        parts = line.strip().rsplit("/", 1)[-1].split("_")
        if len(parts) == 4 and all(part.isdigit() for part in parts[:3]) and parts[1] in "01" and parts[2] in "01234":
            rows[line.strip()] = (str(int(np.searchsorted(NINE, int(parts[0]), side="right"))), parts[1], parts[2])
    columns = dict(zip(("age", "gender", "race"), map(list, zip(*rows.values(), strict=True)), strict=True))
    return pa.table({"item": list(rows), **columns}), ["age", "gender", "race"], []


def many_rows(rows: int, seed: int = 0) -> Case:
    """Draw rows with four attributes like AffectNet's; text columns, as they would come from a file."""
    draw = np.random.default_rng(seed)
    table: dict[str, Any] = {}
    digits = pa.array(np.arange(rows)).cast(pa.string())
    table["item"] = pc.binary_join_element_wise("images/", digits, ".jpg", "")
    for name, weights in (
        ("expr", (46, 26, 9, 2, 9, 1, 5, 2)),
        ("age", (5, 6, 5, 41, 20, 10, 8, 4, 1)),
        ("gender", (1, 1)),
        ("race", (77, 8, 9, 6)),
    ):
        chosen = draw.choice(len(weights), rows, p=np.array(weights) / sum(weights)).astype(np.int8)
        values = pa.array([f"{name}-{at}" for at in range(len(weights))])
        table[name] = values.take(pa.array(chosen))
    return pa.table(table), ["expr", "age", "gender", "race"], []


def wide_rows(rows: int = 45_000, seed: int = 0) -> Case:
    """Draw rows with four attributes and twelve action units."""
    table, single, _ = many_rows(rows, seed)
    draw = np.random.default_rng(seed + 1)
    units = [f"AU{at}" for at in (1, 2, 4, 5, 6, 9, 12, 15, 17, 20, 25, 26)]
    for name in units:
        table = table.append_column(name, pa.array((draw.random(rows) < draw.random() * 0.4).astype(np.int8)))
    return table, single, units


def heavy_units(units: int, least: int = 1, seed: int = 0) -> Case:
    """Draw subjects of 1 to 500 items, heavy-tailed: half of them have one."""
    draw = np.random.default_rng(seed)
    size = np.clip((draw.pareto(0.9, units) + 1).astype(np.int64) + least - 1, least, 500)
    of = np.repeat(np.arange(units), size)
    names = pa.array(np.arange(units)).cast(pa.string())
    table: dict[str, Any] = {
        "item": pa.array(np.arange(len(of))).cast(pa.string()),
        "subject": pa.DictionaryArray.from_arrays(pa.array(of.astype(np.int32)), names),
    }
    for name, weights in (("age", (5, 6, 5, 41, 20, 10, 8, 4, 1)), ("gender", (1, 1)), ("race", (77, 8, 9, 6))):
        chosen = draw.choice(len(weights), units, p=np.array(weights) / sum(weights))[of].astype(np.int8)
        table[name] = pa.DictionaryArray.from_arrays(
            pa.array(chosen), pa.array([str(at) for at in range(len(weights))])
        )
    weights = np.array((46, 26, 9, 2, 9, 1, 5, 2))
    chosen = draw.choice(8, len(of), p=weights / weights.sum()).astype(np.int8)
    table["expr"] = pa.DictionaryArray.from_arrays(pa.array(chosen), pa.array([str(at) for at in range(8)]))
    return pa.table(table), ["age", "gender", "race", "expr"], []


def codes_of(column: Any) -> np.ndarray:
    """Return a column's values as numbers."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def counts_by(key: np.ndarray, split: np.ndarray) -> np.ndarray:
    """Count rows by key and split."""
    return np.bincount(key * 3 + split, minlength=3 * (int(key.max()) + 1)).reshape(-1, 3)


def figures(case: Case, split: np.ndarray) -> dict[str, float]:
    """Compute what the results are judged by, from the assignment alone."""
    table, single, binary = case
    codes = {name: codes_of(table[name]) for name in single}
    marginals = [counts_by(codes[name], split) for name in single]
    held = dict(zip(single, marginals, strict=True))
    for name in binary:
        active = table[name].to_numpy() == 1
        held[name] = counts_by(np.zeros(int(active.sum()), np.int64), split[active])
    counts = np.concatenate(list(held.values()))
    totals = counts.sum(axis=1)
    size = np.bincount(split, minlength=3)
    off = np.abs(counts - totals[:, None] * SHARES)[totals > 0]
    many = totals >= 50
    points = 100 * np.abs(counts[many] / totals[many, None] - SHARES)
    total = np.abs(size / len(split) - SHARES)
    found = {
        "items": float(off.max()),
        "max pp": float(points.max()),
        "mean pp": float(points.mean()),
        "size pp": float(100 * total.max()),
        "sum": float(points.sum() / 100 + total.sum()),
    }
    joint = np.zeros(len(split), np.int64)
    for name in single:
        joint = np.unique(joint * (int(codes[name].max()) + 1) + codes[name], return_inverse=True)[1].reshape(-1)
    cells = counts_by(joint, split)
    found["joint items"] = float(np.abs(cells - cells.sum(axis=1)[:, None] * SHARES).max())
    pairs = [codes[a] * (int(codes[b].max()) + 1) + codes[b] for a, b in combinations(single, 2)]
    tables = [counts_by(key, split) for key in pairs]
    found["pair items"] = max((float(np.abs(t - t.sum(axis=1)[:, None] * SHARES).max()) for t in tables), default=0.0)
    if "subject" in table.column_names:
        subject = codes_of(table["subject"])
        found["torn"] = int((np.bincount(np.unique(subject * 3 + split) // 3) > 1).sum())
        empty = 0
        for name in single:
            holders = np.bincount(
                np.unique(codes[name] * (int(subject.max()) + 1) + subject) // (int(subject.max()) + 1)
            )
            empty += int(((held[name] == 0) & (holders[:, None] >= 3)).sum())
        for name in binary:
            holders = len(np.unique(subject[table[name].to_numpy() == 1]))
            empty += int((held[name] == 0).sum()) if holders >= 3 else 0
        found["empty"] = empty
    return found


def ours(case: Case, seed: int) -> np.ndarray:
    """Run this library."""
    from protoctl.partition import split_table

    table, single, binary = case
    return split_table(table, RATIOS, [*single, *binary], binary=binary, seed=seed).indices.to_numpy()


def _frame(case: Case) -> Any:
    """Return the case as the peers like it: a frame with every column a category."""
    table, single, binary = case
    keep = [*single, *binary, *(["subject"] if "subject" in table.column_names else [])]
    return table.select(keep).to_pandas()


def _one_hot(case: Case) -> np.ndarray:
    """Return items (or subjects: has or has not) x categories."""
    import pandas as pd

    frame = _frame(case)
    _, single, binary = case
    hot = pd.get_dummies(frame[single].astype(str)).to_numpy(np.int64)
    hot = np.concatenate([hot, frame[binary].to_numpy(np.int64).reshape(len(frame), -1)], axis=1)
    if "subject" not in frame:
        return hot
    subject = codes_of(case[0]["subject"])
    found = np.zeros((int(subject.max()) + 1, hot.shape[1]), np.int64)
    np.maximum.at(found, subject, hot)
    return found


def iterstrat(case: Case, seed: int) -> np.ndarray:
    """Run iterative-stratification twice: on rows, or on a table of subjects where there are any."""
    from iterstrat.ml_stratifiers import MultilabelStratifiedShuffleSplit as Cut

    hot = _one_hot(case)
    first = Cut(n_splits=1, train_size=0.55, test_size=0.45, random_state=seed)
    train, rest = next(first.split(hot, hot))
    second = Cut(n_splits=1, train_size=1 / 3, test_size=2 / 3, random_state=seed)
    _, test = next(second.split(hot[rest], hot[rest]))
    split = np.ones(len(hot), np.int64)
    split[train], split[rest[test]] = 0, 2
    return split[codes_of(case[0]["subject"])] if "subject" in case[0].column_names else split


def folds_merged(case: Case, seed: int) -> np.ndarray:
    """Run scikit-learn's StratifiedKFold (or StratifiedGroupKFold) in twenty folds, merged 11 to 3 to 6."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    table, single, binary = case
    key = np.zeros(table.num_rows, np.int64)
    for name in [*single, *(binary[:3])]:
        code = codes_of(table[name])
        key = np.unique(key * (int(code.max()) + 1) + code, return_inverse=True)[1].reshape(-1)
    few = np.bincount(key)[key] < 20
    key = np.where(few, key.max() + 1, key)
    grouped = "subject" in table.column_names
    cut: Any = (StratifiedGroupKFold if grouped else StratifiedKFold)(20, shuffle=True, random_state=seed)
    groups = codes_of(table["subject"]) if grouped else None
    fold = np.empty(len(key), np.int64)
    for at, (_, test) in enumerate(cut.split(key, key, groups)):
        fold[test] = at
    return np.searchsorted([11, 14, 20], fold, side="right")


def random_units(case: Case, seed: int) -> np.ndarray:
    """Cut shuffled rows, or subjects, at the ratios."""
    table = case[0]
    unit = codes_of(table["subject"]) if "subject" in table.column_names else np.arange(table.num_rows)
    count = int(unit.max()) + 1
    order = np.random.default_rng(seed).permutation(count)
    split = np.empty(count, np.int64)
    split[order] = np.searchsorted([0.55, 0.70, 1.0], (np.arange(count) + 0.5) / count)
    return split[unit]


def splitkit(case: Case, seed: int) -> np.ndarray:
    """Run splitkit's annealing, the nearest rival (it is no dependency: install it to compare)."""
    import splitkit as rival

    table = case[0]
    unit = codes_of(table["subject"]) if "subject" in table.column_names else np.arange(table.num_rows)
    rows = _one_hot((table.select([name for name in table.column_names if name != "subject"]), *case[1:]))
    vectors = np.zeros((int(unit.max()) + 1, rows.shape[1]), np.int64)
    np.add.at(vectors, unit, rows)
    names = tuple(str(at) for at in range(rows.shape[1]))
    data = rival.GroupedDataset(np.arange(len(vectors)), vectors, np.bincount(unit), names)
    return np.asarray(rival.split(data, (0.55, 0.15, 0.30), seed=seed).assignment)[unit]


PEERS: dict[str, Callable[[Case, int], np.ndarray]] = {
    "protoctl": ours,
    "iterative-stratification": iterstrat,
    "scikit-learn folds merged": folds_merged,
    "splitkit annealing": splitkit,
    "random": random_units,
}

CASES = (
    "utkface",
    "affectnet_like",
    "conversations_like",
    "disfa_like",
    "gft_like",
    "wide",
    "rows",
    "heavy",
    "heavy20",
)


def case_named(name: str, shared: Path, size: int) -> Case:
    """Read or draw a case."""
    if name == "utkface":
        return utkface(shared / "real" / "utkface_file_names.txt")
    if name == "wide":
        return wide_rows()
    if name == "rows":
        return many_rows(size)
    if name in ("heavy", "heavy20"):
        return heavy_units(size, 20 if name == "heavy20" else 1)
    return bench_table(shared / "bench", name)


def peak_mb() -> float:
    """Return this process's largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


def measured(name: str, peer: str, shared: Path, seed: int, size: int) -> dict[str, Any]:
    """Run one case once in this process: imports and reading are not timed."""
    case = case_named(name, shared, size)
    warm = many_rows(2_000)
    PEERS[peer](warm, seed)
    before = peak_mb()
    start = time.perf_counter()
    split = PEERS[peer](case, seed)
    seconds = time.perf_counter() - start
    found: dict[str, Any] = {"case": name, "peer": peer, "seed": seed, "rows": case[0].num_rows, "seconds": seconds}
    return found | {"table MB": before, "peak MB": peak_mb()} | figures(case, split.astype(np.int64))


def proved(name: str, shared: Path, seed: int) -> dict[str, Any]:
    """Run ours with proof."""
    from protoctl.partition.assign import Task, assign
    from protoctl.partition.prepare import Stratum

    table, single, binary = case_named(name, shared, 0)
    strata = tuple(
        Stratum(column, column, "binary" if column in binary else "category") for column in [*single, *binary]
    )
    task = Task(table, strata, tuple(RATIOS), tuple(RATIOS.values()))
    start = time.perf_counter()
    solver = assign(task, seed, prove=True).solver
    seconds = time.perf_counter() - start
    return {
        "case": name,
        "seed": seed,
        "seconds": seconds,
        "sum": solver.deviation,
        "bound": solver.deviation_bound,
        "gap %": 100 * (solver.gap or 0.0),
        "mean pp": solver.objective,
        "proven": solver.proven,
    }


def in_a_process(arguments: list[str]) -> dict[str, Any]:
    """Run this file again for one measurement and return what it printed."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def row(found: dict[str, Any], base: float | None) -> str:
    """Return a line of the table; times of the peers as multiples of ours."""
    if "failed" in found:
        return f"| {found['case']} | {found['peer']} | - | - | {found['failed'][:60]} | | | | | | |"
    times = f"{found['seconds']:.2f}" if base is None else f"{found['seconds']:.2f} ({found['seconds'] / base:.1f}x)"
    cells = [found["case"], found["peer"], times, f"{found['peak MB']:.0f}", f"{found['items']:.2f}"]
    cells += [f"{found[key]:.3f}" for key in ("max pp", "mean pp", "size pp")]
    cells += [
        f"{found['joint items']:.2f}",
        f"{found['pair items']:.2f}",
        str(found.get("empty", "")),
        str(found.get("torn", "")),
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with bench/ and real/"
    )
    parser.add_argument("--cases", default="utkface,affectnet_like,conversations_like,disfa_like,gft_like,wide")
    parser.add_argument(
        "--peers", default="protoctl,iterative-stratification,scikit-learn folds merged,splitkit annealing,random"
    )
    parser.add_argument("--seeds", type=int, default=3, help="seeds for ours; peers run with seed 0")
    parser.add_argument("--size", type=int, default=10_000_000, help="rows of 'rows', units of 'heavy' and 'heavy20'")
    parser.add_argument("--prove", default="", help="cases to prove as well, by commas")
    parser.add_argument(
        "--one", nargs=3, metavar=("CASE", "PEER", "SEED"), help="measure one in this process, print JSON"
    )
    given = parser.parse_args()
    if given.one:
        name, peer, seed = given.one
        prove = peer == "proof"
        found = (
            proved(name, given.shared, int(seed))
            if prove
            else measured(name, peer, given.shared, int(seed), given.size)
        )
        print(json.dumps(found))
        return
    report(given)


HEAD = ("case", "solver", "s", "peak MB", "items", "max pp", "mean pp", "size pp", "joint", "pairs", "empty", "torn")
PROOF = ("case", "seconds", "sum", "bound", "gap %", "mean pp", "proven")


def line(cells: Iterable[object]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(str(round(cell, 4) if isinstance(cell, float) else cell) for cell in cells) + " |"


def report(given: argparse.Namespace) -> None:
    """Print the tables."""
    import protoctl

    fixed = ["--shared", str(given.shared), "--size", str(given.size)]
    where = Path(protoctl.__file__).parent.name
    print(f"Python {platform.python_version()}, numpy {np.__version__}, protoctl from {where}\n")
    print(line(HEAD) + "\n" + line("---" for _ in HEAD))
    for name in given.cases.split(",") if given.cases else []:
        base = None
        for peer in given.peers.split(","):
            for seed in range(given.seeds if peer == "protoctl" else 1):
                found = in_a_process([*fixed, "--one", name, peer, str(seed)])
                print(row({"case": name, "peer": peer} | found, base if peer != "protoctl" else None), flush=True)
                if peer == "protoctl" and "seconds" in found:
                    base = found["seconds"]
    proofs = [name for name in given.prove.split(",") if name]
    if proofs:
        print("\n" + line(PROOF) + "\n" + line("---" for _ in PROOF))
    for name in proofs:
        found = in_a_process([*fixed, "--one", name, "proof", "0"])
        print(line(found.get(key, "-") for key in PROOF), flush=True)


if __name__ == "__main__":
    main()
