"""Sessions over the Model Context Protocol, with the SDK's own client and with clients that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from uvicorn.server import ServerState

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx
from mcp import Client, StdioServerParameters

from programs import cli
from twice.errors import UsageError
from twice.replayer.verify import verify
from twice.tools.mcp import server as protocol
from twice.tools.mcp import transports
from twice.tools.mcp.server import build_server
from twice.tools.mcp.transports import is_this_machine, require_token
from twice.tools.worker.host import HostedSession

COUNTING = f"{Path(__file__).parents[1] / 'worker' / 'counting_tools.py'}:registry"
SERVE = [sys.executable, "-m", "twice", "tools", "serve", COUNTING]
CALLS = (
    ("add", {"n": 2}),
    ("draw", {}),
    ("draw", {"seed": "x"}),
    ("add", {"n": True}),
    ("nope", {}),
    ("die", {}),
    ("twice_add", {"n": 4}),
)
OUTCOMES = ["invalid_arguments", "invalid_arguments", "not_found", "execution_failed", 10]
GREETING: dict[str, Any] = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"},
}  # fmt: skip


async def call(client: Client, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the outcome of each call: its result, or the code of its error."""
    found = []
    for tool, arguments in calls:
        answer = await client.call_tool(tool, arguments)
        envelope = answer.structured_content
        assert envelope is not None
        assert answer.is_error is not envelope["ok"]
        found.append(envelope["result"] if envelope["ok"] else envelope["error"]["code"])
    return found


