"""Sums that depend on the number of threads, chunks by the number of processors, and variables of a shell."""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

print("processors", os.cpu_count(), len(os.sched_getaffinity(0)))
rng = np.random.default_rng(5)
left, right = rng.random(300_000) - 0.5, rng.random(300_000) - 0.5
print("dot", float(left @ right))
matrix = rng.random((200, 200)).astype("float32")
print("product", float((matrix @ matrix @ matrix).sum()), float(np.linalg.slogdet(matrix)[1]))
chunks = np.array_split(left, len(os.sched_getaffinity(0)) + 1)
with ThreadPoolExecutor() as pool:
    parts = list(pool.map(lambda chunk: float(np.sum(chunk.astype("float32"))), chunks))
print("chunks", len(parts), sum(parts), pool._max_workers)
for name in ("OMP_NUM_THREADS", "PAGER", "EDITOR", "LOGNAME", "NO_COLOR", "CS60_MODE"):
    print(name, os.environ.get(name))
print(os.path.dirname(tempfile.mkdtemp(prefix="sum-")))
with open("sums.txt", "w") as out:
    print(*parts, file=out)
