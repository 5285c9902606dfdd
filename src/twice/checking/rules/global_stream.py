"""A draw comes from the stream that the whole process shares.

``random.random()``, ``np.random.choice()`` and ``torch.rand()`` draw from one stream for everybody in the
process. It may be seeded; still any other draw, in a library, a log line or a new feature, shifts
every number after it. A generator of its own for each purpose keeps them apart.

Nothing is said of draws from a generator that was passed in (``self.random.shuffle``), of numbers that
end in a name or a log, and of torch where a ``generator`` is given; noise and first weights drawn by a tensor
library are a note, actions and samples are not; so are draws right after the stream was seeded in the same
function, operands of benchmarks and data that is made up. Where nothing seeds the stream at
all, unseeded-global says so instead. The draws of one function are reported once, and after the first
four functions of a file as notes.

Bad:
    import random

    random.seed(3)

    class World:
        def step(self):
            random.shuffle(self.agents)

or:
    import numpy as np

    def main(seed):
        np.random.seed(seed)
        order = np.arange(10)
        np.random.shuffle(order)
        return order

or:
    import torch

    torch.manual_seed(3)

    class Policy:
        def get_action(self, observation):
            dist = self.network(observation)
            return dist.sample()

Good:
    class World:
        def __init__(self, random):
            self.random = random

        def step(self):
            self.random.shuffle(self.agents)

or:
    import numpy as np

    def main(seed):
        rng = np.random.default_rng(seed)
        return rng.permutation(10)

or:
    import torch

    class Policy:
        def loss(self, dist, observation):
            return dist.rsample().mean()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "global-stream"
_WHY = "Whoever else draws from that stream, in any library, shifts every number that comes after."


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the draws from streams that somebody seeds."""
    for draw in streams.conclude(facts, seeded=True):
        is_loud = draw.picks and draw.place < streams.SHOWN_IN_FILE
        reach = Reach.LOUD if is_loud else Reach.UNSEEN
        yield draw.path, streams.renamed(draw.found, NAME, _WHY, reach)


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Draw from a generator of its own: run.rng(name), np.random.default_rng(seed), random.Random(seed).",
    gather=streams.gather,
    conclude=conclude,
)
