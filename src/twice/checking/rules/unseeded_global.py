"""A draw comes from the process-wide stream, and nothing in reach seeds it.

The stream starts from the system's entropy. Neither this file, nor one that imports it, nor one that
those import seeds it, so no second run has the same numbers. Seeding it would help a little; a
generator of one's own helps for good (global-stream says why).

Seeding in tests counts for nothing. A file that others import, or in a package, weighs less than a script, since a
program outside of what was checked may seed the stream. The draws of one function are reported once;
the first of a file weighs most, and those after the first four functions are notes.

Bad:
    import random

    def pick(names):
        return random.choice(names)

or:
    import numpy as np

    weights = np.random.normal(size=3)
    np.save("weights.npy", weights)

Good:
    import random

    def pick(names, rng: random.Random):
        return rng.choice(names)

or:
    import random

    def label():
        print("lucky number", random.randint(1, 6))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-global"
_WHY = "Nothing in reach seeds that stream, so it starts from the system's entropy in each run."


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the draws from streams that nobody seeds."""
    for draw in streams.conclude(facts, seeded=False):
        if draw.is_seed and draw.picks:
            continue  # drawn-seed says so.
        reach = Reach.LOUD if draw.place == 0 and draw.is_script else Reach.UNSEEN
        if draw.place >= streams.SHOWN_IN_FILE:
            reach = Reach.QUIET
        yield draw.path, streams.renamed(draw.found, NAME, _WHY, reach)


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Draw from a generator that is made with the run's seed: run.rng(name), np.random.default_rng(seed).",
    gather=streams.gather,
    conclude=conclude,
)