@contextlib.contextmanager
def spoken(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Start a server that a test speaks to line by line."""
    with subprocess.Popen(
        [*SERVE, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[str], *lines: str) -> dict[str, Any]:
    """Send lines, and return the next answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def request(number: int, method: str, params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


@contextlib.contextmanager
def served(*options: str) -> Iterator[str]:
    """Start a server over HTTP, and yield its address."""
    process = subprocess.Popen(
        [*SERVE, *options], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("serving http://"), line + process.stderr.read()
        yield line.split()[1]
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


@pytest.mark.heavy
def test_two_servers_in_other_surroundings_answer_alike(tmp_path: Path) -> None:
    async def session(name: str, **env: str) -> tuple[list[Any], list[Any]]:
        options = [*SERVE[1:], "-o", str(tmp_path / name), "--session-seed", "7"]
        parameters = StdioServerParameters(
            command=SERVE[0], args=options, env={**os.environ, **env}
        )
        async with Client(parameters) as client:
            listed = (await client.list_tools()).tools
            told = [
                [each.name, each.input_schema, each.output_schema, each.meta] for each in listed
            ]
            return told, await call(client, *CALLS)

    one = anyio.run(lambda: session("a.twice", PYTHONHASHSEED="1"))
    other = anyio.run(lambda: session("b.twice", PYTHONHASHSEED="2", TZ="Asia/Tokyo"))

    assert one == other
    assert [one[1][0], *one[1][2:]] == [2, *OUTCOMES]
    assert all({"twice/determinism", "twice/fingerprint"} <= meta.keys() for *_, meta in one[0])
    assert [verify(tmp_path / f"{name}.twice").result for name in "ab"] == ["PASS", "PASS"]


@pytest.mark.integration  # the worker is a process
def test_requirements_and_progress_go_through(tmp_path: Path) -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(fraction: float, total: float | None, text: str | None) -> None:
        assert total == 1.0
        told.append((fraction, text))

    async def session(hosted: HostedSession) -> Any:
        async with Client(build_server(hosted, "counting")) as client:
            await client.call_tool("steps", {"count": 2}, progress_callback=progress)
            answer = await client.call_tool("draw", {}, meta={"twice/require": "deterministic"})
            hosted.close()
            return answer.structured_content, await call(client, ("add", {"n": 1}))

    with HostedSession(COUNTING, tmp_path / "a.twice", offer={"session_seed": 7}) as hosted:
        refused, closed = anyio.run(session, hosted)

    assert refused["error"]["code"] == "nondeterministic_refused"
    assert told == [(0.0, "step 0"), (0.5, "step 1")]
    assert closed == ["internal_error"]


@pytest.mark.integration
def test_a_client_that_takes_no_progress_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_PROGRESS_S", 0.01)

    async def hang(fraction: float, total: float | None, text: str | None) -> None:
        await anyio.sleep_forever()

    async def session(hosted: HostedSession) -> Any:
        async with Client(build_server(hosted, "counting")) as client:
            with anyio.move_on_after(0.1):
                await client.call_tool("steps", {"count": 3}, progress_callback=hang)
        async with Client(build_server(hosted, "counting")) as client:
            return await call(client, ("add", {"n": 0}))

    with HostedSession(COUNTING, tmp_path / "a.twice") as hosted:
        assert anyio.run(session, hosted)[0] in {0, 3}


@pytest.mark.integration  # what a client sends over a pipe, and how the server ends
def test_garbage_gets_one_answer_each_and_the_session_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "a.twice"
    with spoken("-o", str(out)) as process:
        assert "serverInfo" in say(process, request(1, "initialize", GREETING))["result"]
        started = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        codes = [
            say(process, *lines)["error"]["code"]
            for lines in (
                (started, request(2, "nonsense/method", {})),
                (request(3, "tools/call", {"name": "add", "arguments": [1]}),),
                (request(4, "tools/call", {"arguments": {}}),),
            )
        ]
        long = "x" * (40 << 20)
        answer = say(
            process, "no json", "[1, 2", "\x00", long, request(5, "tools/call", {"name": "add"})
        )
        while answer.get("id") != 5:  # some versions of the SDK answer what is no message
            answer = say(process)
        last = say(process, request(6, "tools/call", {"name": "add", "arguments": {"n": 1}}))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    assert codes == [-32601, -32602, -32602]
    assert answer["result"]["structuredContent"]["error"]["code"] == "invalid_arguments"
    assert last["result"]["structuredContent"]["result"] == 1
    assert verify(out).result == "PASS"


@pytest.mark.integration
@pytest.mark.heavy
def test_a_client_that_reads_nothing_does_not_keep_the_server_from_ending() -> None:
    with spoken() as process:
        say(process, request(1, "initialize", GREETING))
        assert process.stdin is not None
        for number in range(200):  # the answers are more than a pipe holds
            process.stdin.write(request(number + 2, "tools/list", {}) + "\n")
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_lines_are_cut_wherever_their_pieces_end() -> None:
    async def read(descriptor: int) -> list[str]:
        return [line async for line in transports.Lines(descriptor, 4)]

    ours, theirs = os.pipe()
    os.write(theirs, b"abcdef\r\n12\n\n56789\nx\xff")
    os.close(theirs)
    found = anyio.run(read, ours)
    os.close(ours)

    assert found == ["abcd", "12", "", "5678", "x\ufffd"]


@pytest.mark.integration
def test_over_http_on_this_machine(tmp_path: Path) -> None:
    async def session(url: str) -> list[Any]:
        async with Client(url) as client:
            return await call(client, *CALLS)

    out = tmp_path / "a.twice"
    with served("--http", "127.0.0.1:0", "-o", str(out), "--session-seed", "7") as url:
        found = anyio.run(lambda: session(url))
        elsewhere = httpx.post(url, headers={"Origin": "http://evil.example"}, json={})

    assert [found[0], *found[2:]] == [2, *OUTCOMES]
    assert elsewhere.status_code in {400, 403, 421}
    assert verify(out).result == "PASS"


@pytest.mark.heavy
def test_large_arguments_get_an_envelope_over_http_too() -> None:
    async def session(url: str) -> list[Any]:
        async with Client(url) as client:
            text = "x" * (5 << 20)
            return await call(client, ("add", {"n": text}), ("add", {"n": 4 * text}))

    with served("--http", "127.0.0.1:0") as url:
        assert anyio.run(lambda: session(url)) == ["invalid_arguments", "contract_violation"]


@pytest.mark.integration
def test_a_token_is_asked_for(tmp_path: Path) -> None:
    token = "s" * 32
    bearers = [None, f"Bearer {token[:-1]}", f"Bearer {token}"]
    (tmp_path / "token.txt").write_text(token + "\n", "utf-8")

    with served("--http", "127.0.0.1:0", "--token-file", str(tmp_path / "token.txt")) as url:
        answers = [
            httpx.post(
                url,
                headers={"Accept": "application/json, text/event-stream"}
                | ({} if each is None else {"Authorization": each}),
                json=json.loads(request(1, "initialize", GREETING)),
            )
            for each in bearers
        ]

    assert [each.status_code for each in answers] == [401, 401, 200]
    assert answers[0].headers["www-authenticate"] == "Bearer"


@pytest.mark.integration
def test_strangers_and_taken_ports_are_refused_before_anything_starts(tmp_path: Path) -> None:
    open_to_all = cli("tools", "serve", COUNTING, "--http", "0.0.0.0:0", cwd=tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        occupied = cli("tools", "serve", COUNTING, "--http", place, "-o", "a.twice", cwd=tmp_path)

    assert (open_to_all.returncode, occupied.returncode) == (2, 2)
    assert "--token-file" in open_to_all.stderr
    assert "cannot be listened at" in occupied.stderr
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="bytes"):
        require_token("127.0.0.1", "short")
    assert [is_this_machine(each) for each in ("localhost", "127.0.0.1", "::1")] == [True] * 3
    assert [is_this_machine(each) for each in ("", "0.0.0.0", "::", "example.org")] == [False] * 4


@pytest.mark.parametrize("sent", [b"POST /mcp HT", b"GET / HTTP/1.1\r\nHost: a\r\nX: "])
def test_a_request_whose_head_never_ends_is_hung_up_on(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "HEAD_SECONDS", 0.05)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def tried() -> bytes:
        config = uvicorn.Config(application, http=transports.TimedProtocol, lifespan="off")
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(
            lambda: transports.TimedProtocol(config, state, {}), "127.0.0.1", 0
        )
        async with listening:
            reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            answered = await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            assert await reader.read() == b""
            writer.close()
            return answered

    assert asyncio.run(asyncio.wait_for(tried(), 30)).startswith(b"HTTP/1.1 204")


@pytest.mark.heavy
def test_a_served_session_takes_its_levels_from_a_verification(tmp_path: Path) -> None:
    made = cli("tools", "verify", COUNTING, "add", "-o", "there.json", cwd=tmp_path)
    offer = ("--contract", '{"level": "perturbed"}', "--session-seed", "7")

    async def session(*options: str) -> list[Any]:
        parameters = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *offer, *options])
        async with Client(parameters) as client:
            return await call(client, ("add", {"n": 1}), ("draw", {}))

    assert made.returncode == 0
    found = anyio.run(session, "--verified", str(tmp_path / "there.json"))
    assert found == [1, "nondeterministic_refused"]
    assert anyio.run(session) == ["nondeterministic_refused"] * 2
