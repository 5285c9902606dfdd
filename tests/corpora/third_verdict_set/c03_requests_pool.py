"""Sixteen requests of four threads to a threaded server in the same process, with one session for each thread."""
import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

own = threading.local()


class Digest(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = hashlib.sha256(body).hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def ask(number):
    if not hasattr(own, "session"):
        own.session = requests.Session()
    answer = own.session.post(url, data=b"part %d" % number, timeout=5)
    return number, answer.status_code, answer.text[:12]


server = ThreadingHTTPServer(("127.0.0.1", 0), Digest)
server.daemon_threads = True
url = f"http://127.0.0.1:{server.server_port}/"
threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
with ThreadPoolExecutor(4) as pool:
    for line in pool.map(ask, range(16)):
        print(*line)
server.shutdown()
