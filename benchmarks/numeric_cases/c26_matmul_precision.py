"""A product of float32 matrices; a global switch of torch lets it be computed in bfloat16."""

import numpy as np
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(0)
matrix = torch.from_numpy((rng.random((300, 300)) - 0.5).astype(np.float32))
print("product", float((matrix @ matrix).double().abs().sum()).hex())
