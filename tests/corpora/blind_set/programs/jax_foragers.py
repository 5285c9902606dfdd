"""Ants with jax: keys are split for each ant, steps are drawn, and the nest counts what comes home."""

import jax
import jax.numpy as jnp
import numpy as np


class Keys:
    """A chain of keys, as jax wants them."""

    def __init__(self, seed):
        self.key = jax.random.PRNGKey(seed)  # innocent

    def take(self, count):
        keys = jax.random.split(self.key, count + 1)  # guilty
        self.key = keys[0]
        return keys[1:]


def directions(keys, ants):
    """Numbers from 0 to 3, one for each ant, out of the words of its key."""
    words = np.asarray(jax.random.key_data(keys) if jnp.issubdtype(keys.dtype, jax.dtypes.prng_key) else keys)
    return (words[:ants, 0] >> 7) % 4


class Colony:
    """Places of ants on a torus."""

    def __init__(self, ants, side):
        self.side = side
        self.x = np.zeros(ants, dtype=int)
        self.y = np.zeros(ants, dtype=int)
        self.home = 0

    def step(self, turns):
        self.x = (self.x + np.array([1, 0, -1, 0])[turns]) % self.side
        self.y = (self.y + np.array([0, 1, 0, -1])[turns]) % self.side
        self.home += int(((self.x == 0) & (self.y == 0)).sum())


class Leaves:
    def __init__(self, rng):
        self.rng = rng
        self.fallen = 0

    def fall(self, wind):
        self.fallen += int(self.rng.poisson(1.0 + wind))


def march(count):
    """In the morning ants walk out in a line: the same turns for everybody."""
    return np.zeros(count, dtype=int)


def main(run):
    ants = 12
    keys = Keys(7)
    colony = run.track("colony", Colony(ants, side=9))
    leaves = run.track("leaves", Leaves(run.rng("leaves")))
    air = run.track("air", {"wind": 0.5, "gusts": 0})
    wind = run.rng("wind")
    for tick in run.ticks(24):
        air["wind"] = float(np.clip(air["wind"] + wind.normal(0, 0.1), 0.0, 2.0))  # innocent
        air["gusts"] += air["wind"] > 1.0
        leaves.fall(air["wind"])
        turns = march(ants) if tick < 8 else directions(keys.take(ants), ants)
        colony.step(turns)  # innocent
