"""Spread the downloads over the mirrors, by their weight."""

import random


class MirrorChooser:
    """Chooses a mirror for each download.

    Large files avoid the mirrors that are marked as slow.
    """

    LARGE = 5_000

    def __init__(self, mirrors: list[dict], seed: int) -> None:
        self._mirrors = mirrors
        self._random = random.Random(seed)

    def choose(self, kilobytes: int) -> str:
        """Return the host that serves a file of this size."""
        fit = [each for each in self._mirrors if kilobytes < self.LARGE or not each["slow"]]
        weights = [each["weight"] for each in fit]
        return self._random.choices([each["host"] for each in fit], weights)[0]
