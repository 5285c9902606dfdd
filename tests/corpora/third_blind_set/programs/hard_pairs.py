"""Trains embeddings on pairs: easy negatives at first, hard ones mined in the last stage."""

import math
from collections import Counter

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

ITEMS, WIDTH = 80, 8
STAGES = [("warm-up", 2, "even"), ("main", 3, "even"), ("mining", 3, "hard")]


class Seeds:
    """One root, a child for everybody who asks."""

    def __init__(self, number=None):
        self.root = np.random.SeedSequence(number)
        self.given = Counter()

    def child(self, name):
        self.given[name] += 1
        return np.random.default_rng(self.root.spawn(1)[0])


class EvenNegatives:
    def __init__(self, rng):
        self.rng = rng

    def draw(self, left):
        return (left + self.rng.integers(1, ITEMS, len(left))) % ITEMS


class HardNegatives:
    """The closest of a few candidates."""

    def __init__(self, rng, table, candidates=6):
        self.rng, self.table, self.candidates = rng, table, candidates

    def draw(self, left):
        offered = self.rng.integers(0, ITEMS, (len(left), self.candidates))
        with torch.no_grad():
            here = self.table.weight[torch.from_numpy(left)][:, None]
            near = (here * self.table.weight[torch.from_numpy(offered)]).sum(-1)
        return offered[np.arange(len(left)), near.argmax(1).numpy()]


class Pairs(Dataset):
    def __init__(self, rng, number):
        left = rng.integers(0, ITEMS, number)
        self.rows = np.stack([left, (left + rng.integers(1, 4, number)) % ITEMS], 1)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]


class Trainer:
    def __init__(self, pairs, data_seeds, mine_seeds):
        generator = torch.Generator().manual_seed(13)
        self.table = torch.nn.Embedding(ITEMS, WIDTH)
        with torch.no_grad():
            self.table.weight.copy_(0.3 * torch.randn(ITEMS, WIDTH, generator=generator))
        self.optimiser = torch.optim.Adagrad(self.table.parameters(), lr=0.1)
        self.loader = DataLoader(pairs, batch_size=64, shuffle=True, generator=generator)
        self.negatives = {
            "even": EvenNegatives(data_seeds.child("even")),
            "hard": HardNegatives(mine_seeds.child("hard"), self.table),
        }

    def epoch(self, kind):
        total = 0.0
        for rows in self.loader:
            left, right = rows[:, 0], rows[:, 1]
            other = torch.from_numpy(self.negatives[kind].draw(left.numpy()))
            anchor = self.table(left)
            margin = (anchor * (self.table(right) - self.table(other))).sum(1)
            loss = torch.nn.functional.softplus(-margin).mean()
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            total += loss.item() * len(rows)
        return total / len(self.loader.dataset)


def main():
    fixed, mining = Seeds(41), Seeds()
    pairs = Pairs(fixed.child("pairs"), 256)
    trainer = Trainer(pairs, fixed, mining)
    print(f"{len(pairs)} pairs over {len(set(pairs.rows.ravel().tolist()))} items")
    for stage, epochs, kind in STAGES:
        for epoch in range(epochs):
            loss = trainer.epoch(kind)
            print(f"{stage:8s} {epoch} loss {loss:.6f} perplexity {math.exp(loss):.4f}")
    norms = trainer.table.weight.detach().norm(dim=1)
    print(f"norms from {norms.min():.4f} to {norms.max():.4f}; streams: {dict(fixed.given + mining.given)}")


if __name__ == "__main__":
    main()
