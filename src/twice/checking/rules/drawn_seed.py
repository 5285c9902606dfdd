"""A seed is drawn from a stream that nothing seeds.

``seeds = random.sample(range(100), 3)`` looks like a list of fixed seeds and is another one in each run: what
is drawn from a stream without a seed comes from the system's entropy. Experiments that should be
repeated are repeated with other numbers, and results of two versions are compared over different seeds.

Nothing is said where something in reach seeds the stream; what is said then is that it is shared.

Bad:
    import random

    SEEDS = random.sample(range(100), 3)

    def main(experiment):
        return [experiment(seed) for seed in SEEDS]

or:
    import numpy as np

    class World:
        def __init__(self):
            self.rng = np.random.default_rng(np.random.randint(2**31))

Good:
    import random

    SEEDS = [11, 23, 47]

    def main(experiment):
        return [experiment(seed) for seed in SEEDS]

or:
    import random

    def seeds(seed, count):
        return random.Random(seed).sample(range(2**31), count)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "drawn-seed"
_WHY = (
    "Nothing in reach seeds that stream, so every run has other seeds, and nothing remembers which."
)


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the draws from streams that nobody seeds, where they become seeds."""
    for draw in streams.conclude(facts, seeded=False):
        if draw.is_seed and draw.picks:
            called = draw.found.message.partition(" ")[0]
            found = streams.renamed(draw.found, NAME, _WHY, Reach.LOUD)
            yield draw.path, replace(found, message=f"{called} draws a seed.")


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Write the seeds down, or derive them from one: SeedSequence(seed).generate_state(n).",
    gather=streams.gather,
    conclude=conclude,
)
