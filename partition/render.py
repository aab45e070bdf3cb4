"""From assignments and a protocol's variants to files: the plan, the fitting renderer, the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..protocols import Variants
from .rendering import Progress, Rendered, render_plans
from .variants import plan_variants

__all__ = ["render_variants"]


def render_variants(
    assignments: pa.Table,
    variants: Variants,
    root: Path,
    to: Path,
    *,
    seed: int = 0,
    jobs: int = 1,
    state: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Rendered:
    """Render the variants of items on disk.

    Parameters
    ----------
    assignments : pyarrow.Table
        Columns ``item`` (path below `root`) and ``split``.
    variants : Variants
        The section of the protocol.
    root : pathlib.Path
        Folder that the items' names start from.
    to : pathlib.Path
        Folder to write to; what is there already is kept.
    seed : int
        Which noise, which clips.
    jobs : int
        Processes.
    state : mapping, optional
        What else the files depend on, such as the manifest.
    progress : callable, optional
        Called with items done, items in all, and what is done.

    Returns
    -------
    rendered : Rendered

    Raises
    ------
    InputError
        If nothing is planned, a library or ffmpeg is absent, `root` is no folder, or `to` holds something else.
    """
    whole = {**(state or {}), "seed": seed, "variants": dict(variants.document)}
    if variants.of_videos:
        from .render_videos import render_video, video_length, video_versions

        whole["made_with"] = video_versions()
        plans = plan_variants(assignments, variants, seed=seed, length=lambda item: video_length(root / item))
        renderer = render_video
    else:
        from .render_images import image_versions, render_image

        whole["made_with"] = image_versions()
        plans = plan_variants(assignments, variants, seed=seed)
        renderer = render_image
    return render_plans(
        plans, renderer, root, to, state=whole, jobs=jobs, total=assignments.num_rows, progress=progress
    )
