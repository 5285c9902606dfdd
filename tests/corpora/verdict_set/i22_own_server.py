"""A web server in a thread and clients on the loopback address; dates, bodies, errors and a raw socket are printed."""
import http.client
import http.server
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/missing":
            return self.send_error(404, "nothing here")
        body = json.dumps({"path": self.path, "time": time.time(), "noise": os.urandom(6).hex()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[::-1])

    def log_message(self, *about):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
thread.start()
base = f"http://127.0.0.1:{server.server_port}"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for number in range(3):
    with opener.open(f"{base}/item/{number}") as answer:
        print(answer.status, answer.headers["Date"], answer.read().decode())
try:
    opener.open(base + "/missing")
except urllib.error.HTTPError as error:
    print(error.code, error.reason, len(error.read()) > 10)
client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
client.request("POST", "/", body=b"forwards")
print(client.getresponse().read())
client.close()
with socket.create_connection(server.server_address) as raw:
    raw.sendall(b"nonsense\r\n\r\n")
    print(raw.makefile("rb").readline()[:30])
server.shutdown()
thread.join()
server.server_close()
try:
    socket.create_connection(server.server_address, timeout=1)
except ConnectionRefusedError as error:
    print(type(error).__name__)
