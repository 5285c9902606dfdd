"""A pool is as large as the machine, and the result depends on how the work was divided."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unnamed-executor"
_DEPENDING = ("as_completed", "imap_unordered", "cpu_count", "_max_workers", "sched_getaffinity")


def look(site: Site) -> Iterator[Violation]:
    """Look at an executor or a pool that is made."""
    call = site.call
    if call.args or site.has_star:
        return
    if any(each.arg in {"max_workers", "processes", "nodes"} for each in call.keywords):
        return
    if not site.module.speaks_of(*_DEPENDING):
        return
    yield site.found(
        NAME,
        f"{site.called}() has no number of workers.",
        "It takes as many as the machine has processors, and the order or the division of the work follows.",
        confidence=0.7,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.BIT_EXACT,
        Severity.LOW,
        "Say how many workers there are, and divide the work by a number of your own.",
        __doc__ or "",
    ),
    calls=("executor", "pool"),
    look=look,
)
