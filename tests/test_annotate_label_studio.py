"""Label Studio live: what is set up and fetched, what a server may answer, and (on demand) a real server."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from protoctl.annotate import (
    connect,
    create_project,
    labelling_config,
    parse_config,
    parse_questions,
    pull_project,
    read_annotations,
    sampled_tasks,
    settle,
    settle_labels,
)
from protoctl.errors import InputError, ServerError, VotesError
from protoctl.scales import FITZPATRICK

KEY = "0123456789abcdef0123456789abcdef01234567"


def refusal(call, error=ServerError):
    with pytest.raises(error) as caught:
        call()
    assert KEY not in str(caught.value)
    assert "127.0.0.1" not in caught.value.message
    return caught.value.message, caught.value.hint


class TestSetUp:
    def test_the_configuration_has_choices_and_a_box_for_doubt(self):
        config = labelling_config(parse_questions("fitzpatrick", ["skin_type"]))
        controls = parse_config(config, "config")
        assert list(controls["skin_type"].choices) == list(FITZPATRICK.categories)
        assert list(controls["uncertain"].choices) == ["Not confident"]
        assert ElementTree.fromstring(config).find("Image").get("value") == "$image"

    def test_several_controls_frames_and_videos(self):
        config = labelling_config(parse_questions("gender", ["sex", "tone=monk"]), frames=3)
        assert list(parse_config(config, "config")) == ["sex", "sex_uncertain", "tone", "tone_uncertain"]
        assert ElementTree.fromstring(config).find("Image").get("valueList") == "$images"
        video = labelling_config(parse_questions("gender"), show="video")
        assert ElementTree.fromstring(video).find("Video").get("value") == "$video"
        message, hint = refusal(lambda: labelling_config(parse_questions("nominal")), VotesError)
        assert message == "a project needs a scale, to know its choices"
        assert hint == "name it with --scale, and not nominal"

    def test_frames_are_drawn_by_keyed_digest(self, tmp_path):
        rows = [
            (f"{video}/{frame}.jpg", subject, video)
            for subject, video in (("s1", "v1"), ("s1", "v2"), ("s2", "v3"))
            for frame in range(9)
        ]
        rows.append(("alone.jpg", "", ""))
        tables = []
        for name, listed in (("one", rows), ("two", rows[::-1])):
            path = tmp_path / f"{name}.csv"
            path.write_text("item,subject,video\n" + "".join(",".join(row) + "\n" for row in listed))
            tables.append(sampled_tasks(path, frames=4, prefix="https://x/", seed=1))
        assert tables[0] == tables[1]
        assert [task["subject_id"] for task in tables[0]] == ["alone.jpg", "s1", "s2"]
        assert [len(task["images"]) for task in tables[0]] == [1, 4, 4]
        first = [address.removeprefix("https://x/").split("/")[0] for address in tables[0][1]["images"]]
        assert sorted(first) == ["v1", "v1", "v2", "v2"]
        assert sampled_tasks(tmp_path / "one.csv", frames=4, prefix="https://x/", seed=2) != tables[0]
        single = sampled_tasks(tmp_path / "one.csv")
        assert set(single[0]) == {"subject_id", "image"}

    def test_tables_that_cannot_be_used(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("image,subject\na,b\n")
        assert "there is no column 'item'" in refusal(lambda: sampled_tasks(path), InputError)[0]
        path.write_text("item,subject\n,b\n")
        assert refusal(lambda: sampled_tasks(path), VotesError)[0] == "t.csv:2, column item: the item is blank"
        path.write_text("item,subject\n")
        assert refusal(lambda: sampled_tasks(path), VotesError)[0] == f"{path} has no row"
        message, hint = refusal(lambda: sampled_tasks(path, show="video", frames=2), VotesError)
        assert (message, hint.startswith("leave --frames out")) == ("a task shows one video", True)


class ApiError(Exception):
    def __init__(self, status_code):
        super().__init__(f"{KEY} at 127.0.0.1")
        self.status_code = status_code


def client(**calls):
    """A stand-in for the SDK's client: what its calls give or raise."""

    def answer(name):
        def call(*_, **more):
            given = calls.get(name)
            if isinstance(given, Exception):
                raise given
            if name == "import_tasks":
                calls.setdefault("imported", []).extend(more["request"])
            return given

        return call

    projects = SimpleNamespace(
        create=answer("create"),
        get=answer("get"),
        import_tasks=answer("import_tasks"),
        exports=SimpleNamespace(download_sync=answer("export")),
    )
    return SimpleNamespace(projects=projects, calls=calls)


