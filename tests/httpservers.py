"""A server of HTTP for tests, on a thread of the test's own, plain or encrypted."""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Counting(http.server.BaseHTTPRequestHandler):
    """Answers with how many requests came so far."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        size = int(self.headers.get("Content-Length", 0))
        body = b"%d:%s:" % (self.server.count(), self.path.encode()) + self.rfile.read(size)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Counts its requests."""

    requests = 0
    _lock = threading.Lock()

    def count(self) -> int:
        """One more."""
        with self._lock:
            self.requests += 1
            return self.requests

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])


@contextmanager
def serving(
    context: ssl.SSLContext | None = None,
    handler: type[http.server.BaseHTTPRequestHandler] = Counting,
) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
