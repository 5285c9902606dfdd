"""A run asks a person, or reads what is typed, in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import advances, begins
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unrecorded-input"
_TYPED: Final = frozenset(
    [
        "human",
        "manual",
        "interactive",
        "player",
        "user",
        "keyboard",
        "console",
        "cli",
        "example",
        "demo",
        "chat",
        "debug",
        "pdb",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a question to a person."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or begins(function.name) or not (advances(function.name) or owner):
        return
    names = [function.name, "" if owner is None else owner.name]
    if any(about(each, _TYPED) for each in names):
        return
    outcome = site.value()
    if outcome.use.reach is Reach.QUIET:
        return
    if not advances(function.name):
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() asks for input by {site.called}().",
        "What is typed is in no record, so the run cannot be repeated",
        outcome=outcome,
        confidence=0.8,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Take the answer from a recorded effect, or from a script that belongs to the run.",
        __doc__ or "",
    ),
    calls=("asking-people",),
    look=look,
)
