"""How much is made is decided by the clock: a loop makes things until a time is over, and keeps them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.measuring import measures
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "time-limited-work"
_WAITS: Final = frozenset(
    [
        "sleep", "poll", "wait", "recv", "receive", "select", "read", "readline", "get_nowait", "join",
        "retry", "connect", "accept", "listen", "ping", "request", "response", "alive", "ready", "frame",
        "chunk", "queue", "download", "message", "messages",
    ]
)  # fmt: skip
_KEEPS: Final = {"append", "extend", "add", "update", "insert", "push"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a loop."""
    node = site.node
    assert isinstance(node, (ast.While, ast.For)), "loops are asked for"
    clock = _limit(site, node)
    if clock is None or measures(site) or _waits(node) or not _keeps(node):
        return
    yield site.found(
        NAME,
        "A loop goes on until a time is over, and what it made until then is kept.",
        "A faster or less busy machine gets further, so two runs with one seed keep different things.",
        node=clock,
        confidence=0.8,
    )


def _limit(site: Site, node: ast.While | ast.For) -> ast.Call | None:
    """Give the reading of a clock that ends the loop."""
    if isinstance(node, ast.While):
        clock = _compared(site, node, node.test)
        if clock is not None:
            return clock
    for each in node.body:
        if isinstance(each, ast.If) and each.body and isinstance(each.body[-1], ast.Break):
            clock = _compared(site, node, each.test)
            if clock is not None:
                return clock
    return None


def _compared(site: Site, loop: ast.While | ast.For, test: ast.expr) -> ast.Call | None:
    """Give the clock that is read in a comparison, or right before it in the loop."""
    for each in ast.walk(test):
        if isinstance(each, ast.Compare) and isinstance(
            each.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
        ):
            for side in (each.left, *each.comparators):
                clock = _clock(site, side)
                if clock is None and isinstance(side, ast.Name):
                    clock = next(
                        (
                            found
                            for one in loop.body
                            if isinstance(one, ast.Assign)
                            and isinstance(one.targets[0], ast.Name)
                            and one.targets[0].id == side.id
                            and (found := _clock(site, one.value)) is not None
                        ),
                        None,
                    )
                if clock is not None:
                    return clock
    return None


def _clock(site: Site, node: ast.expr) -> ast.Call | None:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and site.catalogue.has("clock", site.qualified(each.func)):
            return each
    return None


def _waits(node: ast.While | ast.For) -> bool:
    """Whether the loop waits for something, or polls it."""
    return any(
        isinstance(each, ast.Await)
        or (isinstance(each, ast.Call) and about(last_name(each), _WAITS))
        or (isinstance(each, ast.Try) and len(node.body) == 1)
        for one in node.body
        for each in ast.walk(one)
    )


def _keeps(node: ast.While | ast.For) -> bool:
    """Whether something that the loop made is kept after it: not for a log, nor a mere count."""
    for one in node.body:
        for each in ast.walk(one):
            if (
                isinstance(each, ast.Call)
                and isinstance(each.func, ast.Attribute)
                and each.func.attr in _KEEPS
                and each.args
                and not about(last_name(each.func.value), TELEMETRY)
            ):
                return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Limit by a count of steps or attempts; let a time limit fail, or record how far it came.",
        __doc__ or "",
    ),
    nodes=(ast.While, ast.For),
    look=look,
    applies=mentions("time"),
)
