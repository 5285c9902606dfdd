"""Four threads draw from one generator."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

rng = np.random.default_rng(7)


def draw(_number):
    total = 0.0
    for _ in range(20_000):
        total += float(rng.standard_normal())
    return total


with ThreadPoolExecutor(4) as pool:
    print("totals", [total.hex() for total in pool.map(draw, range(4))])
