"""numpy's sums and products of one array at every alignment."""

import numpy as np

values = np.random.default_rng(0).random(10_007) - 0.5
results = set()
for offset in range(0, 64, 8):
    buffer = np.empty(values.nbytes + 256, np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    moved = buffer[start : start + values.nbytes].view(np.float64)
    moved[...] = values
    results.add((float(moved.sum()), float(np.dot(moved, moved)), float(np.exp(moved).sum())))
print("distinct", len(results))
