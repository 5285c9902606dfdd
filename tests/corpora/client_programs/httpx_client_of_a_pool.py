"""One blocking client for a pool of four threads; answers are counted as they come."""

import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

import httpx

lock, words = threading.Lock(), Counter()


def ask(client, number):
    text = client.post("/chat", json={"number": number}).json()["text"]
    with lock:
        words.update(text.split())
    return number, text


with httpx.Client(base_url=f"http://127.0.0.1:{sys.argv[1]}") as client:
    with ThreadPoolExecutor(4) as pool:
        answers = dict(
            f.result() for f in as_completed([pool.submit(ask, client, n) for n in range(10)])
        )
for number in sorted(answers):
    print(number, answers[number])
print(sorted(words.items()))
