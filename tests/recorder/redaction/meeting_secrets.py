"""A program that meets every secret of the set, each at its place."""

import http.client
import logging
import os
import socket
import subprocess
import sys
import traceback
from pathlib import Path

import secret_set

PORT, BYTES = map(int, sys.argv[1:3])


def made(place):
    return [one.text for one in secret_set.by_place(place)]


for text in made("stdout"):
    print(text)
for text in made("stderr"):
    print(text, file=sys.stderr)
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
for text in made("logging"):
    logging.info("%s", text)
for path in sorted(Path("read").iterdir()):
    len(path.read_bytes())
for number, text in enumerate(made("file written")):
    Path(f"written.{number}").write_text(text)
data = sys.stdin.read()
for number in range(len(made("child output"))):
    len(subprocess.run(["cat", f"child/{number}"], capture_output=True).stdout)
for text in made("child argument"):
    subprocess.run(["true", *text.split(" ")])
for text in made("environment"):
    len(os.environ[text.split("=")[0]])
for number in range(len(made("http response body"))):
    c = http.client.HTTPConnection("127.0.0.1", PORT)
    c.request("GET", f"/body/{number}")
    len(c.getresponse().read())
    c.close()
for number in range(len(made("http response header"))):
    c = http.client.HTTPConnection("127.0.0.1", PORT)
    c.request("GET", f"/header/{number}")
    len(c.getresponse().read())
    c.close()
for text in made("http request header"):
    name, _, value = text.partition(": ")
    c = http.client.HTTPConnection("127.0.0.1", PORT)
    c.request("GET", "/empty", headers={name: value})
    c.getresponse().read()
    c.close()
for text in made("http request body"):
    kind = (
        "application/json"
        if text.startswith("{")
        else "text/xml"
        if text.startswith("<")
        else "application/x-www-form-urlencoded"
    )
    c = http.client.HTTPConnection("127.0.0.1", PORT)
    c.request("POST", "/empty", body=text.encode(), headers={"Content-Type": kind})
    c.getresponse().read()
    c.close()
for number, text in enumerate(made("socket sent")):
    with socket.create_connection(("127.0.0.1", BYTES)) as s:
        s.sendall(b"s" + text.encode("latin-1"))
        s.shutdown(socket.SHUT_WR)
        s.recv(10)
for number in range(len(made("socket received"))):
    with socket.create_connection(("127.0.0.1", BYTES)) as s:
        s.sendall(b"r%d" % number)
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
texts = made("exception")
for text in texts[1:]:
    try:
        raise RuntimeError(text)
    except RuntimeError:
        traceback.print_exc()
raise RuntimeError(texts[0])
