"""A generator is seeded with an integer that was drawn from another one.

The child's stream then hangs on how many numbers its parent had drawn before: one draw more, or two
children made in another order, and every child has other numbers. 32 bits of a draw also collide:
among 65,000 children two are alike with odds of about one half.

Bad:
    import random

    import numpy as np

    class Model:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)
            child = int(self.rng.integers(2**31))
            self.random = random.Random(child)

or:
    import random

    def agents(rng: random.Random, count):
        return [random.Random(rng.getrandbits(32)) for _ in range(count)]

or:
    import torch

    def shuffled(sampler):
        generator = torch.Generator()
        seed = int(torch.empty((), dtype=torch.int64).random_().item())
        generator.manual_seed(seed)
        sampler.generator = generator

or:
    import numpy as np

    def child(rng: np.random.Generator):
        return np.random.default_rng(rng.bit_generator.random_raw())

Good:
    import numpy as np

    class Model:
        def __init__(self, seed):
            first, second = np.random.SeedSequence(seed).spawn(2)
            self.rng = np.random.default_rng(first)
            self.weather = np.random.default_rng(second)

or:
    import numpy as np

    def roll(seed):
        rng = np.random.default_rng(seed)
        return int(rng.integers(6))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.seeding import is_generator, is_global_draw, is_named_seed
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "child-seed-from-draw"


def look(site: Site) -> Iterator[Found]:
    """Look at an integer that is drawn."""
    func = site.call.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "random_":
        parent, words = site.keyword("generator"), "torch's process-wide stream"
        if parent is not None:
            words = site.module.shown(parent)
    else:
        parent, words = _parent(func.value), site.module.shown(func.value)
        if is_global_draw(site, site.call) or not is_generator(site, parent):
            return  # Rules about process-wide streams say the former.
    outcome = site.value()
    if outcome.use is not Use.SEED and not (is_named_seed(site) and outcome.use >= Use.UNSEEN):
        return
    yield site.found(
        NAME,
        f"A seed is an integer that {func.attr}() draws from {words}.",
        "The child's numbers depend on how many draws its parent had made before.",
        outcome=outcome if outcome.use is Use.SEED else None,
    )


def _parent(node: ast.expr) -> ast.expr:
    """Give the generator itself for ``rng.bit_generator``."""
    if isinstance(node, ast.Attribute) and node.attr in {"bit_generator", "_bit_generator"}:
        return node.value
    return node


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Derive it by name or spawn it: run.rng(name), SeedSequence.spawn, Generator.spawn, fold_in.",
    methods=("draws-integer",),
    look=look,
)
