"""Who may ask the server of the page, and what it answers: real requests on loopback, within this process."""

from __future__ import annotations

import http.client
import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from programs import recorded
from twice.recorder.cadence import Cadence
from twice.view.server import ViewServer
from twice.view.viewed_runs import ViewedRuns

pytestmark = pytest.mark.integration  # a real run is shown

STEPS = """
    import time

    import numpy

    def watch():
        return time.monotonic()

    class Lamp:
        def __init__(self):
            self.level = 0

        def frame(self):
            return numpy.full((2, 3, 3), self.level, numpy.uint8)

    def main(run):
        lamp = run.track("lamp", Lamp())
        place = run.track("place", {"x": 0, "big": 1 << 60, "<b>": [1.5], "lost": float("nan")})
        for tick in run.ticks(6):
            place["x"] += run.input("push", lambda: 2)
            lamp.level += 50
            watch()
            if tick == 3:
                print("</script><script>alert(1)</script>")
            while place["x"] < 0:  # a push of a branch alone leads here
                pass
"""


class Page:
    """Asks one server as a page does."""

    def __init__(self, server: ViewServer) -> None:
        self.server = server

    def ask(
        self, target: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request with the token, unless headers say otherwise; return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        sent = {"X-Twice-Token": self.server.token, "Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", target, data, sent)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def read(self, target: str, body: Any = None) -> dict[str, Any]:
        status, _, content = self.ask(target, body)
        told: dict[str, Any] = json.loads(content)
        return told if status == 200 else told["error"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with (
        recorded(tmp_path_factory.mktemp("run"), STEPS, cadence=Cadence("tick", 1)) as record,
        ViewServer(ViewedRuns([record.path]), 0) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Page(server)
        server.shutdown()
        server.runs.close()


def test_the_address_opens_the_page(page: Page) -> None:
    target = page.server.url.partition(str(page.server.server_port))[2]

    status, headers, content = page.ask(target, X_Twice_Token=page.server.token)

    assert status == 200
    assert page.server.token.encode() in content
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Twice_Token": "another"},
        {"X_Twice_Token": ""},
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("target", ["/", "/view.js", "/api/session", "/api/diagnose"])
def test_others_are_refused(page: Page, target: str, headers: dict[str, str]) -> None:
    body = {} if target.endswith("diagnose") else None
    status, _, content = page.ask(target, body, **headers)

    assert status == 403
    assert page.server.token.encode() not in content


def test_a_tick_has_its_input_its_state_and_what_changed(page: Page) -> None:
    told = page.read("/api/moment?run=0&tick=3")

    (given,) = told["inputs"]
    assert (given["name"], given["text"], given["substituted"]) == ("push", "2", False)
    assert given["toml"] == "2"
    assert told["printed"] == {"output": "</script><script>alert(1)</script>\n"}
    (place,) = [each for each in told["snapshot"]["state"]["parts"] if each["label"] == "place"]
    assert {each["label"]: each["text"] for each in place["parts"]} == {
        ".x": "6", ".big": str(1 << 60), "['<b>']": "list of 1", ".lost": "nan",
    }  # fmt: skip
    assert "place" in told["changed"]


def test_a_number_is_followed_over_the_run(page: Page) -> None:
    paths = {each["path"]: each["text"] for each in page.read("/api/paths?run=0&tick=3")["paths"]}
    assert (paths["place.x"], paths["place['<b>'][0]"]) == ("6", "1.5")
    assert paths["place.lost"] == "nan"

    told = page.read("/api/values?run=0&path=place.x")

    assert (told["ticks"], told["values"]) == ([0, 1, 2, 3, 4, 5], [0, 2, 4, 6, 8, 10])


def test_a_replay_gives_the_exact_state_and_a_picture(page: Page) -> None:
    for tick in (3, 4, 2):  # on, and back
        told = page.read("/api/replay", {"run": 0, "tick": tick})
        (place,) = [each for each in told["state"]["parts"] if each["label"] == "place"]
        assert (".x", str(2 * tick)) in [(each["label"], each["text"]) for each in place["parts"]]
        (frame,) = told["frames"]
        picture = Image.open(BytesIO(b64decode(frame["png"])))
        assert (frame["name"], picture.size, picture.mode) == ("lamp", (3, 2), "RGB")
        assert picture.getpixel((2, 1)) == (50 * tick,) * 3


def test_the_line_of_each_read_is_found(page: Page) -> None:
    told = page.read("/api/lines", {"run": 0, "tick": 3})["lines"]

    effects = page.read("/api/moment?run=0&tick=3")["effects"]
    assert len(told) == len(effects)
    (line,) = [each for each, read in zip(told, effects, strict=True) if read["strict"]]
    assert (Path(line["file"]).name, line["function"]) == ("program.py", "watch")
    assert dict(line["excerpt"])[line["line"]].strip() == "return time.monotonic()"


def test_a_branch_is_a_run_beside_its_parent(page: Page) -> None:
    body = {"run": 0, "tick": 2, "inputs": {"push": "7"}, "onwards": False}
    made = page.read("/api/branch", body)

    assert Path(made["path"]).name.endswith("-branch-1.twice")
    told = page.read(f"/api/difference?a=0&b={made['run']}")
    assert (told["sentence"], told["tick"]) == ("", 2)
    assert "place" in told["columns"]
    found = page.read("/api/diagnose", {"a": 0, "b": made["run"]})
    (line,) = found["lines"]
    assert "run.input" in line["code"]
    assert line["code"].split()[0] in dict(line["excerpt"])[line["line"]]
    assert {"path": "place.x", "a": "6", "b": "11"} in found["fields"]


@contextmanager
def asked(page: Page, target: str, body: Any) -> Iterator[list[dict[str, Any]]]:
    """Ask on a thread, and wait for the answer at the end of the block."""
    answers = list[dict[str, Any]]()

    def ask() -> None:
        try:
            answers.append(page.read(target, body))
        except OSError as error:  # the block waits for an answer, or for something before it
            answers.append({"happened": f"no answer came: {error!r}"})

    asking = threading.Thread(target=ask)
    asking.start()
    yield answers
    asking.join()


def stop(page: Page, execution: str, answers: list[dict[str, Any]]) -> None:
    """Stop an execution as soon as something runs in it."""
    executions = page.server.executions
    while execution not in [each.execution for each in executions._running if each.end is not None]:
        assert not answers
    assert page.read("/api/stop", {"execution": execution}) == {}


def test_branches_that_are_made_at_once_are_records_of_their_own(page: Page) -> None:
    made = []
    for push in (100, 101):
        body = {"run": 0, "tick": 2, "inputs": {"push": str(push)}}
        with asked(page, "/api/branch", body) as answers:
            made.append((push, answers))
            if push == 100:
                other = {**body, "inputs": {"push": "102"}}
                made.append((102, [page.read("/api/branch", other)]))

    for push, (answer,) in made:
        run = answer["runs"][answer["run"]]
        assert run["path"] == answer["path"]
        told = page.read(f"/api/moment?run={answer['run']}&tick=2")
        assert told["inputs"][0]["text"] == str(push)
    assert len({answers[0]["path"] for _, answers in made}) == 3


def test_a_file_that_comes_while_a_branch_runs_is_left_alone(page: Page) -> None:
    folder = page.server.runs.path_of(0).parent
    path = next(
        path
        for path in (folder / f"a-branch-{number}.twice" for number in range(1, 99))
        if not path.exists()
    )
    body = {"run": 0, "tick": 2, "inputs": {"push": "7"}}
    with asked(page, "/api/branch", body) as answers:
        while not list(folder.glob(".twice-*/branch.twice")):
            assert not answers
        path.write_text("mine")

    assert f"{path.name} is there already" in answers[0]["happened"]
    assert path.read_text() == "mine"
    path.unlink()


def test_a_record_that_was_replaced_is_not_executed(page: Page, tmp_path: Path) -> None:
    path = page.server.runs.path_of(0)
    kept = tmp_path / "kept.twice"
    path.rename(kept)
    with recorded(tmp_path, "def main(run):\n    pass\n") as other:
        other.path.replace(path)
    told = page.read("/api/replay", {"run": 0, "tick": 2})
    shown = page.read("/api/moment?run=0&tick=3")
    kept.replace(path)

    assert "is another run by now" in told["happened"]
    assert shown["inputs"][0]["text"] == "2"


def test_a_record_that_was_cut_in_place_ends_no_server(page: Page) -> None:
    path = page.server.runs.path_of(0)
    content = path.read_bytes()
    path.write_bytes(content[:4000])
    told = page.read("/api/moment?run=0&tick=3")
    path.write_bytes(content)

    assert "was cut while it was shown" in told["happened"]
    assert page.read("/api/moment?run=0&tick=3")["inputs"][0]["text"] == "2"


def test_a_defect_is_an_answer(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> dict[str, Any]:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(page.server.runs, "answer", fail)
    told = page.read("/api/session")

    assert told["happened"] == "twice could not answer this: ZeroDivisionError: by nothing."


def test_a_branch_that_is_stopped_leaves_nothing(page: Page) -> None:
    folder = page.server.runs.path_of(0).parent
    before = sorted(folder.iterdir())
    body = {"run": 0, "tick": 2, "inputs": {"push": "-99"}, "execution": "a"}
    with asked(page, "/api/branch", body) as answers:
        while not list(folder.glob(".twice-*/branch.twice")):
            assert not answers
        stop(page, "a", answers)

    assert "twice branch gave no answer: it was stopped on the page" in answers[0]["happened"]
    assert answers[0]["remedy"].startswith("Run it by hand: twice branch ")
    assert sorted(folder.iterdir()) == before


def test_a_diagnosis_and_a_replay_are_stopped_by_their_names(page: Page) -> None:
    commands = {"/api/diagnose": {"a": 0, "b": 0}, "/api/replay": {"run": 0, "tick": 5}}
    for target, body in commands.items():
        with asked(page, target, {**body, "execution": target}) as answers:
            stop(page, target, answers)
        assert "it was stopped on the page" in answers[0]["happened"]
    # The next replay has a process of its own.
    assert "state" in page.read("/api/replay", {"run": 0, "tick": 5})


@pytest.mark.parametrize(
    ("target", "body", "words"),
    [
        ("/api/moment?run=0&tick=99", None, "tick is 99"),
        ("/api/moment?run=7&tick=1", None, "run is 7"),
        ("/api/moment?run=0", None, "tick is None"),
        ("/api/timeline?run=0&from=4&to=2", None, "to is 2"),
        ("/api/values?run=0&path=nothing", None, "path is 'nothing'"),
        ("/api/else", None, "question is 'else'"),
        ("/api/branch", {"run": 0}, "branch was asked for"),
        ("/api/branch", [], "branch was asked for"),
        ("/api/lines", {"run": 0}, "lines was asked for"),
        ("/api/lines", {"run": 0, "tick": 99}, "Tick 99"),
        ("/api/branch", {"run": 0, "tick": 2, "inputs": {"pull": "1"}}, "pull"),
        ("/api/remove", {}, "'remove' was asked for"),
        ("/api/stop", {}, "stop was asked for"),
        ("/api/branch", {"run": 0, "tick": 2, "inputs": {"push": "False"}}, "no value of TOML"),
    ],
)
def test_what_makes_no_sense_is_one_error(page: Page, target: str, body: Any, words: str) -> None:
    told = page.read(target, body)

    assert words in told["happened"]
    assert told["id"].startswith("E-")
    assert told["remedy"]
