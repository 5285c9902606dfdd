"""A ledger of training runs in Polars: runs are registered, report metrics, and the best go to a second round."""

import math
import time
import uuid
from dataclasses import dataclass, field

import numpy as np
import polars as pl

GRID = [(rate, width) for rate in (0.01, 0.03, 0.1, 0.3) for width in (4, 8, 16)]


@dataclass
class Run:
    key: str
    rate: float
    width: int
    opened: float
    losses: list = field(default_factory=list)


class Ledger:
    def __init__(self):
        self.runs = {}
        self.rows = []

    def register(self, rate, width):
        key = uuid.uuid4().hex[:12]
        self.runs[key] = Run(key, rate, width, time.time())
        return self.runs[key]

    def report(self, run, step, loss):
        run.losses.append(loss)
        self.rows.append({"key": run.key, "step": step, "loss": loss})

    def frame(self):
        return pl.DataFrame(self.rows, schema={"key": pl.String, "step": pl.Int64, "loss": pl.Float64})

    def curves(self):
        return self.frame().group_by("step").agg(pl.col("loss").mean(), pl.len().alias("n")).sort("step")

    def board(self):
        last = self.frame().group_by("key").agg(pl.col("loss").last().round(1))
        return last.sort("loss", "key")


class Toy:
    """A quadratic bowl with noise on its gradient."""

    def __init__(self, width, seed):
        rng = np.random.default_rng(seed)
        self.scale = np.linspace(0.5, 3.0, width)
        self.at = rng.normal(size=width)
        self.rng = rng

    def train(self, rate, steps):
        for _ in range(steps):
            gradient = self.scale * self.at + 0.05 * self.rng.normal(size=len(self.at))
            self.at = self.at - rate * gradient
        return float(0.5 * np.mean(self.scale * self.at**2))


def first_round(ledger):
    for place, (rate, width) in enumerate(GRID):
        run, toy = ledger.register(rate, width), Toy(width, [3, place])
        for step in range(4):
            ledger.report(run, step, toy.train(rate, 10))


def second_round(ledger, keys):
    results = []
    for place, key in enumerate(keys):
        run = ledger.runs[key]
        toy = Toy(run.width, [4, place])
        loss = toy.train(run.rate, 60)
        results.append((run.rate, run.width, loss))
    return results


def age(ledger):
    oldest = min(run.opened for run in ledger.runs.values())
    return "old" if time.time() - oldest > 86_400 else "fresh"


def main():
    ledger = Ledger()
    first_round(ledger)
    print(f"{len(ledger.runs)} runs, {len(ledger.rows)} reports, {age(ledger)}")
    for row in ledger.curves().iter_rows(named=True):
        print(f"step {row['step']}: {row['n']} runs, mean loss {row['loss']:.6f}")
    board = ledger.board()
    widths = {ledger.runs[key].width for key in board["key"]}
    print(f"best {board['loss'][0]:.1f}, worst {board['loss'][-1]:.1f}, widths {sorted(widths)}")
    chosen = board["key"].head(4).to_list()
    total = 0.0
    for rate, width, loss in second_round(ledger, chosen):
        total += loss
        print(f"second round: rate {rate} width {width:2d} loss {loss:.7f}")
    print(f"mean of the second round {total / len(chosen):.7f}, log {math.log(total):.4f}")


if __name__ == "__main__":
    main()
