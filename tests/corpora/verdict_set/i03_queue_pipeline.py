"""A pipeline of single-threaded stages over queues whose items carry entropy and times drawn in each stage."""
import os
import queue
import threading
import time
import uuid

first, second, last = queue.Queue(), queue.Queue(maxsize=2), queue.PriorityQueue()
STOP = object()


def stamp():
    while (item := first.get()) is not STOP:
        second.put((item, time.time_ns(), uuid.uuid4()))
    second.put(STOP)


def sign():
    while (item := second.get()) is not STOP:
        last.put((-item[0], item[1], str(item[2]), os.urandom(4).hex()))
    last.put((1000,))


stages = [threading.Thread(target=stamp), threading.Thread(target=sign)]
for stage in stages:
    stage.start()
for number in range(12):
    first.put(number)
first.put(STOP)
for stage in stages:
    stage.join()
while (row := last.get()) != (1000,):
    print(*row)
try:
    last.get(timeout=0.05)
except queue.Empty:
    print("empty after", len(stages), "stages")
