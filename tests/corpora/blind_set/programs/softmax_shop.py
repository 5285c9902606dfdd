"""A recommender in torch: sessions are scored, the scores become chances, and chances become sales."""

import random

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, items, width):
        super().__init__()
        self.items = nn.Parameter((torch.rand(items, width) - 0.5) * 1.5)
        self.mix = nn.Linear(width, width)

    def forward(self, session):
        return self.items @ torch.clamp(self.mix(session), -1.0, 1.0)  # innocent


def chances(scores):
    return torch.softmax(scores, dim=0)  # guilty


class Till:
    """Counts sales; what is left over of a chance is carried on to the next customer."""

    def __init__(self, items):
        self.sold = [0] * items
        self.carry = 0.377

    def sell(self, chance):
        self.carry = self.carry * 3.97 * (1.0 - self.carry)
        self.carry = min(0.99, max(0.01, self.carry + (float(chance.double().max()) - 0.01) * 0.05))
        edge = torch.cumsum(chance.double(), dim=0)
        item = int(torch.searchsorted(edge, torch.tensor(self.carry, dtype=torch.float64)))
        self.sold[min(item, len(self.sold) - 1)] += 1
        return item


def sessions(count, width):
    generator = torch.Generator().manual_seed(91)  # innocent
    return torch.rand(count, width, generator=generator) * 2.0 - 1.0


def catalogue(rng, items):
    names = {f"item-{rng.randrange(10_000):04d}" for _ in range(items * 2)}
    return sorted(names)[:items]  # innocent


def main():
    torch.manual_seed(90)
    torch.set_num_threads(1)
    rng, visitors = random.Random(90), random.Random(92)
    names = catalogue(rng, 37)
    scorer, till = Scorer(len(names), 16), Till(len(names))
    print("catalogue", len(names), names[0], names[-1])
    for day in range(6):
        print(f"day {day}: {40 + visitors.randrange(30)} visitors expected")
    with torch.no_grad():
        for k, session in enumerate(sessions(160, 16)):
            till.sell(chances(scorer(session)))
            if k % 40 == 39:
                print(f"after {k + 1}: sold {sum(till.sold)}, carry {till.carry:.6f}")
    best = max(range(len(names)), key=lambda k: (till.sold[k], -k))  # innocent
    print("best", names[best], till.sold[best])


if __name__ == "__main__":
    main()
