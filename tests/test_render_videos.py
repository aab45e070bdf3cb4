"""Rendering videos with ffmpeg: clips, degradations, and files that are no videos."""

import re
import subprocess

import pyarrow as pa
import pytest

from protoctl.digests import digest_file
from protoctl.errors import InputError
from protoctl.partition import render_variants, render_videos
from protoctl.protocols import parse_protocol

try:
    FFMPEG = render_videos.ffmpeg()
except InputError:
    pytest.skip("needs ffmpeg on the path, or the extra render (imageio-ffmpeg)", allow_module_level=True)

VARIANTS = parse_protocol(
    "name: v\nversion: 1.0.0\nsplit: {ratios: {train: 1, test: 1}}\n"
    'variants: {clips: {skip: 1, seconds: 2, most: 3, over: 7, named: "(.+)_[0-9]+[.]mp4"}, degrade: {split: test}}\n',
    "v",
).variants


def make(file, *source, seconds=8.0):
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [FFMPEG, "-nostdin", "-loglevel", "error", "-y"]
    for each in source or ("testsrc=size=66x50:rate=30",):
        command += ["-f", "lavfi", "-t", str(seconds), "-i", each]
    subprocess.run([*command, str(file)], check=True)


def seen(file) -> tuple[str, float, float]:
    """Return size, frames a second and seconds."""
    shown = subprocess.run([FFMPEG, "-nostdin", "-i", str(file)], capture_output=True, text=True, check=False).stderr
    size = re.search(r"Video:.*?, (\d+x\d+)", shown)
    rate = re.search(r"([\d.]+) fps", shown)
    return size[1], float(rate[1]), render_videos.video_length(file)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    make(folder / "long.mp4", "testsrc=size=66x50:rate=30", "sine=frequency=300")
    make(folder / "short.mov", seconds=2.5)
    make(folder / "sound.mp4", "sine=frequency=300", seconds=1)
    (folder / "junk.mp4").write_bytes(b"no video at all")
    (folder / "empty.mp4").write_bytes(b"")
    for at in range(3):
        make(folder / f"clips/7_A_{at:03d}.mp4", f"testsrc=size=64x48:rate=30:decimals={at}", seconds=2)
    return folder


def rows(split, *items):
    return pa.table({"item": list(items), "split": [split] * len(items)})


def test_whole_videos_are_cut(root, tmp_path):
    done = render_variants(rows("train", "long.mp4", "short.mov"), VARIANTS, root, tmp_path)
    assert (done.written, done.failed) == (4, 0)
    for at in (1, 2, 3):
        size, rate, seconds = seen(tmp_path / f"clip-{at}" / "long.mp4")
        assert (size, rate) == ("66x50", 30)
        assert seconds == pytest.approx(2, abs=0.15)
    assert seen(tmp_path / "clip-1" / "short.mov.mp4")[2] == pytest.approx(1.5, abs=0.15)


def test_clips_are_degraded_one_way_each_and_the_third_is_left(root, tmp_path):
    items = [f"clips/7_A_{at:03d}.mp4" for at in range(3)]
    done = render_variants(rows("test", *items), VARIANTS, root, tmp_path)
    assert (done.written, done.failed) == (3, 0)
    made = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.mp4")]
    (clean,) = [name for name in made if name.startswith("clean/")]
    assert digest_file(tmp_path / clean) == digest_file(root / clean.removeprefix("clean/"))
    assert len([name for name in made if name.split("/")[0] in ("fps-15", "quarter-size", "low-quality")]) == 2


@pytest.mark.parametrize(
    ("kind", "size", "rate"), [("fps-15", "64x48", 15), ("quarter-size", "32x24", 30), ("low-quality", "64x48", 30)]
)
def test_each_degradation_does_what_it_says(root, tmp_path, kind, size, rate):
    from protoctl.partition import ItemPlan, Variant

    item = "clips/7_A_000.mp4"
    plan = ItemPlan(item, (Variant(item, kind, f"{kind}/a.mp4", degradation=kind),))
    (made,) = render_videos.render_video(plan, root / item, tmp_path)
    assert made.fault == ""
    assert seen(tmp_path / kind / "a.mp4")[:2] == (size, rate)
    if kind == "low-quality":
        good = ItemPlan(item, (Variant(item, "clip-1", "good.mp4", start=0, seconds=2),))
        (better,) = render_videos.render_video(good, root / item, tmp_path)
        assert made.bytes < better.bytes


def test_a_clip_comes_out_the_same_every_time(root, tmp_path):
    for folder in ("one", "two"):
        render_variants(rows("train", "long.mp4"), VARIANTS, root, tmp_path / folder)
    assert (tmp_path / "one/rendered.csv").read_bytes() == (tmp_path / "two/rendered.csv").read_bytes()
    again = render_variants(rows("train", "long.mp4"), VARIANTS, root, tmp_path / "one")
    assert (again.written, again.present) == (0, 3)


def test_what_has_no_frames_is_named_and_the_rest_goes_on(root, tmp_path):
    names = ("absent.mp4", "empty.mp4", "junk.mp4", "long.mp4", "sound.mp4")
    done = render_variants(rows("train", *names), VARIANTS, root, tmp_path)
    assert done.written == 3
    assert {failure.item: failure.fault for failure in done.failures} == {
        "absent.mp4": "there is no such file below --root",
        "empty.mp4": "is no video with frames",
        "junk.mp4": "is no video with frames",
        "sound.mp4": "is no video with frames",
    }
    assert not list(tmp_path.rglob(".*"))


def test_a_clip_beyond_the_end_has_no_frames(root, tmp_path):
    from protoctl.partition import ItemPlan, Variant

    plan = ItemPlan("short.mov", (Variant("short.mov", "clip-9", "clip-9/a.mp4", start=60.0, seconds=2.0),))
    (made,) = render_videos.render_video(plan, root / "short.mov", tmp_path)
    assert made.fault.startswith(("has no frames there", "ffmpeg: "))
    assert not list(tmp_path.rglob("*.*"))


def test_without_ffmpeg_it_is_said_what_to_install(root, tmp_path, monkeypatch):
    monkeypatch.setattr(render_videos.shutil, "which", lambda _: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError) as caught:
        render_variants(rows("train", "long.mp4"), VARIANTS, root, tmp_path / "to")
    assert caught.value.message == "rendering videos needs ffmpeg, and there is none on the path"
    assert "protoctl[render]" in str(caught.value.hint)
