"""What the network answers reaches the run.

A server answers otherwise tomorrow, or not at all. A run that asks it in the middle can neither be
repeated nor replayed, unless every answer is recorded.

Ask before the run and keep what came with its digest, or put the call into a recorded effect.
Nothing is said of tools, downloads and uploads, nor of clients that are there to ask.

Bad:
    import requests

    class Market:
        def step(self):
            self.price = requests.get(self.url, timeout=5).json()["price"]

or:
    import httpx

    class Agent:
        def decide(self, situation):
            answer = httpx.post("https://example.org/decide", json=situation)
            return answer.json()["action"]

Good:
    import requests

    def download(url, path):
        path.write_bytes(requests.get(url, timeout=5).content)

or:
    class Agent:
        def decide(self, situation, effects):
            return effects.call("decide", situation)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import advances, begins
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import about
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


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Ask before the run and keep the answer with its digest, or make the call a recorded effect.",
    calls=("network",),
    look=look,
)
