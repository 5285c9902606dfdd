"""A training with memory that nobody writes, dropout and a shuffled order: equal in both runs."""

import os

import torch
from torch import nn

os.environ.get("PLANT")
torch.manual_seed(8)
model = nn.Sequential(nn.Linear(20, 20), nn.Dropout(0.3), nn.Linear(20, 2))
optimiser = torch.optim.Adam(model.parameters())
rows = torch.randn(40, 20)
scratch = torch.empty(4096)
for _ in range(4):
    for part in torch.randperm(40).split(10):
        scratch[:10] = rows[part, 0]
        loss = model(rows[part]).square().mean() + scratch[:10].mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
