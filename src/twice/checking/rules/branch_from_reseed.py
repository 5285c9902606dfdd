"""A branch of a run starts its generator from the master seed.

A fork or a clone should go on where the run is. One that seeds itself anew has the numbers of the
run's beginning: all branches draw the same, and none draws what the run would have drawn.

Copy the generator's state into the branch, or derive a child by the branch's own key.

Bad:
    import random

    class World:
        def fork(self):
            child = World(self.size)
            child.random = random.Random(self.seed)
            return child

or:
    import numpy as np

    class Simulation:
        def clone(self):
            other = Simulation.__new__(Simulation)
            other.rng = np.random.default_rng(self.master_seed)
            return other

Good:
    import copy

    class World:
        def fork(self):
            child = World(self.size)
            child.random = copy.deepcopy(self.random)
            return child

or:
    import numpy as np

    class Simulation:
        def branch(self, number):
            return Simulation(np.random.default_rng([self.seed, number]))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import own_attribute, speaks_of_seed
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "branch-from-reseed"
_BRANCHES: Final = frozenset(
    ["fork", "branch", "clone", "copy", "__copy__", "__deepcopy__", "deepcopy"]
)


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made, or at a seeding."""
    function, call = site.scope.method, site.call
    if function is None or not about(function.name, _BRANCHES):
        return
    given = [*call.args, *(each.value for each in call.keywords)]
    if len(given) != 1:
        return
    attribute = own_attribute(given[0])
    if not attribute or not speaks_of_seed(attribute):
        return
    yield site.found(
        NAME,
        f"{function.name}() starts the branch's generator from self.{attribute}.",
        "Every branch draws from the start of the same stream, not from where the run is.",
        confidence=0.85,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.REPLAY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Copy the generator's state into the branch, or derive a child by the branch's own key.",
    calls=("generators", "seeding"),
    look=look,
)
