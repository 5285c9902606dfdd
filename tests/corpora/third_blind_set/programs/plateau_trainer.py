"""Trains a small network on a preemptible machine: checkpoints now and then, goes on from them when told to."""

import io
import os

import torch
from torch import nn

EPOCHS = 40
SAVE_EVERY = 5


def dataset(seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(192, 4, generator=generator)
    y = torch.sin(2 * x[:, :1]) * x[:, 1:2] + 0.2 * torch.randn(192, 1, generator=generator)
    return x, y


class Plateau:
    """Lowers the rate when the loss has not improved for a while."""

    def __init__(self, optimiser, factor=0.4, patience=6, slack=0.02):
        self.optimiser, self.factor, self.patience, self.slack = optimiser, factor, patience, slack
        self.best, self.bad, self.lowered = float("inf"), 0, 0

    def step(self, loss):
        if loss < self.best * (1 - self.slack):
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            for group in self.optimiser.param_groups:
                group["lr"] *= self.factor
            self.bad, self.lowered = 0, self.lowered + 1

    def state_dict(self):
        return {"best": self.best, "lowered": self.lowered}

    def load_state_dict(self, kept):
        self.best, self.lowered = kept["best"], kept["lowered"]


class Batches:
    """A shuffled order per epoch; its generator goes into checkpoints."""

    def __init__(self, x, y, size, seed):
        self.x, self.y, self.size = x, y, size
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.x), generator=self.generator)
        for part in order.split(self.size):
            yield self.x[part], self.y[part]


class Job:
    def __init__(self):
        torch.manual_seed(2)
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimiser = torch.optim.SGD(self.net.parameters(), lr=0.3, momentum=0.8)
        self.plateau = Plateau(self.optimiser)
        self.batches = Batches(*dataset(1), size=48, seed=4)
        self.held = dataset(8)
        self.epoch = 0

    def run_epoch(self):
        for x, y in self.batches:
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        with torch.no_grad():
            held = nn.functional.mse_loss(self.net(self.held[0]), self.held[1]).item()
        self.plateau.step(held)
        self.epoch += 1
        return held

    def save(self):
        buffer = io.BytesIO()
        parts = {"net": self.net.state_dict(), "optimiser": self.optimiser.state_dict()}
        parts["plateau"] = self.plateau.state_dict()
        parts["shuffle"] = self.batches.generator.get_state()
        torch.save({**parts, "epoch": self.epoch}, buffer)
        return buffer.getvalue()

    def load(self, blob):
        kept = torch.load(io.BytesIO(blob))
        self.plateau = Plateau(self.optimiser)
        self.batches = Batches(*dataset(1), size=48, seed=4)
        self.net.load_state_dict(kept["net"])
        self.optimiser.load_state_dict(kept["optimiser"])
        self.plateau.load_state_dict(kept["plateau"])
        self.batches.generator.set_state(kept["shuffle"])
        self.epoch = kept["epoch"]


def main():
    evict = int(os.environ.get("EVICT_AFTER", "0"))
    job, blob = Job(), b""
    while job.epoch < EPOCHS:
        held = job.run_epoch()
        if job.epoch % SAVE_EVERY == 0:
            blob = job.save()
            print(f"epoch {job.epoch:2d} held-out {held:.6f}")
        if job.epoch == evict:
            job.load(blob)
            evict = 0
    norm = sum(p.detach().norm().item() for p in job.net.parameters())
    print(f"rate {job.optimiser.param_groups[0]['lr']:.5f} after {job.plateau.lowered} cuts; norm {norm:.5f}")


if __name__ == "__main__":
    main()
