"""Where points are thrown."""

import random
from collections.abc import Iterator


class PointSource:
    """Points in the unit square, in pairs that mirror each other to lower the variance."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def throw(self, count: int) -> Iterator[tuple[float, float]]:
        """Yield points; every second one is the mirror image of the one before."""
        for _ in range(count // 2):
            x, y = self._random.random(), self._random.random()
            yield x, y
            yield 1 - x, 1 - y
