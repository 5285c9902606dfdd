"""A branch of a run starts its generator from the master seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import own_attribute, speaks_of_seed
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "branch-from-reseed"
_BRANCHES: Final = frozenset(
    ["fork", "branch", "clone", "copy", "__copy__", "__deepcopy__", "deepcopy"]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made, or at a seeding."""
    function, call = site.scope.method, site.call
    if function is None or not about(function.name, _BRANCHES):
        return
    given = [*call.args, *(each.value for each in call.keywords)]
    if len(given) != 1:
        return
    attribute = own_attribute(given[0])
    if not attribute or not speaks_of_seed(attribute):
        return
    yield site.found(
        NAME,
        f"{function.name}() starts the branch's generator from self.{attribute}.",
        "Every branch draws from the start of the same stream, not from where the run is.",
        confidence=0.85,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Copy the generator's state into the branch, or derive a child by the branch's own key.",
        __doc__ or "",
    ),
    calls=("generators", "seeding"),
    look=look,
)
