"""What the network answers reaches the run."""

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

NAME = "network"
_ASKS: Final = frozenset(
    [
        "client",
        "api",
        "download",
        "downloader",
        "downloads",
        "upload",
        "fetch",
        "fetcher",
        "server",
        "session",
        "hub",
        "webhook",
        "install",
        "login",
        "auth",
        "notify",
        "health",
        "ping",
        "wait",
        "ready",
        "connector",
        "http",
        "request",
        "proxy",
        "rpc",
        "socket",
        "host",
        "port",
        "free",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a request."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or begins(function.name) or not (advances(function.name) or owner):
        return
    if any(about(each.name, _ASKS) for each in (function, owner) if each is not None):
        return
    outcome = site.value()
    if outcome.use.reach is Reach.QUIET:
        return
    if not advances(function.name):
        if outcome.use.reach is not Reach.LOUD:
            return
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() asks the network by {site.called}().",
        "The answer is another one at another time",
        outcome=outcome,
        confidence=0.8,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Ask before the run and keep the answer with its digest, or make the call a recorded effect.",
        __doc__ or "",
    ),
    calls=("network",),
    look=look,
)
