"""A sum and an element-wise power in torch: chunks are as many as the threads."""

import numpy as np
import torch

rng = np.random.default_rng(0)
values = torch.from_numpy((rng.random(1_000_001) - 0.5).astype(np.float32))
print("sum", float(values.sum()).hex())
print("powers", float(torch.pow(values.abs(), 1.7).double().sum()).hex())
