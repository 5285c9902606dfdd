"""An HTTP/1.1 server, with TLS when it is given a certificate; POSTs are counted in a file."""

import json
import os
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

counter, certificate = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/stream":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number in range(5):
                piece = f"piece {number} {os.urandom(3).hex()}\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return
        if self.path == "/large":
            self.answer(200, os.urandom(200_000))
            return
        if self.path == "/missing":
            self.answer(404, b"nothing here")
            return
        self.answer(200, json.dumps({"path": self.path, "nonce": os.urandom(8).hex()}).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock, open(counter, "a") as file:
            file.write(f"{self.path} {len(body)}\n")
        self.answer(201, b'{"kept": %d}' % len(body))

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Nonce", os.urandom(4).hex())
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
