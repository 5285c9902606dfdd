"""A simulation takes its time step from the clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "sleep-paced-tick"
_STEPPING = frozenset({"step", "update", "tick", "advance", "integrate", "simulate", "move"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a loop."""
    loop = site.node
    assert isinstance(loop, ast.While), "asked for"
    if not site.module.imported & {"time", "asyncio", "pygame"}:
        return
    calls = [each for one in loop.body for each in ast.walk(one) if isinstance(each, ast.Call)]
    if not any(last_name(each) == "sleep" for each in calls):
        return
    clocks = {each for each in calls if site.catalogue.has("clock", site.qualified(each.func))}
    if not clocks:
        return
    spans = _spans(loop, clocks)
    for call in calls:
        if about(last_name(call), _STEPPING):
            for given in [*call.args, *(each.value for each in call.keywords)]:
                if _mentions(given, spans, clocks):
                    yield site.found(
                        NAME,
                        f"{site.module.shown(call.func)}() is given the time that went by on the clock.",
                        "The scheduler of the machine decides how long each step is.",
                        node=call,
                    )
                    return


def _spans(loop: ast.While, clocks: set[ast.Call]) -> set[str]:
    """Names in a loop that hold a time or the difference of two."""
    found: set[str] = set()
    for one in loop.body:
        for each in ast.walk(one):
            if isinstance(each, ast.Assign) and _mentions(each.value, found, clocks):
                found |= {name.id for name in each.targets if isinstance(name, ast.Name)}
    return found


def _mentions(node: ast.AST, names: set[str], clocks: set[ast.Call]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names) or each in clocks
        for each in ast.walk(node)
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Step by a fixed time, as often as is needed to catch up with the clock.",
        __doc__ or "",
    ),
    nodes=(ast.While,),
    look=look,
    applies=mentions("sleep"),
)
