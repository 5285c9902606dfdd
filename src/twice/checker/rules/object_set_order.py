"""The order of a set of objects decides something."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.sets import Taken, has_sets, taken
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "object-set-order"
_WHY = "The order of a set of objects follows their addresses in memory."


def look(site: Site) -> Iterator[Violation]:
    """Look at a whole file."""
    for each in taken(site.module):
        if each.kind.element == "object":
            made = _made(each)
            line = getattr(each.node, "lineno", 0)
            words = each.words if made is each.node else f"{each.words} in line {line}"
            yield each.site.found(
                NAME,
                f"{site.module.shown(each.node)} is a set of objects, {words}.",
                _WHY,
                node=made,
                outcome=each.outcome,
            )


def _made(each: Taken) -> ast.expr:
    """Where the set is made, which is where it is mended: objects have no order to be sorted by."""
    if isinstance(each.node, ast.Name):
        assigned = each.site.module.names.bindings(each.node.id, each.site.scope)
        if len(assigned) == 1 and assigned[0].kind == "assign":
            value = assigned[0].node
            if isinstance(value, ast.expr) and not isinstance(value, ast.Name):
                return value
    return each.node


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Keep the objects in a list or a dict, or sort them by a number or name of their own.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
    applies=has_sets,
)
