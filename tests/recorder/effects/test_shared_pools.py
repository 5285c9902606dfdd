"""Tasks that share the connections of a pool, in a protocol that twice does not know."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import recorded, write
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

POOL = """
import asyncio

async def talk():
    pool = [await asyncio.open_connection("127.0.0.1", PORT) for _ in range(2)]

    async def ask(word):
        reader, writer = pool.pop()
        writer.write(word + b"\\n")
        await writer.drain()
        await reader.readline()

    await asyncio.gather(*map(ask, WORDS))

def main(run):
    asyncio.run(talk())
"""


class Echo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(line)


@pytest.fixture
def port() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield int(server.server_address[1])
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("words", "result"),
    [([b"red", b"green"], "UNKNOWN"), ([b"blue", b"red"], "FAIL"), ([b"greens", b"red"], "FAIL")],
    ids=["in another order", "another word", "a longer word"],
)
def test_only_words_that_were_sent_may_go_out_on_another_connection(
    tmp_path: Path, port: int, words: list[bytes], result: str
) -> None:
    source = POOL.replace("PORT", str(port))
    recorded(tmp_path, source.replace("WORDS", "[b'green', b'red']")).close()
    write(tmp_path, source.replace("WORDS", repr(words)))
    found = verify(tmp_path / "a.twice", informational=True)

    assert found.result == result, found.to_markdown()
    if result == "UNKNOWN":
        assert any("order" in line for line in found.headline)
