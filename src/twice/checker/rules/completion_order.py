"""Results are taken in the order in which they happened to be finished."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "completion-order"


def look(site: Site) -> Iterator[Violation]:
    """Look at a call that gives what is finished first."""
    outcome = site.order()
    if outcome.use is Use.ERASED:
        return
    yield site.found(
        NAME,
        f"{(site.called or '').rpartition('.')[2]}() gives results in the order in which they are finished.",
        "Which one is finished first depends on the load of the machine.",
        outcome=outcome,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Go through the futures in the order of submission, or put each result at its own index.",
        __doc__ or "",
    ),
    calls=("completion-order",),
    look=look,
)
