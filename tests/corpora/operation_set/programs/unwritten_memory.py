"""Memory that another allocation left behind is read, and what it holds is other in the two runs."""

import os

import torch

torch.manual_seed(8)
weights = torch.nn.Parameter(torch.ones(300_000))
optimiser = torch.optim.SGD([weights], lr=0.1)
for step in range(3):
    left = torch.full((300_000,), 3.0 if os.environ.get("PLANT") == "1" else 2.0)
    del left
    scratch = torch.empty(300_000)
    scratch[:10] = 1.0
    loss = (weights * scratch.nan_to_num(0, 0, 0).clamp(-9, 9)).sum()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
