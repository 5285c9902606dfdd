"""The first call of MKL's vector functions, and the second."""

import numpy as np
import torch

values = torch.from_numpy((np.random.default_rng(0).random(100_000) * 10).astype(np.float32))
print("equal", bool(torch.equal(values.exp(), values.exp())))
