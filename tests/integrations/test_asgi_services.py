"""An ASGI application is recorded behind a real server and replayed without any."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice.errors import EffectRefused
from twice.integrations.asgi import read_request, respond
from twice.integrations.services import HttpRequest
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[dev]'")

APPLICATION = """
    import asyncio, http.client, os, random, threading, time, urllib.error, urllib.request
    from pathlib import Path
    import uvicorn
    from twice.integrations import asgi

    visits = {}

    async def application(scope, receive, send):
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            scope["state"]["started"] = time.time()
            await send({"type": "lifespan.startup.complete"})
            assert (await receive())["type"] == "lifespan.shutdown"
            print("shut down", visits)
            return await send({"type": "lifespan.shutdown.complete"})
        path = scope["path"]
        if path == "/broken":
            raise ValueError("no such shelf")
        visits[path] = visits.get(path, 0) + 1
        body = (await receive())["body"]
        await asyncio.sleep(0.001)
        answer = f"{visits[path]} {scope['query_string']} {body!r} {time.time()} {random.random()}"
        answer += f" {os.urandom(4).hex()} {scope['state']['started']}"
        headers = [(b"content-type", b"text/plain"), (b"x-visits", str(visits[path]).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer.encode(), "more_body": True})
        await send({"type": "http.response.body"})

    def ask(url, **options):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, **options)) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            return str(error.code)

    def start(service):
        with Path("started").open("a") as file:
            file.write("once ")
        config = uvicorn.Config(service, port=0, access_log=False, log_level="critical")
        server = uvicorn.Server(config)

        def client():
            while not server.started:
                time.sleep(0.005)
            url = "http://%s:%d" % server.servers[0].sockets[0].getsockname()
            try:
                Path("answers").write_text(repr(asked(url)))
            finally:
                server.should_exit = True

        threading.Thread(target=client).start()
        server.run()

    def main(run):
        run.track("visits", visits)
        asgi.record(application, run, name="shop").serve(start)
"""


def requests_of(record: RunRecord) -> list[dict[str, Any]]:
    assert record.ending is not None
    assert record.ending["how"] == "completed", record.ending
    return [one.value for one in record.inputs()]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.integration
def test_a_service_behind_uvicorn_replays_without_it(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        return [
            ask(f"{url}/a?x=1"), ask(f"{url}/a", data=b"hello" * 50_000), ask(f"{url}/broken"),
            ask(f"{url}/b", headers={"X-Twice": "1"}),
        ]
    """
    )
    with recorded(tmp_path, program) as record:
        requests = requests_of(record)
        assert b"shut down {'/a': 2, '/b': 1}" in record.printed()[0]
    answers = eval((tmp_path / "answers").read_text())

    assert [one["path"] for one in requests] == ["/a", "/a", "/broken", "/b"]
    assert requests[1]["body"] == b"hello" * 50_000
    assert answers[0].startswith(b"1 b'x=1' b''")
    assert answers[2] == "500"
    for _ in range(2):
        assert verify(tmp_path / "a.twice").result == "PASS"
    assert (tmp_path / "started").read_text() == "once "


@pytest.mark.integration
def test_overlapping_requests_are_answered_one_at_a_time(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        answers, gate = [], threading.Barrier(6)

        def one(number):
            gate.wait()
            answers.append(int(ask(f"{url}/a?{number}").split()[0]))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(answers)
    """
    )
    recorded(tmp_path, program).close()

    assert eval((tmp_path / "answers").read_text()) == [1, 2, 3, 4, 5, 6]
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
def test_a_websocket_is_closed_and_the_service_goes_on(tmp_path: Path) -> None:
    program = (
        APPLICATION
        + """
    def asked(url):
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        connection.request("GET", "/live", headers={
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        })
        status = connection.getresponse().status
        connection.close()
        return [status, ask(f"{url}/a")]
    """
    )
    with recorded(tmp_path, program) as record:
        requests = requests_of(record)
    status, after = eval((tmp_path / "answers").read_text())

    # Without a WebSocket library uvicorn serves the request as a plain one.
    assert (status, len(requests)) in {(403, 1), (200, 2)}
    assert after.startswith(b"1 ")
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
def test_an_application_without_lifespan_and_with_a_background_task(tmp_path: Path) -> None:
    program = """
    import asyncio, os
    from twice.integrations import asgi

    log, tasks = [], []

    async def later(number):
        await asyncio.sleep(0)
        log.append((number, os.urandom(2).hex()))

    async def application(scope, receive, send):
        assert scope["type"] == "http", "only http"
        tasks.append(asyncio.create_task(later(len(tasks))))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        await asyncio.sleep(0)

    def start(service):
        async def ask():
            async def receive():
                return {"type": "http.request", "body": b""}

            async def send(message):
                pass

            scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
            for _ in range(3):
                await service(scope, receive, send)

        asyncio.run(ask())

    def main(run):
        run.track("log", log)
        asgi.record(application, run).serve(start)
        print(len(log))
    """
    with recorded(tmp_path, program) as record:
        assert len(requests_of(record)) == 3
    assert verify(tmp_path / "a.twice").result == "PASS"


def test_a_message_that_is_not_recorded_is_refused_by_name() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.trailers", "headers": []})

    with pytest.raises(EffectRefused, match=r"'http\.response\.trailers', which is not recorded"):
        asyncio.run(respond(application, HttpRequest.of({"method": "GET", "path": "/"}), {}))


@pytest.mark.parametrize(
    ("sent", "recorded"), [(b"/a%2Fb", {"raw_path": "/a%2Fb"}), (b"/a/b", {}), (None, {})]
)
def test_an_application_is_given_the_path_as_it_was_sent(
    sent: bytes | None, recorded: dict[str, str]
) -> None:
    scope = {"type": "http", "method": "GET", "path": "/a/b", "raw_path": sent, "headers": []}
    seen: dict[str, Any] = {}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})

    async def ask() -> dict[str, Any]:
        plain = (await read_request(scope, receive)).plain()
        await respond(application, HttpRequest.of(plain), {})
        return plain

    plain = asyncio.run(ask())

    assert {name: plain[name] for name in plain if name == "raw_path"} == recorded
    assert seen["raw_path"] == (sent or b"/a/b")
