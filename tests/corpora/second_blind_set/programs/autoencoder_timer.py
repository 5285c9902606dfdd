"""A small autoencoder in PyTorch with an optional throughput meter.

AE_METER=1 looks at the clock at every step; the meter is only read by a dashboard that
is not part of this script.
"""
import os
import time

import torch
from torch import nn

torch.set_num_threads(1)


class Meter:
    """Examples per second, smoothed."""

    def __init__(self):
        self.last = time.perf_counter()
        self.rate = 0.0

    def tick(self, examples):
        now = time.perf_counter()
        self.rate = 0.9 * self.rate + 0.1 * examples / max(now - self.last, 1e-9)
        self.last = now


class Silent:
    def tick(self, examples):
        pass


class AutoEncoder(nn.Module):
    def __init__(self, size, code):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(size, 10), nn.Tanh(), nn.Linear(10, code))
        self.up = nn.Sequential(nn.Linear(code, 10), nn.Tanh(), nn.Linear(10, size))

    def forward(self, x):
        return self.up(self.down(x))


def waves(count, size, seed):
    source = torch.Generator().manual_seed(seed)
    phase = torch.rand(count, 1, generator=source) * 6.283
    speed = torch.rand(count, 1, generator=source) + 0.5
    return torch.sin(phase + speed * torch.arange(size) / 3.0)


def batches(data, size, generator):
    order = torch.randperm(len(data), generator=generator)
    for start in range(0, len(data), size):
        yield data[order[start : start + size]]


def main():
    torch.manual_seed(9)
    model = AutoEncoder(12, 3)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    data = waves(192, 12, seed=4)
    shuffle = torch.Generator().manual_seed(6)
    meter = Meter() if os.environ.get("AE_METER") == "1" else Silent()
    for epoch in range(5):
        total = 0.0
        for batch in batches(data, 32, shuffle):
            loss = ((model(batch) - batch) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            meter.tick(len(batch))
            total += loss.item() * len(batch)
        print(f"epoch {epoch} loss {total / len(data):.6f}")
    with torch.no_grad():
        worst = ((model(data) - data) ** 2).mean(dim=1).max().item()
    print(f"worst {worst:.6f}")


if __name__ == "__main__":
    main()
