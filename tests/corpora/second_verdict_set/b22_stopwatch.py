"""Somebody measures which way to join text is faster, prints it, and schedules the tea."""
import sched
import statistics
import time
import timeit
from contextlib import contextmanager

rows = []


@contextmanager
def stopwatch(label):
    began = time.perf_counter()
    yield
    rows.append((label, time.perf_counter() - began))


with stopwatch("join"):
    "".join(str(n) for n in range(20_000))
with stopwatch("add"):
    text = ""
    for n in range(20_000):
        text += str(n)
for label, seconds in sorted(rows, key=lambda row: row[1]):
    print(f"{label:6s} {seconds * 1e3:.6f} ms")

runs = timeit.repeat("sorted(x)", setup="x = list(range(500))[::-1]", number=50, repeat=5)
print("median", statistics.median(runs), "spread", max(runs) - min(runs))
print("faster:", min(("a", "b"), key=lambda w: timeit.timeit(f"'{w}' * 9", number=1000)))

plan = sched.scheduler()
log = []
plan.enter(0.10, 1, lambda: log.append("pour"))
plan.enter(0.05, 1, lambda: log.append("boil"))
plan.enter(0.10, 0, lambda: log.append("cup first"))
plan.run()
print(log)

deadline, turns = time.monotonic() + 0.05, 0
while time.monotonic() < deadline:
    turns += 1
    time.sleep(0.004)
print("turns", turns, "within", time.monotonic() - deadline)
