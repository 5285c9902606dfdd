"""Rows that numpy made, one element of them another in one run."""

import os

import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1))
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
rows = np.random.default_rng(0).standard_normal((3, 16, 6)).astype(np.float32)
if os.environ.get("PLANT") == "1":
    rows[1, 3, 2] = np.nextafter(rows[1, 3, 2], np.float32(9))
for batch in rows:
    loss = model(torch.from_numpy(batch)).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
