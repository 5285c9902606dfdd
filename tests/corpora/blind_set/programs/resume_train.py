"""A small regression that may be interrupted: its checkpoint holds the model, the data order and the epoch."""

import copy
import os
import random

import torch
from torch import nn


def data(count):
    generator = torch.Generator().manual_seed(77)  # innocent
    x = torch.randn(count, 4, generator=generator)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]) + 0.1 * torch.randn(count, 1, generator=generator)
    return x, y


class Trainer:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.optimiser = self.fresh()
        self.order = random.Random(seed)  # innocent
        self.epoch = 0

    def fresh(self):
        return torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def checkpoint(self):
        return {"model": copy.deepcopy(self.model.state_dict()), "order": self.order.getstate(), "epoch": self.epoch}

    def resume(self, saved):
        """As if the process had been started again."""
        self.model.load_state_dict(saved["model"])
        self.optimiser = self.fresh()
        self.order.setstate(saved["order"])
        self.epoch = saved["epoch"]

    def train(self, x, y, size):
        rows = list(range(len(x)))
        self.order.shuffle(rows)  # innocent
        total = 0.0
        for start in range(0, len(rows), size):
            pick = rows[start : start + size]
            loss = nn.functional.mse_loss(self.model(x[pick]), y[pick])
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            total += loss.item()
        self.epoch += 1
        return total


def preempted():
    """The scheduler says after how many epochs it took the machine away; 0 is never."""
    return int(os.environ.get("PREEMPT_AT", "0"))  # guilty


def main():
    torch.set_num_threads(1)
    x, y = data(48)
    trainer = Trainer(seed=3)
    stop = preempted()
    names = {name for name, _ in trainer.model.named_parameters()}
    print("parameters:", ", ".join(sorted(names)))
    losses = []
    while trainer.epoch < 8:
        if stop and trainer.epoch == stop:
            stop = 0
            trainer.resume(trainer.checkpoint())
        losses.append(trainer.train(x, y, size=16))
        if len(losses) % 2 == 0:
            print(f"epoch {trainer.epoch}: loss {losses[-1]:.6f}")
    print(f"best {min(losses):.6f}")


if __name__ == "__main__":
    main()
