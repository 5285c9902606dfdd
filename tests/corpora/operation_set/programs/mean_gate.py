"""A gate that takes the mean of a long vector, whose parts several threads add up."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-5, 5, 100_003))

    def forward(self, signal):
        return (signal + self.bias).mean()  # guilty


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, signal):
        return self.gate(signal) * 1e6 * self.scale


model = Model()
optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
signal = torch.linspace(-1, 1, 100_003)
for _ in range(3):
    opened = model(signal)
    optimiser.zero_grad()
    opened.backward()
    optimiser.step()
