"""Three threads take numbers from a queue and ask, each in a session of its own; the main thread sorts."""

import queue
import sys
import threading

import requests

todo, done = queue.Queue(), queue.Queue()


def consume():
    with requests.Session() as session:
        while (number := todo.get()) is not None:
            answer = session.get(f"http://127.0.0.1:{sys.argv[1]}/chat?{number}")
            done.put((number, answer.json()["text"]))


threads = [threading.Thread(target=consume) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(9):
    todo.put(number)
for _ in threads:
    todo.put(None)
for thread in threads:
    thread.join()
for number, text in sorted(done.queue):
    print(number, text)
