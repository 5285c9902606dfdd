"""Evolution strategies on a small network: parameters are jittered, scored, and moved towards what worked."""

from collections import Counter

import torch
from torch import nn

POPULATION = 6
FROZEN = {"embed.weight"}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.mix = nn.Linear(4, 6)
        self.gate = nn.Linear(4, 6)
        self.norm = nn.LayerNorm(6)
        self.head = nn.Linear(6, 1)

    def forward(self, kind):
        x = self.embed(kind)
        return self.head(self.norm(torch.tanh(self.mix(x)) * torch.sigmoid(self.gate(x))))[:, 0]


class Task:
    """Values of kinds, with a margin of error."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.truth = torch.tensor([0.3, -1.0, 0.8, 1.6, -0.4])

    def batch(self, number=24):
        kind = torch.randint(0, 5, (number,), generator=self.generator)
        return kind, self.truth[kind] + 0.05 * torch.randn(number, generator=self.generator)


class Trainable:
    """The parameters that may move, each once, however often modules share them."""

    def __init__(self, net, frozen):
        self.names = {p: name for name, p in net.named_parameters()}
        self.parameters = {p for p, name in self.names.items() if name not in frozen}

    def __iter__(self):
        return iter(self.parameters)

    def size(self):
        return sum(p.numel() for p in self.parameters)


class Jitter:
    """Noise for all parameters from one generator."""

    def __init__(self, trainable, seed):
        self.trainable = trainable
        self.generator = torch.Generator().manual_seed(seed)

    def sample(self):
        noise = {}
        for p in self.trainable:
            noise[p] = torch.randn(p.shape, generator=self.generator)
        return noise


class Strategy:
    def __init__(self, net, frozen, spread=0.08, rate=0.06):
        self.net = net
        self.trainable = Trainable(net, frozen)
        self.jitter = Jitter(self.trainable, seed=9)
        self.spread, self.rate = spread, rate
        self.wins = Counter()

    @torch.no_grad()
    def shifted(self, noise, by):
        for p, n in noise.items():
            p.add_(n, alpha=by)

    @torch.no_grad()
    def score(self, kind, value):
        return -nn.functional.mse_loss(self.net(kind), value).item()

    def generation(self, kind, value):
        pool = []
        for place in range(POPULATION):
            noise = self.jitter.sample()
            self.shifted(noise, self.spread)
            up = self.score(kind, value)
            self.shifted(noise, -2 * self.spread)
            down = self.score(kind, value)
            self.shifted(noise, self.spread)
            self.wins["up" if up > down else "down"] += 1
            pool.append((up - down, noise))
        for gain, noise in pool:
            self.shifted(noise, self.rate * gain / (2 * self.spread * POPULATION))
        return self.score(kind, value)


def main():
    torch.manual_seed(3)
    task, strategy = Task(2), Strategy(Net(), FROZEN)
    print(f"{strategy.trainable.size()} numbers to be tuned")
    for generation in range(30):
        score = strategy.generation(*task.batch())
        if generation % 6 == 5:
            print(f"generation {generation:2d}: {score:.5f} {dict(sorted(strategy.wins.items()))}")
    for name, p in sorted(strategy.net.named_parameters(), key=lambda pair: pair[0]):
        print(f"{name:12s} {p.detach().norm().item():.5f}")


if __name__ == "__main__":
    main()
