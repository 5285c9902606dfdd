"""A WSGI application is recorded behind a real server and replayed without any."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import HANGS_AFTER_S, environ, recorded, wait_until, write
from twice.errors import UsageError
from twice.integrations.services import HttpRequest
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

APPLICATION = """
    import os, random, socketserver, sys, threading, time, urllib.error, urllib.request
    from pathlib import Path
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
    from wsgiref.validate import validator
    from twice.integrations import wsgi

    visits = {}

    def application(environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/broken":
            raise ValueError("no such shelf")
        visits[path] = visits.get(path, 0) + 1
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        answer = f"{visits[path]} {environ['QUERY_STRING']} {body!r} {time.time()} {random.random()}"
        answer += f" {os.urandom(4).hex()} {environ.get('HTTP_AUTHORIZATION', '')}"
        start_response("200 OK", [("Content-Type", "text/plain"), ("X-Visits", str(visits[path]))])
        return [answer.encode()]

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args):
            pass

    class Threaded(socketserver.ThreadingMixIn, WSGIServer):
        pass

    def ask(url, **options):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, **options)) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            return str(error.code)

    def start(service):
        with Path("started").open("a") as file:
            file.write("once ")
        server = make_server("127.0.0.1", 0, validator(service), Threaded, Quiet)
        url = f"http://127.0.0.1:{server.server_port}"

        def client():
            answers = asked(url)
            Path("answers").write_text(repr(answers))
            server.shutdown()

        threading.Thread(target=client).start()
        server.serve_forever()
        server.server_close()
"""

SHOP = (
    APPLICATION
    + """
    def asked(url):
        return [
            ask(f"{url}/a?x=1"), ask(f"{url}/a", data=b"hello", method="PUT"), ask(f"{url}/broken"),
            ask(f"{url}/b", headers={"X-Twice": "1"}),
        ]

    def main(run):
        run.track("visits", visits)
        wsgi.record(application, run, name="shop").serve(start)
        print(visits)
    """
)


def inputs(record: RunRecord) -> list[dict[str, Any]]:
    return [one.value for one in record.inputs()]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.integration
def test_requests_are_inputs_and_a_replay_starts_no_server(tmp_path: Path) -> None:
    with recorded(tmp_path, SHOP) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
        requests = inputs(record)
    answers = eval((tmp_path / "answers").read_text())

    assert [(one["method"], one["path"], one["query"]) for one in requests] == [
        ("GET", "/a", "x=1"), ("PUT", "/a", ""), ("GET", "/broken", ""), ("GET", "/b", ""),
    ]  # fmt: skip
    assert requests[1]["body"] == b"hello"
    assert ("x-twice", "1") in requests[3]["headers"]
    assert answers[2] == "500"
    assert answers[1].startswith(b"2  b'hello' ")
    for _ in range(2):
        assert verify(tmp_path / "a.twice").result == "PASS"
    assert (tmp_path / "started").read_text() == "once "


@pytest.mark.integration
def test_an_application_that_changed_fails_at_its_response(tmp_path: Path) -> None:
    recorded(tmp_path, SHOP).close()
    write(tmp_path, SHOP.replace("str(visits[path]))])", "str(visits[path] + 1))])"))

    statement = verify(tmp_path / "a.twice", informational=True)

    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.tick, statement.failure.name) == (0, "shop/response")


@pytest.mark.integration
def test_a_branch_asks_another_request(tmp_path: Path) -> None:
    recorded(tmp_path, SHOP).close()
    other = {"method": "GET", "path": "/other", "headers": [["host", "a"]]}

    with twice.branch(
        tmp_path / "a.twice", at=1, inputs={"shop/request": other}, out=tmp_path / "b.twice"
    ) as branch:
        assert [one["path"] for one in inputs(branch)] == ["/a", "/other", "/broken", "/b"]
        assert branch.ending is not None
        assert branch.ending["how"] == "completed"
    assert (tmp_path / "started").read_text() == "once "


@pytest.mark.integration
def test_requests_that_overlap_are_answered_one_at_a_time(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        answers = []
        gate = threading.Barrier(6)

        def one(number):
            gate.wait()
            answers.append(ask(f"{url}/a?{number}"))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(int(one.split()[0]) for one in answers)

    def main(run):
        run.track("visits", visits)
        wsgi.record(application, run).serve(start)
    """
    )
    recorded(tmp_path, program).close()

    assert eval((tmp_path / "answers").read_text()) == [1, 2, 3, 4, 5, 6]
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
def test_a_number_of_requests_ends_the_service_and_the_next_is_refused(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        return [ask(f"{url}/a"), ask(f"{url}/a"), ask(f"{url}/a")]

    def main(run):
        over = threading.Event()
        def begin(service):
            start(service)
            over.set()
        wsgi.record(application, run).serve(begin, requests=2, stop=over.wait)
        print(visits)
    """
    )
    with recorded(tmp_path, program) as record:
        assert len(inputs(record)) == 2
    answers = eval((tmp_path / "answers").read_text())

    assert answers[2] == "503"
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
def test_a_secret_of_a_request_is_not_in_the_record(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        secret = "Bearer " + "".join(["tokn", "7f3a9", "c2e81", "b64d0"])
        return [ask(f"{url}/a", headers={"Authorization": secret})]

    def main(run):
        wsgi.record(application, run).serve(start)
    """
    )
    with recorded(tmp_path, program) as record:
        (request,) = inputs(record)
        assert record.ending is not None
        assert any("blanked" in one for one in record.ending["caveats"])

    assert "tokn7f3a9c2e81b64d0" in (tmp_path / "answers").read_text()
    assert dict(request["headers"])["authorization"] == "Bearer " + "*" * 19
    assert "tokn7f3a9c2e81b64d0" not in repr(request)


