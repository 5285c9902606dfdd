"""A library's function seeds with a number that is written into it.

Every run then has the same stream there, whatever seed it was given: runs that should be independent
share their numbers, and two such generators with the same literal draw the same ones.

Nothing is said of scripts, of a program's entry point, of tests and of defaults that a caller can change.

Bad:
    import numpy as np

    class Buffer:
        def __init__(self):
            self.rng = np.random.default_rng(42)

or:
    import random

    def split(names):
        random.Random(0).shuffle(names)
        return names

Good:
    import numpy as np

    class Buffer:
        def __init__(self, seed=42):
            self.rng = np.random.default_rng(seed)

or:
    import random

    def main():
        random.seed(42)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.seeding import is_entry, seed_of
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "literal-seed"


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made, and at a stream that is seeded."""
    given = seed_of(site)
    if not isinstance(given, ast.Constant) or type(given.value) not in {int, str, bytes}:
        return
    if is_entry(site) or isinstance(site.module.survey.parents.get(site.node), ast.arguments):
        return
    yield site.found(
        NAME,
        f"{site.called}() is seeded with {given.value!r}, which no caller can change.",
        "Runs with different seeds share this stream.",
    )


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.STATISTICAL,
    severity=Severity.LOW,
    remedy="Take the seed as an argument, or derive it: run.rng(name).",
    calls=("generators", "seeding"),
    look=look,
)
