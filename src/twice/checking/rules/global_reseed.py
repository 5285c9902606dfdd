"""A library's function seeds the stream that the whole process shares.

Whoever called it had a stream of its own going, which now starts again from a seed that it did not
choose: numbers repeat, and draws before and after are no longer independent.

Nothing is said of a program's entry point, and of functions whose name says that they seed.

Bad:
    import numpy as np

    def sample(seed, size):
        np.random.seed(seed)
        return np.random.normal(size=size)

or:
    import random

    class Environment:
        def reset(self, seed):
            random.seed(seed)

Good:
    import numpy as np

    def sample(seed, size):
        return np.random.default_rng(seed).normal(size=size)

or:
    import random

    def main(seed):
        random.seed(seed)
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.seeding import is_entry
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import SEED, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "global-reseed"


def look(site: Site) -> Iterator[Found]:
    """Look at a call that seeds a process-wide stream."""
    function = site.scope.method
    if is_entry(site) or function is None or about(function.name, SEED):
        return
    yield site.found(
        NAME,
        f"{function.name} seeds the process-wide stream by {site.called}().",
        "Everybody else in the process draws from that stream, and starts again with it.",
    )


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.LOW,
    remedy="Make a generator of its own from the seed, and draw from that.",
    calls=("seeding",),
    look=look,
)
