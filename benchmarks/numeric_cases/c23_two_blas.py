"""One system of equations, solved by numpy's OpenBLAS and by scipy's."""

import numpy as np
import scipy.linalg

rng = np.random.default_rng(0)
matrix = rng.random((60, 60)) - 0.5
print("numpy", float(np.linalg.solve(matrix, matrix[0]).sum()).hex())
print("scipy", float(scipy.linalg.solve(matrix, matrix[0]).sum()).hex())
