"""Results are added as they complete."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

rng = np.random.default_rng(0)
parts = [rng.random(3000 + 137 * number) - 0.5 for number in range(64)]


def job(part):
    return float((np.sin(part) ** 2).sum())


for _ in range(20):
    total = 0.0
    with ThreadPoolExecutor(4) as pool:
        for done in as_completed([pool.submit(job, part) for part in parts]):
            total += done.result()
    print("total", total.hex())