@pytest.mark.integration
def test_a_server_that_fails_fails_the_run(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def fails(service):
        raise RuntimeError("the port is taken")

    def main(run):
        wsgi.record(application, run).serve(fails)
    """
    )
    with recorded(tmp_path, program) as record:
        assert record.ending is not None
        assert "the port is taken" in str(record.ending)
    assert verify(tmp_path / "a.twice").result == "PASS"


def test_a_request_survives_its_plain_form() -> None:
    request = HttpRequest("GET", "/é", "a=%20", (("host", "a"), ("x", "1"), ("x", "2")), b"\0\xff")

    assert HttpRequest.of(request.plain()) == request


@pytest.mark.parametrize("value", [None, 3, {"method": "GET"}, {"nonsense": 1}, "GET /"])
def test_what_is_no_request_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="no request"):
        HttpRequest.of(value)


SERVICE = (
    APPLICATION
    + """
    def begin(service):
        server = make_server("127.0.0.1", 0, service, Threaded, Quiet)
        Path("port.new").write_text(str(server.server_port))
        Path("port.new").rename("port")
        server.serve_forever()

    def main(run):
        wsgi.record(application, run).serve(begin)
        print("served", visits)
    """
)


def served_once(folder: Path) -> subprocess.Popen[bytes]:
    """Record a service on the command line that has answered one request."""
    command = [sys.executable, "-m", "twice", "record", write(folder, SERVICE), "--seed", "1"]
    process = subprocess.Popen(
        [*command, "-o", "a.twice"], cwd=folder, env=environ(), start_new_session=True
    )
    wait_until((folder / "port").exists, process)
    url = f"http://127.0.0.1:{(folder / 'port').read_text()}/a"
    with urllib.request.urlopen(url) as response:
        assert response.read().startswith(b"1 ")
    return process


@pytest.mark.integration
@pytest.mark.heavy
def test_one_keystroke_ends_a_service_and_its_record_is_whole(tmp_path: Path) -> None:
    process = served_once(tmp_path)

    # As a terminal does: everyone in the group gets it, and the recorder passes it on once more.
    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(HANGS_AFTER_S) == 0
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
@pytest.mark.heavy
def test_a_service_whose_recorder_is_killed_ends_and_its_record_is_whole(tmp_path: Path) -> None:
    process = served_once(tmp_path)

    process.kill()
    process.wait()
    pause = threading.Event()
    for _ in range(600):
        with RunRecord.open(tmp_path / "a.twice") as record:
            if record.complete:
                break
        pause.wait(0.1)

    assert verify(tmp_path / "a.twice").result == "PASS"
