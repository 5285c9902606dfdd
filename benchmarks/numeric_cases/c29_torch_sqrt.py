"""torch.sqrt against the correctly rounded root."""

import numpy as np
import torch

torch.set_num_threads(1)
values = (np.random.default_rng(0).random(100_000) * 1e-3 + 1e-9).astype(np.float32)
roots = torch.sqrt(torch.from_numpy(values)).numpy()
print("differ", int((roots != np.sqrt(values)).sum()))
