"""Rendering images: the same bytes however often it is stopped, and what cannot be read is named."""

import csv
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from protoctl.digests import digest_file
from protoctl.errors import InputError
from protoctl.partition import plan_variants, render_variants, rendering
from protoctl.protocols import load_protocol, parse_protocol

pytest.importorskip("imagecorruptions", reason="needs the extra render (imagecorruptions-imaug)")

from PIL import Image

TEXT = (
    "name: r\nversion: 1.0.0\nsubset: {name: s, per: [age], at_most: 9}\n"
    "variants: {corruptions: [%s], severities: [1, 4]}\n"
)
QUICK = parse_protocol(TEXT % "gaussian-noise, impulse-noise, contrast", "r").variants


def draw(file: Path, size=(48, 40), seed=0, **options) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows, columns = np.mgrid[: size[1], : size[0]]
    picture = np.stack([(rows * 5 + seed) % 256, (columns * 4) % 256, (rows + columns) % 256], axis=-1)
    Image.fromarray(picture.astype(np.uint8)).save(file, **options)


def rows(*items) -> pa.Table:
    return pa.table({"item": list(items), "split": ["s"] * len(items)})


def tree(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): digest_file(file) for file in files}


def listed(folder: Path, name: str = "rendered.csv") -> list[dict[str, str]]:
    with (folder / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "images"
    draw(folder / "a" / "one.png")
    draw(folder / "two.jpg", seed=9)
    draw(folder / "three.bmp", seed=77)
    return folder


ITEMS = ("a/one.png", "two.jpg", "three.bmp")


def test_every_file_stands_with_its_digest(root, tmp_path):
    done = render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to")
    assert (done.items, done.written, done.present, done.failed) == (3, 21, 0, 0)
    table = listed(tmp_path / "to")
    assert [row["path"] for row in table][:3] == [
        "clean/a/one.png", "gaussian-noise-1/a/one.png", "gaussian-noise-4/a/one.png",
    ]  # fmt: skip
    for row in table:
        assert digest_file(tmp_path / "to" / row["path"]) == row["digest"]
        assert (tmp_path / "to" / row["path"]).stat().st_size == int(row["bytes"])
    assert digest_file(root / "two.jpg") == next(row["digest"] for row in table if row["path"] == "clean/two.jpg")
    with Image.open(tmp_path / "to" / "contrast-4" / "two.jpg.png") as image:
        assert image.size == (48, 40)


def test_rendered_again_it_is_the_same_and_nothing_is_written(root, tmp_path):
    render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to")
    before = tree(tmp_path / "to")
    again = render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to")
    assert (again.written, again.present) == (0, 21)
    assert tree(tmp_path / "to") == before
    # One file lost: only that is made, and it comes out the same.
    (tmp_path / "to" / "impulse-noise-4" / "two.jpg.png").unlink()
    assert render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to").written == 1
    assert tree(tmp_path / "to") == before
    # Somewhere else, in another order, without the others: still the same.
    render_variants(rows("two.jpg"), QUICK, root, tmp_path / "alone")
    alone = {name: digest for name, digest in tree(tmp_path / "alone").items() if "two" in name}
    assert alone == {name: digest for name, digest in before.items() if "two" in name}


def test_another_seed_makes_other_noise(root, tmp_path):
    render_variants(rows("two.jpg"), QUICK, root, tmp_path / "zero")
    render_variants(rows("two.jpg"), QUICK, root, tmp_path / "one", seed=1)
    name = "gaussian-noise-1/two.jpg.png"
    assert digest_file(tmp_path / "zero" / name) != digest_file(tmp_path / "one" / name)
    name = "contrast-4/two.jpg.png"
    assert digest_file(tmp_path / "zero" / name) == digest_file(tmp_path / "one" / name)


def test_all_fifteen_are_repeatable_and_leave_numpy_s_stream_alone(tmp_path):
    root = tmp_path / "images"
    draw(root / "a.png", (64, 64))
    variants = load_protocol("robustness-1500").variants
    (plan,) = plan_variants(rows("a.png"), variants)
    from protoctl.partition.render_images import corrupted, read_picture

    picture = read_picture(root / "a.png")
    np.random.seed(5)
    stream = np.random.random(3)
    np.random.seed(5)
    for variant in plan.variants[1:]:
        if variant.severity != 3:
            continue
        first, second = corrupted(picture, variant), corrupted(picture, variant)
        assert first.shape == (64, 64, 3)
        assert np.array_equal(first, second), variant.variant
        assert not np.array_equal(first, picture), variant.variant
    assert np.array_equal(np.random.random(3), stream)


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(root, tmp_path):
    (root / "cut.jpg").write_bytes((root / "two.jpg").read_bytes()[:300])
    (root / "text.png").write_text("no picture")
    draw(root / "small.png", (20, 20))
    Image.new("I;16", (40, 40)).save(root / "deep.png")
    names = ("absent.png", "cut.jpg", "deep.png", "small.png", "text.png", "two.jpg")
    done = render_variants(rows(*names), QUICK, root, tmp_path / "to")
    faults = {(row["item"], row["variant"]): row["fault"] for row in listed(tmp_path / "to", "failed.csv")}
    assert faults[("absent.png", "")] == "there is no such file below --root"
    assert faults[("cut.jpg", "")].startswith("is no image that can be read whole (")
    assert faults[("text.png", "")].startswith("is no image that can be read whole (")
    assert faults[("deep.png", "")] == "is an image of mode I;16, and eight bits a colour are wanted"
    assert faults[("small.png", "contrast-1")] == "is 20 x 20 pixels, and 32 a side are needed"
    assert (done.written, done.failed) == (8, 4 + 6)
    assert {row["item"] for row in listed(tmp_path / "to")} == {"two.jpg", "small.png"}
    # Mended, the next run makes what was missing, and nothing is left of the faults.
    for name in ("absent.png", "cut.jpg", "deep.png", "small.png", "text.png"):
        draw(root / name)
    assert render_variants(rows(*names), QUICK, root, tmp_path / "to").failed == 0
    assert not (tmp_path / "to" / "failed.csv").exists()


def test_a_full_disk_is_named_and_the_rest_goes_on(root, tmp_path, monkeypatch):
    whole = rendering.os.replace

    def full(source, target):
        if "gaussian-noise-4/two" in Path(target).as_posix():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(source, target)

    monkeypatch.setattr(rendering.os, "replace", full)
    done = render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to")
    assert (done.written, done.failed) == (20, 1)
    (failure,) = done.failures
    assert (failure.item, failure.variant, failure.fault) == ("two.jpg", "gaussian-noise-4", "No space left on device")
    assert not list((tmp_path / "to").rglob(".*"))
    monkeypatch.undo()
    assert render_variants(rows(*ITEMS), QUICK, root, tmp_path / "to").written == 1


def test_a_disk_too_full_for_the_table(root, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    render_variants(rows("two.jpg"), QUICK, root, tmp_path / "to")
    monkeypatch.setattr(rendering.os, "replace", full)
    with pytest.raises(InputError) as caught:
        render_variants(rows("two.jpg"), QUICK, root, tmp_path / "to")
    assert "its tables cannot be written: No space left on device" in caught.value.message
    assert caught.value.hint == "make room, and run the same command again: what is there is kept"


def test_a_folder_of_something_else_is_refused(root, tmp_path):
    render_variants(rows("two.jpg"), QUICK, root, tmp_path / "to")
    with pytest.raises(InputError) as caught:
        render_variants(rows("two.jpg"), QUICK, root, tmp_path / "to", seed=2)
    assert "holds variants that were rendered otherwise (other: seed)" in caught.value.message
    assert "another folder" in str(caught.value.hint)
    with pytest.raises(InputError) as caught:
        render_variants(rows("two.jpg"), QUICK, root, root)
    assert "exists and holds no variants" in caught.value.message
    assert caught.value.hint == "name a new or an empty folder with --to"
    with pytest.raises(InputError) as caught:
        render_variants(rows("two.jpg"), QUICK, root / "absent", tmp_path / "new")
    assert "is no folder" in caught.value.message
    assert "--root" in str(caught.value.hint)


def test_a_picture_that_lies_on_its_side_is_turned_as_its_exif_says(tmp_path):
    root = tmp_path / "images"
    exif = Image.Exif()
    exif[0x0112] = 6
    draw(root / "side.jpg", (60, 40), exif=exif)
    render_variants(rows("side.jpg"), QUICK, root, tmp_path / "to")
    with Image.open(tmp_path / "to" / "contrast-1" / "side.jpg.png") as image:
        assert image.size == (40, 60)


def table_of(folder: Path, number: int) -> Path:
    lines = ["item,age,gender"]
    for at in range(number):
        draw(folder / "images" / f"{at:02d}.png", (64, 64), seed=at)
        lines.append(f"{at:02d}.png,30,Female")
    (folder / "items.csv").write_text("\n".join(lines) + "\n")
    (folder / "r.yaml").write_text(TEXT % "gaussian-noise, contrast, brightness, jpeg-compression, pixelate")
    return folder / "items.csv"


def test_killed_and_started_again_it_ends_with_the_same_bytes(tmp_path, protoctl):
    table = table_of(tmp_path, 40)
    manifest = tmp_path / "m"
    text = (tmp_path / "r.yaml").read_text().replace("at_most: 9", "at_most: 99")
    (tmp_path / "r.yaml").write_text(text)
    assert protoctl("split", table, "--protocol", tmp_path / "r.yaml", "--out", manifest).code == 0
    arguments = ["render", str(manifest), "--root", str(tmp_path / "images"), "--to"]
    assert protoctl(*arguments, tmp_path / "whole", "--jobs", 1).code == 0
    command = [sys.executable, "-m", "protoctl", *arguments, str(tmp_path / "killed"), "--jobs", "1"]
    for least in (3, 60):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list((tmp_path / "killed").rglob("*.png"))) < least:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "killed" / "rendered.csv").exists()
    run = protoctl(*arguments, tmp_path / "killed", "--jobs", 2, "--json")
    assert run.code == 0
    assert run.json["present"] >= 60
    assert run.json["written"] + run.json["present"] == 40 * 11
    assert tree(tmp_path / "killed") == tree(tmp_path / "whole")


