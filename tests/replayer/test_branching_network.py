"""Connections of a branch: answered by the record up to the fork, by the world past it."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from httpservers import Counting, serving
from programs import recorded
from twice.errors import EffectRefused
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

BLOCKING = """
import http.client, ssl

def main(run):
    context = ssl.create_default_context(cafile=CA) if CA else None
    connection = (
        http.client.HTTPSConnection("127.0.0.1", PORT, context=context)
        if CA else http.client.HTTPConnection("127.0.0.1", PORT)
    )
    for tick in run.ticks(4):
        word = run.input("word", lambda: "said %d" % tick)
        connection.request("POST", "/ask", body=word.encode())
        print(connection.getresponse().read().decode())
    connection.close()
"""

LOOP = """
import asyncio, ssl

async def ask(reader, writer, word):
    writer.write(b"POST /ask HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(word))
    writer.write(word.encode())
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    size = int(head.lower().split(b"content-length: ")[1].split()[0])
    return (await reader.readexactly(size)).decode()

async def talk(run):
    context = ssl.create_default_context(cafile=CA) if CA else None
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT, ssl=context)
    for tick in run.ticks(4):
        word = run.input("word", lambda: "said %d" % tick)
        print(await asyncio.wait_for(ask(reader, writer, word), 30))
    writer.close()

def main(run):
    asyncio.run(talk(run))
"""


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def printed(folder: Path, name: str) -> list[str]:
    verification = verify(folder / name)
    assert verification.result == "PASS", verification.to_markdown()
    with RunRecord.open(folder / name) as record:
        return record.printed()[0].decode().splitlines()


@pytest.mark.parametrize("word", ["something longer", "tiny", "diff 1"])
@pytest.mark.parametrize(
    ("source", "encrypted"),
    [
        pytest.param(BLOCKING, False, id="blocking"),
        pytest.param(BLOCKING, True, id="blocking TLS"),
        pytest.param(LOOP, False, id="loop"),
        # May wait for ever: docs/internals/plan.md, "A PASS means what it says", 4.
        pytest.param(LOOP, True, id="loop TLS", marks=pytest.mark.heavy),
    ],
)
@pytest.mark.sample(3)
def test_a_connection_goes_on_with_the_world_past_the_fork(
    tmp_path: Path, authority: trustme.CA, source: str, word: str, *, encrypted: bool
) -> None:
    context = None
    if encrypted:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    source = source.replace("CA", repr(str(tmp_path / "ca.pem")) if encrypted else "None")
    with serving(context) as server:
        recorded(tmp_path, source.replace("PORT", str(server.port))).close()
        branch(tmp_path / "a.twice", at=1, inputs={"word": word}, out=tmp_path / "b.twice").close()
        asked = server.requests

    assert asked > 4
    before = printed(tmp_path, "a.twice")
    after = printed(tmp_path, "b.twice")
    assert before == [f"{tick + 1}:/ask:said {tick}" for tick in range(4)]
    assert after[0] == before[0], "before the fork nobody is asked again"
    assert after[1] == f"5:/ask:{word}"


def test_a_server_that_is_gone_is_the_program_s_to_see(tmp_path: Path) -> None:
    source = BLOCKING.replace("CA", "None")
    source = source.replace("        connection.request", "        try: connection.request")
    source = source.replace(
        "        print(", "        except OSError as error: print(error); break\n        print("
    )
    with serving() as server:
        recorded(tmp_path, source.replace("PORT", str(server.port))).close()
    branch(tmp_path / "a.twice", at=2, inputs={"word": "else"}, out=tmp_path / "b.twice").close()

    assert printed(tmp_path, "b.twice")[2:] == ["[Errno 111] Connection refused"]


TOLERANT = """
import socket

def main(run):
    with socket.create_connection(("127.0.0.1", PORT), timeout=TIMEOUT) as connection:
        for tick in run.ticks(3):
            path = run.input("path", lambda: "/%d" % tick)
            try:
                connection.sendall(b"GET %s HTTP/1.1\\r\\n\\r\\n" % path.encode())
            except OSError:
                pass  # as httpcore does: the server may have answered before it closed
            try:
                answer = b""
                while b"/" not in answer.partition(b"\\r\\n\\r\\n")[2]:
                    answer += connection.recv(1000)
                print("answered")
            except OSError as error:
                print(type(error).__name__, error)
"""


class Silent(Counting):
    """Never answers one path."""

    def do_GET(self) -> None:
        """Answer, or wait until the client is gone."""
        if self.path == "/silent":
            self.rfile.read(1)
        else:
            super().do_GET()


def test_who_reads_after_a_failed_send_is_told_that_the_server_is_gone(tmp_path: Path) -> None:
    source = TOLERANT.replace("TIMEOUT", "20")
    with serving() as server:
        recorded(tmp_path, source.replace("PORT", str(server.port))).close()
    branch(tmp_path / "a.twice", at=2, inputs={"path": "/x"}, out=tmp_path / "b.twice").close()

    refused = "ConnectionRefusedError [Errno 111] Connection refused"
    assert printed(tmp_path, "b.twice") == ["answered", "answered", refused]


def test_a_branch_that_waits_in_vain_for_the_world_is_replayed(tmp_path: Path) -> None:
    source = TOLERANT.replace("TIMEOUT", "1")
    with serving(handler=Silent) as server:
        recorded(tmp_path, source.replace("PORT", str(server.port))).close()
        path = tmp_path / "b.twice"
        branch(tmp_path / "a.twice", at=2, inputs={"path": "/silent"}, out=path).close()

    assert printed(tmp_path, "b.twice") == ["answered", "answered", "TimeoutError timed out"]


def test_the_middle_of_a_conversation_is_refused_by_name(tmp_path: Path) -> None:
    source = """
import socket

def main(run):
    with socket.create_connection(("127.0.0.1", PORT)) as connection:
        for tick in run.ticks(3):
            word = run.input("word", lambda: "GET /%d HTTP/1.1" % tick)
            connection.sendall(word.encode() + b"\\r\\n\\r\\n")
            print(connection.recv(1000).decode())
"""
    with serving() as server:
        recorded(tmp_path, source.replace("PORT", str(server.port))).close()
        with pytest.raises(EffectRefused, match="the middle of a conversation"):
            branch(
                tmp_path / "a.twice", at=1, inputs={"word": "no request"}, out=tmp_path / "b.twice"
            )
    assert not (tmp_path / "b.twice").exists()


LAZY = """
import http.client

def main(run):
    heard = []
    run.track("heard", heard)
    connection = http.client.HTTPConnection("127.0.0.1", PORT)  # it connects in the first tick
    for tick in run.ticks(4):
        path = run.input("path", lambda: "/%d" % tick)
        connection.request("GET", path)
        heard.append(connection.getresponse().read().decode())
    print(heard)
    connection.close()
"""


@pytest.mark.integration
def test_a_connection_that_a_snapshot_cannot_bring_back_is_made_from_the_top(
    tmp_path: Path,
) -> None:
    out = tmp_path / "b.twice"
    with serving() as server:
        source = LAZY.replace("PORT", str(server.port))
        recorded(tmp_path, source, cadence=Cadence("tick", 1)).close()
        branch(tmp_path / "a.twice", at=2, inputs={"path": "/x"}, out=out).close()

    [heard] = printed(tmp_path, "b.twice")
    assert heard.startswith("['1:/0:', '2:/1:', '5:/x:'")
    segment = verify(tmp_path / "a.twice", first=2)
    assert segment.result == "PARTIAL", segment.to_markdown()
    assert restores(tmp_path / "a.twice") == {"tested": 1, "failed": [], "ticks": [0]}
