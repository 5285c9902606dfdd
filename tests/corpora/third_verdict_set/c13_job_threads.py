"""Three threads take jobs from a queue and ask a service outside; a writer thread collects. (serve: that service)"""
import http.server
import os
import queue
import sys
import threading
import time
import urllib.request

PORT = 47213


class Square(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        number = int(self.path[1:])
        time.sleep(0.01 + number % 4 * 0.02)
        body = f"{number * number} {time.time_ns()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    service = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Square)
    open("ready", "w").close()
    service.serve_forever()
jobs, answers, found = queue.Queue(), queue.Queue(maxsize=2), {}


def work():
    while (number := jobs.get()) is not None:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{number}", timeout=5) as answer:
            answers.put((number, answer.read().decode()))
    answers.put(None)


def collect():
    left = 3
    while left:
        item = answers.get()
        if item is None:
            left -= 1
        else:
            found[item[0]] = item[1]


threads = [threading.Thread(target=work) for _ in range(3)] + [threading.Thread(target=collect)]
for number in [*range(14), None, None, None]:
    jobs.put(number)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for number in sorted(found):
    print(number, found[number])
