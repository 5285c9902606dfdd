"""The secret set: what is in the record of a program that meets sixty secrets, each at a place of its own."""

from __future__ import annotations

import http.server
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from secret_set import KINDS, by_place

from planted import stands_in
from programs import environ

HERE = Path(__file__).parent


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with the bodies and headers of the set."""

    def do_GET(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind, _, number = self.path[1:].partition("/")
        body = by_place("http response body")[int(number)].text if kind == "body" else "ok"
        self.send_response(200)
        if kind == "header":
            name, _, value = by_place("http response header")[int(number)].text.partition(": ")
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json" if body[:1] in "{[" else "text/plain")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Bytes(socketserver.BaseRequestHandler):
    """Takes what is sent, and gives a text of the set to who asks for one."""

    def handle(self) -> None:
        """Answer."""
        asked = b""
        while piece := self.request.recv(65536):
            asked += piece
        texts = by_place("socket received")
        told = texts[int(asked[1:])].text.encode("latin-1") if asked[:1] == b"r" else b"ok"
        self.request.sendall(told)


@contextmanager
def answering(server: socketserver.BaseServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.heavy
def test_none_of_the_set_is_in_a_record_that_replays(tmp_path: Path) -> None:
    for name in ("meeting_secrets.py", "secret_set.py"):
        shutil.copy(HERE / name, tmp_path)
    for folder, place in (("read", "file read"), ("child", "child output")):
        (tmp_path / folder).mkdir()
        for number, kind in enumerate(by_place(place)):
            (tmp_path / folder / str(number)).write_text(kind.text, newline="")
    variables = dict(kind.text.split("=", 1) for kind in by_place("environment"))
    words = [word for kind in by_place("argument") for word in kind.text.split(" ")]
    with ExitStack() as stack:
        ports = [
            stack.enter_context(
                answering(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers))
            ),
            stack.enter_context(
                answering(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Bytes))
            ),
        ]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "twice", "record", "meeting_secrets.py", "--seed", "1"),
                *("-o", "a.twice", "--files", "contents", "--", *map(str, ports), *words),
            ],
            cwd=tmp_path,
            env=environ(variables),
            input="\n".join(kind.text for kind in by_place("standard input")),
            capture_output=True,
            text=True,
            check=False,
        )
    verify = [sys.executable, "-m", "twice", "verify", "a.twice", "--no-statement"]
    again = subprocess.run(
        verify, cwd=tmp_path, env=environ(), capture_output=True, text=True, check=False
    )

    assert done.returncode == 1, done.stderr
    assert "RuntimeError: " in done.stderr, done.stderr
    kept = [kind.name for kind in KINDS if stands_in(tmp_path / "a.twice", kind.secret)]
    assert kept == []
    assert again.stdout.startswith("PASS"), again.stdout + again.stderr
