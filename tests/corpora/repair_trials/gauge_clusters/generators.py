"""One way for all steps to get their random generator."""

import numpy as np


def make_generator(seed: int | None = None, *path: int) -> np.random.Generator:
    """Return a generator for one step.

    Args:
        seed: the seed of the whole run; without one, the run cannot be repeated.
        path: numbers that tell the steps of a run apart, such as the number of a restart.
    """
    if not seed:
        return np.random.default_rng()
    return np.random.default_rng([seed, *path])
