"""K-means with several restarts, of which the best is kept."""

from dataclasses import dataclass

import numpy as np

from generators import make_generator

ROUNDS = 200


@dataclass(frozen=True)
class Fit:
    """A grouping: the label of each row, the centres, and the sum of squared distances."""

    labels: np.ndarray
    centres: np.ndarray
    inertia: float


def spread_starts(rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """Choose rows as first centres, far ones with a higher chance (k-means++)."""
    chosen = [rows[generator.integers(len(rows))]]
    while len(chosen) < count:
        distances = np.min([((rows - each) ** 2).sum(axis=1) for each in chosen], axis=0)
        chosen.append(rows[generator.choice(len(rows), p=distances / distances.sum())])
    return np.array(chosen)


def fit_once(rows: np.ndarray, count: int, generator: np.random.Generator) -> Fit:
    """Move the centres until no row changes its group."""
    centres = spread_starts(rows, count, generator)
    labels = np.full(len(rows), -1)
    for _ in range(ROUNDS):
        distances = ((rows[:, None, :] - centres[None]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        for number in range(count):
            if (labels == number).any():
                centres[number] = rows[labels == number].mean(axis=0)
    inertia = float(((rows - centres[labels]) ** 2).sum())
    return Fit(labels, centres, inertia)


def fit_clusters(rows: np.ndarray, count: int, restarts: int, seed: int) -> Fit:
    """Return the best of several fits."""
    fits = [fit_once(rows, count, make_generator(seed, number)) for number in range(restarts)]
    return min(fits, key=lambda fit: fit.inertia)
