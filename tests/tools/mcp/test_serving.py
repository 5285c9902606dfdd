"""Sessions over the Model Context Protocol, with the SDK's own client over both transports."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
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
from twice.tools.mcp import timed_protocol, transports
from twice.tools.mcp.transports import is_this_machine, require_token

COUNTING = f"{Path(__file__).parents[1] / 'worker' / 'counting_tools.py'}:registry"


def server(out: Path, *options: str, **env: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "twice", "tools", "serve", COUNTING, "-o", str(out), *options],
        env={**os.environ, **env},
    )


async def called(client: Client, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the outcome of each call: its result, or the code of its error."""
    found = []
    for tool, arguments in calls:
        answer = await client.call_tool(tool, arguments)
        envelope = answer.structured_content
        assert envelope is not None
        assert answer.is_error is not envelope["ok"]
        found.append(envelope["result"] if envelope["ok"] else envelope["error"]["code"])
    return found


CALLS = (
    ("add", {"n": 2}),
    ("draw", {}),
    ("draw", {"seed": "x"}),
    ("add", {"n": True}),
    ("nope", {}),
    ("die", {}),
    ("twice_add", {"n": 4}),
)


@pytest.mark.heavy
def test_two_servers_in_other_surroundings_answer_alike(tmp_path: Path) -> None:
    async def session(out: Path, **env: str) -> tuple[list[Any], list[Any]]:
        async with Client(server(out, "--session-seed", "7", **env)) as client:
            listed = (await client.list_tools()).tools
            told = [
                [each.name, each.input_schema, each.output_schema, each.meta] for each in listed
            ]
            return told, await called(client, *CALLS)

    one = anyio.run(lambda: session(tmp_path / "a.twice", PYTHONHASHSEED="1"))
    other = anyio.run(lambda: session(tmp_path / "b.twice", PYTHONHASHSEED="2", TZ="Asia/Tokyo"))

    assert one == other
    assert one[1][0] == 2
    assert one[1][2:] == [
        "invalid_arguments",
        "invalid_arguments",
        "not_found",
        "execution_failed",
        10,
    ]
    assert all(
        name in meta for *_, meta in one[0] for name in ("twice/determinism", "twice/fingerprint")
    )
    assert [verify(tmp_path / f"{name}.twice").result for name in "ab"] == ["PASS", "PASS"]


@pytest.mark.integration
def test_requirements_and_progress_go_through(tmp_path: Path) -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(fraction: float, total: float | None, text: str | None) -> None:
        assert total == 1.0
        told.append((fraction, text))

    async def session() -> Any:
        async with Client(server(tmp_path / "a.twice", "--session-seed", "7")) as client:
            await client.call_tool("steps", {"count": 2}, progress_callback=progress)
            answer = await client.call_tool("draw", {}, meta={"twice/require": "deterministic"})
            return answer.structured_content

    refused = anyio.run(session)

    assert refused["error"]["code"] == "nondeterministic_refused"
    assert told == [(0.0, "step 0"), (0.5, "step 1")]


