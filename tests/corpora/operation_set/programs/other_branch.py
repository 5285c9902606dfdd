"""A branch of the program: another activation in one run, and a rate of its own."""

import os

import torch
from torch import nn

planted = os.environ.get("PLANT") == "1"
torch.manual_seed(8)
first, second = nn.Linear(20, 20), nn.Linear(20, 2)
optimiser = torch.optim.Adam(
    [*first.parameters(), *second.parameters()], lr=2e-3 if planted else 1e-3
)
rows = torch.randn(40, 20)
for _ in range(3):
    hidden = first(rows)
    hidden = torch.tanh(hidden) if planted else torch.relu(hidden)
    loss = second(hidden).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
