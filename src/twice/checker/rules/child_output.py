"""What another program prints is used as data in a run."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import advances, begins
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "child-output"


def look(site: Site) -> Iterator[Violation]:
    """Look at the start of another program."""
    function = site.scope.method
    if (
        function is None
        or (site.called or "").endswith("Popen")  # Its output comes by what is asked of it later.
        or begins(function.name)
        or not (advances(function.name) or site.scope.owner)
    ):
        return
    outcome = site.value()
    if outcome.use.reach is not Reach.LOUD:
        return
    if not advances(function.name):
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() uses what {site.called}() gives.",
        "Another machine or another moment gives another output",
        outcome=outcome,
        confidence=0.8,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Run it before and keep what came, or make the call a recorded effect.",
        __doc__ or "",
    ),
    calls=("child",),
    look=look,
)
