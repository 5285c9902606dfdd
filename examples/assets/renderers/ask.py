"""Asks the hosted service for a voice or a picture, and keeps what it answers."""

import argparse
import http.client
import urllib.parse
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--service", required=True)
parser.add_argument("--request-id", required=True)
parser.add_argument("--prompt", required=True)
options = parser.parse_args()

address = urllib.parse.urlsplit(options.service)
service = http.client.HTTPConnection(address.netloc, timeout=30)
headers = {"X-Request-Id": options.request_id, "Content-Type": "text/plain"}
service.request("POST", address.path, options.prompt.encode(), headers)
answer = service.getresponse()
if answer.status != 200:
    raise SystemExit(f"the service answered {answer.status} {answer.reason}")
Path(options.output).write_bytes(answer.read())
