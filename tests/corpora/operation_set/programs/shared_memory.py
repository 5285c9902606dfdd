"""Weights that numpy changes through the memory that it shares with a tensor."""

import os

import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
model = nn.Linear(6, 1)
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
view = model.weight.detach().numpy()
rows = torch.randn(12, 6)
for step in range(4):
    loss = model(rows).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step == 1 and os.environ.get("PLANT") == "1":
        view[0, 3] = np.nextafter(view[0, 3], np.float32(9))
