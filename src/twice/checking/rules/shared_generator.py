"""One generator serves every instance of a class, or every caller of a module.

A generator that is made in a class's body or at the top of a module has one stream for all: what one
instance draws depends on how many the others had drawn, in which order they were made, and on what
ran before in the same process. It starts anew only with the process, not with the run.

Nothing is said of a script's own generator that only its own top-level statements use.

Bad:
    import random

    class Factory:
        randomizer = random.Random(42)

        def pick(self, names):
            return self.randomizer.choice(names)

or:
    import numpy as np

    RNG = np.random.default_rng(0)

    def noise(size):
        return RNG.normal(size=size)

Good:
    import random

    class Factory:
        def __init__(self, seed):
            self.randomizer = random.Random(seed)

or:
    import numpy as np

    rng = np.random.default_rng(0)
    weights = rng.normal(size=3)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "shared-generator"


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made."""
    scope = site.scope
    if scope.is_function or site.called == "jax.random.split":
        return
    kind = site.kind(site.call)
    if kind is None or not kind.is_generator:
        return
    parents = site.module.survey.parents
    parent = parents.get(site.node)
    if isinstance(parent, ast.Attribute) and parent.attr == "manual_seed":
        parent = parents.get(parents[parent])
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target: ast.expr = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign):
        target = parent.target
    else:
        return
    if not isinstance(target, ast.Name):
        return
    if scope.is_class:
        whose = f"all instances of {scope.name}"
    elif any(where.is_function for _, where in site.module.loads.of(target.id, scope)):
        whose = "all callers of the functions of this module"
    else:
        return
    yield site.found(
        NAME,
        f"{target.id} is one generator for {whose}.",
        "What one of them draws depends on how much the others have drawn before.",
    )


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Make it in the constructor from a seed that is passed in, or take a generator as an argument.",
    calls=("generators", "torch-generator"),
    look=look,
)
