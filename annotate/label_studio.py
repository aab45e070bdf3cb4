"""A Label Studio server: set up a project, fetch what it holds.

`label-studio-sdk` is imported when a server is spoken to and never before; exports are read without it. The address
and the key of the server are used, and never written or shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from ..digests import digest_bytes, keyed_order
from ..errors import ServerError, VotesError
from ..tabular import read_table
from .output import refuse_existing, write_file
from .questions import Question

__all__ = ["Project", "connect", "create_project", "labelling_config", "pull_project", "sampled_tasks"]

_BATCH = 250
_SECONDS = 600.0
"""Large projects take minutes to export, and the client's own limit of one has cut many exports short."""
_CONFIG_TAGS = {"image": "Image", "video": "Video"}


@dataclass(frozen=True)
class Project:
    """A project on the server.

    Parameters
    ----------
    number : int
        Its id.
    title : str
        Its name.
    tasks : int
        Tasks it holds.
    """

    number: int
    title: str
    tasks: int

    def document(self) -> dict[str, Any]:
        """Return the record."""
        return {"project": self.number, "title": self.title, "tasks": self.tasks}


@contextmanager
def connect(url: str | None, key: str | None) -> Generator[Any]:
    """Give a client of the server, and close its connections afterwards.

    Parameters
    ----------
    url, key : str or None
        Address and access token; None takes ``LABEL_STUDIO_URL`` and ``LABEL_STUDIO_API_KEY``.

    Raises
    ------
    ServerError
        If either is missing, or label-studio-sdk is not installed.
    """
    url = url or os.environ.get("LABEL_STUDIO_URL")
    key = key or os.environ.get("LABEL_STUDIO_API_KEY")
    if not url or not key:
        lacking = "the address" if not url else "the key"
        raise ServerError(
            f"{lacking} of the Label Studio server is not known",
            hint="set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or give --url and --key",
        )
    try:
        import httpx  # pyright: ignore[reportMissingImports]
        from label_studio_sdk import LabelStudio  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ServerError(
            "label-studio-sdk is not installed, which speaks to the server",
            hint="pip install 'protoctl[label-studio]'; exports are read without it",
        ) from None
    with httpx.Client(follow_redirects=True, timeout=_SECONDS) as connections:
        with _answers("the key"):
            client = LabelStudio(base_url=url, api_key=key, httpx_client=connections)
        yield client


@contextmanager
def _answers(what: str) -> Generator[None]:
    """Turn what the client raises into a `ServerError` that names neither address nor key."""
    try:
        yield
    except (ServerError, VotesError):
        raise
    except Exception as error:
        status = getattr(error, "status_code", None)
        kind = type(error).__name__
        if status in (401, 403):
            raise ServerError(
                f"the server refuses the key ({status}), asked for {what}",
                hint="make an access token in the account settings; a legacy token must be enabled there first",
            ) from None
        if status == 404:
            raise ServerError(
                f"the server has no {what} (404)",
                hint="check the project's number; some features exist in the Enterprise edition only",
            ) from None
        if status is not None:
            raise ServerError(f"the server answered {status}, asked for {what}", hint="see the server's log") from None
        if type(error).__module__.split(".")[0] in ("httpx", "httpcore") or isinstance(error, OSError):
            raise ServerError(
                f"the server cannot be reached ({kind}), asked for {what}",
                hint="check that it runs, and LABEL_STUDIO_URL",
            ) from None
        raise


def doubt_name(questions: Sequence[Question], control: str) -> str:
    """Return the name of the box that says "not confident" beside a control."""
    return "uncertain" if len(questions) == 1 else f"{control}_uncertain"


def control_name(question: Question) -> str:
    """Return the name of a question's control: its own, or that of its scale."""
    if question.scale is None:
        raise VotesError("a project needs a scale, to know its choices", hint="name it with --scale, and not nominal")
    return question.control or question.scale.name.replace("-", "_")


def labelling_config(questions: Sequence[Question], *, show: str = "image", frames: int = 1) -> str:
    """Return the labelling configuration: choices of each scale, each with a "not confident" box.

    Parameters
    ----------
    questions : sequence of Question
        One a control, with their scales.
    show : {"image", "video"}
        What the annotator looks at.
    frames : int
        Images a task; several are shown as pages.

    Returns
    -------
    config : str
        XML.

    Examples
    --------
    >>> from protoctl.scales import FITZPATRICK
    >>> print(labelling_config([Question(FITZPATRICK, "skin_type")]).splitlines()[2])
      <Choices name="skin_type" toName="shown" choice="single-radio" required="true" showInline="true">
    """
    source = '"$images"' if frames > 1 and show == "image" else f'"${show}"'
    attribute = "valueList" if frames > 1 and show == "image" else "value"
    lines = ["<View>", f'  <{_CONFIG_TAGS[show]} name="shown" {attribute}={source}/>']
    for question in questions:
        name = control_name(question)
        lines.append(
            f'  <Choices name={quoteattr(name)} toName="shown" choice="single-radio" required="true" showInline="true">'
        )
        categories = question.scale.categories if question.scale else ()
        lines += [f"    <Choice value={quoteattr(category)}/>" for category in categories]
        lines.append("  </Choices>")
        doubt = quoteattr(doubt_name(questions, name))
        lines.append(f'  <Choices name={doubt} toName="shown" choice="multiple">')
        lines += ['    <Choice value="Not confident"/>', "  </Choices>"]
    return "\n".join([*lines, "</View>"]) + "\n"


