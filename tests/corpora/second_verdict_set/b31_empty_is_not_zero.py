"""A matrix from np.empty of which one half is forgotten; what lay in that memory before is saved."""
import numpy as np


def distinct(words):
    marks = np.array([id(word) for word in words], dtype=np.uint64)
    return len(set(marks.tolist()))


def matrix(rows):
    values = np.empty(rows, dtype=np.uint64)
    values[: rows // 2] = np.arange(rows // 2)
    return values


words = [f"station-{n % 40}" * 2 for n in range(100)]
count = sum(distinct(words) for _ in range(5))
table = matrix(100)
np.save("table.npy", table)
print("saved", table.shape, "of", count)
