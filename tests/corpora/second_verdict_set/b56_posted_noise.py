"""A client posts what C drew to a service outside; the service says ok to anything. (serve: that service)"""
import ctypes
import http.server
import os
import sys
import threading
import urllib.request

PORT = 47156


class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def post(number):
    buffer = ctypes.create_string_buffer(32)
    ctypes.CDLL(None).getrandom(buffer, 32, 0)
    body = f"sample {number}: {buffer.raw.hex()}".encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/samples", body, timeout=5) as answer:
        return answer.read().decode()


if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    http.server.HTTPServer(("127.0.0.1", PORT), Sink).serve_forever()
print([post(n) for n in range(3)])
