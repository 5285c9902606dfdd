"""MKL's dot product of a slice, and of its copy: their addresses differ by one value."""

import numpy as np
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(0)
left, right = (torch.from_numpy(rng.random(10_007) - 0.5) for _ in range(2))
print("slice", float(torch.dot(left[1:], right[1:])).hex())
print("copy", float(torch.dot(left[1:].clone(), right[1:].clone())).hex())
