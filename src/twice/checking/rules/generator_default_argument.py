"""A generator is made in the default of an argument.

A default is made once, when the function is defined. Every caller that gives no generator of its own
draws from that one, so results depend on who called before; calling twice gives two results, and
nothing starts it anew.

A default without a seed is unseeded-generator's.

Bad:
    import numpy as np

    def noise(size, rng=np.random.default_rng(0)):
        return rng.normal(size=size)

or:
    import random

    class Agent:
        def __init__(self, *, rng: random.Random = random.Random(1)):
            self.rng = rng

Good:
    import numpy as np

    def noise(size, rng: np.random.Generator):
        return rng.normal(size=size)

or:
    import numpy as np

    def noise(size, seed=0):
        return np.random.default_rng(seed).normal(size=size)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.seeding import is_none, seed_of
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "generator-default-argument"


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made."""
    parents = site.module.survey.parents
    arguments = parents.get(site.node)
    if not isinstance(arguments, ast.arguments):
        return
    given = seed_of(site)
    kind = site.kind(site.call)
    if given is None or is_none(given) or kind is None or not kind.is_generator:
        return
    function = parents.get(arguments)
    name = getattr(function, "name", "a lambda")
    yield site.found(
        NAME,
        f"{site.module.shown(site.node)} is made once and shared by all calls of {name}.",
        "What a call draws depends on how many calls came before it in the process.",
    )


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Take the generator without a default, or None and a seed to make one from.",
    calls=("generators",),
    look=look,
)
