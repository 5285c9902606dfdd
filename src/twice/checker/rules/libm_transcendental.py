"""A function whose last bit no standard fixes is part of a state."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "libm-transcendental"
_STEPPING = frozenset(
    ["step", "update", "dynamics", "dsdt", "derivative", "derivatives", "integrate", "advance", "tick", "simulate", "transition", "rk4", "move", "physics"]
)  # fmt: skip


def look(site: Site) -> Iterator[Violation]:
    """Look at a call of such a function."""
    method = site.scope.method
    if method is None or not about(method.name, _STEPPING) or not _is_first(site, method):
        return
    outcome = site.value()
    if outcome.use <= Use.TELEMETRY:
        return
    yield site.found(
        NAME,
        f"{site.called}() is part of what {method.name}() computes.",
        "Its last bit differs between C libraries, builds of numpy and processors, and the state keeps it.",
        outcome=outcome,
        confidence=0.7,
    )


def _is_first(site: Site, method: Scope) -> bool:
    """Whether it is the first such call of its function."""
    module = site.module
    names = module.catalogue.names("transcendental")
    for node, scope, name in module.calls:
        if name in names and scope.method is method:
            return node is site.node
    return True


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.FLOATING_POINT,
        Breaks.CROSS_HOST,
        Severity.MEDIUM,
        "Use a function whose bits are fixed (a table, a polynomial), round the state, or promise one host only.",
        __doc__ or "",
    ),
    calls=("transcendental",),
    look=look,
)
