"""A small HTTP service and its client in one program."""
import json
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

notes = {}


class Notes(BaseHTTPRequestHandler):
    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        note = notes.get(self.path)
        self.reply(200 if note else 404, note or {"error": "no such note"})

    def do_PUT(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        notes[self.path] = {"text": text, "at": time.time()}
        self.reply(201, notes[self.path])


def ask(method, path, data=None):
    url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=5) as answer:
            return answer.status, answer.headers["Date"], json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Date"], json.load(error)


with ThreadingHTTPServer(("127.0.0.1", 0), Notes) as server:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    print(ask("GET", "/milk"))
    print(ask("PUT", "/milk", b"two litres"))
    print(ask("GET", "/milk"))
    server.shutdown()
    thread.join()
print(len(notes))
