"""A library flushes denormals after a pool was made: its threads still keep them."""

from concurrent.futures import ThreadPoolExecutor

import torch


def product():
    return float(torch.tensor([1e-310], dtype=torch.float64) * 0.5).hex()


with ThreadPoolExecutor(1) as pool:
    before = pool.submit(product).result()
    torch.set_flush_denormal(True)
    print("main", product(), "pool", pool.submit(product).result(), "before", before)
