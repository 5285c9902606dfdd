"""The program starts a server as a child of subprocess, waits until it answers, uses it and stops it. (serve PORT)"""
import http.server
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request


class Counter(http.server.BaseHTTPRequestHandler):
    count = 0

    def do_GET(self):
        Counter.count += 1
        body = f"visit {Counter.count} by process {os.getpid()} at {time.time()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if sys.argv[1:2] == ["serve"]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Counter).serve_forever()
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
child = subprocess.Popen([sys.executable, __file__, "serve", str(port)])
try:
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                first = answer.read().decode()
            break
        except urllib.error.URLError:
            time.sleep(0.1)
    print(first)
    for _ in range(3):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            print(answer.read().decode())
finally:
    child.terminate()
    print("ended with", child.wait(10))
