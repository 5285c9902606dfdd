"""Jobs on a thread pool: ids, times and thread-local buffers; results are gathered in order."""
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed

buffers = threading.local()
lock = threading.Lock()
total = 0


def thumbnail(size):
    global total
    if not hasattr(buffers, "data"):
        buffers.data = bytearray(4096)
    time.sleep(0.01 * (size % 3))
    with lock:
        total += size
    return size, sum(i * i for i in range(size)) % 997


def stamp(name):
    return name, uuid.uuid4().hex, time.time()


with ThreadPoolExecutor(max_workers=3, thread_name_prefix="thumb") as pool:
    for size, digest in pool.map(thumbnail, range(40, 52)):
        print(size, digest)
    futures = {pool.submit(thumbnail, n): n for n in (7, 8, 9)}
    print(sorted(futures[f] for f in as_completed(futures)), total)
    one = pool.submit(stamp, "batch").result()
    print(one)
    failed = pool.submit(lambda: 1 / 0)
    print("failed:", repr(failed.exception()))
print("alive after:", [t.name for t in threading.enumerate() if t.name.startswith("thumb")])
