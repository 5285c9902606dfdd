"""The order of a set decides something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.sets import has_sets, sorting, taken
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "set-order"


def look(site: Site) -> Iterator[Violation]:
    """Look at a whole file."""
    for each in taken(site.module):
        if each.kind.element != "object":
            yield each.site.found(
                NAME,
                f"{site.module.shown(each.node)} is a set, {each.words}.",
                _why(each.kind.element),
                node=each.node,
                outcome=each.outcome,
                fix=sorting(each),
            )


def _why(element: str) -> str:
    if element in {"str", "bytes"}:
        return "The order of a set of strings follows the hash seed of the process."
    return "The order of a set follows the hash seed, or addresses in memory."


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Sort it, or build a dict in its place: dict.fromkeys(items) keeps the order of insertion.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
    applies=has_sets,
)
