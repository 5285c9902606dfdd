"""Days that somebody compares with the paper charts."""

import random

from days import Day


def choose_spot_checks(days: list[Day], count: int, seed: int) -> list[Day]:
    """Draw days that are long enough; the same seed draws the same days."""
    long = [day for day in days if not day.is_short]
    return random.Random(seed).sample(long, count)
