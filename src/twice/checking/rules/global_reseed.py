"""A library's function seeds the stream that the whole process shares.

Whoever called it had a stream of its own going, which now starts again from a seed that it did not
choose: numbers repeat, and draws before and after are no longer independent.

Nothing is said of a program's entry point before its ticks, and of functions whose name says that they seed.

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

or:
    import numpy as np

    def main(run):
        state = run.track("state", {"x": 0.0})
        for _ in run.ticks(10):
            np.random.seed(0)
            state["x"] += np.random.normal()

Good:
    import numpy as np

    def sample(seed, size):
        return np.random.default_rng(seed).normal(size=size)

or:
    import random

    def main(seed):
        random.seed(seed)

or:
    import random

    def main(run):
        random.seed(run.seed)
        for _ in run.ticks(10):
            print(random.random())

or:
    import random

    def main():
        for seed in range(10):
            random.seed(seed)
            print(random.random())
"""

from __future__ import annotations

import ast
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
    if function is None or about(function.name, SEED):
        return
    if is_entry(site) and not _is_in_ticks(site):
        return
    yield site.found(
        NAME,
        f"{function.name} seeds the process-wide stream by {site.called}().",
        "Everybody else in the process draws from that stream, and starts again with it.",
    )


def _is_in_ticks(site: Site) -> bool:
    """Whether a site is in the loop of a run's ticks: ``for tick in run.ticks(10)``."""
    for each in site.above():
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(each, ast.For) and isinstance(each.iter, ast.Call):
            called = each.iter.func
            if isinstance(called, ast.Attribute) and called.attr == "ticks":
                return True
    return False


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.LOW,
    remedy="Make a generator of its own from the seed, and draw from that.",
    calls=("seeding",),
    look=look,
)
