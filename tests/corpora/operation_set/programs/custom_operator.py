"""An operator of the program's own that gives other last bits in its ninth call."""

import os

import numpy as np
import torch
from torch import nn

CALLS = [0]
PLANTED = os.environ.get("PLANT") == "1"


@torch.library.custom_op("planted::double", mutates_args=())
def double(rows: torch.Tensor) -> torch.Tensor:
    CALLS[0] += 1
    result = rows.numpy() * 2
    if PLANTED and CALLS[0] == 9:
        result = np.nextafter(result, np.float32(np.inf))
    return torch.from_numpy(result)


double.register_autograd(lambda context, gradient: gradient * 2)


class Doubled(nn.Module):
    def forward(self, rows):
        return double(rows)  # guilty


torch.manual_seed(2)
model = nn.Sequential(nn.Linear(12, 12), Doubled(), nn.Linear(12, 3))
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.randn(10, 12)
for _ in range(12):
    loss = model(rows).abs().sum()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
