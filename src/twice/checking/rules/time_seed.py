"""A seed comes from the clock, from entropy or from the process.

The generator looks seeded, and yet every run has another seed, which nothing of the run remembers:
no later run can have the same numbers. A sample over recorded seeds is void as well, because the seeds
decide nothing. This holds for the time, for the number of the process, for
``os.urandom``, ``secrets`` and random identifiers.

Nothing is said of a seed that is drawn from entropy once and printed or stored with the run, where no
generator is seen to take it.

Bad:
    import random
    import time

    random.seed(time.time())

or:
    import os

    import numpy as np

    class World:
        def __init__(self):
            seed = int(os.getpid()) + 7
            self.rng = np.random.default_rng(seed)

Good:
    import random

    def simulate(seed: int):
        return random.Random(seed).random()

or:
    import time

    def report(seed):
        print("seed", seed, "at", time.time())
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.absence import is_none_branch
from twice.checking.rules.seeding import is_named_seed
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "time-seed"
_SHOWN = {Use.DROPPED, Use.LABEL, Use.TELEMETRY, Use.TIMING}
_NAMES_OF_THINGS = {"builtins.id", "builtins.hash"}


def look(site: Site) -> Iterator[Found]:
    """Look at a reading of the clock, of entropy, or of what the process is."""
    if site.called in _NAMES_OF_THINGS or site.called == "random.SystemRandom":
        return  # identity-subseed looks at the former.
    outcome = site.value()
    is_seen = outcome.use is Use.SEED
    if not is_seen and not (is_named_seed(site) or _is_option(site)):
        return
    if is_none_branch(site) or (outcome.use in _SHOWN and not is_seen):
        return  # seed-none-fallback says the former.
    yield site.found(
        NAME,
        f"{site.called}() becomes a seed.",
        "Every run has another seed, and nothing remembers which.",
        outcome=outcome if is_seen else None,
        reach=Reach.LOUD if is_seen else Reach.UNSEEN,
    )


def _is_option(site: Site) -> bool:
    """Whether it is the default of an option: ``add_argument("--seed", default=int(time()))``."""
    for each in site.above():
        if isinstance(each, ast.keyword):
            call = site.module.survey.parents.get(each)
            return (
                each.arg in {"default", "default_factory"}
                and isinstance(call, ast.Call)
                and any(
                    isinstance(one, ast.Constant) and "--seed" in str(one.value)
                    for one in call.args
                )
            )
        if isinstance(each, ast.stmt):
            break
    return False


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.STATISTICAL,
    severity=Severity.CRITICAL,
    remedy="Take the seed as an argument of the run, and record it; derive others with run.rng(name).",
    calls=("clock", "entropy", "process-identity"),
    look=look,
)
