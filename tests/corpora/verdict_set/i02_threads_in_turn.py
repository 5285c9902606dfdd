"""Threads that take turns through a condition, a barrier, an executor's map and a timer; the order is forced."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor

turn, condition, lines = [0], threading.Condition(), []


def player(me, rounds=6, of=3):
    for _ in range(rounds):
        with condition:
            condition.wait_for(lambda: turn[0] % of == me)
            print("turn", turn[0], "of thread", me, time.monotonic_ns())
            turn[0] += 1
            condition.notify_all()


threads = [threading.Thread(target=player, args=(n,), name=f"player-{n}") for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

total, lock, barrier = [0], threading.Lock(), threading.Barrier(4)


def add(amount):
    barrier.wait()
    for _ in range(500):
        with lock:
            total[0] += amount


adders = [threading.Thread(target=add, args=(n,)) for n in range(4)]
for thread in adders:
    thread.start()
for thread in adders:
    thread.join()
print("total", total[0])

local = threading.local()


def square(number):
    local.seen = getattr(local, "seen", 0) + 1
    return number * number


with ThreadPoolExecutor(4) as pool:
    print("map", list(pool.map(square, range(20))))
    future = pool.submit(lambda: 1 / 0)
    print("failed", repr(future.exception()))

timer = threading.Timer(0.05, lambda: print("timer fired"))
timer.start()
timer.join()
print("names", [t.name for t in threads], threading.active_count())
