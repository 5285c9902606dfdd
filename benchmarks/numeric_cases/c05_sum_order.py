"""The same values summed in several orders, in one program."""

import math

import numpy as np

values = np.random.default_rng(0).random(100_000) - 0.5
grid = values.reshape(100, 1000)
total = 0.0
for value in values.tolist():
    total += value
print("loop", total.hex())
print("numpy", float(values.sum()).hex())
print("exact", math.fsum(values).hex())
print("columns, C order", float(grid.sum(0)[0]).hex())
print("columns, Fortran order", float(np.asfortranarray(grid).sum(0)[0]).hex())