def sampled_tasks(
    path: Path, *, frames: int = 1, show: str = "image", prefix: str = "", seed: int = 0
) -> list[dict[str, Any]]:
    """Make one task a subject, with some of the subject's items.

    Parameters
    ----------
    path : pathlib.Path
        A table with ``item`` (path or address), ``subject`` (an item without one stands for itself), and optionally
        ``video``: then frames are taken from each of the subject's videos in turn.
    frames : int
        Items a task, drawn by a keyed digest of their names: another order of rows gives the same ones.
    show : {"image", "video"}
        What the items are.
    prefix : str
        Put before each item, to make an address of it.
    seed : int
        Of the draw.

    Returns
    -------
    tasks : list of dict
        By subject: ``subject_id``, and ``image``, ``images`` or ``video``.

    Raises
    ------
    VotesError
        If the table lacks ``item``, has no row, or a blank item.
    """
    if show == "video" and frames > 1:
        raise VotesError("a task shows one video", hint="leave --frames out, or list the frames and show images")
    table = read_table(path)
    table.require(["item"])
    columns: list[str] = table.table.column_names
    held: dict[str, dict[str, list[str]]] = {}
    for number, row in enumerate(table.table.to_pylist()):
        item = row["item"]
        if not item:
            raise VotesError(f"{table.place(number, 'item')}: the item is blank", hint="name the image or video")
        subject = (row["subject"] if "subject" in columns else None) or item
        video = (row["video"] if "video" in columns else None) or ""
        held.setdefault(subject, {}).setdefault(video, []).append(item)
    if not held:
        raise VotesError(f"{path} has no row", hint="a row an image, frame or video")
    key = "images" if frames > 1 and show == "image" else show
    tasks: list[dict[str, Any]] = []
    for subject in sorted(held):
        drawn = [prefix + item for item in _drawn(held[subject], frames, seed)]
        tasks.append({"subject_id": subject, key: drawn if key == "images" else drawn[0]})
    return tasks


def _drawn(videos: dict[str, list[str]], frames: int, seed: int) -> list[str]:
    """Take items from each video in turn, each video's in the order of their keyed digests."""
    names = sorted(videos)
    order = [names[place] for place in keyed_order(names, seed, "annotate/videos")]
    queues: list[list[str]] = []
    for name in order:
        items = sorted(set(videos[name]))
        queues.append([items[place] for place in keyed_order(items, seed, "annotate/frames")])
    taken: list[str] = []
    depth = 0
    while len(taken) < frames and any(len(queue) > depth for queue in queues):
        taken += [queue[depth] for queue in queues if len(queue) > depth]
        depth += 1
    return taken[:frames]


def create_project(
    client: Any,
    title: str,
    config: str,
    tasks: Sequence[dict[str, Any]],
    *,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Project:
    """Set up a project and load its tasks.

    Parameters
    ----------
    client : LabelStudio
        From `connect`.
    title : str
        The project's name.
    config : str
        The labelling configuration.
    tasks : sequence of dict
        The data of each task.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.

    Returns
    -------
    project : Project

    Raises
    ------
    ServerError
        If the server cannot be reached, or refuses.
    """
    with _answers("a new project"):
        made = client.projects.create(title=title, label_config=config)
    for low in range(0, len(tasks), _BATCH):
        with _answers("the import of tasks"):
            client.projects.import_tasks(made.id, request=[{"data": task} for task in tasks[low : low + _BATCH]])
        if progress:
            progress(min(low + _BATCH, len(tasks)), len(tasks), "tasks")
    return Project(int(made.id), title, len(tasks))


def pull_project(client: Any, number: int, folder: Path, *, force: bool = False) -> Project:
    """Fetch a project: its raw export, its labelling configuration, and a record of both.

    Parameters
    ----------
    client : LabelStudio
        From `connect`.
    number : int
        The project's id.
    folder : pathlib.Path
        Gets ``export.json``, ``label_config.xml`` and ``pull.json`` (digest and time; no address, no key).
    force : bool
        Whether files that exist are replaced.

    Returns
    -------
    project : Project

    Raises
    ------
    ServerError
        If the server cannot be reached or refuses, or sends no export.
    InputError
        If the folder exists and `force` is not set.
    """
    refuse_existing(folder, force=force)
    with _answers(f"project {number}"):
        found = client.projects.get(number)
    with _answers(f"export of project {number}"):
        pieces = client.projects.exports.download_sync(number, export_type="JSON", download_all_tasks=True)
        data = b"".join(pieces)
    try:
        tasks = json.loads(data)
    except ValueError:
        raise ServerError(f"the server sent no JSON for project {number}", hint="see the server's log") from None
    if not isinstance(tasks, list):
        raise ServerError(f"the server sent no list of tasks for project {number}", hint="see the server's log")
    project = Project(number, str(found.title or ""), len(tasks))
    write_file(folder / "export.json", data.decode("utf-8"))
    write_file(folder / "label_config.xml", str(found.label_config or ""))
    record = {**project.document(), "export": digest_bytes(data), "pulled": _now()}
    write_file(folder / "pull.json", json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    return project


def _now() -> str:
    """Return the time of SOURCE_DATE_EPOCH, or of now."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
