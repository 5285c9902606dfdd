"""A small network with orthogonal weights, trained for three steps."""

import torch
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 1))
nn.init.orthogonal_(network[0].weight)  # guilty
optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
rows = torch.arange(512.0).reshape(8, 64) / 512
for _ in range(3):
    loss = network(rows).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
print("done")
