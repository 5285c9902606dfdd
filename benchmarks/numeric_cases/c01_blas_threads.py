"""A dot product of 20,001 values: OpenBLAS splits it among its threads."""

import numpy as np

rng = np.random.default_rng(0)
left, right = rng.random(20_001) - 0.5, rng.random(20_001) - 0.5
print("dot", float(np.dot(left, right)).hex())
