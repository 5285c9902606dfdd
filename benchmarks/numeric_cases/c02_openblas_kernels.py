"""Correlated draws of a seeded generator: they go through a small decomposition by OpenBLAS."""

import numpy as np

rng = np.random.default_rng(1)
matrix = rng.random((60, 60)) - 0.5
print("product", float((matrix @ matrix).sum()).hex())
draws = rng.multivariate_normal([0.0, 0.0, 0.0], [[2, 0.5, 0.1], [0.5, 1, 0.3], [0.1, 0.3, 3]], 50)
print("draws", [float(value).hex() for value in draws[-1]])