@pytest.mark.integration
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_told_to_stop_finishes_its_record(
    told: signal.Signals, tmp_path: Path
) -> None:
    out = tmp_path / "a.twice"
    process = subprocess.Popen(
        [sys.executable, "-m", "twice", "tools", "serve", COUNTING, "-o", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {**hello, "clientInfo": {"name": "a client", "version": "1"}},
    }
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    assert b"serverInfo" in process.stdout.readline()

    process.send_signal(told)

    assert process.wait(60) == 0
    assert verify(out).result == "PASS"
    process.communicate()


@contextlib.contextmanager
def served(*options: str) -> Iterator[str]:
    """Start a server over HTTP, and yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "twice", "tools", "serve", COUNTING, *options],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
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


@pytest.mark.integration
def test_over_http_on_this_machine(tmp_path: Path) -> None:
    async def session(url: str) -> list[Any]:
        async with Client(url) as client:
            return await called(client, *CALLS)

    out = tmp_path / "a.twice"
    with served("--http", "127.0.0.1:0", "-o", str(out), "--session-seed", "7") as url:
        given = anyio.run(lambda: session(url))
        elsewhere = httpx.post(url, headers={"Origin": "http://evil.example"}, json={})

    assert given[0] == 2
    assert given[-1] == 10
    assert elsewhere.status_code in {400, 403, 421}
    assert verify(out).result == "PASS"


@pytest.mark.integration
def test_a_token_is_asked_for(tmp_path: Path) -> None:
    token = "s" * 32
    (tmp_path / "token.txt").write_text(token + "\n", "utf-8")

    async def session(url: str) -> list[Any]:
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx_client(token) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await called(client, ("add", {"n": 1}))

    @contextlib.asynccontextmanager
    async def httpx_client(bearer: str) -> AsyncIterator[Any]:
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with create_mcp_http_client(headers={"Authorization": f"Bearer {bearer}"}) as http:
            yield http

    with served("--http", "127.0.0.1:0", "--token-file", str(tmp_path / "token.txt")) as url:
        without = httpx.post(url, json={})
        wrong = httpx.post(url, json={}, headers={"Authorization": f"Bearer {token[:-1]}"})
        assert anyio.run(lambda: session(url)) == [1]

    assert (without.status_code, wrong.status_code) == (401, 401)
    assert without.headers["www-authenticate"] == "Bearer"


@pytest.mark.integration
def test_strangers_are_kept_out_before_anything_starts(tmp_path: Path) -> None:
    open_to_all = cli("tools", "serve", COUNTING, "--http", "0.0.0.0:0", cwd=tmp_path)
    nowhere = cli("tools", "serve", COUNTING, "--http", "8931", cwd=tmp_path)

    assert (open_to_all.returncode, nowhere.returncode) == (2, 2)
    assert "--token-file" in open_to_all.stderr
    assert "127.0.0.1:8931" in nowhere.stderr
    with pytest.raises(UsageError, match="bytes"):
        require_token("127.0.0.1", "short")
    assert [is_this_machine(each) for each in ("localhost", "127.0.0.1", "::1")] == [True] * 3
    assert [is_this_machine(each) for each in ("", "0.0.0.0", "::", "example.org")] == [False] * 4


@pytest.mark.integration
def test_a_port_that_is_taken_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        done = cli("tools", "serve", COUNTING, "--http", place, "-o", "a.twice", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001")
    assert "cannot be listened at" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
@pytest.mark.heavy
def test_large_arguments_get_an_envelope_over_http_too() -> None:
    async def session(url: str) -> list[Any]:
        async with Client(url) as client:
            text = "x" * (5 << 20)
            return await called(client, ("add", {"n": text}), ("add", {"n": 4 * text}))

    with served("--http", "127.0.0.1:0") as url:
        assert anyio.run(lambda: session(url)) == ["invalid_arguments", "contract_violation"]


@pytest.mark.integration
def test_a_line_without_end_is_cut_and_the_session_goes_on(tmp_path: Path) -> None:
    parameters = server(tmp_path / "a.twice")
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        for _ in range(20):
            served.stdin.write("x" * (1 << 20))
        served.stdin.write("\n" + json.dumps(_greeting()) + "\n")
        served.stdin.flush()
        while (answer := json.loads(served.stdout.readline())).get("id") != 7:
            pass
        served.stdin.close()

    assert answer["result"]["serverInfo"]["name"]


def _greeting() -> dict[str, Any]:
    """Return the first message of a client."""
    told = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": told}


def test_a_line_is_cut_wherever_its_pieces_end() -> None:
    short = transports._ShortLines(4)

    pieces = [short.cut(data) for data in (b"abc", b"def\r", b"gh\n12", b"34\n\n56789\n", b"")]

    assert b"".join(pieces) == b"abcd\n1234\n\n5678\n"


@pytest.mark.parametrize("sent", [b"POST /mcp HT", b"GET / HTTP/1.1\r\nHost: a\r\nX: "])
def test_a_request_whose_head_never_ends_is_hung_up_on(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_protocol, "HEAD_SECONDS", 0.05)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def tried() -> bytes:
        config = uvicorn.Config(application, http=timed_protocol.TimedProtocol, lifespan="off")
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        served = await loop.create_server(
            lambda: timed_protocol.TimedProtocol(config, state, {}), "127.0.0.1", 0
        )
        async with served:
            reader, writer = await asyncio.open_connection(*served.sockets[0].getsockname())
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
    strict = ("--verified", str(tmp_path / "there.json"), "--contract", '{"level": "perturbed"}')
    without = strict[2:]

    async def session(out: Path, *options: str) -> list[Any]:
        async with Client(server(out, "--session-seed", "7", *options)) as client:
            return await called(client, ("add", {"n": 1}), ("draw", {}))

    out = tmp_path / "a.twice"
    assert made.returncode == 0
    assert anyio.run(lambda: session(out, *strict)) == [1, "nondeterministic_refused"]
    assert (
        anyio.run(lambda: session(tmp_path / "b.twice", *without))
        == ["nondeterministic_refused"] * 2
    )
    assert verify(out).result == "PASS"