def test_the_command_names_what_failed_and_ends_with_3(tmp_path, protoctl):
    table = table_of(tmp_path, 2)
    (tmp_path / "images" / "01.png").write_bytes(b"")
    protoctl("split", table, "--protocol", tmp_path / "r.yaml", "--out", tmp_path / "m")
    run = protoctl("render", tmp_path / "m", "--root", tmp_path / "images", "--to", tmp_path / "to", "--jobs", 1)
    assert run.code == 3
    assert "11 files written, 0 were there, of 2 items" in run.out
    assert "1 could not be rendered: 01.png: is no image that can be read whole" in run.err
    assert "failed.csv names all" in run.err
    missing = protoctl("render", tmp_path / "m", "--root", tmp_path / "images")
    assert missing.code == 2
    assert "Missing option '--to'" in missing.err


def test_without_the_library_the_extra_is_named(root, tmp_path, monkeypatch):
    from protoctl.partition import render_images

    monkeypatch.setattr(render_images, "_LIBRARY", "a-library-that-nobody-has")
    with pytest.raises(InputError) as caught:
        render_variants(rows("two.jpg"), QUICK, root, tmp_path / "to")
    assert "which is not installed" in caught.value.message
    assert caught.value.hint == 'python -m pip install "protoctl[render]"'
