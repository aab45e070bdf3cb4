"""One planted fault of each kind is reported, and no other; a clean split has none."""

import os

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from protoctl.audit import Thresholds, leaks_in_files, subjects_in_two_splits
from protoctl.audit.dhash import hash_image, near_pairs
from protoctl.audit.files import read_files
from protoctl.audit.leakage import augmented_origin, leaks_in_names, leaks_in_table
from protoctl.audit.planes import planes_of
from protoctl.digests import SplitMix64
from protoctl.errors import InputError
from protoctl.tabular import read_table

SPLITS = ("train", "valid", "test")
FAIR = ("--protocol", "fair-55-15-30", "--split", "fold")
LEAKS = {
    "subjects in two splits",
    "items linked by original in two splits",
    "augmented copies in two splits",
    "items with automatic labels in valid or test",
    "the same file in two splits",
    "near-duplicate images in two splits",
    "categories empty in a split though enough units hold them",
}


def picture(path, seed):
    """Write an image of soft shapes that no other seed resembles."""
    values = SplitMix64(seed, "test/pictures").words(64) % np.uint64(256)
    small = Image.fromarray(values.astype(np.uint8).reshape(8, 8))
    small.resize((96, 96), Image.Resampling.BICUBIC).save(path)


def clean(folder, subjects=36, each=2):
    """Write a split without a fault, its images and their table, and return the table."""
    (folder / "img").mkdir()
    rows = []
    for n in range(subjects * each):
        subject = n % subjects
        name = f"img/{n:04d}.png"
        picture(folder / name, n)
        fold = SPLITS[[0, 0, 0, 1, 2, 2][subject % 6]]
        label = ["Anger", "Fear"][subject // 6 % 2]
        gender = ["Female", "Male"][subject // 12 % 2]
        rows.append((name, f"P{subject:02d}", label, "20-29", gender, "Asian", f"clip{subject}", "manual", fold))
    columns = ["item", "subject", "label", "age", "gender", "race", "original", "annotation", "fold"]
    return pd.DataFrame(rows, columns=columns)


def of_split(frame, name):
    return frame.index[frame["fold"] == name]


def torn_subject(frame, folder):
    first = of_split(frame, "train")[0]
    frame.loc[first, ["fold", "original"]] = ["test", "alone"]


def same_bytes(frame, folder):
    one, other = of_split(frame, "train")[0], of_split(frame, "test")[0]
    (folder / frame.loc[other, "item"]).write_bytes((folder / frame.loc[one, "item"]).read_bytes())


def mirrored(frame, folder):
    one, other = of_split(frame, "train")[0], of_split(frame, "test")[0]
    with Image.open(folder / frame.loc[one, "item"]) as image:
        turned = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).resize((80, 80))
    turned.save(folder / frame.loc[other, "item"])


def empty_category(frame, folder):
    frame.loc[of_split(frame, "valid"), "gender"] = "Female"


def automatic(frame, folder):
    frame.loc[of_split(frame, "test")[0], "annotation"] = "automatic"


def copies(frame, folder):
    one, other = of_split(frame, "train")[0], of_split(frame, "test")[0]
    name = frame.loc[one, "item"].replace(".png", "_flip.png")
    (folder / frame.loc[other, "item"]).rename(folder / name)
    frame.loc[other, "item"] = name


def linked(frame, folder):
    one, other = of_split(frame, "train")[0], of_split(frame, "test")[0]
    frame.loc[other, "original"] = frame.loc[one, "item"]


FAULTS = {
    torn_subject: ("subjects in two splits", "P00"),
    linked: ("items linked by original in two splits", "img/0000.png (train)"),
    copies: ("augmented copies in two splits", "img/0000.png (train) and img/0000_flip.png (test)"),
    automatic: ("items with automatic labels in valid or test", "1: 1 in test"),
    same_bytes: ("the same file in two splits", "img/0000.png (train) and img/0004.png (test)"),
    mirrored: ("near-duplicate images in two splits", "img/0000.png (train) and img/0004.png (test), mirrored"),
    empty_category: ("categories empty in a split though enough units hold them", "gender Male in valid"),
}


@pytest.fixture
def audited(protoctl, in_empty_folder, monkeypatch):
    """Return a function that plants a fault in a clean split and audits it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_empty_folder / "caches"))

    def run(fault=None, *more):
        frame = clean(in_empty_folder)
        if fault is not None:
            fault(frame, in_empty_folder)
        frame.to_csv("theirs.csv", index=False)
        return protoctl("audit", "theirs.csv", *FAIR, "--root", ".", "--linked", "original", "--json", *more)

    return run


def test_a_clean_split_has_no_fault(audited):
    run = audited()
    assert run.code == 0, run.err
    assert {found["check"] for found in run.json["findings"] if found["verdict"] == "holds"} >= LEAKS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_the_only_one_found(audited, fault):
    run = audited(fault)
    assert run.code == 5, run.err
    check, named = FAULTS[fault]
    failed = [found for found in run.json["findings"] if found["verdict"] == "fails"]
    assert [found["check"] for found in failed] == [check]
    assert failed[0]["count"] == 1
    assert named in failed[0]["found"]
    assert named in run.err


@pytest.mark.parametrize(
    ("fault", "option"),
    [(empty_category, "empty"), (automatic, "automatic"), (mirrored, "near"), (copies, "names")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_is_allowed_is_noted(audited, fault, option):
    run = audited(fault, f"--allow-{option}")
    assert run.code == 0, run.err
    check = FAULTS[fault][0]
    assert next(found for found in run.json["findings"] if found["check"] == check)["verdict"] == "noted"


def test_thresholds_fail_past_their_number(protoctl, in_empty_folder):
    clean(in_empty_folder).to_csv("theirs.csv", index=False)
    run = protoctl("audit", "theirs.csv", *FAIR, "--max-points", "1", "--max-items", "100", "--max-drift", "0.9")
    assert run.code == 5
    assert "fails  shares within 1 points of their targets: 6 beyond" in run.out
    assert "holds  counts within 100 items of their targets: 0 beyond" in run.out
    assert "holds  drift between splits within 0.9: total variation 0" in run.out


def test_intersections_and_other_partitions_side_by_side(protoctl, in_empty_folder):
    clean(in_empty_folder).to_csv("theirs.csv", index=False)
    run = protoctl("audit", "theirs.csv", *FAIR, "--intersections", "label,gender", "--compare", "--json")
    assert run.code == 0, run.err
    joint = run.json["intersections"]["label x gender"]["categories"]
    assert [(row["value"], sum(row["items"])) for row in joint[1:]] == [
        ("Anger, Female", 24),
        ("Anger, Male", 12),
        ("Fear, Female", 24),
        ("Fear, Male", 12),
    ]
    assert set(run.json["compared"]) == {"given", "random", "iterative", "ours"}
    assert run.json["compared"]["given"]["mean_pp"] == run.json["balance"]["mean_pp"]
    assert run.json["compared"]["ours"]["mean_pp"] <= run.json["compared"]["random"]["mean_pp"]
    wrong = protoctl("audit", "theirs.csv", *FAIR, "--intersections", "label,gendre")
    assert wrong.code == 3
    assert "there is no column 'gendre'" in wrong.err
    assert "did you mean 'gender'" in wrong.err


def test_a_folder_of_splits_is_taken(protoctl, in_empty_folder):
    frame = clean(in_empty_folder)
    for name, part in frame.groupby("fold"):
        part.drop(columns="fold").to_csv(f"{name}.csv", index=False)
    run = protoctl("audit", ".", "--protocol", "fair-55-15-30", "--json")
    assert run.code == 0, run.err
    assert run.json["balance"]["categories"][0]["items"] == [36, 12, 24]


def test_a_manifest_is_audited_with_its_items(protoctl, in_empty_folder):
    clean(in_empty_folder).drop(columns="fold").to_csv("mine.csv", index=False)
    split = protoctl("split", "mine.csv", "--protocol", "fair-55-15-30", "--out", "out", "--json")
    assert split.code == 0, split.err
    run = protoctl("audit", "out", "--items", "mine.csv", "--intersections", "label,gender", "--json")
    assert run.code == 0, run.err
    assert run.json["facts"]["assignment"] == split.json["assignments"]["digest"]
    assert {row["chance_by"] for row in run.json["drift"]} == {"subject"}
    bare = protoctl("audit", "out", "--intersections", "label,gender")
    assert bare.code == 3
    assert "add --items PATH" in bare.err


def test_names_of_augmented_copies():
    assert augmented_origin("a/0012_FLIP.jpg") == "0012"
    assert augmented_origin("0012_aug3_rot90.png") == "0012"
    assert augmented_origin("0012 (1).png") == "0012"
    assert augmented_origin("0012-hflip.png") == "0012"
    assert augmented_origin("tear_copywriter.png") is None
    assert augmented_origin("dark_0012.png") is None
    assert augmented_origin("_flip.png") is None


def test_the_same_stem_in_two_splits_is_noted_only(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("item,split\na/1.png,train\nb/1.jpg,test\nb/2.jpg,test\n")
    copied, stems = leaks_in_names(read_table(path).table)
    assert (copied.count, copied.verdict) == (0, "holds")
    assert (stems.found, stems.verdict) == ("1: a/1.png (train) and b/1.jpg (test)", "noted")


def test_a_column_of_links_that_is_absent_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("item,split,origin\na,train,x\n")
    with pytest.raises(InputError, match="linked items: there is no column 'orign'") as caught:
        leaks_in_table(read_table(path).table, Thresholds(), linked=["orign"])
    assert "did you mean 'origin'" in caught.value.hint


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"points": -1.0}, "threshold points: -1.0 is not 0 or more", "leave it out"),
        ({"allow": ("nera",)}, "there is no finding to allow 'nera'", "did you mean 'near'"),
    ],
)
def test_thresholds_that_cannot_be_used(given, message, hint):
    with pytest.raises(InputError, match=message) as caught:
        Thresholds(**given)
    assert hint in caught.value.hint


def test_a_second_reading_takes_unchanged_files_from_the_cache(tmp_path, monkeypatch):
    (tmp_path / "img").mkdir()
    names = [f"img/{n}.png" for n in range(4)]
    for n, name in enumerate(names):
        picture(tmp_path / name, n)
    cache = tmp_path / "cache" / "files.parquet"
    first = read_files(tmp_path, names, cache=cache)
    picture(tmp_path / names[2], 77)
    os.utime(tmp_path / names[2], ns=(1, 1))
    read = []
    monkeypatch.setattr("protoctl.audit.files.hash_image", lambda path: read.append(path.name) or hash_image(path))
    second = read_files(tmp_path, names, cache=cache)
    assert read == ["2.png"]
    assert second[names[2]].digest != first[names[2]].digest
    assert {name: second[name] for name in names if name != names[2]} == {
        name: first[name] for name in names if name != names[2]
    }
    cache.write_bytes(b"no cache")
    assert read_files(tmp_path, names, cache=cache) == second


def test_files_that_are_absent_broken_or_outside_are_counted(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    picture(root / "a.png", 1)
    picture(tmp_path / "secret.png", 1)
    (root / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    Image.new("L", (50, 50), 9).save(root / "flat.png")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    rows = tmp_path / "rows.csv"
    rows.write_text("item,split\na.png,train\nb.png,test\nflat.png,test\nlink.png,test\ngone.png,test\n")
    found, unseen = leaks_in_files(root, read_table(rows).table, Thresholds())
    assert [finding.count for finding in found] == [0, 0]
    assert "files that are absent: 2" in unseen
    assert "near-duplicates of files that are no image: 1" in unseen
    assert "near-duplicates of images of one shade: 1" in unseen
    with pytest.raises(InputError, match="holds none of the 1 items, such as x") as caught:
        read_files(root, ["x"])
    assert caught.value.hint == "check --root"


def test_near_pairs_are_those_of_a_search_through_all(tmp_path):
    hashes = []
    for n in range(30):
        picture(tmp_path / "a.png", n // 3)
        with Image.open(tmp_path / "a.png") as image:
            # The first of three as it is, one compressed, one mirrored.
            out = image if n % 3 < 2 else image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            out.save(tmp_path / "b.jpg", quality=95 if n % 3 == 0 else 80)
        hashes.append(hash_image(tmp_path / "b.jpg"))
    found = near_pairs(hashes, np.arange(30))
    expected = [
        (3 * n + a, 3 * n + b, turned)
        for n in range(10)
        for a, b, turned in ((0, 1, False), (0, 2, True), (1, 2, True))
    ]
    assert found == expected
    assert near_pairs(hashes, np.arange(30) // 3) == []


def test_subjects_of_items_that_show_several(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("subject,split\na|b,train\nb,test\nc,test\n")
    assert subjects_in_two_splits(read_table(path).table) == ["b"]


def test_planes_of_valence_and_arousal(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("valence,arousal\n-0.2,0.4\n1,-1\n0,\n0.19,2\n")
    (plane,) = planes_of("given", read_table(path).table, np.zeros(4, np.int8), ["train"])
    assert plane.counts[7][4] == 1
    assert plane.counts[0][9] == 1
    assert sum(map(sum, plane.counts)) == 2
    assert plane.outside == 2