class TestAnswers:
    @pytest.mark.parametrize(
        ("error", "message", "hint"),
        [
            (ApiError(401), "the server refuses the key (401), asked for project 7", "make an access token"),
            (ApiError(404), "the server has no project 7 (404)", "check the project's number; some features exist in"),
            (ApiError(500), "the server answered 500, asked for project 7", "see the server's log"),
            (ConnectionRefusedError(), "the server cannot be reached (ConnectionRefusedError)", "check that it runs"),
        ],
    )
    def test_refusals_are_told_apart(self, tmp_path, error, message, hint):
        found = refusal(lambda: pull_project(client(get=error), 7, tmp_path / "out"))
        assert found[0].startswith(message)
        assert found[1].startswith(hint)
        assert not (tmp_path / "out").exists()

    def test_an_enterprise_feature(self, tmp_path):
        held = client(get=SimpleNamespace(title="x", label_config="<View/>"), export=ApiError(404))
        message, hint = refusal(lambda: pull_project(held, 7, tmp_path / "out"))
        assert message == "the server has no export of project 7 (404)"
        assert "Enterprise edition only" in hint

    def test_what_is_no_export(self, tmp_path):
        for data, message in ((b"<html>", "sent no JSON"), (b"{}", "sent no list of tasks")):
            held = client(get=SimpleNamespace(title="x", label_config=""), export=[data])
            assert refusal(lambda held=held: pull_project(held, 7, tmp_path / "out"))[0] == (
                f"the server {message} for project 7"
            )

    def test_what_is_ours_is_not_hidden(self, tmp_path):
        with pytest.raises(ZeroDivisionError):
            pull_project(client(get=ZeroDivisionError()), 7, tmp_path / "out")

    def test_pull_keeps_the_raw_export(self, real, tmp_path, monkeypatch):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        raw = (real / "label_studio/project1_all.json").read_bytes()
        config = (real / "label_studio/label_config.xml").read_text()
        held = client(get=SimpleNamespace(title="Skin", label_config=config), export=[raw[:100], raw[100:]])
        project = pull_project(held, 7, tmp_path / "out")
        assert project.document() == {"project": 7, "title": "Skin", "tasks": 14}
        assert (tmp_path / "out/export.json").read_bytes() == raw
        assert (tmp_path / "out/label_config.xml").read_text() == config
        record = json.loads((tmp_path / "out/pull.json").read_text())
        assert record["pulled"] == "2023-11-14T22:13:20Z"
        assert record["export"].startswith("sha256:")
        assert refusal(lambda: pull_project(held, 7, tmp_path / "out"), InputError)[0] == f"{tmp_path / 'out'} exists"

    def test_create_loads_tasks_in_batches(self):
        held = client(create=SimpleNamespace(id=3))
        seen = []
        tasks = [{"subject_id": str(place)} for place in range(600)]
        project = create_project(held, "t", "<View/>", tasks, progress=lambda *told: seen.append(told))
        assert project.document() == {"project": 3, "title": "t", "tasks": 600}
        assert held.calls["imported"] == [{"data": task} for task in tasks]
        assert seen == [(250, 600, "tasks"), (500, 600, "tasks"), (600, 600, "tasks")]


def entered(url, key):
    with connect(url, key):
        pytest.fail("there is nobody to speak to")


def test_without_address_key_or_sdk(monkeypatch):
    monkeypatch.delenv("LABEL_STUDIO_URL", raising=False)
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    message, hint = refusal(lambda: entered(None, None))
    assert message == "the address of the Label Studio server is not known"
    assert hint == "set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or give --url and --key"
    assert refusal(lambda: entered("http://x", None))[0].startswith("the key of the Label Studio server")
    monkeypatch.setitem(__import__("sys").modules, "label_studio_sdk", None)
    message, hint = refusal(lambda: entered("http://x", KEY))
    assert message == "label-studio-sdk is not installed, which speaks to the server"
    assert "protoctl[label-studio]" in hint


