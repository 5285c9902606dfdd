"""A test of determinism compares nothing but aggregates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.comparing import CLAIMING, claims, comparisons
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "aggregate-determinism-test"
_AGGREGATES: Final = {"mean", "sum", "len", "std", "var", "average", "median", "fsum", "nanmean"}


def look(site: Site) -> Iterator[Violation]:
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
    RuleFacts(
        NAME,
        Channel.DIVERGENCE,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Compare what the runs did, in its order, or digests of their states.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=CLAIMING,
)
