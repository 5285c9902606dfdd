"""A layer norm whose gradients several threads add up."""

import torch
from torch import nn

torch.manual_seed(4)
norm = nn.LayerNorm(48)
optimiser = torch.optim.SGD(norm.parameters(), lr=0.01)
rows = torch.randn(2000, 48)
target = torch.randn(2000, 48)
for _ in range(3):
    loss = (norm(rows) - target).square().flatten(0)[:48].sum() + (norm(rows) * target).flatten()[
        ::48
    ].sum()
    optimiser.zero_grad()
    loss.backward()  # guilty
    optimiser.step()
