"""A proxy that cuts an answer, and a server that sends more than is read: the run sees it, and its replay the same."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import recorded
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """Serve one answer to each request on a connection of its own, then close that; the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of it"
MORE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwordand more than it said"
THROUGH_PROXY = """
    import http.client, urllib.request

    def main(run):
        proxy = urllib.request.ProxyHandler({"http": "http://127.0.0.1:PORT"})
        opener = urllib.request.build_opener(proxy)
        for tick in run.ticks(2):
            try:
                print(opener.open("http://example.invalid/page").read())
            except http.client.IncompleteRead as error:
                print("cut after", error.partial)
"""
DIRECT = """
    import http.client, socket

    def main(run):
        for tick in run.ticks(2):
            connection = http.client.HTTPConnection("127.0.0.1", PORT)
            connection.request("GET", "/")
            print(connection.getresponse().read())
            connection.close()
        with socket.create_connection(("127.0.0.1", PORT)) as raw:
            raw.sendall(b"GET / HTTP/1.1\\\\r\\\\n\\\\r\\\\n")
            print(raw.recv(20))
"""


@pytest.mark.parametrize(
    ("source", "answer", "printed"),
    [
        (THROUGH_PROXY, CUT, b"cut after b'half of it'\n" * 2),
        (THROUGH_PROXY, b"", b""),
        (DIRECT, MORE, b"b'word'\n" * 2),
    ],
    ids=["a proxy that cuts", "a proxy that says nothing", "a server that sends more"],
)
def test_an_answer_that_does_not_end_where_it_says_is_replayed(
    source: str, answer: bytes, printed: bytes, tmp_path: Path
) -> None:
    with answering(answer) as port, recorded(tmp_path, source.replace("PORT", str(port))) as record:
        assert record.printed()[0].startswith(printed)

    for _ in range(2):
        verification = verify(tmp_path / "a.twice")
        assert verification.result == "PASS", verification
