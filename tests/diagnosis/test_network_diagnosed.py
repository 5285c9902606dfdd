"""Two runs that were answered otherwise part where the answer comes in, by the channel of effects."""

from __future__ import annotations

import socketserver
import threading
from pathlib import Path

import pytest

import twice
from programs import write

pytestmark = pytest.mark.heavy

SOURCE = """
import socket

def ask():
    with socket.create_connection(("127.0.0.1", PORT)) as connection:
        connection.sendall(b"how many?")
        return int(connection.recv(10))

def main(run):
    gold = run.track("gold", [10])
    for tick in run.ticks(3):
        answer = ask()
        gold[0] += answer
"""


class Counting(socketserver.BaseRequestHandler):
    """Answers with another number each time."""

    def handle(self) -> None:
        """Answer."""
        self.request.recv(100)
        self.server.asked = getattr(self.server, "asked", 0) + 1  # type: ignore[attr-defined]
        self.request.sendall(b"%d" % self.server.asked)  # type: ignore[attr-defined]


def test_the_line_that_receives_is_named(tmp_path: Path) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        program = write(tmp_path, SOURCE.replace("PORT", str(server.server_address[1])))
        for name in ("a", "b"):
            twice.record(program, seed=1, out=tmp_path / f"{name}.twice").close()
        server.shutdown()
        thread.join()
    verdict = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice").to_json()
    assert verdict["operation"]["code"] == "return int(connection.recv(10))"
    assert verdict["attribution"][0]["channel"] == "effects"