class _Refusing(BaseHTTPRequestHandler):
    """Answers every request with the status that its server holds."""

    def do_GET(self):
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"detail": "no"}')

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def refusing():
    server = HTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("status", "message"), [(401, "the server refuses the key (401)"), (404, "the server has no project 7 (404)")]
)
def test_the_real_client_against_a_refusing_server(refusing, tmp_path, status, message):
    pytest.importorskip("label_studio_sdk", reason="needs the extra label-studio")
    refusing.status = status
    with connect(f"http://127.0.0.1:{refusing.server_port}", KEY) as found:
        assert refusal(lambda: pull_project(found, 7, tmp_path / "out"))[0].startswith(message)


def test_the_real_client_without_a_server(tmp_path):
    pytest.importorskip("label_studio_sdk", reason="needs the extra label-studio")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with connect(f"http://127.0.0.1:{port}", KEY) as found:
        message, hint = refusal(lambda: pull_project(found, 7, tmp_path / "out"))
    assert message == "the server cannot be reached (ConnectError), asked for project 7"
    assert hint == "check that it runs, and LABEL_STUDIO_URL"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a real Label Studio on loopback; PROTOCTL_LABEL_STUDIO names its command, else it is found on the path."""
    program = os.environ.get("PROTOCTL_LABEL_STUDIO") or shutil.which("label-studio")
    if not program:
        pytest.skip("needs the command label-studio (pip install label-studio in an environment of its own)")
    pytest.importorskip("label_studio_sdk", reason="needs the extra label-studio")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    folder = tmp_path_factory.mktemp("server")
    quiet = {"COLLECT_ANALYTICS": "False", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": "", "LATEST_VERSION_CHECK": "False"}
    words = (
        f"start --no-browser --internal-host 127.0.0.1 --port {port} --username a1@example.org --password {KEY[:12]}"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *words.split(), "--user-token", KEY, "--enable-legacy-api-token"],
            env={**os.environ, **quiet, "LABEL_STUDIO_BASE_DATA_DIR": str(folder)},
            stdout=log,
            stderr=log,
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/api/version", process)
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(address, process):
    for _ in range(240):
        assert process.poll() is None, "the server ended while it started"
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(1)
    pytest.fail("the server did not start within four minutes")


@pytest.mark.labelstudio
def test_create_annotate_pull_aggregate(server, tmp_path):
    """The whole way through a real server: eight annotators, one of whom doubts."""
    questions = parse_questions("fitzpatrick", ["skin_type"])
    table = tmp_path / "frames.csv"
    table.write_text("item,subject\n" + "".join(f"s{n}/{f}.jpg,s{n}\n" for n in range(3) for f in range(4)))
    tasks = sampled_tasks(table, frames=2, prefix="https://example.org/")
    with connect(server, KEY) as found:
        made = create_project(found, "Skin types", labelling_config(questions, frames=2), tasks)
        users = [1] + [found.users.create(email=f"a{n}@example.org", username=f"a{n}").id for n in range(2, 9)]
        for task in found.tasks.list(project=made.number):
            for place, user in enumerate(users):
                said = [
                    {
                        "from_name": "skin_type",
                        "to_name": "shown",
                        "type": "choices",
                        "value": {"choices": ["III" if place < 5 else "IV"]},
                    }
                ]
                if place == 0:
                    said.append(
                        {
                            "from_name": "uncertain",
                            "to_name": "shown",
                            "type": "choices",
                            "value": {"choices": ["Not confident"]},
                        }
                    )
                found.annotations.create(id=task.id, result=said, completed_by=user, ground_truth=False)
        project = pull_project(found, made.number, tmp_path / "pulled")
        message, _ = refusal(lambda: pull_project(found, 999, tmp_path / "none"))
        assert message == "the server has no project 999 (404)"
    assert project.tasks == 3
    config = parse_config((tmp_path / "pulled/label_config.xml").read_text(), "config")
    votes = settle(read_annotations([tmp_path / "pulled/export.json"], unit="subject_id"), FITZPATRICK, config=config)
    assert str(votes.ledger) == "24 annotations = 24 used"
    assert (len(votes.annotators), int(votes.doubtful.sum())) == (8, 3)
    labels = settle_labels(votes)
    assert [labels.of(unit) for unit in ("s0", "s1", "s2")] == ["III"] * 3
    assert labels.share.tolist() == pytest.approx([4.5 / 7.5] * 3)
    for path in (tmp_path / "pulled").iterdir():
        assert KEY not in path.read_text()
    with connect(server, KEY[::-1]) as wrong:
        message, _ = refusal(lambda: pull_project(wrong, made.number, tmp_path / "none"))
        assert message == f"the server refuses the key (401), asked for project {made.number}"
