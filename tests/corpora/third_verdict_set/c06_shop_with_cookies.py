"""A shop outside: cookies, a redirect, a compressed page, an error. The shop has closed since. (serve: that shop)"""
import gzip
import http.server
import os
import sys
import threading
import time

import requests

PORT = 47206


class Shop(http.server.BaseHTTPRequestHandler):
    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        basket = self.headers.get("Cookie", "")
        if self.path == "/":
            self.reply(302, Location="/start", Set_Cookie=f"visit={time.time_ns()}; Path=/")
        elif self.path == "/start":
            self.reply(200, gzip.compress(f"welcome, {basket}".encode()), Content_Encoding="gzip")
        else:
            self.reply(404, b"no such shelf")

    def log_message(self, *_):
        pass


if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    shop = http.server.HTTPServer(("127.0.0.1", PORT), Shop)
    open("ready", "w").close()
    shop.serve_forever()
with requests.Session() as session:
    first = session.get(f"http://127.0.0.1:{PORT}/", timeout=5)
    print(first.status_code, len(first.history), first.text)
    print(sorted(session.cookies.items()))
    missing = session.get(f"http://127.0.0.1:{PORT}/shelf/9", timeout=5)
    print(missing.status_code, missing.text, missing.headers["Date"])
    try:
        missing.raise_for_status()
    except requests.HTTPError as error:
        print(type(error).__name__, error.response.reason)
