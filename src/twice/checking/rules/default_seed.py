"""A call leaves a seed out, and what it calls then seeds with a default.

The run's seed never reaches that generator: runs with different seeds share its numbers, and nothing says so.
It works until somebody compares two seeds. The call is named, in whatever file the default is: of a parameter,
of a dataclass's field, of a look-up (``config.get("seed", 0)``), of ``seed or 42``.

Nothing is said of a default that every caller replaces, or that the command line or the environment may
replace, nor of tests.

Bad:
    import numpy as np

    class World:
        def __init__(self, size, seed=42):
            self.rng = np.random.default_rng(seed)

    def main(size):
        return World(size)

or:
    import random
    from dataclasses import dataclass

    @dataclass
    class Config:
        size: int
        seed: int = 7

    def build(config: Config):
        return random.Random(config.seed)

    deck = build(Config(52))

or:
    import random

    def deck(config):
        return random.Random(config.get("seed", 0))

Good:
    import numpy as np

    class World:
        def __init__(self, size, seed=42):
            self.rng = np.random.default_rng(seed)

    def main(size, run):
        return World(size, seed=run.seed)

or:
    import argparse
    import random

    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()
    deck = random.Random(args.seed)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.seed_callers import SeedCallers
from twice.checking.rules.seed_sources import gather
from twice.checking.rules.seed_ways import NAME
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report every call that relies on a default, once."""
    said = set()
    for seeded in SeedCallers(facts).unreached():
        for each in seeded.relied:
            if (each.path, each.found.place) in said:
                continue
            said.add((each.path, each.found.place))
            if each.name and each.found.statement != seeded.shown:
                message = (
                    f"{each.found.statement} leaves {each.name} out, which is then {each.text}."
                )
            else:
                message = f"The seed is {each.text} where none is given."
            why = f"The run's seed never reaches {seeded.shown} in {seeded.path}:{seeded.line}."
            yield each.path, replace(each.found, message=message, why=why)


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.STATISTICAL,
    severity=Severity.LOW,
    remedy="Pass the run's seed on, and give the parameter no default.",
    gather=gather,
    conclude=conclude,
)
