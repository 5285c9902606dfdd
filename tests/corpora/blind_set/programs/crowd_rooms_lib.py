"""How people hesitate: profiles, and generators that they share unless they bring one."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    most: int

    def clamp(self, value):
        return max(0, min(self.most, value))


def generator(given):
    """The generator that was given, or one of its own."""
    if given is not None:
        return given  # innocent
    return np.random.default_rng()  # guilty


class Hesitation:
    def __init__(self, profile, rng=None):
        self.profile = profile
        self.rng = generator(rng)
        self.drawn = 0

    def draw(self):
        self.drawn += 1
        return self.profile.clamp(int(self.rng.poisson(self.profile.most / 2)))


def spread(values):
    return max(values) - min(values) if values else 0
