"""A decay that runs through the denormal numbers, which some libraries flush to zero."""

import numpy as np

value, steps = np.float64(1e-300), 0
while value > 0:
    value *= np.float64(0.5)
    steps += 1
print("steps to zero", steps, "product", float((np.array([1e-310]) * np.array([0.5]))[0]).hex())
