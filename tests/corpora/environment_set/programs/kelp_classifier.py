"""Train a small network that tells kelp from weed, with plain numpy and mini-batches."""

import numpy as np


class Network:
    def __init__(self, rng):
        self.first = (rng.integers(-64, 65, (12, 32)) / 256).astype(np.float32)
        self.second = (rng.integers(-64, 65, (32, 1)) / 256).astype(np.float32)
        self.velocity = [np.zeros_like(self.first), np.zeros_like(self.second)]

    def forward(self, batch):
        hidden = np.maximum(batch @ self.first, 0)
        return hidden, 1 / (1 + np.exp(-(hidden @ self.second)))

    def train(self, batch, labels, rate):
        """Take one step of gradient descent with momentum; return the loss."""
        hidden, guess = self.forward(batch)
        error = (guess - labels) / np.float32(len(batch))
        to_second = hidden.T @ error
        to_first = batch.T @ ((error @ self.second.T) * (hidden > 0))
        for kept, gradient in zip(self.velocity, (to_first, to_second), strict=True):
            kept *= np.float32(0.9)
            kept += gradient
        self.first -= np.float32(rate) * self.velocity[0]
        self.second -= np.float32(rate) * self.velocity[1]
        return float(np.mean((guess - labels) ** 2))


def make_leaves(rng):
    leaves = (rng.integers(-32, 33, (256, 12)) / 16).astype(np.float32)
    kelp = (leaves[:, 0] + leaves[:, 3] * leaves[:, 5] > 0.3).astype(np.float32)
    return leaves, kelp[:, None]


def main(run):
    network = run.track("network", Network(run.rng("weights")))
    leaves, kelp = make_leaves(run.rng("leaves"))
    order = run.rng("order")
    loss = 0.0
    for _ in run.ticks(25):
        rows = order.permutation(256)[:32]
        loss = network.train(leaves[rows], kelp[rows], 0.05)
    return loss
