"""A session whose adapter asks again by itself after 429 and 503."""

import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

again = Retry(
    10,
    status_forcelist=[429, 500, 503],
    allowed_methods=None,
    backoff_factor=0.002,
    backoff_jitter=0.01,
)
with requests.Session() as session:
    session.mount("http://", HTTPAdapter(max_retries=again))
    for number in range(6):
        answer = session.post(f"http://127.0.0.1:{sys.argv[1]}/flaky", json={"number": number})
        print(number, answer.status_code, answer.json()["text"], len(answer.raw.retries.history))
