"""Hyperparameter studies side by side: a small Gaussian process suggests, stagnation jumps elsewhere."""

import numpy as np
from scipy import linalg, optimize

STUDIES = {"resnet-lr": 0.31, "bert-dropout": 0.12, "ranker-depth": 0.77, "vae-beta": 0.55}
PATIENCE = 7


def kernel(a, b, scale=0.12):
    return np.exp(-0.5 * (np.subtract.outer(a, b) / scale) ** 2)


class Study:
    """One objective over [0, 1], with what was tried so far."""

    def __init__(self, name, optimum):
        self.name, self.optimum = name, optimum
        self.jumper = np.random.default_rng([hash(name) & 0xFFFFFFFF, 17])
        self.x, self.y = [0.02, 0.98], []
        self.since, self.jumps = 0, 0

    def objective(self, x, noise):
        bowl = (x - self.optimum) ** 2
        return bowl + 0.02 * np.sin(25 * x) + 0.002 * noise

    def open(self, noise):
        self.y = [self.objective(x, n) for x, n in zip(self.x, noise)]

    def suggest(self):
        x, y = np.array(self.x), np.array(self.y)
        mean = y.mean()
        factor = linalg.cho_factor(kernel(x, x) + 1e-4 * np.eye(len(x)))
        weights = linalg.cho_solve(factor, y - mean)

        def bound(at):
            k = kernel(np.array([at]), x)[0]
            spread = max(1e-12, 1 - k @ linalg.cho_solve(factor, k))
            return mean + k @ weights - 0.05 * np.sqrt(spread)

        grid = np.linspace(0, 1, 21)
        start = grid[int(np.argmin([bound(g) for g in grid]))]
        lo, hi = max(0, start - 0.05), min(1, start + 0.05)
        return float(optimize.minimize_scalar(bound, bounds=(lo, hi), method="bounded").x)

    def tell(self, x, y):
        if y < min(self.y) - 1e-3:
            self.since = 0
        else:
            self.since += 1
        self.x.append(x)
        self.y.append(y)


class Board:
    """Gives each study a trial a tick."""

    def __init__(self, studies, noise):
        self.noise = noise
        self.studies = {name: Study(name, optimum) for name, optimum in studies.items()}
        for study in self.studies.values():
            study.open(self.noise.standard_normal(2))

    def turn(self):
        for study in self.studies.values():
            if study.since >= PATIENCE:
                at = float(study.jumper.random())
                study.since, study.jumps = 0, study.jumps + 1
            else:
                at = study.suggest()
            study.tell(at, float(study.objective(at, self.noise.standard_normal())))

    def leaders(self):
        ranked = {(round(min(study.y), 6), name) for name, study in self.studies.items()}
        return [name for _, name in sorted(ranked)]

    def state(self):
        return {
            name: {"x": list(s.x), "y": list(s.y), "since": s.since, "jumps": s.jumps}
            for name, s in self.studies.items()
        }

    def restore(self, state):
        for name, kept in state.items():
            study = self.studies[name]
            study.x, study.y = list(kept["x"]), list(kept["y"])
            study.since, study.jumps = kept["since"], kept["jumps"]


def main(run):
    board = run.track("board", Board(STUDIES, run.rng("noise")))
    budget = run.track("budget", {"spent": 0.0, "by": {}})
    cost = run.rng("cost")
    owners = {name.split("-")[0] for name in STUDIES}
    for tick in run.ticks(24):
        board.turn()
        for owner in owners:
            budget["by"][owner] = budget["by"].get(owner, 0) + 1
        budget["spent"] += float(cost.gamma(2.0, 0.5))
        if tick % 6 == 5:
            run.compare("leaders", len(board.leaders()))
