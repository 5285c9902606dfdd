"""Connections of a branch: answered by the record up to the fork, by the world past it."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from httpservers import serving
from programs import recorded
from twice.errors import EffectRefused
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch
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
