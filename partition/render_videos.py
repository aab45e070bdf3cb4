"""Clips and degradations of videos, by ffmpeg: the system's, or the one that imageio-ffmpeg brings.

A clip is encoded anew, since a copy could begin at a key frame only; x264 at a constant rate factor of 17 stands for
"original quality". A degraded clip has 15 frames a second, or half of each side, or a rate factor of 40.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from ..digests import digest_file
from ..errors import InputError
from .rendering import Made, copied, fault_of, part_of
from .variants import ItemPlan, Variant

__all__ = ["ffmpeg", "render_video", "video_length", "video_versions"]

_GOOD, _POOR = "17", "40"
_FILTERS = {"fps-15": "fps=15,", "quarter-size": "scale=iw/2:ih/2,"}
# yuv420p takes even sides only.
_EVEN = "crop=trunc(iw/2)*2:trunc(ih/2)*2"
_MOST_CHARACTERS = 200


def ffmpeg() -> str:
    """Return the path of ffmpeg.

    Raises
    ------
    InputError
        If there is none.
    """
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingImports]

        return imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise InputError(
            "rendering videos needs ffmpeg, and there is none on the path",
            hint='install ffmpeg, or: python -m pip install "protoctl[render]"',
        ) from None


def video_versions() -> dict[str, str]:
    """Return the version of ffmpeg that the clips depend on."""
    shown = subprocess.run([ffmpeg(), "-version"], capture_output=True, text=True, check=True)  # noqa: S603
    return {"ffmpeg": shown.stdout.split("\n", 1)[0].removeprefix("ffmpeg version ").split(" ")[0]}


def video_length(source: Path) -> float:
    """Return the seconds of a video.

    Parameters
    ----------
    source : pathlib.Path
        The file.

    Raises
    ------
    InputError
        If it is absent, is no video, or has no frames.
    """
    if not source.is_file():
        raise InputError("there is no such file below --root")
    command = [ffmpeg(), "-nostdin", "-hide_banner", "-i", str(source)]
    shown = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    found = re.search(r"Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)", shown.stderr)
    if not re.search(r"Stream #.*Video:", shown.stderr) or found is None:
        raise InputError("is no video with frames")
    hours, minutes, seconds = found.groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def render_video(plan: ItemPlan, source: Path, to: Path) -> list[Made]:
    """Make the clips of one video.

    Parameters
    ----------
    plan : ItemPlan
        The variants that are wanted.
    source : pathlib.Path
        The video.
    to : pathlib.Path
        Folder to write to.

    Returns
    -------
    made : list of Made
        One a variant; a fault of one does not stop the others.
    """
    video_length(source)
    made: list[Made] = []
    for variant in plan.variants:
        try:
            if variant.start is None and not variant.degradation:
                made.append(copied(variant, source, to))
            else:
                made.append(_encoded(variant, source, to))
        except (OSError, InputError) as error:
            made.append(Made(variant, fault=fault_of(error)))
    return made


def _encoded(variant: Variant, source: Path, to: Path) -> Made:
    path = to / variant.path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(path)
    try:
        shown = subprocess.run(  # noqa: S603
            _command(variant, source, part), capture_output=True, text=True, errors="replace", check=False
        )
        frames = re.findall(r"^frame=\s*(\d+)", shown.stdout, re.MULTILINE)
        if shown.returncode != 0:
            raise InputError(f"ffmpeg: {_reason(shown.stderr)}")
        if not frames or int(frames[-1]) == 0:
            raise InputError("has no frames there")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return Made(variant, digest_file(path), path.stat().st_size, new=True)


def _command(variant: Variant, source: Path, part: Path) -> list[str]:
    """Return the command for one clip; one thread and no dates, so that the bytes are always the same."""
    start = ["-ss", f"{variant.start}"] if variant.start is not None else []
    seconds = ["-t", f"{variant.seconds}"] if variant.seconds is not None else []
    return [
        ffmpeg(), "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1", "-y",
        *start, "-i", str(source), *seconds,
        "-map", "0:v:0", "-map", "0:a?", "-map_metadata", "-1", "-map_chapters", "-1",
        "-vf", _FILTERS.get(variant.degradation, "") + _EVEN,
        "-c:v", "libx264", "-preset", "medium", "-pix_fmt", "yuv420p", "-threads", "1",
        "-crf", _POOR if variant.degradation == "low-quality" else _GOOD,
        "-c:a", "aac", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
        "-f", "mp4", str(part),
    ]  # fmt: skip


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it failed without a word")[:_MOST_CHARACTERS]
