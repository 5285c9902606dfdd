"""A server that is often too slow, or ends in the middle: each kind of failure is counted and told."""

import sys
from collections import Counter

import requests

seen = Counter()
for number in range(8):
    path = ("chat", "cut")[number % 2]
    try:
        answer = requests.get(f"http://127.0.0.1:{sys.argv[1]}/{path}?{number}", timeout=(1, 0.06))
        print(number, path, answer.json()["text"])
        seen["answered"] += 1
    except requests.RequestException as error:
        print(number, path, type(error).__name__)
        seen[type(error).__name__] += 1
print(sorted(seen.items()))
