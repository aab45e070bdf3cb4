"""The report in a real browser: it renders, its charts are there, it fetches nothing, and no name does anything."""

import json
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from protoctl.audit import Audit, Finding, report
from protoctl.audit.drifts import drift_of_balance
from protoctl.audit.planes import Plane
from protoctl.errors import InputError
from protoctl.partition import Category, balance_from_counts

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
TOTAL = Category("", "", "total")


def audit_of(names, **more):
    """Return an audit of 100 items a category, a little off its targets."""
    categories = [TOTAL, *(Category("race", name, "category") for name in names)]
    counts = [[54, 15, 31]] * len(names)
    total = [sum(column) for column in zip(*counts, strict=True)]
    balance = balance_from_counts(("train", "valid", "test"), (55, 15, 30), categories, [total, *counts])
    findings = (Finding("subjects in two splits", f"1 of 9: {names[0]}", 1, "fails", (names[0],)),)
    held = {"drift": drift_of_balance(balance), "facts": {"assignment": "sha256:" + 64 * "0"}, **more}
    return Audit(names[0], True, balance, findings, ("what was not looked at",), **held)


def scores_of(names):
    rows = [
        {"score": "f1_macro", "model": "m", "attributes": [], "subgroup": [], "value": 0.6, "low": 0.5, "high": 0.7}
    ]
    rows += [
        {
            "score": "f1_macro",
            "model": "m",
            "attribute": "race",
            "category": name,
            "value": 0.5,
            "low": 0.4,
            "high": 0.6,
            "items": 100,
            "subjects": 12,
            "small": True,
        }
        for name in names
    ]
    curve = {"model": "m", "attributes": ["race"], "subgroup": [names[0]]}
    curve |= {"false_positive_rate": [0, 0.04, 0.2, 1], "true_positive_rate": [0, 0.5, 0.9, 1]}
    return {"scores": rows, "curves": [curve]}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """Return a function that loads a page, and gives its document and the addresses that were asked for."""
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        pytest.skip("no chromium is installed, so no report is looked at in a browser")

    def load(page, *more):
        home = tmp_path_factory.mktemp("chromium")
        log = home / "net.json"
        command = [program, *QUIET, f"--user-data-dir={home}", f"--log-net-log={log}", *more, page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
        found = set(re.findall(r'"url":"((?:https?|ws|ftp)://[^"]*)"', log.read_text(errors="replace")))
        # The browser asks its maker for the time and for updates, whatever page it shows.
        asked = {url for url in found if not re.match(r"https?://[a-z0-9.]*google(apis)?\.com/", url)}
        return done.stdout.decode(), asked

    return load


@pytest.fixture
def server():
    """Serve on this machine, and return its address and the paths that were asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            return

    with HTTPServer(("127.0.0.1", 0), Handler) as held:
        thread = threading.Thread(target=held.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{held.server_port}", asked
        held.shutdown()
        thread.join()


def written(folder, audit, scores=None):
    for name, text in report(audit, scores).items():
        (folder / name).write_text(text, "utf-8")
    return folder / "report.html"


def test_the_report_renders_with_its_charts(chromium, tmp_path):
    names = ["Asian", "Black", "White"]
    plane = Plane("given", "train", ((0,) * 10,) * 9 + ((0,) * 9 + (4,),))
    compared = {"given": audit_of(names).balance, "ours": audit_of(names).balance}
    page = written(tmp_path, audit_of(names, planes=(plane,), compared=compared), scores_of(names))
    document, asked = chromium(page, "--dump-dom")
    assert asked == set()
    for section in ("verdicts", "balance", "drift", "compared", "planes", "scores", "curves"):
        assert f'<section id="{section}">' in document
    charts = re.findall(r'<figure class="card chart".*?</figure>', document, re.DOTALL)
    assert len(charts) == 7
    assert all("<svg" in chart for chart in charts)
    # The one chart without a table of its own is that of scores, whose table is below all of them.
    assert sum("<table" in chart for chart in charts) == 6
    assert "1 of 1 checks fail" in document
    assert document.count("<table>") == 7
    assert "sha256:" + 64 * "0" in document


def test_the_report_is_drawn(chromium, tmp_path):
    page = written(tmp_path, audit_of(["Asian", "White"]))
    shot = tmp_path / "shot.png"
    chromium(page, f"--screenshot={shot}", "--window-size=420,1500")
    from PIL import Image

    with Image.open(shot) as image:
        seen = {pixel for _, pixel in image.convert("RGB").getcolors(1 << 20)}
    assert {(0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0x00, 0x9E, 0x73)} <= seen


HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "\"><img src='ADDRESS/img' onerror=\"document.title='taken'\">",
    "'; background: url(ADDRESS/css); \"",
    "</title></style></script><iframe src=ADDRESS/frame></iframe>",
    "{{ 7 * 1910019 }}{% raw %}",
    "\u202eright to left\u200f\u2066",
    "x" * 10_000,
    "line\nbreak\u0000\u0007",
    "&lt;b&gt;",
]


def test_hostile_names_do_nothing(chromium, tmp_path, server):
    address, requested = server
    names = [name.replace("ADDRESS", address) for name in HOSTILE]
    for place, first in enumerate(names[:5]):
        folder = tmp_path / str(place)
        folder.mkdir()
        page = written(folder, audit_of([first, *names]), scores_of(names))
        source = page.read_text("utf-8")
        assert source.count("<script>") == 1
        assert source.count("http") == source.count("http-equiv") + source.count(address)
        assert "\u202e" not in source
        assert "x" * 200 not in source
        assert "13370133" not in source
    document, asked = chromium(page, "--dump-dom")
    assert asked == set()
    assert requested == []
    assert "<iframe" not in document
    assert "<img" not in document
    assert "<title>Audit of {{ 7 * 1910019 }}" in document
    assert (
        json.loads((folder / "report.json").read_text("utf-8"))["audit"]["balance"]["categories"][7]["value"]
        == names[5]
    )
    assert len(source) < 2_000_000


def test_tables_are_sorted_by_their_heads(chromium, tmp_path):
    page = written(tmp_path, audit_of(["Banana", "Apple", "Cherry"]))
    # The page forbids other scripts, so the press of a head needs a copy without that rule.
    click = "<script>document.querySelectorAll('table')[1].querySelector('th button').click()</script></body>"
    page.write_text(re.sub(r"<meta http-equiv[^>]*>", "", page.read_text()).replace("</body>", click))
    document, _ = chromium(page, "--dump-dom")
    sorted_table = re.findall(r"<table>.*?</table>", document, re.DOTALL)[1]
    assert re.findall(r"<td><bdi>(\w+)</bdi>", sorted_table) == ["Apple", "Banana", "Cherry"]
    assert 'aria-sort="ascending"' in sorted_table


def test_a_large_report_is_small_enough():
    pages = report(audit_of([f"category {n}" for n in range(3000)]))
    assert len(pages["report.html"].encode()) < 2_000_000
    assert "more rows are in report.json" in pages["report.html"]
    assert len(json.loads(pages["report.json"])["audit"]["balance"]["categories"]) == 3001


def test_report_json_holds_the_numbers_of_the_page():
    pages = report(audit_of(["Asian", "White"]))
    held = json.loads(pages["report.json"])["audit"]
    assert f"{held['balance']['worst_pp']:.2f} <small>points" in pages["report.html"]
    assert f"{held['drift'][0]['pairs'][0]['total_variation']:.4f}" in pages["report.html"]
    assert held["findings"][0]["places"] == ["Asian"]


@pytest.mark.parametrize(
    ("scores", "message", "hint"),
    [
        ({"rows": []}, "the scores hold no list 'scores'", "take what protoctl score --json prints"),
        ({"scores": [{"value": 1}]}, r"\$.scores\[0\] names no score", "take what protoctl score --json prints"),
        (
            {"scores": [{"score": "f1", "value": "1"}]},
            r"\$.scores\[0\].value: '1' is no number",
            "null where there is none",
        ),
    ],
)
def test_scores_of_another_form_are_refused(scores, message, hint):
    with pytest.raises(InputError, match=message) as caught:
        report(audit_of(["Asian"]), scores)
    assert caught.value.hint == hint


def test_the_command_writes_the_folder_or_nothing(protoctl, in_empty_folder):
    rows = [f"{n}.jpg,{'AB'[n % 2]},{['train', 'train', 'valid', 'test'][n // 2 % 4]}" for n in range(80)]
    (in_empty_folder / "rows.csv").write_text("item,label,fold\n" + "\n".join(rows) + "\n")
    command = ("audit", "rows.csv", "--protocol", "fair-55-15-30", "--split", "fold")
    lacking = protoctl(*command, "--report", "out")
    assert lacking.code == 3
    assert not (in_empty_folder / "out").exists()
    (in_empty_folder / "rows.csv").write_text(
        "item,label,age,gender,race,fold\n"
        + "\n".join(row.replace(",A,", ",A,20-29,Male,Asian,").replace(",B,", ",B,20-29,Female,White,") for row in rows)
        + "\n"
    )
    run = protoctl(*command, "--report", "out")
    assert run.code == 0, run.err
    assert "written: out/report.html, report.json" in run.out
    assert sorted(path.name for path in (in_empty_folder / "out").iterdir()) == ["report.html", "report.json"]
    again = protoctl(*command, "--report", "out")
    assert again.code == 3
    assert "out exists already" in again.err
