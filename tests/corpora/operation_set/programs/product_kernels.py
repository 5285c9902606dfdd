"""A network whose products another kernel of MKL computes in one run."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(96, 96)
        self.second = nn.Linear(96, 8)

    def forward(self, rows):
        return self.second(torch.relu(self.first(rows)))  # guilty


torch.manual_seed(3)
encoder = Encoder()
optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-3)
rows = torch.randn(64, 96)
for step in range(5):
    loss = encoder(rows).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
