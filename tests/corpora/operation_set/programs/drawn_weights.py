"""Weights that are drawn in place, into memory that nothing has written yet."""

import torch
from torch import nn

torch.manual_seed(9)
weights = torch.empty(1000)
nn.init.normal_(weights)  # guilty
parameter = nn.Parameter(weights)
optimiser = torch.optim.SGD([parameter], lr=0.1)
for _ in range(3):
    loss = parameter.square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
