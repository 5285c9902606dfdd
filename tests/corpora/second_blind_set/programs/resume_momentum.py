"""Train a small regression net, with a checkpoint in the middle that is written and read back.

CHECKPOINT=1 simulates a job that is pre-empted after half of the steps.
"""
import io
import os

import torch
from torch import nn


def data(count):
    source = torch.Generator().manual_seed(3)
    x = torch.rand(count, 3, generator=source) * 4 - 2
    y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:]
    return x, y


class Net(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.inner = nn.Linear(3, hidden)
        self.outer = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


class Session:
    """What is needed to train, and to go on training."""

    def __init__(self):
        self.net = Net()
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=0.01)
        self.step = 0

    def save(self, stream):
        torch.save({"net": self.net.state_dict(), "step": self.step}, stream)

    @classmethod
    def load(cls, stream):
        saved = torch.load(stream)
        with torch.random.fork_rng(devices=[]):
            session = cls()
        session.net.load_state_dict(saved["net"])
        session.step = saved["step"]
        return session

    def train(self, batches, until):
        while self.step < until:
            x, y = batches(self.step)
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            self.step += 1
            if self.step % 15 == 0:
                print(f"step {self.step:3d}  loss {loss.item():.5f}")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = data(256)

    def batches(step):
        low = (step * 32) % 256
        return x[low : low + 32], y[low : low + 32]

    session = Session()
    session.train(batches, until=30)
    if os.environ.get("CHECKPOINT") == "1":
        stream = io.BytesIO()
        session.save(stream)
        stream.seek(0)
        session = Session.load(stream)
    session.train(batches, until=90)
    print("norm", round(sum(float(p.detach().norm()) for p in session.net.parameters()), 5))


main()
