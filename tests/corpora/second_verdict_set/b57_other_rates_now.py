"""A client asks a service outside for rates; later the service has others. (serve RATE: that service)"""
import http.server
import json
import os
import sys
import threading
import urllib.request

PORT = 47157


class Rates(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"pair": self.path[1:], "rate": float(sys.argv[2])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def rate(pair):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{pair}", timeout=5) as answer:
        return json.load(answer)["rate"], answer.headers["Date"]


if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    http.server.HTTPServer(("127.0.0.1", PORT), Rates).serve_forever()
for pair in ("eur-usd", "eur-chf"):
    print(pair, *rate(pair))
