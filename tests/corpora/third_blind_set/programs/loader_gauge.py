"""A prefetching loader feeds a linear probe; a gauge keeps watch over the throughput."""

import os
import time
from collections import deque

import numpy as np
import torch

ROWS, WIDTH = 320, 6


class Gauge:
    """Moving throughput, for a dashboard that polls it."""

    def __init__(self):
        self.session = os.urandom(6).hex()
        self.started = time.perf_counter()
        self.marks = deque(maxlen=10)
        self.slow = 0

    def mark(self, rows):
        now = time.perf_counter()
        self.marks.append((now, rows))
        if len(self.marks) > 1 and now - self.marks[-2][0] > 0.02:
            self.slow += 1

    def rate(self):
        if len(self.marks) < 2:
            return 0.0
        span = self.marks[-1][0] - self.marks[0][0]
        return sum(rows for _, rows in self.marks) / max(span, 1e-9)

    def line(self):
        return f"{self.session} {self.rate():9.1f} rows/s, {self.slow} slow, up {time.time():.0f}"


class Prefetcher:
    """Shuffles once an epoch and keeps a few batches ready."""

    def __init__(self, rng, size, depth=3):
        self.rng, self.size, self.depth = rng, size, depth
        self.order, self.ready, self.epoch = [], deque(), 0

    def fill(self):
        while len(self.ready) < self.depth:
            if len(self.order) < self.size:
                self.order = self.rng.permutation(ROWS).tolist()
                self.epoch += 1
            self.ready.append(self.order[: self.size])
            self.order = self.order[self.size :]

    def take(self):
        self.fill()
        return self.ready.popleft()

    def state(self):
        return {"order": list(self.order), "ready": [list(b) for b in self.ready], "epoch": self.epoch}

    def restore(self, state):
        self.order, self.epoch = list(state["order"]), state["epoch"]
        self.ready = deque(list(b) for b in state["ready"])


class Probe:
    def __init__(self, data):
        self.x = torch.from_numpy(data.normal(size=(ROWS, WIDTH)))
        self.y = (self.x[:, 0] - 2 * self.x[:, 3] > 0).double()
        self.w = torch.zeros(WIDTH, dtype=torch.float64, requires_grad=True)
        self.optimiser = torch.optim.SGD([self.w], lr=0.3)
        self.seen = set()

    def fit(self, batch):
        index = torch.tensor(batch)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(self.x[index] @ self.w, self.y[index])
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.seen |= set(batch)
        return loss.item()

    def state(self):
        return {"w": self.w.detach().numpy().copy(), "seen": set(self.seen)}

    def restore(self, state):
        with torch.no_grad():
            self.w.copy_(torch.from_numpy(state["w"]))
        self.seen = set(state["seen"])


def main(run):
    loader = run.track("loader", Prefetcher(run.rng("loader"), size=24))
    probe = run.track("probe", Probe(run.rng("data")))
    curve = run.track("curve", [])
    gauge, board = Gauge(), {}
    for tick in run.ticks(36):
        batch = loader.take()
        curve.append(round(probe.fit(batch), 9))
        gauge.mark(len(batch))
        if tick % 6 == 5:
            board[tick] = gauge.line()
        if tick % 12 == 11:
            run.compare("covered", len(probe.seen))
