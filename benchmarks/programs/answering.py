"""A server for ``asking.py``: answers 1 KB for 1 KB, or one short HTTP response; prints its two ports."""

from __future__ import annotations

import http.server
import socket
import socketserver
import threading


class Echo(socketserver.BaseRequestHandler):
    """Sends back what comes."""

    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := self.request.recv(4096):
            self.request.sendall(data)


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers every request alike."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        body = b'{"answer": 42}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    socketserver.ThreadingTCPServer.daemon_threads = True
    echo = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
    answer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    print(echo.server_address[1], answer.server_address[1], flush=True)
    threading.Thread(target=echo.serve_forever, daemon=True).start()
    answer.serve_forever()


if __name__ == "__main__":
    main()
