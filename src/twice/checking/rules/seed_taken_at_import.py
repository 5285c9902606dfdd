"""The default of a seed is taken when the file is imported, before anything is seeded.

``def __init__(self, seed=get_seed())`` asks once, at import. Whoever sets the seed afterwards does so too late:
every object that is made without one has what was there at import, mostly None, and starts from
entropy; the call looks as if it followed the run's seed.

Make None the default and ask in the body, or ask for a seed.

Bad:
    from project.seeding import get_seed

    class Workers:
        def __init__(self, *, count=4, seed=get_seed()):
            self.seed = seed
            self.count = count

or:
    import random

    def simulate(steps, seed=random.randint(0, 1000)):
        return random.Random(seed).random() * steps

Good:
    from project.seeding import get_seed

    class Workers:
        def __init__(self, *, count=4, seed=None):
            self.seed = get_seed() if seed is None else seed
            self.count = count

or:
    import os

    def simulate(steps, seed=int(os.environ.get("STEPS", "3"))):
        return steps + seed
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.rules.seeding import is_global_draw
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import SEED, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "seed-taken-at-import"


def look(site: Site) -> Iterator[Found]:
    """Look at a function's defaults."""
    node = site.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "functions are asked for"
    given = node.args
    places = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(places[len(places) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if not isinstance(default, ast.Call) or not about(argument.arg, SEED):
            continue
        if is_global_draw(site, default) or about(last_name(default), SEED):
            yield site.found(
                NAME,
                f"{site.module.shown(default)} is the default of {argument.arg} in {node.name}(): it is asked once, at import.",
                "What is seeded after the import does not reach it: it stays None, or one number by chance.",
                node=default,
            )


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Make None the default and ask for the seed in the body, when the function is called.",
    nodes=(ast.FunctionDef, ast.AsyncFunctionDef),
    look=look,
    applies=mentions("seed"),
)
