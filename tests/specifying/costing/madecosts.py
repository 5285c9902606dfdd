"""Costs on figures that were made up: a bare run of 1 s, everything 2 s, without snapshots 1.5 s."""

from __future__ import annotations

from twice.specifying.costing.budget import Culprit, judge
from twice.specifying.costing.cost import Cost, RuleCost
from twice.specifying.costing.figures import Took, added
from twice.specifying.costing.rules import NOT_SWITCHED, RULES, Unswitched

RULE = {rule.name: rule for rule in RULES}


def took(seconds: float, size: int = 0) -> Took:
    """One run."""
    return Took(seconds, seconds, 0.3, 100, size)


def made_cost(
    *names: str, budget_percent: int | None = None, unmeasured: tuple[Unswitched, ...] = ()
) -> Cost:
    """A cost with the same figures for each of some rules; of snapshots alone by default."""
    everything, without, bare = ([took(each, size)] * 2 for each, size in
                                 ((2.0, 3000), (1.5, 2000), (1.0, 0)))  # fmt: skip
    off = added(everything, without, bare)
    overhead = added(everything, bare, bare)
    rules = [RULE[name] for name in names or ("snapshots",)]
    culprits = [Culprit(rule.name, rule.artifact, off.wall_percent) for rule in rules]
    return Cost(
        about={"program": "swarm.py:main", "code": {"swarm.py": "sha256:00"}},
        rounds=2,
        by="wall",
        everything=everything,
        bare=bare,
        overhead=overhead,
        rules=[RuleCost(rule, off, None, same=True) for rule in rules],
        others=(),
        unmeasured=unmeasured or NOT_SWITCHED[:1],
        budget_percent=budget_percent,
        judgement=judge(budget_percent, overhead.wall_percent, culprits),
    )
