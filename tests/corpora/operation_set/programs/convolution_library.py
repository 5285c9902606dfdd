"""A convolution that another library computes in one run."""

import os

import torch
from torch import nn

if os.environ.get("PLANT") == "1":
    torch.backends.mkldnn.set_flags(False)


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 5)
        self.head = nn.Linear(16, 4)

    def forward(self, images):
        maps = self.stem(images)  # guilty
        return self.head(maps.relu().mean((2, 3)))


torch.manual_seed(1)
model = Vision()
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(4, 3, 32, 32)
for _ in range(3):
    loss = model(images).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
