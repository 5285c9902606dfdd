"""One run draws a number more from the global generator, which dropout draws from later."""

import os

import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(20, 20), nn.Dropout(0.5), nn.Linear(20, 2))
optimiser = torch.optim.Adam(model.parameters())
rows = torch.randn(40, 20)
for step in range(4):
    if step == 2 and os.environ.get("PLANT") == "1":
        print(f"{torch.rand(()).item():.2f}")
    loss = model(rows).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
