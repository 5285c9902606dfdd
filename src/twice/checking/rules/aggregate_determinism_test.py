"""A test of determinism compares nothing but aggregates.

Means, sums and lengths of two runs agree when the runs do not: what was visited in another order, or
by another agent, adds up to the same.

Compare what the runs did, in the order in which they did it, or digests of their states.

Bad:
    def test_run_is_reproducible():
        first, second = run(seed=1), run(seed=1)
        assert len(first) == len(second)

or:
    def test_deterministic_rewards():
        first, second = rollout(seed=3), rollout(seed=3)
        assert first.mean() == second.mean()
        assert sum(first) == sum(second)

Good:
    def test_run_is_reproducible():
        first, second = run(seed=1), run(seed=1)
        assert len(first) == len(second)
        assert first == second

or:
    def test_length_of_a_run():
        assert len(run(seed=1)) == 100
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.comparing import CLAIMING, claims, comparisons
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "aggregate-determinism-test"
_AGGREGATES: Final = {"mean", "sum", "len", "std", "var", "average", "median", "fsum", "nanmean"}


def look(site: Site) -> Iterator[Found]:
    """Look at a function that is called a test of determinism."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not node.name.startswith("test") or not claims(node.name):
        return
    compared = [_is_aggregate(each) for each in comparisons(node)]
    if compared and all(compared):
        yield site.found(
            NAME,
            f"{node.name}() compares aggregates alone.",
            "Two runs that did other things can have the same sums, means and lengths.",
            confidence=0.85,
        )


def _is_aggregate(node: ast.expr) -> bool:
    """Whether both sides of a comparison are aggregates of something."""
    sides: list[ast.expr] = []
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        sides = node.args[:2]
    return len(sides) == 2 and all(
        isinstance(each, ast.Call) and last_name(each) in _AGGREGATES for each in sides
    )


RULE = Rule(
    name=NAME,
    channel=Channel.DIVERGENCE,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Compare what the runs did, in its order, or digests of their states.",
    nodes=(ast.FunctionDef,),
    look=look,
    named=CLAIMING,
)
