"""The risk of frost over the plots of an orchard: correlated nights, written as a table."""

import csv
import sys

import numpy as np

PLOTS = 18
NIGHTS = 90


def read_seasons():
    """Return the minima of past nights, plot by plot, in tenths of a degree."""
    rng = np.random.default_rng(412)
    shared = rng.integers(-60, 40, (NIGHTS, 3))
    mix = rng.integers(0, 5, (3, PLOTS))
    return (shared @ mix + rng.integers(-15, 16, (NIGHTS, PLOTS))) / 10


def simulate(minima, nights):
    """Draw nights that are correlated as the past ones were."""
    centre = minima.mean(axis=0)
    factor = np.linalg.cholesky(np.cov(minima.T) + 0.1 * np.eye(PLOTS))
    rng = np.random.default_rng(413)
    uniform = rng.random((nights, PLOTS, 12)).sum(axis=2) - 6
    return centre + uniform @ factor.T


def main(path):
    nights = simulate(read_seasons(), 400)
    frost = nights < -2.0
    together = frost.sum(axis=1)
    with open(path, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["plot", "nights of frost", "coldest"])
        for plot in range(PLOTS):
            table.writerow([plot, int(frost[:, plot].sum()), f"{nights[:, plot].min():.17g}"])
    print(f"worst night: {together.max()} plots of {PLOTS}")
    print(f"mean of the coldest tenth: {np.sort(nights.min(axis=1))[:40].mean():.6f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "risk.csv")
